"""Render: the pages of what is believed now are committed with the morning report, and the dream ends."""

from __future__ import annotations

from collections.abc import Mapping

from pipelines.run.ending import ending_of, write_ending
from pipelines.run.units.bench import Bench, Ready
from pipelines.store import is_whole


def render(bench: Bench) -> Ready:
    """The last unit. Its dream is held when a part of it waits for a person, completed otherwise.

    A dream that only renders has no result of the stages before: it was asked for because notes expired, so that the next one looks at findings anew.
    """
    store, dream = bench.store, bench.job.dream
    bench.parts.progress("writing pages", 0, 0)
    applied = next(iter(store.results(dream, "apply").values()), {})
    status = "held" if applied.get("held") else "completed"
    ending = ending_of(bench.parts, dream, bench.params, status=status, expired=1 if applied.get("expired") or not is_whole(dream.params) else 0)
    store.refresh_search()  # so that the first search does not wait for the index
    bench.go_on()

    def write() -> Mapping[str, object]:
        told = write_ending(store, ending)
        bench.parts.step("pages_committed")
        return told

    return Ready(ends=status, summary=ending.summary, write=write)
