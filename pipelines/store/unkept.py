"""What retention has let go of, as those see it who read the store: turns without their words, and sessions that are not kept whole."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, select

from pipelines.store import tables as t

HUSK: Final = "0" * 32
"""How the digest of a turn begins that is kept without its words: no other digest does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retained:
    """What is no longer kept of a session: turns up to a time, and archived bytes up to a time, each by a setting of so many days; None and 0 for neither."""

    turns_until: datetime | None
    turns_days: int
    bytes_until: datetime | None
    bytes_days: int

    @property
    def until(self) -> datetime | None:
        """Up to when nothing of it is taken in again."""
        return max((at for at in (self.turns_until, self.bytes_until) if at), default=None)


def is_husk(digest: str) -> bool:
    """Whether a row of a turn, by its digest, is kept without its words."""
    return digest.startswith(HUSK)


def retained_of(conn: Connection, scope_id: int | None) -> dict[str, Retained]:
    """What is no longer kept, by session."""
    k, s = t.retained.c, t.sessions.c
    query = select(s.uid, k.turns_until, k.turns_days, k.bytes_until, k.bytes_days).join_from(t.retained, t.sessions, s.id == k.session_id)
    return {
        r.uid: Retained(turns_until=r.turns_until, turns_days=r.turns_days, bytes_until=r.bytes_until, bytes_days=r.bytes_days)
        for r in conn.execute(query.where(k.scope_id == scope_id))
    }


def untimed_husks(conn: Connection, scope_id: int | None) -> frozenset[str]:
    """Uids of turns without their words that no time tells to be old."""
    c = t.turns.c
    return frozenset(conn.scalars(select(c.uid).where(c.scope_id == scope_id, c.event_at.is_(None), c.digest.startswith(HUSK))))
