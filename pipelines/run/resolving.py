"""Third part: what the changed claims do to beliefs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from pipelines.logs.lineage import roots_of
from pipelines.model import Ruling, Witnessed
from pipelines.notes.identity import group_key, identity_of, linked, merged_with
from pipelines.run.reading import witnesses
from pipelines.stages.resolver import Resolution, Verb, resolve
from pipelines.store import BeliefChange, Decision, GatedClaim, Head, Store

REFS_MAX = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """What is to be believed of every note concerned: the changes, and the head tokens each note was planned against."""

    resolutions: tuple[Resolution, ...]
    changes: tuple[BeliefChange, ...]
    reads: Mapping[str, tuple[int, ...]]


def resolve_dirty(store: Store, scope: str, dirty: frozenset[str], lineage: Mapping[str, str], *, skew_s: float, intake_at: datetime) -> Resolved:
    """Recompute every note the dirty claims touch; what differs from what stands is a change."""
    rulings = store.rulings(scope)
    current = witnesses(store, scope, store.claims_of(scope, dirty), lineage)
    left = _departed(store, scope, dirty - {w.uid for w in current}, lineage)
    merged = _merged(store, scope, (*current, *left), rulings, lineage)
    claims = linked((*current, *left, *merged), lambda blocks: witnesses(store, scope, store.claims_in_blocks(scope, blocks), lineage))
    # A note is named after one of its claims, so every note concerned is the identity of a claim that is here or has left.
    notes = {identity_of(scope, w.claim).uid for w in claims}
    gone = {w.uid for w in left}
    stands = _by_note(store.heads(scope, notes=sorted(notes)))
    claims = tuple(w for w in claims if w.uid not in gone)
    versions = {note: [h.version for h in heads] for note, heads in stands.items()}
    resolutions = resolve(scope, claims, rulings, versions, skew_s=skew_s, intake_at=intake_at)
    changes = tuple(_change(r) for r in resolutions if r.verb is not Verb.SAME)
    return Resolved(resolutions=resolutions, changes=changes, reads={r.note: tuple(h.token for h in stands.get(r.note, ())) for r in resolutions})


def _merged(store: Store, scope: str, seeds: Sequence[Witnessed], rulings: Sequence[Ruling], lineage: Mapping[str, str]) -> tuple[Witnessed, ...]:
    """Claims of the notes a person merged with the seeds': nothing in their words ties them together."""
    notes = {identity_of(scope, w.claim).uid for w in seeds}
    tied = merged_with(notes, rulings) - notes
    uids = {c for head in store.heads(scope, notes=sorted(tied)) for c in head.version.claims} if tied else set()
    return witnesses(store, scope, store.claims_of(scope, uids), lineage)


def _departed(store: Store, scope: str, uids: frozenset[str], lineage: Mapping[str, str]) -> tuple[Witnessed, ...]:
    """Claims no reading holds any more: what they were linked with has to be decided anew."""
    held = (GatedClaim(claim=claim, results=(), group=group_key(claim)) for claim in store.claims(scope, uids).values())
    return witnesses(store, scope, held, lineage)


def lineage_of(store: Store, scope: str) -> Mapping[str, str]:
    """The root of every session of the scope: copies, forks and resumes are one witness."""
    return roots_of(store.kin(scope), parents={info.uid: info.parent for info in store.sessions(scope)})


def of_one_lineage(store: Store, scope: str, sessions: Sequence[str], lineage: Mapping[str, str]) -> frozenset[str]:
    """Claims of all sessions that share a root with one of these: a log may show that two which were witnesses each are one."""
    size = Counter(lineage.values())
    shared = {root for s in sessions if size[root := lineage.get(s, s)] > 1}
    return store.quoting(scope, store.turns_in(scope, [s for s, root in lineage.items() if root in shared])) if shared else frozenset()


def _by_note(heads: Iterable[Head]) -> dict[str, list[Head]]:
    out: defaultdict[str, list[Head]] = defaultdict(list)
    for head in heads:
        out[head.version.note].append(head)
    return dict(out)


def _change(resolution: Resolution) -> BeliefChange:
    decision = Decision(stage="resolve", verb=resolution.verb.value, reason=resolution.why[:200], refs=resolution.claims[:REFS_MAX], note=resolution.note)
    return BeliefChange(note=resolution.note, versions=resolution.versions, decisions=(decision,))
