"""What is shown, kept as rows: notes as pages show them, pages with their names and links, sessions of the work log; and which sessions share turns. All of it can be made again.

Every change adds a table or an index, so that code of the schema before goes on working beside it.
"""

from __future__ import annotations

from typing import Any

from alembic import op
from sqlalchemy import Boolean, Column, ForeignKey, ForeignKeyConstraint, Index, MetaData, Table, UniqueConstraint

from pipelines.store.types import Content, Id, Text, Utc

revision = "0003"
down_revision = "0002"

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
_OLD = tuple(
    Table(name, metadata, Column("id", Id, primary_key=True), *([] if name == "scopes" else [Column("scope_id", Id)]), info={"change": "mutable"})
    for name in ("scopes", "sessions", "sources")
)

renders = walled(
    "renders", "mutable", word("renderer"), number("rev"), word("marks"), content("aside"), unique("scope_id"),
)  # fmt: skip
shown_items = walled(
    "shown_items", "mutable", word("uid"), word("sentence"), flag("lead"), flag("carried"), flag("live"), flag("placed"), content("key"), content("subject"),
    flag("named"), content("pin"), content("forms"), word("shelf"), content("root"), content("topic"), number("part"), number("oldest", null=True), number("newest", null=True),
    number("position"), word("waits"), word("reason"), word("queue_rank"), word("section"), word("brief_rank"), word("said"), flag("checked"),
    flag("indexed"), number("upper_lines"), number("upper_bytes"), number("lines", null=True), number("size", null=True), word("mark"), content("raw"),
    content("body"), unique("scope_id", "uid"), Index(None, "scope_id", "sentence"), Index(None, "scope_id", "topic"), Index(None, "scope_id", "root"), Index(None, "scope_id", "key"),
    Index(None, "scope_id", "waits", "queue_rank"), Index(None, "scope_id", "section", "brief_rank"), Index(None, "scope_id", "newest"),
    Index(None, "scope_id", "carried"),
)  # fmt: skip
shown_rests = walled(
    "shown_rests", "mutable", word("rests_on"), word("uid"), unique("scope_id", "rests_on", "uid"), Index(None, "scope_id", "uid"),
)  # fmt: skip
shown_pages = walled(
    "shown_pages", "mutable", content("topic"), number("part"), word("sort"), flag("live"), content("title"), content("path"), content("slug"), content("begin"), content("aliases"),
    content("names"), content("hook"), content("line"), flag("archived"), number("bytes"), word("mark"), word("links_mark"), content("words"), content("body"),
    content("targets"), unique("scope_id", "topic", "part"),
)  # fmt: skip
shown_links = walled(
    "shown_links", "mutable", content("source"), content("target"), number("mentions"), flag("leads"), unique("scope_id", "source", "target"),
    Index(None, "scope_id", "target"),
)  # fmt: skip
shown_sessions = walled(
    "shown_sessions", "mutable", number("session_id"), word("digest"), instant("started_at", null=True), instant("first_at", null=True),
    instant("last_at", null=True), content("folder"), word("work_mark"), content("work"), unique("session_id"), wall("session_id", "sessions"),
    Index(None, "scope_id", "last_at"),
)  # fmt: skip
shown_infos = walled(
    "shown_infos", "mutable", number("session_id"), number("source_id"), number("generation"), content("info"), unique("session_id", "source_id"),
    wall("session_id", "sessions"), wall("source_id", "sources"),
)  # fmt: skip
kin_marks = walled("kin_marks", "mutable", number("occurrence"), unique("scope_id"))
kin_links = walled(
    "kin_links", "mutable", number("session_id"), number("other_id"), unique("scope_id", "session_id", "other_id"), wall("session_id", "sessions"),
    wall("other_id", "sessions"),
)  # fmt: skip
kin_runs = walled(
    "kin_runs", "mutable", number("session_id"), word("run"), unique("scope_id", "run", "session_id"), Index(None, "session_id"), wall("session_id", "sessions"),
)  # fmt: skip


def upgrade() -> None:
    metadata.create_all(op.get_bind(), tables=[t for t in metadata.sorted_tables if t not in _OLD], checkfirst=False)
    op.create_index("ix_pages_slug_fold", "pages", ["scope_id", "slug_fold"])
    op.create_index("ix_page_versions_slug", "page_versions", ["scope_id", "slug"])
