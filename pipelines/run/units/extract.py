"""Extract: a batch of sessions through the engine and the gates, stored together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from pipelines.run.reading import SessionReading, Unread, read_session, save_sessions
from pipelines.run.units.bench import Bench, Ready
from pipelines.run.units.plan import sessions_of, unit_of
from pipelines.store import Job, Unit


def extract(bench: Bench) -> Ready:
    """Read every session of the unit. One that was forgotten meanwhile is passed over."""
    store, scope = bench.store, bench.scope
    sessions = sessions_of(bench.job.payload)
    first, of = _place(bench.job)
    infos = {info.uid: info for info in store.sessions(scope, [s.session for s in sessions])}
    turns = store.turns_of_sessions(scope, infos)
    readings = []
    for number, session in enumerate(s for s in sessions if s.session in infos):
        bench.parts.progress("reading sessions", first + number, of)
        bench.go_on()
        readings.append(read_session(bench.parts.engine, infos[session.session], turns.get(session.session, ()), session, bench.params))
        bench.parts.step("session_read")

    def write() -> Mapping[str, object]:
        save_sessions(store, scope, readings)
        return {}

    return Ready(result=_told(readings), write=write)


def _told(readings: Sequence[SessionReading]) -> dict[str, object]:
    rejected: Counter[str] = Counter()
    for reading in readings:
        rejected.update(reading.rejected)
    return {
        "sessions": [r.of.session for r in readings], "claims": sum(len(r.claims) for r in readings), "questions": sum(len(r.questions) for r in readings),
        "rejected": dict(sorted(rejected.items())),
    }  # fmt: skip


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
