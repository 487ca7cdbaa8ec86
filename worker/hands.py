"""The hands of a dream: processes started when there is much to do, each at its own end of a pipe (`worker.hand`), and how work and calls are shared out.

A hand that dies takes nothing with it: its parcel is taken in here, its units are claimed anew, its calls are ours again.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, Pipe
from multiprocessing.process import BaseProcess
from typing import Final

from pipelines.errors import Permanent, Refused
from pipelines.logs.counting import TakenIn
from pipelines.logs.discovery import Found
from pipelines.logs.intake import Take
from pipelines.run import Params, Parts
from pipelines.run.asking_read import asks
from pipelines.run.hands import PARCEL_MIN, Parcel, parcels_of
from worker.hand import Calls, Did, Enough, Index, Indexed, Joined, Read, Recipe, Said, TakeIn, Through, Told, Took, lend
from worker.settings import Settings
from worker.wiring import Place, tell_busy

AT_MOST: Final = 4
"""Processes of one dream where the settings name no number."""
BYTES_WORTH: Final = 48 * 1024 * 1024
"""Of new logs. Starting a hand takes about a second, in which this process takes in a third of that."""
INDEX_NAME: Final = ".search.db"
UNITS_WORTH: Final = 4
"""Units that read sessions."""
PATIENCE_S: Final = 600.0
"""How long the last parcels may take once this process has nothing else to do; a second is enough for some megabytes."""
END_S: Final = 10.0
"""How long hands may take to finish what they have in work before they are ended: all they do is transactions, and their leases lapse."""


@dataclass(slots=True)
class Busy:
    """Tells a person for whom a write waits, unless it is for the search index that a hand of ours brings up."""

    parts: Parts | None = None

    def __call__(self, where: str) -> None:
        """A write has waited for a while at this place."""
        ours = self.parts is not None and self.parts.hands is not None and self.parts.hands.helping
        if not (ours and where.endswith(INDEX_NAME)):
            tell_busy(where)


@contextmanager
def helped(parts: Parts, place: Place, settings: Settings, *, scope: str | None, params: Params) -> Iterator[Parts]:
    """The same parts with hands for a dream, as many as the settings and this machine's cores allow. They end with the context."""
    processes = settings.processes or min(AT_MOST, _cores())
    if processes < 2:
        yield parts
        return
    recipe = Recipe(place=place, settings=settings, scope=scope, asks=asks(parts.engine_for(params)))
    hands = Crowd(recipe=recipe, parts=parts, most=processes - 1, always=settings.processes is not None)
    try:
        yield replace(parts, hands=hands)
    finally:
        hands.close()


def _cores() -> int:
    """Those this process may use, where the system tells."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(slots=True, kw_only=True, eq=False)
class _Hand:
    """One of them, as seen from here."""

    process: BaseProcess
    pipe: Connection
    holder: str = ""
    parcel: int | None = None
    failed: bool = False
    """Whether a parcel was too much for it: it is given no other."""
    reads: bool = False
    begun: threading.Event = field(default_factory=threading.Event)
    """Its process was started, or cannot be."""
    listens: threading.Thread = field(default_factory=threading.Thread)

    def tell(self, told: Told) -> None:
        """Tell it; one that is gone is found out by who listens."""
        with suppress(OSError):
            self.pipe.send(told)


@dataclass(slots=True)
class _Parcels:
    """Parcels of one intake: which nobody has, and what came of the others."""

    scope: str
    parcels: Sequence[Parcel]
    left: list[int]
    hands: dict[int, _Hand] = field(default_factory=dict)
    found: dict[int, tuple[TakenIn, ...]] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Crowd:
    """The hands of one dream (`pipelines.run.hands.Hands`). Safe in any thread; nothing is started before it is worth it, unless `always`."""

    recipe: Recipe
    parts: Parts
    most: int
    always: bool = False
    patience_s: float = PATIENCE_S
    _hands: list[_Hand] = field(default_factory=list)
    _errors: list[Exception] = field(default_factory=list)
    _parcels: _Parcels | None = None
    _read: Read | None = None
    _ring: Callable[[], None] = lambda: None
    _indexer: _Hand | None = None
    _idle: bool = False
    _closed: bool = False
    _changed: threading.Condition = field(default_factory=lambda: threading.Condition(threading.RLock()))

    @property
    def names(self) -> frozenset[str]:
        """The holders of those that have joined so far."""
        with self._changed:
            return frozenset(hand.holder for hand in self._hands if hand.holder)

    @property
    def errors(self) -> tuple[Exception, ...]:
        """What went wrong with units they worked on."""
        with self._changed:
            return tuple(self._errors)

    # --- logs ---

    def take_in(self, scope: str, files: Sequence[Found], take: Take) -> tuple[TakenIn, ...]:
        """What came of each file, in order; see `Hands`."""
        parcels = parcels_of(files, self.most + 1, least=1 if self.always else PARCEL_MIN)
        if len(parcels) < 2 or not (self.always or sum(f.size for f in files) >= BYTES_WORTH):
            return take(files)
        by_size = sorted(range(len(parcels)), key=lambda n: sum(f.size for f in parcels[n]))
        work = _Parcels(scope=scope, parcels=parcels, left=by_size)
        with self._changed:
            self._parcels = work
        self._start(len(parcels) - 1)
        try:
            while (number := self._next(work)) is not None:
                told = take(parcels[number])
                with self._changed:
                    work.found[number] = told
        finally:
            with self._changed:
                self._parcels = None
        return tuple(file for number in range(len(parcels)) for file in work.found[number])

    def _next(self, work: _Parcels) -> int | None:
        """A parcel that nobody has, the largest first; waits while the last ones are others' to finish. None when all are done.

        A hand that finishes nothing for long has come to a stop: it is ended, and what it had is to be done here.
        """
        with self._changed:
            while not self._changed.wait_for(lambda: work.left or len(work.found) == len(work.parcels), self.patience_s):
                for hand in tuple(work.hands.values()):
                    hand.process.kill()
            return work.left.pop() if work.left else None

    def _hand_over(self, hand: _Hand) -> None:
        """Give a hand that has none the next parcel."""
        work = self._parcels
        if work is not None and work.left and hand.parcel is None and not hand.failed:
            hand.parcel = work.left.pop()
            work.hands[hand.parcel] = hand
            parts = self.parts
            hand.tell(TakeIn(hand.parcel, work.scope, tuple(work.parcels[hand.parcel]), parts.now(), parts.audience))

    # --- sessions ---

    def help_reading(self, scope: str, dream: str, *, units: int, ring: Callable[[], None]) -> int:
        """Have them claim units of a dream that reads sessions; see `Hands`."""
        if units < 2 or not (self.always or units >= UNITS_WORTH):
            return max(1, units)
        share = -(-units // (self.most + 1))
        with self._changed:
            self._read, self._ring = Read(scope, dream, share), ring
            self._errors.clear()  # those of a dream before are told with it
        self._start(units - 1)
        with self._changed:
            for hand in self._hands:
                self._have_read(hand)
        return share

    def _have_read(self, hand: _Hand) -> None:
        """Have a hand that is free read; the first one brings the search index up before, which is needed when all is read, and is one process's to write."""
        if self._read is None or not hand.holder or hand.reads or not self._has_calls_for_more():
            return
        if self._indexer is None:
            self._indexer = hand
            hand.tell(Index())
        else:
            hand.reads = True
            self._share_out()  # before it begins
            hand.tell(self._read)

    def _has_calls_for_more(self) -> bool:
        """Whether one more that reads would have a call of its own: all together have no more in flight than one process may."""
        means = self.parts.means
        return not self.recipe.asks or means is None or sum(hand.reads for hand in self._hands) + 1 < means.slots.most

    @property
    def helping(self) -> bool:
        """Whether there is any."""
        return bool(self._hands)

    def waiting(self, idle: bool) -> None:
        """Whether this process has nothing to do but wait for them."""
        if idle != self._idle:
            with self._changed:
                self._idle = idle
                self._share_out()

    def _share_out(self) -> None:
        """Divide the calls that may be in flight among those who read, this process included: one is all it keeps while it only waits for them."""
        if self.parts.means is None:
            return
        slots, readers = self.parts.means.slots, [hand for hand in self._hands if hand.reads]
        shares = shares_of(slots.most, len(readers), idle=self._idle)
        slots.resize(shares[0])
        for hand, at_once in zip(readers, shares[1:], strict=True):
            hand.tell(Calls(at_once))

    # --- the processes ---

    def _start(self, wanted: int) -> None:
        """Start as many as are wanted and allowed; where one cannot be started the work goes on without."""
        with self._changed:
            for _ in range(min(wanted, self.most) - len(self._hands)):
                with suppress(OSError, RuntimeError):  # the system allows no more files, or no more threads
                    self._hands.append(self._started())

    def _started(self) -> _Hand:
        ours, theirs = Pipe()
        # Not forked: this process has threads and open databases.
        process = multiprocessing.get_context("spawn").Process(target=lend, args=(theirs, self.recipe), name="dreamd hand", daemon=True)
        hand = _Hand(process=process, pipe=ours)
        hand.listens = threading.Thread(target=self._listen, args=(hand, theirs), name="listens", daemon=True)
        hand.listens.start()
        return hand

    def _listen(self, hand: _Hand, theirs: Connection) -> None:
        try:
            with hand.pipe, suppress(EOFError, OSError):
                with theirs:
                    _begin(hand)
                while True:
                    said: Said = hand.pipe.recv()
                    with self._changed:
                        self._heard(hand, said)
                        self._changed.notify_all()
                    self._ring()
        finally:
            with self._changed:
                self._lost(hand)
                self._changed.notify_all()
            self._ring()

    def _heard(self, hand: _Hand, said: Said) -> None:
        match said:
            case Joined(holder):
                hand.holder = holder
                self._have_read(hand)
            case Indexed():
                self._have_read(hand)
            case Took(number, files):
                hand.parcel, hand.failed = None, files is None
                self._took(number, files)
            case Did(error):
                if error is not None:
                    self._errors.append(Refused(error[1]) if error[0] else Permanent(error[1]))
            case Through():
                hand.reads, self._read = False, None
                self._share_out()
        self._hand_over(hand)

    def _took(self, number: int, files: tuple[TakenIn, ...] | None) -> None:
        if self._parcels is None:
            return
        self._parcels.hands.pop(number, None)
        if files is None:
            self._parcels.left.append(number)
        else:
            self._parcels.found[number] = files

    def _lost(self, hand: _Hand) -> None:
        """It is gone: what it had is to be done by others."""
        self._hands.remove(hand)
        if hand.parcel is not None:
            self._took(hand.parcel, None)
        if not self._closed:
            self._share_out()

    def close(self) -> None:
        """End them all: each finishes or gives back what it has in work."""
        with self._changed:
            self._closed = True
            hands = tuple(self._hands)
        until = time.monotonic() + END_S
        for hand in hands:
            hand.tell(Enough())
        for hand in hands:
            _end(hand, until)


def _begin(hand: _Hand) -> None:
    """Start its process. Called in a thread of its own, which Ctrl-C does not interrupt: half started, it would tell of that at length.

    Raises OSError where the system allows no more processes.
    """
    try:
        resource_tracker.ensure_running()  # unblocks the signal, so before
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # the process inherits this, and is spared what is typed before it can ignore it
        hand.process.start()
    finally:
        hand.begun.set()


def _end(hand: _Hand, until: float) -> None:
    """See a hand to its end, that was told of it; it has until a moment of the monotonic clock."""
    hand.begun.wait()
    if hand.process.pid is None:
        hand.listens.join()
        return
    if not hand.holder:
        hand.process.kill()  # it has not joined: there is nothing it could lose
    hand.process.join(max(0.0, until - time.monotonic()))
    if hand.process.is_alive():
        hand.process.kill()
    hand.listens.join()
    hand.process.join()
    hand.process.close()


def shares_of(slots: int, readers: int, *, idle: bool) -> tuple[int, ...]:
    """How many calls this process may have in flight, then each hand; all of them together are `slots`, where there is one for each."""
    own = 1 if idle and readers else max(1, slots // (readers + 1))
    left, rest = divmod(max(0, slots - own), readers) if readers else (0, 0)
    return (own if readers else slots, *(max(1, left + (n < rest)) for n in range(readers)))
