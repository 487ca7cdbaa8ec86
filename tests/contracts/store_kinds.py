"""Which databases the store's suites run against, and a clock they move by hand."""

from __future__ import annotations

import contextlib
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import Engine, event
from sqlalchemy.engine import make_url

from pipelines.store import Store, open_store
from tests.contracts.store_builders import DAY


class Sqlite:
    """One store for all tests of a process, emptied for each: its connections and compiled statements cost more than most tests."""

    def __init__(self, folder: Path) -> None:
        open_store(f"sqlite:///{folder}/empty.db", now=lambda: DAY).close()
        self.empty = sqlite3.connect(folder / "empty.db")
        self.store = open_store(f"sqlite:///{folder}/store.db", now=lambda: DAY)
        self.search = folder / "store.search.db"
        for engine in (self.store.engines.write, self.store.engines.index):
            assert engine is not None
            engine.dispose()
            event.listen(engine, "connect", lambda dbapi, _record: dbapi.execute("PRAGMA synchronous=OFF"))  # no power cut is tested here

    def emptied(self) -> Store:
        with self.store.engines.write.connect() as conn:
            self.empty.backup(conn.connection.driver_connection)  # type: ignore[arg-type]
        self.store.identify()
        if self.search.stat().st_size:
            self.store.rebuild_search()
        return self.store

    def close(self) -> None:
        self.store.close()
        self.empty.close()


class Postgres:
    """One database for all tests of a process, emptied for each by hand, with the triggers asleep: a database of its own costs more than most tests."""

    def __init__(self, server: str) -> None:
        self.server, self.name = server, f"kinds_{uuid.uuid4().hex[:12]}"
        with administrator(server) as admin:
            admin.execute(f"CREATE DATABASE {self.name}")
        url = database_of(server, self.name)
        self.store = open_store(url, now=lambda: DAY)
        self.store.refresh_search()
        self.admin = administrator(url)
        tables = self.admin.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN ('store', 'alembic_version')")
        self.empty = "; ".join(f"DELETE FROM {name}" for (name,) in tables.fetchall())
        self.key = self.admin.execute("SELECT epoch, pepper FROM store").fetchone()

    def emptied(self) -> Store:
        with self.admin.transaction():
            self.admin.execute(f"SET LOCAL session_replication_role = replica; SET LOCAL lock_timeout = '10s'; {self.empty}")
            self.admin.execute("UPDATE store SET epoch = %s, pepper = %s", self.key)
        self.store.identify()
        return self.store

    def close(self) -> None:
        self.store.close()
        self.admin.close()
        with contextlib.suppress(psycopg.OperationalError), administrator(self.server) as admin:  # a server of this run has gone with it
            admin.execute(f"DROP DATABASE {self.name} WITH (FORCE)")


def database_of(server: str, name: str) -> str:
    """The URL of a database on a server."""
    return make_url(server).set(database=name).render_as_string(hide_password=False)


def administrator(url: str) -> psycopg.Connection[tuple[Any, ...]]:
    """A connection beside the store's own, each statement a transaction."""
    return psycopg.connect(make_url(url).set(drivername="postgresql").render_as_string(hide_password=False), autocommit=True)


KINDS = ("postgres", "sqlite")
_made: dict[str, Sqlite | Postgres] = {}


def _kind(kind: str, request: pytest.FixtureRequest) -> Sqlite | Postgres:
    if kind == "postgres":
        return Postgres(request.getfixturevalue("postgres_url"))
    return Sqlite(request.getfixturevalue("tmp_path_factory").mktemp(kind))


class Clock:
    """A clock a test moves by hand."""

    def __init__(self) -> None:
        self.at = DAY

    def __call__(self) -> datetime:
        return self.at


@pytest.fixture
def clock() -> Clock:
    return Clock()


def store_of(kind: str, request: pytest.FixtureRequest, clock: Clock) -> Store:
    if kind not in _made:
        _made[kind] = _kind(kind, request)
        request.config.add_cleanup(_made[kind].close)
    store = _made[kind].emptied()
    store.now = clock
    return store


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, clock: Clock) -> Store:
    return store_of(request.param, request, clock)


@pytest.fixture
def both(request: pytest.FixtureRequest, clock: Clock) -> tuple[Store, ...]:
    """A store of each kind."""
    return tuple(store_of(kind, request, clock) for kind in KINDS)


@pytest.fixture(params=KINDS)
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty database of this test's own, without our schema."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/store.db"
        return
    server, name = request.getfixturevalue("postgres_url"), f"empty_{uuid.uuid4().hex[:12]}"
    with administrator(server) as admin:
        admin.execute(f"CREATE DATABASE {name} STRATEGY file_copy")
        yield database_of(server, name)
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


class Killed(Exception):
    """Stands for the process ending here."""


@contextmanager
def killed_at(engine: Engine, statement: int) -> Iterator[list[str]]:
    """Raise before the given statement of the engine, counted from 0; the list holds what ran before it."""
    ran: list[str] = []

    def before(_conn: object, _cursor: object, sql: str, *_rest: object) -> None:
        if len(ran) == statement:
            raise Killed(sql)
        ran.append(sql)

    event.listen(engine, "before_cursor_execute", before)
    try:
        yield ran
    finally:
        event.remove(engine, "before_cursor_execute", before)
