"""When scopes dream by themselves: schedules, the ledger of slots that fired, what waits to be dreamt over, and whose validity is over.

Which slot is due is decided by who calls (`worker.slots`); here it is written down, once, whoever else says the same at the same time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from sqlalchemy import ColumnElement, Connection, and_, exists, func, insert, or_, select, update

from pipelines.model import Origin
from pipelines.store import life
from pipelines.store import tables as t
from pipelines.store.beliefs import LIVE, Beliefs
from pipelines.store.core import insert_new, put
from pipelines.store.ends import any_over
from pipelines.store.requests import Requests
from pipelines.store.types import dump, load
from pipelines.store.work import RENDER_ONLY, Asked

NOTE_WEIGHT = 3  # an agent that writes a memory says more than one that is told something


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When a scope dreams. It owes nothing before `since`; `last_slot` is the newest slot that fired."""

    scope: str
    kind: str
    spec: str
    zone: str
    since: datetime
    last_slot: str | None = None
    params: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """What no dream has read yet, and how often the scope was read since the last one: sessions, the person's turns in them, notes agents wrote, briefs told."""

    sessions: int
    turns: int
    notes: int
    deliveries: int

    @property
    def importance(self) -> int:
        """How much there is to learn from."""
        return self.turns + NOTE_WEIGHT * self.notes


class Schedules(Beliefs, Requests):
    """Every schedule fires through `request`; any number of schedulers may do so at once."""

    def set_schedule(self, scope: str, kind: str, spec: str, zone: str, params: Mapping[str, object] | None = None) -> Schedule:
        """Add a schedule, or edit the one of this kind: what it fired stays fired, and a new one owes nothing from before now."""
        s = t.schedules.c
        with self.writing("set a schedule") as conn:
            scope_id = self.locked_scope(conn, scope)
            mine = and_(s.scope_id == scope_id, s.kind == kind)
            before = conn.execute(select(s.since, s.last_slot, s.active).where(mine)).one_or_none()
            since = before.since if before and before.active else self.now()
            last = before.last_slot if before else None
            row = {"spec": spec, "zone": zone, "params": dump(dict(params or {})), "since": since, "last_slot": last, "active": True}
            put(conn, t.schedules, ("scope_id", "kind"), [{"scope_id": scope_id, "kind": kind, **row}])
        return Schedule(scope=scope, kind=kind, spec=spec, zone=zone, since=since, last_slot=last, params=dict(params or {}))

    def drop_schedule(self, scope: str, kind: str) -> bool:
        """Take a schedule off; False when there was none. Its ledger stays, so that setting it again on the same day does not fire again."""
        s = t.schedules.c
        with self.writing("drop a schedule") as conn:
            mine = (s.scope_id == self.scope_of(conn, scope), s.kind == kind, s.active.is_(True))
            return conn.execute(update(t.schedules).where(*mine).values(active=False)).rowcount > 0

    def schedules(self, scope: str | None = None) -> tuple[Schedule, ...]:
        """The schedules of a scope, or of all, by scope and kind."""
        s = t.schedules.c
        query = select(t.schedules, t.scopes.c.path).join_from(t.schedules, t.scopes, t.scopes.c.id == s.scope_id).where(s.active.is_(True))
        with self.reading("list the schedules") as conn:
            rows = conn.execute(query if scope is None else query.where(s.scope_id == self.scope_of(conn, scope))).all()
        return tuple(sorted(map(_schedule, rows), key=lambda x: (x.scope, x.kind)))

    def fire(self, schedule: Schedule, slot: str, why: str, *, params: Mapping[str, object]) -> Asked | None:
        """Record that a slot fired, ask for its dream and move the schedule to it, all in one transaction. Its own params go over those given.

        None when another scheduler was first, the slot fired before or the schedule was edited since it was read; then nothing is asked for. A request
        that is refused (too many wait) leaves the slot owed.
        """
        s = t.schedules.c
        try:
            with self.together("fire a slot"), self.writing("fire a slot") as conn:
                scope_id = self.locked_scope(conn, schedule.scope)
                stands = and_(s.scope_id == scope_id, s.kind == schedule.kind, s.active.is_(True), s.spec == schedule.spec, s.zone == schedule.zone)
                moved = update(t.schedules).where(stands, or_(s.last_slot.is_(None), s.last_slot < slot)).values(last_slot=slot)
                if not conn.execute(moved).rowcount:
                    return None
                request = f"{schedule.kind} {slot}"
                row = {"scope_id": scope_id, "schedule": schedule.kind, "slot": slot, "request_id": request, "why": why, "recorded_at": self.now()}
                if not conn.execute(insert_new(conn, t.slots), row).rowcount:
                    return None
                asked = self.request(schedule.scope, request_id=request, params={**params, **schedule.params}, cause=schedule.kind, slot=request)
                if asked.answer == "refused":
                    raise _SlotRefused(asked)
                return asked
        except _SlotRefused as refused:
            return refused.asked

    def reset_schedule(self, schedule: Schedule, *, newest: str) -> Schedule:
        """Bring a schedule back that a wrong clock sent into the future: to its newest slot no later than `newest`, beginning no later than now. It is a fault."""
        s, x = t.schedules.c, t.slots.c
        with self.writing("reset a schedule") as conn:
            scope_id, at = self.locked_scope(conn, schedule.scope), self.now()
            sound = select(func.max(x.slot)).where(x.scope_id == scope_id, x.schedule == schedule.kind, x.slot <= newest)
            last = conn.scalar(sound)
            since = min(schedule.since, at)
            mine = and_(s.scope_id == scope_id, s.kind == schedule.kind, s.last_slot.is_not_distinct_from(schedule.last_slot))
            if conn.execute(update(t.schedules).where(mine).values(last_slot=last, since=since)).rowcount:
                about = f"{schedule.kind} of {schedule.scope}: {schedule.last_slot or schedule.since.isoformat()}"
                conn.execute(insert(t.faults), {"code": "slot_in_future", "about": about, "recorded_at": at})
        return Schedule(scope=schedule.scope, kind=schedule.kind, spec=schedule.spec, zone=schedule.zone, params=schedule.params, since=since, last_slot=last)

    def slots(self, scope: str, kind: str) -> tuple[tuple[str, str], ...]:
        """Every slot that fired, with why, in their order."""
        x = t.slots.c
        with self.reading("read the slots") as conn:
            rows = conn.execute(select(x.slot, x.why).where(x.scope_id == self.scope_of(conn, scope), x.schedule == kind).order_by(x.slot))
            return tuple((r.slot, r.why) for r in rows)

    # --- what there is to dream over ---

    def waiting(self, scope: str) -> Waiting:
        """What waits for a dream: cheap enough to be asked at every tick (it looks at what is unread, not at what is stored)."""
        n, d = t.online_notes.c, t.deliveries.c
        with self.reading("look at what waits") as conn:
            scope_id = self.scope_of(conn, scope)
            last = _last_dream(conn, scope_id)
            unread = _unread(conn, scope_id)
            turns = _turns_in(conn, scope_id, unread, last.started_at if last else None)
            notes = select(func.count()).select_from(t.online_notes).where(n.scope_id == scope_id, n.gone.is_(False))
            told = select(func.count()).select_from(t.deliveries).where(d.scope_id == scope_id)
            if last is not None:
                notes, told = notes.where(n.recorded_at > last.started_at), told.where(d.delivered_at > last.started_at)
            return Waiting(sessions=len(unread), turns=turns, notes=conn.scalar(notes) or 0, deliveries=conn.scalar(told) or 0)

    # --- what is over ---

    def expiring(self, now: datetime) -> tuple[str, ...]:
        """Scopes in which a version's validity or a line of a note file is over and which nobody has told so yet."""
        h = t.heads.c
        over = exists().where(h.scope_id == t.scopes.c.id, h.status.in_([s.value for s in LIVE]), h.valid_until <= now, h.closing.is_(False))
        with self.reading("look for what expired") as conn:
            return tuple(sorted(conn.scalars(select(t.scopes.c.path).where(or_(over, any_over(t.scopes.c.id, now))))))

    def expire_and_render(self, scope: str, now: datetime) -> Asked | None:
        """`expire` and the request that takes it off the pages, in one transaction; None when nothing was over."""
        with self.together("expire notes"):
            if not self.expire(scope, now):
                return None
            with self.writing("read the revision") as conn:
                rev = conn.scalar(select(t.scopes.c.revision).where(t.scopes.c.path == scope))
            return self.request(scope, request_id=f"expiry {rev}", params=RENDER_ONLY, cause="expiry")


class _SlotRefused(Exception):
    def __init__(self, asked: Asked) -> None:
        super().__init__(asked.answer)
        self.asked = asked


def _schedule(row: Any) -> Schedule:
    params = cast(dict[str, object], load(row.params))
    return Schedule(scope=row.path, kind=row.kind, spec=row.spec, zone=row.zone, since=row.since, last_slot=row.last_slot, params=params)


def _last_dream(conn: Connection, scope_id: int | None) -> Any:
    """The last dream that read what there was and reached its end."""
    d = t.dreams.c
    done = select(d.started_at, d.ended_at).where(d.scope_id == scope_id, d.state == "completed", life.whole())
    return conn.execute(done.order_by(d.id.desc()).limit(1)).one_or_none()


def _unread(conn: Connection, scope_id: int | None) -> dict[int, bool]:
    """Sessions that hold turns no engine has read, and whether any reading of them is there."""
    h, r = t.session_heads.c, t.session_reads.c
    same = exists().where(r.session_id == h.session_id, r.digest == h.digest)
    known: ColumnElement[bool] = exists().where(r.session_id == h.session_id)
    rows = conn.execute(select(h.session_id, known.label("known")).where(h.scope_id == scope_id, ~same))
    return {row.session_id: bool(row.known) for row in rows}


def _turns_in(conn: Connection, scope_id: int | None, unread: Mapping[int, bool], since: datetime | None) -> int:
    """The person's turns in sessions that are unread; of a session read before, those since the last dream."""
    o, x = t.occurrences.c, t.turns.c
    total = 0
    for known in (False, True):
        ids = sorted(s for s, k in unread.items() if k is known)
        fresh = (or_(x.event_at.is_(None), x.event_at > since),) if known and since else ()
        query = select(func.count(o.turn_id.distinct())).join_from(t.occurrences, t.turns, x.id == o.turn_id)
        query = query.where(x.scope_id == scope_id, x.origin == Origin.USER.value, *fresh)
        total += sum(conn.scalar(query.where(o.session_id.in_(ids[n : n + 5_000]))) or 0 for n in range(0, len(ids), 5_000))
    return total
