"""Notes that have no evidence of their own, and fall with what they rest on.

What the assistant alone says, or what a model concluded, rests on the notes of the same subject: when one of these is corrected or taken back, it has to be
checked again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from pipelines.model import Claim, GateResult, Kind, Outcome, Standing, Status, Version, Witnessed, short_uid
from pipelines.text.slots import USER

from .bounds import bound_key, seen_in
from .ending import end_keys
from .recheck import RESTS_ON_FALLEN, was_believed
from .relate import subject_key

_RESTING = frozenset({Status.CONFIRMED, Status.DRAFT})
OVER = (Status.RETRACTED, Status.SUPERSEDED)
"""How versions stand that may have fallen."""


def is_named(subject: str) -> bool:
    """Whether a subject is one thing among others, not the person or the project itself."""
    return subject_key(subject) not in {(), (USER,)}


def leans_key(subject: str) -> str:
    """Key of claims on a subject that have no evidence of their own."""
    return short_uid("leans", *subject_key(subject))


def leans(claim: Claim, results: Iterable[GateResult]) -> bool:
    """Whether a claim has no evidence of its own: a model inferred it, or the assistant alone says it."""
    if claim.verified_by or claim.kind is Kind.INSIGHT or not is_named(claim.subject):
        return False
    return "inferred" in claim.doubts or any(r.gate == "origin" and r.outcome is Outcome.DRAFT and r.why == ASSISTANT_SAYS for r in results)


ASSISTANT_SAYS = "assistant_only"
"""What the origin gate says of it."""


def tie_keys(claim: Claim, results: Iterable[GateResult]) -> frozenset[str]:
    """Keys by which a claim is found whose note may fall or rise with another one, though neither replaces the other."""
    bound = seen_in(claim)
    return end_keys([claim]) | frozenset({*((bound_key(bound),) if bound else ()), *((leans_key(claim.subject),) if leans(claim, results) else ())})


def rested(versions: Sequence[Version], claims: Iterable[Witnessed], fallen: Iterable[Version]) -> tuple[Version, ...]:
    """The versions with every one to be checked again that has no evidence of its own and rests on a note of its subject that fell since.

    `claims` are those they rest on, `fallen` versions that are over of notes not among these.
    """
    leaning = {w.uid for w in claims if w.standing is Standing.INFERRED}
    fell = [(subject_key(v.subject), v) for v in (*versions, *fallen) if _fell(v)] if leaning else []
    return tuple(_rested(v, fell) if fell and leaning.issuperset(v.claims) else v for v in versions)


def moved_keys(before: Iterable[Version], after: Iterable[Version]) -> frozenset[str]:
    """Keys of what leans on versions that fell, stand again or fell at another time."""
    was, now = ({(v.subject, v.note, v.slot, v.valid_until, v.ended_by) for v in versions if _fell(v) and is_named(v.subject)} for versions in (before, after))
    return frozenset(leans_key(subject) for subject, *_ in was ^ now)


def _fell(version: Version) -> bool:
    """Whether a version was believed, or stood as a draft a person took back, and is over since a known time."""
    if version.status is Status.RETRACTED:
        return version.valid_until is not None
    ended = version.status is Status.SUPERSEDED and was_believed(version) and not version.slot.endswith((".told", ".mends", ".lower"))
    return ended and version.valid_until is not None


def _rested(version: Version, fell: Sequence[tuple[tuple[str, ...], Version]]) -> Version:
    if version.status not in _RESTING or version.kind is Kind.INSIGHT or not is_named(version.subject):
        return version
    subject, formed = subject_key(version.subject), version.newest_evidence
    under = [v for key, v in fell if key == subject and v.note != version.note and formed is not None and _at(v) > formed]
    by = min(under, key=lambda v: (_at(v), v.note, v.slot), default=None)
    if by is None:
        return version
    return replace(version, status=Status.NEEDS_RECHECK, missed=RESTS_ON_FALLEN, ended_by=by.ended_by, reason=by.statement)


def _at(version: Version) -> datetime:
    assert version.valid_until is not None, "only what fell at a known time is asked"
    return version.valid_until
