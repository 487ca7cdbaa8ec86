"""A memory folder stays a project when its agent has deleted the logs: it is listed, and dreamt over."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.conftest import Command
from tests.redacting import shared_redactor
from tests.writing import ClaudeLog
from worker import wiring
from worker.projects import Homes, root_of, sanitised, survey

NOTES = "# Memory\n\n- The staging port is 5432.\n- Ana reviews deploys.\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "DREAMD_WIKI"):
        monkeypatch.delenv(name, raising=False)
    path = tmp_path / "home"
    path.mkdir()
    monkeypatch.setenv("HOME", str(path))
    monkeypatch.setattr(wiring, "redactor", lambda: shared_redactor(request))
    monkeypatch.chdir(path)
    root_of.cache_clear()
    return path


def memory_of(home: Path, root: Path) -> Path:
    folder = home / ".claude/projects" / sanitised(root) / "memory"
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text(NOTES, encoding="utf-8")
    return folder


def homes(home: Path) -> Homes:
    return Homes(claude=home / ".claude", codex=home / ".codex")


def test_notes_whose_logs_are_gone_are_listed_and_dreamt_over(home: Path, say: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    root = home / "code" / "my-web_app"
    (root / ".git").mkdir(parents=True)
    memory_of(home, root)
    code, out, _ = say("--json")
    (project,) = json.loads(out)["projects"]
    assert (code, project["root"], project["sessions"], project["note_files"]) == (0, str(root), 0, 1)
    out = say()[1]
    assert "1 project, 0 session logs" in out
    assert "Next: dreamd dream --all" in out
    code, out, err = say("dream", "--all")
    assert (code, "carried   2 notes" in out, "no log 2" in out.replace("_", " ")) == (0, True, True), out + err
    assert "Ana reviews deploys" in (home / "dreamd/my-web_app/MEMORY.md").read_text(encoding="utf-8")
    monkeypatch.chdir(root)
    assert say("dream")[0] == 0
    out = say()[1]
    assert "* my-web_app" in out
    assert "Last dream over my-web_app: completed" in out
    assert "dreamd connect claude-code" in out


def test_a_session_that_comes_back_joins_its_notes(home: Path) -> None:
    root = home / "code" / "web"
    (root / ".git").mkdir(parents=True)
    folder = memory_of(home, root)
    ClaudeLog("one", cwd=str(root / "src")).user("Hello.").save(home / ".claude/projects" / sanitised(root / "src"))
    assert [(p.root, len(p.logs), p.memory) for p in survey(homes(home)).projects] == [(root, 1, (folder,))]


def test_a_folder_that_is_gone_or_that_two_could_be_is_called_by_its_agents_name_for_it(home: Path, say: Command) -> None:
    gone, dash, deep = home / "code/gone", home / "code/a-b", home / "code/a/b"
    for root in (dash, deep):
        (root / ".git").mkdir(parents=True)
    folders = [memory_of(home, root) for root in (gone, dash)]
    found = survey(homes(home)).projects
    assert {(p.root, p.memory) for p in found} == {(f.parent, (f,)) for f in folders}
    code, out, err = say("dream", "--all")
    assert (code, out.count("completed")) == (0, 2), out + err
    assert "All in all: 2 projects dreamt over" in out


def test_a_folder_of_notes_without_a_note_and_a_wiki_are_no_projects(home: Path) -> None:
    for name in ("-empty", "-file", "-wiki"):
        (home / ".claude/projects" / name).mkdir(parents=True)
    (home / ".claude/projects/-empty/memory").mkdir()
    (home / ".claude/projects/-file/memory").write_text("x", encoding="utf-8")
    assert survey(homes(home)).projects == ()
