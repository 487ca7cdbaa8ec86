"""Which dream runs over a scope, and who works on it."""

from __future__ import annotations

from sqlalchemy import select, update

from pipelines.store import life
from pipelines.store import tables as t
from pipelines.store.claiming import gone
from pipelines.store.clock import Clocked
from pipelines.store.holder import alive, process_of
from pipelines.store.life import dream_of
from pipelines.store.values import Dream


class Running(Clocked):
    """What a process that wants to dream has to know of others."""

    def running(self, scope: str) -> Dream | None:
        """The dream that runs over the scope now."""
        d = t.dreams.c
        with self.reading("look for a running dream") as conn:
            row = conn.execute(select(t.dreams).where(d.scope_id == self.scope_of(conn, scope), d.state == "running")).one_or_none()
        return None if row is None else dream_of(scope, row)

    def at_work(self, dream: Dream, *, host: str) -> tuple[str, ...]:
        """The processes that hold a unit of a dream and, as far as `host` can tell, still live; sorted."""
        d, j = t.dreams.c, t.jobs.c
        if dream.phase is None:  # begun without jobs
            return (dream.holder,) if alive(dream.holder, host=host) else ()
        query = select(t.jobs).join_from(t.jobs, t.dreams, d.id == j.dream_id)
        with self.reading("look who works on a dream") as conn:
            now = self.clock_ms(conn)
            rows = conn.execute(query.where(d.scope_id == self.scope_of(conn, dream.scope), d.uid == dream.uid, j.state == "running")).all()
        there = {process_of(r.owner) for r in rows if gone(r.owner, r.lease_ms, r.ttl_ms, r.deadline_ms, now, host=host) is None}
        return tuple(sorted(there))

    def hurry(self, dream: Dream, why: str) -> tuple[int, ...]:
        """What waits of a dream for this reason looks again now, as soon as no other dream runs over the scope; returns the jobs to ring for."""
        j = t.jobs.c
        with self.writing("hurry a dream") as conn:
            scope_id = self.locked_scope(conn, dream.scope)
            dream_id = select(t.dreams.c.id).where(t.dreams.c.scope_id == scope_id, t.dreams.c.uid == dream.uid).scalar_subquery()
            conn.execute(update(t.jobs).where(j.dream_id == dream_id, j.state == "waiting", j.code == why).values(run_ms=self.clock_ms(conn)))
            return life.begin_next(self, conn, scope_id)
