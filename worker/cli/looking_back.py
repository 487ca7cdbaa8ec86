"""The two dates a person looks back by, `--as-of` and `--known-at`: read, and said back in one line."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Annotated

import typer

from pipelines.notes.moment import Moment
from pipelines.text.times import zone_of
from worker import wiring
from worker.settings import Settings

_HOW = "A day (2026-11-03: up to its end) or a moment (2026-11-03T14:00, with an offset or Z if you like), in the zone of the settings."
AsOf = Annotated[str | None, typer.Option("--as-of", metavar="DATE", help=f"What was true then, by what is known now. {_HOW}")]
KnownAt = Annotated[str | None, typer.Option("--known-at", metavar="DATE", help=f"What was believed then; both together: what was believed to be true. {_HOW}")]

_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def moment_of(as_of: str | None, known_at: str | None, loaded: Settings) -> Moment:
    """The look back the options ask for. Raises BadParameter, naming option and value, for what is no date and for one that is yet to come."""
    now = wiring.utc_now()
    return Moment(as_of=_read("--as-of", as_of, loaded.zone, now), known_at=_read("--known-at", known_at, loaded.zone, now))


def told(moment: Moment, loaded: Settings) -> str:
    """That the answer looks back, as one line: "as it was true on 3 Nov 2026 (Europe/Berlin)"."""
    parts = []
    if moment.as_of is not None:
        parts.append(f"as it was true on {_said(moment.as_of, loaded.zone)}")
    if moment.known_at is not None:
        parts.append(f"as it was believed on {_said(moment.known_at, loaded.zone)}")
    return f"{', '.join(parts)} ({loaded.zone})"


def as_json(moment: Moment) -> dict[str, datetime | None]:
    """The look back as `--json` carries it, beside the answer."""
    return {"as_of": moment.as_of, "known_at": moment.known_at}


def _read(option: str, text: str | None, zone: str, now: datetime) -> datetime | None:
    if text is None:
        return None
    try:
        begins, ends = _span(text.strip(), zone_of(zone))
    except (ValueError, OverflowError):
        raise typer.BadParameter(f"{text!r} is no date such as 2026-11-03 or 2026-11-03T14:00", param_hint=option) from None
    if begins > now:
        raise typer.BadParameter(f"{text!r} is yet to come: look back to a day up to today", param_hint=option)
    return min(ends, now)


def _span(text: str, zone: tzinfo) -> tuple[datetime, datetime]:
    """The first and last moment of what was written, in UTC: a day lasts from midnight to midnight of its zone, a moment is one."""
    if _DAY.fullmatch(text):
        day = datetime.fromisoformat(text).date()
        midnight, next_one = (datetime.combine(d, time(), zone).astimezone(UTC) for d in (day, day + timedelta(days=1)))
        return midnight, next_one - timedelta(microseconds=1)
    at = datetime.fromisoformat(text)
    if not re.match(r"\d{4}-\d\d-\d\d[T ]\d", text):
        raise ValueError("a form of the standard nobody writes")
    at = at if at.tzinfo else at.replace(tzinfo=zone)
    return at.astimezone(UTC), at.astimezone(UTC)


def _said(at: datetime, zone: str) -> str:
    """A day by its name where its end is meant, else with the time of day."""
    here = at.astimezone(zone_of(zone))
    day = f"{here.day} {here:%b %Y}"
    return day if (at + timedelta(microseconds=1)).astimezone(zone_of(zone)).time() == time() else f"{day} {here:%H:%M}"
