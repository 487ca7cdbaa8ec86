"""What is measured of a store's health: ages in seconds by the store's clocks, counts, and nothing of what anybody said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How long something took, over `count` dreams: the half and the 95 % that were at least so quick, in seconds (nearest rank)."""

    p50_s: float
    p95_s: float
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """A wiki folder that shows the scope: by which host it is published, when that was last seen, and since when it shows an older revision (None: it does not)."""

    marker: str
    host: str
    seen_age_s: float
    behind_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeHealth:
    """One scope.

    success_age_s: since a dream last completed; None when none ever did. scheduled_s: how long it has had a schedule.
    pending, due: requests whose dream has not begun, units somebody could work on now; each with the age of the oldest.
    unread: of the newest sessions (UNREAD_MAX), those that hold turns nobody has read; unread_age_s: since the oldest of them began.
    to_page: from the newest event of the sessions a dream read to the commit of its pages. asked_to_page: from its request to that commit.
    failed_in_row: dreams that failed since one ended otherwise, the last with failed_code. held: dreams that wait for a person.
    parked: units the last dream went on without, by code. engine_failures: units the engine failed at, over the newest dreams.
    unpromoted: dreams that ended since one confirmed a note; eligible: claims that passed all gates and notes that are staged, and yet are not believed.
    verify_failed: citations that did not hold when they were last read again, None when they never were.
    """

    scope: str
    success_age_s: float | None = None
    scheduled_s: float | None = None
    running: int = 0
    pending: int = 0
    pending_age_s: float | None = None
    due: int = 0
    due_age_s: float | None = None
    unread: int = 0
    unread_age_s: float | None = None
    to_page: Spread | None = None
    asked_to_page: Spread | None = None
    failed_in_row: int = 0
    failed_code: str = ""
    held: int = 0
    parked: Mapping[str, int] = field(default_factory=dict)
    engine_failures: int = 0
    unpromoted: int = 0
    eligible: int = 0
    verify_failed: int | None = None
    verify_age_s: float | None = None
    folders: tuple[Folder, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessHealth:
    """A process as it last told: idle_s since it finished a unit (or began), held_s the age of the oldest unit it holds."""

    name: str
    role: str
    seen_age_s: float
    idle_s: float
    done: int
    failed: int
    held_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A store. `scopes` are those looked at, `others` how many were not, with their requests and due units.

    due_age_s: the age of the oldest due unit of all. faults: repairs of the last day, by code. letters: messages kept that nobody could act on, and those of
    the last day.
    """

    scopes: tuple[ScopeHealth, ...] = ()
    others: int = 0
    other_pending: int = 0
    other_due: int = 0
    due_age_s: float | None = None
    processes: tuple[ProcessHealth, ...] = ()
    faults: Mapping[str, int] = field(default_factory=dict)
    letters: int = 0
    letters_new: int = 0


def spread(took_s: list[float]) -> Spread | None:
    """Percentiles of some durations; None of none. What seems to have ended before it began (two clocks) took no time."""
    if not took_s:
        return None
    ranked = sorted(max(0.0, s) for s in took_s)
    return Spread(p50_s=_rank(ranked, 50), p95_s=_rank(ranked, 95), count=len(ranked))


def _rank(ranked: list[float], percent: int) -> float:
    return ranked[max(0, -(-len(ranked) * percent // 100) - 1)]


def duration(seconds: float) -> str:
    """`90 s`, `12 min`, `3 h`, `5 days`: about how long, for a person."""
    for unit, length in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"
