"""The desk engines ask at: recorded answers first, then money reserved, the call, and the answer stored before anyone looks into it (systems R10).

    asks ──▶ recorded? ──▶ reserve ──▶ call (threads) ──▶ settle ──▶ replies
                             └─ over a budget: not asked in this dream

One thread, the caller's, talks to the store; the others only wait for the provider. Only a few calls are reserved ahead of the slots there are, so that what a
crash leaves unknown is little more than what was in flight. Whatever stops the asking, what is in flight is waited for and stored: it is paid for.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import takewhile
from typing import Protocol, cast

from pipelines.errors import Busy, DreamdError, LeaseLost, Paused, Refused, Unreachable
from pipelines.ports import Answered, Ask, Meanwhile, Messages, Reply
from pipelines.run.asking_batch import BATCH, MARGIN_S, POST_LEASE, POST_S, Batches, Post, takes_batches
from pipelines.run.parts import Progress, silent
from pipelines.store import Lease, Store, host_of
from pipelines.store.holder import process_of
from pipelines.store.money import Key, Kind, Limit, Reserved

BUDGET = "budget"
"""`Answered.why` of what was not asked because a budget is used up."""
BILLING, RATE, ELSEWHERE = "billing", "rate", "answer"
"""Why a unit waits: a bill to be paid, the provider asked to be left alone, another worker has the same request in flight."""
RATE_NAME = "calls"
FIRST = "extract"
"""The stage that reads sessions; whatever else is asked comes of its answers."""
ELSEWHERE_S = 5.0
"""After how long a unit looks again for an answer another worker is waiting for."""
LOOK_S = 1.0
"""How often the desk looks whether to go on while it waits for calls."""
NOTHING = object()
PIECES = 8
"""Pieces of the caller's own work done between two such looks."""


class Line(Protocol):
    """Whoever has calls to send: in line by `turn`, the least first."""

    @property
    def turn(self) -> int:
        """Its place in line."""

    def fly(self) -> bool:
        """Send one call on a slot that was taken for it; False when there is none to send."""


class Slots:
    """How many calls one process has in flight at once, over all its desks.

    A slot goes to the first in line that has a call to send: units that shared the slots evenly would end together, and then all work at once while no call
    is in flight.
    """

    def __init__(self, size: int) -> None:
        self.most = self.size = max(1, size)
        self._free = self.size
        self._lines: tuple[Line, ...] = ()
        self.works = False
        self._changed = threading.Condition()

    def enter(self, line: Line) -> None:
        """Stand in line."""
        with self._changed:
            self._lines = tuple(sorted((*self._lines, line), key=lambda one: one.turn))

    def leave(self, line: Line) -> None:
        """Leave the line; others may send now what was not in time before."""
        with self._changed:
            self._lines = tuple(one for one in self._lines if one is not line)
            self._changed.notify_all()

    def send(self) -> None:
        """Have those in line send what they can, in turn. Called with no lock held: who waits for a slot holds ours and asks for theirs."""
        while self._take():
            if not any(line.fly() for line in self._lines):
                self._give()
                return

    def give(self) -> None:
        """Give a slot back: the first in line has it at once. Wakes everybody who waits."""
        self._give()
        self.send()

    def resize(self, size: int) -> None:
        """Have so many from now on, at most as many as at first: another process has the rest. What is in flight beyond them comes back first."""
        with self._changed:
            size = max(1, min(size, self.most))
            self._free += size - self.size
            self.size = size
            self._changed.notify_all()
        self.send()

    def before(self, line: Line) -> tuple[Line, ...]:
        """Those who come before one in line."""
        return tuple(takewhile(lambda one: one is not line, self._lines))

    @property
    def free(self) -> int:
        """How many slots are free now; less than none while more is in flight than there are slots left."""
        return self._free

    @contextmanager
    def working(self) -> Iterator[bool]:
        """Whether the caller may do work of its own while it waits. One at a time: each that works keeps the calls of all waiting for the interpreter."""
        with self._changed:
            ours = not self.works
            self.works = True
        try:
            yield ours
        finally:
            if ours:
                with self._changed:
                    self.works = False
                    self._changed.notify_all()

    def wait(self, due: Callable[[], bool], *, timeout_s: float) -> None:
        """Wait until `due`, at most so long; asked again whenever a slot is given back."""
        with self._changed:
            self._changed.wait_for(due, timeout_s)

    def _take(self) -> bool:
        with self._changed:
            self._free -= (taken := self._free > 0)
            return taken

    def _give(self) -> None:
        with self._changed:
            self._free += 1
            self._changed.notify_all()


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """How a process asks: `messages` is the provider, None where only recorded answers count (replay).

    `paid` says that calls cost money: then nothing is asked without a budget. `day_uusd` and `scope_uusd` limit a day and a scope, in millionths of a US
    dollar. `rate_per_s` limits the calls of all processes together. `units_at_once` of a dream are worked on side by side by a process that dreams by itself,
    so that one unit's last calls do not leave the slots empty. `poll_s` is how long a unit waits before it looks how its batch stands. Of what follows the
    reading of sessions fewer requests than `batch_min` are no batch: they are asked at once, at the full price, rather than waited for up to another day.
    """

    messages: Messages | None
    slots: Slots
    paid: bool = True
    timeout_s: float = 600.0
    day_uusd: int | None = None
    scope_uusd: int | None = None
    rate_per_s: float | None = None
    units_at_once: int = 4
    poll_s: float = 60.0
    batch_min: int = 0

    def limits(self, *, dream: str, scope: str, budget_uusd: int | None, now: datetime) -> tuple[Limit, ...]:
        """The budgets a call has to fit in, in the order they are taken from."""
        told: tuple[tuple[Kind, str, int | None], ...] = (
            ("dream", dream, budget_uusd), ("day", f"{now:%Y-%m-%d}", self.day_uusd), ("scope", scope, self.scope_uusd)
        )  # fmt: skip
        return tuple(Limit(kind=kind, name=name, limit_uusd=most) for kind, name, most in told if most is not None)


class Going(Protocol):
    """Asked between steps whether to go on; raises when not."""

    def __call__(self) -> None: ...


@dataclass(slots=True, kw_only=True)
class Desk:
    """Where the engine of one unit asks. `limits` are the budgets as they are now, `batch` says to ask in batches, `progress` is told of each answer that
    came. `spare` is work of the process's own, an element a piece, for while calls are waited for and the caller has nothing to do. `sent` counts calls,
    `recorded` answers that were there, `over` requests left unasked because of a budget; `cost_uusd` is what the calls cost.
    """

    store: Store
    means: Means
    scope: str
    dream: str
    job: int
    limits: Callable[[], Sequence[Limit]]
    go_on: Going
    owner: str = ""
    batch: bool = False
    spare: Iterator[object] = field(default_factory=lambda: iter(()))
    progress: Progress = silent
    sent: int = 0
    recorded: int = 0
    over: int = 0
    cost_uusd: int = 0

    def ask(self, asks: Sequence[Ask], meanwhile: Meanwhile | None = None) -> Sequence[Answered]:
        """Answers in the order of the asks, asked side by side; equal requests are one.

        Raises Busy, Unreachable or Paused when it is to be asked again later, Permanent when the provider does not take a request, and Refused, naming it,
        for one that has no recorded answer where nothing may be sent.
        """
        keys = [(ask.digest, ask.attempt) for ask in asks]
        wanted = dict(zip(keys, asks, strict=True))
        found = self._recorded(wanted)
        self.recorded += len(found)
        missing = {key: ask for key, ask in wanted.items() if key not in found}
        if missing:
            aside = _Aside(meanwhile=meanwhile, keys=keys)
            for key, answered in found.items():
                aside.came(key, answered)
            found |= self._send(missing, aside)
        return [found[key] for key in keys]

    def told(self) -> dict[str, int]:
        """Counts for the unit's result."""
        return {"sent": self.sent, "recorded": self.recorded, "over_budget": self.over, "cost_uusd": self.cost_uusd}

    def _recorded(self, keys: Iterable[Key]) -> dict[Key, Answered]:
        return {key: Answered(reply=answer.reply) for key, answer in self.store.answers(self.scope, keys).items()}

    def _send(self, asks: Mapping[Key, Ask], aside: _Aside) -> dict[Key, Answered]:
        if self.means.messages is None:
            first = next(iter(asks.values()))
            raise Refused(f"{len(asks)} requests of dream {self.dream} have no recorded answer, the first is {first.stage} {first.name}: nothing is asked here")
        self._require_no_pause()
        if self.batch and takes_batches(self.means.messages):
            return self._in_batches(asks, cast(Batches, self.means.messages))
        return self._fly(asks, self.means.messages, aside)

    def _in_batches(self, asks: Mapping[Key, Ask], provider: Batches) -> dict[Key, Answered]:
        """Answers of batches that have ended; what is in none is posted in one. Raises Paused until all are there.

        What a batch did not answer (errored, expired) is asked alone, at the full price: that tells what is wrong with it. So are a few late questions.
        """
        post = Post(store=self.store, provider=provider, scope=self.scope, host=host_of(process_of(self.owner)))
        intents = sorted(set(self.store.in_batches(self.scope, asks).values()))
        done = [post.look_after(self.store.batch(intent, host=post.host), asks) for intent in intents]
        found = self._recorded(asks)
        missing = {key: ask for key, ask in asks.items() if key not in found}
        out = self.store.in_batches(self.scope, missing)
        few = self._few({key: ask for key, ask in missing.items() if key not in out})
        if alone := {key: replace(ask, bound_uusd=2 * ask.bound_uusd) for key, ask in missing.items() if key in post.failed or key in few}:
            found |= self._fly(alone, provider, _Aside())
            out = self.store.in_batches(self.scope, missing)
        waits = not all(done)
        if fresh := {key: ask for key, ask in missing.items() if key not in found and key not in out}:
            refused = self._post(post, fresh)
            found |= refused
            waits = waits or len(refused) < len(fresh)
        if waits:
            raise Paused("a batch is being worked on", why=BATCH, for_s=self.means.poll_s)
        return found

    def _few(self, asks: Mapping[Key, Ask]) -> Collection[Key]:
        """These, where they are too few for a batch of their own."""
        late = all(ask.stage != FIRST for ask in asks.values())
        return asks.keys() if late and len(asks) < self.means.batch_min else ()

    def _post(self, post: Post, asks: Mapping[Key, Ask]) -> dict[Key, Answered]:
        """Post these as one batch; returns those a budget leaves out."""
        limits = self.limits()
        if self.means.paid and not limits:
            return self._left_out(asks)
        lease = self.store.take_lease(POST_LEASE, POST_LEASE, self.owner, round((POST_S + MARGIN_S) * 1000))
        if lease is None:
            raise Paused("another worker posts a batch", why=BATCH, for_s=ELSEWHERE_S)
        try:
            until = self.now_ms() + round((POST_S + MARGIN_S) * 1000)
            with self.store.together("intend a batch"):
                self._require_turn(lease)
                told = self.store.intend(self.scope, list(asks.values()), dream=self.dream, job=self.job, limits=limits, until_ms=until)
            if told.batch is not None:
                self.sent += len(told.custom_ids)
                post.hand_in(asks, told.batch.intent, told.custom_ids)
        finally:
            self.store.release_lease(lease)
        return self._left_out(key for key in asks if key in told.reserved.refused)

    def _require_turn(self, lease: Lease) -> None:
        """Pause unless the lease is still ours: paused past it, another may be posting, and of two batches without an answer nobody could tell whose is whose."""
        try:
            self.store.guard(lease)
        except LeaseLost as error:
            raise Paused("another worker posts a batch", why=BATCH, for_s=ELSEWHERE_S) from error

    def _left_out(self, keys: Iterable[Key]) -> dict[Key, Answered]:
        found = {key: Answered(reply=None, why=BUDGET) for key in keys}
        self.over += len(found)
        return found

    def _fly(self, asks: Mapping[Key, Ask], messages: Messages, aside: _Aside) -> dict[Key, Answered]:
        """Answers by calls of their own."""
        flight = _Flight(desk=self, messages=messages, queue=deque(asks.items()), aside=aside)
        found = flight.run()
        if flight.elsewhere:
            found |= self._recorded(flight.elsewhere)
            if waits := [key for key in flight.elsewhere if key not in found]:
                raise Paused(f"{len(waits)} requests are in flight in another worker", why=ELSEWHERE, for_s=ELSEWHERE_S)
        return found

    def _require_no_pause(self) -> None:
        """Raise while calls are paused for the whole store."""
        if (pause := self.store.calls_paused()) is not None:
            raise Paused(f"calls are paused ({pause.why})", why=pause.why, for_s=max(1.0, (pause.until_ms - self.now_ms()) / 1000))

    def now_ms(self) -> int:
        with self.store.reading("read the clock") as conn:
            return self.store.clock_ms(conn)


Wanted = tuple[Key, Ask]
Flying = tuple[Ask, int, Future[Reply]]
"""A request with its call's id, in the air."""


@dataclass(slots=True, kw_only=True)
class _Aside:
    """What the caller does meanwhile, told of answers by their keys: `keys` are those of its asks, in order."""

    meanwhile: Meanwhile | None = None
    keys: Sequence[Key] = ()

    def came(self, key: Key, answered: Answered) -> None:
        if self.meanwhile is not None:
            for at in (n for n, one in enumerate(self.keys) if one == key):
                self.meanwhile.came(at, answered)

    def step(self) -> bool:
        return self.meanwhile is not None and self.meanwhile.step()


@dataclass(slots=True, kw_only=True, eq=False)
class _Flight:
    """The calls of one `ask`: what waits to be reserved, what may be sent, what is in the air, what came of it.

    A call that comes back is followed at once by one that was reserved before, so that no slot is empty while the store writes or the caller works.
    """

    desk: Desk
    messages: Messages
    queue: deque[Wanted]
    aside: _Aside
    pool: ThreadPoolExecutor | None = None
    ready: deque[tuple[Key, Ask, int]] = field(default_factory=deque)
    flying: dict[Key, Flying] = field(default_factory=dict)
    found: dict[Key, Answered] = field(default_factory=dict)
    elsewhere: list[Key] = field(default_factory=list)
    trouble: BaseException | None = None
    full: bool = False
    slow: bool = False
    halted: bool = False
    landed: int = 0
    _lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def turn(self) -> int:
        """Units that were planned first have the slots first."""
        return self.desk.job

    def run(self) -> dict[Key, Answered]:
        """Send all, at most as many at once as there are slots. What stops it stops what is not sent yet; the rest is stored before it is raised."""
        slots, total = self.desk.means.slots, len(self.queue)
        with ThreadPoolExecutor(max_workers=slots.most, thread_name_prefix="dreamd call") as self.pool:
            slots.enter(self)
            try:
                while self.queue or self.ready or self.flying:
                    self.desk.progress("asking the model", len(self.found), total)
                    self._wait()
                    self.desk.go_on()
                    self._turn()
            finally:
                self._stop()
                while self.flying:
                    slots.wait(self._any_done, timeout_s=LOOK_S)
                    self._turn()
                slots.leave(self)
        if self.trouble is not None:
            raise self._as_told(self.trouble)
        return self.found

    def _wait(self) -> None:
        """Wait until there is something to do; till then the caller does what it has to do itself, one caller at a time."""
        slots, nothing = self.desk.means.slots, False
        for _ in range(PIECES):
            if self._due():
                return
            with slots.working() as ours:
                nothing = ours and not self.aside.step() and next(self.desk.spare, NOTHING) is NOTHING
            if nothing or not ours:
                slots.wait(self._due if nothing else lambda: self._due() or not slots.works, timeout_s=LOOK_S)
            if nothing:
                return

    def _any_done(self) -> bool:
        with self._lock:
            return any(future.done() for _, _, future in self.flying.values())

    def _due(self) -> bool:
        """Whether there is something to do: an answer to store, a call to reserve, a slot for one that is."""
        wants = bool(self.queue) and not self.full and not self.slow and self._room() > 0
        return wants or (bool(self.ready) and self.desk.means.slots.free > 0) or self._any_done()

    def _room(self) -> int:
        """How many calls may be reserved: as many as there are slots, and a few ahead of them over all who are in line before us."""
        slots = self.desk.means.slots
        ahead = sum(len(line.ready) for line in (*slots.before(self), self) if isinstance(line, _Flight))
        return slots.free + slots.size // 2 + 1 - ahead

    def _turn(self) -> None:
        """Store what came back and reserve what is sent in its place, in one transaction: each costs a wait for the disk. Then send.

        What does not fit in a budget is tried again when a call of ours has cost less than it could.
        """
        with self._lock:
            done = {key: call for key, call in self.flying.items() if call[2].done()}
            self.full = self.full and not done
            part = [] if self.full or self.halted else self._next()
        if done or part:
            told = self._stored(done, part)
            with self._lock:
                self._came(done)
                if part:
                    self._reserved(part, told)
        if self.trouble is not None:
            self._stop()
        self.desk.means.slots.send()

    def _next(self) -> list[Wanted]:
        """As many of the queue as there are slots for and a few more, and as the rate all processes share allows."""
        desk = self.desk
        n = min(len(self.queue), max(0, self._room()))
        allowed, self.slow = n, False
        if n and (rate := desk.means.rate_per_s) is not None:
            allowed, wait_ms = 0, 0
            while allowed < n and not (wait_ms := desk.store.take(RATE_NAME, 1, rate, max(1.0, rate))):
                allowed += 1
            self.slow = allowed < n
            if not (allowed or self.ready or self.flying):
                self.trouble = Paused(f"at most {rate * 60:g} calls a minute", why=RATE, for_s=wait_ms / 1000)
        return [self.queue.popleft() for _ in range(allowed)]

    def _stored(self, done: Mapping[Key, Flying], part: Sequence[Wanted]) -> Reserved | None:
        """What may be sent of `part`; None where nothing may cost anything."""
        desk = self.desk
        limits = desk.limits()
        if not part or (desk.means.paid and not limits):
            self._settle(done)
            return None
        until = desk.now_ms() + round((2 * desk.means.timeout_s + MARGIN_S) * 1000)  # one of those before it may take its whole time first

        def work() -> Reserved:
            self._settle(done)
            return desk.store.reserve(desk.scope, [ask for _, ask in part], dream=desk.dream, job=desk.job, limits=limits, until_ms=until)

        try:
            return desk.store.atomically("store answers and reserve calls", work)
        except Paused as paused:
            self._settle(done)
            self.trouble = self.trouble or paused
            return Reserved()

    def _settle(self, done: Mapping[Key, Flying]) -> None:
        errors = {call: error for _, call, future in done.values() if (error := future.exception()) is not None}
        self.desk.store.settle_many(
            self.desk.scope,
            [(call, future.result(), ask) for ask, call, future in done.values() if call not in errors],
            void={call: type(error).__name__ for call, error in errors.items() if not _perhaps_taken(error)},
            presumed=[call for call, error in errors.items() if _perhaps_taken(error)],
        )

    def _came(self, done: Mapping[Key, Flying]) -> None:
        """What was stored is in the air no more."""
        for key, (_, _, future) in done.items():
            del self.flying[key]
            if (error := future.exception()) is None:
                self.found[key] = Answered(reply=future.result())
                self.aside.came(key, self.found[key])
                self.landed += 1
                self.desk.cost_uusd += future.result().cost_uusd
            else:
                self.trouble = self.trouble or error

    def _reserved(self, part: Sequence[Wanted], told: Reserved | None) -> None:
        """Put what was reserved in line; what a budget has no room for waits for a call of ours to come back, or for another dream."""
        if told is None:
            self._over(part)
            return
        self.elsewhere += [key for key, _ in part if key in told.busy]
        self.ready.extend((key, ask, told.calls[key]) for key, ask in part if key in told.calls)
        left = [(key, ask) for key, ask in part if key in told.refused]
        if left and (self.flying or self.ready):
            self.queue.extendleft(reversed(left))
            self.full = True
        elif left:
            self._over(left)

    def fly(self) -> bool:
        """Send the next in line on a slot that is ours; False when there is none. Whoever comes back leaves its slot to the next."""
        with self._lock:
            if not self.ready or self.halted or self.pool is None:
                return False
            key, ask, call = self.ready.popleft()
            future = self.pool.submit(self.messages.create, ask, timeout_s=self.desk.means.timeout_s)
            self.flying[key] = (ask, call, future)
            self.desk.sent += 1
        future.add_done_callback(self._back)
        return True

    def _back(self, future: Future[Reply]) -> None:
        if future.exception() is not None:
            self.halted = True
        self.desk.means.slots.give()

    def _stop(self) -> None:
        """Send no more: what was reserved and not sent costs nothing."""
        with self._lock:
            self.queue.clear()
            unsent = {call: "not_sent" for _, _, call in self.ready}
            self.ready.clear()
        if unsent:
            self.desk.store.settle_many(self.desk.scope, [], void=unsent)

    def _over(self, asks: Iterable[Wanted]) -> None:
        """Leave these, and all that are in line behind them, for another dream: a budget is used up."""
        for key, _ in (*asks, *self.queue):
            self.found[key] = Answered(reply=None, why=BUDGET)
            self.desk.over += 1
        self.queue.clear()

    def _as_told(self, trouble: BaseException) -> BaseException:
        """The trouble as the unit is to see it. A provider that asked to be left alone after it had answered some is no failure: the unit waits, uncounted."""
        if self.landed and isinstance(trouble, Busy | Unreachable):
            waits = Paused(str(trouble), why=RATE, for_s=trouble.after_s if isinstance(trouble, Busy) else ELSEWHERE_S)
            waits.__cause__ = trouble
            return waits
        return trouble


def _perhaps_taken(error: BaseException) -> bool:
    """Whether a call that failed may be paid for all the same; one that failed in a way nobody thought of may."""
    return error.accepted if isinstance(error, Unreachable) else not isinstance(error, DreamdError)
