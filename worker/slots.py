"""When a schedule is due: pure functions from its text, its zone and a clock reading to the slot it owes.

A slot is what a schedule fires at most once: the local date for `nightly`, the start of the interval (floor of epoch over interval, written as its instant in
UTC) for `interval` and `adaptive`. Editing a schedule's text or zone therefore never fires a slot again, and slots compare as text. However many were missed,
one is owed: the newest (systems R18).

Texts:
    nightly    five cron fields in the cron sense: minute hour day month weekday; 0 and 7 are Sunday, names are mon..sun and jan..dec; when day and weekday
               are both restricted either one is enough
    interval   a number with s, m, h or d: `6h`
    adaptive   an interval, and optionally the thresholds it asks at each of its slots: `1h score=40 importance=200`
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from apscheduler.triggers.cron import CronTrigger

from pipelines.errors import Refused
from pipelines.store import Schedule, Waiting

LOOK_BACK_DAYS: Final = 400
"""A slot missed longer ago than this is not caught up: it bounds the search after a clock that stood wrong."""
LATE_S: Final = 900
"""A slot fired later than this after its time was missed and is caught up."""
AHEAD: Final = timedelta(hours=1)
"""How far ahead of us the clock of another replica may be before a slot it fired counts as lying in the future."""
INTERVAL_MIN_S: Final = 60
INTERVAL_MAX_S: Final = 366 * 86_400
SCORE: Final = 40.0
IMPORTANCE: Final = 200.0

_EAST: Final = timedelta(hours=14)  # no zone's date is further ahead of UTC
_UNITS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_WEEKDAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_FIELDS: Final = {"minute": (0, 59), "hour": (0, 23), "day": (1, 31), "month": (1, 12), "weekday": (0, 7)}
_NAMES: Final = {"month": {name: n for n, name in enumerate(_MONTHS, 1)}, "weekday": {name: n for n, name in enumerate(_WEEKDAYS)}}
_ITEM: Final = re.compile(r"(?:(?P<all>\*)|(?P<first>\w+)(?:-(?P<last>\w+))?)(?:/(?P<step>[0-9]{1,4}))?\Z", re.ASCII)
_INTERVAL: Final = re.compile(r"([0-9]{1,9})([smhd])\Z")
_THRESHOLD: Final = re.compile(r"(score|importance)=([0-9]{1,9}(?:\.[0-9]{1,6})?)\Z")


class BadSchedule(Refused):
    """A schedule's text or zone cannot be understood; the message names the field and what it must be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """The slot a schedule owes now; `why` is `due`, or `caught_up` when its time passed unseen."""

    slot: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Adaptive:
    """When what waits is worth a dream: its importance times how much the scope is read, or its importance alone."""

    score: float = SCORE
    importance: float = IMPORTANCE

    def wants(self, waiting: Waiting) -> bool:
        """Whether a dream is worth its cost now. Nothing new is never worth one."""
        return waiting.importance >= self.importance or (waiting.importance > 0 and waiting.importance * (1 + waiting.deliveries) >= self.score)


def check(kind: str, spec: str, zone: str) -> None:
    """Refuse what `due` could not read, naming the field."""
    _zone(zone)
    match kind:
        case "nightly":
            _cron(spec, zone)
        case "interval":
            _interval(spec)
        case "adaptive":
            adaptive(spec)
        case _:
            raise BadSchedule(f"kind: {kind!r} is none of nightly, interval, adaptive")


def due(schedule: Schedule, now: datetime) -> Due | None:
    """The one slot this schedule owes at `now`, if any. Raises BadSchedule."""
    if schedule.kind == "nightly":
        return _nightly_due(schedule, now)
    every = _interval(schedule.spec.split()[0])
    start = _start(now, every)
    if start <= schedule.since or (schedule.last_slot is not None and _slot(start) <= schedule.last_slot):
        return None
    # An adaptive schedule that did not want its last slots has missed nothing.
    late = schedule.kind == "interval" and schedule.last_slot is not None and _slot(start - timedelta(seconds=every)) > schedule.last_slot
    return Due(slot=_slot(start), why="caught_up" if late else "due")


def next_after(schedule: Schedule, now: datetime) -> datetime | None:
    """When the schedule is due next after `now`, whether or not what waits is then worth a dream; None when not within a year. Raises BadSchedule."""
    if schedule.kind != "nightly":
        every = _interval(schedule.spec.split()[0])
        return _start(now, every) + timedelta(seconds=every)
    cron = _cron(schedule.spec, schedule.zone)
    days = (cron.today(now) + timedelta(days=n) for n in range(LOOK_BACK_DAYS))
    fires = (at for day in days if schedule.last_slot is None or day.isoformat() > schedule.last_slot if (at := cron.fires_on(day)) is not None)
    return next((at for at in fires if at > now), None)


def newest_possible(kind: str, now: datetime) -> str:
    """The newest slot a sound clock anywhere may have fired: a later one was fired by a clock that stood wrong (systems hole 93)."""
    return (now.astimezone(UTC) + AHEAD + _EAST).date().isoformat() if kind == "nightly" else _slot(now + AHEAD)


def astray(schedule: Schedule, now: datetime) -> bool:
    """Whether the last slot or the beginning lies in the future, so that the schedule would be silent until then."""
    return schedule.since > now + AHEAD or (schedule.last_slot is not None and schedule.last_slot > newest_possible(schedule.kind, now))


def adaptive(spec: str) -> Adaptive:
    """The thresholds of an adaptive schedule. Raises BadSchedule."""
    every, *rest = spec.split()[:4] or [""]
    _interval(every)
    given: dict[str, float] = {}
    for word in rest:
        found = _THRESHOLD.match(word)
        if found is None or found[1] in given or float(found[2]) <= 0:
            raise BadSchedule(f"spec: {word!r} is no threshold: an adaptive schedule is an interval and then score=N, importance=N, each once and above 0")
        given[found[1]] = float(found[2])
    return Adaptive(**given)


# --- intervals ---------------------------------------------------------------------------------------------------------------------------


def _interval(text: str) -> int:
    found = _INTERVAL.match(text)
    seconds = int(found[1]) * _UNITS[found[2]] if found else 0
    if not INTERVAL_MIN_S <= seconds <= INTERVAL_MAX_S:
        raise BadSchedule(f"spec: {text!r} is no interval: write a number with s, m, h or d such as 6h, at least {INTERVAL_MIN_S}s and at most 366d")
    return seconds


def _start(now: datetime, every: int) -> datetime:
    return datetime.fromtimestamp(int(now.timestamp()) // every * every, UTC)


def _slot(start: datetime) -> str:
    return start.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# --- nights ------------------------------------------------------------------------------------------------------------------------------


def _nightly_due(schedule: Schedule, now: datetime) -> Due | None:
    """The newest local date whose time has come, that is younger than the last one fired and than the schedule."""
    cron = _cron(schedule.spec, schedule.zone)
    for day in _days_back(cron.today(now), schedule.last_slot):
        at = cron.fires_on(day)
        if at is None or at > now:
            continue
        if at <= schedule.since:
            return None
        return Due(slot=day.isoformat(), why="caught_up" if (now - at).total_seconds() > LATE_S else "due")
    return None


def _days_back(today: date, last: str | None) -> Iterator[date]:
    for n in range(LOOK_BACK_DAYS):
        day = today - timedelta(days=n)
        if last is not None and day.isoformat() <= last:
            return
        yield day


@dataclass(frozen=True, slots=True)
class _Cron:
    """Cron fields as sets, and what APScheduler makes of the time of day in a zone. Weekdays are 0 for Sunday to 6."""

    zone: ZoneInfo
    months: frozenset[int]
    days: frozenset[int]
    weekdays: frozenset[int]
    either: bool
    clock: CronTrigger

    def today(self, now: datetime) -> date:
        """The local date of an instant."""
        return now.astimezone(self.zone).date()

    def fires_on(self, day: date) -> datetime | None:
        """The first instant the schedule fires on a local date; a time the clocks skip that day comes at the hour they jump to."""
        if not self._on(day):
            return None
        # Not normalized: on a day whose clocks skip midnight the wall time that is skipped, too, still belongs to this date.
        at = self.clock.get_next_fire_time(None, datetime(day.year, day.month, day.day, tzinfo=self.zone))
        assert at is not None, "an hour and a minute come every day"
        return at.astimezone(UTC)  # type: ignore[no-any-return]

    def _on(self, day: date) -> bool:
        by_day, by_weekday = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return day.month in self.months and (by_day or by_weekday if self.either else by_day and by_weekday)


@lru_cache(maxsize=1024)
def _cron(spec: str, zone: str) -> _Cron:
    words = spec.split()
    if len(words) != len(_FIELDS):
        raise BadSchedule(f"spec: {spec!r} has {len(words)} fields: cron has five, minute hour day month weekday, such as '0 3 * * *'")
    sets = {field: _field(field, word) for field, word in zip(_FIELDS, words, strict=True)}
    either = not words[2].startswith("*") and not words[4].startswith("*")
    weekdays = frozenset(n % 7 for n in sets["weekday"])
    if not either and not any(day <= monthrange(2024, month)[1] for month in sets["month"] for day in sets["day"]):  # 2024 is a leap year
        raise BadSchedule(f"day: {words[2]!r} is no day of month {words[3]!r}: the schedule would never be due")
    where = _zone(zone)
    clock = CronTrigger(minute=_list(sets["minute"]), hour=_list(sets["hour"]), timezone=where)
    return _Cron(zone=where, months=sets["month"], days=sets["day"], weekdays=weekdays, either=either, clock=clock)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # unknown; a path out of the folder; a folder of zones
        raise BadSchedule(f"zone: {name!r} is no time zone: write a name of the tz database such as Europe/Berlin or UTC") from None


def _field(field: str, text: str) -> frozenset[int]:
    """The values a cron field admits."""
    return frozenset(n for item in text.split(",") for n in _item(field, item))


def _item(field: str, item: str) -> range:
    low, high = _FIELDS[field]
    found = _ITEM.match(item)
    if found is None:
        raise _bad(field, item)
    if found["all"]:
        first, last = low, (6 if field == "weekday" else high)
    else:
        first = _value(field, found["first"], item)
        last = _value(field, found["last"], item) if found["last"] else (high if found["step"] else first)
    if field == "weekday" and first > last == 0:  # fri-sun
        last = 7
    step = int(found["step"]) if found["step"] else 1
    if first > last or step < 1:
        raise _bad(field, item)
    return range(first, last + 1, step)


def _value(field: str, word: str, item: str) -> int:
    low, high = _FIELDS[field]
    value = _NAMES.get(field, {}).get(word.lower(), int(word) if word.isdigit() and len(word) < 5 else -1)
    if not low <= value <= high:
        raise _bad(field, item)
    return value


def _bad(field: str, item: str) -> BadSchedule:
    low, high = _FIELDS[field]
    names = {"month": " or jan..dec", "weekday": " or sun..sat"}.get(field, "")
    return BadSchedule(
        f"{field}: {item!r} is not understood: write *, a value from {low} to {high}{names}, a range a-b, each also with /step, joined by commas"
    )


def _list(values: frozenset[int]) -> str:
    return ",".join(map(str, sorted(values)))
