"""Bring a store to the newest schema in one transaction: half an upgrade is never visible, and two processes that start together do it once."""

from __future__ import annotations

import secrets
from datetime import datetime
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, insert, select, text

from pipelines.store import tables as t
from pipelines.store.core import Engines
from pipelines.store.open import HEAD, schema_version

_LOCK = 0x64726561  # PostgreSQL advisory lock of an upgrade ("drea")


def upgrade(engines: Engines, *, created_at: datetime) -> None:
    """Migrate to HEAD; a new store draws its epoch and pepper here."""
    with engines.write.begin() as conn:  # BEGIN IMMEDIATE on SQLite: whoever comes second finds the work done
        if conn.dialect.name == "postgresql":
            conn.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        if schema_version(conn, engines.where) == HEAD:
            return
        command.upgrade(config(conn), HEAD)
        if conn.scalar(select(t.store.c.id)) is None:
            conn.execute(insert(t.store), {"epoch": secrets.token_hex(8), "pepper": secrets.token_bytes(32), "created_at": created_at})


def config(conn: Connection | None = None) -> Config:
    """Alembic's settings, without a file."""
    made = Config()
    made.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    made.attributes["connection"] = conn
    return made
