"""What is not taken in again: turns, notes and whole sessions with a tombstone are left out of a batch, and their records become blanks in the archive."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from pipelines.logs.reader import Read
from pipelines.logs.split import Record
from pipelines.model import OnlineNote
from pipelines.ports import Tombstones
from pipelines.text.traces import strings_of

WORDED: Final = frozenset({"writes", "queued", "said", "about", "sessions"})
"""Parts of a reader's memory that hold words; the others hold ids, digests and counts, which it needs to go on."""
Spans = list[tuple[int, int]]


class Forgotten:
    """The tombstones an intake goes by; looked at again when a commit was refused, since something may have been forgotten meanwhile."""

    def __init__(self, ask: Callable[[], Tombstones]) -> None:
        self._ask = ask
        self._turns: set[str] = set()
        self.look()

    def look(self) -> None:
        """Ask again."""
        self._stones = self._ask()

    @property
    def epoch(self) -> int:
        """How often something had been forgotten when this was asked."""
        return self._stones.epoch

    def spared(self, records: Sequence[Record], read: Read) -> tuple[Read, Spans | None]:
        """What may be taken in of what was read, and the spans of the records that stay in the archive; None for all of them.

        Turns that share a record go together. Where something goes, only the records of turns that stay are kept: nobody cites the others.
        """
        stones = self._stones
        if not stones:
            return read, None
        spots = {turn.place.offset for turn in read.turns if stones.turn(turn)}
        spots |= {record.offset for record in records if stones.text("\n".join(strings_of(record.value)))}
        gone = [turn for turn in read.turns if turn.place.offset in spots]
        sessions = tuple(info for info in read.sessions if not stones.session(info.uid))
        if not spots and len(sessions) == len(read.sessions):
            return read, None
        self._turns.update(turn.uid for turn in gone)
        stay = tuple(turn for turn in read.turns if turn.place.offset not in spots)
        carry = wordless(read.carry)
        spared = replace(read, turns=stay, sessions=sessions, carry=carry)
        return spared, sorted({(turn.place.offset, turn.place.offset + turn.place.length) for turn in stay})

    def spared_notes(self, notes: Iterable[OnlineNote]) -> tuple[OnlineNote, ...]:
        """The notes a log shows being written that may be taken in."""
        if not self._stones:
            return tuple(notes)
        return tuple(note for note in notes if note.turn not in self._turns and not self._stones.online(note))


def wordless(carry: Mapping[str, object]) -> dict[str, object]:
    """A reader's memory without the parts that hold words."""
    return {name: type(held)() if name in WORDED and isinstance(held, dict | list) else held for name, held in carry.items()}
