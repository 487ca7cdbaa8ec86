"""How a newer statement relates to an older one: the same, an update, a contradiction, or nothing that can be told (OTHER).

Typed values, polarity, subject and scope decide; likeness of words never merges (contradicting statements are more alike than paraphrases are). Every rule
asks for the same subject, the same scope and an attribute that both name; whatever is left is OTHER, which is an abstention, not a finding.
"""

# Word lists read better as text.
# ruff: noqa: SIM905

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from pipelines.model import Relation
from pipelines.text.names import SURNAMES
from pipelines.text.slots import ATTRIBUTE_OF, IMPERATIVES, SORT_OF
from pipelines.text.statement import Form, Person, Statement, canonical_words, parse
from pipelines.text.values import Value, typed_values
from pipelines.text.words import ENGLISH_STOP


@dataclass(frozen=True, slots=True)
class Related:
    """The relation and the rule that found it, or the veto that stopped it; `why` is a short constant code."""

    relation: Relation
    why: str


def relate(older: Statement, newer: Statement) -> Related:
    """How `newer` relates to `older`. Which of two statements is newer is the caller's to know (`beliefs`)."""
    if veto := _veto(older, newer):
        return Related(Relation.OTHER, veto)
    for rule in (_marked_over, _names_old_value, _same_slot, _now_another, _same_order, _one_value_differs):
        if found := rule(older, newer):
            if found.relation is Relation.SAME and (why := forbids_merge(older, newer)):
                return Related(Relation.OTHER, why)
            return found
    return Related(Relation.OTHER, "nothing_in_common")


def forbids_merge(a: Statement, b: Statement) -> str | None:
    """Why two statements can never be one note, or None: another polarity, scope, person, subject, number, version, name or identifier. Symmetric."""
    if a.negated != b.negated:
        return "negation_differs"
    if a.qualifier != b.qualifier:
        return "scope_differs"
    if _persons_differ(a, b):
        return "person_differs"
    if a.form is Form.SLOT and b.form is Form.SLOT and a.subject and b.subject and subject_key(a.subject) != subject_key(b.subject):
        return "subject_differs"
    if _comparable(a) != _comparable(b):
        return "values_differ"
    if _names_missing(a, b) or _names_missing(b, a):
        return "names_differ"
    return None


# --- keys --------------------------------------------------------------------------------------------------------------------------------

_GENERIC = frozenset({"project", "repo", "repository", "codebase", "项目", "工程", "代码库"})
_CARRIERS = frozenset("directori file port version branch url number date".split())
_MEASURED = frozenset("""number date relative time weekday duration quantity money percent url email color direction state address zone bound""".split())


@lru_cache(maxsize=16384)
def subject_key(subject: str) -> tuple[str, ...]:
    """Canonical words of a subject; () for what names nothing in particular ("the project")."""
    words = canonical_words(subject)
    return () if len(words) == 1 and (words[0] in _GENERIC or subject.casefold() in _GENERIC) else words


ValueKey = tuple[frozenset[tuple[str, str]], tuple[str, ...]]


@lru_cache(maxsize=16384)
def value_key(value: str | None) -> ValueKey:
    """What makes a value the same value: its typed parts, and the words around them ("port", "directory" and the like are no difference)."""
    if not value:
        return frozenset(), ()
    typed = [v for v in typed_values(value) if not _is_word(v)]
    rest = value
    for found in reversed(typed):
        rest = rest[: found.start] + " " + rest[found.end :]
    words = canonical_words(rest)
    if typed:
        words = tuple(word for word in words if word not in _CARRIERS)
    return frozenset(v.key for v in typed), words if typed or words else (value.casefold().strip(),)


def _is_word(value: Value) -> bool:
    """A name is compared as a word: Neovim and neovim are one value, whether or not a capital gave it away."""
    return value.kind in {"name", "quoted"} or (value.kind == "identifier" and value.canonical.isalpha())


def _comparable(statement: Statement) -> frozenset[tuple[str, str]]:
    return _comparables(statement.values)


@lru_cache(maxsize=65536)
def _comparables(values: tuple[Value, ...]) -> frozenset[tuple[str, str]]:
    return frozenset(v.key for v in values if v.kind not in {"bound", "state"} and not _is_word(v))


def _names_missing(a: Statement, b: Statement) -> bool:
    """Whether `a` names somebody or something that `b` does not speak of at all."""
    text = b.text.casefold()
    names = [v.canonical for v in a.values if _is_word(v) and v.kind != "quoted"]
    if lead := _LEAD_NAME.match(a.text):
        name = (lead[1] or lead[2]).casefold()
        names += [name] if name not in ENGLISH_STOP | IMPERATIVES and (lead[1] or name[-1] in SURNAMES) else []
    return any(not re.search(rf"(?<![a-z]){re.escape(name)}(?![a-z])", text) for name in names)


# A sentence opens with a capital anyway: there only "Nora reviews" and 小周 are taken for a name.
_LEAD_NAME = re.compile(r"([A-Z][a-z]*[a-rt-z])(?='s\s|\s[a-z]+s\s)|([小老阿][\u4e00-\u9fff])")


# --- vetoes ------------------------------------------------------------------------------------------------------------------------------


def _veto(older: Statement, newer: Statement) -> str | None:
    if _persons_differ(older, newer):
        return "person_differs"
    if older.qualifier != newer.qualifier and older.qualifier and newer.qualifier:
        return "scope_differs"
    if Person.UNRESOLVED in (older.person, newer.person):
        return "person_unresolved"
    return None


def _persons_differ(a: Statement, b: Statement) -> bool:
    """One states the speaker's own fact, the other somebody else's."""
    human = {Person.SPEAKER, Person.OTHER}
    return a.person in human and b.person in human and (a.person is not b.person or subject_key(a.subject) != subject_key(b.subject))


# --- rules -------------------------------------------------------------------------------------------------------------------------------

_LOOSE = frozenset({"tool", "use", "platform", "name", "value", "is"})
_LASTING = frozenset({"hometown", "birthday", "name", "allergy", "spouse", "dog", "cat", "condition", "education"})
"""What stays true of a person whatever they leave: who moves away from Leeds still grew up there."""


def _marked_over(older: Statement, newer: Statement) -> Related | None:
    """The newer is the older, word for word, and says behind it that this is over ("… (DONE)", "… — superseded by plan 14")."""
    marked = _before_mark(newer.text)
    if marked is None or len(older.words) < 3 or _before_mark(older.text) is not None or parse(marked).words != older.words:
        return None
    return Related(Relation.UPDATE, "marked_over")


@lru_cache(maxsize=16384)
def _before_mark(text: str) -> str | None:
    """What stands before the mark that says that it is over; None without one. Asked of a sentence for each that it is set beside."""
    mark = _OVER.search(text)
    return text[: mark.start()] if mark else None


_OVER = re.compile(
    r"\s*(?:[(（\[【]|\s[-–—]+\s)\s*\**(?:(?:done|resolved|fixed|closed|superseded|obsolete|deprecated|abandoned|cancell?ed|historical|removed|shipped)\b"
    r"|已完成|已解决|已废弃|已取消|作废)[^()（）\[\]【】]{0,60}[)）\]】]?\**\s*[.。]?\s*$",
    re.IGNORECASE,
)


def _names_old_value(older: Statement, newer: Statement) -> Related | None:
    """The newer says which value is over, and it is the older one's ("from 8080 to 9090")."""
    if not newer.old_value or not older.value or older.negated or newer.negated:
        return None
    told = _is_told_by(newer.old_value, older.value) or value_key(_bare(newer.old_value)) == value_key(_bare(older.value))
    if not (told or _opens(newer.old_value, older.value)) or value_key(_bare(newer.value or "")) == value_key(_bare(older.value)):
        return None
    if older.attribute != newer.attribute and (newer.attribute not in _LOOSE or older.attribute in _LASTING):
        return None
    a, b = set(subject_key(older.subject)), set(subject_key(newer.subject))
    if (a and b and not (a <= b or b <= a)) or (not told and a != b):
        return Related(Relation.OTHER, "subject_differs")
    return Related(Relation.UPDATE, "names_old_value")


def _is_told_by(short: str, full: str) -> bool:
    """Whether a value that is over is this one, told in full or without its zone and unit ("from 02:00" of "02:00 UTC", "from 4" of "4 workers")."""
    if re.fullmatch(r"\d[\d.,]*", short) and re.match(rf"{re.escape(short)}(?![\d.,])\D*$", full):
        return True
    (typed, words), (all_typed, all_words) = value_key(short), value_key(full)
    rest = all_typed - typed
    return (typed, words) == (all_typed, all_words) or bool(typed <= all_typed and typed and set(words) <= set(all_words) and all(k == "zone" for k, _ in rest))


def _bare(value: str) -> str:
    """A value without what only leads to it ("on Fridays", "stored as PNG in src/icons")."""
    return _LEADS_TO.sub("", value, count=1)


def _opens(short: str, full: str) -> bool:
    """Whether a value that is over is this one without where or in which form it is ("PNG" of "stored as PNG in src/icons")."""
    old, whole = _bare(short), _bare(full)
    return old[:1].isalnum() and whole.casefold().startswith(old.casefold()) and _WHERE_IT_IS.match(whole, len(old)) is not None


_LEADS_TO = re.compile(
    r"^(?:(?:stored|kept|saved|written|hosted|built|served|delivered|shipped|run|deployed|located|made|exported|rendered|encoded|distributed|published|released|scheduled"
    r"|held|produced|created|done)\s+)?(?:as|in|on|at|with|via|using)\s+(?:an?\s+)?",
    re.IGNORECASE,
)
_WHERE_IT_IS = re.compile(r"(?:\s+(?:files?|images?|format))?\s+(?:in|under|inside|at)\s|\s+(?:files?|images?|format)$|\s*(?:格式|文件|图片)$", re.IGNORECASE)


def _same_slot(older: Statement, newer: Statement) -> Related | None:
    """One subject, one attribute, one scope: equal values are the same, others replace or contradict where only one can hold."""
    if older.form is not Form.SLOT or newer.form is not Form.SLOT or older.attribute != newer.attribute:
        return None
    if subject_key(older.subject) != subject_key(newer.subject):
        return Related(Relation.OTHER, "subject_differs")
    if older.qualifier != newer.qualifier:
        return Related(Relation.OTHER, "scope_differs")
    if older.extra != newer.extra:
        return Related(Relation.OTHER, "says_more")
    changed = Relation.UPDATE if newer.update else Relation.CONTRADICTION
    old, new = value_key(older.value), value_key(newer.value)
    if old == new and value_key(older.against) == value_key(newer.against):
        return Related(Relation.SAME, "same_value") if older.negated == newer.negated else Related(changed, "opposite_polarity")
    if older.against and newer.against and old == value_key(newer.against) and new == value_key(older.against):
        return Related(changed, "preference_turned")
    if newer.also:
        return Related(Relation.OTHER, "both_hold")
    if older.negated or newer.negated:
        return None
    if older.cardinality == newer.cardinality == "single" and _replaceable(older, newer):
        return Related(changed, "other_value")
    return None


def _now_another(older: Statement, newer: Statement) -> Related | None:
    """One subject does one thing with another tool *now*: the newer says that something changed, and both are of one sort ("uses yarn", "we use pnpm now")."""
    if not newer.update or newer.also or older.negated or newer.negated or value_key(older.value) == value_key(newer.value):
        return None
    if (subject_key(older.subject), older.qualifier, older.extra) != (subject_key(newer.subject), newer.qualifier, newer.extra):
        return None
    commands = older.attribute == newer.attribute == "command"
    tools = {older.attribute, newer.attribute} <= USED_AS and sort_of(older.value) == sort_of(newer.value) != ""
    return Related(Relation.UPDATE, "now_another") if (commands or tools) and older.form is newer.form is Form.SLOT else None


USED_AS = frozenset({"use", "tool", "package manager", "test runner", "bundler", "linter", "formatter", "database"})
"""Attributes whose value is the thing itself."""


def sort_of(value: str | None) -> str:
    """The sort of tool a value is, its version aside; "" for what is no tool of the lexicon or says more than its name."""
    words = [word for word in (value or "").casefold().split() if not re.fullmatch(r"v?\d[\w.]*", word)]
    return SORT_OF.get(words[0], "") if len(words) == 1 else ""


def _replaceable(older: Statement, newer: Statement) -> bool:
    """Short values of one sort, neither of which only says more than the other ("Postgres", "Postgres 15")."""
    (old_typed, old_words), (new_typed, new_words) = value_key(older.value), value_key(newer.value)
    if _measures(old_typed) != _measures(new_typed) or len(old_words) > 4 or len(new_words) > 4:
        return False
    old_all = {part for _, part in old_typed} | set(old_words)
    new_all = {part for _, part in new_typed} | set(new_words)
    return not (old_all <= new_all or new_all <= old_all)


def _measures(typed: Iterable[tuple[str, str]]) -> frozenset[str]:
    return frozenset(kind for kind, _ in typed if kind in _MEASURED)


def _same_order(older: Statement, newer: Statement) -> Related | None:
    """Orders and free prose: the same canonical words in the same order are the same; with the other polarity they contradict."""
    if Form.SLOT in (older.form, newer.form) or older.qualifier != newer.qualifier:
        return None
    if older.negated == newer.negated:
        alike = older.words == newer.words or (older.attribute == newer.attribute and older.form is newer.form is Form.RULE)
        found = Related(Relation.SAME, "same_words") if alike and not (newer.also and not older.also) else None
    else:
        found = _opposite(older, newer)
    if found is None or min(older.attribute.count(" "), newer.attribute.count(" ")) < 1:
        return None
    return None if forbids_merge(replace(older, negated=False), replace(newer, negated=False)) else found


def _opposite(older: Statement, newer: Statement) -> Related | None:
    """Two orders, one denied, where the longer only adds a little; of free prose only what is "no longer"."""
    if not (older.form is newer.form is Form.RULE) and not newer.update:
        return None
    shorter, longer = sorted((older.attribute.split(), newer.attribute.split()), key=len)
    if len(longer) > len(shorter) + 3 or not set(shorter) <= set(longer):
        return None
    return Related(Relation.UPDATE if newer.update else Relation.CONTRADICTION, "opposite_order")


TELLING = frozenset({"color", "direction", "state"})
"""Kinds of values that are qualities: a thing has one of each at a time."""


def _one_value_differs(older: Statement, newer: Statement) -> Related | None:
    """The same words around one typed value that differs, where the words name a single-valued attribute or the value is a quality."""
    if newer.also or older.negated != newer.negated or older.qualifier != newer.qualifier:
        return None
    if older.attribute != newer.attribute and Form.SLOT in (older.form, newer.form):
        return None
    old, new = _comparable(older), _comparable(newer)
    gone, come = old - new, new - old
    if len(gone) != 1 or len(come) != 1:
        return None
    ((kind, _), (other, _)) = (*gone, *come)
    if kind != other or words_around(older) != words_around(newer):  # last, since nearly all pairs are told apart by less
        return None
    if not ((kind in TELLING and older.form is Form.SLOT) or any(word in ATTRIBUTE_OF for word in words_around(older))):
        return None
    return Related(Relation.UPDATE if newer.update else Relation.CONTRADICTION, "one_value_differs")


def words_around(statement: Statement) -> tuple[str, ...]:
    """The canonical words outside the measured values."""
    return _words_around(statement.text)


@lru_cache(maxsize=65536)
def _words_around(text: str) -> tuple[str, ...]:
    bare = text
    for value in reversed(typed_values(text)):
        if value.kind not in {"name", "identifier", "quoted", "bound"}:
            bare = bare[: value.start] + " " + bare[value.end :]
    return canonical_words(bare)
