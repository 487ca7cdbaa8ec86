"""The person's own reason: where it stands in a sentence, before what it explains or behind it, in English and Chinese."""

# Full-width characters are data here.

from __future__ import annotations

import re
from functools import lru_cache

from .openers import BACK_TO_WORK, without_opening
from .words import has_cjk

REASON_MAX = 160
_DATED = (
    r"(?!\d|then\b|ever\b|last\b|yesterday\b|today\b|this\b|(?:the )?(?:start|end|beginning|pandemic|summer|winter|spring|autumn|fall)\b|childhood\b|(?:i|we) (?:was|were) (?:an? )?(?:child|kid|baby|boy|girl|born|little|young|small|teenager|student|\d|in (?:school|college))\b|(?:early |late |mid-?)?(?:mon|tues|wednes|thurs|fri|satur|sun)day\b"
    r"|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b)"
)
"""What `since` is no time before."""
_BECAUSE = r"(?<![\w/])(?:because(?: of)?|b/c|bc|cuz|cus|coz|cos(?= [a-z'])|'cause|(?<=, )cause|due to the fact that|on account of the fact that|on account of|given that|seeing (?:as|that)|due to|the reason (?:is|being|was)(?: that)?|reason(?: is)?:)(?!\w)"
_WHO = r"(?:i|i'm|i've|we|we're|my|our|the|it|it's|they|there|he|she|that|this|no one|nobody|everyone|[a-z]+ing|[a-z]+)"
_HAPPENED = r"(?:is|are|was|were|has|have|had|got|gets|became|went|goes|kept|keeps|made|makes|costs?|hurts?)"
"""Verbs of a clause that tells what came about."""
_BEHIND = re.compile(
    rf"(?<![\s,;:.(–—-])[\s,;:.(–—-]*(?:\b(?:mainly|just|simply|partly) )?(?:{_BECAUSE}|(?<![\w'])since (?={_DATED}{_WHO} \w)|(?<=, )as (?=(?:i|i'm|we|my|our|the|it|it's|they|there|he|she)\b (?!\w+[.!]*$)|[a-z]+(?: [a-z]+)? {_HAPPENED}\b))\s*",
    re.IGNORECASE,
)
_NOW_FIRST = r"(?:i|i'm|im|i've|ive|we|we're|we've|my|our|now|it's|the|home|no|so)\b"
_BEFORE = re.compile(
    rf"^(?:because (?P<c>[^,;]{{4,110}}?) (?=(?:i|we|i'm|we're|i've|we've) (?=.*\bnow\b)(?:now|have|am|are|live|drink|fly|use|work)\b)|(?:because|bc|cos|given that|seeing (?:as|that)|due to the fact that|as(?= (?:i|my|our|the|it|we|they|there)\b)|since(?= {_DATED}))\s+(?P<a>[^,;]{{4,110}}),\s+(?={_NOW_FIRST})|(?P<b>(?!so\b)[^,;:]{{6,110}}?),?\s+(?:and )?(?:so|hence|which is why|that's why)\s+(?={_NOW_FIRST}))", re.IGNORECASE
)  # fmt: skip
_ZH_BEFORE = re.compile(r"^(?:因为|由于)(?P<a>[^，,。]{2,40})[，,]\s*(?:所以)?|^(?P<b>[^，,。]{2,30})[，,]\s*(?:所以|于是|因此)")
_ZH_BEHIND = re.compile(r"(?<![，,。;；(（\s])[，,。;；(（\s]*(?:主要是|主要|就是)?(?:因为|由于|是因为|原因是)(?P<r>[^。！？!?；;，,)）]+).*$")
_TAIL = re.compile(r"(?:, | - | – | — )(?P<r>(?:my|our|the|it|they|there|i|we|work|its) [^,;.!?]{4,100})[.!)]*$", re.IGNORECASE)

_AFTERTHOUGHT = re.compile(
    rf"(?<=\bnow), (?P<r>(?:(?:my|our|the|it|they|there) (?:[a-z']+ ){{0,3}}?|[a-z]+(?: [a-z]+)? )(?:{_HAPPENED[3:-1]}|told|asked|said|needs?|needed|wanted|wants|lets?|died|broke|closed|left)\b[^,;.!?\dA-Z]{{1,80}})[.!)]*$"
)
"""A clause that only follows what is so now, and so tells why ("I drink tea now, my doctor told me off")."""


@lru_cache(maxsize=4096)
def without_reason(sentence: str) -> str:
    """The sentence without the words that only say why: "the rent doubled, so I moved to Cork" and "I moved to Cork because …" are "I moved to Cork"."""
    told = without_opening(sentence)
    if has_cjk(sentence):
        before = _ZH_BEFORE.match(told)
        rest = told[before.end() :] if before and before.end() < len(told) else sentence
        return _ZH_BEHIND.sub("", rest)
    before = _BEFORE.match(told)
    rest = told[before.end() :] if before and before.end() < len(told) else sentence
    behind = _BEHIND.search(rest)
    if behind is None and (after := _AFTERTHOUGHT.search(rest)):
        return rest[: after.start()]
    return rest[: behind.start()].rstrip() if behind and behind.start() > 3 else rest


def told_first(sentence: str) -> str | None:
    """The clause before "so", which may be a fact of its own ("I live in Cork, so I fly Aer Lingus")."""
    before = (_ZH_BEFORE if has_cjk(sentence) else _BEFORE).match(without_opening(sentence))
    return before["b"] if before else None


def reason_in(text: str) -> str | None:
    """The person's own reason, as they gave it ("because …", "since …", "…, so I", 因为 …, …，所以); None when they gave none."""
    found = _marked(without_opening(text))
    if found is None:
        return None
    words = _LED.sub("", found.strip(" \t\n,，。.!！;；()（）"))
    return words if 3 <= len(words) <= REASON_MAX or (len(words) >= 2 and has_cjk(words)) else None


def reason_of_change(text: str) -> str | None:
    """As `reason_in`; else the clause that only follows what changed ("moved to Cork last month, the rent doubled")."""
    found = reason_in(text)
    if found is not None:
        return found
    tail = _TAIL.search(text)
    return tail["r"].strip() if tail else None


_LED = re.compile(r"^(?:(?:oh|and|so|btw|also|well|but|just so you know|fyi)\b[,:]?\s+)+", re.IGNORECASE)


def _marked(text: str) -> str | None:
    if has_cjk(text) and (found := _ZH_BEHIND.search(text) or _ZH_BEFORE.match(text)):
        return next(g for g in found.groups() if g is not None)
    before = _BEFORE.match(text)
    if before and (led := before.groupdict().get("c") or before["a"]):
        return led
    if behind := _BEHIND.search(text):
        return _clause(text[behind.end() :])
    if before:
        return before["b"]
    after = _AFTERTHOUGHT.search(text)
    return after["r"] if after else None


def _clause(text: str) -> str:
    """Up to where the sentence ends, or goes back to the work."""
    return BACK_TO_WORK.sub("", re.split(r"[!?。！？;]|\.(?:\s|$)|\)", text, maxsplit=1)[0])
