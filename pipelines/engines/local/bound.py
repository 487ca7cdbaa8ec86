"""Versions in what people and programs say: what a sentence is bound to ("in app 1.3"), and which version of a thing is there by now."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipelines.engines.local.runs import line_of, program_of
from pipelines.model import Claim, Kind, Origin, Quote, Turn
from pipelines.notes.bounds import SEEN

_VERSION = r"v?\d+(?:\.\d+){0,3}(?:-[\w.]+)?"
_DOTTED = r"v?\d+(?:\.\d+){1,3}(?:-[\w.]+)?"
_NAME = r"(?:the\s+)?[A-Za-z][\w.+-]*[A-Za-z+](?:\s(?:version|server|client|api|app|cli|sdk))?"
_NO_PRODUCT = re.compile(
    r"(?:the )?(?:section|chapter|page|figure|fig|table|step|part|paragraph|article|clause|item|point|line|row|port|about|around|only|than|to|by|at|least|most|over"
    r"|under|after|before|between|ip|address|every|of|in|on|with|for|us|eu|may|june|july|march|april|august|january|february|september|october|november|december)",
    re.IGNORECASE,
)
_UNIT = r"(?!\s*(?:%|percent|ms\b|s\b|seconds?|minutes?|hours?|days?|weeks?|months?|years?|times|x\b|[kmgt]i?b\b|cm\b|mm\b|km\b|kg\b|usd|eur|dollars?|euros?|points?))"
_BOUND = re.compile(
    rf"\b(?:in|on|with|for|of|under|against)\s+(?P<product>{_NAME})\s+(?P<version>{_DOTTED})(?![\w.]*\d){_UNIT}(?P<end>\s*,\s*)?", re.IGNORECASE
)
_BOUND_ZH = re.compile(rf"(?:在\s*)?(?P<product>[A-Za-z][\w.+-]*)\s*(?P<version>{_DOTTED})\s*(?:版本?)?(?:里面?|中|上|下)(?P<end>[，,]\s*)?")
_OPEN_END = re.compile(r"\s*(?:and|or) (?:newer|later|above|up|older|below)|\+|以上|起", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Binding:
    """What a sentence is bound to, as written ("app 1.3"), and the sentence without it."""

    to: str
    rest: str


def binding_of(body: str) -> Binding | None:
    """The one version of a thing a sentence is bound to; None for none, several, or an open range ("1.3 and newer")."""
    found = [m for pattern in (_BOUND, _BOUND_ZH) for m in pattern.finditer(body) if not _NO_PRODUCT.fullmatch(m["product"])]
    if len(found) != 1 or _OPEN_END.match(body, found[0].end()):
        return None
    match = found[0]
    before, after = body[: match.start()].rstrip(), body[match.end() :].lstrip()
    rest = f"{before} {after}" if before and after[:1].isalnum() else before + after
    product = re.sub(r"^the\s+", "", match["product"], flags=re.IGNORECASE)
    return Binding(f"{product} {match['version']}", rest[:1].upper() + rest[1:]) if rest.strip(" .。") else None


_THERE_NOW = re.compile(
    rf"^(?:(?:so|ok|also|and|note:?|fyi,?|today|yesterday|now)\s+)*(?:"
    rf"(?:we|I)(?:'ve| have| just|'re| are)*\s+(?:just\s+|now\s+|already\s+)?(?:upgraded|updated|moved|migrated|bumped|switched|deployed|installed|released|shipped|on|running|using)\s+(?:to\s+|on\s+)?"
    rf"(?P<a>{_NAME})\s+(?:(?:from\s+{_VERSION}\s+)?to\s+)?(?P<av>{_VERSION})(?:\s+(?:now|today|yesterday|already|last \w+|in \w+))?"
    rf"|(?P<b>{_NAME})\s+(?:version\s+)?(?P<bv>{_DOTTED})\s+(?:is|was|has been|got)\s+(?:now\s+|just\s+|finally\s+)?(?:out|released|live|installed|deployed|available|there|in production|rolled out|shipped)(?:\s+(?:now|today|yesterday|everywhere))?"
    rf"|(?P<c>{_NAME})\s+(?:is|was|has been|got)\s+(?:now\s+|just\s+)?(?:at|on|upgraded to|updated to|bumped to)\s+(?:version\s+)?(?P<cv>{_VERSION})(?:\s+(?:now|today|yesterday))?"
    rf")\s*[.!]?$",
    re.IGNORECASE,
)
_THERE_NOW_ZH = re.compile(
    rf"^(?:我们)?(?:已经?|刚|今天|昨天)*(?:把\s*)?(?P<a>[A-Za-z][\w.+-]*)\s*(?:已经?|刚|今天|昨天)*(?:升级?到了?|更新到了?|升到了?)\s*(?P<av>{_VERSION})(?:\s*版本?)?(?:了)?[。！]?$"
)


def version_there(body: str) -> tuple[str, str] | None:
    """(thing, version) when a sentence says which version of a thing is there by now ("we upgraded the app to 1.4")."""
    match = _THERE_NOW.match(body) or _THERE_NOW_ZH.match(body)
    if match is None:
        return None
    thing, version = next((match[k], match[f"{k}v"]) for k in ("a", "b", "c") if k in match.re.groupindex and match[k])
    thing = re.sub(r"^the\s+|\s+version$", "", thing, flags=re.IGNORECASE)
    return None if _NO_PRODUCT.fullmatch(thing) or thing.casefold() in {"it", "this", "that", "version"} else (thing, version)


_ASKS = frozenset({"--version", "-v", "-V", "version"})
_TELLS = re.compile(rf"^(?:[A-Za-z][\w.+-]*\s+)?(?:version\s+|CLI\s+)?(?P<version>{_DOTTED})(?=\s|$|[,;)])", re.IGNORECASE | re.MULTILINE)
TOLD_MAX = 400
"""Characters of an output that tells a version and little else."""


def versions_shown(turns: Sequence[Turn]) -> Iterator[Claim]:
    """Which version of a program its own `--version` shows, the last time it was asked; such a claim is no note (`notes.bounds`)."""
    calls = {t.call.call_id: t for t in turns if t.call is not None and t.call.command and not t.sidechain}
    last: dict[str, Claim] = {}
    for turn in turns:
        call = calls.get(turn.result.call_id) if turn.result is not None else None
        if call is not None and turn.origin is Origin.TOOL and (claim := _shown(call, turn)) is not None:
            last[claim.subject] = claim
    yield from last.values()


def _shown(call: Turn, turn: Turn) -> Claim | None:
    line = line_of(call)
    if len(line) != 1 or len(line[0].words) != 2 or line[0].words[1] not in _ASKS or turn.result is None or turn.result.failed or len(turn.text) > TOLD_MAX:
        return None
    at, found = call.text.find(line[0].bare), _TELLS.search(turn.text)
    if at < 0 or found is None:
        return None
    command = Quote(turn=call.uid, start=at, end=at + len(line[0].bare), text=line[0].bare)
    told = Quote(turn=turn.uid, start=found.start(), end=found.end(), text=found[0])
    return Claim(
        kind=Kind.FACT, subject=program_of(line[0].words), attribute=SEEN, statement=found[0], value=found["version"], cardinality="single", quotes=(command, told),
    )  # fmt: skip
