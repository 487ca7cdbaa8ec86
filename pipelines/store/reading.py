"""Reading back what logs said: sessions, turns, where they stand, their order, and what a scope holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from sqlalchemy import Connection, delete, func, select

from pipelines.model import Basis, OrderKey, SessionInfo, Turn
from pipelines.ports import Occurrence
from pipelines.store import tables as t
from pipelines.store.codec import session_of
from pipelines.store.core import Core, add, chunks
from pipelines.store.dirty import mark
from pipelines.store.places import cited, cited_first, in_order, occurrence, places, said, standing_first, start, turn_at
from pipelines.store.types import load
from pipelines.store.values import BadRecord, Counts


class Reading(Core):
    """Turns, whichever file they came from."""

    def sessions(self, scope: str, uids: Iterable[str] | None = None) -> tuple[SessionInfo, ...]:
        """All sessions, or those of these uids that exist, by uid. Where several sources tell of one session, the source whose identity sorts last has the last word, field by field."""
        s, i = t.sessions.c, t.session_infos.c
        query = (
            select(s.uid, s.format, i.info)
            .outerjoin(t.session_infos, i.session_id == s.id)
            .outerjoin(t.sources, t.sources.c.id == i.source_id)
            .order_by(t.sources.c.id)
        )
        with self.reading("read the sessions") as conn:
            query = query.add_columns(t.sources.c.identity).where(s.scope_id == self.scope_of(conn, scope))
            parts = [()] if uids is None else [(s.uid.in_(part),) for part in chunks(sorted(set(uids)))]
            rows = [row for where in parts for row in conn.execute(query.where(*where))]
        told: dict[str, dict[str, Any]] = {}
        formats = {r.uid: r.format for r in rows}
        for row in sorted(rows, key=lambda r: (r.uid, r.identity or "")):
            told.setdefault(row.uid, {}).update(cast(dict[str, Any], load(row.info)) if row.info else {})
        return tuple(session_of(uid, formats[uid], told[uid]) for uid in sorted(told))

    def session_digest(self, scope: str) -> Mapping[str, str]:
        """A digest of each session's set of turns: equal sets, equal digests, in whatever order and from whatever files they came."""
        s, h = t.sessions.c, t.session_heads.c
        with self.reading("read the session digests") as conn:
            scope_id = self.scope_of(conn, scope)
            rows = conn.execute(select(s.uid, h.digest).join_from(t.sessions, t.session_heads, h.session_id == s.id).where(s.scope_id == scope_id))
            return {r.uid: r.digest for r in rows}

    def unread(self, scope: str, engine: str) -> Mapping[str, str]:
        """Sessions whose turns differ from those the engine last read, with the digest a reading of them is saved under; sorted by uid."""
        s, h, r = t.sessions.c, t.session_heads.c, t.session_reads.c
        query = (
            select(s.uid, h.digest, r.digest.label("read"))
            .join_from(t.sessions, t.session_heads, h.session_id == s.id)
            .outerjoin(t.session_reads, (r.session_id == s.id) & (r.engine == engine))
        )
        with self.reading("list the unread sessions") as conn:
            rows = conn.execute(query.where(s.scope_id == self.scope_of(conn, scope), r.digest.is_distinct_from(h.digest)))
            return dict(sorted((row.uid, row.digest) for row in rows))

    def session_sizes(self, scope: str, uids: Iterable[str]) -> Mapping[str, int]:
        """How many turns each of these sessions has."""
        s, h = t.sessions.c, t.session_heads.c
        query = select(s.uid, h.turns).join_from(t.sessions, t.session_heads, h.session_id == s.id)
        with self.reading("count the turns of sessions") as conn:
            query = query.where(s.scope_id == self.scope_of(conn, scope))
            return {r.uid: r.turns for part in chunks(sorted(set(uids))) for r in conn.execute(query.where(s.uid.in_(part)))}

    def turns_of(self, scope: str, session: str) -> tuple[Turn, ...]:
        """A session's turns by ordinal, each uid once: its longest text counts, then the greatest snap."""
        return self.turns_of_sessions(scope, [session]).get(session, ())

    def turns_of_sessions(self, scope: str, sessions: Iterable[str]) -> Mapping[str, tuple[Turn, ...]]:
        """The turns of several sessions, as `turns_of`, in a few queries."""
        s, o = t.sessions.c, t.occurrences.c
        first: dict[str, dict[str, Any]] = {}
        with self.reading("read sessions") as conn:
            scope_id = self.scope_of(conn, scope)
            ids = [i for part in chunks(sorted(set(sessions))) for i in conn.scalars(select(s.id).where(s.scope_id == scope_id, s.uid.in_(part)))]
            stands = [row for part in chunks(ids) for row in places(conn, scope_id, o.session_id.in_(part))]
            rows, saying = said(conn, scope_id, {r.uid for r in stands})
        for row in in_order(stands, saying, standing_first):
            first.setdefault(row.session, {}).setdefault(row.uid, row)
        found = {session: [turn_at(rows[uid], at) for uid, at in places.items()] for session, places in first.items()}
        return {session: tuple(sorted(turns, key=lambda turn: (turn.ordinal, turn.uid))) for session, turns in found.items()}

    def turns(self, scope: str, uids: Iterable[str]) -> Mapping[str, Turn]:
        """The turns that exist, as they stand in the session a page cites: the one that starts first, then by uid, then by line (systems R11)."""
        with self.reading("read turns") as conn:
            return {uid: turn for uid, (turn, _) in cited(conn, self.scope_of(conn, scope), uids).items()}

    def occurrences(self, scope: str, turn_uids: Iterable[str]) -> Mapping[str, tuple[Occurrence, ...]]:
        """Every place each turn stands in, the cited one first."""
        found: dict[str, dict[Occurrence, None]] = {}
        with self.reading("read where turns stand") as conn:
            scope_id = self.scope_of(conn, scope)
            for part in chunks(sorted(set(turn_uids))):
                _, saying = said(conn, scope_id, part)
                for r in in_order(places(conn, scope_id, t.turns.c.uid.in_(part)), saying, cited_first):
                    found.setdefault(r.uid, {})[occurrence(r)] = None
        return {uid: tuple(places) for uid, places in found.items()}

    def paths_of(self, scope: str, sources: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
        """The files each of these sources was read from, as they were named then, by path; none of a stream and of one that is forgotten."""
        f, found = t.files.c, dict[str, list[str]]()
        with self.reading("read where logs lie") as conn:
            scope_id = self.scope_of(conn, scope)
            for part in chunks(sorted(set(sources))):
                for row in conn.execute(select(f.identity, f.path).where(f.scope_id == scope_id, f.identity.in_(part)).order_by(f.path)):
                    found.setdefault(row.identity, []).append(row.path)
        return {identity: tuple(paths) for identity, paths in found.items()}

    def members(self, scope: str) -> Mapping[str, frozenset[str]]:
        """The turn uids of each session: what lineage is computed from."""
        o, s, c = t.occurrences.c, t.sessions.c, t.turns.c
        query = select(s.uid, c.uid.label("turn")).join_from(t.occurrences, t.sessions, s.id == o.session_id).join(t.turns, c.id == o.turn_id).distinct()
        found: dict[str, set[str]] = {}
        with self.reading("read which turns sessions share") as conn:
            for row in conn.execute(query.where(s.scope_id == self.scope_of(conn, scope))):
                found.setdefault(row.uid, set()).add(row.turn)
        return {uid: frozenset(turns) for uid, turns in found.items()}

    def save_order(self, scope: str, keys: Iterable[OrderKey]) -> None:
        """Replace the order of every session named in `keys` by these keys.

        What is believed of a claim follows the time and place of the turns it quotes: the claims of turns that have another key than before are dirty from
        now on, in the same transaction.
        """
        keys = list(keys)
        named = sorted({key.session for key in keys})
        s, o = t.sessions.c, t.turn_order.c
        with self.writing("save the order of turns") as conn:
            scope_id = self.locked_scope(conn, scope)
            ids = {r.uid: r.id for part in chunks(named) for r in conn.execute(select(s.id, s.uid).where(s.scope_id == scope_id, s.uid.in_(part)))}
            rows = [
                {"turn_uid": k.uid, "session_id": ids[k.session], "order_at": k.at, "ordinal": k.ordinal, "basis": k.basis.value, "known": k.known}
                for k in keys
            ]
            mark(conn, scope_id, _quoting(conn, scope_id, _moved(conn, ids.values(), rows)), "order")
            for part in chunks(ids.values()):
                conn.execute(delete(t.turn_order).where(o.session_id.in_(part)))
            add(conn, t.turn_order, [{"scope_id": scope_id, **row} for row in rows])

    def order(self, scope: str, uids: Iterable[str]) -> Mapping[str, OrderKey]:
        """The key of each turn in the session a page cites it from."""
        o, s, h = t.turn_order.c, t.sessions.c, t.session_heads.c
        query = (
            select(o.turn_uid, o.order_at, o.ordinal, o.basis, o.known, s.uid.label("session"), h.started_at)
            .join_from(t.turn_order, t.sessions, s.id == o.session_id)
            .join(t.session_heads, h.session_id == s.id)
        )
        found: dict[str, OrderKey] = {}
        with self.reading("read the order of turns") as conn:
            scope_id = self.scope_of(conn, scope)
            for part in chunks(sorted(set(uids))):
                rows = conn.execute(query.where(o.scope_id == scope_id, o.turn_uid.in_(part)))
                for r in sorted(rows, key=lambda r: (start(r.started_at), r.session, r.ordinal)):
                    key = OrderKey(known=r.known, at=r.order_at, session=r.session, ordinal=r.ordinal, uid=r.turn_uid, basis=Basis(r.basis))
                    found.setdefault(r.turn_uid, key)
        return found

    def counts(self, scope: str) -> Counts:
        """What the scope holds."""
        c, src = t.turns.c, t.sources.c
        with self.reading("count") as conn:
            at = self.scope_of(conn, scope)
            origins = {r.origin: r.n for r in conn.execute(select(c.origin, func.count().label("n")).where(c.scope_id == at).group_by(c.origin))}
            total = conn.execute(select(func.count(), func.sum(src.line), func.sum(src.pending), func.sum(src.redacted)).where(src.scope_id == at)).one()
            return Counts(
                origins=dict(sorted(origins.items())), sources=total[0], sessions=_count(conn, t.sessions, at), turns=sum(origins.values()),
                lines=int(total[1] or 0), bad=_count(conn, t.bad_spans, at), pending=int(total[2] or 0), redacted=int(total[3] or 0),
                archived=int(conn.scalar(select(func.sum(t.segments.c.length)).where(t.segments.c.scope_id == at)) or 0),
            )  # fmt: skip

    def bad_records(self, scope: str, *, limit: int) -> tuple[BadRecord, ...]:
        """Where the scope's logs hold bytes that are no record, and why, by file and line; at most `limit`."""
        b, s, f = t.bad_spans.c, t.sources.c, t.files.c
        named = select(func.min(f.path)).where(f.scope_id == s.scope_id, f.identity == s.identity).scalar_subquery()
        query = select(named.label("path"), s.identity, b.line, b.length, b.reason).join_from(t.bad_spans, t.sources, s.id == b.source_id)
        with self.reading("read which records are bad") as conn:
            query = query.where(b.scope_id == self.scope_of(conn, scope), b.generation == s.generation).order_by("path", s.identity, b.offset).limit(limit)
            return tuple(BadRecord(source=r.path or r.identity, line=r.line, length=r.length, reason=r.reason) for r in conn.execute(query))


def _count(conn: Connection, table: Any, scope_id: int | None) -> int:
    return conn.scalar(select(func.count()).select_from(table).where(table.c.scope_id == scope_id)) or 0


def _moved(conn: Connection, sessions: Iterable[int], rows: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """The turns that have a key in one of these sessions and, by these rows of `turn_order`, will have another or none."""
    o = t.turn_order.c
    query = select(o.turn_uid, o.session_id, o.order_at, o.ordinal, o.basis, o.known)
    wanted = {(row["turn_uid"], row["session_id"]): row for row in rows}
    stood = [dict(r._mapping) for part in chunks(sessions) for r in conn.execute(query.where(o.session_id.in_(part)))]
    return frozenset(row["turn_uid"] for row in stood if wanted.get((row["turn_uid"], row["session_id"])) != row)


def _quoting(conn: Connection, scope_id: int, turns: Iterable[str]) -> frozenset[str]:
    """The claims of current readings that quote one of these turns."""
    q, c, r = t.quotes.c, t.claims.c, t.read_claims.c
    query = select(c.uid).join_from(t.quotes, t.claims, c.id == q.claim_id).join(t.read_claims, r.claim_id == c.id).where(q.scope_id == scope_id)
    return frozenset(uid for part in chunks(sorted(turns)) for uid in conn.scalars(query.where(q.turn_uid.in_(part)).distinct()))
