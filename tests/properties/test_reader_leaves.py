"""Records shaped like real ones with a wrong leaf somewhere: a reader counts or reports what it cannot use, and never raises."""

import copy
import json
from collections.abc import Mapping
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.logs.chat import ChatReader
from pipelines.logs.codex import CodexReader
from pipelines.logs.conversation import ConversationReader
from pipelines.logs.events import EventsReader
from pipelines.logs.reader import FileContext, Read, Reader
from pipelines.logs.split import Record, split

WHERE = FileContext(name="log.jsonl")
ID = "0199aaaa-1111-7222-8333-444455556666"
PATCH = "*** Begin Patch\n*** Add File: /x/memories/a.md\n+Use pnpm.\n*** End Patch"


def envelope(kind: str, payload: object) -> dict[str, object]:
    return {"timestamp": "2026-03-02T09:00:00.000Z", "ordinal": 3, "type": kind, "payload": payload}


CODEX = [
    envelope("session_meta", {"id": ID, "forked_from_id": ID[::-1], "cwd": "/x", "git": {"branch": "main"}, "source": {"subagent": {"thread_spawn": {"parent_thread_id": "p"}}}}),
    envelope("turn_context", {"timezone": "Europe/Berlin", "cwd": "/x"}),
    envelope("response_item", {"type": "message", "role": "user", "id": "msg_abcdef1234567", "content": [{"type": "input_text", "text": "Use tabs."}]}),
    envelope("event_msg", {"type": "user_message", "message": "Use tabs."}),
    envelope("event_msg", {"type": "item_completed", "item": {"type": "CommandExecution", "id": "exec_1", "command": ["make"], "exit_code": 0, "aggregated_output": "ok"}}),
    envelope("response_item", {"type": "function_call", "name": "shell", "arguments": '{"command": ["bash", "-lc", "make"]}', "call_id": "call_abcdef123456"}),
    envelope("event_msg", {"type": "exec_command_end", "call_id": "call_abcdef123456", "exit_code": 1}),
    envelope("response_item", {"type": "function_call_output", "call_id": "call_abcdef123456", "output": {"content": [{"type": "text", "text": "boom"}], "success": False}}),
    envelope("response_item", {"type": "custom_tool_call", "name": "apply_patch", "input": PATCH, "call_id": "call_bbcdef123456"}),
    envelope("response_item", {"type": "custom_tool_call_output", "call_id": "call_bbcdef123456", "output": '{"output": "ok", "metadata": {"exit_code": 0}}'}),
    envelope("event_msg", {"type": "turn_aborted", "reason": "interrupted"}),
    envelope("compacted", {"message": "They want tabs.", "replacement_history": []}),
    {"type": "item.completed", "item": {"id": "item_0", "type": "mcp_tool_call", "server": "s", "tool": "t", "arguments": {"a": 1}, "result": {"content": []}}},
    {"record_type": "state"},
]  # fmt: skip
CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "id": "msg_abcdef1234567", "content": [{"type": "text", "text": "Run it."}], "timestamp": "2026-03-02T09:00:00Z"},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "call_abcdef123456", "function": {"name": "bash", "arguments": '{"command": "make"}'}}]},
    {"role": "tool", "tool_call_id": "call_abcdef123456", "content": "ok"},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "memory", "input": {"command": "create", "path": "/memories/a.md", "file_text": "x"}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "ok"}], "is_error": False}]},
    {"id": ID, "title": "T", "system": "S", "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]},
]  # fmt: skip
EVENTS = [{"topic": "port", "value": v, "status": "verified", "observed_at": "2026-03-02T09:00:00Z", "source": "watcher"} for v in ("1", "2", "3")]
CONVERSATION = [
    {"id": "x", "session": s, "speaker": who, "time": "7:55 pm on 2 March, 2026", "text": text}
    for s, who, text in (("a", "Ana", "> quoted\nhi"), ("b", "assistant", "ok"), ("a", "Lee", "<dreamd-brief>x</dreamd-brief>"))
]
READERS: list[tuple[Reader, list[dict[str, object]]]] = [
    (CodexReader(), CODEX), (ChatReader(), CHAT), (EventsReader(), EVENTS), (ConversationReader(), CONVERSATION),
]  # fmt: skip
DEEP: object = json.loads("[" * 200 + "]" * 200)
leaves = st.sampled_from(
    [
        None,
        True,
        -1,
        0,
        2**63,
        1.5,
        1e308,
        "",
        "\x00",
        "\ud83d",
        "x" * 5000,
        [],
        {},
        [[]],
        [None],
        {"type": "text"},
        {"": {}},
        "2026-03-02",
        "9999-12-31T23:59:59-14:00",
        DEEP,
    ]
)


def paths(value: object, depth: int = 8) -> list[tuple[object, ...]]:
    """The path of every value inside a value to some depth, its own (empty) one first."""
    found: list[tuple[object, ...]] = [()]
    items = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items if depth else ():
        found += [(key, *rest) for rest in paths(inner, depth - 1)]
    return found


def records(values: list[dict[str, object]]) -> list[Record]:
    data = b"".join(json.dumps(value).encode() + b"\n" for value in values)
    return [piece for piece in split(data, final=True) if isinstance(piece, Record)]


def in_parts(reader: Reader, all_records: list[Record], cuts: set[int]) -> Read:
    turns, ignored, bad, notes, carry = [], dict[str, int](), [], [], {}
    borders = [0, *sorted(cuts), len(all_records)]
    for start, end in pairwise(borders):
        part = reader.read(all_records[start:end], json.loads(json.dumps(carry)), WHERE)
        turns += part.turns
        bad += part.bad
        notes += part.notes
        carry = dict(part.carry)
        for what, count in part.ignored.items():
            ignored[what] = ignored.get(what, 0) + count
    return Read(turns=tuple(turns), ignored=ignored, bad=tuple(bad), notes=tuple(notes), carry=carry)


@pytest.mark.parametrize(("reader", "valid"), READERS, ids=[r.format for r, _ in READERS])
@given(data=st.data())
def test_a_wrong_leaf_is_never_a_crash_and_no_cut_changes_what_is_read(reader: Reader, valid: list[dict[str, object]], data: st.DataObject) -> None:
    values = copy.deepcopy(valid)
    for _ in range(data.draw(st.integers(0, 3), label="wrong leaves")):
        where = data.draw(st.integers(0, len(values) - 1))
        path = data.draw(st.sampled_from(paths(values[where])))
        if not path:
            continue
        holder = values[where]
        for key in path[:-1]:
            holder = holder[key]  # type: ignore[index,assignment]
        holder[path[-1]] = copy.deepcopy(data.draw(leaves))  # type: ignore[index]
    all_records = records(values)
    for record in all_records:
        reader.sniff([record.value], "log.jsonl")
    whole = reader.read(all_records, {}, WHERE)
    parts = in_parts(reader, all_records, data.draw(st.sets(st.integers(0, len(all_records)), max_size=4)))
    assert (parts.turns, parts.ignored, parts.bad, parts.notes) == (whole.turns, dict(whole.ignored), whole.bad, whole.notes)
    assert json.loads(json.dumps(dict(whole.carry))) == json.loads(json.dumps(dict(parts.carry)))
    for turn in whole.turns:
        assert "\x00" not in turn.text
        turn.text.encode()


@pytest.mark.parametrize("depth", [500, 850])
def test_values_nested_to_the_limit_are_read_or_reported(depth: int) -> None:
    deep = "[" * depth + "]" * depth
    for reader, valid in READERS:
        for number, value in enumerate(valid):
            for key in value if "messages" not in value else ():
                lines = [json.dumps({**v, key: "@@"} if i == number else v).replace('"@@"', deep) for i, v in enumerate(valid)]
                reader.read([p for p in split("\n".join(lines).encode(), final=True) if isinstance(p, Record)], {}, WHERE)
