"""Turns and archived bytes as they are under other rules for secrets: the same length, the same place, other words where a secret stands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from sqlalchemy import Connection, delete, insert, select

from pipelines.model import digest
from pipelines.store import tables as t
from pipelines.store.codec import instant_out
from pipelines.store.core import add_new, chunks
from pipelines.store.reach import Choice, Reach, take_claims, take_notes
from pipelines.store.types import dump, load
from pipelines.text.traces import Traces, words_of

SECRET_MIN = 8
"""Characters of the shortest secret that is looked for in what was derived: a shorter one would be found in words that are none."""
_PIECE = re.compile(rb"[^\s\"'`,;()<>]+")


class Archive(Protocol):
    """What masking needs of the archive."""

    def put(self, data: bytes) -> str: ...
    def get(self, address: str) -> bytes: ...


class Masked:
    """What changes in a scope by other rules: `turns` by row id, with their new body and detail, and `blobs` by address, with their new bytes."""

    def __init__(self, conn: Connection, scope_id: int, mask: Callable[[bytes], bytes]) -> None:
        self.conn, self.scope_id, self.mask = conn, scope_id, mask
        self.turns: dict[int, tuple[str, str]] = {}
        self.blobs: dict[str, bytes] = {}
        self._secrets: set[tuple[str, ...]] = set()

    def reach(self, archive: Archive) -> Reach:
        """The turns that change, and all that was derived from them or holds a secret found in them."""
        found = Reach()
        c, o, g, n = t.turns.c, t.occurrences.c, t.segments.c, t.online_notes.c
        for row in self.conn.execute(select(c.id, c.uid, c.body, c.detail).where(c.scope_id == self.scope_id)).all():
            body, detail = self._text(row.body), self._json(row.detail)
            if (body, detail) != (row.body, row.detail):
                self.turns[row.id], found.turns[row.id] = (body, detail), row.uid
        for part in chunks(sorted(self.turns)):
            found.touched |= set(self.conn.scalars(select(o.session_id).where(o.turn_id.in_(part))))
        for address in sorted(set(self.conn.scalars(select(g.blob).where(g.scope_id == self.scope_id)))):
            data = archive.get(address)
            if (masked := self.mask(data)) != data:
                self.blobs[address] = masked
        for uid, body in self.conn.execute(select(n.uid, n.body).where(n.scope_id == self.scope_id)).all():
            if self._json(body) != body:
                found.online.add(uid)
        found.words = found.names = Traces(phrases=frozenset(self._secrets))
        take_claims(self.conn, self.scope_id, found)
        for part in chunks(sorted(found.touched)):
            found.again |= set(self.conn.scalars(select(t.sessions.c.uid).where(t.sessions.c.id.in_(part))))
        take_notes(self.conn, self.scope_id, Choice(), found)
        return found

    def replace_turns(self) -> None:
        """Put each turn that changes in its own place: the same row id and uid, under the digest of its new words. Within the door."""
        c, o = t.turns.c, t.occurrences.c
        for turn, (body, detail) in sorted(self.turns.items()):
            old = self.conn.execute(select(t.turns).where(c.id == turn)).one()
            places = [_row(r, t.occurrences, "id", "turn_id") for r in self.conn.execute(select(t.occurrences).where(o.turn_id == turn)).all()]
            self.conn.execute(delete(t.occurrences).where(o.turn_id == turn))
            self.conn.execute(delete(t.turns).where(c.id == turn))
            what = digest(old.uid, old.snap, old.role, old.origin, instant_out(old.event_at) or "", old.zone or "", body, detail)
            add_new(self.conn, t.turns, [{**_row(old, t.turns), "body": body, "detail": detail, "digest": what}])
            new = self.conn.execute(select(c.id).where(c.scope_id == self.scope_id, c.uid == old.uid, c.digest == what)).scalar_one()
            add_new(self.conn, t.occurrences, [{**place, "turn_id": new} for place in places])

    def replace_blobs(self, archive: Archive) -> int:
        """Point the segments at masked blobs; returns how many blobs that were. Within the door."""
        g = t.segments.c
        for address, data in sorted(self.blobs.items()):
            rows = self.conn.execute(select(t.segments).where(g.scope_id == self.scope_id, g.blob == address)).all()
            new = archive.put(data)
            for row in rows:
                self.conn.execute(delete(t.segments).where(g.id == row.id))
                self.conn.execute(insert(t.segments), {**_row(row, t.segments, "id"), "blob": new})
        return len(self.blobs)

    def _text(self, text: str) -> str:
        raw = text.encode("utf-8", "surrogatepass")
        masked = self.mask(raw)
        if masked == raw:
            return text
        self._secrets |= set(_secrets(raw, masked))
        return masked.decode("utf-8", "replace")

    def _json(self, told: str) -> str:
        """JSON with the secrets in its strings masked; as it is where there is none."""
        value = load(told)
        masked = self._value(value)
        return told if masked == value else dump(masked)

    def _value(self, value: object) -> object:
        match value:
            case str():
                return self._text(value)
            case list():
                return [self._value(item) for item in value]
            case dict():
                return {name: self._value(item) for name, item in value.items()}
            case _:
                return value


def _row(row: Any, table: Any, *but: str) -> dict[str, Any]:
    """A row's values by column."""
    return {c.name: getattr(row, c.name) for c in table.columns if c.name not in but}


def _secrets(raw: bytes, masked: bytes) -> Iterator[tuple[str, ...]]:
    """The words of what was masked: each piece between blanks and quotes that differs, and each long word in it that does."""
    for piece in _PIECE.finditer(raw):
        if raw[piece.start() : piece.end()] == masked[piece.start() : piece.end()]:
            continue
        words = words_of(piece.group().decode("utf-8", "replace"))
        if sum(map(len, words)) >= SECRET_MIN:
            yield tuple(words)
        hidden = set(words) - set(words_of(masked[piece.start() : piece.end()].decode("utf-8", "replace")))
        yield from ((word,) for word in hidden if len(word) >= SECRET_MIN)
