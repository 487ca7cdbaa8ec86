"""Retention: of which sessions lines, or their archived bytes, are no longer kept, up to which time and by which setting.

Every change adds, so that code of the schema before goes on working beside it.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, ForeignKey, ForeignKeyConstraint, MetaData, Table, UniqueConstraint

from pipelines.store.types import Id, Utc

revision = "0007"
down_revision = "0006"

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)
_SCOPES = Table("scopes", metadata, Column("id", Id, primary_key=True))
_SESSIONS = Table("sessions", metadata, Column("scope_id", Id, primary_key=True), Column("id", Id, primary_key=True))
retained = Table(
    "retained", metadata, Column("id", Id, primary_key=True, autoincrement=True), Column("scope_id", Id, ForeignKey("scopes.id"), nullable=False),
    Column("session_id", Id, nullable=False), Column("turns_until", Utc, nullable=True), Column("turns_days", Id, nullable=False),
    Column("turns", Id, nullable=False), Column("bytes_until", Utc, nullable=True), Column("bytes_days", Id, nullable=False),
    Column("recorded_at", Utc, nullable=False), UniqueConstraint("session_id"),
    ForeignKeyConstraint(["scope_id", "session_id"], ["sessions.scope_id", "sessions.id"]), sqlite_autoincrement=True,
)  # fmt: skip


def upgrade() -> None:
    metadata.create_all(op.get_bind(), tables=[retained], checkfirst=False)
