"""What came of one file, added up over its batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pipelines.logs.split import Blank, Piece, Record, end_of, start_of
from pipelines.model import BadSpan
from pipelines.ports import IntakeBatch


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenIn:
    """What came of one file. Counts are of this reading alone; `good`, `bad` and `blank` count pieces, `*_bytes` and `pending` bytes.

    `refused` says why nothing (more) was taken; `skipped` says that it is a file found in a folder which is simply no log.
    """

    path: str
    identity: str = ""
    format: str = ""
    sessions: tuple[str, ...] = ()
    new_turns: int = 0
    turns: int = 0
    lines: int = 0
    good: int = 0
    bad: int = 0
    blank: int = 0
    good_bytes: int = 0
    bad_bytes: int = 0
    blank_bytes: int = 0
    pending: int = 0
    archived: int = 0
    redacted: int = 0
    generation: int = 0
    rewritten: bool = False
    ignored: Mapping[str, int] = field(default_factory=dict)
    refused: str | None = None
    skipped: bool = False

    @property
    def bytes(self) -> int:
        """Bytes this reading accounted for, the unfinished tail included."""
        return self.good_bytes + self.bad_bytes + self.blank_bytes + self.pending


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What the pieces of a batch were: how many and how many bytes of each kind; records the reader could not use (`unread`) are bad, not good."""

    pieces: Mapping[str, int]
    bytes: Mapping[str, int]
    ignored: Mapping[str, int]
    lines: int

    @classmethod
    def of(cls, pieces: Sequence[Piece], unread: Iterable[BadSpan], ignored: Mapping[str, int], lines: int) -> Counted:
        """Count them."""
        useless = {span.place.offset for span in unread}
        others = [piece for piece in pieces if not isinstance(piece, Record) or piece.offset in useless]
        count, size = dict.fromkeys(("good", "bad", "blank"), 0), dict.fromkeys(("good", "bad", "blank"), 0)
        for piece in others:
            kind = "blank" if isinstance(piece, Blank) else "bad"
            count[kind] += 1
            size[kind] += end_of(piece) - start_of(piece)
        # Pieces tile what was read, and nearly all of them are good: those need not be counted one by one.
        count["good"] = len(pieces) - len(others)
        size["good"] = (end_of(pieces[-1]) - start_of(pieces[0]) if pieces else 0) - sum(size.values())
        return cls(pieces=count, bytes=size, ignored=ignored, lines=lines)


class Tally:
    """Adds up what was committed of one file, over batches and attempts."""

    def __init__(self, path: str) -> None:
        self._now = TakenIn(path=path)
        self._sessions: dict[str, None] = {}
        self._ignored: Counter[str] = Counter()

    def result(self) -> TakenIn:
        return replace(self._now, sessions=tuple(self._sessions), ignored=dict(sorted(self._ignored.items())))

    def refuse(self, why: str, *, skipped: bool = False, pending: int | None = None) -> None:
        """Say why nothing (more) was taken."""
        self._now = replace(self._now, refused=why, skipped=skipped, pending=self._now.pending if pending is None else pending)

    def stood_still(self, identity: str, format: str, generation: int, pending: int) -> None:
        self._now = replace(self._now, identity=identity, format=format, generation=generation, pending=pending)

    def add(self, batch: IntakeBatch, counted: Counted, new_turns: int) -> None:
        """Count a committed batch."""
        old, count, size = self._now, counted.pieces, counted.bytes
        self._ignored.update(counted.ignored)
        self._sessions.update(dict.fromkeys((*(s.uid for s in batch.sessions), *(t.session for t in batch.turns))))
        self._now = replace(
            old, identity=batch.after.identity, format=batch.after.format, generation=batch.after.generation, rewritten=old.rewritten or batch.rewritten,
            new_turns=old.new_turns + new_turns, turns=old.turns + len(batch.turns), lines=old.lines + counted.lines, pending=batch.after.pending,
            good=old.good + count["good"], bad=old.bad + count["bad"], blank=old.blank + count["blank"], good_bytes=old.good_bytes + size["good"],
            bad_bytes=old.bad_bytes + size["bad"], blank_bytes=old.blank_bytes + size["blank"], redacted=old.redacted + batch.redacted,
            archived=old.archived + sum(s.length for s in batch.segments),
        )  # fmt: skip
