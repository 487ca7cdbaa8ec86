"""Instruction files beside what notes say: what they say already, and where they say otherwise.

An instruction file (CLAUDE.md, AGENTS.md, what they import) is loaded by every session of its own accord. It is no evidence for or against a note: what it
says already need not be told again, and a note that says otherwise waits for the person. Two sentences are set side by side where they share two words or an
attribute; whatever the rules of `relate` and the two below cannot tell says nothing. Pure.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache

from pipelines.model import OnlineNote, Relation
from pipelines.notes.relate import forbids_merge, relate, subject_key, value_key
from pipelines.text.mood import Mood, mood_of
from pipelines.text.sentences import sentences
from pipelines.text.statement import Form, Statement, parse
from pipelines.text.words import content_words

FOLDER = "//instructions"
"""The folder lines of instruction files are stored under: no memory folder has such a name."""
SHARED_MIN = 2
"""Content words two sentences have in common before they are looked at together."""
SIDE_CHARS_MAX = 400
_STATING = frozenset({Mood.PLAIN, Mood.REPORTED, Mood.REQUEST})
_SHAPES = frozenset({"bullet", "paragraph"})
_DENIAL = re.compile(
    r"\b(?:never|don['’]?t|do not|must not|mustn['’]t|should not|shouldn['’]t|cannot|can['’]t|not|avoid|no longer|isn['’]t|aren['’]t)\b", re.IGNORECASE
)
_BOUND = re.compile(r"\b(?:if|unless|except|when|until|without|but|only|while|after|before|because)\b", re.IGNORECASE)
_LABEL = re.compile(r"[^\s:：][^:：.]{0,40}[:：](?:\s|(?<=：))")
"""A line such as "Plan: 012.md" says something of what its file or heading names, and two of them most often of two things."""
_EMPTY = frozenset(
    "never don't dont not cannot can't mustn't shouldn't avoid longer alway must should shall run go happen do put live make take place everyth isn't aren't".split()  # noqa: SIM905
)
"""Words of a sentence that do not say what it is about, as `content_words` gives them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A sentence of a file: where, the words, what they state, and since when they are known to stand there."""

    path: str
    line: int
    words: str
    statement: Statement
    since: datetime | None = None

    @property
    def place(self) -> str:
        """`CLAUDE.md line 3`."""
        return f"{self.path} line {self.line}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Clash:
    """Two lines that cannot both hold."""

    one: Told
    other: Told


def told_by(notes: Iterable[OnlineNote], since: dict[str, datetime] | None = None, *, prefix: str = "") -> tuple[Told, ...]:
    """Every sentence of these lines that states something or orders it, in their order; `since` says when each line (by uid) was first seen."""
    return tuple(
        Told(path=f"{prefix}{note.path}", line=note.line, words=words, statement=_read(words), since=(since or {}).get(note.uid))
        for note in notes if note.shape in _SHAPES for words in stating(note.text)
    )  # fmt: skip


@lru_cache(maxsize=16384)
def stating(text: str) -> tuple[str, ...]:
    """The sentences of a text that state or order something, without questions, wishes and conditions."""
    found = (" ".join(text[s.start : s.end].split()) for s in sentences(text))
    return tuple(x for x in found if x and len(x) <= SIDE_CHARS_MAX and mood_of(x) in _STATING)


@dataclass(slots=True)
class Instructions:
    """The sentences of the instruction files of a scope, found by what they are about."""

    told: Sequence[Told] = ()
    _by: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        for number, one in enumerate(self.told):
            for key in _keys(one.statement):
                self._by[key].append(number)

    def covers(self, text: str) -> bool:
        """Whether every sentence of a text is said by a file already."""
        said = stating(text) if self.told else ()
        return bool(said) and all(self._says(x) for x in said)

    def _says(self, words: str) -> bool:
        whole, bare = _read(words), _read(_CORRECTING.sub("", words))
        return any(same(one.statement, whole) or same(one.statement, bare) for one in self._near(whole))

    def against(self, text: str) -> Told | None:
        """The first sentence of a file that a sentence of the text says otherwise than."""
        for words in stating(text) if self.told else ():
            if (found := next((one for one in self._near(_read(words)) if opposed(one.statement, _read(words))), None)) is not None:
                return found
        return None

    def clashes(self) -> Iterator[Clash]:
        """Pairs of sentences of the files themselves that cannot both hold, each once."""
        for number, one in enumerate(self.told):
            for other in self._near(one.statement, after=number):
                if opposed(one.statement, other.statement):
                    yield Clash(one=one, other=other)

    def _near(self, statement: Statement, *, after: int = -1) -> Iterator[Told]:
        """Sentences that share an attribute, a value one of them says is over, or two words (one, where there is no second), in their order."""
        shared: defaultdict[int, int] = defaultdict(int)
        over, keys = _over(statement), _keys(statement)
        for key in (*keys, *(f"{_OVER}{word}" for word in _about(statement.text))):
            for number in self._by.get(key, ()):
                if number > after:
                    shared[number] += SHARED_MIN if key[0] in _MARKS or key in over else 1
        mine = len(_about(statement.text))
        for number in sorted(shared):
            if shared[number] >= min(SHARED_MIN, mine, len(_about(self.told[number].statement.text))):
                yield self.told[number]


_CORRECTING = re.compile(r",\s*(?:not|instead of|rather than)\s+[^,;]+?(?=[.;,]|$)")
"""What a correction adds to what holds: "5433, not 5432"."""


def _read(words: str) -> Statement:
    """A sentence read; marks of code make no other value."""
    return parse(words.replace("`", ""))


def same(one: Statement, other: Statement) -> bool:
    """Whether two sentences say the same: by the rules, the same slot, or the same words about the same values."""
    if one.form is other.form is Form.SLOT and _slot(one) == _slot(other):
        return True  # though one of them may name the value that is over, too
    if one.negated != other.negated or one.qualifier != other.qualifier or forbids_merge(one, other):
        return False
    if relate(one, other).relation is Relation.SAME:
        return True
    words = _about(one.text)
    return len(words) >= SHARED_MIN and words == _about(other.text) and _denied(one.text) == _denied(other.text)


def opposed(one: Statement, other: Statement) -> bool:
    """Whether two sentences cannot both hold."""
    for older, newer in ((one, other), (other, one)):
        related = relate(older, newer)
        if related.relation not in {Relation.CONTRADICTION, Relation.UPDATE} or (related.why == "opposite_order" and _bound(one, other)):
            continue
        if related.why == "names_old_value" or not ((_nameless(one) and _nameless(other)) or (_LABEL.match(one.text) and _LABEL.match(other.text))):
            return True
    return _denies(one, other)


def _bound(one: Statement, other: Statement) -> bool:
    """Whether one of them holds under a condition only: "push to main when Ana agrees" is an exception, no contradiction."""
    return bool(_BOUND.search(one.text) or _BOUND.search(other.text))


def _denies(one: Statement, other: Statement) -> bool:
    """One says what the other forbids, in the same words but for one ("deploys run on Fridays", "never deploy on Fridays"); none of them under a condition."""
    if _denied(one.text) == _denied(other.text) or one.qualifier != other.qualifier or _bound(one, other):
        return False
    short, long = sorted((_about(one.text), _about(other.text)), key=len)
    values = [frozenset(v.key for v in s.values if v.kind not in {"name", "bound", "state"}) for s in (one, other)]
    return len(short) >= SHARED_MIN and short <= long and len(long) <= len(short) + 1 and values[0] == values[1]


_SLOT, _OVER = "\0", "\1"
_MARKS = frozenset({_SLOT, _OVER})
"""What keys begin with that are no words: an attribute, a word of a value that is over."""


def _keys(statement: Statement) -> frozenset[str]:
    slot = {f"{_SLOT}{statement.attribute}"} if statement.form is Form.SLOT and statement.attribute else set()
    return _about(statement.text) | slot | {f"{_OVER}{word}" for word in _over(statement)}


def _over(statement: Statement) -> frozenset[str]:
    """The words of the value a sentence says is over ("pnpm instead of yarn")."""
    return _about(statement.old_value or "")


@lru_cache(maxsize=16384)
def _about(text: str) -> frozenset[str]:
    """What a sentence is about: its content words without denials, "always" and the verbs that say little; marks of code make no other word."""
    return frozenset(content_words(text.replace("`", ""))) - _EMPTY


def _denied(text: str) -> bool:
    return len(_DENIAL.findall(text)) % 2 == 1


def _slot(s: Statement) -> tuple[object, ...]:
    return (subject_key(s.subject), s.attribute, s.qualifier, s.negated, value_key(s.value), s.extra)


def _nameless(s: Statement) -> bool:
    """A slot that many things of one project have, without the thing's name: two of them may speak of different things."""
    return s.form is Form.SLOT and not subject_key(s.subject)
