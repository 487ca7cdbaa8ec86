"""Worker processes for tests, and short words for what to give them, wait for and compare."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from pipelines.run.parts import Params
from pipelines.run.publish import publish_revision
from pipelines.run.report import BROUGHT, brought_by
from pipelines.run.sources import take_in
from pipelines.run.wiki import folder_of
from pipelines.store import Dream, Store
from tests.dreaming import SCOPE, Desk
from tests.redacting import rule_cache
from tests.writing import ClaudeLog

ROOT = Path(__file__).parent.parent
WAIT_S = 120
FAKE = (sys.executable, "-m", "tests.fake_worker")
COMMAND = (sys.executable, "-m", "worker")


@dataclass
class Process:
    """A process of ours, its log lines kept as they come."""

    popen: subprocess.Popen[str]
    lines: list[dict[str, Any]] = field(default_factory=list)
    raw: list[str] = field(default_factory=list)
    more: threading.Condition = field(default_factory=threading.Condition)

    def __post_init__(self) -> None:
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.popen.stderr is not None
        for line in self.popen.stderr:
            with self.more:
                self.raw.append(line)
                if line.startswith("{"):
                    self.lines.append(json.loads(line))
                self.more.notify_all()

    def heard(self, event: str, **fields: object) -> dict[str, Any]:
        """Wait for a log line with these fields."""

        def found() -> dict[str, Any] | None:
            wanted = {"event": event, **fields}
            return next((x for x in self.lines if all(x.get(k) == v for k, v in wanted.items())), None)

        with self.more:
            assert self.more.wait_for(lambda: found() is not None or self.popen.poll() is not None, WAIT_S), self.said
            told = found()
        assert told is not None, self.said
        return told

    def times(self, event: str, **fields: object) -> int:
        with self.more:
            return sum(1 for x in self.lines if all(x.get(k) == v for k, v in {"event": event, **fields}.items()))

    @property
    def said(self) -> str:
        return "".join(self.raw[-30:])

    def send(self, *signals: int) -> None:
        for number in signals:
            self.popen.send_signal(number)

    def ended(self) -> int:
        """Wait for its end; its exit code."""
        code = self.popen.wait(WAIT_S)
        self.reader.join(WAIT_S)
        return code


@dataclass
class Office:
    """Where processes are started: what they are told, and all that were."""

    env: Mapping[str, str]
    cwd: Path
    stack: ExitStack

    def start(self, *command: str, env: Mapping[str, str] | None = None, **more: Any) -> Process:
        """Start a process; it is killed when the test ends."""
        merged = {**self.env, **(env or {})}
        popen = subprocess.Popen(command, env=merged, cwd=self.cwd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **more)
        process = Process(popen)
        self.stack.callback(_end, process)
        return process

    def worker(self, *arguments: object, env: Mapping[str, str] | None = None) -> Process:
        """A test's worker."""
        return self.start(*FAKE, *map(str, arguments), env=env)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return subprocess.run([*COMMAND, *arguments], env=self.env, cwd=self.cwd, capture_output=True, text=True, timeout=WAIT_S)


def _end(process: Process) -> None:
    process.popen.kill()
    process.popen.wait()
    process.reader.join(WAIT_S)
    assert process.popen.stderr is not None
    process.popen.stderr.close()


@contextmanager
def office(request: pytest.FixtureRequest, folder: Path, *, database: str = "", redis: str = "", **settings: str) -> Iterator[Office]:
    """An office in an empty folder, over these servers."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("DREAMD_", "XDG_", "CELERY"))}
    env = {**kept, "HOME": str(folder), "XDG_CACHE_HOME": str(rule_cache(request)), "PYTHONPATH": str(ROOT), "DREAMD_DATA_DIR": str(folder / "data"),
           **{f"DREAMD_{k.upper()}": v for k, v in settings.items()}}  # fmt: skip
    env |= {f"DREAMD_{name}": url for name, url in (("DATABASE_URL", database), ("REDIS_URL", redis)) if url}
    with ExitStack() as stack:
        yield Office(env, folder, stack)


def sessions(desk: Desk, many: int) -> None:
    """Small sessions: a rule of its own in each, and a value that some of them change."""
    for n in range(many):
        log = ClaudeLog(f"session {n}").later(hours=n)
        log.user(f"Always use tool-{n} in folder{n}.").assistant("Noted.")
        if n % 10 == 0:
            log.user(f"no, the staging database listens on port {5400 + n}, not {5390 + n}").assistant("Right.")
        log.save(desk.logs)


def ask(desk: Desk, store: Store, request_id: str = "r") -> str:
    """Take in what lies on the desk and ask for a dream over it; returns its uid. Nobody is rung for."""
    parts = desk.parts(store)
    taken = take_in(parts, desk.request())
    told = {**Params().as_json(), BROUGHT: brought_by(taken, "").as_json()}
    asked = store.request(SCOPE, request_id=request_id, params=told, cause="test")
    assert asked.dream is not None
    return asked.dream


def ended(store: Store, dream: str, seconds: float = WAIT_S) -> Dream:
    """Wait for a dream's end."""
    until(lambda: store.dream(SCOPE, dream).state in {"completed", "held", "failed", "canceled"}, seconds, lambda: str(store.dream_state(SCOPE, dream)))
    return store.dream(SCOPE, dream)


def until(true: Callable[[], bool], seconds: float = WAIT_S, why: Callable[[], str] = lambda: "it never came true") -> None:
    """Look again and again, for a while at most."""
    pause, deadline = threading.Event(), time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, why()
        pause.wait(0.03)


def tree(desk: Desk) -> dict[str, str]:
    """Publish what is committed, and read it, the reports left out."""
    with desk.store() as store:
        publish_revision(replace(desk.parts(store)), folder_of(desk.request()), SCOPE)
    return desk.tree()


STOPPED = (signal.SIGSTOP, signal.SIGCONT)
