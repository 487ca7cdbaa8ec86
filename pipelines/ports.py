"""What the domain needs from outside, as small Protocols by need."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pipelines.model import BadSpan, Claim, OnlineNote, OrderKey, Place, Question, SessionInfo, Turn, digest


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
class Left:
    """Turns an engine did not read, and why: "dump" (can be read again where it came from), "refused", "unusable"."""

    why: str
    turns: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """An engine's answer; empty is valid, a failed call raises.

    `left` is what of the window was not read for good. `unread` says why the window has to be read by a later dream ("budget"): then nothing of it is stored.
    `dropped` counts items of an answer that were thrown away because a field of theirs was not of the asked shape.
    """

    claims: tuple[Claim, ...] = ()
    questions: tuple[Question, ...] = ()
    left: tuple[Left, ...] = ()
    unread: str = ""
    dropped: int = 0


class Engine(Protocol):
    """Reads meaning. It never decides what is known already, never verifies, and is never trusted: the gates check what it returns."""

    @property
    def name(self) -> str:
        """Name and version, part of what makes an answer reusable: "local/1"."""

    def extract(self, window: Window) -> Extracted:
        """What the rules alone read in one window: a pure function of it, asking nobody. Raises DreamdError, never returns half."""


# --- asking a model ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request to a model, a function of frozen inputs alone: equal bodies are one request, asked once.

    `stage` is what it is booked under (extract, check, relate, answer, insight), `name` what a person is told it is about. `body` is the JSON of a
    Messages request. `prompt` is the digest of the prompt and reply schema it was made from. `turns` are the uids of all turns whose text the body
    holds, so that a forget finds it. `bound_uusd` is the most it can cost, in millionths of a US dollar; 0 where nobody is paid. `attempt` counts the
    answers wanted to the same body: 2 asks anew after an answer that could not be used.
    """

    stage: str
    name: str
    body: Mapping[str, object]
    prompt: str
    turns: tuple[str, ...]
    bound_uusd: int
    attempt: int = 1
    _digest: str = field(default="", init=False, repr=False, compare=False)

    @property
    def digest(self) -> str:
        """Content identity of the body, made once: a window is long, and its digest is asked for at every step."""
        if not self._digest:
            object.__setattr__(self, "_digest", digest(json.dumps(self.body, ensure_ascii=False, sort_keys=True, separators=(",", ":"))))
        return self._digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens as the provider counted them; `input` is the part that was neither written to nor read from a cache."""

    input: int = 0
    output: int = 0
    cache_written: int = 0
    cache_read: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back and was paid for, as it came: `text` is the answer's text, not looked into; `stop` why it ends ("end_turn", "max_tokens", "refusal")."""

    text: str
    stop: str
    model: str
    usage: Usage
    cost_uusd: int
    request_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The reply to one Ask; None with the reason when it was not and will not be asked in this dream ("budget")."""

    reply: Reply | None
    why: str = ""


class Meanwhile(Protocol):
    """What a caller does on its own thread while its answers are waited for. Nobody promises to let it: what was not done then, the caller does afterwards."""

    def came(self, at: int, answered: Answered) -> None:
        """The answer to the `at`-th ask is stored; to be noted only, a step looks into it."""

    def step(self) -> bool:
        """Do one small piece of work; False when there is none now."""


class Asking(Protocol):
    """The way engines ask: recorded answers first, then money reserved, the call, and the answer stored before anyone looks into it."""

    def ask(self, asks: Sequence[Ask], meanwhile: Meanwhile | None = None) -> Sequence[Answered]:
        """Answers in the order of the asks, asked side by side; `meanwhile` fills the waiting. Raises Busy, Paused or Unreachable: then all is asked again
        later, and what was answered is not paid for twice."""


class Messages(Protocol):
    """The Messages API of a provider or a local server: one call each, no retry, nothing recorded."""

    def create(self, ask: Ask, *, timeout_s: float) -> Reply:
        """Raises Busy, Unreachable (with whether it may have been accepted), Paused (billing), Permanent (the provider will not take this request)."""


class Blobs(Protocol):
    """Content-addressed bytes of the archive. `put` is idempotent; it does not promise that a blob is ever removed."""

    def put(self, data: bytes) -> str:
        """Store bytes durably and return their address (digest of the *raw* bytes)."""

    def get(self, address: str) -> bytes:
        """The bytes; raises Transient when they cannot be read now (unreadable is not gone)."""


# --- what intake hands to the store ------------------------------------------------------------------------------------------------------


class Tombstones(Protocol):
    """What is forgotten in a scope, known by keyed digests alone. False when nothing is."""

    epoch: int

    def __bool__(self) -> bool: ...

    def session(self, uid: str) -> bool:
        """Whether a whole session is."""

    def turn(self, turn: Turn) -> bool:
        """Whether a turn is, by itself, with its session or for a phrase in it."""

    def online(self, note: OnlineNote) -> bool:
        """Whether a line of a note file is."""

    def text(self, said: str) -> bool:
        """Whether a text holds a phrase that is."""


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
    `after` is the state to move to. `rewritten` says that a new generation begins because the bytes before the cursor changed. `forget_epoch` is that of
    the tombstones it was read by.
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
    forget_epoch: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """One place a turn stands in: the same turn may stand in copies, forks and resumed logs."""

    turn: str
    session: str
    ordinal: int
    source: str
    generation: int
    place: Place
