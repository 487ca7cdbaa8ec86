"""What every part of the store stands on: its two engines, its three kinds of transaction, scopes and revisions."""

from __future__ import annotations

import hashlib
import threading
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, Table, bindparam, insert, select, text, update
from sqlalchemy.dialects import postgresql, sqlite

from pipelines.errors import Conflict, Refused
from pipelines.store import tables as t
from pipelines.store.faults import StoreDamaged, TakenBack, translated
from pipelines.store.rows import CHUNK as CHUNK
from pipelines.store.rows import add_told
from pipelines.store.rows import chunks as chunks
from pipelines.store.schema import check_schema
from pipelines.store.types import dump, storable
from pipelines.store.values import Revision

THINKING_MS = 600_000  # between two statements of a transaction in which a large scope is believed anew: a frozen process holds its locks for as long
REPLAYS = 5  # times a transaction is tried that the database takes back in favour of another (systems R14)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Engines:
    """`write` begins at once as the only writer, `read` never writes and never waits for one. `where` names the store in messages.

    On SQLite `index` writes the search projection and `finder` reads the store with the projection attached as `idx`.
    """

    write: Engine
    read: Engine
    where: str
    index: Engine | None = None
    finder: Engine | None = None

    def dispose(self) -> None:
        """Give all connections back; on SQLite the last one folds the write-ahead log into the file."""
        for engine in (self.finder, self.index, self.read, self.write):
            if engine is not None:
                engine.dispose()


class Core:
    """Transactions over one store. Not for use across a fork. `now` is asked once a transaction that records a time."""

    def __init__(self, engines: Engines, *, now: Callable[[], datetime]) -> None:
        self.engines = engines
        self.now = now
        # in front of SQLite's unfair busy wait (systems hole 40)
        self._one_writer: AbstractContextManager[Any] = threading.RLock() if self.on_sqlite else nullcontext()
        self._open = threading.local()  # the connection of the transaction this thread has open around several methods
        self.refused: set[tuple[str, str]] = set()  # scope and address of bytes archived for what was then not taken in (`Intake.leave_refused`)
        self.identify()

    def identify(self) -> None:
        """Read which store this is, and its key."""
        with self.reading("open the store") as conn:
            row = conn.execute(select(t.store.c.epoch, t.store.c.pepper)).one()
        self.epoch: str = row.epoch
        self._pepper: bytes = row.pepper

    @property
    def on_sqlite(self) -> bool:
        """Whether this store is a file of this host's; otherwise it is a database on PostgreSQL."""
        return self.engines.write.dialect.name == "sqlite"

    def close(self) -> None:
        """Give all connections back. The store opens new ones when it is used again."""
        self.engines.dispose()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def mac(self, *parts: str | bytes) -> str:
        """A digest keyed by this store's pepper: the only kind that may outlive a forget."""
        h = hashlib.blake2b(key=self._pepper, digest_size=20)
        for part in parts:
            raw = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
            h.update(len(raw).to_bytes(8, "big"))
            h.update(raw)
        return h.hexdigest()

    @contextmanager
    def reading(self, doing: str, engine: Engine | None = None) -> Iterator[Connection]:
        """A consistent snapshot; statements that write are refused. Within `together(sees=True)` it is what that transaction has made of it."""
        seen: Connection | None = getattr(self._open, "seen", None)
        if seen is not None and engine is None:
            yield seen
            return
        with translated(doing, self.engines.where), (engine or self.engines.read).begin() as conn:
            yield conn

    @contextmanager
    def writing(self, doing: str) -> Iterator[Connection]:
        """All or nothing; no engine, network or file is waited for inside. Within `together` it is a part of that transaction."""
        joined: Connection | None = getattr(self._open, "conn", None)
        if joined is not None:
            yield joined
            return
        with self._one_writer, translated(doing, self.engines.where), self.engines.write.begin() as conn:
            yield conn

    @contextmanager
    def together(self, doing: str, *, sees: bool = False) -> Iterator[None]:
        """One transaction around several writing methods of this thread: all of them or none. What they write is seen by `reading` only afterwards, or
        with `sees` at once: for what has to be deleted, believed and rendered in one go, during which a server hears nothing for longer than else."""
        with self.writing(doing) as conn:
            if sees and not self.on_sqlite:
                conn.execute(text(f"SET LOCAL idle_in_transaction_session_timeout = {THINKING_MS}"))
            outer, seen = getattr(self._open, "conn", None), getattr(self._open, "seen", None)
            self._open.conn, self._open.seen = conn, conn if sees else seen
            try:
                yield
            finally:
                self._open.conn, self._open.seen = outer, seen

    def atomically(self, doing: str, work: Callable[[], T]) -> T:
        """`work` as one transaction, as within `together`, and done again when the database took that back in favour of another: it must bear it.

        After some times TakenBack (a Transient) is raised, and at once within another transaction, which is lost as a whole.
        """
        for left in reversed(range(REPLAYS)):
            try:
                with self.together(doing):
                    return work()
            except TakenBack:
                if not left or getattr(self._open, "conn", None) is not None:
                    raise
        raise AssertionError("the last time raises or returns")

    def check_schema(self) -> None:
        """Raise StoreTooNew when a migration has gone past what this code works on: asked at each claim, so that old workers leave in good order.

        Raises StoreDamaged when another store stands in its place: an older copy, or one that took over another key by an import.
        """
        with self.reading("look at the schema") as conn:
            if check_schema(conn, self.engines.where) != self.epoch:
                raise StoreDamaged(self.engines.where, "is another store than the one this process opened; start this process again")

    # --- scopes ---

    def scope_of(self, conn: Connection, scope: str) -> int | None:
        """The row id of a scope, None before anything was written there."""
        found: int | None = conn.scalar(_SCOPE, {"path": scope_path(scope)})
        return found

    def locked_scope(self, conn: Connection, scope: str) -> int:
        """The row id of a scope, made when it is new, its row locked until the transaction ends: one writer a scope.

        The lock lets rows that only point at the scope come in beside it (FOR NO KEY UPDATE).
        """
        told = {"path": scope_path(scope)}
        found: int | None = conn.scalar(_LOCKED, told)
        if found is None:
            conn.execute(insert_new(conn, t.scopes), {"path": scope, "revision": 0, "recorded_at": self.now()})
            found = conn.scalar(_LOCKED, told)
            assert found is not None
        return found

    def scopes(self) -> tuple[str, ...]:
        """Paths of all scopes, sorted."""
        with self.reading("list the scopes") as conn:
            return tuple(sorted(conn.scalars(select(t.scopes.c.path))))

    # --- revisions ---

    def revision(self, scope: str) -> int:
        """The scope's current revision; 0 when nothing was ever believed there."""
        with self.reading("read the revision") as conn:
            return conn.scalar(select(t.scopes.c.revision).where(t.scopes.c.path == scope_path(scope))) or 0

    def revisions(self, scope: str) -> tuple[Revision, ...]:
        """All revisions of a scope, oldest first."""
        r = t.revisions.c
        with self.reading("read the revisions") as conn:
            rows = conn.execute(select(r.rev, r.cause, r.dream_uid, r.hand, r.recorded_at).where(r.scope_id == self.scope_of(conn, scope)).order_by(r.rev))
            return tuple(Revision(rev=x.rev, cause=x.cause, dream=x.dream_uid, hand=x.hand, recorded_at=x.recorded_at) for x in rows)

    def raise_revision(self, scope: str, *, cause: str, above: int, hand: str = "dreamd") -> int:
        """A revision without a change of beliefs: a new renderer, an edit a person made. Raises Conflict when the scope stands no longer at `above`."""
        with self.writing("raise the revision") as conn:
            scope_id = self.locked_scope(conn, scope)
            stands = conn.scalar(select(t.scopes.c.revision).where(t.scopes.c.id == scope_id))
            if stands != above:
                raise Conflict(f"{scope} stands at revision {stands}, and no longer at {above}")
            rev, _ = self.next_revision(conn, scope_id, cause=cause, hand=hand)
            return rev

    def next_revision(self, conn: Connection, scope_id: int, *, cause: str, hand: str, counts: Mapping[str, int] | None = None) -> tuple[int, datetime]:
        """Move a locked scope to its next revision; returns it and when it was recorded."""
        rev, at = self.coming_revision(conn, scope_id)
        self.enter_revision(conn, scope_id, rev, at, cause=cause, hand=hand, counts=counts)
        return rev, at

    def coming_revision(self, conn: Connection, scope_id: int) -> tuple[int, datetime]:
        """The revision that comes next in a locked scope. `recorded_at` never runs backwards, whatever the clock does (systems R4)."""
        row = conn.execute(select(t.scopes.c.revision, t.scopes.c.recorded_at).where(t.scopes.c.id == scope_id)).one()
        return row.revision + 1, max(self.now(), row.recorded_at)

    def enter_revision(
        self, conn: Connection, scope_id: int, rev: int, at: datetime, *, cause: str, hand: str, dream: str | None = None, counts: Mapping[str, int] | None = None
    ) -> None:  # fmt: skip
        """Move a locked scope to the revision that came next."""
        conn.execute(update(t.scopes).where(t.scopes.c.id == scope_id).values(revision=rev, recorded_at=at))
        conn.execute(
            insert(t.revisions),
            {"scope_id": scope_id, "rev": rev, "cause": cause, "dream_uid": dream, "hand": hand, "recorded_at": at, "counts": dump(dict(counts or {}))},
        )


# made once: making a statement takes longer than running it
_SCOPE = select(t.scopes.c.id).where(t.scopes.c.path == bindparam("path"))
_LOCKED = _SCOPE.with_for_update(key_share=True)


@lru_cache(maxsize=1024)
def scope_path(scope: str) -> str:
    """The scope's path, refused when a segment could name another place (systems R8)."""
    segments = scope.split("/")
    bad = [s for s in segments if not s or s in {".", ".."} or s != s.strip() or any(unicodedata.category(c) in {"Cc", "Cs"} for c in s) or "\\" in s]
    if bad or storable(scope) != scope:
        raise Refused(f"{scope!r} is no scope: a scope is a path like acme/web/ana of names without dots alone, blanks at the ends or control characters")
    return scope


def add(conn: Connection, table: Table, rows: Iterable[Mapping[str, Any]], **same: Any) -> None:
    """Insert rows in bulk, with what is the same in all of them; a generator keeps no more than a chunk of them in memory."""
    for part in chunks(rows):
        add_told(conn, table, part, same=same)


def insert_new(conn: Connection, table: Table) -> sqlite.Insert | postgresql.Insert:
    """An insert that leaves a row that is already there alone, in the words of either database."""
    return (postgresql.insert(table) if conn.dialect.name == "postgresql" else sqlite.insert(table)).on_conflict_do_nothing()


def add_new(conn: Connection, table: Table, rows: Iterable[Mapping[str, Any]]) -> None:
    """Insert the rows that are not there yet."""
    for part in chunks(rows):
        add_told(conn, table, part, ())


def put(conn: Connection, table: Table, keys: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Insert rows, or overwrite the row with the same keys, the last of those given: for projections only (append-only tables refuse it by trigger)."""
    for part in chunks({tuple(row[key] for key in keys): row for row in rows}.values()):
        add_told(conn, table, part, tuple(keys))
