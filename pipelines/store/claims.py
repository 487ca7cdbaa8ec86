"""Claims of current readings, the relations between them, and people's rulings.

A claim's row is written once and stays. Which claims count is the reading of each session, a projection replaced as a whole: one reading a session and
family of engines ("local/2" takes the place of "local/1", not that of "claude/1").
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, cast

from sqlalchemy import Connection, Select, delete, insert, select

from pipelines.errors import Permanent
from pipelines.model import Claim, Question, Quote, Relation, Ruling
from pipelines.store import tables as t
from pipelines.store.codec import claim_of, claim_row, questions_of, questions_out, results_of, results_out
from pipelines.store.core import CHUNK, add, add_new, chunks
from pipelines.store.dirty import Dirty, mark
from pipelines.store.types import dump, load, storable
from pipelines.store.values import ClaimRelation, GatedClaim, NamedReading


class Claims(Dirty):
    """What engines read in the turns."""

    def save_reading(
        self, scope: str, session: str, *, engine: str, digest: str, claims: Sequence[GatedClaim], questions: Sequence[Question] = ()
    ) -> frozenset[str]:
        """Make this the engine's reading of the session; returns the uids of claims that came, left or changed (their words, keys or gate results).

        Those are dirty from now on, in the same transaction.
        `digest` is the one `unread` gave for the turns that were read. Raises Permanent for a session the scope does not have.
        """
        with self.writing("save a reading") as conn:
            scope_id = self.locked_scope(conn, scope)
            session_id = conn.scalar(select(t.sessions.c.id).where(t.sessions.c.scope_id == scope_id, t.sessions.c.uid == session))
            if session_id is None:
                raise Permanent(f"{scope} has no session {session}")
            before = _take_back(conn, scope_id, session_id, engine)
            rows = {row["uid"]: row for row in map(claim_row, (gated.claim for gated in claims))}
            ids = _add_claims(conn, scope_id, rows, [gated.claim for gated in claims])
            read = {"scope_id": scope_id, "session_id": session_id, "engine": engine, "digest": digest, "questions": questions_out(tuple(questions))}
            read_id = conn.execute(insert(t.session_reads).values(read).returning(t.session_reads.c.id)).scalar_one()
            after = _add_read_claims(conn, scope_id, read_id, ids, {g.claim.uid: g for g in claims})
            changed = frozenset(uid for uid in before.keys() | after.keys() if before.get(uid) != after.get(uid))
            mark(conn, scope_id, changed, "read")
        return changed

    def all_claims(self, scope: str, *, without: Collection[str] = ()) -> tuple[GatedClaim, ...]:
        """Every claim of a current reading but these, by uid."""
        return self._gated(scope, [()], without)

    def holds_only(self, scope: str, uids: Collection[str]) -> bool:
        """Whether current readings hold no claim but of these; no more is looked at than tells."""
        query = select(t.claims.c.uid).join_from(t.read_claims, t.claims, t.claims.c.id == t.read_claims.c.claim_id).distinct()
        with self.reading("look for other claims") as conn:
            found = conn.scalars(query.where(t.read_claims.c.scope_id == self.scope_of(conn, scope)).limit(len(uids) + 1))
            return all(uid in uids for uid in found)

    def claims_in_groups(self, scope: str, groups: Iterable[str]) -> tuple[GatedClaim, ...]:
        """Claims of current readings with one of these group keys."""
        return self._gated(scope, ((t.read_claims.c.group_key.in_(part),) for part in chunks(sorted(map(storable, set(groups))))))

    def claims_in_blocks(
        self, scope: str, blocks: Iterable[str], *, attribute: str | None = None, without: Collection[str] = ()
    ) -> tuple[GatedClaim, ...]:  # fmt: skip
        """Claims of current readings that share one of these block keys; with `attribute` only those that say something of it, and never those `without`."""
        b = t.claim_blocks.c
        mine = select(t.scopes.c.id).where(t.scopes.c.path == scope).scalar_subquery()
        found = select(b.read_claim_id).where(b.scope_id == mine)
        of = () if attribute is None else (t.claims.c.attribute == attribute,)
        parts = chunks(sorted(map(storable, set(blocks))))
        return self._gated(scope, ((t.read_claims.c.id.in_(found.where(b.block_key.in_(part))), *of) for part in parts), without)

    def blocks_known(self, scope: str, blocks: Iterable[str]) -> frozenset[str]:
        """Those of these block keys that claims of current readings have."""
        b = t.claim_blocks.c
        with self.reading("look up block keys") as conn:
            scope_id = self.scope_of(conn, scope)
            query = select(b.block_key).where(b.scope_id == scope_id).distinct()
            return frozenset(key for part in chunks(sorted(map(storable, set(blocks)))) for key in conn.scalars(query.where(b.block_key.in_(part))))

    def claims(self, scope: str, uids: Iterable[str]) -> Mapping[str, Claim]:
        """Claims by uid, whether a reading still holds them or not: what a version of long ago rests on."""
        c = t.claims.c
        with self.reading("read claims") as conn:
            scope_id = self.scope_of(conn, scope)
            rows = [r for part in chunks(sorted(set(uids))) for r in conn.execute(select(t.claims).where(c.scope_id == scope_id, c.uid.in_(part)))]
            quotes = _quotes(conn, [r.id for r in rows])
        return {r.uid: claim_of(r, quotes[r.id]) for r in sorted(rows, key=lambda r: (r.uid, r.digest))}

    def questions(self, scope: str) -> Mapping[str, tuple[Question, ...]]:
        """Open questions of current readings, by session."""
        s, r = t.sessions.c, t.session_reads.c
        found: dict[str, tuple[Question, ...]] = {}
        with self.reading("read the questions") as conn:
            query = select(s.uid, r.questions).join_from(t.session_reads, t.sessions, s.id == r.session_id)
            for row in conn.execute(query.where(r.scope_id == self.scope_of(conn, scope), r.questions != "[]").order_by(r.engine)):
                found[row.uid] = found.get(row.uid, ()) + questions_of(row.questions)
        return {uid: asked for uid, asked in sorted(found.items()) if asked}

    def _gated(self, scope: str, wheres: Iterable[tuple[Any, ...]], without: Collection[str] = ()) -> tuple[GatedClaim, ...]:
        r = t.read_claims.c
        query: Select[Any] = (
            select(t.claims, r.group_key, r.block_keys, r.results, t.session_reads.c.engine)
            .join_from(t.read_claims, t.claims, t.claims.c.id == r.claim_id)
            .join(t.session_reads, t.session_reads.c.id == r.read_id)
        )
        with self.reading("read the claims") as conn:
            scope_id = self.scope_of(conn, scope)
            rows = [row for where in wheres for row in conn.execute(query.where(r.scope_id == scope_id, *where)) if row.uid not in without]
            quotes = _quotes(conn, sorted({row.id for row in rows}))
        chosen = {row.uid: row for row in sorted(rows, key=lambda x: (x.uid, x.engine, x.digest, x.results))}  # the greatest counts: no arrival in it
        return tuple(
            GatedClaim(claim=claim_of(row, quotes[row.id]), results=results_of(row.results), group=row.group_key,
                       blocks=tuple(cast(list[str], load(row.block_keys))))
            for row in chosen.values()
        )  # fmt: skip

    # --- relations and rulings ---

    def save_relations(self, scope: str, relations: Iterable[ClaimRelation]) -> None:
        """Record verdicts on pairs; a pair that has one from the same maker keeps it."""
        with self.writing("save relations") as conn:
            scope_id = self.locked_scope(conn, scope)
            add_new(conn, t.relations, [{"scope_id": scope_id, "low": min(r.one, r.other), "high": max(r.one, r.other), "verdict": r.relation.value,
                                         "why": r.why, "made_by": r.made_by} for r in relations])  # fmt: skip

    def relations(self, scope: str, uids: Iterable[str], *, made_by: str | None = None) -> tuple[ClaimRelation, ...]:
        """Verdicts on pairs of which both claims are among `uids`, sorted."""
        wanted = set(uids)
        c = t.relations.c
        with self.reading("read relations") as conn:
            scope_id = self.scope_of(conn, scope)
            query = (
                select(t.relations).where(c.scope_id == scope_id)
                if made_by is None
                else select(t.relations).where(c.scope_id == scope_id, c.made_by == made_by)
            )
            rows = [r for part in chunks(sorted(wanted)) for r in conn.execute(query.where(c.low.in_(part))) if r.high in wanted]
        rows.sort(key=lambda r: (r.low, r.high, r.made_by))
        return tuple(ClaimRelation(one=r.low, other=r.high, relation=Relation(r.verdict), why=r.why, made_by=r.made_by) for r in rows)

    def relations_touching(self, scope: str, uids: Iterable[str]) -> tuple[ClaimRelation, ...]:
        """Verdicts on pairs of which at least one claim is among `uids`, sorted."""
        c = t.relations.c
        with self.reading("read relations") as conn:
            query = select(t.relations).where(c.scope_id == self.scope_of(conn, scope))
            if conn.execute(query.limit(1)).first() is None:  # most scopes have none, and some have a hundred thousand claims
                return ()
            rows = {r.id: r for part in chunks(sorted(set(uids))) for side in (c.low, c.high) for r in conn.execute(query.where(side.in_(part)))}
        found = sorted(rows.values(), key=lambda r: (r.low, r.high, r.made_by))
        return tuple(ClaimRelation(one=r.low, other=r.high, relation=Relation(r.verdict), why=r.why, made_by=r.made_by) for r in found)

    def readings_named(self, scope: str, prefix: str) -> tuple[NamedReading, ...]:
        """Current readings whose engine's name begins so, by session and name."""
        s, r, rc, c = t.sessions.c, t.session_reads.c, t.read_claims.c, t.claims.c
        query = select(s.uid.label("session"), r.engine, r.digest, c.uid).join_from(t.session_reads, t.sessions, s.id == r.session_id)
        query = query.outerjoin(t.read_claims, rc.read_id == r.id).outerjoin(t.claims, c.id == rc.claim_id)
        found: dict[tuple[str, str, str], set[str]] = {}
        with self.reading("look for readings") as conn:
            query = query.where(r.scope_id == self.scope_of(conn, scope), r.engine.startswith(prefix, autoescape=True))
            for row in conn.execute(query):
                found.setdefault((row.session, row.engine, row.digest), set()).update(() if row.uid is None else (row.uid,))
        return tuple(
            NamedReading(session=session, engine=engine, digest=digest, claims=frozenset(uids)) for (session, engine, digest), uids in sorted(found.items())
        )

    def add_ruling(self, scope: str, ruling: Ruling) -> bool:
        """Record a person's decision; False when it is known already (same uid)."""
        row = {name: getattr(ruling, name) for name in Ruling.__slots__}
        with self.writing("record a ruling") as conn:
            scope_id = self.locked_scope(conn, scope)
            known = conn.scalar(select(t.rulings.c.id).where(t.rulings.c.scope_id == scope_id, t.rulings.c.uid == ruling.uid))
            if known is None:
                conn.execute(t.rulings.insert(), {"scope_id": scope_id, **row, "recorded_at": self.now()})
        return known is None

    def rulings(self, scope: str, targets: Iterable[str] | None = None) -> tuple[Ruling, ...]:
        """Rulings that name one of the targets (on either side), or all; by time, then uid."""
        c = t.rulings.c
        with self.reading("read the rulings") as conn:
            query = select(t.rulings).where(c.scope_id == self.scope_of(conn, scope))
            if targets is None:
                rows = {r.uid: r for r in conn.execute(query)}
            else:
                parts = chunks(sorted(set(targets)))
                rows = {r.uid: r for part in parts for side in (c.target, c.other) for r in conn.execute(query.where(side.in_(part)))}
        found = [Ruling(**{name: getattr(r, name) for name in Ruling.__slots__}) for r in rows.values()]
        return tuple(sorted(found, key=lambda r: (r.at is not None, r.at.timestamp() if r.at else 0.0, r.uid)))


def _family(engine: str) -> str:
    return engine.split("/", 1)[0]


def _take_back(conn: Connection, scope_id: int, session_id: int, engine: str) -> dict[str, tuple[str, ...]]:
    """Remove the family's reading of a session; returns what it held."""
    r, rc, b = t.session_reads.c, t.read_claims.c, t.claim_blocks.c
    reads = [x.id for x in conn.execute(select(r.id, r.engine).where(r.session_id == session_id)) if _family(x.engine) == _family(engine)]
    if not reads:
        return {}
    query = select(t.claims.c.uid, t.claims.c.digest, rc.group_key, rc.block_keys, rc.results).join_from(t.read_claims, t.claims, t.claims.c.id == rc.claim_id)
    held: dict[str, tuple[str, ...]] = {
        x.uid: (x.digest, x.group_key, x.block_keys, x.results) for x in conn.execute(query.where(rc.scope_id == scope_id, rc.read_id.in_(reads)))
    }
    conn.execute(delete(t.claim_blocks).where(b.scope_id == scope_id, b.read_claim_id.in_(select(rc.id).where(rc.scope_id == scope_id, rc.read_id.in_(reads)))))
    conn.execute(delete(t.read_claims).where(rc.scope_id == scope_id, rc.read_id.in_(reads)))
    conn.execute(delete(t.session_reads).where(r.id.in_(reads)))
    return held


def _add_claims(conn: Connection, scope_id: int, rows: Mapping[str, Mapping[str, Any]], claims: Sequence[Claim]) -> dict[str, tuple[int, str]]:
    """Store claims read for the first time, with their quotes; returns uid -> (row id, digest)."""
    known = _claim_ids(conn, scope_id, rows)
    new = {uid: row for uid, row in rows.items() if uid not in known}
    add(conn, t.claims, [{"scope_id": scope_id, **row} for row in new.values()])
    ids = known | _claim_ids(conn, scope_id, new)
    quotes = [
        {"scope_id": scope_id, "claim_id": ids[uid], "n": n, "turn_uid": q.turn, "start": q.start, "stop": q.end, "text": q.text}
        for uid, claim in {c.uid: c for c in claims}.items() if uid in new
        for n, q in enumerate(claim.quotes)
    ]  # fmt: skip
    add(conn, t.quotes, quotes)
    return {uid: (at, str(rows[uid]["digest"])) for uid, at in ids.items()}


def _claim_ids(conn: Connection, scope_id: int, rows: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    c = t.claims.c
    return {
        r.uid: r.id
        for part in chunks(sorted(rows), CHUNK)
        for r in conn.execute(select(c.id, c.uid, c.digest).where(c.scope_id == scope_id, c.uid.in_(part)))
        if r.digest == rows[r.uid]["digest"]
    }


def _add_read_claims(
    conn: Connection, scope_id: int, read_id: int, ids: Mapping[str, tuple[int, str]], gated: Mapping[str, GatedClaim]
) -> dict[str, tuple[str, ...]]:
    held: dict[str, tuple[str, ...]] = {}
    if not gated:
        return held
    rows, blocks = [], []
    for uid, g in gated.items():
        keys = sorted(set(g.blocks))
        results = results_out(g.results)
        rows.append({"scope_id": scope_id, "read_id": read_id, "claim_id": ids[uid][0], "group_key": g.group, "block_keys": dump(keys),
                     "outcome": g.outcome.value, "results": results})  # fmt: skip
        held[uid] = (ids[uid][1], storable(g.group), dump(keys), results)
        blocks.append((ids[uid][0], keys))
    add(conn, t.read_claims, rows)
    rc = t.read_claims.c
    at = {r.claim_id: r.id for r in conn.execute(select(rc.id, rc.claim_id).where(rc.scope_id == scope_id, rc.read_id == read_id))}
    add(conn, t.claim_blocks, [{"scope_id": scope_id, "read_claim_id": at[claim], "block_key": key} for claim, keys in blocks for key in keys])
    return held


def _quotes(conn: Connection, claim_ids: Sequence[int]) -> dict[int, tuple[Quote, ...]]:
    """The quotes of claims by row id. Their scope is the claims' (a wall), and is not named: SQLite would look through all quotes of the scope."""
    q = t.quotes.c
    found: dict[int, list[Quote]] = {i: [] for i in claim_ids}
    for part in chunks(claim_ids):
        for r in conn.execute(select(t.quotes).where(q.claim_id.in_(part)).order_by(q.claim_id, q.n)):
            found[r.claim_id].append(Quote(turn=r.turn_uid, start=r.start, end=r.stop, text=r.text))
    return {i: tuple(quotes) for i, quotes in found.items()}
