"""Checking statements against their words, and relating pairs: small batches over all sessions, and code that has the last word against a merge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pipelines.engines.claude.asked import (
    UNASKED,
    UNSURE,
    Pair,
    Related,
    Supported,
    about,
    in_half,
    packed,
    shown_words,
    turns_of,
)  # fmt: skip
from pipelines.engines.claude.config import ClaudeConfig
from pipelines.engines.claude.prompts import relate, support
from pipelines.engines.claude.prompts.prompt import ask_of
from pipelines.engines.claude.reply import Fault, Fields, each, lists_of
from pipelines.engines.claude.rounds import Job, in_rounds
from pipelines.engines.claude.windows import escaped, fenced
from pipelines.model import Claim, Relation
from pipelines.notes.identity import statement_of
from pipelines.notes.relate import forbids_merge, value_key
from pipelines.ports import Ask, Asking, Reply
from pipelines.text.words import content_words, is_han, raw_words, stem

BATCH_MAX, BATCH_CHARACTERS = 20, 16_000
"""Items of one request, and characters of theirs."""
BY_MODEL = "model"
"""`Related.why` of a word of the model that code had nothing against."""


def supports(items: Sequence[Supported], config: ClaudeConfig, asking: Asking) -> tuple[str, ...]:
    """For each item whether its words carry its statement: YES, NO, UNSURE (also where no usable answer came), or UNASKED."""
    batches = packed(items, lambda item: len(_item(item)), most=BATCH_MAX, room=BATCH_CHARACTERS)

    def ask(batch: tuple[Supported, ...], attempt: int) -> Ask:
        body = "\n".join(f"[{n}] {_item(item)}" for n, item in enumerate(batch, 1))
        return ask_of(support.PROMPT, config, support.content(fenced(body)), name=_named("statements", batch), turns=tuple(turns_of(batch)), attempt=attempt)

    def decode(batch: tuple[Supported, ...], reply: Reply) -> tuple[str, ...] | Fault:
        words = _words(reply, "verdicts", "item", support.VERDICTS)
        return words if isinstance(words, Fault) else tuple(words.get(n, UNSURE) for n in range(1, len(batch) + 1))

    (ends,) = in_rounds([batches], Job(ask=ask, decode=decode, halves=in_half), asking)
    return tuple(word for end in ends for word in (end.result or (UNSURE if end.asked else UNASKED,) * len(end.unit)))


def relations(pairs: Sequence[Pair], config: ClaudeConfig, asking: Asking) -> tuple[Related, ...]:
    """For each pair how its newer claim stands to the older, as far as code lets that stand."""
    batches = packed(pairs, lambda pair: len(_pair(pair)), most=BATCH_MAX, room=BATCH_CHARACTERS)

    def ask(batch: tuple[Pair, ...], attempt: int) -> Ask:
        body = "\n".join(f"[{n}] {_pair(pair)}" for n, pair in enumerate(batch, 1))
        both = [side for pair in batch for side in (pair.older, pair.newer)]
        return ask_of(relate.PROMPT, config, relate.content(fenced(body)), name=_named("pairs", batch), turns=tuple(turns_of(both)), attempt=attempt)

    def decode(batch: tuple[Pair, ...], reply: Reply) -> tuple[Related, ...] | Fault:
        words = _words(reply, "pairs", "pair", relate.RELATIONS)
        return words if isinstance(words, Fault) else tuple(_related(pair, words.get(n, Relation.OTHER)) for n, pair in enumerate(batch, 1))

    (ends,) = in_rounds([batches], Job(ask=ask, decode=decode, halves=in_half), asking)
    return tuple(one for end in ends for one in (end.result or (Related(relation=None, why=end.why),) * len(end.unit)))


def _related(pair: Pair, word: str) -> Related:
    relation = Relation(word)
    veto = refused(relation, pair.older.claim, pair.newer.claim)
    return Related(relation=Relation.OTHER, why=veto) if veto else Related(relation=relation, why=BY_MODEL)


def refused(relation: Relation, older: Claim, newer: Claim) -> str | None:
    """Why code does not let a model's word stand, or None.

    One note can never be made of two that differ in a number, a denial, a version, a name or what they are bound to. Neither does one replace or
    contradict the other when they speak of different persons, things or scopes, or do not differ at all. Two that have less than half of their words in
    common are neither one note nor, where no values are told, a change of one: what a model then goes by nobody can check.
    """
    one, two = statement_of(older), statement_of(newer)
    if relation is Relation.OTHER:
        return None
    if older.applies_to != newer.applies_to:
        return "version_differs"
    if relation is Relation.SAME:
        differs = bool(older.value and newer.value) and value_key(older.value) != value_key(newer.value)
        return forbids_merge(one, two) or ("values_differ" if differs else None) or _words_forbid(one.text, two.text)
    if why := forbids_merge(replace(one, negated=False, values=(), text=""), replace(two, negated=False, values=(), text="")):
        return why
    if not (older.value and newer.value) and not _half_in_common(one.text, two.text):
        return "little_in_common"
    return "nothing_differs" if (one.words, older.value, older.negated) == (two.words, newer.value, newer.negated) else None


def _words_forbid(one: str, two: str) -> str | None:
    if _one_word_apart(one, two):
        return "one_word_differs"
    return None if _half_in_common(one, two) else "little_in_common"


def _half_in_common(one: str, two: str) -> bool:
    """Whether of what two sentences are about (words; in Chinese, characters) at least half stands in both."""
    mine, theirs = set(_parted(content_words(one))), set(_parted(content_words(two)))
    return 2 * len(mine & theirs) >= len(mine | theirs)


def _one_word_apart(one: str, two: str) -> bool:
    """Whether each sentence has just one word (in Chinese, or one character) that the other has not, as "before the deploy" and "after the deploy" have.

    Which single word turns a sentence round no list of ours knows; two notes that say the same in other words cost less than one that says the opposite.
    """
    mine, theirs = _words_in(one), _words_in(two)
    return any((a - b).total() == (b - a).total() == 1 for a, b in ((Counter(mine), Counter(theirs)), (Counter(_parted(mine)), Counter(_parted(theirs)))))


def _words_in(text: str) -> list[str]:
    """The words of a sentence by their stems, articles aside."""
    return [word for found in raw_words(text) if (word := stem(found.text.casefold())) not in {"the", "a", "an"}]


def _parted(words: Sequence[str]) -> list[str]:
    """Chinese words as their characters: where one ends depends on what stands beside it."""
    return [part for word in words for part in (word if any(map(is_han, word)) else (word,))]


# --- as it is shown ----------------------------------------------------------------------------------------------------------------------


def _item(item: Supported) -> str:
    return "\n".join((f"{escaped(item.claim.statement)} (about: {about(item.claim)})", *shown_words(item.contexts)))


def _pair(pair: Pair) -> str:
    return f"A: {_item(pair.older)}\n B: {_item(pair.newer)}"


def _named(what: str, batch: Sequence[object]) -> str:
    return f"{len(batch)} {what}"


# --- as it is read -----------------------------------------------------------------------------------------------------------------------


def _words(reply: Reply, name: str, number: str, allowed: Sequence[str]) -> Mapping[int, str] | Fault:
    """The word for each number; none for a number that was given two words."""
    lists = lists_of(reply, name)
    if isinstance(lists, Fault):
        return lists
    given, _ = each(lists[0], lambda item: _word(item, number, allowed))
    return dict(_agreed(given))


def _word(item: Fields, number: str, allowed: Sequence[str]) -> tuple[int, str]:
    return item.number(number), item.word("word", allowed)


def _agreed(given: Sequence[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    said: dict[int, set[str]] = {}
    for number, word in given:
        said.setdefault(number, set()).add(word)
    return ((number, next(iter(words))) for number, words in said.items() if len(words) == 1)
