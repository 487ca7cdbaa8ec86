"""What lineage and resolution ask of the store beside turns and claims: where all turns stand, which have no time, and claims by uid."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import func, select

from pipelines.model import Place, Turn, digest
from pipelines.ports import Occurrence
from pipelines.store import tables as t
from pipelines.store.ahead import stored_at, true_spans
from pipelines.store.claims import Claims
from pipelines.store.core import chunks
from pipelines.store.reading import Reading
from pipelines.store.values import GatedClaim


class Lineage(Reading, Claims):
    """Queries over a whole scope that computing witnesses needs."""

    def stands(self, scope: str) -> tuple[Occurrence, ...]:
        """Every (turn, session, ordinal) of the scope, without source and place: what shares turns with what."""
        o, s, c = t.occurrences.c, t.sessions.c, t.turns.c
        query = select(c.uid, s.uid.label("session"), o.ordinal).join_from(t.occurrences, t.sessions, s.id == o.session_id).join(t.turns, c.id == o.turn_id)
        nowhere = Place(line=1, offset=0, length=0)
        with self.reading("read which turns sessions share") as conn:
            rows = conn.execute(query.where(o.scope_id == self.scope_of(conn, scope)).distinct()).all()
        return tuple(Occurrence(turn=r.uid, session=r.session, ordinal=r.ordinal, source="", generation=0, place=nowhere) for r in rows)

    def untimed(self, scope: str) -> tuple[Turn, ...]:
        """The turns that state no time, by uid."""
        c = t.turns.c
        with self.reading("read the turns without a time") as conn:
            scope_id = self.scope_of(conn, scope)
            uids = [r.uid for r in conn.execute(select(c.uid).where(c.scope_id == scope_id, c.event_at.is_(None)).distinct())]
        return tuple(turn for _, turn in sorted(self.turns(scope, uids).items()))

    def spans(self, scope: str) -> Mapping[str, tuple[datetime | None, datetime | None]]:
        """First and last stated time of each session, but for times that cannot be (`ahead`)."""
        o, s, c = t.occurrences.c, t.sessions.c, t.turns.c
        with self.reading("read when sessions ran") as conn:
            scope_id = self.scope_of(conn, scope)

            def ran(columns: Sequence[Any], until: datetime | None, only: str | None) -> Sequence[Any]:
                query = select(s.uid.label("named"), *columns).join_from(t.occurrences, t.sessions, s.id == o.session_id).join(t.turns, c.id == o.turn_id)
                query = query.where(o.scope_id == scope_id, *(() if until is None else (c.event_at <= until, s.uid == only)))
                return conn.execute(query.group_by(s.uid)).all()

            return true_spans(conn, scope_id, ran)

    def last_arrival(self, scope: str) -> datetime | None:
        """When turns of the scope were last stored."""
        a = t.arrivals.c
        with self.reading("read when turns were stored") as conn:
            found: datetime | None = conn.scalar(select(func.max(a.recorded_at)).where(a.scope_id == self.scope_of(conn, scope)))
            return found

    def read_at(self, scope: str, session: str) -> datetime | None:
        """By when all turns of a session had been stored."""
        o, s = t.occurrences.c, t.sessions.c
        with self.reading("read when a session was stored") as conn:
            scope_id = self.scope_of(conn, scope)
            newest = conn.scalar(
                select(func.max(o.turn_id)).join_from(t.occurrences, t.sessions, s.id == o.session_id).where(o.scope_id == scope_id, s.uid == session)
            )
            return stored_at(conn, scope_id)(newest) if newest else None

    def said_bytes(self, scope: str) -> int:
        """UTF-8 bytes of what users and assistants said: what the wiki's size is measured against."""
        c = t.turns.c
        query = select(c.body).where(c.origin.in_(["user", "assistant"]))
        with self.reading("measure what was said") as conn:
            rows = conn.execute(query.where(c.scope_id == self.scope_of(conn, scope)).execution_options(yield_per=1000))
            return sum(len(r.body.encode("utf-8", "surrogatepass")) for r in rows)

    def claims_of(self, scope: str, uids: Iterable[str]) -> tuple[GatedClaim, ...]:
        """Those of these claims that a current reading holds, by uid."""
        c = t.claims.c
        mine = select(t.scopes.c.id).where(t.scopes.c.path == scope).scalar_subquery()
        found = select(c.id).where(c.scope_id == mine)  # by their ids: asked for by uid, SQLite looks through all claims of readings
        return self._gated(scope, ((t.read_claims.c.claim_id.in_(found.where(c.uid.in_(part))),) for part in chunks(sorted(set(uids)))))

    def quoting(self, scope: str, turns: Iterable[str]) -> frozenset[str]:
        """Uids of the claims that quote one of these turns."""
        q, c = t.quotes.c, t.claims.c
        with self.reading("look for claims by their turns") as conn:
            query = select(c.uid).join_from(t.quotes, t.claims, c.id == q.claim_id).where(q.scope_id == self.scope_of(conn, scope))
            return frozenset(uid for part in chunks(sorted(set(turns))) for uid in conn.scalars(query.where(q.turn_uid.in_(part))))

    def formats(self, scope: str) -> Mapping[str, str]:
        """Format of each source, by identity."""
        s = t.sources.c
        with self.reading("read the sources") as conn:
            rows = conn.execute(select(s.identity, s.format).where(s.scope_id == self.scope_of(conn, scope))).all()
        return {r.identity: r.format for r in rows}

    def segments(self, scope: str) -> tuple[tuple[str, int, int, int, str], ...]:
        """(source, generation, offset, length, blob) of everything in the archive, in order."""
        g, s = t.segments.c, t.sources.c
        query = select(s.identity, g.generation, g.offset, g.length, g.blob).join_from(t.segments, t.sources, s.id == g.source_id)
        with self.reading("read what is archived") as conn:
            rows = conn.execute(query.where(g.scope_id == self.scope_of(conn, scope))).all()
        return tuple(sorted((r.identity, r.generation, r.offset, r.length, r.blob) for r in rows))

    def inputs(self, scope: str) -> str:
        """A digest of all that intake and people have brought into the scope: how far each source is read, online notes and rulings. It holds no number of a
        row, so that an imported scope has the same."""
        s, n, r = t.sources.c, t.online_notes.c, t.rulings.c
        with self.reading("look for what is new") as conn:
            at = self.scope_of(conn, scope)
            # A new generation only raises the second sum; without one, offsets only grow: no two changes cancel out.
            sources = conn.execute(select(func.count(), func.sum(s.generation), func.sum(s.offset)).where(s.scope_id == at)).one()
            # Append-only: what is new raises the count; what a forget took and what came in its place differ by name.
            counts = [conn.scalar(select(func.count()).where(c.scope_id == at)) for c in (n, r)]
            newest = [conn.scalar(select(c.uid).where(c.scope_id == at).order_by(c.id.desc()).limit(1)) for c in (n, r)]
        return digest(repr(([int(n or 0) for n in sources], counts, newest)))  # sums are decimals on a server

    def sessions_in(self, scope: str, identity: str) -> frozenset[str]:
        """The sessions a source tells of."""
        s, i, src = t.sessions.c, t.session_infos.c, t.sources.c
        query = select(s.uid).join_from(t.sessions, t.session_infos, i.session_id == s.id).join(t.sources, src.id == i.source_id)
        with self.reading("read which sessions a file holds") as conn:
            return frozenset(conn.scalars(query.where(src.scope_id == self.scope_of(conn, scope), src.identity == identity)))

    def page_digests(self, scope: str) -> Mapping[str, str]:
        """Digest of each live page, by its path: what a published folder is compared with."""
        p, v = t.pages.c, t.page_versions.c
        query = select(p.slug, v.digest).join_from(t.pages, t.page_versions, (v.page_id == p.id) & (v.seq == p.head_seq))
        with self.reading("read the digests of pages") as conn:
            rows = conn.execute(query.where(p.scope_id == self.scope_of(conn, scope), p.retired.is_(False))).all()
        return {r.slug: r.digest for r in rows}
