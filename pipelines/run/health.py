"""Whether what was measured is well: health is judged by what gets done, not by what answers. Pure; the codes are those of the runbook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pipelines.store import Measured, ProcessHealth, ScopeHealth, duration

WORKER, SCHEDULER = "worker", "schedule"
"""Roles in the register of processes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """From when on something is a problem.

    success_age_s: no dream has completed for so long, although there is something to dream. wait_s: a request or a due unit waits for so long.
    worker_idle_s: a worker finished nothing for so long, while work is due or in its hands. seen_s: a process that told nothing for so long is not there.
    stalled_dreams: dreams in a row that confirm nothing, although notes could be. failed_dreams: dreams in a row that fail.
    behind_s: a wiki folder shows an older revision for so long. unreadable_share: of a sample of the archive that may be unreadable.
    """

    success_age_s: float
    wait_s: float
    worker_idle_s: float
    seen_s: float
    stalled_dreams: int
    failed_dreams: int
    behind_s: float
    unreadable_share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What is wrong (`code`, a word of ours), with what (a scope, a process, a place), why it is said, and what a person should do. One that is not `grave`
    is worth knowing and no alarm."""

    code: str
    about: str
    why: str
    what_to_do: str
    grave: bool = True


CODES = frozenset(
    {
        "backlog", "dreams_fail", "engine_fails", "faults", "letters", "no_scheduler", "no_success", "no_worker", "not_published", "parked", "stalled",
        "verify_failed", "worker_stuck",
    }
)  # fmt: skip
"""Every code `judge` may give."""


def judge(measured: Measured, limits: Limits) -> tuple[Problem, ...]:
    """The problems, those of the whole store first, then scope by scope."""
    return (*_workers(measured, limits), *_schedulers(measured, limits), *_store(measured), *(p for s in measured.scopes for p in _scope(s, limits)))


def missing(measured: Measured, limits: Limits) -> tuple[Problem, ...]:
    """Who was not seen although something waits for them: told to whoever asks, long before it is an alarm."""
    there = {p.role for p in measured.processes if p.seen_age_s <= limits.seen_s}
    out = []
    if SCHEDULER not in there and (scheduled := [s.scope for s in measured.scopes if s.scheduled_s is not None]):
        why = f"{_named(scheduled)} shall dream by schedule and no scheduler runs now"
        out.append(Problem(code="no_scheduler", about="the store", why=why, what_to_do=_START_SCHEDULER, grave=False))
    if WORKER not in there and (waiting := [s.scope for s in measured.scopes if s.pending or s.due]):
        why = f"a dream of {_named(waiting)} waits and no worker runs now"
        out.append(Problem(code="no_worker", about="the store", why=why, what_to_do=_START_WORKER, grave=False))
    return tuple(out)


_START_SCHEDULER = "start dreamd schedule or dreamd up; missed nights are caught up once"
_START_WORKER = "start dreamd worker (with a Redis) or dreamd up; dreamd dream works on its own scope"


# --- who works ---------------------------------------------------------------------------------------------------------------------------


def _workers(m: Measured, limits: Limits) -> Iterator[Problem]:
    there = [p for p in m.processes if p.role == WORKER and p.seen_age_s <= limits.seen_s]
    waits = m.due_age_s is not None and m.due_age_s > limits.worker_idle_s
    for process in there:
        if _is_stuck(process, limits, waits=waits):
            yield Problem(
                code="worker_stuck", about=process.name,
                why=f"it answers and has finished nothing for {duration(process.idle_s)}, while work is {'in its hands' if process.held_s else 'due'}",
                what_to_do="look at its log, then end it (SIGTERM) and start it again: its units go to another worker",
            )  # fmt: skip
    if waits and not there:
        yield Problem(
            code="no_worker", about="the store", why=f"a unit is due since {duration(m.due_age_s or 0)} and no worker runs now",
            what_to_do=_START_WORKER,
        )  # fmt: skip


def _is_stuck(process: ProcessHealth, limits: Limits, *, waits: bool) -> bool:
    """Whether a process that answers finishes nothing: there is work, it is not new, and none of it gets done."""
    holds = process.held_s is not None and process.held_s > limits.worker_idle_s
    return process.idle_s > limits.worker_idle_s and (waits or holds)


def _schedulers(m: Measured, limits: Limits) -> Iterator[Problem]:
    scheduled = [s.scope for s in m.scopes if s.scheduled_s is not None and s.scheduled_s > limits.seen_s]
    if scheduled and not any(p.role == SCHEDULER and p.seen_age_s <= limits.seen_s for p in m.processes):
        yield Problem(
            code="no_scheduler", about="the store", why=f"{_named(scheduled)} shall dream by schedule and no scheduler runs now",
            what_to_do=_START_SCHEDULER,
        )  # fmt: skip


def _store(m: Measured) -> Iterator[Problem]:
    if m.faults:
        yield Problem(
            code="faults", about="the store", why=f"repaired in the last day: {_counted(m.faults)}; each says that something of dreamd's own went wrong",
            what_to_do="nothing is lost; report it with the log of the time",
        )  # fmt: skip
    if m.letters_new:
        yield Problem(
            code="letters", about="the store", why=f"messages nobody could act on came in the last day: {m.letters_new}",
            what_to_do="dreamd letters shows them, and with --clear forgets them; dreamd submit --schema prints what a message must be", grave=False,
        )  # fmt: skip


# --- one scope ---------------------------------------------------------------------------------------------------------------------------


def _scope(s: ScopeHealth, limits: Limits) -> Iterator[Problem]:
    if (age := _without_success(s, limits)) is not None:
        yield Problem(
            code="no_success", about=s.scope, why=f"no dream has completed for {duration(age)}",
            what_to_do=f"dreamd dreams list --scope {s.scope} says how the last ones ended, dreamd dream makes one now",
        )  # fmt: skip
    waits = max(s.pending_age_s or 0, s.due_age_s or 0)
    if waits > limits.wait_s:
        yield Problem(
            code="backlog", about=s.scope, why=f"{s.pending} requests and {s.due} units wait, the oldest for {duration(waits)}",
            what_to_do="start more workers, or see what holds the running dream: dreamd dreams list",
        )  # fmt: skip
    if s.failed_in_row >= limits.failed_dreams:
        yield Problem(
            code="dreams_fail", about=s.scope, why=f"{s.failed_in_row} in a row failed, the last with {s.failed_code or 'no code'}",
            what_to_do=f"dreamd dreams show DREAM --scope {s.scope} names the units and why",
        )  # fmt: skip
    yield from _results(s, limits)
    for folder in s.folders:
        if folder.behind_s is not None and folder.behind_s > limits.behind_s:
            yield Problem(
                code="not_published", about=s.scope,
                why=f"wiki {folder.marker} on {folder.host} shows an older revision for {duration(folder.behind_s)}, seen {duration(folder.seen_age_s)} ago",
                what_to_do=f"start dreamd publish --follow on {folder.host}; when that host is gone, dreamd publish --take-over on another",
            )  # fmt: skip


def _results(s: ScopeHealth, limits: Limits) -> Iterator[Problem]:
    """What the last dreams left undone."""
    if s.parked:
        yield Problem(
            code="parked", about=s.scope, why=f"the last dream went on without {sum(s.parked.values())} units: {_counted(s.parked)}",
            what_to_do="dreamd dreams show DREAM names them and why; what they were to read is read by the next dream",
        )  # fmt: skip
    if s.unpromoted >= limits.stalled_dreams and s.eligible:
        waits = f"; {s.held} dreams wait for a person" if s.held else ""
        yield Problem(
            code="stalled", about=s.scope, why=f"0 promoted for {s.unpromoted} dreams although {s.eligible} are eligible{waits}",
            what_to_do="dreamd apply DREAM or dreamd dreams cancel DREAM for those that are held; else the log says why nothing is applied",
        )  # fmt: skip
    if s.engine_failures:
        yield Problem(
            code="engine_fails", about=s.scope, why=f"the engine failed at {s.engine_failures} units of the last dreams",
            what_to_do="dreamd dreams show DREAM names the error; sessions it could not read are read again",
        )  # fmt: skip
    if s.verify_failed:
        yield Problem(
            code="verify_failed", about=s.scope, why=f"{s.verify_failed} citations did not hold when they were last read again",
            what_to_do=f"dreamd verify --scope {s.scope} names them; restore the archive they lie in",
        )  # fmt: skip


def _without_success(s: ScopeHealth, limits: Limits) -> float | None:
    """For how long a scope has completed no dream, when it is to dream or has something to dream over and that is too long."""
    wants = s.scheduled_s is not None or s.pending or s.unread or s.failed_in_row
    waits = s.success_age_s if s.success_age_s is not None else max(s.scheduled_s or 0, s.pending_age_s or 0)
    return waits if wants and waits > limits.success_age_s else None


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {n}" for name, n in counts.items())


def _named(scopes: list[str]) -> str:
    return ", ".join(scopes[:3]) + (f" and {len(scopes) - 3} more" if len(scopes) > 3 else "")
