"""The one transaction that moves beliefs. What is to be done is decided by pure functions over what stands and what is wanted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, cast

from sqlalchemy import Connection, func, select, update

from pipelines.errors import Conflict
from pipelines.model import Status
from pipelines.store import tables as t
from pipelines.store.beliefs import add_decisions, add_versions, row_fields
from pipelines.store.codec import decisions_of, version_row
from pipelines.store.core import Core, add, add_new, chunks
from pipelines.store.dirty import resolved
from pipelines.store.online import current_findings
from pipelines.store.types import dump, load
from pipelines.store.values import Applied

Told = Mapping[str, Any]
_NAMED = 5  # notes named in a Conflict's message


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


def apply_changes(core: Core, conn: Connection, scope_id: int, dream: Any, *, max_share: float, floor: int) -> Applied:
    """Check the reads and the guard over everything staged, then write it. The scope's row is locked."""
    beliefs, findings = _staged(conn, dream.id)
    _check_reads(conn, scope_id, dream, beliefs)
    stands = _stands(conn, scope_id, beliefs)
    plans = {note: plan for note, payload in beliefs.items() if (plan := moves(stands.get(note, ()), payload["versions"]))}
    kept = held(plans, confirmed=_confirmed(conn, scope_id), max_share=max_share, floor=floor)
    words = _new_findings(conn, scope_id, findings)
    rows = _count(plans, kept) + len(words)
    rev = core_rev = conn.execute(select(t.scopes.c.revision).where(t.scopes.c.id == scope_id)).scalar_one()
    if rows:
        rev, at = core.next_revision(conn, scope_id, cause=dream.cause, hand="dreamd", dream=dream.uid, counts={"rows": rows, "held": len(kept)})
        going = {note: plan for note, plan in plans.items() if note not in kept}
        add_versions(conn, scope_id, rev, at, _version_rows(conn, scope_id, going))
        add(conn, t.findings, [{**w, "scope_id": scope_id, "rev": rev, "recorded_at": at} for w in words])
        payloads = chain((beliefs[note] for note in sorted(going)), (findings[w["note_uid"]] for w in words))
        add_decisions(conn, scope_id, rev, at, (d for p in payloads for d in decisions_of(p)), dream=dream.uid)
    _settle(conn, dream, kept, rev if rev != core_rev else None)
    if not kept:  # what a person has to look at first stays to be resolved
        resolved(conn, scope_id, dream.dirty_upto)
    return Applied(revision=rev, inserted=rows, held=tuple(sorted(kept)))


def _count(plans: Mapping[str, Sequence[Move]], kept: frozenset[str]) -> int:
    return sum(len(plan) for note, plan in plans.items() if note not in kept)


def _staged(conn: Connection, dream_id: int) -> tuple[dict[str, Told], dict[str, Told]]:
    """Staged payloads of beliefs and of findings, by note."""
    c = t.changes.c
    beliefs: dict[str, Told] = {}
    findings: dict[str, Told] = {}
    for r in conn.execute(select(c.about, c.note_uid, c.payload).where(c.dream_id == dream_id)).all():
        (beliefs if r.about == "belief" else findings)[r.note_uid] = cast(Told, load(r.payload))
    return beliefs, findings


def _check_reads(conn: Connection, scope_id: int, dream: Any, changed: Iterable[str]) -> None:
    """Refuse when a note that was read has other heads now. Of a dream applied in part only the notes still to be changed count: it moved the rest itself."""
    c, h = t.change_reads.c, t.heads.c
    seen = {r.note_uid: frozenset(cast(list[int], load(r.seen))) for r in conn.execute(select(c.note_uid, c.seen).where(c.dream_id == dream.id)).all()}
    if dream.applied_rev is not None:
        seen = {note: seen[note] for note in changed if note in seen}
    now: dict[str, set[int]] = {}
    query = select(t.notes.c.uid, h.version_id).join_from(t.heads, t.notes, t.notes.c.id == h.note_id)
    query = query.where(t.notes.c.scope_id == scope_id, h.closing.is_(False))
    for part in chunks(sorted(seen)):
        for r in conn.execute(query.where(t.notes.c.uid.in_(part))).all():
            now.setdefault(r.uid, set()).add(r.version_id)
    moved = [note for note, tokens in sorted(seen.items()) if tokens != now.get(note, set())]
    if moved:
        more = f" and {len(moved) - _NAMED} more" if len(moved) > _NAMED else ""
        raise Conflict(f"{len(moved)} notes changed since dream {dream.uid} read them ({', '.join(moved[:_NAMED])}{more}): plan again")


def _stands(conn: Connection, scope_id: int, notes: Iterable[str]) -> dict[str, list[Stands]]:
    h, v = t.heads.c, t.note_versions.c
    query = (
        select(t.notes.c.uid, v.id, v.slot, v.status, v.closing, v.content, v.statement, v.value)
        .join_from(t.heads, t.notes, t.notes.c.id == h.note_id)
        .join(t.note_versions, v.id == h.version_id)
        .where(t.notes.c.scope_id == scope_id)
    )
    found: dict[str, list[Stands]] = {}
    for part in chunks(sorted(notes)):
        for r in conn.execute(query.where(t.notes.c.uid.in_(part))).all():
            found.setdefault(r.uid, []).append(Stands(r.id, r.slot, r.status, r.closing, r.content, r.statement, r.value))
    return found


def _confirmed(conn: Connection, scope_id: int) -> int:
    h = t.heads.c
    query = select(func.count()).select_from(t.heads).where(h.scope_id == scope_id, h.status == Status.CONFIRMED, h.closing.is_(False))
    return conn.scalar(query) or 0


def _version_rows(conn: Connection, scope_id: int, plans: Mapping[str, Sequence[Move]]) -> Iterator[dict[str, Any]]:
    """The rows of all moves, by note and slot; notes believed for the first time get their own row first."""
    n = t.notes.c
    add_new(conn, t.notes, [{"scope_id": scope_id, "uid": note} for note in sorted(plans)])
    ids = {r.uid: r.id for part in chunks(sorted(plans)) for r in conn.execute(select(n.uid, n.id).where(n.scope_id == scope_id, n.uid.in_(part))).all()}
    ends = _full_rows(conn, [m.over.id for plan in plans.values() for m in plan if m.told is None and m.over])
    for note, plan in sorted(plans.items()):
        for move in plan:
            over = move.over.id if move.over else None
            if move.told is not None:
                yield {**version_row(move.told), "note_id": ids[note], "closing": False, "replaces": over}
            elif over is not None:
                end = {"closing": True, "replaces": over, "status": Status.RETRACTED.value, "reason": "recomputed", "content": ""}
                yield {**row_fields(ends[over]), **end}


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
            conn.execute(update(t.changes).where(c.dream_id == dream.id, c.about == "belief", c.note_uid.in_(part)).values(state="held"))
    conn.execute(t.changes.delete().where(c.dream_id == dream.id, c.state != "held"))
    conn.execute(update(t.dreams).where(t.dreams.c.id == dream.id).values(applied_rev=rev if rev is not None else dream.applied_rev))
