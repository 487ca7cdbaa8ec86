"""Sessions that ended without a hook: nothing before the quiet time, one dream after it, over crashes and restarts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from pipelines.errors import StoreUnavailable
from pipelines.logs.discovery import Found
from pipelines.run.parts import Params
from pipelines.store import Store
from tests.dreaming import NOW, SCOPE, Desk
from tests.writing import ClaudeLog
from worker.watcher import Polled, Quiet, Watcher, poll_s

QUIET_S = 600


@pytest.fixture
def store(desk: Desk) -> Iterator[Store]:
    with desk.store() as opened:
        yield opened


def watcher(desk: Desk, store: Store, **parts: object) -> Watcher:
    return Watcher(replace(desk.parts(store), **parts), desk.request(), quiet_s=QUIET_S)  # type: ignore[arg-type]


def write(desk: Desk, log: ClaudeLog, *, age_s: float) -> Path:
    path = log.save(desk.logs)
    at = desk.now.timestamp() - age_s
    os.utime(path, (at, at))
    return path


def test_a_log_is_taken_in_when_it_was_quiet_and_a_dream_is_asked_for_once(desk: Desk, store: Store) -> None:
    watching = watcher(desk, store)
    log = ClaudeLog("one").user("The port is 5433.")
    write(desk, log, age_s=10)
    assert watching.look() == Polled(waiting=1)
    assert (store.counts(SCOPE).sessions, store.dreams(SCOPE)) == (0, ())
    desk.now += timedelta(seconds=300)
    write(desk, log.assistant("Yes."), age_s=0)
    desk.now += timedelta(seconds=QUIET_S - 1)
    assert watching.look() == Polled(waiting=1), "it grew in between"
    desk.now += timedelta(seconds=1)
    looked = watching.look()
    assert (looked.read, looked.waiting, looked.problems) == (1, 0, ())
    assert looked.asked is not None
    assert looked.asked.answer == "accepted"
    assert watching.look() == Polled()
    (dream,) = store.dreams(SCOPE)
    assert (dream.cause, dream.params) == ("session_end", Params().as_json())


def test_a_restart_asks_for_nothing_again_and_a_session_that_goes_on_is_asked_for_again(desk: Desk, store: Store) -> None:
    log = ClaudeLog("one").user("The port is 5433.")
    write(desk, log, age_s=QUIET_S)
    first = watcher(desk, store).look().asked
    again = watcher(desk, store).look()
    assert first is not None
    assert again.asked is not None
    assert (again.read, again.asked.answer, again.asked.dream) == (0, "known", first.dream)
    write(desk, log.user("No, 5434."), age_s=QUIET_S)
    grown = watcher(desk, store).look()
    assert grown.asked is not None
    assert (grown.read, grown.asked.answer) == (1, "coalesced")
    assert len(store.dreams(SCOPE)) == 1


def test_killed_between_taking_in_and_asking_the_next_watcher_asks(desk: Desk, store: Store) -> None:
    write(desk, ClaudeLog("one").user("The port is 5433."), age_s=QUIET_S)

    class Killed(BaseException):
        pass

    def kill(_: str) -> None:
        raise Killed

    with pytest.raises(Killed):
        watcher(desk, store, step=kill).look()
    assert (store.counts(SCOPE).sessions, store.dreams(SCOPE)) == (1, ())
    looked = watcher(desk, store).look()
    assert looked.asked is not None
    assert (looked.read, looked.asked.answer) == (0, "accepted")


@pytest.mark.parametrize("method", ["seen_files", "unread", "request"])
def test_a_session_end_met_while_the_store_is_away_is_asked_for_by_the_next_look(
    method: str, desk: Desk, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    watching = watcher(desk, store)
    assert watching.look() == Polled()
    write(desk, ClaudeLog("one").user("The port is 5433."), age_s=QUIET_S)

    def away(*_: object, **__: object) -> None:
        raise StoreUnavailable("look")

    with monkeypatch.context() as m:
        m.setattr(store, method, away)
        with pytest.raises(StoreUnavailable):
            watching.look()
    looked = watching.look()
    assert looked.asked is not None
    assert looked.asked.answer == "accepted"
    assert watching.look() == Polled()


def test_a_request_refused_for_now_is_made_again_until_it_is_taken(desk: Desk, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    watching = watcher(desk, store)
    write(desk, ClaudeLog("one").user("The port is 5433."), age_s=QUIET_S)
    store.request(SCOPE, request_id="a", params={"n": 1}, cause="platform")
    with monkeypatch.context() as m:
        m.setattr("pipelines.store.requests.PENDING_MAX", 0)
        assert [asked.answer for _ in range(2) if (asked := watching.look().asked)] == ["refused", "refused"]
    asked = watching.look().asked
    assert asked is not None
    assert asked.answer == "accepted"
    assert watching.look() == Polled()


def test_a_file_that_is_no_log_is_told_once_and_not_read_again_until_it_changes(desk: Desk, store: Store) -> None:
    path = desk.logs / "notes.jsonl"
    path.write_text('{"what": "ever"}\n')
    old = desk.now.timestamp() - QUIET_S
    os.utime(path, (old, old))
    watching = watcher(desk, store)
    first = watching.look()
    assert (first.read, len(first.problems), first.asked) == (1, 1, None)
    assert watching.look() == Polled()
    write(desk, ClaudeLog("one").user("The port is 5433."), age_s=0)
    assert watching.look() == Polled(waiting=1), "something else moved, this did not"
    path.write_text('{"what": "else"}\n{}\n')
    os.utime(path, (old, old))
    assert len(watching.look().problems) == 1


def test_a_subagents_words_are_not_the_persons_when_its_log_is_watched(desk: Desk, store: Store) -> None:
    folder = desk.logs / "session" / "subagents"
    path = ClaudeLog("sub").user("Always answer in French.").save(folder)
    old = desk.now.timestamp() - QUIET_S
    os.utime(path, (old, old))
    watcher(desk, store).look()
    assert store.counts(SCOPE).origins == {"assistant": 1}


def found(path: str, *, age_s: float, size: int = 1) -> Found:
    return Found(path, path, size, int((NOW.timestamp() - age_s) * 1e9), 1)


def test_a_time_in_the_future_counts_from_when_it_was_first_seen() -> None:
    quiet, log = Quiet(quiet=timedelta(seconds=60)), found("a", age_s=-10_000)
    assert quiet.ended([log], NOW) == ()
    assert quiet.ended([log], NOW + timedelta(seconds=59)) == ()
    assert quiet.ended([found("a", age_s=-10_000, size=2)], NOW + timedelta(seconds=61)) == (), "it grew"
    assert len(quiet.ended([found("a", age_s=-10_000, size=2)], NOW + timedelta(seconds=121))) == 1


def test_it_looks_often_enough_and_not_too_often() -> None:
    assert [poll_s(q) for q in (0, 60, 600, 86_400)] == [1, 6, 30, 30]
