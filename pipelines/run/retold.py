"""Pages after retention: what is left is rendered, what showed lines that went is dropped, and the day's report says that they went."""

from __future__ import annotations

from datetime import date

from pipelines.run.journal import kept_report
from pipelines.run.parts import Parts
from pipelines.run.render import REPORTS, again_on_conflict, commit_report, covered_report, render
from pipelines.wiki.journal import without_work
from pipelines.wiki.tree import INDEX_PATH, RECENT_PATH


def retell(parts: Parts, scope: str, before: date | None) -> None:
    """Commit the pages of what is left, drop what older ones told of sessions that ended before a day, and report it. Twice is as good as once.

    Raises Conflict when others commit to the scope all the time.
    """
    render(parts, scope)
    store = parts.store
    if before is not None:
        store.drop_versions(scope, (INDEX_PATH, RECENT_PATH), heads=False)
        _cut_reports(parts, scope, before)
    day = parts.now().date()

    def report() -> None:
        told = kept_report(store, scope, day=day, **store.let_go_on(scope, day))
        if told is not None:
            path, text = told
            commit_report(store, scope, path, covered_report(parts.redactor, path, text), rev=store.revision(scope))

    again_on_conflict(report)


def _cut_reports(parts: Parts, scope: str, before: date) -> None:
    """Reports of days that tell of the work of sessions from before a day are put anew without it, with all their versions."""
    store = parts.store
    for path in sorted(path for path in store.page_digests(scope) if path.startswith(REPORTS)):
        history = store.page_history(scope, path)
        if all(without_work(head.body, before) == head.body for head in history):
            continue
        with store.together("cut a report"):
            store.drop_versions(scope, (path,), heads=True)
            commit_report(
                store, scope, path, without_work(history[-1].body, before), rev=store.raise_revision(scope, cause="retain", above=store.revision(scope))
            )
