"""Asking in rounds: all at once, then again what could not be used, then its halves, until what poisons an answer stands alone.

An answer cut off at its limit is asked for in halves; a refused or unusable one a second time first. What is left alone and still fails is given up and
named; the rest is not held up by it. Money that ran out is no fault: what was not asked is told apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from pipelines.engines.claude.reply import Fault
from pipelines.ports import Answered, Ask, Asking, Reply

U = TypeVar("U")
R = TypeVar("R")
ATTEMPTS = 2
"""Answers wanted to one body before it is halved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job(Generic[U, R]):
    """How one stage asks about a unit, reads the reply, and parts the unit (nothing when it cannot be parted)."""

    ask: Callable[[U, int], Ask]
    decode: Callable[[U, Reply], R | Fault]
    halves: Callable[[U], Sequence[U]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended(Generic[U, R]):
    """What became of a unit: `result`, or why there is none: a fault's name, or the reason it was not asked ("budget")."""

    unit: U
    result: R | None = None
    why: str = ""
    asked: bool = True


@dataclass(frozen=True, slots=True)
class _Open(Generic[U]):
    """A unit to be asked about: which one it is a part of, where in it, and which answer to its body is wanted."""

    group: int
    place: tuple[int, ...]
    unit: U
    attempt: int = 1


def in_rounds(groups: Sequence[Sequence[U]], job: Job[U, R], asking: Asking) -> tuple[tuple[Ended[U, R], ...], ...]:
    """What became of each group's units, halves in their place. Units of all groups are asked side by side; a group that money ran out for is not asked on."""
    ended: list[list[tuple[tuple[int, ...], Ended[U, R]]]] = [[] for _ in groups]
    todo = [_Open(g, (n,), unit) for g, units in enumerate(groups) for n, unit in enumerate(units)]
    while todo:
        answers = asking.ask([job.ask(one.unit, one.attempt) for one in todo])
        following: list[_Open[U]] = []
        for one, answered in zip(todo, answers, strict=True):
            met = _met(one, answered, job)
            if isinstance(met, Ended):
                ended[one.group].append((one.place, met))
            else:
                following += met
        poor = {g for g, ends in enumerate(ended) if any(not e.asked for _, e in ends)}
        for one in following:
            if one.group in poor:
                ended[one.group].append((one.place, Ended(unit=one.unit, why="budget", asked=False)))
        todo = [one for one in following if one.group not in poor]
    return tuple(tuple(end for _, end in sorted(ends, key=lambda e: e[0])) for ends in ended)


def _met(one: _Open[U], answered: Answered, job: Job[U, R]) -> Ended[U, R] | list[_Open[U]]:
    """The end of a unit, or what is to be asked instead."""
    if answered.reply is None:
        return Ended(unit=one.unit, why=answered.why, asked=False)
    result = job.decode(one.unit, answered.reply)
    if not isinstance(result, Fault):
        return Ended(unit=one.unit, result=result)
    parts = job.halves(one.unit) if result is Fault.TRUNCATED or one.attempt >= ATTEMPTS else ()
    if parts:
        return [_Open(one.group, (*one.place, n), part) for n, part in enumerate(parts)]
    if one.attempt < ATTEMPTS:
        return [_Open(one.group, one.place, one.unit, one.attempt + 1)]
    return Ended(unit=one.unit, why=Fault.REFUSED if result is Fault.REFUSED else Fault.UNUSABLE)
