"""Values of money: budgets, calls and their answers, batches, and what all of it cost. Amounts are integers, in millionths of a US dollar (`_uusd`).

A call is one request sent once (systems R10 and section 4):

    sent ──settle──▶ answered      paid: its cost is known
      ├──void──▶ void              known not to be taken: nothing is paid
      └──presume──▶ presumed       nobody knows: its bound counts as paid until it is settled or voided after all

A batch is many calls that are sent, answered and paid for together:

    intended ──▶ posted ──▶ (canceling) ──▶ ended ──▶ settled
        ├──▶ unknown ──▶ posted (adopted) | intended (posted again)       the POST had no answer, or its process died
        └──▶ refused                                                      the provider did not take it, or it is nowhere to be found: its calls are void
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

from pipelines.ports import Reply

Key: TypeAlias = tuple[str, int]
"""Digest of a request's body, and which answer to it is wanted."""

Kind = Literal["scope", "dream", "day"]
KINDS: tuple[Kind, ...] = ("scope", "dream", "day")
"""What money is counted for, in the order in which the counters are locked: the one all workers share comes last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """At most so much for one dream (by uid), day (YYYY-MM-DD) or scope (by path), counting all that is spent, reserved and presumed."""

    kind: Kind
    name: str
    limit_uusd: int

    def __post_init__(self) -> None:
        if self.kind not in KINDS or not self.name or self.limit_uusd < 0:
            raise ValueError(f"a limit is for a {', '.join(KINDS)} with a name, and not below 0: {self!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What one dream, day or scope has used. `limit_uusd` is the limit last asked with, None when there was none."""

    kind: Kind
    name: str
    limit_uusd: int | None
    spent_uusd: int
    reserved_uusd: int
    presumed_uusd: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A recorded reply: the `attempt`-th answer to the request with this digest."""

    digest: str
    attempt: int
    reply: Reply
    prompt: str
    stage: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Reserved:
    """What may be sent: the id of its call by key.

    `busy`: another worker has it in flight, or has stored its answer since (look for the answer again). `refused`: the first limit it does not fit in.
    """

    calls: Mapping[Key, int] = field(default_factory=dict)
    busy: frozenset[Key] = frozenset()
    refused: Mapping[Key, Limit] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallsPaused:
    """No call is reserved before `until_ms` of the store's clock, whoever asks; `why` is a code ("billing")."""

    why: str
    until_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCall:
    """A call without a known outcome. `state` is sent or presumed; `lapsed` says that nobody waits for it any more: it is presumed when next looked at."""

    id: int
    scope: str
    stage: str
    name: str
    model: str
    dream: str
    day: str
    state: str
    bound_uusd: int
    sent_at: datetime
    owner: str
    lapsed: bool
    batch: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CostRow:
    """Costs of some calls; what they were not told apart by is "".

    `calls` are those answered. Tokens: `fresh` were read at full price, `written` to a cache, `cached` read from one. `uusd` was paid for certain,
    `presumed_uusd` perhaps (the bounds of the `presumed` calls), `reserved_uusd` is set aside for the `open` calls in flight.
    """

    day: str = ""
    scope: str = ""
    stage: str = ""
    model: str = ""
    dream: str = ""
    calls: int = 0
    fresh: int = 0
    written: int = 0
    cached: int = 0
    output: int = 0
    uusd: int = 0
    presumed: int = 0
    presumed_uusd: int = 0
    open: int = 0
    reserved_uusd: int = 0
    voided: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Notes that stand confirmed, and those of them of which a model read evidence."""

    notes: int
    read: int


BatchState = Literal["intended", "unknown", "posted", "canceling", "ended", "settled", "refused"]
BATCH_OPEN: tuple[BatchState, ...] = ("intended", "unknown", "posted", "canceling", "ended")
"""Batches somebody still has to look after."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A batch: `intent` is our name for it, `remote` the provider's once it is known, `requests` how many it has.

    `lapsed`: it is intended, and whoever posts it is gone or has taken too long, so that nobody knows whether it was taken. `posts` counts how often it was
    sent, `foreign` are remote batches that were taken for it and were not it. `adopted`: `remote` was found by looking, not told by the answer to a POST.
    """

    intent: str
    scope: str
    dream: str
    state: BatchState
    requests: int
    remote: str | None
    posts: int
    adopted: bool
    foreign: tuple[str, ...]
    lapsed: bool
    why: str
    intended_at: datetime
    posted_at: datetime | None
    ended_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Intended:
    """A batch that may be posted, with the custom id of each request in it; None when nothing of it could be reserved, as `reserved` tells."""

    batch: Batch | None
    custom_ids: Mapping[Key, str]
    reserved: Reserved
