from __future__ import annotations

import json
from datetime import timedelta

import pytest

from pipelines.engines.local.ending import End, Ended
from pipelines.engines.local.summaries import LastTest
from pipelines.engines.local.todos import Todos
from pipelines.engines.local.worklog import WorkRecord, work_log
from pipelines.model import Call, Origin, Result, Role
from tests.unit.engines.talk import AT, Talk


def record(talk: Talk) -> WorkRecord:
    found = work_log(talk.window())
    assert found is not None
    return found


def test_a_session_without_prompt_or_command_has_no_record() -> None:
    assert work_log(Talk().assistant("Hi").window()) is None


def test_times_branch_and_first_prompt_are_the_logs_own() -> None:
    talk = (
        Talk()
        .other(Origin.HARNESS, "<command-name>/init</command-name>")
        .user("please fix the build")
        .assistant("Done.")
        .other(Origin.HARNESS, "Session exported")
    )
    found = record(talk)
    assert (found.started, found.ended, found.branch, found.prompts) == (AT + timedelta(minutes=1), AT + timedelta(minutes=2), "main", 1)
    assert found.first_prompt is not None
    assert found.first_prompt.text == "please fix the build"


def test_a_long_first_prompt_is_cut_at_a_word() -> None:
    found = record(Talk().user("fix " + "word " * 60))
    assert found.first_prompt is not None
    assert len(found.first_prompt.text) <= 120
    assert found.first_prompt.text.split()[-1] == "word"
    assert found.cut


def test_commits_are_read_from_gits_own_lines() -> None:
    talk = Talk().user("commit it").run("git add -A && git commit -m 'fix: port'", "[main 7c1d9e2] fix: port\n 2 files changed")
    (commit,) = record(talk).commits
    assert (commit.branch, commit.sha, commit.subject) == ("main", "7c1d9e2", "fix: port")
    assert record(Talk().run("cat notes", "[main 7c1d9e2] fix: port")).commits == ()


def test_edited_files_are_counted_once() -> None:
    talk = Talk().user("go")
    for n, path in enumerate(["/a.py", "/a.py", "/b.py"]):
        talk._add(Role.ASSISTANT, Origin.ASSISTANT, "{}", call=Call(call_id=f"e{n}", name="Edit", arguments={"file_path": path}))
    talk.run("apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: c.py\n@@\n*** End Patch\nEOF", "Success.")
    assert record(talk).files == 3


def test_a_check_whose_last_run_failed_is_open() -> None:
    talk = Talk().run("npm run build", "built in 2s").run("npm run build", "error", exit=1).run("npm test", "error", exit=1).run("npm test", "3 passed")
    assert record(talk).failed == ("npm run build",)


def test_the_last_question_without_an_answer_is_open() -> None:
    found = record(Talk().user("go").assistant("All set. Should the backup job move too?")).end
    assert found.asked is not None
    assert (found.how, found.asked.text, found.line) == (Ended.QUESTION, "Should the backup job move too?", 2)
    assert record(Talk().user("go").assistant("Should it move?").user("yes").assistant("Moved.")).end == End(how=Ended.ANSWERED)
    assert record(Talk().user("go").assistant("Done. Anything else I can help with?")).end == End(how=Ended.ANSWERED)


def test_what_git_status_lists_last_is_uncommitted() -> None:
    found = record(Talk().user("go").run("git status --short", " M docs/restore.md\n?? new.py")).uncommitted
    assert found.paths == ("docs/restore.md", "new.py")
    assert found.seen is not None
    assert (found.seen.text, found.line) == (" M docs/restore.md", 3)


def test_a_commit_takes_what_was_staged_for_it() -> None:
    talk = Talk().user("go").run("git add a.md && git status --short", "M  a.md\n M b.md\n?? c.md").run("git commit -m 'x'", "[main 7c1d9e2] x")
    assert record(talk).uncommitted.paths == ("b.md", "c.md")
    talk = Talk().user("go").run("git status --short", " M a.md").run("git add -A", "").run("git commit -m 'x'", "[main 7c1d9e2] x")
    assert record(talk).uncommitted.paths == ()


def test_the_long_form_of_git_status_is_read_too() -> None:
    output = "On branch main\nChanges not staged for commit:\n  (use ...)\n\tmodified:   README.md\n\nUntracked files:\n\tCLAUDE.md\n"
    assert record(Talk().user("go").run("git status", output)).uncommitted.paths == ("README.md", "CLAUDE.md")
    clean = record(Talk().user("go").run("git status", "nothing to commit, working tree clean")).uncommitted
    assert (clean.paths, clean.clean) == ((), True)


def edit(talk: Talk, *paths: str) -> Talk:
    """The agent writes these files."""
    for path in paths:
        call = Call(call_id=f"e{len(talk.turns)}", name="Edit", arguments={"file_path": path})
        talk._add(Role.ASSISTANT, Origin.ASSISTANT, "{}", call=call)
        talk._add(Role.TOOL, Origin.TOOL, "The file has been updated.", result=Result(call_id=call.call_id))
    return talk


def test_what_was_edited_after_the_last_commit_is_uncommitted() -> None:
    talk = edit(Talk(folder="/src/web").user("go"), "/src/web/a.py").run("git commit -qam 'a'", "")
    assert record(talk).uncommitted.paths == ()
    found = record(edit(talk, "/src/web/b.py", "/src/web/lib/c.py", "/src/web/b.py", "/tmp/scratch.py")).uncommitted
    assert (found.paths, found.line) == (("b.py", "lib/c.py"), 10)
    assert record(talk.run("git checkout -- .", "")).uncommitted.paths == ()


def test_gits_list_counts_only_when_nothing_was_edited_after_it() -> None:
    talk = Talk(folder="/src/web").user("go").run("git status --short", " M old.py")
    assert record(talk).uncommitted.paths == ("old.py",)
    assert record(edit(talk, "/src/web/new.py")).uncommitted.paths == ("new.py",)


def test_files_below_the_folder_are_named_by_how_often_they_were_written() -> None:
    found = record(edit(Talk(folder="/src/web").user("go"), "/src/web/a.py", "/src/web/b.py", "/src/web/b.py", "/home/me/.notes/x.md"))
    assert (found.files, found.touched) == (3, ("b.py", "a.py"))


def test_a_session_nobody_typed_in_has_its_record_and_a_command_of_the_agent_is_told() -> None:
    assert record(edit(Talk(folder="/src"), "/src/a.py")).prompts == 0
    talk = Talk().other(Origin.HARNESS, "/model").other(Origin.HARNESS, "/init").user("now fix the build").assistant("Fixed.")
    assert record(talk).command == "/init"
    assert record(Talk().user("fix it").other(Origin.HARNESS, "/init")).command == ""


# --- the last tests ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "output", "summary", "failed"),
    [
        ("pytest -q", "..\n====== 12 passed, 1 failed in 0.31s ======\n", "12 passed, 1 failed in 0.31s", True),
        ("mix test", "Finished in 3.1 seconds\n14 doctests, 410 tests, 0 failures\n", "14 doctests, 410 tests, 0 failures", False),
        ("npx vitest run", "\x1b[2m Test Files \x1b[22m 1 passed (1)\n      Tests \x1b[32m7 passed\x1b[39m (7)\n", "Tests 7 passed (7)", False),
        ("cargo test", "test result: ok. 31 passed; 0 failed; 0 ignored\n", "test result: ok. 31 passed; 0 failed; 0 ignored", False),
        ("npx jest", "Tests:       2 failed, 40 passed, 42 total\nTime: 3 s\n", "Tests: 2 failed, 40 passed, 42 total", True),
        ("go test ./...", "ok  \tweb/api\t0.3s\n", "", False),
    ],
)
def test_the_last_test_run_tells_its_own_summary(command: str, output: str, summary: str, failed: bool) -> None:
    assert record(Talk().run("pytest", "1 failed in 9s", exit=1).run(command, output)).tested == LastTest(command=command, summary=summary, failed=failed)


def test_looking_for_tests_is_no_test_run() -> None:
    assert record(Talk().run("grep -rn test .", "7 passed in 1s").run("git log --grep test", "Tests: 3 passed")).tested is None


# --- todos -------------------------------------------------------------------------------------------------------------------------------


def call(talk: Talk, name: str, answer: str = "ok", *, failed: bool = False, **arguments: object) -> Talk:
    """The agent calls a tool."""
    made = Call(call_id=f"c{len(talk.turns)}", name=name, arguments=arguments)
    talk._add(Role.ASSISTANT, Origin.ASSISTANT, json.dumps(arguments), call=made)
    return talk._add(Role.TOOL, Origin.HARNESS, answer, result=Result(call_id=made.call_id, failed=failed))


def todos(*entries: tuple[str, str]) -> list[dict[str, str]]:
    return [{"content": words, "status": status} for words, status in entries]


def test_the_last_list_of_todos_says_what_is_open() -> None:
    talk = call(Talk().user("go"), "TodoWrite", todos=todos(("build", "pending"), ("test", "pending")))
    call(talk, "TodoWrite", todos=todos(("build", "completed"), ("test", "in_progress"), ("ship  it", "pending")))
    call(talk, "TodoWrite", failed=True, todos=todos(("nothing", "pending")))
    assert record(talk).todos == Todos(("test", "ship it"), 3)


def test_a_plan_of_codex_and_tasks_of_claude_are_todos_too() -> None:
    talk = call(Talk().user("go"), "update_plan", plan=[{"step": "look", "status": "completed"}, {"step": "mend", "status": "pending"}])
    assert record(talk).todos == Todos(("mend",), 2)
    talk = call(Talk().user("go"), "TaskCreate", "Task #1 created successfully: a", subject="a", description="all of a")
    call(talk, "TaskCreate", "Task #2 created successfully: b", subject="b")
    call(talk, "TaskUpdate", "Updated", taskId="1", status="completed")
    assert record(talk).todos == Todos(("b",), 2)


@pytest.mark.parametrize("given", [None, "later", [None, 3, {"status": "pending"}, {"content": 7}], {"content": "x"}])
def test_a_list_of_another_shape_holds_no_todos(given: object) -> None:
    assert record(call(Talk().user("go"), "TodoWrite", todos=given)).todos == Todos()


# --- how it ended ------------------------------------------------------------------------------------------------------------------------


def test_a_session_that_was_interrupted_says_so_whatever_the_program_adds() -> None:
    stopped = "[Request interrupted by user for tool use]"
    talk = Talk().user("go").run("sleep 100", "", interrupted=True).other(Origin.HARNESS, stopped).other(Origin.HARNESS, "/export", Role.SYSTEM)
    assert record(talk).end == End(how=Ended.INTERRUPTED)
    assert record(Talk().user("go").run("rm -r build", "The user doesn't want to proceed", refused=True)).end == End(how=Ended.INTERRUPTED)


def test_an_error_of_the_program_is_told_in_its_words() -> None:
    limit = "You've hit your limit · resets Jul 23 at 6pm"
    assert record(Talk().user("go").other(Origin.HARNESS, limit, Role.ASSISTANT)).end == End(how=Ended.ERROR, error=limit)


def test_a_session_that_stops_at_work_ended_in_the_middle() -> None:
    for talk in (Talk().user("go"), Talk().user("go").run("make", "ok"), Talk().user("go").assistant("I begin.").run("make", "ok")):
        assert record(talk).end == End(how=Ended.MIDDLE)
    kept = Talk().user("go").assistant("Done.").user("always use tabs", memory=True)
    assert record(kept).end == End(how=Ended.ANSWERED)


def test_a_question_tool_or_a_plan_nobody_answered_is_an_open_question() -> None:
    asking = Talk().user("go")
    given = {"questions": [{"question": "Which database?", "header": "DB"}]}
    asking._add(Role.ASSISTANT, Origin.ASSISTANT, json.dumps(given), call=Call(call_id="q", name="AskUserQuestion", arguments=given))
    end = record(asking).end
    assert (end.how, end.asked and end.asked.text) == (Ended.QUESTION, "Which database?")
    planning, plan = Talk().user("go"), {"plan": "## Move the backups\n\n1. stop"}
    planning._add(Role.ASSISTANT, Origin.ASSISTANT, json.dumps(plan), call=Call(call_id="p", name="ExitPlanMode", arguments=plan))
    end = record(planning).end
    assert (end.how, end.asked and end.asked.text, end.cut) == (Ended.PLAN, "Move the backups", False)
    planning._add(Role.TOOL, Origin.TOOL, "User has approved your plan.", result=Result(call_id="p"))
    assert record(planning).end == End(how=Ended.MIDDLE)


@pytest.mark.parametrize(
    ("plan", "title"),
    [
        ("# Plan: Move the backups", "Move the backups"),
        ("# 计划：迁移备份", "迁移备份"),
        ("## Plan\n\nMove the backups", "Move the backups"),
        ("Planning is over", "Planning is over"),
    ],
)
def test_a_plan_is_told_by_its_title_without_the_word_that_it_is_one(plan: str, title: str) -> None:
    talk, given = Talk().user("go"), {"plan": plan}
    talk._add(Role.ASSISTANT, Origin.ASSISTANT, json.dumps(given, ensure_ascii=False), call=Call(call_id="p", name="ExitPlanMode", arguments=given))
    end = record(talk).end
    assert end.asked is not None
    assert end.asked.text == title


def test_the_zone_is_the_offset_all_times_were_said_in() -> None:
    assert record(Talk().user("go", zone="+02:00").user("on", zone="+02:00")).zone == "+02:00"
    for zones in (("UTC", "UTC"), ("unknown", "unknown"), (None, None), ("+02:00", "+01:00"), ("+02:00", "UTC")):
        assert record(Talk().user("go", zone=zones[0]).user("on", zone=zones[1])).zone == ""
