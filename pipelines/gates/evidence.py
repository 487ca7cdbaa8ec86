"""A claim's quotes found in their turns: what every gate looks at."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from pipelines.model import Claim, GateResult, Origin, Outcome, Quote, Turn
from pipelines.text.sentences import sentence_at

# Strongest first. A claim weighs what the weakest of its quotes weighs.
STRENGTH = (Origin.USER, Origin.TOOL, Origin.EXTERNAL, Origin.ASSISTANT, Origin.MODEL_SUMMARY, Origin.QUOTED, Origin.INSTRUCTIONS, Origin.HARNESS, Origin.SELF)
EVIDENCE = frozenset({Origin.USER, Origin.TOOL, Origin.EXTERNAL, Origin.ASSISTANT})

EXIT_STATUS = "exit_status"
"""`Claim.verified_by` of what worked by a status nothing hides; set by code only."""

_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Located:
    """A quote with the turn it stands in, who really says it there, and the sentences around it (`context`, at least the quote itself)."""

    quote: Quote
    turn: Turn
    origin: Origin
    context: str


def result(gate: str, outcome: Outcome = Outcome.PASS, why: str = "") -> GateResult:
    """A gate's word; `why` is a short constant code, empty for PASS."""
    return GateResult(gate=gate, outcome=outcome, why=why)


def folded(text: str) -> str:
    """Unicode NFC and runs of white space as one space: the only two liberties a verbatim quote has."""
    return _SPACE.sub(" ", unicodedata.normalize("NFC", text)).strip()


def located(claim: Claim, turns: Mapping[str, Turn]) -> tuple[Located, ...]:
    """The quotes whose turn is known and whose offsets lie inside it, in the claim's order."""
    return tuple(_locate(quote, turns[quote.turn], claim, turns) for quote in claim.quotes if quote.turn in turns and _inside(quote, turns[quote.turn]))


def weakest_origin(claim: Claim, turns: Mapping[str, Turn]) -> Origin:
    """The weakest origin among the claim's quotes; a quote that cannot be found is as weak as can be."""
    if not all(quote.turn in turns and _inside(quote, turns[quote.turn]) for quote in claim.quotes):
        return Origin.SELF
    return max((_origin(quote, turns[quote.turn], claim, turns) for quote in claim.quotes), key=STRENGTH.index)


def _inside(quote: Quote, turn: Turn) -> bool:
    return 0 <= quote.start < quote.end <= len(turn.text)


def _locate(quote: Quote, turn: Turn, claim: Claim, turns: Mapping[str, Turn]) -> Located:
    span = sentence_at(turn.text, quote.start, quote.end)
    start, end = (min(span.start, quote.start), max(span.end, quote.end)) if span else (quote.start, quote.end)
    return Located(quote, turn, _origin(quote, turn, claim, turns), turn.text[start:end])


def _origin(quote: Quote, turn: Turn, claim: Claim, turns: Mapping[str, Turn]) -> Origin:
    """Who says the quote. A tool call is an act, not a statement: quoted together with its result it weighs what the result weighs.

    A claim that code verified by the exit status stands on the call alone, since the status is no line that could be quoted.
    """
    origin = turn.origin_of(quote.start, quote.end)
    if origin is not Origin.ASSISTANT or turn.call is None:
        return origin
    if claim.verified_by == EXIT_STATUS:
        return Origin.TOOL
    results = [turns[q.turn] for q in claim.quotes if q.turn in turns]
    if any(other.result and other.result.call_id == turn.call.call_id and other.origin is Origin.TOOL for other in results):
        return Origin.TOOL
    return origin
