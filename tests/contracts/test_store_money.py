"""Money: no limit is ever passed, an answer that was stored is never asked for again, and every call is in the ledger with what became of it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from pipelines.errors import Paused
from pipelines.ports import Ask, Reply, Usage
from pipelines.store import CostRow, Limit, Store, this_process
from pipelines.store import tables as t
from pipelines.store.holder import host_of, owner_of
from pipelines.store.money import Key, Kind
from tests.contracts.store_builders import SCOPE
from tests.contracts.store_kinds import Clock, clock, store
from tests.contracts.work_builders import Thread, Ticks, extracting, rows, take, ticks

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
    assert sorted(row.turn_uid for row in rows(store, "answer_inputs")) == ["t1", "t2"]


def test_no_table_holds_the_digest_of_a_request(store: Store) -> None:
    asked = ask()
    store.settle(SCOPE, one(store, asked), reply(), asked)
    assert asked.digest not in "".join(str(row) for name in ("answers", "answer_inputs", "calls") for row in rows(store, name))


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
    assert (told.busy, set(told.calls)) == ({key(asked)}, {key(ask("b"))})
    store.settle(SCOPE, call, reply(), asked)
    told = store.reserve(SCOPE, [asked], dream="d2", until_ms=ticks.at + LONG)
    assert (told.busy, told.calls) == ({key(asked)}, {})
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
    host, _, start = process.rpartition(":")
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
