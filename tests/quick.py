"""What makes the whole suite quicker and changes nothing a test can see: statements compiled once a process, and no waiting for the disk.

Each `open_store` makes four engines, and an engine compiles each of its statements anew: a third of what a dream in a test costs.
No test cuts the power, and a process that is killed loses nothing it wrote, so nothing here waits until the disk has it.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import threading
from collections.abc import Iterator, MutableMapping
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import sqlalchemy
from sqlalchemy import update, util

from pipelines.store import open as files
from pipelines.store import postgres as servers
from pipelines.store import tables as t
from pipelines.store.core import Engines
from pipelines.store.migrations import upgrade as upgrading

_compiled: util.LRUCache[Any, Any] = util.LRUCache(2000)


class Shared(MutableMapping[Any, Any]):
    """Compiled statements of every engine of a process, told apart by what a dialect is, not by which engine's it is."""

    def __getitem__(self, key: Any) -> Any:
        return _compiled[_named(key)]

    def get(self, key: Any, default: Any = None) -> Any:
        return _compiled.get(_named(key), default)

    def __setitem__(self, key: Any, value: Any) -> None:
        _compiled[_named(key)] = value

    def __delitem__(self, key: Any) -> None:
        del _compiled[_named(key)]

    def __iter__(self) -> Iterator[Any]:
        return iter(_compiled)

    def __len__(self) -> int:
        return len(_compiled)


def _named(key: Any) -> Any:
    dialect, *rest = key
    return (type(dialect), dialect.server_version_info, *rest)


def _create_engine(*given: Any, execution_options: dict[str, Any] | None = None, **more: Any) -> sqlalchemy.Engine:
    return sqlalchemy.create_engine(*given, execution_options={**(execution_options or {}), "compiled_cache": Shared()}, **more)


def hasten() -> None:
    """From here on, in this process."""
    files.create_engine = servers.create_engine = _create_engine  # type: ignore[attr-defined]
    files._WRITER = tuple("synchronous=OFF" if p.startswith("synchronous") else p for p in files._WRITER)
    files._INDEX = tuple("synchronous=OFF" if p.startswith("synchronous") else p for p in files._INDEX)
    os.fsync = _unwaited  # type: ignore[assignment]


def _unwaited(fd: int) -> None:
    """Complains of a file that is not open, as the real one does."""
    os.fstat(fd)


_migrate = upgrading.upgrade
_copying = threading.Lock()


def migrate_by_copy(empty: Path, engines: Engines, *, created_at: datetime) -> None:
    """Stand in for `upgrade`: a new file becomes a copy of an `empty` store with an epoch and a pepper of its own; anything else is migrated."""
    with _copying:
        if _copied(empty, engines):
            with engines.write.begin() as conn:
                conn.execute(update(t.store).values(epoch=secrets.token_hex(8), pepper=secrets.token_bytes(32), created_at=created_at))
            return
    _migrate(engines, created_at=created_at)


def _copied(empty: Path, engines: Engines) -> bool:
    with engines.write.connect() as conn:
        raw = conn.connection.driver_connection
        if not isinstance(raw, sqlite3.Connection) or raw.execute("SELECT count(*) FROM sqlite_master").fetchone() != (0,):
            return False
        with closing(sqlite3.connect(empty)) as source:
            source.backup(raw)
        return True
