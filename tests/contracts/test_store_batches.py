"""Batches: what is posted is reserved, what may have been posted is never forgotten, what came back is stored before anyone looks into it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from pipelines.errors import Conflict, Paused
from pipelines.ports import Ask, Reply, Usage
from pipelines.store import Batch, Intended, Limit, Store, this_process
from pipelines.store.holder import host_of, owner_of
from pipelines.store.money import Key
from tests.contracts.store_builders import SCOPE
from tests.contracts.store_kinds import Killed, clock, killed_at, store
from tests.contracts.work_builders import Thread, Ticks, extracting, rows, take, ticks

__all__ = ["clock", "store", "ticks"]  # fixtures of this suite

OTHER = "acme/web/lee"
LONG = 660_000


def ask(name: str, bound: int = 10) -> Ask:
    return Ask(stage="extract", name=name, body={"q": name, "model": "small"}, prompt="p1", turns=(f"t-{name}", "t0"), bound_uusd=bound)


def reply(cost: int = 4, text: str = "yes") -> Reply:
    return Reply(text=text, stop="end_turn", model="small-1", usage=Usage(input=10, output=1), cost_uusd=cost)


def key(name: str) -> Key:
    return ask(name).digest, 1


ABC = [ask(n) for n in "abc"]


def intend(store: Store, *asks: Ask, scope: str = SCOPE, limits: tuple[Limit, ...] = (), job: int | None = None) -> Intended:
    with store.reading("look at the clock") as conn:
        until = store.clock_ms(conn) + LONG
    return store.intend(scope, asks or ABC, dream="d1", until_ms=until, limits=limits, job=job)


def intent_of(made: Intended) -> str:
    assert made.batch is not None
    return made.batch.intent


def posted(store: Store, *asks: Ask) -> tuple[str, Mapping[str, str]]:
    """A batch the provider has; its intent, and custom ids by the names of requests."""
    made = intend(store, *asks)
    store.posted(intent_of(made), "remote-1")
    return intent_of(made), named(made.custom_ids, asks or ABC)


def named(ids: Mapping[Key, str], asks: Any) -> dict[str, str]:
    return {made.name: ids[made.digest, 1] for made in asks}


def used(store: Store) -> tuple[int, int, int]:
    budget = store.budget("dream", "d1")
    return budget.spent_uusd, budget.reserved_uusd, budget.presumed_uusd


def states(store: Store) -> dict[str, str]:
    return {row.name: row.state for row in rows(store, "calls")}


def answers(store: Store) -> dict[str, str]:
    found = store.answers(SCOPE, [key(n) for n in "abcd"])
    return {n: found[key(n)].reply.text for n in "abcd" if key(n) in found}


# --- the way it goes ---------------------------------------------------------------------------------------------------------------------------


def test_a_batch_is_reserved_before_it_is_posted_and_its_requests_are_nobody_elses(store: Store) -> None:
    made = intend(store)
    assert made.batch is not None
    assert (made.batch.state, made.batch.requests, made.batch.remote, made.batch.lapsed, made.batch.posts) == ("intended", 3, None, False, 1)
    assert (used(store), states(store)) == ((0, 30, 0), dict.fromkeys("abc", "sent"))
    assert all(re.fullmatch(r"[a-z2-7]{1,64}", custom_id) for custom_id in made.custom_ids.values())
    assert len(set(made.custom_ids.values()) | set(intend(store, scope=OTHER).custom_ids.values())) == 6
    assert store.reserve(SCOPE, ABC, dream="d2", until_ms=2**60).busy == {key(n) for n in "abc"}
    assert store.in_batches(SCOPE, [key("a"), key("d")]) == {key("a"): made.batch.intent}


def test_only_what_fits_is_in_the_batch_and_when_nothing_does_there_is_none(store: Store) -> None:
    limits = (Limit(kind="dream", name="d1", limit_uusd=25),)
    made = intend(store, *ABC, limits=limits)
    assert (made.batch is not None and made.batch.requests, set(made.custom_ids), set(made.reserved.refused)) == (2, {key("a"), key("b")}, {key("c")})
    nothing = intend(store, *ABC, limits=limits)
    assert (nothing.batch, set(nothing.custom_ids), set(nothing.reserved.busy)) == (None, set(), {key("a"), key("b")})
    assert len(rows(store, "batches")) == 1


def test_a_call_in_a_batch_is_waited_for_until_the_batch_has_ended_however_long_that_takes(store: Store, ticks: Ticks) -> None:
    posted(store)
    ticks.at += 30 * 86_400_000
    assert store.reserve(SCOPE, ABC, dream="d2", until_ms=ticks.at + 1).busy == {key(n) for n in "abc"}
    assert store.presume_lapsed(SCOPE, host="here") == ()


def test_partial_results_are_answers_failed_ones_cost_nothing_and_what_was_not_named_is_presumed(store: Store) -> None:
    asks = [*ABC, ask("d")]
    intent, ids = posted(store, *asks)
    store.ended(intent)
    assert store.save_results(intent, {ids["a"]: reply(), "of somebody else": reply(99)}) == {"of somebody else"}
    assert store.save_results(intent, {ids["a"]: reply(), ids["b"]: "errored", ids["c"]: "expired"}) == frozenset()
    assert (answers(store), used(store)) == ({"a": "yes"}, (4, 10, 0))
    assert [row.inputs for row in rows(store, "answers")] == ['["t-a","t0"]'], "the turns are known without the request at hand"
    store.settled(intent)
    store.settled(intent)
    assert (used(store), states(store)) == ((4, 0, 10), {"a": "answered", "b": "void", "c": "void", "d": "presumed"})
    assert store.batches() == ()
    assert store.batch(intent).state == "settled"
    assert store.reserve(SCOPE, asks, dream="d1", until_ms=2**60).calls.keys() == {key("b"), key("c"), key("d")}


def test_a_canceled_batch_keeps_what_was_answered(store: Store) -> None:
    intent, ids = posted(store)
    store.canceling(intent)
    store.canceling(intent)
    assert [b.state for b in store.batches(SCOPE)] == ["canceling"]
    store.ended(intent)
    store.save_results(intent, {ids["a"]: reply(), ids["b"]: "canceled", ids["c"]: "canceled"})
    store.settled(intent)
    assert (answers(store), used(store)) == ({"a": "yes"}, (4, 0, 0))


def test_a_batch_the_provider_does_not_take_costs_nothing_and_is_asked_anew(store: Store) -> None:
    intent = intent_of(intend(store))
    store.unposted(intent, "BadRequest")
    assert (used(store), store.batches(), store.batch(intent).why) == ((0, 0, 0), (), "BadRequest")
    assert intend(store).reserved.calls.keys() == {key(n) for n in "abc"}


def test_nothing_is_intended_or_posted_again_while_calls_are_paused(store: Store, ticks: Ticks) -> None:
    intent = intent_of(intend(store, ask("d")))
    store.in_doubt(intent, "timeout")
    store.pause_calls("billing", ticks.at + 5000)
    with pytest.raises(Paused):
        intend(store)
    with pytest.raises(Paused):
        store.post_again(intent, [ask("d")], until_ms=ticks.at + LONG)
    assert store.batch(intent).state == "unknown"


def test_costs_of_a_batch_are_in_the_ledger_and_open_calls_name_it(store: Store) -> None:
    intent, ids = posted(store)
    store.save_results(intent, {ids["a"]: reply()})
    assert [(c.name, c.batch) for c in store.open_calls()] == [("b", intent), ("c", intent)]
    (row,) = store.costs(by=("stage",))
    assert (row.calls, row.uusd, row.open, row.reserved_uusd, row.fresh) == (1, 4, 2, 20, 10)


# --- nobody knows whether it was taken ---------------------------------------------------------------------------------------------------------


def only(store: Store, host: str = "") -> Batch:
    (found,) = store.batches(SCOPE, host=host)
    return found


def test_an_intent_nobody_posted_in_time_or_whose_process_is_dead_is_in_doubt(store: Store, ticks: Ticks) -> None:
    extracting(store, "u")
    process = this_process()
    host, start = host_of(process), process.rpartition(":")[2]
    job = take(store, owner_of(f"{host}:{2**22 + 7}:{start}", 1))
    intend(store, job=job.id)
    assert (only(store).lapsed, only(store, host).lapsed) == (False, True)
    ticks.at += LONG
    assert only(store).lapsed
    store.in_doubt(only(store).intent, "killed")
    store.in_doubt(only(store).intent, "killed")
    assert (only(store).state, only(store).lapsed, used(store)) == ("unknown", False, (0, 30, 0))


def test_a_batch_that_is_found_is_adopted_and_goes_on(store: Store) -> None:
    made = intend(store)
    intent, ids = intent_of(made), named(made.custom_ids, ABC)
    store.in_doubt(intent, "timeout")
    store.posted(intent, "found", adopted=True)
    assert (only(store).remote, only(store).adopted, set(store.remote_batches())) == ("found", True, {"found"})
    store.ended(intent)
    store.save_results(intent, {ids[n]: reply() for n in "abc"})
    store.settled(intent)
    assert used(store) == (12, 0, 0)


def test_a_batch_of_equal_size_that_was_not_ours_is_not_taken_for_ours_twice(store: Store) -> None:
    intent = intent_of(intend(store))
    store.in_doubt(intent, "timeout")
    store.posted(intent, "theirs", adopted=True)
    store.ended(intent)
    assert store.save_results(intent, {"x": reply(), "y": "errored"}) == {"x", "y"}
    store.not_ours(intent)
    store.not_ours(intent)
    assert (only(store).state, only(store).remote, only(store).foreign, used(store)) == ("unknown", None, ("theirs",), (0, 30, 0))
    store.posted(intent, "ours", adopted=True)
    assert only(store).remote == "ours"


def test_a_batch_that_is_nowhere_is_posted_again_by_one_worker_under_the_same_ids(store: Store, ticks: Ticks) -> None:
    made = intend(store)
    intent = intent_of(made)
    store.in_doubt(intent, "timeout")
    with pytest.raises(Conflict, match="2 requests that are not asked"):
        store.post_again(intent, [ask("a"), ask("d")], until_ms=ticks.at + LONG)
    assert only(store).state == "unknown"

    def again() -> Any:
        try:
            return store.post_again(intent, [*ABC, ask("d")], until_ms=ticks.at + LONG)
        except Conflict as error:
            return str(error)

    told = [thread.result() for thread in [Thread(again) for _ in range(4)]]
    assert [x for x in told if not isinstance(x, str)] == [made.custom_ids]
    assert (only(store).state, only(store).posts, only(store).lapsed) == ("intended", 2, False)


def test_two_remote_batches_are_never_one(store: Store) -> None:
    intent = intent_of(intend(store))
    store.posted(intent, "one")
    with pytest.raises(Conflict, match="one already, and not two"):
        store.posted(intent, "two")
    store.ended(intent)
    store.posted(intent, "one")
    assert (only(store).remote, only(store).state) == ("one", "ended")


def test_a_batch_that_turns_up_after_it_was_posted_again_is_booked_as_paid_twice(store: Store) -> None:
    made = intend(store)
    intent, ids = intent_of(made), named(made.custom_ids, ABC)
    store.in_doubt(intent, "timeout")
    store.post_again(intent, ABC, until_ms=2**60)
    store.posted(intent, "second")
    store.ended(intent)
    store.save_results(intent, {ids["a"]: reply(4, "second"), ids["b"]: "expired", ids["c"]: reply(4, "second")})
    store.settled(intent)
    first: dict[str, Reply | str] = {ids["a"]: reply(5, "first"), ids["b"]: reply(5, "first"), ids["c"]: "errored", "x": reply(99)}
    assert [store.save_late_results(intent, "first", first) for _ in range(2)] == [{"x"}, {"x"}]
    assert answers(store) == {"a": "second", "b": "first", "c": "second"}
    assert used(store) == (18, 0, 0)
    assert Counter(row.why for row in rows(store, "calls") if row.state == "answered") == {"": 2, "late first": 2}
    assert sorted(row.inputs for row in rows(store, "answers")) == [f'["t-{n}","t0"]' for n in "abc"]


def test_a_late_batch_answers_what_the_second_one_has_not_yet(store: Store) -> None:
    made = intend(store)
    intent, ids = intent_of(made), named(made.custom_ids, ABC)
    store.in_doubt(intent, "timeout")
    store.post_again(intent, ABC, until_ms=2**60)
    store.posted(intent, "second")
    store.save_late_results(intent, "first", {ids["a"]: reply(5, "first")})
    assert (answers(store), used(store)) == ({"a": "first"}, (5, 30, 0))
    store.save_results(intent, {ids["a"]: reply(4, "second")})
    assert (answers(store), used(store)) == ({"a": "first"}, (9, 20, 0))


@pytest.mark.parametrize(
    "step", ["posted", "in_doubt", "unposted", "canceling", "ended", "settled", "save_results", "post_again", "not_ours"],
)  # fmt: skip
def test_an_intent_nobody_made_is_a_mistake(store: Store, step: str) -> None:
    more: dict[str, Any] = {
        "posted": {"remote": "r"}, "in_doubt": {"why": "w"}, "unposted": {"why": "w"}, "save_results": {"results": {}}, "post_again": {"asks": [], "until_ms": 1},
    }  # fmt: skip
    with pytest.raises(ValueError, match="no batch nobody"):
        getattr(store, step)("nobody", **more.get(step, {}))


@pytest.mark.parametrize("step", ["in_doubt", "unposted", "canceling", "posted"])
def test_a_step_that_no_longer_fits_is_refused(store: Store, step: str) -> None:
    intent, ids = posted(store)
    store.ended(intent)
    store.save_results(intent, {ids[n]: reply() for n in "abc"})
    store.settled(intent)
    more = {"in_doubt": {"why": "w"}, "unposted": {"why": "w"}, "posted": {"remote": "r"}}
    with pytest.raises(Conflict, match="settled"):
        getattr(store, step)(intent, **more.get(step, {}))


# --- killed ------------------------------------------------------------------------------------------------------------------------------------


def everything(store: Store) -> dict[str, list[Any]]:
    return {name: rows(store, name) for name in ("calls", "batches", "answers", "budgets", "scopes")}


def _late(store: Store, intent: str, ids: Mapping[str, str]) -> None:
    store.save_late_results(intent, "first", {ids["a"]: reply(5), ids["b"]: reply(5)})


WRITES: dict[str, tuple[str, Callable[[Store, str, Mapping[str, str]], object]]] = {
    "intending": ("", lambda s, _i, _c: intend(s)),
    "posting": ("intended", lambda s, i, _c: s.posted(i, "r")),
    "giving up": ("intended", lambda s, i, _c: s.unposted(i, "w")),
    "posting again": ("unknown", lambda s, i, _c: s.post_again(i, ABC, until_ms=2**60)),
    "saving": ("posted", lambda s, i, c: s.save_results(i, {c["a"]: reply(), c["b"]: "errored"})),
    "a late batch": ("posted", _late),
    "settling": ("ended", lambda s, i, _c: s.settled(i)),
    "disowning": ("adopted", lambda s, i, _c: s.not_ours(i)),
}


@pytest.mark.parametrize("write", sorted(WRITES))
def test_a_step_that_dies_anywhere_leaves_no_trace_and_can_be_done_again(store: Store, write: str) -> None:
    at, work = WRITES[write]
    made = intend(store, *ABC) if at else None
    intent, ids = (intent_of(made), named(made.custom_ids, ABC)) if made is not None else ("", {})
    if at in {"unknown", "adopted"}:
        store.in_doubt(intent, "w")
    if at in {"posted", "ended", "adopted"}:
        store.posted(intent, "r", adopted=at == "adopted")
    if at == "ended":
        store.ended(intent)
    before = everything(store)
    for deaths in range(40):
        with killed_at(store.engines.write, deaths):
            try:
                work(store, intent, ids)
            except Killed:
                assert everything(store) == before
                continue
        break
    assert 0 < deaths < 39
    assert everything(store) != before


def test_a_batch_is_kept_apart_from_those_of_other_scopes(store: Store) -> None:
    intend(store)
    intend(store, scope=OTHER)
    assert [b.scope for b in store.batches()] == [SCOPE, OTHER]
    assert [b.scope for b in store.batches(OTHER)] == [OTHER]
