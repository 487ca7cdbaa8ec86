"""Taking a job: the scope whose last claim is the longest ago is next, so that ten thousand units of one do not keep another waiting.

A claim first takes the row of a running dream, then one of its jobs; it skips rows others hold. What it takes is decided by one conditional UPDATE.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, cast

from sqlalchemy import ColumnElement, Connection, exists, func, or_, select, update

from pipelines.store import life
from pipelines.store import tables as t
from pipelines.store.clock import Clocked
from pipelines.store.holder import fate, host_of, process_of
from pipelines.store.types import load
from pipelines.store.work import CLAIMS_MAX, Job, lapsed

Where = Sequence[ColumnElement[bool]]
_LEFT_MAX = 100  # rows looked at for one whose worker is gone


class Claiming(Clocked):
    """Which unit is next."""

    def claim(
        self, owner: str, *, ttl_ms: int, deadline_ms: int, scope: str | None = None, dream: str | None = None, stages: Collection[str] | None = None
    ) -> Job | None:  # fmt: skip
        """The next unit that is due, ours for `ttl_ms` and, renewed, for at most `deadline_ms` from now; None when there is none.

        Of the scopes with due units the one claimed from the longest ago comes first, within it the unit due first. When nothing is due, a unit whose lease
        is over, or whose process is known to be dead on this host (told by `owner`, host:pid:start:n), is taken over. `scope`, `dream` (uid) and `stages` narrow the choice.
        """
        d, j = t.dreams.c, t.jobs.c
        which: list[ColumnElement[bool]] = [d.state == "running"]
        if scope is not None:
            which.append(d.scope_id == select(t.scopes.c.id).where(t.scopes.c.path == scope).scalar_subquery())
        if dream is not None:
            which.append(d.uid == dream)
        of = [j.stage.in_(sorted(stages))] if stages is not None else []
        with self.writing("claim a job") as conn:
            now = self.clock_ms(conn)
            lease = {"owner": owner, "ttl_ms": ttl_ms, "lease_ms": now + min(ttl_ms, deadline_ms), "deadline_ms": now + deadline_ms}
            job = self._due(conn, now, lease, which, of) or self._left(conn, now, lease, which, of)
            return None if job is None else self._job(conn, job)

    def _due(self, conn: Connection, now: int, lease: dict[str, Any], which: Where, of: Where) -> int | None:
        """Take the unit that is next in turn."""
        d, j = t.dreams.c, t.jobs.c
        due = (j.state == "ready", j.run_ms <= now, *of)
        turn = select(d.id).where(*which, exists().where(j.dream_id == d.id, *due)).order_by(d.claimed_ms, d.id).limit(1)
        # others may hold the dream's row for a moment: first look for another dream, then wait
        for waits in (False,) if conn.dialect.name == "sqlite" else (False, False, True, True):
            dream_id = conn.scalar(turn.with_for_update(key_share=True, skip_locked=not waits))
            if dream_id is None:
                continue
            first = select(j.id).where(j.dream_id == dream_id, *due).order_by(j.run_ms, j.id).limit(1).with_for_update(skip_locked=True)
            job = conn.scalar(update(t.jobs).where(j.id == first.scalar_subquery()).values(**_taken(lease)).returning(j.id))
            if job is not None:
                _count_turn(conn, dream_id, now)
                return cast(int, job)
        return None

    def _left(self, conn: Connection, now: int, lease: dict[str, Any], which: Where, of: Where) -> int | None:
        """Take a unit that waited long enough, or whose worker is gone."""
        d, j = t.dreams.c, t.jobs.c
        states = or_(j.state == "running", j.run_ms <= now)
        query = select(t.jobs).join_from(t.jobs, t.dreams, d.id == j.dream_id).where(*which, *of, j.state.in_(("running", "waiting")), states)
        rows = conn.execute(query.order_by(d.claimed_ms, j.run_ms, j.id).limit(_LEFT_MAX)).all()
        host = host_of(process_of(lease["owner"]))
        for row in rows:
            told = _gone(row, now, host)
            if row.state == "running" and (told is None or row.claims >= CLAIMS_MAX):
                continue
            if conn.scalar(select(d.id).where(d.id == row.dream_id, d.state == "running").with_for_update(key_share=True, skip_locked=True)) is None:
                continue
            free = select(j.id).where(j.id == row.id).with_for_update(skip_locked=True).scalar_subquery()
            same = (j.id == free, j.state == row.state, j.fence == row.fence, j.run_ms == row.run_ms, func.coalesce(j.lease_ms, 0) == (row.lease_ms or 0))
            kills = 0 if told == "suspended" else 1
            if conn.execute(update(t.jobs).where(*same).values(**{**_taken(lease), "claims": j.claims + kills})).rowcount:
                _count_turn(conn, row.dream_id, now)
                return cast(int, row.id)
        return None

    def _job(self, conn: Connection, job_id: int) -> Job:
        j, s = t.jobs.c, t.scopes.c
        row = conn.execute(select(t.jobs, s.path).join_from(t.jobs, t.scopes, s.id == j.scope_id).where(j.id == job_id)).one()
        dream = life.dream_of(row.path, conn.execute(select(t.dreams).where(t.dreams.c.id == row.dream_id)).one())
        payload = cast(dict[str, object], load(row.payload))
        return Job(
            id=row.id, scope=row.path, dream=dream, stage=row.stage, unit=row.unit, payload=payload, fence=row.fence, owner=row.owner, claims=row.claims,
            failures=row.failures, deadline_ms=row.deadline_ms,
        )  # fmt: skip


def _taken(lease: dict[str, Any]) -> dict[str, Any]:
    j = t.jobs.c
    return {**lease, "state": "running", "fence": j.fence + 1, "claims": j.claims + 1, "rung_ms": None, "rings": 0}


def _gone(row: Any, now: int, host: str) -> str | None:
    return None if row.state != "running" else gone(row.owner, row.lease_ms, row.ttl_ms, row.deadline_ms, now, host=host)


def gone(owner: str, lease_ms: int, ttl_ms: int, deadline_ms: int, now: int, *, host: str) -> str | None:
    """Why the worker of a running unit counts as gone: "dead" (its process, on this host), "hung" (at its deadline), "suspended" (its process lives on this
    host and did not renew: the machine slept), "silent" (its lease is over and nobody can tell why). None while the lease holds.
    """
    told = fate(process_of(owner), host=host)
    if told is False:
        return "dead"
    if not lapsed(lease_ms, ttl_ms, now):
        return None
    if lease_ms >= deadline_ms:
        return "hung"
    return "suspended" if told else "silent"


def _count_turn(conn: Connection, dream_id: int, now: int) -> None:
    """Put the dream behind all others. Not the clock alone: one that was set back would put everybody else behind this one."""
    d = t.dreams.c
    others = t.dreams.alias()
    last = select(func.coalesce(func.max(others.c.claimed_ms), 0)).where(others.c.state == "running").scalar_subquery()
    conn.execute(update(t.dreams).where(d.id == dream_id).values(claimed_ms=_greater(conn, last + 1, now)))


def _greater(conn: Connection, one: Any, other: Any) -> Any:
    return func.greatest(one, other) if conn.dialect.name == "postgresql" else func.max(one, other)
