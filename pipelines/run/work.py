"""One unit of a dream, the same wherever it runs: prepare and ask the engine, then commit in one transaction.

What went wrong decides what becomes of the unit, by the class of the error. Nothing of a unit that did not commit is left; a unit that did is done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from pipelines.errors import Busy, Conflict, DreamdError, LeaseLost, Paused, Refused, Transient
from pipelines.run.asking import BILLING
from pipelines.run.asking_read import asks
from pipelines.run.parts import Parts, params_of
from pipelines.run.units.analyse import analyse
from pipelines.run.units.apply import apply
from pipelines.run.units.bench import Bench, Ready, Stopping
from pipelines.run.units.extract import extract, halves
from pipelines.run.units.plan import plan
from pipelines.run.units.render import render
from pipelines.run.units.resolve import resolve
from pipelines.store import Job, Store, Unit

BACK_OFF_S, BACK_OFF_MAX_S = 0.5, 300.0
DEATHS = 2
"""Workers that may die over a unit that asks a model before it is parted: it mostly waits, and in parts it asks other requests than before."""
ERROR_MAX = 500
"""Characters kept of what went wrong."""

HANDLERS: Mapping[str, Callable[[Bench], Ready]] = {
    "plan": plan, "extract": extract, "resolve": resolve, "analyse": analyse, "apply": apply, "render": render,
}  # fmt: skip
PARTS: Mapping[str, Callable[[Job], tuple[Unit, ...]]] = {"extract": halves}
"""Stages whose units can be parted to find what is at fault in them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What became of a unit: done, given_back, waits, retried, split, parked, replanned or lost; `ring` are jobs to ring for, `error` what went wrong."""

    outcome: str
    ring: tuple[int, ...] = ()
    error: Exception | None = None


def run_job(parts: Parts, job: Job, *, stop: Callable[[], bool] = lambda: False) -> Ran:
    """Do a claimed unit. `stop` is asked between steps: a graceful stop gives the unit back.

    Raises StoreUnavailable when not even what became of the unit can be stored; its lease then lapses. What is no Exception (Ctrl-C) gives the unit back
    and goes on up.
    """
    try:
        parts.step(f"claimed:{job.stage}")
        params = params_of(job.dream.params, parts.defaults)
        bench = Bench(parts=parts.serving(params), job=job, params=params, stop=stop)
        if job.claims > (DEATHS if asks(bench.parts.engine) else 1) and (cut := PARTS.get(job.stage, _none)(job)):  # those before us died over it
            return Ran(outcome="split", ring=parts.store.split_job(job, cut))
        bench.go_on()
        ready = HANDLERS[job.stage](bench)
        parts.step(f"ready:{job.stage}")
        ring = _commit(bench, ready)
    except Stopping:
        return Ran(outcome="given_back", ring=parts.store.give_back(job))
    except Exception as error:
        return _failed(parts, job, error)
    except BaseException:
        with suppress(DreamdError):  # the first trouble is the one to tell
            parts.store.give_back(job)
        raise
    parts.step(f"committed:{job.stage}")
    return Ran(outcome="done", ring=ring)


def _commit(bench: Bench, ready: Ready) -> tuple[int, ...]:
    """Everything a unit did, its end and what follows: one transaction, refused when the unit is not ours any more."""
    store, job = bench.store, bench.job
    with store.finishing(job, f"commit {job.stage}"):
        told = ready.write()
        if ready.ends:
            return store.end_dream(job, ready.ends, {**ready.summary, **told})
        return store.finish_job(job, result={**ready.result, **told}, then=ready.then)


def _failed(parts: Parts, job: Job, error: Exception) -> Ran:
    """Retry, plan again, part, park or stop."""
    store, code, said = parts.store, type(error).__name__, str(error)[:ERROR_MAX]
    try:
        match error:
            case LeaseLost():
                return Ran(outcome="lost", error=error)
            case Conflict() if job.stage == "apply":
                return Ran(outcome="replanned", ring=store.replan(job), error=error)
            case Paused():
                return Ran(outcome="waits", ring=_wait(store, job, error), error=error if error.why == BILLING else None)
            case Busy():
                return Ran(outcome="retried", ring=store.retry_job(job, max(error.after_s, back_off_s(job)), code, said), error=error)
            case Transient() | Conflict():
                return Ran(outcome="retried", ring=store.retry_job(job, back_off_s(job), code, said), error=error)
        cut = () if isinstance(error, Refused) else PARTS.get(job.stage, _none)(job)
        if cut:
            return Ran(outcome="split", ring=store.split_job(job, cut), error=error)
        return Ran(outcome="parked", ring=store.park_job(job, code, said), error=error)
    except LeaseLost as lost:
        lost.__cause__ = error
        return Ran(outcome="lost", error=lost)


def _wait(store: Store, job: Job, paused: Paused) -> tuple[int, ...]:
    """Put the unit aside for as long as it asks: nothing is counted. A bill that is not paid stops all calls of the store: it is nobody's turn to try."""
    with store.reading("read the clock") as conn:
        until = store.clock_ms(conn) + max(0, round(paused.for_s * 1000))
    if paused.why == BILLING and store.calls_paused() is None:
        store.pause_calls(BILLING, until)
    return store.wait_job(job, paused.why, until)


def back_off_s(job: Job) -> float:
    """How long to leave a unit that failed alone: twice as long each time, up to a limit; spread by a quarter, alike for one unit."""
    wait = min(BACK_OFF_MAX_S, BACK_OFF_S * 2.0**job.failures)
    return wait * (1 + (job.id * 2_654_435_761 % 1000) / 4000)


def _none(_: Job) -> tuple[Unit, ...]:
    return ()
