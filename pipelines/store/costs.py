"""What calls have cost, told apart as a person asks, and how many notes came of it. Queries only."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date
from typing import Any, cast

from sqlalchemy import ColumnElement, case, func, select

from pipelines.store import tables as t
from pipelines.store.core import Core
from pipelines.store.money import CostRow, Kept
from pipelines.store.types import load

BY = ("day", "scope", "stage", "model", "dream")
"""What costs can be told apart by."""


class Costs(Core):
    """The ledger, added up."""

    def costs(
        self, scope: str | None = None, *, dream: str | None = None, since: date | None = None, until: date | None = None,
        by: Collection[str] = ("day", "scope", "stage", "model"),
    ) -> tuple[CostRow, ...]:  # fmt: skip
        """What calls have cost, of all scopes or one, of one dream (by uid), on the days from `since` to `until` (both among them), sorted by `by`.

        A call counts on the day it was reserved. Without `by` it is one row, or none when nothing was ever called.
        """
        if unknown := set(by) - set(BY):
            raise ValueError(f"costs cannot be told apart by {', '.join(sorted(unknown))}, only by {', '.join(BY)}")
        c, s = t.calls.c, t.scopes.c
        keys: dict[str, ColumnElement[str]] = {name: s.path if name == "scope" else c[name] for name in dict.fromkeys(by)}
        query = select(*(column.label(f"by_{name}") for name, column in keys.items()), *(_sums())).join_from(t.calls, t.scopes, s.id == c.scope_id)
        told = ((s.path, scope), (c.dream, dream))
        query = query.where(*(column == value for column, value in told if value is not None))
        query = query.where(*(() if since is None else (c.day >= since.isoformat(),)), *(() if until is None else (c.day <= until.isoformat(),)))
        with self.reading("add up costs") as conn:
            rows = conn.execute(query.group_by(*keys.values()).order_by(*keys.values()) if keys else query).all()
        return tuple(_cost_row(row, keys) for row in rows if row.n)

    def kept_notes(self, scope: str | None = None, *, made_by: str = "claude") -> Kept:
        """How many notes stand confirmed, and of how many an engine of the family `made_by` read the evidence: what a price per note is made of."""
        h, v, c, s = t.heads.c, t.note_versions.c, t.claims.c, t.scopes.c
        heads = (
            select(h.scope_id, h.note_id, v.claims)
            .join_from(t.heads, t.note_versions, v.id == h.version_id)
            .where(h.status == "confirmed", h.closing.is_(False))
        )
        with self.reading("count the notes") as conn:
            of = () if scope is None else (s.id == (self.scope_of(conn, scope)),)
            notes: dict[tuple[int, int], set[str]] = {}
            read: set[tuple[int, str]] = set()
            for scope_id in conn.scalars(select(s.id).where(*of)).all():
                for row in conn.execute(heads.where(h.scope_id == scope_id)):
                    notes.setdefault((scope_id, row.note_id), set()).update(cast(list[str], load(row.claims)))
                theirs = select(c.uid).where(c.scope_id == scope_id, c.made_by.like(f"{made_by}/%"))
                read |= {(scope_id, uid) for uid in conn.scalars(theirs)}
        return Kept(notes=len(notes), read=sum(any((scope_id, uid) in read for uid in claims) for (scope_id, _), claims in notes.items()))


def _sums() -> tuple[ColumnElement[Any], ...]:
    c = t.calls.c

    def over(state: str, column: Any) -> ColumnElement[int]:
        return func.coalesce(func.sum(case((c.state == state, column), else_=0)), 0)

    return (
        func.count().label("n"), over("answered", 1).label("calls"), *(func.coalesce(func.sum(c[name]), 0).label(name) for name in _TOKENS),
        over("answered", c.cost_uusd).label("uusd"), over("presumed", 1).label("presumed"), over("presumed", c.bound_uusd).label("presumed_uusd"),
        over("sent", 1).label("open"), over("sent", c.bound_uusd).label("reserved_uusd"), over("void", 1).label("voided"),
    )  # fmt: skip


_TOKENS = ("fresh", "written", "cached", "output")
_COUNTED = ("calls", *_TOKENS, "uusd", "presumed", "presumed_uusd", "open", "reserved_uusd", "voided")


def _cost_row(row: Any, keys: Mapping[str, object]) -> CostRow:
    told: dict[str, Any] = {name: getattr(row, f"by_{name}") for name in keys}
    told |= {name: int(getattr(row, name)) for name in _COUNTED}
    return CostRow(**told)
