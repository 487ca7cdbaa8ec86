"""What a unit is made of and how long one that failed is left alone: pure rules."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.errors import Permanent
from pipelines.run.parts import Params, params_of
from pipelines.run.reading import Unread
from pipelines.run.units.extract import halves
from pipelines.run.units.plan import batches, sessions_of, unit_of
from pipelines.run.work import BACK_OFF_MAX_S, BACK_OFF_S, back_off_s
from pipelines.store import Dream, Job

DREAM = Dream(
    uid="d", scope="s", state="running", cause="test", params={}, holder="", input_rev=0, applied_rev=None, code="", summary=None,
    started_at=datetime(2026, 1, 1, tzinfo=UTC), ended_at=None,
)  # fmt: skip
sessions = st.lists(st.builds(Unread, session=st.uuids().map(str), digest=st.just("x"), trusted=st.booleans(), turns=st.integers(0, 300)), max_size=40)


def job(found: list[Unread], *, failures: int = 0, number: int = 1) -> Job:
    unit = unit_of("000000", found, first=3, of=99)
    return Job(id=number, scope="s", dream=DREAM, stage="extract", unit=unit.unit, payload=unit.payload, fence=1, owner="o", claims=1, failures=failures,
               deadline_ms=0)  # fmt: skip


@given(sessions, st.integers(1, 8), st.integers(1, 500))
def test_batches_keep_every_session_in_order_and_both_bounds(found: list[Unread], sessions_max: int, turns_max: int) -> None:
    made = list(batches(found, sessions_max=sessions_max, turns_max=turns_max))
    assert [s for part in made for s in part] == found
    assert all(1 <= len(part) <= sessions_max for part in made)
    assert all(len(part) == 1 or sum(s.turns for s in part) <= turns_max for part in made)


@given(sessions.filter(bool))
def test_halves_hold_the_same_sessions_and_end_with_each_alone(found: list[Unread]) -> None:
    cut = halves(job(found))
    assert bool(cut) == (len(found) > 1)
    if cut:
        assert [s for unit in cut for s in sessions_of(unit.payload)] == found
        assert len({unit.unit for unit in cut}) == len(cut)


def test_a_unit_of_one_session_is_named_after_it() -> None:
    (one,) = batches([Unread(session="s1", digest="x", trusted=False, turns=1)], sessions_max=4)
    assert unit_of("000007", one, first=0, of=1).unit == "session s1"


@given(st.integers(0, 60), st.integers(1, 2**40))
def test_a_unit_that_fails_is_left_alone_longer_each_time_up_to_a_limit(failures: int, number: int) -> None:
    found = [Unread(session="s1", digest="x", trusted=False, turns=1)]
    wait = back_off_s(job(found, failures=failures, number=number))
    least = min(BACK_OFF_MAX_S, BACK_OFF_S * 2.0**failures)
    assert least <= wait <= 1.25 * least


def test_params_come_back_as_they_were_stored_and_leave_open_what_was_not_said() -> None:
    given_ = Params(since=datetime(2026, 3, 1, tzinfo=UTC), dry_run=True, trusted=frozenset({"ci"}), skew_s=7, change_share_max=1.0)
    assert params_of(given_.as_json(), Params()) == given_
    ours = Params(skew_s=3)
    assert params_of({}, ours) == ours
    assert params_of({"dry_run": True, "of a later version": 1}, ours) == replace(ours, dry_run=True)


@pytest.mark.parametrize(
    "told", [{"skew_s": "much"}, {"since": "soon"}, {"since": 3}, {"trusted": "ci"}, {"trusted": [1]}, {"dry_run": 1}, {"engine": None, "skew_s": True}]
)
def test_params_of_another_shape_are_refused(told: dict[str, object]) -> None:
    with pytest.raises(Permanent):
        params_of(told, Params())
