"""Gathers what small logs bring, so that many of them are one commit and one file of the archive: a transaction, or a file, costs more
than what one of them says.

Everything in a commit is in the archive, durably, before the store hears of it. A crash loses what waits here, and its cursors with it: the next intake
reads it again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Final, Protocol

from pipelines.errors import Conflict
from pipelines.logs.archive import put_all
from pipelines.ports import Blobs, IntakeBatch, Seen, Segment

FILES_MAX: Final = 256
"""Batches of one commit, at most."""
TURNS_MAX: Final = 2_000
"""Turns of one commit, at which no more batches are added (systems R14)."""
SMALL: Final = 32 * 1024
"""Bytes of the longest blob that shares a file of the archive, and of the longest log that is not masked ahead."""
EDGE: Final = 4096
"""Bytes at the head and before the cursor whose keyed digests tell growth from a rewrite."""


class Receipt(Protocol):
    """What the store says of a committed batch."""

    @property
    def new_turns(self) -> int: ...


class BatchStore(Protocol):
    """Commits batches of different sources, all or none; raises Conflict when one of their cursors is not where the batch was read from."""

    def commit_batches(self, scope: str, batches: Sequence[IntakeBatch]) -> Sequence[Receipt]: ...
    def touch(self, scope: str, seen: Sequence[Seen]) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Bytes of a source as they were read: those at both ends, their keyed digest and their blob, which may still be on their way."""

    offset: int
    length: int
    lines: int
    head: bytes
    tail: bytes
    raw_mac: Future[str]
    blob: Future[str]

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
        segments = (Segment(offset=s.offset, length=s.length, blob=s.blob.result(), raw_mac=s.raw_mac.result()) for s in self.stretches)
        return replace(self.batch, segments=tuple(segments))


class Outbox:
    """Batches of different sources that wait to be committed together, up to `size` bytes of log; `archive` brings what is left of them into the archive."""

    def __init__(self, store: BatchStore, scope: str, *, size: int, archive: Callable[[], None]) -> None:
        self._store, self._scope, self._size, self._archive = store, scope, size, archive
        self._waiting: dict[str, Outgoing] = {}
        self._sent: set[str] = set()
        self._touched: list[Seen] = []
        self._bytes = self._turns = 0

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
        self._turns += len(outgoing.batch.turns)
        if self._bytes >= self._size or self._turns >= TURNS_MAX or len(self._waiting) >= FILES_MAX:
            self._commit_all()

    def touch(self, seen: Seen) -> None:
        """Let wait how a file looks now in which nothing is new. A crash forgets it, and the file is looked into once more."""
        self._touched.append(seen)
        if len(self._touched) >= FILES_MAX:
            self._touch_all()

    def flush(self) -> None:
        """Commit all that waits."""
        self._commit_all()
        self._touch_all()

    def _touch_all(self) -> None:
        touched, self._touched = self._touched, []
        if touched:
            self._store.touch(self._scope, touched)

    def _commit_all(self) -> None:
        """Commit the batches. When one of them cannot be committed, each is tried alone, and those that cannot are told that they moved."""
        waiting, self._waiting, self._bytes, self._turns = list(self._waiting.values()), {}, 0, 0
        self._archive()
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


class SmallBlobs:
    """Small blobs that wait to be put into the archive together, just before the commit of their batches."""

    def __init__(self, archive: Blobs) -> None:
        self._archive = archive
        self._waiting: list[tuple[bytes, Future[str]]] = []

    def add(self, data: bytes) -> Future[str]:
        """The blob's address, once it is there."""
        address: Future[str] = Future()
        self._waiting.append((data, address))
        return address

    def put(self) -> None:
        """Put all that wait. Raises what the archive raises."""
        waiting, self._waiting = self._waiting, []
        for (_, future), address in zip(waiting, put_all(self._archive, [data for data, _ in waiting]) if waiting else (), strict=True):
            future.set_result(address)
