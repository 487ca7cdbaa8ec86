"""Instruction files beside what notes say: what they say already, and where they say otherwise.

An instruction file (CLAUDE.md, AGENTS.md, what they import) is loaded by every session of its own accord. It is no evidence for or against a note: what it
says already need not be told again, and a note that says otherwise waits for the person. Two sentences are set side by side where they share two words or an
attribute; whatever the rules of `relate` and the two below cannot tell says nothing.

A file of a subfolder is loaded by sessions that work there. So it stands beside those notes only that name the folder (its path, or its name as that of a
place: "in api", "the api package"), and is compared with what they say apart from that; to any other note it says nothing. Pure.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache

from pipelines.model import OnlineNote, Relation
from pipelines.notes.choices import by_itself, choice
from pipelines.notes.instructed import BELOW, PATHS
from pipelines.notes.relate import forbids_merge, relate, subject_key, value_key
from pipelines.text.mood import ZH_BAN, Mood, mood_of, negated
from pipelines.text.sentences import sentences
from pipelines.text.slots import ATTRIBUTE_OF, is_single
from pipelines.text.statement import Form, Statement, parse
from pipelines.text.words import content_words, is_han

SHARED_MIN = 2
"""Content words two sentences have in common before they are looked at together."""
SIDE_CHARS_MAX = 400
_STATING = frozenset({Mood.PLAIN, Mood.REPORTED, Mood.REQUEST})
_SHAPES = frozenset({"bullet", "paragraph"})
_DENIAL = re.compile(
    r"\b(?:never|don['’]?t|do not|must not|mustn['’]t|should not|shouldn['’]t|cannot|can['’]t|not|avoid|no longer|isn['’]t|aren['’]t|(?:nothing|nobody|no one)(?=\s+(?:may|must|should|can)\b)|nunca|jamais|niemals|nicht)\b",
    re.IGNORECASE,
)
_HAN_DENIAL = re.compile(rf"(?:请|千万|永远|绝对?|决)?(?:{ZH_BAN}|不再|从不|永不|绝不)|(?:请|永远)?不(?=使?用)")
"""What forbids in a Chinese sentence; taken out, the words that are left say what."""
_BOUND = re.compile(
    r"\b(?:if|unless|except|when|until|without|but|only|while|after|before|because)\b|如果|要是|若|除非|除了|直到|之前|之后|因为|但|不过|只[有在能]|仅",
    re.IGNORECASE,
)
_LABEL = re.compile(r"[^\s:：][^:：.]{0,40}[:：](?:\s|(?<=：))")
"""A line such as "Plan: 012.md" says something of what its file or heading names, and two of them most often of two things."""
_EMPTY = frozenset(
    "never don't dont not cannot can't mustn't shouldn't avoid longer alway must should shall run go happen do put live make take place everyth isn't aren't".split()  # noqa: SIM905
) | frozenset("nunca jamais niemals nicht 永远 一律 始终 必须 务必 应该 应当 进行 我们 每次 都".split())  # noqa: SIM905
"""Words of a sentence that do not say what it is about, as `content_words` gives them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A sentence of a file: where, the words, what they state, since when they are known to stand there, the folder they bind in ("": everywhere),
    the paths they are a rule for ("": all), and whether they are `alone`: no heading and no sentence before them says of which part they speak."""

    path: str
    line: int
    words: str
    statement: Statement
    since: datetime | None = None
    below: str = ""
    paths: str = ""
    alone: bool = True

    @property
    def place(self) -> str:
        """`CLAUDE.md line 3`, of a rule for some paths with these."""
        return f"{self.path} line {self.line}{self.only}"

    @property
    def only(self) -> str:
        """` (for src/api/**)`: for what paths alone it is a rule; "" for all."""
        return f" (for {self.paths})" if self.paths else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clash:
    """Two lines that cannot both hold."""

    one: Told
    other: Told


def told_by(notes: Iterable[OnlineNote], since: dict[str, datetime] | None = None, *, prefix: str = "") -> tuple[Told, ...]:
    """Every sentence of these lines that states something or orders it, in their order; `since` says when each line (by uid) was first seen."""
    return tuple(
        _told(note, words, f"{prefix}{note.path}", (since or {}).get(note.uid)) for note in notes if note.shape in _SHAPES for words in stating(note.text)
    )


def stands_alone(note: OnlineNote, *headings: str) -> bool:
    """Whether no line above a note and none of its headings says of which part of the project it speaks."""
    return note.depth == 0 and by_itself(note.heading, *headings)


def _told(note: OnlineNote, words: str, path: str, since: datetime | None) -> Told:
    alone = stands_alone(note) and _opens(note.text, words)
    below = note.front_matter.get(BELOW, "")
    said = (apart_from(below, words) or " ".join(_HERE.sub("", words).split()) if below else "") or words
    return Told(path=path, line=note.line, words=words, statement=_read(said), since=since, below=below, paths=note.front_matter.get(PATHS, ""), alone=alone)


def _opens(text: str, words: str) -> bool:
    """Whether a text begins with these words: what stands before a sentence may say of what it speaks."""
    return " ".join(text.split()).startswith(words)


_HERE = re.compile(
    r"\s*\b(?:here|(?:in|under|below|of)\s+this\s+(?:folder|directory|package|module))\b[,:]?|(?:在)?(?:这里|此处|本目录|该目录)[里中下的]?[，,]?",
    re.IGNORECASE,
)
"""How a file of a subfolder names its own folder."""


@lru_cache(maxsize=16384)
def stating(text: str) -> tuple[str, ...]:
    """The sentences of a text that state or order something, without questions, wishes and conditions; what one forbids apart from what it orders."""
    found = (" ".join(text[s.start : s.end].split()) for s in sentences(text))
    return tuple(half for x in found if x and len(x) <= SIDE_CHARS_MAX and mood_of(x) in _STATING for half in _halves(x))


def _halves(words: str) -> tuple[str, ...]:
    """ "Use pnpm, do not use npm" is two orders; under a condition it is one. Of "answers are in English, do not use French" the second is of answers only
    and adds nothing to the first."""
    halves = tuple(half for half in _NEXT_ORDER.split(words) if half)
    if len(halves) < 2 or _BOUND.search(words) or _SOMEWHERE.match(words) or len({negated(half) for half in halves}) < 2:
        return (words,)
    return halves[:1] if _read(halves[0]).subject and not negated(halves[0]) else halves


_SOMEWHERE = re.compile(r"(?:in|inside|within|under|below|at|on|for|from|with|by)\b|在", re.IGNORECASE)
_NEXT_ORDER = re.compile(
    r"[,，;；、]\s*(?:(?:and|so)\s+)?(?=(?:do not|don['’]t|never|avoid)\s+[a-z]+\s+\S|(?:use|deploy|run|write|keep|put|commit|push)\s+\S)"
    rf"|[,，;；、]\s*(?=(?:请|千万|永远|绝对?|一律|要|应)?(?:{ZH_BAN}|使用|改用|用)\s*\S)",
    re.IGNORECASE,
)
"""Where an order begins behind another one; "never npm" has no verb and is none."""


@dataclass(slots=True)
class Instructions:
    """The sentences of the instruction files of a scope, found by what they are about."""

    told: Sequence[Told] = ()
    _by: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    _folders: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for number, one in enumerate(self.told):
            for key in _keys(one.statement) | _slots(one.statement, found=True) | _chosen(one.statement):
                self._by[key].append(number)
        self._folders = tuple(dict.fromkeys(one.below for one in self.told if one.below))

    def covers(self, text: str) -> bool:
        """Whether every sentence of a text is said by a file already."""
        said = stating(text) if self.told else ()
        return bool(said) and all(self._says(x) for x in said)

    def _says(self, words: str) -> bool:
        for said, below in self._beside(words):
            whole, bare = _read(said), _read(_CORRECTING.sub("", said))
            if any(same(one.statement, whole) or same(one.statement, bare) for one in self._near(whole) if one.below == below):
                return True
        return False

    def against(self, text: str, *, alone: bool = True) -> Told | None:
        """The first sentence of a file that a sentence of the text says otherwise than. `alone`: the text stands below no heading that names a part."""
        for words in stating(text) if self.told else ():
            for said, below in self._beside(words):
                near = (one for one in self._near(_read(said)) if one.below == below)
                by_place = alone and _opens(text, words)
                if (found := next((one for one in near if _clash(one.statement, _read(said), alone=by_place and one.alone)), None)) is not None:
                    return found
        return None

    def _beside(self, words: str) -> Iterator[tuple[str, str]]:
        """What a sentence says everywhere, and apart from each folder it names, within that."""
        yield words, ""
        for folder in self._folders:
            if (said := apart_from(folder, words)) is not None:
                yield said, folder

    def clashes(self) -> Iterator[Clash]:
        """Pairs of sentences of the files themselves that cannot both hold and that one session may load, each once."""
        for number, one in enumerate(self.told):
            for other in self._near(one.statement, after=number):
                if _together(one, other) and _clash(one.statement, other.statement, alone=one.alone and other.alone):
                    yield Clash(one=one, other=other)

    def _near(self, statement: Statement, *, after: int = -1) -> Iterator[Told]:
        """Sentences that share a slot, a value one of them says is over, or two words (one, where there is no second), in their order."""
        shared: defaultdict[int, int] = defaultdict(int)
        over, keys = _over(statement), _keys(statement) | _slots(statement, found=False) | _chosen(statement)
        for key in (*keys, *(f"{_OVER}{word}" for word in _about(statement.text))):
            for number in self._by.get(key, ()):
                if number > after:
                    shared[number] += SHARED_MIN if key[0] in _MARKS or key in over else 1
        mine = len(_about(statement.text))
        for number in sorted(shared):
            if shared[number] >= min(SHARED_MIN, mine, len(_about(self.told[number].statement.text))):
                yield self.told[number]


def apart_from(folder: str, words: str) -> str | None:
    """What a sentence says apart from the place it says it of; None where it does not name the folder (`packages/api`)."""
    name = folder.rpartition("/")[2]
    if name.casefold() not in words.casefold():
        return None
    rest, named = _place(folder).subn("", words, count=1)
    return " ".join(rest.split()).strip(" ,，、") if named else None


@lru_cache(maxsize=1024)
def _place(folder: str) -> re.Pattern[str]:
    """A folder as sentences name it: by its path, or by its name where a word before or behind says that it is a place."""
    path, name = re.escape(folder), re.escape(folder.rpartition("/")[2])
    before, behind = (
        r"(?:\b(?:in|under|below|inside|within|for|of|from)\s+(?:the\s+)?|在\s*)",
        r"(?:\s*(?:folder|directory|package|service|module|subfolder)\b|\s*(?:目录|文件夹|模块|包)?[里中下内]?)",
    )
    start, end = r"(?<![A-Za-z0-9_./-])[`'\"]?(?:\./)?", r"/?[`'\"]?(?![A-Za-z0-9_/-])"
    thing = r"\s+(?:folder|directory|package|service|module|subfolder)\b|\s*(?:目录|文件夹|模块)[里中下内]?"
    return re.compile(f"{before}?{start}{path}{end}{behind}|{before}{start}{name}{end}{behind}|(?:\\bthe\\s+)?{start}{name}{end}(?:{thing})", re.IGNORECASE)


def _together(one: Told, other: Told) -> bool:
    """Whether one session may load both and follow both: of their folders one is the other or above it, and they are rules for the same paths: one for some of
    them is an exception to what is said of all."""
    if one.paths != other.paths:
        return False
    a, b = one.below, other.below
    return not a or not b or a == b or a.startswith(f"{b}/") or b.startswith(f"{a}/")


_CORRECTING = re.compile(r",\s*(?:not|instead of|rather than)\s+[^,;]+?(?=[.;,]|$)")
_WE = re.compile(r"^(?:我们|咱们)(?:都|一直)?(?=.)")
_CORRECTING_HAN = re.compile(r"[,，、]?\s*(?:而不是|而非|不是)[^,，。;；]+")
"""What a correction adds to what holds: "5433, not 5432"."""


@lru_cache(maxsize=16384)
def _read(words: str) -> Statement:
    """A sentence read; marks of code make no other value. Of a Chinese one that forbids, what it forbids, denied."""
    bare = words.replace("`", "")
    if not any(map(is_han, bare)):
        return parse(bare)
    bare = _WE.sub("", bare)
    forbids = negated(_CORRECTING_HAN.sub("", bare))
    return replace(parse((_HAN_DENIAL.sub("", bare) if forbids else bare).strip() or bare), negated=forbids)


def same(one: Statement, other: Statement) -> bool:
    """Whether two sentences say the same: by the rules, the same slot, or the same words about the same values."""
    if one.form is other.form is Form.SLOT and _slot(one) == _slot(other):
        return True  # though one of them may name the value that is over, too
    if one.negated != other.negated or one.qualifier != other.qualifier or forbids_merge(one, other):
        return False
    if relate(one, other).relation is Relation.SAME:
        return True
    words = _about(one.text)
    return len(words) >= SHARED_MIN and words == _about(other.text) and _denied(one) == _denied(other)


def _clash(one: Statement, other: Statement, *, alone: bool) -> bool:
    """Whether two sentences cannot both hold where they stand; `alone` when what stands around them says of no part that they speak of it."""
    return opposed(one, other) or _chosen_otherwise(one, other, alone=alone)


def _chosen_otherwise(one: Statement, other: Statement, *, alone: bool) -> bool:
    """Both settle a thing of which there is one, and not alike: "always use npm", "from now on always use yarn"."""
    a, b = choice(one), choice(other)
    return a is not None and b is not None and a.of == b.of and a.which != b.which and (alone or not a.by_place)


def opposed(one: Statement, other: Statement) -> bool:
    """Whether two sentences cannot both hold."""
    for older, newer in ((one, other), (other, one)):
        related = relate(older, newer)
        if related.relation not in {Relation.CONTRADICTION, Relation.UPDATE} or (related.why == "opposite_order" and _bound(one, other)):
            continue
        if related.why == "names_old_value" or not ((_nameless(one) and _nameless(other)) or (_LABEL.match(one.text) and _LABEL.match(other.text))):
            return True
    return _denies(one, other) or _another_value(one, other) or _uses_banned(one, other) or _uses_banned(other, one)


def _another_value(one: Statement, other: Statement) -> bool:
    """ "The default log level is warn", "... is debug": one subject that has a single value, and two values of a word each, neither a quality."""
    if not (one.form is other.form is Form.SLOT and one.attribute == other.attribute) or one.negated or other.negated or _bound(one, other):
        return False
    if one.attribute not in {"is", _BRANCH}:
        return False
    if (subject_key(one.subject), one.qualifier, one.extra) != (subject_key(other.subject), other.qualifier, other.extra):
        return False
    if one.attribute != _BRANCH and not _has_one_value(one.subject):
        return False
    values = [(s.value or "").strip(" .\"'").casefold() for s in (one, other)]
    return values[0] != values[1] and all(_PLAIN_VALUE.fullmatch(v) and not _QUALITY.search(v) for v in values)


_BRANCH = "branch"
"""The attribute that is the main branch: a project has one, though no subject is named."""
_HEADS = frozenset({"level", "mode", "default", "name", *ATTRIBUTE_OF})
_PLAIN_VALUE = re.compile(r"[\w@./+-]+")
_QUALITY = re.compile(
    r"(?:ed|able|ible|ing|ful|less|ive|ous|al|ary)$|^(?:a|an|the|here|there|away|out|up|down|on|off|ok|fine|right|wrong|new|old|high|low|too|set|kept|required|important)$"
)
"""What a value may be said to be while it is the same: "configurable", "away"."""


def _has_one_value(subject: str) -> bool:
    """Whether a thing of this name is one value: "default log level", "build mode"."""
    name = subject.casefold()
    return is_single(name) or name.rpartition(" ")[2] in _HEADS


@lru_cache(maxsize=16384)
def _banned(text: str) -> str:
    """What a sentence that orders one thing forbids beside it: "always use pnpm, never npm"; "" for nothing."""
    found = _NEVER.search(text)
    return found["bad"].casefold() if found and not _conditional(text) else ""


_NEVER = re.compile(
    r"\b(?:use[sd]?|using|prefer)\s+[^,;.]{1,60}?(?:\s*,\s*|\s+)(?:and\s+)?(?:never|not|instead of|rather than)\s+(?:use\s+)?(?P<bad>[\w@/+-]+)\s*[.!]?$",
    re.IGNORECASE,
)


def _uses_banned(one: Statement, other: Statement) -> bool:
    """Whether the other has its reader use what the first forbids beside what it orders."""
    bad = _banned(one.text)
    if not bad or _denied(other) or other.negated or one.qualifier != other.qualifier or _bound(one, other):
        return False
    used = rf"\brun\s+{re.escape(bad)}(?=\s|[.,;]|$)|\b(?:use[sd]?|using|with|via|through)\s+{re.escape(bad)}(?=\s+(?:for|to|in|as|on|and)\b|\s*[.,;]|$)"
    return bool(re.search(used, other.text, re.IGNORECASE))


def _bound(one: Statement, other: Statement) -> bool:
    """Whether one of them holds under a condition only: "push to main when Ana agrees" is an exception, no contradiction."""
    return _conditional(one.text) or _conditional(other.text)


@lru_cache(maxsize=16384)
def _conditional(text: str) -> bool:
    """Asked of a sentence for each that it is set beside."""
    return bool(_BOUND.search(text))


def _denies(one: Statement, other: Statement) -> bool:
    """One says what the other forbids, in the same words but for one ("deploys run on Fridays", "never deploy on Fridays"); none of them under a condition."""
    if _denied(one) == _denied(other) or one.qualifier != other.qualifier or _bound(one, other):
        return False
    if one.form is other.form is Form.SLOT and _slot(replace(one, negated=other.negated)) == _slot(other):
        return True
    short, long = sorted((_about(one.text), _about(other.text)), key=len)
    values = [frozenset(v.key for v in s.values if v.kind not in {"name", "bound", "state"}) for s in (one, other)]
    return len(short) >= SHARED_MIN and short <= long and len(long) <= len(short) + 1 and values[0] == values[1]


_SLOT, _OVER = "\0", "\1"
_ANY, _MOVED = "\2", "\3"
"""What keys of an attribute end with that is looked for whatever the thing is, and where a value is said to be over."""
_MARKS = frozenset({_SLOT, _OVER})
"""What keys begin with that are no words: an attribute, a word of a value that is over."""


def _keys(statement: Statement) -> frozenset[str]:
    return _about(statement.text) | {f"{_OVER}{word}" for word in _over(statement)}


def _slots(statement: Statement, *, found: bool) -> frozenset[str]:
    """Where a slot is `found`, or what one looks under: that of the same thing; where either says which value is over, that of anything, since one may name
    the thing in fewer words. Other slots of one attribute ("is", "port") can say nothing against one another, and would be most of all pairs."""
    if statement.form is not Form.SLOT or not statement.attribute:
        return frozenset()
    own = f"{_SLOT}{statement.attribute}"
    thing, any_of_it, moved = f"{own}{_SLOT}{' '.join(subject_key(statement.subject))}", f"{own}{_ANY}", f"{own}{_MOVED}"
    if found:
        return frozenset({thing, any_of_it, *([moved] if statement.old_value else ())})
    return frozenset({thing, any_of_it if statement.old_value else moved})


def _chosen(statement: Statement) -> frozenset[str]:
    """Of what there is one and a sentence says which."""
    found = choice(statement)
    return frozenset({f"{_SLOT}{_SLOT}{found.of}"}) if found else frozenset()


def _over(statement: Statement) -> frozenset[str]:
    """The words of the value a sentence says is over ("pnpm instead of yarn"), or forbids beside what it orders."""
    return _about(f"{statement.old_value or ''} {_banned(statement.text)}")


@lru_cache(maxsize=16384)
def _about(text: str) -> frozenset[str]:
    """What a sentence is about: its content words without denials, "always" and the verbs that say little; marks of code make no other word."""
    return frozenset(content_words(text.replace("`", ""))) - _EMPTY


def _denied(s: Statement) -> bool:
    forbids = _forbids(s.text)
    return s.negated if forbids is None else forbids


@lru_cache(maxsize=16384)
def _forbids(text: str) -> bool | None:
    """Whether the words of a sentence deny; None where only its reading tells (Chinese)."""
    return None if any(map(is_han, text)) else len(_DENIAL.findall(text)) % 2 == 1


def _slot(s: Statement) -> tuple[object, ...]:
    return (subject_key(s.subject), s.attribute, s.qualifier, s.negated, value_key(s.value), s.extra)


def _nameless(s: Statement) -> bool:
    """A slot that many things of one project have, without the thing's name or the place it holds in: two of them may speak of different things."""
    return s.form is Form.SLOT and not subject_key(s.subject) and not s.qualifier
