"""What a model's item is about, in dreamd's own terms: where the grammar reads the words, it names subject, attribute and scope, so that what rules and
what a model say of one thing meets in one note.

Nothing a model says beside its sentence is believed: a value must stand in the sentence and not be denied there, a denial is what the sentence itself denies, a
scope and a subject must be named by the words it cites. What is not leaves the claim in doubt, and a doubt keeps it a draft.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from pipelines.engines.local.facts import PROJECT, Fact, facts_in
from pipelines.engines.local.speech import body_of
from pipelines.engines.local.topics import TOPICS
from pipelines.model import Kind, Quote, Turn
from pipelines.notes.identity import attribute_key, qualifier_key
from pipelines.notes.relate import value_key
from pipelines.text.mood import clauses, negated
from pipelines.text.sentences import sentence_at
from pipelines.text.slots import USER, is_single
from pipelines.text.statement import Form, Statement, canonical_words, parse
from pipelines.text.values import typed_values
from pipelines.text.words import content_words, fold_width, is_cjk

UNNAMED, UNSCOPED = "subject_not_in_words", "scope_not_in_words"
"""Doubts of a claim whose subject, or what it is bound to, no word of the cited turns names."""
READ_MAX = 600
"""Characters of a text the grammar is given; longer ones are prose it reads nothing in."""
TOPICAL = frozenset(topic.attribute for topic in TOPICS)
"""What the rules know a person to have one of."""
HEARD_MAX = 4_000
"""Characters of a cited turn that may name a subject."""
_OF_PEOPLE = frozenset({Kind.PREFERENCE, Kind.GOAL})
_STATED = frozenset({Kind.FACT, Kind.INCIDENT, Kind.INSIGHT})
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
    negated: bool
    cardinality: str
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Heard:
    """The words an item cites: the quotes, the sentences around them, and the turns they stand in; who speaks, if the log names them."""

    quotes: tuple[str, ...]
    sentences: tuple[str, ...]
    turns: str
    speaker: str | None

    @property
    def around(self) -> str:
        return " ".join(self.sentences)


def identify(said: Said, found: Sequence[tuple[Quote, Turn]]) -> Known:
    """Name what is said by the grammar where it reads the quoted words or the sentence, else by the model's own words as far as they were said."""
    heard = _Heard(
        quotes=tuple(quote.text for quote, _ in found), sentences=tuple(sentence_around(quote, turn) for quote, turn in found),
        turns=" ".join(turn.text[:HEARD_MAX] for _, turn in found), speaker=next((turn.speaker for _, turn in found if turn.speaker), None),
    )  # fmt: skip
    said = _sound(said)
    fact = _fact(said, heard) if said.kind in _SLOTTED else None
    if fact is not None:
        return _by_grammar(said, fact, heard)
    return _by_model(said, heard) if said.value else _valueless(said, heard)


def sentence_around(quote: Quote, turn: Turn) -> str:
    """The sentences a quote stands in; its own words where it stands in none."""
    if quote.end <= quote.start:
        return ""
    span = sentence_at(turn.text, quote.start, quote.end)
    return turn.text[min(span.start, quote.start) : max(span.end, quote.end)] if span else quote.text


def _sound(said: Said) -> Said:
    """The item without a value that its own sentence does not state: one it lacks, or denies where the model says it does not."""
    clause = _stating(said.says, said.value) if said.value else None
    if said.value and (clause is None or negated(clause) != said.negated):
        return replace(said, value="", negated=False)
    return said


def _stating(says: str, value: str) -> str | None:
    """The clause of a sentence in which a value stands, the whole sentence for one that stands across clauses; None where it does not stand."""
    parts = [span.of(says) for span in clauses(says)]
    return next((part for part in (*parts, says) if _holds(part, value)), None)


def _holds(text: str, value: str) -> bool:
    typed = value_key(value)[0]
    return value.casefold() in text.casefold() or (bool(typed) and typed <= frozenset(v.key for v in typed_values(text)))


# --- by the grammar ----------------------------------------------------------------------------------------------------------------------


def _fact(said: Said, heard: _Heard) -> Fact | None:
    """The fact the grammar reads that is the one the model means: the same value.

    What was said counts before how the model says it; where both name one subject ("the service now really", "the service") the shorter name is better.
    """
    texts = (*heard.quotes, *heard.sentences, said.says)
    readings = [fact for text in texts if (fact := _meant(text, said, heard.speaker)) is not None]
    if not readings:
        return None
    first = readings[0]
    alike = [fact for fact in readings if set(content_words(fact.subject)) == set(content_words(first.subject))]
    return min(alike, key=lambda fact: len(fact.subject.split()), default=first)


def _meant(text: str, said: Said, speaker: str | None) -> Fact | None:
    facts = facts_in(body_of(text), speaker=speaker) if len(text) <= READ_MAX else ()
    return next((fact for fact in facts if fact.value and not fact.unnamed and _same_value(said, fact.value)), None)


def _same_value(said: Said, value: str) -> bool:
    if said.value:
        return value_key(value) == value_key(said.value)
    return _holds(said.says, value)


def _by_grammar(said: Said, fact: Fact, heard: _Heard) -> Known:
    told = _meant(said.says, said, heard.speaker)
    scope, doubts = _scope(said, heard, fact.qualifier)
    named = all(_named(one.subject, heard) for one in (fact, told) if one is not None)
    return Known(
        subject=fact.subject, attribute=fact.attribute, qualifier=scope, value=fact.value, old_value=fact.old_value or _old(said, heard),
        negated=fact.negated, cardinality="single" if fact.single else "set", doubts=(*(() if named else (UNNAMED,)), *doubts),
    )  # fmt: skip


# --- by the model's own words ------------------------------------------------------------------------------------------------------------


def _by_model(said: Said, heard: _Heard) -> Known:
    scope, doubts = _scope(said, heard)
    subject, unnamed = _subject(_unscoped(said.about, scope), heard)
    attribute = said.what.casefold() or parse(body_of(said.says)).attribute or "value"
    return Known(
        subject=subject, attribute=attribute, qualifier=scope, value=said.value, old_value=_old(said, heard), negated=said.negated,
        cardinality="single" if attribute in TOPICAL or is_single(attribute_key(attribute)) else "set", doubts=(*unnamed, *doubts),
    )  # fmt: skip


def _valueless(said: Said, heard: _Heard) -> Known:
    """An order, or a statement whose words are all there is to compare it by."""
    read = parse(body_of(said.says), speaker=heard.speaker)
    scope, doubts = _scope(said, heard)
    own = said.kind in _OF_PEOPLE and (said.kind is Kind.PREFERENCE or _is_user(said.about))
    subject, unnamed = _subject(_unscoped(said.about, scope), heard) if said.kind in _STATED else ((heard.speaker or USER) if own else PROJECT, ())
    return Known(
        subject=subject, attribute=_words_of(read) or said.says, qualifier=scope, value=None, old_value=_old(said, heard), negated=read.negated,
        cardinality="set" if said.kind in _STATED else "single", doubts=(*unnamed, *doubts),
    )  # fmt: skip


def _words_of(read: Statement) -> str:
    return read.attribute if read.form is not Form.SLOT and read.attribute else " ".join(read.words)


def _subject(about: str, heard: _Heard) -> tuple[str, tuple[str, ...]]:
    """The subject as claims name it, and the doubt when nothing cited names it."""
    if not about or _THE_PROJECT.match(about):
        return PROJECT, ()
    if _is_user(about):
        return heard.speaker or USER, ()
    kin = _OF_THE_USER.sub("", about)
    subject = f"{heard.speaker or USER}'s {kin}" if kin != about else re.sub(r"^(?:the|an?)\s+", "", about, flags=re.IGNORECASE)
    return subject, () if _named(subject, heard) else (UNNAMED,)


def _is_user(about: str) -> bool:
    return _THE_USER.match(about) is not None


def _named(subject: str, heard: _Heard) -> bool:
    """Whether the cited turns hold the words of a subject, in some spelling; the speaker and the project need no name."""
    plain = subject.casefold()
    if plain in {USER, PROJECT} or (heard.speaker is not None and plain in heard.speaker.casefold()):
        return True
    said = fold_width(f"{heard.turns} {heard.speaker or ''}").casefold()
    known = _words_in(said)
    return all(word in known or (any(map(is_cjk, word)) and word in said) for word in canonical_words(fold_width(subject)) if word not in {USER, "用户"})


@lru_cache(maxsize=64)
def _words_in(text: str) -> frozenset[str]:
    """The words of a turn, in every spelling. Kept, since a model may have a great deal to say of one long turn."""
    return frozenset((*canonical_words(text), *content_words(text)))


def _unscoped(about: str, scope: str) -> str:
    """The subject without the words of its scope: "staging database" on staging is the database."""
    words = [word for word in about.split() if qualifier_key(word.strip(",")) not in scope.split("+")]
    return " ".join(words) if scope and words else about


def _scope(said: Said, heard: _Heard, read: str = "") -> tuple[str, tuple[str, ...]]:
    """What the claim is bound to: as the sentence says, as the grammar reads the quote, as the quoted sentence alone says, or as the model says and the words too;
    and the doubt when the sentence names a scope that no cited word does."""
    spoken = {part for sentence in heard.sentences for part in parse(sentence).qualifier.split("+") if part}
    stated = parse(body_of(said.says)).qualifier
    wanted = {part for part in stated.split("+") if part}
    if not wanted <= spoken:
        return stated, (UNSCOPED,)
    only = "+".join(sorted(spoken)) if len(spoken) == 1 else ""
    where = qualifier_key(said.where) if said.where and said.where.casefold() in heard.around.casefold() else ""
    return stated or read or only or where, ()


def _old(said: Said, heard: _Heard) -> str | None:
    """The value that is over, if the quoted words hold it and it is not the one that holds."""
    return said.was if said.was and said.was in heard.around and value_key(said.was) != value_key(said.value or None) else None
