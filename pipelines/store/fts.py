"""The search projection on SQLite: one FTS5 table a scope, in a file of its own beside the store.

Everything in the file is made of our own tokens and can be made again, so a new tokenizer, a restored store or a damaged file is a rebuild. A scope has
a table of its own because word statistics are text of a kind, too: no scope's ranking depends on what another one holds (systems R8).

FTS5 is given a tokenizer that splits at blanks and ASCII punctuation only and leaves other characters alone, and our tokens with their punctuation
moved to private-use characters: it keeps every token exactly as it is.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Float, Integer, bindparam, column, text

from pipelines.store.core import Core
from pipelines.store.faults import StoreDamaged, translated
from pipelines.store.words import CHUNK_ROWS, FORM, KINDS, PIECE_ROWS, SOURCES, Source, encode

_READINGS = """
CREATE TABLE IF NOT EXISTS readings (
  scope_id INTEGER NOT NULL, name TEXT NOT NULL, epoch TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (scope_id, name)
) WITHOUT ROWID"""


class FullText:
    """The projection's file, kept up to date with the store."""

    def __init__(self, core: Core, index: Engine, finder: Engine) -> None:
        self.core = core
        self.index = index
        self.finder = finder
        self._one_indexer = threading.RLock()

    def refresh(self, scope: str | None = None) -> int:
        """Take in what the store got since the last time (ids there come in the order of commits); returns the rows taken in."""
        if not self._behind():
            return 0
        try:
            return self._take_in()
        except StoreDamaged:  # it is derived: start over
            self._drop_file()
            return self._take_in()

    def refresh_part(self, scope: str | None = None) -> int:
        """Take in one part of what `refresh` would; 0 when nothing is left, or another thread is at it."""
        if not self._one_indexer.acquire(blocking=False):
            return 0
        try:
            return self._take_in(parts=1, rows=PIECE_ROWS) if self._behind() else 0
        finally:
            self._one_indexer.release()

    def rebuild(self) -> int:
        """Make the whole projection again; returns the rows in it."""
        self._drop_file()
        return self._take_in()

    @contextmanager
    def matching(self, scope: str, tokens: Sequence[str]) -> Iterator[tuple[Connection, int | None, Any]]:
        """A snapshot of store and projection, and the rows that match: (row_id, score), the best score the least. None when nothing can match."""
        with self.matching_each(scope, [tokens]) as (conn, scope_id, found):
            yield conn, scope_id, next(found)

    @contextmanager
    def matching_each(self, scope: str, queries: Sequence[Sequence[str]]) -> Iterator[tuple[Connection, int | None, Iterator[Any]]]:
        """As `matching`, the rows of every query in its turn, all of one snapshot."""
        with self.core.reading("search", self.finder) as conn:
            scope_id = self.core.scope_of(conn, scope)
            name = f"words_{scope_id}"
            there = scope_id is not None and name in _names(conn, "idx")
            yield conn, scope_id, (_matching(name, tokens) if there and tokens else None for tokens in queries)

    def kept(self, scope: str) -> dict[str, str]:
        """The readings kept for a scope; none of a file that is damaged."""
        try:
            with self.core.reading("read what was kept", self.finder) as conn:
                if "readings" not in _names(conn, "idx"):
                    return {}
                query = text("SELECT name, value FROM idx.readings WHERE scope_id = :scope AND epoch = :epoch")
                rows = conn.execute(query, {"scope": self.core.scope_of(conn, scope), "epoch": self.core.epoch})
                return {str(name): str(value) for name, value in rows}
        except StoreDamaged:
            return {}

    def keep(self, scope: str, readings: Mapping[str, str]) -> None:
        """Keep these readings in place of those kept for the scope; a damaged file keeps none until it is made again."""
        with self.core.reading("look up the scope") as conn:
            scope_id = self.core.scope_of(conn, scope)
        if scope_id is None:
            return
        rows = [{"scope": scope_id, "name": name, "epoch": self.core.epoch, "value": value} for name, value in readings.items()]
        with suppress(StoreDamaged), self._one_indexer, translated("keep what was read", f"{self.core.engines.where} (search)"), self.index.begin() as index:
            index.exec_driver_sql(_READINGS)
            had = {str(n) for (n,) in index.execute(text("SELECT name FROM readings WHERE scope_id = :scope AND epoch = :epoch"), rows[0])} if rows else set()
            gone = text("DELETE FROM readings WHERE scope_id = :scope AND NOT (epoch = :epoch AND name IN (SELECT value FROM json_each(:names)))")
            index.execute(gone, {"scope": scope_id, "epoch": self.core.epoch, "names": json.dumps(sorted(readings))})
            if new := [row for row in rows if row["name"] not in had]:
                index.execute(text("INSERT OR REPLACE INTO readings (scope_id, name, epoch, value) VALUES (:scope, :name, :epoch, :value)"), new)

    def _behind(self) -> bool:
        """Whether the projection lacks anything, without writing."""
        try:
            with self.core.reading("look at the search index", self.finder) as conn:
                return "state" not in _names(conn, "idx") or _state(conn, "idx.state") != self._wanted(conn)
        except StoreDamaged:
            return True

    def _wanted(self, conn: Connection) -> dict[str, str]:
        newest = {source.name: str(conn.scalar(source.newest) or 0) for source in SOURCES}
        return {"form": str(FORM), "epoch": self.core.epoch, **newest}

    def _take_in(self, parts: int | None = None, rows: int = CHUNK_ROWS) -> int:
        total = 0
        for _ in count() if parts is None else range(parts):
            with self._one_indexer, translated("index the store", f"{self.core.engines.where} (search)"), self.index.begin() as index:
                taken = self._take_in_part(index, rows)
            if not taken:
                break
            total += taken
        return total

    def _take_in_part(self, index: Connection, rows: int) -> int:
        """One transaction of the projection: the next rows of every source, and how far that is."""
        index.exec_driver_sql("CREATE TABLE IF NOT EXISTS state (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
        state = _state(index, "state")
        total = 0
        with self.core.reading("read what is new for the index") as conn:
            wanted = self._wanted(conn)
            if not _continues(state, wanted):
                for name in sorted(_names(index, "main")):
                    if name.startswith("words_") and name.removeprefix("words_").isdigit():
                        index.exec_driver_sql(f"DROP TABLE {name}")
                state = {source.name: "0" for source in SOURCES}
            for source in SOURCES:
                last, taken = _add_words(index, conn, source, int(state[source.name]), rows)
                state[source.name] = str(last)
                total += taken
        reached = [{"name": name, "value": value} for name, value in {**wanted, **{s.name: state[s.name] for s in SOURCES}}.items()]
        index.execute(text("INSERT OR REPLACE INTO state (name, value) VALUES (:name, :value)"), reached)
        return total

    def _drop_file(self) -> None:
        """Remove the projection's file; SQLite makes it again. Readers of other processes keep the old one until they reconnect."""
        self.index.dispose()
        self.finder.dispose()
        path = Path(str(self.index.url.database))
        for name in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))):
            name.unlink(missing_ok=True)
        path.touch(mode=0o600)


def _names(conn: Connection, schema: str) -> set[str]:
    return {str(name) for (name,) in conn.exec_driver_sql(f"SELECT name FROM {schema}.sqlite_master WHERE type = 'table'")}


def _state(conn: Connection, where: str) -> dict[str, str]:
    return {str(name): str(value) for name, value in conn.exec_driver_sql(f"SELECT name, value FROM {where}")}


def _continues(state: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    """Whether the projection can go on from where it is: same layout, same store, and not ahead of it (a restored one)."""
    same = all(state.get(name) == wanted[name] for name in ("form", "epoch"))
    return same and all(int(state[source.name]) <= int(wanted[source.name]) for source in SOURCES)


def _add_words(index: Connection, conn: Connection, source: Source, after: int, rows: int) -> tuple[int, int]:
    """Index the next rows of a source; returns the last id and how many they were."""
    made: set[int] = set()
    last, taken = after, 0
    for row in conn.execution_options(yield_per=50).execute(source.after(after, rows)):
        if row.scope_id not in made:
            index.exec_driver_sql(f"CREATE VIRTUAL TABLE IF NOT EXISTS words_{row.scope_id} USING fts5 (body, content='', tokenize='ascii')")
            made.add(row.scope_id)
        words = (row.id * KINDS + source.kind, " ".join(source.tokens(row)))
        index.exec_driver_sql(f"INSERT INTO words_{row.scope_id} (rowid, body) VALUES (?, ?)", words)
        last, taken = row.id, taken + 1
    return last, taken


def _matching(name: str, tokens: Sequence[str]) -> Any:
    """The rows of a scope's table that hold any of the tokens."""
    # LIMIT -1 keeps SQLite from folding this into the outer query, where bm25() is not allowed
    sql = text(f"SELECT rowid AS row_id, bm25({name}) AS score FROM idx.{name} WHERE {name} MATCH :words LIMIT -1")
    found = sql.bindparams(bindparam("words", _any_of(tokens))).columns(column("row_id", Integer), column("score", Float))
    return found.subquery("found")


def _any_of(tokens: Sequence[str]) -> str:
    """Any of the tokens; encoded tokens hold no quote, so nothing in a query is read as an operator."""
    return " OR ".join(f'"{encode(token)}"' for token in tokens)
