"""Instruction files are read and never written: what they say is not told again, and a note that says otherwise waits for the person."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.integration.conftest import Command
from tests.redacting import shared_redactor
from tests.writing import ClaudeLog
from worker import wiring
from worker.projects import sanitised

RULE = "From now on never deploy on Fridays."
KNOWN = "From now on always run `make lint` before you push."


class Project:
    """A repository with sessions of Claude Code in a home of its own."""

    def __init__(self, home: Path) -> None:
        self.home, self.root = home, home / "code" / "harbor"
        (self.root / ".git").mkdir(parents=True)
        self.memory = home / ".claude/projects" / sanitised(self.root) / "memory"

    def says(self, session: str, *texts: str) -> None:
        log = ClaudeLog(session, cwd=str(self.root))
        for text in texts:
            log.user(text).assistant("Done.")
        log.save(self.memory.parent)

    def file(self, name: str, text: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    @property
    def wiki(self) -> Path:
        return self.home / "dreamd/harbor"

    @property
    def brief(self) -> str:
        return (self.wiki / "MEMORY.md").read_text(encoding="utf-8")

    def rules(self) -> list[str]:
        section = self.brief.partition("## Rules\n\n")[2].partition("\n\n")[0]
        return section.splitlines()

    def pages(self) -> str:
        return "\n".join(p.read_text(encoding="utf-8") for p in sorted(self.wiki.glob("*.md")) if p.name not in {"MEMORY.md", "inbox.md", "recent.md"})


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Project:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "DREAMD_WIKI"):
        monkeypatch.delenv(name, raising=False)
    for name in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / "xdg" / name.lower()))
    monkeypatch.setattr(wiring, "redactor", lambda: shared_redactor(request))
    made = Project(tmp_path)
    monkeypatch.chdir(made.root)
    return made


def _waiting(say: Command) -> str:
    """The id of the one dispute that waits."""
    out = say("review")[1]
    (line,) = [x for x in out.splitlines() if "CLAUDE.md" in x]
    return line.split()[0]


def test_a_note_that_says_otherwise_than_a_file_is_told_to_nobody_until_the_person_decides(project: Project, say: Command) -> None:
    file = project.file("CLAUDE.md", "# Harbor\n\n- Deploys run on Fridays.\n- Run make lint before you push.\n")
    before = file.read_bytes()
    project.says("one", RULE, KNOWN, "The staging database listens on port 5433.")
    assert say("dream")[0] == 0
    assert "5433" in project.brief
    assert "riday" not in project.brief
    assert "make lint" not in project.brief, "the session reads that in the file"
    assert "CLAUDE.md line 3 says otherwise" in project.pages()
    assert "[^1]: `CLAUDE" not in project.pages()
    note = _waiting(say)
    assert "(CLAUDE.md line 3 says otherwise)" in say("review")[1]
    shown = say("review", "show", note)[1]
    assert "CLAUDE.md:3 says otherwise: “Deploys run on Fridays.”" in shown
    assert "never deploy on Fridays" in shown
    assert say("review", "accept", note)[0] == 0
    assert "never deploy on Fridays" in project.brief
    assert "CLAUDE.md" not in say("review")[1]
    assert file.read_bytes() == before
    file.write_text("# Harbor\n\nNew above.\n\n- Deploys run on Fridays.\n", encoding="utf-8")
    assert say("dream")[0] == 0
    assert "never deploy on Fridays" in project.brief, "the line that was decided about only moved"
    file.write_text("# Harbor\n\n- Always deploy on Fridays.\n", encoding="utf-8")
    assert say("dream")[0] == 0
    assert "riday" not in project.brief, "another line says otherwise now"
    assert say("review", "accept", _waiting(say))[0] == 0
    assert "never deploy on Fridays" in project.brief


def test_where_the_file_is_right_the_note_is_rejected_and_a_file_that_is_gone_covers_nothing(project: Project, say: Command) -> None:
    file = project.file("CLAUDE.md", "- Deploys run on Fridays.\n- Run make lint before you push.\n")
    project.says("one", RULE, KNOWN)
    say("dream")
    assert say("review", "reject", _waiting(say))[0] == 0
    assert "never deploy" not in project.pages()
    file.unlink()
    assert say("dream")[0] == 0
    assert "make lint" in project.brief
    assert "never deploy" not in project.brief


def test_imports_and_the_files_for_all_projects_count_and_what_leads_out_is_not_read(project: Project, say: Command, tmp_path: Path) -> None:
    secret = tmp_path / "outside.md"
    secret.write_text("- The staging database listens on port 5433.\n", encoding="utf-8")
    project.file("AGENTS.md", "See @docs/deploy.md, @docs/blob.md and @../../outside.md; ask @ana, use `@docs/no.md`.\n")
    project.file("docs/deploy.md", "- Deploys run on Fridays.\n\n@../AGENTS.md\n")
    project.file("docs/blob.md", b"\0\1\2 the API listens on port 8080")
    os.symlink(secret, project.root / "CLAUDE.local.md")
    (tmp_path / ".claude/CLAUDE.md").parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / ".claude/CLAUDE.md").write_text("Run make lint before you push.\n", encoding="utf-8")
    project.says("one", RULE, KNOWN, "The staging database listens on port 5433.")
    assert say("dream")[0] == 0
    assert "riday" not in project.brief
    assert "make lint" not in project.brief
    assert "5433" in project.brief, "a file outside the project covers nothing"
    assert "docs/deploy.md line 1" in project.pages()


def test_a_line_of_the_own_notes_that_says_otherwise_stands_when_the_person_says_so(project: Project, say: Command) -> None:
    project.file("CLAUDE.md", "- The staging database listens on port 5432.\n")
    project.memory.mkdir(parents=True)
    (project.memory / "MEMORY.md").write_text("- The staging database listens on port 5433.\n- Ana reviews deploys.\n", encoding="utf-8")
    project.says("one", "Hello there.")
    assert say("dream")[0] == 0
    assert "5433" not in project.brief
    assert "Ana reviews deploys" in project.brief
    note = _waiting(say)
    assert say("review", "reject", note)[0] == 3, "it is theirs to change"
    assert say("review", "accept", note)[0] == 0
    assert "5433" in project.brief
    assert "stand" in say("why", note)[1]


def test_a_pinned_note_stands_first_and_is_told_before_all_others_until_the_pin_is_off(project: Project, say: Command) -> None:
    project.says("one", *(f"From now on always run check-{n} before you push to branch-{n}." for n in range(12)))
    assert say("dream")[0] == 0
    rules = project.rules()
    assert len(rules) == 12
    last = rules[-1]
    number = last.split("check-")[1].split()[0]
    (note,) = {line.rsplit("^", 1)[1].strip() for line in project.pages().splitlines() if f"check-{number} " in line and " ^n-" in line}
    assert say("pin", note)[0] == 0
    assert say("pin", note)[1].count("was pinned before") == 1
    assert project.rules() == [last, *rules[:-1]]
    told = [x for x in say("brief", "--budget", "1100")[1].splitlines() if "push to branch-" in x]
    assert told[0] == last
    assert len(told) < 12
    assert "*pinned*" in project.pages()
    assert "pin: by person" in say("why", note)[1]
    assert say("pin", note, "--off")[0] == 0
    assert project.rules() == rules
    assert "*pinned*" not in project.pages()
    assert say("pin", "n-ffffffffffff")[0] == 3


def test_a_pin_tells_what_holds_by_now_and_why_a_line_of_your_own_takes_none(project: Project, say: Command) -> None:
    project.memory.mkdir(parents=True)
    (project.memory / "ports.md").write_text("- The staging database listens on port 5433.\n", encoding="utf-8")
    project.says("one", "Always squash merge pull requests.", "Never squash merge pull requests.")
    assert say("dream")[0] == 0
    ids = {line.split(" [^")[0]: line.rsplit("^", 1)[1].strip() for line in project.pages().splitlines() if " ^n-" in line}
    (rule,) = (uid for line, uid in ids.items() if line.startswith("- Never squash"))
    assert "is pinned: Never squash merge pull requests." in say("pin", rule)[1]
    (own,) = (uid for line, uid in ids.items() if "5433" in line)
    code, _, err = say("pin", own)
    assert (code, "only notes of dreamd's own are pinned" in err, "notes diff" in err) == (3, True, False)


def test_lint_names_both_lines_of_files_that_contradict_one_another(project: Project, say: Command) -> None:
    project.file("CLAUDE.md", "# Harbor\n\n- Deploys run on Fridays.\n- The API listens on port 8080.\n")
    project.file(".claude/rules/api.md", "- The API listens on port 9090.\n")
    project.memory.mkdir(parents=True)
    (project.memory / "MEMORY.md").write_text("# Notes\n\n- Never deploy on Fridays.\n- Suite: 120 tests green.\n- Suite: 140 tests green.\n", encoding="utf-8")
    project.says("one", "Hello there.")
    code, out, _ = say("lint")
    assert code == 0
    (rules,) = [x for x in out.splitlines() if "port" in x]
    assert rules.startswith(f"{project.root}/CLAUDE.md:4: contradiction:")
    assert f"{project.root}/.claude/rules/api.md:1: “The API listens on port 9090.”" in rules
    (notes,) = [x for x in out.splitlines() if "Friday" in x]
    assert f"{project.memory}/MEMORY.md:3" in notes
    assert f"{project.root}/CLAUDE.md:3" in notes
    of_file = say("lint", project.root / ".claude/rules/api.md")[1]
    assert "CLAUDE.md:4" in of_file
    assert "Friday" not in of_file
    assert {p["code"] for p in json.loads(say("lint", "--json")[1])["problems"]} >= {"contradiction"}
    (project.root / "CLAUDE.md").unlink()
    (project.root / ".claude/rules/api.md").unlink()
    assert "contradiction" not in say("lint")[1]


def test_lint_asks_no_user_for_what_stands_in_their_own_file_and_counts_orders_of_a_note_in_one_line(project: Project, say: Command) -> None:
    project.file("CLAUDE.md", "- Always sign commits.\n- Never rebase main.\n")
    project.memory.mkdir(parents=True)
    (project.memory / "habits.md").write_text("- Always restart the proxy.\n- The port is 5433.\n- Never clear the cache.\n", encoding="utf-8")
    project.says("one", "Thanks.")
    assert say("dream")[0] == 0
    rows = [p for p in json.loads(say("lint", "--json")[1])["problems"] if p["code"] == "order_without_user"]
    assert [(Path(p["file"]).name, p["line"]) for p in rows] == [("habits.md", 1), ("habits.md", 3)]
    told = [line for line in say("lint")[1].splitlines() if "order_without_user" in line]
    assert len(told) == 1
    assert "habits.md:1: order_without_user: 2 lines tell the reader what to do" in told[0]


def test_what_is_remembered_is_held_against_a_file_written_since_the_last_dream(project: Project, say: Command) -> None:
    project.says("one", RULE)
    assert say("dream")[0] == 0
    project.file("CLAUDE.md", "# Harbor\n\n- The API listens on port 8080.\n")
    code, out, _ = say("remember", "--mine", "The API listens on port 9090.")
    assert (code, "since CLAUDE.md line 3 says otherwise. Yours holds: dreamd review accept n-" in out) == (0, True), out
    assert "9090" not in project.brief
    assert "CLAUDE.md line 3 says otherwise" in say("review")[1]
    (project.root / "CLAUDE.md").unlink()
    assert say("remember", "--mine", "The web client listens on port 5173.")[0] == 0
    assert "9090" in project.brief, "the file is gone"
