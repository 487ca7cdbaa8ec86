"""`dreamd watch` as a process: it takes in a session that ended, asks for its dream, and ends cleanly when told to."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipelines.store import open_store
from tests.writing import ClaudeLog

DEADLINE_S = 50


def test_a_watcher_asks_for_a_dream_when_a_session_ends_and_stops_on_sigterm(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    cache = request.config.cache
    assert cache is not None
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("DREAMD_", "XDG_"))}
    env = {**kept, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(cache.mkdir("dreamd-command")), "PYTHONWARNINGS": "error",
           "DREAMD_DATABASE_URL": f"sqlite:///{tmp_path / 'store.db'}"}  # fmt: skip
    logs = tmp_path / "logs"
    logs.mkdir()
    command = [sys.executable, "-m", "worker", "watch", str(logs), "--wiki", str(tmp_path / "wiki"), "--quiet", "0.1"]
    with subprocess.Popen(command, env=env, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            logged = map(json.loads, process.stderr)
            started = next(line for line in logged if line["event"] == "watch_started")
            assert ("asks for dreams" in started["does"], started["paths"]) == (True, [str(logs)])
            ClaudeLog("one").user("The port is 5433.").save(logs)
            watched = next(line for line in logged if line["event"] == "watched")
            process.send_signal(signal.SIGTERM)
            out, err = process.communicate(timeout=DEADLINE_S)
        finally:
            process.kill()
    assert {k: watched.get(k) for k in ("event", "read", "asked")} == {"event": "watched", "read": 1, "asked": "accepted"}
    assert (process.returncode, out, err) == (0, "", "")
    with open_store(env["DREAMD_DATABASE_URL"], now=lambda: datetime.now(UTC)) as store:
        assert [d.cause for d in store.dreams("local")] == ["session_end"]
