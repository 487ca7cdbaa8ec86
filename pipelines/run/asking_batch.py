"""Asking in batches: half the price, and hours to wait (systems R10).

    reserve and intend ──▶ POST ──▶ posted ··· the unit waits ··· ended ──▶ results stored ──▶ found as recorded answers
                             └─ no answer: wait, then look for it at the provider: adopt it, post it again, or wait until it can be told

A unit that wakes asks the same again and finds its requests in a batch: it looks how that stands, and nothing else. Every step is stored before the next, so
that whoever comes after a crash goes on with it; results are stored as they come, before anyone looks into them.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Protocol

from pipelines.errors import Busy, Conflict, Paused, Permanent, Refused, Unreachable
from pipelines.ports import Ask, Messages, Reply
from pipelines.store import Batch, Store
from pipelines.store.money import Key

BATCH = "batch"
"""Why a unit waits for a batch, or for its turn to post one."""
POST_LEASE = "batch_post"
"""One POST at a time, or nobody could tell afterwards whose a batch is."""
POST_S = 300.0
"""How long a POST may take; MARGIN_S later its batch stands in the provider's list or never will."""
MARGIN_S = 60.0
"""How much longer than its timeout a call or a POST counts as in flight."""
SAVED_AT_ONCE = 200
"""Results stored in one transaction."""
OPEN = ("intended", "unknown", "posted", "canceling", "ended")
DREAMING = frozenset({"pending", "running", "waiting"})


class Remote(Protocol):
    """A batch as its provider tells it; `state` is in_progress, canceling or ended, `count` its requests."""

    @property
    def id(self) -> str: ...
    @property
    def state(self) -> str: ...
    @property
    def count(self) -> int: ...
    @property
    def created_at(self) -> datetime: ...


class Batches(Messages, Protocol):
    """A provider that takes batches. What its methods raise is as of `create`."""

    def post(self, asks: Mapping[str, Ask], *, timeout_s: float) -> str:
        """Hand in one batch, an ask by custom id; returns the provider's name for it."""

    def look(self, remote: str) -> Remote:
        """How a batch stands; Permanent for one the provider does not know."""

    def cancel(self, remote: str) -> Remote:
        """Ask for a batch to be stopped."""

    def recent(self) -> Sequence[Remote]:
        """The newest batches, whoever posted them."""

    def results(self, remote: str, asks: Mapping[str, Ask]) -> Generator[tuple[str, Reply | str], None, None]:
        """What became of each request of a batch that has ended: its reply, or why there is none."""


def takes_batches(messages: Messages | None) -> bool:
    """Whether a provider takes batches."""
    return hasattr(messages, "post")


@dataclass(slots=True, kw_only=True)
class Post:
    """Posts batches of one scope and looks after them. `host` is this machine's name. `failed` are requests a batch that was looked at did not answer."""

    store: Store
    provider: Batches
    scope: str
    host: str
    failed: set[Key] = field(default_factory=set)

    # --- ours --------------------------------------------------------------------------------------------------------------------------------

    def hand_in(self, asks: Mapping[Key, Ask], intent: str, custom_ids: Mapping[Key, str]) -> None:
        """Post an intended batch. What is known not to be taken is given up and raised; what nobody knows is looked for later."""
        try:
            remote = self.provider.post({custom_ids[key]: ask for key, ask in asks.items() if key in custom_ids}, timeout_s=POST_S)
        except Unreachable as error:
            if error.accepted:
                self.store.in_doubt(intent, "no_answer")
                raise Paused(str(error), why=BATCH, for_s=POST_S + MARGIN_S) from error
            self.store.unposted(intent, type(error).__name__)
            raise
        except (Busy, Paused, Permanent, Refused) as error:
            self.store.unposted(intent, type(error).__name__)
            raise
        self.store.posted(intent, remote)

    def look_after(self, batch: Batch, asks: Mapping[Key, Ask]) -> bool:
        """Take a batch as far as it goes; whether it is done with. `asks` are those of its requests that are known here."""
        if batch.lapsed:
            self.store.in_doubt(batch.intent, "lapsed")
            batch = self.store.batch(batch.intent, host=self.host)
        match batch.state:
            case "intended":
                return False
            case "unknown":
                return self._find(batch, asks)
            case "posted" | "canceling":
                return self._stands(batch, asks)
            case "ended":
                return self._fetch(batch, asks)
        return True

    def _stands(self, batch: Batch, asks: Mapping[Key, Ask]) -> bool:
        assert batch.remote is not None, "a posted batch has the provider's name"
        try:
            ended = self.provider.look(batch.remote).state == "ended"
        except Permanent:  # the provider knows it no more, so its answers are lost
            self.store.ended(batch.intent)
            self.store.settled(batch.intent)
            return True
        if not ended:
            return False
        self.store.ended(batch.intent)
        return self._fetch(self.store.batch(batch.intent, host=self.host), asks)

    def _fetch(self, batch: Batch, asks: Mapping[Key, Ask]) -> bool:
        """Store what a batch that has ended answered. One that was adopted and holds none of our requests is somebody else's."""
        assert batch.remote is not None, "a batch that has ended has the provider's name"
        named = {self.custom_id(batch, key): key for key in asks}
        ours = foreign = 0
        for part in _in_parts(self.provider.results(batch.remote, {name: asks[key] for name, key in named.items()})):
            strange = self.store.save_results(batch.intent, part)
            foreign += len(strange)
            ours += len(part) - len(strange)
            self.failed |= {named[name] for name, result in part.items() if isinstance(result, str) and name in named}
        if batch.adopted and foreign and not ours:
            self.store.not_ours(batch.intent)
            return False
        self.store.settled(batch.intent)
        if batch.posts > 1:
            self._book_late(batch, asks)
        return True

    def custom_id(self, batch: Batch, key: Key) -> str:
        """What a request is called in a batch."""
        return self.store.custom_id(batch.intent, (self.store.request_mac(key[0]), key[1]))

    # --- batches nobody knows the fate of ----------------------------------------------------------------------------------------------------

    def _find(self, batch: Batch, asks: Mapping[Key, Ask]) -> bool:
        """Look for a batch at the provider, once it must be there if it was taken: the one that fits is adopted; none: it is posted again; of several that are
        still worked on nobody can tell which it is, so they are waited for: results name their requests."""
        if self.store.now() < batch.intended_at + timedelta(seconds=(POST_S + MARGIN_S) * batch.posts):
            return False
        fitting = [r for r in self._fitting(batch) if r.state != "ended" or self._holds(r, batch, asks)]
        certain = [r for r in fitting if r.state == "ended"] or (fitting if len(fitting) == 1 else [])
        if certain:
            self.store.posted(batch.intent, certain[0].id, adopted=True)
            return self._stands(self.store.batch(batch.intent, host=self.host), asks)
        if not fitting:
            self._post_again(batch, asks)
        return False

    def _holds(self, remote: Remote, batch: Batch, asks: Mapping[Key, Ask]) -> bool:
        """Whether a batch that has ended is ours by what its first result is called."""
        named = {self.custom_id(batch, key) for key in asks}
        with closing(self.provider.results(remote.id, {})) as results:
            return any(name in named for name, _ in islice(results, 1))

    def _fitting(self, batch: Batch) -> list[Remote]:
        """Remote batches nobody here knows, as large as ours, made since it was intended."""
        known = self.store.remote_batches() | set(batch.foreign)
        since = batch.intended_at - timedelta(seconds=MARGIN_S)
        return [r for r in self.provider.recent() if r.id not in known and r.created_at >= since and r.count in {0, batch.requests}]

    def _post_again(self, batch: Batch, asks: Mapping[Key, Ask]) -> None:
        """It was not taken. One that holds what nobody here asks any more is given up instead."""
        until = self.now_ms() + round((POST_S + MARGIN_S) * 1000)
        try:
            custom_ids = self.store.post_again(batch.intent, asks.values(), until_ms=until)
        except Conflict:
            if self.store.batch(batch.intent, host=self.host).state == "unknown":
                self.store.unposted(batch.intent, "not_found")
            return
        self.hand_in(asks, batch.intent, custom_ids)

    def _book_late(self, batch: Batch, asks: Mapping[Key, Ask]) -> None:
        """Of a batch that was posted twice the first may have been taken after all: it is paid for, too."""
        named = {self.custom_id(batch, key): ask for key, ask in asks.items()}
        for remote in self._fitting(batch):
            if self.provider.look(remote.id).state == "ended":
                for part in _in_parts(self.provider.results(remote.id, named)):
                    self.store.save_late_results(batch.intent, remote.id, part)

    def now_ms(self) -> int:
        """The time by the store's clock."""
        with self.store.reading("read the clock") as conn:
            return self.store.clock_ms(conn)


def _in_parts(results: Iterable[tuple[str, Reply | str]]) -> Iterator[dict[str, Reply | str]]:
    part: dict[str, Reply | str] = {}
    for name, result in results:
        part[name] = result
        if len(part) == SAVED_AT_ONCE:
            yield part
            part = {}
    if part:
        yield part


def tend(store: Store, provider: Batches, *, host: str) -> int:
    """Look after batches of dreams that ended: stop them at the provider, and store what they answered by then, which is paid for. Returns how many are
    still open."""
    left = 0
    for batch in store.batches(host=host):
        if store.dream(batch.scope, batch.dream).state in DREAMING:
            continue
        post = Post(store=store, provider=provider, scope=batch.scope, host=host)
        if batch.state == "posted" and batch.remote is not None:
            store.canceling(batch.intent)
            provider.cancel(batch.remote)
            batch = replace(batch, state="canceling")
        left += not post.look_after(batch, {})
    return left
