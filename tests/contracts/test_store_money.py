"""Money: no limit is ever passed, an answer that was stored is never asked for again, and every call is in the ledger with what became of it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import partial

import pytest
from sqlalchemy import event

from pipelines.errors import Paused
from pipelines.model import Status
from pipelines.ports import Ask, Reply, Usage
from pipelines.store import CostRow, Kept, Limit, Store, this_process
from pipelines.store import tables as t
from pipelines.store.holder import host_of, owner_of
from pipelines.store.money import Key, Kind
from tests.contracts.store_builders import SCOPE, batch, belief, claim, gated, start_dream, turn, version
from tests.contracts.store_kinds import Clock, clock, store
from tests.contracts.work_builders import Thread, Ticks, beside, extracting, rows, take, ticks

__all__ = ["clock", "store", "ticks"]  # fixtures of this suite

OTHER = "acme/web/lee"
TODAY = "2026-11-03"
LONG = 600_000


def ask(name: str = "a", *, bound: int = 10, attempt: int = 1, stage: str = "extract", model: str = "small", turns: tuple[str, ...] = ("t1",)) -> Ask:
    return Ask(stage=stage, name=name, body={"model": model, "q": name}, prompt="p1", turns=turns, bound_uusd=bound, attempt=attempt)


def reply(cost: int = 7, text: str = "yes", *, usage: Usage | None = None) -> Reply:
    return Reply(text=text, stop="end_turn", model="small-1", usage=usage or Usage(input=100, output=5), cost_uusd=cost, request_id="req")


def key(made: Ask) -> Key:
    return made.digest, made.attempt


def send(store: Store, *asks: Ask, scope: str = SCOPE, dream: str = "d1", limits: tuple[Limit, ...] = (), job: int | None = None) -> Mapping[Key, int]:
    """Reserve what must all be ours to send."""
    with store.reading("look at the clock") as conn:
        until = store.clock_ms(conn) + LONG
    told = store.reserve(scope, asks, dream=dream, until_ms=until, limits=limits, job=job)
    assert (told.busy, told.refused) == (frozenset(), {})
    return told.calls


def one(store: Store, made: Ask, *, scope: str = SCOPE, dream: str = "d1", limits: tuple[Limit, ...] = (), job: int | None = None) -> int:
    return send(store, made, scope=scope, dream=dream, limits=limits, job=job)[key(made)]


def used(store: Store, kind: Kind, name: str) -> tuple[int, int, int]:
    """Spent, reserved, presumed."""
    budget = store.budget(kind, name)
    return budget.spent_uusd, budget.reserved_uusd, budget.presumed_uusd


def states(store: Store) -> Counter[str]:
    return Counter(row.state for row in rows(store, "calls"))


def limit(kind: Kind = "dream", name: str = "d1", most: int = 100) -> Limit:
    return Limit(kind=kind, name=name, limit_uusd=most)


# --- answers -----------------------------------------------------------------------------------------------------------------------------------


def test_an_answer_comes_back_as_it_was_said_by_whatever_characters(store: Store) -> None:
    said = reply(text='支付\0 \ud800 "x"\\ \u2028', usage=Usage(input=1, output=2, cache_written=3, cache_read=4))
    asked = ask(turns=("t2", "t1", "t2"))
    store.settle(SCOPE, one(store, asked), said, asked)
    (answer,) = store.answers(SCOPE, [key(asked), ("nobody asked", 1)]).values()
    assert (answer.reply, answer.digest, answer.attempt, answer.stage, answer.prompt) == (said, asked.digest, 1, "extract", "p1")
    assert [row.inputs for row in rows(store, "answers")] == ['["t1","t2"]']


def test_no_table_holds_the_digest_of_a_request(store: Store) -> None:
    asked = ask()
    store.settle(SCOPE, one(store, asked), reply(), asked)
    assert asked.digest not in "".join(str(row) for name in ("answers", "calls") for row in rows(store, name))


def test_an_answer_of_one_scope_is_none_of_another(store: Store) -> None:
    asked = ask()
    store.settle(SCOPE, one(store, asked), reply(), asked)
    assert store.answers(OTHER, [key(asked)]) == {}
    store.settle(OTHER, one(store, asked, scope=OTHER), reply(text="no"), asked)
    assert [a.reply.text for s in (SCOPE, OTHER) for a in store.answers(s, [key(asked)]).values()] == ["yes", "no"]


def test_a_second_attempt_is_an_answer_of_its_own(store: Store) -> None:
    for attempt, said in ((1, "refused"), (2, "good")):
        asked = ask(attempt=attempt)
        store.settle(SCOPE, one(store, asked), reply(text=said), asked)
    assert {k[1]: a.reply.text for k, a in store.answers(SCOPE, [(ask().digest, 1), (ask().digest, 2)]).items()} == {1: "refused", 2: "good"}


# --- one sends ---------------------------------------------------------------------------------------------------------------------------------


def test_a_request_in_flight_is_nobody_elses_to_send_and_neither_is_an_answered_one(store: Store, ticks: Ticks) -> None:
    asked = ask()
    call = one(store, asked)
    told = store.reserve(SCOPE, [asked, ask("b")], dream="d2", until_ms=ticks.at + LONG)
    assert set(told.busy) == {key(asked)}
    assert set(told.calls) == {key(ask("b"))}
    store.settle(SCOPE, call, reply(), asked)
    told = store.reserve(SCOPE, [asked], dream="d2", until_ms=ticks.at + LONG)
    assert set(told.busy) == {key(asked)}
    assert not told.calls
    assert used(store, "dream", "d2") == (0, 10, 0)


def test_a_call_nobody_waits_for_is_presumed_when_it_is_asked_again(store: Store, ticks: Ticks) -> None:
    first = one(store, ask(), limits=(limit(),))
    ticks.at += LONG
    second = one(store, ask(), limits=(limit(),))
    assert (first != second, states(store), used(store, "dream", "d1")) == (True, {"presumed": 1, "sent": 1}, (0, 10, 10))
    store.settle(SCOPE, second, reply(), ask())
    assert used(store, "dream", "d1") == (7, 0, 10)


def test_a_call_sent_before_the_clock_was_set_back_does_not_wait_for_years(store: Store, ticks: Ticks) -> None:
    one(store, ask())
    ticks.at -= 365 * 86_400_000
    one(store, ask())
    assert states(store) == {"presumed": 1, "sent": 1}


def test_a_call_of_a_dead_process_is_presumed_at_once_and_one_of_a_living_process_is_not(store: Store, ticks: Ticks) -> None:
    extracting(store, "u")
    job = take(store)
    process = this_process()
    start = process.rpartition(":")[2]
    with store.writing("let a process hold the job") as conn:
        conn.execute(t.jobs.update().where(t.jobs.c.id == job.id).values(owner=owner_of(f"{host_of(process)}:{2**22 + 7}:{start}", 1)))
    one(store, ask(), job=job.id)
    with store.writing("let this process hold the job") as conn:
        conn.execute(t.jobs.update().where(t.jobs.c.id == job.id).values(owner=owner_of(process, 1)))
    one(store, ask(), job=job.id)
    assert states(store) == {"presumed": 1, "sent": 1}
    assert store.reserve(SCOPE, [ask()], dream="d1", until_ms=ticks.at + LONG, job=job.id).busy == {key(ask())}


def test_the_answer_to_a_presumed_call_is_taken_late_and_its_cost_takes_the_place_of_the_bound(store: Store, ticks: Ticks) -> None:
    call = one(store, ask())
    store.presume(SCOPE, call)
    assert used(store, "day", TODAY) == (0, 0, 10)
    store.settle(SCOPE, call, reply(), ask())
    assert (used(store, "day", TODAY), len(store.answers(SCOPE, [key(ask())]))) == ((7, 0, 0), 1)


def test_two_answers_to_one_request_cost_twice_and_the_first_stays(store: Store, ticks: Ticks) -> None:
    late = one(store, ask())
    ticks.at += LONG
    again = one(store, ask())
    store.settle(SCOPE, again, reply(3, "first"), ask())
    store.settle(SCOPE, late, reply(5, "late"), ask())
    store.settle(SCOPE, late, reply(5, "late"), ask())
    assert [a.reply.text for a in store.answers(SCOPE, [key(ask())]).values()] == ["first"]
    assert used(store, "scope", SCOPE) == (8, 0, 0)


def test_what_was_not_taken_costs_nothing_and_may_be_sent_again(store: Store) -> None:
    call = one(store, ask())
    store.void(SCOPE, call, "Busy")
    store.void(SCOPE, call, "Busy")
    assert used(store, "dream", "d1") == (0, 0, 0)
    again = one(store, ask())
    store.presume(SCOPE, again)
    store.void(SCOPE, again, "the invoice does not name it")
    assert (used(store, "dream", "d1"), states(store)) == ((0, 0, 0), {"void": 2})


def test_several_outcomes_are_one_transaction(store: Store) -> None:
    asks = [ask(n) for n in "abcd"]
    calls = send(store, *asks)
    ids = [calls[key(a)] for a in asks]
    store.settle_many(SCOPE, [(ids[0], reply(1), asks[0]), (ids[1], reply(2), asks[1])], void={ids[2]: "refused"}, presumed=[ids[3]])
    assert (states(store), used(store, "dream", "d1")) == ({"answered": 2, "void": 1, "presumed": 1}, (3, 0, 10))


def test_a_call_of_another_scope_cannot_be_settled(store: Store) -> None:
    call = one(store, ask())
    store.reserve(OTHER, [ask()], dream="d2", until_ms=2**60)
    with pytest.raises(ValueError, match=f"{OTHER} has no call {call}"):
        store.settle(OTHER, call, reply(), ask())
    assert used(store, "scope", SCOPE) == (0, 10, 0)


# --- limits ------------------------------------------------------------------------------------------------------------------------------------


def test_as_many_as_fit_are_reserved_in_order_and_each_other_one_names_the_limit_it_would_break(store: Store) -> None:
    limits = (limit(most=100), limit("scope", SCOPE, 45), limit("day", TODAY, 90))
    asks = [ask("a", bound=40), ask("b", bound=61), ask("c", bound=6), ask("d", bound=5), ask("e", bound=1)]
    told = store.reserve(SCOPE, asks, dream="d1", until_ms=2**60, limits=limits)
    assert set(told.calls) == {key(asks[0]), key(asks[3])}
    assert {k: v.kind for k, v in told.refused.items()} == {key(asks[1]): "dream", key(asks[2]): "scope", key(asks[4]): "scope"}
    assert [used(store, told.kind, told.name) for told in limits] == [(0, 45, 0)] * 3
    assert len(rows(store, "calls")) == 2, "what was refused leaves nothing"


def test_a_limit_counts_what_is_spent_reserved_and_presumed(store: Store) -> None:
    limits = (limit(most=30),)
    calls = send(store, ask("a"), ask("b"), ask("c"), limits=limits)
    store.settle(SCOPE, calls[key(ask("a"))], reply(10), ask("a"))
    store.presume(SCOPE, calls[key(ask("b"))])
    assert used(store, "dream", "d1") == (10, 10, 10)
    assert store.reserve(SCOPE, [ask("d", bound=1)], dream="d1", until_ms=2**60, limits=limits).refused
    store.void(SCOPE, calls[key(ask("c"))], "refused")
    assert not store.reserve(SCOPE, [ask("d", bound=10)], dream="d1", until_ms=2**60, limits=limits).refused


def test_a_limit_set_later_counts_what_was_spent_before(store: Store) -> None:
    store.settle(SCOPE, one(store, ask("a")), reply(10), ask("a"))
    told = store.reserve(SCOPE, [ask("b")], dream="d2", until_ms=2**60, limits=(limit("scope", SCOPE, 19),))
    assert [r.kind for r in told.refused.values()] == ["scope"]
    assert store.budget("scope", SCOPE).limit_uusd == 19


def test_calls_that_cost_nothing_fit_in_any_limit_and_move_none(store: Store) -> None:
    asked = ask(bound=0)
    store.settle(SCOPE, one(store, asked, limits=(limit(most=0),)), reply(0), asked)
    assert rows(store, "budgets") == []
    assert store.costs(by=())[0].calls == 1


def test_a_limit_of_another_dream_or_scope_is_an_error_and_reserves_nothing(store: Store) -> None:
    with pytest.raises(ValueError, match="d2"):
        store.reserve(SCOPE, [ask()], dream="d1", until_ms=2**60, limits=(limit(name="d2"),))
    with pytest.raises(ValueError, match="below 0"):
        limit(most=-1)
    assert rows(store, "calls") == []


def test_a_day_ends_between_a_call_and_its_answer_and_the_cost_stays_on_the_day_it_was_reserved_on(store: Store, clock: Clock) -> None:
    clock.at = datetime(2026, 11, 3, 23, 59, tzinfo=UTC)
    call = one(store, ask("a"), limits=(limit("day", TODAY, 10),))
    clock.at += timedelta(minutes=2)
    tomorrow = limit("day", "2026-11-04", 10)
    other = one(store, ask("b"), limits=(tomorrow,))
    store.settle(SCOPE, call, reply(), ask("a"))
    store.settle(SCOPE, other, reply(9), ask("b"))
    assert (used(store, "day", TODAY), used(store, "day", "2026-11-04")) == ((7, 0, 0), (9, 0, 0))
    assert [(r.day, r.uusd) for r in store.costs(by=("day",))] == [(TODAY, 7), ("2026-11-04", 9)]


def test_without_a_limit_the_day_is_that_of_the_stores_clock(store: Store, clock: Clock) -> None:
    clock.at = datetime(2026, 12, 31, 23, 59, tzinfo=UTC)
    one(store, ask())
    assert used(store, "day", "2026-12-31") == (0, 10, 0)


# --- many at once ------------------------------------------------------------------------------------------------------------------------------

WORKERS, LIMIT = 8, 100


def together(work: list[Thread]) -> None:
    for thread in work:
        thread.result()


def test_eight_workers_that_spend_at_once_never_pass_a_limit_and_use_all_of_it_that_can_be_used(store: Store) -> None:
    """Bounds of 4 to 13, costs below them: whoever is refused at the end had no room left for his bound."""
    limits, gate = (limit("day", TODAY, LIMIT),), threading.Barrier(WORKERS)
    most: list[int] = []

    def worker(n: int) -> None:
        gate.wait(20)
        for i in range(60):
            asked = ask(f"{n} {i}", bound=4 + (n + i) % 10)
            told = store.reserve(SCOPE, [asked], dream=f"d{n}", until_ms=2**60, limits=limits)
            most.append(sum(used(store, "day", TODAY)))
            if told.refused:
                return
            store.settle(SCOPE, told.calls[key(asked)], reply(asked.bound_uusd - i % 3), asked)

    together([Thread(partial(worker, n)) for n in range(WORKERS)])
    spent, reserved, presumed = used(store, "day", TODAY)
    assert (reserved, presumed, max(most) <= LIMIT) == (0, 0, True)
    assert LIMIT - 13 < spent <= LIMIT
    assert spent == sum(row.cost_uusd for row in rows(store, "calls")) == store.costs(by=())[0].uusd


def test_sixteen_workers_with_one_request_send_it_once(store: Store) -> None:
    gate, asked, sent = threading.Barrier(16), ask(), []

    def worker() -> None:
        gate.wait(20)
        while not store.answers(SCOPE, [key(asked)]):
            for call in store.reserve(SCOPE, [asked], dream="d1", until_ms=2**60).calls.values():
                sent.append(call)
                store.settle(SCOPE, call, reply(), asked)

    together([Thread(worker) for _ in range(16)])
    assert (len(sent), len(rows(store, "calls")), len(rows(store, "answers"))) == (1, 1, 1)


def test_workers_that_reserve_the_same_requests_in_any_order_share_them_out(store: Store) -> None:
    gate, asks = threading.Barrier(WORKERS), [ask(str(i), bound=i) for i in range(30)]
    got: Counter[Key] = Counter()
    guard = threading.Lock()

    def worker(n: int) -> None:
        mine = asks[n * 3 :] + asks[: n * 3]
        gate.wait(20)
        told = store.reserve(SCOPE, mine if n % 2 else mine[::-1], dream=f"d{n}", until_ms=2**60)
        with guard:
            got.update(told.calls.keys())
        store.settle_many(SCOPE, [(told.calls[key(a)], reply(1), a) for a in asks if key(a) in told.calls])

    together([Thread(partial(worker, n)) for n in range(WORKERS)])
    assert got == Counter(key(a) for a in asks)
    assert used(store, "day", TODAY) == (30, 0, 0)


# --- the pause ---------------------------------------------------------------------------------------------------------------------------------


def test_while_calls_are_paused_nobody_reserves_one_and_what_is_in_flight_is_still_booked(store: Store, ticks: Ticks) -> None:
    call = one(store, ask())
    store.pause_calls("billing", ticks.at + 5000)
    for scope in (SCOPE, OTHER, "never/seen"):
        with pytest.raises(Paused, match="billing") as told:
            store.reserve(scope, [ask("b")], dream="d", until_ms=ticks.at + LONG)
        assert (told.value.why, told.value.for_s) == ("billing", 5)
    store.settle(SCOPE, call, reply(), ask())
    assert (paused := store.calls_paused()) is not None
    assert paused.until_ms == ticks.at + 5000
    store.pause_calls("spend limit", ticks.at + 1000)
    ticks.at += 1000
    assert store.calls_paused() is None
    one(store, ask("b"))


def test_a_person_who_paid_the_bill_lifts_the_pause(store: Store, ticks: Ticks) -> None:
    store.pause_calls("billing", ticks.at + 5000)
    assert (store.resume_calls(), store.resume_calls(), store.calls_paused()) == (True, False, None)
    one(store, ask())


# --- the ledger --------------------------------------------------------------------------------------------------------------------------------


def test_costs_are_told_apart_by_what_a_person_asks_for(store: Store, clock: Clock) -> None:
    def call(scope: str, dream: str, asked: Ask, cost: int, usage: Usage) -> None:
        store.settle(scope, one(store, asked, scope=scope, dream=dream), reply(cost, usage=usage), asked)

    call(SCOPE, "d1", ask("a"), 3, Usage(input=100, output=10, cache_written=40, cache_read=0))
    call(SCOPE, "d1", ask("b"), 2, Usage(input=10, output=5, cache_written=0, cache_read=40))
    call(SCOPE, "d1", ask("c", stage="check", model="big"), 50, Usage(input=7, output=1))
    clock.at += timedelta(days=1)
    call(SCOPE, "d2", ask("d"), 1, Usage(input=1, output=1))
    call(OTHER, "d3", ask("a"), 4, Usage(input=2, output=2))
    for name, end in (("e", "presume"), ("f", "void"), ("g", "")):
        made = one(store, ask(name), dream="d2")
        if end == "presume":
            store.presume(SCOPE, made)
        elif end:
            store.void(SCOPE, made, "x")
    first = CostRow(day=TODAY, scope=SCOPE, stage="extract", model="small", calls=2, fresh=110, written=40, cached=40, output=15, uusd=5)
    assert store.costs()[:2] == (
        CostRow(day=TODAY, scope=SCOPE, stage="check", model="big", calls=1, fresh=7, output=1, uusd=50),
        first,
    )
    second = CostRow(dream="d2", calls=1, fresh=1, output=1, uusd=1, presumed=1, presumed_uusd=10, open=1, reserved_uusd=10, voided=1)
    assert store.costs(SCOPE, by=("dream",))[1] == second
    assert store.costs(dream="d1", by=("stage",)) == (CostRow(stage="check", calls=1, fresh=7, output=1, uusd=50), replaced(first))
    assert [(r.scope, r.uusd) for r in store.costs(by=("scope",))] == [(SCOPE, 56), (OTHER, 4)]
    assert [r.uusd for r in store.costs(by=())] == [60]
    assert [r.uusd for r in store.costs(since=date(2026, 11, 4), by=())] == [5]
    assert [r.uusd for r in store.costs(until=date(2026, 11, 3), by=())] == [55]
    assert store.costs("no/such", by=()) == store.costs("no/such") == ()
    with pytest.raises(ValueError, match="colour"):
        store.costs(by=("colour",))


def replaced(row: CostRow) -> CostRow:
    return replace(row, day="", scope="", model="")


def test_open_calls_are_named_with_who_is_waiting(store: Store, ticks: Ticks) -> None:
    calls = send(store, ask("window 1"), ask("window 2"), ask("window 3"))
    store.settle(SCOPE, calls[key(ask("window 1"))], reply(), ask("window 1"))
    store.presume(SCOPE, calls[key(ask("window 2"))])
    one(store, ask("other"), scope=OTHER)
    told = store.open_calls(SCOPE)
    assert [(c.name, c.state, c.bound_uusd, c.dream, c.day, c.lapsed) for c in told] == [
        ("window 2", "presumed", 10, "d1", TODAY, False), ("window 3", "sent", 10, "d1", TODAY, False),
    ]  # fmt: skip
    ticks.at += LONG
    assert [(c.scope, c.name, c.lapsed) for c in store.open_calls() if c.state == "sent"] == [(SCOPE, "window 3", True), (OTHER, "other", True)]
    assert [c.name for c in store.open_calls(SCOPE, states=("presumed",))] == ["window 2"]
    assert [c.name for c in store.presume_lapsed(SCOPE, host="here")] == ["window 3"]
    assert store.presume_lapsed(SCOPE, host="here") == ()
    assert [c.state for c in store.open_calls(SCOPE)] == ["presumed", "presumed"]
    assert used(store, "dream", "d1") == (7, 10, 20)
    store.sweep(host="here")
    assert {c.state for c in store.open_calls()} == {"presumed"}


def test_kept_notes_are_those_confirmed_and_those_of_them_a_model_read(store: Store) -> None:
    mine, theirs = claim("the port is 5433", made_by="claude/1+ab"), claim("the host is db1", made_by="local/2")
    store.commit_intake(SCOPE, batch(turn("t1")))
    store.save_reading(SCOPE, "s1", engine="claude/1+ab", digest="d", claims=[gated(mine), gated(theirs)])
    dream = start_dream(store, SCOPE, cause="hand", holder=this_process())
    made = [("n1", (mine.uid, theirs.uid), Status.CONFIRMED), ("n2", (theirs.uid,), Status.CONFIRMED), ("n3", (mine.uid,), Status.DRAFT)]
    store.stage(dream, [belief(note, version(note, claims=claims, status=status)) for note, claims, status in made], {note: () for note, _, _ in made})
    store.apply(dream, max_share=1)
    assert store.kept_notes() == store.kept_notes(SCOPE) == Kept(notes=2, read=1)
    assert store.kept_notes(OTHER) == Kept(notes=0, read=0)


# --- beside one another ------------------------------------------------------------------------------------------------------------------------


def test_what_is_reserved_and_not_committed_yet_counts_for_whoever_comes_meanwhile(store: Store) -> None:
    limits = (limit("day", TODAY, 15),)
    store.void(SCOPE, one(store, ask("first")), "x")
    with store.together("hold the budgets"):
        one(store, ask("a"), limits=limits)
        with beside(store, lambda: store.reserve(SCOPE, [ask("b")], dream="d1", until_ms=2**60, limits=limits)) as other:
            pass
    assert [told.kind for told in other.result().refused.values()] == ["day"]
    assert used(store, "day", TODAY) == (0, 10, 0)


@pytest.mark.parametrize("store", ["postgres"], indirect=True)
@pytest.mark.parametrize("answered", [True, False])
def test_what_becomes_of_a_call_while_it_is_being_given_up_counts(store: Store, ticks: Ticks, answered: bool) -> None:
    """Another worker is done with it between the look for calls nobody waits for and their lock."""
    call = one(store, ask())
    ticks.at += LONG
    others: list[Thread] = []

    def between(_conn: object, _cursor: object, sql: str, *_rest: object) -> None:
        if sql.startswith("SELECT calls") and "calls.id IN" in sql and not others:
            others.append(Thread(lambda: store.settle(SCOPE, call, reply(), ask()) if answered else store.void(SCOPE, call, "x")))
            others[0].result()

    event.listen(store.engines.write, "before_cursor_execute", between)
    try:
        told = store.reserve(SCOPE, [ask()], dream="d1", until_ms=ticks.at + LONG)
    finally:
        event.remove(store.engines.write, "before_cursor_execute", between)
    assert (set(told.busy), set(told.calls)) == (({key(ask())}, set()) if answered else (set(), {key(ask())}))
    assert (used(store, "dream", "d1"), states(store)) == (((7, 0, 0), {"answered": 1}) if answered else ((0, 10, 0), {"void": 1, "sent": 1}))


def test_the_day_a_limit_names_is_the_day_that_counts_whatever_the_clock_says(store: Store) -> None:
    one(store, ask(), limits=(limit("day", "2026-11-09", 10),))
    assert (used(store, "day", "2026-11-09"), used(store, "day", TODAY)) == ((0, 10, 0), (0, 0, 0))
