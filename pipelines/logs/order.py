"""The order of a session's turns, computed from the session alone (systems R7).

A stated time is believed where it lies on the session's longest non-decreasing run of stated times, so one wild clock moves no other turn.
Every other turn carries the time of the turn before it. Doubt is not an order: whether a later turn *supersedes* is decided elsewhere, per pair.

A time an importer wrote on a whole history is none: a person cannot hear several answers, and answer them, in one instant.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

from pipelines.model import Basis, OrderKey, Origin, Turn

BULK_MIN: Final = 5
"""Turns of one instant from which on an exchange in it is looked at."""
ANSWERED_MIN: Final = 2
"""Times a person speaks after another voice within one instant that no exchange can have: a prompt may wait for the end of one answer."""


def order_session(turns: Sequence[Turn]) -> tuple[OrderKey, ...]:
    """One key a turn, in the order given; positions come from `ordinal`, so the order of the argument does not matter.

    The turns are those of one session (raises ValueError otherwise). Sort turns of any sessions by `OrderKey.sort`.
    """
    if len({turn.session for turn in turns}) > 1:
        raise ValueError("order_session takes the turns of one session")
    by_position = sorted(range(len(turns)), key=lambda i: (turns[i].ordinal, turns[i].uid))
    ordered = [turns[i] for i in by_position]
    bulk = _bulk_times(ordered)
    times = [None if turn.at in bulk else turn.at for turn in ordered]
    begins = next((n for n, at in enumerate(times) if at is not None), len(times)) if bulk else 0  # what was imported before may be of any age
    keys: list[OrderKey | None] = [None] * len(turns)
    for n, (i, (at, basis)) in enumerate(zip(by_position, believed_times(times), strict=True)):
        turn = turns[i]
        if n < begins:
            at = None
        basis = Basis.UNKNOWN if n < begins or turn.at in bulk else basis
        keys[i] = OrderKey(known=at is not None, at=at, session=turn.session, ordinal=turn.ordinal, uid=turn.uid, basis=basis)
    return tuple(key for key in keys if key is not None)


def timed(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """The turns of one session, in the order given, without the times an importer wrote on them."""
    bulk = _bulk_times(sorted(turns, key=lambda turn: (turn.ordinal, turn.uid)))
    return tuple(replace(turn, at=None) if turn.at in bulk else turn for turn in turns) if bulk else tuple(turns)


def _bulk_times(turns: Sequence[Turn]) -> frozenset[datetime]:
    """The instants of a session, its turns in their order, that hold an exchange nobody can have had in one.

    A time told to the minute or the day is no instant: it dates a session rightly, however many of its turns share it.
    """
    at_once: dict[datetime, list[Turn]] = defaultdict(list)
    for turn in turns:
        if turn.at is not None and (turn.at.second or turn.at.microsecond):
            at_once[turn.at].append(turn)
    return frozenset(at for at, several in at_once.items() if len(several) >= BULK_MIN and _answered(several) >= ANSWERED_MIN)


def _answered(turns: Sequence[Turn]) -> int:
    """How often a person speaks after the assistant or another person has."""
    voices = [(turn.origin, turn.speaker) for turn in turns if turn.origin in {Origin.USER, Origin.ASSISTANT}]
    return sum(before != voice and voice[0] is Origin.USER for before, voice in pairwise(voices))


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
