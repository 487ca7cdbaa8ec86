"""Finding turns and notes by words. What is found where is a projection's business: FTS5 on SQLite, `postings` on PostgreSQL, the same answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from typing import Any

from sqlalchemy import Connection, select

from pipelines.model import Status
from pipelines.store import tables as t
from pipelines.store.beliefs import LIVE, may_see
from pipelines.store.codec import online_of
from pipelines.store.core import Core
from pipelines.store.fts import FullText
from pipelines.store.places import cited
from pipelines.store.postings import Postings
from pipelines.store.values import Match, Reader
from pipelines.store.words import KINDS, ONLINE, TURN, VERSION, call_words

TOKENS_MAX = 200  # of one query
OWN_MAX = 200  # online notes of one answer that are looked at
PLACED = 12  # characters of an online note's uid that its page shows it by


class Search(Core):
    """Finding turns and notes by words. Only what a reader may see is looked at."""

    def search_turns(self, scope: str, tokens: Sequence[str], *, limit: int) -> tuple[Match, ...]:
        """Turns that hold any of the tokens, best first. Turns of a quarantined claim and our own words are not among them."""
        v = t.findable.c
        with self._searching(scope, tokens) as (conn, scope_id, found):
            if found is None:
                return ()
            query = select(v.id, v.uid, found.c.score).join_from(found, t.findable, v.id == found.c.row_id // KINDS)
            query = query.where(found.c.row_id % KINDS == TURN, v.scope_id == scope_id).order_by(found.c.score, v.uid).limit(limit)
            scores = {r.uid: -r.score for r in reversed(conn.execute(query).all())}
            return _best(_turns(conn, scope_id, scores))

    def search_notes(self, scope: str, tokens: Sequence[str], *, now: datetime, limit: int, audience: str = "", sensitive: bool = False) -> tuple[Match, ...]:
        """Live note versions this reader may see at `now`, and lines of note files that stand on a page, that hold any of the tokens, best first."""
        v = t.visible.c
        reader = Reader(now=now, audience=audience, sensitive=sensitive)
        with self._searching(scope, tokens) as (conn, scope_id, found):
            if found is None:
                return ()
            query = select(t.visible, found.c.score).join_from(found, t.visible, v.id == found.c.row_id // KINDS)
            query = query.where(found.c.row_id % KINDS == VERSION, may_see(scope_id, reader), v.status.in_([s.value for s in LIVE]))
            rows = conn.execute(query.order_by(found.c.score, v.note_uid, v.slot).limit(limit)).all()
            own = _carried(conn, scope_id, found)
        ours = [Match(kind="note", uid=r.note_uid, score=-r.score, text=r.statement, at=r.newest_evidence, status=Status(r.status)) for r in rows]
        return tuple(sorted([*ours, *own], key=lambda m: -m.score)[:limit])

    def turns_at(self, scope: str, places: Iterable[tuple[str, int]]) -> tuple[Match, ...]:
        """The turns at these (session, ordinal), as far as they may be found; score 0."""
        wanted = set(places)
        o, s, v = t.occurrences.c, t.sessions.c, t.findable.c
        query = select(s.uid.label("session"), o.ordinal, v.uid).join_from(t.occurrences, t.sessions, s.id == o.session_id).join(t.findable, v.id == o.turn_id)
        with self.reading("look around turns") as conn:
            scope_id = self.scope_of(conn, scope)
            uids: dict[str, float] = {}
            for session in sorted({session for session, _ in wanted}):
                ordinals = sorted(n for own, n in wanted if own == session)
                rows = conn.execute(query.where(s.scope_id == scope_id, s.uid == session, o.ordinal.in_(ordinals))).all()
                uids.update((r.uid, 0.0) for r in rows)
            return _best(_turns(conn, scope_id, uids))

    def turns_with(self, scope: str, tokens: Sequence[str], *, limit: int) -> tuple[str, ...]:
        """Uids of the turns that hold any of the tokens, best first, those nobody is shown among them: for judging by their words, never for showing them."""
        c = t.turns.c
        with self._searching(scope, tokens) as (conn, scope_id, found):
            if found is None:
                return ()
            query = select(c.uid).join_from(found, t.turns, c.id == found.c.row_id // KINDS)
            query = query.where(found.c.row_id % KINDS == TURN, c.scope_id == scope_id).order_by(found.c.score, c.uid).limit(limit)
            return tuple(conn.scalars(query))

    def refresh_search(self) -> int:
        """Take in what the store got since the last time; returns the rows taken in. Idempotent, and safe beside other processes."""
        return self._words.refresh()

    def rebuild_search(self) -> int:
        """Make the whole projection again; returns the rows in it."""
        return self._words.rebuild()

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


def _carried(conn: Connection, scope_id: int | None, found: Any) -> list[Match]:
    """Lines of note files that hold any of the tokens. What stands on no page (held back, or to be checked again) is not found either."""
    o, p, later = t.online_notes.c, t.placements.c, t.online_notes.alias()
    query = select(o.uid, o.body, found.c.score).join_from(found, t.online_notes, o.id == found.c.row_id // KINDS)
    query = query.outerjoin(later, later.c.replaces == o.id).where(found.c.row_id % KINDS == ONLINE, o.scope_id == scope_id, later.c.id.is_(None), ~o.gone)
    rows = conn.execute(query.order_by(found.c.score, o.uid).limit(OWN_MAX)).all()
    names = {r.uid[:PLACED]: r for r in reversed(rows)}
    places = select(p.note_uid, p.page_uid).where(p.scope_id == scope_id, p.note_uid.in_(sorted(names))).order_by(p.rev)
    pages = {r.note_uid: r.page_uid for r in conn.execute(places)}
    out = []
    for name, row in names.items():
        if pages.get(name) is not None:
            note = online_of(row.body)
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
