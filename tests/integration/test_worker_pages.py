"""One writer a page: many processes edit a hot one and no line is lost, where writing files or a plain lock loses many; a late writer is refused."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.hot_page import body_of, commit, opened
from tests.dreaming import SCOPE, Desk
from tests.redacting import shared_redactor
from tests.workers import ROOT, ask, ended, office, sessions, until

HOT = (sys.executable, "-m", "tests.benchmarks.hot_page")
pytestmark = pytest.mark.timeout(300)


def hot(*arguments: str) -> dict[str, dict[str, float]]:
    """Run the benchmark in small; its rows by way."""
    done = subprocess.run([*HOT, *arguments], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    print(done.stdout)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return {row["way"]: row for row in rows}


def test_eight_processes_lose_no_line_where_files_and_a_plain_lock_do(database_url: str, redis_url: str) -> None:
    rows = hot("--edits", "15", "--database", database_url, "--redis", redis_url)
    assert {way: row["lost"] for way, row in rows.items() if way in {"sqlite", "postgres"}} == {"sqlite": 0, "postgres": 0}
    assert all(rows[way]["lost"] > 0 for way in ("naive", "rename", "redis")), rows


def test_fifty_seven_facts_by_eight_writers_are_fifty_seven(database_url: str) -> None:
    rows = hot("--lines", "57", "--ways", "postgres,sqlite", "--database", database_url)
    assert {way: (row["edits"], row["lost"]) for way, row in rows.items()} == {"postgres": (57, 0), "sqlite": (57, 0)}


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_writer_frozen_over_what_another_wrote_is_refused_at_its_commit(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    url = request.getfixturevalue("database_url") if kind == "postgres" else f"sqlite:///{tmp_path / 'hot.db'}"
    with opened(url) as store:
        commit(store, "first\n", 1)
        command = [*HOT, "--paused", "--database", url]
        with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as frozen:
            try:
                assert frozen.stdout is not None
                assert frozen.stdin is not None
                assert frozen.stdout.readline() == "read\n"
                frozen.send_signal(signal.SIGSTOP)
                commit(store, "first\nsecond\n", 2)
                frozen.send_signal(signal.SIGCONT)
                frozen.stdin.write("\n")
                frozen.stdin.flush()
                assert frozen.stdout.readline() == "refused\n"
            finally:
                frozen.kill()
    assert body_of(url) == "first\nsecond\n"


def test_a_worker_frozen_over_the_pages_past_its_lease_is_refused_at_its_commit(
    request: pytest.FixtureRequest, tmp_path: Path, database_url: str, redis_url: str
) -> None:
    """The lease on the pages of a scope is that of the unit that renders them: owner, heartbeat, and a fence the commit locks by."""
    desk = Desk(tmp_path / "desk", shared_redactor(request), url=database_url)
    sessions(desk, 2)
    with office(request, tmp_path / "empty", database=database_url, redis=redis_url) as at, desk.store() as store:
        frozen = at.worker("--ttl-ms", 1500, "--look-s", 0.3, "--freeze-at", "ready:render")
        dream = ask(desk, store)
        until(lambda: _state(frozen.popen.pid) == "T", why=lambda: frozen.said)
        assert store.pages(SCOPE) == {}, "rendered, and not committed"
        last = at.worker("--ttl-ms", 1500, "--look-s", 0.3)
        assert ended(store, dream).state == "completed"
        pages = store.pages(SCOPE)
        frozen.send(signal.SIGCONT)
        assert frozen.heard("unit_done", outcome="lost")["stage"] == "render"
        assert store.pages(SCOPE) == pages != {}
        for worker in (frozen, last):
            worker.send(signal.SIGTERM)
            assert worker.ended() == 0, worker.said


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
