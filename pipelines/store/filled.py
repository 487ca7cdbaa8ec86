"""Archived bytes of which only a part is kept: blanks of the same length stand in place of the rest, so that places stay what they are (systems hole 78)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Protocol

from sqlalchemy import Connection, delete, insert

from pipelines.logs.archive import blanked
from pipelines.store import tables as t
from pipelines.store.core import add_new

BLOB: Final = "blob"
"""What is left over: bytes in the archive, by address."""


class Archive(Protocol):
    """What filling needs of the archive."""

    def put(self, data: bytes) -> str: ...
    def get(self, address: str) -> bytes: ...


def fill(conn: Connection, scope_id: int, archive: Archive, row: Any, kept: Sequence[tuple[int, int]]) -> bool:
    """Point a segment at a blob that holds only these spans of its source, or drop it where it holds none; the old blob becomes a leftover. False when
    there is nothing to change. Within the door."""
    data = archive.get(row.blob)
    mine = [(max(a - row.offset, 0), min(b - row.offset, row.length)) for a, b in kept if a < row.offset + row.length and row.offset < b]
    filled = blanked(data, mine)
    if filled == data:
        return False
    conn.execute(delete(t.segments).where(t.segments.c.id == row.id))
    if mine:
        again = {c.name: getattr(row, c.name) for c in t.segments.columns if c.name not in {"id", "blob"}}
        conn.execute(insert(t.segments), {**again, "blob": archive.put(filled)})
    add_new(conn, t.leftovers, [{"scope_id": scope_id, "what": BLOB, "name": row.blob}])
    return True
