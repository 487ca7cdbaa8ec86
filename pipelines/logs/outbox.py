"""Gathers what small logs bring, so that many of them are one commit: a transaction costs more than what one of them says.

Everything in a commit is in the archive, durably, before the store hears of it. A crash loses what waits here, and its cursors with it: the next intake
reads it again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, Protocol

from pipelines.errors import Conflict
from pipelines.ports import IntakeBatch, Segment

FILES_MAX: Final = 128
"""Batches of one commit, at most."""


class Receipt(Protocol):
    """What the store says of a committed batch."""

    @property
    def new_turns(self) -> int: ...


class BatchStore(Protocol):
    """Commits batches of different sources, all or none; raises Conflict when one of their cursors is not where the batch was read from."""

    def commit_batches(self, scope: str, batches: Sequence[IntakeBatch]) -> Sequence[Receipt]: ...


class Kept(NamedTuple):
    """The address of bytes in the archive, and the keyed digest of what they were before they were masked."""

    blob: str
    raw_mac: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Bytes of a source as they were read: those at both ends, and how they were kept, which may still be on its way."""

    offset: int
    length: int
    lines: int
    head: bytes
    tail: bytes
    kept: Future[Kept]

    @property
    def end(self) -> int:
        return self.offset + self.length


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """A batch without its segments, the stretches they are made of, and who is told what came of it."""

    batch: IntakeBatch
    stretches: Sequence[Stretch]
    committed: Callable[[IntakeBatch, Receipt], None]
    moved: Callable[[], None]

    def archived(self) -> IntakeBatch:
        """The batch with its segments, once all of them are in the archive; raises what the archive raised."""
        kept = [(stretch, stretch.kept.result()) for stretch in self.stretches]
        segments = tuple(Segment(offset=s.offset, length=s.length, blob=k.blob, raw_mac=k.raw_mac) for s, k in kept)
        return replace(self.batch, segments=segments)


class Outbox:
    """Batches of different sources that wait to be committed together, up to `size` bytes of log."""

    def __init__(self, store: BatchStore, scope: str, *, size: int) -> None:
        self._store, self._scope, self._size = store, scope, size
        self._waiting: dict[str, Outgoing] = {}
        self._sent: set[str] = set()
        self._bytes = 0

    def holds(self, identity: str) -> bool:
        """Whether a batch of this source waits, so that the store does not know its newest cursor yet."""
        return identity in self._waiting

    def sent(self, identity: str) -> bool:
        """Whether a batch of this source was handed to the store."""
        return identity in self._sent

    def add(self, outgoing: Outgoing) -> None:
        """Let a batch wait; commits when there is enough."""
        identity = outgoing.batch.after.identity
        if self.holds(identity):
            self.flush()
        self._waiting[identity] = outgoing
        self._bytes += sum(s.length for s in outgoing.stretches)
        if self._bytes >= self._size or len(self._waiting) >= FILES_MAX:
            self.flush()

    def flush(self) -> None:
        """Commit all that waits. When one of them cannot be committed, each is tried alone, and those that cannot are told that they moved."""
        waiting, self._waiting, self._bytes = list(self._waiting.values()), {}, 0
        if waiting and not self._commit(waiting):
            for outgoing in waiting:
                if len(waiting) == 1 or not self._commit([outgoing]):
                    outgoing.moved()

    def _commit(self, waiting: Sequence[Outgoing]) -> bool:
        batches = [outgoing.archived() for outgoing in waiting]
        self._sent.update(batch.after.identity for batch in batches)
        try:
            receipts = self._store.commit_batches(self._scope, batches)
        except Conflict:
            return False
        for outgoing, batch, receipt in zip(waiting, batches, receipts, strict=True):
            outgoing.committed(batch, receipt)
        return True
