"""When sessions ran, without times that cannot be: a turn stated more than a day after it was stored was stamped by a wrong clock."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, func, select

from pipelines.notes.moment import AHEAD_MAX, is_ahead
from pipelines.store import tables as t

Span = tuple[datetime | None, datetime | None]


def true_spans(conn: Connection, scope_id: int | None, query: Callable[..., Sequence[Any]]) -> dict[Any, Span]:
    """First and last time of each session as `query` names it.

    `query(columns, until, only)` gives rows of `named` and these columns: of all sessions it is about, or with `until` of those called `only` and their turns
    stated up to then.
    """
    c = t.turns.c
    ends = (func.min(c.event_at).label("first"), func.max(c.event_at).label("last"))
    rows = query((*ends, func.max(c.id).label("newest")), None, None)
    stored = stored_at(conn, scope_id) if rows else (lambda _: None)
    found: dict[Any, Span] = {r.named: (r.first, r.last) for r in rows}
    for row in rows:
        read_at = stored(row.newest)
        if read_at is not None and is_ahead(row.last, read_at):
            true = query(ends, read_at + AHEAD_MAX, row.named)
            found[row.named] = (true[0].first, true[0].last) if true else (None, None)
    return found


def stored_at(conn: Connection, scope_id: int | None) -> Callable[[int], datetime | None]:
    """By when the turn of a row id was stored, as far as that was written down."""
    a = t.arrivals.c
    arrivals: Select[Any] = select(a.upto, func.min(a.recorded_at).label("at")).where(a.scope_id == scope_id, a.upto.is_not(None)).group_by(a.upto)
    rows = sorted((r.upto, r.at) for r in conn.execute(arrivals))
    marks = [upto for upto, _ in rows]

    def stored(row_id: int) -> datetime | None:
        at = bisect_left(marks, row_id)
        return rows[at][1] if at < len(rows) else None

    return stored
