"""Claude Code logs: one utterance once, each with its real speaker."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from pipelines.logs.claude import ClaudeReader
from pipelines.logs.reader import FileContext, Read
from pipelines.logs.split import Record, split
from pipelines.model import Origin, Role, Turn

SESSION = "7b7cf5c6-52b4-4c0f-9d31-9d4b6a4a8d10"
OTHER = "c2a7e1f0-3b64-4e0e-8c5d-0f6f1b2a3c4d"


def _id(*parts: object) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_OID, repr(parts)))


def record(kind: str, number: int, message: Mapping[str, object] | None, **extra: object) -> dict[str, object]:
    """One record of a log; `number` gives its uuid, its parent and its minute."""
    return {
        "parentUuid": _id(number - 1) if number else None,
        "isSidechain": False,
        "cwd": "/home/ana/harbor",
        "sessionId": SESSION,
        "version": "2.1.50",
        "gitBranch": "main",
        "type": kind,
        "uuid": _id(number),
        "timestamp": f"2026-03-02T09:{number:02d}:00.000Z",
        **({"message": message} if message is not None else {}),
        **extra,
    }


def user(number: int, text: object, **extra: object) -> dict[str, object]:
    return record("user", number, {"role": "user", "content": text}, **extra)


def answer(number: int, *blocks: dict[str, object], message_id: str | None = None, **extra: object) -> dict[str, object]:
    return record("assistant", number, {"id": message_id or f"msg_01{_id('m', number)}", "role": "assistant", "content": list(blocks)}, **extra)


def text(words: str) -> dict[str, object]:
    return {"type": "text", "text": words}


def call(name: str, call_id: str = "toolu_01Kx7Qw2Rt9LmZb4", **arguments: object) -> dict[str, object]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def result(number: int, content: object, call_id: str = "toolu_01Kx7Qw2Rt9LmZb4", *, error: bool = False, raw: object = None) -> dict[str, object]:
    return user(number, [{"type": "tool_result", "tool_use_id": call_id, "content": content, "is_error": error}], toolUseResult=raw)


def read(*values: Mapping[str, object], name: str = f"{SESSION}.jsonl", path: str = "") -> Read:
    data = "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values).encode()
    records = [piece for piece in split(data, final=True) if isinstance(piece, Record)]
    return ClaudeReader().read(records, {}, FileContext(name=name, relative_path=path or name))


def spoken(found: Read) -> list[tuple[str, str, str]]:
    return [(turn.role.value, turn.origin.value, turn.text) for turn in found.turns]


def of(found: Read, origin: Origin) -> list[Turn]:
    return [turn for turn in found.turns if turn.origin is origin]


def test_a_plain_exchange() -> None:
    found = read(user(0, "Use port 8081."), answer(1, {"type": "thinking", "thinking": "hm"}, text("Done.")))
    assert spoken(found) == [("user", "user", "Use port 8081."), ("assistant", "assistant", "Done.")]
    first, second = found.turns
    assert (first.at, first.zone, first.ordinal, second.ordinal) == (datetime(2026, 3, 2, 9, 0, tzinfo=UTC), "UTC", 0, 1)
    assert (first.parent, second.parent) == (None, first.uid)
    assert found.ignored == {"thinking": 1}
    (info,) = found.sessions
    assert (info.uid, info.cwd, info.branch, info.agent_version) == (SESSION, "/home/ana/harbor", "main", "2.1.50")


def test_a_turn_names_its_parent_through_records_that_say_nothing() -> None:
    silent = [record(kind, n, None, data={"type": "hook_progress"}) for n, kind in ((1, "progress"), (2, "progress"))]
    found = read(user(0, "hello"), *silent, answer(3, text("hi")))
    assert found.turns[1].parent == found.turns[0].uid


def test_what_was_said_on_a_branch_that_was_rewound_is_kept() -> None:
    found = read(user(0, "use Redis"), answer(1, text("ok")), user(2, "no, use Postgres", parentUuid=None))
    assert [turn.text for turn in of(found, Origin.USER)] == ["use Redis", "no, use Postgres"]


def test_blocks_of_one_answer_are_turns_of_one_message() -> None:
    found = read(
        answer(1, text("Let me look."), message_id="msg_x"),
        answer(2, call("Bash", command="ls"), message_id="msg_x"),
        answer(3, text("Nothing there."), message_id="msg_x"),
    )
    assert [turn.text for turn in found.turns] == ["Let me look.", "ls", "Nothing there."]
    assert len({turn.uid for turn in found.turns}) == 3


def test_growing_snapshots_are_one_turn() -> None:
    found = read(
        answer(1, text("Use"), message_id="msg_x"), answer(2, text("Use Redis."), message_id="msg_x"), answer(3, text("Use Redis."), message_id="msg_x")
    )
    assert [turn.text for turn in found.turns] == ["Use", "Use Redis."]
    assert len({(turn.uid, turn.ordinal) for turn in found.turns}) == 1
    assert len({turn.snap for turn in found.turns}) == 2


def test_an_answer_written_again_under_a_new_uuid_is_one_turn() -> None:
    found = read(user(0, "Which ORM?"), answer(1, text("SQLAlchemy."), message_id="chatcmpl-7"), answer(2, text("SQLAlchemy."), message_id="chatcmpl-7"))
    assert [turn.text for turn in found.turns] == ["Which ORM?", "SQLAlchemy."]
    assert found.ignored == {"replay": 1}


def test_a_sidechain_that_repeats_the_parents_answer_is_no_second_witness() -> None:
    found = read(
        user(0, "Release on Friday."),
        answer(1, text("Set."), message_id="msg_m", requestId="r1"),
        answer(2, text("Set."), message_id="msg_m", requestId="r2", isSidechain=True),
        user(3, "btw what is 2+2?", isSidechain=True),
    )
    assert spoken(found) == [("user", "user", "Release on Friday."), ("assistant", "assistant", "Set."), ("user", "assistant", "btw what is 2+2?")]
    assert [turn.sidechain for turn in found.turns] == [False, False, True]


def test_equal_ids_in_unrelated_logs_are_different_turns() -> None:
    one = read(answer(1, text("Use tabs."), message_id="msg_1"))
    two = read(answer(1, text("Use spaces."), message_id="msg_1", sessionId=OTHER))
    counter = "00000000-0000-4000-8000-000000000001"
    three, four = read(user(0, "left", uuid=counter)), read(user(0, "right", uuid=counter, sessionId=OTHER))
    assert one.turns[0].uid != two.turns[0].uid
    assert three.turns[0].uid != four.turns[0].uid


def test_a_resumed_log_holds_the_turns_of_the_first() -> None:
    log = [user(0, "Use port 8081."), answer(1, text("ok")), answer(2, call("Bash", command="ls")), result(3, "a.py")]
    first = read(*log)
    resumed = read(*[{**r, "sessionId": OTHER} for r in log], {**user(4, "and TLS"), "sessionId": OTHER}, name=f"{OTHER}.jsonl")
    assert [turn.uid for turn in resumed.turns[:4]] == [turn.uid for turn in first.turns]
    assert {turn.session for turn in resumed.turns} == {OTHER}


def test_a_fork_names_its_parent() -> None:
    (info,) = read(user(0, "go", forkedFrom={"sessionId": OTHER, "messageUuid": _id(9)})).sessions
    assert info.parent == OTHER


def test_a_subagents_prompt_is_the_assistants() -> None:
    inline = read(user(0, "convert all files to TypeScript", isSidechain=True))
    own = read(
        user(0, "<teammate-message teammate_id='lead'>always use tabs</teammate-message>"), user(1, "use tabs", isSidechain=True), name="agent-ab12.jsonl"
    )
    nested = read(user(0, "use tabs"), name="x.jsonl", path=f"{SESSION}/subagents/workflows/r1/x.jsonl")
    for found in (inline, own, nested):
        assert {turn.origin for turn in found.turns} == {Origin.ASSISTANT}
        assert all(turn.sidechain for turn in found.turns)
    assert [(info.uid, info.parent) for info in own.sessions] == [(f"{SESSION}/agent-ab12", SESSION)]


@pytest.mark.parametrize(
    ("marks", "origin"),
    [
        ({"isMeta": True}, Origin.HARNESS),
        ({"isCompactSummary": True, "isVisibleInTranscriptOnly": True}, Origin.MODEL_SUMMARY),
        ({"origin": {"kind": "task-notification"}}, Origin.HARNESS),
        ({"sourceToolUseID": "toolu_1", "isMeta": True}, Origin.HARNESS),
        ({"planContent": "# Plan"}, Origin.ASSISTANT),
        ({"agentId": "a1"}, Origin.ASSISTANT),
        ({"origin": {"kind": "human"}}, Origin.USER),
        ({"userType": "external", "permissionMode": "default"}, Origin.USER),
    ],
)
def test_a_records_marks_say_who_speaks(marks: dict[str, object], origin: Origin) -> None:
    assert [turn.origin for turn in read(user(0, "Always run the linter.", **marks)).turns] == [origin]


def test_a_caveat_without_its_mark_is_still_the_programs() -> None:
    found = read(user(0, "Caveat: The messages below were generated by the user while running local commands. DO NOT respond to these messages"))
    assert [turn.origin for turn in found.turns] == [Origin.HARNESS]


def test_a_memory_is_marked() -> None:
    (turn,) = read(user(0, "<user-memory-input>always squash</user-memory-input>")).turns
    assert (turn.text, turn.memory, turn.origin) == ("always squash", True, Origin.USER)


def test_pasted_lines_are_marked_in_the_turn() -> None:
    (turn,) = read(user(0, "no:\n> always deploy on Friday\nnever on Friday")).turns
    assert turn.origin_of(4, 20) is Origin.QUOTED
    assert turn.origin_of(turn.text.index("never"), len(turn.text)) is Origin.USER


@pytest.mark.parametrize(
    ("tool", "content", "error", "raw", "expected"),
    [
        ("Bash", "2 passed", False, {"stdout": "2 passed", "stderr": "", "interrupted": False}, {"exit": 0}),
        ("Bash", "Exit code 1\n2 failed", True, "Error: Exit code 1\n2 failed", {"exit": 1, "failed": True}),
        ("Bash", "Exit code 127\nnot found", True, None, {"exit": 127, "failed": True}),
        ("Bash", "npm ERR!", True, "Error: npm ERR!", {"failed": True}),
        ("Bash", "Command timed out after 2m 0.0s\nlistening", True, "Error: …", {"timed_out": True, "failed": True}),
        ("Bash", "partial", False, {"stdout": "partial", "stderr": "", "interrupted": True}, {"interrupted": True, "failed": True}),
        ("Bash", "", False, {"stdout": "", "stderr": "", "interrupted": False, "returnCodeInterpretation": "No matches found"}, {}),
        ("Bash", "Command running in background", False, {"stdout": "", "stderr": "", "interrupted": False, "backgroundTaskId": "b1"}, {}),
        ("Read", "1\ttext", False, {"type": "text", "file": {}}, {}),
        ("BashOutput", "done", False, {"exitCode": 3, "stdout": "done"}, {"exit": 3, "failed": True}),
        (
            "Edit",
            "The user doesn't want to proceed with this tool use. The tool use was rejected",
            True,
            "User rejected tool use",
            {"refused": True, "failed": True},
        ),
        ("Edit", [text("<tool_use_error>File has not been read yet.</tool_use_error>")], True, None, {"failed": True}),
    ],
)
def test_how_a_call_ended(tool: str, content: object, error: bool, raw: object, expected: dict[str, Any]) -> None:
    found = read(answer(1, call(tool, command="x")), result(2, content, error=error, raw=raw))
    ended = found.turns[-1].result
    assert ended is not None
    assert found.turns[-1].role is Role.TOOL
    defaults: dict[str, Any] = {"exit": None, "failed": False, "timed_out": False, "interrupted": False, "refused": False}
    assert {key: getattr(ended, key) for key in defaults} == defaults | expected


def test_a_results_origin_comes_from_its_call() -> None:
    for name, arguments, origin in (
        ("Bash", {"command": "make"}, Origin.TOOL),
        ("WebFetch", {"url": "https://example.org"}, Origin.EXTERNAL),
        ("mcp__linear__get", {}, Origin.EXTERNAL),
        ("Task", {"prompt": "look"}, Origin.EXTERNAL),
        ("Read", {"file_path": "/x/CLAUDE.md"}, Origin.INSTRUCTIONS),
    ):
        found = read(answer(1, call(name, **arguments)), result(2, "words"))
        assert found.turns[-1].origin is origin, name


def test_a_reminder_inside_a_result_is_no_tools_word() -> None:
    found = read(answer(1, call("Read", file_path="/x/a.py")), result(2, "port = 1\n\n<system-reminder>obey the file</system-reminder>"))
    assert spoken(found)[1:] == [("tool", "tool", "port = 1"), ("system", "harness", "obey the file")]


def test_typed_text_after_an_interrupt_corrects_that_call() -> None:
    found = read(
        answer(1, call("Bash", command="git init")),
        result(2, "The user doesn't want to proceed with this tool use. STOP what you are doing", error=True, raw="User rejected tool use"),
        user(3, [text("[Request interrupted by user for tool use]")]),
        user(4, "We already have a repo."),
        user(5, "Also add tests."),
    )
    assert [turn.corrects for turn in of(found, Origin.USER)] == ["toolu_01Kx7Qw2Rt9LmZb4", None]


def test_an_interrupt_while_a_call_is_open_names_it_and_one_after_it_does_not() -> None:
    open_call = read(answer(1, call("Bash", command="sleep 9")), user(2, "[Request interrupted by user]"), user(3, "do not sleep"))
    finished = read(answer(1, call("Bash", command="ls")), result(2, "a"), user(3, "[Request interrupted by user]"), user(4, "thanks"))
    answered = read(answer(1, call("Bash", command="ls")), user(2, "[Request interrupted by user]"), answer(3, text("Sorry.")), user(4, "fine"))
    assert of(open_call, Origin.USER)[0].corrects == "toolu_01Kx7Qw2Rt9LmZb4"
    assert of(finished, Origin.USER)[0].corrects is None
    assert of(answered, Origin.USER)[0].corrects is None


def test_the_reason_given_with_a_refusal_is_the_persons_word() -> None:
    refusal = "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nuse pnpm, not npm"
    found = read(answer(1, call("Bash", command="npm i")), result(2, refusal, error=True))
    (turn,) = of(found, Origin.USER)
    assert (turn.text, turn.corrects) == ("use pnpm, not npm", "toolu_01Kx7Qw2Rt9LmZb4")


def test_answers_to_the_agents_questions_are_the_persons() -> None:
    raw = {"questions": [{"question": "Which database?"}], "answers": {"Which database?": "Postgres, always"}}
    found = read(answer(1, call("AskUserQuestion", questions=[])), result(2, 'User has answered your questions: "Which database?"="Postgres, always"', raw=raw))
    assert spoken(found)[1:] == [
        ("tool", "harness", 'User has answered your questions: "Which database?"="Postgres, always"'),
        ("user", "user", "Postgres, always"),
    ]


def queue(operation: str, content: str | None, minute: int) -> dict[str, object]:
    at = f"2026-03-02T09:{minute:02d}:00.000Z"
    return {"type": "queue-operation", "operation": operation, "timestamp": at, "sessionId": SESSION, **({"content": content} if content else {})}


def queued_command(number: int, prompt: object, mode: str = "prompt") -> dict[str, object]:
    return record("attachment", number, None, attachment={"type": "queued_command", "prompt": prompt, "commandMode": mode})


def test_a_message_typed_while_busy_counts_once() -> None:
    for delivered in (user(3, "use TLS too"), queued_command(3, "use TLS too"), queued_command(3, [text("use TLS too")])):
        found = read(user(0, "start"), queue("enqueue", "use TLS too", 1), queue("dequeue", None, 2), delivered, answer(4, text("ok")))
        assert [turn.text for turn in of(found, Origin.USER)] == ["start", "use TLS too"]
        assert found.turns[-1].parent == found.turns[1].uid


def test_a_message_typed_while_busy_and_never_delivered_was_still_said() -> None:
    found = read(user(0, "start"), queue("enqueue", "use TLS too", 1))
    assert [turn.text for turn in of(found, Origin.USER)] == ["start", "use TLS too"]


def test_a_queued_command_alone_is_typed_text_and_a_notice_is_not() -> None:
    notice = "<task-notification>\n<summary>Background command completed</summary>\n</task-notification>"
    found = read(
        queued_command(1, "stop now"),
        queue("enqueue", notice, 2),
        queued_command(3, notice, "task-notification"),
        queued_command(4, "no tags", "task-notification"),
    )
    assert [(turn.origin, turn.text) for turn in found.turns if turn.origin is Origin.USER] == [(Origin.USER, "stop now")]
    assert len(of(found, Origin.HARNESS)) == 2


def test_attachments_have_the_origin_of_what_they_show() -> None:
    def attached(number: int, **attachment: object) -> dict[str, object]:
        return record("attachment", number, None, attachment=attachment)

    found = read(
        attached(1, type="nested_memory", path="/x/CLAUDE.md", content={"path": "/x/CLAUDE.md", "content": "Use tabs."}),
        attached(2, type="mcp_instructions_delta", addedBlocks=["Never answer from memory."]),
        attached(3, type="file", filename="/x/a.py", content={"type": "text", "file": {"filePath": "/x/a.py", "content": "port = 1"}}),
        attached(4, type="file", filename="/x/AGENTS.md", content={"type": "text", "file": {"content": "Be brief."}}),
        attached(5, type="todo_reminder", content=[], itemCount=0),
    )
    assert spoken(found) == [
        ("system", "instructions", "Use tabs."),
        ("system", "harness", "Never answer from memory."),
        ("system", "tool", "port = 1"),
        ("system", "instructions", "Be brief."),
    ]
    assert found.ignored == {"attachment:todo_reminder": 1}


def test_system_records_are_the_programs_or_a_models() -> None:
    found = read(
        record("system", 1, None, subtype="away_summary", content="Goal: ship it."),
        record("system", 2, None, subtype="local_command", content="<command-name>/model</command-name>\n<command-args>large</command-args>"),
        record("system", 3, None, subtype="compact_boundary", content="Conversation compacted"),
    )
    assert [(turn.role, turn.origin) for turn in found.turns] == [
        (Role.SYSTEM, Origin.MODEL_SUMMARY),
        (Role.SYSTEM, Origin.HARNESS),
        (Role.SYSTEM, Origin.HARNESS),
    ]


def test_an_error_of_the_service_is_no_answer() -> None:
    found = read(answer(1, text("API Error: overloaded"), isApiErrorMessage=True))
    assert [turn.origin for turn in found.turns] == [Origin.HARNESS]


MEMORY = "/home/ana/.claude/projects/-home-ana-harbor/memory/ports.md"


def test_notes_written_into_a_memory_folder_are_given_once_their_result_shows_them_done() -> None:
    write = answer(1, call("Write", file_path=MEMORY, content="- staging is 5433\n"))
    done = read(write, result(2, f"File created successfully at: {MEMORY}"))
    (note,) = done.notes
    assert (note.path, note.content, note.session, note.turn, note.at) == (MEMORY, "- staging is 5433\n", SESSION, done.turns[0].uid, done.turns[1].at)
    assert read(write).notes == ()
    assert read(write, result(2, "File has not been read yet.", error=True)).notes == ()


def test_edits_of_notes_and_the_memory_tool() -> None:
    def notes(block: dict[str, object]) -> list[tuple[str, str | None, tuple[tuple[str, str], ...], bool]]:
        found = read(answer(1, block), result(2, "ok"))
        return [(note.path, note.content, note.edits, note.deleted) for note in found.notes]

    assert notes(call("Edit", file_path=MEMORY, old_string="5433", new_string="5434")) == [(MEMORY, None, (("5433", "5434"),), False)]
    edits = [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": ""}]
    assert notes(call("MultiEdit", file_path="/x/MEMORY.md", edits=edits)) == [("/x/MEMORY.md", None, (("a", "b"), ("c", "")), False)]
    assert notes(call("memory", command="create", path="/memories/a.md", file_text="x")) == [("/memories/a.md", "x", (), False)]
    assert notes(call("memory", command="str_replace", path="/memories/a.md", old_str="x", new_str="y")) == [("/memories/a.md", None, (("x", "y"),), False)]
    assert notes(call("memory", command="insert", path="/memories/a.md", insert_line=0, insert_text="z")) == [("/memories/a.md", None, (("", "z"),), False)]
    assert notes(call("memory", command="delete", path="/memories/a.md")) == [("/memories/a.md", None, (), True)]
    assert notes(call("Write", file_path="/x/src/app.py", content="x")) == []
    assert notes(call("Read", file_path=MEMORY)) == []


def test_titles_come_from_the_log() -> None:
    found = read(
        user(0, "hi"), {"type": "ai-title", "aiTitle": "Ports", "sessionId": SESSION}, {"type": "custom-title", "customTitle": "Harbor", "sessionId": SESSION}
    )
    assert [info.title for info in found.sessions] == ["Harbor"]


def test_an_export_that_lists_its_records_is_read_in_place() -> None:
    listed = [user(0, "Add a function."), answer(1, text("Added."))]
    data = json.dumps({"loglines": listed}, indent=2).encode()
    (whole,) = (piece for piece in split(data, final=True) if isinstance(piece, Record))
    reader = ClaudeReader()
    assert reader.sniff([whole.value], "x.json")
    found = reader.read([whole], {}, FileContext(name="x.json"))
    assert [turn.text for turn in found.turns] == ["Add a function.", "Added."]
    assert [json.loads(data[t.place.offset : t.place.offset + t.place.length])["uuid"] for t in found.turns] == [_id(0), _id(1)]


def test_lone_surrogates_are_replaced_and_flagged() -> None:
    data = json.dumps(user(0, "cut")).replace("cut", "cut \\ud83d here").encode()
    records = [piece for piece in split(data, final=True) if isinstance(piece, Record)]
    (turn,) = ClaudeReader().read(records, {}, FileContext(name="x.jsonl")).turns
    assert (turn.text, turn.flagged) == ("cut \ufffd here", True)


def test_other_agents_records_are_not_taken_for_claudes() -> None:
    for value in (
        {"role": "user", "content": "hi"},
        {"type": "message", "id": "1", "parentId": None, "message": {"role": "user", "content": "hi"}},
        {"timestamp": "2026-03-02T09:00:00Z", "type": "session_meta", "payload": {"id": "x"}},
        {"topic": "a", "value": "b", "status": "verified"},
        {"type": "summary"},
        {"messages": []},
        [],
        "text",
        None,
    ):
        assert not ClaudeReader().sniff([value], "x.jsonl")
