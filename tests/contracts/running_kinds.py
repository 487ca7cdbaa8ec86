"""What runs a dream's units, and where its store lies: one suite for all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Protocol

import pytest

from pipelines.engines.local.engine import LocalEngine
from pipelines.ports import Engine, Extracted, Window
from pipelines.run.parts import Params, Parts
from pipelines.run.report import BROUGHT, brought_by
from pipelines.run.runner import ENDED, drive
from pipelines.run.sources import take_in
from pipelines.store import Dream
from tests.contracts.work_builders import WAIT_S, Thread, until
from tests.dreaming import SCOPE, Desk
from tests.redacting import shared_redactor
from worker.celery_app import make_app
from worker.crew import Crew
from worker.doorbell import Doorbell
from worker.hearing import listen
from worker.process import Ears, Rounds
from worker.stopping import Stop
from worker.tasks import Receiver


class Runner(Protocol):
    """Works on the units of a scope until a dream has ended."""

    def __call__(self, parts: Parts, dream: str) -> None: ...


def embedded(parts: Parts, dream: str) -> None:
    """In this process."""
    drive(parts, SCOPE, dream)


def in_threads(parts: Parts, dream: str) -> None:
    """In several threads of this process."""
    drive(parts, SCOPE, dream, threads=3)


@dataclass(frozen=True)
class Celery:
    """By Celery's worker in this process over a Redis, told of by bells alone."""

    redis_url: str

    def __call__(self, parts: Parts, dream: str) -> None:
        stop, ears = Stop(), Ears()
        app = make_app(self.redis_url, queue=f"of:{dream}")
        ring = Doorbell(app)
        crew = Crew(engines={"local": parts}, default="local", ring=ring, stop=stop, threads=3)
        receiver = Receiver(store=parts.store, queue=f"of:{dream}", params={}, ring=ring, mask=str, client=None, stop=stop)
        ended = Event()
        listening = Thread(lambda: listen(app, crew, receiver, ears))
        with Rounds(crew=crew, look_s=WAIT_S, ears=ears, sweep_s=0.1).going():
            ring((0,))  # the number is only a hint
            try:
                until(lambda: parts.store.dream(SCOPE, dream).state in ENDED or ended.wait(0.02))
            finally:
                stop.set()
                listening.result()
        assert not crew.broken


RUNNERS: Mapping[str, Runner] = {"embedded": embedded, "threads": in_threads}
KINDS = ("embedded-sqlite", "embedded-postgresql")
EVERY = (*KINDS, "celery-postgresql")
"""With Celery, for tests that look at a whole dream; of one unit at a time it knows nothing."""


@dataclass(frozen=True)
class Running:
    """A desk whose dreams are run by one kind of runner over one kind of store."""

    desk: Desk
    runner: Runner

    @contextmanager
    def parts(self, engine: Engine | None = None) -> Iterator[Parts]:
        """Live parts, with an engine of one's own."""
        with self.desk.store() as store:
            yield replace(self.desk.parts(store), engine=engine or LocalEngine())

    def ask(self, parts: Parts, **params: object) -> str:
        """Take in what lies on the desk, and ask for a dream over it."""
        taken = take_in(parts, self.desk.request())
        told = {**replace(Params(), **params).as_json(), BROUGHT: brought_by(taken, "").as_json()}  # type: ignore[arg-type]
        asked = parts.store.request(SCOPE, request_id=f"r{len(parts.store.dreams(SCOPE))}", params=told, cause="test")
        assert asked.dream is not None
        return asked.dream

    def dream(self, engine: Engine | None = None, **params: object) -> Dream:
        """Ask for a dream and have it run to its end."""
        with self.parts(engine) as parts:
            uid = self.ask(parts, **params)
            self.runner(parts, uid)
            return parts.store.dream(SCOPE, uid)

    def pages(self) -> dict[str, str]:
        """The committed pages but the reports, by path."""
        with self.desk.store() as store:
            return {p.slug: p.body for p in store.pages(SCOPE).values() if not p.slug.startswith("journal/")}


@pytest.fixture(params=KINDS)
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Running:
    runner, _, store = request.param.partition("-")
    url = request.getfixturevalue("database_url") if store == "postgresql" else ""
    chosen = Celery(request.getfixturevalue("redis_url")) if runner == "celery" else RUNNERS[runner]
    return Running(Desk(tmp_path_factory.mktemp("desk"), shared_redactor(request), url=url), chosen)


@dataclass
class Failing:
    """The local engine, but for sessions with a word in them: then it raises, `times` times (None: always). `asked` counts what it was asked."""

    word: str
    error: Callable[[], Exception]
    times: int | None = None
    name: str = "local/1"
    sessions_a_unit: int = 64
    asked: Counter[str] = field(default_factory=Counter)

    def extract(self, window: Window) -> Extracted:
        self.asked[window.session.uid] += 1
        at_fault = any(self.word in turn.text for turn in window.turns)
        if at_fault and (self.times is None or self.asked[window.session.uid] <= self.times):
            raise self.error()
        return LocalEngine().extract(window)
