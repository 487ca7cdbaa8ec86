"""Rates that all workers share: a bucket of tokens a name, filled by the database's clock. One conditional statement decides who takes from it."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

from sqlalchemy import Float, bindparam, case, cast, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from pipelines.store import tables as t
from pipelines.store.clock import Clocked
from pipelines.store.types import Id

ASTRAY_MS = 60_000
"""A bucket filled later than this from now was filled by a clock that was set back since; from now on this clock counts."""


class Rates(Clocked):
    """Token buckets, made when they are first asked."""

    def take(self, name: str, n: float, rate_per_s: float, burst: float) -> int:
        """Take `n` tokens of the bucket `name`, which fills at `rate_per_s` up to `burst`: 0 when taken, else after how many ms to ask again.

        All processes together never take more than burst + rate_per_s · time. A wait is no reservation. Raises ValueError for what could never be taken.
        """
        if not (0 < n <= burst and rate_per_s > 0 and math.isfinite(burst) and math.isfinite(rate_per_s)):
            raise ValueError(f"{n} tokens can never be taken of {name}: a bucket of {burst} filled at {rate_per_s} a second")
        with self.writing("take from a rate") as conn:
            now, a_ms = self.clock_ms(conn), rate_per_s / 1000
            told = {"of": name, "n": float(n), "a_ms": a_ms, "burst": float(burst), "now": now}
            if conn.scalar(_taking(conn.dialect.name), told) is not None:
                return 0
            there = conn.execute(_standing(), {"of": name}).one()
            if there.filled_ms > now + ASTRAY_MS:
                conn.execute(_turned_back(), {"of": name, "seen": there.filled_ms, "now": now})
        tokens: float = min(burst, there.tokens + max(0, now - there.filled_ms) * a_ms)
        return max(1, math.ceil((n - tokens) / a_ms - 1e-6))


@cache
def _taking(dialect: str) -> Any:
    """Make the bucket, less what is taken, or take from it when it holds enough; gives a row when taken.

    Time is read before the row's lock is waited for, so it may lie before the last filling: then nothing has flowed in since.
    """
    r = t.rates.c
    now, n, burst = bindparam("now", type_=Id), bindparam("n", type_=Float), bindparam("burst", type_=Float)
    least, most = (func.least, func.greatest) if dialect == "postgresql" else (func.min, func.max)
    flowed = cast(case((r.filled_ms < now, now - r.filled_ms), else_=0), Float) * bindparam("a_ms", type_=Float)
    holds = least(burst, r.tokens + flowed)
    filled = case((r.filled_ms > now + ASTRAY_MS, now), else_=most(r.filled_ms, now))
    insert = (postgresql.insert if dialect == "postgresql" else sqlite.insert)(t.rates)
    made = insert.values(name=bindparam("of"), tokens=burst - n, filled_ms=now)
    return made.on_conflict_do_update(index_elements=["name"], set_={"tokens": holds - n, "filled_ms": filled}, where=holds >= n).returning(r.id)


@cache
def _turned_back() -> Any:
    r = t.rates.c
    seen = (r.name == bindparam("of"), r.filled_ms == bindparam("seen"))
    return update(t.rates).where(*seen).values(filled_ms=bindparam("now", type_=Id))


@cache
def _standing() -> Any:
    return select(t.rates.c.tokens, t.rates.c.filled_ms).where(t.rates.c.name == bindparam("of"))
