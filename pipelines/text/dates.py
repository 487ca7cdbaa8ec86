"""Dates, times of day and weekdays as they are written, in English and Chinese, without resolving anything.

A canonical date is ISO with `--` for a missing year: 2026-11-28, 2026-11, 2026, --11-28, --11, and `-start`, `-mid`, `-end` of a month, `2026-Q3`.
A canonical relative date is counted from the day it was said: `d-1` (yesterday), `w+1` (next week), `w-1-5` (Friday of last week), `last-5`
(the Friday before), `next-5`, `m-1`, `y-1`, and `ago-3d`, `ahead-2w`. Own rules: general parsers read 11月3日 as the year 2011 and 3/11 as one country's date.
"""

# Word lists read better as text.
# ruff: noqa: SIM905

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from .numerals import CHINESE, ENGLISH_WORD, chinese_number, english_number
from .words import fold_width, is_cjk


@dataclass(frozen=True, slots=True)
class Written:
    """A date, time, weekday or relative date (`kind`) at characters `start` to `end`."""

    kind: str
    canonical: str
    start: int
    end: int


_MONTHS = "january february march april may june july august september october november december".split()
_MONTH_OF = {name: n for n, name in enumerate(_MONTHS, 1)} | {name[:3]: n for n, name in enumerate(_MONTHS, 1)} | {"sept": 9}
_WEEKDAYS: dict[str, int] = {}
for _names in (
    "monday tuesday wednesday thursday friday saturday sunday",
    "montag dienstag mittwoch donnerstag freitag samstag sonntag",
    "montags dienstags mittwochs donnerstags freitags samstags sonntags",
    "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "lunes martes miércoles jueves viernes sábado domingo",
    "mondays tuesdays wednesdays thursdays fridays saturdays sundays",
):
    _WEEKDAYS |= {name: n for n, name in enumerate(_names.split(), 1)}
_SHORT_WEEKDAYS = {"Mon": 1, "Tue": 2, "Tues": 2, "Wed": 3, "Thu": 4, "Thur": 4, "Thurs": 4, "Fri": 5, "Sat": 6, "Sun": 7}
_ZH_DAY = {"一": 1, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "日": 7, "天": 7, "末": 8}
_JA_DAY = dict(zip("月火水木金土日", range(1, 8), strict=True))

_A = r"(?<![A-Za-z0-9_])"
_Z = r"(?![A-Za-z0-9_])"
_M = "(?P<month>" + "|".join(sorted(_MONTH_OF, key=len, reverse=True)) + r")\.?"
_D = r"(?P<day>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
_Y = r"(?P<year>(?:19|20)\d\d)"
_N = rf"(?P<n>\d{{1,4}}|{ENGLISH_WORD}|an?)"
_ZN = rf"(?P<n>\d{{1,4}}|[{CHINESE}]{{1,4}})"
_ZM = r"(?P<month>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])月"
_WD = "(?P<weekday>" + "|".join(sorted(_WEEKDAYS, key=len, reverse=True)) + ")"

Rule = tuple[str, re.Pattern[str], Callable[[re.Match[str]], str | None]]


def _group(match: re.Match[str], name: str) -> str | None:
    return match.groupdict().get(name)


def _year(match: re.Match[str]) -> str:
    return _group(match, "year") or "-"


def _month(text: str) -> int | None:
    if text.isdecimal():
        return int(text) if 1 <= int(text) <= 12 else None
    return _MONTH_OF.get(text.casefold().rstrip(".")) or chinese_number(text)


def _day(match: re.Match[str]) -> str | None:
    month, day = _month(match["month"]), chinese_number(match["day"])
    return f"{_year(match)}-{month:02}-{day:02}" if month and day and day <= 31 else None


def _whole_month(match: re.Match[str]) -> str | None:
    month = _month(match["month"])
    part = _PARTS.get((_group(match, "part") or "").casefold(), "")
    return f"{_year(match)}-{month:02}{part}" if month else None


_PARTS = {
    "end": "-end", "ends": "-end", "late": "-end", "底": "-end", "末": "-end", "beginning": "-start", "start": "-start", "early": "-start", "初": "-start",
    "middle": "-mid", "mid": "-mid", "中旬": "-mid", "中": "-mid", "上旬": "-start", "下旬": "-end",
}  # fmt: skip


def _slashed(match: re.Match[str]) -> str | None:
    """28.11.2026 and 28/11/2026 and 11/28/2026, where only one reading is possible (dots are always day first)."""
    first, second = int(match["a"]), int(match["b"])
    if match["sep"] == "." or first > 12:
        day, month = first, second
    elif second > 12:
        month, day = first, second
    else:
        return f"{match['year']}~{first}/{second}"
    return f"{match['year']}-{month:02}-{day:02}" if 1 <= month <= 12 and 1 <= day <= 31 else None


_DATES: tuple[Rule, ...] = (
    ("date", re.compile(r"(?<![\d.-])(?P<year>(?:19|20)\d\d)(?P<s>[-/.])(?P<month>0?[1-9]|1[0-2])(?P=s)(?P<day>0?[1-9]|[12]\d|3[01])(?!\d|[-.]\d)"), _day),
    ("date", re.compile(rf"{_Y}年{_ZM}(?P<day>[12]\d|3[01]|0?[1-9]|[一二三]?十[一二三四五六七八九]?|[一二三四五六七八九])[日号]"), _day),
    ("date", re.compile(rf"(?<!\d){_ZM}(?P<day>[12]\d|3[01]|0?[1-9]|[一二三]?十[一二三四五六七八九]?|[一二三四五六七八九])[日号]"), _day),
    ("date", re.compile(rf"(?:{_Y}年)?(?<!\d){_ZM}(?P<part>[底末初]|[上中下]旬|中(?!的|国))"), _whole_month),
    ("date", re.compile(rf"{_Y}年{_ZM}(?:份)?"), _whole_month),
    ("date", re.compile(rf"(?<![\d个])(?!1?\d月内){_ZM}份?(?![\d内])"), _whole_month),
    ("date", re.compile(rf"{_A}(?P<day>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?(?: of)?[ -]{_M}(?:,? ?(?:of )?|-){_Y}{_Z}", re.I), _day),
    ("date", re.compile(rf"{_A}{_M} (?:the )?{_D},? {_Y}{_Z}", re.I), _day),
    ("date", re.compile(rf"{_A}{_D} (?:of )?{_M}{_Z}(?! ?\d)", re.I), _day),
    ("date", re.compile(rf"{_A}{_M} (?:the )?{_D}{_Z}(?![:.]\d)", re.I), _day),
    ("date", re.compile(rf"{_A}(?:the )?(?P<part>beginning|start|middle|end) of {_M}(?:,? {_Y})?{_Z}", re.I), _whole_month),
    ("date", re.compile(rf"{_A}(?P<part>early|mid|late)[ -]{_M}(?:,? {_Y})?{_Z}", re.I), _whole_month),
    ("date", re.compile(rf"{_A}{_M}(?:,? {_Y})? (?P<part>ends){_Z}", re.I), _whole_month),
    ("date", re.compile(rf"{_A}{_M},? {_Y}{_Z}", re.I), _whole_month),
    ("date", re.compile(rf"(?<![A-Za-z])(?:in|by|until|till|since|before|after|during|from|for|of|this|next|last) {_M}{_Z}", re.I), lambda m: _named_month(m)),
    ("date", re.compile(r"(?<![\w.])(?P<a>\d{1,2})(?P<sep>[./])(?P<b>\d{1,2})(?P=sep)(?P<year>(?:19|20)\d\d)(?![\d/]|\.\d)"), _slashed),
    ("date", re.compile(rf"{_A}Q(?P<q>[1-4])(?:[ /-]?{_Y})?{_Z}"), lambda m: f"{_year(m)}-Q{m['q']}"),
    ("date", re.compile(rf"(?<![\d.-]){_Y}-(?P<month>0[1-9]|1[0-2])(?![\d-])"), _whole_month),
    ("date", re.compile(rf"(?<![\d.]){_Y}年"), lambda m: m["year"]),
    ("date", re.compile(rf"(?<![A-Za-z])(?i:in|since|until|till|from|before|after|during|year|by|of) {_Y}(?![\d.:-]|\w)"), lambda m: m["year"]),
)


def _named_month(match: re.Match[str]) -> str | None:
    """A bare month behind a preposition: capitalised, since `may` and `march` are words."""
    return _whole_month(match) if match["month"][0].isupper() else None


_AM = frozenset("am a.m. a.m 凌晨 早上 上午 早 清晨".split())
_PM = frozenset("pm p.m. p.m 下午 傍晚 晚上 晚 午后 夜里".split())


def _clock(hour: int, minute: int, half: str) -> str | None:
    half = half.casefold()
    if half in _PM and hour < 12:
        hour += 12
    elif half in _AM and hour == 12:
        hour = 0
    return f"{hour:02}:{minute:02}" if hour < 24 and minute < 60 else None


def _english_time(match: re.Match[str]) -> str | None:
    return _clock(int(match["hour"]), int(_group(match, "minute") or 0), _group(match, "half") or "")


def _chinese_time(match: re.Match[str]) -> str | None:
    hour = chinese_number(match["hour"])
    rest = _group(match, "rest") or ""
    half = _group(match, "half") or ""
    if hour is None or (hour == 1 and not half and not rest):  # 一点 is "a bit"
        return None
    minute = {"半": 30, "一刻": 15, "三刻": 45, "整": 0, "": 0}.get(rest)
    if minute is None:
        minute = chinese_number(rest.removesuffix("分")) or 0
    return _clock(hour, minute, half)


_TIMES: tuple[Rule, ...] = (
    (
        "time",
        re.compile(
            r"(?<![\d:.\w-])(?P<hour>[01]?\d"
            r"|2[0-3]):(?P<minute>[0-5]\d)(?::[0-5]\d(?:\.\d+)?)?(?: ?(?P<half>[ap]\.?m\.?)(?![A-Za-z]))?(?![\d:]|\.\d)",
            re.I,
        ),
        _english_time,
    ),
    ("time", re.compile(r"(?<=T)(?P<hour>[01]\d|2[0-3]):(?P<minute>[0-5]\d)(?::[0-5]\d(?:\.\d+)?)?(?![\d:])"), _english_time),
    ("time", re.compile(r"(?<![\d:.\w-])(?P<hour>1[0-2]|0?[1-9]) ?(?P<half>[ap]\.m\.|[ap]m(?![A-Za-z]))", re.I), _english_time),
    (
        "time",
        re.compile(
            r"(?P<half>凌晨|清晨|早上|上午|中午|午后|下午|傍晚|晚上|夜里|早|晚)?(?P<hour>2[0-3]|[01]?\d|二?十[一二三四五六七八九]?|[一二两三四五六七八九])(?:点钟?|點|时(?![间候段长]))"
            r"(?P<rest>半|[一三]刻|整|[0-5]?\d分?|[一二三四五]?十[一二三四五六七八九]?分?)?(?![建原理意要注内问五]|半[个天])"
        ),
        _chinese_time,
    ),
)

_WEEKDAY_RULES: tuple[Rule, ...] = (
    ("weekday", re.compile(r"(?:周|星期|礼拜|週|禮拜)(?P<d>[一二三四五六日天])(?![个年月次])"), lambda m: str(_ZH_DAY[m["d"]])),
    ("weekday", re.compile(r"(?P<d>[月火水木金土日])曜日?"), lambda m: str(_JA_DAY[m["d"]])),
    (
        "weekday",
        re.compile(rf"(?<![^\W\d_])(?P<weekday>{'|'.join(sorted(_WEEKDAYS, key=len, reverse=True))})(?![^\W\d_])", re.I),
        lambda m: str(_WEEKDAYS[m["weekday"].casefold()]),
    ),
    ("weekday", re.compile(rf"{_A}(?P<d>Mon|Tues?|Wed|Thu(?:rs?)?|Fri|(?:Sat|Sun)(?=[,.]? ?\d)){_Z}"), lambda m: str(_SHORT_WEEKDAYS[m["d"]])),
)

_ZERO = {"today": "d+0", "tonight": "d+0", "this morning": "d+0", "this afternoon": "d+0", "this evening": "d+0", "yesterday": "d-1", "last night": "d-1"}
_ZERO |= {"the day before yesterday": "d-2", "day before yesterday": "d-2", "tomorrow": "d+1", "the day after tomorrow": "d+2", "day after tomorrow": "d+2"}
_ZERO |= dict(
    zip(
        "今天 今日 今晚 今早 昨天 昨日 昨晚 前天 大前天 明天 明日 明晚 明早 后天 大后天".split(),
        "d+0 d+0 d+0 d+0 d-1 d-1 d-1 d-2 d-3 d+1 d+1 d+1 d+1 d+2 d+3".split(),
        strict=True,
    )
)
_ZERO |= dict(zip("去年 今年 明年 前年 后年".split(), "y-1 y+0 y+1 y-2 y+2".split(), strict=True))
_SIDE = {
    "last": -1,
    "past": -1,
    "previous": -1,
    "this": 0,
    "next": 1,
    "上": -1,
    "上个": -1,
    "上上": -2,
    "上上个": -2,
    "这": 0,
    "这个": 0,
    "本": 0,
    "下": 1,
    "下个": 1,
    "下下": 2,
    "下下个": 2,
}
_UNIT = {"day": "d", "week": "w", "month": "m", "year": "y", "天": "d", "日": "d", "周": "w", "星期": "w", "礼拜": "w", "月": "m", "个月": "m", "年": "y"}


def _count(match: re.Match[str]) -> int | None:
    text = match["n"]
    return int(text) if text.isdecimal() else english_number(text) or chinese_number(text)


def _ago(match: re.Match[str]) -> str | None:
    count = _count(match)
    unit = match["unit"].casefold()
    unit = _UNIT.get(unit) or _UNIT[unit.rstrip("s")]
    ahead = (_group(match, "way") or "ago").casefold() in {"in", "后", "之后", "以后", "from now"}
    return f"{'ahead' if ahead else 'ago'}-{count}{unit}" if count else None


def _period(match: re.Match[str]) -> str:
    return f"{_UNIT[match['unit'].casefold()]}{_SIDE[match['side'].casefold()]:+d}"


def _weekday_of(match: re.Match[str]) -> str:
    side = match["side"].casefold()
    day = _WEEKDAYS[match["weekday"].casefold()]
    return {"last": f"last-{day}", "this past": f"last-{day}", "next": f"next-{day}"}.get(side, f"w+0-{day}")


_RELATIVE: tuple[Rule, ...] = (
    (
        "relative",
        re.compile(
            rf"{_A}(?:the )?(?:day (?:before yesterday|after tomorrow)|yesterday|tomorrow|today|tonight|last night|this (?:morning"
            rf"|afternoon|evening)){_Z}",
            re.I,
        ),
        lambda m: _ZERO[m.group().casefold().removeprefix("the ")],
    ),
    ("relative", re.compile("大前天|大后天|前天(?!津)|昨[天日晚]|今[天日晚早]|明[天日晚早]|后天(?![性])|去年|今年|明年|前年|后年"), lambda m: _ZERO[m.group()]),
    ("relative", re.compile(rf"{_A}{_N} (?P<unit>days?|weeks?|months?|years?) (?P<way>ago|from now){_Z}", re.I), _ago),
    ("relative", re.compile(rf"{_A}(?P<way>in) {_N} (?P<unit>days?|weeks?|months?|years?)(?! of){_Z}", re.I), _ago),
    ("relative", re.compile(rf"{_ZN}(?P<unit>天|周|个?星期|礼拜|个月|年)(?:以|之)?(?P<way>前|后)(?![端台])"), lambda m: _ago_zh(m)),
    (
        "relative",
        re.compile(r"(?P<side>上上?个?|下下?个?|这个?|本)(?P<unit>周|星期|礼拜)(?P<d>[一二三四五六日天末])"),
        lambda m: f"w{_SIDE[m['side']]:+d}-{_ZH_DAY[m['d']]}",
    ),
    ("relative", re.compile(r"(?P<side>上上?个|下下?个|这个|本|上|下)(?P<unit>周|星期|礼拜|月)(?!报|会|刊|期)"), _period),
    ("relative", re.compile(rf"{_A}(?P<side>last|this past|this|next) {_WD}{_Z}", re.I), _weekday_of),
    ("relative", re.compile(rf"{_A}(?P<side>last|past|previous|this|next) weekend{_Z}", re.I), lambda m: f"w{_SIDE[m['side'].casefold()]:+d}-8"),
    ("relative", re.compile(rf"{_A}(?P<side>last|previous|this|next) (?P<unit>week|month|year){_Z}", re.I), _period),
)


def _ago_zh(match: re.Match[str]) -> str | None:
    count = chinese_number(match["n"])
    unit = _UNIT[match["unit"].removeprefix("个") if match["unit"] != "个月" else "个月"]
    return f"{'ahead' if match['way'] == '后' else 'ago'}-{count}{unit}" if count else None


_RULES = (*_DATES, *_RELATIVE, *_TIMES, *_WEEKDAY_RULES)
# Most text is ASCII, and a rule that asks for a Chinese character finds nothing there.
_LATIN_RULES = tuple(rule for rule in _RULES if not any(map(is_cjk, rule[1].pattern)))


def written_dates(text: str) -> list[Written]:
    """Every date, time of day, weekday and relative date of the text, in order, the longer reading first where two overlap; offsets are those of `text`."""
    return list(_written_cached(text) if len(text) <= KEPT_MAX else _written(text))


KEPT_MAX = 600
"""Characters of a text whose dates are kept: a sentence is asked for them by rules and gates alike."""


def _written(text: str) -> tuple[Written, ...]:
    folded = fold_width(text)
    found: list[Written] = []
    taken: list[tuple[int, int]] = []
    for written in _all(folded):
        if not any(a < written.end and written.start < b for a, b in taken):
            taken.append((written.start, written.end))
            found.append(written)
    return tuple(sorted(found, key=lambda w: w.start))


_written_cached = lru_cache(maxsize=8192)(_written)


def _all(folded: str) -> Iterator[Written]:
    for kind, pattern, canonical in _LATIN_RULES if folded.isascii() else _RULES:
        for match in pattern.finditer(folded):
            value = canonical(match)
            if value is None:
                continue
            start = match.start()
            # A preposition is the cue, not part of the date.
            if kind == "date" and match.group()[0].isalpha() and match.group().isascii():
                cue = _CUE.match(match.group())
                start += cue.end() if cue else 0
            yield Written(kind, value, start, match.end())


_CUE = re.compile(r"(?:in|by|until|till|since|before|after|during|from|for|of|this|next|last|year) (?=\S)", re.I)
