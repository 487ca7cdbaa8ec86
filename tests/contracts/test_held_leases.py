"""A lease that ran out in a living process: its late holder is told to stop, and the next one, of the same process, is as safe as any."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from pipelines.errors import LeaseLost
from pipelines.run import Parts
from pipelines.run.leases import Held
from pipelines.run.work import Ran
from pipelines.store import Job, Store
from tests.contracts.store_kinds import clock, store
from tests.contracts.work_builders import TTL, WAIT_S, Thread, Ticks, ask, nothing, take, ticks, until
from tests.dreaming import Desk
from tests.redacting import shared_redactor
from worker import crew as crews

__all__ = ["clock", "store", "ticks"]  # fixtures of this suite


def test_a_new_claim_on_a_unit_starts_clean_and_the_late_one_stops_and_ends_nothing_of_it(store: Store, ticks: Ticks) -> None:
    ask(store, "r")
    held, late = Held(), take(store)
    with held.holding(late):
        ticks.at += TTL + 1
        held.renew(store, ttl_ms=TTL)
        assert held.lost(late)
        fresh = take(store, "two")
        assert (fresh.id, fresh.fence > late.fence, held.lost(fresh)) == (late.id, True, False)
        going = held.holding(fresh)
        going.__enter__()
    for _ in range(4):
        ticks.at += TTL // 2
        held.renew(store, ttl_ms=TTL)
    assert (held.lost(fresh), held.jobs(), nothing(store, "three")) == (False, (fresh,), True)
    going.__exit__(None, None, None)
    assert held.jobs() == ()


def test_a_late_claim_is_told_to_stop_as_soon_as_a_newer_one_is_held_and_one_that_others_hold_by_the_next_beat(store: Store, ticks: Ticks) -> None:
    ask(store, "r")
    held, late = Held(), take(store)
    with held.holding(late):
        ticks.at += TTL + 1
        fresh = take(store, "two")
        with held.holding(fresh):
            assert (held.lost(late), held.lost(fresh)) == (True, False)
            held.renew(store, ttl_ms=TTL)
            assert (held.lost(late), held.lost(fresh)) == (True, False)
            ticks.at += TTL + 1
            take(store, "elsewhere")
            held.renew(store, ttl_ms=TTL)
            assert held.lost(fresh)


def test_the_heart_of_a_worker_keeps_the_unit_its_second_thread_took_over_from_the_first(
    store: Store, ticks: Ticks, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[tuple[Job, Callable[[], bool], threading.Event]] = []

    def work(parts: Parts, job: Job, *, stop: Callable[[], bool]) -> Ran:
        go = threading.Event()
        begun.append((job, stop, go))
        assert go.wait(WAIT_S)
        try:
            parts.store.park_job(job, "x", "x")
        except LeaseLost as error:
            return Ran(outcome="lost", error=error)
        return Ran(outcome="parked")

    monkeypatch.setattr(crews, "run_job", work)
    parts = Desk(tmp_path, shared_redactor(request)).parts(store)
    crew = crews.Crew(engines={"local": parts}, default="local", ring=lambda _: None, stop=lambda: False, threads=3, ttl_ms=TTL)
    ask(store, "r")
    first = Thread(crew.one)
    until(lambda: len(begun) == 1)
    ticks.at += TTL + 1  # the machine slept
    second = Thread(crew.one)
    until(lambda: len(begun) == 2)
    (_, told, go_first), (_, kept, go_second) = begun
    crew.beat()
    assert (told(), kept()) == (True, False)
    go_first.set()
    assert first.result() is True
    for _ in range(4):
        ticks.at += TTL // 2
        crew.beat()
    assert nothing(store, "elsewhere"), "its lease goes on"
    go_second.set()
    assert second.result() is True
    assert crew.failed == 1, "only the late one"
