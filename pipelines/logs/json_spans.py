"""Where the parts of JSON text stand. Keys and values are scanned, not decoded: a number beyond any limit is read over like any other."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

SCANNER = json.JSONDecoder(parse_int=str, parse_float=str)
"""Says where a value ends."""
LENIENT = json.JSONDecoder(parse_int=str, parse_float=str, strict=False)
"""The same for strings that hold raw control characters."""
_KEY = re.compile(r'[\s,{]*("(?:[^"\\]|\\.)*")\s*:\s*')
_GAP = re.compile(r"[\s,]*")
_REST = re.compile(r"[ \t\r\x00]*\Z")


def items(text: str, pos: int) -> Iterator[tuple[str, int, int]]:
    """Keys of the object that begins at `pos` with the span of each value; ends at the first value that does not parse (its span ends at -1)."""
    while found := _KEY.match(text, pos):
        try:
            _, pos = SCANNER.raw_decode(text, found.end())
        except (ValueError, RecursionError):
            yield found[1][1:-1], found.end(), -1
            return
        yield found[1][1:-1], found.end(), pos


def elements(text: str, pos: int) -> Iterator[tuple[int, int]]:
    """Spans of the elements of the array that begins at `pos`; the array is known to be whole."""
    pos += 1
    while True:
        gap = _GAP.match(text, pos)
        assert gap is not None, "the pattern matches the empty string"
        if text[gap.end()] == "]":
            return
        _, pos = SCANNER.raw_decode(text, gap.end())
        yield gap.end(), pos


def fills(text: str, pos: int) -> bool | None:
    """Whether nothing but whole objects stands from `pos` to the end of the line; None when what stands there breaks off."""
    while pos < len(text):
        if text[pos] != "{":
            return _REST.match(text, pos) is not None
        try:
            _, pos = SCANNER.raw_decode(text, pos)
        except (ValueError, RecursionError):
            return None
        while pos < len(text) and text[pos] in " \t\r":
            pos += 1
    return True


def alike(keys: list[str], text: str, pos: int) -> bool:
    """Whether the object at `pos` has the torn one's own keys: then it is the next record, not a value cut off with its owner."""
    other = [key for key, _, _ in items(text, pos)]
    shared = set(keys) & set(other)
    return len(shared) >= 3 or (len(shared) == 2 and keys[:1] == other[:1])
