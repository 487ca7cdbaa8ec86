"""What every reader promises, checked against every reader: growth, copies, carries, and records of any shape."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.logs.chat import ChatReader
from pipelines.logs.claude import ClaudeReader
from pipelines.logs.codex import CodexReader
from pipelines.logs.conversation import ConversationReader
from pipelines.logs.detect import READERS, detect
from pipelines.logs.events import EventsReader
from pipelines.logs.reader import Carry, FileContext, Read, Reader
from pipelines.logs.split import Record, split
from pipelines.model import Origin
from tests.writing import ClaudeLog, conversation, events

CARRY_BYTES_MAX = 200_000


def _claude() -> str:
    log = ClaudeLog("harbor-1")
    log.user("The staging port is 5433.").assistant("Noted.").bash("npm test", "2 failed", exit_code=1).bash("npm test -- -u", "2 passed")
    log.user("[Request interrupted by user]").user("no, use pnpm").remember("always run the linter")
    log.write("/home/ana/.claude/projects/harbor/memory/ports.md", "- staging is 5433").fetch("https://example.org", "a page")
    log.user("<task-notification>\n<status>completed</status>\n</task-notification>")
    lines = log.text().splitlines(keepends=True)
    queued = {"type": "queue-operation", "operation": "enqueue", "timestamp": "2026-03-02T10:00:00Z", "sessionId": log.uuid, "content": "and deploy it"}
    lines.insert(3, json.dumps(queued) + "\n")
    lines.append(json.dumps({**log.records[0], "uuid": "d1", "message": {"role": "user", "content": "and deploy it"}}) + "\n")
    return "".join(lines + lines[1:3])


def _codex() -> str:
    at = "2026-03-02T09:0{}:00.000Z"
    payloads: list[tuple[str, dict[str, Any]]] = [
        ("session_meta", {"id": "0195a0c4-7c1e-7d20-9b1e-2f6f1d3c5a01", "cwd": "/home/ana/harbor", "cli_version": "0.80.0"}),
        ("response_item", {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Keep the API on v2."}]}),
        ("event_msg", {"type": "user_message", "message": "Keep the API on v2."}),
        ("response_item", {"type": "function_call", "name": "shell", "call_id": "call_b7Qm2Xw9Lk4", "arguments": '{"command": ["make"]}'}),
        ("response_item", {"type": "function_call_output", "call_id": "call_b7Qm2Xw9Lk4", "output": "Exit code: 2\nWall time: 1 seconds\nOutput:\nno rule"}),
        ("response_item", {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "There is no rule."}]}),
    ]
    return "".join(json.dumps({"timestamp": at.format(n), "type": kind, "payload": payload}) + "\n" for n, (kind, payload) in enumerate(payloads))


def _chat() -> str:
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "The invoice is due on 3 May."},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "2"},
        {"role": "assistant", "content": "Done."},
    ]
    return "".join(json.dumps(message) + "\n" for message in messages)


@dataclass(frozen=True)
class Case:
    """One reader with a small log of its own format."""

    reader: Reader
    log: Callable[[], str]
    name: str = "log.jsonl"

    def records(self) -> list[Record]:
        return _records(self.log())


CASES = (
    Case(ClaudeReader(), _claude),
    Case(CodexReader(), _codex),
    Case(ChatReader(), _chat),
    Case(EventsReader(), lambda: events([("db/port", "5433", "verified", "2026-03-02T09:00:00Z"), ("db/port", "5434", "inferred", "2026-03-02T10:00:00Z")])),
    Case(ConversationReader(), lambda: conversation("c-1", [("Ana", "I moved to Porto."), ("Lee", "When?"), ("Ana", "In May.")])),
)
each = pytest.mark.parametrize("case", CASES, ids=lambda case: case.reader.format)


def _records(text: str) -> list[Record]:
    return [piece for piece in split(text.encode(), final=True) if isinstance(piece, Record)]


def _where(case: Case) -> FileContext:
    return FileContext(name=case.name, relative_path=f"logs/{case.name}")


def _in_parts(case: Case, records: list[Record], cuts: list[int]) -> Read:
    """The log read part by part, each carry through JSON as the store keeps it."""
    reads: list[Read] = []
    carry: Carry = {}
    for start, end in zip([0, *cuts], [*cuts, len(records)], strict=True):
        reads.append(case.reader.read(records[start:end], carry, _where(case)))
        carry = json.loads(json.dumps(reads[-1].carry))
    ignored: Counter[str] = Counter()
    for read in reads:
        ignored.update(read.ignored)
    sessions = {info.uid: info for read in reads for info in read.sessions}
    return Read(
        sessions=tuple(sessions.values()),
        turns=tuple(turn for read in reads for turn in read.turns),
        ignored=dict(ignored),
        bad=tuple(span for read in reads for span in read.bad),
        notes=tuple(note for read in reads for note in read.notes),
        carry=carry,
    )


def _told(read: Read) -> Mapping[str, object]:
    return {
        "sessions": sorted(read.sessions, key=lambda info: info.uid),
        "turns": read.turns,
        "ignored": {key: count for key, count in read.ignored.items() if count},
        "bad": read.bad,
        "notes": read.notes,
        "carry": json.loads(json.dumps(read.carry)),
    }


def test_the_suite_covers_every_reader() -> None:
    assert {case.reader.format for case in CASES} == {reader.format for reader in READERS}


@each
def test_a_log_is_known_by_its_records(case: Case) -> None:
    assert detect([record.value for record in case.records()], case.name).format == case.reader.format


@each
def test_something_is_read(case: Case) -> None:
    read = case.reader.read(case.records(), {}, _where(case))
    assert read.turns
    assert {turn.session for turn in read.turns} <= {info.uid for info in read.sessions}
    assert all(info.format == case.reader.format for info in read.sessions)


@each
def test_a_cut_at_any_record_changes_nothing(case: Case) -> None:
    records = case.records()
    whole = _told(_in_parts(case, records, []))
    for cut in range(len(records) + 1):
        assert _told(_in_parts(case, records, [cut])) == whole


@each
def test_growth_by_one_record_at_a_time_changes_nothing(case: Case) -> None:
    records = case.records()
    assert _told(_in_parts(case, records, list(range(1, len(records))))) == _told(_in_parts(case, records, []))


@each
def test_a_copy_holds_the_same_turns(case: Case) -> None:
    records = case.records()
    first = case.reader.read(records, {}, FileContext(name=case.name, relative_path=f"a/b/{case.name}"))
    again = case.reader.read(records, {}, FileContext(name=case.name, relative_path=f"c/b/{case.name}"))
    assert [turn.uid for turn in first.turns] == [turn.uid for turn in again.turns]


@each
def test_a_carry_is_left_as_it_was(case: Case) -> None:
    records = case.records()
    carry = case.reader.read(records[:2], {}, _where(case)).carry
    before = json.dumps(carry)
    case.reader.read(records[2:], carry, _where(case))
    assert json.dumps(carry) == before


@each
def test_the_carry_stays_small_however_long_the_log_is(case: Case) -> None:
    lines = case.log().splitlines()
    text = "".join(line.replace("5433", str(n)).replace("toolu_", f"toolu_{n}_").replace("msg_", f"msg_{n}_") + "\n" for n in range(300) for line in lines)
    read = case.reader.read(_records(text), {}, _where(case))
    assert len(json.dumps(read.carry)) < CARRY_BYTES_MAX


@each
def test_positions_grow_and_places_point_into_the_file(case: Case) -> None:
    text = case.log().encode()
    turns = case.reader.read(case.records(), {}, _where(case)).turns
    by_session: dict[str, list[int]] = {}
    for turn in turns:
        by_session.setdefault(turn.session, []).append(turn.ordinal)
        assert text[turn.place.offset : turn.place.offset + 1] == b"{"
        assert turn.place.line == 1 + text[: turn.place.offset].count(b"\n")
    assert all(len(set(ordinals)) == len(ordinals) for ordinals in by_session.values())


@each
def test_text_can_be_stored_anywhere(case: Case) -> None:
    text = (
        case.log().replace("5433", "\\u0000\\ud83d 5433").replace("v2", "\\u0000\\ud83d").replace("Porto", "\\u0000\\ud83d").replace("3 May", "\\u0000\\ud83d")
    )
    turns = case.reader.read(_records(text), {}, _where(case)).turns
    assert any("\ufffd" in turn.text and turn.flagged for turn in turns)
    assert all("\x00" not in turn.text and turn.text.encode() for turn in turns)


@each
def test_quoted_spans_lie_in_the_text(case: Case) -> None:
    for turn in case.reader.read(case.records(), {}, _where(case)).turns:
        assert all(0 <= start < end <= len(turn.text) for start, end in turn.quoted)
        assert not turn.quoted or turn.origin is Origin.USER


WRONG = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**65), 2**65) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "text", "content", "id", "name", "input", "role"]), inner, max_size=3),
    max_leaves=6,
)


@each
@given(data=st.data())
def test_a_wrong_leaf_anywhere_never_stops_the_reading(case: Case, data: st.DataObject) -> None:
    values: list[Any] = [json.loads(line) for line in case.log().splitlines()]
    for _ in range(data.draw(st.integers(1, 3))):
        node: Any = data.draw(st.sampled_from(values))
        while True:
            key = data.draw(st.sampled_from(sorted(node) if isinstance(node, dict) else range(len(node))))
            if not isinstance(node[key], dict | list) or not node[key] or data.draw(st.booleans()):
                node[key] = data.draw(WRONG)
                break
            node = node[key]
        values = [value for value in values if isinstance(value, dict) and value]
    records = _records("".join(json.dumps(value) + "\n" for value in values))
    read = case.reader.read(records, {}, _where(case))
    json.dumps(read.carry)
    assert len({turn.uid for turn in read.turns}) <= len(read.turns)
