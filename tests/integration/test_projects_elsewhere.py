"""A wiki named for one command is that command's alone: the project keeps its own until the person says otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.redacting import shared_redactor
from tests.writing import ClaudeLog
from worker import wiring
from worker.cli import run
from worker.projects import root_of, sanitised


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """A project of a home with one session, in the current folder."""
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "DREAMD_WIKI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(wiring, "redactor", lambda: shared_redactor(request))
    root_of.cache_clear()
    root = tmp_path / "code/web"
    (root / ".git").mkdir(parents=True)
    place = tmp_path / ".claude/projects" / sanitised(root) / "one.jsonl"
    place.parent.mkdir(parents=True)
    place.write_text(ClaudeLog("one", cwd=str(root)).user("From now on always run make lint before you push.").text(), encoding="utf-8")
    monkeypatch.chdir(root)
    return root


def wiki_found(capsys: pytest.CaptureFixture[str]) -> Path:
    """The wiki a later command without --wiki works on."""
    capsys.readouterr()
    run(["status"])
    return Path(wiring.find_wiki(None, wiring.Settings()))


def test_a_wiki_named_once_is_not_the_projects_for_every_later_command(web: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["dream"]) == 0
    own = tmp_path / "dreamd/web"
    assert wiki_found(capsys) == own
    other = tmp_path / "other"
    assert run(["dream", "--wiki", str(other)]) == 0
    told = capsys.readouterr().err
    assert f"web's wiki stays {own}" in told
    assert f"dreamd dream --wiki {other} --keep" in told
    assert (other / "MEMORY.md").is_file()
    assert wiki_found(capsys) == own
    assert run(["dream", "--wiki", str(other), "--keep"]) == 0
    assert wiki_found(capsys) == other
    assert run(["dream", "--keep"]) == 2


def test_a_first_dream_into_a_named_wiki_makes_it_the_projects(web: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    named = tmp_path / "named"
    assert run(["dream", "--wiki", str(named)]) == 0
    assert wiki_found(capsys) == named


def test_a_wiki_that_was_moved_by_hand_is_followed(web: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["dream"])
    moved = tmp_path / "moved"
    (tmp_path / "dreamd/web").rename(moved)
    assert run(["dream", "--wiki", str(moved)]) == 0
    assert wiki_found(capsys) == moved


def test_folders_above_a_named_wiki_are_not_made_for_a_typo(web: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["dream"])
    log = str(next((tmp_path / ".claude").rglob("*.jsonl")))
    for words in (["dream"], ["dream", log]):
        capsys.readouterr()
        assert run([*words, "--wiki", str(tmp_path / "typo/deep/web")]) == 3
        assert str(tmp_path / "typo/deep") in capsys.readouterr().err
        assert not (tmp_path / "typo").exists()
    assert wiki_found(capsys) == tmp_path / "dreamd/web"
