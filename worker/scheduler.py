"""Wakes often and asks the database what is due: slots, what expired, what a crash left lying. Any number of replicas may do so at once.

APScheduler only wakes (memory store); what fired stands in the ledger (`pipelines.store.schedules`), so restarts, outages and copies of this process change
nothing. Each turn of `tick` is made of transactions that stand alone: killed anywhere, the next turn does the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import structlog
from apscheduler.schedulers.background import BackgroundScheduler

from pipelines.errors import DreamdError, Refused
from pipelines.store import Asked, Schedule, Store
from worker import slots
from worker.bell import Bell

ROLE: Final = "schedule"

log = structlog.get_logger("dreamd.schedule")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticked:
    """What one tick did: slots fired (scope, kind, slot, answer), scopes whose notes expired, schedules a wrong clock had sent astray or nobody can read."""

    fired: tuple[tuple[str, str, str, str], ...] = ()
    expired: tuple[str, ...] = ()
    reset: tuple[tuple[str, str], ...] = ()
    unreadable: tuple[tuple[str, str, str], ...] = ()
    rung: int = 0


@dataclass(slots=True)
class _Tally:
    fired: list[tuple[str, str, str, str]] = field(default_factory=list)
    expired: list[str] = field(default_factory=list)
    reset: list[tuple[str, str]] = field(default_factory=list)
    unreadable: list[tuple[str, str, str]] = field(default_factory=list)
    ring: list[int] = field(default_factory=list)

    def done(self) -> Ticked:
        return Ticked(
            fired=tuple(self.fired), expired=tuple(self.expired), reset=tuple(self.reset), unreadable=tuple(self.unreadable),
            rung=len(set(self.ring)),
        )  # fmt: skip


def tick(store: Store, now: datetime, *, params: Mapping[str, object], ring: Bell, host: str | None = None, stop: Callable[[], bool] = lambda: False) -> Ticked:
    """Fire what is due, expire what is over, sweep, and ring for all of it.

    `params` are those of a plain dream by the settings, `host` is this machine's name in the owners of jobs.

    Raises StoreUnavailable; what was done by then stays done.
    """
    tally = _Tally()
    try:
        for schedule in store.schedules():
            if stop():
                break
            _look(store, schedule, now, params, tally)
        for scope in store.expiring(now):
            if stop():
                break
            if (asked := store.expire_and_render(scope, now)) is not None:
                tally.expired.append(scope)
                tally.ring += asked.ring
        tally.ring += store.sweep(host=host).ring
    finally:
        if tally.ring:
            ring(tuple(dict.fromkeys(tally.ring)))
    return tally.done()


def _look(store: Store, schedule: Schedule, now: datetime, params: Mapping[str, object], tally: _Tally) -> None:
    """One schedule. One that cannot be read (an edit by hand, a zone this host does not know) is told and leaves the others alone."""
    try:
        if slots.astray(schedule, now):
            schedule = store.reset_schedule(schedule, newest=slots.newest_possible(schedule.kind, now))
            tally.reset.append((schedule.scope, schedule.kind))
        due = slots.due(schedule, now)
        if due is None or (schedule.kind == "adaptive" and not slots.adaptive(schedule.spec).wants(store.waiting(schedule.scope))):
            return
        asked: Asked | None = store.fire(schedule, due.slot, due.why, params=params)
    except Refused as error:
        tally.unreadable.append((schedule.scope, schedule.kind, str(error)))
        return
    if asked is not None:
        tally.fired.append((schedule.scope, schedule.kind, due.slot, asked.answer))
        tally.ring += asked.ring


@contextmanager
def waking(work: Callable[[], Any], *, every_s: float) -> Iterator[None]:
    """Call `work` now and every so many seconds, never twice at once, however late, until the context ends; then the call at hand is waited for."""
    scheduler = BackgroundScheduler(timezone="UTC")
    scheduler.add_job(work, "interval", seconds=every_s, max_instances=1, coalesce=True, misfire_grace_time=None, next_run_time=datetime.now().astimezone())
    scheduler.start()
    try:
        yield
    finally:
        scheduler.shutdown()


@dataclass(slots=True, kw_only=True)
class Scheduler:
    """One replica: `turn` is a tick for a process that goes on whatever happens. `name` and `host` are this process's and this machine's."""

    store: Store
    now: Callable[[], datetime]
    params: Mapping[str, object]
    ring: Bell
    name: str
    host: str | None = None
    stop: Callable[[], bool] = lambda: False
    done: int = 0
    failed: int = 0
    missed: int = 0

    def turn(self) -> Ticked | None:
        """Tick and tell the register of processes. Trouble is logged, once until it is over, and the next turn tries again."""
        try:
            done = tick(self.store, self.now(), params=self.params, ring=self.ring, host=self.host, stop=self.stop)
            self.done += 1
            self.store.process_seen(self.name, ROLE, self.done, self.failed)
        except DreamdError as error:
            self.failed += 1
            self.missed += 1
            if self.missed == 1:
                log.warning("tick_failed", error=type(error).__name__, why=str(error))
            return None
        if self.missed:
            log.info("ticks_again", missed=self.missed)
            self.missed = 0
        _tell(done)
        return done

    def leave(self) -> None:
        """Strike this replica off the register; one that cannot is struck off in time."""
        with suppress(DreamdError):
            self.store.left(self.name)


def _tell(done: Ticked) -> None:
    for scope, kind, slot, said in done.fired:
        log.info("slot_fired", scope=scope, kind=kind, slot=slot, answer=said)
    for scope in done.expired:
        log.info("notes_expired", scope=scope)
    for scope, kind in done.reset:
        log.warning("slot_in_future_reset", scope=scope, kind=kind)
    for scope, kind, why in done.unreadable:
        log.error("schedule_unreadable", scope=scope, kind=kind, why=why)
