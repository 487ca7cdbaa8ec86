"""Which sessions a forget takes words from, in words a person knows them by. Read before anything is deleted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select

from pipelines.model import Origin, Role
from pipelines.store import tables as t
from pipelines.store.core import chunks
from pipelines.store.reach import Reach

WORDS_MAX = 80
"""Characters of its first words that tell a session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """A session that loses `turns` of its turns, or all it said (`whole`). `at` is its first time, `words` how its person began ("" when nobody typed)."""

    session: str
    at: datetime | None
    words: str
    turns: int
    whole: bool


def lost_sessions(conn: Connection, scope_id: int, reach: Reach) -> tuple[Lost, ...]:
    """The sessions in reach, the oldest first; those without a time go before."""
    s = t.sessions.c
    ids = sorted(reach.sessions.keys() | reach.touched)
    rows = [r for part in chunks(ids) for r in conn.execute(select(s.id, s.uid).where(s.scope_id == scope_id, s.id.in_(part)))]
    found = [_lost(conn, r.id, r.uid, reach) for r in rows]
    return tuple(sorted(found, key=lambda x: (x.at.timestamp() if x.at else 0.0, x.session)))


def _lost(conn: Connection, session_id: int, uid: str, reach: Reach) -> Lost:
    c, o = t.turns.c, t.occurrences.c
    query = select(c.id, c.uid, c.event_at, c.role, c.origin, c.body).join_from(t.occurrences, t.turns, c.id == o.turn_id)
    rows = conn.execute(query.where(o.session_id == session_id).order_by(o.source_id, o.generation, o.offset, c.id)).all()
    typed = (r.body for r in rows if r.role == Role.USER.value and r.origin == Origin.USER.value)
    return Lost(
        session=uid, at=min((r.event_at for r in rows if r.event_at), default=None), words=next(_begins(typed), ""),
        turns=len({r.uid for r in rows if r.id in reach.turns}), whole=session_id in reach.sessions,
    )  # fmt: skip


def _begins(bodies: Iterator[str]) -> Iterator[str]:
    """How texts begin, on one line; those that say nothing are left out."""
    for body in bodies:
        words = " ".join(body[: 4 * WORDS_MAX].split())
        if words:
            yield words if len(words) <= WORDS_MAX else f"{words[:WORDS_MAX].rstrip()}…"
