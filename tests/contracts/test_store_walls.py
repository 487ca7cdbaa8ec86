"""Scopes are walls in the database: no row of a scope can point at a row of another, whatever writes it."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Boolean, Connection, DateTime, Float, Integer, LargeBinary, Table, insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.schema import ForeignKeyConstraint

from pipelines.store import Store
from pipelines.store import tables as t
from tests.contracts.store_builders import DAY
from tests.contracts.store_kinds import clock, store

__all__ = ["clock", "store"]  # fixtures of this suite

KEYS = [
    (table, key) for table in sorted(t.metadata.tables.values(), key=lambda x: x.name) for key in table.foreign_key_constraints
    if key.referred_table.name != "scopes"
]  # fmt: skip


def _value(column: Any, number: int) -> object:
    kind = getattr(column.type, "impl_instance", column.type)
    for of, value in ((Boolean, False), (Integer, number), (Float, 1.0), (DateTime, DAY), (LargeBinary, b"x")):
        if isinstance(kind, of):
            return value
    return f"x{number}"


class Rows:
    """Makes rows with something in every column that asks for it, and the rows they point at."""

    def __init__(self, conn: Connection) -> None:
        self.conn, self.number = conn, 0

    def make(self, table: Table, scope: int, points: dict[str, int] | None = None) -> int:
        self.number += 1
        row = {c.name: _value(c, self.number) for c in table.columns if not c.nullable and c.name != "id"} | {"scope_id": scope}
        for key in _walls(table):
            column = key.column_keys[1]
            if column in row:
                row[column] = (points or {}).get(column) or self.make(key.referred_table, scope)
        made = self.conn.execute(insert(table).values(**row, **{k: v for k, v in (points or {}).items() if k not in row}).returning(table.c.id))
        return int(made.scalar_one())


def _walls(table: Table) -> list[ForeignKeyConstraint]:
    return [key for key in table.foreign_key_constraints if key.referred_table.name != "scopes"]


@pytest.mark.parametrize(("table", "key"), KEYS, ids=lambda x: x.name if isinstance(x, Table) else "+".join(x.column_keys))
def test_a_row_that_points_into_another_scope_is_refused_by_the_database(store: Store, table: Table, key: ForeignKeyConstraint) -> None:
    column = key.column_keys[1]
    with store.writing("try the wall") as conn:
        rows, mine, other = Rows(conn), store.locked_scope(conn, "a/b"), store.locked_scope(conn, "a/b2")
        rows.make(table, mine, {column: rows.make(key.referred_table, mine)})  # in its own scope it may stand
        foreign = rows.make(key.referred_table, other)
        with pytest.raises(IntegrityError), conn.begin_nested():
            rows.make(table, mine, {column: foreign})


def test_there_are_keys_to_try() -> None:
    assert len(KEYS) >= 30


def test_scopes_that_differ_by_case_a_wildcard_or_an_ending_are_others(store: Store) -> None:
    paths = ("a/b", "a/b2", "A/b", "a/_", "a/b/c", "a")
    with store.writing("make scopes") as conn:
        ids = {path: store.locked_scope(conn, path) for path in paths}
    assert len(set(ids.values())) == len(paths)
    with store.reading("find scopes") as conn:
        assert {path: store.scope_of(conn, path) for path in paths} == ids
        assert [store.scope_of(conn, path) for path in ("a/B", "a/%", "a/b%")] == [None] * 3
