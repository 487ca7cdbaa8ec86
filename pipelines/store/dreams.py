"""A dream's life: started alone in its scope, staged, applied once, ended."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from sqlalchemy import Connection, select, update

from pipelines.errors import LeaseLost, Refused
from pipelines.model import digest
from pipelines.store import life
from pipelines.store import tables as t
from pipelines.store.apply import apply_changes
from pipelines.store.clock import Clocked
from pipelines.store.codec import decisions_of, finding_of, finding_out, version_of, version_out
from pipelines.store.core import put
from pipelines.store.life import dream_of
from pipelines.store.types import dump, load
from pipelines.store.values import Applied, BeliefChange, Change, Dream, FindingChange
from pipelines.store.work import REVERT

GUARD_FLOOR = 5  # so many confirmed notes may always change: in a small scope one correction is a large share
_OPEN = ("running", "planned", "held")
_ENDS = frozenset({"completed", "planned", "held", "failed", "canceled"})


class Dreams(Clocked):
    """One dream at a time runs over a scope; those that are planned or held do not occupy it."""

    def stage(self, dream: Dream, changes: Sequence[Change], reads: Mapping[str, Iterable[int]]) -> None:
        """Add what a unit wants changed, and the head tokens it saw of every note it read (none: the note was absent).

        Staging a note again replaces what was staged for it. Nothing is believed yet. Raises LeaseLost when the dream is over.
        """
        unseen = [c.note for c in changes if isinstance(c, BeliefChange) and c.note not in reads]
        if unseen:
            raise ValueError(f"changes of {unseen[:3]} do not say which heads they were planned against")
        with self.writing("stage changes") as conn:
            scope_id = self.locked_scope(conn, dream.scope)
            _, row = self._of(conn, dream)
            if row.state != "running" or row.applied_rev is not None:
                raise LeaseLost(f"dream {dream.uid} is {row.state}: stop")
            _stage(conn, scope_id, row.id, changes, reads)

    def planned(self, dream: Dream) -> tuple[Change, ...]:
        """What is staged and not applied yet, by note."""
        c = t.changes.c
        with self.reading("read the planned changes") as conn:
            _, row = self._of(conn, dream)
            rows = conn.execute(select(c.about, c.note_uid, c.payload).where(c.dream_id == row.id).order_by(c.about, c.note_uid)).all()
        return tuple(_change(r.about, r.note_uid, cast(dict[str, Any], load(r.payload))) for r in rows)

    def apply(self, dream: Dream, *, max_share: float, floor: int = GUARD_FLOOR) -> Applied:
        """Believe what was staged, in one transaction; a planned dream or the held part of one can be applied later.

        Raises Conflict when a note that was read has other heads now, naming it; nothing has moved then. When more confirmed notes than `max_share` of
        the scope's (and than `floor`) would lose or change their statement, those notes stay staged as held and the rest goes on; so do those of a page that
        would lose more than a quarter of its facts because nothing states them any more.
        """
        with self.writing("apply a dream") as conn:
            scope_id = self.locked_scope(conn, dream.scope)
            _, row = self._of(conn, dream)
            if row.state not in _OPEN or (row.state == "running" and row.applied_rev is not None):
                raise Refused(f"dream {dream.uid} is {row.state} and has nothing left to apply")
            return apply_changes(self, conn, scope_id, row, max_share=max_share, floor=floor)

    def apply_at_once(
        self, scope: str, *, uid: str, params: Mapping[str, object], holder: str, changes: Sequence[Change], reads: Mapping[str, Iterable[int]]
    ) -> Dream:
        """Take decisions back, or back again: a dream that is begun, applied and over in this transaction, whatever share of the scope it changes.

        It does not wait for a dream that runs; that one plans again where it had read the same notes. Raises Conflict as `apply`.
        """
        at, told = self.now(), dump({"only": REVERT, **params})
        new = {"uid": uid, "state": "planned", "cause": REVERT, "params": told, "holder": holder, "code": "", "started_at": at, "requested_at": at}
        with self.writing("revert") as conn:
            scope_id = self.locked_scope(conn, scope)
            rev = conn.scalar(select(t.scopes.c.revision).where(t.scopes.c.id == scope_id))
            conn.execute(t.dreams.insert(), {"scope_id": scope_id, "input_rev": rev, **new})
            mine = select(t.dreams).where(t.dreams.c.scope_id == scope_id, t.dreams.c.uid == uid)
            row = conn.execute(mine).one()
            _stage(conn, scope_id, row.id, changes, reads)
            apply_changes(self, conn, scope_id, row, max_share=1.0, floor=0)
            life.drop_staged(conn, row.id)
            conn.execute(update(t.dreams).where(t.dreams.c.id == row.id).values(state="completed", ended_at=self.now()))
            return dream_of(scope, conn.execute(mine).one())

    def summarise(self, dream: Dream, summary: Mapping[str, object]) -> None:
        """Keep what is to be told of a dream that was over before its pages were rendered; what is told already stays."""
        d = t.dreams.c
        with self.writing("summarise a dream") as conn:
            scope_id = self.locked_scope(conn, dream.scope)
            untold = (d.scope_id == scope_id, d.uid == dream.uid, d.summary.is_(None))
            conn.execute(update(t.dreams).where(*untold).values(summary=dump(dict(summary))))

    def finish_dream(self, dream: Dream, status: str, *, summary: Mapping[str, object] | None = None, code: str = "") -> Dream:
        """End a dream: completed, failed, or waiting for a person as planned or held (only these keep what is staged).

        What waits takes the place of what older dreams planned for the same notes: a scope that is held night after night keeps one plan a note.
        """
        if status not in _ENDS:
            raise ValueError(f"a dream does not end as {status!r}")
        with self.writing("end a dream") as conn:
            scope_id = self.locked_scope(conn, dream.scope)
            _, row = self._of(conn, dream)
            if row.state not in _OPEN:
                raise LeaseLost(f"dream {dream.uid} is {row.state} already")
            told = dump(dict(summary)) if summary is not None else row.summary
            waits = status in {"planned", "held"}
            if waits:
                life.supersede(conn, scope_id, row.id)
            life.end(self, conn, scope_id, row.id, {"state": status, "code": code, "summary": told, "ended_at": self.now()}, keep=waits)
            return dream_of(dream.scope, conn.execute(select(t.dreams).where(t.dreams.c.id == row.id)).one())

    def dream(self, scope: str, uid: str) -> Dream:
        """A dream by its uid; raises Refused when there is none."""
        with self.reading("look at a dream") as conn:
            row = conn.execute(select(t.dreams).where(t.dreams.c.scope_id == self.scope_of(conn, scope), t.dreams.c.uid == uid)).one_or_none()
        if row is None:
            raise Refused(f"{scope} has no dream {uid}")
        return dream_of(scope, row)

    def dreams(self, scope: str, *, limit: int | None = None) -> tuple[Dream, ...]:
        """The scope's dreams, newest first."""
        with self.reading("list the dreams") as conn:
            query = select(t.dreams).where(t.dreams.c.scope_id == self.scope_of(conn, scope)).order_by(t.dreams.c.id.desc()).limit(limit)
            return tuple(dream_of(scope, row) for row in conn.execute(query))

    def _of(self, conn: Connection, dream: Dream) -> tuple[int, Any]:
        """The dream's scope and row."""
        scope_id = self.scope_of(conn, dream.scope)
        assert scope_id is not None, "a dream has a scope"
        return scope_id, conn.execute(select(t.dreams).where(t.dreams.c.scope_id == scope_id, t.dreams.c.uid == dream.uid)).one()


def _stage(conn: Connection, scope_id: int, dream_id: int, changes: Sequence[Change], reads: Mapping[str, Iterable[int]]) -> None:
    rows = [{"scope_id": scope_id, "dream_id": dream_id, "state": "staged", "note_uid": c.note, **_staged(c)} for c in changes]
    put(conn, t.changes, ("dream_id", "about", "note_uid"), rows)
    seen = [{"scope_id": scope_id, "dream_id": dream_id, "note_uid": note, "seen": dump(sorted(tokens))} for note, tokens in sorted(reads.items())]
    put(conn, t.change_reads, ("dream_id", "note_uid"), seen)


def _staged(change: Change) -> dict[str, str]:
    decisions = [[d.stage, d.verb, d.reason, list(d.refs), d.note, d.engine, d.cost_micros] for d in change.decisions]
    if isinstance(change, FindingChange):
        told = finding_out(change.finding)
        return {"about": "finding", "payload": dump({"finding": told, "digest": digest(dump(told)), "decisions": decisions})}
    versions = [{**version_out(v), "content": v.content} for v in change.versions]
    return {"about": "belief", "payload": dump({"versions": versions, "decisions": decisions})}


def _change(about: str, note: str, payload: Mapping[str, Any]) -> Change:
    decisions = decisions_of(payload)
    if about == "finding":
        return FindingChange(finding=finding_of(payload["finding"]), decisions=decisions)
    return BeliefChange(note=note, versions=tuple(version_of(told) for told in payload["versions"]), decisions=decisions)
