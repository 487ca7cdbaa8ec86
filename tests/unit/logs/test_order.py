from datetime import UTC, datetime, timedelta

import pytest

from pipelines.logs.order import longest_run, order_session
from pipelines.model import Basis, Origin, Place, Role, Turn

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
WILD = datetime(2099, 1, 1, tzinfo=UTC)


def turn(ordinal: int, at: datetime | None, session: str = "s") -> Turn:
    place = Place(line=ordinal + 1, offset=ordinal * 10, length=10)
    return Turn(uid=f"u{ordinal}", snap="x", session=session, ordinal=ordinal, role=Role.USER, origin=Origin.USER, text="t", place=place, at=at)


def minutes(*given: float | None) -> list[datetime | None]:
    return [None if m is None else NOON + timedelta(minutes=m) for m in given]


def believed(*given: float | None) -> list[tuple[float | None, Basis]]:
    keys = order_session([turn(i, at) for i, at in enumerate(minutes(*given))])
    return [(None if k.at is None else (k.at - NOON).total_seconds() / 60, k.basis) for k in keys]


def test_times_that_rise_are_all_believed() -> None:
    assert believed(0, 1, 1, 5) == [(0, Basis.STATED), (1, Basis.STATED), (1, Basis.STATED), (5, Basis.STATED)]


def test_a_turn_without_a_time_carries_the_one_before() -> None:
    assert believed(0, None, 3, None) == [(0, Basis.STATED), (0, Basis.CARRIED), (3, Basis.STATED), (3, Basis.CARRIED)]


def test_turns_before_the_first_stated_time_take_it() -> None:
    assert believed(None, None, 7) == [(7, Basis.CARRIED), (7, Basis.CARRIED), (7, Basis.STATED)]


def test_a_session_without_times_is_unknown_and_sorts_first() -> None:
    keys = order_session([turn(0, None, "b"), turn(1, None, "b")])
    assert [(k.at, k.basis, k.known) for k in keys] == [(None, Basis.UNKNOWN, False)] * 2
    (dated,) = order_session([turn(0, NOON, "a")])
    assert keys[1].sort < dated.sort


def test_a_clock_gone_wild_in_the_middle_is_not_believed_and_moves_nobody() -> None:
    keys = order_session([turn(0, NOON), turn(1, WILD), turn(2, NOON + timedelta(minutes=1))])
    assert [k.at for k in keys] == [NOON, NOON, NOON + timedelta(minutes=1)]
    assert [k.basis for k in keys] == [Basis.STATED, Basis.CARRIED, Basis.STATED]


def test_of_equally_long_runs_the_shortest_span_is_believed() -> None:
    # 0,90 · 0,10 · 5,10 · 5,90 ... are all of length two: 5,10 spans least
    assert longest_run(minutes(90, 0, 100, 5, 10)) == (1, 3, 4)
    assert longest_run(minutes(0, 90, 5, 10, 2)) == (0, 2, 3)
    assert longest_run(minutes(50, 90, 0, 30)) == (2, 3)


def test_of_equally_long_and_short_runs_the_earliest_is_believed() -> None:
    assert longest_run(minutes(60, 70, 0, 10)) == (2, 3)
    assert longest_run(minutes(9, 3, 1)) == (2,)


def test_turns_are_placed_by_ordinal_not_by_the_order_they_are_given_in() -> None:
    turns = [turn(i, at) for i, at in enumerate(minutes(0, 99, 1, None))]
    assert sorted(order_session(turns[::-1]), key=lambda k: k.ordinal) == list(order_session(turns))
    assert [k.ordinal for k in order_session(turns[::-1])] == [3, 2, 1, 0]


def test_turns_of_two_sessions_are_refused() -> None:
    with pytest.raises(ValueError, match="one session"):
        order_session([turn(0, NOON, "a"), turn(1, NOON, "b")])


def test_no_turns_give_no_keys() -> None:
    assert order_session([]) == ()
