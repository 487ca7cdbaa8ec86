"""The order of a session's turns, computed from the session alone (systems R7).

A stated time is believed where it lies on the session's longest non-decreasing run of stated times, so one wild clock moves no other turn.
Every other turn carries the time of the turn before it. Doubt is not an order: whether a later turn *supersedes* is decided elsewhere, per pair.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from datetime import datetime, timedelta

from pipelines.model import Basis, OrderKey, Turn


def order_session(turns: Sequence[Turn]) -> tuple[OrderKey, ...]:
    """One key a turn, in the order given; positions come from `ordinal`, so the order of the argument does not matter.

    The turns are those of one session (raises ValueError otherwise). Sort turns of any sessions by `OrderKey.sort`.
    """
    if len({turn.session for turn in turns}) > 1:
        raise ValueError("order_session takes the turns of one session")
    by_position = sorted(range(len(turns)), key=lambda i: (turns[i].ordinal, turns[i].uid))
    times = [turns[i].at for i in by_position]
    keys: list[OrderKey | None] = [None] * len(turns)
    for i, (at, basis) in zip(by_position, believed_times(times), strict=True):
        turn = turns[i]
        keys[i] = OrderKey(known=at is not None, at=at, session=turn.session, ordinal=turn.ordinal, uid=turn.uid, basis=basis)
    return tuple(key for key in keys if key is not None)


def believed_times(times: Sequence[datetime | None]) -> tuple[tuple[datetime | None, Basis], ...]:
    """The time each position is believed to have, and why: `stated` on the run, `carried` from the turn before, `unknown` without any."""
    run = set(longest_run(times))
    if not run:
        return tuple((None, Basis.UNKNOWN) for _ in times)
    current = times[min(run)]  # turns before the run take its first time
    believed: list[tuple[datetime | None, Basis]] = []
    for i, at in enumerate(times):
        if i in run:
            current = at
        believed.append((current, Basis.STATED if i in run else Basis.CARRIED))
    return tuple(believed)


def longest_run(times: Sequence[datetime | None]) -> tuple[int, ...]:
    """Positions of the longest non-decreasing subsequence of the stated times; ties: the shortest span, then the earliest. O(n log n).

    Level k holds the positions whose longest run *ending there* has k + 1 members. Along a level, positions rise while times fall strictly and
    (by induction over levels) the latest possible first time of such a run falls too. So the best predecessor on the level below is its
    leftmost member that is not later: it gives the latest start, which is the shortest span.
    """
    levels: list[list[int]] = []
    falling: list[list[timedelta]] = []  # per level, the negated times: rising, so bisect applies
    last: list[datetime] = []  # per level, its newest (smallest) time: rising over levels
    before: dict[int, int] = {}
    first: dict[int, datetime] = {}
    zero = next((at for at in times if at is not None), None)
    for i, at in enumerate(times):
        if at is None or zero is None:
            continue
        level = bisect_right(last, at)
        if level == len(levels):
            levels.append([])
            falling.append([])
            last.append(at)
        if level:
            before[i] = levels[level - 1][bisect_left(falling[level - 1], zero - at)]
        first[i] = first[before[i]] if level else at
        levels[level].append(i)
        falling[level].append(zero - at)
        last[level] = at
    if not levels:
        return ()
    # Times fall strictly along the top level, so (span, time) is a total order on its members.
    end = min(levels[-1], key=lambda i: (_stated(times, i) - first[i], _stated(times, i)))
    run = [end]
    while run[-1] in before:
        run.append(before[run[-1]])
    return tuple(reversed(run))


def _stated(times: Sequence[datetime | None], i: int) -> datetime:
    at = times[i]
    assert at is not None, "only stated times are put on a level"
    return at
