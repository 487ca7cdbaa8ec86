"""What time and crashes leave behind: leases that are over, bells nobody heard, joins and follow-ups that are missing.

A sweep may run anywhere, any number of times at once: it looks without a lock and acts under the scope's, on what it then finds.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from sqlalchemy import Connection, Select, and_, bindparam, delete, exists, func, or_, select, update

from pipelines.model import short_uid
from pipelines.store import life
from pipelines.store import tables as t
from pipelines.store.calls import Calls
from pipelines.store.claiming import gone
from pipelines.store.holder import alive
from pipelines.store.jobs import FREE
from pipelines.store.requests import Requests
from pipelines.store.types import Id
from pipelines.store.work import CLAIMS_MAX, DELAY_MAX_MS, STAGES, Swept

RINGS_A_SWEEP = 2_000
RING_MAX_MS = 300_000  # the longest time between two bells for one job
WORKING_MS = 60_000  # a claim within this says that somebody hears bells
FORGOTTEN_MS = 7 * 86_400_000  # a process that told nothing for so long is struck off
KEPT = timedelta(days=30)  # how long the units of a dream that ended can be looked at
_OLDEST = 100  # dreams whose units are dropped in one sweep
_ACTIVE = ("running", "waiting")


class Sweeping(Requests, Calls):
    """The store's own repair. Embedded, it is called when nothing is left to claim; on a server, every few seconds by each scheduler."""

    def sweep(self, *, host: str | None = None) -> Swept:
        """Free what is held by nobody, park what killed each of its workers, let dreams go on, repair what is missing, and say which jobs to ring for.

        Units of dreams that ended more than KEPT ago are dropped, unless the next dream needs them. Calls nobody waits for any more are presumed.

        `host` is this machine's name in owners. A job that was never rung for is rung at once; one rung for in vain again after life.RING_MS, doubling up to
        RING_MAX_MS. While no job at all is being claimed, nobody hears bells, and one is rung as a probe, not all.
        """
        here = host or socket.gethostname()
        with self.reading("look for what is left behind") as conn:
            now = self.clock_ms(conn)
            scopes = self._suspects(conn, now, here)
        found = [self._scope(scope_id, here) for scope_id in scopes]
        self.presume_lapsed(host=here)
        with self.writing("ring for what is due") as conn:
            now = self.clock_ms(conn)
            conn.execute(delete(t.processes).where(t.processes.c.seen_ms < now - FORGOTTEN_MS))
            _clear(conn, self.now() - KEPT)
            ring = _due(conn, now)
        return Swept(
            ring=tuple(dict.fromkeys([*(job for f in found for job in f.ring), *ring])), freed=sum(f.freed for f in found), killed=sum(f.killed for f in found), woken=sum(f.woken for f in found),
            repaired=sum(f.repaired for f in found),
        )  # fmt: skip

    def faults(self) -> tuple[tuple[str, str], ...]:
        """Code and subject of every repair, oldest first: each says that something of ours went wrong."""
        with self.reading("read the faults") as conn:
            return tuple((r.code, r.about) for r in conn.execute(select(t.faults.c.code, t.faults.c.about).order_by(t.faults.c.id)))

    def _suspects(self, conn: Connection, now: int, here: str) -> list[int]:
        """Scopes where something may have to be done, sorted."""
        told = {"now": now, "far": now + 2 * DELAY_MAX_MS}
        found = {r.scope_id for r in conn.execute(_running()) if gone(r.owner, r.lease_ms, r.ttl_ms, r.deadline_ms, now, host=here)}
        for query in _lost():
            found.update(conn.scalars(query, told))
        found |= {r.scope_id for r in conn.execute(_of_one_process()) if not alive(r.holder, host=here)}
        return sorted(found)

    def _scope(self, scope_id: int, here: str) -> Swept:
        """Repair one scope, under its lock."""
        with self.writing("repair a scope") as conn:
            path = conn.execute(select(t.scopes.c.path).where(t.scopes.c.id == scope_id)).scalar_one()
            self.locked_scope(conn, path)
            now = self.clock_ms(conn)
            ring: list[int] = []
            freed, killed = self._leases(conn, scope_id, now, here, ring)
            _calm(conn, scope_id, now)
            woken = self._waits(conn, scope_id)
            ring += woken
            ring += self._legacy(conn, scope_id, here)
            repaired = self._joins(conn, scope_id, ring) + self._follow_ups(conn, scope_id, path)
            ring += life.begin_next(self, conn, scope_id)
        return Swept(ring=tuple(ring), freed=freed, killed=killed, woken=len(woken), repaired=repaired)

    def _leases(self, conn: Connection, scope_id: int, now: int, here: str, ring: list[int]) -> tuple[int, int]:
        """Make jobs of workers that are gone ready again; park those that had their chances. Adds to `ring` what that opens."""
        d, j = t.dreams.c, t.jobs.c
        query = select(t.jobs).join_from(t.jobs, t.dreams, d.id == j.dream_id).where(j.scope_id == scope_id, j.state == "running", d.state == "running")
        freed = killed = 0
        for row in conn.execute(query.order_by(j.id).with_for_update(of=t.jobs, skip_locked=True)).all():
            told = gone(row.owner, row.lease_ms, row.ttl_ms, row.deadline_ms, now, host=here)
            if told is None:
                continue
            mine = (j.id == row.id, j.fence == row.fence, j.state == "running")
            if row.claims < CLAIMS_MAX or told == "suspended":
                back = {**FREE, "state": "ready", "claims": j.claims - (1 if told == "suspended" else 0)}
                freed += conn.execute(update(t.jobs).where(*mine).values(**back)).rowcount
                continue
            error = f"{row.claims} workers were lost over this unit, the last one {told}"
            if conn.execute(update(t.jobs).where(*mine).values(**FREE, state="parked", code="killed", error=error)).rowcount:
                ring += life.unit_ended(self, conn, scope_id, row.dream_id, row.stage)
                killed += 1
        return freed, killed

    def _waits(self, conn: Connection, scope_id: int) -> tuple[int, ...]:
        """Let the running dream go on with what waited long enough; one that had freed the scope goes on when it is free (`begin_next`)."""
        d = t.dreams.c
        running = conn.scalar(select(d.id).where(d.scope_id == scope_id, d.state == "running"))
        if running is not None:
            return life.rouse(self, conn, running)
        return life.begin_next(self, conn, scope_id)

    def _legacy(self, conn: Connection, scope_id: int, here: str) -> tuple[int, ...]:
        """End a dream that was started without jobs when its process is gone."""
        d = t.dreams.c
        row = conn.execute(select(d.id, d.holder).where(d.scope_id == scope_id, d.state == "running", d.phase.is_(None))).one_or_none()
        if row is None or alive(row.holder, host=here):
            return ()
        return life.end(self, conn, scope_id, row.id, {"state": "failed", "code": "holder_gone", "ended_at": self.now()})

    def _joins(self, conn: Connection, scope_id: int, ring: list[int]) -> int:
        """Set right what a stage counts as open, and open the stage after one that has nothing open; a dream that only was not ended is completed. Adds to
        `ring` what that opens."""
        d, j, g = t.dreams.c, t.jobs.c, t.stages.c
        stage = and_(g.dream_id == d.id, g.stage == d.phase)
        query = select(d.id, d.uid, d.phase, d.state, g.open).join_from(t.dreams, t.stages, stage).where(d.scope_id == scope_id, d.state.in_(_ACTIVE))
        repaired = 0
        for row in conn.execute(query).all():
            mine = (j.dream_id == row.id, j.stage == row.phase)
            units = conn.execute(select(func.count()).select_from(t.jobs).where(*mine, j.state.in_(life.NOT_ENDED))).scalar_one()
            if units == row.open and units > 0:
                continue
            repaired += 1
            self._fault(conn, "join", row.uid)
            conn.execute(update(t.stages).where(g.dream_id == row.id, g.stage == row.phase).values(open=units, state="open"))
            if units == 0:
                ring += life.close_stage(self, conn, scope_id, row.id, row.phase)
                if row.phase == STAGES[-1] and conn.scalar(select(d.state).where(d.id == row.id)) in _ACTIVE:
                    ring += life.end(self, conn, scope_id, row.id, {"state": "completed", "code": "swept", "ended_at": self.now()})
        return repaired

    def _follow_ups(self, conn: Connection, scope_id: int, path: str) -> int:
        """Ask again for a dream that was asked for and is nowhere: with the parameters of the scope's last whole one (systems R5)."""
        d, s = t.dreams.c, t.scopes.c
        asked = conn.execute(select(s.wanted, s.taken).where(s.id == scope_id)).one()
        pending = conn.execute(select(func.count()).select_from(t.dreams).where(d.scope_id == scope_id, d.state == "pending")).scalar_one()
        if asked.wanted - asked.taken == pending:
            return 0
        self._fault(conn, "follow_up", path)
        last = conn.execute(
            select(d.params, d.params_mac).where(d.scope_id == scope_id, d.params_mac.is_not(None), life.whole()).order_by(d.id.desc()).limit(1)
        ).first()
        if asked.wanted - asked.taken > pending == 0 and last is not None:
            uid = short_uid(path, "follow-up", str(asked.wanted), str(asked.taken))
            self.add_pending(conn, scope_id, uid, last.params, last.params_mac, "sweep")
            pending = 1
        conn.execute(update(t.scopes).where(s.id == scope_id).values(taken=s.wanted - pending))
        return 1

    def _fault(self, conn: Connection, code: str, about: str) -> None:
        conn.execute(t.faults.insert(), {"code": code, "about": about, "recorded_at": self.now()})


def _calm(conn: Connection, scope_id: int, now: int) -> None:
    """Bring due times nearer that a wrong clock put out of reach."""
    j = t.jobs.c
    far = (j.scope_id == scope_id, j.state.in_(("ready", "waiting")), j.run_ms > now + 2 * DELAY_MAX_MS)
    conn.execute(update(t.jobs).where(*far).values(run_ms=now))


def _clear(conn: Connection, before: datetime) -> None:
    """Drop the units of dreams that ended long ago; the dream, its requests and its decisions stay.

    Those after the last completed dream of their scope are kept, however old: the next dream asks what sessions they read. Without a completed one it reads
    all claims, and needs none of them.
    """
    j, g = t.jobs.c, t.stages.c
    for dream_id in conn.scalars(_cleared(), {"before": before}).all():
        conn.execute(delete(t.jobs).where(j.dream_id == dream_id))
        conn.execute(delete(t.stages).where(g.dream_id == dream_id))


@cache
def _cleared() -> Select[Any]:
    """The oldest dreams whose units can go. Stages say which dreams have units left: a few rows a dream, however many units it has."""
    d, g, of = t.dreams.c, t.stages.c, t.dreams.alias()
    completed = (d.scope_id == of.c.scope_id, d.state == "completed", d.summary.is_not(None), life.whole())
    needed = and_(exists().where(*completed, d.id < of.c.id), ~exists().where(*completed, d.id >= of.c.id))
    old = select(g.dream_id).join_from(t.stages, of, of.c.id == g.dream_id).where(of.c.ended_at < bindparam("before"), ~needed)
    return old.group_by(g.dream_id).order_by(g.dream_id).limit(_OLDEST)


def _due(conn: Connection, now: int) -> tuple[int, ...]:
    """The jobs to ring for, their next bell put off. Skips what others hold."""
    j = t.jobs.c
    bells = _bells()
    told = {"now": now, "far": now + 2 * RING_MAX_MS}
    working = (conn.scalar(bells.last_claim) or 0) > now - WORKING_MS
    ids: list[int] = list(conn.scalars(bells.new, told))
    if working or conn.scalar(bells.probe, told) is None:
        ids += conn.scalars(bells.again, {**told, "at_most": RINGS_A_SWEEP if working else 1})
    for rings, part in _by_rings(conn, ids).items():
        conn.execute(update(t.jobs).where(j.id.in_(part)).values(rings=rings + 1, rung_ms=now + ring_pause_ms(rings)))
    return tuple(ids)


@dataclass(frozen=True, slots=True)
class _Bells:
    """Statements: when a job was last claimed, jobs never rung for, jobs rung for in vain, one that was rung for again and may yet be heard."""

    last_claim: Select[Any]
    new: Select[Any]
    again: Select[Any]
    probe: Select[Any]


@cache
def _bells() -> _Bells:
    d, j = t.dreams.c, t.jobs.c
    now = bindparam("now", type_=Id)
    due = (j.state == "ready", j.run_ms <= now, j.dream_id.in_(select(d.id).where(d.state == "running")))
    quiet = or_(j.rung_ms <= now, j.rung_ms > bindparam("far"))
    return _Bells(
        last_claim=select(func.max(d.claimed_ms)).where(d.state == "running"),
        new=select(j.id).where(*due, j.rung_ms.is_(None)).order_by(j.run_ms, j.id).limit(RINGS_A_SWEEP).with_for_update(skip_locked=True),
        again=select(j.id).where(*due, quiet).order_by(j.rings.desc(), j.run_ms, j.id).limit(bindparam("at_most")).with_for_update(skip_locked=True),
        probe=select(j.id).where(*due, j.rung_ms > now, j.rings > 1).limit(1),
    )


@cache
def _running() -> Select[Any]:
    d, j = t.dreams.c, t.jobs.c
    columns = (j.scope_id, j.owner, j.lease_ms, j.ttl_ms, j.deadline_ms)
    return select(*columns).join_from(t.jobs, t.dreams, d.id == j.dream_id).where(j.state == "running", d.state == "running")


@cache
def _of_one_process() -> Select[Any]:
    """Dreams that were started without jobs."""
    d = t.dreams.c
    return select(d.scope_id, d.holder).where(d.state == "running", d.phase.is_(None))


@cache
def _lost() -> tuple[Select[Any], ...]:
    """Scopes with due times out of reach, with waits that are over, with stages that miscount, with a follow-up missing or nobody to begin it."""
    d, j, s, g = t.dreams.c, t.jobs.c, t.scopes.c, t.stages.c
    far = bindparam("far", type_=Id)
    waits = exists().where(j.dream_id == d.id, j.state == "waiting", or_(j.run_ms <= bindparam("now"), j.run_ms > far))
    units = select(func.count()).select_from(t.jobs).where(j.dream_id == d.id, j.stage == g.stage, j.state.in_(life.NOT_ENDED)).scalar_subquery()
    stage = and_(g.dream_id == d.id, g.stage == d.phase)
    pending = select(func.count()).select_from(t.dreams).where(d.scope_id == s.id, d.state == "pending").scalar_subquery()
    idle = and_(pending > 0, ~exists().where(d.scope_id == s.id, d.state == "running"))
    return (
        select(j.scope_id).where(j.state == "ready", j.run_ms > far),
        select(d.scope_id).where(d.state.in_(_ACTIVE), waits),
        select(d.scope_id).join_from(t.dreams, t.stages, stage).where(d.state.in_(_ACTIVE), or_(g.open != units, g.state == "closed")),
        select(s.id).where(or_(s.wanted - s.taken != pending, idle)),
    )


def _by_rings(conn: Connection, ids: list[int]) -> dict[int, list[int]]:
    j = t.jobs.c
    found: dict[int, list[int]] = {}
    for r in conn.execute(select(j.id, j.rings).where(j.id.in_(ids))):
        found.setdefault(r.rings, []).append(r.id)
    return found


def ring_pause_ms(rings: int) -> int:
    """How long to wait after the bell that follows `rings` others."""
    return int(min(life.RING_MS * 2 ** min(rings, 20), RING_MAX_MS))
