"""What the domain needs from outside, as small Protocols by need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pipelines.model import Claim, OrderKey, Question, SessionInfo, Turn


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


class Lines(Protocol):
    """Something that finds candidate sentences for a statement; similarity proposes, never decides."""

    def near(self, text: str, *, limit: int) -> Sequence[str]:
        """Uids of turns or notes that share words with the text, best first."""
