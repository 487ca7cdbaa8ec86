"""English noun phrases and values: whose what, and the value without what stands around it."""

# Word lists read better as text.
# ruff: noqa: SIM905

from __future__ import annotations

import re

from .slots import ATTRIBUTE_OF, BELONGINGS, KIN, USER
from .values import typed_values

_DETERMINER = re.compile(r"^(?:the|a|an|this|that|these|those|our|its|their|current|new|old|existing|actual)\s+", re.I)
_ADVERB = re.compile(r"(?<=\w)\s+(?:also|now|currently|already|still|only|usually|mostly|always|just)$", re.I)
_MINE = re.compile(r"^my\s+(?:own\s+|current\s+|new\s+)?", re.I)
_OURS = re.compile(r"^our\s+", re.I)
PRONOUN = frozenset("it this that these those he she they him her them there one which who what".split())
WE = frozenset(["we", "us"])
_BOUND = {"max": "max", "maximum": "max", "min": "min", "minimum": "min", "default": "default"}
_LOOSE = frozenset("target planned current default-value new".split())
_POSSESSED = re.compile(r"^(.+?)['’]s?\s+(.+)$")
_OF = re.compile(r"^(?:the\s+)?([\w -]+?)\s+(?:of|for)\s+(.+)$", re.I)


def subject_of(phrase: str) -> tuple[str, str, str]:
    """(subject, attribute, person) of a noun phrase: "the API server's port" → ("API server", "port", "thing"); attribute "" when it names none."""
    phrase = _ADVERB.sub("", phrase.strip(" ,"))
    low = phrase.casefold()
    if low in {"i", "me", "myself", "the user", "user"} or low.endswith(" and i"):
        return USER, "", "speaker"
    if low in WE:
        return "", "", "group"
    if low in PRONOUN:
        return "", "", "unresolved"
    if mine := _MINE.match(phrase):
        return _mine(phrase[mine.end() :])
    if owned := _POSSESSED.match(phrase):
        owner, _, person = subject_of(owned[1])
        if person == "thing" and owned[1][:1].isupper() and " " not in owned[1] and _personal(owned[2]):
            person = "other"
        subject, attribute = compound(owned[2])
        return (f"{owner} {subject}".strip(), attribute, person) if attribute else (owner, plain_attribute(owned[2]), person)
    if (of := _OF.match(phrase)) and (name := attribute_of(of[1])):
        subject, _, person = subject_of(of[2])
        return subject, name, person
    group = bool(_OURS.match(phrase))
    subject, attribute = compound(without_determiner(phrase))
    head = subject.split()[-1].casefold() if subject else ""
    return subject, attribute, "group" if group else "other" if head in KIN and not attribute else "thing"


def _mine(rest: str) -> tuple[str, str, str]:
    """What "my …" names: my wife (a person), my wife's phone (hers), my port (mine)."""
    words = rest.split()
    kin = next((i for i, word in enumerate(words[:3]) if word.casefold().removesuffix("'s") in KIN), None)
    if kin is None:
        subject, attribute = compound(rest)
        return (f"{USER} {subject}".strip(), attribute, "speaker") if attribute else (USER, plain_attribute(rest), "speaker")
    relative = words[kin].removesuffix("'s")
    owner = f"{USER}'s {relative}"
    after = " ".join(words[kin + 1 :])
    if words[kin].endswith("'s"):
        subject, attribute = compound(after)
        return f"{owner} {subject}".strip() if attribute else owner, attribute or plain_attribute(after), "other"
    return f"{owner} {after}".strip(), "", "other"


def _personal(attribute: str) -> bool:
    return attribute.split()[0].casefold() in BELONGINGS or ATTRIBUTE_OF.get(attribute.casefold(), "") in {
        "birthday",
        "age",
        "home",
        "employer",
        "email",
        "phone",
        "job",
        "height",
        "weight",
        "hometown",
    }


def attribute_of(words: str) -> str:
    """The canonical attribute a noun names ("TTL" → "ttl", "max upload size" → ""), "" for none."""
    return ATTRIBUTE_OF.get(without_determiner(words).casefold().strip(), "")


def without_determiner(phrase: str) -> str:
    while match := _DETERMINER.match(phrase):
        phrase = phrase[match.end() :]
    return phrase


def plain_attribute(phrase: str) -> str:
    return " ".join(without_determiner(phrase).casefold().split())


def compound(phrase: str) -> tuple[str, str]:
    """("upload", "max size") of "max upload size"; (phrase, "") when the last words are no attribute."""
    words = without_determiner(phrase).split()
    for take in (3, 2, 1):
        name = ATTRIBUTE_OF.get(" ".join(words[-take:]).casefold()) if len(words) >= take else None
        if name:
            rest = words[:-take]
            bound = next((_BOUND[w.casefold()] for w in rest if w.casefold() in _BOUND), "")
            liked = next(("favorite" for w in rest if w.casefold() in {"favorite", "favourite"}), "")
            kept = [w for w in rest if w.casefold() not in _BOUND.keys() | _LOOSE | {"favorite", "favourite"}]
            return " ".join(kept), f"{bound or liked} {name}".strip()
    return " ".join(words), ""


_TAIL = re.compile(
    r"(?:\s+(?:in|inside|within|on|for|when|while|across|during|at|everywhere|with|to)\s+(?:this|the|our|my|all|every|new|any)\b.*"
    r"|,?\s+(?:now|instead|last (?:year|month|week|night)|yesterday|today|tomorrow|recently|since (?:last|this|yesterday|then|\d|(?:january|february|march|april|may|june|july|august|september|october|november|december)\b).*|(?:this|next) (?:year|month|week)|in (?:19|20)\d\d|anymore|any more|from now on|going forward|these days|again|as well|too|everywhere|please|tbh)"
    r"|,\s+(?:we|I)(?:['’]ve|\s+have)?\s+(?:just\s+|recently\s+|finally\s+)?(?:upgraded|updated|downgraded|moved|switched|migrated|changed|bumped|raised|lowered)\b[^,;:]*)$",
    re.I,
)


def value_of(text: str | None) -> str:
    """A value without its article and without the phrase that says where it holds ("pnpm in this repo" → "pnpm")."""
    text = (text or "").strip(' ,;:.!"“”`')
    while (cut := _TAIL.sub("", text)) != text and cut.strip():
        text = cut
    return re.sub(r"^(?:the|a|an|now|just|only|called|named)\s+", "", text.strip(' ,;:"“”`'), flags=re.I)


def is_short(text: str, words: int = 7) -> bool:
    return 0 < len(text.split()) <= words


_UNITLESS = re.compile(r"^(?P<noun>[A-Za-z][A-Za-z -]*?)\s+(?P<value>\S*\d\S*)$")


def lift(value: str) -> tuple[str, str]:
    """("port", "8080") of "port 8080"; ("", value) otherwise."""
    if (match := _UNITLESS.match(value)) and (name := attribute_of(match["noun"])):
        return name, match["value"]
    return "", value


def value_of_one(text: str) -> bool:
    """Whether a text is exactly one measured value ("30", "west", "on")."""
    text = text.strip(" .")
    return any((v.start, v.end) == (0, len(text)) and v.kind not in {"name", "quoted"} for v in typed_values(text)) or text.casefold() in _WAYS


_WAYS = frozenset("north south east west left right".split())
