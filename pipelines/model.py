"""The values that flow through dreamd: frozen, checked when made, trusted afterwards.

Order of the file is the order of the flow: turns (what a log says), claims (what an engine reads in them), gate results,
online notes, versions and beliefs (what the scope holds true), verdicts, pages.
Times are aware `datetime`s in UTC. Offsets and lengths are bytes of the *decompressed* source; `start` and `end` are characters of a text.
"""

from __future__ import annotations

import hashlib
from base64 import b32encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import IntEnum, StrEnum
from typing import Final


class Role(StrEnum):
    """Who a log says is speaking; `Origin` says who really is."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"


class Origin(StrEnum):
    """Who really speaks in a turn (DESIGN §1)."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    EXTERNAL = "external"
    HARNESS = "harness"
    INSTRUCTIONS = "instructions"
    QUOTED = "quoted"
    MODEL_SUMMARY = "model_summary"
    SELF = "self"


class Kind(StrEnum):
    """What sort of thing a claim or note is; decides its section, its promotion rule and how it is forgotten."""

    GOAL = "goal"
    PLAN = "plan"
    HOLD = "hold"
    RULE = "rule"
    PREFERENCE = "preference"
    FACT = "fact"
    PROCEDURE = "procedure"
    DECISION = "decision"
    INSIGHT = "insight"
    INCIDENT = "incident"


class Status(StrEnum):
    """Where a note version stands; every move is a new row."""

    DRAFT = "draft"
    CONFIRMED = "confirmed"
    DISPUTED = "disputed"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    NEEDS_RECHECK = "needs_recheck"
    QUARANTINED = "quarantined"
    RETRACTED = "retracted"


class Standing(IntEnum):
    """How much a statement weighs: a newer one never replaces one of higher standing."""

    INFERRED = 0
    EXTERNAL = 1
    TOOL = 2
    VERIFIED = 3


class Basis(StrEnum):
    """How well the time of a turn is known (systems R7)."""

    STATED = "stated"
    CARRIED = "carried"
    UNKNOWN = "unknown"


class Verdict(StrEnum):
    """What the analyzer says of an online note; the last two never lower its place."""

    UPHELD = "upheld"
    CORRECTED = "corrected"
    CONTRADICTED = "contradicted"
    SUPERSEDED = "superseded"
    DUPLICATE = "duplicate"
    UNSUPPORTED = "unsupported"
    NEEDS_RECHECK = "needs_recheck"
    UNCHECKED = "unchecked"
    NO_LOG = "no_log"


class Relation(StrEnum):
    """How a newer statement relates to an older one."""

    SAME = "same"
    UPDATE = "update"
    CONTRADICTION = "contradiction"
    OTHER = "other"


def digest(*parts: str | bytes) -> str:
    """BLAKE2b-160 of length-prefixed parts, hex: the content identity used for every uid (no two part lists collide by concatenation)."""
    framed: list[bytes] = []
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        size = len(raw)
        framed += (_SIZES[size] if size < len(_SIZES) else size.to_bytes(8, "big"), raw)
    return hashlib.blake2b(b"".join(framed), digest_size=20).hexdigest()


_SIZES: Final = tuple(size.to_bytes(8, "big") for size in range(512))
"""The prefixes of nearly all parts, made once: intake takes four digests of each turn."""


def short_uid(*parts: str) -> str:
    """60 bits of `digest` in lower-case base32 (12 characters): the printed id of a note (systems R12)."""
    return b32encode(bytes.fromhex(digest(*parts)))[:12].decode().lower()


def require_aware(at: datetime | None, what: str) -> None:
    """Refuse a naive time where it enters, not where it is compared."""
    if at is not None and at.tzinfo is not UTC and at.utcoffset() != timedelta(0):
        raise ValueError(f"{what} must be an aware UTC time, got {at!r}")


# --- what a log says ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a record stands in its source: bytes of the decompressed file; `line` counts `\\n` from 1."""

    line: int
    offset: int
    length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BadSpan:
    """Bytes that are no record, kept with their position and the reason."""

    place: Place
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call the assistant made: the tool's name and its arguments as the log gives them."""

    call_id: str
    name: str
    arguments: Mapping[str, object] = field(default_factory=dict)

    @property
    def command(self) -> str | None:
        """The shell command line, when this call runs one (a list of words is joined by spaces)."""
        for key in ("command", "cmd", "script"):
            given = self.arguments.get(key)
            if isinstance(given, str):
                return given
            if isinstance(given, list) and given and all(isinstance(x, str) for x in given):
                words = [str(x) for x in given]
                return words[-1] if len(words) == 3 and words[1] in {"-lc", "-c"} else " ".join(words)
        return None

    @property
    def path(self) -> str | None:
        """The file this call names, if any."""
        for key in ("file_path", "path", "notebook_path"):
            given = self.arguments.get(key)
            if isinstance(given, str):
                return given
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a tool call gave back; its output is the turn's text. `exit` is None where the log does not say."""

    call_id: str
    exit: int | None = None
    failed: bool = False
    timed_out: bool = False
    interrupted: bool = False
    refused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One row of an `events` log: a value an agent noted for a topic."""

    topic: str
    value: str
    status: str
    producer: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One utterance of a session.

    `uid` is content-derived and equal in every copy of the log; `snap` tells growing snapshots of one utterance apart (the digest of its
    content). `quoted` are the character spans of `text` that are pasted or `>` text. `corrects` is the call id of the interrupted or refused
    call this typed text answers. `memory` marks an explicit memory (`#`, `<user-memory-input>`). `parent` is the uid of the turn it follows where
    the log is a tree. `rank` orders the blocks of one record. `flagged` says that text had to be repaired (lone surrogates, NUL).
    """

    uid: str
    snap: str
    session: str
    ordinal: int
    role: Role
    origin: Origin
    text: str
    place: Place
    at: datetime | None = None
    zone: str | None = None
    speaker: str | None = None
    parent: str | None = None
    sidechain: bool = False
    memory: bool = False
    corrects: str | None = None
    quoted: tuple[tuple[int, int], ...] = ()
    call: Call | None = None
    result: Result | None = None
    event: Event | None = None
    flagged: bool = False

    def __post_init__(self) -> None:
        require_aware(self.at, "Turn.at")
        if not self.uid or not self.session:
            raise ValueError("a turn needs a uid and a session")

    def origin_of(self, start: int, end: int) -> Origin:
        """The origin of a span of the text: `quoted` as soon as it touches a quoted part of a typed message."""
        if any(start < b and a < end for a, b in self.quoted):
            return Origin.QUOTED if self.origin is Origin.USER else self.origin
        return self.origin


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInfo:
    """What a log tells of a session beside its turns. `parent` is the session it was resumed, forked or spawned from."""

    uid: str
    format: str
    agent: str | None = None
    agent_version: str | None = None
    cwd: str | None = None
    branch: str | None = None
    title: str | None = None
    parent: str | None = None
    extra: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderKey:
    """The total order of turns, from content alone: unknown times first, then time, session, position, uid (systems R7)."""

    known: bool
    at: datetime | None
    session: str
    ordinal: int
    uid: str
    basis: Basis

    @property
    def sort(self) -> tuple[bool, float, str, int, str]:
        """A tuple to sort by."""
        return (self.known, self.at.timestamp() if self.at else 0.0, self.session, self.ordinal, self.uid)


# --- what an engine reads in it ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A verbatim piece of a turn: `turn.text[start:end] == text` is what the quote gate checks."""

    turn: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What an engine says turns support; untrusted until the gates pass it.

    `cardinality` is "single" (a newer value replaces) or "set" (values stand beside each other). `standing_mark` says that the words mark a
    standing rule (always, from now on, remember, 以后). `old_value` is the value the quote itself says is over. `doubts` are criteria the
    engine itself knows to be missing ("said_once", "dangling_reference", "completion_without_result"): such a claim is a draft at most.
    `verified_by` is set only by code that saw the proof ("exit_status", "events:verified").
    """

    kind: Kind
    subject: str
    attribute: str
    statement: str
    quotes: tuple[Quote, ...]
    qualifier: str = ""
    value: str | None = None
    negated: bool = False
    cardinality: str = "set"
    old_value: str | None = None
    reason: str | None = None
    standing_mark: bool = False
    applies_to: str | None = None
    valid_until: datetime | None = None
    verified_by: str | None = None
    doubts: tuple[str, ...] = ()
    made_by: str = ""

    def __post_init__(self) -> None:
        if not self.quotes:
            raise ValueError("a claim needs at least one quote")
        if not self.subject.strip() or not self.statement.strip():
            raise ValueError("a claim needs a subject and a statement")
        if self.cardinality not in {"single", "set"}:
            raise ValueError(f"cardinality is 'single' or 'set', not {self.cardinality!r}")
        require_aware(self.valid_until, "Claim.valid_until")

    @property
    def uid(self) -> str:
        """Content identity: the same words of the same turns read the same way are one claim, whatever file they came from."""
        where = "|".join(f"{q.turn}:{q.start}:{q.end}" for q in sorted(self.quotes, key=lambda q: (q.turn, q.start, q.end)))
        return digest(self.kind, self.subject, self.attribute, self.qualifier, self.value or "", self.statement, str(self.negated), where)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A gap an engine noticed: an unresolved reference or a missing value."""

    text: str
    quotes: tuple[Quote, ...]


class Outcome(StrEnum):
    """What a gate says: the strictest outcome of all gates counts, in this order."""

    PASS = "pass"
    DRAFT = "draft"
    REJECT = "reject"
    QUARANTINE = "quarantine"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """One gate's word on one claim; `why` is a short constant code such as "value_not_in_quote"."""

    gate: str
    outcome: Outcome
    why: str = ""


def outcome(results: Sequence[GateResult]) -> Outcome:
    """The strictest outcome of all; PASS for no results."""
    return max((one.outcome for one in results), key=tuple(Outcome).index, default=Outcome.PASS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Witnessed:
    """A gated claim with everything the belief function needs to know of its turns.

    `roots` are the sessions that witness it, copies and forks counted once (the root session of each quoted turn). `order` is the key of
    its newest quoted turn, `origin` the weakest origin among its quotes. `missed` is the first criterion a gate or the engine found missing, `audience`
    who heard it (`notes.privacy`; "" is nobody in particular).
    """

    claim: Claim
    uid: str
    origin: Origin
    standing: Standing
    order: OrderKey
    roots: frozenset[str]
    speaker: str | None
    outcome: Outcome
    missed: str = ""
    audience: str = ""


# --- notes -------------------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlineNote:
    """One thing an agent jotted down: a bullet, a paragraph or a whole memory file.

    `path` is the file relative to its folder (POSIX), `folder` a stable name of that folder, `title` the file's own title, `heading` the nearest
    heading, `position` its order in the file. `markdown` is its text as it stands; `text` the same without markup. `links` are targets as
    written. `session` and `turn` say which log shows it written, `written_at` when (log, front matter `modified`, git, else mtime: `dated_by`).
    `index` marks lines of the folder's own index (MEMORY.md). `shape` is bullet, paragraph, table or code; `depth` the nesting of a bullet.
    """

    uid: str
    folder: str
    path: str
    line: int
    position: int
    title: str
    text: str
    markdown: str
    kind: Kind = Kind.FACT
    heading: str = ""
    depth: int = 0
    shape: str = "bullet"
    description: str = ""
    links: tuple[str, ...] = ()
    session: str | None = None
    turn: str | None = None
    written_at: datetime | None = None
    dated_by: str = "unknown"
    index: bool = False
    front_matter: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What makes a note the same note: scope, subject, attribute, qualifier, and for set-valued attributes the member (systems R12)."""

    scope: str
    subject: str
    attribute: str
    qualifier: str = ""
    member: str = ""

    @property
    def uid(self) -> str:
        """The note's printed id."""
        return short_uid(self.scope, self.subject, self.attribute, self.qualifier, self.member)


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One state of a note: what is, was or may be true, with the claims it rests on.

    `slot` tells the versions of one note apart whatever order they were found in. `side` is "for" on every claim, disputed notes hold one version
    a side. `ended_by` names the claim that closed a superseded version. `missed` is the first promotion criterion not met (drafts).
    `sensitivity` is "normal" or what makes it sensitive, `audience` names who heard it ("" is nobody in particular; both: `notes.privacy`), `agent` the
    agent program it is bound to.
    """

    note: str
    slot: str
    kind: Kind
    subject: str
    attribute: str
    qualifier: str
    statement: str
    value: str | None
    status: Status
    standing: Standing
    basis: Basis
    claims: tuple[str, ...]
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    oldest_evidence: datetime | None = None
    newest_evidence: datetime | None = None
    verified_by: str | None = None
    applies_to: str | None = None
    reason: str | None = None
    ended_by: str | None = None
    missed: str = ""
    roots: int = 1
    sensitivity: str = "normal"
    audience: str = ""
    agent: str | None = None

    @property
    def content(self) -> str:
        """Digest of everything but arrival: equal content is no change."""
        times = (self.valid_from, self.valid_until, self.oldest_evidence, self.newest_evidence)
        return digest(
            self.note, self.slot, self.kind, self.subject, self.attribute, self.qualifier, self.statement, self.value or "", self.status,
            str(int(self.standing)), self.basis, ",".join(self.claims), *(t.isoformat() if t else "" for t in times), self.verified_by or "",
            self.applies_to or "", self.reason or "", self.ended_by or "", self.missed, str(self.roots),
            self.sensitivity, self.audience, self.agent or "",
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The analyzer's word on one online note: the verdict, why, the version and quotes it rests on, and what the note should say instead.

    `also` is what else it should say, where it is wrong more than once: each the note that says so ("" when none does) and the words of the log.
    """

    note: str
    verdict: Verdict
    why: str
    quotes: tuple[Quote, ...] = ()
    version: str | None = None
    other: str | None = None
    corrected: str | None = None
    also: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """A person's or administrator's decision, an input to beliefs: approve, reject, keep, retract, edit, merge, unmerge, ban, lift."""

    uid: str
    verb: str
    target: str
    other: str | None = None
    body: str | None = None
    hand: str = "person"
    at: datetime | None = None
