"""R7: the order is a function of content; checked against a brute-force reading of the rule."""

from datetime import UTC, datetime, timedelta
from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

from pipelines.logs.order import longest_run, order_session
from pipelines.model import Basis, Origin, Place, Role, Turn

START = datetime(2026, 1, 1, tzinfo=UTC)
times = st.lists(st.none() | st.integers(0, 12).map(lambda m: START + timedelta(minutes=m)), max_size=9)


def session(name: str, given_times: list[datetime | None]) -> list[Turn]:
    return [
        Turn(
            uid=f"{name}{i}", snap="x", session=name, ordinal=i, role=Role.USER, origin=Origin.USER, text="t",
            place=Place(line=i + 1, offset=i, length=1), at=at,
        )
        for i, at in enumerate(given_times)
    ]  # fmt: skip


def by_brute_force(given_times: list[datetime | None]) -> list[datetime]:
    """The times of the run the rule names: longest, then shortest span, then earliest."""
    stated = [at for at in given_times if at is not None]
    for size in range(len(stated), 0, -1):
        runs = [run for run in combinations(stated, size) if all(a <= b for a, b in pairwise(run))]
        if runs:
            least = min((run[-1] - run[0], run[0]) for run in runs)
            return next(list(run) for run in runs if (run[-1] - run[0], run[0]) == least)
    return []


@given(times)
def test_the_believed_run_is_the_longest_the_shortest_and_the_earliest(given_times: list[datetime | None]) -> None:
    run = longest_run(given_times)
    found = [given_times[i] for i in run]
    expected = by_brute_force(given_times)
    assert list(run) == sorted(set(run))
    assert all(a is not None and b is not None and a <= b for a, b in pairwise(found))
    assert len(found) == len(expected)
    if expected:
        assert (found[0], found[-1]) == (expected[0], expected[-1])


@given(times, st.randoms(use_true_random=False))
def test_no_order_of_arrival_changes_a_key(given_times: list[datetime | None], rng: object) -> None:
    turns = session("s", given_times)
    shuffled = list(turns)
    rng.shuffle(shuffled)  # type: ignore[attr-defined]
    assert {k.uid: k for k in order_session(shuffled)} == {k.uid: k for k in order_session(turns)}


@given(times, times)
def test_the_merged_order_of_two_sessions_keeps_each_sessions_own_keys(one: list[datetime | None], two: list[datetime | None]) -> None:
    keys = [*order_session(session("a", one)), *order_session(session("b", two))]
    merged = sorted(keys, key=lambda k: k.sort)
    assert len({k.sort for k in keys}) == len(keys), "the order is total: no two turns are equal"
    for name, alone in (("a", one), ("b", two)):
        assert [k for k in merged if k.session == name] == list(order_session(session(name, alone))), "a session keeps its own sequence"


@given(
    st.lists(st.integers(0, 5), min_size=3, max_size=8),
    st.data(),
    st.sampled_from([datetime(1970, 1, 1, tzinfo=UTC), datetime(2099, 1, 1, tzinfo=UTC)]),
)
def test_one_wild_clock_moves_no_other_turn(steps: list[int], data: st.DataObject, wild: datetime) -> None:
    clock, at = [], START
    for step in steps:
        at += timedelta(minutes=step)
        clock.append(at)
    where = data.draw(st.integers(0, len(clock) - 1))
    broken: list[datetime | None] = [wild if i == where else at for i, at in enumerate(clock)]
    for i, key in enumerate(order_session(session("s", broken))):
        if i != where:
            assert (key.at, key.basis) == (clock[i], Basis.STATED)
