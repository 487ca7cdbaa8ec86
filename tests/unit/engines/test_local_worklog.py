from __future__ import annotations

from datetime import timedelta

from pipelines.engines.local.worklog import WorkRecord, work_log
from pipelines.model import Call, Origin, Role
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
    talk = Talk().user("go").assistant("All set. Should the backup job move too?")
    found = record(talk).open_question
    assert found is not None
    assert found.text == "Should the backup job move too?"
    assert record(Talk().user("go").assistant("Should it move?").user("yes")).open_question is None
    assert record(Talk().user("go").assistant("Done. Anything else I can help with?")).open_question is None


def test_what_git_status_lists_last_is_uncommitted() -> None:
    found = record(Talk().user("go").run("git status --short", " M docs/restore.md\n?? new.py"))
    assert found.uncommitted == ("docs/restore.md", "new.py")
    assert found.uncommitted_seen is not None
    assert found.uncommitted_seen.text == " M docs/restore.md"


def test_a_commit_takes_what_was_staged_for_it() -> None:
    talk = Talk().user("go").run("git add a.md && git status --short", "M  a.md\n M b.md\n?? c.md").run("git commit -m 'x'", "[main 7c1d9e2] x")
    assert record(talk).uncommitted == ("b.md", "c.md")
    talk = Talk().user("go").run("git status --short", " M a.md").run("git add -A", "").run("git commit -m 'x'", "[main 7c1d9e2] x")
    assert record(talk).uncommitted == ()


def test_the_long_form_of_git_status_is_read_too() -> None:
    output = "On branch main\nChanges not staged for commit:\n  (use ...)\n\tmodified:   README.md\n\nUntracked files:\n\tCLAUDE.md\n"
    assert record(Talk().user("go").run("git status", output)).uncommitted == ("README.md", "CLAUDE.md")
    assert record(Talk().user("go").run("git status", "nothing to commit, working tree clean")).uncommitted == ()
