"""Dates as days: what a written date means when it was said at a known moment, in a known zone.

Only what has one reading is resolved. "Next Friday" said before Friday has two, "3/11/2026" has two, a time of day alone has none; those give nothing.
Without the moment, relative dates and dates without a year give nothing.
"""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from .dates import Written, written_dates


@dataclass(frozen=True, slots=True)
class DateMention:
    """A date in a text, made absolute.

    Characters `start` to `end` spell it; `iso` is 2026-11-28, 2026-11 or 2026 (weeks and other spans: first/last day joined by `/`); `precision` is day,
    week, month, year or span; `begin` and `until` are the UTC moments it lasts from and to (exclusive). `relative` says that the moment of speaking was
    needed, `year_assumed` that the text names no year.
    """

    start: int
    end: int
    iso: str
    precision: str
    begin: datetime
    until: datetime
    relative: bool = False
    year_assumed: bool = False


def resolve_dates(text: str, at: datetime | None, zone: str | None = None) -> tuple[DateMention, ...]:
    """The dates of a text in order. `at` is the moment it was said (aware) or None; `zone` the speaker's zone (IANA name or +08:00), else UTC."""
    where = zone_of(zone)
    today = _local_day(at, where)
    return tuple(mention for written in written_dates(text) if (mention := _mention(written, today, where)) is not None)


_UNTIL = re.compile(
    r"(?<![\w])(?P<cue>(?:valid |open |frozen |good )?(?:until|till|'til|through|up to and including)|bis(?: zum| einschließlich| inklusive| einschl\.| inkl\.)?|jusqu['’]au|hasta(?: el)?)\s+(?:the\s+)?(?P<end>(?:the )?end of\s+)?$|(?P<zh>直到|截至|截止到?|有效期?[至到]|到)\s*$",
    re.I,
)
_ENDS_ZH = re.compile(r"\s*(?:为止|止|之前|前|以前|まで)")
_BROAD = frozenset({"week", "month", "year"})


def deadline_in(text: str, at: datetime | None, zone: str | None = None) -> datetime | None:
    """When what a text says is over by its own words ("until 10 March", "bis Freitag", 3月10日为止): the end of that day; None where it names no day, or a past one.

    Of a week, month or year the words name, "until" means its beginning and "through" its end. `at` and `zone` are those of the words.
    """
    if at is None:
        return None
    where = zone_of(zone)
    today = _local_day(at, where)
    found: list[datetime] = []
    for written in written_dates(text):
        cue = _UNTIL.search(text[: written.start])
        if cue is None or (cue["zh"] == "到" and not _ENDS_ZH.match(text[written.end :])):
            continue
        mention = _weekday_ahead(written, today, where) if written.kind == "weekday" else _mention(written, today, where)
        if mention is not None:
            early = mention.precision in _BROAD and not cue["zh"] and not cue["end"] and (cue["cue"] or "").casefold() not in {"through", "up to and including"}
            found.append(mention.begin if early else mention.until)
    return found[0] if len(found) == 1 and found[0] > at else None


def _weekday_ahead(written: Written, today: date | None, where: tzinfo) -> DateMention | None:
    """The coming day of that name; none when today is one, since then two are meant by it."""
    ahead = (int(written.canonical) - today.isoweekday()) % 7 if today is not None and written.canonical.isdecimal() and int(written.canonical) <= 7 else 0
    if not ahead or today is None:
        return None
    try:
        day = today + timedelta(days=ahead)
        return DateMention(written.start, written.end, day.isoformat(), "day", _midnight(day, where), _midnight(day + timedelta(days=1), where), True)
    except OverflowError:
        return None


def _mention(written: Written, today: date | None, where: tzinfo) -> DateMention | None:
    days = _days(written, today)
    if days is None:
        return None
    first, last, assumed = days
    iso, precision = _iso(first, last)
    try:
        begin, until = _midnight(first, where), _midnight(last + timedelta(days=1), where)
    except OverflowError:  # the first or last day there is
        return None
    return DateMention(written.start, written.end, iso, precision, begin, until, written.kind == "relative", assumed)


def _local_day(at: datetime | None, where: tzinfo) -> date | None:
    try:
        return at.astimezone(where).date() if at else None
    except OverflowError:
        return None


def zone_of(name: str | None) -> tzinfo:
    """The zone of a name or an offset; UTC for none and for a name nobody knows."""
    if not name:
        return UTC
    if offset := re.fullmatch(r"(?:UTC|GMT)?([+-])(\d{1,2}):?(\d{2})?", name):
        minutes = int(offset[2]) * 60 + int(offset[3] or 0)
        if minutes < 24 * 60:
            return timezone(timedelta(minutes=minutes if offset[1] == "+" else -minutes))
        return UTC
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return UTC


Days = tuple[date, date, bool]


def _days(written: Written, today: date | None) -> Days | None:
    """(first day, last day, year assumed) of a written date."""
    try:
        if written.kind == "date":
            return _absolute(written.canonical, today)
        if written.kind == "relative" and today is not None:
            span = _relative(written.canonical, today)
            return (*span, False) if span else None
    except (ValueError, OverflowError):  # 31 April, the year 0
        return None
    return None


_ABSOLUTE = re.compile(r"(?P<year>\d{4}|-)(?:-(?P<month>\d\d)(?:-(?P<day>\d\d))?(?P<part>-start|-mid|-end)?|-Q(?P<quarter>[1-4]))?")


def _absolute(canonical: str, today: date | None) -> Days | None:
    match = _ABSOLUTE.fullmatch(canonical)
    if match is None:
        return None
    if match["year"] != "-":
        return (*_span(int(match["year"]), match), False)
    if today is None:
        return None
    # No year was said: the one that brings it nearest to the day it was said on.
    spans = []
    for year in (today.year - 1, today.year, today.year + 1):
        try:
            spans.append(_span(year, match))
        except ValueError:
            continue
    nearest = min(spans, key=lambda span: abs((span[0] - today).days), default=None)
    return (*nearest, True) if nearest else None


def _span(year: int, match: re.Match[str]) -> tuple[date, date]:
    if match["quarter"]:
        month = int(match["quarter"]) * 3 - 2
        return date(year, month, 1), _month_end(year, month + 2)
    if not match["month"]:
        return date(year, 1, 1), date(year, 12, 31)
    month = int(match["month"])
    if match["day"]:
        day = date(year, month, int(match["day"]))
        return day, day
    last = _month_end(year, month)
    parts = {"-start": (1, 10), "-mid": (11, 20), "-end": (21, last.day)}
    if not match["part"]:
        return date(year, month, 1), last
    first_day, last_day = parts[match["part"]]
    return date(year, month, first_day), date(year, month, last_day)


def _month_end(year: int, month: int) -> date:
    return date(year, month, monthrange(year, month)[1])


def _relative(canonical: str, today: date) -> tuple[date, date] | None:
    if match := re.fullmatch(r"(ago|ahead)-(\d+)([dwmy])", canonical):
        return _counted(today, int(match[2]) * (-1 if match[1] == "ago" else 1), match[3])
    if match := re.fullmatch(r"([dwmy])([+-]\d+)(?:-(\d))?", canonical):
        return _shifted(today, match[1], int(match[2]), int(match[3]) if match[3] else None)
    if match := re.fullmatch(r"(last|next)-(\d)", canonical):
        return _named_weekday(today, match[1], int(match[2]))
    return None


def _counted(today: date, count: int, unit: str) -> tuple[date, date]:
    """Three days ago is a day; weeks, months and years ago are as rough as their unit."""
    if unit == "d":
        day = today + timedelta(days=count)
        return day, day
    return _shifted(today, unit, count, None)


def _shifted(today: date, unit: str, by: int, weekday: int | None) -> tuple[date, date]:
    if unit == "d":
        day = today + timedelta(days=by)
        return day, day
    if unit == "w":
        monday = today - timedelta(days=today.weekday()) + timedelta(weeks=by)
        if weekday is None:
            return monday, monday + timedelta(days=6)
        if weekday == 8:
            return monday + timedelta(days=5), monday + timedelta(days=6)
        day = monday + timedelta(days=weekday - 1)
        return day, day
    if unit == "m":
        months = today.year * 12 + today.month - 1 + by
        year, month = divmod(months, 12)
        return date(year, month + 1, 1), _month_end(year, month + 1)
    return date(today.year + by, 1, 1), date(today.year + by, 12, 31)


def _named_weekday(today: date, side: str, weekday: int) -> tuple[date, date] | None:
    """Last Friday is the newest one before today. Next Friday is the coming one only when that lies in the next week: else it has two readings."""
    if side == "last":
        back = (today.isoweekday() - weekday) % 7 or 7
        day = today - timedelta(days=back)
    else:
        ahead = (weekday - today.isoweekday()) % 7 or 7
        day = today + timedelta(days=ahead)
        if weekday > today.isoweekday():
            return None
    return day, day


def _iso(first: date, last: date) -> tuple[str, str]:
    if first == last:
        return first.isoformat(), "day"
    if first.day == 1 and last == _month_end(first.year, first.month):
        return f"{first.year:04}-{first.month:02}", "month"
    if (first.month, first.day, last.month, last.day, first.year) == (1, 1, 12, 31, last.year):
        return f"{first.year:04}", "year"
    precision = "week" if first.isoweekday() == 1 and (last - first).days == 6 else "span"
    return f"{first.isoformat()}/{last.isoformat()}", precision


def _midnight(day: date, zone: tzinfo) -> datetime:
    return datetime.combine(day, time(), zone).astimezone(UTC)
