"""Asking in rounds: all at once, then again what could not be used, then its halves, until what poisons an answer stands alone.

An answer cut off at its limit is asked for in halves; a refused or unusable one a second time first. What is left alone and still fails is given up and
named; the rest is not held up by it. Money that ran out is no fault: what was not asked is told apart.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
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


def in_rounds(groups: Sequence[Sequence[U]], job: Job[U, R], asking: Asking, aside: Iterable[object] = ()) -> tuple[tuple[Ended[U, R], ...], ...]:
    """What became of each group's units, halves in their place. Units of all groups are asked side by side; a group that money ran out for is not asked on.

    Answers are read as they come. `aside` is work of the caller's own, an element a piece, done as far as the waiting for answers leaves time for it.
    """
    spare = iter(aside)
    ended: list[list[tuple[tuple[int, ...], Ended[U, R]]]] = [[] for _ in groups]
    todo = [_Open(g, (n,), unit) for g, units in enumerate(groups) for n, unit in enumerate(units)]
    while todo:
        reading = _Reading(todo=todo, job=job, spare=spare)
        answers = asking.ask([job.ask(one.unit, one.attempt) for one in todo], reading)
        following: list[_Open[U]] = []
        for one, met in zip(todo, reading.to_the_end(answers), strict=True):
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


@dataclass(slots=True, kw_only=True)
class _Reading(Generic[U, R]):
    """Reads the answers of a round as they come, and does `spare` while there are none."""

    todo: Sequence[_Open[U]]
    job: Job[U, R]
    spare: Iterator[object]
    landed: deque[tuple[int, Answered]] = field(default_factory=deque)
    met: dict[int, Ended[U, R] | list[_Open[U]]] = field(default_factory=dict)

    def came(self, at: int, answered: Answered) -> None:
        """Note an answer."""
        self.landed.append((at, answered))

    def step(self) -> bool:
        """Read one answer that came; else do a piece of the spare work."""
        if not self.landed:
            return next(self.spare, _NOTHING) is not _NOTHING
        at, answered = self.landed.popleft()
        self.met[at] = _met(self.todo[at], answered, self.job)
        return True

    def to_the_end(self, answers: Sequence[Answered]) -> Iterator[Ended[U, R] | list[_Open[U]]]:
        """What each answer came to, in the order of the asks; what was not read yet is read now."""
        for at, (one, answered) in enumerate(zip(self.todo, answers, strict=True)):
            yield self.met[at] if at in self.met else _met(one, answered, self.job)


_NOTHING = object()


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
