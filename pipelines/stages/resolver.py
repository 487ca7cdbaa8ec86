"""Resolver: the claims of a group in, what is to be believed out, with the reason for each difference from what stands.

Beliefs are recomputed, never patched (systems R3): this looks at all claims of the group, not at what arrived last.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from pipelines.model import Kind, Ruling, Status, Version, Witnessed
from pipelines.notes.beliefs import believe
from pipelines.notes.bounds import confirmed_last, outdated
from pipelines.notes.dependants import rested
from pipelines.notes.identity import Relations
from pipelines.notes.recheck import FELL


class Verb(StrEnum):
    """What a resolution does to a note (DESIGN §3)."""

    NEW = "new"
    SAME = "same"
    EXTENDS = "extends"
    SUPERSEDES = "supersedes"
    RETRACTS = "retracts"
    CONFLICTS = "conflicts"
    MERGES = "merge_into"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """All wanted versions of one note, what that does to it, why (a constant code), and the claims it rests on."""

    note: str
    versions: tuple[Version, ...]
    verb: Verb
    why: str
    claims: tuple[str, ...]


def resolve(
    scope: str, claims: Sequence[Witnessed], rulings: Sequence[Ruling], stands: Mapping[str, Sequence[Version]], *, skew_s: float, intake_at: datetime,
    relations: Relations | None = None, beside: Beside | None = None,
) -> tuple[Resolution, ...]:  # fmt: skip
    """What is to be believed of every note the claims speak of, and the end of every standing note none of them speaks of any more.

    `claims` are all that bear on each other (`identity.linked`); `stands` holds the current versions of all notes that rest on one of them. `relations` are
    recorded verdicts on pairs of them, `beside` what is known of others that bears on them all the same.
    """
    wanted: defaultdict[str, list[Version]] = defaultdict(list)
    believed = believe(scope, claims, rulings, skew_s=skew_s, intake_at=intake_at, relations=relations)
    for version in _looked_over(believed, claims, rulings, beside or Beside(), read_at=intake_at + timedelta(seconds=skew_s)):
        wanted[version.note].append(version)
    owner = {claim: note for note, versions in wanted.items() for v in versions for claim in v.claims}
    notes = sorted(wanted.keys() | stands.keys())
    return tuple(_resolution(note, tuple(wanted.get(note, ())), tuple(stands.get(note, ())), owner) for note in notes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What bears on the notes that are decided, though it speaks of others: the pieces insights rest on, claims that show versions of things, and versions
    that are over of notes not decided here."""

    pieces: Pieces | None = None
    shown: Sequence[Witnessed] = ()
    fallen: Sequence[Version] = ()


def _looked_over(
    versions: Sequence[Version], claims: Sequence[Witnessed], rulings: Sequence[Ruling], beside: Beside, *, read_at: datetime
) -> Sequence[Version]:
    """What is believed, looked over from one note to others: what falls to be checked again though nothing replaces it."""
    if beside.pieces:
        versions = rechecked(versions, beside.pieces)
    if any(v.applies_to for v in versions):
        versions = outdated(versions, (*claims, *beside.shown), confirmed_last(versions, claims, rulings), read_at=read_at)
    return rested(versions, claims, beside.fallen)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """What insights rest on. `of`: by the uid of an insight's claim, for each of its quotes the claims that rest on those words.

    `elsewhere` says how claims stand whose notes are not decided here; one that is named nowhere stands no more.
    """

    of: Mapping[str, tuple[frozenset[str], ...]]
    elsewhere: Mapping[str, Status]


_HOLDS = frozenset({Status.CONFIRMED, Status.DISPUTED, Status.DRAFT})


def rechecked(versions: Sequence[Version], pieces: Pieces) -> tuple[Version, ...]:
    """The versions with every confirmed insight to be checked again of which a piece has fallen: claims rest on its words, and none of them holds."""
    held = {claim for claim, status in pieces.elsewhere.items() if status in _HOLDS}
    held |= {claim for v in versions if v.status in _HOLDS for claim in v.claims}

    def fell(version: Version) -> bool:
        return any(resting and not resting & held for claim in version.claims for resting in pieces.of.get(claim, ()))

    return tuple(
        replace(v, status=Status.NEEDS_RECHECK, missed=FELL) if v.kind is Kind.INSIGHT and v.status is Status.CONFIRMED and fell(v) else v for v in versions
    )


def _resolution(note: str, versions: tuple[Version, ...], stands: tuple[Version, ...], owner: Mapping[str, str]) -> Resolution:
    verb, why = _verb(versions, stands, owner)
    claims = tuple(dict.fromkeys(c for v in (*versions, *stands) for c in v.claims))
    return Resolution(note=note, versions=versions, verb=verb, why=why, claims=claims)


def _verb(versions: Sequence[Version], stands: Sequence[Version], owner: Mapping[str, str]) -> tuple[Verb, str]:
    if not versions:
        moved = next((owner[c] for v in stands for c in v.claims if c in owner), None)
        return (Verb.MERGES, f"into:{moved}") if moved else (Verb.RETRACTS, "no_claim_left")
    lead = _leading(versions)
    if {v.content for v in versions} == {v.content for v in stands}:
        return Verb.SAME, "nothing_new"
    if any(v.status is Status.DISPUTED for v in versions) and not any(v.status is Status.DISPUTED for v in stands):
        return Verb.CONFLICTS, "no_order_between_sides"
    before = _leading(stands) if stands else None
    if before is None:
        return Verb.NEW, lead.missed or lead.status.value
    if (before.statement, before.value) != (lead.statement, lead.value) and before.status is Status.CONFIRMED:
        return (Verb.SUPERSEDES, lead.reason or "newer_event") if lead.status is Status.CONFIRMED else (Verb.RETRACTS, lead.status.value)
    if lead.status is Status.RETRACTED and before.status is not Status.RETRACTED:
        return Verb.RETRACTS, lead.status.value
    return Verb.EXTENDS, lead.missed or lead.status.value


_RANK = (Status.CONFIRMED, Status.DISPUTED, Status.NEEDS_RECHECK, Status.DRAFT, Status.QUARANTINED, Status.SUPERSEDED, Status.EXPIRED, Status.RETRACTED)


def _leading(versions: Sequence[Version]) -> Version:
    """The version that stands for the note: the best status, then the newest evidence, then the slot."""
    return min(versions, key=lambda v: (_RANK.index(v.status), -(v.newest_evidence.timestamp() if v.newest_evidence else 0.0), v.slot))
