"""Of the several places a turn stands in and the several snapshots of it: which one counts. Never the one that happened to arrive first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, select

from pipelines.model import Basis, Place, Turn
from pipelines.ports import Occurrence
from pipelines.store import tables as t
from pipelines.store.codec import turn_of
from pipelines.store.core import CHUNK, chunks


def places(conn: Connection, scope_id: int | None, where: Any) -> list[Any]:
    """Places of turns with what decides between them."""
    o, c, s, src, h = t.occurrences.c, t.turns.c, t.sessions.c, t.sources.c, t.session_heads.c
    query = (
        select(
            c.uid, c.id.label("row"), s.uid.label("session"), o.ordinal, o.parent, o.generation, o.offset, o.length, o.line, src.identity.label("source"),
            src.generation.label("newest"), h.started_at,
        )
        .join_from(t.occurrences, t.turns, c.id == o.turn_id)
        .join(t.sessions, s.id == o.session_id)
        .join(t.sources, src.id == o.source_id)
        .join(t.session_heads, h.session_id == s.id)
    )  # fmt: skip
    return list(conn.execute(query.where(o.scope_id == scope_id, c.scope_id == scope_id, where)).all())


def said(conn: Connection, scope_id: int | None, uids: Iterable[str]) -> tuple[dict[str, Any], frozenset[int]]:
    """The row that counts of each uid (the longest text, then the greatest snap, then the greatest digest), and the ids of all rows that say its text.

    Only where such a row stands may the text be cited: another log may say something else under the same uid.
    """
    c = t.turns.c
    best: dict[str, Any] = {}
    rows: list[Any] = []
    for part in chunks(sorted(uids), CHUNK):
        rows += conn.execute(select(t.turns).where(c.scope_id == scope_id, c.uid.in_(part))).all()
    for row in rows:
        other = best.get(row.uid)
        if other is None or (len(other.body), other.snap, other.digest) < (len(row.body), row.snap, row.digest):
            best[row.uid] = row
    return best, frozenset(row.id for row in rows if row.body == best[row.uid].body)


def cited(conn: Connection, scope_id: int | None, uids: Iterable[str]) -> dict[str, tuple[Turn, str]]:
    """Turns as they stand where a page cites them, each with the identity of that source: only a line that holds the text that counts is cited for it.

    A time that is not theirs (`_imported`) is left out.
    """
    found: dict[str, tuple[Turn, str]] = {}
    for part in chunks(sorted(set(uids))):
        rows, saying = said(conn, scope_id, part)
        imported = _imported(conn, scope_id, part)
        for at in in_order(places(conn, scope_id, t.turns.c.uid.in_(part)), saying, cited_first):
            if at.uid not in found:
                turn = turn_at(rows[at.uid], at)
                found[at.uid] = (replace(turn, at=None) if (at.session, at.uid) in imported else turn, at.source)
    return found


def _imported(conn: Connection, scope_id: int | None, uids: Iterable[str]) -> frozenset[tuple[str, str]]:
    """Turns, each with its session, that state the time of their import, as the order of the session tells (`order_session`)."""
    o, s = t.turn_order.c, t.sessions.c
    query = select(s.uid, o.turn_uid).join_from(t.turn_order, t.sessions, s.id == o.session_id)
    return frozenset((r.uid, r.turn_uid) for r in conn.execute(query.where(o.scope_id == scope_id, o.turn_uid.in_(uids), o.basis == Basis.UNKNOWN.value)))


def in_order(stands: Iterable[Any], saying: frozenset[int], key: Callable[[Any], tuple[Any, ...]]) -> list[Any]:
    """Places that hold the text that counts before those that hold another, then by the key."""
    return sorted(stands, key=lambda at: (at.row not in saying, *key(at)))


def start(at: Any) -> tuple[bool, float]:
    return (at is None, at.timestamp() if at else 0.0)


def standing_first(row: Any) -> tuple[Any, ...]:
    """Within a session: the source as it is now before an older generation of it, then by identity and place."""
    return (row.generation != row.newest, row.ordinal, row.source, row.offset)


def cited_first(row: Any) -> tuple[Any, ...]:
    """Between sessions: the one that starts first, then its uid, then the place."""
    return (start(row.started_at), row.session, *standing_first(row))


def occurrence(row: Any) -> Occurrence:
    return Occurrence(turn=row.uid, session=row.session, ordinal=row.ordinal, source=row.source, generation=row.generation, place=_place(row))


def _place(row: Any) -> Place:
    return Place(line=row.line, offset=row.offset, length=row.length)


def turn_at(said: Any, at: Any) -> Turn:
    return turn_of(said, at.session, at.ordinal, at.parent, _place(at))
