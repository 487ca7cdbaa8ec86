"""Triggers that make append-only tables refuse UPDATE and DELETE, and the check that none is missing.

A migration that rebuilds a table drops its triggers without a word (systems hole 76), so start-up compares what is there with what must be.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, MetaData, Table, text

from pipelines.store import tables as t

_SQLITE = """CREATE TRIGGER {name} BEFORE {verb} ON {table} {when}BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"""
_POSTGRES_FUNCTION = """CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  granted boolean := false;
BEGIN
  {door}RAISE EXCEPTION '% is append-only', TG_TABLE_NAME;
END $$"""
# the grants beside the table, by name: a temporary table of that name would be found first
_POSTGRES_DOOR = """EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I.grants)', TG_TABLE_SCHEMA) INTO granted;
  IF granted THEN
    RETURN OLD;
  END IF;
  """
_POSTGRES = """CREATE TRIGGER {name} BEFORE {verb} ON {table} FOR EACH {each} EXECUTE FUNCTION {function}()"""
_POSTGRES_PRESENT = "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled IN ('O', 'A') AND pg_table_is_visible(tgrelid)"
_DOOR = "EXISTS (SELECT 1 FROM grants)"


@contextmanager
def door(conn: Connection) -> Iterator[None]:
    """Open append-only tables for deletes of this transaction alone: a crash in it leaves the door shut and nothing gone."""
    conn.execute(t.grants.insert(), {"reason": "forget"})
    yield
    conn.execute(t.grants.delete())


def append_only(metadata: MetaData) -> tuple[Table, ...]:
    """The tables that need triggers, by name."""
    return tuple(t for _, t in sorted(metadata.tables.items()) if t.info["change"] != "mutable")


def statements(table: str, change: str, dialect: str) -> Iterator[str]:
    """The DDL that makes one table append-only."""
    for verb in _verbs(dialect):
        name = f"{table}_no_{verb.lower()}"
        door = change == "forget" and verb == "DELETE"
        if dialect == "sqlite":
            yield _SQLITE.format(name=name, verb=verb, table=table, when=f"WHEN NOT {_DOOR} " if door else "")
        else:
            function = "refuse_but_for_forget" if door else "refuse_change"
            each = "STATEMENT" if verb == "TRUNCATE" else "ROW"
            yield _POSTGRES.format(name=name, verb=verb, table=table, each=each, function=function)


def functions(dialect: str) -> Iterator[str]:
    """What the triggers call, on PostgreSQL."""
    if dialect == "postgresql":
        yield _POSTGRES_FUNCTION.format(name="refuse_change", door="")
        yield _POSTGRES_FUNCTION.format(name="refuse_but_for_forget", door=_POSTGRES_DOOR)


def missing(conn: Connection, metadata: MetaData) -> tuple[str, ...]:
    """Names of triggers that should be there and are not."""
    dialect = conn.dialect.name
    if dialect == "sqlite":
        present = set(conn.scalars(text("SELECT name FROM sqlite_master WHERE type = 'trigger'")))
    else:
        present = set(conn.scalars(text(_POSTGRES_PRESENT)))
    wanted = {f"{t.name}_no_{verb.lower()}" for t in append_only(metadata) for verb in _verbs(dialect)}
    return tuple(sorted(wanted - present))


def _verbs(dialect: str) -> tuple[str, ...]:
    return ("UPDATE", "DELETE") if dialect == "sqlite" else ("UPDATE", "DELETE", "TRUNCATE")
