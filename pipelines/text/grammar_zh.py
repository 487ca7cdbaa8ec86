"""The Chinese slot grammar (and the two Japanese forms of a stated change): explicit changes first, first match wins."""

# Word lists read better as text.
# ruff: noqa: SIM905

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache

from .mood import ZH_BAN, negated
from .slots import ATTRIBUTE_OF, CHINESE_KIN, STATE_OF, USER, Slot, is_single
from .words import chinese_words, is_cjk, is_han

Match = re.Match[str]
Builder = Callable[[Match], Slot | None]


def read_chinese(sentence: str) -> Slot | None:
    """The slot a cleaned Chinese sentence fills (no lead-in, no final 。), or None."""
    for pattern, build in _grammar():
        match = pattern.search(sentence)
        if match and (slot := build(match)):
            return slot
    return None


# --- noun phrases ------------------------------------------------------------------------------------------------------------------------

_KIN = sorted(CHINESE_KIN, key=len, reverse=True)
_OWN = re.compile(r"^(?:我们|咱们|我|他们|她们|他|她|它|你)?的?")
_PERSON_OF = {
    "我": "speaker",
    "我们": "group",
    "咱们": "group",
    "他": "unresolved",
    "她": "unresolved",
    "它": "unresolved",
    "他们": "unresolved",
    "她们": "unresolved",
}
_ATTRIBUTES = sorted((form for form in ATTRIBUTE_OF if is_cjk(form[0])), key=len, reverse=True)
_LEAD = re.compile(r"^(?:(?:我们)?把|现在|目前|今后|以后|每天|这个|那个|该|本|其实|默认的)+")


def subject_of(phrase: str) -> tuple[str, str, str]:
    """(subject, attribute, person): "数据库的端口" → ("数据库", "port", "thing"), "我妻子" → ("user's 妻子", "", "other")."""
    phrase = _FILLED.sub("", _LEAD.sub("", phrase.strip(" ,，的")).strip()) or phrase
    lead = re.match(r"我们|咱们|他们|她们|我|他|她|它", phrase)
    person = _PERSON_OF[lead[0]] if lead else "thing"
    rest = phrase[lead.end() :].removeprefix("的") if lead else phrase
    kin = next((word for word in _KIN if rest.startswith(word)), "")
    if kin and person in {"speaker", "thing"}:
        owner = f"{USER}'s {kin}" if person == "speaker" else kin
        inside, attribute = _compound(_unfold(rest[len(kin) :].removeprefix("的")))
        return f"{owner} {inside}".strip(), attribute, "other"
    subject, attribute = _compound(rest)
    if person == "speaker":
        return f"{USER} {subject}".strip() if subject and attribute else USER, attribute or subject, "speaker"
    if not subject and person == "unresolved":
        return "", attribute, person
    return subject, attribute, "other" if person == "thing" and _is_person(subject) else person


_FILLED = re.compile(r"(?:这个|那个|都|今年|也|还|已经|现在|最近|目前|一直|就|挺|平时|其实|呢)+$")


def _who(phrase: str) -> tuple[str, str] | None:
    """(subject, person) of somebody: 我, 我妻子, 小王; None for a thing and for "我X" whose X is nobody the lexicon knows."""
    subject, attribute, person = subject_of(_FILLED.sub("", phrase) or "我")
    return None if attribute or person not in {"speaker", "other"} else (subject, person)


def _unfold(rest: str) -> str:
    """Without a pronoun that repeats the person: "他老家" → "老家"."""
    return re.sub(r"^[,，]?(?:他|她)的?", "", rest)


def _compound(phrase: str) -> tuple[str, str]:
    for form in _ATTRIBUTES:
        if phrase.endswith(form):
            return phrase[: -len(form)].rstrip("的の "), ATTRIBUTE_OF[form]
    words = phrase.rsplit("的", 1)
    if len(words) == 2 and words[1].casefold() in ATTRIBUTE_OF:
        return words[0], ATTRIBUTE_OF[words[1].casefold()]
    tail = re.search(r"([A-Za-z][A-Za-z ]*)$", phrase)
    if tail and (name := ATTRIBUTE_OF.get(tail[1].casefold().strip())):
        return phrase[: tail.start()].rstrip("的の "), name
    return phrase, ""


def _is_person(word: str) -> bool:
    """A surname form (小李, 老王) or a name as the cutter tags it, alone."""
    if re.fullmatch(r"[小老阿][\u4e00-\u9fff]", word):
        return True
    cut = chinese_words(word)
    return len(cut) == 1 and cut[0].tag.startswith("nr") and cut[0].text == word


# --- builders ----------------------------------------------------------------------------------------------------------------------------

_END = re.compile(r"(?:了|吧|的|呢|啊|哦|就行|即可|来写|写)+$")


def _value(text: str | None) -> str:
    text = (text or "").strip(' ,，。:："“”「」`')
    return _END.sub("", text).strip() or text


def _fits(text: str, most: int = 14) -> bool:
    """Short enough to be a value: characters for Chinese, any identifier."""
    return 0 < len(re.sub(r"[\x21-\x7e]+", "x", text).replace(" ", "")) <= most and "，" not in text and "," not in text


def _lift(text: str) -> tuple[str, str]:
    match = re.match(r"^([\u4e00-\u9fff]+)\s*(\d\S*)$", text)
    if match and match[1] in ATTRIBUTE_OF:
        return ATTRIBUTE_OF[match[1]], match[2]
    return "", text


def _changed(m: Match) -> Slot | None:
    """S从A改成B, 把A改成B, 不是A是B, A不用了换成B."""
    groups = m.groupdict()
    first, old = _lift(_value(groups["old"]))
    second, value = _lift(_value(groups["new"]))
    subject, attribute, person = subject_of(groups.get("np") or "")
    if not attribute and old in ATTRIBUTE_OF:  # 把端口改成80: what is changed stands where the old value would
        return Slot(subject=subject, attribute=ATTRIBUTE_OF[old], value=value, person=person, update=True, single=True) if _fits(value) else None
    if not _fits(old) or not _fits(value) or (not _fits(subject, 12) and subject):
        return None
    name = attribute or first or second
    if not name:
        name = "home" if "搬" in m[0] and person == "speaker" else "name" if "名" in groups.get("verb", "") else "tool" if subject else "use"
    return Slot(subject=subject, attribute=name, value=value, old=old, person=person, update=True, single=is_single(name))


def _no_more(m: Match) -> Slot | None:
    """X不用A了，现在用B: of a port by its numbers, else what X uses."""
    slot = _changed(m)
    port = slot is not None and slot.attribute in {"use", "tool"} and re.fullmatch(r"\d{2,5}", slot.value or "") and re.fullmatch(r"\d{2,5}", slot.old or "")
    return replace(slot, attribute="port", single=True) if slot is not None and port else slot


def _moved_to(m: Match) -> Slot | None:
    """X改到Z: a new value of what X is an attribute or an appointment."""
    subject, attribute, person = subject_of(m["np"])
    value = _value(m["value"])
    if not _fits(value) or not _fits(subject, 10):
        return None
    name = attribute or ("time" if re.search(r"[点:时分周号日月\d]", value) else "")
    return Slot(subject=subject, attribute=name, value=value, person=person, update=True, single=True) if name else None


def _is(m: Match) -> Slot | None:
    subject, attribute, person = subject_of(m["np"])
    value = _value(m["value"])
    if not value or not _fits(value, 16) or not _fits(m["np"], 16) or re.search(r"[,，。？?]", m["np"]):
        return None
    if not subject and not attribute:
        return None
    name = attribute or "is"
    return Slot(subject=subject, attribute=name, value=value, person=person, negated=bool(m["not"]), single=is_single(name))


def _stopped(m: Match) -> Slot | None:
    """不再用X: the plain statement, denied."""
    subject, attribute, person = subject_of(m["np"])
    value = _value(m["value"])
    name = attribute or "use"
    return Slot(subject=subject, attribute=name, value=value, person=person, negated=True, update=True, single=is_single(name)) if _fits(value, 10) else None


def _forbidden(m: Match) -> Slot | None:
    """X不要用Y, 禁止使用Y: what X uses, denied; not where 别 belongs to the word before it (分别使用) or the ban is denied in turn (难以避免使用)."""
    if not negated(m.string):
        return None
    subject, attribute, person = subject_of(m["np"])
    value = _value(m["value"])
    name = attribute or "use"
    return Slot(subject=subject, attribute=name, value=value, person=person, negated=True, single=is_single(name)) if _fits(value, 10) else None


def _called(m: Match) -> Slot | None:
    who = _who(m["np"])
    return Slot(subject=who[0], attribute="name", value=_value(m["value"]), person=who[1], single=True) if who else None


def _home(m: Match) -> Slot | None:
    who, value = _who(m["np"]), _value(m["value"])
    if who is None or not _fits(value, 8) or re.search(r"目录|文件|文件夹|服务器|仓库|分支", value):
        return None
    return Slot(subject=who[0], attribute="home", value=value, person=who[1], update="搬" in m["verb"], single=True)


def _employer(m: Match) -> Slot | None:
    """Where somebody works: a firm by its name ("employer"), a place ("workplace"), or a sort of firm, which is no name and conflicts with none."""
    who, value = _who(m["np"]), _value(m["value"])
    if who is None or not _fits(value, 14):
        return None
    tags = {word.tag for word in chinese_words(value)}
    name = "workplace" if tags and tags <= {"ns", "s"} else "works in" if re.search(r"^(?:一家|某)", value) or value in _SORTS else "employer"
    return Slot(subject=who[0], attribute=name, value=value, person=who[1], update=m["verb"] != "在", single=is_single(name))


_SORTS = frozenset(
    "银行 学校 医院 公司 工厂 餐厅 饭店 酒店 超市 律所 大学 中学 小学 国企 外企 私企 事业单位 政府 机关 法院 公安局 派出所 家 家里 外地 国外 这里 那里 这边 那边".split()
)


def _owner(m: Match) -> Slot | None:
    value, subject = _value(m["value"]), _value(m["thing"])
    if not _fits(value, 5) or not _fits(subject, 12) or value in {"谁", "他", "她", "他们"}:
        return None
    return Slot(subject=subject, attribute="owner", value=USER if value == "我" else value, single=True)


def _allergy(m: Match) -> Slot | None:
    who, value = _who(m["np"]), _value(m["value"])
    return Slot(subject=who[0], attribute="allergy", value=value, person=who[1], negated=bool(m["not"])) if who and _fits(value, 8) else None


def _taste(m: Match) -> Slot | None:
    who, value = _who(m["np"]), re.sub(r"^(?:吃|喝)", "", _value(m["value"]))
    if who is None or not _fits(value, 10):
        return None
    return Slot(subject=who[0], attribute="likes", value=value, person=who[1], negated=bool(re.match(r"不|讨厌|从不", m["verb"])))


def _written(m: Match) -> Slot | None:
    subject = _value(m["np"])
    return Slot(subject=subject, attribute="written in", value=m["value"], single=True) if subject and _fits(subject, 8) else None


def _tool(m: Match) -> Slot | None:
    """X用Y: the tool of X when X is a task or names an attribute, else one of the things X uses."""
    if _NOT_ONLY.search(m["np"]):
        return None  # 不要只用X: X is used, and something else besides that nobody names
    subject, attribute, person = subject_of(_ONLY.sub("", m["np"]))
    value = _value(m["value"])
    if not value or not _fits(value, 10) or (not _fits(m["np"], 12) and m["np"]):
        return None
    plain, named = _compound(value)
    if named and plain and not attribute:
        value, attribute = plain, named
    name = attribute or "use"
    return Slot(subject=subject, attribute=name, value=value, person=person, negated=bool(m["not"]), single=is_single(name))


_NOT_ONLY = re.compile(rf"(?:{ZH_BAN}|不)(?:只|仅仅?|光|单)$")
_ONLY = re.compile(r"(?:只|仅仅?)$")


def _state(m: Match) -> Slot | None:
    where = m["np"] or ""
    thing = m["thing"].strip()
    return Slot(subject=f"{where}{thing}", attribute="state", value=STATE_OF[m["value"]], single=True) if _fits(thing, 10) else None


def _schedule(m: Match) -> Slot | None:
    subject, _, _ = subject_of((m["np"] or "") + m["event"])
    return Slot(subject=subject, attribute="schedule", value=m["value"], person="group", single=True) if _fits(subject, 8) and subject else None


def _position(m: Match) -> Slot | None:
    name = f"position from {m['of']}"
    return Slot(subject=m["np"], attribute=name, value=m["value"], single=True)


def _age(m: Match) -> Slot | None:
    who = _who(m["np"])
    return Slot(subject=who[0], attribute="age", value=m["value"], person=who[1], single=True) if who else None


def _port(m: Match) -> Slot | None:
    subject, attribute, person = subject_of(m["np"])
    return Slot(subject=subject, attribute=attribute or "port", value=m["value"], person=person, single=True)


# --- the grammar -------------------------------------------------------------------------------------------------------------------------

_V = r"[^,，。;；!！?？]+?"
_NP = rf"(?P<np>{_V})"
# A range of Han characters is kept out of IGNORECASE: it has no cases, and the compiler would look at each of its 20,000 characters.
_WHO = r"(?P<np>(?:我(?:的)?(?-i:[\u4e00-\u9fff]){0,4}?|[小老阿](?-i:[\u4e00-\u9fff]))?)"
_TO = r"改成|改为|换成|换到|换为|切换到|切换成|切到|迁移到|迁到|变成|变为|改用|升级到|升级为|调整为|调整到|调到|搬到|移到|改名为|重命名为|改到"
_FORBIDDEN = rf"(?:请|千万|永远|绝对|一律|都)?{ZH_BAN}"
_NO_WAY_ROUND = r"(?:不得不|不能不|不可不|不会不|不要不)?"
"""Denials of a denial: 不得不用 uses it."""
_STATES = "|".join(sorted((form for form in STATE_OF if is_han(form[0])), key=len, reverse=True))

_ROWS: tuple[tuple[str, Builder], ...] = (
    (rf"^(?P<np>{_V})?(?:已经|已|将)?(?:从|由)\s*(?P<old>{_V})\s*(?P<verb>{_TO})\s*(?P<new>{_V})了?$", _changed),
    (rf"^(?:我们)?(?:把|将)(?P<np>{_V}的)?\s*(?P<old>{_V})\s*(?P<verb>改成|改为|换成|改名为|重命名为|替换为|替换成)了?\s*(?P<new>{_V})了?$", _changed),
    (rf"^(?P<np>{_V})?(?:不是|并非)\s*(?P<old>{_V})[,，]?\s*(?:而是|是)\s*(?P<new>{_V})$", _changed),
    (rf"^(?P<np>{_V})(?:应该是|是|为)\s*(?P<new>{_V})[,，]\s*(?:而)?不是\s*(?P<old>{_V})$", _changed),
    (rf"^(?P<np>)(?:都|统一|改)?(?:用|使用)\s*(?P<new>{_V})[,，]?\s*(?:不要|别|不|而不是)(?:再)?(?:用|使用)?\s*(?P<old>{_V})了?$", _changed),
    (rf"^(?P<np>)(?P<old>{_V})\s*不用了[,，]?\s*(?:换成|改用|换|用)\s*(?P<new>{_V})了?$", _changed),
    (rf"^(?P<np>)(?:不要再|别再|不再|不)用\s*(?P<old>{_V})(?:了)?[,，]\s*(?:换成|改用|换|用)\s*(?P<new>{_V})了?$", _changed),
    (rf"^(?P<np>{_V})??\s*(?:已经)?(?:不再|不)用\s*(?P<old>{_V})\s*(?:端口)?了?[,，]\s*(?:现在)?(?:改|换)?(?:成|用)\s*(?P<new>{_V})\s*(?:端口)?了?$", _no_more),
    (r"^(?P<np>[^,、]+?)は(?P<old>[^,、]+?)ではなく[、]?(?P<new>[^,、。]+?)(?:です|だ)?$", _changed),
    (rf"^{_NP}(?:改到|改在|挪到|推迟到|提前到|延期到|延到)\s*(?P<value>{_V})了?$", _moved_to),
    (rf"^{_NP}(?:改成|改为|换成|变成|变为|调整为|调整到|升级到|升级为|提高到|降低到|增加到)了?\s*(?P<value>{_V})了?$", _moved_to),
    (rf"^(?P<np>{_V}|)(?P<no>不再|别再|不要再)(?:用|使用)\s*(?P<value>{_V})了?$", _stopped),
    (rf"^{_WHO}(?:的名字)?(?:名)?叫(?:做)?\s*(?P<value>(?-i:[\u4e00-\u9fffA-Za-z ]){{2,12}}?)$", _called),
    (rf"^{_WHO}(?:今年|已经|现在|刚)*\s*(?P<value>[0-9一二三四五六七八九十]{{1,3}})岁了?$", _age),
    (rf"^{_NP}(?:监听|运行在|跑在|使用|用)(?:在)?(?:的是)?\s*(?P<value>\d{{2,5}})\s*端口(?:上)?$", _port),
    (rf"^{_WHO}(?:现在|目前|一直|最近|上个月|上周|去年|刚刚|刚|已经)*(?P<verb>住在|搬到|搬去|搬家到|定居在|搬家去)了?\s*(?P<value>{_V})了?$", _home),
    (rf"^{_WHO}(?:现在|目前|最近|上个月|刚)*(?P<verb>在)\s*(?P<value>{_V})(?:工作|上班|任职|就职)(?:了|呢)?$", _employer),
    (rf"^{_WHO}(?:现在|目前|最近|上个月|刚)*(?P<verb>跳槽去|跳槽到|入职|加入)了?\s*(?P<value>{_V})了?$", _employer),
    (rf"^{_WHO}(?P<not>不)?对\s*(?P<value>{_V})(?:严重)?过敏$", _allergy),
    (rf"^{_WHO}(?P<not>不)?(?P<value>(?-i:[\u4e00-\u9fff]){{2,4}}?)过敏$", _allergy),
    (
        rf"^{_WHO}(?:平时|一直|最|很|特别|非常|挺|就|也|还)*(?P<verb>不喜欢|不爱吃|不爱喝|不吃|从不吃|不喝|讨厌|喜欢|爱吃|爱喝|热爱|偏爱)\s*(?P<value>{_V})$",
        _taste,
    ),
    (rf"^(?P<value>{_V})(?:主要|目前|现在)?负责(?!人)\s*(?P<thing>{_V})$", _owner),
    (rf"^(?P<thing>{_V})(?:由|归)\s*(?P<value>{_V})负责$", _owner),
    (
        r"^(?:请)?(?P<np>(?-i:[\u4e00-\u9fff]){2,6}?)(?:请|一律|都|要|统一)*(?:使用|用)\s*(?P<value>中文|英文|英语|汉语|日文|法文|德文)(?:写|来写|编写|书写)?(?:即可|就行)?$",
        _written,
    ),
    (
        rf"^(?P<np>(?-i:[\u4e00-\u9fff])*?(?:环境|前端|后端|里)?)(?:已经|已|默认)?(?P<value>{_STATES})了?\s*(?P<thing>(?-i:[\u4e00-\u9fffA-Za-z ]){{2,12}}?)了?$",
        _state,
    ),
    (r"^(?P<np>我们|)每(?P<value>周[一二三四五六日天]|星期[一二三四五六日天])(?P<event>(?-i:[\u4e00-\u9fff]){2,6}?)了?$", _schedule),
    (rf"^(?P<np>{_V})在\s*(?P<of>{_V})的?(?P<value>东北|西北|东南|西南|[东西南北左右])(?:边|面|侧|方|部)?$", _position),
    (rf"^(?P<np>|{_V})(?:{_FORBIDDEN})再?(?:使用|采用|用)\s*(?P<value>{_V})$", _forbidden),
    (rf"^(?P<np>|{_V}){_NO_WAY_ROUND}(?P<not>不)?(?:使用|采用|用)的是\s*(?P<value>{_V})$", _tool),
    (rf"^{_NP}(?P<not>不)?(?:应该是|是|为|等于|设为|设置为|:|：|叫|名叫)\s*(?P<value>{_V})$", _is),
    (r"^(?P<np>[^、。]+?)は(?P<not>)(?P<value>[^、。]+?)(?:です|だ)$", _is),
    (rf"^(?P<np>|{_V}){_NO_WAY_ROUND}(?P<not>(?:从来?|永远?|绝|决)?不)?(?:决定用|采用|使用|都用|用)\s*(?P<value>{_V})$", _tool),
    (r"^(?P<np>(?-i:[\u4e00-\u9fff]){2,10})\s*(?P<not>)(?P<value>[0-9][^,，。]{0,8})$", _is),
)


@cache
def _grammar() -> tuple[tuple[re.Pattern[str], Builder], ...]:
    """Compiled on first use: most commands read no sentence."""
    return tuple((re.compile(source, re.IGNORECASE), build) for source, build in _ROWS)
