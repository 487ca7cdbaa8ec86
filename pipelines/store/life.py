"""The life of a dream: it begins when its scope is free, its stages open one after the other, it waits, it ends and lets the next one begin.

Everything here runs inside a transaction that holds the scope's lock: one dream runs over a scope, and whoever ends one begins the next (systems R5).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, cast

from sqlalchemy import ColumnElement, Connection, and_, bindparam, delete, exists, func, select, update

from pipelines.store import tables as t
from pipelines.store.clock import Clocked
from pipelines.store.core import add
from pipelines.store.types import dump, load
from pipelines.store.values import Dream
from pipelines.store.work import ALL, MUST, RENDER_ONLY, REVERT, STAGES, Unit, is_whole, stage_after

RING_MS = 10_000  # a bell nobody answered is rung again after this, then after twice as long, and so on
NOT_ENDED = ("ready", "running", "waiting")
_AT_WORK = ("ready", "running")
START = (Unit(ALL),)


def begin_next(core: Clocked, conn: Connection, scope_id: int) -> tuple[int, ...]:
    """Let the next dream run when none does: one whose wait is over, else the oldest that was asked for. Returns its jobs to ring for."""
    d, j = t.dreams.c, t.jobs.c
    if conn.scalar(select(d.id).where(d.scope_id == scope_id, d.state == "running")) is not None:
        return ()
    over = exists().where(j.dream_id == d.id, j.state == "waiting", j.run_ms <= core.clock_ms(conn))
    waiting = conn.scalar(select(d.id).where(d.scope_id == scope_id, d.state == "waiting", over).order_by(d.id).limit(1))
    if waiting is not None:
        conn.execute(update(t.dreams).where(d.id == waiting).values(state="running"))
        return rouse(core, conn, waiting)
    pending = conn.scalar(select(d.id).where(d.scope_id == scope_id, d.state == "pending").order_by(d.id).limit(1))
    return () if pending is None else _begin(core, conn, scope_id, pending)


def rouse(core: Clocked, conn: Connection, dream_id: int) -> tuple[int, ...]:
    """Make those of a dream's waiting jobs ready whose time has come; returns them."""
    j = t.jobs.c
    now = core.clock_ms(conn)
    due = (j.dream_id == dream_id, j.state == "waiting", j.run_ms <= now)
    rung = {"state": "ready", "rung_ms": now + RING_MS, "rings": 1}
    return tuple(sorted(conn.scalars(update(t.jobs).where(*due).values(**rung).returning(j.id))))


def _begin(core: Clocked, conn: Connection, scope_id: int, dream_id: int) -> tuple[int, ...]:
    scope = conn.execute(select(t.scopes.c.revision, t.scopes.c.claimed_ms).where(t.scopes.c.id == scope_id)).one()
    begun = {"state": "running", "started_at": core.now(), "input_rev": scope.revision, "claimed_ms": scope.claimed_ms}
    conn.execute(update(t.dreams).where(t.dreams.c.id == dream_id).values(**begun))
    took(conn, scope_id)
    params = cast(dict[str, object], load(conn.execute(select(t.dreams.c.params).where(t.dreams.c.id == dream_id)).scalar_one()))
    return open_stage(core, conn, scope_id, dream_id, STAGES[0] if is_whole(params) else STAGES[-1], START)


def whole() -> ColumnElement[bool]:
    """Rows of `dreams` that go through all stages: what tells of the last dream looks past those that only took expired notes off the pages or reverted."""
    params = t.dreams.c.params
    return and_(params != dump(dict(RENDER_ONLY)), params.not_like(f'{{"only":"{REVERT}"%'))


def took(conn: Connection, scope_id: int) -> None:
    """Count that a dream which was asked for is pending no more: `wanted` less `taken` is how many are (systems R5)."""
    conn.execute(update(t.scopes).where(t.scopes.c.id == scope_id).values(taken=t.scopes.c.taken + 1))


def open_stage(core: Clocked, conn: Connection, scope_id: int, dream_id: int, stage: str, units: Sequence[Unit]) -> tuple[int, ...]:
    """Open a stage with these units; returns their jobs."""
    conn.execute(t.stages.insert(), {"scope_id": scope_id, "dream_id": dream_id, "stage": stage, "open": len(units), "state": "open"})
    conn.execute(update(t.dreams).where(t.dreams.c.id == dream_id).values(phase=stage))
    return add_jobs(core, conn, scope_id, dream_id, stage, units)


def add_jobs(core: Clocked, conn: Connection, scope_id: int, dream_id: int, stage: str, units: Iterable[Unit]) -> tuple[int, ...]:
    """Insert jobs that are due at once and will be rung for when this transaction is committed."""
    j = t.jobs.c
    now = core.clock_ms(conn)
    new = {"scope_id": scope_id, "dream_id": dream_id, "stage": stage, "state": "ready", "fence": 0, "run_ms": now, "rung_ms": now + RING_MS, "rings": 1,
           "claims": 0, "failures": 0, "code": ""}  # fmt: skip
    rows = [{**new, "unit": unit.unit, "payload": dump(dict(unit.payload))} for unit in units]
    if len({row["unit"] for row in rows}) != len(rows):
        raise ValueError(f"two units of {stage} have one name")
    last = conn.scalar(select(func.max(j.id)).where(j.dream_id == dream_id)) or 0
    add(conn, t.jobs, rows)
    return tuple(sorted(conn.scalars(select(j.id).where(j.dream_id == dream_id, j.stage == stage, j.id > last))))


def unit_ended(core: Clocked, conn: Connection, scope_id: int, dream_id: int, stage: str, then: Sequence[Unit] = ()) -> tuple[int, ...]:
    """Count a unit off its stage; whoever counts the last one opens the next stage (systems R5). Returns jobs to ring for."""
    left, at_work = conn.execute(_count_off(), {"of": dream_id, "of_stage": stage}).one()
    if left > 0:
        if then:
            raise ValueError(f"{stage} has {left} more units: only its last one may name those of the next stage")
        return () if at_work else rest(core, conn, scope_id, dream_id)
    return close_stage(core, conn, scope_id, dream_id, stage, then)


def close_stage(core: Clocked, conn: Connection, scope_id: int, dream_id: int, stage: str, then: Sequence[Unit] = ()) -> tuple[int, ...]:
    """Go on after a stage whose units have all ended; after the last one the dream is to be ended.

    Without any result of a stage that must be, the dream has failed, with the code of a unit that was parked.
    """
    s, j = t.stages.c, t.jobs.c
    conn.execute(update(t.stages).where(s.dream_id == dream_id, s.stage == stage).values(open=0, state="closed"))
    counted = conn.execute(select(j.state, func.min(j.code).label("code")).where(j.dream_id == dream_id, j.stage == stage).group_by(j.state))
    states = {r.state: r.code for r in counted}
    if stage in MUST and "done" not in states:
        return end(core, conn, scope_id, dream_id, {"state": "failed", "code": states.get("parked") or "nothing_done", "ended_at": core.now()})
    following = stage_after(stage, named=bool(then))
    if following is None:
        return ()
    return open_stage(core, conn, scope_id, dream_id, following, then or START)


def rest(core: Clocked, conn: Connection, scope_id: int, dream_id: int) -> tuple[int, ...]:
    """Free the scope when all that is left of its dream waits for something (a batch, a budget); returns the next one's jobs (systems hole 29)."""
    j = t.jobs.c
    if conn.scalar(select(j.id).where(j.dream_id == dream_id, j.state.in_(_AT_WORK)).limit(1)) is not None:
        return ()
    if conn.scalar(select(j.id).where(j.dream_id == dream_id, j.state == "waiting").limit(1)) is None:
        return ()
    conn.execute(update(t.dreams).where(t.dreams.c.id == dream_id).values(state="waiting"))
    _keep_turn(conn, scope_id, dream_id)
    return begin_next(core, conn, scope_id)


@cache
def _count_off() -> Any:
    """Count a unit off its stage; returns how many are left of it, and whether any of the dream is at work: one statement a unit, not two."""
    s, j = t.stages.c, t.jobs.c
    at_work = exists().where(j.dream_id == bindparam("of"), j.state.in_(_AT_WORK))
    return update(t.stages).where(s.dream_id == bindparam("of"), s.stage == bindparam("of_stage")).values(open=s.open - 1).returning(s.open, at_work)


def end(core: Clocked, conn: Connection, scope_id: int, dream_id: int, values: Mapping[str, object], *, keep: bool = False) -> tuple[int, ...]:
    """End a dream and begin the next one; a job of it that still runs learns it at its commit. Without `keep` what it staged is dropped."""
    j, s = t.jobs.c, t.stages.c
    conn.execute(update(t.dreams).where(t.dreams.c.id == dream_id).values(**values))
    conn.execute(update(t.stages).where(s.dream_id == dream_id, s.state == "open").values(open=0, state="closed"))
    conn.execute(update(t.jobs).where(j.dream_id == dream_id, j.state.in_(NOT_ENDED)).values(state="canceled"))
    if not keep:
        drop_staged(conn, dream_id)
    _keep_turn(conn, scope_id, dream_id)
    return begin_next(core, conn, scope_id)


def drop_staged(conn: Connection, dream_id: int) -> None:
    """Forget what a dream staged and what it read for it."""
    for table in (t.changes, t.change_reads):
        conn.execute(delete(table).where(table.c.dream_id == dream_id))


def supersede(conn: Connection, scope_id: int, dream_id: int) -> None:
    """Drop what other dreams that wait have staged for the notes this one has staged, and the reads of those left with nothing."""
    d, c, r = t.dreams.c, t.changes.c, t.change_reads.c
    others = select(d.id).where(d.scope_id == scope_id, d.id != dream_id, d.state.in_(("planned", "held")))
    mine = t.changes.alias()
    again = exists().where(mine.c.dream_id == dream_id, mine.c.about == c.about, mine.c.note_uid == c.note_uid)
    conn.execute(delete(t.changes).where(c.dream_id.in_(others), again))
    conn.execute(delete(t.change_reads).where(r.dream_id.in_(others), ~exists().where(c.dream_id == r.dream_id)))


def _keep_turn(conn: Connection, scope_id: int, dream_id: int) -> None:
    """Remember when a job of the scope was last claimed, so that a scope is not first in line again by starting its next dream."""
    last = select(t.dreams.c.claimed_ms).where(t.dreams.c.id == dream_id).scalar_subquery()
    conn.execute(update(t.scopes).where(t.scopes.c.id == scope_id).values(claimed_ms=last))


def dream_of(scope: str, row: Any) -> Dream:
    """A row as the value callers see."""
    return Dream(
        uid=row.uid, scope=scope, state=row.state, cause=row.cause, params=cast(dict[str, object], load(row.params)), holder=row.holder,
        input_rev=row.input_rev, applied_rev=row.applied_rev, code=row.code,
        summary=None if row.summary is None else cast(dict[str, object], load(row.summary)), started_at=row.started_at, ended_at=row.ended_at,
        phase=row.phase, slot=row.slot, requested_at=row.requested_at, replans=row.replans,
    )  # fmt: skip
