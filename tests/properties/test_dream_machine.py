"""Whoever asks, whenever, and whatever becomes of workers and clock: one dream a scope, and each request has a dream that read after it was made."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from pipelines.errors import LeaseLost, Refused
from pipelines.store import Job
from tests.contracts.store_builders import SCOPE
from tests.contracts.work_builders import DEADLINE, TTL, Ticks, rows
from tests.properties.work_stores import fresh, given_back

HOUR = 3_600_000
ENDS = ("completed", "planned", "held", "failed")


@dataclass
class Dreamt:
    """What a dream should be: `read` is the step its plan was last claimed at."""

    params: int
    state: str
    read: int = -1
    asked: list[int] = field(default_factory=list)


class Dreams(RuleBasedStateMachine):
    """A scope beside a model of its dreams and requests."""

    def __init__(self) -> None:
        super().__init__()
        self.store = fresh()
        self.ticks = self.store.ticks = Ticks()
        self.step = 0
        self.dreams: dict[str, Dreamt] = {}
        self.requests: dict[str, str] = {}
        self.held: list[Job] = []

    def teardown(self) -> None:
        try:
            self.quiet_down()
            self.every_request_was_answered()
        finally:
            given_back(self.store)

    # --- the model ---

    def running(self) -> str | None:
        return next((uid for uid, d in self.dreams.items() if d.state == "running"), None)

    def freed(self) -> None:
        """The scope may have become free: whoever is next begins. Which one wakes is asked of the store, that one does is not."""
        if self.running() is None:
            states = {d.uid: d.state for d in rows(self.store, "dreams")}
            woken = [uid for uid, d in self.dreams.items() if d.state == "waiting" and states[uid] == "running"]
            pending = [uid for uid, d in self.dreams.items() if d.state == "pending"]
            assert woken or not pending or states[pending[0]] == "running", "the oldest that waits for the scope begins"
            for uid in woken or pending[:1]:
                self.dreams[uid].state = "running"

    def plan_is_ready(self, uid: str) -> bool:
        """Nobody works on the plan: it was not claimed, or given back."""
        return self.store.dream_state(SCOPE, uid).jobs == {"plan": {"ready": 1}}

    # --- what happens ---

    @rule(params=st.lists(st.integers(0, 2), min_size=1, max_size=3))
    def requests_of_others(self, params: list[int]) -> None:
        for p in params:
            self.request(f"r{len(self.requests)}", p)

    @precondition(lambda self: self.requests)
    @rule(number=st.integers(0, 9), params=st.integers(0, 2))
    def asked_again(self, number: int, params: int) -> None:
        self.request(f"r{number % len(self.requests)}", params)

    def request(self, request_id: str, params: int) -> None:
        self.step += 1
        known = self.requests.get(request_id)
        pending = next((u for u, d in self.dreams.items() if d.state == "pending" and d.params == params), None)
        running = self.running()
        joins = pending or (running if running and self.dreams[running].params == params and self.plan_is_ready(running) else None)
        told = self.store.request(SCOPE, request_id=request_id, params={"p": params}, cause="test")
        assert told.dream is not None
        if known is not None:
            assert (told.answer, told.dream, told.state) == ("known", known, self.dreams[known].state)
            return
        assert told.answer == ("coalesced" if joins else "accepted")
        assert told.dream == (joins or told.dream)
        if not joins:
            self.dreams[told.dream] = Dreamt(params, "pending")
            self.freed()
        assert told.state == self.dreams[told.dream].state
        self.requests[request_id] = told.dream
        self.dreams[told.dream].asked.append(self.step)

    @rule()
    def claim(self) -> None:
        self.step += 1
        job = self.store.claim("worker", ttl_ms=TTL, deadline_ms=DEADLINE)
        if job is not None:
            assert job.dream.uid == self.running()
            if job.stage == "plan":
                self.dreams[job.dream.uid].read = self.step
            self.held.append(job)

    def let_go(self, job: Job, state: str | None, end: object) -> None:
        """A worker says how its unit ended; late, it is refused."""
        self.held.remove(job)
        try:
            end()  # type: ignore[operator]
        except LeaseLost:
            return
        if state is not None:
            self.dreams[job.dream.uid].state = state
        self.freed()

    @rule(how=st.sampled_from(["finish", "finish", "end", "wait", "crash"]), state=st.sampled_from(ENDS))
    def work(self, how: str, state: str) -> None:
        """Claim and do, with nothing in between."""
        self.claim()
        if self.held:
            {"finish": self.finish, "end": lambda: self.end(state), "wait": lambda: self.wait(HOUR), "crash": self.crash}[how]()

    @precondition(lambda self: self.held)
    @rule()
    def finish(self) -> None:
        job = self.held[0]
        if job.stage == "render":
            self.let_go(job, "completed", lambda: self.store.end_dream(job, "completed"))
        else:
            self.let_go(job, None, lambda: self.store.finish_job(job))

    @precondition(lambda self: self.held)
    @rule(state=st.sampled_from(ENDS))
    def end(self, state: str) -> None:
        job = self.held[-1]
        self.let_go(job, state, lambda: self.store.end_dream(job, state))

    @precondition(lambda self: self.held)
    @rule()
    def give_back(self) -> None:
        self.store.give_back(self.held.pop())

    @precondition(lambda self: self.held)
    @rule(pause=st.sampled_from([1, TTL, HOUR]))
    def wait(self, pause: int) -> None:
        job = self.held[-1]
        self.let_go(job, "waiting", lambda: self.store.wait_job(job, "batch", self.ticks.at + pause))

    @precondition(lambda self: self.held)
    @rule()
    def crash(self) -> None:
        self.held.clear()

    @precondition(lambda self: self.dreams)
    @rule(n=st.integers(0, 20))
    def cancel(self, n: int) -> None:
        uid = sorted(self.dreams)[n % len(self.dreams)]
        over = self.dreams[uid].state in {"completed", "failed"} or self.store.dream(SCOPE, uid).phase == "render"
        try:
            self.store.cancel(SCOPE, uid)
        except Refused:
            assert over
            assert self.dreams[uid].state != "canceled"
            return
        assert not over or self.dreams[uid].state == "canceled"
        self.dreams[uid].state = "canceled"
        self.freed()

    @rule(by=st.sampled_from([1, TTL, 2 * TTL + 1, HOUR, -1, -TTL, -HOUR]))
    def clock(self, by: int) -> None:
        self.ticks.at += by

    @rule()
    def sweep(self) -> None:
        assert self.store.sweep().repaired == 0, "nothing of this is a fault"
        for d in rows(self.store, "dreams"):
            mine = self.dreams[d.uid]
            if (mine.state, d.state) in {("waiting", "running"), ("running", "failed")}:  # its wait is over; each worker on a stage died
                mine.state = d.state
        self.freed()

    # --- what always holds ---

    @invariant()
    def the_store_says_what_the_model_says(self) -> None:
        assert {d.uid: d.state for d in rows(self.store, "dreams")} == {uid: d.state for uid, d in self.dreams.items()}

    @invariant()
    def one_runs_and_none_waits_for_a_free_scope(self) -> None:
        states = Counter(d.state for d in self.dreams.values())
        assert states["running"] <= 1
        assert not states["pending"] or states["running"], "what is pending would wait for ever"
        for scope in rows(self.store, "scopes"):
            assert scope.wanted - scope.taken == states["pending"]

    def quiet_down(self) -> None:
        """Workers come back and nobody asks any more."""
        self.held.clear()
        for _ in range(400):
            self.ticks.at += 3 * HOUR
            self.sweep()
            self.claim()
            while self.held:
                self.finish()
            if not any(d.state in {"running", "pending", "waiting"} for d in self.dreams.values()):
                return
        raise AssertionError("dreams are left")

    def every_request_was_answered(self) -> None:
        for dream in self.dreams.values():
            if dream.state in {"completed", "planned", "held"}:
                assert all(dream.read > asked for asked in dream.asked), "a request was answered by what was read before it"


Dreams.TestCase.settings = settings(max_examples=25, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck))
TestDreams = Dreams.TestCase
