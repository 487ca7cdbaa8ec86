"""Which claims speak of one note: canonical keys, blocks to find candidates by, and the components they form.

Keys are canonical (`KEY_VERSION`): NFKC, casefolded, articles dropped, plurals stemmed, code identifiers left whole. Nothing here looks at the order in which
claims arrived: equal sets of claims and rulings give equal components.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations, pairwise, product

from pipelines.model import Claim, Identity, Relation, Ruling, Witnessed, short_uid
from pipelines.text.slots import ATTRIBUTE_OF, GLUE, QUALIFIERS, STATE_OF, USER, is_single
from pipelines.text.statement import Form, Person, Statement, canonical_words, parse
from pipelines.text.values import typed_values
from pipelines.text.words import ENGLISH_STOP

from .relate import TELLING, forbids_merge, relate, sort_of, subject_key, value_key, words_around

KEY_VERSION = 1
"""Raised when a canonical form changes: notes then get new keys by migration (systems R12)."""

Relations = Mapping[tuple[str, str], Relation]
"""Recorded verdicts on pairs of claims, by (lower uid, higher uid)."""


@lru_cache(maxsize=32768)
def statement_of(claim: Claim) -> Statement:
    """The claim's sentence as `parse` reads it, under the subject, scope and value the claim itself gives.

    A claim without a value (a rule) is compared by the words of its sentence, whatever attribute it goes under.
    """
    read = parse(claim.statement)
    subject = claim.subject.strip()
    person = _person_of(subject, read.person)
    return replace(
        read, subject=subject, attribute=attribute_key(claim.attribute) if claim.value else read.attribute, qualifier=qualifier_key(claim.qualifier), person=person,
        form=Form.SLOT if claim.value else read.form, value=claim.value or read.value, negated=claim.negated, cardinality=cardinality_of(claim),
        old_value=claim.old_value or read.old_value,
    )  # fmt: skip


def _person_of(subject: str, read: Person) -> Person:
    """Whose fact a claim is: its subject says more than the sentence's pronoun."""
    if subject_key(subject) == (USER,):
        return Person.SPEAKER
    if subject.casefold().startswith(f"{USER}'s ") or (read in {Person.SPEAKER, Person.UNRESOLVED} and "unresolved" not in subject.casefold()):
        return Person.OTHER
    return read


def attribute_key(attribute: str) -> str:
    """The canonical name of an attribute: the lexicon's, else its canonical words."""
    plain = " ".join(attribute.casefold().split())
    return ATTRIBUTE_OF.get(plain) or (plain if is_single(plain) else " ".join(canonical_words(attribute)) or plain)


_QUALIFIER_OF = {form: name for name, forms in QUALIFIERS.items() for form in forms.split("|")}


def qualifier_key(qualifier: str) -> str:
    """The canonical name of a scope ("prod" → "production"), of several sorted and joined by "+"."""
    parts = (" ".join(part.casefold().split()) for part in qualifier.split("+"))
    return "+".join(sorted(_QUALIFIER_OF.get(part, part) for part in parts if part))


def cardinality_of(claim: Claim) -> str:
    """ "single" when the claim or the attribute's own nature says so."""
    return "single" if claim.cardinality == "single" or is_single(attribute_key(claim.attribute)) else "set"


@lru_cache(maxsize=32768)
def value_name(value: str | None) -> str:
    """A value's canonical spelling, equal for every way of writing it; "" for none."""
    typed, words = value_key(value)
    return " ".join([*sorted(f"{kind}:{canonical}" for kind, canonical in typed), *words]) or (value or "").casefold().strip()


def identity_of(scope: str, claim: Claim) -> Identity:
    """The note a claim speaks of. A set-valued attribute has a note for each member."""
    found = _identity_of(claim)
    return Identity(scope=scope, subject=found.subject, attribute=found.attribute, qualifier=found.qualifier, member=found.member) if scope else found


@lru_cache(maxsize=131072)
def _identity_of(claim: Claim) -> Identity:
    subject = " ".join(subject_key(claim.subject)) or ("" if canonical_words(claim.subject) else claim.subject.casefold().strip())
    attribute = attribute_key(claim.attribute)
    member = ""
    if cardinality_of(claim) == "set":
        member = value_name(claim.value) if claim.value else "" if attribute else " ".join(statement_of(claim).words)
    return Identity(scope="", subject=subject, attribute=attribute, qualifier=qualifier_key(claim.qualifier), member=member)


@lru_cache(maxsize=131072)
def group_key(claim: Claim) -> str:
    """Key of everything said of one attribute of one subject in one scope of validity, members of a set together."""
    identity = identity_of("", claim)
    return short_uid("group", identity.subject, identity.attribute, identity.qualifier)


@lru_cache(maxsize=131072)
def block_keys(claim: Claim) -> frozenset[str]:
    """Keys to find by what a claim (or a note read as one) has to be compared with: its note, what it may relate to, names and measured values in it.

    They depend on the claim alone, never on the corpus, so a claim's candidates are found by equality of keys in any store.
    """
    statement = statement_of(claim)
    words = _telling_words(statement)
    found = {group_key(claim)}
    for typed in statement.values:
        if typed.kind in {"identifier", "path", "url", "email", "name"}:
            found.add(short_uid("name", typed.canonical))
        else:
            found.update(short_uid("measure", *typed.key, word) for word in words)
    return relation_keys(claim) | found


@lru_cache(maxsize=131072)
def relation_keys(claim: Claim) -> frozenset[str]:
    """The few of `block_keys` that two claims of which one bears on the other share: their note, a value said or said to be over, words of an order."""
    return frozenset({short_uid("note", identity_of("", claim).uid), *(short_uid(*parts) for parts in _relating(claim))})


@lru_cache(maxsize=131072)
def _relating(claim: Claim) -> tuple[tuple[str, ...], ...]:
    return tuple(_relations_of(claim))


def _relations_of(claim: Claim) -> Iterator[tuple[str, ...]]:
    statement = statement_of(claim)
    for value in (statement.value, statement.old_value, statement.against):
        if value and (name := value_name(value)):
            yield ("value", name, statement.attribute) if _common(value) else ("value", name)
    if claim.value:
        if sort := sort_of(claim.value):
            yield ("sort", sort)
        if any(v.kind in TELLING for v in typed_values(claim.value)):
            yield ("qualities", group_key(claim))
        return
    words = _telling_words(statement)
    yield ("words", *sorted(set(statement.words)))
    yield ("rest", *words_around(statement))
    yield from (("pair", *sorted(pair)) for pair in pairwise(words))


def _common(value: str) -> bool:
    """A value that many unrelated things have (a number, a state), no name."""
    return value.casefold() in STATE_OF or (
        all(v.kind not in {"identifier", "path", "url", "email", "name"} for v in typed_values(value)) and any(map(str.isdecimal, value))
    )


def _telling_words(statement: Statement) -> list[str]:
    return [word for word in dict.fromkeys(statement.words) if word not in GLUE and word not in ENGLISH_STOP][:WORDS_MAX]


WORDS_MAX = 24
"""Words of a statement that blocks are made of; a statement that long is prose that relates to nothing anyway."""


# --- components --------------------------------------------------------------------------------------------------------------------------

_STRENGTH = {"same_value": 0, "same_words": 1, "recorded": 2}


def components(
    claims: Iterable[Witnessed], rulings: Sequence[Ruling] = (), *, scope: str = "", relations: Relations | None = None, said: Shapes | None = None
) -> tuple[tuple[Witnessed, ...], ...]:
    """The claims of each note: equal identity, joined by merges of a person and by SAME between claims that share a block.

    `said` are the `shapes` of the claims, for a caller who has them. `same` edges are taken strongest first, then by uid; one that would join a forbidden pair (`forbids_merge`, a ban) is dropped.
    Claims of a component and the components themselves are in event order.
    """
    groups: dict[Identity, list[Witnessed]] = defaultdict(list)
    for witness in unique(claims):
        groups[identity_of(scope, witness.claim)].append(witness)
    forest = _Forest(groups)
    merges, bans = pairs_ruled(rulings)
    forest.forbid(bans)
    for target, other in merges:
        forest.join_notes(target, other)
    for _, a, b in _same_edges(groups, shapes(w for ws in groups.values() for w in ws) if said is None else said, relations or {}):
        forest.join(a, b)
    found = [tuple(sorted(part, key=event_order)) for part in forest.parts()]
    return tuple(sorted(found, key=lambda part: event_order(part[0])))


def unique(claims: Iterable[Witnessed]) -> tuple[Witnessed, ...]:
    """Each claim once, in event order; of two readings of one claim the earlier in that order."""
    readings: dict[str, list[Witnessed]] = defaultdict(list)
    for witness in claims:
        readings[witness.uid].append(witness)
    found = (several[0] if len(several) == 1 else min(several, key=lambda w: (event_order(w), repr(w))) for several in readings.values())
    return tuple(sorted(found, key=event_order))


def event_order(witness: Witnessed) -> tuple[tuple[bool, float, str, int, str], str]:
    """The total order of claims: the order key of the newest quoted turn, then uid."""
    return witness.order.sort, witness.uid


def pairs_ruled(rulings: Iterable[Ruling]) -> tuple[tuple[tuple[str, str], ...], frozenset[tuple[str, str]]]:
    """(merges in order, banned pairs): of several rulings on one pair the last one counts; an unmerge leaves a ban."""
    last: dict[tuple[str, str], str] = {}
    for ruling in in_force(rulings):
        if ruling.verb in {"merge", "unmerge", "ban"} and ruling.other:
            pair = (min(ruling.target, ruling.other), max(ruling.target, ruling.other))
            last.pop(pair, None)
            last[pair] = ruling.verb
    merges = tuple(pair for pair, verb in last.items() if verb == "merge")
    return merges, frozenset(pair for pair, verb in last.items() if verb != "merge")


def in_force(rulings: Iterable[Ruling]) -> tuple[Ruling, ...]:
    """Rulings in the order they were made (undated first, then uid), without the lifted ones and the lifts themselves. A lift may be lifted, too."""
    ordered = sorted({ruling.uid: ruling for ruling in rulings}.values(), key=lambda r: (r.at is not None, r.at.timestamp() if r.at else 0.0, r.uid))
    lifted = {lift.target for lift in lifts_in_force(ordered)}
    return tuple(ruling for ruling in ordered if ruling.verb != "lift" and ruling.uid not in lifted)


def lifts_in_force(rulings: Iterable[Ruling]) -> tuple[Ruling, ...]:
    """The lifts that no other lift has taken back."""
    lifts = [ruling for ruling in rulings if ruling.verb == "lift"]
    lifted = {lift.target for lift in lifts}
    return tuple(lift for lift in lifts if lift.uid not in lifted)


def candidate_pairs(claims: Iterable[Claim]) -> Iterator[tuple[Claim, Claim]]:
    """Every pair of claims of different notes that share a relation key, once. Neighbouring words relate only an order and its denial."""
    blocks: dict[tuple[str, ...], list[Claim]] = defaultdict(list)
    for claim in claims:
        for key in _relating(claim):
            blocks[key].append(claim)
    seen: set[tuple[int, int]] = set()
    for key, members in blocks.items():
        for a, b in _across(members) if key[0] == "pair" else combinations(members, 2):
            pair = (id(a), id(b)) if id(a) < id(b) else (id(b), id(a))
            if pair not in seen and identity_of("", a) != identity_of("", b):
                seen.add(pair)
                yield a, b


def _across(claims: Sequence[Claim]) -> Iterator[tuple[Claim, Claim]]:
    return product([c for c in claims if c.negated], [c for c in claims if not c.negated])


def linked(seeds: Iterable[Witnessed], fetch: Callable[[frozenset[str]], Iterable[Witnessed]], relations: Relations | None = None) -> tuple[Witnessed, ...]:
    """The seeds and every claim that bears on them, directly or through others: what `believe` has to be given to decide about the seeds.

    `fetch` returns the stored claims that have one of the given block keys. Only claims of one note or in a relation other than OTHER are followed, so a
    common word does not draw in the whole scope. Notes that a person merged have to be among the seeds (`merged_with`).
    """
    verdicts = {pair for pair, relation in (relations or {}).items() if relation is not Relation.OTHER}
    found = {witness.uid: witness for witness in seeds}
    edge = list(found.values())
    while edge:
        at: dict[str, list[Witnessed]] = defaultdict(list)
        for witness in edge:
            for key in relation_keys(witness.claim):
                at[key].append(witness)
        near = {w.uid: w for w in fetch(frozenset(at)) if w.uid not in found}
        edge = [w for w in near.values() if _bears(w, at) or any((min(w.uid, o.uid), max(w.uid, o.uid)) in verdicts for o in found.values() if verdicts)]
        found.update((w.uid, w) for w in edge)
    return unique(found.values())


def merged_with(notes: Iterable[str], rulings: Iterable[Ruling]) -> frozenset[str]:
    """The notes that people's merges tie to the given ones, these included."""
    found = set(notes)
    merges, _ = pairs_ruled(rulings)
    while more := {uid for pair in merges if found & set(pair) for uid in pair} - found:
        found |= more
    return frozenset(found)


def _bears(witness: Witnessed, at: Mapping[str, Sequence[Witnessed]]) -> bool:
    """Whether a claim must be decided together with one of those found under its keys."""
    identity = identity_of("", witness.claim)
    tried: set[str] = set()
    for key in relation_keys(witness.claim):
        for other in at.get(key, ()):
            if other.uid in tried:
                continue
            tried.add(other.uid)
            if identity_of("", other.claim) == identity or related(witness.claim, other.claim):
                return True
    return False


def related(a: Claim, b: Claim) -> frozenset[Relation]:
    """The relations between two claims, whichever is the older, OTHER left out."""
    one, two = statement_of(a), statement_of(b)
    return frozenset((relate(one, two).relation, relate(two, one).relation)) - {Relation.OTHER}


Shapes = Mapping[tuple[Identity, Statement], Sequence[Witnessed]]
"""Claims by what they say of which note."""


def shapes(claims: Iterable[Witnessed]) -> Shapes:
    """Claims by what they say of which note: a thing said a thousand times is compared once."""
    found: dict[tuple[Identity, Statement], list[Witnessed]] = defaultdict(list)
    for witness in claims:
        found[identity_of("", witness.claim), statement_of(witness.claim)].append(witness)
    return found


def _same_edges(groups: Mapping[Identity, Sequence[Witnessed]], said: Shapes, relations: Relations) -> list[tuple[tuple[int, str, str], Identity, Identity]]:
    """SAME between claims of different identities, strongest first, then by uid."""
    home = {witness.uid: identity for identity, members in groups.items() for witness in members}
    firsts = [min(several, key=lambda w: w.uid) for several in said.values()]
    named = {id(first.claim): first.uid for first in firsts}
    edges = []
    for a, b in candidate_pairs(first.claim for first in firsts):
        verdict = relate(statement_of(a), statement_of(b))
        if verdict.relation is Relation.SAME:
            low, high = sorted((named[id(a)], named[id(b)]))
            edges.append(((_STRENGTH[verdict.why], low, high), home[low], home[high]))
    for (low, high), relation in relations.items():
        if relation is Relation.SAME and low in home and high in home and home[low] != home[high]:
            edges.append(((_STRENGTH["recorded"], low, high), home[low], home[high]))
    return sorted(edges, key=lambda edge: edge[0])


class _Forest:
    """Groups of claims joined one edge after the other, never across a forbidden pair."""

    def __init__(self, groups: Mapping[Identity, Sequence[Witnessed]]) -> None:
        self._part: dict[Identity, set[Identity]] = {identity: {identity} for identity in groups}
        self._groups = groups
        self._note = {identity.uid: identity for identity in groups}
        self._banned: frozenset[tuple[str, str]] = frozenset()

    def forbid(self, pairs: frozenset[tuple[str, str]]) -> None:
        self._banned = pairs

    def join_notes(self, target: str, other: str) -> None:
        """A person's merge: only a ban stands against it."""
        a, b = self._note.get(target), self._note.get(other)
        if a and b and not self._ban_between(self._part[a], self._part[b]):
            self._unite(a, b)

    def join(self, a: Identity, b: Identity) -> None:
        one, two = self._part[a], self._part[b]
        if one is not two and not self._ban_between(one, two) and not self._forbidden(one, two):
            self._unite(a, b)

    def parts(self) -> Iterator[list[Witnessed]]:
        for part in {id(part): part for part in self._part.values()}.values():
            yield [witness for identity in part for witness in self._groups[identity]]

    def _unite(self, a: Identity, b: Identity) -> None:
        both = self._part[a] | self._part[b]
        for identity in both:
            self._part[identity] = both

    def _ban_between(self, one: set[Identity], two: set[Identity]) -> bool:
        if not self._banned:
            return False
        names = [self._names(part) for part in (one, two)]
        return any((min(a, b), max(a, b)) in self._banned for a in names[0] for b in names[1])

    def _names(self, part: set[Identity]) -> set[str]:
        return {identity.uid for identity in part} | {witness.uid for identity in part for witness in self._groups[identity]}

    def _forbidden(self, one: set[Identity], two: set[Identity]) -> bool:
        first, second = ({statement_of(w.claim) for identity in part for w in self._groups[identity]} for part in (one, two))
        return any(forbids_merge(a, b) for a in first for b in second)
