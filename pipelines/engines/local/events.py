"""Rows of an `events` log as claims: a topic has a value. What a row calls verified counts only where its producer or file is trusted."""

from __future__ import annotations

from pipelines.model import Claim, Event, Kind, Quote, SessionInfo, Turn

VALUE_MAX = 160
TRUSTED = "events_trusted"
"""Key of `SessionInfo.extra`; "yes" when the person named the file."""
PRODUCERS = "events_producers"
"""Key of `SessionInfo.extra`: the producers of `events.trusted`, one a line."""


def event_claim(turn: Turn, session: SessionInfo) -> Claim | None:
    """The claim of one row; None for a turn that is no row, or whose words do not stand in its text, or are too long to quote."""
    event = turn.event
    if event is None:
        return None
    said = f"{event.topic} = {event.value}"
    if not turn.text.startswith(said) or len(said) > VALUE_MAX or "\n" in said:
        return None
    trusted = event.status == "verified" and _vouched(event, session)
    return Claim(
        kind=Kind.FACT,
        subject=event.topic.strip(),
        attribute="value",
        statement=said,
        value=event.value.strip(),
        cardinality="single",
        quotes=(Quote(turn=turn.uid, start=0, end=len(said), text=said),),
        verified_by="events:verified" if trusted else None,
        doubts=() if trusted else ("inferred",),
    )


def _vouched(event: Event, session: SessionInfo) -> bool:
    """Whether a person answers for this row: an agent could write a file that calls itself verified (DESIGN §2)."""
    return session.extra.get(TRUSTED) == "yes" or (event.producer or "") in filter(None, session.extra.get(PRODUCERS, "").split("\n"))
