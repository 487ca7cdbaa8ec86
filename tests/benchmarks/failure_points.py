"""kill -9 at each named point of a worker between claim and the last commit: what is left is taken over, and the wiki is the one of an undisturbed dream.

    python -m tests.benchmarks.failure_points [--database URL of a server] [--points NAME,...]

For each point a worker process (forked, over a store of its own) kills itself there; another one does the rest; then the pages are compared. Over SQLite;
with --database over a database a point on that PostgreSQL server.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from pipelines.logs.redaction import open_redactor
from pipelines.run.runner import ENDED
from pipelines.store import STAGES, this_process
from tests.contracts.store_kinds import administrator, database_of
from tests.dreaming import SCOPE, Desk, differences
from tests.fake_worker import SlowEngine
from tests.workers import ask, sessions, tree
from worker.bell import silent
from worker.crew import Crew

SESSIONS = 4
POINTS = (
    *(f"{when}:{stage}" for stage in STAGES for when in ("claimed", "ready", "committed")), "session_read", "applied", "expired", "pages_committed",
)  # fmt: skip


def main() -> int:
    given = argparse.ArgumentParser()
    given.add_argument("--database", default="")
    given.add_argument("--points", default=",".join(POINTS))
    told = given.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o700)
        plain = Desk(folder / "plain", open_redactor(None))
        sessions(plain, SESSIONS)
        undisturbed = _dreamt(plain, "")
        return max([_told(point, folder, plain, undisturbed, told.database) for point in told.points.split(",")], default=0)


def _told(point: str, folder: Path, plain: Desk, undisturbed: dict[str, str], server: str) -> int:
    """Print one row of the table; 1 when the trees differ."""
    with _desk(point, folder, plain, server) as desk:
        found = differences(undisturbed, _dreamt(desk, point))
        with desk.store() as store, store.reading("count") as conn:
            claims, failures = conn.exec_driver_sql("SELECT max(claims), sum(failures) FROM jobs").one()
            faults = conn.exec_driver_sql("SELECT count(*) FROM faults").scalar_one()
    row = {"point": point, "tree": "same" if not found else found[:3], "claims": claims, "failures": int(failures or 0), "repairs": faults}
    print(json.dumps(row), flush=True)
    return int(bool(found))


@contextlib.contextmanager
def _desk(point: str, folder: Path, plain: Desk, server: str) -> Iterator[Desk]:
    """A desk with the same logs and an empty store."""
    root = folder / point.replace(":", "-")
    name = f"fp_{os.getpid()}_{point.replace(':', '_')}"
    if server:
        with administrator(server) as admin:
            admin.execute(f"CREATE DATABASE {name}")
    desk = Desk(root, plain.redactor, url=database_of(server, name) if server else "")
    shutil.copytree(plain.logs, desk.logs, dirs_exist_ok=True)
    yield desk
    if server:
        with administrator(server) as admin:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
    shutil.rmtree(root)


def _dreamt(desk: Desk, point: str) -> dict[str, str]:
    """Dream, killed once at a point ("": nowhere), and publish."""
    with desk.store() as store:
        dream = ask(desk, store)
    if point:
        status = _in_a_process(desk, dream, point)
        assert os.WIFSIGNALED(status), f"{point} was not reached"
    status = _in_a_process(desk, dream, "")
    assert status == 0, (point, status)
    return tree(desk)


def _in_a_process(desk: Desk, dream: str, point: str) -> int:
    """A worker that looks by itself, in a process of its own, until the dream has ended; its wait status."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            _work(desk, dream, point)
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1]


def _work(desk: Desk, dream: str, point: str) -> None:
    def step(name: str) -> None:
        if name == point:
            os.kill(os.getpid(), signal.SIGKILL)

    with desk.store() as store:
        parts = replace(desk.parts(store), holder=this_process(), engine=SlowEngine(), step=step)
        crew = Crew(engines={"local": parts}, default="local", ring=silent, stop=lambda: False, threads=1)
        while store.dream(SCOPE, dream).state not in ENDED:
            if not crew.one():
                crew.sweep()


if __name__ == "__main__":
    sys.exit(main())
