"""Which databases the store's suites run against, and a clock they move by hand."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import pytest
from sqlalchemy import Engine, event

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
        with self.store.reading("read the epoch") as conn:
            self.store.epoch = conn.exec_driver_sql("SELECT epoch FROM store").scalar_one()
        if self.search.stat().st_size:
            self.store.rebuild_search()
        return self.store

    def close(self) -> None:
        self.store.close()
        self.empty.close()


KINDS = {"sqlite": Sqlite}
_made: dict[str, Sqlite] = {}


class Clock:
    """A clock a test moves by hand."""

    def __init__(self) -> None:
        self.at = DAY

    def __call__(self) -> datetime:
        return self.at


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=sorted(KINDS))
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, clock: Clock) -> Store:
    kind = request.param
    if kind not in _made:
        _made[kind] = KINDS[kind](tmp_path_factory.mktemp(kind))
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
