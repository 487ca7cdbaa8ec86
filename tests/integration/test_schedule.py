"""Schedulers over one database: each slot one dream, over replicas, outages, restarts and wrong clocks; and the processes that do it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import structlog

from pipelines.engines.local.engine import LocalEngine
from pipelines.errors import StoreUnavailable
from pipelines.model import Origin
from pipelines.ports import Extracted, Window
from pipelines.run.publish import publish_revision
from pipelines.run.runner import drive
from pipelines.run.sources import take_in
from pipelines.run.wiki import folder_of
from pipelines.store import Delivery, Store, open_store
from tests.contracts.store_builders import DAY, SCOPE, batch, turn
from tests.contracts.store_kinds import Clock, clock, store
from tests.contracts.test_store_dreams import dream_of
from tests.dreaming import Desk, lines_with
from tests.writing import ClaudeLog
from worker.bell import silent
from worker.scheduler import Scheduler, tick, waking
from worker.stopping import Stop

__all__ = ["clock", "store"]  # fixtures of this suite

DEADLINE_S = 40


def end_dreams(store: Store) -> None:
    """Let whatever was asked for be over."""
    for dream in store.dreams(SCOPE):
        if dream.state in {"pending", "running"}:
            store.cancel(SCOPE, dream.uid)


def slots_of(store: Store, cause: str = "nightly") -> list[str]:
    return sorted(str(d.slot).removeprefix(f"{cause} ") for d in store.dreams(SCOPE) if d.cause == cause)


def test_nights_over_a_change_of_clocks_with_replicas_and_outages_is_one_dream_a_night(store: Store, clock: Clock) -> None:
    clock.at = datetime(2026, 10, 15, 12, 0, tzinfo=UTC)
    store.set_schedule(SCOPE, "nightly", "30 2 * * *", "Europe/Berlin")
    away = {(18, h) for h in range(24)} | {(19, h) for h in range(24)} | {(20, h) for h in range(12)}  # down over two nights
    while clock.at < datetime(2026, 10, 28, tzinfo=UTC):
        clock.at += timedelta(hours=6)
        if (clock.at.day, clock.at.hour) in away:
            continue
        if any([tick(store, clock.at, params={}, ring=silent).fired for _ in range(2)]):  # two replicas
            end_dreams(store)
    nights = {f"2026-10-{day}" for day in range(16, 28)}
    assert slots_of(store) == sorted(nights - {"2026-10-18", "2026-10-19"}), "of the nights slept through the last is caught up"
    assert ("2026-10-20", "caught_up") in store.slots(SCOPE, "nightly")


def test_replicas_that_tick_at_the_same_moment_make_one_dream_and_ring_for_it(store: Store, clock: Clock) -> None:
    store.set_schedule(SCOPE, "nightly", "0 3 * * *", "UTC")
    store.set_schedule(SCOPE, "interval", "6h", "UTC", {"dry_run": True})
    clock.at += timedelta(days=1)
    at_once, rung, done = threading.Barrier(4), [], []

    def replica() -> None:
        at_once.wait(30)
        done.append(tick(store, clock.at, params={}, ring=rung.extend))

    threads = [threading.Thread(target=replica) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    fired = sorted(f for d in done for f in d.fired)
    assert [f[1:] for f in fired] == [("interval", "2026-11-04T06:00:00Z", "accepted"), ("nightly", "2026-11-04", "accepted")]
    assert len(store.dreams(SCOPE)) == 2
    assert rung


def test_a_clock_that_was_once_in_2040_does_not_silence_the_nights(store: Store, clock: Clock) -> None:
    store.set_schedule(SCOPE, "nightly", "0 3 * * *", "UTC")
    tick(store, datetime(2040, 1, 1, 12, tzinfo=UTC), params={}, ring=silent)
    end_dreams(store)
    clock.at += timedelta(days=1)
    done = tick(store, clock.at, params={}, ring=silent)
    assert done.reset == ((SCOPE, "nightly"),)
    assert slots_of(store) == ["2026-11-04", "2040-01-01"]
    assert tick(store, clock.at, params={}, ring=silent).fired == ()


def test_a_schedule_nobody_can_read_is_told_and_leaves_the_others_alone(store: Store, clock: Clock) -> None:
    store.set_schedule("broken", "nightly", "whenever", "UTC")
    store.set_schedule("elsewhere", "nightly", "0 3 * * *", "Mars/Olympus")
    store.set_schedule(SCOPE, "nightly", "0 3 * * *", "UTC")
    clock.at += timedelta(days=1)
    done = tick(store, clock.at, params={}, ring=silent)
    assert [(scope, kind) for scope, kind, _ in done.unreadable] == [("broken", "nightly"), ("elsewhere", "nightly")]
    assert slots_of(store) == ["2026-11-04"]


def test_an_adaptive_schedule_dreams_when_what_changed_is_worth_it(store: Store, clock: Clock) -> None:
    store.set_schedule(SCOPE, "adaptive", "1h score=10", "UTC")
    clock.at += timedelta(hours=2)
    assert tick(store, clock.at, params={}, ring=silent).fired == ()
    store.commit_intake(SCOPE, batch(*(turn(f"t{n}", f"words {n}", ordinal=n, origin=Origin.USER) for n in range(5))))
    assert tick(store, clock.at, params={}, ring=silent).fired == (), "five turns nobody reads about"
    store.record_delivery(SCOPE, Delivery(session="s2", door="hook", target="brief", rev=0, versions=(), at=clock.at))
    assert [f[1:3] for f in tick(store, clock.at, params={}, ring=silent).fired] == [("adaptive", "2026-11-03T11:00:00Z")]
    assert tick(store, clock.at + timedelta(minutes=30), params={}, ring=silent).fired == (), "once an interval"


def test_what_expired_is_told_by_a_tick_without_an_engine(store: Store, clock: Clock) -> None:
    dream_of(store, "n1", valid_until=DAY + timedelta(days=1))
    assert tick(store, DAY + timedelta(hours=23), params={}, ring=silent).expired == ()
    clock.at += timedelta(days=1)
    assert tick(store, clock.at, params={}, ring=silent).expired == (SCOPE,)
    assert [d.params for d in store.dreams(SCOPE, limit=1)] == [{"only": "render"}]
    assert tick(store, clock.at, params={}, ring=silent).expired == ()


class Deaf(LocalEngine):
    """An engine that must not be asked."""

    def extract(self, window: Window) -> Extracted:
        raise AssertionError("an expiry asked the engine to read")


def test_what_expired_leaves_the_pages_without_an_engine_and_a_new_session_is_still_read_by_the_next_dream(desk: Desk) -> None:
    ClaudeLog("one").user("Code freeze: don't deploy anything until 5 April.").user("Always run migrations with `make migrate`.").save(desk.logs)
    desk.dream()
    assert lines_with({"MEMORY.md": desk.brief()}, "deploy anything")
    ClaudeLog("two").user("Never push to main.").save(desk.logs)
    desk.now = datetime(2026, 4, 7, 7, 0, tzinfo=UTC)
    with desk.store() as store:
        parts = replace(desk.parts(store), engine=Deaf())
        take_in(parts, desk.request())  # unread words must wait for a whole dream
        assert tick(store, desk.now, params={}, ring=silent).expired == ("local",)
        (expiry,) = (d for d in store.dreams("local") if d.cause == "expiry")
        done = drive(parts, "local", expiry.uid)
        assert (done.dream.state, done.errors, done.units) == ("completed", (), 1)
        assert dict(store.dream_state("local", expiry.uid).jobs) == {"render": {"done": 1}}
        publish_revision(parts, folder_of(desk.request()), "local")
        assert store.waiting("local").sessions == 1
    assert not lines_with({"MEMORY.md": desk.brief(), **desk.pages()}, "deploy anything")
    assert lines_with(desk.pages(), "make migrate")
    assert desk.dream().report.status == "completed"
    assert lines_with(desk.pages(), "push to main")


def test_a_tick_that_fails_rings_for_what_it_did_and_the_next_does_the_rest(store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    dream_of(store, "n1", valid_until=DAY + timedelta(hours=1))
    store.set_schedule(SCOPE, "nightly", "0 3 * * *", "UTC")
    clock.at += timedelta(days=1)
    rung: list[int] = []
    replica = Scheduler(store=store, now=clock, params={}, ring=rung.extend, name="host:1:1")

    def away(_: datetime) -> tuple[str, ...]:
        raise StoreUnavailable("look for what expired")

    with monkeypatch.context() as m:
        m.setattr(store, "expiring", away)
        assert replica.turn() is None
    assert len(rung) == 1
    done = replica.turn()
    assert done is not None
    assert (done.fired, done.expired) == ((), (SCOPE,))
    assert [(w.name, w.role, w.done, w.failed) for w in store.workers()] == [("host:1:1", "schedule", 1, 1)]
    replica.leave()
    assert store.workers() == ()


def test_a_store_that_stays_away_is_told_once_and_so_is_that_it_is_back(store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    replica = Scheduler(store=store, now=clock, params={}, ring=silent, name="host:1:1")

    def away() -> None:
        raise StoreUnavailable("list the schedules")

    with structlog.testing.capture_logs() as said:
        for _ in range(2):
            with monkeypatch.context() as m:
                m.setattr(store, "schedules", away)
                assert (replica.turn(), replica.turn(), replica.turn()) == (None, None, None)
            assert replica.turn() is not None
            assert replica.turn() is not None
    assert [(x["event"], x["log_level"]) for x in said] == [("tick_failed", "warning"), ("ticks_again", "info")] * 2
    assert said[1]["missed"] == 3


def test_the_waker_calls_again_and_again_and_never_twice_at_once() -> None:
    busy, calls, overlapped, enough = threading.Lock(), [], [], threading.Event()

    def work() -> None:
        if not busy.acquire(blocking=False):
            overlapped.append(1)
            return
        with contextlib.suppress(ValueError):
            calls.append(1)
            enough.wait(0.15)  # longer than the interval
        busy.release()
        if len(calls) >= 3:
            enough.set()

    with waking(work, every_s=0.05):
        assert enough.wait(DEADLINE_S)
    assert overlapped == []


def test_waiting_for_a_stop_is_ended_by_it_in_every_thread() -> None:
    stop, seen = Stop(), []
    threads = [threading.Thread(target=lambda: seen.append(stop.wait(DEADLINE_S))) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert not stop.wait(0)
    stop.set()
    for thread in threads:
        thread.join(DEADLINE_S)
    assert seen == [True] * 3
    assert stop()
    stop.close()


# --- processes ---------------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a store that owes one night."""
    with open_store(url(tmp_path), now=lambda: datetime.now(UTC) - timedelta(days=2)) as opened:
        opened.set_schedule("local", "nightly", f"0 {(datetime.now(UTC).hour + 12) % 24} * * *", "UTC")  # no night begins while the test runs
    return tmp_path


def url(home: Path) -> str:
    return f"sqlite:///{home / 'store.db'}"


def start(home: Path, *arguments: str, **env: str) -> subprocess.Popen[str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("DREAMD_", "XDG_"))}
    kept |= {"HOME": str(home), "DREAMD_DATABASE_URL": url(home), "PYTHONWARNINGS": "error", **env}
    return subprocess.Popen([sys.executable, "-m", "worker", *arguments], env=kept, cwd=home, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def await_event(process: subprocess.Popen[str], event: str) -> dict[str, Any]:
    """Read what a process logs until it says so."""
    assert process.stderr is not None
    for line in process.stderr:
        if (told := json.loads(line))["event"] == event:
            return dict(told)
    raise AssertionError(f"it ended without {event}")


def test_schedulers_that_start_die_and_start_again_fire_a_night_once_and_end_cleanly(home: Path) -> None:
    with start(home, "schedule", "--every", "0.5") as first, start(home, "schedule", "--every", "0.5") as second:
        try:
            told = await_event(second, "schedule_started")
            assert "dreams that are due" in told["does"]
            assert [s.split("nightly")[0] for s in told["schedules"]] == ["local: "]
            with open_store(url(home), now=lambda: datetime.now(UTC)) as at:
                until(lambda: len(at.dreams("local")) > 0)
            first.kill()
            second.send_signal(signal.SIGTERM)
            _, err = second.communicate(timeout=DEADLINE_S)
            first.communicate(timeout=DEADLINE_S)
        finally:
            first.kill()
            second.kill()
    assert second.returncode == 0, err
    assert "Traceback" not in err
    with open_store(url(home), now=lambda: datetime.now(UTC)) as at:
        assert tick(at, datetime.now(UTC), params={}, ring=silent).fired == (), "a third one finds nothing to do"
        assert [d.cause for d in at.dreams("local")] == ["nightly"]


def test_with_a_redis_the_scheduler_answers_the_plain_list(home: Path, redis_url: str) -> None:
    import redis

    with (
        start(home, "schedule", "--every", "0.2", DREAMD_REDIS_URL=redis_url, DREAMD_QUEUE="q") as process,
        contextlib.closing(redis.Redis.from_url(redis_url)) as client,
    ):
        try:
            client.rpush("q", json.dumps({"version": 1, "request_id": "a", "scope": "acme", "reply": "r"}))
            await_event(process, "schedule_started")
            reply: Any = client.blpop("q:reply:r", DEADLINE_S)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=DEADLINE_S)
        finally:
            process.kill()
    assert json.loads(reply[1])["answer"] == "accepted"
    assert process.returncode == 0, err
    assert "Traceback" not in err


HANGING = """
import os, signal, sys, threading
from worker.stopping import stopping
with stopping(grace_s=float(sys.argv[1])) as stop:
    print("up", flush=True)
    stop.wait()
    print("asked", flush=True)
    threading.Event().wait()
"""


@pytest.mark.parametrize("signals", [1, 2])
def test_work_that_does_not_end_is_left_after_a_while_or_at_a_second_signal(signals: int) -> None:
    grace = "0.1" if signals == 1 else "1000"
    with subprocess.Popen([sys.executable, "-c", HANGING, grace], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        process.send_signal(signal.SIGTERM)
        assert process.stdout.readline() == "asked\n"
        if signals == 2:
            process.send_signal(signal.SIGTERM)
        assert process.wait(DEADLINE_S) == 0


def until(true: Callable[[], bool]) -> None:
    """Wait for something another process does, with a deadline."""
    end, pause = time.monotonic() + DEADLINE_S, threading.Event()
    while not true():
        assert time.monotonic() < end
        pause.wait(0.05)
