"""The embedded runner: the jobs of a scope are worked on in this process, until a dream has ended. What it does not finish, the next one takes over."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from pipelines.errors import DreamdError, Transient
from pipelines.run.hands import READING
from pipelines.run.leases import Held
from pipelines.run.parts import Parts
from pipelines.run.work import run_job
from pipelines.store import Dream, DreamRunning, host_of, owner_of

TTL_MS = 30_000
"""A lease without a renewal; renewed three times as often."""
DEADLINE_MS = 3_600_000
"""The longest one unit may take."""
POLL_S, POLL_MAX_S = 0.02, 0.5
SWEEP_EVERY = 8
"""Looks in vain, after which what others left behind is looked for."""
ENDED = frozenset({"completed", "planned", "held", "failed", "canceled"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Driven:
    """A dream that has ended: how, how many of its units were worked on here, and what went wrong with any of them here."""

    dream: Dream
    units: int
    errors: tuple[Exception, ...]


def drive(
    parts: Parts, scope: str, dream: str, *, threads: int = 1, waiting: Callable[[DreamRunning], None] | None = None, stop: Callable[[], bool] = lambda: False
) -> Driven:  # fmt: skip
    """Work on the scope's units until this dream has ended, or `stop` says so: on its own, and before on those of a dream it has to wait for.

    `waiting` is told, time and again, for which process there is nothing to do but wait. Raises what kept a unit's fate from being stored
    (StoreUnavailable), and Ctrl-C; units in work are given back then.
    """
    crew = _Crew(parts=parts, scope=scope, dream=dream, waiting=waiting, asked=stop)
    with crew.beating():
        _together(crew, crew.work, threads)
    errors = (*(parts.hands.errors if parts.hands else ()), *crew.errors)
    return Driven(dream=parts.store.dream(scope, dream), units=crew.units, errors=errors)


def lend_a_hand(parts: Parts, scope: str, dream: str, *, threads: int, stop: Callable[[], bool], done: Callable[[Exception | None], None]) -> None:
    """Work on units that read sessions, of a dream another process drives, until there is none left to claim. `done` is told of each, and what went wrong.

    Raises StoreUnavailable when what became of a unit could not be stored; its lease then lapses.
    """
    crew = _Crew(parts=parts, scope=scope, dream=dream, waiting=None, asked=stop, stages=(READING,), done=done)
    with crew.beating():
        _together(crew, crew.help, threads)


def _together(crew: _Crew, work: Callable[[int], None], threads: int) -> None:
    """Let so many threads work. Whatever ends one of them, and Ctrl-C, ends all at their next check."""
    if threads == 1:
        work(0)
        return
    with ThreadPoolExecutor(max_workers=threads, thread_name_prefix="dreamd") as pool:
        try:
            for done in [pool.submit(work, n) for n in range(threads)]:
                done.result()
        finally:
            crew.leave()


@dataclass(slots=True)
class _Crew:
    """What the threads of one drive share."""

    parts: Parts
    scope: str
    dream: str
    waiting: Callable[[DreamRunning], None] | None
    asked: Callable[[], bool]
    stages: tuple[str, ...] | None = None
    done: Callable[[Exception | None], None] = lambda _: None
    over: threading.Event = field(default_factory=threading.Event)
    stirred: threading.Event = field(default_factory=threading.Event)
    errors: list[Exception] = field(default_factory=list)
    units: int = 0
    shared: tuple[str, int] = ("", sys.maxsize)
    held: Held = field(default_factory=Held)
    _rest: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def stopping(self) -> bool:
        """Whether to leave at the next check."""
        return self.over.is_set() or self.asked()

    def work(self, number: int) -> None:
        """One thread: claim, do, again; wait a little longer each time there is nothing to claim."""
        try:
            idle = 0
            while not self.stopping() and not self._ended():
                if self._one(number):
                    idle = 0
                    continue
                idle += 1
                self._wait(idle)
        finally:
            self.leave()

    def help(self, number: int) -> None:
        """One thread of a process that helps: claim, do, again, until there is nothing to claim."""
        try:
            while not self.stopping() and self._one(number):
                pass
        except BaseException:
            self.leave()
            raise

    def leave(self) -> None:
        """Have every thread leave at its next check."""
        self.over.set()
        self.stirred.set()

    def _one(self, number: int) -> bool:
        """Whether there was a unit to work on. Units of a dream that asks for another engine than ours are left to others."""
        store, hands = self.parts.store, self.parts.hands
        runs = store.running(self.scope)
        if runs is None or not can_run(self.parts, runs) or number >= self._at_once(runs):
            return False
        if self.stages is not None and runs.uid != self.dream:
            return False
        stages = self.stages or ((runs.phase,) if hands and runs.phase else None)  # where others share, none of a stage that began since we looked
        owner = owner_of(self.parts.holder, number)
        job = store.claim(owner, ttl_ms=TTL_MS, deadline_ms=DEADLINE_MS, dream=runs.uid, scope=self.scope, stages=stages)
        if job is None:
            return False
        if hands:
            hands.waiting(False)
        with self.held.holding(job):
            ran = run_job(self.parts, job, stop=lambda: self.stopping() or self.held.lost(job))
        with self._lock:
            self.units += job.dream.uid == self.dream
            if ran.error is not None and job.dream.uid == self.dream:
                self.errors.append(ran.error)
        self.done(ran.error)
        return True

    def _at_once(self, runs: Dream) -> int:
        """How many units of a dream may be in work here; hands are called to one that has begun to read."""
        hands = self.parts.hands
        if hands is None or runs.phase != READING:
            return sys.maxsize
        with self._lock:
            if self.shared[0] != runs.uid:
                left = self.parts.store.dream_state(self.scope, runs.uid).jobs.get(READING, {})
                self.shared = runs.uid, hands.help_reading(self.scope, runs.uid, units=left.get("ready", 0), ring=self.stirred.set)
        return self.shared[1] if hands.helping else sys.maxsize

    @contextmanager
    def beating(self) -> Iterator[None]:
        """Renew what is held every third of a lease's life, on a thread of its own."""
        thread = threading.Thread(target=self._beat, name="dreamd heartbeat", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._rest.set()
            thread.join()

    def _beat(self) -> None:
        while not self._rest.wait(TTL_MS / 3000):
            # what fails is said by the commit, which decides; the next beat may go through
            with suppress(DreamdError):
                self.held.renew(self.parts.store, ttl_ms=TTL_MS)

    def _ended(self) -> bool:
        return self.parts.store.dream(self.scope, self.dream).state in ENDED

    def _wait(self, idle: int) -> None:
        store, here, hands = self.parts.store, host_of(self.parts.holder), self.parts.hands
        if hands and not self.held.jobs():
            hands.waiting(True)
        if idle % SWEEP_EVERY == 0:
            store.sweep(host=here)
        runs = store.running(self.scope)
        if runs is not None:
            at_work = store.at_work(runs, host=here)
            ours = {self.parts.holder, *(hands.names if hands else ())}  # after it: one that has just joined may be among them
            others = [p for p in at_work if p not in ours]
            if others and self.waiting:
                self.waiting(DreamRunning(self.scope, runs.uid, others[0], runs.started_at))
            if not others and not can_run(self.parts, runs):
                raise WrongEngine(runs, self.parts.engine.name)
        else:
            self._require_soon()
        self.stirred.wait(min(POLL_MAX_S, POLL_S * 2 ** min(idle, 8)))
        if not self.over.is_set():
            self.stirred.clear()

    def _require_soon(self) -> None:
        """Leave a dream that waits for what takes long: somebody sits in front of this. A short wait is sat out."""
        store = self.parts.store
        dream = store.dream(self.scope, self.dream)
        if dream.state != "waiting":
            return
        if (pause := store.calls_paused()) is not None:
            raise DreamWaits(dream, f"calls to models are paused ({pause.why}): pay the bill or raise the limit at the provider")
        if store.batches(self.scope):  # its own, or one in which another dream asks the same
            raise DreamWaits(dream, "a batch is being worked on, which takes up to a day")


class DreamWaits(Transient):
    """A dream whose every unit waits for something that takes longer than a person does: whoever dreams or works next goes on with it."""

    def __init__(self, dream: Dream, why: str) -> None:
        super().__init__(f"dream {dream.uid} over {dream.scope} waits: {why}; then it goes on, by dreamd up, dreamd worker, or dreaming again")


class WrongEngine(Transient):
    """A dream that nobody works on wants another engine than this process has."""

    def __init__(self, dream: Dream, ours: str) -> None:
        wants = dream.params.get("engine")
        super().__init__(f"dream {dream.uid} over {dream.scope} wants the engine {wants}, this is {ours}: dream with --engine {wants}, "
                         f"or end it with dreamd dreams cancel {dream.uid}")  # fmt: skip


def can_run(parts: Parts, dream: Dream) -> bool:
    """Whether a dream asks for the engine of these parts, or for none in particular."""
    return parts.has(dream.params.get("engine"))
