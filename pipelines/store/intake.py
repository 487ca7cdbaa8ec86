"""Taking a log's new part in: its turns, its bad spans, its archive segments and its cursor, in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from sqlalchemy import Connection, Update, bindparam, func, insert, select, update

from pipelines.errors import Conflict
from pipelines.model import SessionInfo, Turn
from pipelines.notes.privacy import SAID_TO
from pipelines.ports import IntakeBatch, Seen, SourceState
from pipelines.store import tables as t
from pipelines.store.codec import SPEAKERS, TurnRow, session_out, turn_row
from pipelines.store.core import Core, add, add_new, chunks, insert_new, put
from pipelines.store.filled import BLOB
from pipelines.store.online import append_notes
from pipelines.store.rows import add_rows
from pipelines.store.speakers import speakers_in, speakers_of
from pipelines.store.tombstones import require_epoch
from pipelines.store.types import dump, load, storable
from pipelines.store.unkept import is_husk
from pipelines.store.values import Receipt

SET = 1 << 160  # session digests are sums of row digests modulo this


def _seen(row: Any) -> Seen:
    return Seen(path=row.path, size=row.size, mtime_ns=row.mtime_ns, inode=int(row.inode), identity=row.identity)


class Intake(Core):
    """Sources and their cursors."""

    def seen_files(self, scope: str) -> Mapping[str, Seen]:
        """Every file of the scope as it was last looked at, by path."""
        c = t.files.c
        query = select(c.path, c.size, c.mtime_ns, c.inode, c.identity)
        with self.reading("list the files") as conn:
            rows = conn.execute(query.where(c.scope_id == self.scope_of(conn, scope)))
            return {r.path: _seen(r) for r in rows}

    def seen_file(self, scope: str, path: str) -> Seen | None:
        """One of them."""
        c = t.files.c
        query = select(c.path, c.size, c.mtime_ns, c.inode, c.identity)
        with self.reading("look up a file") as conn:
            row = conn.execute(query.where(c.scope_id == self.scope_of(conn, scope), c.path == path)).one_or_none()
            return None if row is None else _seen(row)

    def touch(self, scope: str, seen: Sequence[Seen]) -> None:
        """Remember how files look now about which nothing else is new."""
        with self.writing("remember files") as conn:
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
        return self.commit_batches(scope, (batch,))[0]

    def leave_refused(self, scope: str) -> bool:
        """Leave over the archived bytes of batches that were refused because something was forgotten meanwhile: they may hold it. To be called once what is
        left was taken in, since other bytes of them may be wanted by then; False when there are none."""
        names = {blob for of, blob in self.refused if of == scope}
        if names:
            with self.writing("leave over archived bytes") as conn:
                scope_id = self.locked_scope(conn, scope)
                add_new(conn, t.leftovers, [{"scope_id": scope_id, "what": BLOB, "name": name} for name in sorted(names)])
            self.refused.difference_update({(scope, name) for name in names})
        return bool(names)

    def commit_batches(self, scope: str, batches: Sequence[IntakeBatch]) -> tuple[Receipt, ...]:
        """`commit_intake` of several sources in one transaction: all of them, or none when one of their cursors has moved (Conflict)."""
        if len({b.after.identity for b in batches}) != len(batches):
            raise ValueError("one commit takes one batch a source: the second rests on the cursor the first one moves")
        turns = [turn for batch in batches for turn in batch.turns]
        rows = [turn_row(turn) for turn in turns]  # before the store is locked: others may write meanwhile
        with self.writing(f"take in {batches[0].seen.path}" if len(batches) == 1 else f"take in {len(batches)} files") as conn:
            scope_id = self.locked_scope(conn, scope)
            for epoch in {batch.forget_epoch for batch in batches}:
                try:
                    require_epoch(conn, scope_id, epoch)
                except Conflict:
                    self.refused.update((scope, segment.blob) for batch in batches for segment in batch.segments)
                    raise
            sources = _move_cursors(conn, scope_id, batches)
            ids = _add_sessions(conn, scope_id, sources, batches)
            known = _add_turns(conn, scope_id, rows)
            if known.new:
                note_arrival(conn, scope_id, max(known.rows[uid][what] for uid, what in known.new), self.now())
            _note_members(conn, scope_id, ids, turns, known)
            _add_occurrences(conn, scope_id, sources, ids, batches, known)
            _add_places(conn, scope_id, sources, batches)
            for batch in batches:
                append_notes(conn, scope_id, batch.notes, source=sources[batch.after.identity], at=self.now())
            _see(conn, scope_id, [batch.seen for batch in batches])
        return tuple(_receipts(batches, known))


@dataclass(frozen=True, slots=True)
class _Known:
    """The stored rows of every uid of a batch, as digest -> row id; which rows and uids the batch brought; the row of each of its turns."""

    rows: Mapping[str, Mapping[str, int]]
    new: frozenset[tuple[str, str]]
    old_uids: frozenset[str]
    digests: Sequence[str]

    def row(self, uid: str, what: str) -> int:
        """The row of a turn: its own, or the one that is kept of it without its words."""
        rows = self.rows[uid]
        return rows[what] if what in rows else min(rows.values())


def _receipts(batches: Sequence[IntakeBatch], known: _Known) -> Iterator[Receipt]:
    """What each batch brought; a turn that two of them hold is new to the first."""
    fresh, at = set(known.new), 0
    for batch in batches:
        said = set(zip((turn.uid for turn in batch.turns), known.digests[at : at + len(batch.turns)], strict=True))
        at += len(batch.turns)
        new = said & fresh
        fresh -= new
        sessions = {info.uid for info in batch.sessions} | {turn.session for turn in batch.turns}
        yield Receipt(new_turns=len(new), known_turns=len(said) - len(new), sessions=tuple(sorted(sessions)))


def _see(conn: Connection, scope_id: int, seen: Iterable[Seen]) -> None:
    rows = [
        {"scope_id": scope_id, "path": s.path, "size": s.size, "mtime_ns": s.mtime_ns, "inode": str(s.inode), "identity": s.identity}
        for s in {s.path: s for s in seen}.values()
    ]  # fmt: skip
    put(conn, t.files, ("scope_id", "path"), rows)


def _move_cursors(conn: Connection, scope_id: int, batches: Sequence[IntakeBatch]) -> dict[str, int]:
    """Compare and swap each on (generation, offset); returns the row ids of the sources by identity."""
    new = [{"scope_id": scope_id, "identity": b.after.identity, "redacted": b.redacted, **_state(b.after)} for b in batches if b.expected is None]
    moved = [
        {"of": scope_id, "source": b.after.identity, "was_in": b.expected[0], "was_at": b.expected[1], "more": b.redacted, **_state(b.after)}
        for b in batches if b.expected is not None
    ]  # fmt: skip
    done = conn.execute(insert_new(conn, t.sources), new).rowcount if new else 0
    done += conn.execute(_MOVE, moved).rowcount if moved else 0
    if done != len(batches):
        first = batches[0].seen.path if len(batches) == 1 else f"one of {len(batches)} files"
        raise Conflict(f"{first} was taken in by another process meanwhile; read it again from its new cursor")
    c = t.sources.c
    ids = select(c.identity, c.id).where(c.scope_id == scope_id, c.identity.in_([storable(b.after.identity) for b in batches]))
    by_name = {r.identity: r.id for r in conn.execute(ids)}
    return {b.after.identity: by_name[storable(b.after.identity)] for b in batches}


def _state(after: SourceState) -> dict[str, Any]:
    return {
        "format": after.format, "generation": after.generation, "offset": after.offset, "line": after.line, "head_mac": after.head_mac,
        "tail_mac": after.tail_mac, "pending": after.pending, "carry": dump(dict(after.carry)),
    }  # fmt: skip


def _moving() -> Update:
    """The statement that moves one cursor from where it was; the columns of `_state` are given by name."""
    c = t.sources.c
    where = (c.scope_id == bindparam("of"), c.identity == bindparam("source"), c.generation == bindparam("was_in"), c.offset == bindparam("was_at"))
    set_to: dict[str, Any] = {name: bindparam(name) for name in ("format", "generation", "offset", "line", "head_mac", "tail_mac", "pending", "carry")}
    return update(t.sources).where(*where).values(**set_to, redacted=c.redacted + bindparam("more"))


_MOVE = _moving()


def _add_sessions(conn: Connection, scope_id: int, sources: Mapping[str, int], batches: Sequence[IntakeBatch]) -> dict[str, int]:
    """Ids of all sessions the batches name. What a source says of a session is kept field by field, its last word counting."""
    formats = {turn.session: b.after.format for b in batches for turn in b.turns} | {s.uid: s.format for b in batches for s in b.sessions}
    add_new(conn, t.sessions, [{"scope_id": scope_id, "uid": uid, "format": form} for uid, form in sorted(formats.items())])
    ids = _ids(conn, scope_id, formats)
    told = {(ids[s.uid], sources[b.after.identity]): s for b in batches for s in b.sessions}
    before = _told(conn, scope_id, ids.values(), sources.values())
    spoken = {(ids[uid], sources[b.after.identity]): voices for b in batches for uid, voices in speakers_of(b.turns).items()}
    told = {place: SessionInfo(uid="", format="") for place in spoken} | told
    rows = []
    for (session, source), info in sorted(told.items(), key=lambda x: x[0]):
        old = cast(dict[str, Any], load(before.get((session, source), "{}")))
        new = session_out(info)
        extra = {**old.get("extra", {}), **new.get("extra", {})}
        if old and extra.pop(SAID_TO, None) and SAID_TO in old.get("extra", {}):  # it stays with whom it began: what was said before was said to them
            extra[SAID_TO] = old["extra"][SAID_TO]
        merged = {**old, **new, **({"extra": extra} if extra else {})}
        if voices := spoken.get((session, source), frozenset()).union(speakers_in(old)):
            merged[SPEAKERS] = sorted(voices)
        rows.append({"scope_id": scope_id, "session_id": session, "source_id": source, "info": dump(merged)})
    put(conn, t.session_infos, ("session_id", "source_id"), rows)
    return ids


def _told(conn: Connection, scope_id: int, sessions: Iterable[int], sources: Iterable[int]) -> dict[tuple[int, int], str]:
    """What these sources said of these sessions so far."""
    c = t.session_infos.c
    found: dict[tuple[int, int], str] = {}
    of_sources = select(c.session_id, c.source_id, c.info).where(c.scope_id == scope_id, c.source_id.in_(sorted(sources)))
    for part in chunks(sorted(sessions)):
        found.update(((r.session_id, r.source_id), r.info) for r in conn.execute(of_sources.where(c.session_id.in_(part))))
    return found


def _ids(conn: Connection, scope_id: int, uids: Iterable[str]) -> dict[str, int]:
    c = t.sessions.c
    found: dict[str, int] = {}
    for part in chunks(sorted(uids)):
        found.update((r.uid, r.id) for r in conn.execute(select(c.uid, c.id).where(c.scope_id == scope_id, c.uid.in_(part))))
    return found


def _add_turns(conn: Connection, scope_id: int, rows: Sequence[TurnRow]) -> _Known:
    """Store what is said for the first time. The scope's row is locked, so nobody else adds the same turn in between, and ids grow."""
    newest: int | None = conn.scalar(select(func.max(t.turns.c.id)))  # of all scopes: within one every turn of it would be looked at
    stored = _stored(conn, scope_id, {row.uid for row in rows}) if newest is not None else {}
    new = {(row.uid, row.digest): (scope_id, *row) for row in rows if row.digest not in (said := stored.get(row.uid, {})) and not any(map(is_husk, said))}
    add_rows(conn, t.turns, ("scope_id", *TurnRow._fields), list(new.values()))
    after = {uid: dict(found) for uid, found in stored.items()}
    c = t.turns.c
    for row, uid, what in conn.execute(select(c.id, c.uid, c.digest).where(c.scope_id == scope_id, c.id > (newest or 0))).all() if new else ():
        after.setdefault(uid, {})[what] = row
    return _Known(after, frozenset(new), frozenset(stored), [row.digest for row in rows])


def note_arrival(conn: Connection, scope_id: int, upto: int, at: datetime) -> None:
    """Write down by when the turns of a scope up to this row were stored: what a look back to what was known goes by."""
    conn.execute(insert(t.arrivals).values(scope_id=scope_id, upto=upto, recorded_at=at))


def arrived_by(conn: Connection, scope_id: int | None, at: datetime) -> int:
    """The row id up to which turns of the scope were stored by a moment of the store's clock; 0 when none was."""
    a = t.arrivals.c
    return conn.scalar(select(func.max(a.upto)).where(a.scope_id == scope_id, a.recorded_at <= at)) or 0


def _stored(conn: Connection, scope_id: int, uids: Iterable[str]) -> dict[str, dict[str, int]]:
    """Every stored row of the uids: digest -> row id."""
    c = t.turns.c
    found: dict[str, dict[str, int]] = {}
    for part in chunks(sorted(uids)):
        for row, uid, what in conn.execute(select(c.id, c.uid, c.digest).where(c.scope_id == scope_id, c.uid.in_(part))).all():  # all at once: half the time
            found.setdefault(uid, {})[what] = row
    return found


def _add_occurrences(
    conn: Connection, scope_id: int, sources: Mapping[str, int], ids: Mapping[str, int], batches: Sequence[IntakeBatch], known: _Known
) -> None:
    digests = iter(known.digests)
    rows = [
        (
            scope_id, known.row(turn.uid, next(digests)), ids[turn.session], sources[batch.after.identity], turn.ordinal, turn.parent,
            batch.after.generation, turn.place.offset, turn.place.length, turn.place.line,
        )
        for batch in batches
        for turn in batch.turns
    ]  # fmt: skip
    add_rows(conn, t.occurrences, _OCCURRENCE, rows, known=True)


_OCCURRENCE = ("scope_id", "turn_id", "session_id", "source_id", "ordinal", "parent", "generation", "offset", "length", "line")


def _add_places(conn: Connection, scope_id: int, sources: Mapping[str, int], batches: Sequence[IntakeBatch]) -> None:
    """Where the bytes went: archive segments and bad spans."""
    segments, spans = [], []
    for batch in batches:
        place = {"scope_id": scope_id, "source_id": sources[batch.after.identity], "generation": batch.after.generation}
        segments += [
            {**place, "offset": s.offset, "length": s.length, "blob": s.blob, "raw_mac": s.raw_mac, "mask_version": batch.mask_version}
            for s in batch.segments
        ]  # fmt: skip
        spans += [{**place, "offset": b.place.offset, "length": b.place.length, "line": b.place.line, "reason": b.reason} for b in batch.bad]
    add(conn, t.segments, segments)
    add_new(conn, t.bad_spans, spans)


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
        rows.append({"scope_id": scope_id, "session_id": session, "digest": f"{total % SET:040x}", "turns": count, "started_at": min(times, default=None)})
    put(conn, t.session_heads, ("session_id",), rows)
