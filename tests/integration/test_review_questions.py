"""A question that waits in the queue can be looked at by the id it has there, and so can what became of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.conftest import Command
from tests.writing import ClaudeLog

ASKED = "Should I delete the old migration folder as well?"


@pytest.fixture
def question(dreamd: Command, tmp_path: Path) -> str:
    """The id of the one question that waits."""
    ClaudeLog("one").user("Please clean up the build script.").assistant(f"The build script is clean. {ASKED}").save(tmp_path / "logs")
    dreamd("dream", tmp_path / "logs")
    (waiting,) = json.loads(dreamd("review", "--json")[1])["first"]
    assert waiting["waits"] == "Open questions"
    return str(waiting["id"])


def test_an_open_question_is_shown_with_its_lines_and_when_it_was_asked(dreamd: Command, question: str) -> None:
    for command in (("review", "show", question), ("why", question)):
        code, out, err = dreamd(*command)
        assert (code, err) == (0, "")
        assert f"{question}  open question, asked 2026-03-02 09:01" in out
        assert ASKED in out
        assert "Please clean up the build script." in out
    told = json.loads(dreamd("why", question, "--json")[1])["chains"][0]["question"]
    assert (told["text"], told["open"], told["at"][:16]) == (ASKED, True, "2026-03-02T09:01")


def test_a_question_that_was_put_aside_is_shown_as_one_that_waits_no_more(dreamd: Command, question: str) -> None:
    assert dreamd("review", "reject", question)[0] == 0
    code, out, _ = dreamd("why", question)
    assert (code, f"{question}  question that waits no more, asked 2026-03-02 09:01" in out) == (0, True)
