"""A dream that asks a model is killed at any moment: the next one ends where an undisturbed one would, and only calls that were in flight are sent again."""

from __future__ import annotations

import os
import random
import signal
import threading
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipelines.engines.claude.client import Provider
from pipelines.ports import Ask, Reply
from pipelines.run.runner import DreamWaits
from pipelines.store import Store, this_process
from tests.dreaming import SCOPE, differences
from tests.oracle.gold import all_sessions, save
from tests.oracle.oracle import Oracle
from tests.oracle.server import Service, serving
from tests.redacting import shared_redactor
from tests.scripted import ModelDesk, asking

SESSIONS = all_sessions()[:6]
SLOTS = 4
KILLS = 6
MOMENTS = 60
"""About how many moments at which a process can be killed an undisturbed dream has."""


def desk_at(request: pytest.FixtureRequest, root: Path) -> ModelDesk:
    made = ModelDesk(root, shared_redactor(request), slots=SLOTS)
    save(SESSIONS, made.logs)
    return made


def dream(desk: ModelDesk, service: Service, moment: Moments | None = None) -> None:
    """Dream in this process, with a provider of its own."""
    provider = Provider(base_url=service.base_url, key="k", local=True)
    at = replace(desk, holder=this_process(), messages=Watched(provider, moment) if moment else provider, step=moment or desk.step)
    try:
        with suppress(DreamWaits):
            at.dream(**asking())
    finally:
        provider.close()


class Moments:
    """Counts moments, and kills this process at one of them."""

    def __init__(self, fatal: int) -> None:
        self.left = fatal
        self._lock = threading.Lock()

    def __call__(self, _: str) -> None:
        with self._lock:
            self.left -= 1
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)


class Watched:
    """A provider with a moment before and after each call."""

    def __init__(self, provider: Provider, moment: Moments) -> None:
        self.provider, self.moment = provider, moment

    def create(self, ask: Ask, *, timeout_s: float) -> Reply:
        self.moment("sent")
        reply = self.provider.create(ask, timeout_s=timeout_s)
        self.moment("came")
        return reply


def watch_the_ledger(moment: Moments) -> None:
    """Moments before and after money is reserved, and before and after answers are stored. Only in a process that is about to die."""
    for name in ("reserve", "settle_many", "finish_job", "save_reading"):
        setattr(Store, name, _between(getattr(Store, name), moment))


def _between(method: Any, moment: Moments) -> Any:
    def watched(*args: Any, **given: Any) -> Any:
        moment("before")
        result = method(*args, **given)
        moment("after")
        return result

    return watched


def killed(desk: ModelDesk, service: Service, fatal: int) -> bool:
    """Dream in a process that is killed at its moment number `fatal`; False when it had ended by then."""
    child = os.fork()
    if child == 0:
        try:
            moment = Moments(fatal)
            watch_the_ledger(moment)
            dream(desk, service, moment)
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


@pytest.fixture(scope="module")
def wanted(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The wiki of an undisturbed dream."""
    with serving(Oracle(SESSIONS)) as service:
        desk = desk_at(request, tmp_path_factory.mktemp("undisturbed"))
        dream(desk, service)
        return desk.tree()


@pytest.mark.parametrize("seed", range(4))
def test_a_dream_killed_at_any_moments_ends_as_an_undisturbed_one_and_its_ledger_knows_each_call(
    request: pytest.FixtureRequest, tmp_path: Path, wanted: dict[str, str], seed: int
) -> None:
    rng = random.Random(seed)
    with serving(Oracle(SESSIONS)) as service:
        desk = desk_at(request, tmp_path / "desk")
        kills = sum(killed(desk, service, rng.randint(1, MOMENTS)) for _ in range(KILLS))
        dream(desk, service)
        assert kills > 0
        assert differences(wanted, desk.tree()) == []
        again = Counter(seen.digest for seen in service.answered)
        assert sum(n - 1 for n in again.values()) <= kills * SLOTS
        with desk.store() as store:
            (row,) = store.costs(SCOPE, by=("scope",))
            assert row.open == 0
            assert row.calls <= len(again), "a request has one answer, booked once; what a killed unit asked and its parts did not is presumed"
            assert row.calls + row.presumed >= len(service.answered)
            assert row.uusd + row.presumed_uusd >= float(service.booked_uusd)
        with serving(Oracle(SESSIONS)) as other:
            dream(desk, other)
            assert other.log == ()
