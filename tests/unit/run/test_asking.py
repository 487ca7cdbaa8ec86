"""The desk: recorded answers first, then money, the call, and the answer stored before anyone looks into it."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipelines.errors import Busy, Paused, Permanent, Refused, Unreachable
from pipelines.ports import Answered, Ask, Reply, Usage
from pipelines.run.asking import Desk, Means, Slots
from pipelines.run.units.bench import Stopping
from pipelines.store import Limit, Store, open_store

NOW = datetime(2026, 11, 3, 9, 0, tzinfo=UTC)
SCOPE = "acme/web"
WAIT_S = 20


def ask(name: str, *, bound: int = 20, attempt: int = 1) -> Ask:
    return Ask(stage="extract", name=f"session {name}", body={"model": "m", "q": name}, prompt="p", turns=(f"t-{name}",), bound_uusd=bound, attempt=attempt)


def many(n: int, **more: int) -> list[Ask]:
    return [ask(f"{i:03}", **more) for i in range(n)]


def reply(text: str, cost: int = 5) -> Reply:
    return Reply(text=text, stop="end_turn", model="m-1", usage=Usage(input=10, output=1), cost_uusd=cost)


@dataclass
class Provider:
    """Answers by the question's name; `before` is called with each ask first and may raise."""

    before: Callable[[Ask], None] = lambda _: None
    cost: int = 5
    asked: list[str] = field(default_factory=list)
    flying: int = 0
    peak: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def create(self, ask: Ask, *, timeout_s: float) -> Reply:
        with self._lock:
            self.asked.append(f"{ask.body['q']}/{ask.attempt}")
            self.flying += 1
            self.peak = max(self.peak, self.flying)
        try:
            self.before(ask)
            return reply(f"answer {ask.attempt} to {ask.body['q']}", self.cost)
        finally:
            with self._lock:
                self.flying -= 1


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated store to copy: a migration takes longer than these tests."""
    path = tmp_path_factory.mktemp("empty") / "store.db"
    open_store(f"sqlite:///{path}", now=lambda: NOW).close()
    return path


@pytest.fixture
def store(tmp_path: Path, empty: Path) -> Iterator[Store]:
    shutil.copyfile(empty, tmp_path / "store.db")
    with open_store(f"sqlite:///{tmp_path}/store.db", now=lambda: NOW) as opened:
        yield opened


def desk(
    store: Store, provider: Provider | None, *, slots: int = 4, budget: int | None = 1_000, paid: bool = True, go_on: Callable[[], None] = lambda: None,
    dream: str = "d1",
) -> Desk:  # fmt: skip
    means = Means(messages=provider, slots=Slots(slots), paid=paid)
    return Desk(
        store=store, means=means, scope=SCOPE, dream=dream, job=1, limits=lambda: means.limits(dream=dream, scope=SCOPE, budget_uusd=budget, now=NOW),
        go_on=go_on,
    )  # fmt: skip


def texts(answered: Sequence[Answered]) -> list[str]:
    return [a.reply.text if a.reply else a.why for a in answered]


def spent(store: Store, dream: str = "d1") -> tuple[int, int, int]:
    told = store.budget("dream", dream)
    return told.spent_uusd, told.reserved_uusd, told.presumed_uusd


def test_answers_come_in_the_order_of_the_asks_and_equal_requests_are_one_call(store: Store) -> None:
    provider = Provider()
    found = desk(store, provider).ask([ask("b"), ask("a"), ask("b"), ask("a", attempt=2)])
    assert texts(found) == ["answer 1 to b", "answer 1 to a", "answer 1 to b", "answer 2 to a"]
    assert sorted(provider.asked) == ["a/1", "a/2", "b/1"]


def test_who_watches_is_told_how_many_answers_came_while_the_others_are_waited_for(store: Store) -> None:
    seen: list[tuple[str, int, int]] = []
    first = threading.Event()

    def watch(what: str, done: int, total: int) -> None:
        seen.append((what, done, total))
        if done == 1:
            first.set()

    def hang(one: Ask) -> None:
        if one.body["q"] != "000":
            assert first.wait(WAIT_S), "nobody was told of the first answer"

    replace(desk(store, Provider(before=hang)), progress=watch).ask(many(3))
    assert seen[0] == ("asking the model", 0, 3)
    assert ("asking the model", 1, 3) in seen


def test_what_was_answered_is_never_asked_again(store: Store) -> None:
    desk(store, Provider()).ask(many(6))
    again = Provider()
    later = desk(store, again, dream="d2")
    assert texts(later.ask(many(7))) == [f"answer 1 to {i:03}" for i in range(7)]
    assert (again.asked, later.sent, later.recorded) == (["006/1"], 1, 6)


def test_as_many_calls_are_in_flight_as_there_are_slots_and_never_more(store: Store) -> None:
    together = threading.Barrier(4)
    provider = Provider(before=lambda _: together.wait(WAIT_S) and None)
    assert len(desk(store, provider, slots=4).ask(many(12))) == 12
    assert provider.peak == 4


def test_slots_another_process_is_given_are_not_used_here_once_what_was_in_flight_came_back(store: Store) -> None:
    together, flying = threading.Barrier(4), list[int]()

    def hang(one: Ask) -> None:
        if int(one.body["q"]) < 4:
            together.wait(WAIT_S)
            at.means.slots.resize(1)
        else:
            flying.append(provider.flying)

    provider = Provider(before=hang)
    at = desk(store, provider, slots=4)
    assert len(at.ask(many(12))) == 12
    assert flying == [1] * 8


def test_slots_that_are_given_back_are_used_at_once(store: Store) -> None:
    together = threading.Barrier(4)

    def hang(one: Ask) -> None:
        if one.body["q"] == "000":
            at.means.slots.resize(9)
        together.wait(WAIT_S)

    provider = Provider(before=hang)
    at = desk(store, provider, slots=4)
    at.means.slots.resize(1)
    assert len(at.ask(many(12))) == 12
    assert (provider.peak, at.means.slots.size) == (4, 4)


def test_two_desks_of_one_process_share_its_slots(store: Store) -> None:
    provider = Provider()
    one, other = desk(store, provider, slots=3), desk(store, provider)
    other.means = one.means
    threads = [threading.Thread(target=d.ask, args=([ask(f"{n}-{i}") for i in range(9)],)) for n, d in enumerate((one, other))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S)
    assert len(provider.asked) == 18
    assert provider.peak <= 3


def test_a_slot_goes_to_the_unit_that_was_planned_first(store: Store) -> None:
    reserved, out, four = threading.Event(), threading.Semaphore(0), threading.Barrier(4)

    def before(_: Ask) -> None:
        out.release()
        assert reserved.wait(WAIT_S), "the first unit reserved nothing"
        four.wait(WAIT_S)

    def watch(done: str, _: int, __: int) -> None:
        seen.append(done)
        if len(seen) == 2:  # looked at again once its calls were reserved
            reserved.set()

    seen: list[str] = []
    provider = Provider(before=before)
    later, first = desk(store, provider), replace(desk(store, provider), job=0, progress=watch)
    first.means = later.means
    threads = [threading.Thread(target=later.ask, args=([ask(f"later {i}") for i in range(9)],))]
    threads[0].start()
    for _ in range(4):
        assert out.acquire(timeout=WAIT_S)
    threads.append(threading.Thread(target=first.ask, args=([ask(f"first {i}") for i in range(3)],)))
    threads[1].start()
    for thread in threads:
        thread.join(WAIT_S)
    assert [sum(name.startswith("first") for name in provider.asked[at : at + 4]) for at in (0, 4, 8)] == [0, 3, 0]


@dataclass
class Work:
    """Something to do meanwhile: `steps` pieces, each told to `did`."""

    did: Callable[[], None] = lambda: None
    steps: int = 3
    told: list[tuple[int, str]] = field(default_factory=list)

    def came(self, at: int, answered: Answered) -> None:
        assert answered.reply
        self.told.append((at, answered.reply.text))

    def step(self) -> bool:
        if self.steps:
            self.steps -= 1
            self.did()
            return True
        return False


def test_the_caller_works_while_its_answers_are_waited_for(store: Store) -> None:
    done = threading.Semaphore(0)
    work = Work(did=lambda: done.release())
    provider = Provider(before=lambda _: None if all(done.acquire(timeout=WAIT_S) for _ in range(3)) else pytest.fail("nothing was done meanwhile"))
    assert texts(desk(store, provider).ask([ask("a")], work)) == ["answer 1 to a"]


def test_the_caller_is_told_of_each_answer_by_the_place_of_its_ask_those_on_record_first(store: Store) -> None:
    desk(store, Provider()).ask([ask("b")])
    work = Work()
    desk(store, Provider()).ask([ask("a"), ask("b"), ask("a")], work)
    assert work.told == [(1, "answer 1 to b"), (0, "answer 1 to a"), (2, "answer 1 to a")]


def test_a_fault_in_what_the_caller_does_meanwhile_keeps_what_was_paid_for(store: Store) -> None:
    failed = threading.Event()

    def fault() -> None:
        failed.set()
        raise ZeroDivisionError

    provider = Provider(before=lambda _: None if failed.wait(WAIT_S) else pytest.fail("nothing was done meanwhile"))
    with pytest.raises(ZeroDivisionError):
        desk(store, provider, slots=2).ask(many(9), Work(did=fault))
    assert len(provider.asked) == 2
    assert spent(store) == (10, 0, 0)
    assert len(desk(store, Provider()).ask(many(9))) == 9
    assert spent(store) == (45, 0, 0)


def test_what_the_process_has_to_do_itself_waits_for_the_caller_to_have_nothing(store: Store) -> None:
    did: list[str] = []
    done = threading.Event()

    def chores() -> Iterator[None]:
        did.append("chore")
        done.set()
        yield

    at = replace(desk(store, Provider(before=lambda _: None if done.wait(WAIT_S) else pytest.fail("no chore was done"))), spare=chores())
    at.ask([ask("a")], Work(did=lambda: did.append("work")))
    assert did == ["work", "work", "work", "chore"]


def test_a_budget_is_never_passed_and_what_calls_cost_less_than_they_could_is_used(store: Store) -> None:
    seen: list[int] = []
    provider = Provider(before=lambda _: seen.append(sum(spent(store))))
    at = desk(store, provider, budget=50)
    found = at.ask(many(20))
    assert texts(found) == [f"answer 1 to {i:03}" for i in range(7)] + ["budget"] * 13  # 6 calls leave 20 of 50, the 7th leaves 15
    assert spent(store) == (35, 0, 0)
    assert max(seen) <= 50
    assert (at.sent, at.over, at.cost_uusd) == (7, 13, 35)


def test_without_a_budget_nothing_is_asked_that_costs_money(store: Store) -> None:
    provider = Provider()
    assert texts(desk(store, provider, budget=None).ask(many(3))) == ["budget"] * 3
    assert provider.asked == []
    assert len(desk(store, provider, budget=None, paid=False).ask([ask(str(i), bound=0) for i in range(3)])) == 3


def test_a_budget_of_nothing_is_one(store: Store) -> None:
    provider = Provider()
    assert texts(desk(store, provider, budget=0).ask(many(2))) == ["budget"] * 2
    assert provider.asked == []


def busy_at(name: str, *, after_s: float = 7) -> Callable[[Ask], None]:
    def act(asked: Ask) -> None:
        if asked.body["q"] == name:
            raise Busy("slow down", after_s=after_s)

    return act


def test_a_provider_that_is_busy_after_it_answered_some_keeps_the_unit_waiting_and_what_came_is_kept(store: Store) -> None:
    with pytest.raises(Paused) as told:
        desk(store, Provider(before=busy_at("005")), slots=2).ask(many(9))
    assert (told.value.why, told.value.for_s) == ("rate", 7)
    before = spent(store)
    assert before[0] >= 25
    assert before[1:] == (0, 0)
    again = Provider()
    desk(store, again).ask(many(9))
    assert len(again.asked) == 9 - before[0] // 5
    assert spent(store) == (45, 0, 0)


def test_a_provider_that_is_busy_from_the_start_is_a_failure_that_counts(store: Store) -> None:
    with pytest.raises(Busy):
        desk(store, Provider(before=busy_at("000")), slots=1).ask(many(3))
    assert spent(store) == (0, 0, 0)


def raising(error: Exception) -> Callable[[Ask], None]:
    def act(_: Ask) -> None:
        raise error

    return act


@pytest.mark.parametrize(
    ("error", "counts"),
    [(Unreachable("lost", accepted=True), 20), (Unreachable("refused", accepted=False), 0), (Permanent("400"), 0), (Paused("pay", why="billing", for_s=9), 0)],
)
def test_only_a_call_that_may_have_been_taken_counts_as_paid(store: Store, error: Exception, counts: int) -> None:
    with pytest.raises(type(error)):
        desk(store, Provider(before=raising(error))).ask([ask("a")])
    assert spent(store) == (0, 0, counts)
    assert texts(desk(store, Provider()).ask([ask("a")])) == ["answer 1 to a"]


def test_a_fault_of_ours_in_a_call_is_raised_and_its_call_counts_as_perhaps_paid(store: Store) -> None:
    with pytest.raises(ZeroDivisionError):
        desk(store, Provider(before=lambda _: 1 // 0 and None)).ask([ask("a")])
    assert spent(store) == (0, 0, 20)


def test_calls_paused_for_the_store_are_not_tried(store: Store) -> None:
    with store.reading("read the clock") as conn:
        store.pause_calls("billing", store.clock_ms(conn) + 60_000)
    provider = Provider()
    with pytest.raises(Paused) as told:
        desk(store, provider).ask(many(2))
    assert told.value.why == "billing"
    assert 1 <= told.value.for_s <= 60
    assert provider.asked == []


def test_where_nothing_may_be_sent_a_request_without_a_recorded_answer_is_named(store: Store) -> None:
    desk(store, Provider()).ask(many(2))
    replay = desk(store, None)
    assert texts(replay.ask(many(2))) == ["answer 1 to 000", "answer 1 to 001"]
    with pytest.raises(Refused, match="extract session 002"):
        replay.ask(many(3))


def test_a_stop_sends_no_more_and_keeps_what_is_in_flight(store: Store) -> None:
    stop, sent = threading.Event(), threading.Event()

    def before(_: Ask) -> None:
        stop.set()
        sent.wait(WAIT_S)

    def go_on() -> None:
        if stop.is_set():
            sent.set()
            raise Stopping

    provider = Provider(before=before)
    with pytest.raises(Stopping):
        desk(store, provider, slots=2, go_on=go_on).ask(many(9))
    assert len(provider.asked) == 2
    assert spent(store) == (10, 0, 0)


def test_a_request_another_worker_has_in_flight_is_waited_for_uncounted(store: Store) -> None:
    with store.reading("read the clock") as conn:
        until = store.clock_ms(conn) + 600_000
    asked = ask("a")
    call = store.reserve(SCOPE, [asked], dream="d0", until_ms=until).calls[asked.digest, 1]
    provider = Provider()
    with pytest.raises(Paused) as told:
        desk(store, provider).ask([asked, ask("b")])
    assert (told.value.why, provider.asked) == ("answer", ["b/1"])
    store.settle(SCOPE, call, reply("theirs"), asked)
    assert texts(desk(store, provider).ask([asked, ask("b")])) == ["theirs", "answer 1 to b"]
    assert provider.asked == ["b/1"]


def test_sixteen_workers_with_one_request_send_it_once(store: Store) -> None:
    provider, found, waited = Provider(), [], []

    def work() -> None:
        try:
            found.extend(desk(store, provider).ask([ask("a")]))
        except Paused as told:
            waited.append(told.why)

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S)
    assert provider.asked == ["a/1"]
    assert len(found) + len(waited) == 16
    assert set(waited) <= {"answer"}


def test_the_day_a_budget_counts_is_the_one_the_call_was_sent_on(store: Store) -> None:
    means = Means(messages=Provider(), slots=Slots(1), day_uusd=100, scope_uusd=500)
    told = means.limits(dream="d", scope=SCOPE, budget_uusd=None, now=datetime(2026, 11, 3, 23, 59, tzinfo=UTC))
    assert told == (Limit(kind="day", name="2026-11-03", limit_uusd=100), Limit(kind="scope", name=SCOPE, limit_uusd=500))


def test_a_rate_that_all_processes_share_is_kept_and_what_is_over_waits_uncounted(store: Store) -> None:
    provider = Provider()
    at = desk(store, provider)
    at.means = replace(at.means, rate_per_s=0.05)  # a bucket of one
    with pytest.raises(Paused) as told:
        at.ask(many(3))
    assert (told.value.why, len(provider.asked)) == ("rate", 1)
    assert 0 < told.value.for_s <= 20


def test_what_was_reserved_and_not_sent_costs_nothing(store: Store) -> None:
    stop = threading.Event()

    def go_on() -> None:
        if stop.is_set():
            raise Stopping

    with pytest.raises(Stopping):
        desk(store, Provider(before=lambda _: stop.set()), slots=2, go_on=go_on).ask(many(9))
    (row,) = store.costs(SCOPE, by=("scope",))
    assert (row.open, row.presumed) == (0, 0)
    assert spent(store)[1:] == (0, 0)
