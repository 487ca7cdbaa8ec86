"""Reads `events` logs: one row a value that an agent noted for a topic (`topic`, `value`, `status`, `observed_at`, `source`), as JSONL.

A row becomes a turn whose text begins with "<topic> = <value>", both verbatim (a value that is no text as its JSON), then status and source on lines of
their own. So a quote of topic and value stands verbatim in the turn. Whether `verified` counts is decided later, by who produced the row.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from pipelines.logs.drafts import Draft, name_of, turn_of
from pipelines.logs.reader import Carry, FileContext, Read
from pipelines.logs.split import Record
from pipelines.logs.stamps import stamp
from pipelines.model import BadSpan, Event, Origin, Role, SessionInfo, Turn, digest

FORMAT = "events"
SEEN = frozenset({"verified", "observed", "measured", "checked", "confirmed"})
"""Statuses that claim to rest on a look at the thing itself; any other is the agent's own inference."""


class EventsReader:
    """Rows of an `events` log (`Reader`). A file is one session, named by its first row."""

    format = FORMAT

    def sniff(self, first: Sequence[object], name: str) -> bool:
        """Known by a topic and a value, with a status or a time of observation."""
        return any(isinstance(row, Mapping) and {"topic", "value"} <= row.keys() and row.keys() & {"status", "observed_at"} for row in first)

    def read(self, records: Sequence[Record], carry: Carry, where: FileContext) -> Read:
        """The rows as turns; the carry is the session and its next position."""
        session, position = str(carry.get("session") or ""), _int(carry.get("next"))
        turns: list[Turn] = []
        bad: list[BadSpan] = []
        for record in records:
            row = record.value
            session = session or digest(FORMAT, name_of(row))
            event = _event(row)
            if event is None:
                bad.append(BadSpan(place=record.place, reason="event_without_topic_or_value"))
                continue
            turns.append(turn_of(_draft(row, event), format=FORMAT, session=session, ordinal=position, place=record.place, repaired=record.repaired))
            position += 1
        sessions = (SessionInfo(uid=session, format=FORMAT, title=where.name),) if session else ()
        return Read(sessions=sessions, turns=tuple(turns), bad=tuple(bad), carry={"session": session, "next": position})


def _event(row: Mapping[str, object]) -> Event | None:
    topic, value, producer = row.get("topic"), row.get("value"), row.get("source")
    if not isinstance(topic, str) or not topic.strip() or value is None or value == "":
        return None
    try:
        written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        return None
    return Event(topic=topic, value=written, status=str(row.get("status") or "").strip().lower(), producer=producer if isinstance(producer, str) else None)


def _draft(row: Mapping[str, object], event: Event) -> Draft:
    seen = event.status in SEEN
    lines = [f"{event.topic} = {event.value}"]
    lines += [f"status: {event.status}"] if event.status else []
    lines += [f"source: {event.producer}"] if event.producer else []
    return Draft(
        role=Role.TOOL if seen else Role.ASSISTANT,
        origin=Origin.TOOL if seen else Origin.ASSISTANT,
        text="\n".join(lines),
        shared_clock=True,
        stamp=stamp(row.get("observed_at")),
        speaker=event.producer,
        event=event,
    )


def _int(value: object) -> int:
    return value if isinstance(value, int) else 0
