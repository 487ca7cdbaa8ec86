"""What holds for every table, walked over the metadata so that a new one cannot be forgotten."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Boolean, DateTime, LargeBinary, Table, create_mock_engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.types import TypeDecorator

from pipelines.store import Store, open_store
from pipelines.store import tables as t
from pipelines.store.migrations.upgrade import config
from pipelines.store.schema import HEAD, KNOWN
from pipelines.store.triggers import append_only, functions, statements
from tests.contracts.store_builders import DAY

TABLES = sorted(t.metadata.tables.values(), key=lambda table: table.name)
GLOBAL = {"store", "grants", "scopes", "leases", "processes", "rates", "letters", "faults", "budgets", "pauses"}
MUST_HAVE = {
    "note_versions": {"reason", "verified_at", "verified_by", "sensitivity", "audience", "agent", "applies_to"},
    "deliveries": {"session", "target", "versions", "delivered_at"},
}


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path_factory.mktemp('schema')}/store.db", now=lambda: DAY) as store:
        yield store


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_table_and_column_is_declared(table: Table) -> None:
    assert table.info["change"] in {"mutable", "append", "forget"}
    for column in table.columns:
        assert column.info.get("holds") in {"vocabulary", "keyed", "content"}, f"{table.name}.{column.name} does not say what it holds"
        if isinstance(column.type, TypeDecorator):
            assert (column.info["holds"] == "content") == (type(column.type).__name__ in {"Content", "PathText"}), f"{table.name}.{column.name}"


@pytest.mark.parametrize("table", [x for x in TABLES if x.name not in GLOBAL], ids=lambda table: table.name)
def test_every_key_between_domain_tables_carries_the_scope(table: Table) -> None:
    assert not table.columns["scope_id"].nullable
    for key in table.foreign_key_constraints:
        if key.referred_table.name == "scopes":
            continue
        assert key.column_keys[0] == "scope_id"
        assert [e.column.name for e in key.elements] == ["scope_id", "id"]


def test_what_outlives_a_forget_holds_no_content() -> None:
    for table in TABLES:
        if table.info["change"] == "append":
            assert {c.name for c in table.columns if c.info["holds"] == "content"} == set()


def test_the_columns_promised_from_the_first_migration_are_there() -> None:
    for name, wanted in MUST_HAVE.items():
        assert wanted <= set(t.metadata.tables[name].columns.keys())


def test_the_migrations_make_exactly_the_declared_schema(migrated: Store) -> None:
    with migrated.engines.read.begin() as conn:
        differences = compare_metadata(MigrationContext.configure(conn, opts={"compare_type": False}), t.metadata)
        assert differences == []
        made = {row.name: row.sql for row in conn.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")}
    declared: dict[str, str] = {}
    engine: Any = create_mock_engine("sqlite://", lambda ddl, *_a, **_k: declared.update(_named(str(ddl.compile(dialect=engine.dialect)))))
    t.metadata.create_all(engine, checkfirst=False)
    for table in append_only(t.metadata):
        for statement in statements(table.name, table.info["change"], "sqlite"):
            declared.update(_named(statement))
    for view in t.VIEWS:
        declared.update(_named(view))
    squeezed = {name: " ".join(sql.split()) for name, sql in made.items() if name not in {"alembic_version", "sqlite_sequence"}}
    assert len(squeezed) >= 100
    assert {name: _parts(sql) for name, sql in squeezed.items()} == {name: _parts(sql) for name, sql in declared.items()}


def _parts(sql: str) -> list[str]:
    """What stands between the outer parentheses' commas, sorted: a column that a migration added stands last in the database."""
    if not sql.startswith("CREATE TABLE"):
        return [sql]
    head, _, body = sql.partition("(")
    depth, parts = 0, [""]
    for ch in body.rpartition(")")[0]:
        depth += {"(": 1, ")": -1}.get(ch, 0)
        if ch == "," and not depth:
            parts.append("")
        else:
            parts[-1] += ch
    return [head, *sorted(part.strip() for part in parts)]


def _named(sql: str) -> dict[str, str]:
    words = sql.split()
    name = words[words.index(next(w for w in words if w in {"TABLE", "INDEX", "VIEW", "TRIGGER"})) + 1]
    return {name: " ".join(words)}


def test_the_newest_migration_is_the_one_a_store_is_opened_at() -> None:
    folder = ScriptDirectory.from_config(config())
    assert folder.get_current_head() == HEAD
    assert {script.revision for script in folder.walk_revisions()} == KNOWN


def test_every_statement_can_be_said_to_postgresql() -> None:
    said: list[str] = []
    engine: Any = create_mock_engine("postgresql+psycopg://", lambda ddl, *_a, **_k: said.append(str(ddl.compile(dialect=engine.dialect))))
    t.metadata.create_all(engine, checkfirst=False)
    said += functions("postgresql")
    said += [s for table in append_only(t.metadata) for s in statements(table.name, table.info["change"], "postgresql")]
    assert sum("BEFORE TRUNCATE" in s for s in said) == len(append_only(t.metadata))
    assert not any("AUTOINCREMENT" in s for s in said)


# --- append-only -----------------------------------------------------------------------------------------------------------------------------


def row_for(table: Table) -> dict[str, Any]:
    """A row that satisfies NOT NULL; keys to other tables are not checked here."""
    return {column.name: value_for(column.type) for column in table.columns if not column.nullable or column.name == "id"}


def value_for(kind: Any) -> Any:
    if isinstance(kind, Boolean):
        return 0
    if isinstance(getattr(kind, "impl", kind), DateTime):
        return "2026-11-03 09:00:00.000000"
    if isinstance(kind, LargeBinary):
        return b"x"
    return 1 if "INT" in str(kind).upper() else "x"


@pytest.fixture
def bare(migrated: Store, tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """The schema on a connection set like a writer's, but for foreign keys."""
    conn = sqlite3.connect(tmp_path / "copy.db", isolation_level=None)
    with migrated.engines.read.connect() as from_store:
        from_store.connection.driver_connection.backup(conn)  # type: ignore[union-attr]
    conn.execute("PRAGMA recursive_triggers=ON")
    yield conn
    conn.close()


@pytest.mark.parametrize("table", append_only(t.metadata), ids=lambda table: table.name)
def test_append_only_tables_refuse_every_way_to_change_a_row(bare: sqlite3.Connection, table: Table) -> None:
    row = row_for(table)
    names, marks = ", ".join(f'"{n}"' for n in row), ", ".join("?" for _ in row)
    bare.execute(f"INSERT INTO {table.name} ({names}) VALUES ({marks})", tuple(row.values()))
    before = bare.execute(f"SELECT * FROM {table.name}").fetchall()
    ways = [
        (f"UPDATE {table.name} SET scope_id = 2", ()),
        (f"DELETE FROM {table.name}", ()),
        (f"INSERT OR REPLACE INTO {table.name} ({names}) VALUES ({marks})", tuple(row.values())),
    ]
    for sql, values in ways:
        with pytest.raises(sqlite3.IntegrityError, match=f"{table.name} is append-only"):
            bare.execute(sql, values)
    assert bare.execute(f"SELECT * FROM {table.name}").fetchall() == before


@pytest.mark.parametrize("table", append_only(t.metadata), ids=lambda table: table.name)
def test_the_door_opens_for_deletes_of_content_and_for_nothing_else(bare: sqlite3.Connection, table: Table) -> None:
    row = row_for(table)
    names, marks = ", ".join(f'"{n}"' for n in row), ", ".join("?" for _ in row)
    bare.execute(f"INSERT INTO {table.name} ({names}) VALUES ({marks})", tuple(row.values()))
    bare.execute("BEGIN")
    bare.execute("INSERT INTO grants (reason) VALUES ('forget')")
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        bare.execute(f"UPDATE {table.name} SET scope_id = 2")
    if table.info["change"] == "forget":
        assert bare.execute(f"DELETE FROM {table.name}").rowcount == 1
    else:
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            bare.execute(f"DELETE FROM {table.name}")
    bare.execute("ROLLBACK")


def test_the_stores_own_writer_refuses_a_replace_and_a_key_across_scopes(migrated: Store) -> None:
    with migrated.engines.write.connect() as conn:
        settings = {name: conn.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("recursive_triggers", "foreign_keys", "journal_mode", "secure_delete")}
    assert settings == {"recursive_triggers": 1, "foreign_keys": 1, "journal_mode": "wal", "secure_delete": 1}
    when = "2026-11-03 09:00:00.000000"
    with migrated.engines.write.connect() as conn:
        for scope in (1, 2):
            conn.exec_driver_sql("INSERT INTO scopes (id, path, revision, recorded_at) VALUES (?, ?, 0, ?)", (scope, f"s{scope}", when))
        conn.exec_driver_sql("INSERT INTO sessions (id, scope_id, uid, format) VALUES (1, 1, 's', 'f')")
        with pytest.raises(DBAPIError, match="FOREIGN KEY"):
            conn.exec_driver_sql("INSERT INTO session_reads (scope_id, session_id, engine, digest, questions) VALUES (2, 1, 'e', 'd', '[]')")
        conn.rollback()
