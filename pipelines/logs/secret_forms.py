"""Secrets in other clothes, one record line at a time: in the query of an address, in parts, wrapped in base64.

As in `secret_values` the scanner says where to look, spans are those of the decoded line, and the value has to look like a secret where the words
around it are ordinary.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from pipelines.logs.secret_values import BACKSLASH, Span, decoded, foreign_cues, placeholder, random_like, values_at

WRAPPED_MIN: Final = 16
WRAPPED_MAX: Final = 16_384
"""Bytes of a base64 word that are unwrapped, at least and at most: settings files fit, pictures are none of our business."""
_SIGNATURE_MIN, _PART_MIN, _LETTERS_MIN = 32, 10, 20
_LETTER_SWITCHES = re.compile(rb"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[a-z])")
_SWITCHES = re.compile(rb"(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[a-z])")
_UUID = re.compile(rb"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_TOKEN = re.compile(rb"[\w~+/.-]+={0,2}")


def forms_at(line: bytes, cue: int) -> Iterator[Span]:
    """Spans of secrets that belong to the cue at a place of a decoded line."""
    yield from _in_query(line, cue)
    yield from _in_pieces(line, cue)
    yield from _in_part(line, cue)
    yield from _in_base64(line, cue)


def token_like(value: bytes) -> bool:
    """A machine's token: letters and digits mixed, or letters alone whose case changes too often for a name."""
    return random_like(value) or _letters_like(value)


def _letters_like(value: bytes) -> bool:
    return len(value) >= _LETTERS_MIN and value.isalpha() and len(_LETTER_SWITCHES.findall(value)) * 4 >= len(value)


def _part_like(value: bytes) -> bool:
    """A piece of a token: shorter than a whole one may be, so the more mixed."""
    return len(value) >= _PART_MIN and _TOKEN.fullmatch(value) is not None and len(_SWITCHES.findall(value)) * 4 >= len(value) and not placeholder(value)


# --- in the query of an address ----------------------------------------------------------------------------------------------------------

_QUERY = re.compile(
    rb"(?i)(?:(?P<password>passw(?:or)?d|passw?|pwd)|(?P<signature>(?:x-(?:amz|goog)-)?sig(?:nature)?)|(?:token|secret|credential|api[_-]?key|key))"
    rb"=(?P<value>[^\s&#\"'`\x01\x02\\<>()\[\]]{4,2048})"
)
_BEFORE_QUERY = re.compile(rb"[?&#;][\w.-]{0,24}$")


def _in_query(line: bytes, cue: int) -> Iterator[Span]:
    """`?token=…&password=…`: an address that is pasted anywhere hands it on."""
    found = _QUERY.match(line, cue)
    if found is None or _BEFORE_QUERY.search(line, max(0, cue - 32), cue) is None:
        return
    value = found["value"].rstrip(b".,:;?!")
    plain = value.replace(b"%3D", b"").replace(b"%2B", b"").replace(b"%2F", b"")
    if _UUID.fullmatch(value) or placeholder(value) or value[:1] in b"${%":
        return
    if found["password"] is not None:
        hidden = value.lower() not in (b"password", b"pass", b"true", b"false", b"null")
    else:
        hidden = len(plain) >= _SIGNATURE_MIN and plain.isalnum() if found["signature"] is not None else token_like(plain)
    if hidden:
        yield found.start("value"), found.start("value") + len(value)


# --- in parts ----------------------------------------------------------------------------------------------------------------------------

_HEAD = re.compile(rb"(?:sk-(?:ant-|proj-|svcacct-|admin-)|gh[pousr]_|github_pat_|xox[abceoprs]-|glpat-|sk_live_|rk_live_|npm_|hf_)[\w-]{0,200}")
_JOINED = re.compile(rb"[\x01\x02]*[\"'`][ \t]{0,8}[+.&]?[ \t]{0,8}[\x01\x02]*[\"'`](?P<piece>[\w-]{4,200})")
_WRAPPED = re.compile(rb"(?:\x01\x01)?[ \t]*\r?\n[ \t]{0,40}(?P<piece>[\w-]{8,200})(?=[\s\"'`\x01\x02\\]|$)")


def _in_pieces(line: bytes, cue: int) -> Iterator[Span]:
    """A key whose string literals are joined, or that a terminal broke over lines: its pieces, the head with them."""
    head = _HEAD.match(line, cue)
    if head is None or placeholder(head[0]):
        return
    at, pieces = head.end(), 0
    while (joined := _JOINED.match(line, at)) or ((joined := _WRAPPED.match(line, at)) and _part_like(joined["piece"])):
        if placeholder(joined["piece"]):
            break
        yield joined.span("piece")
        at, pieces = joined.end(), pieces + 1
    if pieces:
        yield head.span()


_PART = re.compile(
    rb"(?i)(?:(?:first|second|other|last|1st|2nd)[ \t]+(?:half|part|piece)(?:[ \t]+of[ \t]+[\w \t]{1,40}?)?"
    rb"|rest[ \t]+of[ \t]+(?:the|my|that)[ \t]+[\w \t]{0,24}?(?:key|token|password|secret))"
    rb"(?:[ \t]+(?:is|was))?[ \t]*:?[ \t]+[\x02]?[\"'`]?(?P<value>[\w~+/=.-]{10,512})"
)
_PART_CJK = re.compile(
    rb"(?:\xe5\x8d\x8a|(?:\\|\x01+)u534a)(?:[\x80-\xff]|(?:\\|\x01+)u[0-9a-fA-F]{4}|[ \t:=]){0,24}[\x02]?[\"'`]?(?P<value>[A-Za-z0-9~+/=._-]{10,512})"
)


def _in_part(line: bytes, cue: int) -> Iterator[Span]:
    """ "The second half: …", in another turn than the first one: nothing but what it looks like says that it is half a secret."""
    for pattern in (_PART, _PART_CJK):
        found = pattern.match(line, cue)
        if found is not None and _part_like(value := found["value"].rstrip(b".")):
            yield found.start("value"), found.start("value") + len(value)


# --- wrapped in base64 -------------------------------------------------------------------------------------------------------------------

_RUN = re.compile(rb"[A-Za-z0-9+/_=-]{%d,}" % WRAPPED_MIN)
_ECHOED = re.compile(
    rb"(?i)echo[ \t]+(?:-n[ \t]+)?[\x02]?[\"']?(?P<value>[A-Za-z0-9+/]{8,1024}={0,2})[\x02]?[\"']?[ \t]*\|[ \t]*base64[ \t]+(?:-d|-D|--decode)"
)
_WORD = re.compile(rb"(?=[!-~]*\d)(?=[!-~]*[A-Za-z])[!-~]{6,128}\s?")
_CUES = re.compile(rb"(?i)passw(?:or)?d|passphrase|passcode|pwd|secret|token|(?:api|access|private)[ _-]?key|credential|-----BEGIN|mysql|curl")
_URI = re.compile(rb"(?i)[a-z][a-z0-9+.-]{1,24}://[^\s:/@]{0,128}:(?P<password>[^\s@/]{3,256})@")


def _in_base64(line: bytes, cue: int) -> Iterator[Span]:
    """A word whose decoded text holds a secret in plain words; a single word that a command on the same line decodes."""
    echoed = _ECHOED.match(line, cue)
    if echoed is not None:
        if _WORD.fullmatch(_unwrapped(echoed["value"])):
            yield echoed.span("value")
        return
    if line[cue : cue + 1] in b"-\\" or line[cue : cue + 1] == BACKSLASH:
        return
    if _RUN.search(line, max(0, cue - WRAPPED_MIN + 1), cue + WRAPPED_MIN) is None:
        return  # whatever word the cue is in, it is too short: most are, and to find the words of a long line takes time
    words = _wrapped_words(line)
    n = bisect_right(words, (cue, len(line))) - 1
    if n >= 0 and words[n][0] <= cue < words[n][1] and _wraps_secret(line[slice(*words[n])]):
        yield words[n]


@lru_cache(maxsize=2)
def _wrapped_words(line: bytes) -> list[Span]:
    """Where words stand that may be base64; remembered of the last lines, which are asked about at each of their cues."""
    return [found.span() for found in _RUN.finditer(line) if len(found[0]) <= WRAPPED_MAX]


@lru_cache(maxsize=16)
def _wraps_secret(word: bytes) -> bool:
    """Remembered of the last words: each is asked about at all of its cues."""
    return holds_secret(_unwrapped(word))


def _unwrapped(word: bytes) -> bytes:
    """What a base64 word says; empty when it is none, or says no text."""
    body = word.rstrip(b"=").replace(b"-", b"+").replace(b"_", b"/")
    try:
        text = b64decode(body + b"=" * (-len(body) % 4), validate=True)
        text.decode("utf-8")
    except (Error, ValueError):
        return b""
    return text


def holds_secret(text: bytes) -> bool:
    """Whether a text holds a secret value behind a word for one."""
    if _URI.search(text):
        return True
    plain = decoded(text)
    cues = [found.start() for found in _CUES.finditer(plain)] + foreign_cues(text)
    return any(True for cue in cues for _ in values_at(plain, cue))
