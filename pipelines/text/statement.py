"""What one sentence states: subject, attribute, qualifier, value, and what it says about time ("no longer", "from A to B").

A grammar of slots (`grammar_en`, `grammar_zh`), strict on purpose: a sentence that fits none keeps its canonical words only, and what cannot be told is
left empty. Nothing here decides whether a sentence may be believed (`mood`, `gates`) or how two of them relate (`notes.relate`).
"""

# Word lists read better as text.
# ruff: noqa: SIM905

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

from .grammar_en import read_english
from .grammar_zh import read_chinese
from .mood import without_relevance
from .slots import ATTRIBUTE_OF, GLUE, IMPERATIVES, KIN, OF_CODE, PERSON_VERBS, QUALIFIERS, SAME_WORD_OF, STATE_OF, USER, Slot
from .values import Value, typed_values
from .words import fold_width, has_cjk, raw_words, stem


class Person(StrEnum):
    """Whose fact a statement is: the speaker's own, another person's, somebody a pronoun points to, the team's, or a thing's."""

    SPEAKER = "speaker"
    OTHER = "other"
    UNRESOLVED = "unresolved"
    GROUP = "group"
    THING = "thing"


class Form(StrEnum):
    """How much was understood: a slot with its value, an order, or canonical words only."""

    SLOT = "slot"
    RULE = "rule"
    FREE = "free"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One sentence, read.

    `subject` is words of the sentence without article ("API server"), `user` (or the speaker's name) for the speaker, "user's wife" for whom
    the speaker names so, "" where the sentence leaves it open. `attribute` is a canonical name ("port") or words; of a rule its canonical words.
    `qualifier` is a canonical scope ("staging"). `value` and `old_value` are words of the sentence, `values` every typed value in it.
    `negated` denies the value ("is not", "hates", "never"). `update` and `also` are cues anywhere in the sentence. `reason` is a because-clause.
    `words` are the canonical words in order, cues and articles dropped, prepositions and numbers kept: what free prose is compared by. `extra` are the canonical words a
    slot does not account for ("… for the admin UI"): statements that differ in them are not about the same thing.
    """

    text: str
    subject: str
    attribute: str
    person: Person
    form: Form
    qualifier: str = ""
    value: str | None = None
    values: tuple[Value, ...] = ()
    negated: bool = False
    cardinality: str = "set"
    old_value: str | None = None
    against: str | None = None
    update: bool = False
    also: bool = False
    reason: str | None = None
    words: tuple[str, ...] = ()
    extra: frozenset[str] = frozenset()


@lru_cache(maxsize=16384)
def parse(text: str, *, speaker: str | None = None) -> Statement:
    """Read one statement. Any text gives a statement; `form` says how much of it was understood. `speaker` names who says "I" (default `user`)."""
    folded = " ".join(fold_width(text).replace("**", "").replace("`", "").split())
    if len(folded) > SENTENCE_MAX:  # prose: no pattern that looks twice at a character gets to see it
        free = Statement(text=text, subject="", attribute="", person=Person.THING, form=Form.FREE, values=typed_values(text), words=canonical_words(folded))
        return _unslotted(free, "", speaker)
    body, reason = _reason(without_relevance(_BULLET.sub("", folded)))
    core = _core(body)
    slot = _slot(core)
    base = Statement(
        text=text, subject="", attribute="", person=Person.THING, form=Form.FREE, qualifier=_qualifier(body), values=typed_values(text),
        update=bool(_UPDATE.search(folded)), also=bool(_ALSO.search(_led_out(body))), reason=reason, words=canonical_words(core),
    )  # fmt: skip
    if slot is None:
        return _unslotted(base, core, speaker)
    return replace(
        base, form=Form.SLOT, subject=_named(_unscoped(slot.subject), speaker), attribute=slot.attribute, person=_person(slot, core), value=slot.value,
        negated=slot.negated, cardinality="single" if slot.single else "set", old_value=slot.old, against=slot.against, update=base.update or slot.update,
        extra=_extra(slot, core),
    )  # fmt: skip


def canonical_words(text: str) -> tuple[str, ...]:
    """The words of a text in order, casefolded, one spelling for words that mean the same, stemmed; articles, politeness and cues dropped.

    Unlike `content_words` it keeps prepositions, quantifiers and tenses: "before" and "after", "all" and "some", "was" and "is" are differences.
    """
    found: list[str] = []
    for word in raw_words(unicodedata.normalize("NFKC", text)):
        plain = word.text.casefold()
        if plain not in _DROPPED:
            found.append(plain if _CAMEL.search(word.text) else canonical_word(plain))
    return tuple(found)


_CAMEL = re.compile(r"[a-z][A-Z]")


def canonical_word(word: str) -> str:
    """One spelling of a casefolded word: its synonym's, stemmed."""
    return stem(SAME_WORD_OF.get(word) or SAME_WORD_OF.get(stem(word), word))


# --- cleaning ----------------------------------------------------------------------------------------------------------------------------

_DROPPED = frozenset(
    """a an the is are am be been being i'm it's that's we're they're this that it its of please do does did have has had i we you me us my our your just
    also 的 了 请 是 我 我们 你 您 都 要 把 吧 呢 啊 尽量 一下 这 那 就""".split()
)
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,2}[.)])\s+")
_LEAD = re.compile(
    r"^(?:(?:actually|nope|no|nah|well|ok(?:ay)?|so|and|but|also|please|sorry|oh|hey|hi|yes|yeah|right|correction|update|important|fyi|btw|by the way|note(?: that)?|in fact"
    r"|remember(?: that| to)?|from now on|going forward|in (?:the )?future|as of (?:now|today|this week)|starting (?:today|now)|for the record|just so you know|now|currently"
    r"|as i (?:told|said|mentioned)[^,]*|in this (?:repo|repository|project|codebase)|we (?:decided|agreed) (?:that|to)|the user (?:said|says)(?: that)?"
    r"|désormais|ab sofort|不对|不是的|其实|对了|记住|请记住|记得|请|以后|今后|从现在起|从今以后|从现在开始|从今天起|现在|另外|还有|更正)(?:[,:：，。.!]\s*|\s+|(?<=[\u4e00-\u9fff])))",
    re.IGNORECASE,
)
_TRAIL = re.compile(
    r"(?:,?\s+(?:from now on|going forward|these days|at the moment|tbh|please|as well|too|though|now|right now|then|instead)|[,，]?谢谢|[\s.。!！;；,，~]+)$",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"[,，;]?\s*(?:-+\s*)?(?:\bbecause(?: of)?\b|\bdue to\b|\bsince (?=we|the|it|they|our|i\b)|(?<=[,;] )since (?!\d|then\b|last\b|yesterday\b|today\b|this\b|(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b)|\bas (?=(?:we|it|they)\b)\b|因为|由于)\s*(.+)$",
    re.IGNORECASE,
)
_UPDATE = re.compile(
    r"\b(?:now|from now on|going forward|no longer|anymore|any more|as of (?:now|today)|starting (?:today|now)|instead of|moved|switch(?:ed)?|migrated|changed|renamed"
    r"|replaced|replaces|slipped|postponed|rescheduled|upgraded|bumped|used to|désormais|ab sofort|not any)\b|^(?:no|nope|actually)\b,?|以后|今后|从现在起|从今以后|从今天起|现在改|改成|改为|改用|改到|换成|不再|不用了"
    r"|搬到|跳槽|改名|ではなく",
    re.IGNORECASE,
)
# "too" adds at the end of a clause; in front of an adjective it measures ("was too high"), as 还不 and 还没 do.
_ALSO = re.compile(
    r"\b(?:also|as well|additionally|in addition)\b|\btoo(?=\s*(?:[,.;:!?)，。；！]|$)|\s+(?:and|but|now)\b)|(?<![什这那])也(?!许)|(?<!归)还(?![是不没])|另外|同时",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"(?<=[^\d\s])[.!;](?:\s+|$)|[。！？；;!?]\s*|,\s+(?=(?:we|i|it|the|use|but|and|so|he|she)\b)|[，,](?=\s*(?-i:[\u4e00-\u9fff]))|\s+(?:-|—|–)\s+",
    re.IGNORECASE,
)


SENTENCE_MAX = 600
"""Characters beyond which a text is prose and no statement of a slot; bounds the work of the patterns."""


def _core(text: str) -> str:
    """The sentence without lead-in ("From now on, ", "记住，") and without what trails ("too", "。")."""
    for _ in range(6):
        shorter = _TRAIL.sub("", _LEAD.sub("", text, count=1)).strip()
        if shorter == text or not shorter:
            break
        text = shorter
    return text


def _led_out(text: str) -> str:
    """The sentence without its lead-in: "Also, the port is 81" goes on talking, it adds no second port."""
    while (shorter := _LEAD.sub("", text, count=1).strip()) not in {"", text}:
        text = shorter
    return text


_REASON_FIRST = re.compile(
    r"^(?:(?:因为|由于)([^，,。]+)[，,]\s*|(?:because|since (?!\d|then\b|last\b|yesterday\b|today\b|this\b|\w+day\b))\s*([^,]{6,80}),\s+)", re.IGNORECASE
)


def _reason(text: str) -> tuple[str, str | None]:
    if (first := _REASON_FIRST.match(text)) and first.end() < len(text):
        return text[first.end() :], (first[1] or first[2]).strip() or None
    match = _REASON.search(text)
    if match and match.start() > 3:
        return text[: match.start()], match[1].strip(" .。!") or None
    return text, None


def _slot(core: str) -> Slot | None:
    """The slot of the whole, else of the first clause that fills one; the grammar of the script it is written in."""
    if len(core) > SENTENCE_MAX:
        return None
    if (former := _FORMER.search(core)) and (slot := _slot(_core(core[: former.start()]))) and slot.single and slot.old is None:
        return replace(slot, old=former["old"].strip(), update=True)
    parts = [core, *(part for part in _CLAUSE.split(core) if part and part != core)]
    for part in parts[:5]:
        part = _core(part)
        slot = (read_chinese(part) if has_cjk(part) else None) or (read_english(part) if re.search("[A-Za-z]{2}", part) else None)
        if slot is not None and slot.value:
            return slot
    return None


# The former value in brackets behind the one that holds: "5433 (formerly 5432)", "5433(原为5432)".
_FORMER = re.compile(
    r"\s*\((?:(?:formerly|previously|originally|used to be|up from|down from|before(?: that)?:?)\s+|was\s+(?=\S*\d)|(?:原为|原来是|原先是|之前是|以前是|原)\s*[:：]?\s*)"
    r"(?P<old>[^()?]{1,40})\)$",
    re.IGNORECASE,
)


_GLUE = frozenset(map(canonical_word, GLUE)) | frozenset(map(canonical_word, " ".join([*ATTRIBUTE_OF, *STATE_OF]).split()))


_DENYING = frozenset(
    "不要 不建议 不推荐 建议 推荐 不得 不准 不许 不可 不可以 不应 不应该 不用 不再 禁止 严禁 避免 勿 请勿 切勿 别 别用 别再 再 永远 千万 绝对".split()
)
"""Words of a denial as the cutter gives them: of a slot that is denied they say no more than that."""
_WRITING = frozenset(map(canonical_word, "write written reply respond answer".split()))
"""Words that only say that something is written, where the slot is the language it is written in."""


def _extra(slot: Slot, core: str) -> frozenset[str]:
    """The canonical words of the whole sentence beyond the slot's own words, the words of attributes, scopes and cues."""
    own = [part for part in (slot.subject, slot.attribute, slot.value, slot.old, slot.against) if part]
    rest = _unscoped(_UPDATE.sub(" ", core))
    for part in sorted(own, key=len, reverse=True):
        rest = without_words(rest, part)
    accounted = {word for part in own for word in canonical_words(part)}
    own_glue = (_DENYING if slot.negated else frozenset()) | (_WRITING if slot.attribute == "written in" else frozenset())
    return frozenset(canonical_words(rest)) - accounted - _GLUE - own_glue


_ALNUM = re.compile(r"[A-Za-z0-9]", re.IGNORECASE)
_OWNER = re.compile(r"(?:['’]?s)?(?![A-Za-z0-9])", re.IGNORECASE)


def without_words(text: str, words: str) -> str:
    """A text without every place where the words stand whole, in any case and with the "'s" behind them; what is not ASCII has no edges.

    By hand: a pattern made of each statement's words would take longer to compile than all else that is read in it.
    """
    low, sought = _low(text), _low(words)
    kept, done = [], 0
    at = low.find(sought)
    while at >= 0:
        end: int | None = at + len(sought)
        if words.isascii():
            owner = None if at and _ALNUM.match(text, at - 1) else _OWNER.match(text, at + len(sought))
            end = owner.end() if owner else None
        if end is not None:
            kept.append(text[done:at])
            done = end
        at = low.find(sought, end or at + 1)
    return " ".join([*kept, text[done:]])


def _low(text: str) -> str:
    """Lower case, letter by letter: one that would become two stays, so that a place in it is the same place in the text."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


_SCOPES = tuple(
    (name, re.compile(r"(?<![\w.-])(?:" + "|".join(map(re.escape, latin)) + r")(?![\w-]|\.\w)" if latin else r"(?!)", re.IGNORECASE), tuple(han))
    for name, latin, han in (
        (name, sorted((f for f in forms.split("|") if f.isascii()), key=len, reverse=True), [f for f in forms.split("|") if not f.isascii()])
        for name, forms in QUALIFIERS.items()
    )
)
_BRANCH = re.compile(r"\b(?:on|in) (?:the )?(?:branch )?[`'\"]?([\w./-]+)[`'\"]? branch\b|\bbranch [`'\"]([\w./-]+)", re.IGNORECASE)


def _qualifier(text: str) -> str:
    """Canonical scopes the statement is bound to, sorted and joined by "+"; "" for none."""
    found = {name for name, latin, han in _SCOPES if latin.search(text) or any(form in text for form in han)}
    found |= {f"branch {(m[1] or m[2]).casefold()}" for m in _BRANCH.finditer(text)}
    return "+".join(sorted(found))


_DANGLING = re.compile(r"^(?:on|in|for|of|at|to|the)\s+|\s+(?:on|in|for|of|at|to|the)(?:\s+the)?$|^(?:on|in|for|of|at|to|the)$", re.IGNORECASE)


def _unscoped(subject: str) -> str:
    """The subject without the scope words (they stand in the qualifier) and without the preposition that led to them ("database on staging")."""
    bare = subject
    for _, latin, han in _SCOPES:
        bare = latin.sub("", bare)
        for form in sorted(han, key=len, reverse=True):
            bare = bare.replace(form, "")
    return _DANGLING.sub("", " ".join(bare.split()).strip("的 "))


# --- persons -----------------------------------------------------------------------------------------------------------------------------


def _named(subject: str, speaker: str | None) -> str:
    if speaker is None or not (subject == USER or subject.startswith((f"{USER}'s ", f"{USER} "))):
        return subject
    return speaker + subject[len(USER) :]


_FIRST = re.compile(r"\b(?:I|I'm|I've|I'd|I'll|me|my|mine|myself)\b|^(?:been|got|just|prefer|love|like|hate|moved)\b|叫我|我(?!们)|最近搬|尽量", re.IGNORECASE)
_OTHERS = re.compile(r"\b(?:he|she|his|hers?|him|they|their)\b|^(?:他|她)", re.IGNORECASE)
_GROUP = re.compile(r"\b(?:we|our|us)\b|我们|咱们", re.IGNORECASE)
_KIN_LED = re.compile(r"^(?:my|the|his|her|our)\s+(\w+)(?:\s+(\w+))?|^我(?:的)?((?-i:[\u4e00-\u9fff]){1,3})", re.IGNORECASE)
_NAME_LED = re.compile(r"^(?!(?:We|I|It|You|They|This|That|These|The)\b)([A-Z][a-zé]+)(?:'s\s+\w+)?(?:,[^,]*,)?\s+(?:(\w+)\b)")
_TOLD = re.compile(r"^(?:[A-Z][a-zé]+|[小老阿][\u4e00-\u9fff]|他|她)\s*(?:说|(?:told|said|says|asked)\b)")


def _person(slot: Slot, core: str) -> Person:
    """Whose fact a slot is; a capitalised subject of a verb of people, or "X said …", is somebody else."""
    person = Person(slot.person)
    if slot.attribute in OF_CODE and person in {Person.THING, Person.OTHER} and not slot.subject.startswith(f"{USER}'s "):
        return Person.THING
    return Person.OTHER if person is Person.THING and _other_led(core) else person


def _other_led(core: str) -> bool:
    if _TOLD.match(core):
        return True
    if (kin := _KIN_LED.match(core)) and any(word and (word.casefold() in KIN or word[:2] in KIN) for word in kin.groups()):
        return not re.match(r"my (?:\w+ )?\w+ and I\b", core, re.IGNORECASE)
    named = _NAME_LED.match(core)
    return bool(named and named[2].casefold() in PERSON_VERBS)


def _free_person(core: str) -> Person:
    if _other_led(core):
        return Person.OTHER
    if _OTHERS.match(core):
        return Person.UNRESOLVED
    if _FIRST.search(core):
        return Person.SPEAKER
    return Person.GROUP if _GROUP.search(core) else Person.THING


# --- orders and free prose ---------------------------------------------------------------------------------------------------------------

_DENIES = re.compile(
    r"\b(?:never|don't|do not|must not|mustn't|should not|shouldn't|cannot|can't|avoid|stop|no|not|isn't|aren't|doesn't|didn't|won't)\b", re.IGNORECASE
)
_DENIES_HAN = re.compile(r"不要|不需要|不必|无需|不用|不得|不准|不许|禁止|别(?!的|人)|切勿|不再|没有|不能|不可以|不会|不是|不")
_ORDERS = re.compile(
    r"\b(?:always|never|must|should|shall|make sure|ensure|need to|have to|has to|needs to)\b|必须|务必|一律|不要|禁止|不准|不许|切勿|不得|不需要|无需|每次|永远|要先|应该|应当|始终",
    re.IGNORECASE,
)
# "not needed" (无需, 不必) is weaker than "never": those words stay in the attribute.
_MARKS = frozenset(map(canonical_word, "always must should shall make sure ensure everywhere 必须 务必 一律 永远 始终 应该 应当 每次 都 先".split()))
_DENIALS = frozenset(
    map(
        canonical_word,
        """never don't do not mustn't shouldn't cannot can't avoid stop no isn't aren't doesn't didn't won't longer anymore 不要 不用 不得 不准 不许 禁止 别 切勿 不再 不 不能 再""".split(),
    )
)
_JOINED = re.compile(r"[,，;；、]|\b(?:and|but|or|so|because|if|when)\b|并且|但是|而且|如果", re.IGNORECASE)


def _unslotted(base: Statement, core: str, speaker: str | None) -> Statement:
    """An order (its canonical words are its attribute) or free prose."""
    first = re.match(r"[A-Za-z']+", core)
    order = bool(_ORDERS.search(core)) or bool(first and first[0].casefold() in IMPERATIVES)
    denials = [*_DENIES.finditer(core), *_DENIES_HAN.finditer(core)]
    # "Keep going and never give up" denies its second half only: no polarity of the whole.
    negated = len(denials) == 1 and not _JOINED.search(core[: denials[0].start()])
    person = _free_person(core)
    words = tuple(word for word in base.words if word not in _MARKS and not (negated and word in _DENIALS))
    subject = (speaker or USER) if person is Person.SPEAKER else ""
    return replace(
        base, form=Form.RULE if order else Form.FREE, person=person, subject=subject, attribute=" ".join(words), negated=negated,
        cardinality="single" if order else "set",
    )  # fmt: skip
