"""A rate that all workers share: together they never take more than the bucket and what flowed in, and nobody waits longer than it takes to fill."""

from __future__ import annotations

import pytest

from pipelines.store import Store
from pipelines.store.rates import ASTRAY_MS
from tests.contracts.store_kinds import clock, store
from tests.contracts.work_builders import Thread, Ticks, ticks

__all__ = ["clock", "store", "ticks"]  # fixtures of this suite


def test_a_bucket_is_full_at_first_and_fills_by_the_clock(store: Store, ticks: Ticks) -> None:
    assert [store.take("api", 1, 10, 3) for _ in range(3)] == [0, 0, 0]
    assert store.take("api", 1, 10, 3) == 100
    ticks.at += 99
    assert store.take("api", 1, 10, 3) == 1
    ticks.at += 1
    assert store.take("api", 1, 10, 3) == 0
    assert store.take("other", 3, 10, 3) == 0


def test_it_never_holds_more_than_its_burst(store: Store, ticks: Ticks) -> None:
    assert store.take("api", 1, 10, 3) == 0
    ticks.at += 3_600_000
    assert store.take("api", 3, 10, 3) == 0
    assert store.take("api", 3, 10, 3) == 300


def test_a_wait_is_how_long_it_takes_and_after_it_there_is_enough(store: Store, ticks: Ticks) -> None:
    assert store.take("api", 5, 3, 5) == 0
    wait = store.take("api", 2, 3, 5)
    ticks.at += wait - 1
    assert store.take("api", 2, 3, 5) == 1
    ticks.at += 1
    assert store.take("api", 2, 3, 5) == 0


@pytest.mark.parametrize("back_ms", [1, 1000, ASTRAY_MS + 1, 3_600_000])
def test_a_clock_set_back_gives_nothing_and_silences_nobody_for_long(store: Store, ticks: Ticks, back_ms: int) -> None:
    assert store.take("api", 2, 1, 2) == 0
    ticks.at -= back_ms
    assert store.take("api", 1, 1, 2) > 0
    ticks.at += min(back_ms, ASTRAY_MS) + 1000
    assert store.take("api", 1, 1, 2) == 0


@pytest.mark.parametrize(("n", "rate", "burst"), [(0, 1, 1), (-1, 1, 1), (2, 1, 1), (1, 0, 1), (1, float("inf"), 1), (1, float("nan"), 1)])
def test_what_can_never_be_taken_is_an_error(store: Store, n: float, rate: float, burst: float) -> None:
    with pytest.raises(ValueError, match="never"):
        store.take("api", n, rate, burst)


def test_eight_threads_take_no_more_than_there_is(store: Store, ticks: Ticks) -> None:
    def worker() -> int:
        return sum(store.take("api", 1, 10, 20) == 0 for _ in range(15))

    assert sum(t.result() for t in [Thread(worker) for _ in range(8)]) == 20
    ticks.at += 500
    assert sum(t.result() for t in [Thread(worker) for _ in range(8)]) == 5


def test_by_the_databases_own_clock_they_take_no_more_than_flowed_in(store: Store) -> None:
    with store.reading("read the clock") as conn:
        began = store.clock_ms(conn)

    def worker() -> int:
        return sum(store.take("api", 1, 200, 10) == 0 for _ in range(40))

    taken = sum(t.result() for t in [Thread(worker) for _ in range(8)])
    with store.reading("read the clock") as conn:
        passed = store.clock_ms(conn) - began
    assert 10 <= taken <= 10 + passed * 200 / 1000
