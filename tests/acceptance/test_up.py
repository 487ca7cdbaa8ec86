"""`dreamd up` on one host with no server: sessions that end become pages, a part that dies is started again, and all of them leave together."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.workers import COMMAND, Office, office, until
from tests.writing import ClaudeLog

pytestmark = pytest.mark.timeout(300)


def _session_ends(at: Office, logs: Path, name: str, words: str) -> None:
    """A session, and its hook."""
    log = ClaudeLog(name).user(words).assistant("Noted.").save(logs)
    told = json.dumps({"hook_event_name": "SessionEnd", "transcript_path": str(log), "session_id": name})
    done = subprocess.run([*COMMAND, "hook", "session-end"], env=at.env, cwd=at.cwd, input=told, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_everything_runs_in_one_group_and_nothing_is_left_of_it(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    wiki, logs = tmp_path / "wiki", tmp_path / "logs"
    logs.mkdir()
    ClaudeLog("watched").user("Always use pnpm in the web folder.").assistant("Noted.").save(logs)
    with office(request, tmp_path / "home", log_level="info") as at:
        _session_ends(at, tmp_path / "elsewhere", "hooked", "Never push to main.")  # before anything runs
        up = at.start(*COMMAND, "up", str(logs), "--wiki", str(wiki), "--quiet", "0.1", "--threads", "2")
        pids = {part: up.heard("part_started", part=part)["pid"] for part in ("worker", "schedule", "watch", "publish")}

        def told(*words: str) -> bool:
            brief = wiki / "MEMORY.md"
            return brief.exists() and all(word in brief.read_text(encoding="utf-8") for word in words)

        until(lambda: told("pnpm", "push to main"), why=lambda: up.said)
        os.kill(pids["worker"], signal.SIGKILL)
        assert up.heard("part_ended", part="worker", code=-signal.SIGKILL)["again_in_s"] == 1.0
        until(lambda: up.times("part_started", part="worker") == 2, why=lambda: up.said)
        _session_ends(at, tmp_path / "elsewhere", "later", "Always write tests first.")
        until(lambda: told("pnpm", "push to main", "tests first"), why=lambda: up.said)
        assert list((tmp_path / "home" / "data" / "spool").glob("*.json")) == []
        up.send(signal.SIGTERM)
        assert up.ended() == 0, up.said
        assert up.times("left") == 1
    started = [x["pid"] for x in up.lines if x["event"] == "part_started"]
    assert len(started) == 5
    assert [pid for pid in started if Path(f"/proc/{pid}").exists()] == []
    assert [line for line in up.raw if not line.startswith("{")] == []
