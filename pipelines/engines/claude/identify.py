"""What a model's item is about, in dreamd's own terms: where the grammar reads the words, it names subject, attribute and scope, so that what rules and
what a model say of one thing meets in one note.

A model's own names are taken only as far as the quoted words or its sentence hold them; what they do not hold leaves the claim in doubt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipelines.engines.local.facts import PROJECT, Fact, facts_in
from pipelines.engines.local.speech import body_of
from pipelines.model import Kind, Quote, Turn
from pipelines.notes.identity import attribute_key, qualifier_key
from pipelines.notes.relate import value_key
from pipelines.text.sentences import sentence_at
from pipelines.text.slots import USER, is_single
from pipelines.text.statement import Form, parse
from pipelines.text.values import typed_values
from pipelines.text.words import content_words, fold_width

UNNAMED = "subject_not_in_words"
"""Doubt of a claim whose subject no quoted word and no word of its sentence names."""
_OF_PEOPLE = frozenset({Kind.PREFERENCE, Kind.GOAL})
_SLOTTED = frozenset({Kind.FACT, Kind.DECISION, Kind.PREFERENCE, Kind.PLAN, Kind.INCIDENT})
_THE_USER = re.compile(r"^(?:the )?(?:user|speaker|person|author|me|i|myself|用户|我)$", re.IGNORECASE)
_OF_THE_USER = re.compile(r"^(?:(?:the )?user(?:'s|’s)|my|用户的?|我的?)\s*(?=\S)", re.IGNORECASE)
_THE_PROJECT = re.compile(r"^(?:the |this |our |my )?(?:project|repo|repository|codebase|work|team|we|us|workflow|项目|团队|我们)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a model says an item is: names still in its own words, "" for none."""

    kind: Kind
    about: str
    what: str
    where: str
    says: str
    value: str
    was: str
    negated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The same in dreamd's terms, the fields of a claim."""

    subject: str
    attribute: str
    qualifier: str
    value: str | None
    old_value: str | None
    cardinality: str
    doubts: tuple[str, ...] = ()


def identify(said: Said, found: Sequence[tuple[Quote, Turn]]) -> Known:
    """Name what is said by the grammar where it reads the quoted words or the sentence, else by the model's own words as far as they were said."""
    around = " ".join(sentence_around(quote, turn) for quote, turn in found)
    speaker = next((turn.speaker for _, turn in found if turn.speaker), None)
    fact = _fact(said, found, speaker) if said.kind in _SLOTTED else None
    if fact is not None:
        return _by_grammar(said, fact, around)
    qualifier = parse(body_of(said.says)).qualifier or _where(said.where, around)
    if said.value:
        return _by_model(said, qualifier, around, speaker)
    own = said.kind in _OF_PEOPLE and (said.kind is Kind.PREFERENCE or _is_user(said.about))
    read = parse(body_of(said.says), speaker=speaker)
    stated = said.kind in {Kind.FACT, Kind.INCIDENT, Kind.INSIGHT}
    subject, doubts = _subject(said.about, f"{around} {said.says}", speaker) if stated else ((speaker or USER) if own else PROJECT, ())
    return Known(
        subject=subject, attribute=read.attribute if read.form is not Form.SLOT and read.attribute else " ".join(read.words) or said.says,
        qualifier=qualifier, value=None, old_value=_old(said, around), cardinality="set" if stated else "single", doubts=doubts,
    )  # fmt: skip


def sentence_around(quote: Quote, turn: Turn) -> str:
    """The sentences a quote stands in; its own words where it stands in none."""
    if quote.end <= quote.start:
        return ""
    span = sentence_at(turn.text, quote.start, quote.end)
    return turn.text[min(span.start, quote.start) : max(span.end, quote.end)] if span else quote.text


# --- by the grammar ----------------------------------------------------------------------------------------------------------------------


def _fact(said: Said, found: Sequence[tuple[Quote, Turn]], speaker: str | None) -> Fact | None:
    """The fact the grammar reads that is the one the model means: the same value, denied or not alike.

    What was said counts before how the model says it; where both name one subject ("the service now really", "the service") the shorter name is better.
    """
    readings = [fact for text in _readable(said, found) if (fact := _meant(text, said, speaker)) is not None]
    if not readings:
        return None
    first = readings[0]
    alike = [fact for fact in readings if set(content_words(fact.subject)) == set(content_words(first.subject))]
    return min(alike, key=lambda fact: len(fact.subject.split()), default=first)


def _meant(text: str, said: Said, speaker: str | None) -> Fact | None:
    facts = facts_in(body_of(text), speaker=speaker)
    return next((f for f in facts if f.value and not f.unnamed and f.negated == said.negated and _same_value(said, f.value)), None)


def _readable(said: Said, found: Sequence[tuple[Quote, Turn]]) -> Iterator[str]:
    """The texts the grammar is given: what was said before how the model says it."""
    yield from (quote.text for quote, _ in found)
    yield from (sentence_around(quote, turn) for quote, turn in found)
    yield said.says


def _same_value(said: Said, value: str) -> bool:
    if said.value:
        return value_key(value) == value_key(said.value)
    typed = value_key(value)[0]
    return value.casefold() in said.says.casefold() or (bool(typed) and typed <= frozenset(v.key for v in typed_values(said.says)))


def _by_grammar(said: Said, fact: Fact, around: str) -> Known:
    scoped = fact.qualifier or parse(body_of(said.says)).qualifier or _where(said.where, around)
    return Known(
        subject=fact.subject, attribute=fact.attribute, qualifier=scoped, value=fact.value, old_value=fact.old_value or _old(said, around),
        cardinality="single" if fact.single else "set",
    )  # fmt: skip


# --- by the model's own words ------------------------------------------------------------------------------------------------------------


def _by_model(said: Said, qualifier: str, around: str, speaker: str | None) -> Known:
    subject, doubts = _subject(_unscoped(said.about, qualifier), f"{around} {said.says}", speaker)
    attribute = said.what.casefold() or parse(body_of(said.says)).attribute or "value"
    return Known(
        subject=subject, attribute=attribute, qualifier=qualifier, value=said.value, old_value=_old(said, around),
        cardinality="single" if is_single(attribute_key(attribute)) else "set", doubts=doubts,
    )  # fmt: skip


def _subject(about: str, words: str, speaker: str | None) -> tuple[str, tuple[str, ...]]:
    """The subject as claims name it, and the doubt when nothing said names it."""
    if not about or _THE_PROJECT.match(about):
        return PROJECT, ()
    if _is_user(about):
        return speaker or USER, ()
    kin = _OF_THE_USER.sub("", about)
    subject = f"{speaker or USER}'s {kin}" if kin != about else re.sub(r"^(?:the|an?)\s+", "", about, flags=re.IGNORECASE)
    named = set(content_words(fold_width(kin).casefold())) - {USER}
    held = set(content_words(fold_width(words).casefold()))
    close = speaker is not None and subject.casefold() in speaker.casefold()
    return subject, () if named <= held or close or kin.casefold() in words.casefold() else (UNNAMED,)


def _is_user(about: str) -> bool:
    return _THE_USER.match(about) is not None


def _unscoped(about: str, qualifier: str) -> str:
    """The subject without the words of its scope: "staging database" on staging is the database."""
    words = [word for word in about.split() if qualifier_key(word.strip(",")) not in qualifier.split("+")]
    return " ".join(words) if qualifier and words else about


def _where(where: str, around: str) -> str:
    """The scope a model names, if the words around the quotes name it too."""
    if not where:
        return ""
    key = qualifier_key(where)
    return key if key == parse(around).qualifier or where.casefold() in around.casefold() else ""


def _old(said: Said, around: str) -> str | None:
    """The value that is over, if the quoted words hold it and it is not the one that holds."""
    return said.was if said.was and said.was in around and value_key(said.was) != value_key(said.value or None) else None
