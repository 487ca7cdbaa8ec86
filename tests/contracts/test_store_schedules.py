"""What every database behind the store promises of schedules, what waits, what expires and letters."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest

from pipelines.model import Origin
from pipelines.store import Delivery, Store, Waiting
from tests.contracts.store_builders import DAY, SCOPE, batch, online, turn
from tests.contracts.store_kinds import Clock, Killed, clock, killed_at, store
from tests.contracts.test_store_dreams import dream_of
from tests.contracts.work_builders import finish_all

__all__ = ["clock", "store"]  # fixtures of this suite

TEXT, ZONE = "0 3 * * *", "Europe/Berlin"


def causes(store: Store, scope: str = SCOPE) -> list[str]:
    return [d.cause for d in store.dreams(scope)]


def test_a_slot_fires_once_whoever_asks(store: Store) -> None:
    read = store.set_schedule(SCOPE, "nightly", TEXT, ZONE, {"dry_run": True})
    assert store.schedules() == store.schedules(SCOPE) == (read,)
    asked = store.fire(read, "2026-11-04", "due", params={})
    assert asked is not None
    assert (asked.answer, asked.state) == ("accepted", "running")
    assert store.fire(read, "2026-11-04", "due", params={}) is None, "the other replica read the schedule before"
    (after,) = store.schedules(SCOPE)
    assert (after.last_slot, after.since) == ("2026-11-04", DAY)
    assert store.fire(after, "2026-11-03", "due", params={}) is None
    (dream,) = store.dreams(SCOPE)
    assert (dream.cause, dream.slot, dream.params) == ("nightly", "nightly 2026-11-04", {"dry_run": True})
    assert store.slots(SCOPE, "nightly") == (("2026-11-04", "due"),)


def test_an_edit_between_reading_and_firing_wins_and_an_edit_after_it_fires_nothing_again(store: Store) -> None:
    read = store.set_schedule(SCOPE, "nightly", TEXT, ZONE)
    edited = store.set_schedule(SCOPE, "nightly", "0 4 * * *", ZONE)
    assert store.fire(read, "2026-11-04", "due", params={}) is None
    assert causes(store) == []
    assert store.fire(edited, "2026-11-04", "due", params={}) is not None
    again = store.set_schedule(SCOPE, "nightly", TEXT, "Asia/Tokyo")
    assert (again.last_slot, again.since) == ("2026-11-04", DAY)
    assert store.fire(again, "2026-11-04", "due", params={}) is None
    assert len(causes(store)) == 1


def test_a_schedule_taken_off_and_set_again_owes_nothing_and_does_not_fire_its_slots_again(store: Store, clock: Clock) -> None:
    read = store.set_schedule(SCOPE, "nightly", TEXT, ZONE)
    store.fire(read, "2026-11-04", "due", params={})
    assert store.drop_schedule(SCOPE, "nightly")
    assert not store.drop_schedule(SCOPE, "nightly")
    assert store.schedules() == ()
    assert store.fire(read, "2026-11-05", "due", params={}) is None
    clock.at += timedelta(days=3)
    back = store.set_schedule(SCOPE, "nightly", TEXT, ZONE)
    assert (back.since, back.last_slot) == (clock.at, "2026-11-04")


def test_firing_is_all_or_nothing_wherever_it_is_killed(store: Store) -> None:
    read = store.set_schedule(SCOPE, "nightly", TEXT, ZONE)
    for statement in range(100):
        try:
            with killed_at(store.engines.write, statement):
                store.fire(read, "2026-11-04", "due", params={})
            break
        except Killed:
            assert causes(store) == []
            assert store.slots(SCOPE, "nightly") == ()
            assert store.schedules(SCOPE) == (read,)
    assert statement > 5
    assert causes(store) == ["nightly"]


def test_of_many_schedulers_at_one_slot_one_fires(store: Store) -> None:
    read = store.set_schedule(SCOPE, "nightly", TEXT, ZONE)
    at_once, said = threading.Barrier(6), []

    def scheduler() -> None:
        at_once.wait(30)
        said.append(store.fire(read, "2026-11-04", "due", params={}))

    threads = [threading.Thread(target=scheduler) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(x is None for x in said) == [False, *[True] * 5]
    assert causes(store) == ["nightly"]


def test_a_slot_whose_request_is_refused_is_still_owed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    read = store.set_schedule(SCOPE, "interval", "6h", "UTC")
    store.request(SCOPE, request_id="a", params={"n": 1}, cause="platform")
    with monkeypatch.context() as m:
        m.setattr("pipelines.store.requests.PENDING_MAX", 0)
        refused = store.fire(read, "2026-11-03T12:00:00Z", "due", params={})
    assert refused is not None
    assert refused.answer == "refused"
    assert store.schedules(SCOPE) == (read,)
    accepted = store.fire(read, "2026-11-03T12:00:00Z", "due", params={})
    assert accepted is not None
    assert (accepted.answer, accepted.state) == ("accepted", "pending")


def test_a_schedule_a_wrong_clock_sent_into_the_future_comes_back_and_it_is_told(store: Store, clock: Clock) -> None:
    read = store.set_schedule(SCOPE, "nightly", TEXT, ZONE)
    for slot in ("2026-11-04", "2040-01-01"):
        store.fire(read, slot, "due", params={})
        (read,) = store.schedules(SCOPE)
    back = store.reset_schedule(read, newest="2026-11-05")
    assert back.last_slot == "2026-11-04"
    assert store.schedules(SCOPE) == (back,)
    with store.reading("look at the faults") as conn:
        assert [tuple(r) for r in conn.exec_driver_sql("SELECT code, about FROM faults")] == [("slot_in_future", f"nightly of {SCOPE}: 2040-01-01")]
    clock.at -= timedelta(days=1)
    early = store.reset_schedule(back, newest="2026-11-03")
    assert (early.last_slot, early.since) == (None, clock.at)


# --- what waits --------------------------------------------------------------------------------------------------------------------------


def test_what_waits_is_what_the_person_and_the_agent_said_since_the_last_dream(store: Store, clock: Clock) -> None:
    assert store.waiting(SCOPE) == Waiting(sessions=0, turns=0, notes=0, deliveries=0)
    said = [turn(f"t{n}", f"words {n}", ordinal=n, origin=Origin.USER if n % 2 else Origin.TOOL) for n in range(6)]
    store.commit_intake(SCOPE, batch(*said))
    store.save_online_notes(SCOPE, "mem", [online("o1")])
    store.record_delivery(SCOPE, Delivery(session="s1", door="hook", target="brief", rev=0, versions=(), at=DAY))
    assert store.waiting(SCOPE) == Waiting(sessions=1, turns=3, notes=1, deliveries=1)
    assert store.waiting(SCOPE).importance == 6
    store.save_reading(SCOPE, "s1", engine="local", digest=store.session_digest(SCOPE)["s1"], claims=())
    clock.at += timedelta(hours=1)
    dream_of(store, "n1")
    assert store.waiting(SCOPE).turns == 0
    clock.at += timedelta(hours=1)
    grown = turn("t9", "later words", ordinal=90)
    store.commit_intake(SCOPE, batch(grown, expected=(0, 1000), after=None))
    store.record_delivery(SCOPE, Delivery(session="s2", door="hook", target="brief", rev=1, versions=(), at=clock.at))
    assert store.waiting(SCOPE) == Waiting(sessions=1, turns=1, notes=0, deliveries=1), "of a session read before only what is new counts"


# --- what is over ------------------------------------------------------------------------------------------------------------------------


def test_what_expired_leaves_as_one_revision_with_one_request_for_its_pages(store: Store) -> None:
    over = DAY + timedelta(days=1)
    dream_of(store, "n1", "n2", valid_until=over)
    assert store.expiring(DAY) == ()
    assert store.expire_and_render(SCOPE, DAY) is None
    assert store.expiring(over) == (SCOPE,)
    for statement in range(100):
        try:
            with killed_at(store.engines.write, statement):
                asked = store.expire_and_render(SCOPE, over)
            break
        except Killed:
            assert (store.revision(SCOPE), causes(store)) == (1, ["hand"])
    assert asked is not None
    assert asked.answer == "accepted"
    assert [(d.cause, d.params) for d in store.dreams(SCOPE, limit=1)] == [("expiry", {"only": "render"})]
    assert store.revision(SCOPE) == 2
    assert store.expiring(over) == ()
    assert store.expire_and_render(SCOPE, over) is None


def test_a_dream_for_what_expired_is_one_unit_and_hides_nothing_that_waits(store: Store, clock: Clock) -> None:
    dream_of(store, "n1", valid_until=DAY + timedelta(hours=1))
    store.commit_intake(SCOPE, batch(turn("t9", "later words", origin=Origin.USER)))
    clock.at += timedelta(hours=2)
    waited, healthy = store.waiting(SCOPE), store.health(SCOPE).scopes[0].success_age_s
    asked = store.expire_and_render(SCOPE, clock.at)
    assert asked is not None
    assert finish_all(store) == ["render all"]
    assert (store.dream(SCOPE, str(asked.dream)).state, store.waiting(SCOPE)) == ("completed", waited)
    assert store.health(SCOPE).scopes[0].success_age_s == healthy, "pages without a note are no memory consolidated"


# --- letters -----------------------------------------------------------------------------------------------------------------------------


def test_a_letter_is_kept_once_as_it_came(store: Store) -> None:
    for body in ('{"version": 2}', "\0 \ud800 端口", '{"version": 2}'):
        store.keep_letter("submit", "version: should be 1", body)
    assert [(x.door, x.body) for x in store.letters()] == [("submit", "\ufffd \ufffd 端口"), ("submit", '{"version": 2}')]


def test_of_very_many_letters_the_newest_are_kept(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.store.letters.KEPT_MAX", 3)
    for n in range(5):
        store.keep_letter("submit", "version: should be 1", str(n))
    assert [x.body for x in store.letters()] == ["4", "3", "2"]
