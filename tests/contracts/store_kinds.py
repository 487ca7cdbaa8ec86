"""Which databases the store's suites run against, and a clock they move by hand."""

from __future__ import annotations

import contextlib
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Engine, event
from sqlalchemy.engine import URL, make_url

from pipelines.store import Store, open_store
from pipelines.store import tables as t
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
        with self.store.reading("read the epoch") as conn:
            self.store.epoch = conn.exec_driver_sql("SELECT epoch FROM store").scalar_one()
        if self.search.stat().st_size:
            self.store.rebuild_search()
        return self.store

    def close(self) -> None:
        self.store.close()
        self.empty.close()


class Postgres:
    """One database for all tests of a process, emptied for each by hand, with the triggers asleep: a database of its own costs more than most tests."""

    def __init__(self, server: str) -> None:
        self.server, self.name = make_url(server), f"kinds_{uuid.uuid4().hex[:12]}"
        with self._administrator(self.server) as admin:
            admin.execute(f"CREATE DATABASE {self.name}")
        url = self.server.set(database=self.name)
        self.store = open_store(url.render_as_string(hide_password=False), now=lambda: DAY)
        self.store.refresh_search()
        self.admin = self._administrator(url)
        tables = [*t.metadata.tables, "search_words", "search_scopes"]
        self.empty = "; ".join(f"DELETE FROM {name}" for name in tables if name != "store")

    def emptied(self) -> Store:
        self.admin.execute(f"BEGIN; SET LOCAL session_replication_role = replica; SET LOCAL lock_timeout = '10s'; {self.empty}; COMMIT")
        return self.store

    def close(self) -> None:
        self.store.close()
        self.admin.close()
        with contextlib.suppress(psycopg.OperationalError), self._administrator(self.server) as admin:  # a server of this run has gone with it
            admin.execute(f"DROP DATABASE {self.name} WITH (FORCE)")

    @staticmethod
    def _administrator(url: URL) -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(url.set(drivername="postgresql").render_as_string(hide_password=False), autocommit=True)


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


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, clock: Clock) -> Store:
    kind = request.param
    if kind not in _made:
        _made[kind] = _kind(kind, request)
        request.config.add_cleanup(_made[kind].close)
    store = _made[kind].emptied()
    store.now = clock
    return store


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
