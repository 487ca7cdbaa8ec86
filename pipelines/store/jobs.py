"""The job table: what may be worked on, by whom, until when, and what becomes of it.

A lease says who may try, the commit decides (systems R15): every method that ends a claim first takes the scope's lock and then moves the job's row by id,
fence, owner and state in one statement. Locks are taken in the order scopes, dreams, jobs, stages; `claim` and `renew`, which skip the scope, never wait for
a job's row. The scope is locked by one at a time: siblings meet at their stage's counter anyway, and a shared lock that wants more would be a deadlock.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, cast

from sqlalchemy import ColumnElement, Connection, bindparam, delete, func, select, tuple_, update

from pipelines.errors import LeaseLost, Refused
from pipelines.store import life
from pipelines.store import tables as t
from pipelines.store.clock import Clocked
from pipelines.store.types import dump, load
from pipelines.store.values import Dream
from pipelines.store.work import DELAY_MAX_MS, FAILURES_MAX, REPLANS_MAX, DreamState, Job, Unit

_ENDS = frozenset({"completed", "planned", "held", "failed"})
_REPLANNED = ("resolve", "analyse", "apply")


class Jobs(Clocked):
    """What a worker does with the unit it claimed. Methods that move work on return the ids of jobs to ring for once the transaction is committed."""

    # --- while it is ours ---

    @contextmanager
    def finishing(self, job: Job, doing: str = "finish a job") -> Iterator[None]:
        """The one transaction that writes what a unit found: begun by locking the unit's row as its owner. Raises LeaseLost when it is not ours any more."""
        with self.together(doing):
            self.hold(job)
            yield

    def hold(self, job: Job) -> None:
        """Lock the scope, then the unit's row by fence and owner, until the transaction ends; raises LeaseLost. The first thing to do within `together`."""
        with self.writing("hold a job") as conn:
            self._move(conn, job, {})

    def renew(self, jobs: Iterable[Job], *, ttl_ms: int) -> frozenset[int]:
        """Keep the leases of these jobs for another `ttl_ms`, never past their deadlines; returns the ids of those that are lost: stop working on them.

        A lease that is over stays over, also when nobody has taken the job yet. A job whose row is locked (it is being finished or canceled) is left alone.
        """
        j = t.jobs.c
        mine = {job.id: job for job in jobs}
        if not mine:
            return frozenset()
        with self.writing("renew leases") as conn:
            now = self.clock(conn)
            free = select(j.id).where(j.id.in_(sorted(mine))).with_for_update(skip_locked=True)
            claimed = tuple_(j.id, j.fence, j.owner).in_([(job.id, job.fence, job.owner) for job in mine.values()])
            least = func.least if conn.dialect.name == "postgresql" else func.min
            live = update(t.jobs).where(j.id.in_(free), claimed, j.state == "running", j.lease_ms > now)
            conn.execute(live.values(lease_ms=least(now + ttl_ms, j.deadline_ms), ttl_ms=ttl_ms))
            rows = conn.execute(select(j.id, j.fence, j.owner, j.state, j.lease_ms).where(j.id.in_(sorted(mine)))).all()
            at = self.clock_ms(conn)
        kept = {r.id for r in rows if (r.fence, r.owner, r.state) == (mine[r.id].fence, mine[r.id].owner, "running") and r.lease_ms > at}
        return frozenset(mine.keys() - kept)

    def give_back(self, job: Job) -> tuple[int, ...]:
        """Let go of a unit without having done it: a graceful stop counts as nothing. Nothing happens when it is not ours any more."""
        j = t.jobs.c
        with self.writing("give a job back") as conn:
            bell = {"rung_ms": self.clock_ms(conn) + life.RING_MS, "rings": 1}
            ours = (j.id == job.id, j.fence == job.fence, j.owner == job.owner, j.state == "running")
            given = conn.execute(update(t.jobs).where(*ours).values(**{**FREE, **bell}, state="ready", claims=j.claims - 1)).rowcount
        return (job.id,) if given else ()

    # --- how a unit ends ---

    def finish_job(self, job: Job, *, result: Mapping[str, object] | None = None, then: Sequence[Unit] = ()) -> tuple[int, ...]:
        """The unit is done; `result` is kept for the stages after it. The last unit of a stage opens the next one, with the units `then` where it names some.

        After the last unit of the last stage the dream is to be ended with `end_dream`, in the same transaction.
        """
        with self.writing("finish a job") as conn:
            scope_id, dream_id = self._move(conn, job, {"state": "done", "result": dump(dict(result or {})), "code": ""})
            return life.unit_ended(self, conn, scope_id, dream_id, job.stage, then)

    def retry_job(self, job: Job, after_s: float, code: str, error: str) -> tuple[int, ...]:
        """The unit failed in a way that may pass: it is due again after a while. The FAILURES_MAX-th time it is parked."""
        j = t.jobs.c
        with self.writing("put a job off") as conn:
            due = self.clock_ms(conn) + min(max(0, round(after_s * 1000)), DELAY_MAX_MS)
            again = {**FREE, "state": "ready", "run_ms": due, "failures": j.failures + 1, "claims": j.claims - 1}
            scope_id, dream_id = self._move(conn, job, {**again, "code": code, "error": error})
            if conn.execute(select(j.failures).where(j.id == job.id)).scalar_one() < FAILURES_MAX:
                return ()
            conn.execute(update(t.jobs).where(j.id == job.id).values(state="parked"))
            return life.unit_ended(self, conn, scope_id, dream_id, job.stage)

    def park_job(self, job: Job, code: str, error: str) -> tuple[int, ...]:
        """The unit fails every time: the dream goes on without it, or fails with its code when nothing of a stage that must be is left."""
        with self.writing("park a job") as conn:
            scope_id, dream_id = self._move(conn, job, {**FREE, "state": "parked", "code": code, "error": error})
            return life.unit_ended(self, conn, scope_id, dream_id, job.stage)

    def split_job(self, job: Job, units: Sequence[Unit]) -> tuple[int, ...]:
        """Put parts in the place of the unit, as jobs of the same stage: how a poisoned part is found, and what an engine cut short is asked again in."""
        j = t.jobs.c
        if not units:
            raise ValueError(f"unit {job.unit} of {job.stage} is split into nothing")
        with self.writing("split a job") as conn:
            scope_id, dream_id = self._move(conn, job, {**FREE, "state": "split", "code": ""})
            there = conn.scalar(select(j.unit).where(j.dream_id == dream_id, j.stage == job.stage, j.unit.in_([u.unit for u in units])).limit(1))
            if there is not None:
                raise ValueError(f"{job.stage} has a unit {there} already")
            s = t.stages.c
            conn.execute(update(t.stages).where(s.dream_id == dream_id, s.stage == job.stage).values(open=s.open + len(units) - 1))
            return life.add_jobs(self, conn, scope_id, dream_id, job.stage, units)

    def wait_job(self, job: Job, why: str, until_ms: int) -> tuple[int, ...]:
        """The unit waits (batch, budget, rate) until a time of the store's clock; nothing is counted.

        A dream of which all that is left waits frees its scope.
        """
        with self.writing("let a job wait") as conn:
            until = min(until_ms, self.clock_ms(conn) + DELAY_MAX_MS)
            waits = {**FREE, "state": "waiting", "run_ms": until, "claims": t.jobs.c.claims - 1}
            scope_id, dream_id = self._move(conn, job, {**waits, "code": why})
            return life.rest(self, conn, scope_id, dream_id)

    def replan(self, job: Job) -> tuple[int, ...]:
        """What the dream read has moved: resolve, analyse and apply again from what is current. After REPLANS_MAX times it is held for a person, as staged."""
        d, j, s = t.dreams.c, t.jobs.c, t.stages.c
        with self.writing("plan again") as conn:
            scope_id, dream_id = self._move(conn, job, {"state": "done", "code": "conflict"})
            if conn.execute(select(d.replans).where(d.id == dream_id)).scalar_one() >= REPLANS_MAX:
                life.supersede(conn, scope_id, dream_id)
                return life.end(self, conn, scope_id, dream_id, {"state": "held", "code": "conflict", "ended_at": self.now()}, keep=True)
            conn.execute(update(t.dreams).where(d.id == dream_id).values(replans=d.replans + 1, dirty_upto=None))
            life.drop_staged(conn, dream_id)
            conn.execute(delete(t.jobs).where(j.dream_id == dream_id, j.stage.in_(_REPLANNED)))
            conn.execute(delete(t.stages).where(s.dream_id == dream_id, s.stage.in_(_REPLANNED)))
            return life.open_stage(self, conn, scope_id, dream_id, "resolve", life.START)

    def end_dream(self, job: Job, status: str, summary: Mapping[str, object] | None = None, *, code: str = "") -> tuple[int, ...]:
        """End the dream with its last unit (finished here, or just before in the same transaction): completed, planned, held or failed.

        Units that have not ended are canceled. Only planned and held keep what is staged, in the place of what older ones staged for the same notes. The
        scope's next dream begins; its jobs are returned.
        """
        j = t.jobs.c
        if status not in _ENDS:
            raise ValueError(f"a dream does not end as {status!r}")
        with self.writing("end a dream") as conn:
            done = conn.scalar(select(j.id).where(j.id == job.id, j.fence == job.fence, j.owner == job.owner, j.state == "done"))
            scope_id, dream_id = self._move(conn, job, {"state": "done"}, state="running" if done is None else "done")
            waits = status in {"planned", "held"}
            if waits:
                life.supersede(conn, scope_id, dream_id)
            ended = {"state": status, "code": code, "ended_at": self.now()} | ({} if summary is None else {"summary": dump(dict(summary))})
            return life.end(self, conn, scope_id, dream_id, ended, keep=waits)

    # --- looking ---

    def dream_state(self, scope: str, dream: str) -> DreamState:
        """How far a dream is. Raises Refused for one the scope does not have."""
        d, j = t.dreams.c, t.jobs.c
        with self.reading("look at a dream") as conn:
            row = conn.execute(select(t.dreams).where(d.scope_id == self.scope_of(conn, scope), d.uid == dream)).one_or_none()
            if row is None:
                raise Refused(f"{scope} has no dream {dream}")
            counted = conn.execute(select(j.stage, j.state, func.count().label("n")).where(j.dream_id == row.id).group_by(j.stage, j.state)).all()
        jobs: dict[str, dict[str, int]] = {}
        for r in counted:
            jobs.setdefault(r.stage, {})[r.state] = r.n
        return DreamState(dream=life.dream_of(scope, row), jobs=jobs)

    def results(self, dream: Dream, stage: str) -> Mapping[str, Mapping[str, object]]:
        """What the finished units of a stage left behind, by unit."""
        j = t.jobs.c
        with self.reading("read results") as conn:
            rows = conn.execute(select(j.unit, j.result).where(j.dream_id == self._id(conn, dream), j.stage == stage, j.state == "done")).all()
        return {r.unit: cast(dict[str, object], load(r.result or "{}")) for r in sorted(rows, key=lambda r: r.unit)}

    def units(self, dream: Dream, stage: str) -> Mapping[str, Mapping[str, object]]:
        """What the finished units of a stage were given, by unit, in their order."""
        j = t.jobs.c
        with self.reading("read units") as conn:
            rows = conn.execute(select(j.unit, j.payload).where(j.dream_id == self._id(conn, dream), j.stage == stage, j.state == "done")).all()
        return {r.unit: cast(dict[str, object], load(r.payload)) for r in sorted(rows, key=lambda r: r.unit)}

    def parked(self, dream: Dream) -> tuple[tuple[str, str, str, str], ...]:
        """The units a dream went on without: stage, unit, code and error of each, sorted."""
        j = t.jobs.c
        with self.reading("read parked jobs") as conn:
            rows = conn.execute(select(j.stage, j.unit, j.code, j.error).where(j.dream_id == self._id(conn, dream), j.state == "parked")).all()
        return tuple(sorted((r.stage, r.unit, r.code, r.error or "") for r in rows))

    # --- the row ---

    def _move(self, conn: Connection, job: Job, values: Mapping[str, Any], *, state: str = "running") -> tuple[int, int]:
        """Lock the scope, then move the job's row as its owner while its dream runs; returns the ids of scope and dream. No row: LeaseLost."""
        if not self.on_sqlite:  # there the transaction has locked the whole store
            self.locked_scope(conn, job.scope)
        told = {"of_id": job.id, "of_fence": job.fence, "of_owner": job.owner, "of_state": state}
        counted = {name: value for name, value in values.items() if isinstance(value, ColumnElement)}
        plain = {name: value for name, value in values.items() if name not in counted}
        statement = _moving(tuple(plain))
        moved = conn.execute(statement.values(**counted) if counted else statement, {**told, **{f"new_{n}": v for n, v in plain.items()}}).first()
        if moved is None:
            raise LeaseLost(f"{job.stage} unit {job.unit} of dream {job.dream.uid} is not {job.owner}'s any more: stop")
        return moved.scope_id, moved.dream_id

    def _id(self, conn: Connection, dream: Dream) -> int | None:
        d = t.dreams.c
        found: int | None = conn.scalar(select(d.id).where(d.scope_id == self.scope_of(conn, dream.scope), d.uid == dream.uid))
        return found


FREE: Mapping[str, Any] = {"owner": None, "lease_ms": None, "ttl_ms": None, "deadline_ms": None, "rung_ms": None, "rings": 0}
"""A job nobody works on and nobody has been rung for."""


@cache
def _moving(names: tuple[str, ...]) -> Any:
    """Set these columns of a job, by id, fence, owner and state, while its dream runs; made once, since making it takes longer than running it."""
    j, d = t.jobs.c, t.dreams.c
    ours = (j.id == bindparam("of_id"), j.fence == bindparam("of_fence"), j.owner == bindparam("of_owner"), j.state == bindparam("of_state"))
    runs = select(d.id).where(d.id == j.dream_id, d.state == "running").exists()
    values: dict[str, Any] = {name: bindparam(f"new_{name}") for name in names}
    return update(t.jobs).where(*ours, runs).values(**{"fence": j.fence, **values}).returning(j.scope_id, j.dream_id)
