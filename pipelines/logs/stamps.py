"""Reads the times logs state, in the styles they state them.

A time is UTC with the zone it was said in. A stated time without a zone is taken as UTC so that it can be ordered, and its zone is "unknown": said,
not guessed. What is no time is None, never "now".
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

UNKNOWN = "unknown"
"""The zone of a stated time that names none."""

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


class Stamp(NamedTuple):
    """A stated time: `at` in UTC (None when nothing was stated), `zone` as "UTC", "+02:00" or UNKNOWN."""

    at: datetime | None
    zone: str | None


NONE = Stamp(None, None)

_CLOCK = r"(?P<hour>\d{1,2})(?:[:：](?P<minute>\d{2})(?:[:：](?P<second>\d{2}))?)?\s*(?P<half>[AaPp]\.?[Mm]\.?|上午|下午)?"
_CLOCK_24 = r"(?P<hour>\d{1,2})[:：](?P<minute>\d{2})(?:[:：](?P<second>\d{2}))?\s*(?P<half>[AaPp]\.?[Mm]\.?)?"
_WEEKDAY = r"(?:\s*[(（]?\s*(?:[A-Za-z]{3,9}\.?|周.|星期.)\s*[)）]?)?"
_STYLES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?P<year>\d{{4}})[/.-](?P<month>\d{{1,2}})[/.-](?P<day>\d{{1,2}}){_WEEKDAY}(?:[,\s]+{_CLOCK_24})?",  # 2023/07/11 (Tue) 18:10
        rf"(?P<year>\d{{4}})年(?P<month>\d{{1,2}})月(?P<day>\d{{1,2}})[日号]{_WEEKDAY}(?:\s*(?P<before>上午|下午)?\s*{_CLOCK_24})?",  # 2024年04月01日 周一 08:38
        rf"{_CLOCK}\s+on\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?P<name>[A-Za-z]{{3,9}})\.?,?\s+(?P<year>\d{{4}})",  # 7:55 pm on 9 June, 2023
        rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?P<name>[A-Za-z]{{3,9}})\.?,?\s+(?P<year>\d{{4}})(?:,?\s+(?:at\s+)?{_CLOCK_24})?",  # 9 June 2023, 19:55
        rf"(?P<name>[A-Za-z]{{3,9}})\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>\d{{4}})(?:,?\s+(?:at\s+)?{_CLOCK_24})?",  # June 9, 2023 7:55 pm
    )
)


_UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_FINER = re.compile(r"(\.\d{6})\d+")
_SIX_DIGITS = len("2026-11-28T09:41:00.123456")


def stamp(given: object) -> Stamp:
    """The time a log states as ISO 8601, as a number of seconds or milliseconds since 1970, or in words ("7:55 pm on 9 June, 2023")."""
    if not isinstance(given, str):
        return _since_1970(float(given)) if isinstance(given, int | float) and not isinstance(given, bool) else NONE
    if _UTC.fullmatch(given):  # what agent programs write, a dozen times a second
        try:
            return Stamp(datetime.fromisoformat(given), "UTC")
        except ValueError:
            return NONE
    text = given.strip()
    if re.fullmatch(r"\d{10}(\.\d+)?|\d{13}", text):
        return _since_1970(float(text))
    return _iso(text) or _in_words(text) or NONE


def _since_1970(number: float) -> Stamp:
    """Seconds, milliseconds, microseconds or nanoseconds, told apart by their size; what is no time since 1990 is a counter, not a time."""
    for unit in (1e-9, 1e-6, 1e-3, 1.0):
        seconds = number * unit
        if 631_152_000 <= seconds < 4_102_444_800:
            return Stamp(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=round(seconds, 6)), "UTC")
    return NONE


def _iso(text: str) -> Stamp | None:
    if not _DAY.match(text):
        return None
    # Python reads at most six digits of a second; some writers give nine.
    if len(text) > _SIX_DIGITS:
        text = _FINER.sub(r"\1", text)
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return _placed(at)


def _in_words(text: str) -> Stamp | None:
    for style in _STYLES:
        found = style.fullmatch(text)
        if found:
            return _from_parts({k: v for k, v in found.groupdict().items() if v is not None})
    return None


def _from_parts(parts: dict[str, str]) -> Stamp | None:
    name = parts.get("name", "")[:3].lower()
    if name and name not in MONTHS:
        return None
    month = MONTHS.index(name) + 1 if name else int(parts["month"])
    hour = int(parts.get("hour", "0"))
    half = (parts.get("half") or parts.get("before") or "").lower().replace(".", "")
    if half in {"pm", "下午"} and hour < 12:
        hour += 12
    if half in {"am", "上午"} and hour == 12:
        hour = 0
    try:
        at = datetime(int(parts["year"]), month, int(parts["day"]), hour, int(parts.get("minute", "0")), int(parts.get("second", "0")))
    except ValueError:
        return None
    return _placed(at)


def _placed(at: datetime) -> Stamp | None:
    if at.tzinfo is UTC:
        return Stamp(at, "UTC")
    if at.tzinfo is None:
        return Stamp(at.replace(tzinfo=UTC), UNKNOWN)
    offset = at.utcoffset()
    try:
        utc = at.astimezone(UTC)
    except OverflowError:
        return None
    return Stamp(utc, "UTC" if not offset else at.strftime("%z")[:3] + ":" + at.strftime("%z")[3:5])
