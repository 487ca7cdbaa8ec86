"""Taking a job: the scope whose last claim is the longest ago is next, so that ten thousand units of one do not keep another waiting.

A claim first takes the row of a running dream, then one of its jobs; it skips rows others hold. What it takes is decided by one conditional UPDATE.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from sqlalchemy import ColumnElement, Connection, Select, bindparam, exists, func, or_, select, update

from pipelines.store import life
from pipelines.store import tables as t
from pipelines.store.clock import Clocked
from pipelines.store.holder import fate, host_of, process_of
from pipelines.store.types import Id, load
from pipelines.store.work import CLAIMS_MAX, Job, lapsed

_LEFT_MAX = 100  # rows looked at for one whose worker is gone


class Claiming(Clocked):
    """Which unit is next."""

    def claim(
        self, owner: str, *, ttl_ms: int, deadline_ms: int, scope: str | None = None, dream: str | None = None, stages: Collection[str] | None = None
    ) -> Job | None:  # fmt: skip
        """The next unit that is due, ours for `ttl_ms` and, renewed, for at most `deadline_ms` from now; None when there is none.

        Of the scopes with due units the one claimed from the longest ago comes first, within it the unit due first. When nothing is due, a unit whose lease
        is over, or whose process is known to be dead on this host (told by `owner`, host:pid:start:n), is taken over. `scope`, `dream` (uid) and `stages`
        narrow the choice.
        """
        narrowed = _Narrowed(scope=scope is not None, dream=dream is not None, stages=None if stages is None else tuple(sorted(stages)))
        with self.writing("claim a job") as conn:
            now = self.clock_ms(conn)
            lease = {"owner": owner, "ttl_ms": ttl_ms, "lease_ms": now + min(ttl_ms, deadline_ms), "deadline_ms": now + deadline_ms}
            told = {"now": now, "path": scope, "dream": dream}
            row = self._due(conn, narrowed, told, lease) or self._left(conn, narrowed, told, lease)
            return None if row is None else _job(row, conn.execute(_count_turn(conn.dialect.name), {"of": row.dream_id, "now": now}).one())

    def _due(self, conn: Connection, narrowed: _Narrowed, told: Mapping[str, Any], lease: Mapping[str, Any]) -> Any:
        """Take the unit that is next in turn. Others may hold the dream's row for a moment: first another dream is looked for, then waited."""
        for waits in (False,) if conn.dialect.name == "sqlite" else (False, False, True, True):
            dream_id = conn.scalar(_turn(narrowed, waits), told)
            if dream_id is None:
                continue
            job = conn.execute(_take_first(narrowed.stages), {**told, "of": dream_id, **_as_taken(lease)}).first()
            if job is not None:
                return job
        return None

    def _left(self, conn: Connection, narrowed: _Narrowed, told: Mapping[str, Any], lease: Mapping[str, Any]) -> Any:
        """Take a unit that waited long enough, or whose worker is gone."""
        d, j = t.dreams.c, t.jobs.c
        now, host = told["now"], host_of(process_of(lease["owner"]))
        for row in conn.execute(_left_over(narrowed), told).all():
            why = gone(row.owner, row.lease_ms, row.ttl_ms, row.deadline_ms, now, host=host) if row.state == "running" else "waited"
            if why is None or (row.state == "running" and row.claims >= CLAIMS_MAX):
                continue
            if conn.scalar(select(d.id).where(d.id == row.dream_id, d.state == "running").with_for_update(key_share=True, skip_locked=True)) is None:
                continue
            free = select(j.id).where(j.id == row.id).with_for_update(skip_locked=True).scalar_subquery()
            same = (j.id == free, j.state == row.state, j.fence == row.fence, j.run_ms == row.run_ms, func.coalesce(j.lease_ms, 0) == (row.lease_ms or 0))
            claims = row.claims if why == "suspended" else row.claims + 1
            job = conn.execute(_taking().where(*same), {**_as_taken(lease), "new_claims": claims}).first()
            if job is not None:
                return job
        return None


def _job(row: Any, dream: Any) -> Job:
    """A row that was taken, and that of its dream with the path of their scope, as the value callers see."""
    payload = cast(dict[str, object], load(row.payload))
    return Job(
        id=row.id, scope=dream.path, dream=life.dream_of(dream.path, dream), stage=row.stage, unit=row.unit, payload=payload, fence=row.fence, owner=row.owner,
        claims=row.claims, failures=row.failures, deadline_ms=row.deadline_ms,
    )  # fmt: skip


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


# --- statements: each is made once, since making one takes longer than running it ---------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Narrowed:
    """Which of a claim's narrowings are asked for."""

    scope: bool
    dream: bool
    stages: tuple[str, ...] | None

    def dreams(self) -> list[ColumnElement[bool]]:
        d, s = t.dreams.c, t.scopes.c
        which: list[ColumnElement[bool]] = [d.state == "running"]
        if self.scope:
            which.append(d.scope_id == select(s.id).where(s.path == bindparam("path")).scalar_subquery())
        if self.dream:
            which.append(d.uid == bindparam("dream"))
        return which


def _of(stages: tuple[str, ...] | None) -> list[ColumnElement[bool]]:
    return [] if stages is None else [t.jobs.c.stage.in_(stages)]


@cache
def _turn(narrowed: _Narrowed, waits: bool) -> Select[Any]:
    """The running dream whose turn it is, of those with a unit that is due."""
    d, j = t.dreams.c, t.jobs.c
    due = exists().where(j.dream_id == d.id, j.state == "ready", j.run_ms <= bindparam("now"), *_of(narrowed.stages))
    query = select(d.id).where(*narrowed.dreams(), due).order_by(d.claimed_ms, d.id).limit(1)
    return query.with_for_update(key_share=True, skip_locked=not waits)


@cache
def _take_first(stages: tuple[str, ...] | None) -> Any:
    """Claim the unit of a dream that is due first."""
    j = t.jobs.c
    due = (j.dream_id == bindparam("of"), j.state == "ready", j.run_ms <= bindparam("now"), *_of(stages))
    first = select(j.id).where(*due).order_by(j.run_ms, j.id).limit(1).with_for_update(skip_locked=True).scalar_subquery()
    return _taking().where(j.id == first).values(claims=j.claims + 1)


@cache
def _left_over(narrowed: _Narrowed) -> Select[Any]:
    """Units that wait or run, of running dreams, by whose turn it is."""
    d, j = t.dreams.c, t.jobs.c
    columns = (j.id, j.dream_id, j.state, j.owner, j.fence, j.run_ms, j.lease_ms, j.ttl_ms, j.deadline_ms, j.claims)
    query = select(*columns).join_from(t.jobs, t.dreams, d.id == j.dream_id).where(*narrowed.dreams(), *_of(narrowed.stages))
    query = query.where(j.state.in_(("running", "waiting")), or_(j.state == "running", j.run_ms <= bindparam("now")))
    return query.order_by(d.claimed_ms, j.run_ms, j.id).limit(_LEFT_MAX)


@cache
def _taking() -> Any:
    j = t.jobs.c
    names = ("owner", "ttl_ms", "lease_ms", "deadline_ms")
    values: dict[str, Any] = {name: bindparam(f"new_{name}") for name in names}
    taken = update(t.jobs).values(**values, state="running", fence=j.fence + 1, claims=bindparam("new_claims"), rung_ms=None, rings=0)
    return taken.returning(*t.jobs.c)


def _as_taken(lease: Mapping[str, Any]) -> dict[str, Any]:
    return {f"new_{name}": value for name, value in lease.items()}


@cache
def _count_turn(dialect: str) -> Any:
    """Put the dream behind all others; returns it, with the path of its scope. Not by the clock alone: one that was set back would put everybody else behind this one."""
    others = t.dreams.alias()
    last = select(func.coalesce(func.max(others.c.claimed_ms), 0)).where(others.c.state == "running").scalar_subquery()
    greatest = func.greatest if dialect == "postgresql" else func.max
    path = select(t.scopes.c.path).where(t.scopes.c.id == t.dreams.c.scope_id).scalar_subquery().label("path")
    counted = update(t.dreams).where(t.dreams.c.id == bindparam("of")).values(claimed_ms=greatest(last + 1, bindparam("now", type_=Id)))
    return counted.returning(*t.dreams.c, path)
