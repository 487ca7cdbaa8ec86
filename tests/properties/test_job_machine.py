"""Whatever workers do with the units of a dream, whenever they die and however the clock jumps: each is done once, stages open in order, the dream ends."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from pipelines.errors import LeaseLost
from pipelines.store import STAGES, Job, Unit
from pipelines.store.work import CLAIMS_MAX, FAILURES_MAX
from tests.contracts.store_builders import SCOPE
from tests.contracts.work_builders import TTL, Ticks, ask, rows
from tests.properties.work_stores import fresh, given_back

LIMIT = 4 * TTL
HOUR = 3_600_000
picks = st.integers(0, 30)
OPEN = {"ready", "running", "waiting"}


@dataclass
class Row:
    """What a job should be."""

    state: str = "ready"
    fence: int = 0
    due: int = 0
    until: int = 0
    deadline: int = 0
    claims: int = 0
    failures: int = 0

    def over(self, now: int) -> bool:
        return self.until <= now or self.until > now + 2 * TTL


class Jobs(RuleBasedStateMachine):
    """A dream beside a model of its jobs. `held` are claims somebody still believes in, stale ones among them."""

    def __init__(self) -> None:
        super().__init__()
        self.store = fresh()
        self.ticks = self.store.ticks = Ticks()
        self.model: dict[tuple[str, str], Row] = {}
        self.held: list[Job] = []
        self.stage = "plan"
        self.ended: str | None = None
        self.done: list[tuple[str, str]] = []

    def teardown(self) -> None:
        try:
            if self.ended is None:
                self.all_workers_come_back()
        finally:
            given_back(self.store)

    @initialize(units=st.sets(st.sampled_from("abc"), max_size=3))
    def begin(self, units: set[str]) -> None:
        self.uid = ask(self.store, "r")
        self.opened("plan", ["all"])
        job = self.store.claim("planner", ttl_ms=TTL, deadline_ms=LIMIT)
        assert job is not None
        self.store.finish_job(job, then=[Unit(u) for u in sorted(units)])
        self.model[("plan", "all")] = Row("done", fence=1, claims=1)
        self.done.append(("plan", "all"))
        self.opened("extract", sorted(units)) if units else self.opened("resolve", ["all"])

    def opened(self, stage: str, units: list[str]) -> None:
        self.stage = stage
        for unit in units:
            self.model[(stage, unit)] = Row(due=self.ticks.at)

    # --- what should happen ---

    def ours(self, job: Job) -> bool:
        row = self.model.get((job.stage, job.unit))
        return self.ended is None and row is not None and row.state == "running" and row.fence == job.fence

    def after(self) -> None:
        """A unit ended: does its stage, or the dream?"""
        mine = {key: row for key, row in self.model.items() if key[0] == self.stage}
        if any(row.state in OPEN for row in mine.values()):
            return
        if self.stage in {"plan", "resolve", "apply", "render"} and not any(row.state == "done" for row in mine.values()):
            self.end("failed")
        elif self.stage != "render":
            self.opened(STAGES[STAGES.index(self.stage) + 1], ["all"])

    def end(self, state: str) -> None:
        self.ended = state
        for row in self.model.values():
            row.state = "canceled" if row.state in OPEN else row.state

    def pick(self, n: int) -> Job:
        return self.held[n % len(self.held)]

    # --- what workers do ---

    @rule(by=st.sampled_from([1, TTL // 3, TTL, 2 * TTL + 1, HOUR, -1, -TTL, -HOUR]))
    def clock(self, by: int) -> None:
        self.ticks.at += by

    @rule(owner=st.sampled_from(["one", "one", "two"]))
    def claim(self, owner: str) -> None:
        now, job = self.ticks.at, self.store.claim(owner, ttl_ms=TTL, deadline_ms=LIMIT)
        ready = {k: r for k, r in self.model.items() if r.state == "ready" and r.due <= now}
        left = {
            k: r for k, r in self.model.items() if (r.state == "waiting" and r.due <= now) or (r.state == "running" and r.over(now) and r.claims < CLAIMS_MAX)
        }
        if job is None:
            assert not ready
            assert not left
            return
        key = (job.stage, job.unit)
        assert key in (ready or left)
        assert not ready or ready[key].due == min(r.due for r in ready.values())
        row = self.model[key]
        row.state, row.fence, row.claims, row.until, row.deadline = "running", row.fence + 1, row.claims + 1, now + TTL, now + LIMIT
        assert (job.fence, job.claims, job.failures, job.deadline_ms) == (row.fence, row.claims, row.failures, row.deadline)
        self.held.append(job)

    @rule(by=st.sampled_from([TTL, -HOUR]))
    def take_over(self, by: int) -> None:
        """All that was claimed is over, and somebody of the same name takes all there is."""
        self.ticks.at += by
        for _ in range(3):
            self.claim("one")

    @precondition(lambda self: self.held)
    @rule(n=picks)
    def finish(self, n: int) -> None:
        job = self.pick(n)
        if not self.ours(job):
            self.refused(job)
            return
        if job.stage == "render":
            self.store.end_dream(job, "completed")
        else:
            self.store.finish_job(job)
        self.model[(job.stage, job.unit)].state = "done"
        self.done.append((job.stage, job.unit))
        self.after() if job.stage != "render" else self.end("completed")

    @precondition(lambda self: self.held)
    @rule()
    def late_commits(self) -> None:
        for job in self.held:
            if not self.ours(job):
                self.refused(job)

    def refused(self, job: Job) -> None:
        try:
            self.store.finish_job(job)
        except LeaseLost:
            return
        raise AssertionError(f"a late commit of {job.stage} {job.unit} went through")

    @precondition(lambda self: self.held)
    @rule(n=picks)
    def park(self, n: int) -> None:
        job = self.pick(n)
        if self.ours(job):
            self.store.park_job(job, "bad", "e")
            self.model[(job.stage, job.unit)].state = "parked"
            self.after()

    @precondition(lambda self: self.held)
    @rule(n=picks, pause=st.sampled_from([0, 1, 100]))
    def retry(self, n: int, pause: int) -> None:
        job = self.pick(n)
        if self.ours(job):
            self.store.retry_job(job, pause, "busy", "e")
            row = self.model[(job.stage, job.unit)]
            row.state, row.due, row.claims, row.failures = "ready", self.ticks.at + 1000 * pause, row.claims - 1, row.failures + 1
            if row.failures == FAILURES_MAX:
                row.state = "parked"
                self.after()

    @precondition(lambda self: self.held)
    @rule(n=picks)
    def give_back(self, n: int) -> None:
        job = self.pick(n)
        ours = self.ours(job)
        assert bool(self.store.give_back(job)) == ours
        if ours:
            row = self.model[(job.stage, job.unit)]
            row.state, row.claims = "ready", row.claims - 1

    @precondition(lambda self: self.held)
    @rule(n=picks)
    def split(self, n: int) -> None:
        job = self.pick(n)
        if self.ours(job) and len(job.unit) < 5:
            self.store.split_job(job, [Unit(f"{job.unit}{i}") for i in (0, 1)])
            self.model[(job.stage, job.unit)].state = "split"
            for i in (0, 1):
                self.model[(job.stage, f"{job.unit}{i}")] = Row(due=self.ticks.at)

    @precondition(lambda self: self.held)
    @rule(n=st.sets(picks, max_size=3))
    def heartbeat(self, n: set[int]) -> None:
        jobs = {self.pick(i).id: self.pick(i) for i in n}
        lost = self.store.renew(jobs.values(), ttl_ms=TTL)
        for job in jobs.values():
            row = self.model[(job.stage, job.unit)]
            kept = self.ours(job) and row.until > self.ticks.at
            if kept:
                row.until = min(self.ticks.at + TTL, row.deadline)
            assert (job.id in lost) == (not kept or row.until <= self.ticks.at)

    @precondition(lambda self: self.held)
    @rule(n=picks)
    def crash(self, n: int) -> None:
        self.held.pop(n % len(self.held))

    @rule()
    def sweep(self) -> None:
        swept = self.store.sweep()
        assert swept.repaired == 0, "nothing of this is a fault"
        killed = freed = 0
        for row in [r for r in self.model.values() if r.state == "running" and r.over(self.ticks.at)]:
            if row.state == "canceled":
                continue
            if row.claims >= CLAIMS_MAX:
                row.state = "parked"
                killed += 1
                self.after()
            else:
                row.state = "ready"
                freed += 1
        assert (swept.killed, swept.freed) == (killed, freed)

    @precondition(lambda self: self.ended is None)
    @rule(n=st.integers(0, 9))
    def cancel(self, n: int) -> None:
        if n == 0 and self.stage != "render":
            self.store.cancel(SCOPE, self.uid)
            self.end("canceled")

    # --- what always holds ---

    @invariant()
    def every_row_says_what_the_model_says(self) -> None:
        said = {(r.stage, r.unit): (r.state, r.fence, r.claims, r.failures) for r in rows(self.store, "jobs")}
        assert said == {key: (row.state, row.fence, row.claims, row.failures) for key, row in self.model.items()}
        assert len(self.done) == len(set(self.done)), "a unit was done twice"

    @invariant()
    def stages_count_what_is_open(self) -> None:
        for r in rows(self.store, "stages"):
            mine = [row for (stage, _), row in self.model.items() if stage == r.stage]
            assert r.open == sum(row.state in OPEN for row in mine)

    @invariant()
    def the_dream_is_where_the_model_is(self) -> None:
        for d in rows(self.store, "dreams"):
            assert (d.state, d.phase) == (self.ended or "running", self.stage)

    def all_workers_come_back(self) -> None:
        """From any state: within twice a lease's time somebody goes on, and the dream ends."""
        for _ in range(200):
            self.ticks.at += 2 * HOUR  # the clock was set back by hours, perhaps
            self.sweep()
            self.claim("one")
            if self.held and self.ours(self.held[-1]):
                self.finish(len(self.held) - 1)
            if self.ended:
                return
        raise AssertionError("the dream does not end")


Jobs.TestCase.settings = settings(max_examples=30, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck))
TestJobs = Jobs.TestCase
