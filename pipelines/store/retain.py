"""Retention: what is old is no longer kept, and nothing is believed otherwise for it.

Of a session whose newest turn is older than a setting the words of those turns go that nothing rests on; their rows stay without a word, so that order,
lineage and what is counted from them stay what they are. Lines that claims, findings, questions or plans name stay. By a second setting the archived bytes
of old sessions go as a whole, the cited lines too: what they said stays in the store, and can no longer be checked against the log.

What went is known by its session and the time of its last turn: intake takes nothing older of it in again, which costs no tombstone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final, cast

from sqlalchemy import Connection, delete, func, insert, select, text, update

from pipelines.model import Origin
from pipelines.store import tables as t
from pipelines.store.core import add_new, chunks, put
from pipelines.store.filled import Archive, fill
from pipelines.store.forget import SPACE, WIKI
from pipelines.store.retold import Retold, quiet
from pipelines.store.triggers import door
from pipelines.store.types import load
from pipelines.store.unkept import HUSK, Retained, is_husk, retained_of
from pipelines.text.traces import strings_of

PAGES: Final = "pages"
"""What is left over: pages that show what went, with the day before which nothing is kept ("" where only archived bytes went)."""
AT_ONCE: Final = 50
"""Sessions of one transaction."""
TURNS_AT_ONCE: Final = 10_000
"""Turns of one transaction, but for a session that alone has more: others wait for it to end."""
Stays = Callable[[Origin, str], bool]
"""Whether a line of this origin and these words stays although nothing rests on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """So many days, and the moment before which a session has to end for them."""

    days: int
    before: datetime


class Retain(Retold):
    """Letting go of what is old, and saying what went."""

    def retained(self, scope: str) -> Mapping[str, Retained]:
        """What is no longer kept, by session."""
        with self.reading("read what is no longer kept") as conn:
            return retained_of(conn, self.scope_of(conn, scope))

    def gone_until(self, scope: str, session: str) -> datetime | None:
        """Up to when turns of a session went; None when all are kept."""
        k, s = t.retained.c, t.sessions.c
        with self.reading("read what is no longer kept") as conn:
            query = select(k.turns_until).join_from(t.retained, t.sessions, s.id == k.session_id)
            return cast(datetime | None, conn.scalar(query.where(k.scope_id == self.scope_of(conn, scope), s.uid == session)))

    def retained_counts(self, scope: str) -> Mapping[str, int]:
        """How many sessions are no longer kept whole, and how many turns went."""
        k = t.retained.c
        with self.reading("count what is no longer kept") as conn:
            row = conn.execute(select(func.count(), func.sum(k.turns)).where(k.scope_id == self.scope_of(conn, scope))).one()
        return {"sessions": int(row[0]), "turns": int(row[1] or 0)}

    def let_go_on(self, scope: str, day: date) -> Mapping[str, int]:
        """Of how many `sessions` something went on a day (UTC), and how many of their `turns` are gone by now."""
        k = t.retained.c
        with self.reading("count what went") as conn:
            rows = conn.execute(select(k.recorded_at, k.turns).where(k.scope_id == self.scope_of(conn, scope))).all()
        turns = [row.turns for row in rows if row.recorded_at.date() == day]
        return {"sessions": len(turns), "turns": sum(turns)}

    def unkept(self, scope: str, turns: Iterable[str]) -> Mapping[str, int]:
        """Those of these turns whose archived bytes are no longer kept, and by a setting of how many days."""
        k, o, c = t.retained.c, t.occurrences.c, t.turns.c
        found: dict[str, int] = {}
        with self.reading("look for lines that are no longer kept") as conn:
            scope_id = self.scope_of(conn, scope)
            if conn.scalar(select(k.id).where(k.scope_id == scope_id, k.bytes_until.is_not(None)).limit(1)) is None:
                return found
            query = select(c.uid, c.event_at, k.bytes_until, k.bytes_days).join_from(t.turns, t.occurrences, o.turn_id == c.id)
            query = query.outerjoin(t.retained, k.session_id == o.session_id)
            stays: set[str] = set()
            for part in chunks(sorted(set(turns))):
                for r in conn.execute(query.where(c.scope_id == scope_id, c.uid.in_(part))):
                    if r.bytes_until is None or (r.event_at is not None and r.event_at > r.bytes_until):
                        stays.add(r.uid)
                    else:
                        found[r.uid] = max(found.get(r.uid, 0), r.bytes_days)
        return {uid: days for uid, days in found.items() if uid not in stays}

    def going(self, scope: str, turns: Limit | None, archived: Limit | None) -> tuple[tuple[Origin, str], ...] | None:
        """Origin and words of the lines that the next `retain` lets go of unless they stay: to be judged while nobody waits for it. None when nothing is over."""
        with self.reading("look for what is old") as conn:
            scope_id = self.scope_of(conn, scope)
            over = None if scope_id is None else _Over.of(conn, scope_id, turns, archived)
            if scope_id is None or over is None or not (over.turns or over.archived):
                return None
            return _Husks(conn, scope_id, over).going() if over.turns else ()

    def retain(self, scope: str, archive: Archive, *, turns: Limit | None, archived: Limit | None, stays: Stays) -> Mapping[str, int]:
        """Let go of what is over in some sessions of a scope; returns counts by kind, none when there is nothing left to do or a dream runs over the scope.

        A session that no engine has read to its end waits for its dream, one without any time is never over. What is being taken in meanwhile is refused and
        read again, so that nothing old comes in anew. `stays` is asked under the lock of the scope: it should know what `going` told. Raises
        ArchiveUnavailable when bytes that stay beside what goes cannot be read: nothing has gone then.
        """
        with self.writing("let go of what is old") as conn:
            scope_id = self.locked_scope(conn, scope)
            d = t.dreams.c
            if conn.scalar(select(d.id).where(d.scope_id == scope_id, d.state == "running").limit(1)) is not None:
                return {}
            over = _Over.of(conn, scope_id, turns, archived)
            if not (over.turns or over.archived):
                return {}
            counts: Counter[str] = Counter(sessions=len({*over.turns, *over.archived}))
            with door(conn):
                husks = _Husks(conn, scope_id, over).empty(stays) if over.turns else {}
                counts["turns"] = sum(husks.values())
                _Segments(conn, scope_id, archive, over).clean(counts)
            quiet(conn, over.turns)
            _write_down(conn, scope_id, over, husks, self.now())
            conn.execute(update(t.scopes).where(t.scopes.c.id == scope_id).values(forget_epoch=t.scopes.c.forget_epoch + 1))
            _drop_shown(conn, scope_id)
            if counts["turns"]:
                _drop_postings(conn, scope_id)
            day = turns.before.date().isoformat() if turns else ""
            left = [(PAGES, day), *([(SPACE, ""), (WIKI, "")] if counts["turns"] or counts["segments"] else [])]
            add_new(conn, t.leftovers, [{"scope_id": scope_id, "what": what, "name": name} for what, name in left])
            told = ", ".join(f"{n} {what}" for what, n in counts.items() if n)
            self.add_audit(conn, scope_id, "retain", "retention", told, key=f"{scope} {self.now().isoformat()} {min((*over.turns, *over.archived))}")
            return dict(+counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Over:
    """Sessions that are over for the one setting and the other, by row id, with the time of their newest turn; and the sessions that are not."""

    turns: Mapping[int, datetime]
    archived: Mapping[int, datetime]
    turns_days: int
    bytes_days: int

    @classmethod
    def of(cls, conn: Connection, scope_id: int, turns: Limit | None, archived: Limit | None) -> _Over:
        """The oldest ones that are not known for it yet, as many as one transaction takes."""
        ended = _ended(conn, scope_id, max(limit.before for limit in (turns, archived) if limit))
        turns_of = {session: n for session, (_, n) in ended.items()}
        known = {r.session_id: r for r in conn.execute(select(t.retained).where(t.retained.c.scope_id == scope_id))}

        def over(limit: Limit | None, name: str) -> dict[int, datetime]:
            found = (
                (at, session)
                for session, (at, _) in ended.items()
                if limit and at < limit.before and ((was := known.get(session)) is None or getattr(was, name) is None or getattr(was, name) < at)
            )
            return _at_once(sorted(found), turns_of)

        return cls(
            turns=over(turns, "turns_until"), archived=over(archived, "bytes_until"), turns_days=turns.days if turns else 0,
            bytes_days=archived.days if archived else 0,
        )  # fmt: skip


def _at_once(found: Iterable[tuple[datetime, int]], turns_of: Mapping[int, int]) -> dict[int, datetime]:
    """As many of these sessions, in their order, as one transaction takes; the first one always."""
    taken: dict[int, datetime] = {}
    turns = 0
    for at, session in found:
        turns += turns_of[session]
        if taken and (turns > TURNS_AT_ONCE or len(taken) == AT_ONCE):
            break
        taken[session] = at
    return taken


def _ended(conn: Connection, scope_id: int, before: datetime) -> dict[int, tuple[datetime, int]]:
    """The newest time of each session that ended before a moment and that an engine has read to its end, and how many turns stand in it."""
    o, c, h, r = t.occurrences.c, t.turns.c, t.session_heads.c, t.session_reads.c
    read = (
        select(r.session_id).join_from(t.session_reads, t.session_heads, (h.session_id == r.session_id) & (h.digest == r.digest)).where(r.scope_id == scope_id)
    )
    query = select(o.session_id, func.max(c.event_at).label("last"), func.count().label("n")).join_from(t.occurrences, t.turns, c.id == o.turn_id)
    query = query.where(o.scope_id == scope_id, o.session_id.in_(read)).group_by(o.session_id)
    return {row.session_id: (row.last, row.n) for row in conn.execute(query) if row.last is not None and row.last < before}


@dataclass(frozen=True, slots=True)
class _Husks:
    """Turns without their words in the place of turns nothing rests on."""

    conn: Connection
    scope_id: int
    over: _Over

    def empty(self, stays: Stays) -> dict[int, int]:
        """Put them there; returns how many turns went of each session."""
        here = self._only_here()
        worded, named = self._worded(here)
        uids = {row.uid for row in worded}
        kept = named | {row.uid for row in worded if row.uid not in named and stays(Origin(row.origin), row.body)}
        kept |= self._said_elsewhere(uids - kept, here)
        gone: Counter[int] = Counter()
        for part in chunks(sorted(uids - kept)):
            gone.update(self._replace(part, here))
        _drop_answers(self.conn, self.scope_id, uids - kept)
        return dict(gone)

    def going(self) -> tuple[tuple[Origin, str], ...]:
        """Origin and words of what `empty` asks about."""
        worded, named = self._worded(self._only_here())
        return tuple((Origin(row.origin), row.body) for row in worded if row.uid not in named)

    def _worded(self, here: Iterable[int]) -> tuple[list[Any], set[str]]:
        """Those of these turns that have their words still, and the uids of those that something rests on."""
        worded = [row for row in self._rows(here) if not is_husk(row.digest)]
        return worded, _named(self.conn, self.scope_id, {row.uid for row in worded})

    def _said_elsewhere(self, uids: set[str], here: Mapping[int, int]) -> set[str]:
        """Those of which another snapshot stands in a session that is not over: one text is said for all of them."""
        c = t.turns.c
        query = select(c.id, c.uid, c.digest).where(c.scope_id == self.scope_id)
        rows = (row for part in chunks(sorted(uids)) for row in self.conn.execute(query.where(c.uid.in_(part))).all())
        return {row.uid for row in rows if row.id not in here and not is_husk(row.digest)}

    def _only_here(self) -> dict[int, int]:
        """Turns that stand in sessions that are over, and in no other: their row ids, and the first such session."""
        o = t.occurrences.c
        found: dict[int, int] = {}
        for part in chunks(sorted(self.over.turns)):
            for row in self.conn.execute(select(o.turn_id, func.min(o.session_id).label("session")).where(o.session_id.in_(part)).group_by(o.turn_id)):
                found[row.turn_id] = min(row.session, found.get(row.turn_id, row.session))
        over = {*self.over.turns, *self._over_before()}
        elsewhere: set[int] = set()
        for part in chunks(sorted(found)):
            elsewhere |= {row.turn_id for row in self.conn.execute(select(o.turn_id, o.session_id).where(o.turn_id.in_(part))) if row.session_id not in over}
        return {turn: session for turn, session in found.items() if turn not in elsewhere}

    def _over_before(self) -> set[int]:
        k = t.retained.c
        return set(self.conn.scalars(select(k.session_id).where(k.scope_id == self.scope_id, k.turns_until.is_not(None))))

    def _rows(self, ids: Iterable[int]) -> Iterator[Any]:
        c = t.turns.c
        for part in chunks(sorted(ids)):
            yield from self.conn.execute(select(c.uid, c.digest, c.origin, c.body).where(c.id.in_(part))).all()

    def _replace(self, uids: list[str], here: Mapping[int, int]) -> Iterator[int]:
        """Each row in its own place: the same id and uid, no word. Yields a session for each turn."""
        c, o = t.turns.c, t.occurrences.c
        rows = self.conn.execute(select(t.turns).where(c.scope_id == self.scope_id, c.uid.in_(uids)).order_by(c.uid, c.id)).all()
        ids = [row.id for row in rows]
        places = [_values(p, t.occurrences, "id") for p in self.conn.execute(select(t.occurrences).where(o.turn_id.in_(ids)).order_by(o.id)).all()]
        self.conn.execute(delete(t.occurrences).where(o.turn_id.in_(ids)))
        self.conn.execute(delete(t.turns).where(c.id.in_(ids)))
        number: Counter[str] = Counter()
        husks = []
        for row in rows:
            number[row.uid] += 1
            husks.append({**_values(row, t.turns), "digest": f"{HUSK}{number[row.uid]:08x}", "body": "", "detail": "{}"})
        self.conn.execute(insert(t.turns), husks)
        self.conn.execute(insert(t.occurrences), places)
        yield from {row.uid: here[row.id] for row in rows if row.id in here}.values()


def _values(row: Any, table: Any, *but: str) -> dict[str, Any]:
    return {c.name: getattr(row, c.name) for c in table.columns if c.name not in but}


def _named(conn: Connection, scope_id: int, uids: set[str]) -> set[str]:
    """The turns among these that something rests on or waits for: quotes of claims, findings, questions, lines of note files, what dreams have planned."""
    q = t.quotes.c
    found = {uid for part in chunks(sorted(uids)) for uid in conn.scalars(select(q.turn_uid).where(q.scope_id == scope_id, q.turn_uid.in_(part)))}
    for table, name in ((t.findings, "body"), (t.session_reads, "questions"), (t.online_notes, "body"), (t.changes, "payload")):
        for told in conn.scalars(select(table.c[name]).where(table.c.scope_id == scope_id)):
            found.update(uids.intersection(strings_of(load(told))))
    r = t.rulings.c
    found.update(uids.intersection(uid for row in conn.execute(select(r.target, r.other).where(r.scope_id == scope_id)) for uid in row if uid))
    return found


def _drop_answers(conn: Connection, scope_id: int, turns: set[str]) -> None:
    """Recorded answers of models whose requests held the words that went (systems hole 71)."""
    a = t.answers.c
    rows = conn.execute(select(a.id, a.inputs).where(a.scope_id == scope_id)).all() if turns else ()
    for part in chunks(sorted(row.id for row in rows if not turns.isdisjoint(cast(list[str], load(row.inputs))))):
        conn.execute(delete(t.answers).where(a.id.in_(part)))


@dataclass(frozen=True, slots=True)
class _Segments:
    """The archive of the sources that sessions which are over stand in."""

    conn: Connection
    scope_id: int
    archive: Archive
    over: _Over

    def clean(self, counts: Counter[str]) -> None:
        """Keep the spans of turns that keep theirs, and blanks in between."""
        g, b = t.segments.c, t.bad_spans.c
        unkept = {*self.over.archived, *self._over_before()}
        for source, generation in self._sources():
            kept = self._kept(source, generation, unkept)
            rows = self.conn.execute(select(t.segments).where(g.source_id == source, g.generation == generation).order_by(g.offset)).all()
            counts["segments"] += sum(fill(self.conn, self.scope_id, self.archive, row, kept) for row in rows)
            if not kept:
                self.conn.execute(delete(t.bad_spans).where(b.source_id == source, b.generation == generation))

    def _over_before(self) -> set[int]:
        k = t.retained.c
        return set(self.conn.scalars(select(k.session_id).where(k.scope_id == self.scope_id, k.bytes_until.is_not(None))))

    def _sources(self) -> list[tuple[int, int]]:
        o = t.occurrences.c
        found: set[tuple[int, int]] = set()
        for part in chunks(sorted({*self.over.turns, *self.over.archived})):
            found |= {(r.source_id, r.generation) for r in self.conn.execute(select(o.source_id, o.generation).where(o.session_id.in_(part)).distinct())}
        return sorted(found)

    def _kept(self, source: int, generation: int, unkept: set[int]) -> list[tuple[int, int]]:
        o, c = t.occurrences.c, t.turns.c
        query = select(o.offset, o.length, o.session_id, c.digest).join_from(t.occurrences, t.turns, c.id == o.turn_id)
        rows = self.conn.execute(query.where(o.source_id == source, o.generation == generation))
        return sorted({(r.offset, r.offset + r.length) for r in rows if r.session_id not in unkept and not is_husk(r.digest)})


def _write_down(conn: Connection, scope_id: int, over: _Over, husks: Mapping[int, int], at: datetime) -> None:
    """What is no longer kept from now on of each session."""
    k = t.retained.c
    sessions = sorted({*over.turns, *over.archived})
    known = {r.session_id: r for part in chunks(sessions) for r in conn.execute(select(t.retained).where(k.session_id.in_(part)))}
    rows = []
    for session in sessions:
        was = known.get(session)
        row = {"scope_id": scope_id, "session_id": session, "recorded_at": at, "turns": (was.turns if was else 0) + husks.get(session, 0)}
        for name, found, days in (("turns", over.turns, over.turns_days), ("bytes", over.archived, over.bytes_days)):
            row[f"{name}_until"] = found.get(session, getattr(was, f"{name}_until", None))
            row[f"{name}_days"] = days if session in found else getattr(was, f"{name}_days", 0)
        rows.append(row)
    put(conn, t.retained, ("session_id",), rows)


def _drop_shown(conn: Connection, scope_id: int) -> None:
    """What is kept for rendering says nothing of lines that went: the next render makes every page anew."""
    for table in (t.renders, t.shown_items, t.shown_rests, t.shown_pages, t.shown_links, t.shown_sessions, t.shown_infos):
        conn.execute(delete(table).where(table.c.scope_id == scope_id))


def _drop_postings(conn: Connection, scope_id: int) -> None:
    """On a server the index of words lies in the store; elsewhere it is a leftover."""
    if conn.dialect.name == "postgresql" and conn.scalar(text("SELECT to_regclass('search_scopes')")) is not None:
        for table in ("search_words", "search_scopes"):
            conn.execute(text(f"DELETE FROM {table} WHERE scope_id = :scope"), {"scope": scope_id})
