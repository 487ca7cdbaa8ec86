"""Typed values of a text: the parts of a statement that make it another statement when they change.

Two spellings of one value have one canonical form (25MB and 25 MB, 3月底 and end of March, 周四 and Thursday, 九点半 and 9:30, full-width and plain).
Whatever could be two values stays two: versions are compared as written (3.1 is not 3.10), and a decimal without unit keeps its zeros.
"""

# Word lists read better as text.
# ruff: noqa: SIM905

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from .dates import written_dates
from .names import names
from .numerals import CHINESE, CHINESE_NUMBER, ENGLISH_WORD, chinese_number, english_number, folded_number, plain
from .words import CACHED_MAX, WORD, fold_width, runs

# Kinds that are compared with each other: a port, a version and a plain number are all "what is written in digits"; the rest only with its own kind.
_FAMILY = {"port": "number", "version": "number", "path": "identifier", "name": "identifier", "email": "identifier"}


@dataclass(frozen=True, slots=True)
class Value:
    """One typed value; characters `start` to `end` of the text spell it, `canonical` is equal for every spelling of it.

    Kinds: url, email, path, identifier, version, address (IPv4), date, relative, time, zone, weekday,
    money, percent, duration, quantity, port, number, bound, color,
    direction, state, name, quoted.
    """

    kind: str
    canonical: str
    start: int
    end: int

    @property
    def key(self) -> tuple[str, str]:
        """What to compare: the family of the kind (numbers of all sorts are one, names and code are one) and the canonical form."""
        if self.kind == "date" and self.canonical.isdecimal():  # a bare year
            return "number", self.canonical
        return _FAMILY.get(self.kind, self.kind), self.canonical


def typed_values(text: str) -> tuple[Value, ...]:
    """The values of a text in the order they stand, none inside another."""
    return _values_cached(text) if len(text) <= CACHED_MAX else _values(text)


def _values(text: str) -> tuple[Value, ...]:
    folded = fold_width(text)
    taken = bytearray(len(text))
    found: list[Value] = []
    for value in _candidates(text, folded, taken):
        if value.end <= value.start or any(taken[value.start : value.end]):
            continue
        taken[value.start : value.end] = b"\1" * (value.end - value.start)
        found.append(value)
    return tuple(sorted(found, key=lambda v: v.start))


_values_cached = lru_cache(maxsize=8192)(_values)


def value_keys(text: str, *, kinds: frozenset[str] | None = None) -> frozenset[tuple[str, str]]:
    """The comparable values of a text (of some kinds only, when given)."""
    return frozenset(value.key for value in typed_values(text) if kinds is None or value.kind in kinds)


def same_values(a: str, b: str, *, kinds: frozenset[str] | None = None) -> bool:
    """Whether two texts name exactly the same values, however spelled and in whatever order."""
    return value_keys(a, kinds=kinds) == value_keys(b, kinds=kinds)


# --- values with a shape of their own ----------------------------------------------------------------------------------------------------

_A = r"(?<![A-Za-z0-9_])"
_Z = r"(?![A-Za-z0-9_])"
_NUM = r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_URL = re.compile(r"(?:https?|ftp|wss?|ssh|postgres(?:ql)?|mysql|redis|mongodb(?:\+srv)?|file)://(?-i:[^\s<>\"'`\u3000-\u9fff\uac00-\ud7af])+", re.I)
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+", re.ASCII)
_CODE = re.compile(r"(?<!`)(`+)(?!`)([^\n`]{1,120}?)(?<!`)\1(?!`)")
_VERSION = re.compile(
    r"(?<![A-Za-z0-9_./-])[vV]?(\d+(?:\.\d+){2,}(?:[-+][0-9A-Za-z.]+)?|(?<=[vV])\d+(?:\.\d+)?(?:[-+.]?(?:rc|beta|alpha"
    r"|dev)\.?\d*)?)(?![A-Za-z0-9_]|\.\d)"
)
_DOTTED_DATE = re.compile(r"(?:19|20)\d\d\.\d\d?\.\d\d?|\d\d?\.\d\d?\.(?:19|20)\d\d")
_VERSION_CUE = re.compile(r"(?:version|release|版本)\s*(?:号|is|:|为|是|=)?\s*v?(\d+(?:\.\d+)*)(?![A-Za-z0-9_]|\.\d)", re.I)
_PRODUCT = re.compile(rf"{_A}([A-Z][A-Za-z]+)\s?(\d+\.\d+(?:\.\d+)*)(?![A-Za-z0-9_%]|\.\d)")
_CURRENCY = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "CNY", "￥": "CNY", "usd": "USD", "eur": "EUR", "gbp": "GBP", "cny": "CNY", "rmb": "CNY", "jpy": "JPY"}
_CURRENCY |= {
    "dollar": "USD",
    "dollars": "USD",
    "euro": "EUR",
    "euros": "EUR",
    "pounds": "GBP",
    "元": "CNY",
    "块": "CNY",
    "块钱": "CNY",
    "美元": "USD",
    "欧元": "EUR",
    "日元": "JPY",
}
_MONEY = (
    re.compile(rf"(?P<c>[$€£¥￥])\s?(?P<n>{_NUM})(?P<s>[kKmM](?![A-Za-z]))?"),
    re.compile(rf"{_A}(?P<n>{_NUM})(?P<s>[kKmM])?\s?(?P<c>USD|EUR|GBP|CNY|RMB|JPY|dollars?|euros?|pounds)(?![A-Za-z])", re.I),
    re.compile(rf"(?P<n>{CHINESE_NUMBER})(?P<c>元|块钱|块(?!儿)|美元|欧元|日元)"),
)
_SCALE = {"k": 1000, "m": 1_000_000, "": 1}
_PERCENT = (re.compile(rf"(?<![A-Za-z0-9_.])(?P<n>{_NUM})\s?(?:%|percent(?![A-Za-z]))", re.I), re.compile(rf"百分之(?P<n>{CHINESE_NUMBER})"))
_SECONDS = {"ms": "0.001", "s": "1", "min": "60", "h": "3600", "d": "86400", "w": "604800", "mo": "1mo", "y": "12mo"}
_TIME_UNITS = (
    "ms=ms msec=ms millisecond=ms milliseconds=ms s=s sec=s secs=s second=s seconds=s m=min min=min mins=min minute=min minutes=min "
    "h=h hr=h hrs=h hour=h hours=h d=d day=d days=d "
    "w=w wk=w week=w weeks=w month=mo months=mo year=y years=y yr=y yrs=y 毫秒=ms 秒=s 秒钟=s 分钟=min 小时=h 个小时=h 钟头=h 个钟头=h 天=d 周=w 个星期=w 星期=w 个礼拜=w 个月=mo 年=y 岁=y"
)
_TIME_UNIT = dict(pair.split("=") for pair in _TIME_UNITS.split())
_EN_TIME = "|".join(sorted((u for u in _TIME_UNIT if u.isascii()), key=len, reverse=True))
_ZH_TIME = "|".join(sorted((u for u in _TIME_UNIT if not u.isascii()), key=len, reverse=True))
_DURATION = (
    re.compile(rf"(?<![A-Za-z0-9_.])(?P<n>{_NUM})[ -]?(?P<u>{_EN_TIME})(?![A-Za-z0-9_])"),
    re.compile(rf"{_A}(?P<n>{ENGLISH_WORD}|an?)[ -](?P<u>seconds?|minutes?|hours?|days?|weeks?|months?|years?)(?![A-Za-z])", re.I),
    re.compile(rf"(?P<n>{CHINESE_NUMBER})\s?(?P<u>{_ZH_TIME})(?![A-Za-z期日级代])"),
)
_UNITS = "b kb mb gb tb pb kib mib gib tib kbps mbps gbps px pt em rem mm cm km kg g mg lb lbs mhz ghz khz hz kw w v rps qps fps tps dpi °c °f vcpu vcpus"
_QUANTITY = re.compile(rf"(?<![A-Za-z0-9_.])(?P<n>{_NUM})\s?(?P<u>{'|'.join(sorted(_UNITS.split(), key=len, reverse=True))})(?![A-Za-z0-9_])", re.I)
_ZH_UNITS = {"兆": "mb", "公里": "km", "千米": "km", "厘米": "cm", "毫米": "mm", "公斤": "kg", "千克": "kg", "克": "g", "像素": "px"}
_ZH_QUANTITY = re.compile(rf"(?P<n>{CHINESE_NUMBER})\s?(?P<u>{'|'.join(_ZH_UNITS)})")
_PORT = re.compile(
    r"(?:(?i:(?<![a-z])ports?)|端口号?|ポート(?:番号)?|(?i:puerto|porta))(?:\s*(?:is|are|number|no\.?|from|to|:|=|#|为|是|从|改成|改为|は|es"
    r"|到)\s*){0,3}\s*(?P<n>\d{2,5})(?![A-Za-z0-9_.]*\d|[A-Za-z_])"
)
_HOST_PORT = re.compile(r"(?<=[A-Za-z0-9\])]):(?P<n>\d{2,5})(?![A-Za-z0-9_:.]*\d|[A-Za-z_])")
_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.])[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?P<s>[kKM](?![A-Za-z0-9_])| (?:thousand|million"
    r"|billion)(?![A-Za-z]))?(?:st|nd|rd|th)?(?![A-Za-z0-9_]|\.\d)"
)
_WORD_SCALE = {"k": 1000, "m": 1_000_000, " thousand": 1000, " million": 1_000_000, " billion": 1_000_000_000}
_NUMBER_WORD = re.compile(rf"{_A}(?!(?:one|zero)(?![A-Za-z-]))(?P<n>{ENGLISH_WORD}){_Z}(?!-)", re.I)
_ZH_NUMBER = re.compile(
    rf"(?P<n>(?<![\d.])\d{{1,15}}(?:\.\d{{1,9}})?[万亿千]|(?<![{CHINESE}])[{CHINESE}]{{2,15}}"
    rf"|(?<![第十百千万])(?!一)[{CHINESE}](?=[个只条次行杯本件份位名台套张页倍级层遍种家辆瓶块字列项口人倍]))"
)
_ZONE = re.compile(rf"{_A}(UTC|GMT|CET|CEST|EST|EDT|CST|PST|PDT|JST|北京时间)(?:[+-]\d{{1,2}}(?::?\d\d)?)?(?![A-Za-z])")
_BOUND = (
    (
        "min",
        re.compile(
            rf"{_A}(?:at least|minimum|min|no (?:less|fewer) than|or (?:more|newer|later|above|higher)|and (?:newer|later|above|up)){_Z}|≥|>="
            rf"|至少|最少|不少于|不低于|(?<![可所])以上",
            re.I,
        ),
    ),
    (
        "max",
        re.compile(
            rf"{_A}(?:at most|maximum|max|no (?:more|later) than|up to|or (?:less|fewer|older|below)){_Z}|≤|<=|最多|至多|不超过|不得超过|以内|以下(?=[。，,. ]"
            rf"|$)",
            re.I,
        ),
    ),
)
_COLORS = {"grey": "gray"} | {c: c for c in "red blue green yellow orange purple pink brown black white gray violet cyan magenta teal beige".split()}
_ZH_COLORS = dict(zip("红蓝绿黄橙紫粉棕黑白灰青", "red blue green yellow orange purple pink brown black white gray cyan".split(), strict=True))
_COLOR = (re.compile(rf"{_A}({'|'.join(_COLORS)}){_Z}(?![-_./])", re.I), re.compile(rf"([{''.join(_ZH_COLORS)}])色"))
_SHADE = (re.compile(rf"{_A}(dark|light)(?=[ -](?:mode|theme|scheme)){_Z}", re.I), re.compile(r"(深|暗|浅|亮)色"))
_WAYS = {"north": "north", "south": "south", "east": "east", "west": "west", "northern": "north", "southern": "south", "eastern": "east", "western": "west"}
_WAYS |= {f"{a}{b}": f"{a}{b}" for a in ("north", "south") for b in ("east", "west")} | {
    f"{a}{b}ern": f"{a}{b}" for a in ("north", "south") for b in ("east", "west")
}
_ZH_WAYS = dict(zip("东西南北東", "east west south north east".split(), strict=True))
_WAY = (
    re.compile(rf"{_A}({'|'.join(sorted(_WAYS, key=len, reverse=True))})(?:wards?)?{_Z}", re.I),
    re.compile(
        r"(?<![东西南北東])(?P<w>[东東西]?[南北]|[东東西])(?=[边邊侧側面部]|方(?!法|面|案|式|便|向盘)|向(?!量))|(?<=[以在朝向往])(?P<v>[东東西]?[南北]|[东東西])(?=$|[。，,. 的])"
    ),
    re.compile(rf"{_A}(?:to|on) the (left|right){_Z}|{_A}(left|right)(?:-hand)? side{_Z}|([左右])[边侧面]", re.I),
)
_STATES = {
    "on": "enabled enable enables activated active turned_on 开启 启用 打开 已开启 已启用 有効",
    "off": "disabled disable disables deactivated inactive turned_off 关闭 禁用 停用 已关闭 已禁用 無効",
    "true": "true", "false": "false",
    "allowed": "allowed permitted 允许", "forbidden": "forbidden prohibited 禁止 严禁",
    "supported": "supported 支持", "unsupported": "unsupported",
}  # fmt: skip
_STATE_OF = {word.replace("_", " "): state for state, words in _STATES.items() for word in words.split()}
_STATE = re.compile(
    rf"{_A}(?:{'|'.join(w for w in _STATE_OF if w.isascii())}){_Z}|{'|'.join(sorted((w for w in _STATE_OF if not w.isascii()), key=len, reverse=True))}", re.I
)
_SWITCH = re.compile(
    rf"(?:{_A}(?:turn(?:s|ed)?|switch(?:ed)?|toggled?|defaults? to|default is|set to|is|are|was|be|stays?|=)\s+|[:=]\s?)(on"
    rf"|off)(?=\s*(?:$|[.,;!?)]|(?:by|in|for|and|but|now|again)\s))",
    re.I,
)
_QUOTED = re.compile(r"\"([^\"\n]{1,80})\"|“([^”\n]{1,80})”|「([^」\n]{1,80})」|『([^』\n]{1,80})』|(?<![A-Za-z0-9])'([^'\n]{2,60})'(?![A-Za-z0-9])")


def _candidates(text: str, folded: str, taken: bytearray) -> Iterator[Value]:
    """Values by rank: a URL before the path in it, a version before its numbers, a date before a number, names and quoted words last."""
    for match in _URL.finditer(folded):
        url = match.group().rstrip(".,;:!?)]}>*_")
        yield Value("url", _url(url), match.start(), match.start() + len(url))
    yield from (Value("email", m.group().casefold().rstrip("."), m.start(), m.start() + len(m.group().rstrip("."))) for m in _EMAIL.finditer(folded))
    for match in _CODE.finditer(folded):
        yield from _code(match)
    yield from _versions(folded)
    yield from (Value(w.kind, w.canonical, w.start, w.end) for w in written_dates(text))
    yield from (Value("zone", m[1].replace("北京时间", "CST"), m.start(), m.end()) for m in _ZONE.finditer(folded))
    yield from _amounts(folded)
    yield from (Value("port", m["n"], *m.span("n")) for pattern in (_PORT, _HOST_PORT) for m in pattern.finditer(folded))
    yield from _words(folded, taken)
    yield from _numbers(folded)
    yield from _qualities(folded)
    yield from (Value("name", name, start, end) for name, start, end in names(text, folded))
    for match in _QUOTED.finditer(folded):
        inner = next(group for group in match.groups() if group)
        yield Value("quoted", " ".join(inner.casefold().strip(" .,;:!?").split()), match.start() + 1, match.end() - 1)


def _url(url: str) -> str:
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme.casefold()}://{host.casefold()}{slash}{path}".rstrip("/")


def _code(match: re.Match[str]) -> Iterator[Value]:
    """Words in backticks: the value they are when they are exactly one, an identifier otherwise."""
    start, end = match.span(2)
    inner = match[2]
    only = [value for value in typed_values(inner) if (value.start, value.end) == (0, len(inner))] if "`" not in inner else []
    if only:
        yield Value(only[0].kind, only[0].canonical, start, end)
    elif inner.strip():
        yield Value("identifier", identifier(" ".join(inner.split())), start, end)


def _versions(folded: str) -> Iterator[Value]:
    for match in _VERSION.finditer(folded):
        kind = "address" if re.fullmatch(r"\d{1,3}(?:\.\d{1,3}){3}", match[1]) and match.group()[0] not in "vV" else "version"
        if not _DOTTED_DATE.fullmatch(match.group()):
            yield Value(kind, match[1].casefold(), *match.span())
    yield from (Value("version", m[1], *m.span(1)) for m in _VERSION_CUE.finditer(folded))
    yield from (Value("version", m[2], *m.span(2)) for m in _PRODUCT.finditer(folded))


def _amounts(folded: str) -> Iterator[Value]:
    """Numbers with a unit: money, percent, durations, sizes."""
    for pattern in _MONEY:
        for match in pattern.finditer(folded):
            number = _number(match["n"], _SCALE[(match.groupdict().get("s") or "").casefold()])
            if number is not None:
                yield Value("money", f"{_CURRENCY[match['c'].casefold()]} {number}", *match.span())
    for pattern in _PERCENT:
        yield from (Value("percent", f"{number}%", *m.span()) for m in pattern.finditer(folded) if (number := _number(m["n"])) is not None)
    for pattern in _DURATION:
        for match in pattern.finditer(folded):
            number = _number(match["n"])
            if number is not None and not (match["n"][0] == "0" and match["n"].isdecimal() and len(match["n"]) > 1):
                yield Value("duration", _duration(number, _TIME_UNIT[match["u"].casefold()]), *match.span())
    for pattern, units in ((_QUANTITY, None), (_ZH_QUANTITY, _ZH_UNITS)):
        for match in pattern.finditer(folded):
            number = _number(match["n"])
            unit = units[match["u"]] if units else match["u"].casefold()
            if number is not None:
                yield Value("quantity", f"{number} {unit}", *match.span())


def _number(text: str, scale: int = 1) -> str | None:
    if text[-1:].isdecimal():
        return folded_number(text, scale)
    number = english_number(text)
    number = chinese_number(text) if number is None else number
    return None if number is None else plain(Decimal(number) * scale)


def _duration(number: str, unit: str) -> str:
    size = _SECONDS[unit]
    if size.endswith("mo"):
        return f"{plain(Decimal(number) * int(size[:-2]))}mo"
    return f"{plain(Decimal(number) * Decimal(size))}s"


def _numbers(folded: str) -> Iterator[Value]:
    for match in _NUMBER.finditer(folded):
        text = match.group()
        digits = re.match(r"[-+]?[\d,]+(?:\.\d+)?", text)
        written = (digits.group() if digits else text).replace(",", "").lstrip("+")
        scale = match["s"]
        yield Value("number", (folded_number(written, _WORD_SCALE[scale.casefold()]) or written) if scale else written, *match.span())
    for pattern in (_NUMBER_WORD, _ZH_NUMBER):
        for match in pattern.finditer(folded):
            number = _number(match["n"])
            if number is not None and len(number) < 16:
                yield Value("number", number, *match.span())


def _qualities(folded: str) -> Iterator[Value]:
    """Words of closed sets: bounds, colours, directions, switches."""
    for bound, pattern in _BOUND:
        yield from (Value("bound", bound, *m.span()) for m in pattern.finditer(folded))
    yield from (
        Value("color", {"深": "dark", "暗": "dark", "浅": "light", "亮": "light"}.get(m[1], m[1].casefold()), *m.span(1))
        for p in _SHADE
        for m in p.finditer(folded)
    )
    yield from (Value("color", _COLORS[m[1].casefold()], *m.span()) for m in _COLOR[0].finditer(folded))
    yield from (Value("color", _ZH_COLORS[m[1]], *m.span()) for m in _COLOR[1].finditer(folded))
    yield from (Value("direction", _WAYS[m[1].casefold()], *m.span()) for m in _WAY[0].finditer(folded))
    for match in _WAY[1].finditer(folded):
        word = match["w"] or match["v"]
        ways = [_ZH_WAYS[ch] for ch in word]
        yield Value("direction", "".join(reversed(ways)), *match.span())
    for match in _WAY[2].finditer(folded):
        side = next(group for group in match.groups() if group).casefold()
        yield Value("direction", {"左": "left", "右": "right"}.get(side, side), *match.span())
    yield from (Value("state", m[1].casefold(), *m.span(1)) for m in _SWITCH.finditer(folded))
    yield from (Value("state", _STATE_OF[m.group().casefold()], *m.span()) for m in _STATE.finditer(folded))


# --- code-like words ---------------------------------------------------------------------------------------------------------------------

_PLAIN_PAIRS = frozenset(
    "and/or yes/no on/off he/she his/her him/her s/he either/or "
    "true/false input/output read/write client/server pass/fail w/o n/a i/o ci/cd tcp/ip 24/7 up/down".split()
)
_PLAIN_DASHED = frozenset(
    """long short term up to date high low real time end pre post non re self well first second third party full part on off in out built by day
    week opt open source side line level scale wide based only free ready like friendly specific so called state of the art one two three way
    step good looking old new non multi single cross sub co ex anti all e mail check follow set log sign back front hand made known low cost
    user facing world class top bottom left right how run time case by""".split()
)
_FILE = re.compile(r"[\w-]+(?:\.[\w-]+)*\.(?:[a-z]{1,4}|[a-z]\w{1,7})", re.I)


def identifier(text: str) -> str:
    """Canonical form of a code-like word: casefolded but for one-letter flags (-v is not -V), without `./` before and `/` behind."""
    if re.fullmatch(r"-[A-Za-z]", text):
        return text
    word = text.casefold().removeprefix("./")
    return word.rstrip("/") or word


def _words(folded: str, taken: bytearray) -> Iterator[Value]:
    for start, end, cjk in runs(folded):
        if cjk:
            continue
        for match in WORD.finditer(folded, start, end):
            if not any(taken[match.start() : match.end()]):
                yield from _word(match.group(), match.start())


def _word(word: str, start: int) -> Iterator[Value]:
    """The values in one word: `localhost:8080` is a name and a port, `TTL=300s` a name and what is behind it."""
    word = re.sub(r"'(?:s|S)?$", "", word)
    kind = _word_kind(word)
    if kind:
        yield Value(kind, identifier(word), start, start + len(word))
        return
    if ":" in word or "=" in word:
        for piece in re.finditer(r"[^:=]+", word):
            if piece.group() != word:
                yield from _word(piece.group(), start + piece.start())
        return
    glued = re.fullmatch(r"([A-Z][a-z]+)(\d+(?:\.\d+)*)", word)
    if glued:
        yield Value("name", glued[1].casefold(), start, start + glued.end(1))
        yield Value("version" if "." in glued[2] else "number", glued[2], start + glued.start(2), start + glued.end(2))


def _word_kind(word: str) -> str | None:
    """path, identifier, or None for an ordinary word."""
    bare = word.lstrip("#@$~")
    plain_word = word.casefold()
    if not re.search(r"[^\W\d_]", bare):
        return "identifier" if word.startswith("#") and bare.isdecimal() else None
    if "/" in word or "\\" in word:
        return _path_kind(word, plain_word)
    if word[0] in "#@$" or re.match(r"--?[A-Za-z]", word) or word.endswith(("++", "#")):
        return "identifier"
    if ":" in word or "=" in word:
        return "identifier" if "::" in word else None
    if "_" in word.strip("_") or re.search(r"[a-z][A-Z]", word):
        return "identifier"
    if "." in word:
        head, _, tail = word.rpartition(".")
        sentence_glued = head.isalpha() and tail[:1].isupper() and tail[1:].islower() and head.islower()
        return None if sentence_glued or plain_word in {"e.g", "i.e", "a.m", "p.m", "u.s"} or re.fullmatch(r"[A-Z][a-z]+\d+(?:\.\d+)+", word) else "identifier"
    if "-" in word:
        pieces = plain_word.split("-")
        return None if not re.search(r"\d", word) and (len(pieces) > 3 or any(piece in _PLAIN_DASHED for piece in pieces)) else "identifier"
    if re.search(r"\d", word) and re.search(r"[^\W\d_]", word):
        return None if re.fullmatch(r"[A-Z][a-z]+\d+(?:\.\d+)*|\d+(?:st|nd|rd|th|s|x|k|m)", word) else "identifier"
    return None


def _path_kind(word: str, plain_word: str) -> str | None:
    if plain_word in _PLAIN_PAIRS:
        return None
    rooted = word[0] in "/~.$\\" or word.endswith("/")
    pieces = [piece for piece in re.split(r"[/\\]", plain_word) if piece]
    if rooted or len(pieces) > 2 or _FILE.fullmatch(pieces[-1]) or re.search(r"[\d_@-]", word):
        return "path"
    return "path" if len(pieces) == 2 and "'" not in word and not all(piece in _PLAIN_DASHED for piece in pieces) else None
