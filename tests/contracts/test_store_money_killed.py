"""Killed between any two statements of reserving and settling, again and again: no limit is passed, nothing that was paid is missing in the ledger, and the
next day goes on where the last one stopped (systems hole 63)."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event, text

from pipelines.ports import Ask, Reply, Usage
from pipelines.store import Limit, Store, open_store, this_process
from pipelines.store.holder import host_of, owner_of
from tests.contracts.store_builders import DAY, SCOPE
from tests.contracts.store_kinds import Killed, clock, empty_url, killed_at, store
from tests.contracts.work_builders import extracting, rows, take

__all__ = ["clock", "empty_url", "store"]  # fixtures of this suite

TODAY, TOMORROW = "2026-11-03", "2026-11-04"
BOUND, COST, AT_ONCE, LIMIT = 10, 7, 4, 900
ASKS = [Ask(stage="extract", name=f"window {n}", body={"q": n, "model": "m"}, prompt="p", turns=(f"t{n}",), bound_uusd=BOUND) for n in range(40)]
UNTIL_MS = 2**60
KILLS = {"sqlite": 50, "postgresql": 20}  # a start costs twice as much there


def reply() -> Reply:
    return Reply(text="yes", stop="end_turn", model="m", usage=Usage(input=3, output=1), cost_uusd=COST)


def work(store: Store, job: int, day: str, call: Callable[[], None]) -> bool:
    """What a worker does: ask for all that is not answered, some at once; False when there is no money for the rest."""
    limits = (Limit(kind="day", name=day, limit_uusd=LIMIT),)
    while open_ := [ask for ask in ASKS if (ask.digest, 1) not in store.answers(SCOPE, [(a.digest, 1) for a in ASKS])][:AT_ONCE]:
        told = store.reserve(SCOPE, open_, dream="d1", until_ms=UNTIL_MS, limits=limits, job=job)
        assert not told.busy, "the worker before is dead"
        sent = [ask for ask in open_ if (ask.digest, 1) in told.calls]
        for _ in sent:
            call()
        if not sent:
            return False
        store.settle_many(SCOPE, [(told.calls[ask.digest, 1], reply(), ask) for ask in sent])
    return True


def worker(url: str, job: int, statement: int, taken: Any) -> None:
    """A process that dies before the given statement; `taken` counts what the provider took."""
    opened = open_store(url, now=lambda: DAY)
    with opened.writing("hold the job") as conn:
        conn.execute(text("UPDATE jobs SET owner = :owner WHERE id = :id"), {"owner": owner_of(this_process(), 1), "id": job})
    left = [statement]

    def die(*_: object) -> None:
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def call() -> None:
        taken.value += 1

    event.listen(opened.engines.write, "before_cursor_execute", die)
    event.listen(opened.engines.write, "commit", die)
    work(opened, job, TODAY, call)


def test_a_worker_killed_again_and_again_passes_no_limit_and_leaves_every_call_in_the_ledger(empty_url: str) -> None:
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload([__name__])
    taken = server.Value("q", 0, lock=False)
    with open_store(empty_url, now=lambda: DAY) as store:
        extracting(store, "u")
        job = take(store).id
        for n in range(KILLS[store.engines.write.dialect.name]):
            process = server.Process(target=worker, args=(empty_url, job, n % 29, taken))
            process.start()
            process.join(30)
            budget = store.budget("day", TODAY)
            used = budget.spent_uusd + budget.reserved_uusd + budget.presumed_uusd
            assert used <= LIMIT
            assert process.exitcode in {-signal.SIGKILL, 0}
            assert used >= taken.value * COST, "what the provider took is counted, whoever died"
        ledger(store, taken.value)
        finish(store, job, taken)


def ledger(store: Store, taken: int) -> None:
    """After the last death: all that is in flight is named, and no call the provider took is without a row."""
    calls = rows(store, "calls")
    assert taken <= len(calls)
    assert sum(row.state == "presumed" for row in calls) > 0
    named = [call.name for call in store.open_calls(SCOPE)]
    assert sorted(named) == sorted(row.name for row in calls if row.state in {"sent", "presumed"})
    answered = [row.name for row in calls if row.state == "answered"]
    assert len(answered) == len(set(answered)) == len(rows(store, "answers")), "an answer that was stored is not asked for again"
    assert taken - len(answered) <= len(named)


def finish(store: Store, job: int, taken: Any) -> None:
    """The next day runs: what its own limit allows is asked, what was answered is not."""
    with store.writing("hold the job") as conn:
        conn.execute(text("UPDATE jobs SET owner = :owner WHERE id = :id"), {"owner": owner_of(this_process(), 1), "id": job})
    before, missing = taken.value, len(ASKS) - len(rows(store, "answers"))
    store.presume_lapsed(SCOPE, host=host_of(this_process()))
    calls: list[int] = []
    store.now = lambda: DAY + timedelta(days=1)
    assert work(store, job, TOMORROW, lambda: calls.append(1))
    assert (taken.value, len(calls), len(rows(store, "answers"))) == (before, missing, len(ASKS))
    assert store.budget("day", TOMORROW).spent_uusd == missing * COST
    spent, presumed = store.budget("day", TODAY).spent_uusd, store.budget("day", TODAY).presumed_uusd
    (row,) = store.costs(SCOPE, by=("scope",))
    assert (row.uusd, row.presumed_uusd, row.open) == (spent + missing * COST, presumed, 0)


@pytest.mark.parametrize("write", ["reserve", "settle", "presume_lapsed"])
def test_a_write_of_money_that_dies_anywhere_leaves_no_trace(store: Store, write: str) -> None:
    store.ticks = lambda: 1_000_000
    try:
        calls = store.reserve(SCOPE, ASKS[:3], dream="d1", until_ms=1_000_001).calls
        store.ticks = lambda: 2_000_000
        writes: dict[str, Callable[[], object]] = {
            "reserve": lambda: store.reserve(SCOPE, ASKS[1:5], dream="d2", until_ms=UNTIL_MS),
            "settle": lambda: store.settle_many(SCOPE, [(calls[ASKS[0].digest, 1], reply(), ASKS[0])], void={calls[ASKS[1].digest, 1]: "x"}),
            "presume_lapsed": lambda: store.presume_lapsed(SCOPE, host="here"),
        }
        before = everything(store)
        for deaths in range(40):
            with killed_at(store.engines.write, deaths):
                try:
                    writes[write]()
                except Killed:
                    assert everything(store) == before
                    continue
            break
        assert 1 < deaths < 39
        assert everything(store) != before
    finally:
        store.ticks = None


def everything(store: Store) -> dict[str, list[Any]]:
    return {name: rows(store, name) for name in ("scopes", "calls", "answers", "budgets")}
