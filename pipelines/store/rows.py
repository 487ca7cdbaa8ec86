"""Rows in bulk: tuples, and one statement a table that is put into the driver's words once.

SQLAlchemy makes a dictionary of each row anew and asks each column for its type; for what intake writes that is half of the time of a commit. What is
bound is the same: every value passes its column's type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Dialect, Table, insert
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.compiler import SQLCompiler

from pipelines.store.core import chunks


class _Bulk(NamedTuple):
    """An insert in the words of a driver: its text, and what each column does to a value (None: nothing)."""

    text: str
    names: tuple[str, ...]
    bind: tuple[Callable[[Any], Any] | None, ...]
    positional: bool

    def bound(self, rows: Sequence[tuple[Any, ...]]) -> Any:
        columns = [column if bind is None else map(bind, column) for column, bind in zip(zip(*rows, strict=True), self.bind, strict=True)]
        bound: Iterator[tuple[Any, ...]] = zip(*columns, strict=True)
        return list(bound) if self.positional else [dict(zip(self.names, row, strict=True)) for row in bound]


def add_rows(conn: Connection, table: Table, names: tuple[str, ...], rows: Sequence[tuple[Any, ...]], *, known: bool = False) -> None:
    """Insert rows, whose values are those of `names`, columns in the table's own order; with `known` rows that are there already are left alone."""
    bulk = _bulk(conn.dialect, table, names, known)
    for part in chunks(rows):
        conn.exec_driver_sql(bulk.text, bulk.bound(part))


@lru_cache(maxsize=64)
def _bulk(dialect: Dialect, table: Table, names: tuple[str, ...], known: bool) -> _Bulk:
    """The statement; a dialect is one engine's, so a process that opens many stores forgets the oldest."""
    new = postgresql.insert(table) if dialect.name == "postgresql" else sqlite.insert(table)
    compiled = (new.on_conflict_do_nothing() if known else insert(table)).compile(dialect=dialect, column_keys=list(names))
    assert isinstance(compiled, SQLCompiler)
    assert compiled.positiontup is None or tuple(compiled.positiontup) == names, "the names are not in the table's order"
    bind = tuple(table.c[name].type.dialect_impl(dialect).bind_processor(dialect) for name in names)
    return _Bulk(str(compiled), names, bind, compiled.positional)
