"""Each problem is said from its limit on and not before, and names what to do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pipelines.run.health import CODES, Limits, judge, missing
from pipelines.store import Folder, Measured, ProcessHealth, ScopeHealth, duration
from worker.health_server import limits_of
from worker.settings import Settings

LIMITS = limits_of(Settings())


def one(**told: Any) -> Measured:
    return Measured(scopes=(ScopeHealth(scope="acme/web", **told),))


def process(role: str = "worker", **told: Any) -> ProcessHealth:
    fields: dict[str, Any] = {"name": "h:1:2", "role": role, "seen_age_s": 1.0, "idle_s": 1.0, "done": 4, "failed": 0, **told}
    return ProcessHealth(**fields)


def codes(measured: Measured, limits: Limits = LIMITS) -> set[str]:
    return {p.code for p in judge(measured, limits)}


BEHIND = Folder(marker="w", host="h", seen_age_s=9, behind_s=LIMITS.behind_s + 1)
LONG = LIMITS.worker_idle_s + 1
WRONG: dict[str, tuple[Measured, Measured]] = {
    "no_success": (one(success_age_s=LIMITS.success_age_s + 1, unread=3), one(success_age_s=LIMITS.success_age_s + 1)),
    "backlog": (one(pending=2, pending_age_s=LIMITS.wait_s + 1), one(pending=2, pending_age_s=LIMITS.wait_s)),
    "dreams_fail": (one(failed_in_row=1, failed_code="X"), one(success_age_s=1)),
    "parked": (one(parked={"BadReply": 2}), one(parked={})),
    "stalled": (one(unpromoted=3, eligible=5), one(unpromoted=3, eligible=0)),
    "engine_fails": (one(engine_failures=1), one(engine_failures=0)),
    "verify_failed": (one(verify_failed=1), one(verify_failed=0)),
    "not_published": (one(folders=(BEHIND,)), one(folders=(replace(BEHIND, behind_s=5.0),))),
    "no_scheduler": (one(scheduled_s=200), replace(one(scheduled_s=200), processes=(process("schedule"),))),
    "no_worker": (Measured(due_age_s=LONG), Measured(due_age_s=LONG, processes=(process(),))),
    "worker_stuck": (Measured(due_age_s=LONG, processes=(process(idle_s=LONG),)), Measured(due_age_s=None, processes=(process(idle_s=LONG),))),
    "faults": (Measured(faults={"join": 1}), Measured()),
    "letters": (Measured(letters=2, letters_new=1), Measured(letters=2)),
}


@pytest.mark.parametrize("code", sorted(CODES))
def test_a_problem_is_said_from_its_limit_on(code: str) -> None:
    bad, good = WRONG[code]
    assert code in codes(bad)
    assert code not in codes(good)


def test_who_is_missing_for_what_waits_is_told_at_once() -> None:
    scheduled, waits, asked = one(scheduled_s=1.0), one(due=1, due_age_s=1.0), one(pending=1, pending_age_s=1.0)
    assert [[p.code for p in missing(m, LIMITS)] for m in (scheduled, waits, asked, one(unread=3))] == [["no_scheduler"], ["no_worker"], ["no_worker"], []]
    assert not any(p.grave for m in (scheduled, waits) for p in missing(m, LIMITS))
    there = (process(), process("schedule"))
    assert [missing(replace(m, processes=there), LIMITS) for m in (scheduled, waits, asked)] == [()] * 3
    gone = (process(seen_age_s=LIMITS.seen_s + 1),)
    assert [p.code for p in missing(replace(waits, processes=gone), LIMITS)] == ["no_worker"]


def test_letters_are_told_and_are_no_alarm() -> None:
    assert [(p.code, p.grave) for p in judge(Measured(letters_new=1), LIMITS)] == [("letters", False)]


def test_every_problem_names_what_it_is_about_why_and_what_to_do() -> None:
    for bad, _ in WRONG.values():
        for problem in judge(bad, LIMITS):
            assert problem.code in CODES
            assert problem.about
            assert problem.why
            assert problem.what_to_do


def test_a_store_in_which_nothing_happens_is_healthy() -> None:
    assert judge(Measured(), LIMITS) == ()
    assert judge(one(), LIMITS) == ()


def test_a_worker_that_hangs_over_a_unit_is_stuck_though_nothing_else_is_due() -> None:
    assert codes(Measured(processes=(process(idle_s=LONG, held_s=LONG),))) == {"worker_stuck"}
    assert codes(Measured(processes=(process(idle_s=LONG, held_s=3.0),))) == set(), "it was idle and has just got something to do"


def test_a_worker_killed_long_ago_is_no_problem_beside_one_that_works() -> None:
    gone, there = process(name="h:0:1", seen_age_s=9_999, idle_s=9_999), process()
    assert codes(Measured(due_age_s=LONG, processes=(gone, there))) == set()
    assert codes(Measured(due_age_s=LONG, processes=(gone,))) == {"no_worker"}


def test_a_scope_that_never_dreamt_is_measured_from_when_it_should_have() -> None:
    assert "no_success" in codes(one(scheduled_s=LIMITS.success_age_s + 1))
    assert "no_success" not in codes(one(scheduled_s=60, unread=4, unread_age_s=1e9)), "old logs came in a minute ago"


def test_scopes_are_named_up_to_three() -> None:
    many = Measured(scopes=tuple(ScopeHealth(scope=f"s{n}", scheduled_s=999) for n in range(5)))
    [problem] = judge(many, LIMITS)
    assert "s0, s1, s2 and 2 more" in problem.why


@pytest.mark.parametrize(("seconds", "said"), [(90, "90 s"), (720, "12 min"), (10_800, "3 h"), (432_000, "5 days")])
def test_a_duration_is_told_in_its_largest_sensible_unit(seconds: float, said: str) -> None:
    assert duration(seconds) == said
