"""The work log: what happened in the fourteen days before the newest evidence, from records alone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from itertools import groupby

from pipelines.wiki import inline
from pipelines.wiki.content import Cite, Work
from pipelines.wiki.inline import Spans, code, join, plain
from pipelines.wiki.lines import Part, day, footnote
from pipelines.wiki.page import OWN_MARK

RECENT_DAYS = 14
SESSIONS_MAX = 60
COMMITS_MAX = 6


def recent(work: Sequence[Work], newest: datetime | None, *, own: str = "") -> str:
    """The text of `recent.md`, the newest day first; sessions past the sixtieth are counted, sessions without a time stand last.

    `newest` is the newest evidence of the whole wiki.
    """
    works = within(work, newest)
    notes: list[Spans] = []
    parts = ["# Recent work"]
    for when, group in groupby(works[:SESSIONS_MAX], key=_day):
        rows = [_row(work, notes) for work in group]
        parts += [f"## {day(when) if when else 'Day unknown'}", "\n".join(rows)]
    if not works:
        parts.append("Nothing in these days.")
    if len(works) > SESSIONS_MAX:
        parts.append(f"{len(works) - SESSIONS_MAX} more sessions in these {RECENT_DAYS} days.")
    below = "".join(f"\n[^{n}]: {inline.write_line(note)}\n" for n, note in enumerate(notes, 1))
    return "\n\n".join(parts) + "\n\n" + OWN_MARK + "\n" + own + below


def within(works: Sequence[Work], newest: datetime | None) -> list[Work]:
    """Sessions of the last fourteen days before `newest`, newest first; those without a time come last."""
    since = newest - timedelta(days=RECENT_DAYS) if newest else None
    kept = [w for w in works if since is None or (w.ended or w.started) is None or (w.ended or w.started or since) >= since]
    return sorted(kept, key=lambda w: (w.started is None and w.ended is None, -_stamp(w), w.session))


def _stamp(work: Work) -> float:
    at = work.started or work.ended
    return at.timestamp() if at else 0.0


def _day(work: Work) -> date | None:
    at = work.started or work.ended
    return at.date() if at else None


def _row(work: Work, notes: list[Spans]) -> str:
    notes.append(footnote(Cite(session=work.session, at=work.started or work.ended)))
    facts: list[Part] = [_span_of(work)]
    if work.branch:
        facts += [" · ", code(work.branch)]
    if work.asked:
        facts += [" · first asked: ", plain(inline.cut_quote(work.asked, 120))]
    if work.commits:
        facts += [" · commits ", plain(", ".join(work.commits[:COMMITS_MAX]))]
        facts += [f" and {len(work.commits) - COMMITS_MAX} more"] if len(work.commits) > COMMITS_MAX else []
    if work.files:
        facts.append(f" · {work.files} {'file' if work.files == 1 else 'files'}")
    if work.uncommitted:
        facts.append(f" · {work.uncommitted} not committed")
    if work.outcome:
        facts += [" · ended: ", plain(inline.cut_quote(work.outcome, 120))]
    return f"- {inline.write_line((*join(*facts), inline.Span(' ')))}[^{len(notes)}]"


def _span_of(work: Work) -> str:
    """`23:00–23:54`, the end's date when it is another day."""
    if not work.started:
        return "time unknown"
    start = f"{work.started:%H:%M}"
    if not work.ended or work.ended == work.started:
        return start
    end = f"{work.ended:%H:%M}" + ("" if work.ended.date() == work.started.date() else f" on {day(work.ended)}")
    return f"{start}–{end}"
