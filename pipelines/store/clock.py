"""What time it is for leases and due times: the database's on a server, this host's in the embedded store."""

from __future__ import annotations

import time
from collections.abc import Callable

from sqlalchemy import BigInteger, ColumnElement, Connection, cast, func, literal, select

from pipelines.store.core import Core


class Clocked(Core):
    """Milliseconds since 1970. `ticks` takes the place of both clocks where it is set (tests)."""

    ticks: Callable[[], int] | None = None

    def clock_ms(self, conn: Connection) -> int:
        """The time now. On PostgreSQL not `now()`, which stands still within a transaction (systems hole 38)."""
        if self.ticks is not None:
            return self.ticks()
        if conn.dialect.name == "sqlite":
            return time.time_ns() // 1_000_000
        return int(conn.execute(select(_SERVER)).scalar_one())

    def clock(self, conn: Connection) -> ColumnElement[int]:
        """The time when a row is looked at, also after the statement has waited for that row's lock."""
        if self.ticks is None and conn.dialect.name != "sqlite":
            return _SERVER
        return literal(self.clock_ms(conn), BigInteger)


_SERVER: ColumnElement[int] = cast(func.floor(func.extract("epoch", func.clock_timestamp()) * 1000), BigInteger)
