"""Finding turns and notes by words. What is found where is a projection's business: FTS5 on SQLite, `postings` on PostgreSQL, the same answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import cached_property
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, exists, or_, select

from pipelines.errors import Conflict
from pipelines.model import Version
from pipelines.notes.moment import PRESENT, Moment, held, last_heard, stood_at
from pipelines.store import tables as t
from pipelines.store.audiences import heard_here
from pipelines.store.beliefs import LIVE, believed_at, may_read, may_see, revision_at
from pipelines.store.codec import online_of, version_of_row
from pipelines.store.core import Core
from pipelines.store.fts import FullText
from pipelines.store.intake import arrived_by
from pipelines.store.online import stood
from pipelines.store.places import cited
from pipelines.store.postings import Postings
from pipelines.store.tombstones import require_epoch
from pipelines.store.values import Match, Reader
from pipelines.store.words import KINDS, ONLINE, TURN, VERSION, call_words

TOKENS_MAX = 200  # of one query
OWN_MAX = 200  # online notes of one answer that are looked at
PLACED = 12  # characters of an online note's uid that its page shows it by


class Search(Core):
    """Finding turns and notes by words. Only what a reader may see is looked at."""

    def search_turns(self, scope: str, tokens: Sequence[str], *, limit: int, audience: str | None = None, moment: Moment = PRESENT) -> tuple[Match, ...]:
        """Turns that hold any of the tokens, best first. Turns of a quarantined claim and our own words are not among them, nor for a named audience those
        it did not hear.

        Of a look back only those said by then, as far as their time is known, and stored by then.
        """
        with self._searching(scope, tokens) as (conn, scope_id, found):
            if found is None:
                return ()
            query = _turns_among(found, scope_id, limit).where(*_said_by(conn, scope_id, moment), *_heard(audience))
            scores = {r.uid: -r.score for r in reversed(conn.execute(query).all())}
            return _best(_turns(conn, scope_id, scores))

    def turns_like(self, scope: str, queries: Iterable[Sequence[str]], *, limit: int) -> frozenset[str]:
        """Uids of the turns that `search_turns` finds for any of many queries, `limit` best of each: many at once, and no turn is read."""
        return frozenset(uid for found in self.turns_near(scope, list(dict.fromkeys(map(tuple, queries))), limit=limit) for uid in found)

    def turns_near(self, scope: str, queries: Sequence[Sequence[str]], *, limit: int, withheld: bool = False) -> tuple[tuple[str, ...], ...]:
        """Uids of the turns that hold any of the tokens of each query, best first: what `search_turns` finds, many at once, and no turn is read.

        `withheld`: those nobody is shown among them, for judging by their words, never for showing them.
        """
        self._words.refresh(scope)
        among = _any_among if withheld else _turns_among
        asked = [list(dict.fromkeys(tokens))[:TOKENS_MAX] for tokens in queries]
        with self._words.matching_each(scope, asked) as (conn, scope_id, found):
            return tuple(() if rows is None else tuple(r.uid for r in conn.execute(among(rows, scope_id, limit))) for rows in found)

    def search_notes(
        self, scope: str, tokens: Sequence[str], *, now: datetime, limit: int, audience: str | None = "", sensitive: bool = False, moment: Moment = PRESENT
    ) -> tuple[Match, ...]:
        """Live note versions this reader may see at `now`, and lines of note files that stand on a page, that hold any of the tokens, best first; or those of
        a look back."""
        reader = Reader(now=now, audience=audience, sensitive=sensitive)
        with self._searching(scope, tokens) as (conn, scope_id, found):
            if found is None:
                return ()
            ours = _then(conn, scope_id, found, reader, moment, limit) if moment else _live(conn, scope_id, found, reader, limit)
            own = _carried(conn, scope_id, found, now, moment) if audience in (None, "") else []  # a line of a note file was said to nobody
        return tuple(sorted([*ours, *own], key=lambda m: -m.score)[:limit])

    def turns_at(self, scope: str, places: Iterable[tuple[str, int]], *, audience: str | None = None, moment: Moment = PRESENT) -> tuple[Match, ...]:
        """The turns at these (session, ordinal), as far as they may be found (by then, by this audience); score 0."""
        wanted = set(places)
        o, s, v = t.occurrences.c, t.sessions.c, t.findable.c
        query = select(s.uid.label("session"), o.ordinal, v.uid).join_from(t.occurrences, t.sessions, s.id == o.session_id).join(t.findable, v.id == o.turn_id)
        with self.reading("look around turns") as conn:
            scope_id = self.scope_of(conn, scope)
            uids: dict[str, float] = {}
            said_by = (*_said_by(conn, scope_id, moment), *_heard(audience))
            for session in sorted({session for session, _ in wanted}):
                ordinals = sorted(n for own, n in wanted if own == session)
                rows = conn.execute(query.where(s.scope_id == scope_id, s.uid == session, o.ordinal.in_(ordinals), *said_by)).all()
                uids.update((r.uid, 0.0) for r in rows)
            return _best(_turns(conn, scope_id, uids))

    def refresh_search(self) -> int:
        """Take in what the store got since the last time; returns the rows taken in. Idempotent, and safe beside other processes."""
        return self._words.refresh()

    def refresh_search_part(self, scope: str) -> int:
        """Take in some of it for this scope, a step of a fraction of a second; 0 when nothing is left or somebody else is at it."""
        return self._words.refresh_part(scope)

    def rebuild_search(self) -> int:
        """Make the whole projection again; returns the rows in it."""
        return self._words.rebuild()

    def kept_readings(self, scope: str) -> Mapping[str, str]:
        """What `keep_readings` was last given for the scope; less, or nothing, where the projection was made again since."""
        return self._words.kept(scope)

    def keep_readings(self, scope: str, readings: Mapping[str, str], *, epoch: int) -> None:
        """Keep these, by name, in place of those kept for the scope. They can be made again, and go with the projection when words are forgotten: made of what
        was read at `epoch` (`Tombstones.epoch`), they are not kept when something was forgotten since."""
        with suppress(Conflict), self.writing("keep what was read") as conn:  # no forget ends in between
            require_epoch(conn, self.locked_scope(conn, scope), epoch)
            self._words.keep(scope, readings)

    @cached_property
    def _words(self) -> FullText | Postings:
        index, finder = self.engines.index, self.engines.finder
        return FullText(self, index, finder) if index is not None and finder is not None else Postings(self)

    @contextmanager
    def _searching(self, scope: str, tokens: Sequence[str]) -> Iterator[tuple[Connection, int | None, Any]]:
        """A snapshot of store and projection, and the rows that match: (row_id, score), the best score the least. None when nothing can match."""
        self._words.refresh(scope)
        with self._words.matching(scope, list(dict.fromkeys(tokens))[:TOKENS_MAX]) as found:
            yield found


# --- matches out ---------------------------------------------------------------------------------------------------------------------------


def _turns_among(found: Any, scope_id: int | None, limit: int) -> Select[Any]:
    """The turns that may be found among the rows that match, best first."""
    v = t.findable.c
    query = select(v.id, v.uid, found.c.score).join_from(found, t.findable, v.id == found.c.row_id // KINDS)
    return query.where(found.c.row_id % KINDS == TURN, v.scope_id == scope_id).order_by(found.c.score, v.uid).limit(limit)


def _any_among(found: Any, scope_id: int | None, limit: int) -> Select[Any]:
    """All turns among the rows that match, best first."""
    c = t.turns.c
    query = select(c.uid).join_from(found, t.turns, c.id == found.c.row_id // KINDS)
    return query.where(found.c.row_id % KINDS == TURN, c.scope_id == scope_id).order_by(found.c.score, c.uid).limit(limit)


def _heard(audience: str | None) -> tuple[ColumnElement[bool], ...]:
    """What of the turns this audience may be told; the person, who names none, is told all."""
    return () if audience is None else (heard_here(t.findable, audience),)


def _live(conn: Connection, scope_id: int | None, found: Any, reader: Reader, limit: int) -> list[Match]:
    v = t.visible.c
    query = select(t.visible, found.c.score).join_from(found, t.visible, v.id == found.c.row_id // KINDS)
    query = query.where(found.c.row_id % KINDS == VERSION, may_see(scope_id, reader), v.status.in_([s.value for s in LIVE]))
    rows = conn.execute(query.order_by(found.c.score, v.note_uid, v.slot).limit(limit))
    return [_note(version := version_of_row(r), -r.score, version.newest_evidence) for r in rows]


def _then(conn: Connection, scope_id: int | None, found: Any, reader: Reader, moment: Moment, limit: int) -> list[Match]:
    """Versions of a look back, in the words of their time: rows of its revision (or of now) that held then."""
    v, n, h = t.note_versions.c, t.notes, t.heads.c
    query = select(t.note_versions, n.c.uid.label("note_uid"), found.c.score).join_from(found, t.note_versions, v.id == found.c.row_id // KINDS)
    query = query.join(n, n.c.id == v.note_id).where(found.c.row_id % KINDS == VERSION, v.scope_id == scope_id, may_read(t.note_versions, reader))
    if moment.known_at is not None:
        query = query.where(believed_at(revision_at(conn, scope_id, moment.known_at)))
    else:
        query = query.join(t.heads, h.version_id == v.id).where(h.closing.is_(False))
    out: list[Match] = []
    for row in conn.execute(query.order_by(found.c.score, n.c.uid, v.slot)):
        version = held(version_of_row(row), moment)
        if version is not None and version.status in LIVE:
            out.append(_note(version, -row.score, last_heard(version, moment)))
        if len(out) == limit:
            break
    return out


def _note(version: Version, score: float, at: datetime | None) -> Match:
    return Match(kind="note", uid=version.note, score=score, text=version.statement, at=at, status=version.status)


def _said_by(conn: Connection, scope_id: int | None, moment: Moment) -> tuple[ColumnElement[bool], ...]:
    """What limits turns to those of a look back: the time on their session's own clock, and that they were stored by then."""
    v, o = t.findable.c, t.turn_order.c
    out: list[ColumnElement[bool]] = []
    if moment.as_of is not None:
        ordered = exists().where(o.scope_id == v.scope_id, o.turn_uid == v.uid, o.order_at.is_not(None))
        out.append(or_(and_(~ordered, v.event_at <= moment.as_of), ordered.where(o.order_at <= moment.as_of)))
    if moment.known_at is not None:
        out.append(v.id <= arrived_by(conn, scope_id, moment.known_at))
    return tuple(out)


def _carried(conn: Connection, scope_id: int | None, found: Any, now: datetime, moment: Moment) -> list[Match]:
    """Lines of note files that hold any of the tokens. What stands on no page (held back, or to be checked again) or is over by its own words is not found
    either."""
    o, p = t.online_notes.c, t.placements.c
    query = select(o.uid, o.body, found.c.score).join_from(found, t.online_notes, o.id == found.c.row_id // KINDS)
    query = query.where(found.c.row_id % KINDS == ONLINE, o.scope_id == scope_id, stood(moment.known_at), ~o.gone)
    rows = conn.execute(query.order_by(found.c.score, o.uid).limit(OWN_MAX)).all()
    names = {r.uid[:PLACED]: r for r in reversed(rows)}
    places = select(p.note_uid, p.page_uid).where(p.scope_id == scope_id, p.note_uid.in_(sorted(names))).order_by(p.rev)
    if moment.known_at is not None:
        places = places.where(p.rev <= revision_at(conn, scope_id, moment.known_at))
    pages = {r.note_uid: r.page_uid for r in conn.execute(places)}
    out = []
    for name, row in names.items():
        note = online_of(row.body)
        if pages.get(name) is not None and stood_at(note, moment.as_of or moment.known_at or now):
            out.append(Match(kind="note", uid=name, score=-row.score, text=note.text, at=note.written_at))
    return out


def _turns(conn: Connection, scope_id: int | None, scores: Mapping[str, float]) -> Iterator[Match]:
    for uid, (turn, source) in cited(conn, scope_id, scores).items():
        words = "" if turn.text or turn.call is None else "\n".join(call_words(turn.call.name, turn.call.arguments))
        yield Match(
            kind="turn", uid=uid, score=scores[uid], text=turn.text or words, at=turn.at, session=turn.session, ordinal=turn.ordinal, line=turn.place.line,
            source=source, origin=turn.origin.value, speaker=turn.speaker, call=turn.call is not None,
            quoted=turn.quoted,
        )  # fmt: skip


def _best(matches: Iterable[Match]) -> tuple[Match, ...]:
    return tuple(sorted(matches, key=lambda m: (-m.score, m.session or "", m.ordinal or 0, m.uid)))
