"""Extract: a batch of sessions through the engine and the gates, stored together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from pipelines.model import SessionInfo, Turn
from pipelines.run.asking_read import Read, asks, read_asking, read_without
from pipelines.run.reading import Unread, read_session, save_sessions, window_of
from pipelines.run.units.bench import WITHOUT, Bench, Ready
from pipelines.run.units.plan import sessions_of, unit_of
from pipelines.store import Job, Unit

PARKED_MAX = 100
"""Sessions named of which a part could not be read."""


def extract(bench: Bench) -> Ready:
    """Read every session of the unit. One that was forgotten meanwhile is passed over."""
    store, scope = bench.store, bench.scope
    infos = {info.uid: info for info in store.sessions(scope, [s.session for s in sessions_of(bench.job.payload)])}
    turns = store.turns_of_sessions(scope, infos)
    sessions = [s for s in sessions_of(bench.job.payload) if s.session in infos]
    read = _asking(bench, sessions, infos, turns) if asks(bench.parts.engine) else _reading(bench, sessions, infos, turns)

    def write() -> Mapping[str, object]:
        save_sessions(store, scope, read.readings)
        return {}

    return Ready(result={**_told(read), **bench.asked()}, write=write)


def _reading(bench: Bench, sessions: Sequence[Unread], infos: Mapping[str, SessionInfo], turns: Mapping[str, tuple[Turn, ...]]) -> Read:
    """One after the other: what an engine reads by itself."""
    first, of = _place(bench.job)
    readings = []
    for number, session in enumerate(sessions):
        bench.parts.progress("reading sessions", first + number, of)
        bench.go_on()
        readings.append(read_session(bench.parts.engine, infos[session.session], turns.get(session.session, ()), session, bench.params))
        bench.parts.step("session_read")
    return Read(readings=tuple(readings))


def _asking(bench: Bench, sessions: Sequence[Unread], infos: Mapping[str, SessionInfo], turns: Mapping[str, tuple[Turn, ...]]) -> Read:
    """All at once: what an engine has to ask somebody for."""
    first, of = _place(bench.job)
    bench.parts.progress("reading sessions", first, of)
    bench.go_on()
    windows = [window_of(infos[s.session], turns.get(s.session, ()), s, bench.params) for s in sessions]
    if bench.job.failures >= WITHOUT:
        return read_without(bench.parts.engine, windows, sessions, bench.params)
    return read_asking(bench.parts.engine, windows, sessions, bench.params, bench.desk)


def _told(read: Read) -> dict[str, object]:
    rejected: Counter[str] = Counter()
    for reading in read.readings:
        rejected.update(reading.rejected)
    return {
        "sessions": [r.of.session for r in read.readings], "claims": sum(len(r.claims) for r in read.readings),
        "questions": sum(len(r.questions) for r in read.readings), "rejected": dict(sorted(rejected.items())), **_told_unread(read),
    }  # fmt: skip


def _told_unread(read: Read) -> dict[str, object]:
    """What was not read: sessions by why, turns by why, and which sessions a part of could not be read; nothing where all was."""
    unread = Counter(why for _, why in read.unread)
    unread.update("partly" for r in read.readings if not r.whole)
    left: Counter[str] = Counter()
    for reading in read.readings:
        left.update({gap.why: len(gap.turns) for gap in reading.left})
    parked = [[r.of.session, gap.why, len(gap.turns)] for r in read.readings for gap in r.left if gap.why != DUMP]
    told = {"unread": dict(sorted(unread.items())), "left": dict(sorted(left.items())), "parked": parked[:PARKED_MAX]}
    return {name: value for name, value in told.items() if value}


DUMP = "dump"
"""`Left.why` of turns that were left out on purpose: they can be read again where they came from."""


def halves(job: Job) -> tuple[Unit, ...]:
    """Two units of one whose sessions cannot be read together, so that the one at fault ends up alone; none when it is alone already."""
    sessions = sessions_of(job.payload)
    first, of = _place(job)
    middle = len(sessions) // 2
    parts: tuple[tuple[Sequence[Unread], int], ...] = ((sessions[:middle], first), (sessions[middle:], first + middle))
    return tuple(unit_of(f"{job.unit}.{n}", part, first=at, of=of) for n, (part, at) in enumerate(parts)) if middle else ()


def _place(job: Job) -> tuple[int, int]:
    first, of = job.payload.get("first"), job.payload.get("of")
    return (first if isinstance(first, int) else 0, of if isinstance(of, int) else 0)
