"""Which processes work, as they tell themselves: health is judged by what they finish, not by whether they answer."""

from __future__ import annotations

from sqlalchemy import select, update

from pipelines.store import tables as t
from pipelines.store.clock import Clocked
from pipelines.store.core import insert_new
from pipelines.store.work import Worker


class Processes(Clocked):
    """The register of processes."""

    def process_seen(self, name: str, role: str, done: int = 0, failed: int = 0, finished_ms: int | None = None) -> None:
        """A process tells that it is there, how many units it finished and how many failed since it began, and when it last finished one."""
        p = t.processes.c
        with self.writing("tell that a process works") as conn:
            told = {"role": role, "seen_ms": self.clock_ms(conn), "done": done, "failed": failed}
            conn.execute(insert_new(conn, t.processes), {"name": name, "started_at": self.now(), "finished_ms": None, **told})
            finished = p.finished_ms if finished_ms is None else finished_ms
            conn.execute(update(t.processes).where(p.name == name).values(**told, finished_ms=finished))

    def left(self, name: str) -> None:
        """A process ends in order: it is struck off."""
        with self.writing("strike a process off") as conn:
            conn.execute(t.processes.delete().where(t.processes.c.name == name))

    def workers(self, *, role: str | None = None) -> tuple[Worker, ...]:
        """The processes that are registered, by name; `sweep` strikes those off that told nothing for a week."""
        p = t.processes.c
        query = select(p.name, p.role, p.started_at, p.seen_ms, p.done, p.failed, p.finished_ms)
        with self.reading("list the processes") as conn:
            rows = conn.execute(query if role is None else query.where(p.role == role)).all()
        return tuple(Worker(**r._mapping) for r in sorted(rows, key=lambda r: r.name))
