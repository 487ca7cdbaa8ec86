"""Dreams that several processes share: the same pages as alone, whoever of them is killed, and never more calls in flight than are allowed."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from multiprocessing.context import SpawnContext
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from pipelines.logs.counting import TakenIn
from pipelines.logs.discovery import Found, discover
from pipelines.logs.intake import intake, intake_files
from pipelines.run import Params, Parts, dream
from pipelines.run.runner import _Crew
from pipelines.run.units import plan
from pipelines.store import Dream, DreamRunning, Store
from pipelines.store import tables as t
from tests.dreaming import HOST, SCOPE, WIKI_ID, Desk
from tests.oracle.server import serving
from tests.oracle.service import Service
from tests.paying import finds_nothing
from tests.redacting import rule_cache, shared_redactor
from tests.workers import sessions, until
from worker import wiring
from worker.hands import Busy, Crowd, helped, shares_of
from worker.settings import load

MANY, EACH = 24, 8
"""Sessions, and how many a unit has: two processes have two units at most."""
CALLS = 6


class Interrupted(Exception):
    """What ends an intake here."""


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    for name in ("DATA", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.setenv("XDG_CACHE_HOME", str(rule_cache(request)))
    monkeypatch.setattr(plan, "SESSIONS_MAX", EACH)


@contextmanager
def shared(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, processes: int | None = 2, hands_at: Mapping[str, Any] | None = None, **settings: object
) -> Iterator[Parts]:
    """Live parts over a desk, with hands; `hands_at` is what is otherwise in the place that they open."""
    for name, value in {**({"processes": processes} if processes else {}), **settings}.items():
        monkeypatch.setenv(f"DREAMD_{name.upper()}", str(value))
    loaded = load(None)
    place = wiring.Place(wiki=desk.wiki, wiki_id=WIKI_ID, store_url=desk.url, archive=desk.data / "archive", private=desk.data, host=HOST)
    with (
        wiring.open_parts(place, loaded, scope=SCOPE) as alone,
        helped(alone, replace(place, **(hands_at or {})), loaded, scope=SCOPE, params=replace(Params(), engine=loaded.engine)) as parts,
    ):
        yield parts


def taken_in(parts: Parts, desk: Desk, files: Sequence[Found]) -> tuple[TakenIn, ...]:
    """What this process alone makes of these files."""
    return intake_files(
        files, store=parts.store, scope=SCOPE, archive=parts.archive, redactor=parts.redactor, now=desk.now, readers=parts.readers, audience=""
    )  # fmt: skip


def crowd_of(parts: Parts) -> Crowd:
    assert isinstance(parts.hands, Crowd)
    return parts.hands


def readers(store: Store) -> set[str]:
    """The processes that had or have a unit that reads sessions."""
    with store.reading("look who read") as conn:
        owners = conn.scalars(select(t.jobs.c.owner).where(t.jobs.c.stage == "extract", t.jobs.c.owner.is_not(None)))
        return {owner.rpartition(":")[0] for owner in owners}


def holding(parts: Parts, true: Callable[[], bool]) -> Parts:
    """The same parts, whose first unit that reads sessions waits for something."""
    return replace(parts, step=lambda step: until(true) if step == "claimed:extract" else None)


def pid_of(holder: str) -> int:
    return int(holder.split(":")[1])


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return Path(f"/proc/{pid}/stat").exists() and Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def windows(service: Service) -> list[str]:
    """The requests that ask about sessions, by their digests."""
    return [seen.digest for seen in service.messages if "items" in seen.body["output_config"]["format"]["schema"]["properties"]]


def asking(service: Service) -> dict[str, object]:
    """Settings that have the model asked."""
    return {"engine": "claude", "claude__base_url": service.base_url, "claude__calls_at_once": CALLS, "claude__tier": "capable"}


def test_two_processes_write_what_one_writes(desks: Callable[[], Desk], monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = desks(), desks()
    for desk in (one, two):
        sessions(desk, MANY)
    one.dream()
    with shared(two, monkeypatch) as parts:
        outcome = dream(holding(parts, lambda: len(readers(parts.store)) == 2), two.request())
        with one.store() as store:
            assert (len(readers(store)), len(readers(parts.store))) == (1, 2)
    assert (outcome.report.sessions, outcome.report.status) == (MANY, "completed")
    assert two.tree() == one.tree()
    assert one.tree()


def test_two_processes_over_a_server_write_what_one_writes_over_a_file(
    desks: Callable[[], Desk], request: pytest.FixtureRequest, tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    one, two = desks(), Desk(tmp_path / "server", shared_redactor(request), url=database_url)
    for desk in (one, two):
        sessions(desk, MANY)
    one.dream()
    with shared(two, monkeypatch) as parts:
        dream(holding(parts, lambda: len(readers(parts.store)) == 2), two.request())
        assert len(readers(parts.store)) == 2
    assert two.tree() == one.tree()


def test_what_several_take_in_is_told_file_by_file_as_by_one(desks: Callable[[], Desk], monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = desks(), desks()
    for desk in (one, two):
        sessions(desk, 12)
    with one.store() as store:
        alone = one.parts(store)
        told = intake([str(one.logs)], store=store, scope=SCOPE, archive=alone.archive, redactor=alone.redactor, now=one.now).files
    with shared(two, monkeypatch, processes=3) as parts:
        assert parts.hands is not None
        files = discover([str(two.logs)]).files
        mine: list[str] = []

        def take(some: Sequence[Found]) -> tuple[TakenIn, ...]:
            until(lambda: len(crowd_of(parts).names) == 2)
            mine.extend(f.path for f in some)
            return taken_in(parts, two, some)

        found = parts.hands.take_in(SCOPE, files, take)
    assert [Path(f.path).name for f in found] == [Path(f.path).name for f in told]
    assert [(f.format, f.sessions, f.turns, f.good, f.good_bytes) for f in found] == [(f.format, f.sessions, f.turns, f.good, f.good_bytes) for f in told]
    assert 0 < len(mine) < len(files)


def test_what_a_hand_had_that_is_killed_is_done_here(desks: Callable[[], Desk], monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = desks(), desks()
    for desk in (one, two):
        sessions(desk, MANY)
    one.dream()
    killed: set[int] = set()
    with serving(finds_nothing) as service, shared(two, monkeypatch, **asking(service)) as parts:
        service.hold()

        def hand_killed() -> bool:
            for holder in readers(parts.store) - {parts.holder} if not killed else ():
                os.kill(pid_of(holder), signal.SIGKILL)
                killed.add(pid_of(holder))
                service.release()
            return bool(killed)

        outcome = dream(holding(parts, hand_killed), two.request(engine="claude"))
        assert parts.hands is not None
        assert not parts.hands.names
    assert (len(killed), outcome.report.status, outcome.report.sessions) == (1, "completed", MANY)
    assert len(set(windows(service))) == MANY
    assert service.most_at_once <= 2 * CALLS  # its calls are in flight at the provider when it dies, and ours again here
    assert two.tree() == one.tree()


def test_a_parcel_of_a_hand_that_has_stopped_is_taken_in_here(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    sessions(desk, 12)
    with shared(desk, monkeypatch) as parts:
        assert isinstance(parts.hands, Crowd)
        parts.hands.patience_s = 0.2
        files = discover([str(desk.logs)]).files
        mine: list[str] = []

        def take(some: Sequence[Found]) -> tuple[TakenIn, ...]:
            if not mine:
                parcel_handed(parts)
            mine.extend(f.path for f in some)
            return intake_files(
                some, store=parts.store, scope=SCOPE, archive=parts.archive, redactor=parts.redactor, now=desk.now, readers=parts.readers, audience=""
            )  # fmt: skip

        found = parts.hands.take_in(SCOPE, files, take)
    assert [Path(f.path).name for f in found] == [f.name for f in files]
    assert all(f.refused is None and f.good for f in found)


def parcel_handed(parts: Parts) -> None:
    """Stop a hand as soon as it has joined, and so was given something."""
    assert parts.hands is not None
    until(lambda: bool(parts.hands and parts.hands.names))
    os.kill(pid_of(next(iter(parts.hands.names))), signal.SIGSTOP)


def test_where_one_call_is_allowed_no_hand_makes_another(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    sessions(desk, MANY)
    with serving(finds_nothing) as service, shared(desk, monkeypatch, processes=3, **{**asking(service), "claude__calls_at_once": 1}) as parts:
        dream(holding(parts, lambda: bool(parts.hands and len(parts.hands.names) == 2)), desk.request(engine="claude"))
    assert (service.most_at_once, len(windows(service))) == (1, MANY)


def test_who_waits_for_its_own_hand_to_write_the_index_is_told_of_no_other_process(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sessions(desk, 2)
    busy = Busy()
    busy("/data/store.search.db")
    assert "another process" in capsys.readouterr().err
    with shared(desk, monkeypatch) as busy.parts:
        busy("/data/store.search.db")
        assert "another process" in capsys.readouterr().err, "no hand is at work yet"
        parts, files = busy.parts, discover([str(desk.logs)]).files

        def take(some: Sequence[Found]) -> tuple[TakenIn, ...]:
            until(lambda: bool(parts.hands and parts.hands.names))
            return intake_files(
                some, store=parts.store, scope=SCOPE, archive=parts.archive, redactor=parts.redactor, now=desk.now, readers=parts.readers, audience=""
            )  # fmt: skip

        assert parts.hands is not None
        parts.hands.take_in(SCOPE, files, take)
        busy("/data/store.search.db")
        assert capsys.readouterr().err == ""
        busy("/data/store.db")
        assert "another process" in capsys.readouterr().err


def test_all_of_them_together_have_no_more_calls_in_flight_than_one(desks: Callable[[], Desk], monkeypatch: pytest.MonkeyPatch) -> None:
    desk = desks()
    sessions(desk, MANY)
    with serving(finds_nothing, latency_s=0.05) as service, shared(desk, monkeypatch, **asking(service)) as parts:
        dream(holding(parts, lambda: len(readers(parts.store)) == 2), desk.request(engine="claude"))
        assert len(readers(parts.store)) == 2
        assert parts.means is not None
        assert parts.means.slots.size == CALLS
    assert (len(windows(service)), service.paid_twice) == (MANY, ())
    assert service.most_at_once <= CALLS


def test_a_dream_whose_own_process_is_killed_leaves_no_hand_behind_and_is_gone_on_with(desks: Callable[[], Desk], monkeypatch: pytest.MonkeyPatch) -> None:
    desk, whole = desks(), 140  # three units of their usual size
    sessions(desk, whole)
    command = [sys.executable, "-m", "worker", "dream", str(desk.logs), "--wiki", str(desk.wiki)]
    with serving(finds_nothing) as service:
        service.hold()
        for name, value in {"processes": 2, "database_url": desk.url, **asking(service)}.items():
            monkeypatch.setenv(f"DREAMD_{name.upper()}", str(value))
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=desk.root) as process, desk.store() as store:
            until(lambda: process.poll() is not None or len(readers(store)) == 2)
            assert process.poll() is None
            process.kill()
            process.wait()
            service.release()
            (hand,) = (holder for holder in readers(store) if pid_of(holder) != process.pid)
            until(lambda: gone(pid_of(hand)))
            (left,) = store.dreams(SCOPE)
            assert left.state == "running"
        assert subprocess.run(command, stdout=subprocess.DEVNULL, cwd=desk.root, timeout=60).returncode == 0
        with desk.store() as store:
            assert [d.state for d in store.dreams(SCOPE)] == ["completed"]
    assert len(set(windows(service))) == whole
    assert len(windows(service)) <= whole + CALLS


def test_where_no_process_can_be_started_the_dream_goes_on_alone(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def none_more(self: object) -> None:
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(SpawnContext.Process, "start", none_more)
    sessions(desk, MANY)
    with shared(desk, monkeypatch) as parts:
        assert dream(parts, desk.request()).report.sessions == MANY
        assert readers(parts.store) == {parts.holder}


def test_little_is_done_by_one_process_unless_several_are_asked_for(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def started(self: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(SpawnContext.Process, "start", started)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2})
    sessions(desk, MANY)
    with shared(desk, monkeypatch, processes=1) as parts:
        assert parts.hands is None
    monkeypatch.delenv("DREAMD_PROCESSES")
    with shared(desk, monkeypatch, processes=None) as parts:
        assert isinstance(parts.hands, Crowd)
        assert parts.hands.most == 2
        assert dream(parts, desk.request()).report.sessions == MANY


def test_ctrl_c_while_a_hand_starts_is_no_matter_of_the_hand(desk: Desk, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    with shared(desk, monkeypatch) as parts:
        crowd = crowd_of(parts)
        crowd._start(1)
        (hand,) = crowd._hands
        until(lambda: hand.process.pid is not None)
        os.kill(hand.process.pid or 0, signal.SIGINT)
        until(lambda: bool(crowd.names) or not crowd._hands)
        assert crowd.names
    assert capfd.readouterr().err == ""


def test_a_parcel_that_a_hand_cannot_take_in_is_taken_in_here(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    sessions(desk, 12)
    (desk.root / "file").write_text("")
    with shared(desk, monkeypatch, hands_at={"archive": desk.root / "file" / "archive"}) as parts:
        crowd, files = crowd_of(parts), discover([str(desk.logs)]).files
        failed = threading.Event()
        crowd_took = crowd._took

        def took(number: int, told: tuple[TakenIn, ...] | None) -> None:
            failed.set()
            crowd_took(number, told)

        monkeypatch.setattr(Crowd, "_took", lambda _, number, told: took(number, told))

        def take(some: Sequence[Found]) -> tuple[TakenIn, ...]:
            until(failed.is_set)
            return taken_in(parts, desk, some)

        told: list[TakenIn] = []
        threading.Thread(target=lambda: told.extend(crowd.take_in(SCOPE, files, take)), daemon=True).start()
        until(lambda: bool(told), 20)
    assert [(Path(f.path).name, f.refused) for f in told] == [(Path(f.path).name, None) for f in files]


def test_a_hand_that_cannot_open_the_store_is_done_without_and_says_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    sessions(desk, MANY)
    (desk.root / "file").write_text("")
    with shared(desk, monkeypatch, hands_at={"store_url": f"sqlite:///{desk.root}/file/store.db"}) as parts:
        assert dream(holding(parts, lambda: not crowd_of(parts)._hands), desk.request()).report.sessions == MANY
    assert capfd.readouterr().err == ""


def test_a_hand_that_takes_logs_in_is_not_waited_for_when_the_dream_ends(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worker.hands.END_S", 600.0)
    sessions(desk, 12)
    with shared(desk, monkeypatch) as parts, closing(sqlite3.connect(desk.data / "store.db", isolation_level=None)) as another:
        crowd = crowd_of(parts)
        another.execute("BEGIN IMMEDIATE")  # keeps every hand from writing

        def take(some: Sequence[Found]) -> tuple[TakenIn, ...]:
            until(lambda: any(hand.parcel is not None for hand in crowd._hands))
            raise Interrupted

        with pytest.raises(Interrupted):
            crowd.take_in(SCOPE, discover([str(desk.logs)]).files, take)
        threading.Thread(target=crowd.close, daemon=True).start()
        until(lambda: not crowd._hands, 20)


def test_a_hand_that_joins_while_others_are_looked_for_is_nobody_to_wait_for(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    class Joining:
        names: frozenset[str] = frozenset()

        def waiting(self, idle: bool) -> None:
            assert idle

    def at_work(store: Store, runs: Dream, *, host: str) -> list[str]:
        Joining.names = frozenset({"hand"})
        return ["hand"]

    told: list[DreamRunning] = []

    def look(step: str) -> None:
        if step == "claimed:extract":
            crew = _Crew(parts=replace(parts, hands=Joining()), scope=SCOPE, dream="", waiting=told.append, asked=lambda: False)  # type: ignore[arg-type]
            crew._wait(1)

    monkeypatch.setattr(Store, "at_work", at_work)
    sessions(desk, 1)
    with shared(desk, monkeypatch, processes=1) as parts:
        dream(replace(parts, step=look), desk.request())
    assert (Joining.names, told) == ({"hand"}, [])


@pytest.mark.parametrize("idle", [False, True])
@pytest.mark.parametrize("readers", [0, 1, 2, 3])
@pytest.mark.parametrize("slots", [1, 2, 3, 4, 16, 17])
def test_calls_are_divided_without_one_too_many_or_too_few(slots: int, readers: int, idle: bool) -> None:
    shares = shares_of(slots, readers, idle=idle)
    assert len(shares) == readers + 1
    assert min(shares) >= 1
    assert sum(shares) == max(slots, readers + 1)
    assert shares[0] == 1 or not idle or not readers
