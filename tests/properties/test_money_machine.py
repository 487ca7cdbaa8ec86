"""Whoever reserves, dies, answers late or never, and however the clock jumps: no limit is passed, no request is in two hands, no answer is stored twice."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from pipelines.errors import Paused
from pipelines.ports import Ask, Reply, Usage
from pipelines.store import Limit
from pipelines.store.calls import ASTRAY_MS
from pipelines.store.money import Key
from tests.contracts.store_builders import DAY, SCOPE
from tests.contracts.work_builders import Ticks, rows
from tests.properties.work_stores import fresh, given_back

TTL, HOUR = 60_000, 3_600_000
LIMITS = {"scope": 200, "dream": 120, "day": 60}
NAMES = "abcdef"
ASKS = {n: Ask(stage="extract", name=n, body={"q": n}, prompt="p", turns=("t1",), bound_uusd=7 * i) for i, n in enumerate(NAMES)}
KEYS: dict[str, Key] = {n: (ask.digest, 1) for n, ask in ASKS.items()}
dreams = st.sampled_from(["d1", "d2"])
some = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True)


@dataclass
class Sent:
    """A call as the model knows it; `held` while whoever sent it is alive."""

    id: int
    name: str
    dream: str
    day: str
    at: int
    until: int | None
    state: str = "sent"
    cost: int = 0
    held: bool = True


class Money(RuleBasedStateMachine):
    """A ledger beside a model of every call."""

    def __init__(self) -> None:
        super().__init__()
        self.store = fresh()
        self.ticks = self.store.ticks = Ticks()
        self.now = DAY
        self.store.now = lambda: self.now
        self.sent: list[Sent] = []
        self.batches: dict[str, tuple[dict[str, str], str]] = {}
        self.paused_until = 0

    def teardown(self) -> None:
        self.store.now = lambda: DAY
        given_back(self.store)

    # --- the model ---

    @property
    def day(self) -> str:
        return f"{self.now:%Y-%m-%d}"

    def used(self, kind: str, name: str) -> tuple[int, int, int]:
        """Spent, reserved, presumed, added up over the calls."""
        mine = [s for s in self.sent if {"scope": SCOPE, "dream": s.dream, "day": s.day}[kind] == name]
        by = [sum(s.cost if state == "answered" else ASKS[s.name].bound_uusd for s in mine if s.state == state) for state in ("answered", "sent", "presumed")]
        return by[0], by[1], by[2]

    def fits(self, name: str, dream: str) -> bool:
        bound = ASKS[name].bound_uusd
        names = {"scope": SCOPE, "dream": dream, "day": self.day}
        return all(sum(self.used(kind, of)) + bound <= LIMITS[kind] for kind, of in names.items())

    def lapse(self, names: list[str]) -> None:
        """Asking anew for a request whose call nobody waits for presumes it."""
        for s in self.sent:
            if s.name in names and s.state == "sent" and s.until is not None and (s.until <= self.ticks.at or s.at > self.ticks.at + ASTRAY_MS):
                s.state = "presumed"

    def answered(self, name: str) -> bool:
        return any(s.name == name and s.state == "answered" for s in self.sent)

    def free(self, names: list[str]) -> list[str]:
        return [n for n in names if not self.answered(n) and not any(s.name == n and s.state == "sent" for s in self.sent)]

    def told(self, names: list[str], dream: str, calls: dict[str, int], until: int | None) -> None:
        """Compare what was reserved with what should be, one after the other, and take it over."""
        at_once: list[str] = []
        for name in names:
            if self.fits(name, dream) or not ASKS[name].bound_uusd:
                at_once.append(name)
                assert name in calls, f"{name} would fit"
                self.sent.append(Sent(calls[name], name, dream, self.day, self.ticks.at, until))
        assert set(calls) == set(at_once)

    def limits(self, dream: str) -> tuple[Limit, ...]:
        names = {"scope": SCOPE, "dream": dream, "day": self.day}
        return tuple(Limit(kind=kind, name=names[kind], limit_uusd=LIMITS[kind]) for kind in ("scope", "dream", "day"))

    def open(self, *states: str) -> list[Sent]:
        return [s for s in self.sent if s.state in states and s.until is not None and s.held]

    # --- what happens ---

    @rule(names=some, dream=dreams)
    def reserve(self, names: list[str], dream: str) -> None:
        until = self.ticks.at + TTL
        try:
            told = self.store.reserve(SCOPE, [ASKS[n] for n in names], dream=dream, until_ms=until, limits=self.limits(dream))
        except Paused:
            assert self.paused_until > self.ticks.at
            return
        assert self.paused_until <= self.ticks.at
        self.lapse(names)
        free = self.free(names)
        assert told.busy == {KEYS[n] for n in names} - {KEYS[n] for n in free}
        self.told(free, dream, {n: told.calls[KEYS[n]] for n in free if KEYS[n] in told.calls}, until)

    @precondition(lambda self: self.open("sent", "presumed"))
    @rule(data=st.data())
    def answer(self, data: st.DataObject) -> None:
        """In time or late, also after the call was given up."""
        s = self.open("sent", "presumed")[data.draw(st.integers(0, len(self.open("sent", "presumed")) - 1))]
        cost = data.draw(st.integers(0, ASKS[s.name].bound_uusd))
        said = Reply(text=f"{s.id}", stop="end_turn", model="m", usage=Usage(), cost_uusd=cost)
        for _ in range(data.draw(st.integers(1, 2))):
            self.store.settle(SCOPE, s.id, said, ASKS[s.name])
        s.state, s.cost = "answered", cost

    @precondition(lambda self: self.open("sent", "presumed"))
    @rule(data=st.data(), taken=st.booleans())
    def fail(self, data: st.DataObject, taken: bool) -> None:
        s = self.open("sent", "presumed")[data.draw(st.integers(0, len(self.open("sent", "presumed")) - 1))]
        if taken:
            self.store.presume(SCOPE, s.id)
        else:
            self.store.void(SCOPE, s.id, "refused")
        s.state = "presumed" if taken else "void"

    @rule()
    def crash(self) -> None:
        """Whoever sent them, nobody will ever settle what is in flight."""
        for s in self.open("sent"):
            s.held = False

    @rule(by=st.sampled_from([1, TTL // 2, TTL, HOUR, -1, -TTL, -HOUR]))
    def clock(self, by: int) -> None:
        self.ticks.at += by

    @rule()
    def midnight(self) -> None:
        self.now += timedelta(days=1)

    @rule()
    def sweep(self) -> None:
        told = self.store.presume_lapsed(SCOPE, host="here")
        before = {s.id for s in self.sent if s.state == "sent"}
        self.lapse(list(NAMES))
        assert {call.id for call in told} == before - {s.id for s in self.sent if s.state == "sent"}

    @rule(for_ms=st.sampled_from([0, TTL]))
    def pause(self, for_ms: int) -> None:
        self.store.pause_calls("billing", self.ticks.at + for_ms)
        self.paused_until = self.ticks.at + for_ms

    @rule(names=some, dream=dreams)
    def intend(self, names: list[str], dream: str) -> None:
        try:
            made = self.store.intend(SCOPE, [ASKS[n] for n in names], dream=dream, until_ms=self.ticks.at + TTL, limits=self.limits(dream))
        except Paused:
            return
        self.lapse(names)
        free = self.free(names)
        calls = {n: made.reserved.calls[KEYS[n]] for n in free if KEYS[n] in made.reserved.calls}
        self.told(free, dream, calls, None)
        assert (made.batch is None) == (not calls)
        if made.batch is not None:
            self.batches[made.batch.intent] = ({n: made.custom_ids[KEYS[n]] for n in calls}, "intended")

    @precondition(lambda self: self.batches)
    @rule(data=st.data(), fate=st.sampled_from(["refused", "lost", "results", "end"]))
    def batch(self, data: st.DataObject, fate: str) -> None:
        intent = list(self.batches)[data.draw(st.integers(0, len(self.batches) - 1))]  # intents are drawn anew in each run
        ids, state = self.batches[intent]
        mine = {n: next(s for s in self.sent if s.name == n and s.until is None and s.state == "sent") for n in ids if self.in_batch(n)}
        if state == "intended" and fate == "refused":
            self.store.unposted(intent, "refused")
            self.become(mine, "void")
            del self.batches[intent]
            return
        if state == "intended":
            if fate == "lost":
                self.store.in_doubt(intent, "timeout")
            self.store.posted(intent, f"remote-{intent}", adopted=fate == "lost")
            self.batches[intent] = (ids, "posted")
        elif fate == "end":
            self.store.ended(intent)
            self.store.settled(intent)
            self.become(mine, "presumed")
            del self.batches[intent]
        else:
            name = data.draw(st.sampled_from(sorted(ids)))
            cost = data.draw(st.integers(0, ASKS[name].bound_uusd))
            self.store.save_results(intent, {ids[name]: Reply(text="b", stop="end_turn", model="m", usage=Usage(), cost_uusd=cost)})
            if name in mine:
                mine[name].state, mine[name].cost = "answered", cost

    def in_batch(self, name: str) -> bool:
        return any(s.name == name and s.until is None and s.state == "sent" for s in self.sent)

    def become(self, mine: dict[str, Sent], state: str) -> None:
        for s in mine.values():
            s.state = state

    # --- what always holds ---

    @invariant()
    def no_limit_is_passed_and_the_counters_are_what_the_calls_add_up_to(self) -> None:
        for row in rows(self.store, "budgets"):
            counted = (row.spent_uusd, row.reserved_uusd, row.presumed_uusd)
            assert counted == self.used(row.kind, row.name)
            assert sum(counted) <= LIMITS[row.kind]
            assert min(counted) >= 0

    @invariant()
    def the_ledger_names_every_call(self) -> None:
        assert Counter((row.id, row.state) for row in rows(self.store, "calls")) == Counter((s.id, s.state) for s in self.sent)

    @invariant()
    def a_request_is_in_one_hand_and_has_one_answer(self) -> None:
        in_flight = Counter((row.request_mac, row.attempt) for row in rows(self.store, "calls") if row.state == "sent")
        assert set(in_flight.values()) <= {1}
        found = self.store.answers(SCOPE, KEYS.values())
        assert set(found) == {KEYS[s.name] for s in self.sent if s.state == "answered"}


Money.TestCase.settings = settings(max_examples=40, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck))
TestMoney = Money.TestCase
