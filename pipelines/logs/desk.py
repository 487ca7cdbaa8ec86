"""What is the same for every file of one intake, and the reasons to let go of a file."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import Final, Protocol

from pipelines.logs.ahead import Ahead
from pipelines.logs.counting import Tally
from pipelines.logs.discovery import Found
from pipelines.logs.forgotten import Forgotten
from pipelines.logs.outbox import BatchStore, Outbox, SmallBlobs
from pipelines.logs.reader import Reader
from pipelines.logs.redaction import Redactor
from pipelines.ports import Blobs, Seen, SourceState, Tombstones

COLLECT_EACH: Final = 32 * 1024 * 1024
"""Bytes of logs between two looks for cycles."""


class IntakeStore(BatchStore, Protocol):
    """What intake needs of a store."""

    def mac(self, *parts: str | bytes) -> str: ...
    def seen_files(self, scope: str) -> Mapping[str, Seen]: ...
    def seen_file(self, scope: str, path: str) -> Seen | None: ...
    def source(self, scope: str, identity: str) -> SourceState | None: ...
    def tombstones(self, scope: str) -> Tombstones: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What is the same for every file of one intake."""

    store: IntakeStore
    scope: str
    archive: Blobs
    redactor: Redactor
    readers: tuple[Reader, ...]
    now: datetime
    pool: ThreadPoolExecutor
    ahead: Ahead
    collector: Collector
    small: SmallBlobs
    outbox: Outbox
    forgotten: Forgotten
    known: frozenset[str]
    """Identities the store named when this began."""
    audience: str
    again: list[tuple[Found, Tally]]
    """Files whose last batch could not be committed, since their cursor had moved by then."""

    def source(self, identity: str, *, guess: bool = False) -> SourceState | None:
        """How far a source has been taken in, what waits in the outbox included.

        A `guess` does not ask the store for what it did not name at the beginning; a wrong one is found out at the commit (Conflict).
        """
        if self.outbox.holds(identity):
            self.outbox.flush()
        elif guess and identity not in self.known and not self.outbox.sent(identity):
            return None
        return self.store.source(self.scope, identity)


class Collector:
    """Python's collector of cycles, at rest until some megabytes were read: records are trees of many small values without a cycle, and to walk them again
    and again took a fifth of intake's time.
    """

    def __init__(self) -> None:
        self._was, self._since = gc.isenabled(), 0

    def __enter__(self) -> Collector:
        gc.disable()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._was:
            gc.enable()

    def after(self, size: int) -> None:
        """So many bytes of logs were taken in."""
        self._since += size
        if self._since >= COLLECT_EACH and self._was:
            self._since = 0
            gc.collect(0)


class Changed(Exception):
    """The file is not what was read from it a moment ago."""


class NoLog(Exception):
    """The file is not one of the logs dreamd knows; the message says why."""


class Nothing(Exception):
    """There is nothing to read yet: no byte, or not one whole record (`pending` bytes of it)."""

    def __init__(self, why: str, pending: int) -> None:
        super().__init__(why)
        self.pending = pending
