"""Opening a store: where it may lie, how its connections are set, and what is checked before anybody reads."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event, make_url, select
from sqlalchemy.engine import URL, Connection
from sqlalchemy.exc import ArgumentError, DBAPIError

from pipelines.errors import Refused
from pipelines.store import tables as t
from pipelines.store.compiled import sharing_engine
from pipelines.store.core import Engines
from pipelines.store.faults import StoreDamaged, StoreMisplaced, translated
from pipelines.store.postgres import POOL, postgres_engines, require_usable
from pipelines.store.schema import HEAD, schema_version
from pipelines.store.triggers import missing

DRIVERS = frozenset({"sqlite", "postgresql", "postgresql+psycopg"})
FORMS = "names a file, sqlite:////path/to/store.db, or a database, postgresql://user:password@host/database"
BUSY_MS = 30_000  # for readers, and for what needs the file alone
LOOK_MS = 2_000  # who waits to write is silent for this long, and hears an interrupt after this long
WRITE_S = 300.0  # for who waits to write: a forget or an import over a large store takes minutes
Busy = Callable[[str], None]
"""Is told once by who waits long to write, with where the store lies."""

_PAUSE_S = 0.02

_EVERY = ("foreign_keys=ON", f"busy_timeout={BUSY_MS}", "temp_store=MEMORY", "cache_size=-32000")
# recursive_triggers: without it INSERT OR REPLACE passes the DELETE trigger. synchronous=FULL: a commit survives a power cut.
_WRITER = ("synchronous=FULL", "recursive_triggers=ON", "secure_delete=ON")
_READER = ("query_only=ON",)
_INDEX = ("synchronous=NORMAL", "secure_delete=ON")  # can be made again: a power cut may take its last words
_NETWORK = frozenset(
    [
        "nfs",
        "nfs4",
        "cifs",
        "smb",
        "smb2",
        "smb3",
        "smbfs",
        "afs",
        "ncpfs",
        "ceph",
        "glusterfs",
        "lustre",
        "davfs",
        "fuse.sshfs",
        "fuse.glusterfs",
        "fuse.rclone",
        "fuse.davfs",
        "fuse.s3fs",
    ]
)
_SYNCED = ("dropbox", "onedrive", "google drive", "googledrive", "mobile documents", "icloud drive", "nextcloud", "pcloud")


def open_engines(url: str, *, setting: str, now: Callable[[], datetime], mounts: str | None = None, busy: Busy | None = None) -> Engines:
    """Engines over a checked store of the current schema, made or migrated when needed.

    Raises StoreMisplaced (folder cannot be written, network or synced folder), StoreDamaged (no store, corrupt, triggers missing), StoreTooNew,
    StoreUnavailable (disk full, locked). `setting` is what a person changes to move the store; `mounts` the system's mount table; `busy` is told when another process keeps a
    write waiting on SQLite.
    """
    engines = engines_of(url, setting=setting, mounts=mounts, busy=busy)
    try:
        with translated("open the store", engines.where):
            _check(engines, now)
    except BaseException:
        engines.dispose()
        raise
    return engines


def engines_of(url: str, *, setting: str, mounts: str | None = None, busy: Busy | None = None) -> Engines:
    """Engines over whatever is there, nothing of it looked at or made but, on SQLite, the file."""
    parsed = _parsed(url)
    if parsed.get_backend_name() == "sqlite":
        return _sqlite_engines(parsed, setting=setting, mounts=_mounts() if mounts is None else mounts, busy=busy)
    return postgres_engines(parsed)


def _parsed(url: str) -> URL:
    """The URL's parts. What cannot be read is not repeated: it may hold a password."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise Refused(f"the store's URL cannot be read: it {FORMS}; in a password write / as %2F, @ as %40, : as %3A") from None
    if parsed.drivername not in DRIVERS:
        raise Refused(f"there is no store on {parsed.drivername}: the URL {FORMS}")
    return parsed


def _check(engines: Engines, now: Callable[[], datetime]) -> None:
    with engines.read.begin() as conn:
        if conn.dialect.name == "postgresql":
            require_usable(conn, engines.where)
        found = schema_version(conn, engines.where)
    if found is None or found < HEAD:
        # alembic takes 100 ms to import, and every command opens the store: only a start that migrates pays for it
        from pipelines.store.migrations.upgrade import upgrade

        upgrade(engines, created_at=now())
    with engines.read.begin() as conn:
        lost = missing(conn, t.metadata)
        if lost:
            raise StoreDamaged(engines.where, f"the triggers {', '.join(lost)} are missing, so history could be changed; restore a copy")
        if conn.scalar(select(t.grants.c.id).limit(1)) is not None:
            raise StoreDamaged(engines.where, "a forget left its door open (a row in `grants`); check what was deleted, then remove that row")


# --- SQLite ------------------------------------------------------------------------------------------------------------------------------


def _sqlite_engines(url: URL, *, setting: str, mounts: str, busy: Busy | None) -> Engines:
    if not url.database or url.database == ":memory:" or url.database.startswith("file:"):
        raise Refused(f"{url}: the store needs a file of its own, as in sqlite:////home/ana/.local/share/dreamd/store.db")
    # hide_parameters: what a driver's error says of a row reaches a log, and the row may be what somebody said
    path = Path(url.database).absolute()
    refuse_shared(path, setting=setting, mounts=mounts)
    _make_private(path)
    search = path.with_name(f"{path.stem}.search{path.suffix}")
    _make_private(search)
    write, read, finder = (sharing_engine(url.set(database=str(path)), pool_size=POOL, hide_parameters=True) for _ in range(3))
    index = sharing_engine(url.set(database=str(search)), pool_size=POOL, hide_parameters=True)
    _prepare(write, (*_EVERY, *_WRITER), partial(_begin_writing, busy=partial(busy or _unheard, str(path))), wal=True)
    _prepare(read, (*_EVERY, *_READER), _begin_reading)
    _prepare(finder, (*_EVERY, *_READER), _begin_reading, attach=search)
    _prepare(index, (*_EVERY, *_INDEX), partial(_begin_writing, busy=partial(busy or _unheard, str(search))), wal=True)
    with translated("open the store", str(path)), write.connect():
        pass  # readers come when the write-ahead log is there
    return Engines(write, read, str(path), index, finder)


def _prepare(engine: Engine, pragmas: tuple[str, ...], begin: Callable[[sqlite3.Connection], None], *, attach: Path | None = None, wal: bool = False) -> None:
    """Take transactions out of the driver's hands, so that DDL is transactional and a write is one from its first statement."""

    @event.listens_for(engine, "connect")
    def connect(dbapi: Any, _record: object) -> None:
        dbapi.isolation_level = None
        for pragma in pragmas:
            dbapi.execute(f"PRAGMA {pragma}")
        if wal:
            _write_ahead(dbapi)
            dbapi.execute(f"PRAGMA busy_timeout={LOOK_MS}")
        if attach is not None:
            dbapi.execute("ATTACH DATABASE ? AS idx", (str(attach),))

    @event.listens_for(engine, "begin")
    def start(conn: Connection) -> None:
        try:
            begin(conn.connection.driver_connection)  # type: ignore[arg-type]
        except sqlite3.Error as error:
            raise DBAPIError.instance("BEGIN", None, error, sqlite3.Error) from error


def _begin_reading(dbapi: sqlite3.Connection) -> None:
    dbapi.execute("BEGIN")


def _begin_writing(dbapi: sqlite3.Connection, *, busy: Callable[[], None]) -> None:
    """Be the only writer, as soon as no other process is; `busy` is told once when that takes long."""
    ends, silent = time.monotonic() + WRITE_S, True
    while True:
        try:
            dbapi.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > ends:
                raise
            if silent:
                busy()
            silent = False
        else:
            return


def _unheard(_where: str) -> None:
    """Tell nobody."""


def _write_ahead(dbapi: sqlite3.Connection) -> None:
    """Turn the write-ahead log on. Two processes that do so at once each hold what the other waits for: here both let go and try again."""
    ends = time.monotonic() + BUSY_MS / 1000
    dbapi.execute("PRAGMA busy_timeout=0")
    while True:
        try:
            dbapi.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > ends:
                raise
            time.sleep(_PAUSE_S)
        else:
            dbapi.execute(f"PRAGMA busy_timeout={BUSY_MS}")
            return


def _make_private(path: Path) -> None:
    """The folder 0700 when it is new, the file 0600; SQLite gives the files beside it the same mode."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except IsADirectoryError as error:
        raise StoreMisplaced(str(path), "is a folder; the store is a file") from error
    except OSError as error:
        raise StoreMisplaced(str(path), f"cannot be written ({error.strerror}); check the owner and mode of the file and its folder") from error


def refuse_shared(path: Path, *, setting: str, mounts: str) -> None:
    """Refuse folders where a write-ahead log is not safe: its shared memory works on one machine, and a sync tool copies the files torn."""
    real = path.parent.resolve() / path.name
    kind = filesystem_of(real, mounts)
    if kind in _NETWORK:
        raise StoreMisplaced(str(path), f"lies on a network file system ({kind}), where a store is damaged; set {setting} to a folder on a local disk")
    synced = next((part for part in real.parts[1:-1] if part.lower().startswith(_SYNCED)), None)
    if synced:
        raise StoreMisplaced(str(path), f"lies in a synced folder ({synced}), where a store is copied torn; set {setting} to a folder that is not synced")


def filesystem_of(path: Path, mounts: str) -> str:
    """The file system type of a path by a mount table in the form of /proc/mounts; "" when it does not say."""
    best, kind = "", ""
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = fields[1].replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")
        if path.is_relative_to(point) and len(point) >= len(best):
            best, kind = point, fields[2]
    return kind


def _mounts() -> str:
    try:
        return Path("/proc/self/mounts").read_text(errors="replace")
    except OSError:  # not Linux: macOS and Windows have no such file, and the check by name remains
        return ""
