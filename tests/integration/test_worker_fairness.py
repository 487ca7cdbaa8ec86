"""Ten thousand waiting sessions of one scope delay another's single one by at most two job lengths."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from pipelines.run import work as work_module
from pipelines.run.parts import Parts
from pipelines.run.units.bench import Bench, Ready
from pipelines.store import Store, Unit
from tests.contracts.store_kinds import clock, store
from tests.contracts.work_builders import ask, take
from worker.bell import silent
from worker.crew import Crew

__all__ = ["clock", "store"]  # fixtures of this suite

MANY = 10_000


@dataclass
class Work:
    """Does each unit at once, and remembers whose it was."""

    did: list[tuple[str, str]] = field(default_factory=list)

    def __call__(self, bench: Bench) -> Ready:
        self.did.append((bench.scope, bench.job.stage))
        return Ready(ends="completed") if bench.job.stage == "render" else Ready()


def test_every_unit_of_the_one_waits_for_at_most_two_of_the_many(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    work = Work()
    for stage in work_module.HANDLERS:
        monkeypatch.setitem(work_module.HANDLERS, stage, work)  # type: ignore[arg-type]
    parts = Parts(store=store, archive=None, redactor=None, engine=None, readers=(), now=store.now, holder="here:1:1")  # type: ignore[arg-type]
    crew = Crew(engines={"local": parts}, default="local", ring=silent, stop=lambda: False, threads=1)
    ask(store, "many", "crowd/many")
    store.finish_job(take(store, scope="crowd/many"), then=[Unit(f"session {n:05}") for n in range(MANY)])
    for _ in range(5):
        assert crew.one()
    asked_after = len(work.did)
    dream = ask(store, "one", "quiet/ana")
    while store.dream("quiet/ana", dream).state != "completed":
        assert crew.one()
    after = [scope for scope, _ in work.did[asked_after:]]
    places = [n for n, scope in enumerate(after) if scope == "quiet/ana"]
    assert len(places) == 5
    assert all(later - before <= 2 for before, later in zip([-1, *places], places, strict=False)), after
