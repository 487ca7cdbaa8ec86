"""What every database promises whoever asks for a dream: accepted is kept, asking again is safe, what was asked late is not lost."""

from __future__ import annotations

from collections import Counter
from threading import Barrier

import pytest

from pipelines.errors import Conflict, LeaseLost, Refused
from pipelines.store import Asked, BeliefChange, Store, Unit, this_process
from pipelines.store.work import PENDING_MAX
from tests.contracts.store_builders import SCOPE, batch, belief, claim, gated, start_dream, turn, version
from tests.contracts.store_kinds import Clock, clock, store
from tests.contracts.work_builders import (
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


def request(store: Store, request_id: str, scope: str = SCOPE, slot: str | None = None, **params: object) -> Asked:
    return store.request(scope, request_id=request_id, params=params, cause="platform", hand="ana", slot=slot)


def states(store: Store, scope: str = SCOPE) -> Counter[str]:
    return Counter(d.state for d in store.dreams(scope))


# --- who is answered with which dream ----------------------------------------------------------------------------------------------------


def test_a_request_id_answers_with_its_dream_for_ever(store: Store) -> None:
    first = request(store, "r1")
    assert (first.answer, first.state, len(first.ring)) == ("accepted", "running", 1)
    finish_all(store)
    for params in ({}, {"budget": 5}):
        again = request(store, "r1", **params)
        assert (again.answer, again.dream, again.state, again.ring) == ("known", first.dream, "completed", ())
    assert len(store.dreams(SCOPE)) == 1
    other = request(store, "r1", "acme/web/lee")
    assert (other.answer, other.dream == first.dream) == ("accepted", False), "scopes are walls"


def test_equal_parameters_join_a_dream_that_has_read_nothing_yet(store: Store) -> None:
    first = request(store, "r1", engine="claude", budget={"usd": 5, "of": ["日"]})
    joined = store.request(SCOPE, request_id="r2", params={"budget": {"of": ["日"], "usd": 5}, "engine": "claude"}, cause="cron")
    assert (joined.answer, joined.dream, joined.ring) == ("coalesced", first.dream, first.ring), "rung for again: its bell may be lost"
    assert request(store, "r2").dream == first.dream


def test_a_dream_somebody_is_reading_for_answers_no_later_request(store: Store) -> None:
    first = request(store, "r1")
    plan = take(store)
    late = request(store, "r2")
    assert (late.answer, late.state, late.dream == first.dream, late.ring) == ("accepted", "pending", False, ())
    assert request(store, "r3").dream == late.dream
    store.give_back(plan)
    assert request(store, "r4").dream == late.dream, "the one that is pending comes first"
    finish_all(store)
    assert states(store) == {"completed": 2}


def test_a_plan_that_was_given_back_reads_anew_and_so_answers_again(store: Store) -> None:
    first = request(store, "r1")
    store.give_back(take(store))
    assert request(store, "r2").dream == first.dream


@pytest.mark.parametrize("other", [{"engine": "claude"}, {"engine": "local", "budget": 5}, {"engine": "local", "instructions": "only rules"}])
def test_unlike_requests_are_dreams_of_their_own(store: Store, other: dict[str, object]) -> None:
    """Hole 30."""
    take_first = request(store, "r1", engine="local")
    second = store.request(SCOPE, request_id="r2", params=other, cause="platform")
    assert (second.answer, second.state) == ("accepted", "pending")
    finish_all(store)
    assert [(d.uid, d.params) for d in reversed(store.dreams(SCOPE))] == [(take_first.dream, {"engine": "local"}), (second.dream, other)]


def test_unlike_ones_queue_in_order_up_to_a_limit_and_are_then_refused(store: Store) -> None:
    with store.together("ask"):
        asked = [request(store, f"r{n}", n=n) for n in range(PENDING_MAX + 1)]
    full = request(store, "one more", n=-1)
    assert (full.answer, full.dream, full.retry_after_s is not None) == ("refused", None, True)
    assert request(store, "joins", n=7).dream == asked[7].dream, "what joins one that waits is no longer queue"
    before = everything(store)
    assert request(store, "one more", n=-1).answer == "refused"
    assert everything(store) == before, "a refusal leaves nothing behind"
    begun = [take(store).dream.uid]
    store.cancel(SCOPE, begun[-1])
    begun.append(take(store).dream.uid)
    assert begun == [a.dream for a in asked[:2]]
    assert request(store, "one more", n=-1).answer == "accepted"


def test_each_slot_is_one_dream_whoever_asks_and_whenever(store: Store) -> None:
    first = request(store, "replica 1", slot="nightly 2026-11-03")
    assert request(store, "replica 2", slot="nightly 2026-11-03", other=1).dream == first.dream
    finish_all(store)
    assert request(store, "replica 3", slot="nightly 2026-11-03").answer == "known"
    assert request(store, "replica 1", slot="nightly 2026-11-04").answer == "known", "the sender's own id comes first"
    joined = request(store, "by hand", x=1)
    assert request(store, "r", slot="nightly 2026-11-05", x=1).dream == joined.dream
    finish_all(store)
    assert request(store, "r9", slot="nightly 2026-11-05", x=1).dream == joined.dream, "a slot that joined another dream is used up, too"


@pytest.mark.parametrize("bad", ["", "a\0b", "\ud800", "x" * 201])
def test_an_id_no_database_takes_is_refused(store: Store, bad: str) -> None:
    with pytest.raises(Refused, match="request id"):
        request(store, bad)
    assert request(store, "日本 " * 40).answer == "accepted"


def test_parameters_of_any_text_are_kept(store: Store) -> None:
    odd = request(store, "r", instructions="nur Regeln \0 \ud83d", n=2**70)
    assert request(store, "r2", n=2**70, instructions="nur Regeln \0 \ud83d").dream == odd.dream
    assert odd.dream is not None
    assert store.dream(SCOPE, odd.dream).params["n"] == 2**70


def test_many_that_ask_at_once_get_one_dream_for_each_id_and_parameters(store: Store) -> None:
    barrier = Barrier(8)

    def one(n: int) -> list[str | None]:
        barrier.wait(WAIT_S)
        return [request(store, f"r{n % 4} {i}", kind=i % 2).dream for i in range(4)]

    got = [th.result() for th in [Thread(lambda n=n: one(n)) for n in range(8)]]
    assert all(None not in dreams for dreams in got)
    assert [got[n] for n in range(4)] == [got[n + 4] for n in range(4)]
    assert states(store) == {"running": 1, "pending": 1}
    assert len(rows(store, "requests")) == 16


# --- follow-ups --------------------------------------------------------------------------------------------------------------------------


def test_a_request_that_comes_while_the_dream_ends_is_begun_by_that_end_or_begins_itself(store: Store) -> None:
    """Hole 20, the first order: the end is under way."""
    job = at_stage(store, "render")
    with store.together("end"):
        ended = store.end_dream(job, "completed")
        with beside(store, lambda: request(store, "late", of="r")) as other:
            pass
    late = other.result()
    assert (ended, late.answer, late.state, len(late.ring)) == ((), "accepted", "running", 1)
    assert finish_all(store)[0] == "plan all"


def test_an_end_that_comes_while_a_request_is_stored_begins_it(store: Store) -> None:
    """Hole 20, the other order."""
    job = at_stage(store, "render")
    with store.together("ask"):
        late = request(store, "late", of="r")
        with beside(store, lambda: store.end_dream(job, "completed")) as other:
            pass
    (begun,) = other.result()
    assert (late.state, take(store).id) == ("pending", begun)


def test_what_was_brought_in_with_a_request_is_read_by_the_dream_that_answers_it(store: Store) -> None:
    """A claim of the plan between the request's look and its commit would read too early."""
    first = request(store, "r1")
    with store.together("bring in and ask"):
        store.commit_intake(SCOPE, batch(turn("t1")))
        joined = request(store, "r2")
        other = Thread(lambda: store.claim("w", ttl_ms=1000, deadline_ms=1000))
        if not store.on_sqlite:
            assert other.result() is None, "the plan waits until the request is stored"
    other.result()
    assert joined.dream == first.dream
    if not store.on_sqlite:
        assert take(store).dream.uid == first.dream


@pytest.mark.parametrize("status", ["completed", "failed", "held", "planned"])
def test_every_end_begins_the_next_dream(store: Store, status: str) -> None:
    job = at_stage(store, "analyse")
    waits = ask(store, "next", x=1)
    (begun,) = store.end_dream(job, status)
    assert (state(store, job.dream.uid), state(store, waits), take(store).id) == (status, "running", begun)


# --- beside one another ------------------------------------------------------------------------------------------------------------------


def test_one_dream_that_is_planned_held_or_waiting_leaves_its_scope_to_others(store: Store, ticks: Ticks) -> None:
    """Hole 29."""
    for n, status in enumerate(("planned", "held")):
        job = at_stage(store, "analyse", f"r{n}")
        with store.finishing(job):
            store.stage(job.dream, [belief(f"n{n}", version(f"n{n}"))], {f"n{n}": ()})
            store.end_dream(job, status)
    waits = at_stage(store, "resolve", "r2")
    store.wait_job(waits, "batch", ticks.at + 1000)
    by_hand = ask(store, "by hand", x=1)
    assert finish_all(store)[-1] == "render all"
    assert (state(store, by_hand), states(store)) == ("completed", {"planned": 1, "held": 1, "waiting": 1, "completed": 1})
    held = next(d for d in store.dreams(SCOPE) if d.state == "held")
    assert store.apply(held, max_share=1).inserted == 1


def test_a_dream_without_jobs_keeps_one_of_jobs_waiting(store: Store) -> None:
    command = start_dream(store, SCOPE, cause="hand", holder=this_process())
    asked = request(store, "r1")
    assert asked.state == "pending"
    store.finish_dream(command, "completed")
    assert take(store).dream.uid == asked.dream


def test_a_dream_of_a_command_that_died_is_ended_by_a_sweep(store: Store) -> None:
    start_dream(store, SCOPE, cause="hand", holder="here:999999999:1")
    asked = request(store, "r1")
    assert (asked.state, store.sweep(host="elsewhere").ring) == ("pending", ())
    store.sweep(host="here")
    assert take(store).dream.uid == asked.dream


# --- cancel ------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stage", ["pending", "plan", "extract", "resolve", "analyse", "apply", "waiting"])
def test_a_dream_is_canceled_at_any_point_before_its_apply(store: Store, ticks: Ticks, stage: str) -> None:
    """Hole 28: nothing of that dream is written after the cancel."""
    if stage == "pending":
        job, uid = at_stage(store, "plan"), ask(store, "waits", x=1)
    elif stage == "extract":
        uid = extracting(store, "w1", "w2", "w3")
        store.finish_job(take(store))
        job = take(store)
    else:
        job = at_stage(store, "resolve" if stage == "waiting" else stage)
        uid = job.dream.uid
        store.stage(job.dream, [belief("n1", version())], {"n1": ()})
        if stage == "waiting":
            store.wait_job(job, "batch", ticks.at + 10)
    waits = ask(store, "next", x=2)
    ring = store.cancel(SCOPE, uid, "ana")
    assert (state(store, uid), {r.state for r in rows(store, "jobs") if r.dream_id == _id(store, uid)} - {"canceled", "done"}) == ("canceled", set())
    assert store.planned(store.dream(SCOPE, uid)) == ()
    before = everything(store)
    if stage != "pending":
        with pytest.raises((LeaseLost, Refused)):
            store.apply(store.dream(SCOPE, uid), max_share=1)
        with pytest.raises(LeaseLost):
            store.finish_job(job, then=[Unit("late")])
        assert (state(store, waits), len(ring)) == ("running", 0 if stage == "waiting" else 1)
    ticks.at += 1_000_000
    store.sweep()
    assert store.cancel(SCOPE, uid) == (), "once more changes nothing"
    after = everything(store)
    assert [r for r in after["jobs"] if r.dream_id == _id(store, uid)] == [r for r in before["jobs"] if r.dream_id == _id(store, uid)]
    assert after["audit"] == before["audit"]
    assert (("cancel", "ana", uid), store.sweep().repaired) == ([(a.verb, a.hand, a.about) for a in store.audit(SCOPE)][-1], 0)


def _id(store: Store, uid: str) -> int:
    return next(int(r.id) for r in rows(store, "dreams") if r.uid == uid)


def test_what_is_applied_or_over_is_not_canceled(store: Store) -> None:
    job = at_stage(store, "apply")
    with store.finishing(job):
        store.stage(job.dream, [belief("n1", version())], {"n1": ()})
        store.apply(job.dream, max_share=1)
        store.finish_job(job)
    with pytest.raises(Refused, match="cannot be canceled"):
        store.cancel(SCOPE, job.dream.uid)
    finish_all(store)
    empty = at_stage(store, "render", "r2")
    with pytest.raises(Refused, match="cannot be canceled"):
        store.cancel(SCOPE, empty.dream.uid)
    store.end_dream(empty, "failed")
    with pytest.raises(Refused, match="no dream"):
        store.cancel(SCOPE, "nowhere")
    gone = ask(store, "r3")
    store.end_dream(take(store), "failed")
    with pytest.raises(Refused, match="failed already"):
        store.cancel(SCOPE, gone)


@pytest.mark.parametrize("applied", [True, False])
def test_what_a_guard_held_is_dropped_by_a_cancel_whatever_was_applied_beside_it(store: Store, applied: bool) -> None:
    for n, said in enumerate(("one", "two")):
        job = at_stage(store, "apply", f"r{n}")
        changes = [belief("n1", version("n1", said)), *([belief("n2", version("n2"))] if n and applied else [])]
        with store.finishing(job):
            store.stage(job.dream, changes, {c.note: [h.token for h in store.heads(SCOPE, notes=[c.note])] for c in changes})
            store.apply(job.dream, max_share=0, floor=0)
            store.finish_job(job)
        store.end_dream(take(store), ("completed", "held")[n])
    uid, before = job.dream.uid, [h.version for h in store.heads(SCOPE)]
    assert [c.note for c in store.planned(store.dream(SCOPE, uid)) if isinstance(c, BeliefChange)] == ["n1"]
    assert store.cancel(SCOPE, uid, "lee") == ()
    after = store.dream(SCOPE, uid)
    assert (after.state, after.applied_rev is not None, store.planned(after)) == ("canceled", applied, ())
    assert [h.version for h in store.heads(SCOPE)] == before
    with pytest.raises(Refused, match="canceled"):
        store.apply(after, max_share=1)


def test_a_cancel_and_an_apply_at_once_are_one_after_the_other(store: Store) -> None:
    job = at_stage(store, "apply")
    with store.finishing(job):
        store.stage(job.dream, [belief("n1", version())], {"n1": ()})
        with beside(store, lambda: store.cancel(SCOPE, job.dream.uid)) as other:
            pass
        store.apply(job.dream, max_share=1)
        store.finish_job(job)
    with pytest.raises(Refused, match="cannot be canceled"):
        other.result()
    finish_all(store)
    again = at_stage(store, "apply", "r2")
    with store.together("cancel"):
        store.cancel(SCOPE, again.dream.uid)
        with beside(store, lambda: store.finish_job(again)) as other:
            pass
    with pytest.raises(LeaseLost):
        other.result()


def test_who_asked_and_who_canceled_is_written_down(store: Store, clock: Clock) -> None:
    asked = request(store, "r1")
    request(store, "r1")
    store.cancel(SCOPE, str(asked.dream), "lee")
    assert [(a.verb, a.hand, a.about, a.at) for a in store.audit(SCOPE)] == [
        ("request", "ana", asked.dream, clock.at), ("cancel", "lee", asked.dream, clock.at),
    ]  # fmt: skip
    assert store.audit("acme/web/lee") == ()


def test_a_look_at_a_dream_that_is_not_there_says_so(store: Store) -> None:
    with pytest.raises(Refused, match="no dream"):
        store.dream_state(SCOPE, "nowhere")
    assert nothing(store)


# --- what has to be resolved -------------------------------------------------------------------------------------------------------------


def read(store: Store, *statements: str, digest: str) -> frozenset[str]:
    return store.save_reading(SCOPE, "s1", engine="local/1", digest=digest, claims=[gated(claim(s)) for s in statements])


def test_what_was_read_has_to_be_resolved_until_a_dream_that_froze_it_is_applied(store: Store) -> None:
    store.commit_intake(SCOPE, batch(turn("t1")))
    first = read(store, "the port is 5433", digest="a")
    assert store.dirty(SCOPE) == first != frozenset()
    job = at_stage(store, "resolve")
    assert store.freeze_dirty(job.dream) == first
    second = read(store, "the port is 5433", "the port is 5434", digest="b")
    assert store.freeze_dirty(job.dream) == first, "what comes later is the next dream's"
    store.finish_job(job)
    store.finish_job(take(store))
    apply = take(store)
    with store.finishing(apply):
        store.apply(job.dream, max_share=1)
        store.finish_job(apply)
    assert store.dirty(SCOPE) == second
    assert store.dirty("acme/web/lee") == frozenset()


def test_a_claim_that_changes_while_it_is_resolved_stays_to_be_resolved(store: Store) -> None:
    store.commit_intake(SCOPE, batch(turn("t1")))
    mine = read(store, "the port is 5433", digest="a")
    job = at_stage(store, "apply")
    assert store.freeze_dirty(job.dream) == mine
    store.mark_dirty(SCOPE, mine, "another witness")
    with store.finishing(job):
        store.apply(job.dream, max_share=1)
        store.finish_job(job)
    assert store.dirty(SCOPE) == mine


@pytest.mark.parametrize("end", ["fail", "cancel", "plan", "conflict"])
def test_what_a_dream_did_not_apply_has_still_to_be_resolved(store: Store, end: str) -> None:
    store.commit_intake(SCOPE, batch(turn("t1")))
    mine = read(store, "the port is 5433", digest="a")
    job = at_stage(store, "apply")
    assert store.freeze_dirty(job.dream) == mine
    if end == "cancel":
        store.cancel(SCOPE, job.dream.uid)
    elif end == "conflict":
        store.mark_dirty(SCOPE, ["c9"], "test")
        store.replan(job)
        assert store.freeze_dirty(take(store).dream) == mine | {"c9"}, "planned again from what is dirty then"
        return
    else:
        store.end_dream(job, {"fail": "failed", "plan": "planned"}[end])
    assert store.dirty(SCOPE) == mine
    if end in {"fail", "cancel"}:
        with pytest.raises(LeaseLost):
            store.freeze_dirty(job.dream)


def test_what_a_person_has_to_look_at_first_stays_to_be_resolved(store: Store) -> None:
    for n, said in enumerate(("one", "two")):
        job = at_stage(store, "apply", f"r{n}")
        store.mark_dirty(SCOPE, ["c1"], "test")
        store.freeze_dirty(job.dream)
        store.stage(job.dream, [belief("n1", version("n1", said))], {"n1": [h.token for h in store.heads(SCOPE)]})
        held = store.apply(job.dream, max_share=0, floor=0).held
        assert (held, store.dirty(SCOPE)) == (((), frozenset()), (("n1",), {"c1"}))[n]
        store.end_dream(job, "completed")


def test_a_reading_that_does_not_commit_marks_nothing(store: Store) -> None:
    store.commit_intake(SCOPE, batch(turn("t1")))

    def half_way() -> None:
        with store.together("read"):
            read(store, "the port is 5433", digest="a")
            raise Conflict("half way")

    with pytest.raises(Conflict, match="half way"):
        half_way()
    assert store.dirty(SCOPE) == frozenset()
