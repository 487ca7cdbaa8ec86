"""What a person's decision did: the notes that say something else for it, theirs and the others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pipelines.model import Finding, Status, Version
from pipelines.run.sources import standing_notes
from pipelines.run.taking_back import LIVE, revisions_of, says
from pipelines.store import BeliefChange, Dream, Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Follows:
    """What a note said and says; empty words: nothing is believed of it."""

    note: str
    old: str
    new: str


def follows(store: Store, dream: Dream) -> tuple[Follows, ...]:
    """What a dream changed of what notes say, ours and then the lines of the person's own files, by id; nothing for one that was not applied."""
    revisions = revisions_of(store, dream)
    if not revisions:
        return ()
    return (*_ours(store, dream.scope, revisions), *_lines(store, dream.scope, min(revisions) - 1))


def would_follow(store: Store, dream: Dream) -> tuple[Follows, ...]:
    """What our notes would say otherwise if a dream that is planned or held were applied now, by id."""
    wanted = {c.note: c.versions for c in store.planned(dream) if isinstance(c, BeliefChange)}
    stands: defaultdict[str, list[Version]] = defaultdict(list)
    for head in store.heads(dream.scope, notes=sorted(wanted)) if wanted else ():
        stands[head.version.note].append(head.version)
    said = (Follows(note=note, old=says(stands[note]), new=says(wanted[note])) for note in sorted(wanted))
    return tuple(s for s in said if s.old != s.new)


def _ours(store: Store, scope: str, revisions: Sequence[int]) -> tuple[Follows, ...]:
    moved = sorted({head.version.note for part in store.moved(scope, revisions) for head in part})
    before, now = ([h.version for h in heads] for heads in (store.believed(scope, min(revisions) - 1, notes=moved), store.heads(scope, notes=moved)))
    said = (Follows(note=note, old=says(v for v in before if v.note == note), new=says(v for v in now if v.note == note)) for note in moved)
    return tuple(s for s in said if s.old != s.new)


def _lines(store: Store, scope: str, rev: int) -> tuple[Follows, ...]:
    """Lines of the person's own files with another verdict than at a revision."""
    before, now = store.findings(scope, rev=rev), store.findings(scope)
    notes = {n.uid: n for n in standing_notes(store.online_notes(scope))}
    lines = (
        Follows(note=uid[:12], old=_stood(notes[uid].text, before[uid]), new=_stood(notes[uid].text, now[uid]))
        for uid in sorted(before.keys() & now.keys() & notes.keys())
    )
    return tuple(line for line in lines if line.old != line.new)


def _stood(text: str, finding: Finding) -> str:
    word = finding.verdict.value.replace("_", " ")
    return f"{text} ({word}: {finding.corrected})" if finding.corrected else f"{text} ({word})"


def words_of(versions: Iterable[Version]) -> str:
    """The statement that stands for a note: of what holds the best, else of what is over the newest."""
    rank = {status: n for n, status in enumerate(LIVE)}
    return min(
        versions, key=lambda v: (rank.get(v.status, len(rank)), -(v.newest_evidence.timestamp() if v.newest_evidence else 0.0), v.slot)
    ).statement  # fmt: skip


def notes_saying(store: Store, scope: str, said: str, *, status: Status | None = None) -> tuple[str, ...]:
    """The notes that rest on a sentence the person told the memory in these words, new ones and those it is one more witness of; all, or those of a status."""
    heads = [h.version for h in store.heads(scope) if status in (None, h.version.status)]
    claims = store.claims(scope, {uid for v in heads for uid in v.claims})
    turns = store.turns(scope, {q.turn for c in claims.values() for q in c.quotes})
    mine = {uid for uid, c in claims.items() if any(q.turn in turns and turns[q.turn].memory and turns[q.turn].text.strip() == said for q in c.quotes)}
    return tuple(sorted({v.note for v in heads if mine & set(v.claims)}))
