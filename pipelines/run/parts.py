"""What a dream needs: the live parts that `worker.wiring` builds, and what a person asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pipelines.logs.reader import Reader
from pipelines.logs.redaction import Redactor
from pipelines.ports import Blobs, Engine
from pipelines.store import Store

Progress = Callable[[str, int, int], None]
"""Told what is being done, how many units are done and of how many (0: unknown)."""


def silent(what: str, done: int, total: int) -> None:
    """Progress nobody watches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The live parts of one process. `now` is the only clock; `git_times` and `steps` are the outside world's and the failure tests' way in."""

    store: Store
    archive: Blobs
    redactor: Redactor
    engine: Engine
    readers: Sequence[Reader]
    now: Callable[[], datetime]
    holder: str
    git_times: Callable[[Path], Mapping[str, datetime]] | None = None
    step: Callable[[str], None] = lambda _: None
    progress: Progress = silent


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One dream as it was asked for. `wiki` is the folder to publish into, `since` leaves out sessions that ended before.

    `named_events` lets `status: verified` rows of event files count as verified when a person named the file; `trusted` are producers that
    count everywhere. `skew_s` and `change_share_max` as in the settings.
    """

    scope: str
    paths: tuple[str, ...]
    wiki: Path
    wiki_id: str
    host: str
    notes: tuple[Path, ...] = ()
    since: datetime | None = None
    dry_run: bool = False
    cause: str = "command"
    trusted: frozenset[str] = frozenset()
    skew_s: float = 120
    change_share_max: float = 0.5
    exclude: tuple[str, ...] = ()
