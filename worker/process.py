"""A worker process from start to end: its threads, what it hears, and how it leaves.

SIGTERM or SIGINT asks everybody to leave, and so does whatever else ends the process: units stop at their next check and are given back. What has not stopped
within GRACE_S is given back all the same (its commit will be refused), and the process ends; a second signal does so at once. The exit code says why it left:
0 asked, OUTSIDE, BROKEN. kill -9 leaves leases that others take over.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

import structlog

from worker.crew import Crew
from worker.stopping import Stop, stopping

SWEEP_S: Final = 5.0
TEND_S: Final = 60.0
"""How often batches are looked after whose dream has ended."""
LOOK_S: Final = 5.0
"""How often a worker that hears no bell looks by itself: nothing stands still while the broker is away, or lost what it had."""
POLL_S: Final = 0.5
"""How often a worker without a bell looks."""
OUTSIDE: Final = 3
"""Exit code of a process whose store has moved on: a person has to act."""
BROKEN: Final = 1
"""Exit code of a process that has to be started again."""

log = structlog.get_logger("dreamd.worker")


@dataclass(slots=True, kw_only=True)
class Ears:
    """When a bell was last heard."""

    clock: Callable[[], float] = time.monotonic
    at: float = float("-inf")

    def heard(self) -> None:
        """A bell rang just now."""
        self.at = self.clock()

    def quiet_s(self) -> float:
        """For how long none has."""
        return self.clock() - self.at


@dataclass(slots=True, kw_only=True)
class Rounds:
    """The threads of a process beside what Celery runs: heartbeat, sweep, and looking for work by itself.

    `look_s` is how often to look; with `ears` only while no bell was heard for as long.
    """

    crew: Crew
    look_s: float
    ears: Ears | None = None
    sweep_s: float = SWEEP_S
    over: threading.Event = field(default_factory=threading.Event)
    more: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    @contextmanager
    def going(self) -> Iterator[None]:
        """Run the rounds until the context ends."""
        every = {"heartbeat": (self.crew.beat, self.crew.ttl_ms / 3000), "sweep": (self.crew.sweep, self.sweep_s), "tend": (self.crew.tend, TEND_S)}
        for name, (work, pause_s) in every.items():
            self._begin(name, lambda work=work, pause_s=pause_s: self._again(work, pause_s))  # type: ignore[misc]
        self._begin("look-0", self._look)
        for n in range(1, self.crew.threads):
            self._begin(f"look-{n}", self._help)
        try:
            yield
        finally:
            self.over.set()
            self.more.set()
            for thread in self._threads:
                thread.join()

    def _begin(self, name: str, work: Callable[[], None]) -> None:
        def guarded() -> None:
            try:
                work()
            except Exception as error:  # the edge of a thread: without it the process would go on with a part of it dead
                self.crew.broke(error)

        thread = threading.Thread(target=guarded, name=name, daemon=True)
        thread.start()
        self._threads.append(thread)

    def _again(self, work: Callable[[], None], pause_s: float) -> None:
        while True:
            work()
            if self.over.wait(pause_s):
                return

    def _look(self) -> None:
        """Look by the clock, and go on as long as there is something to do."""
        while not self.over.wait(self.look_s):
            if self.ears is None or self.ears.quiet_s() >= self.look_s:
                self.drain()

    def _help(self) -> None:
        """Work along once another thread has found that there is work."""
        while not self.over.is_set():
            if not self.more.wait(POLL_S):  # another helper may have cleared what told this one to end
                continue
            self.more.clear()
            while not self.over.is_set() and self.crew.one():
                pass

    def drain(self) -> None:
        """Work until nothing is due."""
        while not self.over.is_set() and not self.crew.leaving() and self.crew.one():
            self.more.set()


def work_alone(crew: Crew, stop: Stop, *, once: bool = False) -> int:
    """Work without a bell: look until stopped, or `once`, until nothing is due. Returns the exit code: BROKEN, too, when the store did not answer `once`."""
    answered = True
    rounds = Rounds(crew=crew, look_s=POLL_S)
    crew.ring = lambda _jobs: rounds.more.set()
    log.info("worker_started", threads=crew.threads, bell=False)
    with stopping(stop, last=crew.leave, code=lambda: code_of(crew)):
        with rounds.going():
            if once:
                answered = _until_idle(crew, rounds, stop)
            while not once and not crew.leaving():
                stop.wait(POLL_S)
            log.info("worker_leaving")
            stop.set()
        return left(crew) or (0 if answered else BROKEN)


def _until_idle(crew: Crew, rounds: Rounds, stop: Stop) -> bool:
    """Work until nothing is due and nobody works; False when the store did not say so."""
    while not crew.leaving():
        rounds.drain()
        settled = crew.settled()
        if crew.troubled and not crew.busy:
            return False
        if settled:
            return True
        stop.wait(POLL_S if crew.busy else 0)
    return True


def left(crew: Crew) -> int:
    """Say goodbye; returns the exit code."""
    crew.leave()
    log.info("worker_left", done=crew.done, failed=crew.failed)
    return code_of(crew)


def code_of(crew: Crew) -> int:
    """The exit code of a crew that leaves now."""
    if crew.outside is not None:
        return OUTSIDE
    return BROKEN if crew.broken else 0
