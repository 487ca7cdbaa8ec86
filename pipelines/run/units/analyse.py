"""Analyse: the agent's own notes against what the logs say and what will be believed; findings that differ from what stands are staged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime

from pipelines.model import Claim, Status, Version, digest
from pipelines.notes.dependants import OVER
from pipelines.notes.moment import deadline_of
from pipelines.run.parts import Params
from pipelines.run.sources import standing_notes
from pipelines.run.units.bench import Bench, Ready
from pipelines.run.units.resolve import basis, since_last_applied
from pipelines.run.verdicts import Believed, assess_notes, change_of
from pipelines.store import BeliefChange, Store


def analyse(bench: Bench) -> Ready:
    """Findings of all standing online notes; those of the last dream when nothing they rest on has changed since."""
    store, scope, dream = bench.store, bench.scope, bench.job.dream
    if (same := _same_as_before(bench)) is not None:
        return Ready(result={**same, "kept": True})
    notes = standing_notes(store.online_notes(scope))
    if not notes:
        return Ready(result={"verdicts": {}})

    def begin(done: int) -> None:
        bench.parts.progress("checking notes", done, len(notes))
        bench.go_on()

    now = bench.parts.now()
    believed = believed_with(store, scope, [c for c in store.planned(dream) if isinstance(c, BeliefChange)])
    found = assess_notes(store, bench.parts.engine, scope, notes, believed, skew_s=bench.params.skew_s, now=now, begin=begin)
    stands = store.findings(scope)
    changes = [change_of(finding) for uid, finding in sorted(found.items()) if stands.get(uid) != finding]
    said = Counter(found[n.uid].verdict.value for n in notes)

    def write() -> Mapping[str, object]:
        store.stage(dream, changes, {})
        return {}

    ends = min((at for n in notes if (at := deadline_of(n)) and at > now), default=None)
    told = {"verdicts": dict(sorted(said.items())), "note_ends": ends.isoformat() if ends else None}
    return Ready(result={**told, "changes": len(changes)}, write=write)


def note_ends(told: Mapping[str, object]) -> datetime | None:
    """When the first of the notes is over that were not when they were analysed; `told` is a summary or a result of analysing."""
    at = told.get("note_ends")
    return datetime.fromisoformat(str(at)) if at else None


def analysed(engine: str, params: Params, inputs: str, revision: int) -> str:
    """What findings rest on, as one word: the engine and the rules, all that intake and people brought in, and what is believed."""
    return digest(engine, basis(params), inputs, str(revision))


def _same_as_before(bench: Bench) -> Mapping[str, object] | None:
    """What analysing told in the last dream, when this one read, resolved and received nothing and no note is over since; None when there is something to
    look at."""
    store, dream = bench.store, bench.job.dream
    read = any(told.get("sessions") for told in store.results(dream, "extract").values())
    changed = any(told.get("changes") for told in store.results(dream, "resolve").values())
    last, between = since_last_applied(store, dream)
    if read or changed or last is None or between or last.summary is None:
        return None
    ends = note_ends(last.summary)
    if ends is not None and ends <= bench.parts.now():
        return None
    inputs = str(next(iter(store.results(dream, "plan").values())).get("inputs"))
    mark = analysed(bench.parts.engine.name, bench.params, inputs, store.revision(bench.scope))
    said = last.summary.get("verdicts")
    return {"verdicts": said, "note_ends": last.summary.get("note_ends")} if isinstance(said, dict) and last.summary.get("analysed") == mark else None


def believed_with(store: Store, scope: str, changes: Sequence[BeliefChange]) -> Believed:
    """Tells what the scope will believe: what stands, with these changes in place of their notes."""
    return _Staged(store, scope, frozenset(c.note for c in changes), tuple(v for c in changes for v in c.versions))


@dataclass(frozen=True, slots=True)
class _Staged:
    """What stands, but for the notes that are `touched`, whose versions are those `staged` (`Believed`). Only notes that are asked for are read."""

    store: Store
    scope: str
    touched: frozenset[str]
    staged: tuple[Version, ...]

    def confirmed(self, claims: Sequence[Claim]) -> Mapping[str, str]:
        near = self.store.notes_resting_on(self.scope, {q.turn for c in claims for q in c.quotes})
        heads = self.store.heads(self.scope, notes=None if near is None else near - self.touched)
        return _confirmed((*self.staged, *(h.version for h in heads if h.version.note not in self.touched)))

    def over(self, notes: AbstractSet[str]) -> tuple[Version, ...]:
        taken_back = self.store.heads(self.scope, statuses=[Status.RETRACTED])
        named = self.store.heads(self.scope, notes=sorted(notes), statuses=OVER) if notes else ()
        stand = {(h.version.note, h.version.slot): h.version for h in (*taken_back, *named) if h.version.note not in self.touched}
        staged = (v for v in self.staged if v.status is Status.RETRACTED or (v.status in OVER and v.note in notes))
        return (*stand.values(), *staged)


def _confirmed(versions: Iterable[Version]) -> dict[str, str]:
    """Claims confirmed versions rest on → their note."""
    return {claim: v.note for v in versions if v.status is Status.CONFIRMED for claim in v.claims}
