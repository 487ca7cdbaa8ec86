"""Whatever holders do, whenever they die and however the clock jumps: one commit at a time, and a lease is free within twice its time."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from pipelines.errors import LeaseLost
from pipelines.store import Lease
from tests.contracts.work_builders import TTL, Ticks, rows
from tests.properties.work_stores import fresh, given_back

OWNERS = ("ana", "lee", "kim")
HOUR = 3_600_000
owners = st.sampled_from(OWNERS)


class Leases(RuleBasedStateMachine):
    """A lease beside a model: who holds which fence until when, and who still believes to."""

    def __init__(self) -> None:
        super().__init__()
        self.store = fresh()
        self.ticks = self.store.ticks = Ticks()
        self.believes: dict[str, Lease] = {}
        self.held: tuple[str, int, int] | None = None  # owner, fence, end
        self.fence = 0

    def teardown(self) -> None:
        given_back(self.store)

    def over(self) -> bool:
        return self.held is None or self.held[2] <= self.ticks.at or self.held[2] > self.ticks.at + 2 * TTL

    def mine(self, owner: str) -> bool:
        return self.held is not None and owner in self.believes and self.held[:2] == (owner, self.believes[owner].fence)

    @rule(by=st.sampled_from([1, TTL // 3, TTL, 2 * TTL + 1, HOUR, -1, -TTL, -HOUR]))
    def clock(self, by: int) -> None:
        self.ticks.at += by

    @rule(owner=owners)
    def take(self, owner: str) -> None:
        lease = self.store.take_lease("page", "p", owner, TTL)
        assert (lease is not None) == self.over()
        if lease is not None:
            self.fence += 1
            assert lease.fence == self.fence, "a fence is given once"
            self.held = (owner, self.fence, self.ticks.at + TTL)
            self.believes[owner] = lease

    @rule(owner=owners)
    def release(self, owner: str) -> None:
        if owner in self.believes:
            assert self.store.release_lease(self.believes[owner]) == self.mine(owner)
            if self.mine(owner):
                self.held = None

    @rule(owner=owners)
    def commit(self, owner: str) -> None:
        if owner in self.believes:
            try:
                with self.store.together("commit"):
                    self.store.guard(self.believes[owner])
                went = True
            except LeaseLost:
                went = False
            assert went == self.mine(owner), "only the last one that took it commits"

    @rule(owner=owners)
    def crash(self, owner: str) -> None:
        self.believes.pop(owner, None)

    @rule()
    def wait_for_the_dead(self) -> None:
        self.ticks.at += 2 * TTL
        assert self.over()
        self.take("kim")

    @invariant()
    def the_row_says_what_the_model_says(self) -> None:
        for row in rows(self.store, "leases"):
            assert row.fence == self.fence
            assert (row.owner, row.until_ms) == ((None, 0) if self.held is None else (self.held[0], self.held[2]))


Leases.TestCase.settings = settings(max_examples=25, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck))
TestLeases = Leases.TestCase
