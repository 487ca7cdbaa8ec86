"""The slot ledger under everything a clock and an operator do: each local date fires at most once, none is forgotten, no wrong clock silences a schedule."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from pipelines.store import Schedule
from worker import slots

ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Pacific/Kiritimati", "Pacific/Midway", "Africa/Cairo", "Australia/Lord_Howe", "America/Havana")
TEXTS = ("0 3 * * *", "30 2 * * *", "30 0 * * *", "59 23 * * *", "0 0 * * *")
STARTS = (datetime(2026, 3, 20, tzinfo=UTC), datetime(2026, 4, 20, tzinfo=UTC), datetime(2026, 10, 20, tzinfo=UTC), datetime(2027, 3, 24, tzinfo=UTC))
JUMPS = (timedelta(days=5000), timedelta(days=40), timedelta(days=-2), timedelta(hours=1), timedelta(hours=-1))


class Ledger:
    """What `pipelines.store.schedules` does, over values: the row, and the slots that fired."""

    def __init__(self, schedule: Schedule) -> None:
        self.row = schedule
        self.fired: list[str] = []

    def edit(self, **what: object) -> None:
        fields = {n: getattr(self.row, n) for n in ("scope", "kind", "spec", "zone", "since", "last_slot", "params")} | what
        self.row = Schedule(**fields)  # type: ignore[arg-type]

    def look(self, read: Schedule, now: datetime) -> str | None:
        """One scheduler's turn over the row as it read it."""
        if slots.astray(read, now):
            newest = slots.newest_possible(read.kind, now)
            last = max((s for s in self.fired if s <= newest), default=None)
            self.edit(last_slot=last, since=min(read.since, now))
            read = self.row
        due = slots.due(read, now)
        if due is None or (read.spec, read.zone) != (self.row.spec, self.row.zone):
            return None
        if self.row.last_slot is not None and self.row.last_slot >= due.slot:
            return None
        self.edit(last_slot=due.slot)
        if due.slot in self.fired:
            return None
        self.fired.append(due.slot)
        return due.slot


class Nights(RuleBasedStateMachine):
    """Time goes on, jumps and jumps back; schedulers come and go; texts and zones are edited."""

    @initialize(start=st.sampled_from(STARTS), spec=st.sampled_from(TEXTS), zone=st.sampled_from(ZONES))
    def begin(self, start: datetime, spec: str, zone: str) -> None:
        self.now = start
        self.ledger = Ledger(Schedule(scope="s", kind="nightly", spec=spec, zone=zone, since=start))
        self.calm_since = start  # since when time only went on, with a scheduler up and nothing edited
        self.calm: list[str] = []

    @rule(hours=st.sampled_from((100, 1, 7, 30)))
    def time_goes_on(self, hours: int) -> None:
        """A scheduler looks every quarter of an hour."""
        for _ in range(hours * 4):
            self.now += timedelta(minutes=15)
            if (slot := self.ledger.look(self.ledger.row, self.now)) is not None:
                self.calm.append(slot)

    @rule(hours=st.integers(1, 300), replicas=st.integers(1, 3))
    def an_outage_ends(self, hours: int, replicas: int) -> None:
        """Nobody looked for a while; then several schedulers look at what they all read at once."""
        self.now += timedelta(hours=hours)
        read = self.ledger.row
        assert sum(self.ledger.look(read, self.now) is not None for _ in range(replicas)) <= 1
        self._disturbed()

    @rule(spec=st.sampled_from(TEXTS), zone=st.sampled_from(ZONES))
    def it_is_edited(self, spec: str, zone: str) -> None:
        self.ledger.edit(spec=spec, zone=zone)
        self._disturbed()

    @rule(jump=st.sampled_from(JUMPS), hours=st.sampled_from((0, 1, 50)))
    def the_clock_stands_wrong_for_a_while(self, jump: timedelta, hours: int) -> None:
        self.ledger.look(self.ledger.row, self.now + jump)
        self.now += timedelta(hours=hours)
        self.ledger.look(self.ledger.row, self.now + jump)
        self.ledger.look(self.ledger.row, self.now)
        self._disturbed()

    @invariant()
    def no_date_fires_twice(self) -> None:
        if hasattr(self, "ledger"):
            assert len(set(self.ledger.fired)) == len(self.ledger.fired)

    @invariant()
    def while_nothing_happens_every_date_fires(self) -> None:
        """Between two dates that fired undisturbed there is none that did not, unless it had fired before."""
        if not hasattr(self, "ledger") or not self.calm:
            return
        first, last = (date.fromisoformat(s) for s in (self.calm[0], self.calm[-1]))
        every = {(first + timedelta(days=n)).isoformat() for n in range((last - first).days + 1)}
        assert every <= set(self.ledger.fired)

    @invariant()
    def with_a_sound_clock_no_schedule_is_silent(self) -> None:
        """Whatever happened: three days after everything is right again, yesterday has fired (no zone is further than 26 hours from another)."""
        if not hasattr(self, "ledger") or self.now - self.calm_since < timedelta(days=3):
            return
        yesterday = (self.now - timedelta(days=1)).astimezone(ZoneInfo(self.ledger.row.zone)).date()
        assert yesterday.isoformat() in self.ledger.fired

    def _disturbed(self) -> None:
        self.calm_since, self.calm = self.now, []


TestNights = Nights.TestCase
TestNights.settings = settings(max_examples=80, stateful_step_count=15, deadline=None, derandomize=True)
