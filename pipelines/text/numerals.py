"""Number words: English up to the hundreds, Chinese numerals of any size."""

# Word lists read better as text.
# ruff: noqa: SIM905

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

_UNITS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = dict(zip(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], range(20, 100, 10), strict=True))
ENGLISH = {word: value for value, word in enumerate(_UNITS)} | _TENS
_COMPOUND = {f"{ten}{dash}{unit}": value + ENGLISH[unit] for ten, value in _TENS.items() for unit in _UNITS[1:10] for dash in ("-", " ")}
ENGLISH_WORD = rf"(?:(?:{'|'.join(_TENS)})(?:[- ](?:{'|'.join(_UNITS[1:10])}))?|{'|'.join(sorted(_UNITS, key=len, reverse=True))})"
CHINESE = "零〇一二三四五六七八九十百千万亿两兩"
# Begun at the first digit only and bounded: a run of digits must not be tried from each of them.
CHINESE_NUMBER = rf"(?:(?<![\d.])\d{{1,15}}(?:\.\d{{1,9}})?[万亿千]?|(?<![{CHINESE}])[{CHINESE}]{{1,15}})"

_DIGITS = {ch: value for value, ch in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "兩": 2}
_SMALL = {"十": 10, "百": 100, "千": 1000}
_LARGE = {"万": 10_000, "亿": 100_000_000}
_MIXED = re.compile(r"(\d+(?:\.\d+)?)([十百千万亿]?)")


def english_number(text: str) -> int | None:
    """The value of an English number word (`twenty-five`, `a` and `an` count one), or None."""
    word = text.casefold()
    return 1 if word in {"a", "an"} else ENGLISH.get(word, _COMPOUND.get(word))


def chinese_number(text: str) -> int | None:
    """The value of a Chinese numeral (三十, 两百五, 三万, 二〇二六, also 3 and 1.5万), or None when it is none."""
    if mixed := _MIXED.fullmatch(text):
        return int(Decimal(mixed[1]) * (_LARGE | _SMALL).get(mixed[2], 1))
    if not text or any(ch not in _DIGITS and ch not in _SMALL and ch not in _LARGE for ch in text):
        return None
    if all(ch in _DIGITS for ch in text):
        return int("".join(str(_DIGITS[ch]) for ch in text))
    total = section = digit = 0
    place = 1
    for ch in text:
        if ch in _DIGITS:
            digit = _DIGITS[ch]
            place = 1 if ch == "零" or ch == "〇" else place
        elif ch in _SMALL:
            section += (digit or 1) * _SMALL[ch]
            digit, place = 0, _SMALL[ch]
        else:
            total += (section + digit) * _LARGE[ch]
            section, digit, place = 0, 0, _LARGE[ch]
    # 两百五 is 250: a last bare digit counts in the next lower place (not behind 十, nor behind a zero).
    return total + section + digit * (place // 10 if place >= 100 else 1)


def plain(number: Decimal) -> str:
    """A number without exponent and without trailing zeros: 25.0 and 25 are one."""
    text = format(number.normalize(), "f")
    return text if text != "-0" else "0"


def folded_number(text: str, scale: int = 1) -> str | None:
    """Digits with thousands separators, times `scale`, in plain form; None when it is no number."""
    try:
        return plain(Decimal(text.replace(",", "").replace("_", "")) * scale)
    except InvalidOperation:
        return None
