"""The morning report of a dream, from what the store holds of it: it is written where neither the logs nor the wiki folder can be seen."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import PurePosixPath
from posixpath import normpath
from urllib.parse import unquote

from pipelines.gates import held
from pipelines.model import Finding, OnlineNote, Status, Verdict, Version
from pipelines.notes.stale import stale_numbers
from pipelines.notes.wikilinks import FileNames
from pipelines.run.evidence import Evidence, gather
from pipelines.run.following import notes_saying, words_of
from pipelines.run.held import under_quarantine
from pipelines.run.showing import Sight
from pipelines.run.sources import standing_notes
from pipelines.run.taking_back import shifted
from pipelines.run.telling import Heard, heard
from pipelines.stages.resolver import Verb
from pipelines.store import REVERT, Head, RecordedDecision, Store
from pipelines.wiki.content import Correction, Work
from pipelines.wiki.inline import Spans, join
from pipelines.wiki.journal import LINES_MAX, Corrected, Report, journal_path, report, tells, told_already, with_let_go
from pipelines.wiki.lines import day
from pipelines.wiki.recent import headline

WORK_MAX = 3


def morning_report(
    store: Store, scope: str, dream: str, *, day: date, shown: Sight, problems: Sequence[str] = (), refused: Mapping[str, int] | None = None, redacted: int = 0, drafts: int = 0, unasked: int = 0,
) -> tuple[str, str] | None:  # fmt: skip
    """Path and text of the report of an applied dream, above what earlier dreams of the day reported; None when it changed nothing.

    `shown` is of the revision it made, `problems` what intake and publishing met, `refused` counts claims by gate, `redacted` masked secrets,
    `drafts` those a person is asked about, `unasked` the others; no more of either are told than are new.
    Asked twice for one dream it says the same.
    """
    did = _Did.of(store, scope, dream)
    fresh = {uid[:12] for uid in did.fresh}
    leads = tuple(m for m in shown.brief.leads if m.uid in fresh)  # named once: they say nothing that would be missed again
    left_out = (*shown.brief.moved, *leads)[:LINES_MAX]
    changed = _changed(store, scope, did)
    out = _taken_out(store, scope, did)
    edited = {note: change for note, change in out.items() if change.new != NOTHING}
    reworded = {note for v in _retracted(store, scope, did).values() for note in notes_saying(store, scope, v.reason or "")} if edited else set()
    stale = {s.counted.note for s in stale_numbers(did.online.values())}
    new = _new_drafts(store, scope, did)
    told = Report(
        day=day, waiting=shown.queue.first, more_waiting=len(shown.queue) - len(shown.queue.first), corrected=_corrected(store, scope, did, shown.corrections, changed),
        learnt=_learnt(store, scope, did, changed.keys() | reworded), work=_work(shown.work), merged=_merged(store, scope, did),
        retired=_last_words(store, scope, did, Verb.RETRACTS, but=out), edited=tuple(edited.values()),
        checked=Counter(did.findings[uid].verdict.value for uid in did.fresh if uid in did.findings and uid in did.online), refused=refused or {},
        left_out=left_out, more_left_out=shown.brief.left + len(leads) - len(left_out), problems=(*problems, *dead_links(did.online.values(), _shown_first(did))), redacted=redacted,
        stale=len(stale) if did.fresh & stale else 0, drafts=min(drafts, new), unasked=min(unasked, new), reverted=(*_reverted(store, scope, did, dream), *(c for note, c in out.items() if note not in edited)), undo=f"dreamd revert {dream}", said_at=_said_at(store, scope, dream),
    )  # fmt: skip
    return _beside(store, scope, told)


BY_HAND = frozenset({"review", REVERT})
"""What asks for the dreams of a person's own commands."""


def _said_at(store: Store, scope: str, dream: str) -> str:
    """When a person's own command asked for the dream; "" for any other."""
    of = store.dream(scope, dream)
    return f"{of.started_at:%H:%M}" if of.cause in BY_HAND else ""


def _reverted(store: Store, scope: str, did: _Did, dream: str) -> tuple[Corrected, ...]:
    """What a revert put in the place of what."""
    if not any(d.decision.stage == REVERT for d in did.decisions):
        return ()
    return tuple(Corrected(old=old or NOTHING, new=new or NOTHING) for old, new in shifted(store, store.dream(scope, dream)))


def _retracted(store: Store, scope: str, did: _Did) -> dict[str, Version]:
    """The notes of which a person took out all in this dream, with the version that says so."""
    notes = did.notes(Verb.RETRACTS, Verb.SUPERSEDES)
    heads = [h.version for h in (store.heads(scope, notes=notes) if notes else ())]
    return {v.note: v for v in heads if v.status is Status.RETRACTED}


def _taken_out(store: Store, scope: str, did: _Did) -> dict[str, Corrected]:
    """By note, what a person took out and, of an edit, the words they put in its place."""
    out = _retracted(store, scope, did)
    before: dict[str, list[Version]] = defaultdict(list)
    for head in store.believed(scope, did.rev - 1, notes=sorted(out)) if out else ():
        before[head.version.note].append(head.version)
    said = {note: words_of(before[note]) for note in out if before[note]}
    said = {note: words for note, words in said.items() if not held(words)}
    return {n: Corrected(old=words, new=out[n].reason or "" if notes_saying(store, scope, out[n].reason or "") else NOTHING) for n, words in said.items()}


NOTHING = "(nothing)"


def trouble_report(store: Store, scope: str, *, day: date, problems: Sequence[str]) -> tuple[str, str] | None:
    """Path and text of a day's report with what came to light after it was written; None when it tells all of it."""
    before = _stands(store, scope, day)
    return _beside(store, scope, Report(day=day, problems=tuple(p for p in problems if not tells(before, p))))


def kept_report(store: Store, scope: str, *, day: date, sessions: int, turns: int) -> tuple[str, str] | None:
    """Path and text of a day's report that says how much went by retention that day; None when nothing did."""
    if not sessions:
        return None
    of = f"{sessions} {'session' if sessions == 1 else 'sessions'}"
    what = f"{turns} {'turn' if turns == 1 else 'turns'} of {of}" if turns else f"the archived lines of {of}"
    said = f"{what} (retention); nothing is believed otherwise for it."
    return journal_path(day), with_let_go(_stands(store, scope, day), day, said)


def _beside(store: Store, scope: str, told: Report) -> tuple[str, str] | None:
    """The report in place of the day's earlier ones, which stand below it; as it is when it stands there already."""
    path, before = journal_path(told.day), _stands(store, scope, told.day)
    alone = report(told)
    if alone is None:
        return None
    return path, before if told_already(alone, before) else report(told, before=before) or ""


def _stands(store: Store, scope: str, day: date) -> str:
    """The day's file as it is committed."""
    return next((head.body for head in store.page_history(scope, journal_path(day), newest=1)[-1:]), "")


# --- what a dream did --------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Did:
    """Decisions of a dream, with the online notes and their verdicts as they stand; `fresh` are the notes this dream judged anew."""

    began: datetime
    decisions: tuple[RecordedDecision, ...]
    online: Mapping[str, OnlineNote]
    findings: Mapping[str, Finding]

    @classmethod
    def of(cls, store: Store, scope: str, dream: str) -> _Did:
        online = {n.uid: n for n in standing_notes(store.online_notes(scope))}
        return cls(began=store.dream(scope, dream).started_at, decisions=store.decisions(scope, dream=dream), online=online, findings=store.findings(scope))

    @property
    def rev(self) -> int:
        """The first revision the dream made."""
        return min((d.rev for d in self.decisions), default=0)

    @property
    def fresh(self) -> frozenset[str]:
        return frozenset(d.decision.note for d in self.decisions if d.decision.stage == "analyze" and d.decision.note)

    def notes(self, *verbs: Verb) -> tuple[str, ...]:
        """Notes the resolver did one of these to."""
        wanted = {verb.value for verb in verbs}
        return tuple(sorted({d.decision.note for d in self.decisions if d.decision.stage == "resolve" and d.decision.verb in wanted and d.decision.note}))


def _corrected(
    store: Store, scope: str, did: _Did, corrections: Iterable[Correction], changed: Mapping[str, tuple[Version, Version]]
) -> tuple[Corrected, ...]:  # fmt: skip
    """Wrong lines of note files, then notes of ours that say something else now; each with the sessions that were told the old."""
    right = {c.uid: c.right for c in corrections}
    wrong = [
        note for uid in sorted(did.fresh & did.findings.keys()) if (note := did.online.get(uid)) and did.findings[uid].verdict in _WRONG and uid[:12] in right
    ]
    names = [*(note.uid[:12] for note in wrong), *(_told_as(old) for old, _ in changed.values())]
    told = heard(store, scope, names, before=did.began)
    lines = [_line(note, did.findings[note.uid], right[note.uid[:12]], told.get(note.uid[:12])) for note in wrong]
    evidence = gather(store, scope, {uid for _, new in changed.values() for uid in new.claims})
    return (*lines, *(_changed_note(old, new, evidence, told.get(_told_as(old))) for old, new in changed.values()))


_WRONG = frozenset({Verdict.CORRECTED, Verdict.SUPERSEDED})


def _line(note: OnlineNote, finding: Finding, right: str, told: Heard | None) -> Corrected:
    return Corrected(
        old=note.text, new=right, proof=finding.quotes[0].text if finding.quotes else "", path=f"{note.folder}/{note.path}", line=note.line,
        over=finding.verdict is Verdict.SUPERSEDED, told=told.sessions if told else 0, since=told.since if told else None,
    )  # fmt: skip


def _changed_note(old: Version, new: Version, evidence: Evidence, told: Heard | None) -> Corrected:
    proof = next((cite.quote for cite in reversed(evidence.cites(new.claims)) if cite.quote), "")
    before = old.statement if old.statement != new.statement else old.value or old.statement
    return Corrected(old=before, new=new.statement, proof=proof, over=True, told=told.sessions if told else 0, since=told.since if told else None)


def _told_as(version: Version) -> str:
    """How a record of deliveries names a version."""
    return f"{version.note}/{version.slot}"


def _changed(store: Store, scope: str, did: _Did) -> Mapping[str, tuple[Version, Version]]:
    """Notes whose value was replaced by this dream: what was believed before it, and what is now. A value that came and went in one dream was never told."""
    notes = did.notes(Verb.SUPERSEDES)
    if not notes:
        return {}
    before = _confirmed(store.believed(scope, did.rev - 1, notes=notes))
    now = _confirmed(store.heads(scope, notes=notes))
    pairs = {note: (before[note], now[note]) for note in sorted(before.keys() & now.keys())}
    return {note: (old, new) for note, (old, new) in pairs.items() if (old.statement, old.value) != (new.statement, new.value)}


def _confirmed(heads: Iterable[Head]) -> dict[str, Version]:
    return {h.version.note: h.version for h in heads if h.version.status is Status.CONFIRMED}


def _stamp(at: datetime | None) -> float:
    return at.timestamp() if at else 0.0


def _learnt(store: Store, scope: str, did: _Did, changed: Collection[str]) -> tuple[str, ...]:
    """Sentences that are confirmed now and were not before, but for those that are told as changes."""
    notes = [note for note in did.notes(Verb.NEW, Verb.SUPERSEDES, Verb.EXTENDS) if note not in changed]
    made = [h.version for h in (store.heads(scope, notes=notes) if notes else ()) if h.version.status is Status.CONFIRMED]
    return tuple(dict.fromkeys(v.statement for v in sorted(made, key=lambda v: (v.kind, v.note, v.slot))))


def _new_drafts(store: Store, scope: str, did: _Did) -> int:
    """How many notes the dream was the first to hear of are drafts: those that stood before are no news."""
    notes = did.notes(Verb.NEW)
    return len({h.version.note for h in (store.heads(scope, notes=notes) if notes else ()) if h.version.status is Status.DRAFT})


def _work(works: Sequence[Work]) -> tuple[Spans, ...]:
    """The newest sessions, each in one line; `recent.md` tells all of them."""
    newest = sorted(works, key=lambda w: (_stamp(w.started or w.ended), w.session), reverse=True)[:WORK_MAX]
    named = len({w.folder for w in works}) > 1
    return tuple(join(f"{day(at)} " if (at := w.started or w.ended) else "", headline(w, named=named), _commits(w)) for w in newest)


def _commits(work: Work) -> str:
    return f", {len(work.commits)} {'commit' if len(work.commits) == 1 else 'commits'}" if work.commits else ""


def _merged(store: Store, scope: str, did: _Did) -> tuple[str, ...]:
    notes = did.online
    duplicates = (uid for uid, f in did.findings.items() if f.verdict is Verdict.DUPLICATE and uid in did.fresh and uid in notes)
    repeated = (_repeated(notes[uid], notes.get(did.findings[uid].other or "")) for uid in sorted(duplicates, key=lambda u: (notes[u].path, notes[u].line, u)))
    return (*_last_words(store, scope, did, Verb.MERGES), *repeated)


def _last_words(store: Store, scope: str, did: _Did, *verbs: Verb, but: Collection[str] = ()) -> tuple[str, ...]:
    """What notes that are none any more said before; words under quarantine stand in no file."""
    notes = [note for note in did.notes(*verbs) if note not in but]
    said = (h.version for h in (store.believed(scope, did.rev - 1, notes=notes) if notes else ()))
    return tuple(dict.fromkeys(v.statement for v in said if v.status is not Status.QUARANTINED and not held(v.statement)))


def _repeated(note: OnlineNote, first: OnlineNote | None) -> str:
    return f"{note.path} line {note.line}, as in {first.path}: {note.text}" if first else note.text


def _shown_first(did: _Did) -> Collection[str]:
    """The lines of note files that were new to the dream, and are not under quarantine."""
    fresh = [did.online[uid] for uid in did.fresh if uid in did.online]
    return {n.uid for n in fresh} - under_quarantine(fresh, did.findings).keys()


def dead_links(notes: Iterable[OnlineNote], fresh: Collection[str]) -> tuple[str, ...]:
    """Links of an index to note files that are not where they point; what lies outside the folder is not known."""
    standing = tuple(notes)
    files = {(n.folder, n.path) for n in standing}
    names = {folder: FileNames(n for n in standing if n.folder == folder) for folder in {n.folder for n in standing if n.index and n.uid in fresh}}
    dead: defaultdict[str, list[str]] = defaultdict(list)
    for note in (n for n in standing if n.index and n.uid in fresh):
        for link in note.links:
            place = unquote(link.split("#")[0])
            path = normpath(PurePosixPath(note.path).parent / (place if PurePosixPath(place).suffix else f"{place}.md"))
            if not place or "://" in place or not path.endswith(".md") or path.startswith(("..", "/")):
                continue
            if (note.folder, path) not in files and not names[note.folder].files(place):
                dead[f"{note.folder}/{note.path}"].append(path)
    return tuple(f"{len(paths)} {'link' if len(paths) == 1 else 'links'} of {index} lead nowhere: {', '.join(paths)}" for index, paths in sorted(dead.items()))
