"""Tombstones of one forget: what keeps what it deleted from coming back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, select

from pipelines.store import tables as t
from pipelines.store.core import add_new, chunks
from pipelines.store.reach import Choice, Reach
from pipelines.store.tombstones import ONLINE, SESSION, SOURCE, TEXT, TURN, Forgotten, tomb


@dataclass(frozen=True, slots=True)
class Stones:
    """Lays tombstones under one forget."""

    core: Forgotten
    conn: Connection
    scope_id: int
    forget: str

    def lay(self, choice: Choice, reach: Reach) -> None:
        """For whole sessions, turns, lines of note files, the sources they came from, and a phrase."""
        whole = choice.sessions if not choice.everything else set(reach.sessions.values())
        self.add(SESSION, ((uid,) for uid in whole))
        self.add(TURN, ((uid,) for uid in reach.uids))
        self.add(ONLINE, ((uid,) for uid in reach.online))
        s = t.sources.c
        ids = sorted({source for source, _ in reach.sources})
        names = [x for part in chunks(ids) for x in self.conn.scalars(select(s.identity).where(s.id.in_(part)))]
        self.add(SOURCE, ((name,) for name in names))
        if choice.phrase:
            self.add(TEXT, (choice.phrase,), words=len(choice.phrase))

    def add(self, kind: str, of: Iterable[tuple[str, ...]], *, words: int = 0) -> None:
        """Tombstones of a kind."""
        same = {"scope_id": self.scope_id, "forget": self.forget, "kind": kind, "words": words}
        add_new(self.conn, t.tombstones, [{**same, "mac": mac} for mac in sorted({tomb(self.core, kind, *parts) for parts in of})])
