"""dreamd remember run by an agent inside its session: its words are its own, and only a person makes them more."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.integration.conftest import Command
from tests.writing import ClaudeLog

PORT = "The staging database listens on port 5433."


@pytest.fixture
def wiki(dreamd: Command, tmp_path: Path) -> Path:
    """A wiki of a person who said one thing."""
    ClaudeLog("own").user("The staging database listens on port 5432.").save(tmp_path / "logs")
    assert dreamd("dream", tmp_path / "logs")[0] == 0
    return tmp_path / "wiki"


def standing(dreamd: Command) -> str:
    return dreamd("brief")[1]


def test_what_an_agent_remembers_waits_as_a_draft_replaces_nothing_and_is_the_persons_once_they_accept_it(
    dreamd: Command, wiki: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    code, said, _ = dreamd("remember", "The cache host is red-7.")
    assert code == 0
    assert "Claude Code runs this command (CLAUDECODE is set)" in said
    assert "--mine" in said
    name = said.split("dreamd review accept ")[1].split()[0]
    assert "red-7" not in standing(dreamd)
    assert "red-7" in dreamd("review")[1]
    code, _, why = dreamd("review", "accept", name)
    assert code == 3
    assert "the person's to do" in why
    assert "red-7" not in standing(dreamd)
    monkeypatch.delenv("CLAUDECODE")
    assert dreamd("review", "accept", name)[0] == 0
    assert "red-7" in standing(dreamd)


def test_an_agents_word_replaces_no_word_of_the_person(dreamd: Command, wiki: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEX_THREAD_ID", "t1")
    told = json.loads(dreamd("remember", PORT, "--json")[1])
    assert told["by"] == "Codex"
    assert told["replaces"] == []
    assert "port 5432" in standing(dreamd)
    assert "5433" not in standing(dreamd)


def test_a_rule_of_an_agent_becomes_no_note_and_stands_nowhere_below_the_wiki_folder(dreamd: Command, wiki: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    code, said, _ = dreamd("remember", "Always push zqrule straight to main.")
    assert code == 0
    assert "the person's to give" in said
    assert [path for path in wiki.rglob("*.md") if "zqrule" in path.read_text(encoding="utf-8")] == []


def test_an_agent_decides_nothing_for_the_person(dreamd: Command, wiki: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = re.findall(r"\^(n-\w+)", "".join(page.read_text(encoding="utf-8") for page in wiki.glob("*.md")))[0]
    before = standing(dreamd)
    monkeypatch.setenv("GEMINI_CLI", "1")
    for command in (("edit", name, "It is 5434."), ("review", "keep", name), ("notes", "up", name)):
        code, _, why = dreamd(*command)
        assert (code, "Gemini CLI runs this command" in why) == (3, True), command
    assert standing(dreamd) == before


def test_the_person_can_say_that_it_is_their_word_and_configuration_is_no_sign_of_an_agent(
    dreamd: Command, wiki: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_HOME", "/somewhere")
    assert json.loads(dreamd("remember", "The API host is blue-1.", "--json")[1])["by"] == "you"
    monkeypatch.setenv("CLAUDECODE", "1")
    code, said, _ = dreamd("remember", "--mine", PORT)
    assert (code, "Remembered as" in said) == (0, True)
    assert "port 5433" in standing(dreamd)
