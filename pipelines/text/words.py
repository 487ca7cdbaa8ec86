"""Words: what a text is about, in order, for any language (English and Chinese get stop words; Chinese is cut by rjieba).

Everything here keeps the number of characters, so that an offset in a folded text is an offset in the text.
"""

# Word lists read better as text.
# ruff: noqa: SIM905

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Protocol, cast

# Code-like words stay whole: paths, dotted and dashed names, flags, #4573, and C, C++ and C# (three things, not one letter).
# To be used on a run without CJK only (`runs`): `\w` would glue a Chinese sentence to the name inside it.
WORD = re.compile(r"[#@~.$]?(?:--?)?/?\w(?:\w|['’./:@+#\\=-]+(?=\w))*(?:(?<![A-Za-z0-9_][A-Za-z0-9_][A-Za-z0-9_])(?<=[A-Za-z])(?:\+\+|#)(?!\w))?/?")
_CJK_RUN = re.compile("[\u3005-\u3007\u3040-\u312f\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U000323af]+")
_POSSESSIVE = re.compile(r"'[sS]?$")

ENGLISH_STOP = frozenset(
    """a an the and or but nor so yet if then else than as at by for from in into of off on onto out over to up with within without about above
    after again against all am any are aren't be because been before being below between both can can't cannot could couldn't did didn't do does
    doesn't doing don't down during each few further had hadn't has hasn't have haven't having he her here hers herself him himself his how i
    i'd i'll i'm i've im ive is isn't it it's its itself just let let's me more most my myself no not now of off once only other our ours
    ourselves own please same she should shouldn't some such that that's the their theirs them themselves there there's these they they're this
    those through too under until us very was wasn't we we'd we'll we're we've were weren't what what's when where which while who whom why will
    won't would wouldn't yes you you'd you'll you're you've your yours yourself also actually really well okay ok hey hi hello thanks thank
    going go get got use used using""".split()
)
CHINESE_STOP = frozenset(
    "的 了 是 在 我 你 您 他 她 它 我们 你们 他们 她们 咱们 这 那 这个 那个 这些 那些 有 和 与 及 或 而 但 但是 也 都 就 又 还 很 更 最 把 被 对 向 从 到 给 为 以 于 之 所 其 "
    "不 没 没有 吗 呢 吧 啊 呀 嘛 哦 嗯 请 一个 一下 会 能 可以 要 想 说 用 使用 里 上 下 中 后 前 时 时候 什么 怎么 因为 所以 如果 然后 现在 已经 着 过 地 得 个".split()
)


def is_cjk(ch: str) -> bool:
    """True for a character of a script that is written without spaces: Han, kana, Hangul (Hangul for its particles), Bopomofo."""
    return _CJK_RUN.match(ch) is not None


def has_cjk(text: str) -> bool:
    """Whether a text holds such a character."""
    return not text.isascii() and _CJK_RUN.search(text) is not None


def is_han(ch: str) -> bool:
    """True for a Chinese character (also used in Japanese)."""
    return is_cjk(ch) and not 0x3040 <= ord(ch) <= 0x312F and not 0xAC00 <= ord(ch) <= 0xD7AF


# Traditional characters as Simplified ones, as far as cues, numbers, dates and units are written with them.
_TRADITIONAL = "說別沒開關請麼嗎還過這個後從點時間週禮東應該為與對會來現總記務聽據稱讓給幫煩設換動試開啟閉許準確實際將歲兩萬億頁塊錢歐紅藍綠黃無須絕並從僅願夢設測試驗編譯構檢錯誤戶習慣處種們當導數據庫進題號"
_SIMPLIFIED = "说别没开关请么吗还过这个后从点时间周礼东应该为与对会来现总记务听据称让给帮烦设换动试开启闭许准确实际将岁两万亿页块钱欧红蓝绿黄无须绝并从仅愿梦设测试验编译构检错误户习惯处种们当导数据库进题号"
_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20, 0x2019: 0x27, 0x2018: 0x27} | str.maketrans(_TRADITIONAL, _SIMPLIFIED)


def fold_width(text: str) -> str:
    """The text with full-width forms, the ideographic space and curly apostrophes as ASCII and cue characters Simplified; same length, so offsets hold."""
    return text.translate(_WIDTH)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text: `text[start:end] == text` of it; `tag` is jieba's part of speech for Chinese words, "" otherwise."""

    text: str
    start: int
    end: int
    tag: str = ""


class _Cutter(Protocol):
    def tag(self, sentence: str, hmm: bool = True) -> list[tuple[str, str]]: ...


@cache
def _cutter() -> _Cutter:
    """The Chinese word cutter. Imported on first use: its import loads the dictionary (0.1 s, 60 MB)."""
    import rjieba

    return cast(_Cutter, rjieba)


CACHED_MAX = 2_000
"""Characters of a text whose reading is remembered: sentences come again in gate after gate, whole tool outputs do not and would fill the memory."""


def chinese_words(text: str, guess: bool = True) -> tuple[Word, ...]:
    """Words of a text cut by rjieba, with tags and exact offsets; characters the cutter drops are skipped over. Empty without Chinese.

    `guess` lets it join characters to words its dictionary lacks: right for names (小王), wrong for cues (别用 would be one word).
    """
    if text.isascii() or not any(map(is_han, text)):
        return ()
    return _cut_cached(text, guess) if len(text) <= CACHED_MAX else _cut(text, guess)


def _cut(text: str, guess: bool) -> tuple[Word, ...]:
    found: list[Word] = []
    at = 0
    for word, tag in _cutter().tag(text, guess):
        start = text.find(word, at)
        if start < 0:
            continue
        at = start + len(word)
        found.append(Word(word, start, at, tag))
    return tuple(found)


_cut_cached = lru_cache(maxsize=4096)(_cut)


def has_chinese_word(text: str, words: frozenset[str]) -> bool:
    """Whether one of `words` stands in the text as a dictionary word of its own (别 in 别用, not in 特别 or 别人)."""
    return any(word.text in words for word in chinese_words(text, guess=False))


def _stem_verb(word: str) -> str:
    """Porter's step 1b: -ed and -ing, with the consonant undoubled or the e restored."""
    for ending in ("ing", "ed"):
        stem = word[: -len(ending)]
        if word.endswith(ending) and len(stem) >= 3 and re.search(r"[aeiouy]", stem):
            if stem.endswith(("at", "bl", "iz")):
                return stem + "e"
            if stem[-1] == stem[-2] and stem[-1] not in "lsz":
                return stem[:-1]
            if re.fullmatch(r"[^aeiou]*[aeiouy][^aeiouwxy]", stem):
                return stem + "e"
            return stem
    return word


@lru_cache(maxsize=32768)
def stem(word: str) -> str:
    """Light English stem of a casefolded word: plural, -ed, -ing, final y (Porter 1980, steps 1a to 1c).

    Other scripts, short words and what is too long for a word stay.
    """
    if not 4 <= len(word) <= 40 or not word.isascii() or not word.isalpha():
        return word
    if word.endswith("sses"):
        word = word[:-2]
    elif word.endswith("ies"):
        word = word[:-3] + "y"
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    word = _stem_verb(word)
    if word.endswith("e") and len(word) > 4 and word[-2] not in "aeiou":
        word = word[:-1]
    return word[:-1] + "i" if word.endswith("y") and len(word) > 3 and word[-2] not in "aeiou" else word


def runs(text: str) -> Iterator[tuple[int, int, bool]]:
    """(start, end, cjk) of the runs of CJK characters and the runs of everything else that the text is made of."""
    at = 0
    for match in _CJK_RUN.finditer(text):
        if match.start() > at:
            yield at, match.start(), False
        yield match.start(), match.end(), True
        at = match.end()
    if at < len(text):
        yield at, len(text), False


def raw_words(text: str) -> Iterator[Word]:
    """Every word with its offsets in `text`, nothing dropped: Latin-like words whole (code-like ones too), Chinese cut by rjieba, other CJK by runs."""
    folded = fold_width(text)
    for start, end, cjk in runs(text):
        if cjk:
            run = text[start:end]
            yield from (Word(w.text, start + w.start, start + w.end, w.tag) for w in chinese_words(run) or (Word(run, 0, len(run)),))
            continue
        for match in WORD.finditer(folded, start, end):
            first, last = match.span()
            tail = _POSSESSIVE.search(folded, first, last)
            stop = tail.start() if tail else last
            yield Word(text[first:stop], first, stop)


def content_words(text: str) -> tuple[str, ...]:
    """What the text is about: words in order, casefolded, stop words dropped, plain English words stemmed, identifiers whole."""
    return _content_cached(text) if len(text) <= KEPT_MAX else _content(text)


KEPT_MAX = 600
"""Characters of a text whose words are kept: a sentence is asked for its words by rules, gates and matching alike."""


def _content(text: str) -> tuple[str, ...]:
    found: list[str] = []
    for word in raw_words(text):
        plain = fold_width(word.text).casefold()
        if plain in ENGLISH_STOP or word.text in CHINESE_STOP:
            continue
        found.append(stem(plain))
    return tuple(found)


_content_cached = lru_cache(maxsize=8192)(_content)
