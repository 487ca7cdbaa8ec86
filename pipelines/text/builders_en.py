"""What each pattern of the English grammar makes of its match: a slot, or none where the words only look like one."""

# Word lists read better as text.
# ruff: noqa: SIM905

from __future__ import annotations

import re
from dataclasses import replace

from .phrases_en import (
    PRONOUN,
    WE,
    attribute_of,
    compound,
    is_short,
    lift,
    plain_attribute,
    subject_of,
    value_of,
    value_of_one,
    without_determiner,
)
from .slots import GLUE, IMPERATIVES, PROGRAMS, STATE_OF, USER, Slot, is_single
from .values import typed_values

Match = re.Match[str]


def _slot(phrase: str, attribute: str, value: str, **more: object) -> Slot | None:
    """A slot whose subject is a phrase; an attribute the phrase itself names wins over the given one."""
    if not value or not is_short(value, 9):
        return None
    subject, own, person = subject_of(phrase)
    name = own or attribute
    return replace(Slot(subject=subject, attribute=name, value=value, person=person, single=is_single(name)), **more)  # type: ignore[arg-type]


def changed(m: Match) -> Slot | None:
    """ "(we) moved X from A to B", "X went from A to B"."""
    thing = (m["object"] or "").strip(" ,") or _PASSIVE.sub("", m["subject"])
    name, old = lift(value_of(m["old"]))
    again, value = lift(value_of(m["new"]))
    if not old or not value or not is_short(old, 5) or not is_short(value, 6):
        return None
    subject, own, person = subject_of(thing)
    attribute = own or name or again
    if not attribute:
        verb = m["verb"].casefold()
        attribute = "home" if person in {"speaker", "other"} and verb.startswith(("mov", "reloc")) else "name" if verb.startswith("renam") else "tool"
    return Slot(subject=subject, attribute=attribute, value=value, old=old, person=person, update=True, single=True)


_PASSIVE = re.compile(r"\s+(?:was|were|is|are|got|has been|have been)$", re.I)


def set_to(m: Match) -> Slot | None:
    """ "We moved the API to port 3000", "I changed the session timeout to 30 s": a measured value of a thing, never a place or person."""
    name, value = lift(value_of(m["value"]))
    subject, own, person = subject_of(m["np"])
    attribute = own or name or ("time" if TIME.fullmatch(value) else "")
    if not attribute or not (value_of_one(value) or TIME.fullmatch(value)) or person not in {"thing", "group"} or not is_short(subject or attribute, 5):
        return None
    return Slot(subject=subject, attribute=attribute, value=value, person=person, update=True, single=is_single(attribute))


def instead(m: Match) -> Slot | None:
    """ "use B (for P) instead of A", "B instead of A"."""
    value, purpose = _purpose(m["new"])
    old = value_of(m["old"])
    if not value or not old or not is_short(value, 4) or not is_short(old, 4):
        return None
    return Slot(subject=purpose, attribute="tool" if purpose else "use", value=value, old=old, person="group", update=True, single=bool(purpose))


def _purpose(text: str) -> tuple[str, str]:
    """("black", "formatting") of "black for formatting"."""
    match = re.match(r"^(?P<v>.+?)\s+(?:for|as)\s+(?:the\s+|our\s+|all\s+)?(?P<p>[\w -]+)$", text.strip(), re.I)
    if match and is_short(match["p"], 3) and match["p"].casefold() not in {"now", "me", "us", "this", "that", "it"}:
        subject, attribute = compound(match["p"])
        return value_of(match["v"]), subject if not attribute else f"{subject} {attribute}".strip()
    return value_of(text), ""


def corrected(m: Match) -> Slot | None:
    """ "the port is 5433, not 5432", "X isn't A but B"."""
    _, value = lift(value_of(m["new"]))
    _, old = lift(value_of(m["old"]))
    if not old or not is_short(old, 5):
        return None
    return _slot(m["np"], "is", value, old=old, update=True)


def renamed(m: Match) -> Slot | None:
    old, value = value_of(m["old"]), value_of(m["new"])
    subject, own, person = subject_of(old)
    if own and subject:
        return None
    return (
        Slot(subject="", attribute="name", value=value, old=old, person=person, update=True, single=True) if is_short(old, 3) and is_short(value, 3) else None
    )


def dropped(m: Match) -> Slot | None:
    value, purpose = _purpose(m["new"])
    old = value_of(m["old"])
    if not is_short(old, 3) or not is_short(value, 3):
        return None
    return Slot(subject=purpose, attribute="tool" if purpose else "use", value=value, old=old, person="group", update=True, single=bool(purpose))


def home(m: Match) -> Slot | None:
    place = value_of(m["value"])
    if not place[:1].isupper() or not is_short(place, 4):
        return None
    subject, _, person = subject_of(m["np"]) if m["np"] else (USER, "", "speaker")
    if person == "thing" and m["np"][:1].isupper() and " " not in m["np"]:
        person = "other"
    if person not in {"speaker", "other", "unresolved"}:
        return None
    moved = bool(re.search(r"\b(?:mov|relocat)", m["verb"], re.I))
    return Slot(subject=subject, attribute="home", value=place, person=person, update=moved, single=True)


def lived(m: Match) -> Slot | None:
    old, place = value_of(m["old"]), value_of(m["new"])
    if not old[:1].isupper() or not place[:1].isupper() or not is_short(place, 4):
        return None
    subject, _, person = subject_of(m["np"])
    person = "other" if person == "thing" else person
    return Slot(subject=subject, attribute="home", value=place, old=old, person=person, update=True, single=True)


def employer(m: Match) -> Slot | None:
    firm = value_of(m["value"])
    if not firm[:1].isupper() or not is_short(firm, 4):
        return None
    subject, _, person = subject_of(m["np"])
    if person == "thing":
        person = "other"
    return Slot(subject=subject, attribute="employer", value=firm, person=person, update="join" in m["verb"].casefold(), single=True)


def taste(m: Match) -> Slot | None:
    """ "I like X", "Ben hates Y", "prefer A over B"."""
    phrase = m["np"] or "I"
    subject, attribute, person = subject_of(phrase)
    if attribute or (person == "thing" and not phrase[:1].isupper()):
        return None
    verb = m["verb"].casefold()
    value, against = value_of(m["value"]), value_of(m["against"]) if "against" in m.re.groupindex else ""
    negated = bool(m["not"]) != verb.startswith(("hate", "dislike", "detest", "can't stand"))
    if not value or not is_short(value, 6) or (value.casefold().split()[0] in {"to", "that", "how", "it", "when", "this"} and verb != "prefer"):
        return None
    attribute = "prefers" if verb.startswith("prefer") or against else "likes"
    return Slot(subject=subject, attribute=attribute, value=value, against=against or None, person="other" if person == "thing" else person, negated=negated)


def allergy(m: Match) -> Slot | None:
    subject, _, person = subject_of(m["np"]) if m["np"] else (USER, "", "speaker")
    person = "other" if person == "thing" else person
    return Slot(subject=subject, attribute="allergy", value=value_of(m["value"]), person=person, negated=bool(m["not"]))


def owner(m: Match) -> Slot | None:
    subject, own, person = subject_of(m["thing"])
    value = value_of(m["value"])
    if own or not subject or not is_short(value, 3) or not is_short(subject, 4) or value.casefold() in PRONOUN | WE or person == "unresolved":
        return None
    return Slot(subject=subject, attribute="owner", value=USER if value.casefold() == "i" else value, person="thing", single=True)


def schedule(m: Match) -> Slot | None:
    event = _EVENT_LEAD.sub("", m["event"]).strip()
    if not is_short(event, 3) or event.casefold() in PRONOUN or _NEVER.match(event):
        return None  # when a thing never happens is no schedule
    return Slot(subject=event, attribute="schedule", value=m["value"].rstrip("s"), person="group", single=True)


_EVENT_LEAD = re.compile(r"^(?:(?:we|i|our|the|they|always|usually|normally|generally|only|just|please)\s+)+", re.I)
_NEVER = re.compile(r"(?:never|not|no|don['’]?t|do\s+not|avoid|stop)\b", re.I)


def planned(m: Match) -> Slot | None:
    value = value_of(m["value"])
    if TIME.fullmatch(value):
        return _slot(m["np"], "time", value, update="moved" in m.re.groupindex)
    return (
        _slot(m["np"], "date", value, update="moved" in m.re.groupindex)
        if re.search(r"\d|day\b|january|february|march|april|may|june|july|august|october|november|december|september", value, re.I)
        else None
    )


def state(m: Match) -> Slot | None:
    subject, own, person = subject_of(m["np"])
    if own or not subject or person not in {"thing", "group"} or not is_short(subject, 6):
        return None
    return Slot(subject=subject, attribute="state", value=STATE_OF[m["value"].casefold()], person=person, negated=bool(m["not"]), single=True)


def default(m: Match) -> Slot | None:
    return _slot(m["np"], "default", value_of(m["value"]))


def on_day(m: Match) -> Slot | None:
    """ "The review is on 30 January": the day something is on, and nothing but a day."""
    value = value_of(m["value"])
    return _slot(m["np"], "date", value) if any(v.kind == "date" and (v.start, v.end) == (0, len(value)) for v in typed_values(value)) else None


def position(m: Match) -> Slot | None:
    old = m["old"] if "old" in m.re.groupindex else None
    return _slot(
        m["np"], f"position from {plain_attribute(m['of'])}", m["value"].casefold(), single=True, old=old.casefold() if old else None, update=bool(old)
    )


def placed(m: Match) -> Slot | None:
    return _slot(m["np"], "location", value_of(m["value"])) if re.search(r"[/\\]", m["value"]) else None


TIME = re.compile(r"(?:[01]?\d|2[0-3])(?::[0-5]\d|\s?[ap]\.?m\.?|:[0-5]\d\s?[ap]\.?m\.?)(?:\s+(?:UTC|GMT|[A-Z]{2,4}T))?", re.I)


def daily(m: Match) -> Slot | None:
    """ "Backups at 02:00 UTC", "the nightly sync runs at 3am now": when something that comes again starts."""
    subject, own, person = subject_of(m["np"])
    often = bool(m["verb"] or m["often"]) or re.search(r"[^s]s$|\b(?:daily|nightly|cron)\b", m["np"], re.I)
    if own or not often or person in {"speaker", "other", "unresolved"} or not is_short(subject, 4):
        return None
    return Slot(subject=subject, attribute="time", value=value_of(m["value"]), person=person, single=True)


def bare(m: Match) -> Slot | None:
    """ "DB port 5432": a label without a verb, whose last word is an attribute and whose rest is a measured value."""
    subject, attribute, person = subject_of(m["np"])
    words = subject.casefold().split()
    if attribute not in _BARE or not value_of_one(m["value"]) or person == "unresolved" or len(words) > 3:
        return None
    if any(
        word in _NO_NOUN or (word.endswith(("ing", "ed")) and word not in _ING_NOUNS) for word in (*words, *without_determiner(m["np"]).casefold().split()[:-1])
    ):
        return None
    return Slot(subject=subject, attribute=attribute, value=m["value"], person=person, single=True)


_BARE = frozenset({"port", "version", "timeout", "ttl", "retention", "limit"})
_ING_NOUNS = frozenset("staging testing billing pricing training messaging logging monitoring routing caching streaming indexing scheduling".split())
_NO_NOUN = GLUE | IMPERATIVES | {"is", "are", "a", "of", "free", "line", "step", "exit", "error", "status", "try", "any", "no", "each", "every"}


def command(m: Match) -> Slot | None:
    """ "Deploy: make deploy", "we deploy with make ship now", "to run the tests, use npm test": what something is done with."""
    task, what = m["task"].casefold(), without_determiner(value_of(m.groupdict().get("what") or "")).casefold()
    if m["value"].split()[0].casefold() not in PROGRAMS and not m["value"].startswith("./"):
        return None
    if attribute_of(f"{task} {what}"):
        return None
    if what in _ALL_OF_IT:
        what = ""
    if task == "run" and what:
        task, what = what, ""
    task = {"test": "tests", "server": "serve"}.get(task, task)
    return Slot(subject=f"{task} {what}".strip(), attribute="command", value=m["value"], person="group")


_ALL_OF_IT = frozenset({"app", "application", "project", "it", "this", "everything", "code", "site", "repo"})


def platform(m: Match) -> Slot | None:
    value = value_of(m["value"])
    if re.fullmatch(r"\d{4,5}", value):
        return _slot(m["np"], "port", value)
    return _slot(m["np"], "platform", value) if value[:1].isupper() or re.search(r"\d", value) else None


def region(m: Match) -> Slot | None:
    """ "Production runs in eu-west-1": said of where it runs, as "the region is …" says it."""
    old = m["old"].casefold() if m["old"] else None
    return _slot(m["np"], "region", m["value"].casefold(), negated=bool(m["not"]), old=old, update=bool(old))


def tool(m: Match) -> Slot | None:
    value, purpose = _purpose(m["value"])
    if not value or not is_short(value, 4):
        return None
    subject, _, person = subject_of(m["np"]) if m["np"] else ("", "", "group")
    if purpose:
        return Slot(subject=purpose, attribute="tool", value=value, person="group", negated=bool(m["not"]), single=True)
    return Slot(subject=subject, attribute="use", value=value, person=person, negated=bool(m["not"]))


def language(m: Match) -> Slot | None:
    """The natural language something is written in ("write commit messages in English", "docs must be in German"); without a thing, that of answers."""
    thing = re.sub(r"^(?:(?:all|any|the|your|our|my|every|to|me|us)\s+)+|^(?:to|me|us|back)$", "", (m["np"] or "").strip(), flags=re.I)
    subject = thing or {"reply": "answer", "respond": "answer"}.get(m["verb"].lower(), m["verb"].lower())
    return (
        Slot(subject=subject, attribute="written in", value=m["value"], person="group", negated=bool(m["not"]), single=True) if is_short(subject, 4) else None
    )


def supports(m: Match) -> Slot | None:
    value = re.sub(r"\s+(?:and|or)\s+(?:newer|later|above|up|higher)$", "", value_of(m["value"]), flags=re.I)
    return Slot(subject="", attribute="support", value=value, person="group", negated=bool(m["not"])) if is_short(value, 4) else None


def named(m: Match) -> Slot | None:
    return _slot(m["np"], "name", value_of(m["value"]))


def port(m: Match) -> Slot | None:
    subject, own, person = subject_of(m["np"])
    if own and person in {"thing", "group"}:  # "the staging database listens": the thing itself, not an attribute of "staging"
        subject = without_determiner(_PORT_NOUN.sub("", m["np"]))
    return Slot(subject=subject, attribute="port", value=m["value"] or m.groupdict().get("bare"), person=person, single=True)


_PORT_NOUN = re.compile(r"(?:'s)?\s+port(?: number)?$", re.I)


def born(m: Match) -> Slot | None:
    return _slot(m["np"], "birthday" if re.search(r"\d", m["value"]) else "hometown", value_of(m["value"]))


def age(m: Match) -> Slot | None:
    return _slot(m["np"], "age", m["value"])


def stated(m: Match) -> Slot | None:
    """ "X is Y": an attribute when X names one ("the owner of X", "my editor"), else a property of X."""
    subject, attribute, person = subject_of(m["np"])
    value = value_of(m["value"])
    if person == "thing" and not subject and not attribute:
        return None
    if not value or not is_short(value, 8) or not is_short(m["np"], 8):
        return None
    if value.casefold().split()[0] in {"that", "when", "why", "how", "because", "not", "to", "going", "if"}:
        return None
    identifier = bool(re.fullmatch(r"[\w./-]*[_./-][\w./-]*", subject)) and not attribute
    name = attribute or ("value" if identifier and re.fullmatch(r"\S+", value) else "is")
    return Slot(subject=subject, attribute=name, value=value, person=person, negated=bool(m["not"]), single=is_single(name))


def colon(m: Match) -> Slot | None:
    if len(m["np"].split()) > 4:
        return None
    _, attribute, person = subject_of(m["np"])
    named = bool(re.fullmatch(r"[\w./-]*[_.-][\w./-]*", m["np"])) or value_of_one(m["value"])
    if not attribute and not named:
        return None
    return _slot(m["np"], "value", value_of(m["value"]), person=person)
