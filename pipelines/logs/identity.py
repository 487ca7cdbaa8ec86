"""Which source a file is, and where reading goes on.

A log keeps its identity when it grows, moves, is copied or compressed: it is known by its content, by keyed digests of what was read of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple

from pipelines.errors import UnreadableSource
from pipelines.logs.ahead import Log
from pipelines.logs.codec import Source, plain_name
from pipelines.logs.desk import Desk, NoLog, Nothing
from pipelines.logs.detect import detect, reader_of
from pipelines.logs.discovery import Found
from pipelines.logs.outbox import EDGE
from pipelines.logs.reader import FileContext, Reader
from pipelines.logs.seen import path_key
from pipelines.logs.split import RECORD_MAX, Blank, Pending, Piece, Record, end_of, split_stream
from pipelines.ports import Seen, SourceState

VARIANTS_MAX: Final = 32
SNIFFED: Final = 64
_SNIFF_BYTES: Final = 256 * 1024
_SNIFF_PART: Final = 32 * 1024
"""Bytes split at a time, up to a line's end: what stands behind the records that are looked at need not be."""


class Beginning(NamedTuple):
    """The first bytes of a log and the pieces they were cut into to tell which source it is, none of which more bytes would make longer."""

    data: bytes
    pieces: Sequence[Piece]


NOTHING: Final = Beginning(b"", ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Where reading begins. `state` is the source's cursor (None: a new source); `rewritten` asks for a new generation of it from the first byte."""

    identity: str
    reader: Reader
    state: SourceState | None
    rewritten: bool = False
    head: bytes = b""
    tail: bytes = b""
    beginning: Beginning = NOTHING

    @property
    def resumes(self) -> SourceState | None:
        """The cursor to go on from; None when reading begins at the first byte."""
        return None if self.rewritten else self.state


def start_of(desk: Desk, found: Found, log: Log, before: Seen | None, *, guess: bool) -> Start:
    """The source this file is, by its content: a log keeps its identity when it grows, moves, is copied or compressed.

    The identity is format, session and first record, each but the format as a keyed digest. Logs that share these and then differ (forks that
    keep their parent's session id) are told apart by a number.
    """
    state = desk.source(before.identity) if before is not None else None
    if state is not None and (edges := continued(desk, log.source, state)) is not None:
        return Start(identity=state.identity, reader=_of_format(desk, state.format), state=state, head=edges[0], tail=edges[1])
    records, first, begun = _first_records(log)
    where = context_of(found)
    reader = _reader_for(desk, records, where)
    stem = f"{reader.format}:{desk.store.mac(_first_session(reader, records, where))[:16]}:"
    if state is not None and state.identity.startswith(stem) and not _lives_elsewhere(desk, found, state):
        return Start(identity=state.identity, reader=reader, state=state, rewritten=True, beginning=begun)
    base = stem + desk.store.mac(first)[:24]
    for variant in range(VARIANTS_MAX):
        identity = f"{base}~{variant}" if variant else base
        state = desk.source(identity, guess=guess)
        if state is None:
            return Start(identity=identity, reader=reader, state=None, beginning=begun)
        if (edges := continued(desk, log.source, state)) is not None:
            return Start(identity=identity, reader=reader, state=state, head=edges[0], tail=edges[1])
    raise NoLog(f"{VARIANTS_MAX} other logs begin with the same session and record")


def continued(desk: Desk, source: Source, state: SourceState) -> tuple[bytes, bytes] | None:
    """The bytes at the head and before the cursor when this file still holds what was read of the source, else None."""
    if source.plain and source.stamp.size < state.offset:
        return None
    head = source.part(0, min(EDGE, state.offset))
    tail = source.part(max(0, state.offset - EDGE), state.offset)
    if len(tail) != min(EDGE, state.offset) or desk.store.mac(head) != state.head_mac or desk.store.mac(tail) != state.tail_mac:
        return None
    return head, tail


def _lives_elsewhere(desk: Desk, found: Found, state: SourceState) -> bool:
    """Whether another file still holds what was read of the source: then this one is a copy that fell behind or went its own way, no rewrite."""
    own = path_key(desk.redactor, found.path)
    desk.outbox.flush()  # a copy taken in a moment ago is known when it is committed
    for seen in desk.store.seen_files(desk.scope).values():
        if seen.identity == state.identity and seen.path != own:
            try:
                with Source(seen.path) as other:
                    if continued(desk, other, state) is not None:
                        return True
            except UnreadableSource:
                continue
    return False


def _first_records(log: Log) -> tuple[list[Record], bytes, Beginning]:
    """Some records of the log's beginning, the bytes of the first, and what need not be cut into pieces again. Raises Nothing or NoLog when there is none."""
    size = _SNIFF_BYTES
    while True:
        data = log.beginning(size)
        pieces = _beginning(data)
        records = [p for p in pieces if isinstance(p, Record)]
        if records:
            return records, data[records[0].offset : records[0].offset + records[0].length], _settled(data, pieces)
        if len(data) < size or size > RECORD_MAX:
            break
        size *= 4
    if not data.strip(b"\x00 \t\r\n"):
        raise Nothing("empty", len(data))
    if all(isinstance(p, Pending | Blank) for p in pieces) and data.lstrip(_BEFORE_RECORD).startswith(b"{") and len(data) <= RECORD_MAX:
        raise Nothing("its first record is not complete yet", len(data))
    if len(data) > RECORD_MAX and data.lstrip(_BEFORE_RECORD).startswith(b"{") and b"\n" not in data:
        raise NoLog(f"its first record is longer than {RECORD_MAX >> 20} MB, which no record of an agent is")
    raise NoLog("a binary file" if b"\x00" in data or not _is_text(data) else "no JSON record in it")


_BEFORE_RECORD: Final = b"\xef\xbb\xbf \t\r\n[,"


def _beginning(data: bytes) -> list[Piece]:
    """Pieces of a log's beginning, up to `SNIFFED` records; some more where other pieces stand between them."""
    pieces: list[Piece] = []
    records = 0
    for piece in islice(split_stream(_parts(data), final=False, record_max=len(data)), SNIFFED * 2):
        pieces.append(piece)
        records += isinstance(piece, Record)
        if records == SNIFFED:
            break
    return pieces


def _parts(data: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(data):
        end = data.find(b"\n", at + _SNIFF_PART) + 1 or len(data)
        yield data[at:end]
        at = end


def _settled(data: bytes, pieces: Sequence[Piece]) -> Beginning:
    """The pieces that end before the bytes do, since what follows may belong to the last; none of a long beginning, which would be held too long."""
    whole = [piece for piece in pieces if end_of(piece) < len(data)] if len(data) <= _SNIFF_BYTES else []
    return Beginning(data[: end_of(whole[-1])] if whole else b"", whole)


def _first_session(reader: Reader, records: Sequence[Record], where: FileContext) -> str:
    """The session the log begins with; "" when its first records name none. However many are read, it stays the first: so as few are read as name one."""
    for count in (1, 4, 8, 16, 32, SNIFFED):
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


def _reader_for(desk: Desk, records: Sequence[Record], where: FileContext) -> Reader:
    try:
        return detect([record.value for record in records], where.name, readers=desk.readers)
    except UnreadableSource as error:
        raise NoLog(error.why) from error


def _of_format(desk: Desk, name: str) -> Reader:
    reader = reader_of(name, readers=desk.readers)
    if reader is None:
        raise NoLog(f"was read as {name!r} before, a format this dreamd has no reader for")
    return reader


def context_of(found: Found) -> FileContext:
    return FileContext(name=found.name, relative_path=plain_name(found.relative))
