"""A draft nobody is asked about is told apart from those that wait, by the same count wherever it is counted, and can be looked at."""

from __future__ import annotations

import json
from pathlib import Path

from tests.integration.conftest import Command
from tests.writing import ClaudeLog


def test_commands_that_ran_in_one_session_are_no_drafts_that_wait_and_can_be_listed(dreamd: Command, tmp_path: Path) -> None:
    session = ClaudeLog("one").user("Build it and test it.").bash("make build", "built", exit_code=0).bash("make test", "12 passed", exit_code=0)
    session.assistant("Done.").user("Don't use spaces in the Makefile.").save(tmp_path / "logs")
    code, out, _ = dreamd("dream", tmp_path / "logs")
    listed = json.loads(dreamd("review", "--all", "--json")[1])
    drafts = [e for e in listed["first"] if e["waits"] == "Drafts"]
    commands = [d["text"] for d in listed["unasked"]]
    assert (code, len(drafts), bool(commands)) == (0, 1, True)
    told = f"{len(commands)} not asked about"
    assert f"1 draft, {told} (dreamd review --all)" in out
    status = json.loads(dreamd("status", "--json")[1])["notes"]
    assert (status["draft"], status["not asked about"]) == (1, len(commands))
    report = next((tmp_path / "wiki/journal").glob("*.md")).read_text(encoding="utf-8")
    assert f"1 draft, {told}; 1 waits for you" in report
    code, out, _ = dreamd("review", "--all")
    assert code == 0
    for said in commands:
        assert said in out.split("Not asked about")[1]
    assert not any(said in dreamd("review")[1] for said in commands)
    ClaudeLog("two").user("Please look at the gate.").save(tmp_path / "logs")
    assert "  notes     nothing new; 1 draft, " in dreamd("dream", tmp_path / "logs")[1]
    ClaudeLog("three").user("From now on always write tests.").save(tmp_path / "logs")
    assert "  notes     1 new, 1 draft, " in dreamd("dream", tmp_path / "logs")[1]
    report = next((tmp_path / "wiki/journal").glob("*.md")).read_text(encoding="utf-8")
    assert "\n\n1 learnt; 1 waits for you.\n" in report.partition("## Earlier")[0], "the draft was told when it was new"
