"""The splitter on each kind of damage reported in public, with cousins of our own."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from pipelines.logs.json_values import big_numbers
from pipelines.logs.split import Bad, Blank, Pending, Piece, Record, end_of, split, split_stream, value_at
from pipelines.model import Place


def pieces(data: bytes | str, *, final: bool = False) -> list[Piece]:
    raw = data.encode() if isinstance(data, str) else data
    found = list(split(raw, final=final))
    at = 0
    for piece in found:
        assert piece.place.offset == at
        at = end_of(piece)
    assert at == len(raw)
    return found


def values(data: bytes | str, *, final: bool = False) -> list[object]:
    return [piece.value for piece in pieces(data, final=final) if isinstance(piece, Record)]


def reasons(data: bytes | str, *, final: bool = False) -> list[str]:
    return [piece.span.reason for piece in pieces(data, final=final) if isinstance(piece, Bad)]


GOOD = '{"kind":"note","n":1}\n'
NEXT = '{"kind":"note","n":2}\n'


def test_a_line_cut_in_its_middle_is_bad_and_the_next_is_read() -> None:
    for torn in ('{"kind":"note","n":\n', '{"kind":"no\n', '{"kind":"note",\n', "{\n", '{"kind":{"a":1}\n', '{"kind":"x\\\n'):
        assert values(GOOD + torn + NEXT) == [{"kind": "note", "n": 1}, {"kind": "note", "n": 2}], torn
        assert len(reasons(GOOD + torn + NEXT)) == 1, torn


def test_an_unfinished_tail_waits_and_is_read_when_complete() -> None:
    cut = (GOOD + NEXT)[:-9]
    found = pieces(cut)
    assert isinstance(found[-1], Pending)
    assert found[-1].place == Place(line=2, offset=len(GOOD), length=len(cut) - len(GOOD))
    assert isinstance(pieces(cut, final=True)[-1], Pending)
    again = list(split((GOOD + NEXT).encode()[len(GOOD) :], offset=len(GOOD), line=2, final=False))
    assert [p.value for p in again if isinstance(p, Record)] == [{"kind": "note", "n": 2}]
    assert again[0].place.line == 2


def test_a_whole_object_without_a_newline_is_read_at_once() -> None:
    assert values(GOOD + NEXT.rstrip("\n")) == [{"kind": "note", "n": 1}, {"kind": "note", "n": 2}]


def test_a_record_behind_a_torn_one_is_salvaged() -> None:
    for torn in ('{"kind":"note","text":"hel', '{"kind":"note","n":', '{"kind":"note"', '{"kind":"note","text":"open {', '{"kind":"note","list":["a","b"'):
        found = pieces(torn + NEXT + GOOD)
        assert [type(p).__name__ for p in found] == ["Bad", "Record", "Record"], torn
        assert isinstance(found[1], Record)
        assert (found[1].offset, found[1].line) == (len(torn), 1)
        assert found[1].value == {"kind": "note", "n": 2}


def test_two_records_behind_a_torn_one_are_salvaged() -> None:
    assert values('{"kind":"no' + NEXT.strip() + GOOD) == [{"kind": "note", "n": 2}, {"kind": "note", "n": 1}]


def test_a_value_inside_a_torn_record_is_no_record() -> None:
    torn = '{"type":"user","uuid":"u","message":{"role":"user","content":[{"type":"text","text":"hi"}]}\n'
    assert values(torn + NEXT) == [{"kind": "note", "n": 2}]
    assert reasons(torn + NEXT) == ["torn"]


def test_records_glued_on_one_line_are_all_read() -> None:
    found = [p for p in pieces(GOOD.strip() + NEXT.strip() + " " + GOOD + NEXT) if isinstance(p, Record)]
    assert [p.value["n"] for p in found] == [1, 2, 1, 2]
    assert [p.line for p in found] == [1, 1, 1, 2]


def test_pretty_printed_objects_are_read() -> None:
    data = "".join(json.dumps({"n": n, "in": {"list": [{"a": 1}, {}]}}, indent=2) + "\n" for n in range(3))
    found = [p for p in pieces(data) if isinstance(p, Record)]
    assert [p.value["n"] for p in found] == [0, 1, 2]
    assert [p.line for p in found] == [1, 12, 23]


def test_a_broken_pretty_printed_object_costs_only_itself() -> None:
    one, two = json.dumps({"n": 1, "a": "x"}, indent=2), json.dumps({"n": 2, "a": "y"}, indent=2)
    broken = one.replace('"x"\n}', '"x')
    assert values(f"{one}\n{broken}\n{two}\n") == [{"n": 1, "a": "x"}, {"n": 2, "a": "y"}]
    assert len(reasons(f"{one}\n{broken}\n{two}\n")) == 1


def test_an_object_that_never_closes_hides_nothing_once_the_file_is_closed() -> None:
    data = '{\n  "a": [\n{\n  "b": 2\n}\n'
    assert isinstance(pieces(data)[0], Pending)
    assert values(data, final=True) == [{"b": 2}]


def test_runs_of_nul_are_bad_and_what_stands_around_them_is_read() -> None:
    data = GOOD.encode().strip() + b"\0" * 300 + b"\n" + b"\0" * 80 + b"\n" + b"\0" * 9 + NEXT.encode()
    assert values(data) == [{"kind": "note", "n": 1}, {"kind": "note", "n": 2}]
    assert reasons(data) == ["nul_run"] * 3


def test_a_tail_of_nul_waits_and_a_closed_file_has_none() -> None:
    data = GOOD.encode() + b"\0" * 64
    assert isinstance(pieces(data)[-1], Pending)
    assert reasons(data, final=True) == ["nul_run"]


def test_nul_inside_a_record_is_lost_bytes() -> None:
    assert values(b'{"a":"b\0\0\0c"}\n' + NEXT.encode()) == [{"kind": "note", "n": 2}]
    assert values(b'{"a":"b\0\0\0' + NEXT.encode()) == [{"kind": "note", "n": 2}]


def test_a_byte_order_mark_is_no_loss() -> None:
    for data in ("\ufeff" + GOOD, GOOD + "\ufeff" + NEXT):
        assert reasons(data) == []
        assert values(data)[-1] in ({"kind": "note", "n": 1}, {"kind": "note", "n": 2})


@pytest.mark.parametrize(
    ("escaped", "text"),
    [
        ("cut \\ud83d\\u2026", "cut \ufffd\u2026"),
        ("\\udc00low", "\ufffdlow"),
        ("\\uD83Eade9", "\ufffdade9"),
        ("\\ud83d\\ude00 whole", "\U0001f600 whole"),
        ("path C:\\\\ud83d", "path C:\\ud83d"),
        ("\\ud83d\\ud83d\\ude00", "\ufffd\U0001f600"),
    ],
)
def test_half_a_surrogate_pair_becomes_a_replacement_character(escaped: str, text: str) -> None:
    (record,) = pieces('{"t":"' + escaped + '"}\n')
    assert isinstance(record, Record)
    assert record.value == {"t": text}
    assert record.repaired == ("\ufffd" in text)


def test_an_invalid_escape_makes_its_line_bad_and_names_the_reason() -> None:
    assert values(GOOD + '{"t":"C:\\projects \\p{L}"}\n' + NEXT) == [{"kind": "note", "n": 1}, {"kind": "note", "n": 2}]
    assert reasons('{"t":"\\p"}\n') == ["invalid_escape"]
    assert reasons('{"t":tru}\n') == ["invalid_json"]
    assert reasons('{"t":"cut\n') == ["torn"]


def test_line_separators_inside_strings_cut_nothing() -> None:
    value = {"t": "a\u2028b\u2029c\u0085d\u000be\u001ff"}
    assert values(json.dumps(value, ensure_ascii=False) + "\n") == [value]


def test_crlf_blank_lines_and_values_that_are_no_objects_are_no_loss() -> None:
    data = '{"a":1}\r\n\r\n  \t\r\nnull\n[]\n"text"\n42\n[1, "x"]\n{"b":2}\r\n'
    assert values(data) == [{"a": 1}, {"b": 2}]
    assert reasons(data) == []
    assert sum(isinstance(p, Blank) and p.scalar for p in pieces(data)) == 5
    assert next(p for p in pieces(data) if isinstance(p, Record)).length == len('{"a":1}')


def test_elements_of_an_array_are_records_with_their_own_places() -> None:
    data = '[\n  {"a": 1},\n  {"b": [1, {"c": 2}]}\n]\n'
    found = [p for p in pieces(data) if isinstance(p, Record)]
    assert [data[p.offset : p.offset + p.length] for p in found] == ['{"a": 1}', '{"b": [1, {"c": 2}]}']
    assert [p.line for p in found] == [2, 3]


def test_messages_of_a_whole_file_object_have_places() -> None:
    data = json.dumps({"meta": {"messages": [0]}, "messages": [{"role": "user", "content": "]}"}, {"role": "assistant"}]}, indent=1)
    (record,) = (p for p in pieces(data) if isinstance(p, Record))
    assert [json.loads(data[m.offset : m.offset + m.length]) for m in record.members] == record.value["messages"]


def test_integers_beyond_64_bit_are_kept() -> None:
    for number in (2**64, 2**70, -(2**63) - 1, 10**40):
        assert values(json.dumps({"id": number, "x": [number]}) + "\n") == [{"id": number, "x": [number]}]
    assert values(json.dumps({"id": 2**64 - 1}) + "\n" + json.dumps({"id": 2**64}) + "\n") == [{"id": 2**64 - 1}, {"id": 2**64}]
    assert values('{"id": ' + "9" * 5000 + "}\n") == [{"id": "9" * 5000}]


def test_long_runs_of_digits_are_found_wherever_they_stand() -> None:
    for shift in range(9):
        data = b"x" * shift + b"1234567890123456789" + b"y" + b"123456789012345678" + b"z" * shift
        assert big_numbers(data) == [shift]


def test_invalid_utf8_is_replaced_and_flagged() -> None:
    (record,) = pieces(b'{"t":"caf\xe9"}\n')
    assert isinstance(record, Record)
    assert (record.value, record.repaired) == ({"t": "caf\ufffd"}, True)


def test_raw_control_characters_are_kept_and_flagged() -> None:
    (record,) = pieces(b'{"t":"a\tb\x1b[0m"}\n')
    assert isinstance(record, Record)
    assert (record.value, record.repaired) == ({"t": "a\tb\x1b[0m"}, True)


def test_nan_is_mended() -> None:
    (record,) = pieces('{"t": NaN, "u": [-Infinity, 1]}\n')
    assert isinstance(record, Record)
    assert (record.value, record.repaired) == ({"t": None, "u": [None, 1]}, True)


def test_nesting_without_end_is_bad_not_a_crash() -> None:
    data = '{"a":' * 100_000 + "1" + "}" * 100_000 + "\n" + GOOD
    assert values(data) == [{"kind": "note", "n": 1}]
    assert reasons(data) == ["nested_too_deep"]


def test_text_that_is_no_json_is_bad_line_by_line() -> None:
    assert reasons("hello world\n# title\n" + GOOD) == ["not_json", "not_json"]
    assert values("hello world\n# title\n" + GOOD) == [{"kind": "note", "n": 1}]


def test_a_record_longer_than_the_bound_is_one_bad_span() -> None:
    long = '{"t":"' + "x" * 5000 + '"}\n'
    data = (GOOD + long + NEXT).encode()
    found = list(split_stream((data[i : i + 100] for i in range(0, len(data), 100)), final=False, record_max=1000))
    assert [type(p).__name__ for p in found] == ["Record", "Bad", "Record"]
    assert found[1].place == Place(line=2, offset=len(GOOD), length=len(long))
    assert isinstance(found[1], Bad)
    assert found[1].span.reason == "record_too_long"
    assert found[2].place.line == 3


def test_a_long_unfinished_line_stays_pending_as_a_whole() -> None:
    data = (GOOD + '{"t":"' + "x" * 5000).encode()
    found = list(split_stream((data[i : i + 100] for i in range(0, len(data), 100)), final=False, record_max=1000))
    assert isinstance(found[-1], Pending)
    assert found[-1].place == Place(line=2, offset=len(GOOD), length=len(data) - len(GOOD))


def test_memory_stays_flat_over_a_long_stream() -> None:
    chunk = (json.dumps({"t": "x" * 1000}) + "\n").encode() * 100
    tracemalloc.start()
    count = sum(isinstance(p, Record) for p in split_stream((chunk for _ in range(200)), final=False))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 20_000
    assert peak < 20 * len(chunk)


def test_the_bytes_of_a_place_give_its_value_again() -> None:
    data = b'{"t":"\\ud83d!"} , {"n": 123456789012345678901}\n'
    for record in (p for p in pieces(data) if isinstance(p, Record)):
        assert value_at(data[record.offset : record.offset + record.length]) == record.value
    with pytest.raises(ValueError, match="no record"):
        value_at(b"[]")


@pytest.mark.parametrize(
    "torn",
    [
        '{"k":[' + '{"a":1},' * 100_000,
        "x" + '{"a":' * 100_000,
        '{"a":"' + '{"' * 100_000,
        '{"a":' + '{"b":' * 900 + '{"c":1},' * 50_000,
        "\x00{" * 100_000,
        "[" * 100_000 + "{",
        "{\n" * 50_000,
        "}\n" * 30_000,
        '{"a":"' * 50_000,
    ],
)
def test_hostile_lines_cost_no_more_than_their_size(torn: str) -> None:
    assert values(torn + "\n" + NEXT)[-1] == {"kind": "note", "n": 2}
