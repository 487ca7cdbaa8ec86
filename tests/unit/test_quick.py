"""What keeps the suite quick is at work, and leaves a store what it is."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import select

from pipelines.store import Store, open_store
from pipelines.store import tables as t
from pipelines.store.migrations import upgrade as upgrading
from tests import quick
from tests.dreaming import NOW, empty_store


def opened(folder: Path, name: str) -> Store:
    return open_store(f"sqlite:///{folder}/{name}.db", now=lambda: NOW)


def drawn(store: Store) -> tuple[str, bytes]:
    with store.engines.read.connect() as conn:
        row = conn.execute(select(t.store.c.epoch, t.store.c.pepper)).one()
    return row.epoch, row.pepper


def test_a_store_waits_for_no_disk(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    with opened(tmp_path, "store") as store, store.engines.write.connect() as conn:
        assert conn.exec_driver_sql("PRAGMA synchronous").scalar() == 0


def test_a_copied_store_is_another_one_with_the_schema_of_a_migrated_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o700)
    with opened(tmp_path, "migrated") as migrated, monkeypatch.context() as copying:
        copying.setattr(upgrading, "upgrade", partial(quick.migrate_by_copy, empty_store()))
        with opened(tmp_path, "one") as one, opened(tmp_path, "two") as two:
            assert len({drawn(store) for store in (migrated, one, two)}) == 3
            shapes = []
            for store in (migrated, one):
                with store.engines.read.connect() as conn:
                    shapes.append(conn.exec_driver_sql("SELECT type, name, sql FROM sqlite_master ORDER BY type, name").all())
    assert shapes[0] == shapes[1]


def test_a_file_that_is_not_open_is_still_told_apart() -> None:
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fsync(987_654)
