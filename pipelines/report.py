"""What a dream did, as one value: what `dream --json` prints, the journal tells, and the exit code follows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedSource:
    """A source that was not taken in, with the reason; the rest went on."""

    path: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """Records over all sources of this dream."""

    good: int = 0
    bad: int = 0
    pending: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteCounts:
    """What happened to notes in this dream; `drafts`, `quarantined` and `needs_recheck` count what stands there after it.

    `drafts` are those a person is asked about; `unasked` wait for the work of another session (a command that ran once), or were not heard of for long."""

    added: int = 0
    same: int = 0
    extended: int = 0
    superseded: int = 0
    corrected: int = 0
    conflicting: int = 0
    merged: int = 0
    expired: int = 0
    quarantined: int = 0
    drafts: int = 0
    unasked: int = 0
    needs_recheck: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlineCounts:
    """The verdicts on the agent's own notes; `carried` counts all that stand on a page."""

    carried: int = 0
    upheld: int = 0
    corrected: int = 0
    contradicted: int = 0
    superseded: int = 0
    duplicate: int = 0
    unsupported: int = 0
    unchecked: int = 0
    no_log: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PageCounts:
    """What publishing did to the wiki folder."""

    written: int = 0
    unchanged: int = 0
    redirected: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BriefSize:
    """The published MEMORY.md and how many lines its budget moved to linked pages."""

    lines: int = 0
    bytes: int = 0
    moved: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamReport:
    """The whole outcome; `status` is completed, planned (dry run), held (a guard wants a person) or failed; `next` is a command.

    `asked` counts what an engine asked a model: calls sent, answers that were recorded before, requests a budget left out, what it cost. `unread` are sessions
    left to a later dream by why ("budget", "partly"), `left` turns the engine did not read by why ("dump": they can be read again where they came from).
    """

    dream: str
    scope: str
    status: str
    engine: str
    sources: int = 0
    sessions: int = 0
    turns: int = 0
    origins: Mapping[str, int] = field(default_factory=dict)
    lines: int = 0
    records: Records = field(default_factory=Records)
    refused: tuple[RefusedSource, ...] = ()
    redacted: int = 0
    claims: int = 0
    rejected: Mapping[str, int] = field(default_factory=dict)
    asked: Mapping[str, int] = field(default_factory=dict)
    unread: Mapping[str, int] = field(default_factory=dict)
    left: Mapping[str, int] = field(default_factory=dict)
    notes: NoteCounts = field(default_factory=NoteCounts)
    online: OnlineCounts = field(default_factory=OnlineCounts)
    pages: PageCounts = field(default_factory=PageCounts)
    brief: BriefSize = field(default_factory=BriefSize)
    archive: Mapping[str, int] = field(default_factory=lambda: {"bytes": 0})
    bloat: float = 0.0
    seconds: float = 0.0
    next: str = ""

    def as_json(self) -> dict[str, object]:
        """The object `dream --json` ends with; key order is the order of the fields. What only an engine that asks has to tell is left out where there is none."""
        return {name: value for name, value in asdict(self).items() if value or name not in _OF_ASKING}


_OF_ASKING = frozenset({"asked", "unread", "left"})
