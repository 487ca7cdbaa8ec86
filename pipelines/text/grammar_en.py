"""The English slot grammar: one short pattern a way of stating a value, first match wins; explicit changes ("from A to B") before plain statements."""

# Word lists read better as text.
# ruff: noqa: SIM905

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache

from .slots import ATTRIBUTE_OF, BELONGINGS, GLUE, IMPERATIVES, KIN, PROGRAMS, STATE_OF, TASKS, USER, Slot, is_single
from .values import typed_values

Match = re.Match[str]
Builder = Callable[[Match], Slot | None]


def read_english(sentence: str) -> Slot | None:
    """The slot a cleaned English sentence fills (no lead-in, no final dot), or None."""
    for pattern, build in _grammar():
        match = pattern.search(sentence)
        if match and (slot := build(match)):
            return slot
    return None


# --- noun phrases ------------------------------------------------------------------------------------------------------------------------

_DETERMINER = re.compile(r"^(?:the|a|an|this|that|these|those|our|its|their|current|new|old|existing|actual)\s+", re.I)
_ADVERB = re.compile(r"(?<=\w)\s+(?:also|now|currently|already|still|only|usually|mostly|always|just)$", re.I)
_MINE = re.compile(r"^my\s+(?:own\s+|current\s+|new\s+)?", re.I)
_OURS = re.compile(r"^our\s+", re.I)
_PRONOUN = frozenset("it this that these those he she they him her them there one which who what".split())
_WE = frozenset(["we", "us"])
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
    if low in _WE:
        return "", "", "group"
    if low in _PRONOUN:
        return "", "", "unresolved"
    if mine := _MINE.match(phrase):
        return _mine(phrase[mine.end() :])
    if owned := _POSSESSED.match(phrase):
        owner, _, person = subject_of(owned[1])
        if person == "thing" and owned[1][:1].isupper() and " " not in owned[1] and _personal(owned[2]):
            person = "other"
        subject, attribute = _compound(owned[2])
        return (f"{owner} {subject}".strip(), attribute, person) if attribute else (owner, _plain(owned[2]), person)
    if (of := _OF.match(phrase)) and (name := _attribute(of[1])):
        subject, _, person = subject_of(of[2])
        return subject, name, person
    group = bool(_OURS.match(phrase))
    subject, attribute = _compound(_strip(phrase))
    head = subject.split()[-1].casefold() if subject else ""
    return subject, attribute, "group" if group else "other" if head in KIN and not attribute else "thing"


def _mine(rest: str) -> tuple[str, str, str]:
    """What "my …" names: my wife (a person), my wife's phone (hers), my port (mine)."""
    words = rest.split()
    kin = next((i for i, word in enumerate(words[:3]) if word.casefold().removesuffix("'s") in KIN), None)
    if kin is None:
        subject, attribute = _compound(rest)
        return (f"{USER} {subject}".strip(), attribute, "speaker") if attribute else (USER, _plain(rest), "speaker")
    relative = words[kin].removesuffix("'s")
    owner = f"{USER}'s {relative}"
    after = " ".join(words[kin + 1 :])
    if words[kin].endswith("'s"):
        subject, attribute = _compound(after)
        return f"{owner} {subject}".strip() if attribute else owner, attribute or _plain(after), "other"
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


def _attribute(words: str) -> str:
    """The canonical attribute a noun names ("TTL" → "ttl", "max upload size" → ""), "" for none."""
    return ATTRIBUTE_OF.get(_strip(words).casefold().strip(), "")


def _strip(phrase: str) -> str:
    while match := _DETERMINER.match(phrase):
        phrase = phrase[match.end() :]
    return phrase


def _plain(phrase: str) -> str:
    return " ".join(_strip(phrase).casefold().split())


def _compound(phrase: str) -> tuple[str, str]:
    """("upload", "max size") of "max upload size"; (phrase, "") when the last words are no attribute."""
    words = _strip(phrase).split()
    for take in (3, 2, 1):
        name = ATTRIBUTE_OF.get(" ".join(words[-take:]).casefold()) if len(words) >= take else None
        if name:
            rest = words[:-take]
            bound = next((_BOUND[w.casefold()] for w in rest if w.casefold() in _BOUND), "")
            liked = next(("favorite" for w in rest if w.casefold() in {"favorite", "favourite"}), "")
            kept = [w for w in rest if w.casefold() not in _BOUND.keys() | _LOOSE | {"favorite", "favourite"}]
            return " ".join(kept), f"{bound or liked} {name}".strip()
    return " ".join(words), ""


# --- values ------------------------------------------------------------------------------------------------------------------------------

_TAIL = re.compile(
    r"(?:\s+(?:in|inside|within|on|for|when|while|across|during|at|everywhere|with|to)\s+(?:this|the|our|my|all|every|new|any)\b.*"
    r"|,?\s+(?:now|instead|last (?:year|month|week|night)|yesterday|today|tomorrow|recently|since (?:last|this|yesterday|then|\d|(?:january|february|march|april|may|june|july|august|september|october|november|december)\b).*|(?:this|next) (?:year|month|week)|in (?:19|20)\d\d|anymore|any more|from now on|going forward|these days|again|as well|too|everywhere|please|tbh))$",
    re.I,
)


def _value(text: str | None) -> str:
    """A value without its article and without the phrase that says where it holds ("pnpm in this repo" → "pnpm")."""
    text = (text or "").strip(' ,;:.!"“”`')
    while (cut := _TAIL.sub("", text)) != text and cut.strip():
        text = cut
    return re.sub(r"^(?:the|a|an|now|just|only|called|named)\s+", "", text.strip(' ,;:"“”`'), flags=re.I)


def _short(text: str, words: int = 7) -> bool:
    return 0 < len(text.split()) <= words


_UNITLESS = re.compile(r"^(?P<noun>[A-Za-z][A-Za-z -]*?)\s+(?P<value>\S*\d\S*)$")


def _lift(value: str) -> tuple[str, str]:
    """("port", "8080") of "port 8080"; ("", value) otherwise."""
    if (match := _UNITLESS.match(value)) and (name := _attribute(match["noun"])):
        return name, match["value"]
    return "", value


def value_of_one(text: str) -> bool:
    """Whether a text is exactly one measured value ("30", "west", "on")."""
    text = text.strip(" .")
    return any((v.start, v.end) == (0, len(text)) and v.kind not in {"name", "quoted"} for v in typed_values(text)) or text.casefold() in _WAYS


_WAYS = frozenset("north south east west left right".split())


# --- builders ----------------------------------------------------------------------------------------------------------------------------


def _slot(phrase: str, attribute: str, value: str, **more: object) -> Slot | None:
    """A slot whose subject is a phrase; an attribute the phrase itself names wins over the given one."""
    if not value or not _short(value, 9):
        return None
    subject, own, person = subject_of(phrase)
    name = own or attribute
    return replace(Slot(subject=subject, attribute=name, value=value, person=person, single=is_single(name)), **more)  # type: ignore[arg-type]


def _changed(m: Match) -> Slot | None:
    """ "(we) moved X from A to B", "X went from A to B"."""
    thing = (m["object"] or "").strip(" ,") or _PASSIVE.sub("", m["subject"])
    name, old = _lift(_value(m["old"]))
    again, value = _lift(_value(m["new"]))
    if not old or not value or not _short(old, 5) or not _short(value, 6):
        return None
    subject, own, person = subject_of(thing)
    attribute = own or name or again
    if not attribute:
        verb = m["verb"].casefold()
        attribute = "home" if person in {"speaker", "other"} and verb.startswith(("mov", "reloc")) else "name" if verb.startswith("renam") else "tool"
    return Slot(subject=subject, attribute=attribute, value=value, old=old, person=person, update=True, single=True)


_PASSIVE = re.compile(r"\s+(?:was|were|is|are|got|has been|have been)$", re.I)


def _set_to(m: Match) -> Slot | None:
    """ "We moved the API to port 3000", "I changed the session timeout to 30 s": a measured value of a thing, never a place or person."""
    name, value = _lift(_value(m["value"]))
    subject, own, person = subject_of(m["np"])
    attribute = own or name or ("time" if _TIME.fullmatch(value) else "")
    if not attribute or not (value_of_one(value) or _TIME.fullmatch(value)) or person not in {"thing", "group"} or not _short(subject or attribute, 5):
        return None
    return Slot(subject=subject, attribute=attribute, value=value, person=person, update=True, single=is_single(attribute))


def _instead(m: Match) -> Slot | None:
    """ "use B (for P) instead of A", "B instead of A"."""
    value, purpose = _purpose(m["new"])
    old = _value(m["old"])
    if not value or not old or not _short(value, 4) or not _short(old, 4):
        return None
    return Slot(subject=purpose, attribute="tool" if purpose else "use", value=value, old=old, person="group", update=True, single=bool(purpose))


def _purpose(text: str) -> tuple[str, str]:
    """("black", "formatting") of "black for formatting"."""
    match = re.match(r"^(?P<v>.+?)\s+(?:for|as)\s+(?:the\s+|our\s+|all\s+)?(?P<p>[\w -]+)$", text.strip(), re.I)
    if match and _short(match["p"], 3) and match["p"].casefold() not in {"now", "me", "us", "this", "that", "it"}:
        subject, attribute = _compound(match["p"])
        return _value(match["v"]), subject if not attribute else f"{subject} {attribute}".strip()
    return _value(text), ""


def _corrected(m: Match) -> Slot | None:
    """ "the port is 5433, not 5432", "X isn't A but B"."""
    _, value = _lift(_value(m["new"]))
    _, old = _lift(_value(m["old"]))
    if not old or not _short(old, 5):
        return None
    return _slot(m["np"], "is", value, old=old, update=True)


def _renamed(m: Match) -> Slot | None:
    old, value = _value(m["old"]), _value(m["new"])
    subject, own, person = subject_of(old)
    if own and subject:
        return None
    return Slot(subject="", attribute="name", value=value, old=old, person=person, update=True, single=True) if _short(old, 3) and _short(value, 3) else None


def _dropped(m: Match) -> Slot | None:
    value, purpose = _purpose(m["new"])
    old = _value(m["old"])
    if not _short(old, 3) or not _short(value, 3):
        return None
    return Slot(subject=purpose, attribute="tool" if purpose else "use", value=value, old=old, person="group", update=True, single=bool(purpose))


def _no_longer(m: Match) -> Slot | None:
    """ "we no longer use A", "I don't drink coffee anymore": the plain statement, denied."""
    plain = " ".join(part for part in (m["np"].strip(), m["rest"].strip()) if part)
    slot = read_english(_third_person(plain))
    return replace(slot, negated=not slot.negated, update=True) if slot and slot.value else None


def _third_person(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def _home(m: Match) -> Slot | None:
    place = _value(m["value"])
    if not place[:1].isupper() or not _short(place, 4):
        return None
    subject, _, person = subject_of(m["np"]) if m["np"] else (USER, "", "speaker")
    if person == "thing" and m["np"][:1].isupper() and " " not in m["np"]:
        person = "other"
    if person not in {"speaker", "other", "unresolved"}:
        return None
    moved = bool(re.search(r"\b(?:mov|relocat)", m["verb"], re.I))
    return Slot(subject=subject, attribute="home", value=place, person=person, update=moved, single=True)


def _lived(m: Match) -> Slot | None:
    old, place = _value(m["old"]), _value(m["new"])
    if not old[:1].isupper() or not place[:1].isupper() or not _short(place, 4):
        return None
    subject, _, person = subject_of(m["np"])
    person = "other" if person == "thing" else person
    return Slot(subject=subject, attribute="home", value=place, old=old, person=person, update=True, single=True)


def _employer(m: Match) -> Slot | None:
    firm = _value(m["value"])
    if not firm[:1].isupper() or not _short(firm, 4):
        return None
    subject, _, person = subject_of(m["np"])
    if person == "thing":
        person = "other"
    return Slot(subject=subject, attribute="employer", value=firm, person=person, update="join" in m["verb"].casefold(), single=True)


def _taste(m: Match) -> Slot | None:
    """ "I like X", "Ben hates Y", "prefer A over B"."""
    phrase = m["np"] or "I"
    subject, attribute, person = subject_of(phrase)
    if attribute or (person == "thing" and not phrase[:1].isupper()):
        return None
    verb = m["verb"].casefold()
    value, against = _value(m["value"]), _value(m["against"]) if "against" in m.re.groupindex else ""
    negated = bool(m["not"]) != verb.startswith(("hate", "dislike", "detest", "can't stand"))
    if not value or not _short(value, 6) or (value.casefold().split()[0] in {"to", "that", "how", "it", "when", "this"} and verb != "prefer"):
        return None
    attribute = "prefers" if verb.startswith("prefer") or against else "likes"
    return Slot(subject=subject, attribute=attribute, value=value, against=against or None, person="other" if person == "thing" else person, negated=negated)


def _allergy(m: Match) -> Slot | None:
    subject, _, person = subject_of(m["np"]) if m["np"] else (USER, "", "speaker")
    person = "other" if person == "thing" else person
    return Slot(subject=subject, attribute="allergy", value=_value(m["value"]), person=person, negated=bool(m["not"]))


def _owner(m: Match) -> Slot | None:
    subject, own, person = subject_of(m["thing"])
    value = _value(m["value"])
    if own or not subject or not _short(value, 3) or not _short(subject, 4) or value.casefold() in _PRONOUN | _WE or person == "unresolved":
        return None
    return Slot(subject=subject, attribute="owner", value=USER if value.casefold() == "i" else value, person="thing", single=True)


def _schedule(m: Match) -> Slot | None:
    event = re.sub(r"^(?:we|i|our|the|they)\s+", "", m["event"], flags=re.I).strip()
    if not _short(event, 3) or event.casefold() in _PRONOUN:
        return None
    return Slot(subject=event, attribute="schedule", value=m["value"].rstrip("s"), person="group", single=True)


def _planned(m: Match) -> Slot | None:
    value = _value(m["value"])
    if _TIME.fullmatch(value):
        return _slot(m["np"], "time", value, update="moved" in m.re.groupindex)
    return (
        _slot(m["np"], "date", value, update="moved" in m.re.groupindex)
        if re.search(r"\d|day\b|january|february|march|april|may|june|july|august|october|november|december|september", value, re.I)
        else None
    )


def _state(m: Match) -> Slot | None:
    subject, own, person = subject_of(m["np"])
    if own or not subject or person not in {"thing", "group"} or not _short(subject, 6):
        return None
    return Slot(subject=subject, attribute="state", value=STATE_OF[m["value"].casefold()], person=person, negated=bool(m["not"]), single=True)


def _default(m: Match) -> Slot | None:
    return _slot(m["np"], "default", _value(m["value"]))


def _on_day(m: Match) -> Slot | None:
    """ "The review is on 30 January": the day something is on, and nothing but a day."""
    value = _value(m["value"])
    return _slot(m["np"], "date", value) if any(v.kind == "date" and (v.start, v.end) == (0, len(value)) for v in typed_values(value)) else None


def _position(m: Match) -> Slot | None:
    old = m["old"] if "old" in m.re.groupindex else None
    return _slot(m["np"], f"position from {_plain(m['of'])}", m["value"].casefold(), single=True, old=old.casefold() if old else None, update=bool(old))


def _placed(m: Match) -> Slot | None:
    return _slot(m["np"], "location", _value(m["value"])) if re.search(r"[/\\]", m["value"]) else None


_TIME = re.compile(r"(?:[01]?\d|2[0-3])(?::[0-5]\d|\s?[ap]\.?m\.?|:[0-5]\d\s?[ap]\.?m\.?)(?:\s+(?:UTC|GMT|[A-Z]{2,4}T))?", re.I)


def _daily(m: Match) -> Slot | None:
    """ "Backups at 02:00 UTC", "the nightly sync runs at 3am now": when something that comes again starts."""
    subject, own, person = subject_of(m["np"])
    often = bool(m["verb"] or m["often"]) or re.search(r"[^s]s$|\b(?:daily|nightly|cron)\b", m["np"], re.I)
    if own or not often or person in {"speaker", "other", "unresolved"} or not _short(subject, 4):
        return None
    return Slot(subject=subject, attribute="time", value=_value(m["value"]), person=person, single=True)


def _bare(m: Match) -> Slot | None:
    """ "DB port 5432": a label without a verb, whose last word is an attribute and whose rest is a measured value."""
    subject, attribute, person = subject_of(m["np"])
    words = subject.casefold().split()
    if attribute not in _BARE or not value_of_one(m["value"]) or person == "unresolved" or len(words) > 3:
        return None
    if any(word in _NO_NOUN or (word.endswith(("ing", "ed")) and word not in _ING_NOUNS) for word in (*words, *_strip(m["np"]).casefold().split()[:-1])):
        return None
    return Slot(subject=subject, attribute=attribute, value=m["value"], person=person, single=True)


_BARE = frozenset({"port", "version", "timeout", "ttl", "retention", "limit"})
_ING_NOUNS = frozenset("staging testing billing pricing training messaging logging monitoring routing caching streaming indexing scheduling".split())
_NO_NOUN = GLUE | IMPERATIVES | {"is", "are", "a", "of", "free", "line", "step", "exit", "error", "status", "try", "any", "no", "each", "every"}


def _command(m: Match) -> Slot | None:
    """ "Deploy: make deploy", "we deploy with make ship now", "to run the tests, use npm test": what something is done with."""
    task, what = m["task"].casefold(), _strip(_value(m.groupdict().get("what") or "")).casefold()
    if m["value"].split()[0].casefold() not in PROGRAMS and not m["value"].startswith("./"):
        return None
    if _attribute(f"{task} {what}"):
        return None
    if what in _ALL_OF_IT:
        what = ""
    if task == "run" and what:
        task, what = what, ""
    task = {"test": "tests", "server": "serve"}.get(task, task)
    return Slot(subject=f"{task} {what}".strip(), attribute="command", value=m["value"], person="group")


_ALL_OF_IT = frozenset({"app", "application", "project", "it", "this", "everything", "code", "site", "repo"})


def _platform(m: Match) -> Slot | None:
    value = _value(m["value"])
    if re.fullmatch(r"\d{4,5}", value):
        return _slot(m["np"], "port", value)
    return _slot(m["np"], "platform", value) if value[:1].isupper() or re.search(r"\d", value) else None


def _region(m: Match) -> Slot | None:
    """ "Production runs in eu-west-1": said of where it runs, as "the region is …" says it."""
    old = m["old"].casefold() if m["old"] else None
    return _slot(m["np"], "region", m["value"].casefold(), negated=bool(m["not"]), old=old, update=bool(old))


def _tool(m: Match) -> Slot | None:
    value, purpose = _purpose(m["value"])
    if not value or not _short(value, 4):
        return None
    subject, _, person = subject_of(m["np"]) if m["np"] else ("", "", "group")
    if purpose:
        return Slot(subject=purpose, attribute="tool", value=value, person="group", negated=bool(m["not"]), single=True)
    return Slot(subject=subject, attribute="use", value=value, person=person, negated=bool(m["not"]))


def _language(m: Match) -> Slot | None:
    """The natural language something is written in ("write commit messages in English", "docs must be in German"); without a thing, that of answers."""
    thing = re.sub(r"^(?:(?:all|any|the|your|our|my|every|to|me|us)\s+)+|^(?:to|me|us|back)$", "", (m["np"] or "").strip(), flags=re.I)
    subject = thing or {"reply": "answer", "respond": "answer"}.get(m["verb"].lower(), m["verb"].lower())
    return Slot(subject=subject, attribute="written in", value=m["value"], person="group", negated=bool(m["not"]), single=True) if _short(subject, 4) else None


def _supports(m: Match) -> Slot | None:
    value = re.sub(r"\s+(?:and|or)\s+(?:newer|later|above|up|higher)$", "", _value(m["value"]), flags=re.I)
    return Slot(subject="", attribute="support", value=value, person="group", negated=bool(m["not"])) if _short(value, 4) else None


def _named(m: Match) -> Slot | None:
    return _slot(m["np"], "name", _value(m["value"]))


def _port(m: Match) -> Slot | None:
    subject, own, person = subject_of(m["np"])
    if own and person in {"thing", "group"}:  # "the staging database listens": the thing itself, not an attribute of "staging"
        subject = _strip(_PORT_NOUN.sub("", m["np"]))
    return Slot(subject=subject, attribute="port", value=m["value"] or m.groupdict().get("bare"), person=person, single=True)


_PORT_NOUN = re.compile(r"(?:'s)?\s+port(?: number)?$", re.I)


def _born(m: Match) -> Slot | None:
    return _slot(m["np"], "birthday" if re.search(r"\d", m["value"]) else "hometown", _value(m["value"]))


def _age(m: Match) -> Slot | None:
    return _slot(m["np"], "age", m["value"])


def _is(m: Match) -> Slot | None:
    """ "X is Y": an attribute when X names one ("the owner of X", "my editor"), else a property of X."""
    subject, attribute, person = subject_of(m["np"])
    value = _value(m["value"])
    if person == "thing" and not subject and not attribute:
        return None
    if not value or not _short(value, 8) or not _short(m["np"], 8):
        return None
    if value.casefold().split()[0] in {"that", "when", "why", "how", "because", "not", "to", "going", "if"}:
        return None
    identifier = bool(re.fullmatch(r"[\w./-]*[_./-][\w./-]*", subject)) and not attribute
    name = attribute or ("value" if identifier and re.fullmatch(r"\S+", value) else "is")
    return Slot(subject=subject, attribute=name, value=value, person=person, negated=bool(m["not"]), single=is_single(name))


def _colon(m: Match) -> Slot | None:
    if len(m["np"].split()) > 4:
        return None
    _, attribute, person = subject_of(m["np"])
    named = bool(re.fullmatch(r"[\w./-]*[_.-][\w./-]*", m["np"])) or value_of_one(m["value"])
    if not attribute and not named:
        return None
    return _slot(m["np"], "value", _value(m["value"]), person=person)


# --- the grammar, first match wins -------------------------------------------------------------------------------------------------------

_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_NP = r"(?P<np>[^,;:]+?)"
_WAY = r"(?:north|south)(?:-?(?:east|west))?|east|west|left|right"
_STANDS = r"(?:(?:is|are)(?:\s+(?:located|situated|placed))?|lies|sits|stands)"
_TASK = "|".join(TASKS.split())
_LINE = r"(?:\./)?[a-z][\w./-]*(?:\s+(?!(?:for|to|and|now|instead|from|which|because|in|on|when)\b|[-–—]\s)[\w./:@=-]+){0,6}"
_STATES = "|".join(sorted(STATE_OF, key=len, reverse=True))
_MOVE = r"moved?|moving|switch(?:ed|ing)?|migrat(?:ed|ing|e)|chang(?:ed|ing|e)|upgraded?|bumped|bump|downgraded?|went|raised?|lowered?|increased?|decreased?|reduced?|updated?|extended?|shortened?|converted?|relocated|renamed?"
_REGION = (  # as clouds name theirs: eu-west-1, us-gov-east-1, europe-west4-b, northeurope
    r"[a-z]{2,12}-(?:(?:gov|iso[bf]?)-)?(?:north|south|east|west|central)(?:east|west)?-?\d{1,2}(?:-?[a-f])?"
    r"|(?:north|south|east|west|central){1,2}(?:us|europe|asia|india)\d?"
)
_CHANGED = r"set|moved|switched|changed|bumped|raised|lowered|increased|decreased|reduced|updated|extended|shortened"


_LANGUAGES = (
    r"(?:(?:british|american|simplified|traditional)\s+)?(?:english|german|french|spanish|italian|portuguese|dutch|russian|ukrainian|polish|czech|swedish|turkish|arabic|hindi"
    r"|japanese|korean|chinese|mandarin)"
)

_ROWS: tuple[tuple[str, Builder], ...] = (
    (rf"^(?P<subject>.*?)\s*\b(?P<verb>{_MOVE})\b(?P<object>.*?)\bfrom\s+(?P<old>.+?)\s+(?:over\s+)?(?:to|into)\s+(?P<new>.+)$", _changed),
    (
        rf"^(?:we|I)(?:'ve|\s+have)?\s+(?:just\s+)?(?:{_CHANGED}|put)\s+(?P<np>.+?)\s+(?:over\s+)?to\s+(?P<value>.+)$",
        _set_to,
    ),
    (rf"^{_NP}\s+(?:was|were|got|has been|have been)\s+(?:{_CHANGED})\s+to\s+(?P<value>.+)$", _set_to),
    (r"^(?:we|I)\s+(?:now\s+)?(?:serve|run|host|expose|start|bind|publish|have)\s+(?P<np>[^,;]+?)\s+(?:on|at)\s+(?:the\s+)?port\s+(?P<value>\d+)$", _port),
    (r"^(?P<old>\S+(?:\s\S+)?)\s+(?:was|is|got|has been|is now)\s+renamed\s+(?:to|as)\s+(?P<new>.+)$", _renamed),
    (r"\brename\s+(?P<old>\S+)\s+(?:to|as|into)\s+(?P<new>\S+)$", _renamed),
    (r"^(?:we(?:'ve| have)?\s+)?replaced?\s+(?P<old>.+?)\s+(?:with|by)\s+(?P<new>.+)$", _dropped),
    (r"^(?P<old>.+?)\s+(?:was|is|has been|got)\s+replaced\s+(?:with|by)\s+(?P<new>.+)$", _dropped),
    (
        r"^(?:scrap|drop|ditch|forget)\s+(?P<old>[^,;.]+)[,;.]\s*(?:we're|we are|let's|we)?\s*(?:going with|go with|using|use|switching to|moving to)\s+(?P<new>.+)$",
        _dropped,
    ),
    (r"\b(?:use|using|run|go with|going with)\s+(?P<new>.+?),?\s+(?:instead of|rather than|and not|not)\s+(?P<old>.+)$", _instead),
    (
        rf"^{_NP}(?:\s+{_STANDS}|\s*[:=→])\s+(?:(?:to|on|in)\s+the\s+)?(?P<value>{_WAY})(?:\s+side)?\s+of\s+(?P<of>[^,;]+?)(?:,\s*(?:and\s+)?not\s+(?:to\s+the\s+)?(?P<old>{_WAY})(?:\s+of\s+it)?)?$",
        _position,
    ),
    (
        rf"^{_NP}\s+(?:is not|isn't)\s+(?:to\s+the\s+)?(?P<old>{_WAY})\s+of\s+(?P<of>[^,;]+?)[,;]\s*(?:but\s+)?(?:it\s+is\s+|it's\s+|it\s+lies\s+)?(?:to\s+the\s+)?(?P<value>{_WAY})(?:\s+of\s+it)?$",
        _position,
    ),
    (rf"^{_NP}\s+(?:is|are)\s+(?:now\s+)?(?P<new>[^,;]+?),?\s+(?:and\s+)?(?:not|instead of|no longer)\s+(?P<old>.+)$", _corrected),
    (rf"^{_NP}\s+(?:isn't|is not|aren't|are not)\s+(?P<old>[^,;]+?),?\s+(?:but|it's|it is|they're|they are)\s+(?P<new>.+)$", _corrected),
    (rf"^{_NP}\s+used to be\s+(?P<old>[^,;]+?),?\s+(?:but\s+)?(?:now\s+)?(?:it's|it is|is|they're|they are)?\s*(?:now\s+)(?P<new>.+)$", _corrected),
    (
        r"^(?P<np>I|we|he|she|[A-Z]\w+)\s+used to live in\s+(?P<old>[^,;]+?),?\s+(?:but|and)\s+(?:now\s+)?(?:(?:I|we|he|she)\s+)?(?:now\s+)?(?:lives?|am|is)\s+in\s+(?P<new>.+)$",
        _lived,
    ),
    (r"^(?P<np>.*?)\s*\b(?:no longer)\s+(?P<rest>.+)$", _no_longer),
    (r"^(?P<np>.*?)\s+(?:don't|do not|doesn't|does not|isn't|aren't)\s+(?P<rest>.+?)\s+(?:anymore|any more)$", _no_longer),
    (
        rf"^{_NP}\s+(?:is\s+|are\s+|was\s+)?(?:listen(?:s|ing)?|runs?|running|serve[sd]?|exposed|binds?|bound|uses?)\s+(?:on\s+|to\s+|at\s+)?(?:the\s+)?port\s+(?P<value>\d+)$",
        _port,
    ),
    (
        rf"^{_NP}\s+(?:(?:is|are)\s+(?:now\s+)?(?:(?:available|reachable|up|exposed|listening|served)\s+)?|listens?\s+)on\s+(?:port\s+(?P<value>\d+)|(?P<bare>\d{{4,5}}))$",
        _port,
    ),
    (r"^(?P<np>)(?P<verb>(?:just\s+|recently\s+)?(?:moved|relocated))\s+to\s+(?P<value>.+)$", _home),
    (
        r"^(?P<np>.+?)(?:'m|'re|'s| am| is| are)?\s+(?P<verb>live|lives|living|based|reside|resides|moved|moving|relocated|just moved|recently moved)\s+(?:in|to|over to)\s+(?P<value>.+)$",
        _home,
    ),
    (
        r"^(?P<np>I|we|he|she|they|my [\w ]+?|[A-Z]\w+)(?:'m|'s| am| is)?\s+(?P<verb>works?|working|joined|joining)\s+(?:(?:at|for)\s+)?(?P<value>.+)$",
        _employer,
    ),
    (r"^(?P<np>.+?)\s+(?:was|were)\s+born\s+(?:on|in)\s+(?P<value>.+)$", _born),
    (r"^(?P<np>.*?)\s*(?:\b(?:am|is|are|got)|'m|'s|'re)?\s*(?P<not>not\s+)?allergic\s+to\s+(?P<value>.+)$", _allergy),
    (
        r"^(?P<np>.*?)\s*(?P<not>(?:don't|do not|doesn't|does not)\s+)?(?:really\s+|usually\s+)?\b(?P<verb>prefers?|likes?|loves?|enjoys?)\s+(?P<value>.+?)\s+(?:over|better than|more than|rather than|instead of|to)\s+(?P<against>.+)$",
        _taste,
    ),
    (
        r"^(?P<np>.*?)\s*(?P<not>(?:don't|do not|doesn't|does not)\s+)?(?:really\s+|also\s+|usually\s+)?\b(?P<verb>prefers?|likes?|loves?|enjoys?|hates?|dislikes?|detests?|can't stand)\s+(?P<value>.+)$",
        _taste,
    ),
    (r"^(?P<value>.+?)\s+(?:owns|maintains|is responsible for|is in charge of|is the owner of)\s+(?P<thing>.+)$", _owner),
    (r"^(?P<thing>.+?)\s+(?:is|are)\s+(?:owned|maintained)\s+by\s+(?P<value>.+)$", _owner),
    (
        rf"^(?P<event>[\w -]+?)\s+(?:(?:happens?|is|are|takes? place|runs?|occurs?)\s+)?(?:every|each|on)\s+(?P<value>(?:(?:other|second|first|last)\s+)?{_DAY})$",
        _schedule,
    ),
    (rf"^{_NP}\s+(?:is|are)\s+(?:planned|scheduled|due|set|slated|expected)\s+(?:for|on|by)?\s*(?P<value>.+)$", _planned),
    (
        rf"^{_NP}\s+(?:has\s+|have\s+|was\s+|were\s+|got\s+)?(?:been\s+)?(?P<moved>slipped|moved|pushed|postponed|delayed|rescheduled)\s+(?:back\s+)?to\s+(?P<value>.+)$",
        _planned,
    ),
    (rf"^{_NP}\s+(?:is|are)\s+on\s+(?P<value>.+)$", _on_day),
    (rf"^{_NP}\s+defaults?\s+to\s+(?P<value>.+)$", _default),
    (rf"^{_NP}\s+(?:is|are)\s+(?P<not>not\s+)?(?:turned\s+|switched\s+|now\s+)?(?P<value>{_STATES})(?:\s+(?:in|on|for|by)\s+[\w ]+)?$", _state),
    (
        rf"^{_NP}(?P<not>\s+(?:does not|doesn't|do not|don't))?\s+(?:runs?|lives?|sits?|(?:is|are)(?:\s+(?:running|hosted|deployed|located))?)\s+in\s+(?:the\s+)?"
        rf"(?:\w+\s+region\s+)?(?P<value>{_REGION})(?:\s+region)?(?:,\s*(?:and\s+)?not\s+(?:in\s+)?(?P<old>{_REGION}))?$",
        _region,
    ),
    (
        rf"^{_NP}\s+(?:lives?|is|are|(?:is|are)\s+(?:served|mounted|reachable|available)|is located|are located|is stored|are stored|is kept|are kept|goes?|belongs?|stays?|resides?)\s+(?:in|under|at|inside)\s+(?P<value>.+)$",
        _placed,
    ),
    (
        rf"^(?P<not>(?:never|don't|do not)\s+)?(?:always\s+)?(?P<verb>write|answer|reply|respond|comment|document|explain|keep)\b\s*(?P<np>[^,;]*?)\s*\bin\s+(?P<value>{_LANGUAGES})$",
        _language,
    ),
    (
        rf"^(?P<verb>){_NP}\s+(?:must|should|has to|have to|needs? to|is to|are to)\s+(?P<not>not\s+)?(?:always\s+)?be\s+(?:written\s+)?in\s+(?P<value>{_LANGUAGES})$",
        _language,
    ),
    (r"^(?:put|keep|place|store|save)\s+(?P<np>.+?)\s+(?:in|under|at|inside)\s+(?P<value>.+)$", _placed),
    (rf"^{_NP}\s+(?:runs?|is hosted|is deployed|are hosted|are deployed|is running)\s+on\s+(?P<value>.+)$", _platform),
    (r"^(?:we\s+)?(?:(?:decided to |'re going to |will )?(?:go|going) with|chose|picked|went with|settled on)(?P<np>)(?P<not>)\s+(?P<value>.+)$", _tool),
    (r"^(?P<np>)(?P<not>don't |do not |never |stop )?(?:always\s+)?(?:uses?|using)\s+(?P<value>.+)$", _tool),
    (r"^(?P<np>[^,;]+?)\s+(?P<not>(?:don't|do not|doesn't|does not)\s+)?(?:uses?|is using|are using|am using)\s+(?P<value>.+)$", _tool),
    (r"^(?:we|it|the \w+)\s+(?P<not>(?:don't|do not|doesn't|does not)\s+)?supports?\s+(?P<value>.+)$", _supports),
    (r"^(?P<value>.+?)\s+(?:is|are)\s+(?P<not>not\s+)?supported$", _supports),
    (rf"^{_NP}\s+(?:is|are)\s+(?:called|named)\s+(?P<value>.+)$", _named),
    (rf"^{_NP}\s+(?:is|am|are|'m)\s+(?P<value>\d{{1,3}})(?:\s+years\s+old)?$(?<=old)", _age),
    (
        rf"^{_NP}\s+(?P<verb>(?:runs?|starts?|happens?|takes? place|is|are|begins?)\s+(?:now\s+)?)?(?P<often>(?:daily|nightly|weekly|every (?:day|night))\s+)?at\s+(?P<value>{_TIME.pattern})(?:\s+(?:daily|nightly|every (?:day|night)|each (?:day|night)))?$",
        _daily,
    ),
    (rf"^(?P<task>{_TASK})(?:\s+(?P<what>[\w -]{{1,24}}?))?\s*(?:command|script)?\s*[:=]\s*(?P<value>{_LINE})(?:\s+(?:for|to|[-–—(])\s*.*)?$", _command),
    (
        rf"^(?:we|I|you)\s+(?:now\s+|always\s+)?(?P<task>{_TASK})(?:\s+(?P<what>[\w -]{{1,24}}?))?\s+(?:with|via|using|through|by running)\s+(?P<value>{_LINE})(?:\s+(?:for|to)\s.*)?$",
        _command,
    ),
    (rf"^to\s+(?P<task>{_TASK})(?:\s+(?P<what>[\w -]{{1,24}}?))?,?\s+(?:we |you )?(?:now )?(?:run|use|call|it's|it is)\s+(?P<value>{_LINE})$", _command),
    (rf"^(?:the\s+)?(?P<task>{_TASK})(?:\s+(?P<what>[\w -]{{1,24}}?))?\s+command\s+is\s+(?:now\s+)?(?P<value>{_LINE})$", _command),
    (r"^(?P<np>[\w .'/-]{2,40}?)\s+(?P<value>v?\d[\w.]*(?:\s(?:s|ms|min|minutes?|seconds?|hours?|days?))?)$", _bare),
    (r"^(?P<np>[\w .'/-]{1,40}?)\s*[:=]\s+(?P<value>[^\s].{0,60})$", _colon),
    (r"^(?P<np>[^,;:]+?)\s+(?:is|are|am|equals|was set to|is set to|ends in)\s+(?P<not>not\s+)?(?:now\s+|set to\s+)?(?P<value>.+)$", _is),
    (r"^(?P<np>I|it|he|she|we|they|that|this)(?:'s|'re|'m)\s+(?P<not>not\s+)?(?:now\s+)?(?P<value>.+)$", _is),
)


@cache
def _grammar() -> tuple[tuple[re.Pattern[str], Builder], ...]:
    """Compiled on first use: most commands read no sentence."""
    return tuple((re.compile(source, re.IGNORECASE), build) for source, build in _ROWS)
