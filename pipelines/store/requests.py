"""Asking for a dream, and taking that back. A request is accepted when its row is committed; its id answers with its dream for ever (systems R17)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, func, select, update

from pipelines.errors import Refused
from pipelines.model import digest, short_uid
from pipelines.store import life
from pipelines.store import tables as t
from pipelines.store.clock import Clocked
from pipelines.store.core import insert_new
from pipelines.store.types import dump, storable
from pipelines.store.work import ALL, PENDING_MAX, RETRY_AFTER_S, Asked, Audited

_NAME_MAX = 200
_ENDED = frozenset({"completed", "failed"})
_WAITS = frozenset({"planned", "held"})  # for a person; their phase tells where they ended, not what is under way


class Requests(Clocked):
    """Every trigger ends here; asking twice is safe."""

    def request(
        self, scope: str, *, request_id: str, params: Mapping[str, object], cause: str, hand: str = "", slot: str | None = None
    ) -> Asked:  # fmt: skip
        """Ask for a dream over the scope; it begins at once when none runs there.

        What was asked before under this id, or for this slot, is answered with the dream it led to. Equal `params` (by digest, whatever the order of their
        names) join a dream that has read nothing yet: one that is pending, or one whose plan nobody is working on. Unlike ones queue, at most
        PENDING_MAX a scope. Raises Refused for an id, cause, hand or slot no database takes.
        """
        told = {"request id": request_id, "cause": cause, "hand": hand, "slot": slot or ""}
        for what, said in told.items():
            if storable(said) != said or len(said) > _NAME_MAX or not (said or what in {"hand", "slot"}):
                raise Refused(f"{said[:80]!r} is no {what}: it takes 1 to {_NAME_MAX} characters, and no NUL")
        with self.writing("ask for a dream") as conn:
            scope_id = self.locked_scope(conn, scope)
            ids = (request_id,) if slot is None else (request_id, _slot_id(slot))
            if (known := _known(conn, scope_id, ids)) is not None:
                return Asked(answer="known", dream=known.uid, state=known.state)
            mac = self.mac(_canonical(params))
            joined = _joinable(conn, scope_id, mac)
            if joined is None and _pending(conn, scope_id) >= PENDING_MAX:
                return Asked(answer="refused", dream=None, retry_after_s=RETRY_AFTER_S)
            dream_id = joined.id if joined is not None else self._add(conn, scope_id, short_uid(scope, "request", request_id), params, mac, cause, slot)
            rows = [{"scope_id": scope_id, "request_id": i, "params_mac": mac, "cause": cause, "hand": hand, "dream_id": dream_id, "recorded_at": self.now()}
                    for i in ids]  # fmt: skip
            conn.execute(insert_new(conn, t.requests), rows)
            ring = (joined.ring if joined is not None else ()) + life.begin_next(self, conn, scope_id)
            row = conn.execute(select(t.dreams.c.uid, t.dreams.c.state).where(t.dreams.c.id == dream_id)).one()
            self.add_audit(conn, scope_id, "request", hand, row.uid, key=request_id)
        return Asked(answer="accepted" if joined is None else "coalesced", dream=row.uid, state=row.state, ring=ring)

    def cancel(self, scope: str, dream: str, hand: str = "") -> tuple[int, ...]:
        """End a dream before it is applied, with all its jobs; a running one learns it at its commit. Canceling again changes nothing.

        Of one that waits for a person (planned, held) what is staged is dropped; what a held one believed beside that stays. Raises Refused for a dream
        the scope does not have, one that is applied and one that ended. Returns jobs to ring for: the scope's next dream begins.
        """
        d = t.dreams.c
        with self.writing("cancel a dream") as conn:
            scope_id = self.locked_scope(conn, scope)
            row = conn.execute(select(t.dreams).where(d.scope_id == scope_id, d.uid == dream)).one_or_none()
            if row is None:
                raise Refused(f"{scope} has no dream {dream}")
            if row.state == "canceled":
                return ()
            if row.state not in _WAITS and (row.applied_rev is not None or row.phase == "render"):
                raise Refused(f"dream {dream} was applied as revision {row.applied_rev or row.input_rev}; what is applied cannot be canceled")
            if row.state in _ENDED:
                raise Refused(f"dream {dream} is {row.state} already")
            self.add_audit(conn, scope_id, "cancel", hand, dream, key=dream)
            if row.state == "pending":
                life.took(conn, scope_id)
            return life.end(self, conn, scope_id, row.id, {"state": "canceled", "code": "", "ended_at": self.now()})

    def audit(self, scope: str) -> tuple[Audited, ...]:
        """Who asked for what, oldest first."""
        a = t.audit.c
        with self.reading("read the audit") as conn:
            rows = conn.execute(select(a.verb, a.hand, a.about, a.recorded_at).where(a.scope_id == self.scope_of(conn, scope)).order_by(a.id)).all()
        return tuple(Audited(verb=r.verb, hand=r.hand, about=r.about, at=r.recorded_at) for r in rows)

    def write_down(self, scope: str, verb: str, hand: str, about: str, *, key: str) -> None:
        """Write down who did what to a scope, once for each key, in the transaction that does it."""
        with self.writing("write down who did something") as conn:
            self.add_audit(conn, self.locked_scope(conn, scope), verb, hand, about, key=key)

    def add_audit(self, conn: Connection, scope_id: int, verb: str, hand: str, about: str, *, key: str) -> None:
        """Write down who did what, once for each key."""
        row = {"scope_id": scope_id, "uid": digest(verb, key), "verb": verb, "hand": hand, "about": about, "recorded_at": self.now()}
        conn.execute(insert_new(conn, t.audit), row)

    def add_pending(self, conn: Connection, scope_id: int, uid: str, params: str, mac: str, cause: str, slot: str | None = None) -> int:
        """Insert a dream that waits for its scope; `params` is recorded JSON."""
        at = self.now()
        row = {"scope_id": scope_id, "uid": uid, "state": "pending", "cause": cause, "params": params, "holder": "", "input_rev": 0, "code": "",
               "started_at": at, "requested_at": at, "params_mac": mac, "slot": slot}  # fmt: skip
        conn.execute(t.dreams.insert(), row)
        return int(conn.execute(select(t.dreams.c.id).where(t.dreams.c.scope_id == scope_id, t.dreams.c.uid == uid)).scalar_one())

    def _add(self, conn: Connection, scope_id: int, uid: str, params: Mapping[str, object], mac: str, cause: str, slot: str | None) -> int:
        conn.execute(update(t.scopes).where(t.scopes.c.id == scope_id).values(wanted=t.scopes.c.wanted + 1))
        return self.add_pending(conn, scope_id, uid, dump(dict(params)), mac, cause, slot)


class _Joined:
    """A dream a request can join, and the job that has to be rung for again."""

    __slots__ = ("id", "ring")

    def __init__(self, dream_id: int, ring: tuple[int, ...] = ()) -> None:
        self.id = dream_id
        self.ring = ring


def _known(conn: Connection, scope_id: int, ids: tuple[str, ...]) -> Any:
    """The dream one of these requests led to."""
    r = t.requests.c
    query = select(t.dreams.c.uid, t.dreams.c.state).join_from(t.requests, t.dreams, t.dreams.c.id == r.dream_id)
    return conn.execute(query.where(r.scope_id == scope_id, r.request_id.in_(ids)).order_by(r.id).limit(1)).one_or_none()


def _joinable(conn: Connection, scope_id: int, mac: str) -> _Joined | None:
    """A dream of equal parameters that has read nothing yet: a pending one, or the running one while nobody works on its plan.

    The plan's row is locked: a worker that claims it now reads after this request is committed, and so reads what it was made for.
    """
    d, j = t.dreams.c, t.jobs.c
    pending = conn.scalar(select(d.id).where(d.scope_id == scope_id, d.params_mac == mac, d.state == "pending"))
    if pending is not None:
        return _Joined(pending)
    running = (d.scope_id == scope_id, d.params_mac == mac, d.state == "running", d.phase == "plan")
    query = select(j.id, j.dream_id).join_from(t.jobs, t.dreams, d.id == j.dream_id).where(*running, j.unit == ALL, j.state == "ready")
    plan = conn.execute(query.with_for_update(of=t.jobs, skip_locked=True)).first()
    return None if plan is None else _Joined(plan.dream_id, (plan.id,))


def _pending(conn: Connection, scope_id: int) -> int:
    d = t.dreams.c
    return conn.scalar(select(func.count()).select_from(t.dreams).where(d.scope_id == scope_id, d.state == "pending")) or 0


def _slot_id(slot: str) -> str:
    """The request a slot is remembered by, beside the sender's own id: a slot that joined another dream is used up, too."""
    return f"slot {slot}"


def _canonical(params: Mapping[str, object]) -> str:
    return json.dumps(params, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
