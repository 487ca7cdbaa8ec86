"""Where instruction files stand: above a project, at its root, below it; and whose they are when logs are named by their paths."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from tests.redacting import shared_redactor
from tests.writing import ClaudeLog
from worker import instruction_places, wiring
from worker.cli import run
from worker.instruction_places import instructed
from worker.projects import Homes, root_of, sanitised


class Repository:
    """A repository below a home folder, and the sessions an agent had in it."""

    def __init__(self, home: Path) -> None:
        self.home, self.root = home, home / "code" / "harbor"
        (self.root / ".git").mkdir(parents=True)

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def says(self, *texts: str, folder: Path | None = None) -> Path:
        log = ClaudeLog("one", cwd=str(folder or self.root))
        for text in texts:
            log.user(text).assistant("Done.")
        return log.save(self.home / ".claude/projects" / sanitised(self.root))

    def shown(self) -> list[str]:
        homes = Homes(claude=self.home / ".claude", codex=self.home / ".codex")
        return [f.shown for f in instructed(self.root, homes).files]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Repository:
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "DREAMD_WIKI"):
        monkeypatch.delenv(name, raising=False)
    for name in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / "xdg" / name.lower()))
    monkeypatch.setattr(wiring, "redactor", lambda: shared_redactor(request))
    root_of.cache_clear()
    made = Repository(home)
    monkeypatch.chdir(made.root)
    return made


def test_files_above_a_project_and_below_it_are_found_and_those_of_others_are_not(repository: Repository) -> None:
    for name in (
        "CLAUDE.md", "packages/api/CLAUDE.md", "packages/api/AGENTS.md", "packages/web/AGENTS.override.md", "packages/web/AGENTS.md", "node_modules/x/CLAUDE.md",
        "vendor/y/AGENTS.md", ".venv/z/CLAUDE.md", "../CLAUDE.md", "../AGENTS.md", "../../CLAUDE.local.md", "../../../CLAUDE.md", "packages/api/.claude/rules/sql.md",
    ):  # fmt: skip
        repository.write(name, "- Write in English.\n")
    (repository.root / "trees/fix").mkdir(parents=True)
    repository.write("trees/fix/.git", "gitdir: /elsewhere\n")
    repository.write("trees/fix/CLAUDE.md", "- Write in English.\n")
    os.symlink(repository.root / "packages", repository.root / "again")
    assert repository.shown() == [
        "CLAUDE.md", "packages/api/CLAUDE.md", "packages/api/.claude/rules/sql.md", "packages/api/AGENTS.md", "packages/web/AGENTS.override.md", "../CLAUDE.md", "../../CLAUDE.local.md",
    ]  # fmt: skip


def test_a_walk_is_bounded_and_no_whole_home_is_walked(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        repository.write(f"part{number}/CLAUDE.md", "- Write in English.\n")
    monkeypatch.setattr(instruction_places, "FOLDERS_MAX", 3)
    assert repository.shown() == ["part0/CLAUDE.md", "part1/CLAUDE.md"]
    homes = Homes(claude=repository.home / ".claude", codex=repository.home / ".codex")
    assert instructed(repository.home, homes).files == ()


def test_a_rule_of_a_subfolder_binds_below_it_only(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.write("packages/legacy/CLAUDE.md", "- Deploys run on Fridays.\n- Run make lint before you push.\n")
    repository.says(
        "From now on never deploy on Fridays.",
        "From now on always run `make lint` before you push.",
        "From now on, in packages/legacy, never push without Ana.",
    )
    assert run(["dream"]) == 0
    brief = (repository.home / "dreamd/harbor/MEMORY.md").read_text(encoding="utf-8")
    assert "never deploy on Fridays" in brief
    assert "make lint" in brief, "a session at the root does not load the subfolder's file"
    capsys.readouterr()
    repository.write("CLAUDE.md", "- Never push to main.\n")
    repository.write("packages/api/CLAUDE.md", "- Push to main.\n")
    assert run(["lint"]) == 0
    (line,) = [x for x in capsys.readouterr().out.splitlines() if "contradiction" in x]
    assert f"{repository.root}/CLAUDE.md:1" in line
    assert f"{repository.root}/packages/api/CLAUDE.md:1" in line


def test_the_file_above_a_project_wins_over_a_note(repository: Repository) -> None:
    repository.write("../CLAUDE.md", "- Deploys run on Fridays. See @rules.md\n")
    repository.write("../rules.md", "- Run make lint before you push.\n")
    repository.says("From now on never deploy on Fridays.", "From now on always run `make lint` before you push.")
    assert run(["dream"]) == 0
    brief = (repository.home / "dreamd/harbor/MEMORY.md").read_text(encoding="utf-8")
    assert "riday" not in brief
    assert "make lint" not in brief


def test_logs_named_by_their_paths_bring_the_instruction_files_of_the_folder_they_worked_in(repository: Repository, tmp_path: Path) -> None:
    repository.write("CLAUDE.md", "- Deploys run on Fridays.\n")
    (repository.root / "src").mkdir()
    log = repository.says("From now on never deploy on Fridays.", "The staging database listens on port 5433.", folder=repository.root / "src")
    assert run(["dream", str(log), "--wiki", str(tmp_path / "wiki")]) == 0
    brief = (tmp_path / "wiki/MEMORY.md").read_text(encoding="utf-8")
    assert "5433" in brief
    assert "riday" not in brief


def test_logs_of_two_projects_or_of_none_that_is_here_bring_no_instruction_files(repository: Repository, tmp_path: Path) -> None:
    repository.write("CLAUDE.md", "- Deploys run on Fridays.\n")
    other = repository.home / "code/other"
    (other / ".git").mkdir(parents=True)
    logs = [repository.says("From now on never deploy on Fridays.")]
    for name, folder in (("two", other), ("three", tmp_path / "gone")):
        logs.append(ClaudeLog(name, cwd=str(folder)).user("Hello.").assistant("Done.").save(tmp_path / name))
    assert run(["dream", str(logs[0]), str(logs[1]), "--wiki", str(tmp_path / "both")]) == 0
    assert "never deploy on Fridays" in (tmp_path / "both/MEMORY.md").read_text(encoding="utf-8")
    assert run(["dream", str(logs[0]), str(logs[2]), "--wiki", str(tmp_path / "one")]) == 0
    assert "riday" not in (tmp_path / "one/MEMORY.md").read_text(encoding="utf-8")


def test_a_folder_that_may_not_be_looked_into_hinders_no_dream(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("inner/.claude", "../.claude", ".claude")
    for name in names:
        repository.write(f"{name}/CLAUDE.md", "- Deploys run on Fridays.\n")
    repository.write("CLAUDE.md", "- Push to main.\n")
    (memory := repository.home / ".claude/projects/-gone/memory").mkdir(parents=True)
    locked, real = (*(os.path.realpath(repository.root / name) for name in names), str(memory)), os.stat

    def stat(path: str | Path, **how: bool) -> os.stat_result:
        """As a person who is not root finds it: the folder stands there, what is in it may not be asked for."""
        if os.path.dirname(os.path.abspath(os.fspath(path))) in locked:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(path))
        return real(path, **how)  # type: ignore[arg-type]

    repository.says("From now on never deploy on Fridays.")
    monkeypatch.setattr(os, "stat", stat)
    assert repository.shown() == ["CLAUDE.md"]
    assert run(["dream"]) == 0
