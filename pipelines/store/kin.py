"""Which sessions share turns, kept as rows: a dream asks whose witness a session is, and only what came in since the last time is compared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, Select, delete, exists, func, select

from pipelines.logs.lineage import content_key, runs
from pipelines.store import tables as t
from pipelines.store.core import add, add_new, chunks, put
from pipelines.store.lineage import Lineage
from pipelines.store.places import cited
from pipelines.store.projection import newest_row


class Kinship(Lineage):
    """Lineage without looking at the whole scope. A projection over `occurrences`, which are never taken back but by a forget, which drops it."""

    def kin(self, scope: str) -> tuple[tuple[str, str], ...]:
        """Pairs of sessions that share a turn or a long run of turns without a time (`logs.lineage`), enough to tie every lineage together."""
        with self.reading("look for new turns") as conn:
            scope_id = self.scope_of(conn, scope)
            newest, seen = newest_row(conn, t.occurrences, scope_id), _seen(conn, scope_id)
        if newest != seen:
            with self.writing("compare new turns") as conn:
                _compare(conn, self.locked_scope(conn, scope))
        with self.reading("read which sessions are kin") as conn:
            return _pairs(conn, scope_id)

    def turns_in(self, scope: str, sessions: Iterable[str], *, quoted: bool = False) -> frozenset[str]:
        """Uids of the turns that stand in these sessions; with `quoted` only of those that some claim quotes, which are few."""
        o, s, c, q = t.occurrences.c, t.sessions.c, t.turns.c, t.quotes.c
        query = select(c.uid).join_from(t.occurrences, t.sessions, s.id == o.session_id).join(t.turns, c.id == o.turn_id).distinct()
        with self.reading("read the turns of sessions") as conn:
            scope_id = self.scope_of(conn, scope)
            query = query.where(s.scope_id == scope_id, *((exists().where(q.scope_id == scope_id, q.turn_uid == c.uid),) if quoted else ()))
            return frozenset(uid for part in chunks(sorted(set(sessions))) for uid in conn.scalars(query.where(s.uid.in_(part))))


def _seen(conn: Connection, scope_id: int | None) -> int:
    return conn.scalar(select(t.kin_marks.c.occurrence).where(t.kin_marks.c.scope_id == scope_id)) or 0


def _compare(conn: Connection, scope_id: int) -> None:
    """Tie the sessions of new occurrences to whoever else holds their turns, and their runs to whoever else says the same."""
    o, c = t.occurrences.c, t.turns.c
    newest, seen = newest_row(conn, t.occurrences, scope_id), _seen(conn, scope_id)
    fresh = (o.scope_id == scope_id, o.id > seen, o.id <= newest)
    held: defaultdict[str, set[int]] = defaultdict(set)
    for part in chunks(sorted(conn.scalars(_shared(scope_id).where(*fresh)))):
        query = select(c.uid, o.session_id).join_from(t.occurrences, t.turns, c.id == o.turn_id).where(o.scope_id == scope_id)
        for r in conn.execute(query.where(c.scope_id == scope_id, c.uid.in_(part))):
            held[r.uid].add(r.session_id)
    ties = {(min(sessions), other) for sessions in held.values() for other in sessions if other != min(sessions)}
    add_new(conn, t.kin_links, [{"scope_id": scope_id, "session_id": a, "other_id": b} for a, b in sorted(ties)])
    untimed = select(o.session_id).join_from(t.occurrences, t.turns, c.id == o.turn_id).where(*fresh, c.event_at.is_(None)).distinct()
    _say(conn, scope_id, sorted(conn.scalars(untimed)))
    put(conn, t.kin_marks, ("scope_id",), [{"scope_id": scope_id, "occurrence": newest}])


def _shared(scope_id: int) -> Select[Any]:
    """Uids of turns that stand in another session, too: most stand in one, and only the database has to look at those."""
    o, c = t.occurrences.c, t.turns.c
    also, there = t.turns.alias("also"), t.occurrences.alias("there")
    elsewhere = exists().where(
        also.c.scope_id == scope_id, also.c.uid == c.uid, there.c.turn_id == also.c.id, there.c.scope_id == scope_id, there.c.session_id != o.session_id
    )  # fmt: skip
    return select(c.uid).join_from(t.occurrences, t.turns, c.id == o.turn_id).where(elsewhere).distinct()


def _say(conn: Connection, scope_id: int, sessions: list[int]) -> None:
    """The runs of these sessions' turns anew."""
    o, c = t.occurrences.c, t.turns.c
    query = select(c.uid, o.ordinal, c.event_at).join_from(t.occurrences, t.turns, c.id == o.turn_id).where(o.scope_id == scope_id)
    for session in sessions:
        stands = {(r.ordinal, r.uid) for r in conn.execute(query.where(o.session_id == session))}
        untimed = {uid for part in chunks(sorted({uid for _, uid in stands})) for uid in _untimed(conn, scope_id, part)}
        said = {uid: content_key(turn) for uid, (turn, _) in cited(conn, scope_id, untimed).items()}
        found = set(runs([said.get(uid) for _, uid in sorted(stands)]))
        conn.execute(delete(t.kin_runs).where(t.kin_runs.c.session_id == session))
        add(conn, t.kin_runs, [{"scope_id": scope_id, "session_id": session, "run": run} for run in sorted(found)])


def _untimed(conn: Connection, scope_id: int, uids: list[str]) -> list[str]:
    c = t.turns.c
    return list(conn.scalars(select(c.uid).where(c.scope_id == scope_id, c.uid.in_(uids), c.event_at.is_(None)).distinct()))


def _pairs(conn: Connection, scope_id: int | None) -> tuple[tuple[str, str], ...]:
    link, r = t.kin_links.c, t.kin_runs.c
    pairs = [(a, b) for a, b in conn.execute(select(link.session_id, link.other_id).where(link.scope_id == scope_id))]
    shared = select(r.run).where(r.scope_id == scope_id).group_by(r.run).having(func.count() > 1)
    first: dict[str, int] = {}
    for run, session in conn.execute(select(r.run, r.session_id).where(r.scope_id == scope_id, r.run.in_(shared))):
        pairs.append((first.setdefault(run, session), session))
    names: dict[int, Any] = {}
    for part in chunks(sorted({n for pair in pairs for n in pair})):
        names.update((x.id, x.uid) for x in conn.execute(select(t.sessions.c.id, t.sessions.c.uid).where(t.sessions.c.id.in_(part))))
    return tuple((names[a], names[b]) for a, b in pairs)
