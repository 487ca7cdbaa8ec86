"""Values of work: what was asked for, units and jobs, leases, what a sweep found; and the limits all of it keeps.

A dream goes through the stages below. Its jobs are rows with a state machine (systems, section 4):

    ready ──claim──▶ running ──finish──▶ done          (the last unit of a stage opens the next stage)
      ▲                │├──retry, give back──▶ ready    (an error counts as a failure, a graceful stop as nothing)
      │                │├──wait──▶ waiting ──time──▶ ready
      └──lease over────┘├──split──▶ split               (its parts are new jobs of the same stage)
                        └──park──▶ parked               (the dream goes on without it, or fails)
    anything not ended ──cancel, end of the dream──▶ canceled
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from pipelines.store.values import Dream

STAGES = ("plan", "extract", "resolve", "analyse", "apply", "render")
ALL = "all"  # the one unit a stage starts with unless the unit before it named others
MUST = frozenset({"plan", "resolve", "apply", "render"})
"""Stages a dream cannot do without: with all their units parked it fails."""

RENDER_ONLY: Mapping[str, object] = {"only": "render"}
"""Params of a dream that reads, resolves and applies nothing: it begins at its last stage and asks no engine."""

REVERT = "revert"
"""`only` in the params of a dream that takes decisions back, and its cause: it reads nothing, asks no engine and is over in one transaction."""

CLAIMS_MAX = 3  # claims nobody answered for: each stands for a worker that died over the unit
FAILURES_MAX = 5  # errors that may pass by themselves
REPLANS_MAX = 3  # conflicts at apply before a person is asked
PENDING_MAX = 100  # unlike requests that wait in one scope
RETRY_AFTER_S = 60  # what a sender is told when a scope's queue is full
DELAY_MAX_MS = 86_400_000  # nothing is put off for longer: a clock that was once wrong cannot silence a unit for years

STATES = ("pending", "running", "waiting", "planned", "held", "completed", "failed", "canceled")
HOSTED: Mapping[str, str] = {state: state for state in ("pending", "running", "completed", "failed", "canceled")} | {
    "waiting": "running", "held": "running", "planned": "completed",
}  # fmt: skip
"""Our states in the words hosted dreams use."""

Answer = Literal["accepted", "coalesced", "known", "refused"]


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of a stage's work, and what its worker has to know."""

    unit: str
    payload: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A claimed unit. It is ours as long as `fence` and `owner` are the row's; `deadline_ms` is by the store's clock.

    `claims` counts this claim and those nobody answered for (kills), `failures` the errors so far.
    """

    id: int
    scope: str
    dream: Dream
    stage: str
    unit: str
    payload: Mapping[str, object]
    fence: int
    owner: str
    claims: int
    failures: int
    deadline_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What became of a request.

    accepted: a new dream, `dream`, will run (or runs already). coalesced: one that had not begun to read answers this request too. known: this request
    was made before and led to `dream`, whose state is told. refused: too many wait; ask again after `retry_after_s` seconds. `ring`: jobs to ring for
    once the transaction is committed.
    """

    answer: Answer
    dream: str | None
    state: str = ""
    retry_after_s: int | None = None
    ring: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamState:
    """How far a dream is: jobs by stage and state."""

    dream: Dream
    jobs: Mapping[str, Mapping[str, int]]

    @property
    def parked(self) -> int:
        """Units the dream went on without."""
        return sum(states.get("parked", 0) for states in self.jobs.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right to be the only writer of something until a time; the commit decides by `fence` and `owner`, which only one holder ever has."""

    kind: str
    name: str
    owner: str
    fence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """What a sweep found.

    ring: jobs that are due and that nobody may have heard of. freed: jobs whose lease was over. killed: units parked because each worker that took them
    was lost. woken: jobs whose wait is over, or whose dream began. repaired: joins and follow-ups that were missing, each a fault that is recorded.
    """

    ring: tuple[int, ...] = ()
    freed: int = 0
    killed: int = 0
    woken: int = 0
    repaired: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """A process that works, as it last told: `done` and `failed` count units since it began, `finished_ms` is when it last finished one."""

    name: str
    role: str
    started_at: datetime
    seen_ms: int
    done: int
    failed: int
    finished_ms: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """Who asked for something: the verb, the hand, what it was about."""

    verb: str
    hand: str
    about: str
    at: datetime


# --- pure rules --------------------------------------------------------------------------------------------------------------------------


def lapsed(until_ms: int, ttl_ms: int, now_ms: int) -> bool:
    """Whether a lease is over. One that ends later than it could have been given for is over too: the clock was set back (systems R15)."""
    return until_ms <= now_ms or until_ms > now_ms + 2 * ttl_ms


def is_whole(params: Mapping[str, object]) -> bool:
    """Whether a dream of these params goes through all stages; one that only renders or reverts says nothing of what was read or is to be read."""
    return params.get("only") not in {RENDER_ONLY["only"], REVERT}


def stage_after(stage: str, *, named: bool) -> str | None:
    """The stage that follows; extraction is passed over when the plan named nothing to extract. None after the last."""
    following = STAGES.index(stage) + 1
    if following == len(STAGES):
        return None
    return "resolve" if STAGES[following] == "extract" and not named else STAGES[following]
