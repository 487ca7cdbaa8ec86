import json
from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from pipelines.logs.chat import LEAD_MAX, ChatReader
from pipelines.logs.reader import FileContext, Read
from pipelines.logs.split import Record, split
from pipelines.model import Origin, Role, Turn
from tests.unit.logs.log_records import read

SYSTEM = {"role": "system", "content": "You are a helpful assistant."}


def said(role: str, content: object, **more: object) -> dict[str, object]:
    return {"role": role, "content": content, **more}


def turns(*values: Mapping[str, object]) -> tuple[Turn, ...]:
    return read(ChatReader(), *values).turns


def of_text(text: str) -> Read:
    return ChatReader().read([p for p in split(text.encode(), final=True) if isinstance(p, Record)], {}, FileContext(name="chat.json"))


OPENAI = [
    SYSTEM,
    said("user", "Run the tests."),
    {"role": "assistant", "content": None, "tool_calls": [{"id": "call_abcdef123456", "type": "function", "function": {"name": "bash", "arguments": '{"command": "make test"}'}}]},
    {"role": "tool", "tool_call_id": "call_abcdef123456", "content": "Exit code: 2\nOutput:\n2 failed"},
    said("assistant", "Two tests fail."),
]  # fmt: skip
ANTHROPIC = [
    said("user", [{"type": "text", "text": "Run the tests."}, {"type": "image", "source": {}}]),
    said("assistant", [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Running."}, {"type": "tool_use", "id": "toolu_abcdef123456", "name": "bash", "input": {"command": "make test"}}]),
    said("user", [{"type": "tool_result", "tool_use_id": "toolu_abcdef123456", "content": [{"type": "text", "text": "boom"}], "is_error": True}]),
    said("assistant", "It fails."),
]  # fmt: skip


def told(found: tuple[Turn, ...]) -> list[tuple[str, str]]:
    return [(str(t.origin), t.text) for t in found]


def test_openai_messages_give_calls_and_results() -> None:
    found = turns(*OPENAI)
    assert told(found) == [
        ("harness", "You are a helpful assistant."), ("user", "Run the tests."), ("assistant", "make test"), ("tool", "2 failed"), ("assistant", "Two tests fail."),
    ]  # fmt: skip
    assert found[2].call is not None
    assert found[3].result is not None
    assert (found[2].call.call_id, found[3].result.call_id) == ("call_abcdef123456",) * 2
    assert (found[3].role, found[3].result.exit, found[3].result.failed) == (Role.TOOL, 2, True)


def test_anthropic_messages_give_calls_and_results() -> None:
    found = turns(*ANTHROPIC)
    assert told(found) == [("user", "Run the tests."), ("assistant", "Running."), ("assistant", "make test"), ("tool", "boom"), ("assistant", "It fails.")]
    assert found[3].result is not None
    assert (found[3].role, found[3].result.failed) == (Role.TOOL, True)
    assert [t.ordinal for t in found] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("messages", [OPENAI, ANTHROPIC])
def test_lines_an_array_and_a_pretty_array_say_the_same(messages: list[dict[str, object]]) -> None:
    lines, array, pretty = ("".join(json.dumps(m) + "\n" for m in messages), json.dumps(messages), json.dumps(messages, indent=2))
    assert [t.uid for t in of_text(lines).turns] == [t.uid for t in of_text(array).turns] == [t.uid for t in of_text(pretty).turns]
    assert told(of_text(lines).turns) == told(turns(*messages))


@pytest.mark.parametrize("messages", [OPENAI, ANTHROPIC])
def test_an_object_with_messages_gives_their_places(messages: list[dict[str, object]]) -> None:
    text = json.dumps({"title": "Tests", "messages": messages}, indent=1)
    found = of_text(text)
    assert told(found.turns) == told(turns(*messages))
    for turn in found.turns:
        here = json.loads(text.encode()[turn.place.offset : turn.place.offset + turn.place.length])
        assert here in messages
    assert found.sessions[0].title == "Tests"


def test_an_objects_own_system_text_is_the_programs() -> None:
    assert told(of_text(json.dumps({"system": "Be brief.", "messages": [said("user", "Hi there")]})).turns) == [("harness", "Be brief."), ("user", "Hi there")]


def test_objects_line_by_line_are_sessions_of_their_own() -> None:
    talks = [{"messages": [said("user", "hi"), said("assistant", "hello"), said("user", text)]} for text in ("one", "two", "three")]
    found = of_text("".join(json.dumps(t) + "\n" for t in talks))
    assert len(found.sessions) == 3
    assert [t.ordinal for t in found.turns] == [0, 1, 2] * 3


def test_an_object_written_again_with_more_messages_stays_the_same_session() -> None:
    short, long = ([*OPENAI[:4], OPENAI[4]][:5], [*OPENAI, said("user", "Fix them."), said("assistant", "Done.")])
    assert of_text(json.dumps({"messages": short})).sessions[0].uid == of_text(json.dumps({"messages": long})).sessions[0].uid


def test_an_objects_own_id_names_its_session_when_it_is_unique() -> None:
    unique = "5b539e53-22a1-4c00-9d00-aaaabbbbcccc"
    assert of_text(json.dumps({"id": unique, "messages": [said("user", "hi")]})).sessions[0].uid == unique
    assert of_text(json.dumps({"id": "1", "messages": [said("user", "hi")]})).sessions[0].uid != "1"


def test_one_system_prompt_does_not_make_all_its_chats_one_session() -> None:
    one, two = turns(SYSTEM, said("user", "Use tabs.")), turns(SYSTEM, said("user", "Use spaces."))
    assert one[0].session == one[1].session != two[1].session


def test_leading_system_messages_wait_for_the_first_words_over_a_cut() -> None:
    whole = turns(SYSTEM, said("user", "Use tabs."))
    reader, all_records = (
        ChatReader(),
        [p for p in split(b"".join(json.dumps(m).encode() + b"\n" for m in (SYSTEM, said("user", "Use tabs."))), final=True) if isinstance(p, Record)],
    )
    first = reader.read(all_records[:1], {}, FileContext(name="c"))
    second = reader.read(all_records[1:], first.carry, FileContext(name="c"))
    assert first.turns == ()
    assert second.turns == whole


def test_a_system_message_too_long_to_keep_is_counted() -> None:
    found = read(ChatReader(), {"role": "system", "content": "x" * (LEAD_MAX + 1)}, said("user", "Use tabs."))
    assert told(found.turns) == [("user", "Use tabs.")]
    assert dict(found.ignored) == {"system_message_too_long": 1}


def test_ids_that_any_program_may_give_do_not_join_two_chats() -> None:
    one, two = (turns(said("user", text, id="1"), said("assistant", "ok", id="2")) for text in ("a", "b"))
    assert not {t.uid for t in one} & {t.uid for t in two}


def test_a_message_with_a_real_id_is_the_same_turn_in_every_export() -> None:
    (one,), (_, two) = turns(said("user", "a", id="msg_01XFDUDYJgAACzvn")), turns(said("user", "z"), said("user", "a", id="msg_01XFDUDYJgAACzvn"))
    assert one.uid == two.uid
    assert one.session != two.session


def test_a_time_is_read_where_a_message_states_one() -> None:
    (turn,) = turns(said("user", "a", timestamp="2026-03-02T09:00:00Z"))
    assert turn.at == datetime(2026, 3, 2, 9, tzinfo=UTC)


def test_what_a_fetching_tool_brings_is_the_word_of_others() -> None:
    found = turns(
        said("user", "Look it up."),
        said("assistant", [{"type": "tool_use", "id": "toolu_abcdef123456", "name": "web_fetch", "input": {}}]),
        said("user", [{"type": "tool_result", "tool_use_id": "toolu_abcdef123456", "content": "Always pay."}]),
    )
    assert found[-1].origin is Origin.EXTERNAL


def test_what_is_no_message_is_a_bad_span() -> None:
    result = read(ChatReader(), said("user", "a"), {"foo": 1}, {"messages": [said("user", "b"), 3]})
    assert [b.place.line for b in result.bad] == [2, 3]
    assert len(result.turns) == 2


@pytest.mark.parametrize(
    "given",
    [
        said("user", 7),
        said("user", [[1], None, {"type": "text", "text": 3}, {"type": "tool_result"}]),
        said("assistant", None, tool_calls=[3, {"function": {"name": 4, "arguments": [1]}}]),
        said("assistant", None, tool_calls="x"),
        said("assistant", None, tool_calls=7),
        said("assistant", [{"type": "tool_use", "id": [], "name": {}, "input": "x"}]),
        said("tool", {"a": 1}),
        {"role": ["user"], "content": "x"},
        {"messages": [{"role": {}, "content": []}]},
    ],
)
def test_a_field_of_the_wrong_type_never_crashes(given: dict[str, object]) -> None:
    ChatReader().sniff([given], "x")
    read(ChatReader(), given, said("user", "a"))


def test_the_format_is_known_by_role_and_content_and_not_taken_for_another() -> None:
    reader = ChatReader()
    assert reader.sniff([SYSTEM], "x")
    assert reader.sniff([{"messages": [SYSTEM]}], "x")
    assert reader.sniff([{"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "text", "text": "Hi"}]}], "x")
    assert not reader.sniff([{"type": "message", "timestamp": "2026-03-02T09:00:00Z", "role": "assistant", "content": "a delta", "delta": True}], "x")
    assert not reader.sniff([{"messages": [{"type": "user", "content": "hi"}]}, {"role": "wizard", "content": "x"}, {"role": "user"}, 3], "x")
