"""Money: answers of models, the calls that brought them, batches, budgets, and pauses of all calls.

Every change adds a table, so that code of the schema before goes on working beside it.
"""

from __future__ import annotations

from typing import Any

from alembic import op
from sqlalchemy import Boolean, Column, ForeignKey, ForeignKeyConstraint, Index, MetaData, Table, UniqueConstraint

from pipelines.store.triggers import append_only, statements
from pipelines.store.types import Content, Id, Text, Utc

revision = "0004"
down_revision = "0003"

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


def flag(name: str) -> Column[bool]:
    return Column(name, Boolean, nullable=False)


def instant(name: str, *, null: bool = False) -> Column[Any]:
    return Column(name, Utc, nullable=null)


def content(name: str, *, null: bool = False) -> Column[str]:
    return Column(name, Content, nullable=null)


def keyed(name: str) -> Column[str]:
    return Column(name, Text, nullable=False)


def row_id() -> Column[int]:
    return Column("id", Id, primary_key=True, autoincrement=True)


def wall(column: str, to: str) -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["scope_id", column], [f"{to}.scope_id", f"{to}.id"])


def walled(name: str, change: str, *items: Any, target: bool = False) -> Table:
    scope = Column("scope_id", Id, ForeignKey("scopes.id"), nullable=False)
    keys = [UniqueConstraint("scope_id", "id")] if target else []
    return Table(name, metadata, row_id(), scope, *items, *keys, info={"change": change}, sqlite_autoincrement=True)


unique = UniqueConstraint

# what new tables point at
_OLD = Table("scopes", metadata, Column("id", Id, primary_key=True), info={"change": "mutable"})

answers = walled(
    "answers", "forget", keyed("request_mac"), number("attempt"), word("stage"), word("prompt"), word("model"), content("response"), word("stop"),
    word("usage"), number("cost_uusd"), word("request_id"), word("inputs"), instant("recorded_at"), unique("scope_id", "request_mac", "attempt"),
)  # fmt: skip
batches = walled(
    "batches", "mutable", word("intent"), word("remote_id", null=True), word("state"), word("dream"), number("requests"), number("posts"),
    flag("adopted"), word("foreign_ids"), word("owner"), number("until_ms"), word("why"), instant("intended_at"), instant("posted_at", null=True),
    instant("ended_at", null=True), unique("intent"), Index(None, "state", "scope_id"), target=True,
)  # fmt: skip
calls = walled(
    "calls", "mutable", keyed("request_mac"), number("attempt"), word("state"), word("stage"), content("name"), word("model"), word("prompt"), word("dream"),
    word("day"), word("owner"), number("sent_ms"), number("until_ms", null=True), number("batch_id", null=True), word("custom_id", null=True),
    word("inputs", null=True), number("bound_uusd"), number("cost_uusd"), number("fresh"), number("written"), number("cached"), number("output"),
    word("request_id"), word("why"), instant("sent_at"), instant("ended_at", null=True), Index(None, "scope_id", "dream"),
    Index(None, "state", "scope_id"), Index(None, "batch_id", "custom_id"), wall("batch_id", "batches"),
)  # fmt: skip
Index(
    "ix_calls_one_sent", calls.c.scope_id, calls.c.request_mac, calls.c.attempt, unique=True,
    sqlite_where=calls.c.state == "sent", postgresql_where=calls.c.state == "sent",
)  # fmt: skip
budgets = Table(
    "budgets", metadata, row_id(), word("kind"), word("name"), number("limit_uusd", null=True), number("spent_uusd"), number("reserved_uusd"),
    number("presumed_uusd"), unique("kind", "name"), info={"change": "mutable"},
)  # fmt: skip
pauses = Table("pauses", metadata, row_id(), word("what"), word("why"), number("until_ms"), unique("what"), info={"change": "mutable"})


def upgrade() -> None:
    bind = op.get_bind()
    metadata.create_all(bind, tables=[t for t in metadata.sorted_tables if t is not _OLD], checkfirst=False)
    for table in append_only(metadata):
        for statement in statements(table.name, table.info["change"], bind.dialect.name):
            op.execute(statement)
