"""Gate 1: a quote stands verbatim where it says it stands."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

from pipelines.model import Claim, GateResult, Outcome, Quote, Turn
from pipelines.text.words import is_cjk

from .evidence import folded, result


def quote_gate(claim: Claim, turns: Mapping[str, Turn]) -> GateResult:
    """PASS when every quote stands at its offsets in its turn, NFC and white space folded and nothing else; REJECT with the first fault otherwise."""
    for quote in claim.quotes:
        fault = _fault(quote, turns.get(quote.turn))
        if fault:
            return result("quote", Outcome.REJECT, fault)
    return result("quote")


def _fault(quote: Quote, turn: Turn | None) -> str:
    if turn is None:
        return "turn_unknown"
    if not 0 <= quote.start < quote.end <= len(turn.text):
        return "offsets_outside_turn"
    standing = folded(turn.text[quote.start : quote.end])
    if not standing or standing != folded(quote.text):
        return "not_verbatim"
    if _glued(turn.text, quote.start) or _glued(turn.text, quote.end):
        return "cuts_a_word"
    return ""


def _glued(text: str, at: int) -> bool:
    """Whether a cut at `at` goes through a word, a number or a character: 543 is not what 5433 says."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if unicodedata.combining(after):
        return True
    if before.isalnum() and after.isalnum():
        return not is_cjk(before) and not is_cjk(after)
    if before in ".," and at > 1 and text[at - 2].isdigit() and after.isdigit():
        return True
    return before.isdigit() and after in ".," and text[at + 1 : at + 2].isdigit()
