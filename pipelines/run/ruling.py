"""A person's decision about a note: recorded as an input to beliefs, with the claims it bears on marked, so that the next dream believes anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from pipelines.errors import Refused
from pipelines.model import OnlineNote, Ruling, Status, Version, digest
from pipelines.notes.identity import in_force
from pipelines.notes.rulings import SETTLING
from pipelines.run.beside import reopened
from pipelines.run.sources import standing_notes
from pipelines.store import Store

VERBS: Final = frozenset({"approve", "reject", "keep", "retract", "edit"})
UID_MIN: Final = 6
"""Characters of an id that are enough to name a note, when only one begins so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruled:
    """What was decided: the ruling, the note's versions as they stood, and whether it was decided like this before."""

    ruling: Ruling
    versions: tuple[Version, ...]
    known: bool


class OwnLine(Refused):
    """A note named is a line of the person's own note file: `note`."""

    def __init__(self, note: OnlineNote, message: str) -> None:
        super().__init__(message)
        self.note = note


def named_note(store: Store, scope: str, name: str) -> tuple[Version, ...]:
    """The versions of the note an id names (`n-…`, or enough of it). Raises Refused, saying what it is when it is no note of dreamd's own: OwnLine for a
    line of the person's."""
    wanted = name.removeprefix("^").removeprefix("n-").split("-", maxsplit=1)[0]
    if len(wanted) < UID_MIN:
        raise Refused(f"{name!r} is no id of a note: it looks like n-4f2a91c0ab12, and stands behind the line of a page and in the inbox")
    found = [h.version for h in store.heads(scope) if h.version.note.startswith(wanted)]
    notes = {v.note for v in found}
    if len(notes) > 1:
        raise Refused(f"{len(notes)} notes begin with n-{wanted}: give more of the id")
    if found:
        return tuple(found)
    own = next((n for n in standing_notes(store.online_notes(scope)) if n.uid.startswith(wanted)), None)
    if own is not None:
        raise OwnLine(
            own,
            f"n-{own.uid[:12]} is line {own.line} of your own file {own.folder}/{own.path}: change it there, and the next dream takes that over; or tell dreamd remember "
            "what holds: where the line says otherwise, dreamd notes diff proposes the change and dreamd notes apply writes it",
        )
    raise Refused(f"no note is called {name!r}: search finds notes and their ids (dreamd search)")


def rule(store: Store, scope: str, verb: str, name: str, *, at: datetime, hand: str, side: int | None = None, why: str = "") -> Ruled:
    """Record a person's decision about a note; `side` (from 1) names one side of a dispute, `why` is their reason, of an edit the new words.
    The same decision twice is one.

    Raises Refused when there is no such note or side, or when the note is not one that can be decided like this.
    """
    if verb not in VERBS:
        raise ValueError(f"{verb!r} is no decision")
    versions = named_note(store, scope, name)
    other = _slot(versions, side, verb)
    said = (verb, other, why if verb == "edit" else None)
    made = (r for r in in_force(store.rulings(scope, [versions[0].note])) if r.target == versions[0].note)
    before = next((r for r in made if (r.verb, r.other, r.body if verb == "edit" else None) == said), None)
    if before is not None and not _moved_since(versions, before) and not reopened(store, scope, versions, before):
        return Ruled(ruling=before, versions=versions, known=True)
    ruling = Ruling(
        uid=digest("ruling", *(s or "" for s in said), versions[0].note, at.isoformat()),
        verb=verb,
        target=versions[0].note,
        other=other,
        body=why or None,
        at=at,
    )
    with store.together("rule"):
        store.add_ruling(scope, ruling)
        store.mark_dirty(scope, _bears_on(store, versions), "ruling")
        store.write_down(scope, verb, hand, versions[0].note, key=ruling.uid)
    return Ruled(ruling=ruling, versions=versions, known=False)


def rule_beside(store: Store, scope: str, ruled: Ruled, *, at: datetime, hand: str) -> tuple[str, ...]:
    """Decide the same about the notes that stand in the same bullet, which is what the person saw: one sentence of a log may make several. Of an edit they
    are retracted, since the new words stand in their place. Returns their ids; none for a side of a dispute, which is a bullet of its own.

    A decision that was recorded before, and not believed yet, may have been killed before this: it is done all the same.
    """
    said, target = {_bullet(v) for v in ruled.versions if v.status in _SHOWN}, ruled.ruling.target
    if ruled.ruling.other or not said:
        return ()
    beside = sorted({h.version.note for h in store.heads(scope) if h.version.status in _SHOWN and _bullet(h.version) in said} - {target})
    verb = "retract" if ruled.ruling.verb == "edit" else ruled.ruling.verb
    for note in beside:
        rule(store, scope, verb, note, at=at, hand=hand, why=ruled.ruling.body or "")
    return tuple(beside)


_SHOWN: Final = frozenset({Status.CONFIRMED, Status.NEEDS_RECHECK, Status.DRAFT})


def _bullet(version: Version) -> tuple[str, ...]:
    """What notes share that are one bullet, as `noted.sentence_of` has it of notes that are not disputed."""
    return (version.statement, version.status, version.qualifier, version.applies_to or "")


def restore(store: Store, scope: str, name: str, *, at: datetime, hand: str) -> Ruled:
    """Take back what took a note out: it is believed again as if it had never been retracted or rejected. Raises Refused when nothing did."""
    versions = named_note(store, scope, name)
    note = versions[0].note
    out = [r for r in in_force(store.rulings(scope, [note])) if r.verb in {"retract", "reject"} and r.target == note]
    if not out:
        raise Refused(f"n-{note} was neither retracted nor rejected: there is nothing to restore")
    lifts = [Ruling(uid=digest("lift", r.uid), verb="lift", target=r.uid, at=at) for r in out]
    with store.together("restore"):
        for lift in lifts:
            store.add_ruling(scope, lift)
        store.mark_dirty(scope, _bears_on(store, versions), "ruling")
        store.write_down(scope, "restore", hand, note, key=lifts[-1].uid)
    return Ruled(ruling=replace(lifts[-1], target=note), versions=versions, known=False)


def is_out(versions: Sequence[Version]) -> bool:
    """Whether a person took a note out, so that nothing of it stands."""
    return all(v.status is Status.RETRACTED for v in versions)


def require_not_out(versions: Sequence[Version], verb: str) -> None:
    """Raises Refused when a note was taken out and this decision would do nothing to it."""
    if is_out(versions) and verb in SETTLING:
        name = f"n-{versions[0].note}"
        raise Refused(
            f"{name} was retracted or rejected, so there is nothing to {'keep' if verb == 'keep' else 'accept'}: bring it back first, dreamd revert {name}"
        )


def _slot(versions: Sequence[Version], side: int | None, verb: str) -> str | None:
    """The slot of a side of a dispute; None for the note as a whole."""
    sides = sorted((v for v in versions if v.status is Status.DISPUTED), key=lambda v: v.slot)
    if side is None:
        if len(sides) > 1 and verb in {"approve", "keep", "edit"}:
            shown = "; ".join(f"{n}: {v.statement}" for n, v in enumerate(sides, 1))
            raise Refused(f"n-{versions[0].note} is disputed, say which side is right with --side ({shown})")
        return None
    if not 1 <= side <= len(sides):
        raise Refused(f"n-{versions[0].note} has {len(sides)} sides, none of them is {side}")
    return sides[side - 1].slot


def _moved_since(versions: Sequence[Version], ruling: Ruling) -> bool:
    """Whether the note was heard of since it was ruled upon."""
    newest = max((v.newest_evidence for v in versions if v.newest_evidence), default=None)
    return newest is not None and ruling.at is not None and newest > ruling.at


def _bears_on(store: Store, versions: Sequence[Version]) -> frozenset[str]:
    return frozenset(uid for v in versions for uid in v.claims)
