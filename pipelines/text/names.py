"""Names in a text: capitalised words where a capital is a choice, Chinese names of people, places and firms, names of languages."""

# Word lists read better as text.
# ruff: noqa: SIM905

from __future__ import annotations

import re
from collections.abc import Iterator

from .dates import written_dates
from .sentences import sentences
from .words import ENGLISH_STOP, chinese_words, runs

SURNAMES = frozenset(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾萧田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤"
)
_PREFIXED = re.compile(r"[小老阿](.)")
# A sentence opens with a capital anyway: there a word is a name only when it has something or does what people do.
_PERSON_VERB = re.compile(
    r"(?:'s|\s+(?:owns|prefers|likes|lives|works|wants|says|said|told|loves|hates|moved|uses|needs|thinks|drinks|speaks|plays|bought|married|joined"
    r"|asked|wrote|knows|leads|maintains|left|quit|has|and [A-Z]))(?![A-Za-z])|\s\d"
)
_PIECE = re.compile(r"[^\W_](?:[^\W_]|['.+#-](?=[^\W_]))*(?:\+\+|#)?")
_PROPER = re.compile(r"[A-ZÀ-ÖØ-ÞΑ-ΩА-Я][^\W\d_]*(?:['-][^\W\d_]+)*")
_POSSESSIVE = re.compile(r"'[sS]?$")
_COUNTED = frozenset(
    "step line section chapter part page phase day week version port item number task issue figure table round level option rule fix bug".split()
)
_LANGUAGES = {
    f"{name}{word}": language
    for name, language in {
        "英": "english",
        "中": "chinese",
        "汉": "chinese",
        "日": "japanese",
        "法": "french",
        "德": "german",
        "俄": "russian",
        "韩": "korean",
        "西班牙": "spanish",
    }.items()
    for word in "文语"
} | {"简体": "chinese", "粤语": "cantonese", "普通话": "mandarin"}
_NOT_PLACES = frozenset({"东西", "南北"})
_NOT_NAMES = ENGLISH_STOP | frozenset(
    """monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays january february
    march april may june july august september october november december mr mrs ms dr yes no note todo fixme ok please never always remember
    don't do use run make keep user today tomorrow yesterday am pm one two three four five six seven eight nine ten actually however everyone
    someone nobody somebody everybody it i""".split()
)


def names(text: str, folded: str) -> Iterator[tuple[str, int, int]]:
    """(canonical, start, end) of every name; `folded` is the text with widths folded. Acronyms count, shouting does not."""
    yield from _latin(folded)
    yield from _chinese(text)


def _latin(folded: str) -> Iterator[tuple[str, int, int]]:
    openings = {span.start for span in sentences(folded)}
    shouting = " " in folded.strip() and sum(map(str.isupper, folded)) > sum(map(str.islower, folded))
    for start, end, cjk in runs(folded):
        if cjk:
            continue
        for match in _PIECE.finditer(folded, start, end):
            word = _POSSESSIVE.sub("", match.group())
            if _is_name(folded, word, match.start(), openings, shouting):
                yield word.casefold(), match.start(), match.start() + len(word)


def _is_name(folded: str, word: str, at: int, openings: set[int], shouting: bool) -> bool:
    if not _PROPER.fullmatch(word) or word.casefold() in _NOT_NAMES:
        return word == "A" and at not in openings
    if len(word) == 1 or not word.isupper():
        opens = len(word) > 1 and _opens(folded, at, openings)
        return not opens or (word.casefold() not in _COUNTED and bool(_PERSON_VERB.match(folded, at + len(word))))
    return not shouting


def _opens(folded: str, at: int, openings: set[int]) -> bool:
    """Whether the word at `at` opens a sentence, also behind a colon, a dash or an opening quote or bracket."""
    before = at
    while before > 0 and folded[before - 1] in " \"'“‘「(*_[#-–—:`\t":
        if before in openings:
            return True
        before -= 1
    return before in openings or before == 0 or (before < at and folded[before] in ':-–—"“「(')


def _chinese(text: str) -> Iterator[tuple[str, int, int]]:
    for word in chinese_words(text):
        if language := _LANGUAGES.get(word.text):
            yield language, word.start, word.end
        if len(word.text) < 2 or word.text in _NOT_PLACES or written_dates(word.text):
            continue
        if word.tag in {"ns", "nt"} or (word.tag == "nr" and _is_person(word.text)):
            yield word.text, word.start, word.end


def _is_person(word: str) -> bool:
    """A surname first (小王 and 老李 too), or a longer name the dictionary itself has: the cutter makes names of ordinary words (明白)."""
    prefixed = _PREFIXED.match(word)
    if word[0] in SURNAMES or (prefixed and prefixed[1] in SURNAMES):
        return True
    known = chinese_words(word, guess=False)
    return len(word) > 2 and len(known) == 1 and known[0].tag == "nr"
