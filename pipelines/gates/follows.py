"""Gate 2: the statement says no more than its quotes: its values, names, denial, mood, owner, and that something is done, are theirs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from pipelines.model import Claim, GateResult, Kind, Origin, Outcome, Turn
from pipelines.text.mood import Mood, clauses, completion, mood_at, mood_of, negated
from pipelines.text.times import resolve_dates
from pipelines.text.tokens import tokenize
from pipelines.text.values import Value, typed_values, value_keys
from pipelines.text.words import content_words, fold_width, raw_words

from .added import adds
from .evidence import Located, located, result
from .opposites import opposed
from .wording import (
    ASKED,
    FIRST,
    NAMES_USER,
    NEUTRAL,
    OWNER,
    STATES,
    is_speaker,
    keys_of,
    reworded,
    said_of_oneself,
    stands,
    turned_around,
    up_to_the_clause,
    worded_alike,
    words_of,
)

_STRICT = frozenset({Mood.QUESTION, Mood.CONDITION, Mood.WISH, Mood.JOKE, Mood.HYPOTHETICAL})
# What a person may order or bind to a condition: there the words themselves are the note.
_BINDING = ASKED | {Kind.PROCEDURE}


def follows_gate(claim: Claim, turns: Mapping[str, Turn]) -> GateResult:
    """PASS when the statement follows from its quotes; REJECT with what does not stand in them; DRAFT where it is hedged, reported or freely worded."""
    found = located(claim, turns)
    if not found:
        return result("follows", Outcome.REJECT, "no_quote")
    support = [one for one in found if not _unusable(claim, one)]
    if not support:
        return result("follows", Outcome.REJECT, _unusable(claim, found[0]))
    for fault in _faults(claim, support):
        return result("follows", Outcome.REJECT, fault)
    doubt = _doubt(claim, support)
    return result("follows", Outcome.DRAFT if doubt else Outcome.PASS, doubt)


FREELY_WORDED = "words_not_in_quote"
"""Missed by a statement that says nothing its quotes do not hold, in words that are not theirs."""
REWORDED = "reworded"
"""`GateResult.why` of the check that let such a statement pass: what it says was said, and the words are a model's."""


def only_reworded(claim: Claim, turns: Mapping[str, Turn]) -> bool:
    """Whether, of a statement this gate finds freely worded, nothing is left to judge but that its words say the same."""
    return reworded(claim, [one for one in located(claim, turns) if not _unusable(claim, one)])


def _faults(claim: Claim, support: Sequence[Located]) -> Iterator[str]:
    yield from _missing_values(claim, support)
    failing = claim.kind is Kind.PROCEDURE and claim.negated and claim.verified_by is not None  # the exit status says so; the output only says why
    if not failing and not _denial_kept(claim.statement, support):
        yield "negation_changed"
    if not _owner_kept(claim, support):
        yield "other_person"
    if completion(claim.statement) and not any(_shows_done(one) for one in support):
        yield "completion_not_in_quote"


def _doubt(claim: Claim, support: Sequence[Located]) -> str:
    moods = [_mood(one) for one in support]
    if Mood.HEDGED in moods:
        return "hedged"
    if any(mood is Mood.REPORTED and one.origin is not Origin.EXTERNAL for mood, one in zip(moods, support, strict=True)):
        return "reported"
    if completion(claim.statement) and not any(one.origin in (Origin.USER, Origin.TOOL) and _shows_done(one) for one in support):
        return "completion_without_result"
    if not said_of_oneself(claim, support):
        return "not_said_of_oneself"
    if turned_around(claim, support) or opposed(claim.statement, support):
        return "order_changed"
    alike = worded_alike(claim, support)
    if not alike and not reworded(claim, support):
        return FREELY_WORDED
    return adds(claim, support) or ("" if alike else FREELY_WORDED)


# --- mood --------------------------------------------------------------------------------------------------------------------------------


def _mood(one: Located) -> Mood:
    return mood_at(one.turn.text, one.quote.start, one.quote.end)


def _unusable(claim: Claim, one: Located) -> str:
    """Why the quote cannot carry this claim: a question or a joke carries nothing, a condition only a rule that keeps it, a request no state."""
    mood = _mood(one)
    if mood is Mood.REQUEST:
        return "request_not_state" if claim.kind in STATES else ""
    if mood not in _STRICT:
        return ""
    if mood is Mood.CONDITION and claim.kind in _BINDING and mood_of(claim.statement) is mood:
        return ""
    if mood is Mood.WISH and claim.kind is Kind.GOAL:
        return ""
    return f"mood_{mood}"


# --- values ------------------------------------------------------------------------------------------------------------------------------

_CODES = {
    "name": "name_not_in_quote", "date": "date_not_in_quote", "relative": "date_not_in_quote", "time": "date_not_in_quote", "weekday": "date_not_in_quote",
    "identifier": "identifier_not_in_quote", "path": "identifier_not_in_quote", "url": "identifier_not_in_quote", "email": "identifier_not_in_quote",
    "version": "version_not_in_quote",
}  # fmt: skip


def _missing_values(claim: Claim, support: Sequence[Located]) -> Iterator[str]:
    """A code for every value of the statement, and of the claim's own value, that no quote holds and no rule gives."""
    keys = keys_of(support)
    tokens = words_of(support)
    said = [claim.statement, *([claim.value] if claim.value else []), *([claim.old_value] if claim.old_value else [])]
    for text in said:
        dates = _days_of(support, text)
        for value in typed_values(text):
            if value.key not in keys and not _given(value, text, support, tokens, dates):
                yield _CODES.get(value.kind, "value_not_in_quote")
    if any(own and not _spelled(own, tokens, support) for own in (claim.value, claim.old_value)):
        yield "value_not_in_quote"
    if _new_subject(claim.statement, support, tokens):
        yield "name_not_in_quote"


def _days_of(support: Sequence[Located], text: str) -> frozenset[str]:
    """Every date a quote names, by the clock of its turn: the one rule by which a date may stand in no quote.

    A day also gives its month and year. A week or another span gives its days only where `text` says the whole of it ("the week of ...", both ends).
    """
    days: set[str] = set()
    for one in support:
        for mention in resolve_dates(one.quote.text, one.turn.at, one.turn.zone):
            first, _, last = mention.iso.partition("/")
            if not last:
                days.update({first, first[:7], first[:4], "-" + first[4:]})
            elif (first in text and last in text) or (mention.precision == "week" and "week" in text.casefold()):
                days.update({first, last})
    return frozenset(days)


def _given(value: Value, text: str, support: Sequence[Located], tokens: frozenset[str], dates: frozenset[str]) -> bool:
    family, canonical = value.key
    if value.kind == "date":
        return canonical in dates
    if family == "number" and re.fullmatch(r"(?:19|20)\d\d", canonical):
        return canonical in dates
    if value.kind == "name" and canonical in NEUTRAL:  # "das Team" of a "we": German writes all its nouns like names
        return True
    if family == "identifier" or value.kind == "quoted":
        spelled = tokenize(text[value.start : value.end])
        wanted = set(spelled[:1] if family == "identifier" else spelled)
        return (bool(wanted) and wanted <= tokens) or is_speaker(canonical, support)
    return False


def _spelled(text: str, tokens: frozenset[str], support: Sequence[Located]) -> bool:
    """Whether the words of a claim's value stand in its quotes; words that spell a typed value were checked as such."""
    covered = [(value.start, value.end) for value in typed_values(text)]
    loose = [word for word in raw_words(text) if not any(a < word.end and word.start < b for a, b in covered)]
    return all(stands(word.text, tokens, support) or set(content_words(word.text)) <= tokens or is_speaker(word.text.casefold(), support) for word in loose)


_SUBJECT = re.compile(r"\W*([A-ZÀ-Þ][\w'-]*)(?=\s+(?:is|was|are|were|has|had|will|can|and|likes|[a-z]+s)(?![A-Za-z])|'s)")


def _new_subject(statement: str, support: Sequence[Located], tokens: frozenset[str]) -> str:
    """The first word of the statement when it is a subject that no quote knows ("Lee is the owner" from "Ana is the owner")."""
    match = _SUBJECT.match(fold_width(statement))
    if match is None:
        return ""
    word = match[1].removesuffix("'s").casefold()
    known = word in NEUTRAL or is_speaker(word, support) or set(content_words(word)) <= tokens
    return "" if known or any(len(token) > 3 and len(word) > 3 and token[:4] == word[:4] for token in tokens) else word


# --- denial ------------------------------------------------------------------------------------------------------------------------------


def _denial_kept(statement: str, support: Sequence[Located]) -> bool:
    """Whether each clause of the statement denies exactly when the clauses of the quotes that say the same thing do."""
    quoted = [clause for one in support for clause in _quoted_clauses(one)]
    return all(_clause_kept(span.of(statement), quoted) for span in clauses(statement))


def _quoted_clauses(one: Located) -> list[str]:
    """Clauses the quote touches, whole: a quote may not leave the `not` before it behind."""
    text = one.context
    offset = text.find(one.turn.text[one.quote.start : one.quote.end])
    end = offset + one.quote.end - one.quote.start
    touched = [span.of(text) for span in clauses(text) if offset < 0 or (span.start < end and offset < span.end)]
    return touched or [one.quote.text]


def _clause_kept(clause: str, quoted: Sequence[str]) -> bool:
    scores = [_alike(clause, other) for other in quoted]
    best = max(scores)
    if best == (0, 0):
        denials = [negated(other) for other in quoted]
        return any(denials) if negated(clause) else not all(denials)
    closest = [negated(other) for other, score in zip(quoted, scores, strict=True) if score == best]
    if negated(clause):
        return any(closest) or any(negated(other) and _taken_in(other, clause) for other in quoted)
    return not any(closest)


def _taken_in(other: str, clause: str) -> bool:
    """Whether all that a quoted clause tells stands in a clause of the statement, which says two things in one ("failed since no space was left")."""
    told = set(content_words(other))
    return len(told) > 1 and told <= set(content_words(clause))


def _alike(clause: str, other: str) -> tuple[int, int]:
    """How much two clauses speak of the same: words and values in common; of as many, the one with more words says the same."""
    values, words = len(_hard(clause) & _hard(other)), len(set(content_words(clause)) & set(content_words(other)))
    return values + words, words


def _hard(text: str) -> frozenset[tuple[str, str]]:
    return frozenset(key for key in value_keys(text) if key[0] not in {"quoted", "bound"})


# --- whose it is -------------------------------------------------------------------------------------------------------------------------

_THIRD = re.compile(r"^\W*(?:he|she|they|his|her|their)(?![A-Za-z])|^\W*(?:他|她)", re.I)


def _owner_kept(claim: Claim, support: Sequence[Located]) -> bool:
    """Whether a statement about the speaker rests on what the speaker says of themselves, not of a daughter, a colleague or "he"."""
    about_speaker = bool(NAMES_USER.search(fold_width(claim.statement))) or any(is_speaker(word.casefold(), support) for word in claim.statement.split())
    owners = [owner for one in support if (owner := _owner(up_to_the_clause(claim.statement, one)))]
    if owners and not any(owner in fold_width(claim.statement).casefold() for owner in owners):
        return False
    return not about_speaker or any(FIRST.search(one.context) or not _speaks_of_another(one) for one in support)


def _owner(text: str) -> str:
    """Whose fact it is when it is somebody's of the speaker's: `daughter` of "my daughter is ...", 女儿 of 我女儿; "" when they themselves are meant too."""
    match = OWNER.search(fold_width(text))
    return "" if match is None or _and_i(text) else next(group for group in match.groups() if group).casefold()


def _and_i(text: str) -> bool:
    return bool(re.search(r"(?<![A-Za-z])and (?:i|me)(?![A-Za-z])|(?<![A-Za-z])i and |和我|跟我|我和", text, re.I))


def _speaks_of_another(one: Located) -> bool:
    named = [value for value in typed_values(one.context) if value.kind == "name" and not is_speaker(value.canonical, [one])]
    opens_with_name = bool(named) and not one.context[: named[0].start].strip(" \"'“‘(*_-")
    return bool(_THIRD.match(one.context)) or opens_with_name


# --- done --------------------------------------------------------------------------------------------------------------------------------


def _shows_done(one: Located) -> bool:
    """Whether the quote itself says so, or is the result of a command that is known to have succeeded."""
    return completion(one.context) or (one.turn.result is not None and one.turn.result.exit == 0 and not one.turn.result.failed)
