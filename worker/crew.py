"""What the threads of a worker process share: they claim the job whose turn it is, do it, and ring for what follows. Its heart keeps the leases.

The same crew works behind Celery, whose messages only say that something is due, and without it, looking by itself. It shares nothing with other workers
but the database: neither logs nor wiki are read.
"""

from __future__ import annotations

import itertools
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final, cast

import structlog

from pipelines.errors import DreamdError, LeaseLost, Refused
from pipelines.run import Parts
from pipelines.run.asking_batch import Batches, takes_batches, tend
from pipelines.run.leases import Held
from pipelines.run.runner import DEADLINE_MS, TTL_MS
from pipelines.run.work import Ran, run_job
from pipelines.store import Job, host_of, owner_of
from worker.bell import Bell

ROLE: Final = "worker"
OTHER_ENGINE_MS: Final = 60_000
"""How long a unit waits that wants an engine this worker does not have; other workers may have it."""
ERROR_MAX: Final = 300
"""Characters of an error's message in a log line."""
HANDLED: Final = frozenset({"done", "split", "replanned"})

log = structlog.get_logger("dreamd.worker")


@dataclass(slots=True, kw_only=True)
class Crew:
    """One worker process. `engines` are live parts by the name of the engine a dream asks for; `threads` units are worked on at once.

    `stop` says when to leave: units then stop at their next check and are given back. `outside` is why the store is none of this code's any more, `broken`
    that something failed here that must not.
    """

    engines: Mapping[str, Parts]
    default: str
    ring: Bell
    stop: Callable[[], bool]
    threads: int
    ttl_ms: int = TTL_MS
    deadline_ms: int = DEADLINE_MS
    done: int = 0
    failed: int = 0
    finished_ms: int | None = None
    outside: Refused | None = None
    broken: bool = False
    gone: bool = False
    _places: threading.Semaphore = field(init=False)
    _held: Held = field(default_factory=Held)
    _unsaid: list[Job] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _number: Iterator[int] = field(default_factory=itertools.count)
    _troubled: bool = False
    _inside: int = 0
    _taken: int = 0

    def __post_init__(self) -> None:
        self._places = threading.Semaphore(self.threads)

    @property
    def parts(self) -> Parts:
        """The parts whose store everybody uses."""
        return self.engines[self.default]

    @property
    def name(self) -> str:
        """This process, as the store's register has it."""
        return self.parts.holder

    @property
    def busy(self) -> bool:
        """Whether a thread looks for a unit or works on one."""
        return self._inside > 0

    @property
    def troubled(self) -> bool:
        """Whether the store did not answer when it was last asked, or the fate of a unit is still to be told to it."""
        return self._troubled or bool(self._unsaid)

    def leaving(self) -> bool:
        """Whether no more units are begun."""
        return self.stop() or self.outside is not None or self.broken

    def broke(self, error: Exception) -> None:
        """A fault of ours that nothing else catches: this process leaves in good order and is started again."""
        self.broken = True
        log.error("worker_broken", **error_of(error))

    # --- one unit ---

    def one(self) -> bool:
        """Do the unit whose turn it is, once a place is free; False when none is due, or the store does not answer."""
        with self._places, self._within():
            if self.leaving():
                return False
            job = self._claimed()
            if job is None:
                return False
            with self._lock:
                self._taken += 1
            with structlog.contextvars.bound_contextvars(**facts_of(job)):
                self._do(job)
        return True

    def settled(self) -> bool:
        """Look once more; whether nothing was due, and nobody else was at a unit meanwhile whose end may have made something due."""
        taken = self._taken
        if self.busy or self.one():
            return False
        return not self.busy and self._taken == taken

    @contextmanager
    def _within(self) -> Iterator[None]:
        with self._lock:
            self._inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1

    def _claimed(self) -> Job | None:
        """Claim; a schema this code does not know ends the process in good order."""
        store = self.parts.store
        try:
            store.check_schema()
            job = store.claim(owner_of(self.name, next(self._number)), ttl_ms=self.ttl_ms, deadline_ms=self.deadline_ms)
        except Refused as error:
            self.outside = error
            log.error("store_outside", error=type(error).__name__, why=str(error)[:ERROR_MAX])
            return None
        except DreamdError as error:
            self._trouble("claim_failed", error)
            return None
        if self._troubled:
            log.info("store_answers_again")
        self._troubled = False
        return job

    def _do(self, job: Job) -> None:
        began = time.monotonic()
        parts = self._parts_for(job)
        try:
            if parts is None:
                ran = self._put_off(job)
            else:
                with self._held.holding(job):
                    ran = run_job(parts, job, stop=lambda: self.leaving() or self._held.lost(job))
        except LeaseLost as error:
            ran = Ran(outcome="lost", error=error)
        except DreamdError as error:
            with self._lock:
                self._unsaid.append(job)
                self.failed += 1
            self._trouble("unit_unsaid", error)
            return
        self._count(job, ran, time.monotonic() - began)
        if ran.ring:
            self.ring(ran.ring)

    def _parts_for(self, job: Job) -> Parts | None:
        """The parts with the engine the dream asks for; None when this process does not have it."""
        wanted = job.dream.params.get("engine")
        return self.engines.get(self.default if wanted is None else str(wanted))

    def _put_off(self, job: Job) -> Ran:
        store = self.parts.store
        with store.reading("read the clock") as conn:
            now = store.clock_ms(conn)
        return Ran(outcome="waits", ring=store.wait_job(job, "engine", now + OTHER_ENGINE_MS))

    def _count(self, job: Job, ran: Ran, seconds: float) -> None:
        """Count a unit that has ended here, and write its summary line."""
        with self._lock:
            if ran.outcome in HANDLED:
                self.done += 1
                self.finished_ms = time.time_ns() // 1_000_000
            elif ran.error is not None:
                self.failed += 1
        told: dict[str, object] = {"stage": job.stage, "unit": job.unit, "outcome": ran.outcome, "seconds": round(seconds, 3)}
        if job.claims > 1:
            told["claims"] = job.claims  # a worker before this one was lost over it
        if ran.error is None:
            log.info("unit_done", **told)
            return
        say = log.error if ran.outcome == "parked" else log.warning
        say("unit_done", **told, **error_of(ran.error))

    def _trouble(self, event: str, error: DreamdError) -> None:
        """Say once that the store does not answer, until it does."""
        if not self._troubled:
            log.warning(event, error=type(error).__name__, why=str(error)[:ERROR_MAX])
        self._troubled = True

    # --- the heart ---

    def beat(self) -> None:
        """Renew the leases of what is held, and tell the register. Trouble waits for the next beat."""
        store = self.parts.store
        try:
            self._held.renew(store, ttl_ms=self.ttl_ms)
            if not self.gone:
                store.process_seen(self.name, ROLE, self.done, self.failed, self.finished_ms)
        except DreamdError as error:
            self._trouble("beat_failed", error)

    def _say(self) -> None:
        """Give back the units whose fate could not be stored: what did commit is not ours any more, and stays as it is. One thread says it."""
        while self._unsaid:
            ring = self.parts.store.give_back(self._unsaid[0])
            with self._lock:
                del self._unsaid[0]
            if ring:
                self.ring(ring)

    def sweep(self) -> None:
        """Look for what time and crashes left behind, and ring for what is due."""
        store = self.parts.store
        try:
            self._say()
            swept = store.sweep(host=host_of(self.name))
        except DreamdError as error:
            self._trouble("sweep_failed", error)
            return
        if swept.killed or swept.repaired:
            log.warning("swept", killed=swept.killed, repaired=swept.repaired, freed=swept.freed)
        if swept.ring:
            self.ring(swept.ring)

    def tend(self) -> None:
        """Look after batches whose dream has ended meanwhile: what they answered is paid for. While the provider cannot be had they wait."""
        means = self.parts.means
        if means is None or not takes_batches(means.messages):
            return
        try:
            tend(self.parts.store, cast(Batches, means.messages), host=host_of(self.name))
        except DreamdError as error:
            log.warning("batches_wait", **error_of(error))

    def leave(self) -> None:
        """Let go of whatever is still held (a commit that comes later is refused), and strike this process off the register. What fails is made up for by
        a sweep."""
        self.gone = True
        with self._lock:
            held = [*self._held.jobs(), *self._unsaid]
        for job in held:
            with suppress(DreamdError):
                self.parts.store.give_back(job)
        with suppress(DreamdError):
            self.parts.store.left(self.name)


def facts_of(job: Job) -> dict[str, object]:
    """What every log line within a unit says: scope, dream, job, and the session where the unit is one session's."""
    facts: dict[str, object] = {"scope": job.scope, "dream": job.dream.uid, "job": job.id}
    sessions = job.payload.get("sessions")
    if isinstance(sessions, list) and len(sessions) == 1 and isinstance(sessions[0], list) and sessions[0]:
        facts["session"] = str(sessions[0][0])
    return facts


def error_of(error: Exception) -> dict[str, object]:
    """An error for the log: our own with its words, which hold no text of turns; any other by its kind and where it was raised alone."""
    told: dict[str, object] = {"error": type(error).__name__}
    if isinstance(error, DreamdError):
        told["why"] = str(error)[:ERROR_MAX]
    else:
        frames = traceback.extract_tb(error.__traceback__)[-3:]
        told["at"] = [f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno} in {frame.name}" for frame in frames]
    return told
