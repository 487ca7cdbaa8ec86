"""What stands beside turns and tells their words again: titles of sessions, readers' memories, what pages showed of sessions in the work log.

Once the turns of a session went by retention none of it says what they said. What pages of now show is rendered anew by whoever let go.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, cast

from sqlalchemy import Connection, delete, select, update

from pipelines.logs.forgotten import wordless
from pipelines.store import tables as t
from pipelines.store.core import add_new, chunks
from pipelines.store.requests import Requests
from pipelines.store.tombstones import PAGE, tomb
from pipelines.store.triggers import door
from pipelines.store.types import dump, load

BY_RETENTION = "retention"
"""What tombstones of page versions name in place of a forget: they keep what dreamd wrote from being taken for a person's edit."""


class Retold(Requests):
    """Old versions of pages, out of the store."""

    def drop_versions(self, scope: str, pages: Collection[str], *, heads: bool) -> int:
        """Drop the versions of pages by slug: with `heads` all of them, else but for the one that stands. Returns how many went; what a folder still shows of
        them is known as ours."""
        p, v = t.pages.c, t.page_versions.c
        with self.writing("drop old versions of pages") as conn, door(conn):
            scope_id = self.locked_scope(conn, scope)
            query = select(v.id, v.page_id, v.digest, v.seq, p.head_seq).join_from(t.page_versions, t.pages, p.id == v.page_id)
            rows = conn.execute(query.where(v.scope_id == scope_id, p.slug.in_(sorted(pages)))).all()
            gone = [row for row in rows if heads or row.seq != row.head_seq]
            stones = [{"scope_id": scope_id, "forget": BY_RETENTION, "kind": PAGE, "words": 0, "mac": tomb(self, PAGE, row.digest)} for row in gone]
            add_new(conn, t.tombstones, stones)
            for part in chunks(sorted((row.id for row in gone), reverse=True)):
                conn.execute(delete(t.page_versions).where(v.id.in_(part)))
            for part in chunks(sorted({row.page_id for row in gone}) if heads else []):
                conn.execute(delete(t.redirects).where(t.redirects.c.page_id.in_(part)))
                conn.execute(delete(t.pages).where(p.id.in_(part)))
            return len(gone)


def quiet(conn: Connection, sessions: Collection[int]) -> None:
    """Take titles and readers' memories of words away, of sessions that are over."""
    i, s = t.session_infos.c, t.sources.c
    for part in chunks(sorted(sessions)):
        for row in conn.execute(select(i.id, i.info).where(i.session_id.in_(part))).all():
            told = cast(dict[str, Any], load(row.info))
            if told.pop("title", None) is not None:
                conn.execute(update(t.session_infos).where(i.id == row.id).values(info=dump(told)))
    for source in _sources_of(conn, sessions):
        carry = cast(Mapping[str, object], load(conn.scalar(select(s.carry).where(s.id == source)) or "{}"))
        if (kept := wordless(carry)) != carry:
            conn.execute(update(t.sources).where(s.id == source).values(carry=dump(kept)))


def _sources_of(conn: Connection, sessions: Collection[int]) -> set[int]:
    """The sources in which only these sessions stand."""
    o = t.occurrences.c
    found: set[int] = set()
    for part in chunks(sorted(sessions)):
        found |= set(conn.scalars(select(o.source_id).where(o.session_id.in_(part)).distinct()))
    mixed: set[int] = set()
    for part in chunks(sorted(found)):
        rows = conn.execute(select(o.source_id, o.session_id).where(o.source_id.in_(part)).distinct())
        mixed |= {row.source_id for row in rows if row.session_id not in sessions}
    return found - mixed
