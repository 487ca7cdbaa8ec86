"""The first ten minutes: a home with three projects, both agents, notes and instructions; every step a newcomer takes, with the installed command."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from tests.acceptance.test_command import DEADLINE_S, DREAMD, until
from tests.redacting import rule_cache
from tests.writing import START, ClaudeLog, CodexLog, memory

OWN = (".local/share/dreamd", "dreamd")
"""Below the home: the data folder and the wikis, where dreamd may write."""
PLAIN = {
    "api-port": "The API listens on port 8080.",
    "backups": "Backups are kept for a week.",
    "cave": "The centre is east of the cave.",
    "charts": "Charts are drawn by the service `plotter`.",
    "deploys": "Ana reviews deploys.",
    "fixtures": "Fixtures of the tide gauges lie in `tests/fixtures`.",
    "frontend": "The web client is written in TypeScript.",
    "harbour-master": "The harbour master is Lee.",
    "lights": "Lights are polled once a minute.",
    "logging": "Logs are written as JSON.",
    "migrations": "Migrations are run by `alembic`.",
    "queue": "The queue is RabbitMQ.",
    "releases": "Releases are cut on Thursdays.",
    "staging": "The staging database listens on port 5432.",
    "tokens": "Tokens expire after an hour.",
    "zones": "Times are kept in UTC.",
}
"""The notes of the memory folder, a file each; with their index they are seventeen."""
SETTINGS = '{\n  "model": "opus",\n  "hooks": {\n    "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]\n  }\n}\n'
CODEX_CONFIG = '# mine\nmodel = "gpt-5"\n'
INSTRUCTIONS = "# Harbor\n\n- The API listens on port 8080.\n- The queue is Kafka.\n"

Files = Mapping[str, tuple[bytes, int]]


class Home:
    """A person's home, and the command in it as a shell runs it."""

    def __init__(self, path: Path, cache: Path) -> None:
        self.path = path
        self.harbor, self.tides, self.light = (path / "code" / name for name in ("harbor", "tides", "灯塔"))
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("DREAMD_", "XDG_", "CLAUDE", "CODEX", "ANTHROPIC"))}
        self.env = {**kept, "HOME": str(path), "XDG_CACHE_HOME": str(cache), "PYTHONWARNINGS": "error", "COLUMNS": "100"}

    @property
    def memory(self) -> Path:
        """The agent's own notes of harbor."""
        return self.logs(self.harbor) / "memory"

    @property
    def wiki(self) -> Path:
        """Where the wiki of harbor lies by default."""
        return self.path / "dreamd" / "harbor"

    def logs(self, cwd: Path) -> Path:
        """Where Claude Code keeps the logs of a working directory."""
        return self.path / ".claude" / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(cwd))

    def run(self, *words: str, cwd: Path | None = None, told: str = "", code: int = 0) -> str:
        """What a command prints, in a project's folder (default: harbor)."""
        return self.sh([str(DREAMD), *words], cwd=cwd, told=told, code=code)

    def sh(self, words: list[str] | str, *, cwd: Path | None = None, told: str = "", code: int = 0) -> str:
        """What a program or a line of shell prints."""
        done = subprocess.run(
            words, cwd=cwd or self.harbor, env=self.env, input=told, shell=isinstance(words, str), capture_output=True, text=True, timeout=DEADLINE_S
        )  # fmt: skip
        assert done.returncode == code, (words, done.stdout, done.stderr)
        return done.stdout

    def files(self) -> Files:
        """Every file outside dreamd's own folders with its bytes and mode; folders with none."""
        out = {}
        for place in sorted(self.path.rglob("*")):
            name = place.relative_to(self.path).as_posix()
            if not any(name == own or name.startswith(own + "/") or own.startswith(name + "/") for own in OWN):
                out[name] = (place.read_bytes() if place.is_file() else b"", place.stat().st_mode)
        return out


def furnish(home: Home) -> None:
    """Three projects: one both agents work in, with notes and instructions; one of Codex; one of Claude Code, with a name of no Latin letter."""
    for root in (home.harbor, home.tides, home.light):
        (root / ".git").mkdir(parents=True)
    deep = home.harbor / "web" / "sub"
    deep.mkdir(parents=True)
    (home.harbor / "CLAUDE.md").write_text(INSTRUCTIONS, encoding="utf-8")
    one = ClaudeLog("one", cwd=str(deep)).user("The centre is west of the cave, not east.").assistant("I see.")
    one.user("From now on always run make lint before you push.").bash("make lint", "All checks passed!").save(home.logs(deep))
    two = ClaudeLog("two", cwd=str(deep), at=START + timedelta(days=1)).user("no, the staging database listens on port 5433, not 5432")
    two.assistant("Noted.").bash("make lint", "All checks passed!").user("Releases are cut on Mondays now, no longer on Thursdays.").save(home.logs(deep))
    codex = home.path / ".codex" / "sessions" / "2026" / "03"
    CodexLog("three", cwd=str(home.harbor), at=START + timedelta(days=2)).user("We decided to use Postgres for the tide table.").save(codex / "04")
    CodexLog("four", cwd=str(home.tides)).user("The gauge reports every 10 minutes.").assistant("Thank you.").save(codex / "02")
    ClaudeLog("five", cwd=str(home.light)).user("以后每次提交前都要跑 make check。").assistant("好的。").save(home.logs(home.light))
    home.memory.mkdir(parents=True)
    for name, said in PLAIN.items():
        (home.memory / f"{name}.md").write_text(memory(name, said), encoding="utf-8")
    index = "".join(f"- [{name}]({name}.md) — {said}\n" for name, said in PLAIN.items())
    (home.memory / "MEMORY.md").write_text(f"# Memory\n\n{index}", encoding="utf-8")
    (home.path / ".claude" / "settings.json").write_text(SETTINGS, encoding="utf-8")
    (home.path / ".codex" / "config.toml").write_text(CODEX_CONFIG, encoding="utf-8")


@pytest.fixture
def home(tmp_path: Path, request: pytest.FixtureRequest) -> Home:
    made = Home(tmp_path / "home", rule_cache(request))
    furnish(made)
    return made


@pytest.mark.timeout(180)  # some twenty processes: half a minute, more where others work
def test_a_newcomer_looks_dreams_corrects_connects_is_told_and_takes_it_all_out_again(home: Home) -> None:
    found = home.files()
    looked_at(home)
    assert not (home.path / OWN[0]).exists(), "looking writes nothing"
    dreamt(home)
    checked(home)
    asked(home)
    assert home.files() == found, "up to here nothing was written but the wiki and the data folder"
    connected(home, found)
    told(home)
    ended(home)
    assert "as it was" in home.run("disconnect")
    assert home.files() == {**found, **of_a_new_session(home)}


def looked_at(home: Home) -> None:
    """dreamd alone: three projects, one of them here, and what to do."""
    said = home.run()
    assert "3 projects, 5 session logs" in said
    assert re.search(r"^\* harbor +3 .* 17  -$", said, re.MULTILINE)
    assert {"灯塔", "tides"} <= set(said.split())
    assert said.splitlines()[-1] == "Next: dreamd dream"


def dreamt(home: Home) -> None:
    """dreamd dream, in a folder below the project: its own logs of both agents, its notes, a wiki of its own."""
    said = home.run("dream", cwd=home.harbor / "web" / "sub")
    assert "3 sessions" in said
    assert "corrected 6, unchecked 26" in said, "three facts, each in its file and in the index; 13 more of both"
    assert "dreamd notes diff" in said
    assert sorted(p.name for p in home.wiki.parent.iterdir()) == ["harbor"]


def checked(home: Home) -> None:
    """dreamd notes: a patch of the person's own files; written, and taken back to the byte."""
    before = home.files()
    patch = home.run("notes", "diff")
    for wrong, right in (("centre is east of", "centre is west of"), ("port 5432.", "port 5433.")):
        assert re.search(rf"^-.*{wrong}.*\n\+.*{right}", patch, re.MULTILINE), patch
    home.run("notes", "apply")
    assert "east" not in (home.memory / "cave.md").read_text(encoding="utf-8")
    assert home.files().keys() == before.keys()
    home.run("notes", "apply", "--undo")
    assert home.files() == before


def asked(home: Home) -> None:
    """dreamd why and dreamd brief: the words that prove it; what a session would be told."""
    said = home.run("why", "staging")
    assert "no, the staging database listens on port 5433, not 5432" in said
    assert "verdict: corrected" in said
    brief = home.run("brief")
    assert "\n# Memory: harbor\n" in brief
    assert brief.index("west of the cave, not east") < brief.index("always run make lint") < brief.index("`make lint`, worked on")
    assert len(brief) <= 9000
    assert "memory/cave.md line 8" in home.run("review")


def connected(home: Home, found: Files) -> None:
    """dreamd connect: what it would write, then that and no more."""
    shown = home.run("connect", "claude-code", "--dry-run")
    assert home.files() == found
    patch = home.run("connect", "claude-code")
    assert shown.split("\n", 1)[1].partition("\nNothing was changed")[0] in patch
    assert "hooks.json" in home.run("connect", "codex")
    now = home.files()
    assert {n for n in now.keys() | found.keys() if now.get(n) != found.get(n)} == {".claude/settings.json", ".codex/hooks.json"}
    assert json.loads(now[".claude/settings.json"][0])["hooks"]["Stop"] == json.loads(SETTINGS)["hooks"]["Stop"]


def hook(home: Home, file: str, event: str) -> str:
    """The command an agent would run at an event, as its settings have it."""
    entries = json.loads((home.path / file).read_text(encoding="utf-8"))["hooks"][event]
    command: str = entries[-1]["hooks"][-1]["command"]
    return command


def told(home: Home) -> None:
    """A session that begins is told the brief by either agent's hook; one of a project nobody dreamt over is told nothing."""
    begun = {"session_id": "s", "transcript_path": "/none", "hook_event_name": "SessionStart", "source": "startup", "cwd": str(home.harbor / "web")}
    said = home.sh(hook(home, ".claude/settings.json", "SessionStart"), told=json.dumps(begun))
    assert "west of the cave, not east" in said
    codex = json.loads(home.sh(hook(home, ".codex/hooks.json", "SessionStart"), told=json.dumps(begun)))
    assert "west of the cave, not east" in codex["hookSpecificOutput"]["additionalContext"]
    assert home.sh(hook(home, ".claude/settings.json", "SessionStart"), cwd=home.tides, told=json.dumps({**begun, "cwd": str(home.tides)})) == ""


def new_session(home: Home) -> ClaudeLog:
    """What is said after the agent was connected."""
    return ClaudeLog("six", cwd=str(home.harbor), at=START + timedelta(days=5)).user("From now on always write commit messages in English.").assistant("Yes.")


def of_a_new_session(home: Home) -> Files:
    """The file of that session, which is the agent's doing."""
    name = (home.logs(home.harbor) / f"{new_session(home).uuid}.jsonl").relative_to(home.path).as_posix()
    return {name: home.files()[name]}


def ended(home: Home) -> None:
    """A session that ends is dreamt over without anybody's doing, and the next one is told what it said."""
    log = new_session(home).save(home.logs(home.harbor))
    event = {"session_id": log.stem, "transcript_path": str(log), "hook_event_name": "SessionEnd", "reason": "exit", "cwd": str(home.harbor)}
    assert home.sh(hook(home, ".claude/settings.json", "SessionEnd"), told=json.dumps(event)) == ""
    said = home.path / OWN[0] / "session-end-dream"
    until(lambda: "Read " in said.read_text(encoding="utf-8"))
    begun = {**event, "hook_event_name": "SessionStart", "source": "startup"}
    assert "write commit messages in English" in home.sh(hook(home, ".claude/settings.json", "SessionStart"), told=json.dumps(begun))
    assert "1 session: " in home.run("why", "staging", "--sessions")
