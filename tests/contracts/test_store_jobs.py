"""What every database promises of jobs: done once, joined once, nothing lost by a worker that dies, waits, hangs or comes late."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from itertools import chain
from threading import Barrier
from typing import Any

import pytest

from pipelines.errors import LeaseLost, Refused
from pipelines.store import Job, Store, Unit, owner_of, this_process
from pipelines.store.holder import _started, host_of
from pipelines.store.work import CLAIMS_MAX, FAILURES_MAX, RENDER_ONLY, REPLANS_MAX
from tests.contracts.store_builders import SCOPE, belief, version
from tests.contracts.store_kinds import Clock, Killed, clock, killed_at, store
from tests.contracts.work_builders import (
    DEADLINE,
    TTL,
    WAIT_S,
    Thread,
    Ticks,
    ask,
    at_stage,
    beside,
    everything,
    extracting,
    finish_all,
    nothing,
    rows,
    state,
    take,
    ticks,
)

__all__ = ["clock", "store", "ticks"]  # fixtures of this suite
OTHER = "acme/web/lee"
HERE = owner_of(this_process(), 1)


def units(store: Store) -> dict[str, str]:
    return {f"{r.stage} {r.unit}": r.state for r in rows(store, "jobs")}


# --- through the stages ------------------------------------------------------------------------------------------------------------------


def test_a_dream_goes_through_its_stages_each_opened_by_the_last_unit_of_the_one_before(store: Store) -> None:
    asked = store.request(SCOPE, request_id="r", params={"engine": "local"}, cause="hand")
    plan = take(store)
    assert (asked.ring, plan.stage, plan.unit, dict(plan.payload), plan.dream.state, plan.dream.params) == (
        (plan.id,), "plan", "all", {}, "running", {"engine": "local"},
    )  # fmt: skip
    ring = store.finish_job(plan, result={"sessions": 2}, then=[Unit("w1", {"session": "s1"}), Unit("w2", {"session": "日"})])
    one, two = take(store), take(store, "two")
    assert (ring, {one.unit: one.payload, two.unit: two.payload}) == ((one.id, two.id), {"w1": {"session": "s1"}, "w2": {"session": "日"}})
    assert nothing(store)
    assert store.finish_job(two, result={"claims": 3}) == ()
    assert nothing(store), "one unit is still open"
    (resolve,) = store.finish_job(one)
    assert store.results(plan.dream, "extract") == {"w1": {}, "w2": {"claims": 3}}
    assert store.results(plan.dream, "plan") == {"all": {"sessions": 2}}
    job = take(store)
    assert (job.id, job.stage, job.unit) == (resolve, "resolve", "all")
    store.finish_job(job)
    assert finish_all(store) == ["analyse all", "apply all", "render all"]
    told = store.dream_state(SCOPE, plan.dream.uid)
    assert (told.dream.state, told.dream.phase, told.parked) == ("completed", "render", 0)
    assert told.jobs == {stage: {"done": 2 if stage == "extract" else 1} for stage in ("plan", "extract", "resolve", "analyse", "apply", "render")}


def test_a_plan_that_names_nothing_to_extract_goes_straight_to_resolving(store: Store) -> None:
    ask(store, "r")
    assert finish_all(store) == ["plan all", "resolve all", "analyse all", "apply all", "render all"]


def test_results_and_the_end_of_a_unit_are_one_transaction(store: Store) -> None:
    job = at_stage(store, "resolve")
    before = everything(store)

    def half_way() -> None:
        with store.finishing(job):
            store.stage(job.dream, [belief("n1", version())], {"n1": ()})
            store.finish_job(job)
            raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        half_way()
    assert everything(store) == before
    with store.finishing(job):
        store.stage(job.dream, [belief("n1", version())], {"n1": ()})
        store.finish_job(job)
    assert (len(store.planned(job.dream)), units(store)["analyse all"]) == (1, "ready")


def test_only_the_last_unit_of_a_stage_names_those_of_the_next(store: Store) -> None:
    extracting(store, "w1", "w2")
    with pytest.raises(ValueError, match="1 more units"):
        store.finish_job(take(store), then=[Unit("x")])


def test_a_dream_can_be_ended_at_any_stage_and_what_it_had_planned_to_do_is_dropped(store: Store) -> None:
    job = at_stage(store, "analyse")
    with store.finishing(job):
        store.stage(job.dream, [belief("n1", version())], {"n1": ()})
        store.finish_job(job)
        store.end_dream(job, "planned", {"notes": 1})
    dream = store.dream(SCOPE, job.dream.uid)
    assert (dream.state, dream.summary, units(store)["apply all"], nothing(store)) == ("planned", {"notes": 1}, "canceled", True)
    assert len(store.planned(dream)) == 1
    with pytest.raises(ValueError, match="does not end as"):
        store.end_dream(job, "running")


def test_a_dream_that_ended_keeps_nothing_staged_unless_a_person_is_to_decide(store: Store) -> None:
    job = at_stage(store, "apply")
    with store.finishing(job):
        store.stage(job.dream, [belief("n1", version())], {"n1": ()})
        store.end_dream(job, "failed", code="guard")
    assert (store.dream(SCOPE, job.dream.uid).code, store.planned(job.dream)) == ("guard", ())


# --- ours or not -------------------------------------------------------------------------------------------------------------------------

ENDINGS: dict[str, Callable[[Store, Job], Any]] = {
    "hold": lambda s, j: s.hold(j),
    "finish": lambda s, j: s.finish_job(j),
    "retry": lambda s, j: s.retry_job(j, 1, "busy", "e"),
    "park": lambda s, j: s.park_job(j, "bad", "e"),
    "split": lambda s, j: s.split_job(j, [Unit("a"), Unit("b")]),
    "wait": lambda s, j: s.wait_job(j, "batch", 2**41),
    "replan": lambda s, j: s.replan(j),
    "end": lambda s, j: s.end_dream(j, "completed"),
}


@pytest.mark.parametrize("ending", sorted(ENDINGS))
def test_a_late_worker_is_refused_and_changes_nothing(store: Store, ticks: Ticks, ending: str) -> None:
    extracting(store, "w1", "w2")
    late = take(store)
    ticks.at += TTL
    take(store, "fills the queue")
    assert take(store, "one").id == late.id, "taken over, by a worker of the same name"
    before = everything(store)
    with pytest.raises(LeaseLost):
        ENDINGS[ending](store, late)
    assert store.give_back(late) == ()
    assert everything(store) == before


@pytest.mark.parametrize("ending", sorted(ENDINGS))
def test_a_worker_of_a_canceled_dream_learns_it_at_its_commit(store: Store, ending: str) -> None:
    extracting(store, "w1", "w2")
    job = take(store)
    store.cancel(SCOPE, job.dream.uid)
    before = everything(store)
    with pytest.raises(LeaseLost):
        ENDINGS[ending](store, job)
    assert store.renew([job], ttl_ms=TTL) == {job.id}
    assert everything(store) == before


@pytest.mark.parametrize("ending", sorted(ENDINGS))
def test_a_unit_that_dies_anywhere_leaves_no_trace_or_is_ended_whole(store: Store, ticks: Ticks, ending: str) -> None:
    uid = extracting(store, "w1", "w2")
    store.finish_job(take(store, "two"))
    ask(store, "next")
    job = take(store)
    assert job.dream.uid == uid
    before = everything(store)
    for deaths in range(60):
        with killed_at(store.engines.write, deaths):
            try:
                ENDINGS[ending](store, job)
            except Killed:
                assert everything(store) == before
                continue
        break
    assert 0 < deaths < 59
    assert ending == "hold" or everything(store) != before


WRITES: dict[str, Callable[[Store], Any]] = {
    "claim": lambda s: s.claim("x", ttl_ms=TTL, deadline_ms=DEADLINE, scope=SCOPE),
    "claim of what is left": lambda s: s.claim("x", ttl_ms=TTL, deadline_ms=DEADLINE, scope=OTHER),
    "request": lambda s: s.request("acme/web/new", request_id="r9", params={}, cause="hand", slot="1"),
    "cancel": lambda s: s.cancel(SCOPE, s.dreams(SCOPE)[1].uid),
    "process": lambda s: s.process_seen("p", "worker", 1),
    "lease": lambda s: s.take_lease("page", "p", "o", TTL),
    "freeze": lambda s: s.freeze_dirty(s.dreams(SCOPE)[1]),
    "dirty": lambda s: s.mark_dirty(SCOPE, ["c1", "c2"], "test"),
}


@pytest.mark.parametrize("write", sorted(WRITES))
def test_other_writes_of_work_that_die_anywhere_leave_no_trace(store: Store, ticks: Ticks, write: str) -> None:
    extracting(store, "w1", "w2")
    ask(store, "r2", x=1)
    extracting(store, "w1", scope=OTHER)
    take(store, scope=OTHER)
    ticks.at += TTL
    before = everything(store)
    for deaths in range(60):
        with killed_at(store.engines.write, deaths):
            try:
                WRITES[write](store)
            except Killed:
                assert everything(store) == before
                continue
        break
    assert 0 < deaths < 59
    assert everything(store) != before


def test_leases_are_renewed_up_to_the_deadline_and_lost_ones_are_named(store: Store, ticks: Ticks) -> None:
    extracting(store, "w1", "w2", "w3")
    one, two, three = take(store), take(store), take(store)
    for _ in range(DEADLINE // TTL - 1):
        ticks.at += TTL - 1
        assert store.renew([one, two], ttl_ms=TTL) == frozenset()
        assert store.renew([], ttl_ms=TTL) == frozenset()
    assert store.renew([three], ttl_ms=TTL) == {three.id}, "over is over, also when nobody has taken it"
    store.finish_job(two)
    assert store.renew([one, two], ttl_ms=TTL) == {two.id}
    ticks.at = one.deadline_ms
    assert store.renew([one], ttl_ms=TTL) == {one.id}, "a hung worker is let go of"
    again = {take(store, "other").id, take(store, "other").id}
    assert again == {one.id, three.id}


def test_a_heartbeat_neither_waits_for_a_row_that_is_being_finished_nor_calls_it_lost(store: Store, ticks: Ticks) -> None:
    extracting(store, "w1", "w2")
    one, two = take(store), take(store)
    ticks.at += TTL - 1
    with store.finishing(one):
        beat = Thread(lambda: store.renew([one, two], ttl_ms=TTL))
        lost = None if store.on_sqlite else beat.result()  # a file has one writer: there it waits its turn
        store.finish_job(one)
    assert (lost, beat.result()) == ((None, {one.id}) if store.on_sqlite else (frozenset(), frozenset()))
    ticks.at += TTL - 1
    assert store.renew([two], ttl_ms=TTL) == frozenset()


# --- errors, stops and kills -------------------------------------------------------------------------------------------------------------


def test_a_unit_that_failed_is_due_again_after_its_pause_and_parked_at_last(store: Store, ticks: Ticks) -> None:
    uid = extracting(store, "w1", "w2")
    store.finish_job(take(store))
    for n in range(1, FAILURES_MAX):
        job = take(store)
        assert (job.failures, job.claims) == (n - 1, 1), "a failure that was told is no kill"
        assert store.retry_job(job, 2.5, "busy", "HTTP 529") == ()
        assert nothing(store)
        ticks.at += 2_499
        assert nothing(store)
        ticks.at += 1
    (resolve,) = store.retry_job(take(store), 2.5, "busy", "HTTP 529: 日")
    assert store.parked(store.dream(SCOPE, uid)) == (("extract", "w2", "busy", "HTTP 529: 日"),)
    assert take(store).id == resolve, "the dream goes on without it"
    assert store.dream_state(SCOPE, uid).parked == 1


def test_a_graceful_stop_counts_as_nothing(store: Store) -> None:
    extracting(store, "w1")
    for _ in range(20):
        job = take(store)
        assert (job.claims, job.failures) == (1, 0)
        assert store.give_back(job) == (job.id,)
        assert store.give_back(job) == (), "only once"
    assert store.sweep().killed == 0


@pytest.mark.parametrize("stage", ["plan", "extract", "resolve", "analyse", "apply", "render"])
def test_a_unit_that_kills_each_of_its_workers_is_parked(store: Store, ticks: Ticks, stage: str) -> None:
    if stage == "extract":
        uid = extracting(store, "w1")
    else:
        uid = at_stage(store, stage).dream.uid
        ticks.at += TTL  # the first of them is gone already
    for n in range(CLAIMS_MAX - (stage != "extract")):
        assert take(store, f"victim {n}").claims == n + 1 + (stage != "extract")
        ticks.at += TTL
    assert nothing(store), "it had its chances"
    swept = store.sweep()
    goes_on = stage in {"extract", "analyse"}
    assert (swept.killed, swept.freed, swept.repaired) == (1, 0, 0)
    assert [(s, u, c) for s, u, c, _ in store.parked(store.dream(SCOPE, uid))] == [(stage, "w1" if stage == "extract" else "all", "killed")]
    assert (state(store, uid), store.dream(SCOPE, uid).code) == (("running", "") if goes_on else ("failed", "killed"))
    assert nothing(store) is not goes_on


def test_the_job_of_a_dead_process_of_this_host_is_taken_over_at_once(store: Store, ticks: Ticks) -> None:
    extracting(store, "w1")
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        job = take(store, owner_of(f"{host_of(this_process())}:{process.pid}:{_started(process.pid)}", 3))
        assert nothing(store, HERE)
    finally:
        process.kill()
        process.communicate()
    assert nothing(store, "elsewhere:1:1:1"), "another host cannot tell"
    again = take(store, HERE)
    assert (again.id, again.fence, again.claims) == (job.id, job.fence + 1, 2)


def test_a_sweep_frees_what_its_worker_left(store: Store, ticks: Ticks) -> None:
    uid = extracting(store, "w1")
    job = take(store)
    assert store.sweep() == store.sweep(host="elsewhere"), "nothing is over yet"
    ticks.at += TTL
    swept = store.sweep()
    assert (swept.freed, swept.ring, units(store)["extract w1"]) == (1, (job.id,), "ready")
    assert store.dream_state(SCOPE, uid).jobs["extract"] == {"ready": 1}


def test_a_machine_that_slept_has_killed_nobody(store: Store, ticks: Ticks) -> None:
    extracting(store, "w1")
    for _ in range(2 * CLAIMS_MAX):
        assert take(store, HERE).claims == 1, "its process lives on"
        ticks.at += TTL
    assert store.sweep(host=host_of(this_process())).killed == 0
    assert take(store, HERE).claims == 1


def test_a_unit_that_hangs_is_one_that_kills_though_its_process_lives(store: Store, ticks: Ticks) -> None:
    extracting(store, "w1")
    for n in range(CLAIMS_MAX):
        job = take(store, HERE)
        assert job.claims == n + 1
        while not store.renew([job], ttl_ms=TTL):
            ticks.at += TTL - 1
        ticks.at = max(ticks.at, job.deadline_ms)
    assert store.sweep(host=host_of(this_process())).killed == 1


def test_a_clock_set_back_an_hour_keeps_no_unit_of_a_worker_that_is_gone(store: Store, ticks: Ticks) -> None:
    extracting(store, "w1")
    job = take(store)
    ticks.at -= 3_600_000
    assert take(store, "other").id == job.id
    with pytest.raises(LeaseLost):
        store.finish_job(job)


def test_a_worker_that_lives_keeps_its_unit_over_a_clock_set_back(store: Store, ticks: Ticks) -> None:
    extracting(store, "w1")
    job = take(store)
    ticks.at -= 3_600_000
    assert store.renew([job], ttl_ms=TTL) == frozenset()
    assert nothing(store)
    assert len(store.finish_job(job)) == 1


def test_a_pause_that_a_wrong_clock_set_for_years_is_cut_short(store: Store, ticks: Ticks) -> None:
    extracting(store, "w1", "w2")
    one, two = take(store), take(store)
    ticks.at += 14 * 365 * 86_400_000
    store.retry_job(one, 60, "busy", "e")
    store.wait_job(two, "batch", ticks.at + 60_000)
    ticks.at -= 14 * 365 * 86_400_000
    assert nothing(store)
    store.sweep()
    store.sweep()
    assert {take(store).id, take(store).id} == {one.id, two.id}


# --- splitting, waiting, planning again --------------------------------------------------------------------------------------------------


def test_a_unit_is_split_until_what_poisons_it_is_alone(store: Store) -> None:
    uid = extracting(store, "w")
    first = take(store)
    ring = store.split_job(first, [Unit("w/0", {"turns": [0, 4]}), Unit("w/1", {"turns": [4, 8]})])
    left, right = take(store), take(store)
    assert (ring, left.payload, right.payload) == ((left.id, right.id), {"turns": [0, 4]}, {"turns": [4, 8]})
    assert store.finish_job(left) == ()
    store.split_job(right, [Unit("w/1/0"), Unit("w/1/1")])
    store.park_job(take(store), "poison", "e")
    store.finish_job(take(store))
    assert store.dream_state(SCOPE, uid).jobs["extract"] == {"split": 2, "done": 2, "parked": 1}
    assert finish_all(store) == ["resolve all", "analyse all", "apply all", "render all"]
    assert state(store, uid) == "completed"


def test_parts_need_names_of_their_own(store: Store) -> None:
    extracting(store, "w1", "w2")
    job = take(store)
    for parts in ([], [Unit("w2")], [Unit("x"), Unit("x")]):
        before = everything(store)
        with pytest.raises(ValueError, match=r"nothing|already|one name"):
            store.split_job(job, parts)
        assert everything(store) == before


def test_a_stage_that_must_be_fails_the_dream_when_all_its_parts_are_parked(store: Store) -> None:
    job = at_stage(store, "resolve")
    ask(store, "next", x=1)
    store.split_job(job, [Unit("a"), Unit("b")])
    store.park_job(take(store), "bad_reply", "e")
    (begun,) = store.park_job(take(store), "bad_reply", "e")
    dream = store.dream(SCOPE, job.dream.uid)
    assert (dream.state, dream.code, take(store).id) == ("failed", "bad_reply", begun)


def test_a_dream_of_which_only_waiting_is_left_frees_its_scope_and_goes_on_when_it_can(store: Store, ticks: Ticks) -> None:
    uid = extracting(store, "w1", "w2")
    one, two = take(store), take(store)
    assert store.wait_job(one, "batch", ticks.at + 1000) == ()
    assert state(store, uid) == "running", "one unit still runs"
    by_hand = ask(store, "by hand", x=1)
    (begun,) = store.finish_job(two)
    assert (state(store, uid), state(store, by_hand), take(store).id) == ("waiting", "running", begun)
    ticks.at += 1000
    assert store.sweep().woken == 0
    assert state(store, uid) == "waiting", "its scope is taken"
    ticks.at += TTL
    finish_all(store)
    assert state(store, by_hand) == "completed"
    assert state(store, uid) == "completed", "it went on when the other one had ended"
    assert nothing(store)


def test_a_waiting_unit_of_a_running_dream_needs_no_sweep(store: Store, ticks: Ticks) -> None:
    extracting(store, "w1", "w2")
    one, two = take(store), take(store)
    store.wait_job(one, "rate", ticks.at + 1000)
    assert nothing(store)
    ticks.at += 1000
    again = take(store, "other")
    assert (again.id, again.claims, again.fence) == (one.id, 1, one.fence + 1)
    store.finish_job(two)


def test_a_dream_that_waits_alone_is_woken_by_a_sweep(store: Store, ticks: Ticks) -> None:
    uid = extracting(store, "w1")
    job = take(store)
    store.wait_job(job, "budget", ticks.at + 5000)
    assert (state(store, uid), nothing(store)) == ("waiting", True)
    ticks.at += 5000
    swept = store.sweep()
    assert (swept.woken, swept.ring, state(store, uid), take(store).id) == (1, (job.id,), "running", job.id)


def test_a_dream_is_planned_again_a_few_times_and_then_held(store: Store) -> None:
    job = at_stage(store, "resolve")
    uid = job.dream.uid
    for n in range(REPLANS_MAX + 1):
        assert (job.stage, store.dream(SCOPE, uid).replans) == ("resolve", n)
        with store.finishing(job):
            store.stage(job.dream, [belief("n1", version("n1", f"round {n}"))], {"n1": ()})
            store.finish_job(job)
        store.finish_job(take(store))
        apply = take(store)
        assert apply.stage == "apply"
        store.replan(apply)
        if n < REPLANS_MAX:
            assert store.planned(job.dream) == (), "what was staged is staged again from what stands now"
            with pytest.raises(LeaseLost):
                store.finish_job(apply)
            job = take(store)
    dream = store.dream(SCOPE, uid)
    assert (dream.state, dream.code, nothing(store), len(store.planned(dream))) == ("held", "conflict", True, 1)


# --- fair, once, and joined once ---------------------------------------------------------------------------------------------------------


def test_ten_thousand_units_of_one_scope_delay_anothers_single_one_by_two_claims_at_most(store: Store, ticks: Ticks) -> None:
    extracting(store, *(f"w{n}" for n in range(10_000)))
    for _ in range(5):
        store.finish_job(take(store))
    ask(store, "r", OTHER)
    assert OTHER in {take(store).scope, take(store).scope}


def test_a_clock_set_back_starves_no_scope(store: Store, ticks: Ticks) -> None:
    for scope in (SCOPE, OTHER):
        extracting(store, *(f"w{n}" for n in range(8)), scope=scope)
    ticks.at += 1000
    assert {take(store).scope for _ in range(2)} == {SCOPE, OTHER}
    ticks.at -= 500
    assert Counter(take(store).scope for _ in range(8)) == {SCOPE: 4, OTHER: 4}


def test_scopes_take_turns_and_one_that_dreams_again_is_not_first_in_line(store: Store, ticks: Ticks) -> None:
    extracting(store, "a", "b", "c", "d", "e", "f")
    got = []
    for n in range(3):
        ask(store, f"r{n}", OTHER, n=n)
        for _ in range(4):
            ticks.at += 1
            job = take(store)
            got.append(job.scope)
            if job.scope == OTHER:
                store.cancel(OTHER, job.dream.uid)
                break
            store.finish_job(job)
    assert max(Counter(got).values()) <= len(got) / 2 + 1


def test_a_claim_is_narrowed_by_scope_dream_and_stage(store: Store) -> None:
    uid = extracting(store, "w1")
    assert nothing(store, scope=OTHER)
    assert nothing(store, dream="another")
    assert nothing(store, stages=("plan", "apply"))
    assert take(store, scope=SCOPE, dream=uid, stages=("extract",)).unit == "w1"


def test_each_unit_is_done_once_however_many_work(store: Store) -> None:
    extracting(store, *(f"w{n}" for n in range(60)))
    extracting(store, *(f"w{n}" for n in range(60)), scope=OTHER)

    def work(n: int) -> list[tuple[str, str]]:
        did = []
        while (job := store.claim(f"worker {n}", ttl_ms=TTL, deadline_ms=DEADLINE, stages=("extract",))) is not None:
            did.append((job.scope, job.unit))
            store.finish_job(job)
        return did

    did = Counter(chain.from_iterable(th.result() for th in [Thread(lambda n=n: work(n)) for n in range(6)]))
    assert (len(did), set(did.values())) == (120, {1})
    assert {r.stage for r in rows(store, "jobs") if r.state == "ready"} == {"resolve"}


def test_eight_siblings_that_finish_at_once_have_one_successor_and_never_none(store: Store) -> None:
    """Hole 19: found by looking for unfinished siblings, the join stalls in nearly every try."""
    rounds = 12
    barriers = [Barrier(8) for _ in range(rounds)]
    mine: list[list[Job]] = []
    for n in range(rounds):
        extracting(store, *(f"w{i}" for i in range(8)), scope=f"acme/{n}")
        mine.append([take(store, scope=f"acme/{n}") for _ in range(8)])

    def finish(i: int) -> list[int]:
        rings: list[int] = []
        for barrier, jobs in zip(barriers, mine, strict=True):
            barrier.wait(WAIT_S)
            rings += store.finish_job(jobs[i])
        return rings

    rung = sorted(chain.from_iterable(th.result() for th in [Thread(lambda i=i: finish(i)) for i in range(8)]))
    after = [r for r in rows(store, "jobs") if r.stage == "resolve"]
    assert ([r.id for r in after], {r.state for r in after}, len(after)) == (rung, {"ready"}, rounds)
    assert store.sweep().repaired == 0


def test_who_takes_over_passes_by_a_unit_whose_commit_is_under_way(store: Store, ticks: Ticks) -> None:
    """Hole 35, the first order: the late commit has the row."""
    extracting(store, "w1")
    job = take(store)
    ticks.at += TTL
    with store.finishing(job):
        other = Thread(lambda: store.claim("two", ttl_ms=TTL, deadline_ms=DEADLINE))
        if not store.on_sqlite:  # there it waits for the one writer
            assert other.result() is None
        store.finish_job(job)
    claimed = other.result()
    assert (claimed is None or claimed.stage == "resolve", units(store)["extract w1"]) == (True, "done")


def test_a_commit_that_waits_for_who_takes_over_is_refused(store: Store, ticks: Ticks) -> None:
    """Hole 35, the other order."""
    extracting(store, "w1")
    job = take(store)
    ticks.at += TTL
    with store.together("take over"):
        two = take(store, "two")
        with beside(store, lambda: store.finish_job(job)) as other:
            pass
    with pytest.raises(LeaseLost):
        other.result()
    assert len(store.finish_job(two)) == 1


def test_nothing_deadlocks_while_all_of_it_happens_at_once(store: Store) -> None:
    for n in range(3):
        extracting(store, *(f"w{i}" for i in range(12)), scope=f"acme/{n}")

    def work(n: int) -> int:
        did = 0
        for i in range(25):
            job = store.claim(f"worker {n}", ttl_ms=TTL, deadline_ms=DEADLINE)
            if job is None:
                store.request(f"acme/{i % 3}", request_id=f"{n} {i}", params={"n": n % 2}, cause="test")
                continue
            store.renew([job], ttl_ms=TTL)
            if i % 13 == 12:
                with suppress(Refused):
                    store.cancel(job.scope, job.dream.uid)
            if i % 7 == 6:
                store.sweep()
            did += end_somehow(store, job, i)
        return did

    assert sum(th.result() for th in [Thread(lambda n=n: work(n)) for n in range(5)]) > 40
    for n in range(3):
        finish_all(store, f"acme/{n}")
    store.sweep()
    assert (store.faults(), {r.state for r in rows(store, "jobs")} & {"ready", "running"}) == ((), set())
    assert {d.state for n in range(3) for d in store.dreams(f"acme/{n}")} <= {"completed", "canceled"}


def end_somehow(store: Store, job: Job, i: int) -> int:
    try:
        if job.stage == "render":
            store.end_dream(job, "completed")
        elif i % 5 == 4:
            store.give_back(job)
        else:
            store.finish_job(job)
    except LeaseLost:
        return 0
    return 1


# --- repair and bells --------------------------------------------------------------------------------------------------------------------


def spoil(store: Store, sql: str) -> None:
    with store.writing("spoil") as conn:
        conn.exec_driver_sql(sql)


def test_a_healthy_store_has_nothing_to_repair(store: Store, ticks: Ticks) -> None:
    for stage in ("plan", "resolve", "render"):
        at_stage(store, stage, scope=f"acme/{stage}")
    extracting(store, "w1", "w2")
    store.finish_job(take(store))
    before = everything(store)
    assert store.sweep().repaired == 0
    assert everything(store) == before


def test_a_join_that_was_lost_is_repaired_and_told_as_a_fault(store: Store) -> None:
    uid = extracting(store, "w1", "w2")
    store.finish_job(take(store))
    job = take(store)
    spoil(store, "UPDATE stages SET open = 3 WHERE stage = 'extract'")
    assert store.finish_job(job) == ()
    assert nothing(store)
    swept = store.sweep()
    opened = take(store)
    assert (swept.repaired, swept.ring, opened.stage) == (1, (opened.id,), "resolve")
    assert store.faults() == (("join", uid),)
    assert store.sweep().repaired == 0


def test_a_dream_that_did_all_and_was_not_ended_is_completed(store: Store) -> None:
    job = at_stage(store, "render")
    store.finish_job(job)
    store.sweep()
    assert (state(store, job.dream.uid), store.dream(SCOPE, job.dream.uid).code) == ("completed", "swept")


def test_a_dream_that_was_asked_for_and_is_nowhere_is_asked_for_again(store: Store) -> None:
    ask(store, "r", depth=3)
    lost = ask(store, "r2", depth=4)
    spoil(store, "UPDATE requests SET dream_id = NULL WHERE request_id = 'r2'")
    spoil(store, f"DELETE FROM dreams WHERE uid = '{lost}'")
    assert store.sweep().repaired == 1
    found = [d for d in store.dreams(SCOPE) if d.state == "pending"]
    assert [(d.cause, d.params) for d in found] == [("sweep", {"depth": 3})]
    assert store.faults() == (("follow_up", SCOPE),)
    assert store.sweep().repaired == 0


def test_a_thousand_due_jobs_and_no_worker_do_not_flood_the_queue(store: Store, ticks: Ticks) -> None:
    """Hole 33. While nobody claims, one bell in a doubling pause is enough to learn that somebody does again."""
    extracting(store, *(f"w{n}" for n in range(1000)))
    ticks.at += 120_000
    rung = [len(store.sweep().ring) for n in range(100) if setattr(ticks, "at", ticks.at + 1000) is None]
    assert sum(rung) <= 100 // 10
    assert sum(rung) >= 2
    take(store)
    ticks.at += 10_000
    assert sum(len(store.sweep().ring) for _ in range(3)) >= 990, "somebody hears bells: those that were lost are rung again"
    assert store.sweep().ring == ()


def test_a_job_that_came_due_is_rung_for_once(store: Store, ticks: Ticks) -> None:
    extracting(store, "w1")
    job = take(store)
    store.retry_job(job, 5, "busy", "e")
    assert store.sweep().ring == ()
    ticks.at += 5_000
    assert (store.sweep().ring, store.sweep().ring) == ((job.id,), ())


def test_units_of_dreams_that_ended_long_ago_are_dropped(store: Store, clock: Clock) -> None:
    old = ask(store, "old")
    finish_all(store)
    clock.at += timedelta(days=20)
    extracting(store, "w1", request_id="new")
    clock.at += timedelta(days=10)
    store.sweep()
    assert len(rows(store, "jobs")) == 7
    clock.at += timedelta(days=100)
    store.sweep()
    assert {(r.stage, r.state) for r in rows(store, "jobs")} == {("plan", "done"), ("extract", "ready")}, "a dream that still runs keeps its units"
    assert (store.dream_state(SCOPE, old).dream.state, store.dream_state(SCOPE, old).jobs, ask(store, "old")) == ("completed", {}, old)
    finish_all(store)


def test_old_units_after_the_last_completed_dream_are_kept_for_the_next_one(store: Store, clock: Clock) -> None:
    def kept() -> set[str]:
        uids = {r.id: r.uid for r in rows(store, "dreams")}
        return {uids[r.dream_id] for r in rows(store, "jobs")}

    applied = at_stage(store, "render", "applied")
    store.end_dream(applied, "completed", {"beliefs": "b"})
    failed = at_stage(store, "render", "failed")
    store.end_dream(failed, "failed")
    store.request(SCOPE, request_id="expiry", params=RENDER_ONLY, cause="expiry")
    store.end_dream(take(store, scope=SCOPE), "completed", {"beliefs": "b"})  # it reads no session
    other = at_stage(store, "render", "never any completed", OTHER)
    store.end_dream(other, "failed")
    clock.at += timedelta(days=100)
    store.sweep()
    assert failed.dream.uid in kept()
    assert kept().isdisjoint({applied.dream.uid, other.dream.uid})
    later = at_stage(store, "render", "later")
    store.end_dream(later, "completed", {"beliefs": "b"})
    store.sweep()
    assert kept() == {later.dream.uid}


def test_a_dream_of_many_units_that_never_ends_keeps_none_of_those_after_it_from_being_dropped(store: Store, clock: Clock) -> None:
    endless = extracting(store, *(f"w{n}" for n in range(1_001)), request_id="endless", scope=OTHER)
    ask(store, "old")
    finish_all(store)
    clock.at += timedelta(days=100)
    store.sweep()
    assert {r.dream_id for r in rows(store, "jobs")} == {r.id for r in rows(store, "dreams") if r.uid == endless}


def test_processes_tell_what_they_finish(store: Store, ticks: Ticks) -> None:
    store.process_seen("host:1:2", "worker", done=3, failed=1, finished_ms=ticks.at)
    store.process_seen("host:9:9", "schedule")
    ticks.at += 1000
    store.process_seen("host:1:2", "worker", done=3, failed=2)
    told = {w.name: (w.role, w.done, w.failed, w.finished_ms, w.seen_ms) for w in store.workers()}
    assert told == {"host:1:2": ("worker", 3, 2, ticks.at - 1000, ticks.at), "host:9:9": ("schedule", 0, 0, None, ticks.at - 1000)}
    store.left("host:1:2")
    ticks.at += 8 * 86_400_000
    store.sweep()
    assert store.workers() == ()
