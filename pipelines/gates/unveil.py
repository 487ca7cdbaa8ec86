"""What a text says to a reader who does not see it: hidden characters, comments, look-alike letters and encodings taken off.

Each veil is lifted on its own and the result searched like the text itself; what decodes to no readable text is left alone.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import unquote

from pipelines.text.controls import without_controls

READ_MAX = 20_000
"""Characters of a text that are searched; quotes and their sentences are far shorter, and a gate must not be slowed down by its input."""

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb\U000e0100-\U000e01ef]"
)
_OVERRIDE = re.compile("[\u202a-\u202e\u2066-\u2069]")
_REVERSED = re.compile("[\u202e\u202d\u2067]([^\u202c\u2069\n]+)")
_TAGS = re.compile("[\U000e0020-\U000e007e]+")
# Letters of other scripts that look like Latin ones; only words that mix them with Latin letters or consist of nothing else are read this way.
_LOOKALIKE = str.maketrans(
    "аеорсухіјѕһԁԛԝӏգոսАВЕКМНОРСТУХІЈЅԚԜαοικνρτυχωΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxijshdqwlgnuABEKMHOPCTYXIJSQWaoiknptyxwABEZHIKMNOPTYX",
)
_COMMENT = re.compile(
    r"<!--(.*?)(?:-->|$)|\[//\]: # \(([^)]*)\)|<[^<>]{0,300}?(?:display:\s*none|font-size:\s*0|visibility:\s*hidden"
    r"|aria-hidden)[^<>]{0,300}>([^<]*)",
    re.S | re.I,
)
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/_-]{16,}={0,2}(?![A-Za-z0-9+/=_-])")
_HEX = re.compile(r"(?<![0-9A-Fa-f])(?:[0-9A-Fa-f]{2}[ :]?){10,}(?![0-9A-Fa-f])")
_ESCAPES = re.compile(r"(?:\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\[0-7]{3})+")
_PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}|\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}")
_GAP = re.compile(r"[ .·_*-]")
_SPACED = re.compile(r"(?<!\S)(?:[A-Za-z][ .·_*-]){5,}[A-Za-z](?!\S)")


def has_override(text: str) -> bool:
    """Whether characters are there that turn the order of reading around or that nobody sees but a machine reads (bidi controls, tag characters)."""
    return bool(_OVERRIDE.search(text) or _TAGS.search(text))


def plainly(text: str) -> str:
    """The text as a machine reads it: NFKC, hidden characters gone, look-alike letters Latin, escapes resolved, s p a c e d words joined."""
    decoded = _ESCAPES.sub(_unescape, _PERCENT.sub(lambda run: unquote(run.group()), html.unescape(without_controls(text[:READ_MAX]))))
    visible = _SPACED.sub(lambda run: _GAP.sub("", run.group()), _INVISIBLE.sub("", unicodedata.normalize("NFKC", decoded)))
    return re.sub(r"[^\W\d_]+", lambda word: _latin(word.group()), _TAGS.sub(lambda tags: _untagged(tags.group()), visible))


def hidden_texts(text: str) -> Iterator[str]:
    """The texts inside the text that a reader does not see: comments, hidden elements, tag characters, encoded runs; each plainly."""
    text = text[:READ_MAX]
    for match in _COMMENT.finditer(text):
        yield plainly(next((group for group in match.groups() if group), ""))
    yield from (_untagged(match.group()) for match in _TAGS.finditer(text))
    yield from (plainly(match[1][::-1]) for match in _REVERSED.finditer(text))
    bare = _INVISIBLE.sub("", text)
    for raw in (*(_unbase64(m.group()) for m in _BASE64.finditer(bare)), *(_unhex(m.group()) for m in _HEX.finditer(bare))):
        if raw:
            yield plainly(raw)
    yield from (plainly(run) for run in bare.split() if _ESCAPE.search(run))


def _latin(word: str) -> str:
    """A word with look-alikes as Latin, when every letter of it then is and at least one was not: a Russian word keeps its own letters."""
    if word.isascii():
        return word
    folded = word.translate(_LOOKALIKE)
    return folded if folded.isascii() else word


def _untagged(tags: str) -> str:
    return "".join(chr(ord(ch) - 0xE0000) for ch in tags)


def _readable(raw: bytes) -> str | None:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if len(text) < 6 or not all(ch.isprintable() or ch in "\n\r\t" for ch in text):
        return None
    letters = sum(unicodedata.category(ch)[0] in "LM" or ch == " " for ch in text)
    return text if letters >= 0.7 * len(text) else None


def _unbase64(run: str) -> str | None:
    body = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return _readable(base64.b64decode(body + "=" * (-len(body) % 4), validate=True))
    except (binascii.Error, ValueError):
        return None


def _unhex(run: str) -> str | None:
    try:
        return _readable(bytes.fromhex(re.sub(r"[ :]", "", run)))
    except ValueError:
        return None


def _unescape(match: re.Match[str]) -> str:
    text = re.sub(r"\\u([0-9A-Fa-f]{4})", lambda m: chr(int(m[1], 16)), match.group())
    text = re.sub(r"\\x([0-9A-Fa-f]{2})", lambda m: chr(int(m[1], 16)), text)
    return re.sub(r"\\([0-7]{3})", lambda m: chr(int(m[1], 8)), text)
