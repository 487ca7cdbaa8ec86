"""Which claims a model is asked to relate: near enough to be one note or to bear on each other, and left open by certain matching.

Likeness proposes, and decides nothing. What is proposed is a function of the claims alone, whatever order they come in.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

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
    new = {w.uid for w in fresh}
    words = {uid: frozenset(content_words(f"{w.claim.subject} {w.claim.statement}")) for uid, w in spoken.items()}
    at: defaultdict[str, list[str]] = defaultdict(list)
    for uid, held in words.items():
        for word in held:
            at[word].append(uid)
    found: dict[tuple[str, str], OpenPair] = {}
    for uid in sorted(spoken.keys() & new):
        others = sorted({other for word in words[uid] for other in at[word]} - {uid})
        likest = sorted((-like, other) for other in others if (like := _alike(spoken[uid], spoken[other], words[uid], words[other])))
        for _, other in [pair for pair in likest if _open(spoken[uid], spoken[pair[1]], home)][:NEAR_MAX]:
            pair = OpenPair(*sorted((spoken[uid], spoken[other]), key=event_order))
            if pair.key not in known:
                found[pair.key] = pair
    return tuple(sorted(found.values(), key=lambda p: (event_order(p.newer), event_order(p.older))))


def _counts(witness: Witnessed) -> bool:
    """Claims that stand, or would once they are heard again."""
    sound = witness.outcome is Outcome.PASS or (witness.outcome is Outcome.DRAFT and witness.missed == SAID_ONCE)
    return sound and witness.claim.kind is not Kind.INSIGHT


def _spoken(claims: Sequence[Witnessed]) -> dict[str, Witnessed]:
    """One claim for each thing that is said of a note: the earliest."""
    firsts = (min(several, key=event_order) for several in shapes(claims).values())
    return {w.uid: w for w in firsts}


def _alike(a: Witnessed, b: Witnessed, one: frozenset[str], two: frozenset[str]) -> float:
    """How alike two statements are, 0 where they are not: words in common, or one particular subject."""
    shared = len(one & two)
    like = shared / (len(one | two) or 1)
    if like >= LIKE_MIN and shared >= SHARED_MIN:
        return like
    subject = subject_key(a.claim.subject)
    return like if subject and subject != (USER,) and subject == subject_key(b.claim.subject) and one & two - set(canonical_words(a.claim.subject)) else 0.0


def _open(a: Witnessed, b: Witnessed, home: Mapping[str, str]) -> bool:
    """Whether no rule says how two claims stand to each other, and some word of a model could be let stand."""
    one, two = a.claim, b.claim
    if identity_of("", one) == identity_of("", two) or home.get(a.uid, a.uid) == home.get(b.uid, b.uid):
        return False
    if {q.turn for q in one.quotes} & {q.turn for q in two.quotes} or related(one, two):
        return False
    older, newer = sorted((a, b), key=event_order)
    return any(refused(relation, older.claim, newer.claim) is None for relation in (Relation.SAME, Relation.UPDATE))
