"""A clock of leases a test moves by hand, and short words for asking, claiming and finishing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import select

from pipelines.store import Job, Store, Unit
from pipelines.store import tables as t
from tests.contracts.store_builders import SCOPE

TTL = 30_000
DEADLINE = 600_000
WAIT_S = 20


class Ticks:
    """Milliseconds, moved by hand."""

    def __init__(self) -> None:
        self.at = 1_000_000_000_000

    def __call__(self) -> int:
        return self.at


@pytest.fixture
def ticks(store: Store) -> Iterator[Ticks]:
    """The clock of leases in this test's store."""
    made = Ticks()
    store.ticks = made
    yield made
    store.ticks = None


def ask(store: Store, request_id: str, scope: str = SCOPE, **params: object) -> str:
    """Ask for a dream; returns its uid."""
    told = store.request(scope, request_id=request_id, params=params, cause="test")
    assert told.dream is not None
    return told.dream


def take(store: Store, owner: str = "one", **more: Any) -> Job:
    """Claim what must be there."""
    job = store.claim(owner, ttl_ms=TTL, deadline_ms=DEADLINE, **more)
    assert job is not None, "nothing to claim"
    return job


def nothing(store: Store, owner: str = "other", **more: Any) -> bool:
    return store.claim(owner, ttl_ms=TTL, deadline_ms=DEADLINE, **more) is None


def extracting(store: Store, *units: str, request_id: str = "r", scope: str = SCOPE) -> str:
    """A dream that has these units to extract; returns its uid."""
    uid = ask(store, request_id, scope, of=request_id)
    store.finish_job(take(store, scope=scope), then=[Unit(u) for u in units])
    return uid


def at_stage(store: Store, stage: str, request_id: str = "r", scope: str = SCOPE) -> Job:
    """A dream's claimed job of a stage."""
    ask(store, request_id, scope, of=request_id)
    while (job := take(store, scope=scope)).stage != stage:
        store.finish_job(job)
    return job


def finish_all(store: Store, scope: str = SCOPE) -> list[str]:
    """Do whatever is due in a scope, dreams and all; returns what was done."""
    did = []
    while (job := store.claim("last", ttl_ms=TTL, deadline_ms=DEADLINE, scope=scope)) is not None:
        did.append(f"{job.stage} {job.unit}")
        if job.stage == "render":
            store.end_dream(job, "completed")
        else:
            store.finish_job(job)
    return did


def state(store: Store, dream: str, scope: str = SCOPE) -> str:
    return store.dream(scope, dream).state


WORK = ("scopes", "dreams", "requests", "stages", "jobs", "changes", "change_reads", "dirty_claims", "leases", "processes", "audit", "faults")


def everything(store: Store) -> dict[str, list[Any]]:
    """All rows of the tables of work."""
    with store.reading("look") as conn:
        return {name: conn.execute(select(table).order_by(table.c.id)).all() for name, table in ((n, t.metadata.tables[n]) for n in WORK)}  # type: ignore[misc]


def rows(store: Store, name: str) -> list[Any]:
    table = t.metadata.tables[name]
    with store.reading("look") as conn:
        return list(conn.execute(select(table).order_by(table.c.id)).all())


class Thread(threading.Thread):
    """A thread whose error is the test's."""

    def __init__(self, work: Callable[[], Any]) -> None:
        super().__init__(daemon=True)
        self.work = work
        self.error: BaseException | None = None
        self.value: Any = None
        self.start()

    def run(self) -> None:
        try:
            self.value = self.work()
        except BaseException as error:
            self.error = error

    def result(self) -> Any:
        self.join(WAIT_S)
        assert not self.is_alive(), "a thread hangs"
        if self.error is not None:
            raise self.error
        return self.value


@contextmanager
def beside(store: Store, work: Callable[[], Any]) -> Iterator[Thread]:
    """Run work in another thread, and go on when it waits for a lock; on SQLite, where the process has one writer, when it has begun."""
    begun = threading.Event()

    def go() -> Any:
        begun.set()
        return work()

    thread = Thread(go)
    assert begun.wait(WAIT_S)
    if not store.on_sqlite:
        until(lambda: blocked(store))
    yield thread


def blocked(store: Store) -> bool:
    with store.reading("look at the locks") as conn:
        return bool(conn.exec_driver_sql("SELECT 1 FROM pg_locks WHERE NOT granted").first())


def until(true: Callable[[], bool]) -> None:
    """Look again and again, for a while at most."""
    pause = threading.Event()
    for _ in range(WAIT_S * 200):
        if true():
            return
        pause.wait(0.005)
    raise AssertionError("it never came true")
