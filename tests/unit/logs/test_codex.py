import json
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import permutations

import pytest

from pipelines.logs.codex import CodexReader
from pipelines.logs.reader import FileContext
from pipelines.logs.split import Bad, Record, split
from pipelines.model import Origin, Role, Turn
from tests.unit.logs.log_records import read

SESSION = "0199aaaa-1111-7222-8333-444455556666"
FORK = "0199bbbb-1111-7222-8333-444455556666"
ECHOES = ("item", "event", "completed")


def line(kind: str, second: int = 0, **payload: object) -> dict[str, object]:
    return {"timestamp": f"2026-03-02T09:00:{second:02}.000Z", "type": kind, "payload": payload}


def meta(uid: str = SESSION, **more: object) -> dict[str, object]:
    return line("session_meta", 0, id=uid, cwd="/home/ana/harbor", cli_version="0.128.0", git={"branch": "main"}, **more)


def said(role: str, *texts: str, second: int = 1, **more: object) -> dict[str, object]:
    kind = "output_text" if role == "assistant" else "input_text"
    return line("response_item", second, type="message", role=role, content=[{"type": kind, "text": t} for t in texts], **more)


def writing(form: str, text: str, second: int = 1) -> dict[str, object]:
    """One utterance of the person in one of the three forms Codex writes it in."""
    if form == "item":
        return said("user", text, second=second)
    if form == "event":
        return line("event_msg", second, type="user_message", message=text)
    return line("event_msg", second, type="item_completed", item={"type": "UserMessage", "content": [{"type": "text", "text": text}]})


def call(call_id: str, name: str = "exec_command", arguments: str = '{"cmd": "make test"}', second: int = 2) -> dict[str, object]:
    return line("response_item", second, type="function_call", name=name, arguments=arguments, call_id=call_id)


def output(call_id: str, text: object, second: int = 3) -> dict[str, object]:
    return line("response_item", second, type="function_call_output", call_id=call_id, output=text)


def turns(*values: Mapping[str, object], name: str = "rollout.jsonl") -> tuple[Turn, ...]:
    return read(CodexReader(), *values, name=name).turns


def told(*values: Mapping[str, object]) -> list[tuple[str, str]]:
    return [(str(t.origin), t.text) for t in turns(*values)]


# --- sessions ----------------------------------------------------------------------------------------------------------------------------


def test_the_session_is_the_one_its_meta_names() -> None:
    (info,) = read(CodexReader(), meta(), said("user", "Use tabs.")).sessions
    assert (info.uid, info.cwd, info.branch, info.agent_version, info.parent) == (SESSION, "/home/ana/harbor", "main", "0.128.0", None)


def test_a_turn_carries_time_zone_and_place() -> None:
    (turn,) = turns(meta(), line("turn_context", 0, timezone="Europe/Berlin"), said("user", "Use tabs."))
    assert (turn.at, turn.zone, turn.place.line) == (datetime(2026, 3, 2, 9, 0, 1, tzinfo=UTC), "Europe/Berlin", 3)


def test_without_a_meta_the_files_name_tells_the_session() -> None:
    (turn,) = turns(said("user", "Use tabs."), name=f"rollout-2026-03-02T09-00-00-{SESSION}.jsonl")
    assert turn.session == SESSION


def test_without_meta_and_name_the_session_is_named_by_its_first_record_whatever_the_file_is_called() -> None:
    (one,), (two,), (other,) = (turns(said("user", text), name=name) for text, name in (("a", "x.jsonl"), ("a", "y.jsonl"), ("b", "x.jsonl")))
    assert one.session == two.session != other.session


def test_a_fork_names_its_parent_and_its_copied_turns_are_the_parents_own() -> None:
    history = [said("user", "Use tabs."), call("call_abcdef123456"), output("call_abcdef123456", "ok"), said("assistant", "Done.", second=4)]
    parent = turns(meta(), *history)
    fork = read(CodexReader(), meta(FORK, forked_from_id=SESSION), meta(), *history, said("user", "Now spaces.", second=50))
    assert [t.uid for t in fork.turns[:-1]] == [t.uid for t in parent]
    assert {t.session for t in fork.turns} == {FORK}
    assert fork.sessions[0].parent == SESSION


def test_a_second_meta_alone_also_tells_a_fork() -> None:
    assert read(CodexReader(), meta(FORK), meta()).sessions[0].parent == SESSION


def test_a_resume_that_repeats_its_own_meta_is_no_fork() -> None:
    assert read(CodexReader(), meta(), meta()).sessions[0].parent is None


def test_pages_of_one_thread_are_one_session_and_follow_one_another() -> None:
    first = turns(meta(history_mode="paginated"), {**said("user", "One."), "ordinal": 7}, name=f"rollout-x-{SESSION}_0.jsonl")
    base = {"thread_id": SESSION, "end_ordinal_exclusive": 8}
    second = read(CodexReader(), meta(history_mode="paginated", history_base=base), {**said("user", "Two.", second=9), "ordinal": 8})
    assert second.sessions[0].parent is None
    assert first[0].session == second.turns[0].session
    assert first[0].ordinal < second.turns[0].ordinal


def test_what_a_subagent_is_asked_is_the_assistants_word() -> None:
    source = {"subagent": {"thread_spawn": {"parent_thread_id": SESSION, "depth": 1}}}
    result = read(CodexReader(), meta(FORK, source=source), said("user", "Always rename every file."))
    assert [(t.role, t.origin, t.sidechain) for t in result.turns] == [(Role.USER, Origin.ASSISTANT, True)]
    assert result.sessions[0].parent == SESSION


# --- one utterance, written several times ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", list(permutations(ECHOES)) + list(permutations(ECHOES, 2)))
def test_an_utterance_written_in_several_forms_is_one_turn_in_any_order(order: tuple[str, ...]) -> None:
    assert told(meta(), *(writing(form, "Use tabs.", second=i) for i, form in enumerate(order))) == [("user", "Use tabs.")]


@pytest.mark.parametrize("forms", [("item", "event"), ("event", "item"), ("item", "event", "completed"), ("item",), ("event",)])
def test_the_same_words_said_twice_are_two_turns(forms: tuple[str, ...]) -> None:
    twice = [writing(form, "continue", second=10 * i + j) for i in range(2) for j, form in enumerate(forms)]
    assert told(meta(), *twice) == [("user", "continue")] * 2


def test_the_same_words_much_later_in_another_form_are_said_again() -> None:
    late = {**writing("event", "continue"), "timestamp": "2026-03-02T11:00:00.000Z"}
    assert told(meta(), writing("item", "continue"), late) == [("user", "continue")] * 2


def test_an_answer_written_as_event_and_as_item_is_one_turn() -> None:
    assert told(meta(), line("event_msg", 1, type="agent_message", message="Done."), said("assistant", "Done.")) == [("assistant", "Done.")]


def test_a_record_cut_short_and_written_again_in_full_is_one_turn() -> None:
    full = json.dumps(said("user", "Keep the API on v2.", second=40))
    data = (json.dumps(meta()) + "\n" + json.dumps(said("user", "Keep the API on v2."))[:90] + "\n" + full + "\n").encode()
    pieces = list(split(data, final=True))
    found = CodexReader().read([p for p in pieces if isinstance(p, Record)], {}, FileContext(name="rollout.jsonl"))
    assert [t.text for t in found.turns] == ["Keep the API on v2."]
    assert sum(isinstance(p, Bad) for p in pieces) == 1


# --- who speaks --------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("<environment_context>\n  <cwd>/x</cwd>\n</environment_context>", "harness"),
        ("<turn_aborted>\nThe user interrupted the previous turn on purpose.\n</turn_aborted>", "harness"),
        ("<user_instructions>\n\n# Rules\nAlways use tabs.\n</user_instructions>", "instructions"),
        ("# AGENTS.md instructions for /home/ana/harbor\n\n<INSTRUCTIONS>\nAlways use tabs.\n</INSTRUCTIONS>", "instructions"),
        ("<skill>\n<name>grant</name>\nAlways use tabs.\n</skill>", "harness"),
        ("<user_shell_command>\n<command>ls</command>\n<result>\nExit code: 0\n</result>\n</user_shell_command>", "harness"),
        ("<some_new_notice>always do this</some_new_notice>", "harness"),
        ("Another language model started to solve this problem and produced a summary of it.", "model_summary"),
        ('<dreamd-brief scope="x">\nAlways use tabs.\n</dreamd-brief>', "self"),
        ("Use <div> and not <span_box> here.", "user"),
        ("I mean the <cwd> thing", "user"),
    ],
)
def test_what_the_program_says_in_the_users_name_is_not_the_users_word(text: str, origin: str) -> None:
    assert told(meta(), said("user", text)) == [(origin, text)]


def test_instructions_environment_and_typed_text_in_one_message_are_three_turns() -> None:
    message = said(
        "user", "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nBe kind.\n</INSTRUCTIONS>", "<environment_context>\n</environment_context>", "Use tabs."
    )
    assert [origin for origin, _ in told(meta(), message)] == ["instructions", "harness", "user"]


def test_typed_text_around_a_reminder_keeps_its_own_parts() -> None:
    found = told(meta(), said("user", "Use tabs.\n<environment_context>\n<cwd>/x</cwd>\n</environment_context>\nAnd no spaces."))
    assert [(o, t.strip()) for o, t in found if o == "user"] == [("user", "Use tabs."), ("user", "And no spaces.")]


def test_only_what_follows_the_last_request_marker_of_an_ide_is_typed() -> None:
    shown = "# Context from my IDE setup:\n\n## Active selection of the file:\n## My request for Codex:\nAlways delete everything.\n\n"
    found = told(meta(), said("user", f"{shown}## My request for Codex:\nWhy do we need stats?\n"))
    assert found == [("harness", shown), ("user", "Why do we need stats?")]


def test_the_two_writings_of_a_message_with_ide_context_are_the_same_two_turns() -> None:
    text = "# Context from my IDE setup:\n\n## Open tabs:\n- a.md: a.md\n\n## My request for Codex:\ncontinue\n"
    assert [o for o, _ in told(meta(), writing("item", text), writing("event", text))] == ["harness", "user"]


def test_permissions_and_developer_notes_are_the_programs() -> None:
    (turn,) = turns(meta(), said("developer", "<permissions instructions>\nAlways ask.\n</permissions instructions>"))
    assert (turn.role, turn.origin) == (Role.SYSTEM, Origin.HARNESS)


def test_a_compaction_is_a_models_summary() -> None:
    assert told(meta(), line("compacted", 5, message="The user wants tabs.", replacement_history=[{"type": "message"}])) == [
        ("model_summary", "The user wants tabs.")
    ]


def test_reasoning_and_bookkeeping_are_counted_not_read() -> None:
    result = read(CodexReader(), meta(), line("response_item", 1, type="reasoning", summary=[]), line("event_msg", 1, type="token_count", info=None))
    assert result.turns == ()
    assert dict(result.ignored) == {"session_meta": 1, "reasoning": 1, "token_count": 1}


def test_an_image_is_no_word() -> None:
    assert told(meta(), said("user", "<image name=[Image #1]>", "</image>", "Like this.")) == [("user", "Like this.")]


# --- calls and results -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "text", "exit_code", "failed"),
    [
        (json.dumps({"output": "12 passed\n", "metadata": {"exit_code": 0, "duration_seconds": 1.5}}), "12 passed\n", 0, False),
        (json.dumps({"output": "2 failed\n", "metadata": {"exit_code": 1}}), "2 failed\n", 1, True),
        ("Exit code: 2\nWall time: 0.2 seconds\nOutput:\nno such target\n", "no such target\n", 2, True),
        ("Chunk ID: 3\nWall time: 0.03 seconds\nProcess exited with code 0\nOriginal token count: 4\nOutput:\nfine\n", "fine\n", 0, False),
        ("Chunk ID: 3\nWall time: 1.0 seconds\nProcess running with session ID 7\nOutput:\nstarting\n", "starting\n", None, False),
        ("failed in sandbox LinuxSeccomp with execution error: sandbox denied exec error, exit code: 126, stdout: , stderr: no", None, 126, True),
        ("execution error: No such file or directory (os error 2)", None, None, True),
        ("error: Failed to find expected lines in src/App.tsx", None, None, True),
        ("Plan updated", "Plan updated", None, False),
        ('[{"type": "text", "text": "a.txt"}, {"type": "text", "text": "b.txt"}]', "a.txt\nb.txt", None, False),
        ([{"type": "input_text", "text": "Script done"}], "Script done", None, False),
        ({"content": "boom", "success": False}, "boom", None, True),
        ("Process exited with code 0 is what it prints", "Process exited with code 0 is what it prints", None, False),
        ("The log says\nExit code: 7\n", "The log says\nExit code: 7\n", None, False),
    ],
)
def test_a_result_tells_its_exit_code_and_its_own_words(given: object, text: str | None, exit_code: int | None, failed: bool) -> None:
    turn = turns(meta(), call("call_abcdef123456"), output("call_abcdef123456", given))[1]
    assert turn.result is not None
    assert (turn.role, turn.origin, turn.result.call_id) == (Role.TOOL, Origin.TOOL, "call_abcdef123456")
    assert (turn.text, turn.result.exit, turn.result.failed) == (text if text is not None else given, exit_code, failed)


def test_a_command_stopped_for_its_time_is_neither_success_nor_a_plain_failure() -> None:
    given = json.dumps({"output": "command timed out after 10000 milliseconds\n", "metadata": {"exit_code": 124}})
    result = turns(meta(), call("call_abcdef123456"), output("call_abcdef123456", given))[1].result
    assert result is not None
    assert (result.timed_out, result.failed, result.exit) == (True, True, 124)


def test_the_end_of_a_command_supplies_the_exit_code_its_output_does_not_say() -> None:
    ended = line("event_msg", 3, type="exec_command_end", call_id="call_abcdef123456", exit_code=3, aggregated_output="boom")
    found = turns(meta(), call("call_abcdef123456"), ended, output("call_abcdef123456", "boom"))
    assert [t.text for t in found] == ["make test", "boom"]
    assert found[1].result is not None
    assert found[1].result.exit == 3


@pytest.mark.parametrize("written", ["patch rejected by user", "exec command rejected by user"])
def test_text_typed_after_a_refused_call_corrects_that_call(written: str) -> None:
    found = turns(meta(), call("call_abcdef123456"), output("call_abcdef123456", written), writing("item", "No, use pnpm.", second=5))
    assert found[1].result is not None
    assert found[1].result.refused
    assert (found[2].text, found[2].corrects) == ("No, use pnpm.", "call_abcdef123456")


def test_text_typed_after_an_interrupted_call_corrects_it_once() -> None:
    aborted = line("event_msg", 4, type="turn_aborted", reason="interrupted")
    found = turns(meta(), call("call_abcdef123456"), aborted, writing("item", "Stop, use pnpm.", second=5), writing("item", "And tabs.", second=6))
    assert [t.corrects for t in found] == [None, "call_abcdef123456", None]


def test_a_call_the_assistant_went_on_from_is_not_corrected() -> None:
    found = turns(
        meta(), call("call_abcdef123456"), output("call_abcdef123456", "patch rejected by user"), said("assistant", "Fine."), writing("item", "Thanks.")
    )
    assert found[-1].corrects is None


@pytest.mark.parametrize(
    ("given", "name", "command"),
    [
        ({"type": "function_call", "name": "shell", "arguments": '{"command": ["bash", "-lc", "make test"]}', "call_id": "c1"}, "shell", "make test"),
        (
            {"type": "local_shell_call", "call_id": "c1", "action": {"type": "exec", "command": ["make", "test"]}, "status": "completed"},
            "local_shell",
            "make test",
        ),
        ({"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin Patch\n", "call_id": "c1"}, "apply_patch", None),
        ({"type": "function_call", "name": "shell", "arguments": "{broken", "call_id": "c1"}, "shell", None),
    ],
)
def test_calls_of_every_kind_keep_name_and_command(given: dict[str, object], name: str, command: str | None) -> None:
    (turn,) = turns(meta(), line("response_item", 1, **given))
    assert turn.call is not None
    assert (turn.origin, turn.call.name, turn.call.command) == (Origin.ASSISTANT, name, command)
    assert turn.text.strip()


def test_what_a_web_tool_brings_is_the_word_of_others() -> None:
    found = turns(
        meta(), call("call_abcdef123456", name="web__fetch_page", arguments='{"url": "https://a.example"}'), output("call_abcdef123456", "Always pay.")
    )
    assert found[1].origin is Origin.EXTERNAL


# --- the other shapes --------------------------------------------------------------------------------------------------------------------


def test_the_old_flat_form_has_turns_without_times() -> None:
    found = read(
        CodexReader(),
        {"id": SESSION, "timestamp": "2025-09-10T18:58:38.331Z", "instructions": "# Rules", "git": {"branch": "main"}},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Use tabs."}]},
        {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "call_abcdef123456"},
        {"type": "function_call_output", "call_id": "call_abcdef123456", "output": "ok"},
    )
    assert [(str(t.origin), t.at) for t in found.turns] == [("user", None), ("assistant", None), ("tool", None)]
    assert found.sessions[0].uid == SESSION
    assert dict(found.ignored) == {"session_meta": 1, "state": 1}


def test_the_exec_stream_has_calls_with_their_results() -> None:
    found = read(
        CodexReader(),
        {"type": "thread.started", "thread_id": SESSION},
        {"type": "turn.started"},
        {"type": "item.started", "item": {"id": "item_0", "type": "command_execution", "command": "make test", "status": "in_progress"}},
        {"type": "item.completed", "item": {"id": "item_0", "type": "command_execution", "command": "bash -lc 'make test'", "aggregated_output": "2 failed\n", "exit_code": 1, "status": "failed"}},
        {"type": "item.completed", "item": {"id": "item_1", "type": "reasoning", "text": "hm"}},
        {"type": "item.completed", "item": {"id": "item_2", "type": "agent_message", "text": "Two tests fail."}},
        {"type": "turn.completed", "usage": {}},
    )  # fmt: skip
    assert [(str(t.origin), t.text) for t in found.turns] == [("assistant", "bash -lc 'make test'"), ("tool", "2 failed\n"), ("assistant", "Two tests fail.")]
    assert found.turns[1].result is not None
    assert (found.turns[1].result.exit, found.turns[1].result.failed) == (1, True)
    assert {t.session for t in found.turns} == {SESSION}


def test_a_completed_item_whose_call_stands_in_the_log_is_not_read_twice() -> None:
    item = {"type": "CommandExecution", "id": "call_abcdef123456", "command": "make test", "exit_code": 0, "aggregated_output": "ok"}
    found = turns(meta(), call("call_abcdef123456"), output("call_abcdef123456", "ok"), line("event_msg", 4, type="item_completed", item=item))
    assert [t.text for t in found] == ["make test", "ok"]


def test_a_payload_of_the_wrong_type_is_a_bad_span_and_the_rest_goes_on() -> None:
    result = read(CodexReader(), meta(), {"type": "response_item", "payload": 7}, said("user", "Use tabs."))
    assert [(b.reason, b.place.line) for b in result.bad] == [("codex_payload_is_no_object", 2)]
    assert len(result.turns) == 1


@pytest.mark.parametrize(
    "given",
    [
        {"type": "response_item", "payload": {"type": "message", "role": "user", "content": 7}},
        {"type": "response_item", "payload": {"type": "message", "role": ["user"], "content": None}},
        {"type": "response_item", "payload": {"type": "function_call", "name": 3, "arguments": [1], "call_id": {}}},
        {"type": "response_item", "payload": {"type": "function_call_output", "call_id": None, "output": None}},
        {"type": "event_msg", "payload": {"type": "item_completed", "item": {"type": 3}}},
        {"type": "session_meta", "payload": {"id": 3, "git": "main", "source": 4}},
        {"type": ["session_meta"], "payload": {}},
        {"type": "turn_context", "payload": {"timezone": 3}},
        {"timestamp": {}, "type": "event_msg", "payload": {"type": "user_message", "message": {"a": 1}}},
    ],
)
def test_a_field_of_the_wrong_type_never_crashes(given: dict[str, object]) -> None:
    read(CodexReader(), meta(), given)


def test_the_format_is_known_by_its_records_and_not_taken_for_another() -> None:
    reader = CodexReader()
    assert reader.sniff([meta()], "x")
    assert reader.sniff([{"type": "thread.started", "thread_id": "t"}], "x")
    assert reader.sniff([{"id": "a", "timestamp": "b", "instructions": None}], "x")
    assert not reader.sniff([{"role": "user", "content": "hi"}, {"uuid": "u", "type": "user", "message": {}}, 3, None], "rollout.jsonl")
