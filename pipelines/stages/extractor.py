"""Extractor: turns of one session in, judged claims out. It never decides what is known already.

Three steps as every stage: `prepare` (pure), the engine's `extract` (the only one that waits), `judge_all` (pure).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pipelines.gates import first_missed, judge, outcome
from pipelines.logs.order import order_session, timed
from pipelines.model import Claim, GateResult, Outcome, Question, Quote, SessionInfo, Turn
from pipelines.ports import Extracted, Window


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A claim with every gate's word on it; `missed` is the first criterion that kept it from passing."""

    claim: Claim
    results: tuple[GateResult, ...]
    outcome: Outcome
    missed: str


def prepare(session: SessionInfo, turns: Sequence[Turn]) -> Window:
    """The window the engine reads: the whole session in its own order, without times that are not its own.

    Session logs are read anew when they grow; claims are idempotent by uid.
    """
    return Window(session=session, turns=timed(turns), keys=order_session(turns))


def judge_all(extracted: Extracted, window: Window) -> tuple[Judged, ...]:
    """Each distinct claim through all gates, in order of uid. A claim that quotes a turn outside the window fails the quote gate."""
    return judge_claims(extracted.claims, {t.uid: t for t in window.turns})


def judge_claims(claims: Iterable[Claim], turns: Mapping[str, Turn]) -> tuple[Judged, ...]:
    """Each distinct claim through all gates, in order of uid."""
    distinct = {c.uid: c for c in claims}
    return tuple(_judge_one(distinct[uid], turns) for uid in sorted(distinct))


def judge_questions(extracted: Extracted, window: Window, judged: Sequence[Judged]) -> tuple[Question, ...]:
    """Each distinct question whose quotes stand in the window word for word, and in no turn that holds the words of a quarantined claim (gate 4)."""
    turns = {t.uid: t for t in window.turns}
    locked = {q.turn for j in judged if j.outcome is Outcome.QUARANTINE for q in j.claim.quotes}
    kept = (q for q in extracted.questions if q.quotes and all(_stands(quote, turns) and quote.turn not in locked for quote in q.quotes))
    return tuple(dict.fromkeys(kept))


def _stands(quote: Quote, turns: Mapping[str, Turn]) -> bool:
    turn = turns.get(quote.turn)
    return turn is not None and turn.text[quote.start : quote.end] == quote.text


def _judge_one(claim: Claim, turns: Mapping[str, Turn]) -> Judged:
    results = judge(claim, turns)
    return Judged(claim=claim, results=results, outcome=outcome(results), missed=first_missed(results))
