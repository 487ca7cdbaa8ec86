"""Changes people tell of themselves: what was given up for what, or only what it is now ("I swapped the Pixel for a Fairphone", 我从成都搬到青岛了).

A sentence has a topic (home, employer, airline, phone, drink) by its own words and one of a few forms of change; the names in it are places, firms or
models by their spelling. A sentence without a topic, or with another person as its subject, is none of this.
"""

# Full-width characters are data here.

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from pipelines.text.slots import CHINESE_KIN, ENGLISH_KIN
from pipelines.text.words import chinese_words

_PROPER = r"(?!I\b|I['’]|The\b|My\b|We\b)[A-Z0-9][\w.&'’+-]*(?:\s(?:(?:of|and|the|de)(?=\s[A-Z])|(?!I\b|I['’])[A-Z0-9][\w.&'’+-]*))*"
_DRINK = r"(?!(?:it|that|this|my|more|less|now|because|the)\b)[a-z][\w-]*(?:\s(?!because\b|since\b|now\b|instead\b|any\b|and\b|in\b|at\b|every\b|these\b|at\b|with\b|for\b|to\b)[\w-]+){0,2}"
_DRINK_ZH = (
    "茶(?![几杯馆具叶])|咖啡(?![机馆店])|拿铁|豆浆|可乐|果汁|汽水|牛奶|奶茶|普洱|乌龙|龙井"
    "|(?:black |oat |green |mint |herbal )?(?:coffee|espresso|latte|matcha|chai|kombucha|rooibos|tea)|earl grey|hot chocolate"
)
_AIRLINES = "Qantas|Finnair|KLM|TAP|Emirates|Iberia|Lufthansa|Norwegian|Austrian|Delta|United|Ryanair|easyJet|Swiss|Qatar Airways|Turkish Airlines|British Airways|Air France"
_FIRMS = (
    "Labs|Group|Foods|Media|Bank|Software|Logistics|Robotics|Inc|Corp|GmbH|Ltd|Technologies|Systems|Consulting|Industries|Energie|Energy|Solutions|Studios?"
)
"""Last words of the names of firms."""
_HAN = r"(?![了过着]|找|一[些家个份]|家|做|想|思考|考虑|寻|在|当前|现在|这|那|某|旅行|酒店)[\u4e00-\u9fffA-Za-z0-9][\u4e00-\u9fffA-Za-z0-9 .&+-]{0,23}?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What holds now (`value`) of the speaker's `attribute`, and what it took the place of."""

    attribute: str
    value: str
    old: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Topic:
    attribute: str
    cue: str
    name: str
    now: tuple[str, ...]
    cue_zh: str
    now_zh: tuple[str, ...]
    name_zh: str = _HAN


_TOPICS = (
    _Topic(
        attribute="home",
        cue=r"\b(?:live|lives|living|lived|moved|moving|relocated|[Hh]ome|flat|apartment|house|settled)\b",
        name=_PROPER,
        now=(
            r"\bI(?:'ve|’ve| have)? (?:live|lived|moved house, I'm|settled|settled down)(?: now)? (?:in|near [\w ]{3,25} in) {V}",
            r"\b[Hh]ome (?:for me )?is (?:now )?(?:in )?{V}",
            r"\b[Mm]y (?:new |current )?(?:home|flat|apartment|house|place) is (?:now )?(?:in )?{V}",
            r"^{V} is (?:where I live|my home)\b",
            r"\b(?:[Ww]e|I)(?:'ve|’ve| have)? (?:just |recently )?moved to {V}",
        ),
        cue_zh="住|搬|(?<!老)家在|新家|安家|定居",
        now_zh=("(?:住在|住|搬到|搬去|搬来|搬家到|安家在|定居在|定居)了?{V}", "(?:我家|新家|(?<!老)家)在{V}", "在{V}(?:安家|定居|住)"),
    ),
    _Topic(
        attribute="employer",
        cue=r"\b(?:work|works|working|worked|job|jobs|employer|employed|joined|quit|company|notice|firm)\b|\b(?:" + _FIRMS + r")\b|\bI'm with\b",
        name=_PROPER,
        now=(
            r"\bI(?:'m|’m| am|'ve|’ve| have)? (?:now )?(?:work|working|worked|employed) (?:for|at) {V}",
            r"\bI(?:'ve|’ve| have)? joined {V}",
            r"\b[Mm]y (?:new |current )?employer is (?:now )?{V}",
            r"\b[Tt]he (?:company|firm) I work (?:for|at) is (?:now )?{V}",
            r"\bnew job (?:at|with) {V}",
            r"\bI'm with {V}(?=, (?:have been|in the|as an?|since)\b)",
        ),
        cue_zh=rf"上班|工作|(?<!航空)公司|科技|能源|医疗|物流|食品|软件|集团|银行|任职|就职|入职|加入|跳槽|辞|\b(?:{_FIRMS})\b",
        now_zh=(
            "在{V}(?:上班|工作|任职|干)",
            "(?:任职于|就职于|加入了?|入职了?|跳槽到了?|去了){V}",
            "(?:我的?(?:新|现在的)?公司|雇主)(?:现在)?是{V}",
            "已经入职{V}",
        ),
    ),
    _Topic(
        attribute="airline",
        cue=rf"\b(?:fly|flying|flights?|airlines?|{_AIRLINES})\b",
        name=_PROPER,
        now=(
            r"\b(?:I|and) (?:\w+ )?fly (?:with |on )?{V}",
            r"\b[Ff]or flights,? I (?:now )?(?:use|take|book) {V}",
            r"\b[Mm]y (?:usual |new )?airline is (?:now )?{V}",
            r"\b[Tt]he airline I (?:use|fly|book|take)(?: now)? is (?:now )?{V}",
        ),
        cue_zh=f"坐|飞|航(?!班)|{_AIRLINES}",
        now_zh=("(?:改坐|坐的是|坐|改飞|飞){V}", "(?:航空公司|航司)(?:现在)?是{V}"),
    ),
    _Topic(
        attribute="phone",
        cue=r"\b(?:phone|mobile)\b|\b(?:Pixel|Galaxy|iPhone|Fairphone|Xperia|Nothing Phone|OnePlus|Moto|Nokia|Xiaomi|Huawei)\b",
        name=r"(?:i(?=P))?" + _PROPER,
        now=(
            r"\b(?:[Mm]y|[Tt]he model of my|[Tt]he) (?:new )?(?:phone|mobile)(?: I (?:use|carry|have)(?: now)?)? is (?:now )?(?:an? )?{V}",
            r"\bI (?:now )?(?:use|have|bought|got) (?:an? )?{V}(?=.*\bphone\b)",
            r"\bnew phone, (?:an? )?{V}",
            r"\bI(?:'ve|’ve| have)? switched to (?:an? )?{V}",
            r"\bI'm on (?:an? )?{V} now\b",
        ),
        cue_zh="手机|小米|华为|荣耀|一加|OPPO|vivo|iPhone|Pixel|Galaxy|Fairphone|Nothing Phone|OnePlus|Moto|Xperia",
        now_zh=("手机(?:型号)?(?:现在)?(?:是|用的是|换成了?){V}", "用的(?:手机)?是{V}", "(?:换成了?|换了|改用|现在用){V}"),
    ),
    _Topic(
        attribute="drink",
        cue=r"\b(?:drink|drinking)\b",
        name=_DRINK,
        now=(
            r"\bI (?:now |usually |always |mostly |only )*drink {V}",
            r"\b[Mm]y (?:usual |go-to |daily )drink (?:is|has become)(?: now)? {V}",
            r"\b[Ww]hat I (?:usually |now )?drink (?:[\w ]{2,20} )?is {V}",
        ),
        cue_zh="喝",
        now_zh=("(?:平时|每天|一般|早上|上班的时候|现在|最近我?|常)(?:都|只|改)?喝(?:的是)?{V}", "改喝{V}"),
    ),
)

_BY_NAME = (
    _Topic(
        attribute="drink", cue="(?!)", name=_DRINK, now=(), cue_zh=_DRINK_ZH, now_zh=("(?:换成了?|改成了?){V}",),
        name_zh=rf"[\u4e00-\u9fff]{{0,3}}(?:{_DRINK_ZH})",
    ),
)  # fmt: skip
"""Topics that only the names in a sentence give away (我用绿茶代替了可乐)."""

_PAIRS = (
    r"\b(?:went|gone|switched|changed|upgraded|jobs?,|moved|relocated)(?: house| home| jobs| phones| airlines| over)?,? from (?:the |my |an? )?{O} (?:over )?to (?:the |my |an? )?{V}",
    r"\b(?:left|quit|swapped|traded in|traded|replaced|ditched|dropped|gave up|given up|sold)(?: \w+ in)? (?:the |my |an? )?{O}(?: and (?:have )?(?:now )?(?:moved to|joined|started at|live in|drink|fly|use|work (?:for|at))| for| with) (?:the |my |an? )?{V}",
    r"\b[Nn]o more {O} for me[,;:]? (?:and )?I (?:now )?(?:drink|use|fly) {V}",
    r"\bnotice at {O} and (?:now )?(?:work (?:for|at)|joined) {V}",
    r"{V}(?: now)?,? (?:now )?(?:instead of|rather than|not) (?:the |my |an? )?{O}",
    r"\b(?:don't|do not|no longer) (?:[a-z]+ ){1,3}(?:the |my |an? )?{O}(?: any ?more)?[,;] (?:and )?[^,;]{2,20}? (?:an? |the )?{V}",
    r"\b[Aa]fter (?:[a-z]+ ){0,2}(?:years|months|time) (?:in|at|with) {O}[, ].*?\b(?:moved to|joined|switched to|live in|work (?:for|at)) (?:the |an? )?{V}",
)
_PAIRS_ZH = (
    "(?:从|把){O}(?:跳槽|搬家?|换|改|换手机|迁)(?:到|去|成|为)了?{V}",
    "不(?:再)?(?:住|在|用|坐|喝|飞){O}(?:干|上班|工作|住)?了?[，,](?:现在|改)?(?:我)?(?:住在|在|搬[到去来]了?|改?用|改?坐|改?喝|改?飞){V}",
    "(?:离开|辞掉)了?{O}(?:的工作)?[，,](?:搬到|去|加入)了?{V}",
    "(?:以前|原来|原先|之前|过去)(?:一直)?(?:住在?|在|用|坐|飞|喝|爱喝|常喝){O}(?:上班|工作|干)?[，,]现在(?:住在|住|搬到了?|搬去了?|搬来了?|在|去了?|改?用|改?坐|改?飞|改?喝){V}",
    "用{V}(?:换掉|代替|替代|替换|取代)了?{O}",
    "(?:是|用|坐|喝){V}[，,](?:而)?不(?:是|再用|用|坐|喝){O}",
)
_END = r"(?=\s*(?:[,.;:!?()—–]|$)|\s+(?:now|because|since|so|but|as|while|when|where|who|these|any|instead|rather|and|at|in|for|with|last|on|every|if)\b)"
_END_ZH = r"(?=了|[，,。.！!；;]|$|的(?:工作|手机|飞机)?|上班|工作|干|手机|换)"
_SPEAKER = re.compile(r"\b(?:I|I'm|I've|I’m|I’ve|[Mm]y|[Ww]e|[Ww]e've|[Hh]ome)\b|我|(?:^|[，。,])(?:手机|最近|现在|以前|因为)")
_ASKS = re.compile(r"^(?:do|did|does|should|would|could|can|is|are|am|have|had|what|where|who|how|why)\b|[吗呢？?]", re.IGNORECASE)
_OTHERS = re.compile(r"\b(?:he|she|they|his|her|their)\b|他|她")


_WHY = re.compile(
    r"[,;]?\s*\b(?:because|due to|mainly because|since (?=\w+ (?:\w+ )?(?:needs?|is|was|were|had|has|have|got|sold|wanted|let|pays?|moved|died|cracked|closed|dropped|lost|made))|the reason is)\b.*$|(?<=,)\s+since (?!\d|then\b|last\b|yesterday\b|today\b|this\b|(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b).*$|[，,]?(?:主要是)?(?:因为|由于|原因是)[^，。]*[，。]?"
)
_KIN_SAID = re.compile(rf"\b(?:my|our|the|his|her)\s+(?:\w+\s)?(?:{'|'.join(sorted(ENGLISH_KIN))})(?:'s)?\b(?!\s+and\s+I\b)", re.IGNORECASE)
_KIN_ZH = "|".join(sorted(CHINESE_KIN, key=len, reverse=True))
_KIN_SAID_ZH = re.compile(
    rf"我(?:的|们|们的|一个|有个|有一个|那个)?(?:{_KIN_ZH})|^(?:{_KIN_ZH})(?!确诊|说过?，|告诉我)|(?:{_KIN_ZH})(?:的|对|在|说|住|搬|养|从|跟|要)"
)


def of_somebody_else(sentence: str) -> bool:
    """Whether a Chinese sentence, its reason aside, names a relative, friend or colleague (我侄子对鸡蛋过敏) or opens with somebody of the speaker's (我们组长住…)."""
    plain = without_reason(sentence)
    return bool(_KIN_SAID_ZH.search(plain) or _NAMED_ZH.search(sentence) or _of_my_own(plain))


def _of_my_own(plain: str) -> bool:
    """Whether 我 or 我们 is followed by a noun that is none of the speaker's own things: then it tells of that somebody or something."""
    led = _ME_ZH.search(plain)
    if led is None or _ALLERGIC_ZH.match(plain, led.end()):
        return False
    first = next((w for w in chinese_words(plain[led.end() :], guess=False)), None)
    return first is not None and (
        (first.tag == "n" and first.text not in _MINE_ZH and first.text[0] not in "吃喝住坐飞用做养有是在对") or bool(_ROLE_ZH.match(plain, led.end()))
    )


_ME_ZH = re.compile(r"(?:^|[，,。：:])我们?的?(?=[\u4e00-\u9fff])")
_ALLERGIC_ZH = re.compile(r"[\u4e00-\u9fff]{1,6}过敏")
_ROLE_ZH = re.compile(r"(?:[组队店班厂校院部处科局]长|主管|总监|导师|教练|领班|客服|前台)")
# Word lists read better as text.
_MINE_ZH = frozenset(
    """手机 公司 家 家里 家乡 老家 名字 全名 姓名 职业 工作 本职 本行 生日 出生日期 狗 猫 狗狗 航空公司 航司 雇主 单位 电脑 车 银行 编辑器 浏览器 健身房 数据库 项目 端口
    习惯 爱好 年龄 身高 体重 邮箱 电话 地址 时候 新家 专业 学校 团队 品味 口味 饮料 早餐 晚餐 方法 目标 计划 原则 要求""".split()  # noqa: SIM905
)
"""What a person tells of themselves by."""


_NAMED_ZH = re.compile(r"(?:^|[，。,])(?:坐我|我旁边|隔壁|实习生|[小老阿][\u4e00-\u9fff](?:的|对|在|说|跟|住|搬|是|养)|新来的)|(?:跟我说|告诉我)[：:，,]")


_SOFTWARE = re.compile(r"\b\w*(?:DB|SQL|SQLite)\b|\b(?:Postgres|Oracle|Redis|Kafka|Jenkins|Kubernetes|Docker|GitHub|GitLab)\b")
"""What moves from one of these to another is a project, not its people."""


def changes(sentence: str) -> tuple[Change, ...]:
    """What the sentence says holds now of its speaker: the explicit change before the plain statement, nothing of its reason."""
    sentence = without_reason(sentence)
    if not _SPEAKER.search(sentence) or _ASKS.search(sentence) or _OTHERS.search(sentence) or _KIN_SAID.search(sentence) or _KIN_SAID_ZH.search(sentence):
        return ()
    if _SOFTWARE.search(sentence):
        return ()
    chinese = re.search(r"[\u4e00-\u9fff]", sentence) is not None
    if not (_OPENS_ZH if chinese else _OPENS).match(sentence):
        return ()
    for attribute, cue, pairs, plain in _forms(chinese=chinese):
        if not cue.search(sentence):
            continue
        for pattern in (*pairs, *plain):
            found = pattern.search(sentence)
            if found is not None and (change := _change(attribute, found)) is not None:
                return (change,)
    return ()


_OPENS = re.compile(
    r"^(?:[^,:]{2,40}[,:]\s+|(?:[Tt]hese days|[Ss]ince \w+(?: \w+)?|[Aa]fter [^,]{3,30}?|[Ll]ast \w+|[Ff]or \w+|[Nn]ow|[Rr]ecently|[Aa]nd|[Bb]ut|[Ss]o)\s+)*"
    r"(?:I\b|[Ww]e\b|[Hh]ome\b|[Ww]hat I\b|[Mm]y (?:new |current |usual |go-to |own |main |daily )*(?:phone|mobile|home|flat|house|apartment|place|employer|airline|drink|job|company)\b"
    r"|[Tt]he (?:company|firm|phone|airline|model)\b(?: I\b| of my\b)|[A-Z][\w ]{1,30} is (?:where I|my)\b)"
)
"""The sentence opens with its speaker: "I", "my phone", not "my boss" or "the flat next door"."""
_OPENS_ZH = re.compile(r"^(?:[^，。,我]{1,14}[，,])?(?:另外|对了|其实|现在|最近|目前|上周|上个月|已经)*(?:我(?!旁边|隔壁)|手机|以前|现在|新公司|新家)")


def without_reason(sentence: str) -> str:
    """The sentence without its because-clause, which tells of other things and other people."""
    return _WHY.sub("", sentence)


def _change(attribute: str, found: re.Match[str]) -> Change | None:
    value = _trim(found["v"])
    old = _trim(found.groupdict().get("o") or "") or None
    return Change(attribute=attribute, value=value, old=old) if value and value != old else None


def _trim(words: str) -> str:
    return re.sub(r"^(?:the|an?|my)\s+", "", words.strip(" .,'\"“”‘’，。"))


Forms = tuple[tuple[str, re.Pattern[str], tuple[re.Pattern[str], ...], tuple[re.Pattern[str], ...]], ...]


@cache
def _forms(*, chinese: bool) -> Forms:
    """(attribute, cue, forms of change, plain forms) of every topic, compiled on first use."""
    found = []
    for topic in (*_TOPICS, *_BY_NAME):
        name, end = (topic.name_zh, _END_ZH) if chinese else (topic.name, _END)
        cue = re.compile(topic.cue_zh if chinese else topic.cue)
        pairs = _PAIRS_ZH if chinese else _PAIRS
        plain = topic.now_zh if chinese else topic.now
        found.append((topic.attribute, cue, tuple(_filled(p, name, end) for p in pairs), tuple(_filled(p, name, end) for p in plain)))
    return tuple(found)


def _filled(form: str, name: str, end: str) -> re.Pattern[str]:
    value = f"(?P<v>{name})" + (end if form.endswith("{V}") else "")
    old = f"(?P<o>{name})" + (end if form.endswith("{O}") else "")
    return re.compile(form.replace("{V}", value).replace("{O}", old))
