"""What the domain needs from outside, as small Protocols by need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from pipelines.model import BadSpan, Claim, OnlineNote, OrderKey, Place, Question, SessionInfo, Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What an engine is asked to read: turns of one session, in order, with their order keys."""

    session: SessionInfo
    turns: tuple[Turn, ...]
    keys: tuple[OrderKey, ...]

    def __post_init__(self) -> None:
        if len(self.turns) != len(self.keys):
            raise ValueError("a window has one order key a turn")


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """An engine's answer; empty is valid, a failed call raises."""

    claims: tuple[Claim, ...] = ()
    questions: tuple[Question, ...] = ()


class Engine(Protocol):
    """Reads meaning. It never decides what is known already, never verifies, and is never trusted: the gates check what it returns."""

    @property
    def name(self) -> str:
        """Name and version, part of what makes an answer reusable: "local/1"."""

    def extract(self, window: Window) -> Extracted:
        """Claims and questions of one window; a pure function of the window for the local engine. Raises DreamdError, never returns half."""


class Blobs(Protocol):
    """Content-addressed bytes of the archive. `put` is idempotent; it does not promise that a blob is ever removed."""

    def put(self, data: bytes) -> str:
        """Store bytes durably and return their address (digest of the *raw* bytes)."""

    def get(self, address: str) -> bytes:
        """The bytes; raises Transient when they cannot be read now (unreadable is not gone)."""


# --- what intake hands to the store ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A file as it was last looked at: equal size, mtime and inode mean "nothing new" without opening it."""

    path: str
    size: int
    mtime_ns: int
    inode: int
    identity: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceState:
    """How far a source has been taken in. `head_mac` and `tail_mac` are keyed digests of the first bytes and of the bytes before `offset`."""

    identity: str
    format: str
    generation: int
    offset: int
    line: int
    head_mac: str
    tail_mac: str
    pending: int
    carry: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A stretch of a source in the archive: `blob` is the address of its masked bytes, `raw_mac` the keyed digest of the unmasked ones."""

    offset: int
    length: int
    blob: str
    raw_mac: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeBatch:
    """One file's new part, committed in one transaction with its cursor.

    `expected` is the (generation, offset) the cursor stood at when this was read, None for a new source: the compare-and-swap of the commit.
    `after` is the state to move to. `rewritten` says that a new generation begins because the bytes before the cursor changed.
    """

    seen: Seen
    expected: tuple[int, int] | None
    after: SourceState
    segments: tuple[Segment, ...] = ()
    sessions: tuple[SessionInfo, ...] = ()
    turns: tuple[Turn, ...] = ()
    bad: tuple[BadSpan, ...] = ()
    notes: tuple[OnlineNote, ...] = ()
    redacted: int = 0
    mask_version: str = ""
    rewritten: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """One place a turn stands in: the same turn may stand in copies, forks and resumed logs."""

    turn: str
    session: str
    ordinal: int
    source: str
    generation: int
    place: Place
