"""Notes that fall with what they rest on.

What the assistant alone says, or what a model concluded, has no evidence of its own and rests on the notes of the same subject; whatever names another note by
its id rests on that one, too. When what it rests on is corrected or taken back, it has to be checked again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from pipelines.model import Claim, GateResult, Kind, Outcome, Standing, Status, Version, Witnessed, short_uid
from pipelines.text.slots import USER

from .bounds import bound_key, seen_in
from .ending import end_keys
from .recheck import CITES_FALLEN, RESTS_ON_FALLEN, was_believed
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


_ID = re.compile(r"(?<![\w-])n-([a-z0-9]{12})(?![\w-])")


def ids_in(text: str) -> frozenset[str]:
    """The notes a text names by their ids ("builds on n-4f2a91c0ab12")."""
    return frozenset(_ID.findall(text))


def cited_by(claim: Claim) -> frozenset[str]:
    """The notes a claim names by their ids."""
    return ids_in("\n".join((claim.statement, *(q.text for q in claim.quotes))))


def cites_key(note: str) -> str:
    """Key of claims that name a note by its id."""
    return short_uid("cites", note)


def tie_keys(claim: Claim, results: Iterable[GateResult]) -> frozenset[str]:
    """Keys by which a claim is found whose note may fall or rise with another one, though neither replaces the other."""
    bound = seen_in(claim)
    leaning = (leans_key(claim.subject),) if leans(claim, results) else ()
    return end_keys([claim]) | frozenset({*((bound_key(bound),) if bound else ()), *leaning, *map(cites_key, cited_by(claim))})


def rested(versions: Sequence[Version], claims: Iterable[Witnessed], fallen: Iterable[Version]) -> tuple[Version, ...]:
    """The versions with every one to be checked again that rests on a note which fell since: one it names by its id, or, without evidence of its own, one of
    its subject.

    `claims` are those they rest on, `fallen` versions that are over of notes not among these.
    """
    claims = tuple(claims)
    leaning = frozenset(w.uid for w in claims if w.standing is Standing.INFERRED)
    cited = {w.uid: ids for w in claims if (ids := cited_by(w.claim))}
    fallen_now = [(subject_key(v.subject), v) for v in (*versions, *fallen) if fell(v)] if leaning or cited else []
    return tuple(_rested(v, fallen_now, leaning, cited) if fallen_now else v for v in versions)


def moved_keys(before: Iterable[Version], after: Iterable[Version]) -> frozenset[str]:
    """Keys of what rests on versions that fell, stand again or fell at another time."""
    was, now = ({(v.note, v.subject, v.slot, v.valid_until, v.ended_by) for v in versions if fell(v)} for versions in (before, after))
    moved = [(note, subject) for note, subject, *_ in was ^ now]
    return frozenset({*(cites_key(note) for note, _ in moved), *(leans_key(subject) for _, subject in moved if is_named(subject))})


def fell(version: Version) -> bool:
    """Whether a version was believed, or stood as a draft a person took back, and is over since a known time."""
    if version.status is Status.RETRACTED:
        return version.valid_until is not None
    ended = version.status is Status.SUPERSEDED and was_believed(version) and not version.slot.endswith((".told", ".mends", ".lower"))
    return ended and version.valid_until is not None


def _rested(version: Version, fallen: Sequence[tuple[tuple[str, ...], Version]], leaning: frozenset[str], cited: Mapping[str, frozenset[str]]) -> Version:
    formed = version.newest_evidence
    if version.status not in _RESTING or version.kind is Kind.INSIGHT or formed is None:
        return version
    subject = subject_key(version.subject) if is_named(version.subject) and leaning.issuperset(version.claims) else None
    named = frozenset[str]().union(*(cited.get(uid, ()) for uid in version.claims))
    under = [v for key, v in fallen if v.note != version.note and (v.note in named or key == subject) and _at(v) > formed]
    by = min(under, key=lambda v: (v.note not in named, _at(v), v.note, v.slot), default=None)
    if by is None:
        return version
    return replace(
        version, status=Status.NEEDS_RECHECK, missed=CITES_FALLEN if by.note in named else RESTS_ON_FALLEN, ended_by=by.ended_by, reason=by.statement
    )


def _at(version: Version) -> datetime:
    assert version.valid_until is not None, "only what fell at a known time is asked"
    return version.valid_until
