"""Which claims have to be resolved: a projection kept from reading to apply, so that what a crashed or failed dream read is not forgotten.

A claim marked again gets a new row. So the newest row's id at the moment a dream freezes its set tells what it resolves from what came later.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, delete, func, select, update

from pipelines.errors import LeaseLost
from pipelines.store import tables as t
from pipelines.store.core import Core, add, chunks
from pipelines.store.values import Dream


class Dirty(Core):
    """Marks are set by readings, and by whoever changes what claims are believed by; an apply takes them off."""

    def dirty(self, scope: str) -> frozenset[str]:
        """Uids of all claims that wait to be resolved."""
        c = t.dirty_claims.c
        with self.reading("read what has to be resolved") as conn:
            return frozenset(conn.scalars(select(c.claim_uid).where(c.scope_id == self.scope_of(conn, scope))))

    def freeze_dirty(self, dream: Dream) -> frozenset[str]:
        """The claims this dream resolves: those dirty when it first asks, and the same again when it asks again. Its apply takes them off.

        A claim that changes meanwhile leaves the set and waits for the next dream. Raises LeaseLost when the dream runs no more.
        """
        d, c = t.dreams.c, t.dirty_claims.c
        with self.writing("freeze what has to be resolved") as conn:
            scope_id = self.locked_scope(conn, dream.scope)
            row = conn.execute(select(d.id, d.state, d.dirty_upto).where(d.scope_id == scope_id, d.uid == dream.uid)).one()
            if row.state != "running":
                raise LeaseLost(f"dream {dream.uid} is {row.state}: stop")
            upto = row.dirty_upto
            if upto is None:
                upto = conn.scalar(select(func.max(c.id)).where(c.scope_id == scope_id)) or 0
                conn.execute(update(t.dreams).where(d.id == row.id).values(dirty_upto=upto))
            return frozenset(conn.scalars(select(c.claim_uid).where(c.scope_id == scope_id, c.id <= upto)))

    def mark_dirty(self, scope: str, uids: Iterable[str], why: str) -> None:
        """Have these claims resolved by the next dream that freezes its set."""
        with self.writing("mark claims") as conn:
            mark(conn, self.locked_scope(conn, scope), uids, why)


def mark(conn: Connection, scope_id: int, uids: Iterable[str], why: str) -> None:
    """Mark claims of a locked scope; one that is marked already is marked anew."""
    c = t.dirty_claims.c
    for part in chunks(sorted(set(uids))):
        conn.execute(delete(t.dirty_claims).where(c.scope_id == scope_id, c.claim_uid.in_(part)))
        add(conn, t.dirty_claims, [{"scope_id": scope_id, "claim_uid": uid, "why": why} for uid in part])


def resolved(conn: Connection, scope_id: int, upto: int | None) -> None:
    """Take the marks off that a dream froze."""
    if upto is not None:
        c = t.dirty_claims.c
        conn.execute(delete(t.dirty_claims).where(c.scope_id == scope_id, c.id <= upto))
