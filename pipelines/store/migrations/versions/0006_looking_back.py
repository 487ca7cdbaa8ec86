"""Looking back: by when turns were stored, and when a line of a note file is over by its own words.

Of turns that are there already it says that they were by the scope's last revision; lines that are there already have no end until they are written anew,
and go on falling out of date with the next dream. Every change adds, so that code of the schema before goes on working beside it.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, ForeignKey, MetaData, Table

from pipelines.store.triggers import statements
from pipelines.store.types import Id, Utc

revision = "0006"
down_revision = "0005"

metadata = MetaData(naming_convention={"fk": "fk_%(table_name)s_%(column_0_N_name)s", "pk": "pk_%(table_name)s", "ix": "ix_%(table_name)s_%(column_0_N_name)s"})
_OLD = Table("scopes", metadata, Column("id", Id, primary_key=True))
arrivals = Table(
    "arrivals", metadata, Column("id", Id, primary_key=True, autoincrement=True), Column("scope_id", Id, ForeignKey("scopes.id"), nullable=False),
    Column("upto", Id, nullable=False), Column("recorded_at", Utc, nullable=False), sqlite_autoincrement=True,
)  # fmt: skip
_SO_FAR = """INSERT INTO arrivals (scope_id, upto, recorded_at)
SELECT s.id, MAX(t.id), s.recorded_at FROM scopes AS s JOIN turns AS t ON t.scope_id = s.id GROUP BY s.id, s.recorded_at ORDER BY s.id"""


def upgrade() -> None:
    bind = op.get_bind()
    op.add_column("online_notes", Column("ends_at", Utc, nullable=True))
    op.create_index("ix_online_notes_scope_id_ends_at", "online_notes", ["scope_id", "ends_at"])
    metadata.create_all(bind, tables=[arrivals], checkfirst=False)
    op.create_index("ix_arrivals_scope_id_recorded_at", "arrivals", ["scope_id", "recorded_at"])
    op.execute(_SO_FAR)
    for statement in statements("arrivals", "append", bind.dialect.name):
        op.execute(statement)
