"""What is shown, as rows: notes as pages show them, pages with their names and links, sessions of the work log, and how far all of it has come.

A projection: it can be dropped and made again from the rest of the store, and whoever keeps it up to date asks `moves` what has changed since. Pages
are rendered from these rows, so that a dream costs what changed and not what the scope holds. The rows are values of `shown`, written by `shown_rows`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any, cast

from sqlalchemy import ColumnElement, Connection, Select, Table, and_, case, delete, func, literal, or_, select, true

from pipelines.errors import Conflict
from pipelines.store import tables as t
from pipelines.store.ahead import true_spans
from pipelines.store.codec import session_of
from pipelines.store.core import Core, chunks, put
from pipelines.store.shown import Moves, PageWords, Render, Shown, ShownItem, ShownLink, ShownPage, ShownSession
from pipelines.store.shown_rows import save_shown
from pipelines.store.types import dump, load, storable

_MARKS = {"online": t.online_notes, "findings": t.findings, "occurrences": t.occurrences, "turns": t.turns}
"""Append-only tables whose newest row says whether there is anything new."""


class Projection(Core):
    """Reading and keeping what is shown."""

    # --- how far it has come ---

    def render_state(self, scope: str) -> Render | None:
        """The state of the projection; None when nothing was ever rendered from it, or it was dropped."""
        with self.reading("look how far pages are rendered") as conn:
            return self._state_of(conn, self.scope_of(conn, scope))

    def _state_of(self, conn: Connection, scope_id: int | None) -> Render | None:
        row = conn.execute(select(t.renders).where(t.renders.c.scope_id == scope_id)).one_or_none()
        if row is None:
            return None
        return Render(row.renderer, row.rev, cast(dict[str, int], load(row.marks)), cast(dict[str, Any], load(row.aside)))

    def moves(self, scope: str, since: Render | None) -> Moves:
        """What has changed since this render; everything when there was none (turns then are left out: no note was cited)."""
        with self.reading("look what has changed") as conn:
            scope_id = self.scope_of(conn, scope)
            rev = conn.scalar(select(t.scopes.c.revision).where(t.scopes.c.id == scope_id)) or 0
            marks = {name: newest_row(conn, table, scope_id) for name, table in _MARKS.items()}
            infos = _moved_infos(conn, scope_id)
            sessions = _moved_sessions(conn, scope_id, {i[0] for i in infos})
            v, n = t.note_versions.c, t.notes.c
            moved = select(n.uid).join_from(t.note_versions, t.notes, n.id == v.note_id).where(v.scope_id == scope_id, v.rev > (since.rev if since else 0))
            notes = frozenset(conn.scalars(moved.distinct()))
            turns = _moved_turns(conn, scope_id, since.marks["occurrences"], [s[0] for s in sessions]) if since else frozenset()
        return Moves(rev, marks, notes, turns, sessions, infos)

    def forget_render(self, scope: str) -> None:
        """Drop the projection of a scope: the next render makes it anew."""
        with self.writing("drop what is shown") as conn:
            scope_id = self.locked_scope(conn, scope)
            for table in (t.renders, t.shown_items, t.shown_rests, t.shown_pages, t.shown_links, t.shown_sessions, t.shown_infos):
                conn.execute(delete(table).where(table.c.scope_id == scope_id))

    def save_render(self, scope: str, before: Render | None, after: Render, shown: Shown) -> None:
        """Write what is shown now. Raises Conflict when the projection is not any more as it was `before`."""
        with self.writing("keep what is shown") as conn:
            scope_id = self.locked_scope(conn, scope)
            if self._state_of(conn, scope_id) != before:
                raise Conflict(f"the pages of {scope} were rendered by another process meanwhile: render again")
            save_shown(conn, scope_id, shown)
            state = {"renderer": after.renderer, "rev": after.rev, "marks": dump(dict(after.marks)), "aside": dump(dict(after.aside))}
            put(conn, t.renders, ("scope_id",), [{"scope_id": scope_id, **state}])

    # --- items ---

    def shown_items(
        self, scope: str, *, uids: Iterable[str] | None = None, sentences: Iterable[str] | None = None, keys: Iterable[str] | None = None,
        topics: Iterable[str] | None = None, roots: Iterable[str] | None = None, names: Iterable[str] | None = None, carried: bool | None = None, placed: bool | None = None, light: bool = False,
    ) -> tuple[ShownItem, ...]:  # fmt: skip
        """Items by one of their keys (all when none is given), by uid. `names` are subjects or keys. `light` leaves out what they hold."""
        c = t.shown_items.c
        by = next(
            (
                (column, given)
                for column, given in ((c.uid, uids), (c.sentence, sentences), (c.key, keys), (c.topic, topics), (c.root, roots))
                if given is not None
            ),
            None,
        )
        columns = [literal("").label(f.name) if light and f.name in {"raw", "body"} else c[f.name] for f in fields(ShownItem)]
        query = select(*columns)
        for column, wanted in ((c.carried, carried), (c.placed, placed)):
            query = query if wanted is None else query.where(column.is_(wanted))
        with self.reading("read what is shown") as conn:
            query = query.where(c.scope_id == self.scope_of(conn, scope))
            if names is not None:
                parts = list(chunks(sorted(map(storable, names))))
                rows = [r for part in parts for r in conn.execute(query.where(or_(c.subject.in_(part), c.key.in_(part))))]
            else:
                rows = _rows(conn, query, *by) if by else list(conn.execute(query))
        return tuple(sorted((ShownItem(*row) for row in rows), key=lambda i: i.uid))

    def resting_on(self, scope: str, things: Iterable[str]) -> frozenset[str]:
        """Uids of the items that rest on one of these turns or notes."""
        c = t.shown_rests.c
        with self.reading("look what rests on it") as conn:
            query = select(c.uid).where(c.scope_id == self.scope_of(conn, scope))
            return frozenset(uid for (uid,) in _rows(conn, query, c.rests_on, things))

    def notes_resting_on(self, scope: str, turns: Iterable[str]) -> frozenset[str] | None:
        """Notes that may rest on one of these turns, and any that changed since pages were rendered; None when they never were: it may be any note then."""
        before = self.render_state(scope)
        if before is None:
            return None
        v, n = t.note_versions.c, t.notes.c
        with self.reading("look which notes changed") as conn:
            query = select(n.uid).join_from(t.note_versions, t.notes, n.id == v.note_id)
            moved = conn.scalars(query.where(v.scope_id == self.scope_of(conn, scope), v.rev > before.rev).distinct()).all()
        return self.resting_on(scope, turns).union(moved)

    def live_keys(self, scope: str, keys: Iterable[str]) -> Mapping[str, tuple[int, int]]:
        """Of subject keys: how many live notes that stand on no memory page have it, and how many of all of them name a thing."""
        c = t.shown_items.c
        live = func.sum(_one(c.live)).label("live")
        query = select(c.key, live, func.sum(_one(c.named)).label("named"))
        with self.reading("count the notes of subjects") as conn:
            query = query.where(c.scope_id == self.scope_of(conn, scope), c.placed, ~c.carried, c.root.not_like("1:%")).group_by(c.key)
            return {r.key: (int(r.live or 0), int(r.named or 0)) for r in _rows(conn, query, c.key, map(storable, keys))}

    def count_of_root(self, scope: str, root: str, most: int) -> int:
        """How many notes belong to a topic, counted no further than `most`."""
        c = t.shown_items.c
        with self.reading("count the notes of a topic") as conn:
            few = select(c.id).where(c.scope_id == self.scope_of(conn, scope), c.root == storable(root)).limit(most).subquery()
            return conn.scalar(select(func.count()).select_from(few)) or 0

    def forms_of_root(self, scope: str, root: str) -> Mapping[str, int]:
        """How many notes of a topic use which forms of its name."""
        c = t.shown_items.c
        with self.reading("count the forms of a subject") as conn:
            query = select(c.forms, func.count().label("n")).where(c.scope_id == self.scope_of(conn, scope), c.root == storable(root)).group_by(c.forms)
            return {r.forms: r.n for r in conn.execute(query)}

    def live_shown(self, scope: str, most: int) -> int:
        """How many live notes stand on pages, counted no further than `most`."""
        c = t.shown_items.c
        with self.reading("count live notes") as conn:
            few = select(c.id).where(c.scope_id == self.scope_of(conn, scope), c.placed, c.live).limit(most).subquery()
            return conn.scalar(select(func.count()).select_from(few)) or 0

    def newest_shown(self, scope: str, *, without: Collection[str] = ()) -> int | None:
        """The newest evidence of any note but these, in microseconds since 1970."""
        c = t.shown_items.c
        with self.reading("read the newest evidence") as conn:
            query = select(c.uid, c.newest).where(c.scope_id == self.scope_of(conn, scope), c.newest.is_not(None)).order_by(c.newest.desc())
            rows = conn.execute(query.limit(len(without) + 1)).all()
        return next((r.newest for r in rows if r.uid not in without), None)

    def any_checked(self, scope: str, *, without: Collection[str] = ()) -> bool:
        """Whether any note but these rests on a log."""
        c = t.shown_items.c
        with self.reading("look for evidence") as conn:
            query = select(c.uid).where(c.scope_id == self.scope_of(conn, scope), c.checked).limit(len(without) + 1)
            return any(uid not in without for uid in conn.scalars(query))

    def best_of(self, scope: str, section: str, limit: int) -> tuple[tuple[ShownItem, ...], int]:
        """The first notes of a section of the brief by rank, and how many it has."""
        return self._ranked(scope, t.shown_items.c.section, section, t.shown_items.c.brief_rank, limit)

    def first_waiting(self, scope: str, waits: str, limit: int, since: int | None = None) -> tuple[ShownItem, ...]:
        """The first notes that wait as this, by rank; of those with a time only what was heard of since then."""
        return self._ranked(scope, t.shown_items.c.waits, waits, t.shown_items.c.queue_rank, limit, since)[0]

    def _ranked(self, scope: str, column: Any, value: str, order: Any, limit: int, since: int | None = None) -> tuple[tuple[ShownItem, ...], int]:
        c = t.shown_items.c
        query = select(*(c[f.name] for f in fields(ShownItem)))
        with self.reading("read the first notes") as conn:
            mine = and_(c.scope_id == self.scope_of(conn, scope), column == value, *_heard_since(since))
            rows = conn.execute(query.where(mine).order_by(order).limit(limit)).all()
            count = conn.scalar(select(func.count()).where(mine)) or 0
        return tuple(ShownItem(*row) for row in rows), count

    def said_in_brief(self, scope: str, said: Iterable[str]) -> int:
        """How many notes of the brief's sections say one of these sentences (by digest)."""
        c = t.shown_items.c
        with self.reading("count sentences") as conn:
            query = select(func.count()).where(c.scope_id == self.scope_of(conn, scope), c.said.in_(sorted(said)))
            return conn.scalar(query) or 0

    def goals_since(self, scope: str, section: str, since: int | None, limit: int) -> tuple[tuple[ShownItem, ...], int]:
        """Goals heard of since then (those without a time count), the newest first and all of the last one's time, and how many there are."""
        c = t.shown_items.c
        stamp = func.coalesce(c.newest, 0)
        query = select(*(c[f.name] for f in fields(ShownItem)))
        with self.reading("read the goals") as conn:
            mine = and_(c.scope_id == self.scope_of(conn, scope), c.section == section, true() if since is None else or_(c.newest.is_(None), c.newest >= since))
            last = conn.execute(select(stamp).where(mine).order_by(stamp.desc()).limit(limit)).scalars().all()
            rows = conn.execute(query.where(mine, stamp >= (last[-1] if last else 0)).order_by(stamp.desc(), c.uid)).all()
            count = conn.scalar(select(func.count()).where(mine)) or 0
        return tuple(ShownItem(*row) for row in rows), count

    def waiting_counts(self, scope: str, waits: str | None = None, since: int | None = None) -> Mapping[tuple[str, str], int]:
        """How many notes wait, or wait as this and were heard of since then, by why they do and the reason they are counted by."""
        c = t.shown_items.c  # more than "", not other than it: for that the whole index is read
        with self.reading("count what waits") as conn:
            query = select(c.waits, c.reason, func.count().label("n")).where(c.scope_id == self.scope_of(conn, scope), c.waits > "", *_heard_since(since))
            query = query if waits is None else query.where(c.waits == waits)
            return {(r.waits, r.reason): r.n for r in conn.execute(query.group_by(c.waits, c.reason))}

    # --- pages ---

    def shown_pages(self, scope: str) -> tuple[ShownPage, ...]:
        """Every part of every topic, by key, without its words."""
        c = t.shown_pages.c
        with self.reading("read the shown pages") as conn:
            query = select(*(c[f.name] for f in fields(ShownPage))).where(c.scope_id == self.scope_of(conn, scope))
            found = [ShownPage(*row) for row in conn.execute(query)]
        return tuple(sorted(found, key=lambda p: (p.topic, p.part)))

    def page_words(self, scope: str, pages: Iterable[tuple[str, int]]) -> Mapping[tuple[str, int], PageWords]:
        """The words of these pages."""
        wanted = set(pages)
        c = t.shown_pages.c
        with self.reading("read the words of pages") as conn:
            query = select(c.topic, c.part, c.words, c.body, c.targets).where(c.scope_id == self.scope_of(conn, scope))
            rows = _rows(conn, query, c.topic, {storable(topic) for topic, _ in wanted})
        return {(r.topic, r.part): PageWords(r.words, r.body, r.targets) for r in rows if (r.topic, r.part) in wanted}

    def pages_saying(self, scope: str, names: Iterable[Sequence[str]]) -> frozenset[tuple[str, int]]:
        """Live pages that hold all words of one of the names; `words` frames each word in line ends."""
        c = t.shown_pages.c
        found: set[tuple[str, int]] = set()
        with self.reading("look for names on pages") as conn:
            query = select(c.topic, c.part).where(c.scope_id == self.scope_of(conn, scope), c.live)
            inside: Callable[..., Any] = func.strpos if conn.dialect.name == "postgresql" else func.instr
            for part in chunks(sorted({tuple(map(storable, name)) for name in names}), 100):
                says = or_(*(and_(*(inside(c.words, f"\n{word}\n") > 0 for word in name)) for name in part))
                found.update((r.topic, r.part) for r in conn.execute(query.where(says)))
        return frozenset(found)

    def shown_links(self, scope: str, *, sources: Iterable[str] | None = None, targets: Iterable[str] | None = None) -> tuple[ShownLink, ...]:
        """Links from or to these pages."""
        c = t.shown_links.c
        column, given = (c.source, sources) if sources is not None else (c.target, targets or ())
        with self.reading("read the links between pages") as conn:
            query = select(c.source, c.target, c.mentions, c.leads).where(c.scope_id == self.scope_of(conn, scope))
            return tuple(ShownLink(*row) for row in _rows(conn, query, column, map(storable, given or ())))

    def page_bytes(self, scope: str) -> int:
        """Bytes of all live topic pages without their footnotes."""
        c = t.shown_pages.c
        with self.reading("measure the pages") as conn:
            return int(conn.scalar(select(func.sum(c.bytes)).where(c.scope_id == self.scope_of(conn, scope), c.live)) or 0)

    # --- sessions ---

    def shown_sessions(self, scope: str, ids: Iterable[int] | None = None, *, since: datetime | None = None) -> Mapping[str, ShownSession]:
        """Sessions of the work log by uid: these, or those whose last turn is not before `since`."""
        c = t.shown_sessions.c
        columns = [c[f.name] for f in fields(ShownSession)]
        query: Select[Any] = select(t.sessions.c.uid, *columns).join_from(t.shown_sessions, t.sessions, t.sessions.c.id == c.session_id)
        with self.reading("read the sessions of the work log") as conn:
            query = query.where(c.scope_id == self.scope_of(conn, scope))
            if ids is None:
                query = query.where(c.last_at >= since)
                rows = list(conn.execute(query))
            else:
                rows = _rows(conn, query, c.session_id, ids)
        return {row.uid: ShownSession(*(getattr(row, f.name) for f in fields(ShownSession))) for row in rows}

    def newest_session(self, scope: str) -> datetime | None:
        """The last time any session of the work log knows."""
        c = t.shown_sessions.c
        with self.reading("read the newest session") as conn:
            return cast(datetime | None, conn.scalar(select(func.max(c.last_at)).where(c.scope_id == self.scope_of(conn, scope))))

    def folder_counts(self, scope: str) -> Mapping[str, int]:
        """How many sessions ran in a folder of which name."""
        c = t.shown_sessions.c
        with self.reading("count the folders of sessions") as conn:
            query = select(c.folder, func.count().label("n")).where(c.scope_id == self.scope_of(conn, scope), c.folder != "")
            return {r.folder: r.n for r in conn.execute(query.group_by(c.folder))}

    def spans_of(self, scope: str, sessions: Iterable[int]) -> Mapping[int, tuple[datetime | None, datetime | None]]:
        """First and last stated time of these sessions, by row id, but for times that cannot be (`ahead`)."""
        o, c = t.occurrences.c, t.turns.c
        with self.reading("read when sessions ran") as conn:
            scope_id = self.scope_of(conn, scope)

            def ran(columns: Sequence[Any], until: datetime | None, only: int | None) -> Sequence[Any]:
                query = select(o.session_id.label("named"), *columns).join_from(t.occurrences, t.turns, c.id == o.turn_id)
                query = query.where(o.scope_id == scope_id, *(() if until is None else (c.event_at <= until,))).group_by(o.session_id)
                return _rows(conn, query, o.session_id, sessions if only is None else [only])

            return true_spans(conn, scope_id, ran)

    def infos_of(self, scope: str, sessions: Iterable[int]) -> Mapping[str, Any]:
        """These sessions as `sessions` gives them, by uid."""
        s, i, src = t.sessions.c, t.session_infos.c, t.sources.c
        query: Select[Any] = select(s.uid, s.format, i.info, src.identity).outerjoin_from(t.sessions, t.session_infos, i.session_id == s.id)
        query = query.outerjoin(t.sources, src.id == i.source_id)
        with self.reading("read the sessions") as conn:
            rows = _rows(conn, query.where(s.scope_id == self.scope_of(conn, scope)), s.id, sessions)
        told: dict[str, dict[str, Any]] = {}
        formats = {r.uid: r.format for r in rows}
        for row in sorted(rows, key=lambda r: (r.uid, r.identity or "")):
            told.setdefault(row.uid, {}).update(cast(dict[str, Any], load(row.info)) if row.info else {})
        return {uid: session_of(uid, formats[uid], told[uid]) for uid in sorted(told)}

    # --- instead of walking a whole scope ---

    def said_since(self, scope: str, after: int, until: int) -> int:
        """UTF-8 bytes of what users and assistants said in the turns stored after one mark and until another; see `said_bytes`."""
        c = t.turns.c
        query = select(c.body).where(c.origin.in_(["user", "assistant"]), c.id > after, c.id <= until)
        with self.reading("measure what was said") as conn:
            rows = conn.execute(query.where(c.scope_id == self.scope_of(conn, scope)).execution_options(yield_per=1000))
            return sum(len(r.body.encode("utf-8", "surrogatepass")) for r in rows)

    def quarantined_claims(self, scope: str) -> frozenset[str]:
        """Uids of claims that some current reading holds under quarantine."""
        r, c = t.read_claims.c, t.claims.c
        with self.reading("look for what is held") as conn:
            query = select(c.uid).join_from(t.read_claims, t.claims, c.id == r.claim_id)
            return frozenset(conn.scalars(query.where(r.scope_id == self.scope_of(conn, scope), r.outcome == "quarantine")))


def newest_row(conn: Connection, table: Table, scope_id: int | None) -> int:
    """The id of the newest row of a scope, found from the end: `max` would look at every row."""
    return conn.scalar(select(table.c.id).where(table.c.scope_id == scope_id).order_by(table.c.id.desc()).limit(1)) or 0


# --- what has moved ----------------------------------------------------------------------------------------------------------------------


def _moved_infos(conn: Connection, scope_id: int | None) -> tuple[tuple[int, int, int, str], ...]:
    """What sources say of sessions where it, or the generation of the source, is not what was seen: (session, source, generation, info)."""
    i, s, p = t.session_infos.c, t.sources.c, t.shown_infos.c
    query = select(i.session_id, i.source_id, s.generation, i.info).join_from(t.session_infos, t.sources, s.id == i.source_id)
    query = query.outerjoin(t.shown_infos, and_(p.session_id == i.session_id, p.source_id == i.source_id))
    moved = or_(p.id.is_(None), p.generation != s.generation, p.info != i.info)
    return tuple((r.session_id, r.source_id, r.generation, r.info) for r in conn.execute(query.where(i.scope_id == scope_id, moved)))


def _moved_sessions(conn: Connection, scope_id: int | None, told: Collection[int]) -> tuple[tuple[int, str, str, datetime | None], ...]:
    """Sessions with other turns, another start or other infos than were seen."""
    s, h, p = t.sessions.c, t.session_heads.c, t.shown_sessions.c
    query = select(s.id, s.uid, h.digest, h.started_at).join_from(t.sessions, t.session_heads, h.session_id == s.id)
    query = query.outerjoin(t.shown_sessions, p.session_id == s.id).where(s.scope_id == scope_id)
    moved = or_(p.id.is_(None), p.digest != h.digest, p.started_at.is_distinct_from(h.started_at))
    found = {r.id: r for r in conn.execute(query.where(moved))}
    found |= {r.id: r for r in _rows(conn, query, s.id, set(told) - found.keys())}
    return tuple((r.id, r.uid, r.digest, r.started_at) for _, r in sorted(found.items()))


def _moved_turns(conn: Connection, scope_id: int | None, occurrences: int, sessions: Sequence[int]) -> frozenset[str]:
    """Turns that stand in a place that was not seen, or in a session that moved: they may be cited from elsewhere now."""
    o, c = t.occurrences.c, t.turns.c
    query = select(c.uid).join_from(t.occurrences, t.turns, c.id == o.turn_id).where(o.scope_id == scope_id)
    fresh = set(conn.scalars(query.where(o.id > occurrences)))
    return frozenset(fresh.union(uid for (uid,) in _rows(conn, query, o.session_id, sessions)))


def _rows(conn: Connection, query: Select[Any], column: ColumnElement[Any], wanted: Iterable[Any] | None) -> list[Any]:
    """Rows whose column is among the wanted values, however many these are."""
    return [row for part in chunks(sorted(set(wanted or ()))) for row in conn.execute(query.where(column.in_(part))).all()]


def _one(condition: Any) -> ColumnElement[int]:
    """1 for yes, 0 for no: what can be added up on both databases."""
    return case((condition, 1), else_=0)


def _heard_since(since: int | None) -> list[Any]:
    """That a shown note was heard of since then; one without a time always was."""
    c = t.shown_items.c
    return [] if since is None else [or_(c.newest.is_(None), c.newest >= since)]
