"""Forgetting in a store on a server, by processes that are killed in the middle of it or have others beside them."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url

from pipelines.run import Outcome, Parts
from pipelines.store import Store
from pipelines.store.blobs import DatabaseArchive
from tests.auditing import files_with, tables_with
from tests.dreaming import SCOPE, Desk
from tests.redacting import rule_cache, shared_redactor
from tests.writing import ClaudeLog

WORD = "zanzibarquux"
DEADLINE_S = 50.0
PROCESS = """
import os, signal, sys
from dataclasses import replace
from pathlib import Path
from pipelines.logs.redaction import open_redactor
from pipelines.run.forgetting import forget
from pipelines.store.blobs import DatabaseArchive
from pipelines.store.reach import Choice
from tests.dreaming import SCOPE, Desk
from tests.workers import until

root, rules, url, word, at, go = sys.argv[1:]

def step(name):
    if name == at and not go:
        os.kill(os.getpid(), signal.SIGKILL)
    if name == at:
        print("inside", flush=True)
        until(Path(go).exists, 50)

desk = Desk(Path(root), open_redactor(Path(rules)), step=step, url=url)
with desk.store() as store:
    parts = replace(desk.parts(store), archive=DatabaseArchive(store, SCOPE))
    forget(parts, desk.request(), Choice(subject=word), hand="test")
"""


@dataclass
class ServerDesk(Desk):
    """A desk whose store and archive lie on a server."""

    def parts(self, store: Store) -> Parts:
        return replace(super().parts(store), archive=DatabaseArchive(store, SCOPE))


@pytest.fixture
def desk(request: pytest.FixtureRequest, tmp_path: Path, database_url: str) -> ServerDesk:
    made = ServerDesk(tmp_path / "desk", shared_redactor(request), url=database_url)
    ClaudeLog("one").user(f"The staging host is called {WORD}.").user("The API listens on port 8080.").save(made.logs)
    made.dream()
    return made


def forgetting(desk: ServerDesk, request: pytest.FixtureRequest, at: str, go: str = "") -> subprocess.Popen[str]:
    """A process that forgets the word: killed at a step, or waiting there until the file `go` is made."""
    words = [sys.executable, "-c", PROCESS, str(desk.root), str(rule_cache(request)), desk.url, WORD, at, go]
    return subprocess.Popen(words, cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, text=True)


def left(desk: ServerDesk) -> tuple[list[str], list[str]]:
    with desk.store() as store, store.engines.read.connect() as conn:
        assert conn.scalar(text("SELECT count(*) FROM grants")) == 0, "the door is shut"
        return tables_with(store, WORD), files_with([desk.wiki], WORD)


def test_a_forget_that_is_killed_took_nothing_or_is_ended_by_the_next_dream(desk: ServerDesk, request: pytest.FixtureRequest) -> None:
    stood, tree = left(desk), desk.tree()
    for at in ("deleted", "forgotten"):
        with forgetting(desk, request, at) as process:
            assert process.wait(DEADLINE_S) == -signal.SIGKILL
        desk.dream()
        assert (left(desk), desk.tree()) == (stood, tree), at
    with forgetting(desk, request, "forget_committed") as process:
        assert process.wait(DEADLINE_S) == -signal.SIGKILL
    desk.dream()
    assert left(desk) == ([], [])


def test_a_dream_that_reads_the_word_while_it_is_forgotten_stores_none_of_it(desk: ServerDesk, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    ClaudeLog("two").later(days=1).user(f"The staging host {WORD} has port 5433.").user("The queue listens on port 5672.").save(desk.logs)
    done: list[Outcome] = []
    with forgetting(desk, request, "believed", str(tmp_path / "go")) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "inside\n"
        dreaming = threading.Thread(target=lambda: done.append(desk.dream()))
        dreaming.start()
        wait_for_lock(desk)
        (tmp_path / "go").touch()
        dreaming.join(DEADLINE_S)
        assert process.wait(DEADLINE_S) == 0
    assert [outcome.report.status for outcome in done] == ["completed"]
    assert left(desk) == ([], [])
    assert "5672" in "".join(desk.tree().values()), "what else was said is learnt"


def wait_for_lock(desk: ServerDesk) -> None:
    """Until somebody waits for a lock another holds."""
    url, ends, pause = make_url(desk.url).set(drivername="postgresql").render_as_string(False), time.monotonic() + DEADLINE_S, threading.Event()
    with psycopg.connect(url, autocommit=True) as conn:
        while time.monotonic() < ends:
            if conn.execute(
                "SELECT 1 FROM pg_locks l JOIN pg_database d ON d.oid = l.database WHERE NOT l.granted AND d.datname = current_database() UNION SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            ).fetchone():
                return
            pause.wait(0.02)
    raise AssertionError("nobody waited")
