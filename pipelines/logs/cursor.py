"""Moves the cursor of one source: each batch of what was read is committed with the cursor behind it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from pipelines.errors import Conflict
from pipelines.logs.audience import said_to
from pipelines.logs.codec import Source
from pipelines.logs.counting import Counted, Tally
from pipelines.logs.desk import Changed, Desk
from pipelines.logs.discovery import Found
from pipelines.logs.feed import Feed
from pipelines.logs.identity import Start, context_of
from pipelines.logs.outbox import EDGE, Outgoing, Stretch
from pipelines.logs.reader import Carry, WrittenNote
from pipelines.logs.seen import path_key
from pipelines.logs.split import Bad, Piece, Record, end_of
from pipelines.model import OnlineNote
from pipelines.notes.folder import read_text
from pipelines.ports import IntakeBatch, Seen, SourceState


class Cursor:
    """Commits batches of one file, each with the cursor moved behind it."""

    def __init__(self, desk: Desk, found: Found, source: Source, start: Start, feed: Feed, tally: Tally) -> None:
        resumes, state = start.resumes, start.state
        self.desk, self.found, self.source, self.start, self.feed, self.tally = desk, found, source, start, feed, tally
        self.offset, self.line, self.pending = (resumes.offset, resumes.line, resumes.pending) if resumes is not None else (0, 1, 0)
        self.carry: Carry = resumes.carry if resumes is not None else {}
        self.generation = (state.generation + (1 if start.rewritten else 0)) if state is not None else 0
        self.expected = (state.generation, state.offset) if state is not None else None
        self.head, self.tail = start.head, start.tail
        self.rewritten = start.rewritten
        self.last = self.has_moved = False

    def commit(self, pieces: list[Piece], *, pending: int, last: bool, done: bool = False) -> None:
        """Commit what was read so far, and let go of it. `done` says that the file need not be opened again until it changes: a tail of an open log is looked at once more."""
        end = end_of(pieces[-1]) if pieces else self.offset
        records = [p for p in pieces if isinstance(p, Record)]
        read, kept = self.desk.forgotten.spared(records, self.start.reader.read(records, self.carry, context_of(self.found)))
        stretches = self.feed.take(end, kept)
        head, tail = self._edges(stretches)
        self._check(stretches, head, tail, end)
        stamp = self.source.stamp
        seen = Seen(
            path=path_key(self.desk.redactor, self.found.path), size=stamp.size, mtime_ns=stamp.mtime_ns, inode=stamp.inode, identity=self.start.identity
        )
        if not done:
            seen = replace(seen, size=end, mtime_ns=-1)  # never taken for a file read to its end
        redacted = self.feed.count(end)
        if not pieces and pending == self.pending and self.expected is not None and not self.rewritten:
            self.desk.outbox.touch(seen)
            self.tally.stood_still(self.start.identity, self.start.reader.format, self.generation, pending)
            return
        mac, lines = self.desk.store.mac, sum(s.lines for s in stretches)
        after = SourceState(
            identity=self.start.identity, format=self.start.reader.format, generation=self.generation, offset=end, line=self.line + lines,
            head_mac=mac(head), tail_mac=mac(tail), pending=pending, carry=read.carry,
        )  # fmt: skip
        bad = (*(p.span for p in pieces if isinstance(p, Bad)), *read.bad)
        batch = IntakeBatch(
            seen=seen, expected=self.expected, after=after, sessions=said_to(self.desk.audience, read.sessions, read.turns, format=after.format), turns=read.turns, bad=bad, notes=self.desk.forgotten.spared_notes(_noted(read.notes)),
            redacted=redacted, mask_version=self.desk.redactor.version, rewritten=self.rewritten, forget_epoch=self.desk.forgotten.epoch,
        )  # fmt: skip
        counted = Counted.of(pieces, read.bad, read.ignored, lines)
        pieces.clear()
        self._send(Outgoing(batch=batch, stretches=stretches, committed=lambda b, r: self.tally.add(b, counted, r.new_turns), moved=self._moved), last)
        self.desk.collector.after(end - self.offset)
        self.offset, self.line, self.carry, self.pending = end, after.line, read.carry, pending
        self.expected, self.head, self.tail, self.rewritten = (self.generation, end), head, tail, False

    def _send(self, outgoing: Outgoing, last: bool) -> None:
        """Only the last batch of a file may wait for others: what follows rests on the one before."""
        self.last = last
        self.desk.outbox.add(outgoing)
        if not last:
            self.desk.outbox.flush()
            if self.has_moved:
                raise Conflict(f"{self.found.path} was taken in by another process meanwhile")

    def _moved(self) -> None:
        if self.last:
            self.desk.again.append((self.found, self.tally))
        self.has_moved = True

    def _edges(self, stretches: Sequence[Stretch]) -> tuple[bytes, bytes]:
        """The head of the source and the bytes before the new cursor, raw."""
        head, tail = self.head, self.tail
        for stretch in stretches:
            head = head if len(head) == EDGE else (head + stretch.head)[:EDGE]
            tail = (tail + stretch.tail)[-EDGE:]
        return head, tail

    def _check(self, stretches: Sequence[Stretch], head: bytes, tail: bytes, end: int) -> None:
        """Raise Changed unless the file still holds what was read from it.

        Head and tail are always looked at again, since the clock of a file may tick more coarsely than its writer writes. When the stamp moved, all of
        the batch is: then only an append leaves it as it was.
        """
        now = self.source.look()
        if now != self.source.stamp:
            if not self.source.plain or now.size < self.source.stamp.size:
                raise Changed
            for stretch in stretches:
                if self.desk.store.mac(self.source.part(stretch.offset, stretch.end)) != stretch.raw_mac.result():
                    raise Changed
        if self.source.plain and (self.source.part(0, len(head)) != head or self.source.part(end - len(tail), end) != tail):
            raise Changed


def _noted(written: Iterable[WrittenNote]) -> tuple[OnlineNote, ...]:
    """The notes that a log shows being written, as online notes of the folder the agent wrote them to."""
    notes: list[OnlineNote] = []
    for note in written:
        path = PurePosixPath(note.path.replace("\\", "/"))
        text = note.content if note.content is not None else "\n".join(new for _, new in note.edits)
        if text and not note.deleted:
            notes += read_text(text, folder=str(path.parent), path=path.name, mtime=note.at, session=note.session, turn=note.turn)[1]
    return tuple(notes)
