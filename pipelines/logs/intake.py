"""Takes logs in: what is new in each file goes masked into the archive and as turns into the store, together with the cursor that says so.

A file is opened once and read up to the size it had then. What is read is checked again before it is committed (systems R11): bytes that changed
meanwhile are thrown away and read again. Each batch of some megabytes, of one file or of many small ones, is one commit that moves the cursors, so
memory stays flat and a crash loses nothing. Logs are opened read-only and never written.
"""

from __future__ import annotations

import gc
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import islice
from pathlib import PurePosixPath
from types import TracebackType
from typing import Final, Protocol

from pipelines.errors import Conflict, UnreadableSource
from pipelines.logs.ahead import Ahead, Log
from pipelines.logs.archive import blanked, put_all
from pipelines.logs.audience import said_to
from pipelines.logs.codec import Source, plain_name
from pipelines.logs.detect import READERS, detect, reader_of
from pipelines.logs.discovery import Found, Missing, discover
from pipelines.logs.forgotten import Forgotten
from pipelines.logs.outbox import BatchStore, Outbox, Outgoing, Stretch
from pipelines.logs.reader import Carry, FileContext, Reader, WrittenNote
from pipelines.logs.redaction import Masked, Redactor
from pipelines.logs.split import RECORD_MAX, Bad, Blank, Pending, Piece, Record, end_of, split, split_stream
from pipelines.model import BadSpan, OnlineNote
from pipelines.notes.folder import read_text
from pipelines.ports import Blobs, IntakeBatch, Seen, SourceState, Tombstones

BATCH: Final = 2 * 1024 * 1024
"""Bytes of a log committed at a time, at least (a longer record is one batch)."""
TOGETHER: Final = 2 * BATCH
"""Bytes of several logs committed at a time."""
PIECES_MAX: Final = 4_000
"""Records of a log committed at a time, at most: with half of them silent, about as many rows as one transaction may write (systems R14)."""
SIZE_MAX: Final = 1 << 62
COLLECT_EACH: Final = 16 * BATCH
SEGMENT_MAX: Final = 16 * 1024 * 1024
EDGE: Final = 4096
"""Bytes at the head and before the cursor whose keyed digests tell growth from a rewrite."""
ATTEMPTS_MAX: Final = 4
ARCHIVERS: Final = 4
"""Threads that write blobs: most of their time is waiting for the disk, which takes several at once."""
FILES_AHEAD: Final = 3
"""New files whose first bytes are masked at a time, the one at hand included."""
SMALL: Final = 32 * 1024
"""Bytes of the longest blob that shares a file of the archive, and of the longest log that is not masked ahead."""
VARIANTS_MAX: Final = 32
SNIFFED: Final = 64
CLOSED_AFTER: Final = timedelta(days=1)
"""A log not written to for this long is read as closed: records behind an object that never ends are looked for."""
_SNIFF_BYTES: Final = 256 * 1024


class IntakeStore(BatchStore, Protocol):
    """What intake needs of a store."""

    def mac(self, *parts: str | bytes) -> str: ...
    def seen_files(self, scope: str) -> Mapping[str, Seen]: ...
    def source(self, scope: str, identity: str) -> SourceState | None: ...
    def tombstones(self, scope: str) -> Tombstones: ...
    def touch(self, scope: str, seen: Seen) -> None: ...


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
) -> IntakeReport:
    """Take in what is new in the log files under the paths, one after the other in a stable order; `exclude` are folders never entered, `audience` is whom
    what is said at this door is said to ("" for nobody in particular).

    Raises only what stops everything (a store or an archive that cannot be written); a file that cannot be used is a `TakenIn` with the reason.
    """
    discovery = discover(paths, exclude=exclude)
    seen = store.seen_files(scope)
    told = [(found, seen.get(path_key(redactor, found.path))) for found in discovery.files]
    wanted = [(found, before, _Tally(path_key(redactor, found.path))) for found, before in told if before is None or not _is_as_seen(found, before)]
    with ThreadPoolExecutor(max_workers=ARCHIVERS, thread_name_prefix="archive") as pool, Ahead(redactor.mask, small=SMALL) as ahead, _Collector() as collector:
        small = _Small(archive)
        desk = _Desk(
            store=store, scope=scope, archive=archive, redactor=redactor, readers=tuple(readers), now=now, pool=pool, ahead=ahead, collector=collector, small=small,
            outbox=Outbox(store, scope, size=TOGETHER, archive=small.put), forgotten=Forgotten(lambda: store.tombstones(scope)), known=frozenset(s.identity for s in seen.values()), again=[],
            audience=audience,
        )  # fmt: skip
        for number, (found, before, tally) in enumerate(wanted):
            ahead.expect(f.path for f, b, _ in wanted[number : number + FILES_AHEAD] if b is None and f.size > SMALL)
            _take_in(desk, found, before, tally, guess=True)
        _settle(desk)
    unchanged = len(told) - len(wanted)
    return IntakeReport(files=tuple(t.result() for _, _, t in wanted), unchanged=unchanged, missing=discovery.missing, skipped=discovery.skipped)


def _is_as_seen(found: Found, before: Seen) -> bool:
    return (before.size, before.mtime_ns, before.inode) == (found.size, found.mtime_ns, found.inode)


# --- one file ----------------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Desk:
    """What is the same for every file of one intake."""

    store: IntakeStore
    scope: str
    archive: Blobs
    redactor: Redactor
    readers: tuple[Reader, ...]
    now: datetime
    pool: ThreadPoolExecutor
    ahead: Ahead
    collector: _Collector
    small: _Small
    outbox: Outbox
    forgotten: Forgotten
    known: frozenset[str]
    """Identities the store named when this began."""
    audience: str
    again: list[tuple[Found, _Tally]]
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


class _Collector:
    """Python's collector of cycles, at rest until some megabytes were read: records are trees of many small values without a cycle, and to walk them again
    and again took a fifth of intake's time.
    """

    def __init__(self) -> None:
        self._was, self._since = gc.isenabled(), 0

    def __enter__(self) -> _Collector:
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


class _Changed(Exception):
    """The file is not what was read from it a moment ago."""


class _NoLog(Exception):
    """The file is not one of the logs dreamd knows; the message says why."""


class _Nothing(Exception):
    """There is nothing to read yet: no byte, or not one whole record (`pending` bytes of it)."""

    def __init__(self, why: str, pending: int) -> None:
        super().__init__(why)
        self.pending = pending


@dataclass(frozen=True, slots=True, kw_only=True)
class _Start:
    """Where reading begins. `state` is the source's cursor (None: a new source); `rewritten` asks for a new generation of it from the first byte."""

    identity: str
    reader: Reader
    state: SourceState | None
    rewritten: bool = False
    head: bytes = b""
    tail: bytes = b""

    @property
    def resumes(self) -> SourceState | None:
        """The cursor to go on from; None when reading begins at the first byte."""
        return None if self.rewritten else self.state


def _take_in(desk: _Desk, found: Found, before: Seen | None, tally: _Tally, *, guess: bool) -> None:
    try:
        for attempt in range(ATTEMPTS_MAX):
            if attempt:
                desk.forgotten.look()
            try:
                with desk.ahead.opened(found.path) as log:
                    _read_on(desk, found, log, _start(desk, found, log, before, guess=guess and not attempt), tally)
                return
            except (_Changed, Conflict):
                before = desk.store.seen_files(desk.scope).get(path_key(desk.redactor, found.path))
    except UnreadableSource as error:
        tally.refuse(error.why)
    except _NoLog as error:
        tally.refuse(str(error), skipped=not found.named and not found.name.lower().endswith(".jsonl"))
    except _Nothing as error:
        tally.refuse(str(error), skipped=True, pending=error.pending)
    else:
        tally.refuse(_CHANGES)


def _settle(desk: _Desk) -> None:
    """Commit what waits, and take in again what another process was faster with, a few times at most."""
    for _ in range(ATTEMPTS_MAX):
        desk.outbox.flush()
        moved = tuple(desk.again)
        desk.again.clear()
        if moved:
            desk.forgotten.look()
        for found, tally in moved:
            _take_in(desk, found, desk.store.seen_files(desk.scope).get(path_key(desk.redactor, found.path)), tally, guess=False)
    desk.outbox.flush()
    for _, tally in desk.again:
        tally.refuse(_CHANGES)


_CHANGES: Final = "it changes while it is read: try again when its writer is done"


def closed_before(now: datetime) -> int:
    """Nanoseconds since the epoch: a log last written to before has been silent for so long that no more is expected."""
    return int((now - CLOSED_AFTER).timestamp() * 1e9)


def is_closed(mtime_ns: int, *, now: datetime) -> bool:
    """Whether a log was not written to for so long that no more is expected."""
    return mtime_ns < closed_before(now)


def path_key(redactor: Redactor, path: str) -> str:
    """A path as text that every database stores and anybody may read: the name `Seen` goes by. The scanner looks at names that hold something like a key."""
    told = path if path.isascii() else os.fsencode(path).decode("utf-8", "backslashreplace")
    return redactor.mask(told.encode()).data.decode("utf-8", "replace") if _LIKE_A_KEY.search(told) else told


_LIKE_A_KEY: Final = re.compile(r"[A-Za-z0-9]{16}|pass|secret|token|key", re.IGNORECASE)


# --- which source is this? ---------------------------------------------------------------------------------------------------------------


def _start(desk: _Desk, found: Found, log: Log, before: Seen | None, *, guess: bool) -> _Start:
    """The source this file is, by its content: a log keeps its identity when it grows, moves, is copied or compressed.

    The identity is format, session and first record, each but the format as a keyed digest. Logs that share these and then differ (forks that
    keep their parent's session id) are told apart by a number.
    """
    state = desk.source(before.identity) if before is not None else None
    if state is not None and (edges := _continued(desk, log.source, state)) is not None:
        return _Start(identity=state.identity, reader=_of_format(desk, state.format), state=state, head=edges[0], tail=edges[1])
    records, first = _first_records(log)
    where = _where(found)
    reader = _reader_for(desk, records, where)
    stem = f"{reader.format}:{desk.store.mac(_first_session(reader, records, where))[:16]}:"
    if state is not None and state.identity.startswith(stem) and not _lives_elsewhere(desk, found, state):
        return _Start(identity=state.identity, reader=reader, state=state, rewritten=True)
    base = stem + desk.store.mac(first)[:24]
    for variant in range(VARIANTS_MAX):
        identity = f"{base}~{variant}" if variant else base
        state = desk.source(identity, guess=guess)
        if state is None:
            return _Start(identity=identity, reader=reader, state=None)
        if (edges := _continued(desk, log.source, state)) is not None:
            return _Start(identity=identity, reader=reader, state=state, head=edges[0], tail=edges[1])
    raise _NoLog(f"{VARIANTS_MAX} other logs begin with the same session and record")


def _continued(desk: _Desk, source: Source, state: SourceState) -> tuple[bytes, bytes] | None:
    """The bytes at the head and before the cursor when this file still holds what was read of the source, else None."""
    if source.plain and source.stamp.size < state.offset:
        return None
    head = source.part(0, min(EDGE, state.offset))
    tail = source.part(max(0, state.offset - EDGE), state.offset)
    if len(tail) != min(EDGE, state.offset) or desk.store.mac(head) != state.head_mac or desk.store.mac(tail) != state.tail_mac:
        return None
    return head, tail


def _lives_elsewhere(desk: _Desk, found: Found, state: SourceState) -> bool:
    """Whether another file still holds what was read of the source: then this one is a copy that fell behind or went its own way, no rewrite."""
    own = path_key(desk.redactor, found.path)
    desk.outbox.flush()  # a copy taken in a moment ago is known when it is committed
    for seen in desk.store.seen_files(desk.scope).values():
        if seen.identity == state.identity and seen.path != own:
            try:
                with Source(seen.path) as other:
                    if _continued(desk, other, state) is not None:
                        return True
            except UnreadableSource:
                continue
    return False


def _first_records(log: Log) -> tuple[list[Record], bytes]:
    """Some records of the log's beginning, and the bytes of the first. Raises _Nothing or _NoLog when there is none."""
    size = _SNIFF_BYTES
    while True:
        data = log.beginning(size)
        pieces = _beginning(data)
        records = [p for p in pieces if isinstance(p, Record)]
        if records:
            return records, data[records[0].offset : records[0].offset + records[0].length]
        if len(data) < size or size > RECORD_MAX:
            break
        size *= 4
    if not data.strip(b"\x00 \t\r\n"):
        raise _Nothing("empty", len(data))
    if all(isinstance(p, Pending | Blank) for p in pieces) and data.lstrip(_BEFORE_RECORD).startswith(b"{") and len(data) <= RECORD_MAX:
        raise _Nothing("its first record is not complete yet", len(data))
    if len(data) > RECORD_MAX and data.lstrip(_BEFORE_RECORD).startswith(b"{") and b"\n" not in data:
        raise _NoLog(f"its first record is longer than {RECORD_MAX >> 20} MB, which no record of an agent is")
    raise _NoLog("a binary file" if b"\x00" in data or not _is_text(data) else "no JSON record in it")


_BEFORE_RECORD: Final = b"\xef\xbb\xbf \t\r\n[,"


def _beginning(data: bytes) -> list[Piece]:
    """Pieces of a log's beginning, up to `SNIFFED` records; some more where other pieces stand between them."""
    pieces: list[Piece] = []
    records = 0
    for piece in islice(split(data, final=False), SNIFFED * 2):
        pieces.append(piece)
        records += isinstance(piece, Record)
        if records == SNIFFED:
            break
    return pieces


def _first_session(reader: Reader, records: Sequence[Record], where: FileContext) -> str:
    """The session the log begins with; "" when its first records name none."""
    for count in (4, 8, 16, 32, SNIFFED):
        read = reader.read(records[:count], {}, where)
        if read.sessions or read.turns:
            return read.sessions[0].uid if read.sessions else read.turns[0].session
    return ""


def _is_text(data: bytes) -> bool:
    try:
        data[: _SNIFF_BYTES // 2].decode()
    except UnicodeDecodeError as error:
        return error.start > _SNIFF_BYTES // 2 - 4
    return True


def _reader_for(desk: _Desk, records: Sequence[Record], where: FileContext) -> Reader:
    try:
        return detect([record.value for record in records], where.name, readers=desk.readers)
    except UnreadableSource as error:
        raise _NoLog(error.why) from error


def _of_format(desk: _Desk, name: str) -> Reader:
    reader = reader_of(name, readers=desk.readers)
    if reader is None:
        raise _NoLog(f"was read as {name!r} before, a format this dreamd has no reader for")
    return reader


def _where(found: Found) -> FileContext:
    return FileContext(name=found.name, relative_path=plain_name(found.relative))


# --- reading on --------------------------------------------------------------------------------------------------------------------------


def _read_on(desk: _Desk, found: Found, log: Log, start: _Start, tally: _Tally) -> None:
    """Read from the cursor to the end the file had when it was opened, a commit for each batch."""
    resumes, source = start.resumes, log.source
    offset, line = (resumes.offset, resumes.line) if resumes is not None else (0, 1)
    closed = not source.plain or is_closed(source.stamp.mtime_ns, now=desk.now)
    feed = _Feed(desk, log, offset)
    cursor = _Cursor(desk, found, source, start, feed, tally)
    pieces: list[Piece] = []
    pending = 0
    try:
        for piece in split_stream(feed.chunks(), offset=offset, line=line, final=closed):
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


class _Feed:
    """Masked chunks for the splitter; keeps raw and masked bytes until they are committed, those of a very long record in the archive already."""

    def __init__(self, desk: _Desk, log: Log, offset: int) -> None:
        self.desk, self.log = desk, log
        self.base = offset  # offset of the first byte kept
        self.reached = offset  # end of the last piece the splitter gave out
        self.start = offset
        self.held: list[tuple[bytes, bytes]] = []  # raw and masked chunks: one and the same where nothing was masked
        self.size = 0
        self.redacted: list[tuple[int, int]] = []  # (end of chunk, secrets masked in it)
        self.ahead: list[Stretch] = []
        self.kept: Sequence[tuple[int, int]] | None = None  # of what is forgotten in part

    def chunks(self) -> Iterator[bytes]:
        for chunk, waits in self.log.stretches(self.start):
            masked = self._hold(chunk, waits.result())
            del chunk, waits  # it may be long
            yield masked

    def _hold(self, chunk: bytes, masked: Masked) -> bytes:
        if self.size > SEGMENT_MAX:
            self.ahead += self._cut(self.reached) + self._cut(self.base + self.size)
        self.held.append((chunk, masked.data))
        self.size += len(chunk)
        if masked.count:
            self.redacted.append((self.base + self.size, masked.count))
        return masked.data

    def take(self, end: int, kept: Sequence[tuple[int, int]] | None = None) -> list[Stretch]:
        """All stretches up to `end`, on their way into the archive; with `kept` only these spans of them, and blanks for the rest."""
        self.kept = None if kept is None else (*kept, (end, SIZE_MAX))  # what follows is another batch's
        if kept is not None:
            self.ahead = [self._kept(x.offset, *self._both(x)) for x in self.ahead]
        self.ahead += self._cut(end, waits=True)
        stretches = [part for x in self.ahead for part in (self._halved(x, end) if x.offset < end < x.end else [x])]
        self.ahead = [x for x in stretches if x.end > end]
        self.kept = None
        return [x for x in stretches if x.end <= end]

    def _halved(self, stretch: Stretch, end: int) -> list[Stretch]:
        """Cut in two what went ahead into the archive, since a record ends inside it (only where records are longer than a segment)."""
        raw, masked = self._both(stretch)
        at = end - stretch.offset
        return [self._kept(stretch.offset, raw[:at], masked[:at]), self._kept(end, raw[at:], masked[at:])]

    def _both(self, stretch: Stretch) -> tuple[bytes, bytes]:
        """The raw and the masked bytes of what went ahead into the archive."""
        raw, masked = self.log.source.part(stretch.offset, stretch.end), self.desk.archive.get(stretch.blob.result())
        if self.desk.store.mac(raw) != stretch.raw_mac.result():
            raise _Changed
        return raw, masked

    def count(self, end: int) -> int:
        """Secrets masked up to `end` and not counted before."""
        counted = sum(n for at, n in self.redacted if at <= end)
        self.redacted = [(at, n) for at, n in self.redacted if at > end]
        return counted

    def _cut(self, end: int, *, waits: bool = False) -> list[Stretch]:
        length = end - self.base
        if length <= 0:
            return []
        raw, masked = self._released(length)
        offset, self.base = self.base, end
        return [self._kept(offset, raw, masked, waits=waits)]

    def _released(self, length: int) -> tuple[bytes, bytes]:
        """The first bytes that are held, raw and masked; they are held no longer."""
        held, at = [], 0
        while at < length:
            first = self.held.pop(0)
            if at + len(first[0]) > length:
                first, rest = _cut_in_two(*first, length - at)
                self.held.insert(0, rest)
            held.append(first)
            at += len(first[0])
        self.size -= length
        raw = b"".join([raw for raw, _ in held])
        return raw, raw if all(raw is masked for raw, masked in held) else b"".join([masked for _, masked in held])

    def _kept(self, offset: int, raw: bytes, masked: bytes, *, waits: bool = False) -> Stretch:
        """A stretch on its way into the archive; when it `waits` for its commit and is small, together with others."""
        desk = self.desk
        if self.kept is not None:
            masked = blanked(masked, [(max(a - offset, 0), min(b - offset, len(masked))) for a, b in self.kept if a < offset + len(masked) and offset < b])
        if waits and len(raw) <= SMALL:
            mac, blob = Future[str](), desk.small.add(masked)
            mac.set_result(desk.store.mac(raw))
        else:
            mac, blob = desk.pool.submit(desk.store.mac, raw), desk.pool.submit(desk.archive.put, masked)
        return Stretch(offset=offset, length=len(raw), lines=raw.count(b"\n"), head=raw[:EDGE], tail=raw[-EDGE:], raw_mac=mac, blob=blob)


def _cut_in_two(raw: bytes, masked: bytes, at: int) -> tuple[tuple[bytes, bytes], tuple[bytes, bytes]]:
    first, rest = raw[:at], raw[at:]
    return ((first, first), (rest, rest)) if masked is raw else ((first, masked[:at]), (rest, masked[at:]))


class _Small:
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


class _Cursor:
    """Commits batches of one file, each with the cursor moved behind it."""

    def __init__(self, desk: _Desk, found: Found, source: Source, start: _Start, feed: _Feed, tally: _Tally) -> None:
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
        read, kept = self.desk.forgotten.spared(records, self.start.reader.read(records, self.carry, _where(self.found)))
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
            self.desk.store.touch(self.desk.scope, seen)
            self.tally.stood_still(self.start, self.generation, pending)
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
        counted = _Counted.of(pieces, read.bad, read.ignored, lines)
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
        """Raise _Changed unless the file still holds what was read from it.

        Head and tail are always looked at again, since the clock of a file may tick more coarsely than its writer writes. When the stamp moved, all of
        the batch is: then only an append leaves it as it was.
        """
        now = self.source.look()
        if now != self.source.stamp:
            if not self.source.plain or now.size < self.source.stamp.size:
                raise _Changed
            for stretch in stretches:
                if self.desk.store.mac(self.source.part(stretch.offset, stretch.end)) != stretch.raw_mac.result():
                    raise _Changed
        if self.source.plain and (self.source.part(0, len(head)) != head or self.source.part(end - len(tail), end) != tail):
            raise _Changed


def _noted(written: Iterable[WrittenNote]) -> tuple[OnlineNote, ...]:
    """The notes that a log shows being written, as online notes of the folder the agent wrote them to."""
    notes: list[OnlineNote] = []
    for note in written:
        path = PurePosixPath(note.path.replace("\\", "/"))
        text = note.content if note.content is not None else "\n".join(new for _, new in note.edits)
        if text and not note.deleted:
            notes += read_text(text, folder=str(path.parent), path=path.name, mtime=note.at, session=note.session, turn=note.turn)[1]
    return tuple(notes)


# --- counting ----------------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Counted:
    """What the pieces of a batch were: how many and how many bytes of each kind; records the reader could not use (`unread`) are bad, not good."""

    pieces: Mapping[str, int]
    bytes: Mapping[str, int]
    ignored: Mapping[str, int]
    lines: int

    @classmethod
    def of(cls, pieces: Iterable[Piece], unread: Iterable[BadSpan], ignored: Mapping[str, int], lines: int) -> _Counted:
        """Count them."""
        useless = {span.place.offset for span in unread}
        count, size = dict.fromkeys(_KINDS, 0), dict.fromkeys(_KINDS, 0)
        for piece in pieces:
            kind = _kind_of(piece, useless)
            count[kind] += 1
            size[kind] += _length(piece)
        return cls(pieces=count, bytes=size, ignored=ignored, lines=lines)


class _Tally:
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

    def stood_still(self, start: _Start, generation: int, pending: int) -> None:
        self._now = replace(self._now, identity=start.identity, format=start.reader.format, generation=generation, pending=pending)

    def add(self, batch: IntakeBatch, counted: _Counted, new_turns: int) -> None:
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


_KINDS: Final = ("good", "bad", "blank")


def _kind_of(piece: Piece, useless: set[int]) -> str:
    if isinstance(piece, Record):
        return "bad" if piece.offset in useless else "good"
    return "bad" if isinstance(piece, Bad) else "blank"


def _length(piece: Piece) -> int:
    return piece.end - piece.offset if isinstance(piece, Record) else piece.place.length
