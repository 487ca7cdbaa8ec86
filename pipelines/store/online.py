"""Online notes as they were found, and the analyzer's word on them. Append-only: a note that left its folder is closed by a row that replaces it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from sqlalchemy import ColumnElement, Connection, and_, exists, func, or_, select

from pipelines.model import Finding, OnlineNote, digest
from pipelines.notes.instructed import FOLDER as INSTRUCTIONS
from pipelines.notes.moment import deadline_of
from pipelines.store import tables as t
from pipelines.store.codec import finding_of, online_of, online_out
from pipelines.store.core import Core, add, chunks
from pipelines.store.tombstones import tombstones_of
from pipelines.store.types import load, storable


class Online(Core):
    """Online notes and findings."""

    def save_online_notes(self, scope: str, folder: str, notes: Sequence[OnlineNote]) -> int:
        """Make `notes` what the folder holds now; returns how many rows that took (0 when nothing changed). Notes found in logs are left alone."""
        if any(note.folder != folder for note in notes):
            raise ValueError(f"notes of another folder than {folder!r}")
        with self.writing("save the online notes") as conn:
            scope_id = self.locked_scope(conn, scope)
            forgotten, at = tombstones_of(self, conn, scope_id), self.now()
            notes = [note for note in notes if not forgotten.online(note)] if forgotten else notes
            mine = (t.online_notes.c.folder == storable(folder), t.online_notes.c.source_id.is_(None))
            current = _current(conn, scope_id, *mine)
            added = append_notes(conn, scope_id, notes, source=None, at=at, current=current)
            kept = {note.uid for note in notes}
            gone = [row for uid, row in current.items() if uid not in kept and not row.gone]
            add(conn, t.online_notes, [{"scope_id": scope_id, "uid": r.uid, "folder": r.folder, "source_id": None, "digest": "", "gone": True,
                                        "body": "{}", "replaces": r.id, "recorded_at": at, "ends_at": None} for r in gone])  # fmt: skip
            return added + len(gone)

    def online_notes(self, scope: str, *, known_at: datetime | None = None) -> tuple[OnlineNote, ...]:
        """The notes that stand now or stood at a moment of the store's clock, each once (the file's own before what a log shows written), by folder, path,
        position. Lines of instruction files are none (`instructions`)."""
        with self.reading("read the online notes") as conn:
            notes = or_(t.online_notes.c.folder != storable(INSTRUCTIONS), t.online_notes.c.source_id.is_not(None))
            rows = [r for r in _standing(conn, self.scope_of(conn, scope), notes, known_at=known_at) if not r.gone]
        rows.sort(key=lambda r: r.source_id is not None)
        found: dict[str, OnlineNote] = {}
        for row in rows:
            found.setdefault(row.uid, online_of(row.body))
        return tuple(sorted(found.values(), key=lambda n: (n.folder, n.path, n.position, n.uid)))

    def former_notes(self, scope: str, uids: Iterable[str]) -> tuple[OnlineNote, ...]:
        """What those of these notes said that stand no more: their last words in the person's own files, by uid."""
        c, later = t.online_notes.c, t.online_notes.alias()
        with self.reading("read former notes") as conn:
            over = select(c.uid, c.body).join(later, and_(later.c.replaces == c.id, later.c.gone)).where(c.scope_id == self.scope_of(conn, scope), ~c.gone)
            last = and_(c.source_id.is_(None), ~exists().where(t.online_notes.alias("n").c.replaces == later.c.id).correlate(later))
            rows = [row for part in chunks(sorted(set(uids))) for row in conn.execute(over.where(last, c.uid.in_(part)))]
        return tuple(sorted((online_of(row.body) for row in rows), key=lambda n: n.uid))

    def instructions(self, scope: str, *, known_at: datetime | None = None) -> tuple[tuple[OnlineNote, datetime], ...]:
        """The lines of instruction files that stand (or stood), by path and position, each with when its words were first seen in that file."""
        c = t.online_notes.c
        with self.reading("read the instructions") as conn:
            scope_id = self.scope_of(conn, scope)
            mine = (c.folder == storable(INSTRUCTIONS), c.source_id.is_(None))
            rows = [r for r in _standing(conn, scope_id, *mine, known_at=known_at) if not r.gone]
            first = select(c.uid, func.min(c.recorded_at).label("at")).where(c.scope_id == scope_id, *mine).group_by(c.uid)
            since = {r.uid: r.at for r in conn.execute(first)} if rows else {}
        found = ((online_of(row.body), since[row.uid]) for row in rows)
        return tuple(sorted(found, key=lambda pair: (pair[0].path, pair[0].position, pair[0].uid)))

    def findings(self, scope: str, *, rev: int | None = None) -> Mapping[str, Finding]:
        """The analyzer's word now, or at a revision, by online note."""
        with self.reading("read the findings") as conn:
            return {uid: finding for uid, (finding, _, _) in current_findings(conn, self.scope_of(conn, scope), rev=rev).items()}


def append_notes(
    conn: Connection, scope_id: int, notes: Sequence[OnlineNote], *, source: int | None, at: datetime, current: Mapping[str, Any] | None = None
) -> int:
    """Write the notes whose content is new; a note that stands with other content is replaced. Of one uid twice the last counts."""
    if not notes:
        return 0
    if current is None:
        mine = t.online_notes.c.source_id == source
        parts = chunks(sorted({n.uid for n in notes}))
        current = {uid: row for part in parts for uid, row in _current(conn, scope_id, mine, t.online_notes.c.uid.in_(part)).items()}
    rows = []
    for note in {n.uid: n for n in notes}.values():
        body = online_out(note)
        what = digest(body)
        old = current.get(note.uid)
        if old is not None and old.digest == what:
            continue
        rows.append({"scope_id": scope_id, "uid": note.uid, "folder": note.folder, "source_id": source, "digest": what, "gone": False, "body": body,
                     "replaces": old.id if old else None, "recorded_at": at, "ends_at": deadline_of(note)})  # fmt: skip
    add(conn, t.online_notes, rows)
    return len(rows)


def _standing(conn: Connection, scope_id: int | None, *where: ColumnElement[bool], known_at: datetime | None = None) -> list[Any]:
    """Rows nobody replaced (by then), closed ones too."""
    query = select(t.online_notes).where(t.online_notes.c.scope_id == scope_id, stood(known_at), *where)
    return list(conn.execute(query))


def stood(known_at: datetime | None) -> ColumnElement[bool]:
    """Rows of online notes nobody replaced, or had replaced at a moment of the store's clock."""
    c, later = t.online_notes.c, t.online_notes.alias()
    if known_at is None:
        return ~exists().where(later.c.replaces == c.id).correlate(t.online_notes)
    return and_(c.recorded_at <= known_at, ~exists().where(later.c.replaces == c.id, later.c.recorded_at <= known_at).correlate(t.online_notes))


def _current(conn: Connection, scope_id: int, *where: ColumnElement[bool]) -> dict[str, Any]:
    return {row.uid: row for row in _standing(conn, scope_id, *where)}


def current_findings(
    conn: Connection, scope_id: int | None, notes: Sequence[str] | None = None, *, rev: int | None = None
) -> dict[str, tuple[Finding, int, str]]:
    """The finding that stands for each online note (or stood at a revision), with its row id and content digest."""
    c = t.findings.c
    later = t.findings.alias()
    replaced = later.c.replaces == c.id if rev is None else and_(later.c.replaces == c.id, later.c.rev <= rev)
    query = select(c.id, c.note_uid, c.digest, c.body).outerjoin(later, replaced).where(c.scope_id == scope_id, later.c.id.is_(None))
    if rev is not None:
        query = query.where(c.rev <= rev)
    if notes is not None:
        query = query.where(c.note_uid.in_(notes))
    return {r.note_uid: (finding_of(cast(dict[str, Any], load(r.body))), r.id, r.digest) for r in conn.execute(query)}
