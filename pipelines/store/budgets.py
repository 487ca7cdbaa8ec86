"""What dreams, days and scopes have used of their money, and the pause of all calls.

A counter a dream, day and scope, whether it has a limit or not, so that a limit set later counts what was spent before. Counters are locked in the order of
`money.KINDS`, after the rows of calls (systems section 5), and moved by differences: what calls add up to is always what the counters say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, cast

from sqlalchemy import Connection, bindparam, delete, select, update

from pipelines.store import tables as t
from pipelines.store.clock import Clocked
from pipelines.store.core import insert_new, put
from pipelines.store.money import KINDS, Budget, CallsPaused, Kind, Limit

Name = tuple[Kind, str]
Moves = dict[Name, Counter[str]]
"""By how much counters move: "spent", "reserved" and "presumed" of a name."""

CALLS = "calls"  # what a pause is of


class Budgets(Clocked):
    """Looking at money, and stopping all calls."""

    def budget(self, kind: Kind, name: str) -> Budget:
        """What one dream (by uid), day (YYYY-MM-DD) or scope (by path) has used; nothing when nobody asked yet."""
        b = t.budgets.c
        with self.reading("look at a budget") as conn:
            row = conn.execute(select(t.budgets).where(b.kind == kind, b.name == name)).one_or_none()
        if row is None:
            return Budget(kind=kind, name=name, limit_uusd=None, spent_uusd=0, reserved_uusd=0, presumed_uusd=0)
        return _budget(row)

    def pause_calls(self, why: str, until_ms: int) -> None:
        """Let nobody reserve a call before a time of the store's clock: one bill that is not paid stops all. A later pause takes the place of this one."""
        with self.writing("pause all calls") as conn:
            put(conn, t.pauses, ["what"], [{"what": CALLS, "why": why, "until_ms": until_ms}])

    def resume_calls(self) -> bool:
        """Lift the pause; False when there was none."""
        with self.writing("resume calls") as conn:
            return conn.execute(delete(t.pauses).where(t.pauses.c.what == CALLS)).rowcount > 0

    def calls_paused(self) -> CallsPaused | None:
        """The pause there is now; None when calls may be made."""
        p = t.pauses.c
        with self.reading("look whether calls are paused") as conn:
            row = conn.execute(select(p.why, p.until_ms).where(p.what == CALLS)).one_or_none()
            over = row is None or row.until_ms <= self.clock_ms(conn)
        return None if row is None or over else CallsPaused(why=row.why, until_ms=row.until_ms)


def names_of(scope: str, dream: str, day: str) -> tuple[Name, ...]:
    """What a call is counted for."""
    told: dict[Kind, str] = {"scope": scope, "dream": dream, "day": day}
    return tuple((kind, told[kind]) for kind in KINDS if told[kind])


def locked(conn: Connection, names: Iterable[Name]) -> Mapping[Name, Budget]:
    """These counters, made where they are new, in the order of locks and locked until the transaction ends."""
    wanted = sorted(set(names), key=_order)
    found = _lock(conn, wanted)
    new = [name for name in wanted if name not in found]
    if new:
        zero = {"limit_uusd": None, "spent_uusd": 0, "reserved_uusd": 0, "presumed_uusd": 0}
        conn.execute(insert_new(conn, t.budgets), [{"kind": kind, "name": name, **zero} for kind, name in new])
        found = _lock(conn, wanted)
    return found


def move(conn: Connection, moves: Moves) -> None:
    """Move counters that are there, in the order of locks."""
    rows = [
        {"of_kind": kind, "of_name": name, **{f"by_{what}": by[what] for what in ("spent", "reserved", "presumed")}}
        for (kind, name), by in sorted(moves.items(), key=lambda m: _order(m[0]))
        if any(by.values())
    ]
    if rows:
        conn.execute(_moving(), rows)


def limit(conn: Connection, limits: Iterable[Limit]) -> None:
    """Remember the limits that were asked with."""
    b = t.budgets.c
    for told in limits:
        conn.execute(update(t.budgets).where(b.kind == told.kind, b.name == told.name).values(limit_uusd=told.limit_uusd))


def _order(name: Name) -> tuple[int, str]:
    return KINDS.index(name[0]), name[1]


def _lock(conn: Connection, names: list[Name]) -> dict[Name, Budget]:
    told = {"kinds": sorted({kind for kind, _ in names}), "names": sorted({name for _, name in names})}
    return {(row.kind, row.name): _budget(row) for row in conn.execute(_locking(), told)}


def _budget(row: Any) -> Budget:
    return Budget(
        kind=cast(Kind, row.kind), name=row.name, limit_uusd=row.limit_uusd, spent_uusd=row.spent_uusd, reserved_uusd=row.reserved_uusd,
        presumed_uusd=row.presumed_uusd,
    )  # fmt: skip


@cache
def _locking() -> Any:
    """Two lists, so that both databases go by the index; a row that stands in both by chance is locked for nothing. scope > dream > day by their letters."""
    b = t.budgets.c
    query = select(t.budgets).where(b.kind.in_(bindparam("kinds", expanding=True)), b.name.in_(bindparam("names", expanding=True)))
    return query.order_by(b.kind.desc(), b.name).with_for_update()


@cache
def _moving() -> Any:
    b = t.budgets.c
    by = {f"{what}_uusd": b[f"{what}_uusd"] + bindparam(f"by_{what}") for what in ("spent", "reserved", "presumed")}
    return update(t.budgets).where(b.kind == bindparam("of_kind"), b.name == bindparam("of_name")).values(**by)
