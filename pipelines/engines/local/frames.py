"""What a sentence says of its speaker once its names are replaced by marks: "left @1 for @2 because …", "I'm on @1 now".

The names are found first (by their capitals, as a drink, a model, a product), then every word between them has to be one that people tell of themselves with:
a closed vocabulary. So a subject that is somebody else, a plan, a doubt or any other turn of the talk is not understood instead of misunderstood. Of two
names one must be said to be over; a single one must stand in a form of its topic (`topics`).
"""

# Word lists read better as text.

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from pipelines.engines.local.topics import COMMON, DATABASES, DRINKS, OTHER_SORTS, PET_FORMS, PETS, SORT_OF_NAME, TOPICS, UNTOLD, Told, Topic
from pipelines.text.casual import spelled_out
from pipelines.text.mood import without_relevance
from pipelines.text.reasons import told_first, without_reason
from pipelines.text.words import ENGLISH_STOP

NAMES_MAX = 3
"""Names in a sentence beyond which it tells of more than one thing."""


def told_in(sentence: str) -> tuple[Told, ...]:
    """What an English sentence, freed of its lead-in, says of its speaker; empty for everything that is not understood word for word."""
    plain = _ENDED_UP.sub(lambda m: _PAST[m[1].casefold()], _HABITUALLY.sub("", without_relevance(spelled_out(sentence))))
    if _ASKS.match(plain):
        return ()
    found = _read(_unbracketed(without_reason(plain)))
    first = told_first(plain)
    also = _read(_unbracketed(first)) if first else ()
    return (*(t for t in also if t.attribute not in {f.attribute for f in found}), *found)


def _read(body: str) -> tuple[Told, ...]:
    frame = _framed(body)
    if frame is None:
        return ()
    return (_change(frame) if len(frame.names) > 1 else _state(frame)) or _halves(frame)


_ASKS = re.compile(r"(?:do|did|does|should|would|could|can|is|are|am|have|had|what|where|who|how|why)\b(?! i (?:drink|use) )", re.IGNORECASE)
_PAST = {
    "moving": "moved", "switching": "switched", "leaving": "left", "replacing": "replaced", "swapping": "swapped", "dropping": "dropped", "going": "went", "getting": "got", "buying": "bought",
    "taking": "took", "joining": "joined", "migrating": "migrated", "changing": "changed", "working": "work", "living": "live", "using": "use", "trading": "traded",
}  # fmt: skip
_ENDED_UP = re.compile(rf"\bended up ({'|'.join(_PAST)})\b", re.IGNORECASE)


_HABITUALLY = re.compile(
    r"^(?:[Ww]hen(?:ever)? I (?!was\b|were\b|had\b|did\b|went\b|got\b|lived\b|\w+ed\b)\w+(?: (?!I\b)[\w-]+){0,4},? (?=I\b(?!'| will| would))|(?:[Yy]ou can|[Jj]ust|[Pp]lease) (?=sign|put|call))"
)
"""What the speaker does when: a habit; and leave to use a name."""


def _unbracketed(sentence: str) -> str:
    """Brackets as commas: what stands in them is a clause like another."""
    whole = re.fullmatch(r"\s*\((?:side note|note|fyi|btw|ps)?[:,]?\s*(.*?)\)[.!]?\s*", sentence, re.IGNORECASE)
    return re.sub(r"\s*\(([^()]*)\)[,.]?", r", \1,", whole[1] if whole else sentence).strip(" ,")


# --- names as marks ----------------------------------------------------------------------------------------------------------------------

_VOCABULARY = COMMON | frozenset(word for topic in TOPICS for word in topic.words.split()) | frozenset(re.split(r"[| ]", PETS))
_OPENERS = _VOCABULARY | ENGLISH_STOP | {"api", "whenever", "put"}
"""Words that are no name however they are spelled."""
_TRAILERS = frozenset({"i", "i'm", "i've", "and", "of", "the", "&"})
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_CAPITAL = r"(?:i(?=P[a-z]))?[A-Z0-9][\w&'+.-]*"
_NAME = rf"{_CAPITAL}(?: (?:(?:of|and|the|de|da|do|upon|la|le|&)(?= [A-Z])|{_CAPITAL}))*"
_MARKED = re.compile(
    rf"(?P<drink>(?<![\w'])(?:(?!(?:{'|'.join(sorted(map(re.escape, _VOCABULARY), key=len, reverse=True))})\b)[a-z'-]+ ){{0,2}}(?i:(?:{DRINKS})s?)\b)|\b(?P<product>(?i:{DATABASES.replace('|[A-Z]', '|(?-i:[A-Z]').replace('(?:DB|SQL)', '(?:DB|SQL))')}))\b|(?<![\w'])(?P<name>{_NAME})"
)
_NOT_A_NAME = re.compile(rf"(?:19|20)\d\d|\d{{1,3}}|\d[\d.,]*(?:st|nd|rd|th|%|k|am|pm)?|(?:{_MONTHS}|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)s?")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Name:
    text: str
    sort: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    """A sentence in small letters with `@1`, `@2` … for its names."""

    text: str
    names: tuple[_Name, ...]


def _framed(body: str) -> _Frame | None:
    """The frame of a sentence; None without names or with too many."""
    names: list[_Name] = []
    parts: list[str] = []
    at = 0
    for found in _MARKED.finditer(body):
        spans = list(_names_of(found, body))
        for start, end, name in spans:
            parts += [body[at:start].casefold(), f"@{len(names) + 1}"]
            names.append(name)
            at = end
    if not 1 <= len(names) <= NAMES_MAX:
        return None
    text = _LANDMARK.sub("in ", " ".join("".join([*parts, body[at:].casefold()]).split()))
    return _Frame(text=re.sub(r"(?<![@\w])[\d.,]*\d(?!\w)", "#", text).strip(" .,;!"), names=tuple(names))


def _names_of(found: re.Match[str], body: str) -> Iterator[tuple[int, int, _Name]]:
    """The name that a match is, without the common words that only open a sentence ("Since Monday", "The API")."""
    start, end = found.span()
    if found["name"] is None:
        yield start, end, _Name(text=found[0], sort="drink" if found["drink"] else "database")
        return
    while (
        start < end
        and (word := re.match(r"[\w'&+.-]+", body[start:end]))
        and word[0].rstrip(".").removesuffix("'s").casefold() in _OPENERS
        and not _is_known(word[0])
    ):
        start += word.end()
        start += len(body[start:end]) - len(body[start:end].lstrip())
    text = re.sub(r"(?:'s)?[.'-]*$", "", body[start:end])
    while (tail := text.rpartition(" "))[0] and tail[2].casefold() in _TRAILERS:
        text = tail[0]
    if text and not _NOT_A_NAME.fullmatch(text):
        sort = sort_of_name(text)
        yield start, start + len(text), _Name(text=text, sort="" if sort == "drink" and _TITLED.fullmatch(text) else sort)


def _is_known(word: str) -> bool:
    """Whether a word in capitals is a name that is known though the word is not ("LOT")."""
    return len(word) > 2 and word.isupper() and bool(sort_of_name(word))


_TITLED = re.compile(rf"(?!(?i:{DRINKS})$)[A-Z][\w'-]*(?: [A-Z][\w'-]*)+")
"""A name of several words that each open with a capital: a firm called "Pennine Water" is no drink."""


def sort_of_name(name: str) -> str:
    """The topic that a name's spelling gives away; "" for none."""
    return next((sort for sort, pattern in SORT_OF_NAME if pattern.fullmatch(name)), "")


# --- clauses -----------------------------------------------------------------------------------------------------------------------------

_CUT = re.compile(r"[,;:.!]\s+|\s(?:-|–|—)\s|\s(?=(?:and|but)\s)|\s(?=since\s|with (?:my|our|a|an|two|three|his|her)\s(?!@))")
_LANDMARK = re.compile(r"\b(?:near|by|close to|opposite) (?:the |a |my )?(?:[a-z]+ ){1,3}in (?=@)")
_BENDS = re.compile(
    r"\b(?:if|unless|or|until|would|could|might|should|will|can't|cannot|won't|i'll|we'll|i'd|we'd|maybe|perhaps|for now|for the moment|temporar\w+|today|tonight|tomorrow|kidding|joking|lol|haha|wish|hope|imagine|suppose"
    r"|pretend|say|says|said (?!earlier)|told|when|this (?:week|morning|afternoon|evening|weekend)|next|planning|plan|thinking|considering|practically|basically|virtually|literally|visiting|holiday|once|yesterday)\b|\?|(?:^|, )really$"
)
"""Words that turn the whole sentence into something other than what simply is so."""
_SPEAKS = re.compile(r"\b(?:i|i'm|i've|we|we're|we've|my|our|me|us)\b")


def _core(frame: _Frame) -> str | None:
    """The clauses that hold the names, if every word of them is of the vocabulary and their subject is the speaker; None otherwise."""
    text = frame.text
    first, last = text.index("@1"), text.index(f"@{len(frame.names)}")
    start = max((m.end() for m in _CUT.finditer(text, 0, first)), default=0)
    end = next((m.start() for m in _CUT.finditer(text, last)), len(text))
    head, core, tail = text[:start], text[start:end].strip(), text[end:]
    if _BENDS.search(core.replace("as of this", "")) or _BENDS.search(head) or _BENDS.search(tail):
        return None
    if not _SPEAKS.search(core):
        core = f"{head}{core}" if head else core
    words = re.findall(r"[a-z][\w'-]*", re.sub(r"@\d", " ", core))
    return core if all(word.removesuffix("'s").removesuffix("-wise") in _VOCABULARY for word in words) else None


# --- changes -----------------------------------------------------------------------------------------------------------------------------

_WITH = r"(?:(?:the|my|our|a|an|in|at|on|to|with|of|as|port|over|job|flat|living|working|using|drinking|flying|having|all|plain|up|being) )*"
_OVER_BEFORE = (
    r"(?:moved|shifted|ported|switched|switch|went|gone|changed|upgraded|relocated|migrated|jumped|came|resigned|away|bumped|swapped|traded|jobs?|ship|airlines?|phones?|house|over|back|on|miles)\b(?: \w+){0,3}?,? from|off|left|leaving|quit|ditched|dropped|dumped|sold|swapped(?: out)?|swapping|traded(?: in)?|exchanged|replaced|replacing|gave up|given up|giving up|cut out|stopped|out of|packed up|packed in|retired|chucked(?: out)?|notice|done|resigned"
    r"|no more|goodbye|bye|no longer(?: \w+){0,2}?|instead of|rather than|not|used to(?: \w+){0,2}?|(?:don't|do not|isn't|aren't)(?: \w+){0,2}?|rid of|after(?: \w+){0,2}? (?:years|months|time)|previously|unlike"
)
_OVER = (
    rf"\b(?:{_OVER_BEFORE}) {_WITH}@N(?!\d)",
    r"@N(?: \w+)?(?:'s| is| was| are)(?: \w+)? (?:gone|history|out|over|dead|no more|not anymore)\b",
    r"@N (?:anymore|before)\b",
    r"@N (?:->|-->|=>|→) @",
)
_OVER_ALONE = re.compile(rf"\b(?!(?:off|after|unlike|previously)\b)(?:{_OVER_BEFORE}) {_WITH}@1|@1 (?:anymore|before)\b")
_OF_OLD = re.compile(r"\b(?:old|former|previous|traded|sold|left|quit|dropped|gave up)\b")
_NO_OLD = re.compile(r"\bnot (?:bad|only|just|sure)\b")


@cache
def _over_patterns(number: int) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern.replace("@N", f"@{number}")) for pattern in _OVER)


def _change(frame: _Frame) -> tuple[Told, ...]:
    """One name given up for another; empty unless exactly one of two is said to be over."""
    core = _core(frame)
    if core is None or len(frame.names) != 2:
        return ()
    over = [any(p.search(core) for p in _over_patterns(n)) for n in (1, 2)]
    if sum(over) != 1 or _NO_OLD.search(core):
        return ()
    old, new = frame.names if over[0] else reversed(frame.names)
    topic = _topic_of_change(core, {n.sort for n in frame.names} - {""})
    if topic is None:
        return ()
    team = topic == "database" or (topic == UNTOLD and bool(_WE.search(core)) and not _I.search(core))
    return (Told(attribute=topic, value=new.text, old=old.text, single=topic != UNTOLD, team=team),)


_WE = re.compile(r"\b(?:we|we're|we've|our)\b")
_I = re.compile(r"\b(?:i|i'm|i've|my|me)\b")


def _topic_of_change(core: str, sorts: set[str]) -> str | None:
    """The topic by the sort of its names, else by the words of the sentence, else untold; None where names of two sorts are set against each other."""
    if len(sorts) == 1:
        return next(iter(sorts))
    if sorts:
        return None
    return next((t.attribute for t in _by_cue() if re.search(t.cue, core)), UNTOLD)


@cache
def _by_cue() -> tuple[Topic, ...]:
    """Topics by how surely their words tell them: a phone before a home."""
    order = ("phone", "airline", "database", "drink", "employer", "home")
    return tuple(sorted((t for t in TOPICS if t.cue), key=lambda t: order.index(t.attribute)))


# --- states ------------------------------------------------------------------------------------------------------------------------------


@cache
def _forms() -> tuple[tuple[Topic, tuple[re.Pattern[str], ...], tuple[re.Pattern[str], ...]], ...]:
    """Compiled on first use: most commands read no sentence."""
    return tuple((t, tuple(map(_form, t.forms)), tuple(map(_form, t.weak))) for t in TOPICS)


@cache
def _pets() -> tuple[re.Pattern[str], ...]:
    return tuple(map(_form, PET_FORMS))


def _form(source: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"@", r"@1(?!\\d)", source))


_DOES = re.compile(r"(?<=@1),? (?:is|has|was|needs|just|wants|loves|hates|sleeps|barks|ate|keeps|likes)\b.*")
"""What an animal is up to."""


def _state(frame: _Frame) -> tuple[Told, ...]:
    """What the one name of a sentence is to its speaker."""
    (name,) = frame.names
    for pattern in _pets():
        if (found := pattern.search(frame.text)) and " " not in name.text and _core(_Frame(text=_DOES.sub("", frame.text), names=frame.names)) is not None:
            return (Told(attribute=found["kind"], value=name.text, single=False),)
    core = _core(frame)
    if core is None or _OVER_ALONE.search(core) or _OF_OLD.search(core):
        return ()
    new = _NEW_OF.search(frame.text)
    about = f"{core} {new[0]}" if new else core
    for topic, forms, weak in _forms():
        if (name.sort not in {"", topic.attribute} and not _any_sort(topic)) or (topic.attribute == "employer" and _of_no_work(core, new)):
            continue
        if any(p.search(frame.text) for p in _called_mine(topic.attribute)) and _is_of(topic, name):
            return (Told(attribute=topic.attribute, value=name.text, team=topic.team),)
        sure = name.sort == topic.attribute or bool(topic.cue and re.search(topic.cue, about))
        weak_counts = sure or (topic.attribute == "name" and _full_name(name.text))
        stated = any(p.search(frame.text) for p in forms) or (weak_counts and any(p.search(frame.text) for p in weak))
        if stated and _is_of(topic, name):
            return (Told(attribute=topic.attribute, value=_with_the(name, frame.text), team=topic.team),)
    if name.sort == "employer" and _WHERE_I_AM.fullmatch(frame.text) and not _VISITED.search(name.text):
        return (Told(attribute="employer", value=name.text),)
    if name.sort in OTHER_SORTS and _USES.search(core):
        return (Told(attribute=name.sort, value=name.text),)
    return ()


def _of_no_work(core: str, new: re.Match[str] | None) -> bool:
    """Whether a sentence that says whom its speaker is with names something else than work ("for flights", "I changed airline")."""
    return bool(_ELSEWHERE.search(new[0] if new else core)) and not _WORK.search(new[0] if new else core)


_ELSEWHERE = re.compile(r"\b(?:fly|flying|flights?|airlines?|miles|phones?|mobile|databases?|drinks?)\b")
_WORK = re.compile(r"\b(?:works?|working|worked|jobs?|employers?|employed|company|companies|firm|joined|hired|started|notice|payroll)\b")
_NEW_OF = re.compile(r"\b(?:changed|switched)(?: my| our| the)? (?:airlines?|phones?|jobs?|employers?|company|companies|databases?|drinks?)\b")
"""What a sentence says is another one now, before it names it ("I changed airline, I'm with @1 now")."""
_WHERE_I_AM = re.compile(r"(?:i'm|i am)(?: now)? at @1")
_VISITED = re.compile(
    r"\b(?:Hospital|Clinic|Health|Healthcare|University|College|Institute|Banks?|Banking|Foods?|Stores|Retail|Media|Tools|Optik|Optics|Bakery|Brewery|Foundation|Airlines|Airways|Motors|Studios?|Services|Press|Architects|Sons|Brothers|Works)$"
)
"""Firms one also goes to: who is at one may be there for an hour."""
_NOUNS = {
    "airline": "airline|carrier",
    "phone": "phone|mobile|handset",
    "database": "database|db",
    "drink": "drink",
    "employer": "employer|company",
    "home": "home",
}


@cache
def _called_mine(attribute: str) -> tuple[re.Pattern[str], ...]:
    """A name and then what it is to the speaker ("…, that's my airline")."""
    nouns = _NOUNS.get(attribute)
    return (
        (re.compile(rf"@1,? (?:and )?(?:that's|that is|this is|which is) (?:my|our) (?:\w+ )?(?:{nouns})(?: now| these days)?(?=[.,!;]|$)"),) if nouns else ()
    )


_USES = re.compile(
    r"\b(?:i|i'm|i've)(?: have)? (?:\w+ )?(?:(?:switched|moved|went|changed)(?: over| back)? to|use|run|drive|have|own|on|edit in|code in|write code in|browse with) (?:an? |with |on )?@1"
)


def _with_the(name: _Name, text: str) -> str:
    """A place with the article it goes by ("the Bay Area")."""
    return f"the {name.text}" if re.search(r"\bin the @1", text) else name.text


def _any_sort(topic: Topic) -> bool:
    return topic.attribute in {"home", "hometown", "name", "employer"}


def _is_of(topic: Topic, name: _Name) -> bool:
    """Whether a name can be a value of the topic: a person's name is letters, a drink or a place no product."""
    if topic.attribute == "name":
        return all(part[:1].isupper() for part in re.findall(r"[\w'-]+", name.text)) and not re.search(r"\d", name.text) and name.sort in {"", "employer"}
    return not (topic.attribute in {"home", "hometown"} and (name.sort in {"drink", "database", "phone", UNTOLD} or re.search(r"\d", name.text)))


def _full_name(text: str) -> bool:
    return 2 <= len(text.split()) <= 3 and not re.search(r"\d", text)


def _halves(frame: _Frame) -> tuple[Told, ...]:
    """What each half says where a sentence tells two things ("I'm @1 and I live in @2")."""
    halves = re.split(
        r",? and (?=(?:i|i'm|i've|my|our|we)\b)|, (?=(?:i|i'm|i've|my|our|we)\b)|(?<=@\d) and (?=(?:work|live|drive|fly|drink|have)\b)", frame.text
    )
    if len(halves) < 2:
        return ()
    found: list[Told] = []
    for half in halves:
        marks = sorted({int(n) for n in re.findall(r"@(\d)", half)})
        if len(marks) == 1:
            text = half.replace(f"@{marks[0]}", "@1")
            found += _state(_Frame(text=text if _SPEAKS.search(text) else f"i {text}", names=(frame.names[marks[0] - 1],)))
    return tuple(found)
