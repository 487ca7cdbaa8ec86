"""Facts a person states outright: an attribute with a value ("the API listens on port 8080"), of a thing, the team, themselves or somebody they name.

The reading is `text.statement`'s; this module decides what of it is worth a claim. What is broken, shown, failing or done right now is a report of the
moment, not a fact; what names no subject or no value is dropped.
"""

# Full-width characters are data here.

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from pipelines.engines.local.allergens import is_allergen
from pipelines.engines.local.frames_zh import of_somebody_else
from pipelines.engines.local.personal import personal_facts
from pipelines.engines.local.ports import port_in
from pipelines.engines.local.topics import Told
from pipelines.text.casual import spelled_out
from pipelines.text.reasons import reason_of_change, without_reason
from pipelines.text.sentences import sentences
from pipelines.text.slots import OF_CODE, SINGLE, SINGLE_RELATIONS, USER
from pipelines.text.statement import Form, Person, Statement, parse
from pipelines.text.values import Value, typed_values
from pipelines.text.words import has_cjk

PROJECT = "project"
"""Subject of what is said of the work as a whole ("we deploy on Thursdays")."""
SUBJECT_WORDS_MAX = 6
VALUE_WORDS_MAX = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One stated fact, ready to become a claim. `unnamed`: it corrects a value whose subject only the talk before it names. `whole`: it was understood
    word for word, a pronoun in it points at nothing else."""

    subject: str
    attribute: str
    value: str | None
    qualifier: str = ""
    old_value: str | None = None
    negated: bool = False
    single: bool = True
    reason: str | None = None
    unnamed: bool = False
    whole: bool = False


@lru_cache(maxsize=4096)
def facts_in(sentence: str, *, speaker: str | None) -> tuple[Fact, ...]:
    """The facts of one plain sentence (already freed of its lead-in), the speaker's own ones first; `speaker` names who says "I".

    Kept: of one sentence they are asked for by the rules and for what a model quotes.
    """
    own = [f for f in personal_facts(sentence) if not _EMPTY_VALUE.match(f.value)]
    if own:
        reason = reason_of_change(sentence) if any(f.old or _NEWS.search(sentence) for f in own) else parse(sentence).reason
        return tuple(_own(fact, PROJECT if fact.team else speaker or USER, reason) for fact in own)
    if _OF_THE_MOMENT.search(without_reason(sentence)) or _OTHER_TEAM.match(sentence):
        return ()
    settled = _database(sentence) or _moved_port(sentence)
    found = [settled] if settled else [f for f in (_stated(part, speaker) for part in _halves(spelled_out(sentence))) if f is not None]
    return tuple({(f.subject, f.attribute, f.qualifier, f.value): f for f in found}.values())


_NEWS = re.compile(
    r"\b(?:now|new|nowadays|these days|moved|switched|joined|started|ended up|got|changed|went|picked up|upgraded|left|as of)\b|现在|换|改|新|搬|刚",
    re.IGNORECASE,
)
"""Words of a change, whose reason may follow without a "because"."""
_OF_THE_MOMENT = re.compile(
    r"\b(?:still|not working|doesn't work|does not work|isn't working|is broken|are broken|fails?|failed|failing|crash(?:es|ed)?|error|bug|stuck|missing|wrong|slow|shows?|showing|seeing|seems?|looks?"
    r"|appears?|getting|loading|wants?|wanted|need to|trying|try|would like|plan to|going to|wish|for now|for the moment|temporar(?:y|ily)|this time|just now|at the moment|right now|today|currently (?:open|failing|broken)|supposed to|should|could|would|can you|let's)\b|(?:\b(?:am|are|is)|'m|'re|'s)\s+(?:\w+\s)?(?:moving|relocating|switching|changing|planning|thinking|considering)\b"
    r"|暂时|报错|失败|坏了|看起来|好像|似乎|应该|刚才|今天|昨天",
    re.IGNORECASE,
)
_PAST = re.compile(r"\b(?:went|was|were|had|did|got)\b", re.IGNORECASE)
_NOT_A_SUBJECT = re.compile(
    r"^(?:it|this|that|there|here|these|those|he|she|they|one|something|everything|nothing|what|which|who|I|I'm|I've|my|you|your|everyone|someone|anyone|asking|starting|remaining|problem|issue|point|thing|idea|reason|question|answer)\b|[?!{}<>]|我(?!们)|^把|你|(?<!其)他(?!们的)|她",
    re.IGNORECASE,
)
_EMPTY_VALUE = re.compile(
    r"^(?:(?:old|new|other|same|current|previous|first|second|last|next) ones?|it|this|that|these|those|there|here|them|him|her|what|how|something|nothing|good|bad|great|fine|nice|ok|okay|right|wrong|true|false|very|too|so|really|more|less|like|going|done|ready)\b",
)

_THINGS = frozenset(SINGLE) | SINGLE_RELATIONS | {"value", "support"}
_PASSING_STATES = frozenset({"broken", "fixed", "done", "open", "closed"})
_MEASURES = frozenset(
    ["port", "version", "url", "date", "time", "limit", "ttl", "timeout", "size", "interval", "retention", "budget", "price", "rate", "threshold", "count"]
)
"""Attributes whose value is a number, a day or an address: "personal time is essential" measures nothing."""
_OF_PEOPLE_ONLY = frozenset({"home", "employer", "birthday", "age", "job", "education", "hometown", "height", "weight", "salary", "allergy", "spouse"})
_OF_PEOPLE = frozenset(
    "home employer birthday age name email phone height weight job education hometown allergy diet likes prefers spouse username".split()  # noqa: SIM905
)
_MEASURED = frozenset({"port", "version", "url", "path", "money", "percent", "duration", "quantity", "date", "time", "weekday", "bound", "address", "email"})


def _own(fact: Told, speaker: str, reason: str | None) -> Fact:
    return Fact(
        subject=speaker, attribute=fact.attribute, value=fact.value, old_value=fact.old, negated=fact.negated, single=fact.single, reason=reason, whole=True
    )  # fmt: skip


def _halves(sentence: str) -> tuple[str, ...]:
    """Both halves of "A listens on port 8080 and B on port 5173": the second borrows the verb of the first."""
    two = _TWO_PORTS.match(sentence)
    if two is None:
        return (sentence,)
    return (two["first"], f"{two['second']} {two['verb']} {two['rest']}")


_OTHER_TEAM = re.compile(r"(?:the other|another|their|somebody else's|someone else's)\b|隔壁|别的|其他|他们|人家", re.IGNORECASE)
_DB = r"(?:PostgreSQL|Postgres|MySQL|MariaDB|SQLite|MongoDB|DuckDB|CockroachDB|Cassandra|ClickHouse|Oracle|SQL Server|DynamoDB|Firestore|Neo4j|Supabase|TiDB|OceanBase|[A-Z]\w*DB)"
_DB_CHANGED = re.compile(
    rf"\b[Ww]e(?:'ve| have)?\s+(?:\w+\s)?(?:switched|moved|migrated|changed|replaced|swapped|dropped)\b.*?(?:from\s+)?(?:(?P<o>{_DB})\s+(?:to|for|with|and\s+(?:use|run))\s+(?P<v>{_DB})|\bto\s+(?P<w>{_DB}))"
    rf"|(?P<w2>{_DB})(?:\s+now)?,?\s+(?:now\s+)?(?:instead of|rather than|not)\s+(?P<o2>{_DB})|从(?P<o3>{_DB})(?:改|换|迁|迁移)(?:成|到|为)了?(?P<v3>{_DB})|把(?P<o5>{_DB})换成了?(?P<v5>{_DB})|(?P<v6>{_DB})了?[，,](?:而)?不(?:是|再用)(?P<o6>{_DB})|不(?:再)?用(?P<o4>{_DB})了?[，,].*?用(?P<v4>{_DB})"
)
_DB_USED = re.compile(
    rf"\b[Ww]e\s+(?:now\s+)?(?:use|run|run on|are on|(?:store|keep) (?:everything|our data|the data) in)\s+(?P<v>{_DB})(?=\s*(?:[,.;]|$)|\s+(?:now|because|as|for|in))|\b(?:[Tt]he|[Oo]ur|[Tt]his)\s+(?:project|app|service|backend)\s+(?:now\s+)?(?:uses|runs on)\s+(?P<u>{_DB})|\bdatabase\s+(?:is|runs on)\s+(?:now\s+)?(?P<w>{_DB})|^(?P<x>{_DB})\s+is\s+our\s+database"
    rf"|(?:数据库|库)(?:现在|已经|已)?(?:是|用的是|用|换成了?|换到了?|改成了?|改为了?|改用|迁移?到了?){_DB.replace('(?:', '(?P<y>', 1)}|(?:我们|(?:这个|本|该|我们的?|咱们的?)?项目)(?:现在)?(?:用|使用|采用|改用|换成了?)(?:的是)?{_DB.replace('(?:', '(?P<z>', 1)}"
)


_NOT_OURS = re.compile(r"\b(?:other|another|their|his|her|neighbou?ring|client's|customer's)\b|隔壁|别的|别人|他们|人家", re.IGNORECASE)


def _database(sentence: str) -> Fact | None:
    """What the team keeps its data in: a product's name gives the attribute away."""
    if _NOT_OURS.search(sentence):
        return None
    changed = _DB_CHANGED.search(sentence)
    found = changed or _DB_USED.search(sentence)
    if found is None:
        return None
    given = found.groupdict()
    value = next((given[k] for k in ("v", "w", "w2", "v3", "v4", "v5", "v6", "u", "x", "y", "z") if given.get(k)), None)
    old = next((given[k] for k in ("o", "o2", "o3", "o4", "o5", "o6") if given.get(k)), None)
    read = parse(sentence)
    return Fact(subject=PROJECT, attribute="database", value=value, old_value=old, qualifier=read.qualifier, reason=read.reason) if value else None


def _moved_port(sentence: str) -> Fact | None:
    """What a sentence about a port says, under the name a plain statement gives the thing."""
    found = port_in(sentence)
    if found is None or _NOT_A_SUBJECT.search(found.thing):
        return None
    read = parse(sentence)
    plain = parse(f"{found.thing}{' listens on port ' if found.thing.isascii() else '的端口是'}{found.value}")
    named = plain.subject if plain.form is Form.SLOT and plain.attribute == "port" else found.thing
    if not named:
        return None
    return Fact(
        subject=named, attribute="port", value=found.value, old_value=found.old, qualifier=read.qualifier, reason=reason_of_change(sentence), whole=True
    )


_TWO_PORTS = re.compile(
    r"^(?P<first>.+?\b(?P<verb>listens|runs|is|are|lives|serves)\s+(?:on|at|in)\s+[^,;]+?),?\s+and\s+(?P<second>(?:the\s+)?[\w -]{2,40}?)\s+(?P<rest>(?:on|at|in)\s+[^,;.]+)[.!]?$",
    re.IGNORECASE,
)
_NOT_OLD = re.compile(
    r"^(?P<new>.+?)(?:,?\s+(?:and\s+)?(?:not|instead of|no longer|rather than)\s+|[，,]\s*(?:而)?不是)(?P<old>\S+(?:\s\S+){0,3}?)[.!。！]?$", re.IGNORECASE
)


_OLD_LEAD = re.compile(r"^(?:on|in|at|to|with|via|from)\s+(?=\S)", re.IGNORECASE)
_OLD_TAIL = re.compile(r"[\s,]+(?:any\s?more|any longer|now|these days|nowadays)$", re.IGNORECASE)


def _bare_old(words: str) -> str:
    """A denied value without what leads to it and what says that it is over ("on Fridays any more")."""
    return _OLD_LEAD.sub("", _OLD_TAIL.sub("", words.strip(" .`'\""))).strip(" .`'\"")


_DOC_SAYS = re.compile(
    r"^(?:the |our )?(?:readme|docs?|documentation|wiki|changelog|notes?|claude\.md|agents\.md|comments?)(?:\.md)? (?:still |wrongly )?(?:says?|claims?|states?) (?:that )?(?P<old>.{4,80}?),? (?:but|however|which is wrong,|though) "
    r"(?:in fact |actually |really )?(?:it's|it is|that's|it) (?:now |actually |really )?(?:on )?(?P<new>[^,;]{1,40}?)(?: now)?[.!]?$",
    re.IGNORECASE,
)


def _set_right(sentence: str, speaker: str | None) -> Fact | None:
    """ "The README says the port is 8080 but it's 9090": the value a document has is over, where both are of one kind."""
    found = _DOC_SAYS.match(sentence)
    said = parse(found["old"], speaker=speaker) if found else None
    if found is None or said is None or said.form is not Form.SLOT or not said.value:
        return None
    fact = _slot(said, unnamed=True)
    old, new = typed_values(said.value), typed_values(found["new"])
    if fact is None or len(old) != 1 or len(new) != 1 or old[0].key[0] != new[0].key[0] or old[0].key == new[0].key:
        return None
    return replace(fact, value=found["new"].strip(), old_value=fact.value)


def _stated(sentence: str, speaker: str | None) -> Fact | None:
    if right := _set_right(sentence, speaker):
        return right
    if (over := _NOT_OLD.match(sentence)) and len(typed_values(over["old"])) == 1:
        shorter = parse(over["new"], speaker=speaker)
        fact = (_slot(shorter, unnamed=True) or _now_another(shorter, over["old"])) if shorter.form is Form.SLOT else None
        if fact is not None:
            return replace(fact, old_value=_bare_old(over["old"]), reason=fact.reason or parse(sentence).reason)
    read = parse(sentence, speaker=speaker)
    if read.old_value is None and read.attribute not in {"birthday", "hometown"} and _PAST.search(without_reason(sentence)):
        return None
    if read.form is Form.SLOT and not read.subject and re.match(r"(?:we|I)\b.*\b(?:moved|relocated)\s+from\b", sentence, re.IGNORECASE):
        return None  # people or a service? without an object nobody can tell
    if read.form is Form.SLOT:
        return None if read.attribute in {"use", "tool"} and not _SAYS_WHAT_IS_USED.search(sentence) else _slot(read)
    return _measured(read, sentence) if read.form is Form.FREE else None


def _now_another(read: Statement, over: str) -> Fact | None:
    """ "Weapon icons are WebP now, not PNG": what a thing is, where both what it is and what it was are one name, and it is said that this is new."""
    subject, value = read.subject, read.value or ""
    if read.attribute != "is" or not read.update or read.negated or read.person not in {Person.THING, Person.GROUP} or not subject:
        return None
    if len(subject.split()) > SUBJECT_WORDS_MAX or _NOT_A_SUBJECT.search(subject) or not (_is_one_name(value) and _is_one_name(_bare_old(over))):
        return None
    return Fact(subject=subject, attribute="is", value=value, qualifier=read.qualifier, reason=read.reason)


def _is_one_name(words: str) -> bool:
    """Whether a value is one name of a thing of code ("WebP", "PNG", "Node 22"), and nothing a thing may be beside others."""
    found = typed_values(words)
    return bool(_ONE_NAME.fullmatch(words)) and any(v.kind in {"identifier", "name", "version"} for v in found)


_ONE_NAME = re.compile(r"[A-Z0-9][\w.+#/-]*(?:\s(?:v?\d[\w.]*|[A-Z][\w.+#-]*)){0,2}")
_SAYS_WHAT_IS_USED = re.compile(
    r"^(?:we|our|the|all|every|each|(?-i:[A-Z][\w.]*)|I)\b.*\b(?:us(?:es?|ing)|runs?|writes?|written|built|migrated|switched|moved|replaced|chose|picked|uses?)\b|\b(?:migrated|switched|moved|replaced)\b|使用|采用|用的?是|换成|改用|改成|迁移",
    re.IGNORECASE,
)


_ZH_TAIL = re.compile(r"\s*(?:过|他们|她们|们|现在|目前|用|监听|跑在)$")
_ZH_LEAD = re.compile(r"^(?:在|是)(?=[\d一二三四五六七八九十])")


def _value(words: str) -> str:
    """The value without what only comments on it ("…, which is a lot"), without a Chinese preposition before a date, and of a port its number alone."""
    said = _ZH_LEAD.sub("", _COMMENT.sub("", words))
    return port[1] if (port := _A_PORT.fullmatch(said)) else said


_A_PORT = re.compile(r"port (\d{2,5}) (?:in|on|for|at) [^\d,;]+", re.IGNORECASE)
_COMMENT = re.compile(r",?\s+which\b.*$")


def _slot(read: Statement, *, unnamed: bool = False) -> Fact | None:
    """The fact a slot states. `unnamed`: it corrects a value just named ("the port is 5433, not 5432"), so it may leave its subject open."""
    if not read.value or len(read.value.split()) > VALUE_WORDS_MAX or _EMPTY_VALUE.match(read.value):
        return None
    subject = _ZH_TAIL.sub("", read.subject)
    if read.person is Person.UNRESOLVED or len(subject.split()) > SUBJECT_WORDS_MAX or _NOT_A_SUBJECT.search(subject):
        return None
    if (
        read.attribute in {"birthday", "age", "height", "weight"}
        and not typed_values(read.value)
        and not re.fullmatch(r"[\d〇一二两三四五六七八九十]+", read.value)
    ):
        return None
    if read.attribute in {"home", "employer"} and re.search(r"[找想]|思考|考虑|要不要|一份|一家", read.value):
        return None
    accepted = {Person.SPEAKER: _of_speaker, Person.OTHER: _of_person, Person.GROUP: _of_thing, Person.THING: _of_thing}[read.person]
    if not accepted(read):
        return None
    whole = (
        subject
        or (read.old_value if read.attribute == "name" else "")
        or (PROJECT if unnamed or read.person is Person.GROUP or read.qualifier or read.attribute in _OF_THE_WORK else "")
    )
    if not whole:
        return None
    return Fact(
        subject=whole, attribute=read.attribute, value=_value(read.value), qualifier=read.qualifier, old_value=read.old_value, negated=read.negated,
        single=read.cardinality == "single", reason=read.reason, unnamed=unnamed and whole == PROJECT and not read.qualifier,
    )  # fmt: skip


def named_before(fact: Fact, before: str) -> Fact | None:
    """The fact with the subject the other side named last for its old value ("… the payments database on port 5432"); None when it named none."""
    for span in reversed(sentences(before)):
        said = span.of(before)
        read = parse(said) if fact.old_value and fact.old_value in said else None
        if read is not None and read.form is Form.SLOT and read.attribute == fact.attribute and read.subject and not _NOT_A_SUBJECT.search(read.subject):
            return replace(fact, subject=read.subject, qualifier=fact.qualifier or read.qualifier, unnamed=False)
    return None


_OF_THE_WORK = frozenset(
    {
        "database",
        "framework",
        "package manager",
        "formatter",
        "linter",
        "bundler",
        "test runner",
        "license",
        "branch",
        "region",
        "time zone",
        "url",
        "date",
        "tool",
        "version",
        "budget",
    }
)


_MY_SOMEBODY = re.compile(
    r"^my\s+(?:\w+\s){0,2}?\w+\s+(?:lives|works|moved|relocated|joined|drinks|flies|likes|is (?:allergic|based|living|working|from)|was born|grew up)\b",
    re.IGNORECASE,
)
"""Someone the speaker calls theirs without a word of the lexicon of relatives ("my ex lives in …")."""


def _of_speaker(read: Statement) -> bool:
    """Attributes of a person that are named by a noun or verb of their own; "I'm tired" and "I like it" are none."""
    if _MY_SOMEBODY.match(read.text):
        return False
    if read.attribute == "allergy" and (not is_allergen(read.value or "", read.text) or (has_cjk(read.text) and of_somebody_else(read.text))):
        return False
    if read.attribute == "phone" and not re.search(r"[A-Z0-9]", read.value or ""):
        return False  # "my phone is dead"
    return read.attribute in _OF_PEOPLE - {"likes", "prefers", "name", "job", "age"} or (
        read.attribute == "age" and bool(re.fullmatch(r"\d{1,3}", read.value or ""))
    )


def _of_person(read: Statement) -> bool:
    if read.attribute in OF_CODE:
        return _of_thing(read)
    if read.attribute in {"likes", "prefers"}:
        return bool(_PERSON_NAMED.match(read.subject)) and bool(_TASTE_OF_ANOTHER.search(read.text))
    if re.search(r"\b(?:I|I'm|I'll|I've|my|me|we|you|feel|want|of course|besides)\b", read.subject, re.IGNORECASE):
        return False
    return read.attribute in _OF_PEOPLE and read.subject.casefold() not in {"", USER}


_PERSON_NAMED = re.compile(r"(?:\S+(?:'s|’s) )?(?:\w+ )?[A-Z][a-z]+(?: [A-Z][a-z]+)?$|\S+(?:'s|’s) \w+$|[\u4e00-\u9fff]{2,4}$|\S+(?:'s|’s) [\u4e00-\u9fff]+$")
_TASTE_OF_ANOTHER = re.compile(r"\b(?:likes|loves|hates|prefers|enjoys|dislikes|detests|can't stand)\b|喜欢|讨厌|偏好|爱")


def _of_thing(read: Statement) -> bool:
    if read.attribute == "state":
        return read.value not in _PASSING_STATES and (read.value or "").casefold() not in _PASSING_STATES
    if read.attribute in {"use", "tool"}:
        return (bool(read.subject) or read.person is Person.GROUP) and (_names_something(read) or len((read.value or "").split()) <= 2)
    if read.attribute in _OF_PEOPLE_ONLY or (read.attribute in _MEASURES and not typed_values(read.value or "")):
        return False
    return (read.attribute in _THINGS or read.attribute.startswith(("max ", "min ", "position from"))) and _is_value(read)


def _is_value(read: Statement) -> bool:
    """A value that code, a number or a name spells; for a direction or date its own words."""
    return bool(typed_values(read.value or "")) or read.attribute.startswith("position from") or _names_something(read) or len((read.value or "").split()) <= 2


def _names_something(read: Statement) -> bool:
    value = read.value or ""
    return any(v.kind in {"identifier", "name", "path", "version", "url"} for v in typed_values(value)) or bool(
        re.match(r"[A-Z0-9`][\w.+#/-]*(?:\s[A-Z0-9][\w.+#-]*){0,3}$", value)
    )


def _measured(read: Statement, sentence: str) -> Fact | None:
    """A custom with one measured value ("we keep the audit log for 90 days"): what stays when the value is taken out is its attribute."""
    values = [v for v in typed_values(sentence) if v.kind in _MEASURED | {"identifier", "number"}]
    if " no longer " in sentence or (" which " in sentence and _NEEDLESS.search(sentence)):
        return _no_longer(read, sentence, values)
    custom = _CUSTOM.match(sentence)
    if custom is None:
        return None
    measured = [v for v in values if v.kind in _MEASURED and v.start >= custom.end("verb")]
    if len(measured) != 1 or read.person not in {Person.GROUP, Person.THING} or _NOT_A_SUBJECT.search(custom["np"]) or _A_VERB.search(custom["np"]):
        return None
    value = sentence[measured[0].start : measured[0].end]
    body = re.split(r"\s*[,;]?\s*\b(?:because|due to|since)\b", sentence)[0]
    attribute = " ".join(parse(body.replace(value, " ", 1)).words)
    if len(attribute.split()) < 2:
        return None
    subject = PROJECT if custom["np"].casefold() in {"we", "our team", "the team"} else re.sub(r"^(?:the|our|a|an)\s+", "", custom["np"], flags=re.IGNORECASE)
    return Fact(subject=subject, attribute=attribute, value=value, qualifier=read.qualifier, negated=read.negated, reason=read.reason)


_A_VERB = re.compile(r"\b(?:is|are|was|were|be|to|that|which|who|will|can|has|have)\b", re.IGNORECASE)
_CUSTOM = re.compile(
    r"^(?P<np>we|our team|the team|(?:the|our)\s+[\w -]{2,40}?|[A-Z][\w.-]+(?:\s[\w.-]+){0,3}?)\s+(?:now\s+|only\s+|always\s+|usually\s+)?"
    r"(?P<verb>keeps?|retains?|stores?|deploys?|releases?|ships?|meets?|backs? up|rotates?|renews?|expires?|takes?|costs|needs?|requires?|allows?|holds?|supports?|pays?|bills?|charges?|runs?|starts?"
    r"|begins?|ends?|closes?|opens?|is due|are due|lasts?|lets?|limits?|caps?|polls?|retries|times? out)\b(?!\s+(?:to|like)\b)",
    re.IGNORECASE,
)


def _no_longer(read: Statement, sentence: str, values: list[Value]) -> Fact | None:
    """ "Node v24 no longer requires the --experimental-strip-types", "we use Node v24, which doesn't need …": a fact when both ends are named by code or versions."""
    found = _NEEDLESS.search(sentence)
    if found is None or _NOT_A_SUBJECT.search(found["np"] or found["np2"]) or not any(v.start >= found.end() for v in values):
        return None
    value = next(v for v in values if v.start >= found.end())
    verb = found["verb"] or f"{found['verb2']}s"
    return Fact(subject=found["np"] or found["np2"], attribute=verb, value=sentence[value.start : value.end], negated=True, single=False, reason=read.reason)


_NEEDLESS = re.compile(
    r"^(?P<np>[\w.@/-]+(?:\s[\w.@/-]+){0,3})\s+no longer\s+(?P<verb>needs?|requires?|supports?|uses?|has|accepts?|allows?)\b"
    r"|\b(?:use|using|on|with|run|running)\s+(?:the\s+)?(?:last\s+|latest\s+|newest\s+|current\s+)?(?P<np2>[\w.@/-]+\s+v?\d[\w.]*),?\s+(?:which|and it|that)\s+(?:no longer|doesn't|does not|don't)\s+(?P<verb2>need|require)s?\b",
    re.IGNORECASE,
)
