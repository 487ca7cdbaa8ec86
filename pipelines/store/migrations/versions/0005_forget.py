"""Forgetting: receipts, tombstones that keep a log from being learnt again, what is still to be cleaned out of files, and how often a scope forgot.

Every change adds, so that code of the schema before goes on working beside it; a store in which something was forgotten refuses that code from then on,
since it knows no tombstones (`Forget`).
"""

from __future__ import annotations

from typing import Any

from alembic import op
from sqlalchemy import Column, ForeignKey, MetaData, Table, UniqueConstraint, text

from pipelines.store.triggers import append_only, statements
from pipelines.store.types import Id, Text, Utc

revision = "0005"
down_revision = "0004"

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def word(name: str, *, null: bool = False) -> Column[str]:
    return Column(name, Text, nullable=null)


def number(name: str, *, null: bool = False) -> Column[int]:
    return Column(name, Id, nullable=null)


def instant(name: str, *, null: bool = False) -> Column[Any]:
    return Column(name, Utc, nullable=null)


def keyed(name: str) -> Column[str]:
    return Column(name, Text, nullable=False)


def row_id() -> Column[int]:
    return Column("id", Id, primary_key=True, autoincrement=True)


def walled(name: str, change: str, *items: Any, target: bool = False) -> Table:
    scope = Column("scope_id", Id, ForeignKey("scopes.id"), nullable=False)
    keys = [UniqueConstraint("scope_id", "id")] if target else []
    return Table(name, metadata, row_id(), scope, *items, *keys, info={"change": change}, sqlite_autoincrement=True)


unique = UniqueConstraint

# what new tables point at
_OLD = Table("scopes", metadata, Column("id", Id, primary_key=True), info={"change": "mutable"})

forgets = walled(
    "forgets", "append", word("uid"), keyed("selector"), word("how"), word("counts"), word("hand"), instant("recorded_at"), unique("scope_id", "uid"),
)  # fmt: skip
tombstones = walled(
    "tombstones", "mutable", word("forget"), word("kind"), keyed("mac"), number("words"), unique("scope_id", "kind", "mac", "forget"),
)  # fmt: skip
leftovers = walled("leftovers", "mutable", word("what"), word("name"), unique("scope_id", "what", "name"))


def upgrade() -> None:
    bind = op.get_bind()
    op.add_column("scopes", Column("forget_epoch", Id, nullable=False, server_default=text("0")))
    metadata.create_all(bind, tables=[t for t in metadata.sorted_tables if t is not _OLD], checkfirst=False)
    for table in append_only(metadata):
        for statement in statements(table.name, table.info["change"], bind.dialect.name):
            op.execute(statement)
