"""Cuts the bytes of a log into records, and accounts for every byte that is none.

A log is one JSON object a line, or pretty-printed objects, or a JSON array of objects (its brackets and commas are separators here, so an array's
elements are records like lines are). Pieces tile their input: each begins where the one before ended. Decisions rest only on bytes that later
growth cannot change, so reading a file in parts gives the same records as reading it whole.

Good lines take the fast path (one `orjson.loads` each). What fails there is scanned with the standard library's decoder on the bytes read as
Latin-1: JSON's syntax is ASCII, so its positions are byte offsets, and it says where the syntax broke.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import orjson

from pipelines.logs.json_spans import LENIENT, SCANNER, alike, elements, fills, items
from pipelines.logs.json_values import any_between, big_numbers, mended
from pipelines.model import BadSpan, Place

RECORD_MAX = 12 * 1024 * 1024
"""Bytes of the longest record read; a longer one is a bad span "record_too_long". Some ten copies of a record are alive while it is taken in: this many
bytes keep that under 300 MB. The longest records agents write hold a picture, of 5 MB before base64."""

BROKEN_TRIED = 256
"""How many beginnings of objects that break off themselves are tried in search of a record behind a torn one."""

WINDOW = 4096
LOOKAHEAD = 16
"""An error this near to the end of a window may be the window's own."""

CONTAINERS = ("messages", "loglines")
"""Keys under which one object holds a whole conversation; `Record.members` gives the places of the objects listed there."""


class Record(NamedTuple):
    """One JSON object of the log.

    `length` covers the object alone; `end` is where the next piece begins, behind the comma, white space and newline that follow it.
    `repaired` says that `value` is not what the bytes say letter by letter: lone surrogates, invalid UTF-8 or raw control characters were mended.
    `members` are the places of the objects in `value["messages"]` (or another of `CONTAINERS`), in order, when every element is an object.
    """

    line: int
    offset: int
    length: int
    end: int
    value: Mapping[str, object]
    repaired: bool = False
    members: tuple[Place, ...] = ()

    @property
    def place(self) -> Place:
        """Where the object stands, without what follows it."""
        return Place(line=self.line, offset=self.offset, length=self.length)


@dataclass(frozen=True, slots=True)
class Bad:
    """Bytes that are no record and never will be."""

    span: BadSpan

    @property
    def place(self) -> Place:
        """Where the bytes stand."""
        return self.span.place


@dataclass(frozen=True, slots=True)
class Blank:
    """Bytes that hold no record and lose nothing: white space, array brackets, byte order marks; `scalar` marks a JSON value that is no object."""

    place: Place
    scalar: bool = False


@dataclass(frozen=True, slots=True)
class Pending:
    """The unfinished tail of the input: to be read again from here when more bytes have come."""

    place: Place


Piece: TypeAlias = Record | Bad | Blank | Pending


def split(data: bytes, *, offset: int = 0, line: int = 1, final: bool) -> Iterator[Piece]:
    """The pieces of `data`, which begins at `offset` and `line` of its source, in order and without a gap.

    An unfinished tail is `Pending`, with `final` as well; `final` says that no more bytes will come, so records that stand behind an object which
    never closed are looked for instead of being waited for.
    """
    return _Splitter(data, offset, line, final).pieces()


def split_stream(chunks: Iterable[bytes], *, offset: int = 0, line: int = 1, final: bool, record_max: int = RECORD_MAX) -> Iterator[Piece]:
    """`split` over a source read in chunks: the same records, with memory bounded by the chunks and by `record_max`.

    A record longer than `record_max` becomes one bad span that ends with its line. At most one `Pending` comes, and it comes last.
    """
    held = _Held(offset, line, record_max)
    for chunk in chunks:
        yield from held.add(chunk)
    yield from held.rest(final)


def value_at(raw: bytes) -> Mapping[str, object]:
    """The object whose bytes (`Record.place` of its source) these are, mended as `split` mends it. Raises ValueError when they are no object."""
    for piece in split(raw, final=True):
        if isinstance(piece, Record):
            return piece.value
    raise ValueError("these bytes are no record")


def start_of(piece: Piece) -> int:
    """The offset at which the piece begins."""
    return piece.offset if isinstance(piece, Record) else piece.place.offset


def end_of(piece: Piece) -> int:
    """The offset at which the piece after this one begins."""
    return piece.end if isinstance(piece, Record) else piece.place.offset + piece.place.length


# --- over chunks -------------------------------------------------------------------------------------------------------------------------


class _Held:
    """Bytes of a stream that are not yet given out as pieces; `dropped` counts those of an over-long line, which are not kept."""

    def __init__(self, offset: int, line: int, record_max: int) -> None:
        self.offset, self.line, self.record_max = offset, line, record_max
        self.parts: list[bytes] = []
        self.size = 0
        self.wanted = 0
        self.lines = False  # whether what is held has a newline: an object that is no line
        self.dropped = 0

    def add(self, chunk: bytes) -> Iterator[Piece]:
        if self.dropped:
            cut = chunk.find(b"\n") + 1
            self.dropped += cut or len(chunk)
            if not cut:
                return
            yield self._long_line()
            chunk = chunk[cut:]
        self.parts.append(chunk)
        self.size += len(chunk)
        # A line that spans chunks is scanned when its newline has come, any other object only when its bytes have doubled: time stays linear in its size.
        if self.size >= self.wanted or (not self.lines and b"\n" in chunk):
            yield from self._give(final=False)
            if self.size > self.record_max:
                yield from self._give(final=True)
            if self.size > self.record_max:
                yield from self._drop()
            self.wanted = min(2 * self.size, self.record_max + 1)

    def rest(self, final: bool) -> Iterator[Piece]:
        if self.dropped:
            yield Pending(Place(line=self.line, offset=self.offset, length=self.dropped))
            return
        yield from self._give(final=final)
        if self.size:
            yield Pending(Place(line=self.line, offset=self.offset, length=self.size))

    def _give(self, *, final: bool) -> Iterator[Piece]:
        data = b"".join(self.parts)
        self.parts = []
        splitter = _Splitter(data, self.offset, self.line, final)
        for piece in splitter.pieces():
            if not isinstance(piece, Pending):
                yield piece
        tail = data[splitter.pos :]
        self.parts, self.size, self.lines = [tail], len(tail), b"\n" in tail
        self.offset, self.line = self.offset + splitter.pos, splitter.line

    def _drop(self) -> Iterator[Piece]:
        data = b"".join(self.parts)
        cut = data.find(b"\n") + 1
        self.dropped = cut or len(data)
        self.parts, self.size = ([data[cut:]], len(data) - cut) if cut else ([], 0)
        if cut:
            yield self._long_line()

    def _long_line(self) -> Bad:
        place = Place(line=self.line, offset=self.offset, length=self.dropped)
        self.offset, self.line, self.dropped = self.offset + self.dropped, self.line + 1, 0
        return Bad(BadSpan(place=place, reason="record_too_long"))


# --- over bytes --------------------------------------------------------------------------------------------------------------------------

_SEPARATORS = re.compile(rb"(?:[\s,\[\]]|\xef\xbb\xbf)+")
_AFTER = re.compile(rb"[ \t]*,?[ \t\r]*\n?")
_NULS = re.compile(rb"\x00+")
_OPEN, _CLOSE, _CR = b"{}\r"


class _Splitter:
    """One pass over `data`; `pos` and `line` are where the next piece begins (at a `Pending`, they stay at its beginning)."""

    def __init__(self, data: bytes, offset: int, line: int, final: bool) -> None:
        self.data, self.base, self.line, self.final = data, offset, line, final
        self.pos = 0
        self.big = big_numbers(data)
        self._resume = 0

    def pieces(self) -> Iterator[Piece]:
        data, base, big = self.data, self.base, self.big
        view, size, find, loads = memoryview(data), len(data), data.find, orjson.loads
        while self.pos < size:
            pos = self.pos
            newline = find(b"\n", pos)
            stop = size if newline < 0 else newline
            after = stop if newline < 0 else newline + 1
            if stop > pos and data[stop - 1] == _CR:
                stop -= 1
            if data[pos] == _OPEN and data[stop - 1] == _CLOSE and not (big and any_between(big, pos, stop)):
                try:
                    value = loads(view[pos:stop])
                except orjson.JSONDecodeError:
                    pass
                else:
                    members = self._members(pos, stop, value) if "messages" in value or "loglines" in value else ()
                    line = self.line
                    self.pos = after
                    if newline >= 0:
                        self.line = line + 1
                    yield Record(line, base + pos, stop - pos, base + after, value, False, members)
                    continue
            piece = self._slow()
            if not isinstance(piece, Pending):
                end = end_of(piece) - base
                self.line += data.count(b"\n", self.pos, end)
                self.pos = end
            yield piece
            if isinstance(piece, Pending):
                return

    # One piece from `pos` on, whatever stands there.
    def _slow(self) -> Piece:
        data, pos = self.data, self.pos
        if found := _SEPARATORS.match(data, pos):
            return Blank(self._place(found.end()))
        if found := _NULS.match(data, pos):
            # A tail of NULs may be a block the writer has not filled yet.
            return self._bad(found.end(), "nul_run") if found.end() < len(data) or self.final else self._pending()
        return self._object() if data[pos] == _OPEN else self._stray()

    def _object(self) -> Piece:
        start = self._next_record_line()
        limit = len(self.data) if start is None else start
        window = WINDOW
        while True:
            # A decoder's error costs as much as the text it was given: a growing window keeps broken objects as cheap as they are short.
            stop = min(self.pos + window, limit)
            text = self.data[self.pos : stop].decode("latin-1")
            try:
                return self._record(self.pos + SCANNER.raw_decode(text)[1])
            except RecursionError:
                return self._line_or_pending("nested_too_deep")
            except json.JSONDecodeError as error:
                unterminated = error.msg.startswith("Unterminated")
                if stop == limit or not (unterminated or error.pos > len(text) - LOOKAHEAD):
                    return self._broken(self.pos + error.pos, start, unterminated=unterminated)
                window *= 16

    def _record(self, end: int) -> Piece:
        try:
            value, repaired = mended(self.data[self.pos : end], whole_numbers=any_between(self.big, self.pos, end))
        except (ValueError, RecursionError):
            return self._bad(end, "invalid_value")
        after = _AFTER.match(self.data, end)
        assert after is not None, "the pattern matches the empty string"
        members = self._members(self.pos, end, value)
        return Record(self.line, self.base + self.pos, end - self.pos, self.base + after.end(), value, repaired, members)

    def _broken(self, at: int, start: int | None, *, unterminated: bool) -> Piece:
        """An object whose syntax breaks at `at`, or that reaches `start`, the line of the next record, or the end of the input unclosed."""
        data, pos = self.data, self.pos
        newline = data.find(b"\n", pos)
        ran_out = unterminated or data.find(b"\n", at) < 0
        if newline < 0 or (ran_out and start is None):
            mendable = newline >= 0 and self.final
            stop = data.find(b"\n{", pos) + 1 if mendable else 0
            return self._bad(stop, "torn") if stop else self._lenient(at, len(data)) or self._pending()
        if mended_record := self._lenient(at, newline):
            return mended_record
        if behind := self._record_behind(at, newline):
            return self._bad(behind, "torn")
        if at <= newline or start == newline + 1:
            return self._bad(newline + 1, _reason(data, at, newline))
        stop = data.find(b"\n{", pos) + 1 or (data.rfind(b"\n") + 1 if self.final else 0)
        return self._bad(stop, "torn") if stop else self._pending()

    def _lenient(self, at: int, stop: int) -> Piece | None:
        """The record of this line when nothing but raw control characters (no newline, no NUL: those mark lost bytes) stands against it."""
        if at >= len(self.data) or self.data[at] >= 0x20 or self.data[at] in b"\n\x00":
            return None
        text = self.data[self.pos : stop].decode("latin-1")
        try:
            end = LENIENT.raw_decode(text)[1]
        except ValueError:
            return None
        return None if "\x00" in text[:end] else self._record(self.pos + end)

    def _record_behind(self, at: int, newline: int) -> int:
        """Where whole records begin that fill the rest of the line behind a torn one, or 0."""
        text = self.data[self.pos : newline].decode("latin-1")
        keys = [key for key, _, _ in items(text, 0)]
        candidate, broken = text.find('{"', 1), 0
        while candidate > 0 and broken < BROKEN_TRIED:
            filled = fills(text, candidate)
            if filled and (self._is_glued(text, candidate, at - self.pos) or alike(keys, text, candidate)):
                return self.pos + candidate
            broken += filled is None
            candidate = text.find('{"', candidate + 1)
        return 0

    def _is_glued(self, text: str, candidate: int, at: int) -> bool:
        """Whether an object that begins here cannot be a value of the torn object itself: nothing that takes a value stands before it."""
        before = text[:candidate].rstrip(" \t")
        if text[0] != "{":
            return before[-1:] not in {":", ",", "["} and before == text[:candidate]
        return before[-1:] not in {":", ",", "["} or at <= candidate

    def _stray(self) -> Piece:
        """A JSON value that is no object, or bytes that are no JSON."""
        data, pos = self.data, self.pos
        newline = data.find(b"\n", pos)
        if newline < 0:
            return self._pending()
        text = data[pos:newline].decode("latin-1")
        try:
            end = SCANNER.raw_decode(text)[1]
        except (ValueError, RecursionError):
            end = 0
        if end and (end == len(text) or text[end] in " \t\r,]"):
            return Blank(self._place(pos + end), scalar=True)
        behind = self._record_behind(pos, newline)
        return self._bad(behind or newline + 1, "not_json")

    def _line_or_pending(self, reason: str) -> Piece:
        newline = self.data.find(b"\n", self.pos)
        return self._pending() if newline < 0 else self._bad(newline + 1, reason)

    def _next_record_line(self) -> int | None:
        """Where the next line begins that starts a record in column 0: no object of this log reaches past it."""
        if self._resume <= self.pos and self._resume >= 0:
            self._resume = self.data.find(b'\n{"', self.pos) + 1 or -1
        return None if self._resume < 0 else self._resume

    def _members(self, pos: int, stop: int, value: Mapping[str, object]) -> tuple[Place, ...]:
        for container in CONTAINERS:
            listed = value.get(container)
            if isinstance(listed, list) and listed and all(isinstance(x, dict) for x in listed):
                return self._places_in(pos, stop, container)
        return ()

    def _places_in(self, pos: int, stop: int, container: str) -> tuple[Place, ...]:
        text = self.data[pos:stop].decode("latin-1")
        begin = [start for key, start, _ in items(text, 0) if key == container][-1]
        places, line, counted = [], self.line, 0
        for start, end in elements(text, begin):
            line += text.count("\n", counted, start)
            counted = start
            places.append(Place(line=line, offset=self.base + pos + start, length=end - start))
        return tuple(places)

    def _place(self, end: int) -> Place:
        return Place(line=self.line, offset=self.base + self.pos, length=end - self.pos)

    def _bad(self, end: int, reason: str) -> Bad:
        return Bad(BadSpan(place=self._place(end), reason=reason))

    def _pending(self) -> Pending:
        return Pending(self._place(len(self.data)))


def _reason(data: bytes, at: int, newline: int) -> str:
    """Why one terminated line is no record: cut off, run over by NULs, or wrong in its middle."""
    if at >= newline or (data[at : at + 1] == b"\r" and at + 1 == newline):
        return "torn"
    return "nul_run" if data[at] == 0 else "invalid_escape" if data[at] == 0x5C else "invalid_json"
