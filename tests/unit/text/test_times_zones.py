"""Relative times where clocks, zones and midnights make them hard; every expected value is counted by hand on a calendar."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from pipelines.text.times import deadline_in, resolve_dates

BERLIN, SHANGHAI, NEW_YORK, CAIRO = "Europe/Berlin", "Asia/Shanghai", "America/New_York", "Africa/Cairo"


@pytest.mark.parametrize(
    ("text", "said_at", "zone", "iso", "begins", "ends"),
    [
        # a session over midnight: one moment, two days by zone
        ("yesterday", "2026-03-29T22:30", BERLIN, "2026-03-29", "2026-03-28T23:00", "2026-03-29T22:00"),  # half past midnight on the 30th; the 29th had 23 hours
        ("yesterday", "2026-03-29T22:30", None, "2026-03-28", "2026-03-28T00:00", "2026-03-29T00:00"),
        ("昨天", "2026-05-01T16:30", SHANGHAI, "2026-05-01", "2026-04-30T16:00", "2026-05-01T16:00"),  # half past midnight on 2 May
        ("今晚", "2026-05-01T15:59", SHANGHAI, "2026-05-01", "2026-04-30T16:00", "2026-05-01T16:00"),
        ("yesterday", "2026-04-30T16:30", "+08:00", "2026-04-30", "2026-04-29T16:00", "2026-04-30T16:00"),
        ("tonight", "2026-05-02T04:30", "-05:00", "2026-05-01", "2026-05-01T05:00", "2026-05-02T05:00"),
        # the days clocks change: 23 and 25 hours, and a day that begins at one o'clock
        ("tomorrow", "2026-03-28T12:00", BERLIN, "2026-03-29", "2026-03-28T23:00", "2026-03-29T22:00"),
        ("tomorrow", "2026-10-24T12:00", BERLIN, "2026-10-25", "2026-10-24T22:00", "2026-10-25T23:00"),
        ("tomorrow", "2026-04-23T10:00", CAIRO, "2026-04-24", "2026-04-23T22:00", "2026-04-24T21:00"),
        ("last week", "2026-11-02T03:00", NEW_YORK, "2026-10-19/2026-10-25", "2026-10-19T04:00", "2026-10-26T04:00"),  # still Sunday the 1st there
        # ends of months and years
        ("前天", "2026-03-01T02:00", SHANGHAI, "2026-02-27", "2026-02-26T16:00", "2026-02-27T16:00"),
        ("the day before yesterday", "2028-03-01T12:00", None, "2028-02-28", "2028-02-28T00:00", "2028-02-29T00:00"),
        ("三天后", "2026-02-26T12:00", SHANGHAI, "2026-03-01", "2026-02-28T16:00", "2026-03-01T16:00"),
        ("大后天", "2026-12-30T12:00", None, "2027-01-02", "2027-01-02T00:00", "2027-01-03T00:00"),
        ("a month ago", "2026-03-31T10:00", None, "2026-02", "2026-02-01T00:00", "2026-03-01T00:00"),
        ("三个月前", "2026-01-31T02:00", SHANGHAI, "2025-10", "2025-09-30T16:00", "2025-10-31T16:00"),
        ("下个月", "2026-12-15T02:00", SHANGHAI, "2027-01", "2026-12-31T16:00", "2027-01-31T16:00"),
        ("last year", "2026-01-01T02:00", NEW_YORK, "2024", "2024-01-01T05:00", "2025-01-01T05:00"),  # it is New Year's Eve there
        # weekdays
        ("上周五", "2026-11-04T02:00", SHANGHAI, "2026-10-30", "2026-10-29T16:00", "2026-10-30T16:00"),
        ("本周三", "2026-11-06T12:00", SHANGHAI, "2026-11-04", "2026-11-03T16:00", "2026-11-04T16:00"),
        ("last Friday", "2026-11-06T10:00", NEW_YORK, "2026-10-30", "2026-10-30T04:00", "2026-10-31T04:00"),  # said on a Friday
    ],
)  # fmt: skip
def test_a_relative_day_is_that_of_the_turns_time_and_zone(text: str, said_at: str, zone: str | None, iso: str, begins: str, ends: str) -> None:
    found = resolve_dates(text, datetime.fromisoformat(said_at).replace(tzinfo=UTC), zone)
    assert [(m.iso, f"{m.begin:%Y-%m-%dT%H:%M}", f"{m.until:%Y-%m-%dT%H:%M}") for m in found] == [(iso, begins, ends)]


@pytest.mark.parametrize("text", ["yesterday", "昨天", "last week", "上周五", "until Friday", "两天前"])
def test_a_turn_without_a_time_has_no_relative_day(text: str) -> None:
    assert resolve_dates(text, None, BERLIN) == ()
    assert deadline_in(text, None, BERLIN) is None


@pytest.mark.parametrize(
    ("text", "said_at", "zone", "over"),
    [
        ("The branch is frozen until Friday.", "2026-11-04T12:00", BERLIN, "2026-11-06T23:00"),
        ("Frozen until 25 October 2026.", "2026-10-20T12:00", BERLIN, "2026-10-25T23:00"),  # the long day
        ("Frozen until tomorrow.", "2026-03-28T12:00", BERLIN, "2026-03-29T22:00"),  # the short one
        ("冻结到周五为止", "2026-11-04T12:00", SHANGHAI, "2026-11-06T16:00"),
        ("有效期至2026年12月31日", "2026-11-04T12:00", SHANGHAI, "2026-12-31T16:00"),
    ],
)  # fmt: skip
def test_what_holds_until_a_day_is_over_at_its_midnight_there(text: str, said_at: str, zone: str, over: str) -> None:
    ends = deadline_in(text, datetime.fromisoformat(said_at).replace(tzinfo=UTC), zone)
    assert ends is not None
    assert f"{ends:%Y-%m-%dT%H:%M}" == over
