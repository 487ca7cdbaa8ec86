"""What a Chinese sentence says of its speaker: topics with their forms, and forms of one value given up for another (我从成都搬到青岛了).

`{V}` is the value that holds, `{O}` the one that is over; Chinese has no capitals, so each topic says what its values look like. A sentence that tells of
somebody else, of a plan or of what once was gives nothing.
"""

# Full-width characters are data here, and word lists read better as text.
# ruff: noqa: SIM905

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from pipelines.engines.local.allergens import is_allergen
from pipelines.engines.local.frames import sort_of_name
from pipelines.engines.local.topics import UNTOLD, Told
from pipelines.text.names import SURNAMES
from pipelines.text.reasons import told_first, without_reason
from pipelines.text.slots import CHINESE_KIN
from pipelines.text.words import chinese_words, is_han


@dataclass(frozen=True, slots=True, kw_only=True)
class _Topic:
    """One attribute: `cue` shows that a change is of it, `forms` state it; `value` is the shape of its values."""

    attribute: str
    forms: tuple[str, ...]
    cue: str = ""
    value: str = ""


_HAN = r"(?![了过着的]|找|一[些家个份]|家|做|想|思考|考虑|寻|在|当前|现在|这|那|某|旅行|酒店|从|去|别)(?:真我|\w)[\w .&+#-]{0,23}?"
_PERSON = r"[^\W\da-zA-Z_]{2,4}|[A-Z][A-Za-z' ]{2,24}?"
_CALLED = r"[^\W\d_]{1,10}?"
_DAY = r"[\d〇一二三四五六七八九十]{1,3}月[\d〇一二三四五六七八九十]{1,3}[日号]?|\d{1,2} [A-Z][a-z]{2,8}|[A-Z][a-z]{2,8} \d{1,2}"
_PLACE = r"(?:(?![的了是在有我你他着过要会能]|相信|自己)[\w ]){2,10}?"
_NOW = "(?:现在|目前|最近|平时|一般|通常|每天|天天|这几年|这个月起|刚刚|刚|已经|也|都|只|就|一直|出差|出门|上班的时候|工作的时候|早上|上午)*"
_ME = rf"(?:我们?|本人|咱们?)?{_NOW}(?:我们?)?{_NOW}"
_PET = "(?P<kind>狗|猫|兔子|鹦鹉|仓鼠|小狗|小猫)狗?"
_DRINK_HEADS = (
    "茶(?![几杯馆具叶])|咖啡(?![机馆店])|拿铁|豆浆|可乐|果汁|汽水|牛奶|奶茶|普洱|乌龙|龙井|美式|酸梅汤|柠檬水|苏打水|啤酒|红酒"
    "|(?:black |oat |green |mint |herbal |jasmine |ginger |lemon )?(?:coffee|espresso|latte|matcha|chai|kombucha|rooibos|tea|cappuccino|cortado|decaf|water)|earl grey|hot chocolate|cold brew"
)
_PHONES = "小米|华为|荣耀|一加|红米|真我|努比亚|魅族|OPPO|vivo|iPhone|Pixel|Galaxy|Fairphone|Nothing Phone|OnePlus|Moto|Xperia|Xiaomi|Zenfone"
_MODEL = r"(?:(?![拍测试的了过打写给和跟])[\w ]){0,14}?"
"""What may follow the make of a phone."""
_FIRM_ENDS = "科技|能源|医疗|物流|食品|软件|集团|银行|教育|制造|农业|电子|设计|传媒|保险|公司|Labs|Group|Foods|Media|Bank|Software|Logistics|Robotics|Energie|Health|Insurance|Systems|Studios|Rail|Analytics|Games|Optik|Tools"

_TOPICS = (
    _Topic(
        attribute="phone", cue=f"手机|{_PHONES}",
        forms=(
            "手机(?:型号|屏幕)?(?:现在)?(?:就?是|用的是|用|换成了?|型号是?){V}", "用的?(?:手机)?是{V}(?=手机|，|。|$)", f"{_ME}(?:拿|在用|用|拿的|在用的|用的)(?:的?手机)?(?:就?是)?{{V}}(?=手机|这款)",
            "(?:在用|拿)的手机(?:就?是){V}", "新手机(?:就?是)?{V}", "买了(?:新手机|部新手机)?{V}", "换(?:了)?手机了?[，,](?:换成了?|是)?{V}", "(?:我|^)(?:就|刚|又|现在)?(?:换(?:了|成了?)|改用|新买了){V}", "(?:我|^)(?:就|刚|又)?换(?:了|成了?){V}",
            rf"^(?:就|刚|又|现在)*换(?P<v2>(?:{_PHONES}){_MODEL})了$", rf"{_ME}(?:在用|用着|用的是|拿着|拿的是|用|拿)(?:的)?(?P<v2>(?:{_PHONES}){_MODEL})(?=了?(?:[，,。]|$)|这款|这部)",
        ),
    ),
    _Topic(
        attribute="airline", cue="坐|飞|航(?!班)|机票|订票",
        forms=(
            rf"{_ME}(?:改坐|坐的是|坐飞机(?:都)?坐|坐|改飞|飞机坐|飞)(?:的)?(?:是)?{{V}}(?=的飞机|比较多|的航班)", rf"{_ME}(?:改坐|坐的是|坐飞机(?:都)?坐|坐飞机用|坐|改飞|飞){{V}}",
            "(?:航空公司|航司)(?:我)?(?:现在)?(?:就?是|用){V}", "换航司了?[，,]现在是{V}", "(?:首选|订票就?订|只订){V}",
        ),
        value=r"(?:(?![机选都])(?:[^\W\da-zA-Z_]{1,4}航空?|[^\W\da-zA-Z_]{2}航空)|[A-Z][\w ]{1,18}?)",
    ),
    _Topic(
        attribute="database", cue="数据库|(?<![仓图])库(?![存房])|(?:DB|SQL)\\b",
        forms=(
            "(?:数据库|(?:项目的?|我们的?|现在的?|^)库)(?:现在|已经|已)?(?:这边)?(?:就?是|用的是|用|换成了?|换了?|换到了?|改成了?|改为了?|改用|迁移?到了?|上了){V}",
            "(?:我们|咱们|项目|后端|后台)(?:的|现在|一直)*(?:数据库)?(?:用|使用|采用|改用|上了){V}", "数据都?存在{V}", "(?:迁移到|换成){V}",
        ),
    ),
    _Topic(
        attribute="drink", cue=f"喝|饮料|{_DRINK_HEADS}",
        forms=(rf"{_ME}(?:最?常|改|改成|换成|爱|习惯|习惯是|的习惯是|上午都)?喝(?:的)?(?:是)?{{V}}", "饮料(?:换成了?|是){V}", "换成喝{V}", "改喝{V}"),
        value=rf"(?!水果|什么|点|了|过|不)(?:[^\W\da-zA-Z_]{{0,3}}(?:{_DRINK_HEADS})|[^\W\da-zA-Z_]{{1,4}}?|[a-z]+(?: [a-z]+){{0,2}})",
    ),
    _Topic(
        attribute="employer", cue=rf"上班|工作|(?<!航空)公司|任职|就职|入职|加入|跳槽|辞|打工|{_FIRM_ENDS}",
        forms=(
            "(?:我|本人|^|现在|目前|，)(?:也|一直|现在|目前)*在{V}(?:这边)?(?:上班|工作|任职|干了?|做事|打工)", "(?:任职于|就职于?|供职于|加入了?|(?<!的)入职了?|跳槽到了?|跳槽去了?|跳到了?){V}", "换工作了?[，,]去了{V}", "(?:现在|已经)?去{V}(?:上班|工作)",
            "(?:我的?(?:新|现在的)?|我们|新|^)公司(?:现在)?(?:就?是|叫){V}", "换到{V}(?:上班|工作)", "我(?:现在)?是{V}的(?:员工|人了|$)", "新工作在{V}", "换了份工作[，,]在{V}",
        ),
    ),
    _Topic(
        attribute="home", cue="住|搬|(?<!老)家在|新家|安家|定居",
        forms=(
            "(?<![抓记站停忍稳盖挡堵困留])(?:住在|住|搬到|搬去|搬来|搬家到|安家在|定居在)了?{V}", "(?:我家|我们家|新家|(?<!老)家)在{V}", "在{V}(?:安家|定居|住(?!过))", "(?:我|搬家了?[，,]现在|刚搬的家[，,]现在)人?在{V}$", "我人在{V}", "搬{V}(?:来)?了",
        ),
        value=r"(?![了过着的在]|[一二三四五六七八九十两几半好多]+(?:年|个月|天|周)|公司|医院|酒店|宾馆|学校|月球|这|那|哪|附近|楼|一|自己)[^\W\d_][\w ]{1,13}?",
    ),
    _Topic(
        attribute="name", value=_PERSON,
        forms=(
            "(?:我|本人)(?:名?叫|的?(?:全名|名字|姓名|大名)(?:是|叫|：))(?:做)?{V}(?:哈)?(?=[，。,.!！]|$)", "^(?:自我介绍一下[，,]|大家好[，,]|你好[，,])?(?:我是|本人){V}(?=[，,](?:你好|请多关照|很高兴)|$)", "我姓名：{V}",
            "(?:落款|署名|封面|签名|名字|姓名那栏)(?:写|填){V}(?:吧|就好)?[，,](?:这是我的名字|是我本人|就是我)", "^(?:自我介绍一下|大家好)[，,]我是{V}",
        ),
    ),
    _Topic(
        attribute="birthday", value=_DAY,
        forms=("(?:生日|出生日期)(?:就?是|在)?(?:每年)?{V}", "{V}(?:那天|这天)?(?:是)?我(?:的)?(?:过)?生日", "我(?:是)?(?:每年)?{V}(?:出生|生的|过生日)", "我过生日是{V}"),
    ),
    _Topic(
        attribute="hometown", value=_PLACE,
        forms=(
            "(?:老家|家乡)(?:嘛)?(?:就?是|在|，)?{V}(?:的)?$", "(?:^|我|小时候|从小)(?:从小)?(?:是)?在{V}(?:长大|出生)", "(?:我)?(?:出生在|来自){V}$", "我是?{V}人$", "{V}是我的?(?:老家|家乡)", "我是从{V}出来的",
        ),
    ),
    _Topic(
        attribute="job", value=r"(?!做|在|说|这|那|谁|个)(?:[^\W\da-zA-Z_]{2,8}?|[a-z][a-z ]{2,25}?)",
        forms=(
            "(?:职业|本职|本职工作|本行|工作)是{V}(?:哈)?(?=[，。,.]|$)", "我(?:做|当|干){V}(?:已经)?(?:[一二三四五六七八九十\\d]+年|好多年|多年)", "我是?做{V}的(?=[，。,]|$)", "我是(?:一名|一个|一位|个|名){V}(?=[，。,.]|$)",
            "我是(?:一名|一个|一位|个|名)?(?P<v2>[^\\W\\da-zA-Z_]{0,6}(?:工程师|医生|兽医|护士|翻译|老师|律师|会计师?|设计师|司机|教授|作家|记者|分析师|厨师|程序员|牙医|电工|经理)|[a-z][a-z ]{2,25})(?=[，。,.]|$)",
        ),
    ),
)  # fmt: skip
_PETS = (
    rf"我(?:们|的|家)*(?:家里|家)?的?{_PET}(?:的)?(?:就)?(?:名叫|名字叫|名字是|取名叫|叫)(?P<v>{_CALLED})(?=[，。,.!！]|哈|$)",
    rf"(?:养了?|有)(?:一)?(?:只|条)?(?:的)?{_PET}[，,]?(?:名字)?(?:叫|是)(?P<v>{_CALLED})(?=[，。,.!！]|$)",
    rf"^(?P<v>{_CALLED})是我(?:们)?(?:家)?的{_PET}",
    rf"(?:我们)?给{_PET}取名叫(?P<v>{_CALLED})(?=[，。,.]|$)",
    rf"^(?:我家|家里|我)?(?:养的)?{_PET}[，,]?(?:名字)?叫(?P<v>{_CALLED})(?=[，。,.]|$)",
    rf"^我家(?P<v>{_CALLED})[（(，,]是只{_PET}",
)
_ALLERGIES = (
    "(?:碰到|一碰|吃)(?P<v>{A})就(?:会)?(?:过敏|起疹子)",
    "(?:我|本人)(?:这人|这个人)?(?:一直|从小|严重)*(?:就)?对(?P<v>{A})(?:严重|轻微)?(?:就)?过敏",
    "(?:我|本人)有?(?!对|一碰)(?P<v>{A})过敏",
    "我不能(?:碰|吃)(?P<v>{A})的?[，,]会?过敏",
    "^(?P<v>{A})(?:我不行|千万别放|我不能[碰吃])[，,]我?会?过敏",
    "(?:确诊过?[，,]?)我对(?P<v>{A})过敏",
    "^我是(?![在问说替帮不想])[^，。,我你他她]{1,12}[，,](?:也)?对(?P<v>{A})过敏(?!的)",
    "^(?:我的)?过敏原(?:是|：|:)(?P<v>{A})(?=[，,]我的|$)",
)
_PAIRS = (
    "(?:从|由|把){O}(?:跳槽|搬家?|换|改|换手机|迁移?|升级|转)(?:到|去|来|成|为|了)了?{V}",
    "(?:从|由){O}(?:辞职|出来|离职)了?[，,]?(?:现在)?(?:在|去了|来了){V}",
    "从{O}去了{V}",
    "从{O}换{V}了",
    "把{O}(?:戒了?|停了?)[，,](?:现在)?(?:改)?喝{V}",
    "(?:已经)?不(?:再)?(?:住|在|用|坐|喝|飞){O}(?:干|上班|工作|住)?了?哈?[，,](?:现在|我|改|换|都|来|就)*(?:换到|住在|住|在|搬[到去来]了?|用|坐|喝|飞|成|换了?|换成){V}",
    "(?:离开|辞掉)了?{O}(?:的工作)?[，,]?(?:搬到|加入|去)了?{V}",
    "(?:以前|原来|原先|之前|过去)(?:一直|都)*(?:住在?|在|用|坐|飞|喝|爱喝|常喝|是)?{O}(?:上班|工作|干|住)?[，,](?:现在|后来|这个月起|刚|数据库)*(?:住在|住|搬到了?|搬去了?|搬来了?|搬|在|去了?|换了?|都?改?用|改?坐|改?飞|都?改?喝|改|是){V}",
    "用{V}(?:换掉|代替|替代|替换|取代)了?{O}",
    "(?:是|用|坐|喝){V}[，,](?:而)?不(?:是|再用|用|坐|喝){O}",
    "戒了{O}[，,](?:改)?喝?{V}",
    "^(?:我的)?{O}(?:我)?(?:戒了|不用了|不喝了|不坐了)[，,](?:现在|手机|数据库|就|都)*(?:换了?|喝|坐|用|是|改成){V}",
    "^(?:我的)?{O}(?:升级到|换成|换到|改成)了?{V}",
)
_END = r"(?=了|[，,。.！!；;、]|$|的(?:工作|手机|飞机|航班)?|这边|上班|工作|任职|做事|打工|干|手机|换|住|安家|定居|来了|出来|辞职|已经|好多年|端口|做|当|比较|哈|那天|这天|是我|我|不|戒|升级|过|就|人$)"

_KIN_ZH = "|".join(sorted(CHINESE_KIN, key=len, reverse=True))
_KIN_SAID = re.compile(
    rf"我(?:的|们|们的|一个|有个|有一个|那个)?(?:{_KIN_ZH})|^(?:{_KIN_ZH})(?!确诊|说过?，|告诉我|[电])|(?:{_KIN_ZH})(?:的|对|在|说|住|搬|养|从|跟|要|以前|现在|那边|家)"
)
_NAMED = re.compile(
    r"我们?的?(?:有?(?:一个|一位|个|位)|那位|那个|几个|手下|身边|旁边|隔壁)(?!.{0,3}[狗猫])|(?:^|[，。,])(?:坐我|我旁边|隔壁|实习生|(?!老家|老是|小时|小区|小红书|阿里)[小老阿][^\W\da-zA-Z_](?:的|对|在|说|跟|住|搬|是|养)|新来的|[组队店班厂校院部处科局]长)|(?:跟我说|告诉我)[：:，,]|他|她"
)
_ME_LED = re.compile(r"(?:^|[，,。：:])我们?的?(?=[^\W\da-zA-Z_])")
_ALLERGIC = re.compile(r"[^\W\da-zA-Z_]{1,6}过敏")
_ROLE = re.compile(r"(?:[组队店班厂校院部处科局]长|主管|总监|导师|教练|领班|客服|前台)")
_MINE = frozenset(
    """手机 公司 家 家里 家乡 老家 名字 全名 姓名 职业 工作 本职 本行 生日 出生日期 狗 猫 狗狗 航空公司 航司 雇主 单位 电脑 车 银行 编辑器 浏览器 健身房 数据库 项目 端口 人 情况
    习惯 爱好 年龄 身高 体重 邮箱 电话 地址 时候 新家 专业 学校 团队 品味 口味 饮料 早餐 晚餐 方法 目标 计划 原则 要求 库 手机型号 型号""".split()
)
"""What a person tells of themselves by."""
_NOT_SO = re.compile(
    r"(?<!不)能[喝吃]|想[喝吃搬去换住养]|打算|计划|准备|想要|真想|好想|如果|要是|假如|假设|昨天|今天|明天|前天|上次|可能|也许|大概|说不定|考虑|要不要|都快|快要|开玩笑|逗你|哈哈|扮演|希望|梦想|比方|[吗？?]|(?<!在\w)(?<!在\w\w)(?<!在\w\w\w)呢|该不该|是不是|会不会|应该|(?<!以)后想|想养|借了|借用|[，,]现在(?:已经)?不[住用喝坐]了?$"
)
_ONCE = re.compile(r"曾经|曾(?=[在住用喝坐])|以前|原先|(?<=我)(?:原来|之前|过去)|之前|小时候(?!在)")
_NEWS = re.compile(r"[，,](?:我)?(?:现在|后来|这个月起|刚)")


def told_in_chinese(sentence: str) -> tuple[Told, ...]:
    """What a Chinese sentence, freed of its lead-in, says of its speaker, each attribute once; also the fact another follows from (家在大理，所以有时差)."""
    found = _told(without_reason(sentence))
    first = told_first(sentence)
    return (*(t for t in (_told(first) if first else ()) if t.attribute not in {f.attribute for f in found}), *found)


def _told(said: str) -> tuple[Told, ...]:
    plain = _LEAD.sub("", said).strip(" ，,。.!！~")
    if _NOT_SO.search(plain) or of_somebody_else(plain) or (_ONCE.search(plain) and not _NEWS.search(plain)):
        return ()
    change = _change(plain)
    if change is not None:
        return (change,)
    found: dict[str, Told] = {}
    for told in (*_allergies(plain), *_pets(plain), *_states(plain)):
        found.setdefault(f"{told.attribute}/{told.value if not told.single else ''}", told)
    return tuple(found.values())


_LEAD = re.compile(r"^(?:[（(]?(?:备注|另外|其实|顺便|对了|哦还有|还有|一样|提醒一句|我有个情况|记一下哈?|跟你说一下|健康提示)[：:，,。\s]*)+")


def of_somebody_else(sentence: str) -> bool:
    """Whether a Chinese sentence names a relative, friend or colleague (我侄子对鸡蛋过敏) or opens with somebody of the speaker's (我们组长住…)."""
    plain = without_reason(sentence)
    return bool(_KIN_SAID.search(_OWN_JOB.sub("", plain)) or _NAMED.search(plain) or _of_my_own(plain))


_OWN_JOB = re.compile(rf"(?:我(?:是|当|做)(?:一名|一个|一位|个|名|做)?|(?:职业|本职工?作?|本行|工作)是)(?:{_KIN_ZH})师?")
"""会计, 老师 and 司机 are people, and what the speaker may be."""


def _of_my_own(plain: str) -> bool:
    """Whether 我 or 我们 is followed by a noun that is none of the speaker's own things: then it tells of that somebody or something."""
    led = _ME_LED.search(plain)
    if led is None or _ALLERGIC.match(plain, led.end()) or re.match(_PHONES, plain[led.end() :]):
        return False
    first = next((w for w in chinese_words(plain[led.end() :], guess=False)), None)
    return first is not None and (
        (first.tag == "n" and first.text.removesuffix("是") not in _MINE and first.text[0] not in "吃喝住坐飞用做养有是在对戒换买搬")
        or bool(_ROLE.match(plain, led.end()))
    )


def _change(plain: str) -> Told | None:
    """One value given up for another, if a form says so and a topic, by its words or its values, can be told."""
    for pattern in _pairs():
        found = pattern.search(plain)
        if found is None:
            continue
        value, old = _clean(found["v"]), _clean(found["o"])
        if not value or not old or value == old or old in _MINE or not _SPEAKER.search(plain):
            return None
        topic = _sort(value) or _sort(old) or next((t.attribute for t in _TOPICS if t.cue and re.search(t.cue, plain)), "")
        if not topic:
            return None
        return Told(attribute=topic, value=value, old=old, single=topic != UNTOLD, team=topic == "database")
    return None


_SPEAKER = re.compile(r"我|咱|本人|^(?:手机|以前|之前|现在|已经|不|航空公司|航司|饮料|数据库|库|坐飞机|[^，,]{1,12}(?:戒|不用|不喝|不坐|换|升级))")


def _sort(value: str) -> str:
    """The topic that a value gives away."""
    if re.fullmatch(rf"(?:{_PHONES}).*", value):
        return "phone"
    if re.fullmatch(rf"[^\W\da-zA-Z_]{{0,3}}(?:{_DRINK_HEADS})", value):
        return "drink"
    if re.fullmatch(r"[^\W\da-zA-Z_]{1,3}航(?:空)?", value):
        return "airline"
    if re.fullmatch(rf".+(?:{_FIRM_ENDS})", value):
        return "employer"
    return sort_of_name(value) if value.isascii() else ""


def _states(plain: str) -> list[Told]:
    found = []
    for topic, patterns in _stated():
        for pattern in patterns:
            match = pattern.search(plain)
            if match is None:
                continue
            value = _clean(match.groupdict().get("v2") or match.groupdict().get("v") or "")
            at = match.start("v2" if match.groupdict().get("v2") else "v")
            if value and not _DENIED.search(plain[:at]) and _fits(topic.attribute, value, plain) and _led_by_speaker(plain, match.start(), match[0]):
                found.append(Told(attribute=topic.attribute, value=value, team=topic.attribute == "database"))
                break
        if found and topic.attribute in {"phone", "airline", "database", "drink", "employer", "home"}:
            break
    return found


_DENIED = re.compile(r"(?:不(?!过|错|管|久|仅|但|光|只|止|然|瞒|知|同|好意思)|没(?!事|错|关系|问题|想到|多久|几)|未)[^，。,；;]{0,3}$")
"""A no right before what is had, used or lived in (我不用…, 我没在…住过)."""


def _fits(attribute: str, value: str, plain: str) -> bool:
    """Whether a value's own sort does not speak against the topic."""
    sort = _sort(value)
    if attribute == "name":
        surnamed = value[0] in SURNAMES or not is_han(value[0]) or re.search("名|叫|落款|署名|封面", plain)
        return bool(surnamed) and not re.search(r"(?:工程师|医生|兽医|护士|翻译|老师|律师|会计|设计师|分析师|厨师|员|人)$", value)
    if attribute == "hometown" and f"{value}人" in plain and _is_a_word(f"{value}人"):
        return False  # 我是申请人 tells of no place
    if (attribute != "birthday" and _DOES.search(value)) or (attribute == "database" and value.isdigit()):
        return False
    return (
        sort in {"", attribute}
        and not (attribute == "phone" and not sort and not re.search(r"[A-Za-z0-9]", value))
        and not (attribute == "database" and not value.isascii())
    )


def _is_a_word(folk: str) -> bool:
    """Whether it is one word of the language (申请人), and no people of a place (北京人)."""
    words = chinese_words(folk, guess=False)
    place = chinese_words(folk[:-1], guess=False)
    return len(words) == 1 and not (len(place) == 1 and place[0].tag == "ns")


_DOES = re.compile(r"培训|手续|流程|长大|出生|上班|读书|上学|学习|[吃喝看写做买玩跑]|开会|路上|旅[行游]|出差|\d月|端口|现在|以前|公司里|住(?:过|$)")
"""Verbs and days that no name of a place, firm or thing holds."""
_OPENS = re.compile(
    r"^(?:[^，。,我]{1,14}[，,])?(?:我|本人|咱|手机|以前|现在|最近|目前|新公司|新家|新工作|新手机|公司|家在|住|人在|搬|刚|这个月|已经|不|之前|职业|本职|老家|家乡|名字|姓名|落款|署名|签名|封面|自我介绍|大家好|狗|家里|出差|订票|航|平时|天天|饮料|每年|生日|小时候|用的|换|数据|库|后端|后台|项目|API|备注|[^，,]{1,14}(?:是我|那天|这天|戒了|不用了|我不行|千万别))"
)


def _led_by_speaker(plain: str, at: int, stated: str) -> bool:
    """Whether the sentence opens with its speaker or what is theirs, up to where the form begins."""
    return bool(_OPENS.match(plain)) or "我" in plain[: at + 4] or "我" in stated


def _allergies(plain: str) -> list[Told]:
    found = []
    for pattern in _allergic():
        match = pattern.search(plain)
        value = _clean(match["v"]) if match else ""
        if value and not re.search("[不没]", value) and is_allergen(value, plain):
            found += [Told(attribute="allergy", value=member, single=False) for member in re.split(r"、|和", value) if member]
            break
    return found


def _pets(plain: str) -> list[Told]:
    for pattern in _named_pets():
        if match := pattern.search(plain):
            return [Told(attribute={"小狗": "狗", "小猫": "猫"}.get(match["kind"], match["kind"]), value=_clean(match["v"]), single=False)]
    return []


def _clean(words: str) -> str:
    return re.sub(r"(?:哈|了|吧)$", "", words.strip(" .,'\"“”‘’，。"))


@cache
def _pairs() -> tuple[re.Pattern[str], ...]:
    """Compiled on first use: most commands read no sentence."""
    return tuple(_filled(form, _HAN) for form in _PAIRS)


@cache
def _stated() -> tuple[tuple[_Topic, tuple[re.Pattern[str], ...]], ...]:
    return tuple((topic, tuple(_filled(form, topic.value or _HAN) for form in topic.forms)) for topic in _TOPICS)


@cache
def _allergic() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(form.replace("{A}", r"[^\W\d_][\w 、]{0,14}?")) for form in _ALLERGIES)


@cache
def _named_pets() -> tuple[re.Pattern[str], ...]:
    return tuple(map(re.compile, _PETS))


def _filled(form: str, name: str) -> re.Pattern[str]:
    value = f"(?P<v>{name})" + (_END if form.endswith(("{V}", "{V}了")) else "")
    old = f"(?P<o>{name})" + (_END if form.endswith("{O}") else "")
    return re.compile(form.replace("{V}", rf"\s*{value}").replace("{O}", rf"\s*{old}\s*"))
