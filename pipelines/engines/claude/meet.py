"""A model's claims beside those of the rules: what a rule read in the same sentence is not said twice, and the rule's stands."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from pipelines.model import Claim, Quote, Turn
from pipelines.notes.identity import identity_of, statement_of
from pipelines.notes.relate import forbids_merge, value_key
from pipelines.text.sentences import Span, sentence_at
from pipelines.text.words import content_words


def beside(rules: Sequence[Claim], claims: Iterable[Claim], turns: Mapping[str, Turn]) -> tuple[Claim, ...]:
    """The claims that say something no rule says of the same sentence."""
    by_turn: defaultdict[str, list[Claim]] = defaultdict(list)
    for rule in rules:
        for uid in {q.turn for q in rule.quotes}:
            by_turn[uid].append(rule)
    return tuple(c for c in claims if not any(_said(c, rule, turns) for uid in {q.turn for q in c.quotes} for rule in by_turn[uid]))


def _said(claim: Claim, rule: Claim, turns: Mapping[str, Turn]) -> bool:
    return _one_sentence(claim, rule, turns) and says_the_same(claim, rule)


def says_the_same(claim: Claim, rule: Claim) -> bool:
    """Whether a claim says no more than a rule's claim of the same sentence: its note and value, or words that all stand in the rule's."""
    if claim.negated != rule.negated:
        return False
    if claim.value and rule.value:
        return value_key(claim.value) == value_key(rule.value)
    if identity_of("", claim) == identity_of("", rule) and not claim.value:
        return True
    if claim.value:
        return False
    return set(content_words(claim.statement)) <= set(content_words(rule.statement)) and forbids_merge(statement_of(rule), statement_of(claim)) in _NO_MATTER


_NO_MATTER = frozenset({None, "subject_differs", "person_differs", "scope_differs", "names_differ"})
"""Of one sentence these differ by how it was read alone."""


def _one_sentence(claim: Claim, rule: Claim, turns: Mapping[str, Turn]) -> bool:
    return any(
        a.turn == b.turn and (one := _sentence(a, turns)) and (two := _sentence(b, turns)) and one.start < two.end and two.start < one.end
        for a in claim.quotes
        for b in rule.quotes
    )


def _sentence(quote: Quote, turns: Mapping[str, Turn]) -> Span | None:
    """The sentences of a quote; None for one that stands nowhere."""
    turn = turns.get(quote.turn)
    if turn is None or quote.end <= quote.start:
        return None
    return sentence_at(turn.text, quote.start, quote.end) or Span(quote.start, quote.end)
