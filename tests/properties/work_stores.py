"""Stores for state machines: one file, emptied between examples of a process."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from sqlalchemy import delete, event

from pipelines.store import Store, open_store
from pipelines.store import tables as t
from tests.contracts.store_builders import DAY
from tests.contracts.work_builders import WORK

MONEY = ("calls", "batches", "answers", "budgets", "pauses")


@cache
def _store() -> Store:
    store = open_store(f"sqlite:///{Path(tempfile.mkdtemp(prefix='dreamd-test-'))}/store.db", now=lambda: DAY)
    store.engines.write.dispose()
    event.listen(store.engines.write, "connect", lambda dbapi, _record: dbapi.execute("PRAGMA synchronous=OFF"))  # no power cut is tested here
    with store.engines.write.begin() as conn:
        for row in conn.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name IN ('audit', 'answers')").all():
            conn.exec_driver_sql(f"DROP TRIGGER {row.name}")  # rows of the example before are taken away by hand
    return store


def fresh() -> Store:
    """A store without any work in it."""
    store = _store()
    with store.engines.write.begin() as conn:
        conn.exec_driver_sql("PRAGMA defer_foreign_keys=ON")
        for name in (*MONEY, *WORK[1:], "scopes"):
            conn.execute(delete(t.metadata.tables[name]))
    return store


def given_back(store: Store) -> None:
    """The example is over."""
    store.ticks = None
    store.close()
