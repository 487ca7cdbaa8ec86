"""What keeps a log from being learnt again after a forget: keyed digests of sessions, turns, notes and phrases, and the receipts.

A tombstone holds no word and no id, only digests under the store's key. Intake asks it about every turn; whoever stores what was read before the last
forget is refused by the scope's `forget_epoch` (systems R6).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, cast

from sqlalchemy import Connection, delete, select, update

from pipelines.errors import Conflict, Refused
from pipelines.model import OnlineNote, Turn
from pipelines.store import tables as t
from pipelines.store.codec import online_of
from pipelines.store.core import Core, add_new
from pipelines.store.reach import Choice, said
from pipelines.store.requests import Requests
from pipelines.store.types import load
from pipelines.store.unkept import retained_of, untimed_husks
from pipelines.store.words import call_words
from pipelines.text.traces import phrases_of, words_of

SESSION, TURN, SOURCE, ONLINE, OWN, PAGE, TEXT = "session", "turn", "source", "online", "own", "page", "text"
"""Kinds of tombstones: what the digest is of."""
FIRST_CODE = "0005"
"""The oldest code that knows tombstones: older code would learn again what is forgotten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetReceipt:
    """What a forget took, counted by kind: its id, how it was asked for, by whom, when, and whether it was lifted."""

    uid: str
    how: str
    hand: str
    at: datetime
    counts: Mapping[str, int]
    lifted: bool


class StoneRow(NamedTuple):
    """One tombstone: what kind of thing it is of, its keyed digest, and of a phrase how many words it has."""

    kind: str
    mac: str
    words: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stone:
    """One forget as it can be told to another copy of the store: its receipt and its tombstones, none once it was lifted."""

    scope: str
    uid: str
    how: str
    hand: str
    at: datetime
    rows: tuple[StoneRow, ...]


class Tombstones:
    """The tombstones of one scope as they stood at `epoch`, up to when its sessions are not taken in again, and turns without a time that are not (`emptied`)."""

    def __init__(
        self, core: Core, epoch: int, rows: Iterable[Any], until: Mapping[str, datetime] | None = None, emptied: frozenset[str] = frozenset()
    ) -> None:  # fmt: skip
        self._core = core
        self._until = until or {}
        self._emptied = emptied
        self.epoch = epoch
        self._macs: dict[str, set[str]] = {}
        self._sizes: set[int] = set()
        self._sessions: dict[str, bool] = {}
        for row in rows:
            self._macs.setdefault(row.kind, set()).add(row.mac)
            if row.kind == TEXT:
                self._sizes.add(row.words)

    def __bool__(self) -> bool:
        return bool(self._macs or self._until)

    def session(self, uid: str) -> bool:
        """Whether a whole session is forgotten."""
        if uid not in self._sessions:
            self._sessions[uid] = self._has(SESSION, uid)
        return self._sessions[uid]

    def turn(self, turn: Turn) -> bool:
        """Whether a turn is not taken in: forgotten by itself, with its session or for a phrase in it, or no longer kept."""
        until = self._until.get(turn.session)
        return (
            (until is not None and turn.at is not None and turn.at <= until)
            or turn.uid in self._emptied
            or self.session(turn.session)
            or self._has(TURN, turn.uid)
            or self.text(said_in(turn))
        )

    def online(self, note: OnlineNote) -> bool:
        """Whether a line of a note file is forgotten."""
        return self._has(ONLINE, note.uid) or (note.session is not None and self.session(note.session)) or self.text(_said_on(note))

    def own(self, digest: str) -> bool:
        """Whether a person's words on a page, by their digest, are forgotten."""
        return self._has(OWN, digest)

    def text(self, said: str) -> bool:
        """Whether a text holds a phrase that is forgotten."""
        if not self._sizes:
            return False
        words = words_of(said)
        return any(self._has(TEXT, *phrase) for size in self._sizes for phrase in phrases_of(words, size))

    def names(self, kind: str, *parts: str) -> bool:
        """Whether there is a tombstone of this alone."""
        return self._has(kind, *parts)

    def _has(self, kind: str, *parts: str) -> bool:
        return kind in self._macs and tomb(self._core, kind, *parts) in self._macs[kind]


def tomb(core: Core, kind: str, *parts: str) -> str:
    """What a tombstone holds."""
    return core.mac(f"tomb {kind}", *parts)


def said_in(turn: Turn) -> str:
    """Everything a turn says: its text, and the words of a call."""
    return "\n".join([turn.speaker or "", turn.text, *(call_words(turn.call.name, turn.call.arguments) if turn.call else ())])


def _said_on(note: OnlineNote) -> str:
    return "\n".join((note.title, note.heading, note.description, note.path, note.text))


def tombstones_of(core: Core, conn: Connection, scope_id: int | None) -> Tombstones:
    """The tombstones of a scope."""
    b = t.tombstones.c
    rows = conn.execute(select(b.kind, b.mac, b.words).where(b.scope_id == scope_id)).all()
    until = {session: kept.until for session, kept in retained_of(conn, scope_id).items() if kept.until}
    emptied = untimed_husks(conn, scope_id) if until else frozenset[str]()
    return Tombstones(core, conn.scalar(select(t.scopes.c.forget_epoch).where(t.scopes.c.id == scope_id)) or 0, rows, until, emptied)


def is_tombed(core: Core, conn: Connection, scope_id: int | None, kind: str, *parts: str) -> bool:
    """Whether there is a tombstone of this alone."""
    b = t.tombstones.c
    query = select(b.id).where(b.scope_id == scope_id, b.kind == kind, b.mac == tomb(core, kind, *parts)).limit(1)
    return conn.scalar(query) is not None


def require_epoch(conn: Connection, scope_id: int, epoch: int) -> None:
    """Raise Conflict when something of the locked scope was forgotten since `epoch`: what was read before may hold it."""
    stands = conn.scalar(select(t.scopes.c.forget_epoch).where(t.scopes.c.id == scope_id))
    if stands != epoch:
        raise Conflict("something was forgotten meanwhile; read again what is left")


class Forgotten(Requests):
    """Asking about what is forgotten, and taking that back."""

    def tombstones(self, scope: str) -> Tombstones:
        """What is not to be learnt again in a scope."""
        with self.reading("read the tombstones") as conn:
            return tombstones_of(self, conn, self.scope_of(conn, scope))

    def receipts(self, scope: str) -> tuple[ForgetReceipt, ...]:
        """Everything that was forgotten in a scope, oldest first."""
        f, b = t.forgets.c, t.tombstones.c
        with self.reading("read the receipts") as conn:
            scope_id = self.scope_of(conn, scope)
            standing = set(conn.scalars(select(b.forget).where(b.scope_id == scope_id).distinct()))
            rows = conn.execute(select(t.forgets).where(f.scope_id == scope_id).order_by(f.id)).all()
        return tuple(
            ForgetReceipt(uid=r.uid, how=r.how, hand=r.hand, at=r.recorded_at, counts=cast(dict[str, int], load(r.counts)), lifted=r.uid not in standing)
            for r in rows
        )  # fmt: skip

    def stones(self) -> tuple[Stone, ...]:
        """Every forget of every scope, oldest first. It holds no word and no id of what went."""
        f, b = t.forgets.c, t.tombstones.c
        with self.reading("read all tombstones") as conn:
            rows: dict[tuple[int, str], list[StoneRow]] = {}
            for r in conn.execute(select(b.scope_id, b.forget, b.kind, b.mac, b.words).order_by(b.kind, b.mac)):
                rows.setdefault((r.scope_id, r.forget), []).append(StoneRow(r.kind, r.mac, r.words))
            query = select(t.scopes.c.path, f.scope_id, f.uid, f.how, f.hand, f.recorded_at).join_from(t.forgets, t.scopes, t.scopes.c.id == f.scope_id)
            found = conn.execute(query.order_by(f.id)).all()
        return tuple(
            Stone(scope=r.path, uid=r.uid, how=r.how, hand=r.hand, at=r.recorded_at, rows=tuple(rows.get((r.scope_id, r.uid), ()))) for r in found
        )  # fmt: skip

    def lay(self, stones: Iterable[Stone]) -> None:
        """Know forgets of another copy of this store from now on, all of them or none."""
        with self.writing("lay tombstones") as conn:
            for stone in stones:
                scope_id = self.locked_scope(conn, stone.scope)
                row = {"scope_id": scope_id, "uid": stone.uid, "selector": self.mac("selector", stone.uid), "how": stone.how, "counts": "{}"}
                add_new(conn, t.forgets, [{**row, "hand": stone.hand, "recorded_at": stone.at}])
                same = {"scope_id": scope_id, "forget": stone.uid}
                add_new(conn, t.tombstones, [{**same, "kind": kind, "mac": mac, "words": words} for kind, mac, words in stone.rows])
                conn.execute(update(t.scopes).where(t.scopes.c.id == scope_id).values(forget_epoch=t.scopes.c.forget_epoch + 1))
            conn.execute(update(t.store).values(oldest_code=FIRST_CODE))

    def named(self, scope: str, others: Iterable[Stone]) -> Choice:
        """What is here of a scope although a forget of another copy names it: sessions, turns and lines of note files."""
        c, s, o = t.turns.c, t.sessions.c, t.online_notes.c
        with self.reading("look for what is forgotten") as conn:
            scope_id = self.scope_of(conn, scope)
            stones = Tombstones(self, 0, [row for stone in others if stone.scope == scope for row in stone.rows])
            sessions = frozenset(uid for uid in conn.scalars(select(s.uid).where(s.scope_id == scope_id)) if stones.session(uid))
            rows = conn.execute(select(c.uid, c.body, c.detail).where(c.scope_id == scope_id).execution_options(yield_per=500))
            turns = frozenset(r.uid for r in rows if stones.names(TURN, r.uid) or stones.text(said(r)))
            notes = conn.execute(select(o.uid, o.body).where(o.scope_id == scope_id, o.gone.is_(False)))
            online = frozenset(r.uid for r in notes if stones.online(online_of(r.body)))
        return Choice(sessions=sessions, turns=turns, online=online)

    def lift(self, scope: str, uid: str, hand: str) -> int:
        """Let what a forget took be learnt again from logs and note files that still hold it; returns the tombstones that are gone.

        The sources it touched are read again from their first byte by the next intake. Raises Refused for an unknown forget.
        """
        b, s = t.tombstones.c, t.sources.c
        with self.writing("lift tombstones") as conn:
            scope_id = self.locked_scope(conn, scope)
            if conn.scalar(select(t.forgets.c.id).where(t.forgets.c.scope_id == scope_id, t.forgets.c.uid == uid)) is None:
                raise Refused(f"{scope} has no forget {uid}: dreamd forget --list names them")
            macs = set(conn.scalars(select(b.mac).where(b.scope_id == scope_id, b.forget == uid, b.kind == SOURCE)))
            gone = conn.execute(delete(t.tombstones).where(b.scope_id == scope_id, b.forget == uid)).rowcount
            for row in conn.execute(select(s.id, s.identity, s.generation).where(s.scope_id == scope_id)).all():
                if tomb(self, SOURCE, row.identity) in macs:
                    anew = {
                        "generation": row.generation + 1,
                        "offset": 0,
                        "line": 1,
                        "head_mac": self.mac(b""),
                        "tail_mac": self.mac(b""),
                        "pending": 0,
                        "carry": "{}",
                    }
                    conn.execute(update(t.sources).where(s.id == row.id).values(**anew))
                    conn.execute(delete(t.files).where(t.files.c.scope_id == scope_id, t.files.c.identity == row.identity))
            conn.execute(update(t.scopes).where(t.scopes.c.id == scope_id).values(forget_epoch=t.scopes.c.forget_epoch + 1))
            self.add_audit(conn, scope_id, "lift", hand, uid, key=f"{uid} {self.now().isoformat()}")
            return gone
