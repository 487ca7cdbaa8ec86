from datetime import UTC, datetime, timedelta

import pytest

from pipelines.text.times import deadline_in, resolve_dates, zone_of

THURSDAY = datetime(2026, 11, 26, 9, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "iso", "precision"),
    [
        ("yesterday", "2026-11-25", "day"),
        ("the day after tomorrow", "2026-11-28", "day"),
        ("3 days ago", "2026-11-23", "day"),
        ("三天前", "2026-11-23", "day"),
        ("last Friday", "2026-11-20", "day"),
        ("上周五", "2026-11-20", "day"),
        ("下周三", "2026-12-02", "day"),
        ("next Monday", "2026-11-30", "day"),
        ("this Friday", "2026-11-27", "day"),
        ("last week", "2026-11-16/2026-11-22", "week"),
        ("last weekend", "2026-11-21/2026-11-22", "span"),
        ("next month", "2026-12", "month"),
        ("两个月前", "2026-09", "month"),
        ("去年", "2025", "year"),
        ("11月3日", "2026-11-03", "day"),
        ("January 3", "2027-01-03", "day"),
        ("2026年3月", "2026-03", "month"),
        ("the end of March 2027", "2027-03-21/2027-03-31", "span"),
        ("Q3 2026", "2026-07-01/2026-09-30", "span"),
        ("since 2019", "2019", "year"),
    ],
)
def test_a_date_becomes_absolute(text: str, iso: str, precision: str) -> None:
    assert [(m.iso, m.precision) for m in resolve_dates(text, THURSDAY)] == [(iso, precision)]


@pytest.mark.parametrize("text", ["next Friday", "3/11/2026", "31 April 2026", "30 February", "at 9:30", "on Friday", "soon"])
def test_what_has_no_single_reading_gives_nothing(text: str) -> None:
    assert resolve_dates(text, THURSDAY) == ()


def test_without_the_moment_only_full_dates_are_known() -> None:
    found = resolve_dates("yesterday, March 31, 28 November 2026", None)
    assert [m.iso for m in found] == ["2026-11-28"]


def test_the_zone_of_the_speaker_decides_the_day() -> None:
    late = datetime(2026, 11, 26, 20, 0, tzinfo=UTC)
    assert resolve_dates("today", late, "Asia/Shanghai")[0].iso == "2026-11-27"
    assert resolve_dates("today", late, "+08:00")[0].iso == "2026-11-27"
    assert resolve_dates("today", late)[0].iso == "2026-11-26"
    assert resolve_dates("today", late, "Asia/Shanghai")[0].begin == datetime(2026, 11, 26, 16, 0, tzinfo=UTC)


def test_a_day_lasts_to_the_next_midnight_and_says_how_it_was_known() -> None:
    (day,) = resolve_dates("on 4 May", THURSDAY)
    assert day.until - day.begin == timedelta(days=1)
    assert day.year_assumed
    assert not day.relative
    assert resolve_dates("yesterday", THURSDAY)[0].relative


@pytest.mark.parametrize("name", [None, "", "Nowhere/Land", "../etc/passwd", "+99:99", "\x00"])
def test_an_unknown_zone_is_utc(name: str | None) -> None:
    assert zone_of(name) is UTC


@pytest.mark.parametrize(
    ("text", "over"),
    [
        ("frozen until 10 December", "2026-12-11"),
        ("bis Dienstag nicht deployen", "2026-12-02"),
        ("don't merge until tomorrow", "2026-11-28"),
        ("no deploys until the end of December", "2027-01-01"),
        ("paused until next week", "2026-11-30"),
        ("截至12月10日", "2026-12-11"),
        ("到12月10日为止", "2026-12-11"),
    ],
)
def test_what_holds_until_a_day_ends_with_it(text: str, over: str) -> None:
    end = deadline_in(text, THURSDAY, "UTC")
    assert end is not None
    assert end.date().isoformat() == over


@pytest.mark.parametrize(
    "text", ["until Thursday", "until 2019", "on 10 December", "we moved it from 9 to 10 December", "到12月10日再说", "until further notice"]
)
def test_two_readings_a_past_day_and_no_day_give_no_end(text: str) -> None:
    assert deadline_in(text, THURSDAY, "UTC") is None
    assert deadline_in(text, None) is None
