"""Leases on what one process does at a time and no job stands for: an engine's post box. (Pages are written by the unit that renders, under the lease of its job:
`pipelines.store.claiming`.)

A lease says who may try; it does not stop a holder whose time is over. What stops it is `guard`: the committing transaction's first statement locks the row
by fence and owner, and the fence only grows (systems R15).
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from pipelines.errors import LeaseLost
from pipelines.store import tables as t
from pipelines.store.clock import Clocked
from pipelines.store.holder import fate, host_of, process_of
from pipelines.store.work import Lease


class Leases(Clocked):
    """One holder at a time for each kind and name."""

    def take_lease(self, kind: str, name: str, owner: str, ttl_ms: int) -> Lease | None:
        """Take what is free, over, or held by a process known to be dead on this host; None while somebody holds it, also the same owner."""
        e = t.leases.c
        with self.writing("take a lease") as conn:
            now = self.clock(conn)
            new = {"kind": kind, "name": name, "owner": owner, "fence": 1, "until_ms": now + ttl_ms, "ttl_ms": ttl_ms}
            statement = (postgresql.insert if conn.dialect.name == "postgresql" else sqlite.insert)(t.leases).values(**new)
            over = or_(e.owner.is_(None), e.until_ms <= now, e.until_ms > now + 2 * e.ttl_ms)
            taken = {"owner": owner, "fence": e.fence + 1, "until_ms": now + ttl_ms, "ttl_ms": ttl_ms}
            claim = statement.on_conflict_do_update(index_elements=["kind", "name"], set_=taken, where=over).returning(e.fence)
            fence = conn.scalar(claim)
            if fence is None:
                fence = _of_the_dead(conn, kind, name, owner, taken)
        return None if fence is None else Lease(kind=kind, name=name, owner=owner, fence=fence)

    def release_lease(self, lease: Lease) -> bool:
        """Let go; False when it was lost before. The fence stays, so that it only grows."""
        with self.writing("release a lease") as conn:
            return conn.execute(update(t.leases).where(*_held(lease)).values(owner=None, until_ms=0)).rowcount == 1

    def guard(self, lease: Lease) -> None:
        """Lock the lease's row as its holder until the transaction ends: the first statement within `together`. Raises LeaseLost when another holds it.

        One whose time is over and that nobody took still guards: fence and owner decide, not the clock.
        """
        if not self.within:
            raise ValueError("a lease guards only within `together`: its row is locked until that transaction ends")
        with self.writing("guard a lease") as conn:
            if conn.execute(update(t.leases).where(*_held(lease)).values(fence=lease.fence)).rowcount != 1:
                raise LeaseLost(f"the lease on {lease.kind} {lease.name} is not {lease.owner}'s any more: stop")

    @property
    def within(self) -> bool:
        """Whether this thread has a transaction open around several methods."""
        return getattr(self._open, "conn", None) is not None


def _held(lease: Lease) -> tuple[Any, ...]:
    e = t.leases.c
    return (e.kind == lease.kind, e.name == lease.name, e.fence == lease.fence, e.owner == lease.owner)


def _of_the_dead(conn: Connection, kind: str, name: str, owner: str, taken: dict[str, Any]) -> int | None:
    """Take a lease whose holder's process is gone; its row must still say what was looked at."""
    e = t.leases.c
    row = conn.execute(select(e.owner, e.fence).where(e.kind == kind, e.name == name)).one()
    if row.owner is None or fate(process_of(row.owner), host=host_of(process_of(owner))) is not False:
        return None
    dead = Lease(kind=kind, name=name, owner=row.owner, fence=row.fence)
    fence: int | None = conn.scalar(update(t.leases).where(*_held(dead)).values(**taken).returning(e.fence))
    return fence
