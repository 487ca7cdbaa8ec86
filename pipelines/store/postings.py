"""The search projection on PostgreSQL: the tokens of every row with their counts, an index over them, and the arithmetic of FTS5's bm25().

Not a tsvector: that forgets what stands behind position 16,383 and counts a word at most 256 times, and its parser is not ours. A token is kept as 64
bits of the digest of scope and word: one index serves all scopes, none is ranked by what another one holds (systems R8), and nobody's words stand here.
Beside the tokens stands, for each scope, how far they go, how many rows and how many tokens they are.

How far is kept by scope because ids come in the order of commits only there: whoever adds rows to a scope holds its row's lock (systems hole 12).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from sqlalchemy import BigInteger, Connection, Float, bindparam, column, text

from pipelines.store.core import Core
from pipelines.store.types import dump
from pipelines.store.words import CHUNK_ROWS, FORM, KINDS, PIECE_ROWS, SOURCES, Source, encode

_LOCK = 0x64726577  # advisory lock under which the tables are made ("drew")
_TABLES = """
CREATE TABLE IF NOT EXISTS search_words (
  row_id bigint PRIMARY KEY, scope_id bigint NOT NULL, size integer NOT NULL, tokens bigint[] NOT NULL, counts integer[] NOT NULL
);
CREATE INDEX IF NOT EXISTS ix_search_words_tokens ON search_words USING gin (tokens);
CREATE INDEX IF NOT EXISTS ix_search_words_scope_id ON search_words (scope_id);
CREATE TABLE IF NOT EXISTS search_scopes (
  scope_id bigint PRIMARY KEY, form integer NOT NULL, epoch text NOT NULL, turn bigint NOT NULL, version bigint NOT NULL, online bigint NOT NULL,
  rows bigint NOT NULL, words bigint NOT NULL
)"""
_COUNTED = ("turn", "version", "online", "rows", "words")
_BEHIND = """
SELECT s.id FROM scopes AS s LEFT JOIN search_scopes AS w ON w.scope_id = s.id
WHERE (CAST(:scope AS text) IS NULL OR s.path = :scope) AND COALESCE(w.form, 0) <= :form AND (
  w.form IS DISTINCT FROM :form OR w.epoch <> :epoch
  OR w.turn <> COALESCE((SELECT max(id) FROM turns WHERE scope_id = s.id), 0)
  OR w.version <> COALESCE((SELECT max(id) FROM note_versions WHERE scope_id = s.id), 0)
  OR w.online <> COALESCE((SELECT max(id) FROM online_notes WHERE scope_id = s.id), 0)
) ORDER BY s.id"""  # a form above ours: a newer dreamd keeps it
_BEGIN = "INSERT INTO search_scopes VALUES (:scope, :form, :epoch, 0, 0, 0, 0, 0) ON CONFLICT DO NOTHING"
_STATE = "SELECT form, epoch, turn, version, online, rows, words FROM search_scopes WHERE scope_id = :scope"
_SAVE = """
UPDATE search_scopes SET form = :form, epoch = :epoch, turn = :turn, version = :version, online = :online, rows = :rows, words = :words
WHERE scope_id = :scope"""
# many rows at once: the driver takes longer over a list of numbers than the server over its JSON
_ADD = """
INSERT INTO search_words (row_id, scope_id, size, tokens, counts)
SELECT row_id, :scope, size, tokens, counts
FROM json_to_recordset(CAST(:rows AS json)) AS told (row_id bigint, size integer, tokens bigint[], counts integer[])"""

# `counts` ends where the tokens begin that stand once.
# k1 = 1.2, b = 0.75, a word in more than half of the rows weighs 1e-6: SQLite's ext/fts5/fts5_aux.c, in its order of operations
_RANK = """
WITH asked AS (SELECT token, n FROM unnest(CAST(:tokens AS bigint[])) WITH ORDINALITY AS a (token, n)),
hits AS (
  SELECT w.row_id, w.size, a.n, CAST(COALESCE(w.counts[array_position(w.tokens, a.token)], 1) AS float8) AS freq
  FROM asked AS a JOIN search_words AS w ON w.tokens @> ARRAY[a.token]
),
weights AS (
  SELECT n, ln((CAST(:rows AS float8) - count(*) + 0.5) / (count(*) + 0.5)) AS idf FROM hits GROUP BY n
)
SELECT h.row_id AS row_id,
  -sum(CASE WHEN i.idf <= 0 THEN CAST(1e-6 AS float8) ELSE i.idf END * (
    (h.freq * CAST(2.2 AS float8)) / (h.freq + CAST(1.2 AS float8) * (CAST(0.25 AS float8) + CAST(0.75 AS float8) * h.size / CAST(:average AS float8)))
  ) ORDER BY h.n) AS score
FROM hits AS h JOIN weights AS i ON i.n = h.n
GROUP BY h.row_id"""


class Postings:
    """Words of all scopes in the store's own database."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self._made = False

    def refresh(self, scope: str | None = None) -> int:
        """Take in what the scope (or every scope) got since the last time; returns the rows taken in."""
        return sum(self._take_in(scope_id) for scope_id in self._behind(scope))

    def refresh_part(self, scope: str | None = None) -> int:
        """Take in one part of what `refresh` would; 0 when nothing is left."""
        return next((taken for scope_id in self._behind(scope) if (taken := self._take_in_part(scope_id, PIECE_ROWS))), 0)

    def _behind(self, scope: str | None) -> list[int]:
        """The scopes that got something since the last time."""
        self._make()
        with self.core.reading("look at the search index") as conn:
            return list(conn.scalars(text(_BEHIND), {"scope": scope, "form": FORM, "epoch": self.core.epoch}))

    def rebuild(self) -> int:
        """Make the whole projection again; returns the rows in it."""
        self._make()
        with self.core.writing("empty the search index") as conn:
            conn.execute(text("TRUNCATE search_words, search_scopes"))
        return self.refresh()

    @contextmanager
    def matching(self, scope: str, tokens: Sequence[str]) -> Iterator[tuple[Connection, int | None, Any]]:
        """A snapshot of store and projection, and the rows that match: (row_id, score), the best score the least. None when nothing can match."""
        with self.matching_each(scope, [tokens]) as (conn, scope_id, found):
            yield conn, scope_id, next(found)

    @contextmanager
    def matching_each(self, scope: str, queries: Sequence[Sequence[str]]) -> Iterator[tuple[Connection, int | None, Iterator[Any]]]:
        """As `matching`, the rows of every query in its turn, all of one snapshot."""
        with self.core.reading("search") as conn:
            scope_id = self.core.scope_of(conn, scope)
            state = None if scope_id is None else conn.execute(text(_STATE), {"scope": scope_id}).one_or_none()
            there = state is not None and state.words
            yield conn, scope_id, (_matching(scope_id, state, tokens) if there and tokens else None for tokens in queries)

    def kept(self, scope: str) -> dict[str, str]:
        """No reading is kept on a server: a worker that goes on running has them in its memory."""
        return {}

    def keep(self, scope: str, readings: Mapping[str, str]) -> None:
        """Nothing to do (`kept`)."""

    def _make(self) -> None:
        """Create the tables where they are missing; whoever comes second waits for the first."""
        if self._made:
            return
        with self.core.reading("look for the search index") as conn:
            there = conn.scalar(text("SELECT to_regclass('search_scopes')")) is not None
        if not there:
            with self.core.writing("make the search index") as conn:
                conn.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
                for statement in _TABLES.split(";"):
                    conn.execute(text(statement))
        self._made = True

    def _ours(self, state: Any) -> bool:
        return bool(state.form == FORM and state.epoch == self.core.epoch)

    def _take_in(self, scope_id: int) -> int:
        total = 0
        while taken := self._take_in_part(scope_id):
            total += taken
        return total

    def _take_in_part(self, scope_id: int, rows: int = CHUNK_ROWS) -> int:
        """One transaction: the scope's next rows of every source, and how far that is. Its row here is locked, so nobody takes the same in beside us."""
        with self.core.writing("index the store") as conn:
            conn.execute(text(_BEGIN), {"scope": scope_id, "form": FORM, "epoch": self.core.epoch})
            state = conn.execute(text(f"{_STATE} FOR UPDATE"), {"scope": scope_id}).one()
            if not self._ours(state):
                conn.execute(text("DELETE FROM search_words WHERE scope_id = :scope"), {"scope": scope_id})
            now: dict[str, Any] = {name: getattr(state, name) if self._ours(state) else 0 for name in _COUNTED}
            total = sum(_add_words(conn, source, scope_id, now, rows) for source in SOURCES)
            conn.execute(text(_SAVE), {**now, "scope": scope_id, "form": FORM, "epoch": self.core.epoch})
        return total


def _matching(scope_id: int | None, state: Any, tokens: Sequence[str]) -> Any:
    """The rows of a scope, whose projection is in this state, that hold any of the tokens."""
    given = {"tokens": [_key(scope_id, encode(token)) for token in tokens], "rows": state.rows, "average": state.words / state.rows}
    found = text(_RANK).bindparams(*(bindparam(name, value) for name, value in given.items()))
    return found.columns(column("row_id", BigInteger), column("score", Float)).subquery("found")


def _add_words(conn: Connection, source: Source, scope_id: int, state: dict[str, Any], most: int) -> int:
    """Index the next rows of a source and bring the scope's state forward; returns how many they were."""
    rows = []
    for row in conn.execute(source.after(state[source.name], most).where(source.table.c.scope_id == scope_id)).all():
        tokens = [token for token in source.tokens(row) if token]
        rows.append(_row(scope_id, row.id * KINDS + source.kind, Counter(tokens)))
        state[source.name] = row.id
    if rows:
        conn.execute(text(_ADD), {"scope": scope_id, "rows": dump(rows)})
        state["rows"] += len(rows)
        state["words"] += sum(row["size"] for row in rows)
    return len(rows)


def _row(scope_id: int, row_id: int, tokens: Counter[str]) -> dict[str, Any]:
    often = tokens.most_common()
    counts = [n for _, n in often if n > 1]
    return {"row_id": row_id, "size": tokens.total(), "tokens": [_key(scope_id, token) for token, _ in often], "counts": counts}


@lru_cache(maxsize=1 << 16)
def _key(scope_id: int | None, token: str) -> int:
    """A token of one scope as it is indexed. Most tokens of a text are common ones."""
    return int.from_bytes(hashlib.blake2b(f"{scope_id} {token}".encode(), digest_size=8).digest(), signed=True)
