"""Which claims a model is asked to relate: near enough to be one note or to bear on each other, and left open by certain matching.

Likeness proposes, and decides nothing. What is proposed is a function of the claims alone, whatever order they come in.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from math import ceil

from pipelines.engines.claude.judging import refused
from pipelines.gates import SAID_ONCE
from pipelines.model import Kind, Outcome, Relation, Witnessed
from pipelines.notes.identity import event_order, identity_of, related, shapes
from pipelines.notes.relate import subject_key
from pipelines.text.slots import USER
from pipelines.text.statement import canonical_words
from pipelines.text.words import content_words

NEAR_MAX = 2
"""Claims each new claim is compared with: the likest."""
LIKE_MIN, SHARED_MIN = 0.34, 2
"""Share of the words two statements have in common, and how many at least, for them to be alike."""
ROUNDING = 1e-9
"""What a product may be above a whole number by rounding alone."""

Known = frozenset[tuple[str, str]]
"""Pairs of claim uids, the lower first."""


@dataclass(frozen=True, slots=True)
class OpenPair:
    """Two claims of different notes, the older first by event order."""

    older: Witnessed
    newer: Witnessed

    @property
    def key(self) -> tuple[str, str]:
        """Uids, the lower first."""
        return min(self.older.uid, self.newer.uid), max(self.older.uid, self.newer.uid)


def open_pairs(fresh: Iterable[Witnessed], near: Iterable[Witnessed], home: Mapping[str, str], known: Known) -> tuple[OpenPair, ...]:
    """Pairs of one fresh claim with another that no rule relates: of each fresh statement with the likest few, each pair once, in event order.

    `home` names the note a claim stands in, `known` are pairs that have a verdict. A statement many sessions make is asked about once, by its earliest claim.
    """
    fresh = tuple(w for w in fresh if _counts(w))
    spoken = _spoken((*fresh, *(w for w in near if _counts(w))))
    likely = _Likely(spoken)
    found: dict[tuple[str, str], OpenPair] = {}
    for uid in sorted(spoken.keys() & {w.uid for w in fresh}):
        one = spoken[uid].witness
        likest = sorted((-like, other) for other in likely.to(uid) if (like := _alike(spoken[uid], spoken[other])))
        others = (spoken[other].witness for _, other in likest)
        for other in islice((o for o in others if _open(one, o, home)), NEAR_MAX):
            pair = OpenPair(*sorted((one, other), key=event_order))
            if pair.key not in known:
                found[pair.key] = pair
    return tuple(sorted(found.values(), key=lambda p: (event_order(p.newer), event_order(p.older))))


def _counts(witness: Witnessed) -> bool:
    """Claims that stand, or would once they are heard again."""
    sound = witness.outcome is Outcome.PASS or (witness.outcome is Outcome.DRAFT and witness.missed == SAID_ONCE)
    return sound and witness.claim.kind is not Kind.INSIGHT


@dataclass(frozen=True, slots=True)
class _Said:
    """A claim with the words of its statement and subject, and its subject: the key, and its words alone."""

    witness: Witnessed
    words: frozenset[str]
    subject: tuple[str, ...]
    naming: frozenset[str]

    @property
    def particular(self) -> bool:
        """Whether the subject is a thing of its own: alike is what is said of it, in whatever words."""
        return bool(self.subject) and self.subject != (USER,)


def _spoken(claims: Sequence[Witnessed]) -> dict[str, _Said]:
    """One claim for each thing that is said of a note: the earliest."""
    firsts = (min(several, key=event_order) for several in shapes(claims).values())
    return {w.uid: _said(w) for w in firsts}


def _said(witness: Witnessed) -> _Said:
    subject = witness.claim.subject
    words = frozenset(content_words(f"{subject} {witness.claim.statement}"))
    return _Said(witness, words, subject_key(subject), frozenset(canonical_words(subject)))


class _Likely:
    """Finds every statement that may be alike to one, without a look at most of the others.

    Two statements that have a share of LIKE_MIN in common have at least that share of the words of either. So if that many words less one are left out, the
    commonest, a word they share is left on both sides.
    """

    def __init__(self, spoken: Mapping[str, _Said]) -> None:
        often = Counter(word for said in spoken.values() for word in said.words)
        self._rare: dict[str, list[str]] = {}
        self._with: defaultdict[str, list[str]] = defaultdict(list)
        self._about: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
        self._spoken = spoken
        for uid, said in spoken.items():
            shared = max(SHARED_MIN, ceil(LIKE_MIN * len(said.words) - ROUNDING))
            self._rare[uid] = sorted(said.words, key=lambda word: (often[word], word))[: max(0, len(said.words) - shared + 1)]
            for word in self._rare[uid]:
                self._with[word].append(uid)
            self._about[said.subject].append(uid)

    def to(self, uid: str) -> frozenset[str]:
        """Uids of all that `_alike` can find alike to this one, and of some others."""
        about = self._about[self._spoken[uid].subject] if self._spoken[uid].particular else ()
        return frozenset(chain(about, *(self._with[word] for word in self._rare[uid]))) - {uid}


def _alike(a: _Said, b: _Said) -> float:
    """How alike two statements are, 0 where they are not: words in common, or one particular subject."""
    shared = a.words & b.words
    like = len(shared) / (len(a.words | b.words) or 1)
    if like >= LIKE_MIN and len(shared) >= SHARED_MIN:
        return like
    return like if a.particular and a.subject == b.subject and shared - a.naming else 0.0


def _open(a: Witnessed, b: Witnessed, home: Mapping[str, str]) -> bool:
    """Whether no rule says how two claims stand to each other, and some word of a model could be let stand."""
    one, two = a.claim, b.claim
    if identity_of("", one) == identity_of("", two) or home.get(a.uid, a.uid) == home.get(b.uid, b.uid):
        return False
    if {q.turn for q in one.quotes} & {q.turn for q in two.quotes} or related(one, two):
        return False
    older, newer = sorted((a, b), key=event_order)
    return any(refused(relation, older.claim, newer.claim) is None for relation in (Relation.SAME, Relation.UPDATE))
