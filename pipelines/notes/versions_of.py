"""The versions a note has, from the sides its claims took: what was, what stands, what never weighed enough, what was taken back. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from pipelines.model import Outcome, Ruling, Standing, Status, Version, Witnessed

from .clock import Clock
from .ending import is_ending
from .half_life import over_after, passes
from .identity import cardinality_of, event_order, value_name
from .privacy import heard_by_any, sensitivity_of_claim
from .promotion import promote, said_once, witnesses
from .recheck import FAILED
from .rulings import EDIT, is_ruling, slot_head
from .sides import Fold, NoteClaims, Side
from .weights import Key, best_of, is_proven, key_of, names_as_over, strength_of, weight_of

LOWER_STANDING = "lower_standing"
"""`Version.reason` of a value that never replaced the current one because it weighed less."""


def versions_of(note: NoteClaims, sides: Sequence[Side], fold: Fold) -> Iterator[Version]:
    """The versions of one note from its sides: ended ones in order, then those that stand, then those that never weighed enough."""
    count: dict[Key, int] = defaultdict(int)
    for side in sides:
        head = slot_head(*side.key)
        if fold.low.get((side.note, side.key)) is side:
            yield _lower_version(note, f"{head}.lower", side, fold.clock)
            continue
        count[side.key] += 1
        slot = head if count[side.key] == 1 else f"{head}.{count[side.key]}"
        yield _ended(note, slot, side, fold.clock) if side.ended_by else _standing(note, slot, side, fold)
        if side.mends is not None:
            yield _mended(note, f"{slot}.mends", side.mends, fold.clock)
    heard = [side for side in sides if fold.low.get((side.note, side.key)) is not side]
    yield from _told(note, [w for side in heard for w in side.claims], {side.key for side in sides}, fold)
    yield from _retracted(note, fold.clock)


def _standing(note: NoteClaims, slot: str, side: Side, fold: Fold) -> Version:
    status, missed = promote(best_of(side.claims).claim.kind, side.claims)
    if status is Status.CONFIRMED and any(rival.proven for rival in fold.rivals(side)):
        status = Status.DISPUTED
    if side.mends is not None and status is Status.DRAFT:
        status, missed = Status.CONFIRMED, ""
    newest = max(side.claims, key=event_order)
    until = newest.claim.valid_until or _passes_at(side.claims, fold.clock)
    version = replace(_version(note, slot, side.claims, status, fold.clock), missed=missed, valid_until=until)
    return _doubted(version, *side.doubt) if side.doubt else version


def _passes_at(claims: Sequence[Witnessed], clock: Clock) -> datetime | None:
    """When what passes by itself is over: some time after it was last heard of, or a person last spoke for it."""
    claim = best_of(claims).claim
    if not passes(claim.kind, claim.subject, claim.attribute):
        return None
    return over_after(max((at for w in claims if (at := clock.at(w))), default=None))


def _doubted(version: Version, code: str, by: Witnessed) -> Version:
    """The version to be checked again because of a claim that cannot end it; a draft stays one, a failed one says so."""
    if version.status is Status.DRAFT:
        return replace(version, missed=code, ended_by=by.uid) if code == FAILED else version
    if version.status is not Status.CONFIRMED:
        return version
    reason = by.claim.reason if code == FAILED else by.claim.statement
    return replace(version, status=Status.NEEDS_RECHECK, missed=code, ended_by=by.uid, reason=reason or version.reason)


def _ended(note: NoteClaims, slot: str, side: Side, clock: Clock) -> Version:
    by = side.ended_by
    assert by is not None
    clear = any(clock.later(by, w) for w in side.claims)
    version = _version(note, slot, side.claims, Status.SUPERSEDED, clock)
    reason = (
        (by.claim.reason or _why_failed(side) or (by.claim.statement if is_ending(by.claim) else None))
        if clear or names_as_over(by, side.claims[0])
        else LOWER_STANDING
    )
    missed = "" if side.proven else promote(best_of(side.claims).claim.kind, side.claims)[1]
    return replace(version, valid_until=clock.at(by) if clear else None, ended_by=by.uid, reason=reason, missed=missed)


def _why_failed(side: Side) -> str | None:
    return side.failed.claim.reason if side.failed is not None else None


def _mended(note: NoteClaims, slot: str, old: Side, clock: Clock) -> Version:
    """What a procedure was before it failed, as history of the one that works: told by the claim that shows both."""
    by = old.ended_by
    assert by is not None
    best = best_of(old.claims)
    version = _version(note, slot, [by], Status.SUPERSEDED, clock)
    return replace(
        version, statement=best.claim.statement, value=best.claim.value, valid_from=None, valid_until=clock.at(by), ended_by=by.uid,
        reason=by.claim.reason or _why_failed(old),
    )  # fmt: skip


def _lower_version(note: NoteClaims, slot: str, side: Side, clock: Clock) -> Version:
    """History for what weighed less; a draft where only a missing criterion made it weigh less, so that a person may see it. What misses more
    than a speaker of higher standing names that: it was never believed, and is told nowhere."""
    by = side.ended_by
    assert by is not None
    best = max(side.claims, key=lambda w: (w.standing, event_order(w)))
    missed = best.missed or next(iter(best.claim.doubts), "unproven")
    if best.standing >= weight_of(by) or best.claim.made_by == EDIT:
        return replace(_version(note, slot, side.claims, Status.DRAFT, clock), missed=missed)
    over = replace(_version(note, slot, side.claims, Status.SUPERSEDED, clock), reason=LOWER_STANDING, ended_by=by.uid)
    return over if any(map(_lacks_but_standing, side.claims)) else replace(over, missed=missed)


def _lacks_but_standing(witness: Witnessed) -> bool:
    """Whether nothing but a speaker of higher standing is missing: a gate let it through, or it is an agent's own word."""
    lacking = {witness.missed, *witness.claim.doubts} - {""}
    return not lacking or (witness.standing is Standing.INFERRED and lacking <= _OF_AGENTS)


_OF_AGENTS = frozenset({"assistant_only", "only_the_assistant_says_so", "inferred"})
"""Missed by whatever an agent says itself."""


def _told(note: NoteClaims, claims: Iterable[Witnessed], known: set[Key], fold: Fold) -> Iterator[Version]:
    """A former value no claim states, known because a claim names it as over."""
    done = set(known)
    for witness in sorted(claims, key=event_order):
        claim = witness.claim
        key = (value_name(claim.old_value), False)
        single = cardinality_of(claim) == "single" and claim.value is not None
        if not claim.old_value or not single or key in done or witness.outcome is not Outcome.PASS or witness.uid in fold.ended_elsewhere:
            continue
        done.add(key)
        version = _version(note, f"{slot_head(*key)}.told", [witness], Status.SUPERSEDED, fold.clock)
        at = fold.clock.at(witness)
        yield replace(version, value=claim.old_value, valid_from=None, valid_until=at, ended_by=witness.uid, reason=claim.reason)


def _retracted(note: NoteClaims, clock: Clock) -> Iterator[Version]:
    by_key: dict[Key, list[tuple[Witnessed, Ruling]]] = defaultdict(list)
    for witness, ruling in note.voided:
        by_key[key_of(witness)].append((witness, ruling))
    for key, pairs in by_key.items():
        ruling = pairs[0][1]
        version = _version(note, f"{slot_head(*key)}.retracted", [w for w, _ in pairs], Status.RETRACTED, clock)
        yield replace(version, reason=ruling.body or ruling.verb, ended_by=ruling.uid, valid_until=ruling.at)


def _version(note: NoteClaims, slot: str, claims: Sequence[Witnessed], status: Status, clock: Clock) -> Version:
    """A version in the words of the oldest of its strongest claims; times are those of the evidence, never of now.

    A time that cannot be (`Clock.at`) dates nothing.
    """
    best = best_of(claims)
    ordered = sorted(claims, key=event_order)
    dated = [(at, is_ruling(w)) for w in ordered if (at := clock.at(w)) is not None]
    times = sorted(at for at, ruled in dated if not ruled) or [at for at, _ in dated]
    claim = best.claim
    standing = best.standing if said_once(best) and is_proven(claims) else weight_of(best)
    counted = [w for w in ordered if weight_of(w) is not Standing.INFERRED or said_once(w)] or ordered
    return Version(
        note=note.uid, slot=slot, kind=claim.kind, subject=claim.subject, attribute=claim.attribute, qualifier=claim.qualifier, statement=claim.statement,
        value=claim.value, status=status, standing=standing, basis=best.order.basis, claims=tuple(dict.fromkeys(w.uid for w in ordered)),
        valid_from=times[0] if times else None, oldest_evidence=times[0] if times else None, newest_evidence=times[-1] if times else None,
        verified_by=next((w.claim.verified_by for w in sorted(claims, key=strength_of) if w.claim.verified_by), None),
        applies_to=next((w.claim.applies_to for w in reversed(ordered) if w.claim.applies_to), None),
        reason=next((w.claim.reason for w in reversed(ordered) if w.claim.reason), None), roots=witnesses(counted), sensitivity=sensitivity_of_claim(claim),
        audience=heard_by_any(w.audience for w in ordered if w.claim.statement == claim.statement),
    )  # fmt: skip
