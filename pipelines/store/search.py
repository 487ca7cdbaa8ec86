"""The search projection on SQLite: one FTS5 table a scope, in a file of its own beside the store.

Everything in the file is made of our own tokens and can be made again, so a new tokenizer, a restored store or a damaged file is a rebuild. A scope has
a table of its own because word statistics are text of a kind, too: no scope's ranking depends on what another one holds (systems R8).

FTS5 is given a tokenizer that splits at blanks and ASCII punctuation only and leaves other characters alone, and our tokens with their punctuation
moved to private-use characters: it keeps every token exactly as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from sqlalchemy import Connection, Engine, Float, Integer, Select, column, func, select, text

from pipelines.errors import Refused
from pipelines.model import Status
from pipelines.store import tables as t
from pipelines.store.beliefs import LIVE, may_see
from pipelines.store.codec import online_of
from pipelines.store.core import Core
from pipelines.store.faults import StoreDamaged, translated
from pipelines.store.places import cited
from pipelines.store.types import load, storable
from pipelines.store.values import Match, Reader
from pipelines.text.tokens import tokenize

FORM = "2"  # of this file's layout and of the tokenizer; another one in the file means: build it again
CHUNK_ROWS = 1_000  # rows a transaction of the projection takes in
TEXT_MAX = 200_000  # characters of one turn that are indexed
TOKENS_MAX = 200  # of one query
_TURN, _VERSION, _ONLINE, _KINDS = 0, 1, 2, 3  # a row id is the id in the store times the number of kinds, plus the kind
OWN_MAX = 200  # online notes of one answer that are looked at
PLACED = 12  # characters of an online note's uid that its page shows it by
_PLAIN = {i: 0xE000 + i for i in range(128) if not chr(i).isalnum() and chr(i) != " "}


class Search(Core):
    """Finding turns and notes by words. Only what a reader may see is looked at."""

    def search_turns(self, scope: str, tokens: Sequence[str], *, limit: int) -> tuple[Match, ...]:
        """Turns that hold any of the tokens, best first. Turns of a quarantined claim and our own words are not among them."""
        v = t.findable.c
        with self._searching(scope, tokens) as (conn, scope_id, found):
            if found is None:
                return ()
            query = select(v.id, v.uid, found.c.score).join_from(found, t.findable, v.id == found.c.row_id // _KINDS)
            query = query.where(found.c.row_id % _KINDS == _TURN, v.scope_id == scope_id).order_by(found.c.score, v.uid).limit(limit)
            scores = {r.uid: -r.score for r in reversed(conn.execute(query, _match(tokens)).all())}
            return _best(_turns(conn, scope_id, scores))

    def search_notes(self, scope: str, tokens: Sequence[str], *, now: datetime, limit: int, audience: str = "", sensitive: bool = False) -> tuple[Match, ...]:
        """Live note versions this reader may see at `now`, and lines of note files that stand on a page, that hold any of the tokens, best first."""
        v = t.visible.c
        reader = Reader(now=now, audience=audience, sensitive=sensitive)
        with self._searching(scope, tokens) as (conn, scope_id, found):
            if found is None:
                return ()
            query = select(t.visible, found.c.score).join_from(found, t.visible, v.id == found.c.row_id // _KINDS)
            query = query.where(found.c.row_id % _KINDS == _VERSION, may_see(scope_id, reader), v.status.in_([s.value for s in LIVE]))
            rows = conn.execute(query.order_by(found.c.score, v.note_uid, v.slot).limit(limit), _match(tokens)).all()
            own = _carried(conn, scope_id, found, tokens)
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

    def refresh_search(self) -> int:
        """Take in what the store got since the last time; returns the rows taken in. Idempotent, and safe beside other processes."""
        if not self._behind():
            return 0
        try:
            return self._take_in()
        except StoreDamaged:  # it is derived: start over
            self._drop_file()
            return self._take_in()

    def rebuild_search(self) -> int:
        """Make the whole projection again; returns the rows in it."""
        self._drop_file()
        return self._take_in()

    # --- the file ---

    def _index(self) -> Engine:
        if self.engines.index is None:
            raise Refused("full-text search needs a store on SQLite")
        return self.engines.index

    def _behind(self) -> bool:
        """Whether the projection lacks anything, without writing."""
        self._index()
        try:
            with self.reading("look at the search index", self.engines.finder) as conn:
                return "state" not in _names(conn, "idx") or _state(conn, "idx.state") != self._wanted(conn)
        except StoreDamaged:
            return True

    def _wanted(self, conn: Connection) -> dict[str, str]:
        newest = {
            name: str(conn.scalar(select(func.max(c))) or 0)
            for name, c in (("turn", t.turns.c.id), ("version", t.note_versions.c.id), ("online", t.online_notes.c.id))
        }
        return {"form": FORM, "epoch": self.epoch, **newest}

    def _take_in(self) -> int:
        total = 0
        while True:
            with self._one_indexer, translated("index the store", f"{self.engines.where} (search)"), self._index().begin() as index:
                taken = self._take_in_part(index)
            if not taken:
                return total
            total += taken

    def _take_in_part(self, index: Connection) -> int:
        """One transaction of the projection: the next turns and versions, and how far that is."""
        index.exec_driver_sql("CREATE TABLE IF NOT EXISTS state (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
        state = _state(index, "state")
        with self.reading("read what is new for the index") as conn:
            wanted = self._wanted(conn)
            if not _continues(state, wanted):
                for name in sorted(_names(index, "main")):
                    if name.startswith("words_") and name.removeprefix("words_").isdigit():
                        index.exec_driver_sql(f"DROP TABLE {name}")
                state = dict.fromkeys(_COUNTED, "0")
            turn, taken = _add_words(index, conn, _new_turns(int(state["turn"])), _turn_words, _TURN)
            version, more = _add_words(index, conn, _new_versions(int(state["version"])), _version_words, _VERSION)
            online, own = _add_words(index, conn, _new_online(int(state["online"])), _online_words, _ONLINE)
        state = {**wanted, "turn": turn or state["turn"], "version": version or state["version"], "online": online or state["online"]}
        index.execute(text("INSERT OR REPLACE INTO state (name, value) VALUES (:name, :value)"), [{"name": n, "value": v} for n, v in state.items()])
        return taken + more + own

    def _drop_file(self) -> None:
        """Remove the projection's file; SQLite makes it again. Readers of other processes keep the old one until they reconnect."""
        index, finder = self._index(), self.engines.finder
        index.dispose()
        if finder is not None:
            finder.dispose()
        path = Path(str(index.url.database))
        for name in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))):
            name.unlink(missing_ok=True)
        path.touch(mode=0o600)

    @contextmanager
    def _searching(self, scope: str, tokens: Sequence[str]) -> Iterator[tuple[Connection, int | None, Any]]:
        """A snapshot of store and projection, and the rows that match: (row_id, score), the best score the least. None when nothing can match."""
        self.refresh_search()
        with self.reading("search", self.engines.finder) as conn:
            scope_id = self.scope_of(conn, scope)
            name = f"words_{scope_id}"
            if not tokens or scope_id is None or name not in _names(conn, "idx"):
                yield conn, scope_id, None
                return
            # LIMIT -1 keeps SQLite from folding this into the outer query, where bm25() is not allowed
            sql = text(f"SELECT rowid AS row_id, bm25({name}) AS score FROM idx.{name} WHERE {name} MATCH :words LIMIT -1")
            yield conn, scope_id, sql.columns(column("row_id", Integer), column("score", Float)).subquery("found")


def _names(conn: Connection, schema: str) -> set[str]:
    return {str(name) for (name,) in conn.exec_driver_sql(f"SELECT name FROM {schema}.sqlite_master WHERE type = 'table'")}


def _state(conn: Connection, where: str) -> dict[str, str]:
    return {str(name): str(value) for name, value in conn.exec_driver_sql(f"SELECT name, value FROM {where}")}


def _continues(state: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    """Whether the projection can go on from where it is: same layout, same store, and not ahead of it (a restored one)."""
    same = all(state.get(name) == wanted[name] for name in ("form", "epoch"))
    return same and all(int(state[name]) <= int(wanted[name]) for name in _COUNTED)


_COUNTED = ("turn", "version", "online")


# --- words in --------------------------------------------------------------------------------------------------------------------------------


def _new_turns(after: int) -> Select[Any]:
    c = t.turns.c
    return select(c.id, c.scope_id, func.substr(c.body, 1, TEXT_MAX).label("body"), c.detail).where(c.id > after).order_by(c.id).limit(CHUNK_ROWS)


def _new_versions(after: int) -> Select[Any]:
    v = t.note_versions.c
    query = select(v.id, v.scope_id, v.statement, v.subject, v.qualifier, v.applies_to).where(v.id > after)
    return query.order_by(v.id).limit(CHUNK_ROWS)


def _new_online(after: int) -> Select[Any]:
    o = t.online_notes.c
    return select(o.id, o.scope_id, o.gone, o.body).where(o.id > after).order_by(o.id).limit(CHUNK_ROWS)


def _turn_words(row: Any) -> str:
    """What a turn is found by: who speaks, what is said, and the words of a tool call."""
    detail = cast(dict[str, Any], load(row.detail)) if row.detail != "{}" else {}
    call = detail.get("call")
    return "\n".join([detail.get("speaker") or "", row.body, *(call_words(call[1], call[2]) if call else ())])[:TEXT_MAX]


def call_words(name: str, arguments: Mapping[str, object]) -> Iterator[str]:
    """The tool's name and the strings among its arguments."""
    yield name
    for value in arguments.values():
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from (v for v in value if isinstance(v, str))


def _version_words(row: Any) -> str:
    return "\n".join(filter(None, (row.statement, row.subject, row.qualifier, row.applies_to)))


def _online_words(row: Any) -> str:
    """What a line of a note file is found by: its words, its heading and what its file is called."""
    if row.gone:
        return ""
    note = online_of(row.body)
    return "\n".join(filter(None, (note.text, note.heading, note.title)))[:TEXT_MAX]


def _add_words(index: Connection, conn: Connection, query: Select[Any], words: Callable[[Any], str], kind: int) -> tuple[str, int]:
    """Index the query's rows; returns the last id and how many they were."""
    made: set[int] = set()
    last, count = "", 0
    for row in conn.execution_options(yield_per=50).execute(query):
        if row.scope_id not in made:
            index.exec_driver_sql(f"CREATE VIRTUAL TABLE IF NOT EXISTS words_{row.scope_id} USING fts5 (body, content='', tokenize='ascii')")
            made.add(row.scope_id)
        body = encode(" ".join(tokenize(words(row))))
        index.exec_driver_sql(f"INSERT INTO words_{row.scope_id} (rowid, body) VALUES (?, ?)", (row.id * _KINDS + kind, body))
        last, count = str(row.id), count + 1
    return last, count


def encode(tokens: str) -> str:
    """Tokens, blanks between them, as FTS5 keeps them whole: ASCII punctuation moved out of its sight."""
    return storable(tokens).translate(_PLAIN)


def _match(tokens: Sequence[str]) -> dict[str, str]:
    """Any of the tokens; encoded tokens hold no quote, so nothing in a query is read as an operator."""
    return {"words": " OR ".join(f'"{encode(token)}"' for token in list(dict.fromkeys(tokens))[:TOKENS_MAX])}


# --- matches out ---------------------------------------------------------------------------------------------------------------------------


def _carried(conn: Connection, scope_id: int | None, found: Any, tokens: Sequence[str]) -> list[Match]:
    """Lines of note files that hold any of the tokens. What stands on no page (held back, or to be checked again) is not found either."""
    o, p, later = t.online_notes.c, t.placements.c, t.online_notes.alias()
    query = select(o.uid, o.body, found.c.score).join_from(found, t.online_notes, o.id == found.c.row_id // _KINDS)
    query = query.outerjoin(later, later.c.replaces == o.id).where(found.c.row_id % _KINDS == _ONLINE, o.scope_id == scope_id, later.c.id.is_(None), ~o.gone)
    rows = conn.execute(query.order_by(found.c.score, o.uid).limit(OWN_MAX), _match(tokens)).all()
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
        )  # fmt: skip


def _best(matches: Iterable[Match]) -> tuple[Match, ...]:
    return tuple(sorted(matches, key=lambda m: (-m.score, m.session or "", m.ordinal or 0, m.uid)))
