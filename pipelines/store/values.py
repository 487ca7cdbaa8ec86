"""What the store takes and gives beside the values of `model` and `ports`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from pipelines.errors import Refused
from pipelines.model import Claim, Finding, GateResult, Outcome, Relation, Status, Version


class DreamRunning(Refused):
    """Another dream runs over this scope; `holder` is the process it belongs to, `since` when it began, `told` says so in words."""

    def __init__(self, scope: str, dream: str, holder: str, since: datetime) -> None:
        super().__init__(
            f"another dream over {scope} has been running since {since:%Y-%m-%d %H:%M} UTC, {_process(holder)}: wait for it, or end it with dreamd dreams cancel {dream}"
        )
        self.told = f"another dream over {scope} runs since {since:%Y-%m-%d %H:%M} UTC, {_process(holder)}"
        self.scope = scope
        self.dream = dream
        self.holder = holder
        self.since = since


def _process(holder: str) -> str:
    """A holder ("host:pid:start:…") as a person finds it."""
    host, _, rest = holder.partition(":")
    return f"in process {rest.partition(':')[0]} on {host}" if rest else f"in {holder}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What one intake batch brought: turns not seen before, turns already known from a copy, sessions touched."""

    new_turns: int
    known_turns: int
    sessions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BadRecord:
    """Bytes of a source that are no record: where they begin, how many they are, and why they are none. `source` is its file, or its identity where that
    is not known."""

    source: str
    line: int
    length: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What a scope holds. `pending` are bytes of unfinished tails, `archived` bytes of all archived segments, uncompressed."""

    origins: Mapping[str, int]
    sources: int
    sessions: int
    turns: int
    lines: int
    bad: int
    pending: int
    redacted: int
    archived: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GatedClaim:
    """A claim of a current reading with what the gates said and the keys it is found by.

    `group` is the key of its identity (same subject, attribute, qualifier); `blocks` are the keys under which near-duplicates meet.
    """

    claim: Claim
    results: tuple[GateResult, ...]
    group: str
    blocks: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """The strictest word of all gates."""
        order = list(Outcome)
        return max((r.outcome for r in self.results), key=order.index, default=Outcome.PASS)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedReading:
    """A current reading: of which session, by which engine, under which digest, and the uids of its claims."""

    session: str
    engine: str
    digest: str
    claims: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRelation:
    """A recorded verdict on a pair of claims. It is kept for the unordered pair, so it does not depend on which arrived first."""

    one: str
    other: str
    relation: Relation
    why: str
    made_by: str

    def __post_init__(self) -> None:
        if self.one == self.other:
            raise ValueError("a relation needs two claims")


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """One step of a scope's beliefs."""

    rev: int
    cause: str
    dream: str | None
    hand: str
    recorded_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """A current version. `token` stands for exactly this row: hand it back in `reads` to say what was looked at. It is never shown."""

    version: Version
    token: int
    rev: int
    recorded_at: datetime
    verified_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Why something changed: the stage that decided, a verb and a reason code of our vocabulary, and uids it refers to."""

    stage: str
    verb: str
    reason: str
    refs: tuple[str, ...] = ()
    note: str | None = None
    engine: str = ""
    cost_micros: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedDecision:
    """A decision as it was taken in a revision."""

    decision: Decision
    rev: int
    dream: str | None
    recorded_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefChange:
    """Everything that is to be believed of one note: its wanted versions, one a slot. Slots that stand and are not wanted are closed.

    What already stands word for word makes no row and no decision.
    """

    note: str
    versions: tuple[Version, ...]
    decisions: tuple[Decision, ...]

    def __post_init__(self) -> None:
        if not self.decisions:
            raise ValueError(f"a change of note {self.note} needs a decision")
        if len({v.slot for v in self.versions}) != len(self.versions):
            raise ValueError(f"note {self.note} has two versions for one slot")
        if any(v.note != self.note for v in self.versions):
            raise ValueError(f"a change of note {self.note} holds a version of another note")


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingChange:
    """The analyzer's word on one online note, in place of what it said before."""

    finding: Finding
    decisions: tuple[Decision, ...]

    def __post_init__(self) -> None:
        if not self.decisions:
            raise ValueError(f"a finding on note {self.finding.note} needs a decision")

    @property
    def note(self) -> str:
        """The online note it is about."""
        return self.finding.note


Change: TypeAlias = BeliefChange | FindingChange


@dataclass(frozen=True, slots=True, kw_only=True)
class Dream:
    """One consolidation run. `input_rev` is the revision it started from, `applied_rev` the one it made, None when it changed nothing yet.

    `phase` is the stage its jobs are at; one that waits to begin has none, and `started_at` is when it was asked for.
    """

    uid: str
    scope: str
    state: str
    cause: str
    params: Mapping[str, object]
    holder: str
    input_rev: int
    applied_rev: int | None
    code: str
    summary: Mapping[str, object] | None
    started_at: datetime
    ended_at: datetime | None
    phase: str | None = None
    slot: str | None = None
    requested_at: datetime | None = None
    replans: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """What an apply did: the scope's revision now, rows of versions and findings inserted, and the notes whose changes were held for a person."""

    revision: int
    inserted: int
    held: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Who asks and when: decides what may be seen. `now` ends validity.

    `audience` names the reader, "" is anybody, None the person whose memory it is, who sees all. `sensitive`: also what is sensitive and was said to
    nobody in particular.
    """

    now: datetime
    audience: str | None = ""
    sensitive: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PageHead:
    """The current version of a page."""

    uid: str
    slug: str
    title: str
    seq: int
    rev: int
    digest: str
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Redirect:
    """A slug a page once had."""

    slug: str
    page: str
    since_rev: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Where an item stands since a revision; `page` is None when it stands nowhere."""

    note: str
    page: str | None
    section: str
    rev: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """A session was told something: a brief or a page (`door`, `target`) of a revision, with these versions ("note/slot")."""

    session: str
    door: str
    target: str
    rev: int
    versions: tuple[str, ...]
    at: datetime
    agent: str | None = None
    audience: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WikiState:
    """A wiki folder this store publishes into; `epoch` is the store's when it last did."""

    marker: str
    scope: str
    host: str
    epoch: str
    shown_rev: int
    seen_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A turn or note version the index found. `score` is BM25, larger is better; a neighbour that holds no word of the query has 0."""

    kind: str
    uid: str
    score: float
    text: str
    at: datetime | None
    session: str | None = None
    ordinal: int | None = None
    line: int | None = None
    source: str | None = None
    origin: str | None = None
    speaker: str | None = None
    call: bool = False
    quoted: tuple[tuple[int, int], ...] = ()
    status: Status | None = None
