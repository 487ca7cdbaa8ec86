"""On which port something answers, and which one it gave up: "the API moved from 8080 to 9090", API 端口从 8080 改成 9090 了.

Numbers are what is compared; every other word has to be one such sentences are made of, so that a count, a year or another subject is not taken for a port.
"""

# Full-width characters are data here, and word lists read better as text.
# ruff: noqa: SIM905

from __future__ import annotations

import re
from dataclasses import dataclass

from pipelines.text.casual import spelled_out
from pipelines.text.reasons import without_reason
from pipelines.text.words import has_cjk


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """`thing` (words of the sentence) answers on `value`; `old` is over."""

    thing: str
    value: str
    old: str | None = None


def port_in(sentence: str) -> Port | None:
    """What a plain sentence says of one thing's port; None for anything else, two ports of two things included."""
    plain = without_reason(sentence)
    if has_cjk(plain):
        found = _read(plain.strip(" 。.!！"), _ZH_NUMBER, _ZH_THING, _ZH_OVER) if "端口" in plain else None
        return found if found is not None and set(_ZH_NUMBER.sub("", plain).replace(found.thing, "", 1)) <= _ZH_CHARS else None
    text = re.sub(r"\s*\(([^()]*)\)", r", \1", spelled_out(plain)).strip(" .!,")
    text = _TAIL.sub("", text)
    if not _ABOUT_PORTS.search(text):
        return None
    found = _read(text, _NUMBER, _THING, _OVER)
    if found is None:
        return None
    rest = _NUMBER.sub(" ", text).replace(found.thing, " ", 1)
    return found if all(word.casefold() in _WORDS for word in re.findall(r"[A-Za-z][\w'-]*", rest)) else None


def _read(text: str, number: re.Pattern[str], thing: re.Pattern[str], over: re.Pattern[str]) -> Port | None:
    numbers = list(number.finditer(text))
    named = thing.search(text)
    if not 1 <= len(numbers) <= 2 or named is None:
        return None
    gone = [bool(over.search(text[: n.start()]) or _GONE.match(text[n.end() :])) for n in numbers]
    values = [n["n"] for n in numbers]
    what = next(g for g in named.groups() if g).strip()
    if what.casefold() in _NO_THING or what.casefold().split()[0] in _NO_THING or len(what.split()) > 4:
        return None
    if len(values) == 1:
        return None if gone[0] else Port(thing=what, value=values[0])
    if sum(gone) != 1 or values[0] == values[1]:
        return None
    old, value = values if gone[0] else reversed(values)
    return Port(thing=what, value=value, old=old)


_NUMBER = re.compile(r"(?<![\w.])(?:port(?:\s+number)?\s+|(?:https?://)?localhost:|:)?(?P<n>\d{2,5})(?![\w.]\d|\w|%)")
_ABOUT_PORTS = re.compile(
    r"\bport\b|localhost:\d|\s:\d{4,5}\b|\b(?:listens?|listening|is|'s|runs?|sits|lives|moved|served|no longer|isn't)\b.{0,24}\b(?:on|at|to|from)\s+\d{4,5}\b",
    re.IGNORECASE,
)
_NP = r"([A-Za-z][\w-]*(?:\s(?!(?:port|ports|is|was|isn't|runs?|listens?|sits|lives|moved|used|now|no|on|at|from|to|for|uses?|served|has|have|had|serves?|answers?|got|can|could|will|be|it|it's|that|which)\b)[\w-]+){0,3})"
_BE = r"(?:(?:'s|\s+is|\s+was|\s+has|\s+isn't|\s+is\s+not)\b)?\s*(?:(?:now|no longer|currently|also|just|been|still)\s+)*"
_THING = re.compile(
    rf"\bport\s+(?:of|for)\s+(?:the\s+|our\s+|my\s+)?{_NP}"
    rf"|\b(?:moved?|shifted|put|bumped|changed|switched|serve|run|have(?!\s+\w+ed\b)|host|expose|set)\s+(?:the\s+|our\s+|my\s+|its\s+)?(?!port\b){_NP}(?:'s)?(?:\s+port)?(?:\s+over)?\s+(?:from|to|on|onto|at|over)\b"
    rf"|\bport\s+\d+\s+(?:is|for)\s+(?:the\s+|our\s+|my\s+)?{_NP}$"
    rf"|^(?:and\s+|but\s+)?(?!(?:we|we've|we're|i|i've|had|just|it|it's|finally)\b)(?:the\s+|our\s+|my\s+|this\s+)?{_NP}{_BE}(?:'s\s+)?(?:port\b(?=\s*(?:is|'s|=|:|now|was|changed|moved|used|isn't|number|no longer|\d))|on\b|at\b|listens?\b|listening\b|runs?\b|running\b|sits\b|lives\b|moved\b|used\b|served\b|uses?\b|reachable\b|answers\b|[=:])",
    re.IGNORECASE,
)
_OVER = re.compile(
    r"\b(?:from|not|no longer(?:\s+\w+){0,2}?|isn't|instead of|rather than|used to(?:\s+\w+){0,2}?|off|left)\s+(?:(?:on|at|the|port|uses?|be)\s+)*$", re.IGNORECASE
)  # fmt: skip
_GONE = re.compile(r"\s+(?:anymore\b|is (?:gone|taken|free)\b)")
_TAIL = re.compile(r",\s+(?:in case|if that|if you|not that)\b.*$", re.IGNORECASE)
_WORDS = frozenset(
    """port ports number the a our my we we've i i've had have has to from on at is it's it was been be now no longer not instead of rather than it runs run running listens listening listen shifted
    moved move changed change bumped switched put sits lives used isn't anymore but and over just finally serve served serves use uses using ended up with for went got that's here btw fyi ok set
    host expose after all over onto down these days nowadays currently still also locally again by the way 's s this reachable available answers bound binds in end""".split()
)
_NO_THING = frozenset("it this that he she they we i you there everything something one port the what which who for".split())

_ZH_NUMBER = re.compile(r"(?<![\d.])(?P<n>\d{2,5})(?![\d.])")
_ZH_THING = re.compile(
    r"(?:把|^|[，,])\s*(?:我们|咱们|之前|以前|现在|这个|的|\s)*([A-Za-z][\w]*(?:\s[A-Za-z]\w*)?|[^\W\da-zA-Z_]{2,8}?)\s*(?:服务)?\s*(?:的|现在|端口|在|跑|监听|从|由|用|挪|不|开|是|换|改|上|之前|以前)"
)
_ZH_OVER = re.compile(r"(?:从|由|不是|不再用|不用|不在|(?:以前|原来|之前|原先)(?:[A-Za-z ]{0,12})(?:的)?(?:端口)?(?:是|在|用)?)\s*$")
_ZH_CHARS = frozenset("端口的从由改换挪移搬到成为了现在是不再用以前原来之后跑监听我们咱把号上服务开已经就哈目先，,：:。. \tApi")
