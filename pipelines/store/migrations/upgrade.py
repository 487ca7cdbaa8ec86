"""Bring a store to the newest schema in one transaction: half an upgrade is never visible, and two processes that start together do it once."""

from __future__ import annotations

import secrets
from datetime import datetime
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, insert, select, text, update

from pipelines.store import tables as t
from pipelines.store.core import REPLAYS, Engines
from pipelines.store.faults import TakenBack, translated
from pipelines.store.schema import HEAD, OLDEST, schema_version

LOCK = 0x64726561  # PostgreSQL advisory lock of an upgrade ("drea")
_WAIT_MS = 600_000  # for another process's upgrade


def upgrade(engines: Engines, *, created_at: datetime) -> None:
    """Migrate to HEAD; a new store draws its epoch and pepper here.

    Processes of the code before may be at work meanwhile: each change waits for their transactions, which are short, and they for this one. Should both
    wait for one another, the server ends one of them, and this is done again.
    """
    for left in reversed(range(REPLAYS)):
        try:
            with translated("migrate the store", engines.where):
                return _upgrade(engines, created_at)
        except TakenBack:
            if not left:
                raise


def _upgrade(engines: Engines, created_at: datetime) -> None:
    with engines.write.begin() as conn:  # BEGIN IMMEDIATE on SQLite: whoever comes second finds the work done
        if conn.dialect.name == "postgresql":
            conn.execute(text(f"SET LOCAL lock_timeout = {_WAIT_MS}"))
            conn.execute(text("SET LOCAL statement_timeout = 0"))
            conn.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
        found = schema_version(conn, engines.where)
        if found is not None and found >= HEAD:
            return
        command.upgrade(config(conn), HEAD)
        if conn.scalar(select(t.store.c.id)) is None:
            conn.execute(insert(t.store), {"epoch": secrets.token_hex(8), "pepper": secrets.token_bytes(32), "created_at": created_at})
        conn.execute(update(t.store).values(oldest_code=OLDEST))


def config(conn: Connection | None = None) -> Config:
    """Alembic's settings, without a file."""
    made = Config()
    made.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    made.attributes["connection"] = conn
    return made
