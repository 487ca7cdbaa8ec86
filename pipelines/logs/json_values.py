"""The object that bytes say as JSON, mended where they are not what JSON allows, with its integers whole."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from typing import Any

import orjson

_ESCAPE = re.compile(rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL)
_INT_DIGITS_MAX = 4000
_BIG = re.compile(rb"[0-9]{19}")
_STRIDE = 4
_DIGIT_RUN = re.compile(rb"0000+")
_DIGITS = bytes(48 if 48 <= i < 58 else 32 for i in range(256))


def mended(raw: bytes, *, whole_numbers: bool = False) -> tuple[dict[str, Any], bool]:
    """The object these bytes say, and whether it had to be mended: lone surrogates and invalid UTF-8 become U+FFFD, NaN and infinities None.

    `whole_numbers` keeps integers beyond 64 bit, which orjson turns into floats. Raises ValueError or RecursionError when it is no object.
    """
    if not whole_numbers:
        try:
            return _object(orjson.loads(raw)), False
        except orjson.JSONDecodeError:
            pass
    whole = _ESCAPE.sub(lambda m: rb"\ufffd" if m[1] else m[0], raw)
    text = whole.decode("utf-8", "replace")
    repaired = not whole_numbers or text.encode() != raw
    try:
        return _object(_EXACT.decode(text)), repaired
    except json.JSONDecodeError:
        return _object(_EXACT_LENIENT.decode(text)), True


def big_numbers(data: bytes) -> list[int]:
    """Offsets of runs of 19 digits: the lines that hold them may hold an integer beyond 64 bit.

    Every fourth byte is looked at first, since a run of 19 covers four of those in a row: a quarter of the cost of looking at all.
    """
    found: list[int] = []
    for hint in _DIGIT_RUN.finditer(data[::_STRIDE].translate(_DIGITS)):
        begin, end = max(0, (hint.start() - 1) * _STRIDE), (hint.end() + 1) * _STRIDE
        if _BIG.search(data, begin, end):  # nearly all of these runs are too short
            found += [run.start() for run in _BIG.finditer(data, begin, end)]
    return found


def any_between(positions: list[int], start: int, end: int) -> bool:
    """Whether one of the sorted positions lies in start <= position < end."""
    found = bisect_left(positions, start)
    return found < len(positions) and positions[found] < end


def _object(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def _int(digits: str) -> int | str:
    return int(digits) if len(digits) <= _INT_DIGITS_MAX else digits


def _float(digits: str) -> float | str:
    number = float(digits)
    return number if abs(number) < float("inf") else digits


def _nothing(_: str) -> None:
    return None


_EXACT = json.JSONDecoder(parse_int=_int, parse_float=_float, parse_constant=_nothing)
_EXACT_LENIENT = json.JSONDecoder(parse_int=_int, parse_float=_float, parse_constant=_nothing, strict=False)
