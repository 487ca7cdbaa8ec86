"""One writer a page: many processes edit a hot one and no line is lost, where writing files or a plain lock loses many; a late writer is refused."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.store import owner_of, this_process
from tests.benchmarks.hot_page import PAGE, TTL_MS, body_of, commit, opened
from tests.workers import ROOT, until

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
def test_a_writer_frozen_past_its_lease_is_refused_at_its_commit(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    url = request.getfixturevalue("database_url") if kind == "postgres" else f"sqlite:///{tmp_path / 'hot.db'}"
    me = owner_of(this_process(), "test")
    with opened(url) as store:
        lease = store.take_lease("page", PAGE, me, TTL_MS)
        commit(store, lease, "first\n", 1)
        assert lease is not None
        assert store.release_lease(lease)
        command = [*HOT, "--paused", "--database", url]
        with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as frozen:
            try:
                assert frozen.stdout is not None
                assert frozen.stdin is not None
                assert frozen.stdout.readline() == "read\n"
                frozen.send_signal(signal.SIGSTOP)
                taken = []
                until(lambda: bool(taken.append(store.take_lease("page", PAGE, me, 60_000)) or taken[-1]))
                commit(store, taken[-1], "first\nsecond\n", 2)
                frozen.send_signal(signal.SIGCONT)
                frozen.stdin.write("\n")
                frozen.stdin.flush()
                assert frozen.stdout.readline() == "refused\n"
            finally:
                frozen.kill()
    assert body_of(url) == "first\nsecond\n"
