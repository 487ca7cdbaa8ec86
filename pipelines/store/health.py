"""What tells whether a store's work gets done: queries only, each over what waits or over the newest rows, never over all a scope holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

from sqlalchemy import Connection, exists, func, select

from pipelines.store import life
from pipelines.store import tables as t
from pipelines.store.holder import process_of
from pipelines.store.measured import Folder, Measured, ProcessHealth, ScopeHealth, Spread, spread
from pipelines.store.requests import Requests
from pipelines.store.types import load

DREAMS = 20
"""The newest ended dreams of a scope, over which all is measured that needs several."""
UNREAD_MAX = 5_000
"""Sessions looked at for those nobody has read, the newest first."""
UNITS_MAX = 32
"""Units looked at for the sessions the newest dreams read: at most 64 sessions each."""
SCOPES_MAX = 50
"""Scopes looked at one by one, those where work waits first; the others are summed up."""
FAULTS_MAX = 1_000
LATELY = timedelta(days=1)

_ENDED = ("completed", "held", "failed")
_ENGINE = ("extract",)  # the stage that asks the engine
_VERB = "verify"
_RESULT = "{failed} of {citations} failed"


class Health(Requests):
    """Measuring; what the figures mean is judged by who asks (`pipelines.run.health`)."""

    def health(self, scope: str | None = None, *, scopes_max: int = SCOPES_MAX) -> Measured:
        """How the work on all scopes goes, or on one. One snapshot."""
        with self.reading("measure the health of the store") as conn:
            clock = _Clock(self.now(), self.clock_ms(conn))
            waits = _waits(conn, clock)
            chosen, others = _chosen(conn, waits, scope, scopes_max)
            left = [waits[i] for i in waits.keys() - {i for i, _ in chosen}] if scope is None else []
            return Measured(
                scopes=tuple(_scope(conn, i, path, waits.get(i, _Waits()), clock) for i, path in sorted(chosen, key=lambda c: c[1])), others=others,
                other_pending=sum(w.pending for w in left), other_due=sum(w.due for w in left), due_age_s=_most(w.due_age_s for w in waits.values()),
                processes=_processes(conn, clock), faults=_faults(conn, clock), letters=_count(conn, t.letters, None),
                letters_new=_count(conn, t.letters, clock.now - LATELY),
            )  # fmt: skip

    def verified(self, scope: str, *, citations: int, failed: int, hand: str) -> None:
        """Write down that somebody had every citation of a scope read again, and what came of it."""
        with self.writing("write down a verification") as conn:
            if (scope_id := self.scope_of(conn, scope)) is not None:
                self.add_audit(conn, scope_id, _VERB, hand, _RESULT.format(failed=failed, citations=citations), key=f"{scope} {self.now().isoformat()}")

    def page_count(self, scope: str) -> int:
        """How many pages are live."""
        p = t.pages.c
        with self.reading("count the pages") as conn:
            return conn.scalar(select(func.count()).select_from(t.pages).where(p.scope_id == self.scope_of(conn, scope), p.retired.is_(False))) or 0

    def newest_blobs(self, scope: str, limit: int) -> tuple[str, ...]:
        """Addresses of the bytes archived last for a scope: a sample to see whether its archive can be read."""
        s, src = t.segments.c, t.sources.c
        with self.reading("sample the archive") as conn:
            newest = select(src.id).where(src.scope_id == self.scope_of(conn, scope)).order_by(src.id.desc()).limit(limit)
            return tuple(conn.scalars(select(s.blob).where(s.source_id.in_(newest)).order_by(s.id.desc()).limit(limit)))


@dataclass(frozen=True, slots=True)
class _Clock:
    """What the host's clock says, by which rows are recorded, and the store's, by which leases and due times go."""

    now: datetime
    now_ms: int

    def age(self, at: datetime | None) -> float | None:
        return None if at is None else max(0.0, (self.now - at).total_seconds())

    def age_ms(self, at: int | None) -> float | None:
        return None if at is None else max(0.0, (self.now_ms - at) / 1000)


@dataclass(slots=True)
class _Waits:
    """What waits in one scope."""

    running: int = 0
    pending: int = 0
    pending_age_s: float | None = None
    due: int = 0
    due_age_s: float | None = None


def _waits(conn: Connection, clock: _Clock) -> dict[int, _Waits]:
    """What waits in every scope where something does."""
    d, j = t.dreams.c, t.jobs.c
    found: dict[int, _Waits] = {}
    dreams = select(d.scope_id, d.state, func.count().label("n"), func.min(d.requested_at).label("since"))
    for r in conn.execute(dreams.where(d.state.in_(("pending", "running"))).group_by(d.scope_id, d.state)):
        of = found.setdefault(r.scope_id, _Waits())
        if r.state == "running":
            of.running = r.n
        else:
            of.pending, of.pending_age_s = r.n, clock.age(r.since)
    jobs = select(j.scope_id, func.count().label("n"), func.min(j.run_ms).label("since")).join_from(t.jobs, t.dreams, d.id == j.dream_id)
    for r in conn.execute(jobs.where(j.state == "ready", j.run_ms <= clock.now_ms, d.state == "running").group_by(j.scope_id)):
        of = found.setdefault(r.scope_id, _Waits())
        of.due, of.due_age_s = r.n, clock.age_ms(r.since)
    return found


def _chosen(conn: Connection, waits: Mapping[int, _Waits], scope: str | None, most: int) -> tuple[list[tuple[int, str]], int]:
    """The scopes to look at (id and path), and how many there are beside them."""
    s = t.scopes.c
    if scope is not None:
        return [(r.id, r.path) for r in conn.execute(select(s.id, s.path).where(s.path == scope))], 0
    longest = sorted(waits, key=lambda i: (-(_most((waits[i].due_age_s, waits[i].pending_age_s)) or 0.0), i))[:most]
    rows = conn.execute(select(s.id, s.path).where(s.id.in_(longest))).all()
    if len(rows) < most:
        rows = [*rows, *conn.execute(select(s.id, s.path).where(s.id.not_in(longest)).order_by(s.id).limit(most - len(rows))).all()]
    return [(r.id, r.path) for r in rows], conn.execute(select(func.count()).select_from(t.scopes)).scalar_one() - len(rows)


def _scope(conn: Connection, scope_id: int, path: str, waits: _Waits, clock: _Clock) -> ScopeHealth:
    d, c = t.dreams.c, t.schedules.c
    columns = (d.id, d.state, d.code, d.requested_at, d.started_at, d.ended_at, d.applied_rev, d.dirty_upto)
    whole = (d.scope_id == scope_id, life.whole())
    dreams = conn.execute(select(*columns).where(*whole, d.state.in_(_ENDED)).order_by(d.id.desc()).limit(DREAMS)).all()
    done = conn.scalar(select(d.ended_at).where(*whole, d.state == "completed").order_by(d.id.desc()).limit(1))
    since = conn.scalar(select(func.min(c.since)).where(c.scope_id == scope_id, c.active.is_(True)))
    failed = next((n for n, row in enumerate(dreams) if row.state != "failed"), len(dreams))
    unread, began = _unread(conn, scope_id)
    told = _verified(conn, scope_id)
    return ScopeHealth(
        scope=path, success_age_s=clock.age(done), scheduled_s=clock.age(since), running=waits.running, pending=waits.pending,
        pending_age_s=waits.pending_age_s, due=waits.due, due_age_s=waits.due_age_s, unread=unread, unread_age_s=clock.age(began),
        to_page=_to_page(conn, scope_id, dreams), asked_to_page=spread([_s(r.ended_at, r.requested_at) for r in dreams if r.requested_at and _pages(r)]),
        failed_in_row=failed, failed_code=dreams[0].code if failed else "",
        held=conn.scalar(select(func.count()).select_from(t.dreams).where(d.scope_id == scope_id, d.state == "held")) or 0,
        parked=_parked(conn, dreams[:1]), engine_failures=_engine_failures(conn, dreams), unpromoted=_unpromoted(conn, scope_id, dreams),
        eligible=_eligible(conn, scope_id, dreams), verify_failed=told[0], verify_age_s=clock.age(told[1]), folders=_folders(conn, scope_id, clock),
    )  # fmt: skip


def _pages(row: Any) -> bool:
    """Whether a dream committed pages when it ended."""
    return row.state in {"completed", "held"} and row.ended_at is not None


def _s(end: datetime, begin: datetime) -> float:
    return (end - begin).total_seconds()


def _unread(conn: Connection, scope_id: int) -> tuple[int, datetime | None]:
    """How many of the newest sessions hold turns no engine has read, and when the first of these began."""
    s, h, r = t.sessions.c, t.session_heads.c, t.session_reads.c
    newest = select(s.id).where(s.scope_id == scope_id).order_by(s.id.desc()).limit(UNREAD_MAX).subquery()
    read = exists().where(r.session_id == h.session_id, r.digest == h.digest)
    query = select(func.count().label("n"), func.min(h.started_at).label("began")).join_from(newest, t.session_heads, h.session_id == newest.c.id)
    row = conn.execute(query.where(~read)).one()
    return row.n, row.began


def _to_page(conn: Connection, scope_id: int, dreams: Sequence[Any]) -> Spread | None:
    """From the newest event of the sessions a dream read to the commit of its pages, over the dreams that read any."""
    j, s, x = t.jobs.c, t.sessions.c, t.shown_sessions.c
    ended = {row.id: row.ended_at for row in dreams if _pages(row)}
    units = select(j.dream_id, j.result).where(j.dream_id.in_(ended), j.stage == "extract", j.state == "done").order_by(j.id.desc()).limit(UNITS_MAX)
    read: dict[str, list[int]] = {}
    for r in conn.execute(units):
        told = cast(dict[str, Any], load(r.result or "{}")).get("sessions")
        for uid in told if isinstance(told, list) else ():
            read.setdefault(str(uid), []).append(r.dream_id)
    last = select(s.uid, x.last_at).join_from(t.sessions, t.shown_sessions, x.session_id == s.id)
    newest: dict[int, datetime] = {}
    for r in conn.execute(last.where(s.scope_id == scope_id, s.uid.in_(read), x.last_at.is_not(None))):
        for dream in read[r.uid]:
            newest[dream] = max(r.last_at, newest.get(dream, r.last_at))
    return spread([_s(ended[dream], at) for dream, at in newest.items()])


def _parked(conn: Connection, dreams: Sequence[Any]) -> dict[str, int]:
    j = t.jobs.c
    query = select(j.code, func.count().label("n")).where(j.dream_id.in_([row.id for row in dreams]), j.state == "parked").group_by(j.code)
    return {r.code: r.n for r in sorted(conn.execute(query).all(), key=lambda r: r.code)}


def _engine_failures(conn: Connection, dreams: Sequence[Any]) -> int:
    """Units that ask the engine and failed at least once."""
    j = t.jobs.c
    failed = (j.failures > 0) | (j.state == "parked")
    query = select(func.count()).select_from(t.jobs).where(j.dream_id.in_([row.id for row in dreams]), j.stage.in_(_ENGINE), failed)
    return conn.scalar(query) or 0


def _unpromoted(conn: Connection, scope_id: int, dreams: Sequence[Any]) -> int:
    """How many of the newest dreams ended since one after which a note was confirmed, or confirmed anew."""
    r, v = t.revisions.c, t.note_versions.c
    confirmed = exists().where(v.scope_id == r.scope_id, v.rev == r.rev, v.status == "confirmed", v.closing.is_(False))
    revs = [row.applied_rev for row in dreams if row.applied_rev is not None]
    did = set(conn.scalars(select(r.rev).where(r.scope_id == scope_id, r.rev.in_(revs), confirmed)))
    return next((n for n, row in enumerate(dreams) if row.applied_rev in did), len(dreams))


def _eligible(conn: Connection, scope_id: int, dreams: Sequence[Any]) -> int:
    """Claims that passed all gates and that an ended dream meant to resolve and did not, and notes that are staged and held."""
    c, d, x, r, k = t.dirty_claims.c, t.dreams.c, t.changes.c, t.read_claims.c, t.claims.c
    upto = max((row.dirty_upto for row in dreams if row.dirty_upto is not None), default=0)
    passed = exists().where(k.scope_id == scope_id, k.uid == c.claim_uid, r.scope_id == scope_id, r.claim_id == k.id, r.outcome == "pass")
    waits = conn.scalar(select(func.count()).select_from(t.dirty_claims).where(c.scope_id == scope_id, c.id <= upto, passed)) or 0
    held = select(func.count()).select_from(t.changes).where(x.dream_id.in_(select(d.id).where(d.scope_id == scope_id, d.state == "held")), x.about == "belief")
    return waits + (conn.scalar(held) or 0)


def _verified(conn: Connection, scope_id: int) -> tuple[int | None, datetime | None]:
    """How many citations failed when they were last read again, and when that was."""
    a = t.audit.c
    row = conn.execute(select(a.about, a.recorded_at).where(a.scope_id == scope_id, a.verb == _VERB).order_by(a.id.desc()).limit(1)).one_or_none()
    number = "" if row is None else str(row.about).partition(" ")[0]
    return (int(number), row.recorded_at) if row is not None and number.isdecimal() else (None, None)


def _folders(conn: Connection, scope_id: int, clock: _Clock) -> tuple[Folder, ...]:
    """The folders that show a scope. Which revision its pages are at is only asked when beliefs are further than a folder."""
    w, s, p, r = t.wikis.c, t.scopes.c, t.pages.c, t.revisions.c
    out = []
    rows = conn.execute(select(w.marker, w.host, w.shown_rev, w.seen_at, s.revision).join_from(t.wikis, t.scopes, s.id == w.scope_id).where(s.id == scope_id))
    for row in rows.all():
        pages = conn.scalar(select(func.max(p.head_rev)).where(p.scope_id == scope_id)) or 0 if row.shown_rev < row.revision else row.shown_rev
        next_at = select(r.recorded_at).where(r.scope_id == scope_id, r.rev > row.shown_rev).order_by(r.rev).limit(1)
        behind = clock.age(conn.scalar(next_at)) if pages > row.shown_rev else None
        out.append(Folder(marker=row.marker, host=row.host, seen_age_s=clock.age(row.seen_at) or 0.0, behind_s=behind))
    return tuple(sorted(out, key=lambda f: f.marker))


def _processes(conn: Connection, clock: _Clock) -> tuple[ProcessHealth, ...]:
    p, j, d = t.processes.c, t.jobs.c, t.dreams.c
    held: dict[str, int] = {}
    holding = select(j.owner, j.run_ms).join_from(t.jobs, t.dreams, d.id == j.dream_id).where(j.state == "running", d.state == "running")
    for r in conn.execute(holding):
        name = process_of(r.owner or "")
        held[name] = min(r.run_ms, held.get(name, r.run_ms))
    out = []
    for r in conn.execute(select(t.processes).order_by(p.name)):
        began = clock.age(r.started_at) or 0.0
        idle = began if r.finished_ms is None else min(began, clock.age_ms(r.finished_ms) or 0.0)
        out.append(
            ProcessHealth(
                name=r.name, role=r.role, seen_age_s=clock.age_ms(r.seen_ms) or 0.0, idle_s=idle, done=r.done, failed=r.failed, held_s=clock.age_ms(held.get(r.name)),
            )
        )  # fmt: skip
    return tuple(out)


def _faults(conn: Connection, clock: _Clock) -> dict[str, int]:
    """Repairs of the last day, of the newest FAULTS_MAX."""
    f = t.faults.c
    newest = select(f.code, f.recorded_at).order_by(f.id.desc()).limit(FAULTS_MAX)
    return dict(sorted(Counter(r.code for r in conn.execute(newest) if r.recorded_at >= clock.now - LATELY).items()))


def _count(conn: Connection, table: Any, since: datetime | None) -> int:
    query = select(func.count()).select_from(table)
    return conn.scalar(query if since is None else query.where(table.c.recorded_at >= since)) or 0


def _most(ages: Iterable[float | None] | Collection[float | None]) -> float | None:
    return max((a for a in ages if a is not None), default=None)
