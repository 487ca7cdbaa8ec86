"""Writing the rows of what is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, fields
from typing import Any

from sqlalchemy import Connection, Table, delete, insert

from pipelines.store import tables as t
from pipelines.store.core import add, chunks, put
from pipelines.store.shown import PageWords, Shown, ShownPage
from pipelines.store.types import storable


def save_shown(conn: Connection, scope_id: int, shown: Shown) -> None:
    """Put these rows in the place of those of the same keys, and take away what is gone."""
    i, r, p, link = t.shown_items.c, t.shown_rests.c, t.shown_pages.c, t.shown_links.c
    for part in chunks(sorted(shown.items_gone)):
        conn.execute(delete(t.shown_items).where(i.scope_id == scope_id, i.uid.in_(part)))
    _put(conn, t.shown_items, scope_id, ("scope_id", "uid"), shown.items)
    for part in chunks(sorted({*shown.rests, *shown.items_gone})):
        conn.execute(delete(t.shown_rests).where(r.scope_id == scope_id, r.uid.in_(part)))
    add(conn, t.shown_rests, [{"scope_id": scope_id, "rests_on": on, "uid": uid} for uid, things in sorted(shown.rests.items()) for on in sorted(things)])
    for topic, n in sorted(shown.pages_gone):
        conn.execute(delete(t.shown_pages).where(p.scope_id == scope_id, p.topic == storable(topic), p.part == n))
    _put_pages(conn, scope_id, shown.pages)
    for part in chunks(sorted(map(storable, shown.links))):
        conn.execute(delete(t.shown_links).where(link.scope_id == scope_id, link.source.in_(part)))
    add(conn, t.shown_links, [{"scope_id": scope_id, **_fields(one)} for _, links in sorted(shown.links.items()) for one in links])
    _put(conn, t.shown_sessions, scope_id, ("session_id",), shown.sessions)
    infos = [dict(zip(("session_id", "source_id", "generation", "info"), row, strict=True)) for row in shown.infos]
    put(conn, t.shown_infos, ("session_id", "source_id"), [{"scope_id": scope_id, **row} for row in infos])


def _put(conn: Connection, table: Table, scope_id: int, keys: Sequence[str], rows: Sequence[Any]) -> None:
    put(conn, table, keys, [{"scope_id": scope_id, **_fields(row)} for row in rows])


def _put_pages(conn: Connection, scope_id: int, pages: Sequence[tuple[ShownPage, PageWords | None]]) -> None:
    """Pages with their words; of those whose words did not change only the rest."""
    whole = [{"scope_id": scope_id, **_fields(page), **_fields(words)} for page, words in pages if words is not None]
    put(conn, t.shown_pages, ("scope_id", "topic", "part"), whole)
    c = t.shown_pages.c
    for page in (page for page, words in pages if words is None):
        values = {k: v for k, v in _fields(page).items() if k not in {"topic", "part"}}
        done = conn.execute(t.shown_pages.update().where(c.scope_id == scope_id, c.topic == storable(page.topic), c.part == page.part).values(**values))
        if not done.rowcount:
            conn.execute(insert(t.shown_pages), {"scope_id": scope_id, **_fields(page), "words": "", "body": "", "targets": "[]"})


def _fields(row: Any) -> dict[str, Any]:
    return dict(zip((f.name for f in fields(row)), astuple(row), strict=True))
