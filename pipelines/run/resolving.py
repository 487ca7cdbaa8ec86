"""Third part: what the changed claims do to beliefs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime

from pipelines.logs.lineage import roots_of
from pipelines.model import Kind, Quote, Relation, Ruling, Standing, Status, Version, Witnessed
from pipelines.notes.bounds import bound_keys
from pipelines.notes.dependants import OVER, cited_by, is_named, leans, moved_keys
from pipelines.notes.ending import ENDED, TAKES_BACK, end_keys, ends, is_ending, takes_back
from pipelines.notes.identity import Relations, group_key, identity_of, linked, merged_with
from pipelines.notes.relate import subject_key
from pipelines.run.reading import witnesses
from pipelines.stages.resolver import Beside, Pieces, Resolution, Verb, resolve
from pipelines.store import BeliefChange, ClaimRelation, Decision, GatedClaim, Head, Store

REFS_MAX = 50
RELATE = "relate"
"""Stage of the decision that holds a verdict of this dream on two claims, its `refs`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """What is to be believed of every note concerned: the changes, and the head tokens each note was planned against.

    `fresh` are the claims that made it necessary, `claims` all it was decided by.
    """

    resolutions: tuple[Resolution, ...]
    changes: tuple[BeliefChange, ...]
    reads: Mapping[str, tuple[int, ...]]
    fresh: tuple[Witnessed, ...] = ()
    claims: tuple[Witnessed, ...] = ()


def resolve_dirty(
    store: Store, scope: str, dirty: frozenset[str], lineage: Mapping[str, str], *, skew_s: float, intake_at: datetime, engine: str = "",
    verdicts: Sequence[ClaimRelation] = (), rulings: Sequence[Ruling] = (),
) -> Resolved:  # fmt: skip
    """Recompute every note the dirty claims touch; what differs from what stands is a change.

    `verdicts` on pairs of claims, and `rulings`, count beside those that are recorded; of two engines' verdicts on one pair the one of `engine` counts.
    """
    rulings = (*store.rulings(scope), *rulings)
    insights = insights_on(store, scope, dirty)
    current = witnesses(store, scope, store.claims_of(scope, dirty | insights), lineage)
    left = _departed(store, scope, dirty - {w.uid for w in current}, lineage)
    current += tied_to(store, scope, (*current, *left), lineage)
    desk = _Desk(store, scope, lineage, engine, tuple(verdicts), rulings, skew_s, intake_at)
    while True:  # what leans on a note that fell, or stands again, is decided with it; that brings down no other
        resolved, moved = desk.decided(current, left)
        leaning = desk.leaning_on(moved, resolved.claims)
        if not leaning:
            return replace(resolved, fresh=tuple(w for w in current if w.uid in dirty))
        current += leaning


@dataclass(frozen=True, slots=True)
class _Desk:
    """What the notes that some claims touch are decided with."""

    store: Store
    scope: str
    lineage: Mapping[str, str]
    engine: str
    verdicts: tuple[ClaimRelation, ...]
    rulings: tuple[Ruling, ...]
    skew_s: float
    intake_at: datetime

    def decided(self, current: Sequence[Witnessed], left: Sequence[Witnessed]) -> tuple[Resolved, frozenset[str]]:
        """What is to be believed of every note of these claims, and the keys of what leans on those that fell or stand again."""
        store, scope = self.store, self.scope
        merged = _merged(store, scope, (*current, *left), self.rulings, self.lineage)
        claims, relations = _linked(store, scope, (*current, *left, *merged), self.lineage, self.engine, self.verdicts)
        # A note is named after one of its claims, so every note concerned is the identity of a claim that is here or has left.
        notes = {identity_of(scope, w.claim).uid for w in claims}
        gone = {w.uid for w in left}
        stands = _by_note(store.heads(scope, notes=sorted(notes)))
        claims = tuple(w for w in claims if w.uid not in gone)
        versions = {note: [h.version for h in heads] for note, heads in stands.items()}
        pieces, shown = pieces_of(store, scope, claims), shown_beside(store, scope, claims, self.lineage)
        beside = Beside(pieces=pieces, shown=shown, fallen=fallen_beside(store, scope, claims, notes))
        told = (*claims, *endings_beside(store, scope, claims, self.lineage))
        found = resolve(scope, told, self.rulings, versions, skew_s=self.skew_s, intake_at=self.intake_at, relations=relations, beside=beside)
        changes = tuple(_change(r, self.verdicts) for r in found if r.verb is not Verb.SAME)
        reads = {r.note: tuple(h.token for h in stands.get(r.note, ())) for r in found}
        moved = moved_keys((v for several in versions.values() for v in several), (v for r in found for v in r.versions))
        return Resolved(resolutions=found, changes=changes, reads=reads, claims=claims), moved

    def leaning_on(self, keys: AbstractSet[str], here: Iterable[Witnessed]) -> tuple[Witnessed, ...]:
        """Claims with any of these keys that rest on others, but for those that are here."""
        known = {w.uid for w in here}
        near = self.store.claims_in_blocks(self.scope, keys, without=known) if keys else ()
        resting = (g for g in near if (leans(g.claim, g.results) or cited_by(g.claim)))
        return witnesses(self.store, self.scope, resting, self.lineage)


def _linked(
    store: Store, scope: str, seeds: Sequence[Witnessed], lineage: Mapping[str, str], engine: str, verdicts: Sequence[ClaimRelation]
) -> tuple[tuple[Witnessed, ...], Relations]:
    """All claims that bear on the seeds, by their words or by a recorded verdict, and the verdicts on pairs of them."""
    found = {w.uid: w for w in seeds}
    asked: set[str] = set()
    told: dict[tuple[str, str, str], ClaimRelation] = {_named(v): v for v in verdicts}
    while True:
        claims = linked(found.values(), _Fetching(store, scope, lineage, found.keys()))
        found = {w.uid: w for w in claims}
        told |= {_named(v): v for v in store.relations_touching(scope, found.keys() - asked)}
        asked |= found.keys()
        ties = {uid for v in told.values() if v.relation is not Relation.OTHER and {v.one, v.other} & found.keys() for uid in (v.one, v.other)}
        more = witnesses(store, scope, store.claims_of(scope, ties - found.keys()), lineage) if ties - found.keys() else ()
        if not more:
            return claims, _in_force(told.values(), engine)
        found |= {w.uid: w for w in more}


@dataclass(frozen=True, slots=True)
class _Fetching:
    """Gives the claims with any of some block keys, without those that are here already: of most of them the turns need not be read twice."""

    store: Store
    scope: str
    lineage: Mapping[str, str]
    here: AbstractSet[str]

    def __call__(self, blocks: frozenset[str]) -> tuple[Witnessed, ...]:
        return witnesses(self.store, self.scope, self.store.claims_in_blocks(self.scope, blocks, without=self.here), self.lineage)


def _named(verdict: ClaimRelation) -> tuple[str, str, str]:
    return min(verdict.one, verdict.other), max(verdict.one, verdict.other), verdict.made_by


def _in_force(verdicts: Iterable[ClaimRelation], engine: str) -> Relations:
    """One verdict a pair: that of this engine where it gave one, else of the last by name."""
    ordered = sorted(verdicts, key=lambda v: (v.made_by == engine, v.made_by))
    return {_named(v)[:2]: v.relation for v in ordered}


def relations_among(store: Store, scope: str, claims: Iterable[Witnessed], engine: str) -> Relations:
    """The recorded verdicts on pairs of these claims, as they count for a dream with this engine."""
    return _in_force(store.relations(scope, {w.uid for w in claims}), engine)


# --- what notes are tied by beside their words ---------------------------------------------------------------------------------------------


def tied_to(store: Store, scope: str, changed: Sequence[Witnessed], lineage: Mapping[str, str]) -> tuple[Witnessed, ...]:
    """Claims that may fall or rise with these: bound to a version of a thing these show a version of; goals, plans and holds these say to be over;
    words of any kind these take back."""
    here, endings = {w.uid for w in changed}, [w.claim for w in changed if is_ending(w.claim)]
    keys = bound_keys(w.claim for w in changed) | end_keys(endings)

    def tied(near: GatedClaim) -> bool:
        return bool(near.claim.applies_to) or any(ends(ending, near.claim) for ending in endings)

    near = store.all_claims(scope, without=here) if any(map(takes_back, endings)) else store.claims_in_blocks(scope, keys, without=here)
    return witnesses(store, scope, filter(tied, near), lineage)


def shown_beside(store: Store, scope: str, claims: Sequence[Witnessed], lineage: Mapping[str, str]) -> tuple[Witnessed, ...]:
    """Claims that show versions of the things these are bound to a version of."""
    keys = bound_keys(w.claim for w in claims if w.claim.applies_to)
    return witnesses(store, scope, store.claims_in_blocks(scope, keys), lineage) if keys else ()


def endings_beside(store: Store, scope: str, claims: Sequence[Witnessed], lineage: Mapping[str, str]) -> tuple[Witnessed, ...]:
    """Claims that end what goals, plans and holds among these are about, and those that take words back."""
    here, keys = {w.uid for w in claims}, {*end_keys(w.claim for w in claims), TAKES_BACK}
    near = (g for g in store.claims_in_blocks(scope, keys, attribute=ENDED, without=here) if is_ending(g.claim))
    return witnesses(store, scope, near, lineage)


def fallen_beside(store: Store, scope: str, claims: Sequence[Witnessed], decided: AbstractSet[str]) -> tuple[Version, ...]:
    """Versions that are over of notes not decided here: on the subjects of claims without evidence of their own, or named by claims with their ids."""
    wanted = {subject_key(w.claim.subject) for w in claims if w.standing is Standing.INFERRED and is_named(w.claim.subject)}
    subjects = [s for s in store.subjects(scope, OVER) if subject_key(s) in wanted] if wanted else []
    cited = frozenset[str]().union(*(cited_by(w.claim) for w in claims)) - decided
    over = (
        *(store.heads(scope, subjects=subjects, statuses=OVER) if subjects else ()),
        *(store.heads(scope, notes=sorted(cited), statuses=OVER) if cited else ()),
    )
    return tuple({(h.version.note, h.version.slot): h.version for h in over if h.version.note not in decided}.values())


# --- insights ----------------------------------------------------------------------------------------------------------------------------


INSIGHT = "insight-"
"""How the readings are named that hold insights."""


def insights_on(store: Store, scope: str, dirty: frozenset[str]) -> frozenset[str]:
    """Insights that rest on words which one of these claims rests on, too: they have to be looked at when it changes."""
    made = frozenset[str]().union(*(r.claims for r in store.readings_named(scope, INSIGHT)))
    if not made - dirty:
        return frozenset()
    turns = {q.turn for claim in store.claims(scope, dirty).values() for q in claim.quotes}
    return frozenset(uid for uid, claim in store.claims(scope, made - dirty).items() if turns & {q.turn for q in claim.quotes})


def pieces_of(store: Store, scope: str, claims: Sequence[Witnessed]) -> Pieces | None:
    """What the insights among these claims rest on, and how it stands; None when there is none."""
    insights = [w.claim for w in claims if w.claim.kind is Kind.INSIGHT]
    if not insights:
        return None
    quoting = {
        uid: c for uid, c in store.claims(scope, store.quoting(scope, {q.turn for c in insights for q in c.quotes})).items() if c.kind is not Kind.INSIGHT
    }
    of = {c.uid: tuple(frozenset(uid for uid, other in quoting.items() if _shares(q, other.quotes)) for q in c.quotes) for c in insights}
    here = {identity_of(scope, w.claim).uid for w in claims}
    elsewhere: dict[str, Status] = {}
    for head in store.heads(scope, notes=store.notes_resting_on(scope, {q.turn for c in insights for q in c.quotes})):
        for uid in head.version.claims if head.version.note not in here else ():
            elsewhere[uid] = Status.CONFIRMED if elsewhere.get(uid) is Status.CONFIRMED else head.version.status
    return Pieces(of=of, elsewhere=elsewhere)


def _shares(quote: Quote, others: Iterable[Quote]) -> bool:
    return any(quote.turn == o.turn and quote.start < o.end and o.start < quote.end for o in others)


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
    quoted = store.turns_in(scope, [s for s, root in lineage.items() if root in shared], quoted=True) if shared else frozenset()
    return store.quoting(scope, quoted) if quoted else frozenset()


def _by_note(heads: Iterable[Head]) -> dict[str, list[Head]]:
    out: defaultdict[str, list[Head]] = defaultdict(list)
    for head in heads:
        out[head.version.note].append(head)
    return dict(out)


def _change(resolution: Resolution, verdicts: Sequence[ClaimRelation]) -> BeliefChange:
    """The change with why it is made; verdicts of this dream that had a part in it are named, so that they can be taken back with it."""
    decision = Decision(stage="resolve", verb=resolution.verb.value, reason=resolution.why[:200], refs=resolution.claims[:REFS_MAX], note=resolution.note)
    mine = frozenset(resolution.claims)
    tied = (v for v in verdicts if v.relation is not Relation.OTHER and {v.one, v.other} & mine)
    related = (Decision(stage=RELATE, verb=v.relation.value, reason=v.why[:200], refs=(v.one, v.other), note=resolution.note, engine=v.made_by) for v in tied)
    return BeliefChange(note=resolution.note, versions=resolution.versions, decisions=(decision, *related))
