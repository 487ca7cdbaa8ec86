"""A dream from start to end. Every step is a transaction or a whole file, so a crash leaves a state that the next dream goes on from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from pipelines.errors import DreamdError
from pipelines.model import Finding, OnlineNote, Status, Verdict, Version
from pipelines.report import BriefSize, DreamReport, NoteCounts, OnlineCounts, PageCounts, Records, RefusedSource
from pipelines.run.content import verdicts
from pipelines.run.journal import intake_problems, morning_report
from pipelines.run.parts import Parts, Request
from pipelines.run.publish import publishing_problems
from pipelines.run.reading import ReadSessions, read_sessions
from pipelines.run.resolving import lineage_of, of_one_lineage, resolve_dirty
from pipelines.run.sources import NOTHING, Taken, counts_of, standing_notes, take_in
from pipelines.run.unchanged import fingerprint, nothing_new
from pipelines.run.verdicts import assess_notes
from pipelines.run.versions import BELIEFS
from pipelines.run.wiki import Organized, organize, put_report
from pipelines.stages.resolver import Resolution, Verb
from pipelines.store import Applied, Dream, Store
from pipelines.wiki.journal import bloat


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A finished dream: its report, and everything the report was made of for callers that show more."""

    report: DreamReport
    taken: Taken
    read: ReadSessions
    resolutions: tuple[Resolution, ...]
    findings: Mapping[str, Finding]
    organized: Organized | None


def dream(parts: Parts, request: Request) -> Outcome:
    """Run one dream. Raises DreamRunning when another one runs over the scope, other DreamdErrors when nothing more can be done."""
    store = parts.store
    began = parts.now()
    mark = fingerprint(parts, request)
    if (same := nothing_new(parts, request, mark)) is not None:
        return Outcome(
            report=same, taken=NOTHING, read=ReadSessions(dirty=frozenset(), sessions=(), claims=0, rejected={}), resolutions=(), findings={}, organized=None
        )
    run = store.start_dream(request.scope, cause=request.cause, holder=parts.holder, params={"engine": parts.engine.name, "dry_run": request.dry_run})
    try:
        return _run(parts, request, run, began.timestamp(), mark)
    except BaseException:
        with suppress(DreamdError):  # the first trouble is the one to tell; a dream left running is taken over by the next
            store.finish_dream(run, "failed", code="interrupted")
        raise


def _run(parts: Parts, request: Request, run: Dream, began: float, mark: str) -> Outcome:
    store, scope = parts.store, request.scope
    taken = take_in(parts, request)
    inputs = store.inputs(scope)  # what others bring in from here on is the next dream's
    parts.step("taken_in")
    read = read_sessions(parts, request)
    lineage = lineage_of(store, scope)
    resolutions = resolve_dirty(parts, request, run, _dirty(store, request, read, lineage), lineage)
    touched = {r.note for r in resolutions}
    versions = (*(v for r in resolutions for v in r.versions), *(v for v in all_versions(store, scope) if v.note not in touched))
    findings = assess_notes(parts, request, run, versions)
    parts.step("staged")
    if request.dry_run:
        store.finish_dream(run, "planned")
        report = _report(parts, request, run, taken, read, resolutions, findings, None, None, began)
        return Outcome(report=report, taken=taken, read=read, resolutions=resolutions, findings=findings, organized=None)
    applied = store.apply(run, max_share=request.change_share_max)
    parts.step("applied")
    store.expire(scope, parts.now())
    parts.step("expired")
    organized = organize(parts, request)
    report = _report(parts, request, run, taken, read, resolutions, findings, applied, organized, began)
    journal = morning_report(
        store, scope, run.uid, day=parts.now().date(), content=organized.content, brief=organized.tree.brief, refused=read.rejected,
        redacted=report.redacted, problems=(*intake_problems(taken), *publishing_problems(organized.published)),
    )  # fmt: skip
    if journal:
        put_report(parts, request, *journal)
    parts.step("published")
    store.refresh_search()  # so that the first search does not wait for the index
    store.finish_dream(run, report.status, summary={**report.as_json(), "fingerprint": mark, "inputs": inputs, "beliefs": _basis(request)})
    return Outcome(report=report, taken=taken, read=read, resolutions=resolutions, findings=findings, organized=organized)


def _dirty(store: Store, request: Request, read: ReadSessions, lineage: Mapping[str, str]) -> frozenset[str]:
    """The claims whose notes are computed anew: those that reading changed, and those that count for another number of witnesses now.

    A dream that did not reach its end may have read claims it never resolved, and one with other code or settings resolved them otherwise: then it is
    all of them. Asked while this dream runs, so that none comes in between it and the one before.
    """
    before = store.dreams(request.scope, limit=2)[1:]
    if not before:
        return read.dirty
    if before[0].state == "completed" and (before[0].summary or {}).get("beliefs") == _basis(request):
        return read.dirty | of_one_lineage(store, request.scope, read.sessions, lineage)
    return read.dirty | {g.claim.uid for g in store.all_claims(request.scope)}


def _basis(request: Request) -> str:
    """What decides beliefs beside claims and rulings."""
    return f"{BELIEFS} skew {request.skew_s:g}"


def _report(
    parts: Parts, request: Request, run: Dream, taken: Taken, read: ReadSessions, resolutions: Sequence[Resolution], findings: Mapping[str, Finding],
    applied: Applied | None, organized: Organized | None, began: float,
) -> DreamReport:  # fmt: skip
    store, scope = parts.store, request.scope
    counts = store.counts(scope)
    totals = counts_of(taken.logs)
    notes = standing_notes(store.online_notes(scope))
    held = bool(applied and applied.held)
    status = "held" if held else "completed" if applied is not None else "planned"
    return DreamReport(
        dream=run.uid, scope=scope, status=status, engine=parts.engine.name, sources=counts.sources, sessions=counts.sessions, turns=counts.turns,
        origins=dict(counts.origins), lines=totals["lines"], records=Records(good=totals["good"], bad=totals["bad"], pending=totals["pending"]),
        refused=tuple(RefusedSource(path=p, why=w) for p, w in taken.problems), redacted=totals["redacted"], claims=read.claims, rejected=read.rejected,
        notes=_note_counts(store, scope, resolutions, findings), online=_online(notes, findings), pages=_pages(organized), brief=_brief(organized),
        archive={"bytes": counts.archived}, bloat=_bloat(store, scope, organized), seconds=round(parts.now().timestamp() - began, 3),
        next=_next(request, organized),
    )  # fmt: skip


def _note_counts(store: Store, scope: str, resolutions: Sequence[Resolution], findings: Mapping[str, Finding]) -> NoteCounts:
    verbs = Counter(r.verb for r in resolutions)
    standing = Counter(h.version.status for h in store.heads(scope))
    said = Counter(f.verdict for f in findings.values())
    return NoteCounts(
        added=verbs[Verb.NEW], same=verbs[Verb.SAME], extended=verbs[Verb.EXTENDS], superseded=verbs[Verb.SUPERSEDES], corrected=said[Verdict.CORRECTED],
        conflicting=standing[Status.DISPUTED], merged=verbs[Verb.MERGES] + said[Verdict.DUPLICATE], expired=standing[Status.EXPIRED],
        quarantined=standing[Status.QUARANTINED], drafts=standing[Status.DRAFT], needs_recheck=standing[Status.NEEDS_RECHECK] + said[Verdict.NEEDS_RECHECK],
    )  # fmt: skip


def _online(notes: Sequence[OnlineNote], findings: Mapping[str, Finding]) -> OnlineCounts:
    said = verdicts(notes, findings)
    shown = sum(n for v, n in said.items() if v != Verdict.NEEDS_RECHECK)
    return OnlineCounts(
        carried=shown, upheld=said["upheld"], corrected=said["corrected"], contradicted=said["contradicted"], superseded=said["superseded"],
        duplicate=said["duplicate"], unsupported=said["unsupported"], unchecked=said["unchecked"], no_log=said["no_log"],
    )  # fmt: skip


def _pages(organized: Organized | None) -> PageCounts:
    if organized is None:
        return PageCounts()
    return PageCounts(written=len(organized.published.written), unchanged=organized.published.unchanged, redirected=len(organized.tree.stubs))


def _brief(organized: Organized | None) -> BriefSize:
    if organized is None:
        return BriefSize()
    told = organized.tree.brief
    return BriefSize(lines=told.lines, bytes=told.bytes, moved=len(told.moved))


def _bloat(store: Store, scope: str, organized: Organized | None) -> float:
    if organized is None:
        return 0.0
    live = [data for path, data in organized.tree.files.items() if path in organized.tree.rendered.pages and not path.startswith("archive/")]
    return round(bloat(live, said=store.said_bytes(scope)).ratio, 3)


def _next(request: Request, organized: Organized | None) -> str:
    if organized is None:
        return f"dreamd dream {' '.join(request.paths)} --wiki {request.wiki}"
    return f"dreamd status --wiki {request.wiki}"


def all_versions(store: Store, scope: str) -> tuple[Version, ...]:
    """Every current version of the scope."""
    return tuple(h.version for h in store.heads(scope))
