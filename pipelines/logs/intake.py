"""Takes logs in: what is new in each file goes masked into the archive and as turns into the store, together with the cursor that says so.

A file is opened once and read up to the size it had then. What is read is checked again before it is committed (systems R11): bytes that changed
meanwhile are thrown away and read again. Each batch of some megabytes, of one file or of many small ones, is one commit that moves the cursors, so
memory stays flat and a crash loses nothing. Logs are opened read-only and never written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import Final

from pipelines.errors import Conflict, UnreadableSource
from pipelines.logs.ahead import Ahead, Log
from pipelines.logs.counting import TakenIn, Tally
from pipelines.logs.cursor import Cursor
from pipelines.logs.desk import Changed, Collector, Desk, IntakeStore, NoLog, Nothing
from pipelines.logs.detect import READERS
from pipelines.logs.discovery import Found, Missing, discover
from pipelines.logs.feed import Feed
from pipelines.logs.forgotten import Forgotten
from pipelines.logs.identity import Start, start_of
from pipelines.logs.outbox import SMALL, Outbox, SmallBlobs
from pipelines.logs.reader import Reader
from pipelines.logs.redaction import Redactor
from pipelines.logs.seen import is_as_seen, is_closed, path_key
from pipelines.logs.split import Pending, Piece, end_of, split_stream
from pipelines.ports import Blobs, Seen

BATCH: Final = 2 * 1024 * 1024
"""Bytes of a log committed at a time, at least (a longer record is one batch)."""
TOGETHER: Final = 2 * BATCH
"""Bytes of several logs committed at a time."""
PIECES_MAX: Final = 4_000
"""Records of a log committed at a time, at most: with half of them silent, about as many rows as one transaction may write (systems R14)."""
ATTEMPTS_MAX: Final = 4
ARCHIVERS: Final = 4
"""Threads that write blobs: most of their time is waiting for the disk, which takes several at once."""
FILES_AHEAD: Final = 3
"""New files whose first bytes are masked at a time, the one at hand included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeReport:
    """What came of all paths: every file that was opened, how many were unchanged, what was passed over and why."""

    files: tuple[TakenIn, ...]
    unchanged: int
    missing: tuple[Missing, ...]
    skipped: Mapping[str, int]

    @property
    def refused(self) -> tuple[tuple[str, str], ...]:
        """Path and reason of everything a person named or would expect to be read, and that was not."""
        files = tuple((f.path, f.refused) for f in self.files if f.refused is not None and not f.skipped)
        return (*((m.path, m.why) for m in self.missing), *files)

    @property
    def rewritten(self) -> tuple[str, ...]:
        """Paths of sources that were rewritten and read anew."""
        return tuple(f.path for f in self.files if f.rewritten)


Take = Callable[[Sequence[Found]], tuple[TakenIn, ...]]
"""Takes these files in here and now, one after the other."""


def intake(
    paths: Iterable[str],
    *,
    store: IntakeStore,
    scope: str,
    archive: Blobs,
    redactor: Redactor,
    now: datetime,
    readers: Sequence[Reader] = READERS,
    exclude: Iterable[str] = (),
    audience: str = "",
    among: Callable[[Sequence[Found], Take], tuple[TakenIn, ...]] = lambda files, take: take(files),
) -> IntakeReport:
    """Take in what is new in the log files under the paths, one after the other in a stable order; `exclude` are folders never entered, `audience` is whom
    what is said at this door is said to ("" for nobody in particular). `among` divides the files that have something new among several processes.

    Raises only what stops everything (a store or an archive that cannot be written); a file that cannot be used is a `TakenIn` with the reason.
    """
    discovery = discover(paths, exclude=exclude)
    door = _Door(store=store, scope=scope, archive=archive, redactor=redactor, now=now, readers=tuple(readers), audience=audience, seen=store.seen_files(scope))
    new = [found for found in discovery.files if (before := door.before(found)) is None or not is_as_seen(found, before)]
    files = among(new, door.take)
    return IntakeReport(files=files, unchanged=len(discovery.files) - len(new), missing=discovery.missing, skipped=discovery.skipped)


def intake_files(
    files: Sequence[Found], *, store: IntakeStore, scope: str, archive: Blobs, redactor: Redactor, now: datetime, readers: Sequence[Reader], audience: str
) -> tuple[TakenIn, ...]:
    """Take these files in as `intake` does: the share of a process that helps with one."""
    return _Door(
        store=store, scope=scope, archive=archive, redactor=redactor, now=now, readers=tuple(readers), audience=audience, seen=store.seen_files(scope)
    ).take(files)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Door:
    """Where logs come in: what `intake` was told, what the store had `seen` when it began, by path, and the identities of what was `taken` here since."""

    store: IntakeStore
    scope: str
    archive: Blobs
    redactor: Redactor
    now: datetime
    readers: tuple[Reader, ...]
    audience: str
    seen: Mapping[str, Seen]
    taken: set[str] = field(default_factory=set)

    def before(self, found: Found) -> Seen | None:
        """The file as it was taken in last."""
        return self.seen.get(path_key(self.redactor, found.path))

    def take(self, files: Sequence[Found]) -> tuple[TakenIn, ...]:
        """Take these files in, one after the other."""
        store, scope, archive, redactor = self.store, self.scope, self.archive, self.redactor
        wanted = [(found, self.before(found), Tally(path_key(redactor, found.path))) for found in files]
        with (
            ThreadPoolExecutor(max_workers=ARCHIVERS, thread_name_prefix="archive") as pool, Ahead(redactor.mask, small=SMALL) as ahead, Collector() as collector
        ):  # fmt: skip
            small = SmallBlobs(archive)
            desk = Desk(
                store=store, scope=scope, archive=archive, redactor=redactor, readers=self.readers, now=self.now, pool=pool, ahead=ahead, collector=collector,
                small=small, outbox=Outbox(store, scope, size=TOGETHER, archive=small.put), forgotten=Forgotten(lambda: store.tombstones(scope)),
                known=frozenset(s.identity for s in self.seen.values()) | self.taken, again=[], audience=self.audience,
            )  # fmt: skip
            for number, (found, before, tally) in enumerate(wanted):
                ahead.expect(f.path for f, b, _ in wanted[number : number + FILES_AHEAD] if b is None and f.size > SMALL)
                _take_in(desk, found, before, tally, guess=True)
            _settle(desk)
        results = tuple(tally.result() for _, _, tally in wanted)
        self.taken.update(told.identity for told in results if told.identity)
        return results


def _take_in(desk: Desk, found: Found, before: Seen | None, tally: Tally, *, guess: bool) -> None:
    try:
        for attempt in range(ATTEMPTS_MAX):
            if attempt:
                desk.forgotten.look()
            try:
                with desk.ahead.opened(found.path) as log:
                    _read_on(desk, found, log, start_of(desk, found, log, before, guess=guess and not attempt), tally)
                return
            except (Changed, Conflict):
                before = desk.store.seen_file(desk.scope, path_key(desk.redactor, found.path))
    except UnreadableSource as error:
        tally.refuse(error.why)
    except NoLog as error:
        tally.refuse(str(error), skipped=not found.named and not found.name.lower().endswith(".jsonl"))
    except Nothing as error:
        tally.refuse(str(error), skipped=True, pending=error.pending)
    else:
        tally.refuse(_CHANGES)


def _settle(desk: Desk) -> None:
    """Commit what waits, and take in again what another process was faster with, a few times at most."""
    for _ in range(ATTEMPTS_MAX):
        desk.outbox.flush()
        moved = tuple(desk.again)
        desk.again.clear()
        if moved:
            desk.forgotten.look()
        for found, tally in moved:
            _take_in(desk, found, desk.store.seen_file(desk.scope, path_key(desk.redactor, found.path)), tally, guess=False)
    desk.outbox.flush()
    for _, tally in desk.again:
        tally.refuse(_CHANGES)


_CHANGES: Final = "it changes while it is read: try again when its writer is done"


def _read_on(desk: Desk, found: Found, log: Log, start: Start, tally: Tally) -> None:
    """Read from the cursor to the end the file had when it was opened, a commit for each batch."""
    resumes, source = start.resumes, log.source
    offset, line = (resumes.offset, resumes.line) if resumes is not None else (0, 1)
    closed = not source.plain or is_closed(source.stamp.mtime_ns, now=desk.now)
    feed = Feed(desk, log, offset)
    cursor = Cursor(desk, found, source, start, feed, tally)
    pieces: list[Piece] = []
    pending = 0
    try:
        for piece in _pieces(feed.chunks(), start, offset=offset, line=line, final=closed):
            if isinstance(piece, Pending):
                pending = piece.place.length
                continue
            pieces.append(piece)
            feed.reached = end_of(piece)
            if feed.reached - cursor.offset >= BATCH or len(pieces) >= PIECES_MAX:
                cursor.commit(pieces, pending=0, last=False)
                pieces = []
    except UnreadableSource:  # damaged further on: what came before is good
        cursor.commit(pieces, pending=0, last=False)
        raise
    cursor.commit(pieces, pending=pending, last=True, done=closed or not pending)
    if source.cut_off:
        raise UnreadableSource(found.path, f"its {source.codec} data breaks off; what came before was taken in")


def _pieces(chunks: Iterator[bytes], start: Start, *, offset: int, line: int, final: bool) -> Iterator[Piece]:
    """The pieces from where reading begins. What was cut already, to tell which source it is, is not cut again unless something in it was masked."""
    begun = start.beginning.data
    if begun and (first := next(chunks, b"")):
        if first.startswith(begun):
            yield from start.beginning.pieces
            first, offset, line = first[len(begun) :], offset + len(begun), line + begun.count(b"\n")
        chunks = chain([first], chunks)
        del first  # it may be long
    yield from split_stream(chunks, offset=offset, line=line, final=final)
