"""PostgreSQL: how its connections are made and set, and how the store is called in messages."""

from __future__ import annotations

import select
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Engine, event, text
from sqlalchemy.engine import URL, Connection, ExceptionContext
from sqlalchemy.exc import DisconnectionError

from pipelines.errors import Refused
from pipelines.store.compiled import sharing_engine
from pipelines.store.core import Engines
from pipelines.store.faults import StoreMisplaced

THREADS_MAX = 16  # units worked on at once in one process
POOL = 2 * THREADS_MAX + 4  # connections a process keeps at most, opened as they are wanted (systems R14)
CONNECT_S = 10
LOCK_MS = 30_000  # another process's longest write is far below this
STATEMENT_MS = 300_000  # the longest are an export and an index over everything; a hung one ends
IDLE_MS = 30_000  # a process frozen inside a transaction lets go of its locks (systems hole 43)
VERSION_MIN = 14

# A peer that vanished without a word is noticed within a minute; libpq ignores these on a Unix socket.
_NETWORK = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3, "tcp_user_timeout": 60_000}
_SESSION = f"SET timezone = 'UTC'; SET lock_timeout = {LOCK_MS}; SET statement_timeout = {STATEMENT_MS}; SET idle_in_transaction_session_timeout = {IDLE_MS}"
_READER = "; SET default_transaction_read_only = on"


def postgres_engines(url: URL) -> Engines:
    """Engines of two pools: writers see what is committed, statement by statement; readers see one snapshot a transaction and cannot write.

    Raises Refused when the driver is not installed.
    """
    where = name_of(url)
    try:
        write = _engine(url, "READ COMMITTED", _SESSION)
        read = _engine(url, "REPEATABLE READ", _SESSION + _READER)
    except ImportError as error:
        raise Refused(f"{where} is a PostgreSQL database, which needs the driver psycopg, the extra postgres: pip install 'psycopg[binary]'") from error
    return Engines(write, read, where)


def require_usable(conn: Connection, where: str) -> None:
    """Refuse a server too old for the schema and a database that cannot keep any language."""
    version = conn.dialect.server_version_info or ()
    if version < (VERSION_MIN,):
        raise StoreMisplaced(where, f"is on PostgreSQL {'.'.join(map(str, version))}; dreamd needs {VERSION_MIN} or newer")
    encoding = conn.scalar(text("SHOW server_encoding"))
    if encoding != "UTF8":
        raise StoreMisplaced(where, f"keeps text as {encoding}, which has no room for every language; make the database with ENCODING 'UTF8'")


def name_of(url: URL) -> str:
    """Host and database, as messages name them: no user, no password, no options (which may hold one)."""
    named = url.query.get("host", ())
    host = url.host or (named if isinstance(named, str) else ",".join(named)) or "localhost"
    port = f":{url.port}" if url.port else ""
    return f"postgresql://{host}{port}/{url.database or ''}"


def _engine(url: URL, isolation: str, session: str) -> Engine:
    engine = sharing_engine(
        url, isolation_level=isolation, pool_size=POOL, max_overflow=4, pool_use_lifo=True, connect_args=_arguments(url.query),
        hide_parameters=True,  # and _quiet: what a driver's error says of a row reaches a log, and the row may be what somebody said
        execution_options={"preserve_rowcount": True},  # a compare-and-swap counts the rows of many inserts at once
    )  # fmt: skip

    @event.listens_for(engine, "connect")
    def connect(dbapi: Any, _record: object) -> None:
        dbapi.autocommit = True
        dbapi.execute(session)
        dbapi.autocommit = False

    @event.listens_for(engine, "checkout")
    def checkout(dbapi: Any, _record: object, _proxy: object) -> None:
        if not _stands(engine, dbapi):
            raise DisconnectionError  # the pool opens another one

    event.listen(engine, "handle_error", _quiet)
    return engine


def _stands(engine: Engine, dbapi: Any) -> bool:
    """Whether a connection that stood idle is still one: after a restart of the server each would cost a piece of work to find out.

    It costs no round trip: a server that ended a connection has said so, and only where it said something unasked it is asked back.
    """
    try:
        look = select.poll()
        look.register(dbapi.fileno(), select.POLLIN)
        if look.poll(0):
            engine.dialect.do_ping(dbapi)
    except engine.dialect.loaded_dbapi.Error:
        return False
    return True


def _arguments(query: Mapping[str, object]) -> dict[str, object]:
    """What libpq is told where the URL does not say."""
    wanted: dict[str, object] = {"connect_timeout": CONNECT_S, "application_name": "dreamd", "client_encoding": "utf8", **_NETWORK}
    return {name: value for name, value in wanted.items() if name not in query}


def _quiet(context: ExceptionContext) -> None:
    """Leave the server's first line of an error and drop its details: they repeat the row."""
    error = context.original_exception
    primary = getattr(getattr(error, "diag", None), "message_primary", None)
    if primary is None or context.sqlalchemy_exception is None:
        return
    whole = str(error)
    error.args = (primary,)
    context.sqlalchemy_exception.args = tuple(str(arg).replace(whole, primary) for arg in context.sqlalchemy_exception.args)
