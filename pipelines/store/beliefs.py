"""What a scope believes: heads, their history, what may be seen of them, and the end of validity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, cast

from sqlalchemy import ColumnElement, Connection, Select, Table, and_, delete, func, insert, literal, or_, select, true

from pipelines.model import Status
from pipelines.notes.moment import Moment, held
from pipelines.notes.moment import over as is_over
from pipelines.notes.privacy import NORMAL, OPEN
from pipelines.store import tables as t
from pipelines.store.codec import Json, version_of_row
from pipelines.store.core import Core, add, chunks
from pipelines.store.ends import ended_lines
from pipelines.store.types import dump, load, storable
from pipelines.store.values import Decision, Head, Reader, RecordedDecision

LIVE = (Status.CONFIRMED, Status.DRAFT, Status.DISPUTED, Status.NEEDS_RECHECK)


class Beliefs(Core):
    """Reading versions of notes; `Dreams` writes them."""

    def heads(
        self,
        scope: str,
        *,
        notes: Iterable[str] | None = None,
        statuses: Iterable[Status] | None = None,
        subjects: Iterable[str] | None = None,
        limit: int | None = None,
        reader: Reader | None = None,
    ) -> tuple[Head, ...]:
        """Current versions by (note, slot), quarantined ones too: for planning. What is shown to anybody comes from `seen`; `reader`: whom it is read for."""
        h, v = t.heads.c, t.note_versions.c
        with self.reading("read the beliefs") as conn:
            scope_id = self.scope_of(conn, scope)
            query = _heads_of_notes(scope_id) if notes is not None else _versions(scope_id).join(t.heads, h.version_id == v.id).where(h.scope_id == scope_id)
            query = query.where(h.closing.is_(False), *_for(reader))
            if statuses is not None:
                query = query.where(h.status.in_([s.value for s in statuses]))
            rows = _among(conn, query, v.subject, map(storable, subjects)) if subjects is not None else _among(conn, query, t.notes.c.uid, notes)
        wanted = None if notes is None else set(notes)
        heads = (_head(r) for r in rows if wanted is None or r.note_uid in wanted)
        return tuple(sorted(heads, key=_by_note)[:limit])

    def standing(self, scope: str) -> Mapping[str, int]:
        """How many current versions have which status."""
        h = t.heads.c
        with self.reading("count what stands") as conn:
            query = select(h.status, func.count().label("n")).where(h.scope_id == self.scope_of(conn, scope), h.closing.is_(False)).group_by(h.status)
            return {r.status: r.n for r in conn.execute(query)}

    def subjects(self, scope: str, statuses: Iterable[Status]) -> tuple[str, ...]:
        """The subjects, as they are spelt, of current versions of these statuses."""
        h, v = t.heads.c, t.note_versions.c
        with self.reading("read what notes are about") as conn:
            query = select(v.subject).join_from(t.heads, t.note_versions, h.version_id == v.id).distinct()
            query = query.where(h.scope_id == self.scope_of(conn, scope), h.closing.is_(False), h.status.in_([s.value for s in statuses]))
            return tuple(sorted(conn.scalars(query)))

    def seen(
        self, scope: str, reader: Reader, *, notes: Iterable[str] | None = None, statuses: Iterable[Status] = LIVE, subjects: Iterable[str] | None = None
    ) -> tuple[Head, ...]:
        """What this reader may be shown now, by (note, slot); retracted and quarantined notes never are."""
        view = t.visible.c
        query = select(t.visible).where(view.status.in_([s.value for s in statuses]))
        with self.reading("read what may be seen") as conn:
            query = query.where(may_see(self.scope_of(conn, scope), reader))
            rows = _among(conn, query, view.subject, map(storable, subjects)) if subjects is not None else _among(conn, query, view.note_uid, notes)
        wanted = None if notes is None else set(notes)
        return tuple(sorted((_head(r) for r in rows if wanted is None or r.note_uid in wanted), key=_by_note))

    def believed(self, scope: str, rev: int, *, notes: Iterable[str] | None = None, reader: Reader | None = None) -> tuple[Head, ...]:
        """What was believed at a revision: rows up to it that no row up to it replaces (systems R4)."""
        with self.reading("read what was believed") as conn:
            scope_id = self.scope_of(conn, scope)
            query = _versions(scope_id) if notes is None else _versions_of_notes(scope_id)
            rows = _among(conn, query.where(believed_at(rev), *_for(reader)), t.notes.c.uid, notes)
        return tuple(sorted(map(_head, rows), key=_by_note))

    def revision_at(self, scope: str, at: datetime) -> int:
        """The revision a scope stood at at a moment of the store's clock; 0 before the first."""
        with self.reading("read which revision stood") as conn:
            return revision_at(conn, self.scope_of(conn, scope), at)

    def heads_then(self, scope: str, moment: Moment, *, now: datetime, notes: Iterable[str] | None = None, audience: str | None = None) -> tuple[Head, ...]:
        """The versions of a look back, each as it held then; without one, those a reader may be told at `now`: what has run out since is not among them.

        A named audience is read no others than it may be told (`may_read`).
        """
        known, reader = moment.known_at, Reader(now=now, audience=audience)
        if not moment and audience is not None:
            return self.seen(scope, reader, notes=notes)
        heads = (
            self.heads(scope, notes=notes, reader=reader) if known is None else self.believed(scope, self.revision_at(scope, known), notes=notes, reader=reader)
        )
        if not moment:
            return tuple(h for h in heads if not is_over(h.version, now))
        return tuple(replace(h, version=version) for h in heads if (version := held(h.version, moment)) is not None)

    def history(self, scope: str, notes: Iterable[str]) -> tuple[Head, ...]:
        """Every version the notes ever had, oldest revision first; a slot's end shows as `retracted` with the reason "recomputed"."""
        with self.reading("read the history of notes") as conn:
            rows = _among(conn, _versions_of_notes(self.scope_of(conn, scope)), t.notes.c.uid, notes)
        return tuple(sorted(map(_head, rows), key=lambda h: (h.rev, h.version.note, h.version.slot)))

    def next_expiry(self, scope: str) -> datetime | None:
        """When the next version stops being valid: an engine-free revision is due then (systems R19)."""
        h = t.heads.c
        with self.reading("read the next expiry") as conn:
            due = select(h.valid_until).where(h.scope_id == self.scope_of(conn, scope), h.status.in_(LIVE), h.valid_until.is_not(None))
            found: datetime | None = conn.scalar(due.order_by(h.valid_until).limit(1))
            return found

    def expire(self, scope: str, now: datetime) -> tuple[str, ...]:
        """Move versions whose validity is over to `expired`, and call lines of note files superseded that are over by their own words, as one revision
        without an engine; returns their notes.

        The row keeps the digest of what was wanted, so a dream that computes the same belief again finds nothing to change.
        """
        h = t.heads.c
        with self.writing("expire notes") as conn:
            scope_id = self.locked_scope(conn, scope)
            due = _versions(scope_id).join(t.heads, h.version_id == t.note_versions.c.id)
            due = due.where(h.scope_id == scope_id, h.status.in_(LIVE), h.valid_until <= now, h.closing.is_(False))
            rows = sorted(conn.execute(due).all(), key=lambda r: (r.note_uid, r.slot))
            lines = ended_lines(conn, scope_id, now)
            if not rows and not lines:
                return ()
            rev, at = self.next_revision(conn, scope_id, cause="expiry", hand="dreamd", counts={"versions": len(rows), "lines": len(lines)})
            add(conn, t.findings, lines, scope_id=scope_id, rev=rev, recorded_at=at)
            ends = [{**row_fields(r), "n": n, "status": Status.EXPIRED.value, "replaces": r.id} for n, r in enumerate(rows)]
            add_versions(conn, scope_id, rev, at, ends)
            move_heads(conn, scope_id, rev)
            over = [*(r.note_uid for r in rows), *(line["note_uid"] for line in lines)]
            add_decisions(conn, scope_id, rev, at, [Decision(stage="expiry", verb="expire", reason="valid_until", note=uid) for uid in over], dream=None)
            return tuple(dict.fromkeys(over))

    def decisions(self, scope: str, *, dream: str | None = None, note: str | None = None, rev: int | None = None) -> tuple[RecordedDecision, ...]:
        """Why things changed, in the order it was decided; narrowed to a dream, a note, a revision."""
        d = t.decisions.c
        with self.reading("read the decisions") as conn:
            query = select(t.decisions).where(d.scope_id == self.scope_of(conn, scope)).order_by(d.rev, d.n)
            for column, wanted in ((d.dream_uid, dream), (d.note_uid, note), (d.rev, rev)):
                if wanted is not None:
                    query = query.where(column == wanted)
            return tuple(_decision(row) for row in conn.execute(query))

    def moved(self, scope: str, revs: Iterable[int]) -> tuple[tuple[Head, ...], tuple[Head, ...]]:
        """What these revisions wrote, and what they put it in the place of; ends of slots are in neither."""
        v = t.note_versions.c
        older = t.note_versions.alias()
        with self.reading("read what revisions changed") as conn:
            scope_id = self.scope_of(conn, scope)
            mine = select(older.c.replaces).where(older.c.scope_id == scope_id, older.c.replaces.is_not(None))
            after: list[Any] = []
            before: list[Any] = []
            for part in chunks(sorted(set(revs))):
                after += conn.execute(_versions(scope_id).where(v.rev.in_(part), v.closing.is_(False))).all()
                before += conn.execute(_versions(scope_id).where(v.id.in_(mine.where(older.c.rev.in_(part))), v.closing.is_(False))).all()
        return tuple(sorted(map(_head, after), key=_by_note)), tuple(sorted(map(_head, before), key=_by_note))


def may_see(scope_id: int | None, reader: Reader) -> ColumnElement[bool]:
    """The one condition on `visible_versions` every reader queries: scope, validity at the reader's time, audience, sensitivity."""
    view = t.visible.c
    valid = or_(view.valid_until.is_(None), view.valid_until > reader.now, view.status.not_in([s.value for s in LIVE]))
    return and_(view.scope_id == scope_id, valid, may_read(t.visible, reader))


def _for(reader: Reader | None) -> tuple[ColumnElement[bool], ...]:
    return () if reader is None else (may_read(t.note_versions, reader),)


def may_read(versions: Table, reader: Reader) -> ColumnElement[bool]:
    """Audience and sensitivity of rows of versions, whenever they stood: what this reader heard, and what nobody in particular heard, if it is not
    sensitive (`notes.privacy`)."""
    if reader.audience is None:
        return true()
    heard = literal(",").concat(versions.c.audience).concat(",")
    open_to_all = or_(versions.c.audience == "", heard.contains(f",{OPEN},", autoescape=True))
    allowed = and_(open_to_all, *(() if reader.sensitive else (versions.c.sensitivity == NORMAL,)))
    return or_(allowed, heard.contains(f",{reader.audience},", autoescape=True)) if reader.audience else allowed


def revision_at(conn: Connection, scope_id: int | None, at: datetime) -> int:
    """The revision that stood at a moment of the store's clock, which never runs backwards (systems R4); 0 before the first."""
    r = t.revisions.c
    return conn.scalar(select(func.max(r.rev)).where(r.scope_id == scope_id, r.recorded_at <= at)) or 0


def believed_at(rev: int) -> ColumnElement[bool]:
    """Rows of versions up to a revision that no row up to it replaces."""
    v, later = t.note_versions.c, t.note_versions.alias()
    replaced = select(later.c.id).where(later.c.replaces == v.id, later.c.rev <= rev).correlate(t.note_versions).exists()
    return and_(v.rev <= rev, v.closing.is_(False), ~replaced)


# --- writing rows (for `expire` and `apply`) ---------------------------------------------------------------------------------------------


def add_versions(conn: Connection, scope_id: int, rev: int, at: datetime, rows: Iterable[Mapping[str, Any]]) -> None:
    """Append versions of a revision. Each row has its own number `n` there and says which one it replaces; the database admits one successor each."""
    add(conn, t.note_versions, rows, scope_id=scope_id, rev=rev, recorded_at=at)


def move_heads(conn: Connection, scope_id: int, rev: int) -> None:
    """Move the heads to the versions of a revision, once all of them are there."""
    v, h = t.note_versions.c, t.heads.c
    mine = and_(v.scope_id == scope_id, v.rev == rev)
    conn.execute(delete(t.heads).where(h.version_id.in_(select(v.replaces).where(mine, v.replaces.is_not(None)))))
    names = ("scope_id", "note_id", "version_id", "slot", "status", "closing", "valid_until")
    made = select(v.scope_id, v.note_id, v.id, v.slot, v.status, v.closing, v.valid_until).where(mine)
    conn.execute(insert(t.heads).from_select(names, made))


def row_fields(row: Any) -> Json:
    """The columns of a stored version that a successor takes over."""
    own = {"id", "scope_id", "rev", "n", "replaces", "recorded_at"}
    return {c.name: getattr(row, c.name) for c in t.note_versions.columns if c.name not in own}


def add_decisions(conn: Connection, scope_id: int, rev: int, at: datetime, decisions: Iterable[Decision], *, dream: str | None, first: int = 0) -> None:
    """Record why a revision changed what it did, numbered from `first`."""
    rows = (
        {
            "uid": f"{rev}.{n}", "n": n, "stage": d.stage, "verb": d.verb, "reason": d.reason, "note_uid": d.note, "refs": dump(list(d.refs)),
            "engine": d.engine, "cost_micros": d.cost_micros,
        }
        for n, d in enumerate(decisions, first)
    )  # fmt: skip
    add(conn, t.decisions, rows, scope_id=scope_id, rev=rev, dream_uid=dream, recorded_at=at)


# --- rows ↔ values -----------------------------------------------------------------------------------------------------------------------


def _versions(scope_id: int | None) -> Select[Any]:
    """Versions of a scope. It is named on both tables: the index that finds a note by uid begins with it."""
    return _versions_of_notes(scope_id).where(t.note_versions.c.scope_id == scope_id)


def _versions_of_notes(scope_id: int | None) -> Select[Any]:
    """Versions of a scope to be narrowed to notes. Their scope is named on the notes alone, as in `_heads_of_notes`, for the same reason."""
    v, n = t.note_versions, t.notes
    return select(v, n.c.uid.label("note_uid")).join_from(v, n, n.c.id == v.c.note_id).where(n.c.scope_id == scope_id)


def _heads_of_notes(scope_id: int | None) -> Select[Any]:
    """Current versions of a scope to be narrowed to notes. Their scope is named on the notes alone, whose wall it is to the others: named on these, too,
    SQLite looks through all versions of the scope."""
    v, n, h = t.note_versions, t.notes, t.heads
    query = select(v, n.c.uid.label("note_uid")).join_from(n, h, h.c.note_id == n.c.id).join(v, v.c.id == h.c.version_id)
    return query.where(n.c.scope_id == scope_id)


def _among(conn: Connection, query: Select[Any], column: ColumnElement[str], wanted: Iterable[str] | None) -> list[Any]:
    if wanted is None:
        return list(conn.execute(query).all())
    return [row for part in chunks(sorted(set(wanted))) for row in conn.execute(query.where(column.in_(part))).all()]


def _head(row: Any) -> Head:
    return Head(version=version_of_row(row), token=row.id, rev=row.rev, recorded_at=row.recorded_at, verified_at=row.verified_at)


def _by_note(head: Head) -> tuple[str, str]:
    return (head.version.note, head.version.slot)


def _decision(row: Any) -> RecordedDecision:
    decision = Decision(
        stage=row.stage, verb=row.verb, reason=row.reason, refs=tuple(cast(list[str], load(row.refs))), note=row.note_uid, engine=row.engine,
        cost_micros=row.cost_micros,
    )  # fmt: skip
    return RecordedDecision(decision=decision, rev=row.rev, dream=row.dream_uid, recorded_at=row.recorded_at)
