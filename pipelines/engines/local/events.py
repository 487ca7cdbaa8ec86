"""Rows of an `events` log as claims: a topic has a value. What a row calls verified counts only where its producer or file is trusted."""

from __future__ import annotations

from pipelines.model import Claim, Kind, Quote, SessionInfo, Turn

VALUE_MAX = 160
TRUSTED = "events_trusted"
"""Key of `SessionInfo.extra`; "yes" when the person named the file or its producer stands in `events.trusted`."""


def event_claim(turn: Turn, session: SessionInfo) -> Claim | None:
    """The claim of one row; None for a turn that is no row, or whose words do not stand in its text, or are too long to quote."""
    event = turn.event
    if event is None:
        return None
    said = f"{event.topic} = {event.value}"
    if not turn.text.startswith(said) or len(said) > VALUE_MAX or "\n" in said:
        return None
    trusted = event.status == "verified" and session.extra.get(TRUSTED) == "yes"
    return Claim(
        kind=Kind.FACT,
        subject=event.topic.strip(),
        attribute="value",
        statement=said,
        value=event.value.strip(),
        cardinality="single",
        quotes=(Quote(turn=turn.uid, start=0, end=len(said), text=said),),
        verified_by="events:verified" if trusted else None,
        doubts=() if event.status == "verified" else ("inferred",),
    )
