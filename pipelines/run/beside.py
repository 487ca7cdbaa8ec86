"""What stands beside a note without being evidence for it: the instruction files of the project, and what a person pinned or let stand against them.

A file wins over a note that says otherwise until the person decides. Who decided after the line stood in the file has seen it; a line that comes later asks
anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from pipelines.errors import Refused
from pipelines.gates import held_unless_said
from pipelines.model import Ruling, Status, Version, digest
from pipelines.notes.choices import by_itself
from pipelines.notes.identity import in_force
from pipelines.notes.instructions import Instructions, Told, told_by
from pipelines.notes.rulings import SETTLING
from pipelines.store import Store
from pipelines.wiki.content import Item
from pipelines.wiki.lines import NO_LONGER_TOLD

PIN: Final = "pin"
STAND: Final = "stand"
"""Verb of the ruling by which a line of the person's own note file stands although an instruction file says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """The sentences of the files, the notes that are pinned, and when a person last settled a note, by its id."""

    instructions: Instructions = field(default_factory=Instructions)
    pins: frozenset[str] = frozenset()
    settled: Mapping[str, datetime] = field(default_factory=dict)
    ruled: tuple[str, ...] = ()

    @property
    def mark(self) -> str:
        """All the files say, as one word; "" for nothing."""
        told = self.instructions.told
        return digest(*(f"{x.path}\0{x.line}\0{x.words}\0{x.since}\0{x.below}{x.only}" for x in told))[:24] if told else ""

    def shown(self, item: Item) -> Item:
        """A note as pages and the brief show it beside the files."""
        said = item.corrected_to or item.statement
        over = item.verdict in NO_LONGER_TOLD and not item.corrected_to
        looked_at = self.instructions.told and item.status is Status.CONFIRMED and not over
        carried = item.carried
        alone = carried is None or (carried.depth == 0 and by_itself(carried.title, carried.heading))
        against = self.against(item.uid, said, alone=alone) if looked_at else None
        covered = bool(looked_at and against is None and self.instructions.covers(said))
        pinned = item.uid in self.pins
        return replace(item, against=against.place if against else "", covered=covered, pinned=pinned) if against or covered or pinned else item

    def against(self, uid: str, said: str, *, alone: bool = True) -> Told | None:
        """The sentence of a file that a note says otherwise than and nobody has decided about; `alone` as in `Instructions.against`."""
        found = self.instructions.against(said, alone=alone)
        decided = self.settled.get(uid)
        return None if found and decided and found.since and decided > found.since else found


def beside(store: Store, scope: str, *, known_at: datetime | None = None) -> Beside:
    """What stands beside the notes of a scope now, or what was known to."""
    lines = store.instructions(scope, known_at=known_at)
    since = {note.uid: at for note, at in lines}
    rulings = in_force(r for r in store.rulings(scope) if known_at is None or r.at is None or r.at <= known_at)
    settled = {r.target: r.at for r in rulings if r.verb in SETTLING | {STAND} and r.at}
    return Beside(
        instructions=Instructions(tuple(t for t in told_by((note for note, _ in lines), since))), pins=frozenset(r.target for r in rulings if r.verb == PIN),
        settled=settled, ruled=tuple(sorted(f"{r.verb} {r.target}" for r in rulings if r.verb in {PIN, STAND})),
    )  # fmt: skip


def words_of(told: Told) -> str:
    """A sentence of a file as a person may be shown it: one that orders its reader about in ways no person would is named by its place alone."""
    return "" if held_unless_said(told.words) else told.words


def reopened(store: Store, scope: str, versions: tuple[Version, ...], before: Ruling) -> bool:
    """Whether an instruction file came to say otherwise after a decision."""
    if before.verb not in SETTLING:
        return False
    near = beside(store, scope)
    return any(v.status is Status.CONFIRMED and near.against(v.note, v.statement) for v in versions)


def let_stand(store: Store, scope: str, uid: str, *, at: datetime, hand: str) -> None:
    """Record that a line of the person's own note file holds, whatever an instruction file says."""
    with store.together("let a line stand"):
        store.add_ruling(scope, Ruling(uid=digest(STAND, uid, at.isoformat()), verb=STAND, target=uid, at=at))
        store.write_down(scope, STAND, hand, uid, key=f"{uid} {at.isoformat()}")


def pin(store: Store, scope: str, versions: tuple[Version, ...], *, at: datetime, hand: str) -> bool:
    """Record that a note is to stand first; False when it does already. Raises Refused for what no brief tells."""
    note = versions[0].note
    if any(r.verb == PIN and r.target == note for r in in_force(store.rulings(scope, [note]))):
        return False
    if not any(v.status is Status.CONFIRMED for v in versions):
        status = ", ".join(sorted({v.status.value.replace("_", " ") for v in versions}))
        raise Refused(f"n-{note} is {status}, and the brief tells what is confirmed: dreamd review show n-{note}, accept it, then pin it")
    with store.together("pin"):
        store.add_ruling(scope, Ruling(uid=digest(PIN, note, at.isoformat()), verb=PIN, target=note, at=at))
        store.write_down(scope, PIN, hand, note, key=f"{note} {at.isoformat()}")
    return True


def unpin(store: Store, scope: str, versions: tuple[Version, ...], *, at: datetime, hand: str) -> bool:
    """Take a pin off; False when there is none."""
    note = versions[0].note
    pins = [r for r in in_force(store.rulings(scope, [note])) if r.verb == PIN and r.target == note]
    with store.together("unpin"):
        for ruling in pins:
            store.add_ruling(scope, Ruling(uid=digest("lift", ruling.uid), verb="lift", target=ruling.uid, at=at))
            store.write_down(scope, "unpin", hand, note, key=f"{note} {ruling.uid}")
    return bool(pins)
