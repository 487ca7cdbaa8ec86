"""Batches as the fake server keeps them: taken, worked off when told or after so many looks, with a fate for each request."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.oracle.wire import Body

FATES = ("succeeded", "errored", "canceled", "expired")
FIRST = datetime(2026, 11, 28, 2, 0, tzinfo=UTC)
"""When the first batch was made; each later one a second after the one before, so that nothing looks at a clock."""
Fate = Callable[[str, Body], str]


def all_succeed(custom_id: str, body: Body) -> str:
    """The fate of a batch in which nothing goes wrong."""
    return "succeeded"


@dataclass
class Batch:
    """One batch. `results` are the lines of its results once it has ended, in another order than the requests."""

    id: str
    number: int
    requests: Sequence[tuple[str, Body]]
    status: str = "in_progress"
    looks: int = 0
    foreign: bool = False
    canceled: bool = False
    archived: bool = False
    results: list[dict[str, Any]] = field(default_factory=list)

    @property
    def custom_ids(self) -> tuple[str, ...]:
        """The names its maker gave the requests."""
        return tuple(custom_id for custom_id, _ in self.requests)

    def json(self, base_url: str) -> dict[str, Any]:
        """The batch as the API words it; counts stay 0 until it has ended."""
        made = FIRST + timedelta(seconds=self.number)
        ended = self.status == "ended"
        counts = {fate: sum(r["result"]["type"] == fate for r in self.results) if ended else 0 for fate in FATES}
        return {
            "id": self.id, "type": "message_batch", "processing_status": self.status,
            "request_counts": {"processing": 0 if ended else len(self.requests), **counts}, "created_at": _z(made),
            "expires_at": _z(made + timedelta(hours=24)), "ended_at": _z(made + timedelta(hours=1)) if ended else None,
            "cancel_initiated_at": _z(made) if self.canceled else None, "archived_at": _z(made) if self.archived else None,
            "results_url": f"{base_url}/v1/messages/batches/{self.id}/results" if ended else None,
        }  # fmt: skip


def _z(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")


class Batches:
    """All batches of the workspace, newest last; `waiting` are posts that have not arrived yet."""

    def __init__(self) -> None:
        self.all: dict[str, Batch] = {}
        self.waiting: list[Sequence[tuple[str, Body]]] = []

    def make(self, requests: Sequence[tuple[str, Body]], *, foreign: bool = False) -> Batch:
        """A new batch."""
        number = len(self.all) + 1
        batch = Batch(id=f"msgbatch_{number:06d}", number=number, requests=requests, foreign=foreign)
        self.all[batch.id] = batch
        return batch

    def page(self, *, limit: int, after: str | None, before: str | None) -> tuple[list[Batch], bool]:
        """Batches, newest first, after (older than) or before (newer than) one of them; and whether there are more."""
        newest = sorted(self.all.values(), key=lambda b: -b.number)
        if after in self.all:
            newest = [b for b in newest if b.number < self.all[str(after)].number]
        if before in self.all:
            newest = [b for b in newest if b.number > self.all[str(before)].number][-limit:]
        return newest[:limit], len(newest) > limit


def faults(body: Any) -> Iterator[str]:
    """What the API would refuse in a new batch, the requests' own bodies aside."""
    requests = body.get("requests") if isinstance(body, dict) else None
    if not isinstance(requests, list) or not requests:
        yield "requests: at least one is required"
        return
    names = [r.get("custom_id") if isinstance(r, dict) else None for r in requests]
    if not all(isinstance(name, str) and 1 <= len(name) <= 64 and name.replace("-", "").replace("_", "").isalnum() for name in names):
        yield "requests: each custom_id has 1 to 64 letters, digits, - and _"
    if len(set(map(str, names))) < len(names):
        yield "requests: custom_id must be unique"
    if not all(isinstance(r, dict) and isinstance(r.get("params"), Mapping) for r in requests):
        yield "requests: params: field required"
