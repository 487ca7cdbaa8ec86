"""What a unit is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from pipelines.errors import DreamdError, Refused, Transient
from pipelines.run.asking import Desk
from pipelines.run.parts import Params, Parts
from pipelines.store import Job, Store, Unit, host_of
from pipelines.store.work import FAILURES_MAX

WITHOUT = FAILURES_MAX - 1
"""Failures after which a unit goes on without the model: a dream does not end for want of what rules cannot do."""


class Stopping(Exception):
    """The process is asked to end: the unit is given back, and counts as nothing."""


class DeadlinePassed(Transient):
    """A unit took longer than it may; its lease is renewed no more, so another worker has it or soon will."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """The live parts, the job, what decides its dream, and who says when to stop."""

    parts: Parts
    job: Job
    params: Params
    stop: Callable[[], bool]
    _desks: list[Desk] = field(default_factory=list)

    @property
    def store(self) -> Store:
        """The store of the live parts."""
        return self.parts.store

    @property
    def scope(self) -> str:
        """The scope of the dream."""
        return self.job.scope

    @property
    def desk(self) -> Desk:
        """Where the unit's engine asks; one a unit. Raises Refused where this process has no means to ask."""
        if not self._desks:
            if (means := self.parts.means) is None:
                raise Refused(
                    f"the engine {self.parts.engine.name} asks a model, and this process has no way to reach one: see the section claude of the settings"
                )
            dream = self.job.dream.uid
            self.store.presume_lapsed(self.scope, host=host_of(self.parts.holder))  # what a dead process sent counts as paid, also when nobody asks it again
            self._desks.append(
                Desk(
                    store=self.store, means=means, scope=self.scope, dream=dream, job=self.job.id, owner=self.job.owner, batch=self.params.batch, go_on=self.go_on,
                    spare=iter(()) if self._index_is_others else _indexing(self.store, self.scope),
                    progress=self.parts.progress, limits=lambda: means.limits(dream=dream, scope=self.scope, budget_uusd=self.params.budget_uusd, now=self.parts.now()),
                )
            )  # fmt: skip
        return self._desks[0]

    @property
    def _index_is_others(self) -> bool:
        """Whether another process writes the search index: one that helps this one, or the one this one helps."""
        return self.parts.helps or bool(self.parts.hands and self.parts.hands.names)

    def asked(self) -> dict[str, object]:
        """What was asked so far, as a part of the unit's result; nothing for an engine that asks nobody."""
        return {"asked": self._desks[0].told()} if self._desks else {}

    def go_on(self) -> None:
        """Asked between steps, and before each time the engine is asked. Raises Stopping or DeadlinePassed."""
        if self.stop():
            raise Stopping
        with self.store.reading("read the clock") as conn:
            now = self.store.clock_ms(conn)
        if now >= self.job.deadline_ms:
            raise DeadlinePassed(f"{self.job.stage} {self.job.unit} of dream {self.job.dream.uid} did not end before its deadline; it is tried again")


def _indexing(store: Store, scope: str) -> Iterator[int]:
    """What the resolver will search, indexed while answers are waited for. What cannot be done now is done by whoever searches first."""
    with suppress(DreamdError):
        while taken := store.refresh_search_part(scope):
            yield taken


def nothing() -> Mapping[str, object]:
    """What a unit writes that changes nothing."""
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """A unit that is done but for the commit: its result, the units it leads to, and what is written in the same transaction.

    `write` returns what only the writing could tell, kept with the result. `ends` is the state the dream ends in with this unit; then `summary` is kept.
    """

    result: Mapping[str, object] = field(default_factory=dict)
    then: tuple[Unit, ...] = ()
    write: Callable[[], Mapping[str, object]] = nothing
    ends: str = ""
    summary: Mapping[str, object] = field(default_factory=dict)
