"""Messages nobody could act on, kept as they came for a person to look at."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, select

from pipelines.model import digest
from pipelines.store import tables as t
from pipelines.store.core import Core, insert_new

BODY_MAX = 64 * 1024
"""Characters kept of one message: enough to see what it was."""

KEPT_MAX = 1_000
"""Letters kept: a sender gone wrong does not fill the database."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """A message that was refused at a door, and why."""

    door: str
    why: str
    body: str
    recorded_at: datetime


class Letters(Core):
    """Belongs to no scope: what cannot be read names none."""

    def keep_letter(self, door: str, why: str, body: str) -> None:
        """Keep a message; the same one is kept once, and of very many the newest. Secrets must be masked already."""
        row = {"door": door, "why": why, "body": body[:BODY_MAX], "digest": digest(body), "recorded_at": self.now()}
        with self.writing("keep a letter") as conn:
            conn.execute(insert_new(conn, t.letters), row)
            newest = select(t.letters.c.id).order_by(t.letters.c.id.desc()).offset(KEPT_MAX).limit(1).scalar_subquery()
            conn.execute(delete(t.letters).where(t.letters.c.id <= newest))

    def clear_letters(self) -> int:
        """Forget every letter: somebody has read them. Returns how many."""
        with self.writing("clear the letters") as conn:
            return conn.execute(delete(t.letters)).rowcount

    def letters(self, *, limit: int = 100) -> tuple[Letter, ...]:
        """The newest letters, newest first."""
        c = t.letters.c
        with self.reading("read the letters") as conn:
            rows = conn.execute(select(c.door, c.why, c.body, c.recorded_at).order_by(c.id.desc()).limit(limit))
            return tuple(Letter(door=r.door, why=r.why, body=r.body, recorded_at=r.recorded_at) for r in rows)
