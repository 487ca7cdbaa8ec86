"""What a lease promises on every database: one holder, a fence that only grows, a commit that is checked and not hoped for."""

from __future__ import annotations

import os
import subprocess
import sys
from threading import Barrier

import pytest

from pipelines.errors import LeaseLost
from pipelines.store import Lease, Store, owner_of, this_process
from pipelines.store.holder import _started, host_of
from tests.contracts.store_builders import SCOPE
from tests.contracts.store_kinds import clock, store
from tests.contracts.work_builders import TTL, WAIT_S, Thread, Ticks, beside, ticks

__all__ = ["clock", "store", "ticks"]  # fixtures of this suite


def take(store: Store, owner: str = "one", name: str = "p1") -> Lease:
    lease = store.take_lease("page", name, owner, TTL)
    assert lease is not None
    return lease


def wrote(store: Store, lease: Lease) -> bool:
    """Whether a commit under the lease goes through."""
    try:
        with store.together("commit a page"):
            store.guard(lease)
            store.raise_revision(SCOPE, cause="test", above=store.revision(SCOPE))
    except LeaseLost:
        return False
    return True


def test_only_one_holds_it_and_the_fence_grows_with_each(store: Store, ticks: Ticks) -> None:
    one = take(store)
    assert store.take_lease("page", "p1", "two", TTL) is None
    assert store.take_lease("page", "p1", "one", TTL) is None, "it is not taken twice by its own holder either"
    assert take(store, "two", "p2").fence == 1
    assert store.take_lease("wiki", "p1", "two", TTL) is not None
    assert store.release_lease(one)
    assert not store.release_lease(one)
    assert (take(store, "two").fence, wrote(store, one)) == (2, False)


def test_one_that_is_over_can_be_taken(store: Store, ticks: Ticks) -> None:
    one = take(store)
    ticks.at += TTL - 1
    assert store.take_lease("page", "p1", "two", TTL) is None
    ticks.at += 1
    assert wrote(store, one), "nobody has taken it: the fence decides, not the clock"
    two = take(store, "two")
    assert (two.fence, wrote(store, one), wrote(store, two), store.release_lease(one)) == (2, False, True, False)


def test_a_clock_set_back_an_hour_holds_nothing_up(store: Store, ticks: Ticks) -> None:
    one = take(store)
    ticks.at -= 3_600_000
    two = take(store, "two")
    assert (wrote(store, one), wrote(store, two)) == (False, True)


def test_a_holder_with_a_longer_time_is_not_taken_for_one_of_a_set_back_clock(store: Store, ticks: Ticks) -> None:
    assert store.take_lease("page", "p1", "one", 10 * TTL) is not None
    assert store.take_lease("page", "p1", "two", TTL) is None


def test_a_lower_fence_is_refused_by_equality(store: Store) -> None:
    one = take(store)
    store.release_lease(one)
    two = take(store, "two")
    with store.writing("restore an old copy") as conn:
        conn.exec_driver_sql("UPDATE leases SET fence = 1")
    assert not wrote(store, two), "what a paused writer holds is newer than the row"


def test_a_guard_needs_a_transaction_to_last_in(store: Store) -> None:
    with pytest.raises(ValueError, match="together"):
        store.guard(take(store))


def test_a_commit_that_lost_its_lease_writes_nothing(store: Store, ticks: Ticks) -> None:
    one = take(store)
    ticks.at += TTL
    take(store, "two")
    assert not wrote(store, one)
    assert store.revision(SCOPE) == 0


def test_the_lease_of_a_dead_process_of_this_host_is_free_at_once(store: Store, ticks: Ticks) -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    dead = owner_of(f"{host_of(this_process())}:{process.pid}:{_started(process.pid)}", 1)
    try:
        one = take(store, dead)
        assert store.take_lease("page", "p1", owner_of(this_process(), 1), TTL) is None
        assert store.take_lease("page", "p1", "elsewhere:1:1:1", TTL) is None
    finally:
        process.communicate()
    assert store.take_lease("page", "p1", "elsewhere:1:1:1", TTL) is None, "another host cannot tell"
    two = take(store, owner_of(this_process(), 1))
    assert (two.fence, wrote(store, one), wrote(store, two)) == (2, False, True)


def test_a_process_with_the_same_number_is_another_one(store: Store, ticks: Ticks) -> None:
    take(store, f"{host_of(this_process())}:{os.getpid()}:1:7")
    assert take(store, owner_of(this_process(), 1)).fence == 2


# --- two at once -------------------------------------------------------------------------------------------------------------------------


def test_who_takes_over_waits_for_a_commit_that_is_under_way(store: Store, ticks: Ticks) -> None:
    """Hole 35: checked by SELECT, the old holder's write would come after the new one's."""
    one = take(store)
    ticks.at += TTL
    with store.together("commit a page"):
        store.guard(one)
        with beside(store, lambda: store.take_lease("page", "p1", "two", TTL)) as other:
            assert other.is_alive()
            rev = store.raise_revision(SCOPE, cause="one", above=0)
    two = other.result()
    assert (two.fence, store.revision(SCOPE), wrote(store, one), wrote(store, two)) == (2, rev, False, True)


def test_a_commit_waits_for_who_is_just_taking_over_and_is_refused(store: Store, ticks: Ticks) -> None:
    one = take(store)
    ticks.at += TTL
    with store.together("take over"):
        two = take(store, "two")
        with beside(store, lambda: wrote(store, one)) as other:
            pass
    assert (other.result(), wrote(store, two)) == (False, True)


def test_one_of_many_that_take_at_once_gets_it(store: Store) -> None:
    barrier = Barrier(8)

    def one(n: int) -> Lease | None:
        barrier.wait(WAIT_S)
        return store.take_lease("page", "hot", f"o{n}", TTL)

    for fence in range(1, 6):
        held = [lease for lease in [th.result() for th in [Thread(lambda n=n: one(n)) for n in range(8)]] if lease]
        assert [lease.fence for lease in held] == [fence]
        assert store.release_lease(held[0])
