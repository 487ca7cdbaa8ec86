"""A process that helps another one with its dream: it opens the same store, does what it is told over a pipe, and ends when the pipe does.

A unit it has in work then it gives back; what is in flight to a model is waited for and stored first. Logs it leaves where it is: each batch of them is one
transaction.
"""

from __future__ import annotations

import os
import queue
import signal
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from multiprocessing.connection import Connection
from typing import Final, TypeAlias

from pipelines.engines.claude.client import Provider
from pipelines.errors import DreamdError, Refused
from pipelines.logs.counting import TakenIn
from pipelines.logs.discovery import Found
from pipelines.logs.intake import intake_files
from pipelines.run import Parts
from pipelines.run.dream import threads_of
from pipelines.run.parts import params_of
from pipelines.run.runner import lend_a_hand
from worker import logsetup, wiring
from worker.settings import Settings

LEAVE_S: Final = 1.0
"""How long what is no unit, intake and the search index, may go on when it is to end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What a hand opens its parts with."""

    place: wiring.Place
    settings: Settings
    scope: str | None
    asks: bool
    """Whether a model will be asked."""


# --- what it is told ---


@dataclass(frozen=True, slots=True)
class TakeIn:
    """Take in the files of a parcel, as of a moment."""

    number: int
    scope: str
    files: Sequence[Found]
    now: datetime
    audience: str


@dataclass(frozen=True, slots=True)
class Read:
    """Work on the units of a dream that read sessions, on so many at once at most."""

    scope: str
    dream: str
    at_once: int


@dataclass(frozen=True, slots=True)
class Index:
    """Bring the search index up to what the store holds."""


@dataclass(frozen=True, slots=True)
class Calls:
    """Have at most so many calls in flight."""

    at_once: int


@dataclass(frozen=True, slots=True)
class Enough:
    """End, with what is in work finished or given back."""


# --- what it tells ---


@dataclass(frozen=True, slots=True)
class Joined:
    """It is ready; `holder` is its name among those that hold units."""

    holder: str


@dataclass(frozen=True, slots=True)
class Took:
    """What came of a parcel; None: nothing, and whoever handed it over has to do it."""

    number: int
    files: tuple[TakenIn, ...] | None


@dataclass(frozen=True, slots=True)
class Indexed:
    """The index is where it could be brought."""


@dataclass(frozen=True, slots=True)
class Did:
    """A unit is done, or went wrong: then what kind of error it was, and its words."""

    error: tuple[bool, str] | None = None


@dataclass(frozen=True, slots=True)
class Through:
    """There is nothing more to read that it could claim."""


Told: TypeAlias = TakeIn | Index | Read | Calls | Enough
Said: TypeAlias = Joined | Took | Indexed | Did | Through


def lend(pipe: Connection, recipe: Recipe) -> None:
    """The whole life of a hand. What keeps it from its work is said by the other process, which meets it as well."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C on a terminal reaches us too; the other process hears it, and the pipe ends
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    logsetup.configure(recipe.settings.log_level)
    nobody = (BrokenPipeError, ConnectionResetError)  # is left to tell
    with suppress(DreamdError, *nobody), wiring.helping_parts(recipe.place, recipe.settings, scope=recipe.scope) as parts:
        if recipe.asks and parts.means and isinstance(provider := parts.means.messages, Provider):
            threading.Thread(target=provider.get_ready, name="gets ready", daemon=True).start()
        _Hand(pipe=pipe, parts=parts).serve()


@dataclass(slots=True, kw_only=True)
class _Hand:
    """Hears what it is told on a thread of its own, so that a change of slots or the end is heard while it works."""

    pipe: Connection
    parts: Parts
    _tasks: queue.SimpleQueue[TakeIn | Index | Read | None] = field(default_factory=queue.SimpleQueue)
    _reads: bool = False
    _over: threading.Event = field(default_factory=threading.Event)
    _left: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def serve(self) -> None:
        """Do one task after the other until the pipe ends."""
        threading.Thread(target=self._hear, name="hears", daemon=True).start()
        self._say(Joined(self.parts.holder))
        try:
            while (task := self._tasks.get()) is not None and not self._over.is_set():
                self._do(task)
        finally:
            self._left.set()

    def _do(self, task: TakeIn | Index | Read) -> None:
        match task:
            case TakeIn():
                self._say(Took(task.number, self._taken_in(task)))
            case Index():
                with suppress(DreamdError):  # whoever searches first does it
                    self.parts.store.refresh_search()
                self._say(Indexed())
            case Read():
                self._reads = True
                self._read(task)
                self._reads = False
                self._say(Through())

    def _hear(self) -> None:
        with suppress(EOFError, OSError):
            while not isinstance(told := self._told(), Enough):
                if not isinstance(told, Calls):
                    self._tasks.put(told)
                elif self.parts.means is not None:
                    self.parts.means.slots.resize(told.at_once)
        self._over.set()
        self._tasks.put(None)
        if not self._left.wait(LEAVE_S) and not self._reads:
            os._exit(0)

    def _told(self) -> Told:
        told: Told = self.pipe.recv()
        return told

    def _taken_in(self, task: TakeIn) -> tuple[TakenIn, ...] | None:
        parts = self.parts
        try:
            return intake_files(
                task.files, store=parts.store, scope=task.scope, archive=parts.archive, redactor=parts.redactor, now=task.now, readers=parts.readers,
                audience=task.audience,
            )  # fmt: skip
        except DreamdError:  # it stops everything: the other process meets it as well, and tells
            return None

    def _read(self, task: Read) -> None:
        parts = self.parts
        with suppress(DreamdError):  # the leases of what was in work lapse, or are known to be a dead process's
            dream = parts.store.dream(task.scope, task.dream)
            threads = min(task.at_once, threads_of(parts.serving(params_of(dream.params, parts.defaults))))
            lend_a_hand(parts, task.scope, task.dream, threads=threads, stop=self._over.is_set, done=self._did)

    def _did(self, error: Exception | None) -> None:
        self._say(Did(None if error is None else (isinstance(error, Refused), str(error))))

    def _say(self, said: Said) -> None:
        with self._lock:
            self.pipe.send(said)
