"""A dream's life: started alone in its scope, staged, applied once, ended."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from sqlalchemy import Connection, func, select, update

from pipelines.errors import LeaseLost, Refused
from pipelines.model import digest, short_uid
from pipelines.store import life
from pipelines.store import tables as t
from pipelines.store.apply import apply_changes
from pipelines.store.clock import Clocked
from pipelines.store.codec import decisions_of, finding_of, finding_out, instant_out, version_of, version_out
from pipelines.store.core import put
from pipelines.store.holder import alive, host_of
from pipelines.store.life import dream_of
from pipelines.store.types import dump, load
from pipelines.store.values import Applied, BeliefChange, Change, Dream, DreamRunning, FindingChange

GUARD_FLOOR = 5  # so many confirmed notes may always change: in a small scope one correction is a large share
_OPEN = ("running", "planned", "held")
_ENDS = frozenset({"completed", "planned", "held", "failed", "canceled"})


class Dreams(Clocked):
    """One dream at a time runs over a scope; those that are planned or held do not occupy it."""

    def start_dream(
        self, scope: str, *, cause: str, holder: str, params: Mapping[str, object] | None = None, is_alive: Callable[[str], bool] | None = None
    ) -> Dream:
        """Begin a dream. Raises DreamRunning while another holder lives; a dead one's dream is marked failed and its staging dropped."""
        d = t.dreams.c
        with self.writing("start a dream") as conn:
            scope_id = self.locked_scope(conn, scope)
            at = self.now()
            running = conn.execute(select(t.dreams).where(d.scope_id == scope_id, d.state == "running")).one_or_none()
            if running is not None:
                if is_alive(running.holder) if is_alive else alive(running.holder, host=host_of(holder)):
                    raise DreamRunning(scope, running.uid, running.holder, running.started_at)
                conn.execute(update(t.dreams).where(d.id == running.id).values(state="failed", code="holder_gone", ended_at=at))
                life.drop_staged(conn, running.id)
            before = conn.scalar(select(func.count()).select_from(t.dreams).where(d.scope_id == scope_id))
            rev = conn.execute(select(t.scopes.c.revision).where(t.scopes.c.id == scope_id)).scalar_one()
            uid = short_uid(scope, instant_out(at) or "", holder, str(before))
            row = {"scope_id": scope_id, "uid": uid, "state": "running", "cause": cause, "params": dump(dict(params or {})), "holder": holder,
                   "input_rev": rev, "code": "", "started_at": at}  # fmt: skip
            conn.execute(t.dreams.insert(), row)
            return dream_of(scope, conn.execute(select(t.dreams).where(d.scope_id == scope_id, d.uid == uid)).one())

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
            rows = [{"scope_id": scope_id, "dream_id": row.id, "state": "staged", "note_uid": c.note, **_staged(c)} for c in changes]
            put(conn, t.changes, ("dream_id", "about", "note_uid"), rows)
            seen = [{"scope_id": scope_id, "dream_id": row.id, "note_uid": note, "seen": dump(sorted(tokens))} for note, tokens in sorted(reads.items())]
            put(conn, t.change_reads, ("dream_id", "note_uid"), seen)

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
        the scope's (and than `floor`) would lose or change their statement, those notes stay staged as held and the rest goes on.
        """
        with self.writing("apply a dream") as conn:
            scope_id = self.locked_scope(conn, dream.scope)
            _, row = self._of(conn, dream)
            if row.state not in _OPEN or (row.state == "running" and row.applied_rev is not None):
                raise Refused(f"dream {dream.uid} is {row.state} and has nothing left to apply")
            return apply_changes(self, conn, scope_id, row, max_share=max_share, floor=floor)

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

    def cancel_dream(self, dream: Dream) -> Dream:
        """End a dream before it is applied; a running unit learns it at its next commit. Afterwards it is refused."""
        with self.reading("look at a dream") as conn:
            _, row = self._of(conn, dream)
        if row.applied_rev is not None:
            raise Refused(f"dream {dream.uid} was applied as revision {row.applied_rev}; what is applied cannot be canceled")
        return self.finish_dream(dream, "canceled")

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
