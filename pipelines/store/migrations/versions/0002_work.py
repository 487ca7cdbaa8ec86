"""Work: requests, stages, jobs, leases, schedules; a person's own words on pages; the archive inside the database.

Every change adds a table, a nullable column or one with a default, so that code of the schema before goes on working beside it.
"""

from __future__ import annotations

from typing import Any

from alembic import op
from sqlalchemy import Boolean, Column, Float, ForeignKey, ForeignKeyConstraint, Index, LargeBinary, MetaData, Table, UniqueConstraint, text

from pipelines.store.triggers import append_only, statements
from pipelines.store.types import Content, Id, Text, Utc

revision = "0002"
down_revision = "0001"

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


def counter(name: str) -> Column[int]:
    return Column(name, Id, nullable=False, server_default=text("0"))


def flag(name: str) -> Column[bool]:
    return Column(name, Boolean, nullable=False)


def instant(name: str, *, null: bool = False) -> Column[Any]:
    return Column(name, Utc, nullable=null)


def content(name: str, *, null: bool = False) -> Column[str]:
    return Column(name, Content, nullable=null)


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
_OLD = (
    Table("scopes", metadata, Column("id", Id, primary_key=True), info={"change": "mutable"}),
    Table("dreams", metadata, Column("id", Id, primary_key=True), Column("scope_id", Id), info={"change": "mutable"}),
)

requests = walled(
    "requests", "mutable", word("request_id"), word("params_mac"), word("cause"), word("hand"), number("dream_id", null=True), instant("recorded_at"),
    unique("scope_id", "request_id"), wall("dream_id", "dreams"),
)  # fmt: skip
stages = walled("stages", "mutable", number("dream_id"), word("stage"), number("open"), word("state"), unique("dream_id", "stage"), wall("dream_id", "dreams"))
jobs = walled(
    "jobs", "mutable", number("dream_id"), word("stage"), word("unit"), content("payload"), word("state"), number("fence"), word("owner", null=True),
    number("lease_ms", null=True), number("ttl_ms", null=True), number("deadline_ms", null=True), number("run_ms"), number("rung_ms", null=True),
    number("rings"), number("claims"), number("failures"), content("result", null=True), word("code"), content("error", null=True),
    unique("dream_id", "stage", "unit"), Index(None, "state", "run_ms"), Index(None, "dream_id", "state", "run_ms", "id"), wall("dream_id", "dreams"),
    target=True,
)  # fmt: skip
dirty_claims = walled("dirty_claims", "mutable", word("claim_uid"), word("why"), unique("scope_id", "claim_uid"))
own_words = walled(
    "own_words", "forget", word("wiki"), content("page"), content("body"), word("digest"), number("replaces", null=True), instant("recorded_at"),
    unique("replaces"), Index(None, "scope_id", "page"), wall("replaces", "own_words"), target=True,
)  # fmt: skip
blobs = walled(
    "blobs", "forget", word("address"), number("length"), Column("bytes", LargeBinary, nullable=False), unique("scope_id", "address"),
)  # fmt: skip
leases = Table(
    "leases", metadata, row_id(), word("kind"), content("name"), word("owner", null=True), number("fence"), number("until_ms"), number("ttl_ms"),
    unique("kind", "name"), info={"change": "mutable"}, sqlite_autoincrement=True,
)  # fmt: skip
schedules = walled(
    "schedules", "mutable", word("kind"), word("spec"), word("zone"), content("params"), instant("since"), word("last_slot", null=True), flag("active"),
    unique("scope_id", "kind"),
)  # fmt: skip
slots = walled(
    "slots", "append", word("schedule"), word("slot"), word("request_id", null=True), word("why"), instant("recorded_at"), unique("scope_id", "schedule", "slot"),
)  # fmt: skip
processes = Table(
    "processes", metadata, row_id(), word("name"), word("role"), instant("started_at"), number("seen_ms"), number("done"), number("failed"),
    number("finished_ms", null=True), unique("name"), info={"change": "mutable"},
)  # fmt: skip
rates = Table(
    "rates", metadata, row_id(), word("name"), Column("tokens", Float, nullable=False), number("filled_ms"), unique("name"),
    info={"change": "mutable"},
)  # fmt: skip
letters = Table(
    "letters", metadata, row_id(), word("door"), word("why"), content("body"), word("digest"), instant("recorded_at"), unique("door", "digest"),
    info={"change": "mutable"}, sqlite_autoincrement=True,
)  # fmt: skip
faults = Table(
    "faults", metadata, row_id(), word("code"), word("about"), instant("recorded_at"), info={"change": "mutable"}, sqlite_autoincrement=True,
)  # fmt: skip
audit = walled("audit", "append", word("uid"), word("verb"), word("hand"), word("about"), instant("recorded_at"), unique("scope_id", "uid"))

ADDED: dict[str, list[Column[Any]]] = {
    "store": [word("oldest_code", null=True)],
    "scopes": [counter("wanted"), counter("taken"), counter("claimed_ms")],
    "dreams": [
        word("phase", null=True), word("params_mac", null=True), word("slot", null=True), instant("requested_at", null=True), counter("replans"),
        counter("claimed_ms"), number("dirty_upto", null=True),
    ],
}  # fmt: skip


def upgrade() -> None:
    bind = op.get_bind()
    for name, columns in ADDED.items():
        for column in columns:
            op.add_column(name, column)
    op.create_index(
        "ix_dreams_one_pending", "dreams", ["scope_id", "params_mac"], unique=True,
        sqlite_where=text("state = 'pending'"), postgresql_where=text("state = 'pending'"),
    )  # fmt: skip
    op.create_index(
        "ix_dreams_one_slot", "dreams", ["scope_id", "slot"], unique=True, sqlite_where=text("slot IS NOT NULL"), postgresql_where=text("slot IS NOT NULL")
    )
    op.create_index("ix_dreams_state", "dreams", ["state", "scope_id"])
    made = [t for t in metadata.sorted_tables if t not in _OLD]
    metadata.create_all(bind, tables=made, checkfirst=False)
    for table in append_only(metadata):
        for statement in statements(table.name, table.info["change"], bind.dialect.name):
            op.execute(statement)
