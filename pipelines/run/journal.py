"""The morning report of a dream, filled from what it did."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from posixpath import normpath
from urllib.parse import unquote

from pipelines.model import Finding, OnlineNote, Status, Verdict
from pipelines.report import DreamReport
from pipelines.run.parts import Parts, Request
from pipelines.run.sources import Taken, standing_notes
from pipelines.run.wiki import Organized
from pipelines.stages.resolver import Resolution, Verb
from pipelines.wiki.folder import DISPLACED
from pipelines.wiki.inbox import entries
from pipelines.wiki.journal import Corrected, Report, journal_path, report
from pipelines.wiki.publish import How


def morning_report(
    parts: Parts, request: Request, done: DreamReport, taken: Taken, resolutions: Sequence[Resolution], findings: Mapping[str, Finding], organized: Organized
) -> tuple[str, str] | None:
    """Path and text of the report of this dream, with what earlier dreams of the day reported; None when it changed nothing."""
    today = parts.now().date()
    path = journal_path(today)
    waiting = entries(organized.content)
    notes = {n.uid: n for n in standing_notes(parts.store.online_notes(request.scope))}
    fresh = {n for n in _new_findings(parts, request, done.dream)}
    text = report(
        Report(
            day=today, waiting=waiting, corrected=_corrected(notes, findings, organized, fresh), learnt=_learnt(resolutions),
            work=tuple(w.asked for w in organized.content.work if w.asked)[-3:], merged=_merged(resolutions, findings, notes, fresh), retired=_retired(resolutions),
            checked=Counter(findings[uid].verdict.value for uid in fresh if uid in findings and uid in notes), refused=done.rejected,
            left_out=organized.tree.brief.moved, problems=(*_problems(taken, organized), *dead_links(notes.values(), fresh)), redacted=done.redacted,
            drafts=done.notes.drafts if any(r.verb is Verb.NEW for r in resolutions) else 0,
        ),
        before=next((head.body for head in parts.store.page_history(request.scope, path)[-1:]), ""),
    )  # fmt: skip
    return (path, text) if text else None


def _new_findings(parts: Parts, request: Request, dream: str) -> set[str]:
    """Notes whose verdict is of this dream."""
    return {d.decision.note for d in parts.store.decisions(request.scope, dream=dream) if d.decision.stage == "analyze" and d.decision.note}


def _corrected(notes: Mapping[str, OnlineNote], findings: Mapping[str, Finding], organized: Organized, fresh: set[str]) -> tuple[Corrected, ...]:
    right = {c.uid: c.right for c in organized.content.corrections}
    out = []
    for uid, finding in sorted(findings.items()):
        note = notes.get(uid)
        if note and uid in fresh and finding.verdict in {Verdict.CORRECTED, Verdict.SUPERSEDED} and note.uid[:12] in right:
            proof = finding.quotes[0].text if finding.quotes else ""
            out.append(Corrected(old=note.text, new=right[note.uid[:12]], proof=proof, path=f"{note.folder}/{note.path}", line=note.line))
    return tuple(out)


def _learnt(resolutions: Sequence[Resolution]) -> tuple[str, ...]:
    """Sentences that are confirmed now and were not before."""
    made = (v for r in resolutions if r.verb in {Verb.NEW, Verb.SUPERSEDES, Verb.EXTENDS} for v in r.versions if v.status is Status.CONFIRMED)
    return tuple(dict.fromkeys(v.statement for v in sorted(made, key=lambda v: (v.kind, v.note, v.slot))))


def _merged(resolutions: Sequence[Resolution], findings: Mapping[str, Finding], notes: Mapping[str, OnlineNote], fresh: set[str]) -> tuple[str, ...]:
    duplicates = (uid for uid, f in findings.items() if f.verdict is Verdict.DUPLICATE and uid in fresh and uid in notes)
    repeated = (_repeated(notes[uid], notes.get(findings[uid].other or "")) for uid in sorted(duplicates, key=lambda u: (notes[u].path, notes[u].line, u)))
    return (*(r.note for r in resolutions if r.verb is Verb.MERGES), *repeated)


def _repeated(note: OnlineNote, first: OnlineNote | None) -> str:
    return f"{note.path} line {note.line}, as in {first.path}: {note.text}" if first else note.text


def _retired(resolutions: Sequence[Resolution]) -> tuple[str, ...]:
    return tuple(r.note for r in resolutions if r.verb is Verb.RETRACTS)


def dead_links(notes: Iterable[OnlineNote], fresh: set[str]) -> tuple[str, ...]:
    """Links of an index to note files that are not where they point; what lies outside the folder is not known."""
    standing = tuple(notes)
    files = {(n.folder, n.path) for n in standing}
    dead: defaultdict[str, list[str]] = defaultdict(list)
    for note in (n for n in standing if n.index and n.uid in fresh):
        for link in note.links:
            place = unquote(link.split("#")[0])
            path = normpath(PurePosixPath(note.path).parent / (place if PurePosixPath(place).suffix else f"{place}.md"))
            if place and "://" not in place and path.endswith(".md") and not path.startswith(("..", "/")) and (note.folder, path) not in files:
                dead[f"{note.folder}/{note.path}"].append(path)
    return tuple(f"{len(paths)} {'link' if len(paths) == 1 else 'links'} of {index} lead nowhere: {', '.join(paths)}" for index, paths in sorted(dead.items()))


def _problems(taken: Taken, organized: Organized) -> tuple[str, ...]:
    out = [f"{path}: {why}" for path, why in taken.problems]
    out += [f"rewritten and read anew: {path}" for path in taken.logs.rewritten]
    out += [f"left as it is: {path} ({why})" for path, why in organized.published.held]
    kept = sorted({edit.path for edit in organized.published.edits if edit.how in {How.WINDOW, How.LATE}})
    out += [f"saved by somebody while it was being written, kept below {DISPLACED}: {path}" for path in kept]
    out += [f"not ours, not touched: {path}" for path in organized.published.strangers]
    return tuple(out)
