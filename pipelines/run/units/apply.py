"""Apply: one short transaction that moves beliefs to what was staged, when the guard and all that was read still hold."""

from __future__ import annotations

from collections.abc import Mapping

from pipelines.run.report import report_of
from pipelines.run.units.bench import Bench, Ready


def apply(bench: Bench) -> Ready:
    """Believe what is staged, and expire what has run out. A dry run ends here, with everything staged kept. Conflict means to plan again."""
    store, scope, dream = bench.store, bench.scope, bench.job.dream
    if bench.params.dry_run:
        report = report_of(store, dream, engine=bench.parts.engine.name, status="planned", now=bench.parts.now())
        return Ready(ends="planned", summary=report.as_json())

    def write() -> Mapping[str, object]:
        applied = store.apply(dream, max_share=bench.params.change_share_max)
        bench.parts.step("applied")
        expired = store.expire(scope, bench.parts.now())
        bench.parts.step("expired")
        return {"revision": applied.revision, "inserted": applied.inserted, "held": len(applied.held), "expired": len(expired)}

    return Ready(write=write)
