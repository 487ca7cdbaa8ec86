"""Taking a log's new part in: its turns, its bad spans, its archive segments and its cursor, in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from sqlalchemy import Connection, select, update

from pipelines.errors import Conflict
from pipelines.model import SessionInfo, Turn
from pipelines.ports import IntakeBatch, Seen, SourceState
from pipelines.store import tables as t
from pipelines.store.codec import session_out, turn_row
from pipelines.store.core import Core, add, add_new, chunks, insert_new, put
from pipelines.store.online import append_notes
from pipelines.store.types import dump, load
from pipelines.store.values import Receipt

_SET = 1 << 160  # session digests are sums of row digests modulo this


class Intake(Core):
    """Sources and their cursors."""

    def seen_files(self, scope: str) -> Mapping[str, Seen]:
        """Every file of the scope as it was last looked at, by path."""
        c = t.files.c
        query = select(c.path, c.size, c.mtime_ns, c.inode, c.identity)
        with self.reading("list the files") as conn:
            rows = conn.execute(query.where(c.scope_id == self.scope_of(conn, scope)))
            return {r.path: Seen(path=r.path, size=r.size, mtime_ns=r.mtime_ns, inode=int(r.inode), identity=r.identity) for r in rows}

    def touch(self, scope: str, seen: Seen) -> None:
        """Remember how a file looks now, when nothing else about it is new."""
        with self.writing("remember a file") as conn:
            _see(conn, self.locked_scope(conn, scope), seen)

    def source(self, scope: str, identity: str) -> SourceState | None:
        """How far a source has been taken in."""
        c = t.sources.c
        with self.reading("read a source") as conn:
            row = conn.execute(select(t.sources).where(c.scope_id == self.scope_of(conn, scope), c.identity == identity)).one_or_none()
        if row is None:
            return None
        return SourceState(
            identity=row.identity, format=row.format, generation=row.generation, offset=row.offset, line=row.line, head_mac=row.head_mac,
            tail_mac=row.tail_mac, pending=row.pending, carry=cast(Mapping[str, object], load(row.carry)),
        )  # fmt: skip

    def commit_intake(self, scope: str, batch: IntakeBatch) -> Receipt:
        """Store one file's new part and move its cursor. Raises Conflict when the cursor no longer stands where the batch was read from."""
        with self.writing(f"take in {batch.seen.path}") as conn:
            scope_id = self.locked_scope(conn, scope)
            source = _move_cursor(conn, scope_id, batch)
            generation = batch.after.generation
            ids = _add_sessions(conn, scope_id, source, batch)
            known = _add_turns(conn, scope_id, batch.turns)
            _note_members(conn, scope_id, ids, batch.turns, known)
            _add_occurrences(conn, scope_id, source, generation, ids, batch.turns, known)
            place = {"scope_id": scope_id, "source_id": source, "generation": generation}
            add(conn, t.segments, [{**place, "offset": s.offset, "length": s.length, "blob": s.blob, "raw_mac": s.raw_mac,
                                    "mask_version": batch.mask_version} for s in batch.segments])  # fmt: skip
            add_new(conn, t.bad_spans, [{**place, "offset": b.place.offset, "length": b.place.length, "line": b.place.line, "reason": b.reason}
                                    for b in batch.bad])  # fmt: skip
            append_notes(conn, scope_id, batch.notes, source=source, at=self.now())
            _see(conn, scope_id, batch.seen)
        said = len({(turn.uid, what) for turn, what in zip(batch.turns, known.digests, strict=True)})
        return Receipt(new_turns=len(known.new), known_turns=said - len(known.new), sessions=tuple(sorted(ids)))


@dataclass(frozen=True, slots=True)
class _Known:
    """The stored rows of every uid of a batch, as digest -> row id; which rows and uids the batch brought; the row of each of its turns."""

    rows: Mapping[str, Mapping[str, int]]
    new: frozenset[tuple[str, str]]
    old_uids: frozenset[str]
    digests: Sequence[str]


def _see(conn: Connection, scope_id: int, seen: Seen) -> None:
    row = {"scope_id": scope_id, "path": seen.path, "size": seen.size, "mtime_ns": seen.mtime_ns, "inode": str(seen.inode), "identity": seen.identity}
    put(conn, t.files, ("scope_id", "path"), [row])


def _move_cursor(conn: Connection, scope_id: int, batch: IntakeBatch) -> int:
    """Compare and swap on (generation, offset); returns the source's row id."""
    after, c = batch.after, t.sources.c
    where = (c.scope_id == scope_id, c.identity == after.identity)
    moved = {
        "format": after.format, "generation": after.generation, "offset": after.offset, "line": after.line, "head_mac": after.head_mac,
        "tail_mac": after.tail_mac, "pending": after.pending, "carry": dump(dict(after.carry)),
    }  # fmt: skip
    if batch.expected is None:
        values = {"scope_id": scope_id, "identity": after.identity, "redacted": batch.redacted, **moved}
        done = conn.execute(insert_new(conn, t.sources).values(values)).rowcount
    else:
        generation, offset = batch.expected
        at = (c.generation == generation, c.offset == offset)
        done = conn.execute(update(t.sources).where(*where, *at).values(**moved, redacted=c.redacted + batch.redacted)).rowcount
    if done != 1:
        raise Conflict(f"{batch.seen.path} was taken in by another process meanwhile; read it again from its new cursor")
    source: int = conn.execute(select(c.id).where(*where)).scalar_one()
    return source


def _add_sessions(conn: Connection, scope_id: int, source: int, batch: IntakeBatch) -> dict[str, int]:
    """Ids of all sessions the batch names. What a source says of a session is kept field by field, its last word counting."""
    told: dict[str, SessionInfo] = {s.uid: s for s in batch.sessions}
    formats = {turn.session: batch.after.format for turn in batch.turns} | {uid: info.format for uid, info in told.items()}
    add_new(conn, t.sessions, [{"scope_id": scope_id, "uid": uid, "format": form} for uid, form in sorted(formats.items())])
    ids = _ids(conn, scope_id, formats)
    c = t.session_infos.c
    mine = select(c.session_id, c.info).where(c.source_id == source, c.scope_id == scope_id)
    before = {r.session_id: r.info for part in chunks(sorted(ids.values())) for r in conn.execute(mine.where(c.session_id.in_(part)))}
    rows = []
    for uid, info in sorted(told.items()):
        old = cast(dict[str, Any], load(before.get(ids[uid], "{}")))
        new = session_out(info)
        extra = {**old.get("extra", {}), **new.get("extra", {})}
        merged = {**old, **new, **({"extra": extra} if extra else {})}
        rows.append({"scope_id": scope_id, "session_id": ids[uid], "source_id": source, "info": dump(merged)})
    put(conn, t.session_infos, ("session_id", "source_id"), rows)
    return ids


def _ids(conn: Connection, scope_id: int, uids: Iterable[str]) -> dict[str, int]:
    c = t.sessions.c
    found: dict[str, int] = {}
    for part in chunks(sorted(uids)):
        found.update((r.uid, r.id) for r in conn.execute(select(c.uid, c.id).where(c.scope_id == scope_id, c.uid.in_(part))))
    return found


def _add_turns(conn: Connection, scope_id: int, turns: Sequence[Turn]) -> _Known:
    """Store what is said for the first time. The scope's row is locked, so nobody else adds the same turn in between."""
    rows = [turn_row(turn) for turn in turns]
    stored = _stored(conn, scope_id, {turn.uid for turn in turns})
    new = {(r["uid"], r["digest"]): {"scope_id": scope_id, **r} for r in rows if r["digest"] not in stored.get(r["uid"], ())}
    add(conn, t.turns, list(new.values()))
    after = {**stored, **_stored(conn, scope_id, {uid for uid, _ in new})}
    return _Known(after, frozenset(new), frozenset(stored), [r["digest"] for r in rows])


def _stored(conn: Connection, scope_id: int, uids: Iterable[str]) -> dict[str, dict[str, int]]:
    """Every stored row of the uids: digest -> row id."""
    c = t.turns.c
    found: dict[str, dict[str, int]] = {}
    for part in chunks(sorted(uids)):
        for r in conn.execute(select(c.id, c.uid, c.digest).where(c.scope_id == scope_id, c.uid.in_(part))).all():  # all at once: half the time
            found.setdefault(r.uid, {})[r.digest] = r.id
    return found


def _add_occurrences(conn: Connection, scope_id: int, source: int, generation: int, ids: Mapping[str, int], turns: Sequence[Turn], known: _Known) -> None:
    rows = [
        {
            "scope_id": scope_id, "turn_id": known.rows[turn.uid][what], "session_id": ids[turn.session], "source_id": source, "ordinal": turn.ordinal,
            "parent": turn.parent, "generation": generation, "offset": turn.place.offset, "length": turn.place.length, "line": turn.place.line,
        }
        for turn, what in zip(turns, known.digests, strict=True)
    ]  # fmt: skip
    add_new(conn, t.occurrences, rows)


# --- what a session holds ----------------------------------------------------------------------------------------------------------------


def _note_members(conn: Connection, scope_id: int, ids: Mapping[str, int], turns: Sequence[Turn], known: _Known) -> None:
    """Bring the digests of turn sets up to date, at the cost of the batch and not of the session.

    A session holds every row of every uid that stands in it, wherever that row came from: a longer snapshot found in a copy changes what the session
    says. Its digest is the sum of the digests of its rows, so it depends on the set alone. Called before the batch's occurrences are written.
    """
    member = _members(conn, scope_id, known.old_uids)
    added: dict[int, set[str]] = {}  # session -> digests of rows it gains
    grown: dict[int, set[str]] = {}  # session -> uids new to it
    for turn in turns:
        session = ids[turn.session]
        if session not in member.get(turn.uid, ()):
            grown.setdefault(session, set()).add(turn.uid)
            added.setdefault(session, set()).update(known.rows[turn.uid])
    for uid, what in known.new:
        for session in member.get(uid, ()):
            added.setdefault(session, set()).add(what)
    _save_heads(conn, scope_id, ids, added, grown, _first_times(ids, turns))


def _members(conn: Connection, scope_id: int, uids: Iterable[str]) -> dict[str, set[int]]:
    """The sessions each uid already stands in."""
    found: dict[str, set[int]] = {}
    o, c = t.occurrences.c, t.turns.c
    for part in chunks(sorted(uids)):
        query = select(c.uid, o.session_id).join_from(t.turns, t.occurrences, o.turn_id == c.id).where(c.scope_id == scope_id, c.uid.in_(part)).distinct()
        for r in conn.execute(query):
            found.setdefault(r.uid, set()).add(r.session_id)
    return found


def _first_times(ids: Mapping[str, int], turns: Sequence[Turn]) -> dict[int, datetime]:
    first: dict[int, datetime] = {}
    for turn in turns:
        if turn.at is not None:
            session = ids[turn.session]
            first[session] = min(turn.at, first.get(session, turn.at))
    return first


def _save_heads(
    conn: Connection, scope_id: int, ids: Mapping[str, int], added: Mapping[int, set[str]], grown: Mapping[int, set[str]], first: Mapping[int, datetime]
) -> None:
    touched = sorted({*ids.values(), *added})
    c = t.session_heads.c
    before = {r.session_id: r for part in chunks(touched) for r in conn.execute(select(t.session_heads).where(c.session_id.in_(part)))}
    rows = []
    for session in touched:
        old = before.get(session)
        total = (int(old.digest, 16) if old else 0) + sum(int(what, 16) for what in added.get(session, ()))
        times = [at for at in (old.started_at if old else None, first.get(session)) if at is not None]
        count = (old.turns if old else 0) + len(grown.get(session, ()))
        rows.append({"scope_id": scope_id, "session_id": session, "digest": f"{total % _SET:040x}", "turns": count, "started_at": min(times, default=None)})
    put(conn, t.session_heads, ("session_id",), rows)
