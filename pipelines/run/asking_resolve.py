"""What the resolver asks a model: how claims stand that certain matching left open, where open questions are answered, what several sessions show together.

All of it is a function of what the dream had read when it began to resolve, in an order of its own. Answers and insights are claims: they pass the gates and
the check, are kept as readings of their own beside what was read in the sessions, and are then resolved like any other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Protocol

from pipelines.engines.claude.asked import Evidence, Found, Gap, Group, Inferred, Pair, Related
from pipelines.gates.evidence import located
from pipelines.model import Claim, Kind, Outcome, Question, Turn, Witnessed, digest
from pipelines.notes.identity import block_keys, event_order
from pipelines.notes.relate import subject_key
from pipelines.ports import Asking
from pipelines.run.asking import BUDGET
from pipelines.run.asking_read import Reader, checked, supported, unasked
from pipelines.run.questions import ANSWER, answer_name, open_questions
from pipelines.run.reading import gated, witnesses
from pipelines.run.resolving import INSIGHT, Resolved
from pipelines.stages.extractor import Judged, judge_claims
from pipelines.stages.lookup import likeliest, words_of
from pipelines.stages.pairs import OpenPair, open_pairs
from pipelines.store import ClaimRelation, GatedClaim, Store
from pipelines.text.tokens import tokens_of_query

QUESTIONS_MIN, QUESTIONS_MAX, CLAIMS_A_QUESTION = 10, 60, 2
PAIRS_A_CLAIM = 2
GROUPS_MAX, CLAIMS_A_GROUP = 5, 20
"""How much one dream asks about, by the claims that are fresh in it, so that what is asked after reading stays small beside what is learnt."""
PIECES_MIN, PIECES_MAX = 3, 40
"""Of a group. An insight that shares PIECES_MIN pieces with one there is says the same in other words."""
SEARCHED_MAX, LIKE_MAX = 40, 12
"""Turns a search brings for a question, of which the likeliest are shown; turns whose claims a fresh claim is compared with beside those of its keys."""


class Thinker(Reader, Protocol):
    """An engine that answers more than what stands in a window."""

    def relate(self, pairs: Sequence[Pair], asking: Asking) -> Sequence[Related]:
        """How the newer claim of each pair stands to the older."""

    def answer(self, gaps: Sequence[Gap], asking: Asking) -> Sequence[Found]:
        """The claim that answers each question, or why there is none."""

    def infer(self, groups: Sequence[Group], asking: Asking) -> Sequence[Inferred]:
        """What each group of claims shows together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Claims to be kept as a reading of their own: under a name, with a session."""

    session: str
    name: str
    claims: tuple[GatedClaim, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    """What was found beyond the sessions' own readings: answers and insights."""

    readings: tuple[Reading, ...]
    questions: int = 0
    answered: int = 0
    insights: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a dream has read when it begins to think.

    `dream` is its uid: what it found itself, before it was interrupted, does not count. `read` are the sessions it read, `unread` those its engine has not:
    they are not looked at.
    """

    dream: str
    read: frozenset[str]
    unread: frozenset[str]
    lineage: Mapping[str, str]


def think(store: Store, scope: str, engine: Thinker, asking: Asking, known: Known) -> Thought:
    """Look up open questions, and conclude from what is fresh."""
    own = frozenset(uid for prefix in (ANSWER, INSIGHT) for r in store.readings_named(scope, prefix) for uid in r.claims)
    fresh = witnesses(store, scope, store.claims_of(scope, store.dirty(scope) - own), known.lineage)
    gaps = _gaps(store, scope, engine.name, known, most=min(QUESTIONS_MAX, QUESTIONS_MIN + len(fresh) // CLAIMS_A_QUESTION))
    found = engine.answer([gap for _, gap in gaps], asking) if gaps else ()
    groups = _groups(store, scope, fresh, known, own)
    inferred = engine.infer([g.group for g in groups], asking) if groups else ()
    made: list[tuple[Sequence[Claim], Iterable[Turn]]] = [
        *(((f.claim,) if f.claim else (), _turns(gap)) for f, (_, gap) in zip(found, gaps, strict=True)),
        *((_new(i, g), [e.turn for p in g.group.pieces for e in p.contexts]) for i, g in zip(inferred, groups, strict=True)),
    ]
    judged = _judged(engine, asking, made)
    answers = [
        Reading(session=session, name=f"{answer_name(gap.question)}/{engine.name}", claims=_kept(claims))
        for (session, gap), f, claims in zip(gaps, found, judged, strict=False)
        if f.why != BUDGET and not any(map(unasked, claims))
    ]
    insights = [Reading(session=g.session, name=f"{g.name}/{engine.name}", claims=_kept(claims)) for g, claims in zip(groups, judged[len(gaps) :], strict=True)]
    return Thought(
        readings=(*answers, *(r for r in insights if r.claims)), questions=len(gaps), answered=sum(bool(r.claims) for r in answers),
        insights=sum(len(r.claims) for r in insights),
    )  # fmt: skip


def save_thought(store: Store, scope: str, dream: str, thought: Thought) -> None:
    """Make these the readings of their questions and groups."""
    for r in thought.readings:
        store.save_reading(scope, r.session, engine=r.name, digest=dream, claims=r.claims)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdicts:
    """Verdicts on pairs, and the claims of pairs a budget left out."""

    relations: tuple[ClaimRelation, ...] = ()
    unasked: frozenset[str] = frozenset()


def relate_open(store: Store, scope: str, engine: Thinker, asking: Asking, resolved: Resolved, lineage: Mapping[str, str]) -> Verdicts:
    """Ask about the pairs that certain matching left open between what is fresh and what is near it, all evidence read again."""
    here = {w.uid: w for w in resolved.claims}
    claims = here | {w.uid: w for w in _near(store, scope, resolved.fresh, here.keys(), lineage)}
    home = {uid: v.note for r in resolved.resolutions for v in r.versions for uid in v.claims}
    told = store.relations_touching(scope, claims)
    known = frozenset((min(v.one, v.other), max(v.one, v.other)) for v in told if v.made_by == engine.name)
    pairs = open_pairs(resolved.fresh, claims.values(), home, known)[: PAIRS_A_CLAIM * len(resolved.fresh)]
    turns = store.turns(scope, {q.turn for p in pairs for w in (p.older, p.newer) for q in w.claim.quotes})
    said = engine.relate([_shown(pair, turns) for pair in pairs], asking) if pairs else ()
    answered = tuple(zip(pairs, said, strict=True))
    return Verdicts(
        relations=tuple(
            ClaimRelation(one=pair.key[0], other=pair.key[1], relation=word.relation, why=word.why, made_by=engine.name)
            for pair, word in answered
            if word.relation is not None
        ),
        unasked=frozenset(uid for pair, word in answered if word.relation is None and word.why == BUDGET for uid in pair.key),
    )


def _shown(pair: OpenPair, turns: Mapping[str, Turn]) -> Pair:
    return Pair(older=supported(pair.older.claim, turns), newer=supported(pair.newer.claim, turns))


def _near(store: Store, scope: str, fresh: Iterable[Witnessed], here: AbstractSet[str], lineage: Mapping[str, str]) -> tuple[Witnessed, ...]:
    """Claims beside those that are here that share a key with a fresh one, and those of the turns a search finds for its words."""
    fresh = tuple(fresh)
    if not fresh or store.holds_only(scope, here):  # a first dream has all claims there are, and the most to search for
        return ()
    blocks = frozenset(key for w in fresh for key in block_keys(w.claim))
    turns = store.turns_like(scope, (tokens_of_query(said) for said in sorted({w.claim.statement for w in fresh})), limit=LIKE_MAX)
    by_key = store.claims_in_blocks(scope, blocks, without=here)
    by_words = store.claims_of(scope, store.quoting(scope, turns) - here)
    return witnesses(store, scope, {g.claim.uid: g for g in (*by_key, *by_words)}.values(), lineage)


# --- questions ---------------------------------------------------------------------------------------------------------------------------


def _gaps(store: Store, scope: str, engine: str, known: Known, *, most: int) -> list[tuple[str, Gap]]:
    """Open questions that were not looked up yet, or whose answer may stand in what is new; those of new sessions first."""
    asked = {(r.session, r.engine) for r in store.readings_named(scope, ANSWER) if r.digest != known.dream}
    found: list[tuple[str, Gap]] = []
    for session, questions in open_questions(store, scope, dream=known.dream).items():
        if session in known.unread:
            continue
        for question in questions:
            gap = _gap(store, scope, question, known.unread)
            new = (session, f"{answer_name(question)}/{engine}") not in asked or any(t.session in known.read for t in gap.candidates)
            if gap.candidates and new:
                found.append((session, gap))
    found.sort(key=lambda f: (f[0] not in known.read, f[0], answer_name(f[1].question)))
    return found[:most]


def _gap(store: Store, scope: str, question: Question, unread: frozenset[str]) -> Gap:
    raised = store.turns(scope, {q.turn for q in question.quotes})
    contexts = tuple(Evidence(quote=q, turn=raised[q.turn]) for q in question.quotes if q.turn in raised)
    around = [one.context for one in located(_asking(question), raised)]
    matches = store.search_turns(scope, tokens_of_query(words_of(question, around)), limit=SEARCHED_MAX)
    turns = (t for t in store.turns(scope, {m.uid for m in matches}).values() if t.session not in unread)
    return Gap(question=question, contexts=contexts, candidates=likeliest(question, around, turns))


def _asking(question: Question) -> Claim:
    """A question as a claim, whose quotes can be located."""
    return Claim(kind=Kind.FACT, subject="question", attribute="", statement=question.text, quotes=question.quotes)


# --- insights ----------------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """Claims about one subject, the session and name under which is kept what this dream concludes, and what was concluded before."""

    session: str
    name: str
    group: Group
    before: tuple[Claim, ...]


def _groups(store: Store, scope: str, fresh: Sequence[Witnessed], known: Known, own: frozenset[str]) -> list[_Group]:
    """Claims about one subject, of two sessions at least, where something is fresh: the subjects with the most that is fresh first."""
    new = Counter(subject_key(w.claim.subject) for w in fresh if _is_piece(w))
    wanted = sorted(new, key=lambda s: (-new[s], s))[: min(GROUPS_MAX, len(fresh) // CLAIMS_A_GROUP + 1)]
    if not wanted:
        return []
    here = own | {w.uid for w in fresh}
    older = (g for g in store.all_claims(scope, without=here) if subject_key(g.claim.subject) in wanted)
    held = [w for w in (*fresh, *witnesses(store, scope, older, known.lineage)) if _is_piece(w)]
    return [made for subject in wanted if (made := _group(store, scope, subject, [w for w in held if subject_key(w.claim.subject) == subject], known))]


def _group(store: Store, scope: str, subject: tuple[str, ...], held: Sequence[Witnessed], known: Known) -> _Group | None:
    pieces = sorted(held, key=event_order)[-PIECES_MAX:]
    turns = store.turns(scope, {q.turn for w in pieces for q in w.claim.quotes})
    shown = tuple(s for w in pieces if (s := supported(w.claim, turns)).contexts)
    roots = tuple(known.lineage.get(s.contexts[0].turn.session, s.contexts[0].turn.session) for s in shown)
    if len(shown) < PIECES_MIN or len(set(roots)) < 2:
        return None
    name = f"{INSIGHT}{digest(*subject)[:16]}."
    told = {uid for r in store.readings_named(scope, name) if r.digest != known.dream for uid in r.claims}
    session = min(held, key=event_order).order.session
    return _Group(session=session, name=f"{name}{known.dream}", group=Group(pieces=shown, roots=roots), before=tuple(store.claims(scope, told).values()))


def _new(inferred: Inferred, group: _Group) -> tuple[Claim, ...]:
    """What was not concluded before from the same words. That it is inferred is said by its kind, and is no doubt."""
    known = [_pieces(claim) for claim in group.before]
    return tuple(
        replace(c, doubts=tuple(d for d in c.doubts if d != "inferred")) for c in inferred.claims if all(len(_pieces(c) & k) < PIECES_MIN for k in known)
    )


def _pieces(claim: Claim) -> frozenset[tuple[str, int, int]]:
    return frozenset((q.turn, q.start, q.end) for q in claim.quotes)


def _is_piece(witness: Witnessed) -> bool:
    """What may be concluded from: what the gates let pass and nobody inferred."""
    return witness.outcome is Outcome.PASS and witness.claim.kind is not Kind.INSIGHT


# --- claims of one's own -------------------------------------------------------------------------------------------------------------------


def _judged(engine: Thinker, asking: Asking, made: Sequence[tuple[Sequence[Claim], Iterable[Turn]]]) -> tuple[tuple[Judged, ...], ...]:
    """Claims with the turns they were made from, through the gates and the check."""
    sessions = [(judge_claims(claims, by_uid), by_uid) for claims, turns in made for by_uid in ({t.uid: t for t in turns},)]
    return checked(engine, sessions, asking)


def _turns(gap: Gap) -> list[Turn]:
    return [*gap.candidates, *(e.turn for e in gap.contexts)]


def _kept(claims: Iterable[Judged]) -> tuple[GatedClaim, ...]:
    """What no gate refuses."""
    return tuple(gated(j) for j in claims if j.outcome in {Outcome.PASS, Outcome.DRAFT})
