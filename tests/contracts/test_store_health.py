"""Health is measured over what waits and over the newest rows; each figure is made here once, on both databases."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event

from pipelines.ports import Segment
from pipelines.store import Store
from pipelines.store import tables as t
from pipelines.store.measured import spread
from tests.contracts.store_builders import DAY, SCOPE, batch, belief, claim, gated, source, turn, version
from tests.contracts.store_kinds import Clock, clock, store
from tests.contracts.work_builders import Ticks, ask, at_stage, extracting, finish_all, take, ticks

__all__ = ["clock", "store", "ticks"]  # fixtures of this suite


def test_a_new_scope_has_no_ages_and_nothing_waits(store: Store) -> None:
    store.set_schedule(SCOPE, "nightly", "0 3 * * *", "UTC")
    [of] = store.health(SCOPE).scopes
    assert (of.success_age_s, of.pending, of.due, of.unread, of.to_page, of.failed_in_row) == (None, 0, 0, 0, None, 0)
    assert of.scheduled_s == 0
    assert store.health("acme/nobody").scopes == ()


def test_requests_and_due_units_are_counted_with_the_age_of_the_oldest(store: Store, clock: Clock, ticks: Ticks) -> None:
    ask(store, "first", of=1)
    ask(store, "second", of=2)
    clock.at += timedelta(seconds=90)
    ask(store, "third", of=3)
    ticks.at += 40_000
    measured = store.health()
    [of] = measured.scopes
    assert (of.running, of.pending, of.pending_age_s, of.due, of.due_age_s) == (1, 2, 90, 1, 40)
    assert measured.due_age_s == 40
    take(store, "host:1:2:0")
    assert store.health().due_age_s is None


def test_a_process_is_measured_by_what_it_finished_and_what_it_holds(store: Store, clock: Clock, ticks: Ticks) -> None:
    store.process_seen("host:1:2", "worker", done=3, failed=1, finished_ms=ticks.at)
    ask(store, "first")
    take(store, "host:1:2:0")
    clock.at += timedelta(seconds=600)
    ticks.at += 500_000
    [process] = store.health().processes
    assert (process.role, process.done, process.failed, process.seen_age_s, process.idle_s, process.held_s) == ("worker", 3, 1, 500, 500, 500)


def test_success_and_failure_are_told_by_how_the_newest_dreams_ended(store: Store, clock: Clock) -> None:
    ask(store, "good", of=1)
    finish_all(store)
    clock.at += timedelta(hours=1)
    for n in range(2):
        store.end_dream(at_stage(store, "plan", f"bad {n}"), "failed", code="Permanent")
    [of] = store.health(SCOPE).scopes
    assert (of.success_age_s, of.failed_in_row, of.failed_code) == (3600, 2, "Permanent")


def test_the_way_from_a_request_to_its_pages_is_measured_from_the_request(store: Store, clock: Clock) -> None:
    ask(store, "slow")
    clock.at += timedelta(seconds=30)
    finish_all(store)
    [of] = store.health(SCOPE).scopes
    assert of.asked_to_page is not None
    assert (of.asked_to_page.p50_s, of.asked_to_page.p95_s, of.asked_to_page.count) == (30, 30, 1)
    assert of.to_page is None, "it read no session"


def test_the_way_from_a_session_to_its_pages_is_measured_from_its_newest_event(store: Store, clock: Clock) -> None:
    store.commit_intake(SCOPE, batch(turn("t1")))
    with store.writing("show a session") as conn:
        session = conn.execute(t.sessions.select()).one()
        row = {"scope_id": session.scope_id, "session_id": session.id, "digest": "d", "started_at": DAY, "first_at": DAY, "last_at": DAY, "folder": "",
               "work_mark": "", "work": ""}  # fmt: skip
        conn.execute(t.shown_sessions.insert(), row)
    extracting(store, "all")
    store.finish_job(take(store), result={"sessions": [session.uid]})
    clock.at = DAY + timedelta(minutes=7)
    finish_all(store)
    [of] = store.health(SCOPE).scopes
    assert of.to_page is not None
    assert of.to_page.p50_s == 420


def test_sessions_nobody_read_are_counted(store: Store, clock: Clock) -> None:
    store.commit_intake(SCOPE, batch(turn("t1")))
    assert store.health(SCOPE).scopes[0].unread == 1


def test_parked_units_and_failures_of_the_engine_are_counted(store: Store) -> None:
    extracting(store, "a", "b")
    store.park_job(take(store), "BadReply", "no JSON")
    finish_all(store)
    [of] = store.health(SCOPE).scopes
    assert (of.parked, of.engine_failures) == ({"BadReply": 1}, 1)
    ask(store, "next", of="next")
    finish_all(store)
    assert store.health(SCOPE).scopes[0].parked == {}, "only the last dream's"


def test_dreams_that_confirm_nothing_are_counted_with_what_waits(store: Store) -> None:
    for n in range(2):
        ask(store, f"r{n}", of=n)
        finish_all(store)
    [of] = store.health(SCOPE).scopes
    assert (of.unpromoted, of.eligible) == (2, 0)


def test_what_a_verification_found_is_kept(store: Store, clock: Clock) -> None:
    ask(store, "first")
    store.verified(SCOPE, citations=7, failed=2, hand="command")
    clock.at += timedelta(minutes=1)
    [of] = store.health(SCOPE).scopes
    assert (of.verify_failed, of.verify_age_s) == (2, 60)
    store.verified(SCOPE, citations=7, failed=0, hand="command")
    assert store.health(SCOPE).scopes[0].verify_failed == 0


def test_a_folder_that_shows_an_older_revision_is_behind_since_the_next_one(store: Store, clock: Clock) -> None:
    first = store.raise_revision(SCOPE, cause="test", above=0)
    store.commit_page(SCOPE, "p1", slug="a.md", title="A", body="a", rev=first, renderer="r")
    store.save_wiki(SCOPE, marker="w1", host="h", shown_rev=first)
    assert store.health(SCOPE).scopes[0].folders[0].behind_s is None
    second = store.raise_revision(SCOPE, cause="test", above=first)
    assert store.health(SCOPE).scopes[0].folders[0].behind_s is None, "no page moved"
    store.commit_page(SCOPE, "p1", slug="a.md", title="A", body="b", rev=second, renderer="r")
    clock.at += timedelta(seconds=50)
    [folder] = store.health(SCOPE).scopes[0].folders
    assert (folder.host, folder.behind_s, folder.seen_age_s) == ("h", 50, 50)


def test_letters_and_faults_are_counted_for_a_day(store: Store, clock: Clock) -> None:
    store.keep_letter("submit", "no JSON", "{")
    with store.writing("repair") as conn:
        conn.execute(t.faults.insert(), {"code": "join", "about": "d1", "recorded_at": clock.at})
    first = store.health()
    clock.at += timedelta(days=2)
    later = store.health()
    assert (first.letters, first.letters_new, first.faults) == (1, 1, {"join": 1})
    assert (later.letters, later.letters_new, later.faults) == (1, 0, {})


def test_of_many_scopes_those_where_work_waits_are_looked_at_and_the_rest_is_summed(store: Store, ticks: Ticks) -> None:
    for n in range(4):
        store.set_schedule(f"acme/{n}", "nightly", "0 3 * * *", "UTC")
    ask(store, "x", scope="acme/3")
    ticks.at += 1000
    ask(store, "y", scope="acme/2")
    measured = store.health(scopes_max=1)
    assert ([s.scope for s in measured.scopes], measured.others, measured.other_due) == (["acme/3"], 3, 1)
    assert [s.scope for s in store.health(scopes_max=3).scopes] == ["acme/0", "acme/2", "acme/3"]


def test_measuring_takes_as_many_queries_whatever_the_scope_holds(store: Store) -> None:
    """So that a scrape every few seconds costs a large scope no more than a small one."""
    counted: list[str] = []

    def note(*told: Any) -> None:
        counted.append(told[2])

    event.listen(store.engines.read, "before_cursor_execute", note)
    extracting(store, "a")
    finish_all(store)
    store.health(SCOPE)
    few = len(counted)
    extracting(store, *[f"u{n}" for n in range(50)], request_id="more")
    finish_all(store)
    store.commit_intake(SCOPE, batch(*(turn(f"t{n}") for n in range(50))))
    counted.clear()
    store.health(SCOPE)
    event.remove(store.engines.read, "before_cursor_execute", note)
    assert len(counted) == few


def test_no_query_looks_at_every_row_of_what_grows_with_a_scope(store: Store) -> None:
    """By SQLite's own words; the tables it may read whole have a row a scope, a folder, a process, or are bounded."""
    if not store.on_sqlite:
        pytest.skip("the words are SQLite's")
    asked: list[tuple[str, Any]] = []

    def note(_conn: object, _cursor: object, statement: str, parameters: Any, *_more: object) -> None:
        asked.append((statement, parameters))

    extracting(store, "a")
    finish_all(store)
    event.listen(store.engines.read, "before_cursor_execute", note)
    store.health()
    store.newest_blobs(SCOPE, 8)
    event.remove(store.engines.read, "before_cursor_execute", note)
    with store.reading("explain") as conn:
        steps = [
            str(r[3]) for statement, told in asked if statement.startswith("SELECT") for r in conn.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", told)
        ]
    whole = {step.split()[1] for step in steps if step.startswith("SCAN")}
    assert len(steps) > 20
    assert whole <= {"scopes", "wikis", "processes", "faults", "letters", "anon_1", "CONSTANT", "(subquery-1)"}


def test_percentiles_are_of_the_nearest_rank_and_never_negative() -> None:
    took = spread([float(n) for n in range(1, 21)])
    assert took is not None
    assert (took.p50_s, took.p95_s, took.count) == (10, 19, 20)
    assert spread([]) is None
    early = spread([-5.0])
    assert early is not None
    assert early.p50_s == 0


def test_a_sample_of_the_archive_is_of_what_came_last(store: Store) -> None:
    for n in range(3):
        piece = Segment(offset=0, length=9, blob=f"b{n}", raw_mac="m")
        store.commit_intake(SCOPE, batch(turn(f"t{n}"), after=source(f"log-{n}"), segments=(piece,)))
    assert store.newest_blobs(SCOPE, 2) == ("b2", "b1")
    assert store.newest_blobs("acme/nobody", 8) == ()


def test_notes_a_guard_holds_are_eligible_and_not_promoted(store: Store) -> None:
    job = at_stage(store, "resolve")
    store.stage(job.dream, [belief("n1", version())], {"n1": ()})
    store.finish_job(job)
    store.finish_job(take(store))
    store.end_dream(take(store), "held")
    [of] = store.health(SCOPE).scopes
    assert (of.held, of.unpromoted, of.eligible) == (1, 1, 1)


def test_a_claim_that_passed_and_that_no_dream_resolved_is_eligible(store: Store) -> None:
    store.commit_intake(SCOPE, batch(turn("t1")))
    store.save_reading(SCOPE, "s1", engine="local/1", digest="d1", claims=[gated(claim())])
    assert store.health(SCOPE).scopes[0].eligible == 0, "no dream has meant to resolve it yet"
    job = at_stage(store, "resolve")
    store.freeze_dirty(job.dream)
    store.end_dream(job, "failed", code="X")
    assert store.health(SCOPE).scopes[0].eligible == 1


def test_a_dream_that_confirms_a_note_ends_the_count(store: Store) -> None:
    ask(store, "quiet")
    finish_all(store)
    job = at_stage(store, "resolve", "r1")
    store.stage(job.dream, [belief("n1", version())], {"n1": ()})
    store.apply(job.dream, max_share=1)
    finish_all(store)
    store.finish_job(job)
    finish_all(store)
    assert store.health(SCOPE).scopes[0].unpromoted == 0


def test_units_of_one_stage_are_not_taken_for_another(store: Store) -> None:
    extracting(store, "a")
    store.finish_job(take(store))
    store.park_job(take(store), "X", "y")  # resolve: the dream fails with it
    [of] = store.health(SCOPE).scopes
    assert (of.engine_failures, of.failed_in_row, of.failed_code) == (0, 1, "X")
