"""The morning report of a dream, from what the store holds of it: it is written where neither the logs nor the wiki folder can be seen."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import PurePosixPath
from posixpath import normpath
from urllib.parse import unquote

from pipelines.model import Finding, OnlineNote, Status, Verdict
from pipelines.run.showing import Sight
from pipelines.run.sources import standing_notes
from pipelines.stages.resolver import Verb
from pipelines.store import RecordedDecision, Store
from pipelines.wiki.content import Correction
from pipelines.wiki.journal import LINES_MAX, Corrected, Report, journal_path, report, tells, told_already


def morning_report(
    store: Store, scope: str, dream: str, *, day: date, shown: Sight, problems: Sequence[str] = (), refused: Mapping[str, int] | None = None, redacted: int = 0, drafts: int = 0,
) -> tuple[str, str] | None:  # fmt: skip
    """Path and text of the report of an applied dream, above what earlier dreams of the day reported; None when it changed nothing.

    `shown` is of the revision it made, `problems` what intake and publishing met, `refused` counts claims by gate, `redacted` masked secrets,
    `drafts` those that stand.
    Asked twice for one dream it says the same.
    """
    did = _Did.of(store, scope, dream)
    left_out = shown.brief.moved[:LINES_MAX]
    told = Report(
        day=day, waiting=shown.queue.first, more_waiting=len(shown.queue) - len(shown.queue.first), corrected=_corrected(did, shown.corrections), learnt=_learnt(store, scope, did),
        work=tuple(w.asked for w in shown.work if w.asked)[-3:], merged=_merged(did), retired=did.notes(Verb.RETRACTS),
        checked=Counter(did.findings[uid].verdict.value for uid in did.fresh if uid in did.findings and uid in did.online), refused=refused or {},
        left_out=left_out, more_left_out=shown.brief.left - len(left_out), problems=(*problems, *dead_links(did.online.values(), did.fresh)), redacted=redacted,
        drafts=drafts if did.notes(Verb.NEW) else 0,
    )  # fmt: skip
    return _beside(store, scope, told)


def trouble_report(store: Store, scope: str, *, day: date, problems: Sequence[str]) -> tuple[str, str] | None:
    """Path and text of a day's report with what came to light after it was written; None when it tells all of it."""
    before = _stands(store, scope, day)
    return _beside(store, scope, Report(day=day, problems=tuple(p for p in problems if not tells(before, p))))


def _beside(store: Store, scope: str, told: Report) -> tuple[str, str] | None:
    """The report in place of the day's earlier ones, which stand below it; as it is when it stands there already."""
    path, before = journal_path(told.day), _stands(store, scope, told.day)
    alone = report(told)
    if alone is None:
        return None
    return path, before if told_already(alone, before) else report(told, before=before) or ""


def _stands(store: Store, scope: str, day: date) -> str:
    """The day's file as it is committed."""
    return next((head.body for head in store.page_history(scope, journal_path(day))[-1:]), "")


# --- what a dream did --------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Did:
    """Decisions of a dream, with the online notes and their verdicts as they stand; `fresh` are the notes this dream judged anew."""

    decisions: tuple[RecordedDecision, ...]
    online: Mapping[str, OnlineNote]
    findings: Mapping[str, Finding]

    @classmethod
    def of(cls, store: Store, scope: str, dream: str) -> _Did:
        online = {n.uid: n for n in standing_notes(store.online_notes(scope))}
        return cls(decisions=store.decisions(scope, dream=dream), online=online, findings=store.findings(scope))

    @property
    def fresh(self) -> frozenset[str]:
        return frozenset(d.decision.note for d in self.decisions if d.decision.stage == "analyze" and d.decision.note)

    def notes(self, *verbs: Verb) -> tuple[str, ...]:
        """Notes the resolver did one of these to."""
        wanted = {verb.value for verb in verbs}
        return tuple(sorted({d.decision.note for d in self.decisions if d.decision.stage == "resolve" and d.decision.verb in wanted and d.decision.note}))


def _corrected(did: _Did, corrections: Iterable[Correction]) -> tuple[Corrected, ...]:
    right = {c.uid: c.right for c in corrections}
    out = []
    for uid, finding in sorted(did.findings.items()):
        note = did.online.get(uid)
        if note and uid in did.fresh and finding.verdict in {Verdict.CORRECTED, Verdict.SUPERSEDED} and note.uid[:12] in right:
            proof = finding.quotes[0].text if finding.quotes else ""
            over = finding.verdict is Verdict.SUPERSEDED
            out.append(Corrected(old=note.text, new=right[note.uid[:12]], proof=proof, path=f"{note.folder}/{note.path}", line=note.line, over=over))
    return tuple(out)


def _learnt(store: Store, scope: str, did: _Did) -> tuple[str, ...]:
    """Sentences that are confirmed now and were not before."""
    notes = did.notes(Verb.NEW, Verb.SUPERSEDES, Verb.EXTENDS)
    made = [h.version for h in (store.heads(scope, notes=notes) if notes else ()) if h.version.status is Status.CONFIRMED]
    return tuple(dict.fromkeys(v.statement for v in sorted(made, key=lambda v: (v.kind, v.note, v.slot))))


def _merged(did: _Did) -> tuple[str, ...]:
    notes = did.online
    duplicates = (uid for uid, f in did.findings.items() if f.verdict is Verdict.DUPLICATE and uid in did.fresh and uid in notes)
    repeated = (_repeated(notes[uid], notes.get(did.findings[uid].other or "")) for uid in sorted(duplicates, key=lambda u: (notes[u].path, notes[u].line, u)))
    return (*did.notes(Verb.MERGES), *repeated)


def _repeated(note: OnlineNote, first: OnlineNote | None) -> str:
    return f"{note.path} line {note.line}, as in {first.path}: {note.text}" if first else note.text


def dead_links(notes: Iterable[OnlineNote], fresh: Collection[str]) -> tuple[str, ...]:
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
