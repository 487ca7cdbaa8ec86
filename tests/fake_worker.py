"""A worker process for tests: `dreamd worker` with an engine that takes its time, leases as short as wanted, and a way to be killed at a named step.

    python -m tests.fake_worker [--threads N] [--engine-ms MS] [--until FILE] [--nothing] [--ttl-ms MS] [--look-s S] [--wiki DIR] [--kill-at STEP] [--freeze-at STEP] [--raise-in WORD SECRET]

It is settled by DREAMD_* like the command. Every session the engine is asked for is appended to the file DREAMD_TEST_ASKED, if that is set, with the process.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from dataclasses import dataclass, field, replace
from pathlib import Path

from pipelines.engines.local.engine import LocalEngine
from pipelines.ports import Extracted, Window
from worker import wiring
from worker.cli import serving
from worker.cli.worker import serve


@dataclass
class SlowEngine:
    """The local engine, which then waits, for a time or until a file is there: one session a unit, so that a hundred sessions are a hundred jobs."""

    wait_s: float = 0.0
    until: Path | None = None
    nothing: bool = False
    word: str = ""
    secret: str = ""
    name: str = LocalEngine().name
    sessions_a_unit: int = 1
    local: LocalEngine = field(default_factory=LocalEngine)
    pause: threading.Event = field(default_factory=threading.Event)

    def extract(self, window: Window) -> Extracted:
        if asked := os.environ.get("DREAMD_TEST_ASKED"):
            with open(asked, "ab", buffering=0) as file:
                file.write(f"{window.session.uid} {os.getpid()}\n".encode())
        if self.word and any(self.word in turn.text for turn in window.turns):
            raise RuntimeError(f"{window.turns[0].text} {self.secret}")
        self.pause.wait(self.wait_s)
        while self.until is not None and not self.until.exists():
            self.pause.wait(0.05)
        return Extracted() if self.nothing else self.local.extract(window)


def main() -> int:
    given = argparse.ArgumentParser()
    given.add_argument("--threads", type=int, default=2)
    given.add_argument("--engine-ms", type=int, default=0)
    given.add_argument("--until", type=Path)
    given.add_argument("--nothing", action="store_true", help="read nothing out of what is said")
    given.add_argument("--ttl-ms", type=int, default=30_000)
    given.add_argument("--deadline-ms", type=int, default=600_000)
    given.add_argument("--look-s", type=float, default=5.0)
    given.add_argument("--wiki", type=Path)
    given.add_argument("--kill-at", default="")
    given.add_argument("--freeze-at", default="")
    given.add_argument("--raise-in", nargs=2, default=("", ""))
    told = given.parse_args()
    loaded = serving.start(None)
    engine = SlowEngine(told.engine_ms / 1000, told.until, told.nothing, *told.raise_in)

    def step(name: str) -> None:
        if name == told.kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        if name == told.freeze_at:
            os.kill(os.getpid(), signal.SIGSTOP)

    with serving.open_serving(told.wiki, loaded) as (store, host):
        parts = replace(wiring.working_parts(store, loaded, host=host), engine=engine, step=step)
        return serve(
            loaded, {"local": parts}, threads=told.threads, ttl_ms=told.ttl_ms, deadline_ms=told.deadline_ms, look_s=told.look_s
        )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
