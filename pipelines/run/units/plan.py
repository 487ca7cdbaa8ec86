"""Plan: freeze what this dream reads, and cut it into units. What comes in from here on is the next dream's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import cast

from pipelines.errors import Permanent, Transient
from pipelines.ports import Engine
from pipelines.run.asking_batch import Batches, takes_batches, tend
from pipelines.run.asking_read import asks
from pipelines.run.reading import Unread, unread_sessions
from pipelines.run.units.bench import Bench, Ready
from pipelines.store import Unit, host_of

SESSIONS_MAX = 64
"""Of one unit: they are stored in one transaction, which has to be short."""
TURNS_MAX = 4_000
"""Of one unit of several sessions; a longer session is a unit by itself."""


def plan(bench: Bench) -> Ready:
    """Units of the sessions this dream's engine has not read, in order of uid."""
    store, scope = bench.store, bench.scope
    _look_after_batches(bench)
    inputs = store.inputs(scope)  # before the sessions: what comes in between makes the next dream look again
    unread = unread_sessions(store, scope, bench.parts.engine.name, bench.params)
    at = 0
    units = []
    for number, part in enumerate(batches(unread, sessions_max=sessions_a_unit(bench.parts.engine))):
        units.append(unit_of(f"{number:06}", part, first=at, of=len(unread)))
        at += len(part)
    return Ready(result={"inputs": inputs, "sessions": len(unread), "turns": sum(u.turns for u in unread)}, then=tuple(units))


def _look_after_batches(bench: Bench) -> None:
    """See to batches whose dreams have ended: what they answered is paid for. What keeps that from being done now does not keep this dream."""
    means = bench.parts.means
    if means is None or not takes_batches(means.messages) or not asks(bench.parts.engine):
        return
    with suppress(Transient, Permanent):
        tend(bench.store, cast(Batches, means.messages), host=host_of(bench.parts.holder))


def sessions_a_unit(engine: Engine) -> int:
    """How many sessions an engine wants to be given as one unit: one that waits for an answer a session may want fewer."""
    wanted: object = getattr(engine, "sessions_a_unit", SESSIONS_MAX)
    return max(1, min(SESSIONS_MAX, wanted)) if isinstance(wanted, int) else SESSIONS_MAX


def batches(sessions: Iterable[Unread], *, sessions_max: int, turns_max: int = TURNS_MAX) -> Iterator[tuple[Unread, ...]]:
    """Sessions in their order, as many together as both bounds allow; at least one."""
    part: list[Unread] = []
    turns = 0
    for session in sessions:
        if part and (len(part) == sessions_max or turns + session.turns > turns_max):
            yield tuple(part)
            part, turns = [], 0
        part.append(session)
        turns += session.turns
    if part:
        yield tuple(part)


def unit_of(name: str, sessions: Sequence[Unread], *, first: int, of: int) -> Unit:
    """A unit of these sessions; `first` and `of` say where in the dream they stand. One alone is named after its session, so that a person is told which."""
    called = f"session {sessions[0].session}" if len(sessions) == 1 else name
    return Unit(called, {"first": first, "of": of, "sessions": [[s.session, s.digest, s.trusted, s.turns] for s in sessions]})


def sessions_of(told: Mapping[str, object]) -> tuple[Unread, ...]:
    """A unit's sessions. Raises Permanent when the unit is not one of this version."""
    rows = told.get("sessions")
    if not isinstance(rows, list) or not all(isinstance(r, list) and len(r) == 4 for r in rows):
        raise Permanent("a unit to extract names no sessions: request the dream again")
    return tuple(Unread(session=str(uid), digest=str(mark), trusted=bool(trusted), turns=int(turns)) for uid, mark, trusted, turns in rows)
