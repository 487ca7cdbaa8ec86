"""Any bytes: pieces tile the input, growth changes nothing, chunks change nothing, and whole records survive whatever stands around them."""

from __future__ import annotations

import json
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from pipelines.logs import split as split_module
from pipelines.logs.split import Bad, Blank, Pending, Piece, Record, end_of, split, split_stream

LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=12),
    st.sampled_from(['{"', "\u2028", "\u0085", "a\nb", '"}', "\\", "\ufeff", "\x00"]),
)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3), max_leaves=8)
OBJECTS = st.dictionaries(st.sampled_from(["type", "uuid", "timestamp", "message", "messages", "text"]), VALUES, min_size=1, max_size=5)
STYLES = st.sampled_from(
    [
        lambda v: json.dumps(v),
        lambda v: json.dumps(v, ensure_ascii=False),
        lambda v: json.dumps(v, separators=(",", ":")),
        lambda v: json.dumps(v, indent=2),
        lambda v: json.dumps(v, indent=2).replace("\n", "\r\n"),
    ]
)
ENDS = st.sampled_from(["\n", "\r\n", "\n\n", " \n", "\n \t\n", ""])
JUNK = st.one_of(
    st.sampled_from(
        [
            b"",
            b"\n",
            b"null\n",
            b"[]\n",
            b"42\n",
            b"\x00\x00",
            b"\xef\xbb\xbf",
            b'{"type":"us',
            b'{"a": \n',
            b"{\n",
            b'"text"\n',
            b"}\n",
            b"]\n",
            b'{"a":"\\p"}\n',
        ]
    ),
    st.binary(max_size=12),
)
NEAR = st.lists(st.one_of(st.builds(lambda v, style, end: (style(v) + end).encode(), OBJECTS, STYLES, ENDS), JUNK), max_size=6).map(b"".join)


def tiles(pieces: list[Piece], size: int) -> bool:
    at = 0
    for piece in pieces:
        if piece.place.offset != at or end_of(piece) <= at:
            return False
        at = end_of(piece)
    return at == size


def meaning(pieces: list[Piece]) -> list[object]:
    """What pieces say, white space (which a cut may divide) left out."""
    records = [(p.line, p.offset, p.length, p.value, p.repaired, p.members) if isinstance(p, Record) else p for p in pieces]
    return [p for p in records if not isinstance(p, Blank) or p.scalar]


@given(NEAR, st.booleans())
def test_every_byte_is_in_exactly_one_piece(data: bytes, final: bool) -> None:
    pieces = list(split(data, final=final))
    assert tiles(pieces, len(data))
    assert all(not isinstance(p, Pending) for p in pieces[:-1])


@given(NEAR)
def test_lines_are_counted_in_newlines(data: bytes) -> None:
    assert all(p.place.line == 1 + data[: p.place.offset].count(b"\n") for p in split(data, final=True))


@given(NEAR, st.integers(0, 400))
def test_reading_a_file_in_two_parts_gives_what_reading_it_whole_gives(data: bytes, cut: int) -> None:
    first = list(split(data[:cut], final=False))
    at, line = 0, 1
    for piece in first:
        if isinstance(piece, Pending):
            break
        line += data.count(b"\n", at, end_of(piece))
        at = end_of(piece)
    second = list(split(data[at:], offset=at, line=line, final=False))
    assert meaning([p for p in first if not isinstance(p, Pending)] + second) == meaning(list(split(data, final=False)))


@given(NEAR, st.integers(1, 40), st.booleans())
def test_chunks_change_nothing(data: bytes, size: int, final: bool) -> None:
    chunks = [data[i : i + size] for i in range(0, len(data), size)]
    pieces = list(split_stream(chunks, final=final))
    assert tiles(pieces, len(data))
    assert meaning(pieces) == meaning(list(split(data, final=final)))


@given(NEAR, st.integers(1, 30), st.booleans())
def test_how_much_is_looked_at_at_once_changes_nothing(data: bytes, window: int, final: bool) -> None:
    with patch.object(split_module, "WINDOW", window):
        found = list(split(data, final=final))
    assert found == list(split(data, final=final))


@given(NEAR, st.integers(1, 40), st.integers(8, 60))
def test_a_bound_on_records_loses_no_byte(data: bytes, size: int, record_max: int) -> None:
    chunks = [data[i : i + size] for i in range(0, len(data), size)]
    pieces = list(split_stream(chunks, final=False, record_max=record_max))
    assert tiles(pieces, len(data))
    assert all(not isinstance(p, Pending) for p in pieces[:-1])


@given(st.lists(st.tuples(OBJECTS, STYLES, ENDS), max_size=6))
def test_whole_objects_come_back_as_they_were(given_objects: list[tuple[dict[str, object], object, str]]) -> None:
    data = "".join(style(value) + end for value, style, end in given_objects).encode()  # type: ignore[operator]
    pieces = list(split(data, final=False))
    records = [p for p in pieces if isinstance(p, Record)]
    assert [r.value for r in records] == [value for value, _, _ in given_objects]
    assert not any(isinstance(p, Bad | Pending) for p in pieces)
    assert all(json.loads(data[r.offset : r.offset + r.length]) == r.value for r in records)


@given(st.lists(OBJECTS, max_size=5), st.sampled_from([None, 1, 2]))
def test_an_array_gives_its_objects_with_their_own_places(objects: list[dict[str, object]], indent: int | None) -> None:
    data = json.dumps(objects, indent=indent).encode()
    records = [p for p in split(data, final=False) if isinstance(p, Record)]
    assert [json.loads(data[r.offset : r.offset + r.length]) for r in records] == objects


@given(st.lists(OBJECTS, min_size=1, max_size=5), st.sampled_from([None, 1]), st.sampled_from(["messages", "loglines"]))
def test_a_conversation_in_one_object_names_the_place_of_each_message(objects: list[dict[str, object]], indent: int | None, key: str) -> None:
    data = b"\n" + json.dumps({"title": "x", key: objects}, indent=indent).encode()
    (record,) = [p for p in split(data, final=False) if isinstance(p, Record)]
    assert [json.loads(data[m.offset : m.offset + m.length]) for m in record.members] == objects
    assert all(m.line == 1 + data[: m.offset].count(b"\n") for m in record.members)


@given(OBJECTS, OBJECTS, st.integers(1, 200))
def test_good_lines_after_a_torn_one_are_kept(torn: dict[str, object], good: dict[str, object], cut: int) -> None:
    fragment = json.dumps(torn)[:-1][: cut + 1]
    data = (fragment + "\n" + json.dumps(good) + "\n" + json.dumps(good) + "\n").encode()
    records = [p.value for p in split(data, final=False) if isinstance(p, Record)]
    assert records == [good, good]
