"""The one transaction that moves beliefs. What is to be done is decided by pure functions over what stands and what is wanted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any, cast

from sqlalchemy import ColumnElement, Connection, and_, exists, func, select, update

from pipelines.errors import Conflict
from pipelines.model import Status
from pipelines.store import tables as t
from pipelines.store.beliefs import add_decisions, add_versions, move_heads, row_fields
from pipelines.store.codec import decisions_of, version_row
from pipelines.store.core import Core, add, add_new, chunks
from pipelines.store.dirty import resolved
from pipelines.store.online import current_findings
from pipelines.store.types import dump, load
from pipelines.store.values import Applied

Told = Mapping[str, Any]
_NAMED = 5  # notes named in a Conflict's message
_PAGE = 500  # notes whose changes are in memory at once
_BELIEF = "belief"
SHRINK_SHARE = 0.25
"""Of a page's facts, how many may go in one dream because nothing states them any more; more waits for a person."""
SHRINK_FLOOR = 2
"""So many have to go at least: one sentence more or less is what a session that is read again may do."""
_NO_CLAIM_LEFT = "no_claim_left"


@dataclass(frozen=True, slots=True)
class Stands:
    """What stands in one slot of a note. `closing` says that nothing is believed there any more."""

    id: int
    slot: str
    status: str
    closing: bool
    content: str
    statement: str
    value: str | None


@dataclass(frozen=True, slots=True)
class Move:
    """One new row: a wanted version, or the end of a slot (`told` is None); `over` is what it replaces."""

    told: Told | None
    over: Stands | None

    @property
    def endangers(self) -> bool:
        """Whether a confirmed statement would be lost or read differently."""
        if self.over is None or self.over.closing or self.over.status != Status.CONFIRMED:
            return False
        if self.told is None or self.told["status"] != Status.CONFIRMED:
            return True
        return (self.told["statement"], self.told["value"]) != (self.over.statement, self.over.value)


def moves(stands: Sequence[Stands], wanted: Sequence[Told]) -> tuple[Move, ...]:
    """From what stands to what is wanted, one slot at a time; what is wanted word for word already makes no row."""
    current = {s.slot: s for s in stands}
    slots = {told["slot"] for told in wanted}
    changed = [Move(told, current.get(told["slot"])) for told in wanted if not _same(current.get(told["slot"]), told)]
    return (*changed, *(Move(None, s) for s in stands if s.slot not in slots and not s.closing))


def _same(stands: Stands | None, told: Told) -> bool:
    return stands is not None and not stands.closing and stands.content == told["content"]


def held(plans: Mapping[str, Sequence[Move]], *, confirmed: int, max_share: float, floor: int) -> frozenset[str]:
    """The notes a person has to look at first: all endangered ones, when together they are too many."""
    endangered = [note for note, plan in plans.items() for move in plan if move.endangers]
    return frozenset(endangered) if len(endangered) > max(floor, max_share * confirmed) else frozenset()


def shrinking(facts: Mapping[str, frozenset[str]], lost: frozenset[str]) -> frozenset[str]:
    """The lost notes of pages that would lose too much with them; `facts` are the confirmed notes by page."""
    drops = (notes & lost for notes in facts.values() if len(notes & lost) >= SHRINK_FLOOR and len(notes & lost) > SHRINK_SHARE * len(notes))
    return frozenset().union(*drops)


def apply_changes(core: Core, conn: Connection, scope_id: int, dream: Any, *, max_share: float, floor: int) -> Applied:
    """Check the reads and the guard over everything staged, then write it, some at a time. The scope's row is locked."""
    _check_reads(conn, scope_id, dream)
    kept = _kept(conn, scope_id, dream.id, max_share, floor)
    rev, at = core.coming_revision(conn, scope_id)
    rows, decisions = _believe(conn, scope_id, dream, kept, rev, at)
    findings = _findings(conn, dream.id)
    words = _new_findings(conn, scope_id, findings)
    add(conn, t.findings, words, scope_id=scope_id, rev=rev, recorded_at=at)
    why = (d for w in words for d in decisions_of(findings[w["note_uid"]]))
    add_decisions(conn, scope_id, rev, at, why, dream=dream.uid, first=decisions)
    rows += len(words)
    if rows:
        core.enter_revision(conn, scope_id, rev, at, cause=dream.cause, hand="dreamd", dream=dream.uid, counts={"rows": rows, "held": len(kept)})
    _settle(conn, dream, kept, rev if rows else None)
    if not kept:  # what a person has to look at first stays to be resolved
        resolved(conn, scope_id, dream.dirty_upto)
    return Applied(revision=rev if rows else rev - 1, inserted=rows, held=tuple(sorted(kept)))


def _kept(conn: Connection, scope_id: int, dream_id: int, max_share: float, floor: int) -> frozenset[str]:
    """The notes the guard holds back. What is staged is looked at only when so many of its notes stand confirmed that the guard can trip."""
    confirmed, stake = _confirmed(conn, scope_id), _at_stake(conn, scope_id, dream_id)
    if max_share >= 1 or (stake < SHRINK_FLOOR and stake <= max(floor, max_share * confirmed)):
        return frozenset()
    staged = chain.from_iterable(_pages(conn, scope_id, dream_id))
    endangered = {planned.note: planned for planned in staged if any(move.endangers for move in planned.plan)}
    lost = frozenset(note for note, planned in endangered.items() if planned.lost)
    many = held({note: planned.plan for note, planned in endangered.items()}, confirmed=confirmed, max_share=max_share, floor=floor)
    return many | shrinking(_facts_beside(conn, scope_id, lost), lost)


def _believe(conn: Connection, scope_id: int, dream: Any, kept: frozenset[str], rev: int, at: datetime) -> tuple[int, int]:
    """Write the versions of all notes but those that are kept, by note and slot, and why; returns how many of both."""
    versions = decisions = 0
    for page in _pages(conn, scope_id, dream.id):
        going = [planned for planned in page if planned.plan and planned.note not in kept]
        rows = list(_version_rows(conn, scope_id, dream.id, going, versions))
        add_versions(conn, scope_id, rev, at, rows)
        why = [d for planned in going for d in decisions_of(planned.told)]
        add_decisions(conn, scope_id, rev, at, why, dream=dream.uid, first=decisions)
        versions, decisions = versions + len(rows), decisions + len(why)
    move_heads(conn, scope_id, rev)
    return versions, decisions


def _check_reads(conn: Connection, scope_id: int, dream: Any) -> None:
    """Refuse when a note that was read has other heads now. Of a dream applied in part only the notes still to be changed count: it moved the rest itself."""
    r, n, h, c = t.change_reads.c, t.notes.c, t.heads.c, t.changes.c
    read = [r.dream_id == dream.id]
    if dream.applied_rev is not None:
        read.append(exists().where(c.dream_id == dream.id, c.about == _BELIEF, c.note_uid == r.note_uid))
    current = select(r.note_uid, h.version_id).join_from(t.change_reads, t.notes, and_(n.scope_id == scope_id, n.uid == r.note_uid))
    now: dict[str, set[int]] = {}
    for row in conn.execute(current.join(t.heads, h.note_id == n.id).where(*read, h.closing.is_(False))):
        now.setdefault(row.note_uid, set()).add(row.version_id)
    seen = conn.execute(select(r.note_uid, r.seen).where(*read).order_by(r.note_uid))
    moved = [x.note_uid for x in seen if now.get(x.note_uid, set()) != (set(cast(list[int], load(x.seen))) if x.seen != "[]" else set())]
    if moved:
        more = f" and {len(moved) - _NAMED} more" if len(moved) > _NAMED else ""
        raise Conflict(f"{len(moved)} notes changed since dream {dream.uid} read them ({', '.join(moved[:_NAMED])}{more}): plan again")


# --- what is staged ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Planned:
    """What is staged for a note, and the moves there from what stands. `note_id` is None while it was never believed."""

    note: str
    note_id: int | None
    told: Told
    plan: tuple[Move, ...]

    @property
    def lost(self) -> bool:
        """Whether the note goes for no other reason than that nobody states it any more."""
        return not self.told["versions"] and any(d.reason == _NO_CLAIM_LEFT for d in decisions_of(self.told))


def _pages(conn: Connection, scope_id: int, dream_id: int) -> Iterator[list[Planned]]:
    """The staged beliefs by note, some at a time."""
    c = t.changes.c
    after = ""
    while True:
        mine = (c.dream_id == dream_id, c.about == _BELIEF, c.note_uid > after)
        staged = conn.execute(select(c.note_uid, c.payload).where(*mine).order_by(c.note_uid).limit(_PAGE)).all()
        if not staged:
            return
        after = staged[-1].note_uid
        ids, stands = _standing(conn, scope_id, (*mine, c.note_uid <= after))
        page = []
        for row in staged:
            told = cast(Told, load(row.payload))
            page.append(Planned(row.note_uid, ids.get(row.note_uid), told, moves(stands.get(row.note_uid, ()), told["versions"])))
        yield page


def _standing(conn: Connection, scope_id: int, changed: Sequence[ColumnElement[bool]]) -> tuple[dict[str, int], dict[str, list[Stands]]]:
    """The row ids of the notes in these changes, and what stands in their slots."""
    c, n, h, v = t.changes.c, t.notes.c, t.heads.c, t.note_versions.c
    columns = (n.uid, n.id.label("note_id"), v.id, v.slot, v.status, v.closing, v.content, v.statement, v.value)
    query = select(*columns).join_from(t.changes, t.notes, and_(n.scope_id == scope_id, n.uid == c.note_uid))
    query = query.outerjoin(t.heads, h.note_id == n.id).outerjoin(t.note_versions, v.id == h.version_id).where(*changed)
    ids: dict[str, int] = {}
    stands: dict[str, list[Stands]] = {}
    for r in conn.execute(query):
        ids[r.uid] = r.note_id
        if r.id is not None:
            stands.setdefault(r.uid, []).append(Stands(r.id, r.slot, r.status, r.closing, r.content, r.statement, r.value))
    return ids, stands


def _findings(conn: Connection, dream_id: int) -> dict[str, Told]:
    """The staged findings by note."""
    c = t.changes.c
    rows = conn.execute(select(c.note_uid, c.payload).where(c.dream_id == dream_id, c.about == "finding"))
    return {r.note_uid: cast(Told, load(r.payload)) for r in rows}


def _at_stake(conn: Connection, scope_id: int, dream_id: int) -> int:
    """How many confirmed versions stand in the notes that are staged."""
    c, n, h = t.changes.c, t.notes.c, t.heads.c
    query = select(func.count()).select_from(t.changes).join(t.notes, and_(n.scope_id == scope_id, n.uid == c.note_uid)).join(t.heads, h.note_id == n.id)
    return conn.scalar(query.where(c.dream_id == dream_id, c.about == _BELIEF, h.status == Status.CONFIRMED, h.closing.is_(False))) or 0


def _facts_beside(conn: Connection, scope_id: int, notes: frozenset[str]) -> dict[str, frozenset[str]]:
    """The confirmed notes of the pages these stand on, by page."""
    if len(notes) < SHRINK_FLOOR:
        return {}
    p, n, h, later = t.placements.c, t.notes.c, t.heads.c, t.placements.alias()
    moved = exists().where(later.c.scope_id == scope_id, later.c.note_uid == p.note_uid, later.c.rev > p.rev)
    placed = select(p.note_uid, p.page_uid).where(p.scope_id == scope_id, ~moved)
    mine = {r.page_uid for part in chunks(sorted(notes)) for r in conn.execute(placed.where(p.note_uid.in_(part)))} - {None}
    stands = exists().where(n.scope_id == scope_id, n.uid == p.note_uid, h.note_id == n.id, h.status == Status.CONFIRMED, h.closing.is_(False))
    facts: dict[str, set[str]] = {}
    for part in chunks(sorted(mine)):
        for r in conn.execute(placed.where(p.page_uid.in_(part), stands)):
            facts.setdefault(r.page_uid, set()).add(r.note_uid)
    return {page: frozenset(found) for page, found in facts.items()}


def _confirmed(conn: Connection, scope_id: int) -> int:
    h = t.heads.c
    query = select(func.count()).select_from(t.heads).where(h.scope_id == scope_id, h.status == Status.CONFIRMED, h.closing.is_(False))
    return conn.scalar(query) or 0


def _version_rows(conn: Connection, scope_id: int, dream_id: int, going: Sequence[Planned], first: int) -> Iterator[Told]:
    """The rows of all moves by note and slot, numbered from `first`; notes believed for the first time get their own row before."""
    ids = _added(conn, scope_id, dream_id, [p.note for p in going if p.note_id is None])
    ends = _full_rows(conn, [m.over.id for p in going for m in p.plan if m.told is None and m.over])
    steps = ((p, move) for p in going for move in p.plan)
    for n, (planned, move) in enumerate(steps, first):
        over = move.over.id if move.over else None
        if move.told is not None:
            note_id = ids[planned.note] if planned.note_id is None else planned.note_id
            yield version_row(move.told, note_id=note_id, n=n, closing=False, replaces=over)
        elif over is not None:
            end = {"closing": True, "replaces": over, "status": Status.RETRACTED.value, "reason": "recomputed", "content": ""}
            yield {**row_fields(ends[over]), **end, "n": n}


def _added(conn: Connection, scope_id: int, dream_id: int, notes: Sequence[str]) -> dict[str, int]:
    """The row ids of notes that had none. They are looked up by their changes: given as a list, PostgreSQL may look through all notes of the scope."""
    if not notes:
        return {}
    n, c = t.notes.c, t.changes.c
    add_new(conn, t.notes, [{"scope_id": scope_id, "uid": note} for note in notes])
    query = select(n.uid, n.id).join_from(t.changes, t.notes, and_(n.scope_id == scope_id, n.uid == c.note_uid))
    return {r.uid: r.id for r in conn.execute(query.where(c.dream_id == dream_id, c.about == _BELIEF, c.note_uid >= notes[0], c.note_uid <= notes[-1]))}


def _full_rows(conn: Connection, ids: Sequence[int]) -> dict[int, Any]:
    v = t.note_versions
    return {r.id: r for part in chunks(ids) for r in conn.execute(select(v).where(v.c.id.in_(part))).all()}


def _new_findings(conn: Connection, scope_id: int, findings: Mapping[str, Told]) -> list[dict[str, Any]]:
    """Rows of the findings that say something else than what stands."""
    standing = {note: (at, what) for part in chunks(sorted(findings)) for note, (_, at, what) in current_findings(conn, scope_id, part).items()}
    rows = []
    for note, payload in sorted(findings.items()):
        over, said = standing.get(note, (None, None))
        if said != payload["digest"]:
            told = payload["finding"]
            rows.append({"note_uid": note, "digest": payload["digest"], "verdict": told["verdict"], "why": told["why"], "body": dump(told), "replaces": over})
    return rows


def _settle(conn: Connection, dream: Any, kept: frozenset[str], rev: int | None) -> None:
    """Drop what is applied; what is held stays staged for a person."""
    c = t.changes.c
    if kept:
        for part in chunks(sorted(kept)):
            conn.execute(update(t.changes).where(c.dream_id == dream.id, c.about == _BELIEF, c.note_uid.in_(part)).values(state="held"))
    conn.execute(t.changes.delete().where(c.dream_id == dream.id, c.state != "held"))
    conn.execute(update(t.dreams).where(t.dreams.c.id == dream.id).values(applied_rev=rev if rev is not None else dream.applied_rev))
