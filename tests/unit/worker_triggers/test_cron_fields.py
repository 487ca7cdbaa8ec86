"""Cron texts in the cron sense, and what is said about those that are none."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from pipelines.store import Schedule, Waiting
from worker.slots import Adaptive, BadSchedule, adaptive, astray, check, due, newest_possible

SUNDAY = datetime(2026, 11, 29, tzinfo=UTC)


def nightly(spec: str, *, zone: str = "UTC", since: datetime = SUNDAY - timedelta(days=60), last: str | None = None) -> Schedule:
    return Schedule(scope="acme", kind="nightly", spec=spec, zone=zone, since=since, last_slot=last)


def fires(spec: str, *, zone: str = "UTC", start: datetime = SUNDAY, days: int = 14) -> list[str]:
    """The slots of a schedule looked at every quarter of an hour."""
    schedule, out = nightly(spec, zone=zone, since=start), []
    for n in range(days * 96):
        found = due(schedule, start + timedelta(minutes=15 * n, seconds=1))
        if found is not None:
            out.append(found.slot)
            schedule = nightly(spec, zone=zone, since=start, last=found.slot)
    return out


@pytest.mark.parametrize("sunday", ["0", "7", "sun", "SUN"])
def test_zero_seven_and_the_name_are_sunday(sunday: str) -> None:
    assert fires(f"0 3 * * {sunday}") == ["2026-11-29", "2026-12-06"]


@pytest.mark.parametrize(
    ("weekday", "first_week"),
    [("1", [30]), ("mon-fri", [30, 1, 2, 3, 4]), ("1-5", [30, 1, 2, 3, 4]), ("5-7", [29, 4, 5]), ("fri-sun", [29, 4, 5]), ("0-2", [29, 30, 1]),
     ("*/2", [29, 1, 3, 5]), ("sat,mon", [30, 5]), ("6", [5])],
)  # fmt: skip
def test_weekdays_are_counted_as_cron_counts_them(weekday: str, first_week: list[int]) -> None:
    assert [int(slot[-2:]) for slot in fires(f"0 3 * * {weekday}", days=7)] == first_week


def test_a_day_and_a_weekday_are_alternatives_as_in_cron() -> None:
    assert fires("0 3 1 * sun") == ["2026-11-29", "2026-12-01", "2026-12-06"]
    assert fires("0 3 1 * *", days=30) == ["2026-12-01"]


def test_many_times_on_one_date_are_one_slot() -> None:
    assert fires("*/15 3-5 * * *", days=2) == ["2026-11-29", "2026-11-30"]


@pytest.mark.parametrize(
    ("spec", "field"),
    [("0 24 * * *", "hour"), ("60 3 * * *", "minute"), ("0 3 0 * *", "day"), ("0 3 * 13 *", "month"), ("0 3 * * 8", "weekday"), ("0 3 * * monx", "weekday"),
     ("0 3 * * mon5", "weekday"), ("0 3 * * sat-mon", "weekday"), ("0 3 * jan-foo *", "month"), ("*/0 3 * * *", "minute"), ("0 3-1 * * *", "hour"),
     ("0 3 last * *", "day"), ("0,,5 3 * * *", "minute"), ("-1 3 * * *", "minute"), ("٣ 3 * * *", "minute"), ("0 3 31 2 *", "day"), ("0 3 30,31 feb *", "day"),
     ("0 3 * *", "spec"), ("", "spec"), ("@daily", "spec"), ("0 0 3 * * *", "spec")],
)  # fmt: skip
def test_a_text_that_is_no_cron_is_refused_by_its_field(spec: str, field: str) -> None:
    with pytest.raises(BadSchedule, match=f"^{field}: "):
        check("nightly", spec, "UTC")


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "../UTC", "/etc/passwd", "Europe", "Europe/\0"])
def test_a_zone_that_is_none_is_refused_by_its_field(zone: str) -> None:
    for kind, spec in (("nightly", "0 3 * * *"), ("interval", "6h"), ("adaptive", "1h")):
        with pytest.raises(BadSchedule, match=r"^zone: "):
            check(kind, spec, zone)


@pytest.mark.parametrize(("kind", "spec"), [("hourly", "6h"), ("interval", "6"), ("interval", "1s"), ("interval", "400d"), ("interval", "٦h"),
                                            ("adaptive", "1h score"), ("adaptive", "1h score=0"), ("adaptive", "1h score=1 score=2"), ("adaptive", "")])  # fmt: skip
def test_a_kind_or_an_interval_that_is_none_is_refused(kind: str, spec: str) -> None:
    with pytest.raises(BadSchedule):
        check(kind, spec, "UTC")


@pytest.mark.parametrize(
    ("zone", "night"),
    [("Europe/Berlin", datetime(2027, 3, 28)), ("Europe/Berlin", datetime(2026, 10, 25)), ("America/New_York", datetime(2026, 11, 1)),
     ("Africa/Cairo", datetime(2026, 4, 24)), ("Australia/Lord_Howe", datetime(2026, 10, 4)), ("America/Havana", datetime(2026, 11, 1))],
)  # fmt: skip
@pytest.mark.parametrize("spec", ["30 2 * * *", "30 0 * * *", "10 3 * * *", "45 1 * * *"])
def test_each_local_date_fires_once_when_the_clocks_change(zone: str, night: datetime, spec: str) -> None:
    start = (night - timedelta(days=2)).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)
    assert fires(spec, zone=zone, start=start, days=6)[:5] == [f"{(night + timedelta(days=n)).date()}" for n in range(-2, 3)]


def test_nothing_is_owed_from_before_a_schedule_was_made() -> None:
    made = SUNDAY + timedelta(hours=4)
    assert due(nightly("0 3 * * *", since=made), made + timedelta(hours=1)) is None
    found = due(nightly("0 3 * * *", since=made), made + timedelta(hours=24))
    assert found is not None
    assert found.slot == "2026-11-30"


def test_of_many_missed_nights_the_last_is_caught_up() -> None:
    found = due(nightly("0 3 * * *", last="2026-11-20"), SUNDAY + timedelta(hours=12))
    assert found is not None
    assert (found.slot, found.why) == ("2026-11-29", "caught_up")


def test_an_interval_fires_at_its_boundaries_and_catches_up_once() -> None:
    def interval(spec: str, last: str | None) -> Schedule:
        return Schedule(scope="acme", kind="interval", spec=spec, zone="UTC", since=SUNDAY, last_slot=last)

    assert due(interval("6h", None), SUNDAY + timedelta(hours=5)) is None
    first = due(interval("6h", None), SUNDAY + timedelta(hours=6))
    assert first is not None
    assert (first.slot, first.why) == ("2026-11-29T06:00:00Z", "due")
    assert due(interval("6h", first.slot), SUNDAY + timedelta(hours=11)) is None
    later = due(interval("6h", first.slot), SUNDAY + timedelta(days=3, hours=1))
    assert later is not None
    assert (later.slot, later.why) == ("2026-12-02T00:00:00Z", "caught_up")
    assert due(interval("12h", later.slot), SUNDAY + timedelta(days=3, hours=2)) is None, "a longer interval does not fire an older slot"


def test_a_last_slot_in_the_future_is_seen_and_a_zone_to_the_east_is_not_the_future() -> None:
    assert astray(nightly("0 3 * * *", last="2040-01-01"), SUNDAY)
    assert astray(nightly("0 3 * * *", since=SUNDAY + timedelta(days=5000)), SUNDAY)
    late = datetime(2026, 11, 29, 23, 0, tzinfo=UTC)
    assert not astray(nightly("0 3 * * *", last="2026-11-30"), late)
    assert newest_possible("interval", late) == "2026-11-30T00:00:00Z"


def test_adaptive_weighs_what_changed_by_how_much_it_is_read() -> None:
    asks = adaptive("1h score=40 importance=200")
    assert asks == Adaptive(score=40, importance=200)
    quiet = Waiting(sessions=1, turns=10, notes=0, deliveries=0)
    assert not asks.wants(quiet)
    assert asks.wants(Waiting(sessions=1, turns=10, notes=0, deliveries=3))
    assert asks.wants(Waiting(sessions=9, turns=170, notes=10, deliveries=0))
    assert not asks.wants(Waiting(sessions=0, turns=0, notes=0, deliveries=1000))
