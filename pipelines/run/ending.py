"""How a dream ends: what is believed now is rendered, committed with the morning report, and kept with what the next dream has to know of this one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pipelines.report import BriefSize, DreamReport, PageCounts
from pipelines.run.journal import morning_report
from pipelines.run.parts import Params, Parts
from pipelines.run.render import commit, commit_report, covered_report, is_new, rendered
from pipelines.run.report import brought_for, not_read, report_of, verdicts_of
from pipelines.run.showing import Sight
from pipelines.run.unasked import asked_apart
from pipelines.run.units.analyse import analysed
from pipelines.run.units.resolve import basis
from pipelines.store import Dream, Store
from pipelines.wiki.journal import Bloat


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """A dream whose beliefs are applied, rendered and told; nothing of this is committed yet. `settled`: no note expired with it."""

    dream: Dream
    engine: str
    params: Params
    made: Sight
    report: tuple[str, str] | None
    summary: Mapping[str, object]
    settled: bool


def ending_of(parts: Parts, dream: Dream, params: Params, *, status: str, expired: int) -> Ending:
    """Render the present revision and tell of the dream that made it."""
    store, scope, engine = parts.store, dream.scope, parts.engine.name
    made = rendered(parts, scope)
    done = report_of(
        store, dream, engine=engine, status=status, now=parts.now(), pages=_pages(store, scope, made), brief=_brief(made), bloat=_bloat(store, scope, made)
    )  # fmt: skip
    done = replace(done, notes=asked_apart(store, scope, done.notes, made.queue))
    report = morning_report(
        store, scope, dream.uid, day=parts.now().date(), shown=made, problems=_problems(store, dream, done), refused=done.rejected,
        redacted=done.redacted, drafts=done.notes.drafts, unasked=done.notes.unasked,
    )  # fmt: skip
    if report is not None:
        path, text = report
        report = path, covered_report(parts.redactor, path, text)
    kept = {
        "fingerprint": brought_for(dream).mark, "inputs": inputs_of(store, dream), "beliefs": basis(params), "verdicts": dict(verdicts_of(store, dream)),
        "note_ends": _note_ends(store, dream), "wrong": _wrong(made), "waiting": len(made.queue),
    }  # fmt: skip
    return Ending(dream=dream, engine=engine, params=params, made=made, report=report, summary={**done.as_json(), **kept}, settled=not expired)


def write_ending(store: Store, ending: Ending) -> Mapping[str, object]:
    """Commit the pages and the report, within the transaction that ends the dream; returns what belongs to its summary."""
    scope = ending.dream.scope
    revision = commit(store, scope, ending.made)
    if ending.report is not None:
        revision = commit_report(store, scope, *ending.report, rev=revision)
    mark = analysed(ending.engine, ending.params, str(ending.summary["inputs"]), revision) if ending.settled else ""
    return {"revision": revision, "analysed": mark}


def inputs_of(store: Store, dream: Dream) -> str:
    """What had been brought into the scope when this dream was planned; empty for one that read nothing."""
    return str(next(iter(store.results(dream, "plan").values()), {}).get("inputs", ""))


def _note_ends(store: Store, dream: Dream) -> str | None:
    """When the first note is over that was not when this dream analysed them; see `analyse.note_ends`."""
    ends = (told.get("note_ends") for told in store.results(dream, "analyse").values())
    return min((str(at) for at in ends if at), default=None)


def _problems(store: Store, dream: Dream, done: DreamReport) -> tuple[str, ...]:
    """What a person should know of the sources and of what was left unread."""
    refused = (f"{source.path}: {source.why}" for source in done.refused)
    return (*refused, *(f"rewritten and read anew: {path}" for path in brought_for(dream).rewritten), *not_read(store, dream))


def _pages(store: Store, scope: str, made: Sight) -> PageCounts:
    """Pages whose words change with this revision, those that stay, and paths that only lead on."""
    heads = store.page_marks(scope, [f.uid for f in made.files])
    written = sum(is_new(f, heads.get(f.uid)) for f in made.files)
    left = {heads[f.uid].slug for f in made.files if f.uid in heads and heads[f.uid].slug != f.path}
    leads = (store.redirects(scope).keys() | left) - {f.path for f in made.files}
    return PageCounts(written=written, unchanged=made.pages - written, redirected=len(leads))


def _brief(made: Sight) -> BriefSize:
    return BriefSize(lines=made.brief.lines, bytes=made.brief.bytes, moved=made.brief.left)


def _bloat(store: Store, scope: str, made: Sight) -> float:
    """Pages by what was said; 0 where what was said is no longer kept, and nobody can tell."""
    if store.retained_counts(scope)["turns"]:
        return 0.0
    return round(Bloat(made.live_bytes, made.said_bytes).ratio, 3)


def _wrong(made: Sight) -> dict[str, int]:
    """Wrong lines that still stand in note files, by file."""
    wrong = [c.path for c in made.corrections if not c.fixed]
    return {path: wrong.count(path) for path in sorted(set(wrong))}
