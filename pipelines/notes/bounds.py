"""Versions notes are bound to ("app 1.3"), and newer ones that were seen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from pipelines.model import Basis, Claim, Origin, Outcome, Ruling, Status, Version, Witnessed, short_uid
from pipelines.text.statement import canonical_words

from .identity import attribute_key, event_order
from .recheck import NEWER_SEEN
from .relate import USED_AS, subject_key

SEEN = "version seen"
"""Attribute of a claim that only shows which version of a thing is there: it is no note, since one command tells it again."""
_NAMED = re.compile(r"(?P<product>.*?)[\s@=:-]*\bv?(?P<version>\d+(?:\.\d+){0,3})(?:[-.][\w.]+)?", re.IGNORECASE)
_OPEN = re.compile(r"[>≥+]|\b(?:newer|later|above|up|since|from)\b|以上|起", re.IGNORECASE)
_TOLD_OF = USED_AS | {"version"}
_NO_NAME = frozenset({"version", "release", "v", "版本"})


@dataclass(frozen=True, slots=True)
class Bound:
    """A version of a thing: its name in canonical words (none: the project itself), and the numbers to compare by."""

    product: tuple[str, ...]
    numbers: tuple[int, ...]


def bound_of(text: str | None) -> Bound | None:
    """The version a text names ("app 1.3", "Node v20"); None when it names none, or leaves it open upwards ("1.3 and newer")."""
    found = _NAMED.fullmatch(" ".join(text.split())) if text else None
    if found is None or _OPEN.search(text or ""):
        return None
    product = tuple(word for word in subject_key(found["product"]) if word not in _NO_NAME)
    numbers = [int(n) for n in found["version"].split(".")]
    while len(numbers) > 1 and not numbers[-1]:
        numbers.pop()
    return Bound(product, tuple(numbers))


def seen_in(claim: Claim) -> Bound | None:
    """The version of a thing a claim shows to be there: it says so, or is bound to it itself."""
    if claim.applies_to and not claim.negated:
        return bound_of(claim.applies_to)
    attribute = attribute_key(claim.attribute)
    if claim.negated or not claim.value or not (claim.attribute == SEEN or attribute in _TOLD_OF):
        return None
    read = bound_of(claim.value)
    if attribute in USED_AS:  # "we use Postgres 16": the value names the thing
        return read if read is not None and read.product else None
    return Bound(subject_key(claim.subject) if canonical_words(claim.subject) else (), read.numbers) if read is not None and not read.product else read


def is_sighting(claim: Claim) -> bool:
    """Whether a claim does nothing but show a version."""
    return claim.attribute == SEEN


def bound_keys(claims: Iterable[Claim]) -> frozenset[str]:
    """Keys by which claims are found that speak of versions of the same things."""
    return frozenset(bound_key(found) for claim in claims if (found := seen_in(claim)) is not None)


def bound_key(bound: Bound) -> str:
    return short_uid("bound", *bound.product)


Moment = tuple[bool, float, str, int, str]
"""A place in the order of events (`OrderKey.sort`)."""


def confirmed_last(versions: Iterable[Version], claims: Iterable[Witnessed], rulings: Iterable[Ruling]) -> Mapping[tuple[str, str], Moment]:
    """When each version, by note and slot, was last said, shown or decided upon."""
    at = {w.uid: w.order.sort for w in claims}
    at |= {r.uid: (True, r.at.timestamp(), "", 0, r.uid) for r in rulings if r.at}
    return {(v.note, v.slot): max(known) for v in versions if (known := [at[uid] for uid in v.claims if uid in at])}


def outdated(
    versions: Sequence[Version], claims: Iterable[Witnessed], last: Mapping[tuple[str, str], Moment], *, read_at: datetime
) -> tuple[Version, ...]:  # fmt: skip
    """The versions with every confirmed one to be checked again that is bound to a version of which `claims` show a newer one since.

    `last` is `confirmed_last`. Only a person's words and results of the session's own commands show one; times that are
    unknown or lie after `read_at` are no order.
    """
    shown = [
        (found, w) for w in sorted(claims, key=event_order)
        if w.origin in {Origin.USER, Origin.TOOL} and (w.outcome is Outcome.PASS or is_sighting(w.claim)) and _dated(w, read_at) and (found := seen_in(w.claim))
    ]  # fmt: skip
    return tuple(_outdated(v, shown, last.get((v.note, v.slot))) if v.status is Status.CONFIRMED and v.applies_to else v for v in versions)


def _dated(witness: Witnessed, read_at: datetime) -> bool:
    order = witness.order
    return order.known and order.at is not None and order.basis is not Basis.UNKNOWN and order.at <= read_at


def _outdated(version: Version, shown: Sequence[tuple[Bound, Witnessed]], last: Moment | None) -> Version:
    bound = bound_of(version.applies_to)
    if bound is None or last is None:
        return version
    newer = [(found, w) for found, w in shown if found.product == bound.product and found.numbers > bound.numbers and w.order.sort > last]
    if not newer:
        return version
    found, by = newer[-1]
    name = " ".join((*found.product, ".".join(map(str, found.numbers))))
    return replace(version, status=Status.NEEDS_RECHECK, missed=NEWER_SEEN, ended_by=by.uid, reason=by.claim.applies_to or name)
