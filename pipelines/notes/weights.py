"""How two claims compare: what each weighs, whether they speak of one value, in one voice, and whether both can hold. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from pipelines.model import Kind, Origin, Outcome, Standing, Status, Witnessed
from pipelines.text.statement import canonical_words

from .identity import cardinality_of, event_order, statement_of, value_name
from .promotion import promote
from .relate import value_key
from .rulings import EDIT, is_ruling

Key = tuple[str, bool]
"""What tells the values of one note apart: canonical value ("" for sets and rules), denied or not."""


def key_of(witness: Witnessed) -> Key:
    """The value a claim is of; an edit, which replaces the words themselves, has one of its own."""
    claim = witness.claim
    if claim.made_by == EDIT:
        return value_name(claim.value) or " ".join(canonical_words(claim.statement)), claim.negated
    return value_name(claim.value) if cardinality_of(claim) == "single" else "", claim.negated


def is_failure(witness: Witnessed) -> bool:
    """Whether a claim is a run that shows a command failing."""
    claim = witness.claim
    return claim.kind is Kind.PROCEDURE and claim.negated and claim.verified_by is not None and not is_ruling(witness)


def weight_of(witness: Witnessed) -> Standing:
    """What a claim can overturn: an unproven one, whoever said it, weighs no more than an inference."""
    return witness.standing if witness.outcome is Outcome.PASS and not witness.claim.doubts else Standing.INFERRED


def one_voice(newer: Witnessed, older: Witnessed) -> bool:
    """The same speaker, a check that can be repeated, or a person's decision. Pages of strangers are not one voice."""
    if is_ruling(newer) or is_ruling(older) or newer.claim.verified_by:
        return True
    if newer.speaker is None and Origin.EXTERNAL in (newer.origin, older.origin):
        return False
    return newer.speaker == older.speaker


def names_as_over(newer: Witnessed, older: Witnessed) -> bool:
    """The newer claim itself says that the older one's value is over."""
    return newer.claim.old_value is not None and not older.claim.negated and value_name(newer.claim.old_value) == value_name(older.claim.value)


def clash(newer: Witnessed, older: Witnessed) -> str:
    """Two claims of one note: "conflict", "extends" (the newer only says more) or "" (both can hold)."""
    one, two = key_of(newer), key_of(older)
    if one == two:
        return ""
    if EDIT in (newer.claim.made_by, older.claim.made_by):
        return "conflict"
    if one[1] != two[1]:
        return "conflict" if one[0] == two[0] or not (one[0] and two[0]) else ""
    if one[1] or not one[0] or not two[0] or statement_of(newer.claim).also:
        return ""
    more, less = _parts(newer), _parts(older)
    return "extends" if less < more else "" if more < less else "conflict"


def _parts(witness: Witnessed) -> frozenset[str]:
    typed, words = value_key(witness.claim.value)
    return frozenset(part for _, part in typed) | frozenset(words)


def is_proven(claims: Sequence[Witnessed]) -> bool:
    """Whether a note that rests on these claims would be confirmed."""
    return promote(best_of(claims).claim.kind, claims)[0] is Status.CONFIRMED


def best_of(claims: Sequence[Witnessed]) -> Witnessed:
    """The claim a version speaks in the words of: the strongest, of these the oldest; a decision only where it brings its own words."""
    return min(claims, key=strength_of)


def strength_of(witness: Witnessed) -> tuple[object, ...]:
    """Strongest first; the newest edit before the oldest claim, other decisions (they have no words of their own) last."""
    if witness.claim.made_by == EDIT:
        return -weight_of(witness), 0, -witness.order.sort[1], event_order(witness)
    return -weight_of(witness), 1 + is_ruling(witness), 0.0, event_order(witness)
