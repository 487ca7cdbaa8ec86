"""The English slot grammar: one short pattern a way of stating a value, first match wins; explicit changes ("from A to B") before plain statements."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache

from . import builders_en as build
from .builders_en import TIME, Match
from .slots import STATE_OF, TASKS, Slot

Builder = Callable[[Match], Slot | None]


def read_english(sentence: str) -> Slot | None:
    """The slot a cleaned English sentence fills (no lead-in, no final dot), or None."""
    for pattern, make in _grammar():
        match = pattern.search(sentence)
        if match and (slot := make(match)):
            return slot
    return None


def _no_longer(m: Match) -> Slot | None:
    """ "we no longer use A", "I don't drink coffee anymore": the plain statement, denied."""
    plain = " ".join(part for part in (m["np"].strip(), m["rest"].strip()) if part)
    slot = read_english(_third_person(plain))
    return replace(slot, negated=not slot.negated, update=True) if slot and slot.value else None


def _third_person(text: str) -> str:
    return re.sub(r"\s+", " ", text)


# --- the grammar, first match wins -------------------------------------------------------------------------------------------------------

_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_NP = r"(?P<np>[^,;:]+?)"
_WAY = r"(?:north|south)(?:-?(?:east|west))?|east|west|left|right"
_STANDS = r"(?:(?:is|are)(?:\s+(?:located|situated|placed))?|lies|sits|stands)"
_TASK = "|".join(TASKS.split())
_LINE = r"(?:\./)?[a-z][\w./-]*(?:\s+(?!(?:for|to|and|now|instead|from|which|because|in|on|when)\b|[-–—]\s)[\w./:@=-]+){0,6}"
_STATES = "|".join(sorted(STATE_OF, key=len, reverse=True))
_MOVE = r"moved?|moving|shifted|ported|switch(?:ed|ing)?|migrat(?:ed|ing|e)|chang(?:ed|ing|e)|upgraded?|bumped|bump|downgraded?|went|raised?|lowered?|increased?|decreased?|reduced?|updated?|extended?|shortened?|converted?|relocated|renamed?"
_REGION = (  # as clouds name theirs: eu-west-1, us-gov-east-1, europe-west4-b, northeurope
    r"[a-z]{2,12}-(?:(?:gov|iso[bf]?)-)?(?:north|south|east|west|central)(?:east|west)?-?\d{1,2}(?:-?[a-f])?"
    r"|(?:north|south|east|west|central){1,2}(?:us|europe|asia|india)\d?"
)
_CHANGED = r"set|moved|shifted|switched|changed|bumped|raised|lowered|increased|decreased|reduced|updated|extended|shortened"


_LANGUAGES = (
    r"(?:(?:british|american|simplified|traditional)\s+)?(?:english|german|french|spanish|italian|portuguese|dutch|russian|ukrainian|polish|czech|swedish|turkish|arabic|hindi"
    r"|japanese|korean|chinese|mandarin)"
)

_ROWS: tuple[tuple[str, Builder], ...] = (
    (rf"^(?P<subject>.*?)\s*\b(?P<verb>{_MOVE})\b(?P<object>.*?)\bfrom\s+(?P<old>.+?)\s+(?:over\s+)?(?:to|into)\s+(?P<new>.+)$", build.changed),
    (
        rf"^(?:we|I)(?:'ve|\s+have)?\s+(?:just\s+)?(?:{_CHANGED}|put)\s+(?P<np>.+?)\s+(?:over\s+)?to\s+(?P<value>.+)$",
        build.set_to,
    ),
    (rf"^{_NP}\s+(?:was|were|got|has been|have been)\s+(?:{_CHANGED})\s+to\s+(?P<value>.+)$", build.set_to),
    (r"^(?:we|I)\s+(?:now\s+)?(?:serve|run|host|expose|start|bind|publish|have)\s+(?P<np>[^,;]+?)\s+(?:on|at)\s+(?:the\s+)?port\s+(?P<value>\d+)$", build.port),
    (r"^(?P<old>\S+(?:\s\S+)?)\s+(?:was|is|got|has been|is now)\s+renamed\s+(?:to|as)\s+(?P<new>.+)$", build.renamed),
    (r"\brename\s+(?P<old>\S+)\s+(?:to|as|into)\s+(?P<new>\S+)$", build.renamed),
    (r"^(?:we(?:'ve| have)?\s+)?replaced?\s+(?P<old>.+?)\s+(?:with|by)\s+(?P<new>.+)$", build.dropped),
    (r"^(?P<old>.+?)\s+(?:was|is|has been|got)\s+replaced\s+(?:with|by)\s+(?P<new>.+)$", build.dropped),
    (
        r"^(?:scrap|drop|ditch|forget)\s+(?P<old>[^,;.]+)[,;.]\s*(?:we're|we are|let's|we)?\s*(?:going with|go with|using|use|switching to|moving to)\s+(?P<new>.+)$",
        build.dropped,
    ),
    (r"\b(?:use|using|run|go with|going with)\s+(?P<new>.+?),?\s+(?:instead of|rather than|and not|not)\s+(?P<old>.+)$", build.instead),
    (
        rf"^{_NP}(?:\s+{_STANDS}|\s*[:=→])\s+(?:(?:to|on|in)\s+the\s+)?(?P<value>{_WAY})(?:\s+side)?\s+of\s+(?P<of>[^,;]+?)(?:,\s*(?:and\s+)?not\s+(?:to\s+the\s+)?(?P<old>{_WAY})(?:\s+of\s+it)?)?$",
        build.position,
    ),
    (
        rf"^{_NP}\s+(?:is not|isn't)\s+(?:to\s+the\s+)?(?P<old>{_WAY})\s+of\s+(?P<of>[^,;]+?)[,;]\s*(?:but\s+)?(?:it\s+is\s+|it's\s+|it\s+lies\s+)?(?:to\s+the\s+)?(?P<value>{_WAY})(?:\s+of\s+it)?$",
        build.position,
    ),
    (rf"^{_NP}\s+(?:is|are)\s+(?:now\s+)?(?P<new>[^,;]+?),?\s+(?:and\s+)?(?:not|instead of|no longer)\s+(?P<old>.+)$", build.corrected),
    (rf"^{_NP}\s+(?:isn't|is not|aren't|are not)\s+(?P<old>[^,;]+?),?\s+(?:but|it's|it is|they're|they are)\s+(?P<new>.+)$", build.corrected),
    (rf"^{_NP}\s+used to be\s+(?P<old>[^,;]+?),?\s+(?:but\s+)?(?:now\s+)?(?:it's|it is|is|they're|they are)?\s*(?:now\s+)(?P<new>.+)$", build.corrected),
    (
        r"^(?P<np>I|we|he|she|[A-Z]\w+)\s+used to live in\s+(?P<old>[^,;]+?),?\s+(?:but|and)\s+(?:now\s+)?(?:(?:I|we|he|she)\s+)?(?:now\s+)?(?:lives?|am|is)\s+in\s+(?P<new>.+)$",
        build.lived,
    ),
    (r"^(?P<np>.*?)\s*\b(?:no longer)\s+(?P<rest>.+)$", _no_longer),
    (r"^(?P<np>.*?)\s+(?:don't|do not|doesn't|does not|isn't|aren't)\s+(?P<rest>.+?)\s+(?:anymore|any more)$", _no_longer),
    (
        rf"^{_NP}\s+(?:is\s+|are\s+|was\s+)?(?:listen(?:s|ing)?|runs?|running|serve[sd]?|exposed|binds?|bound|uses?)\s+(?:on\s+|to\s+|at\s+)?(?:the\s+)?port\s+(?P<value>\d+)$",
        build.port,
    ),
    (
        rf"^{_NP}\s+(?:(?:is|are)\s+(?:now\s+)?(?:(?:available|reachable|up|exposed|listening|served)\s+)?|listens?\s+)on\s+(?:port\s+(?P<value>\d+)|(?P<bare>\d{{4,5}}))$",
        build.port,
    ),
    (r"^(?P<np>)(?P<verb>(?:just\s+|recently\s+)?(?:moved|relocated))\s+to\s+(?P<value>.+)$", build.home),
    (
        r"^(?P<np>.+?)(?:'m|'re|'s| am| is| are)?\s+(?P<verb>live|lives|living|based|reside|resides|moved|moving|relocated|just moved|recently moved)\s+(?:in|to|over to)\s+(?P<value>.+)$",
        build.home,
    ),
    (
        r"^(?P<np>I|we|he|she|they|my [\w ]+?|[A-Z]\w+)(?:'m|'s| am| is)?\s+(?P<verb>works?|working|joined|joining)\s+(?:(?:at|for)\s+)?(?P<value>.+)$",
        build.employer,
    ),
    (r"^(?P<np>.+?)\s+(?:was|were)\s+born\s+(?:on|in)\s+(?P<value>.+)$", build.born),
    (r"^(?P<np>.*?)\s*(?:\b(?:am|is|are|got)|'m|'s|'re)?\s*(?P<not>not\s+)?allergic\s+to\s+(?P<value>.+)$", build.allergy),
    (
        r"^(?P<np>.*?)\s*(?P<not>(?:don't|do not|doesn't|does not)\s+)?(?:really\s+|usually\s+)?\b(?P<verb>prefers?|likes?|loves?|enjoys?)\s+(?P<value>.+?)\s+(?:over|better than|more than|rather than|instead of|to)\s+(?P<against>.+)$",
        build.taste,
    ),
    (
        r"^(?P<np>.*?)\s*(?P<not>(?:don't|do not|doesn't|does not)\s+)?(?:really\s+|also\s+|usually\s+)?\b(?P<verb>prefers?|likes?|loves?|enjoys?|hates?|dislikes?|detests?|can't stand)\s+(?P<value>.+)$",
        build.taste,
    ),
    (r"^(?P<value>.+?)\s+(?:owns|maintains|is responsible for|is in charge of|is the owner of)\s+(?P<thing>.+)$", build.owner),
    (r"^(?P<thing>.+?)\s+(?:is|are)\s+(?:owned|maintained)\s+by\s+(?P<value>.+)$", build.owner),
    (
        rf"^(?P<event>[\w -]+?)\s+(?:(?:happens?|is|are|takes? place|runs?|occurs?)\s+)?(?:every|each|on)\s+(?P<value>(?:(?:other|second|first|last)\s+)?{_DAY})$",
        build.schedule,
    ),
    (rf"^{_NP}\s+(?:is|are)\s+(?:planned|scheduled|due|set|slated|expected)\s+(?:for|on|by)?\s*(?P<value>.+)$", build.planned),
    (
        rf"^{_NP}\s+(?:has\s+|have\s+|was\s+|were\s+|got\s+)?(?:been\s+)?(?P<moved>slipped|moved|pushed|postponed|delayed|rescheduled)\s+(?:back\s+)?to\s+(?P<value>.+)$",
        build.planned,
    ),
    (rf"^{_NP}\s+(?:is|are)\s+on\s+(?P<value>.+)$", build.on_day),
    (rf"^{_NP}\s+defaults?\s+to\s+(?P<value>.+)$", build.default),
    (rf"^{_NP}\s+(?:is|are)\s+(?P<not>not\s+)?(?:turned\s+|switched\s+|now\s+)?(?P<value>{_STATES})(?:\s+(?:in|on|for|by)\s+[\w ]+)?$", build.state),
    (
        rf"^{_NP}(?P<not>\s+(?:does not|doesn't|do not|don't))?\s+(?:runs?|lives?|sits?|(?:is|are)(?:\s+(?:running|hosted|deployed|located))?)\s+in\s+(?:the\s+)?"
        rf"(?:\w+\s+region\s+)?(?P<value>{_REGION})(?:\s+region)?(?:,\s*(?:and\s+)?not\s+(?:in\s+)?(?P<old>{_REGION}))?$",
        build.region,
    ),
    (
        rf"^{_NP}\s+(?:lives?|is|are|(?:is|are)\s+(?:served|mounted|reachable|available)|is located|are located|is stored|are stored|is kept|are kept|goes?|belongs?|stays?|resides?)\s+(?:in|under|at|inside)\s+(?P<value>.+)$",
        build.placed,
    ),
    (
        rf"^(?P<not>(?:never|don't|do not)\s+)?(?:always\s+)?(?P<verb>write|answer|reply|respond|comment|document|explain|keep)\b\s*(?P<np>[^,;]*?)\s*\bin\s+(?P<value>{_LANGUAGES})$",
        build.language,
    ),
    (
        rf"^(?P<verb>){_NP}\s+(?:must|should|has to|have to|needs? to|is to|are to)\s+(?P<not>not\s+)?(?:always\s+)?be\s+(?:written\s+)?in\s+(?P<value>{_LANGUAGES})$",
        build.language,
    ),
    (r"^(?:put|keep|place|store|save)\s+(?P<np>.+?)\s+(?:in|under|at|inside)\s+(?P<value>.+)$", build.placed),
    (rf"^{_NP}\s+(?:runs?|is hosted|is deployed|are hosted|are deployed|is running)\s+on\s+(?P<value>.+)$", build.platform),
    (r"^(?:we\s+)?(?:(?:decided to |'re going to |will )?(?:go|going) with|chose|picked|went with|settled on)(?P<np>)(?P<not>)\s+(?P<value>.+)$", build.tool),
    (r"^(?P<np>)(?P<not>don't |do not |never |stop )?(?:always\s+)?(?:uses?|using)\s+(?P<value>.+)$", build.tool),
    (r"^(?P<np>[^,;]+?)\s+(?P<not>(?:don't|do not|doesn't|does not)\s+)?(?:uses?|is using|are using|am using)\s+(?P<value>.+)$", build.tool),
    (r"^(?:we|it|the \w+)\s+(?P<not>(?:don't|do not|doesn't|does not)\s+)?supports?\s+(?P<value>.+)$", build.supports),
    (r"^(?P<value>.+?)\s+(?:is|are)\s+(?P<not>not\s+)?supported$", build.supports),
    (rf"^{_NP}\s+(?:is|are)\s+(?:called|named)\s+(?P<value>.+)$", build.named),
    (rf"^{_NP}\s+(?:is|am|are|'m)\s+(?P<value>\d{{1,3}})(?:\s+years\s+old)?$(?<=old)", build.age),
    (
        rf"^{_NP}\s+(?P<verb>(?:runs?|starts?|happens?|takes? place|is|are|begins?)\s+(?:now\s+)?)?(?P<often>(?:daily|nightly|weekly|every (?:day|night))\s+)?at\s+(?P<value>{TIME.pattern})(?:\s+(?:daily|nightly|every (?:day|night)|each (?:day|night)))?$",
        build.daily,
    ),
    (rf"^(?P<task>{_TASK})(?:\s+(?P<what>[\w -]{{1,24}}?))?\s*(?:command|script)?\s*[:=]\s*(?P<value>{_LINE})(?:\s+(?:for|to|[-–—(])\s*.*)?$", build.command),
    (
        rf"^(?:we|I|you)\s+(?:now\s+|always\s+)?(?P<task>{_TASK})(?:\s+(?P<what>[\w -]{{1,24}}?))?\s+(?:with|via|using|through|by running)\s+(?P<value>{_LINE})(?:\s+(?:for|to)\s.*)?$",
        build.command,
    ),
    (rf"^to\s+(?P<task>{_TASK})(?:\s+(?P<what>[\w -]{{1,24}}?))?,?\s+(?:we |you )?(?:now )?(?:run|use|call|it's|it is)\s+(?P<value>{_LINE})$", build.command),
    (rf"^(?:the\s+)?(?P<task>{_TASK})(?:\s+(?P<what>[\w -]{{1,24}}?))?\s+command\s+is\s+(?:now\s+)?(?P<value>{_LINE})$", build.command),
    (r"^(?P<np>[\w .'/-]{2,40}?)\s+(?P<value>v?\d[\w.]*(?:\s(?:s|ms|min|minutes?|seconds?|hours?|days?))?)$", build.bare),
    (r"^(?P<np>[\w .'/-]{1,40}?)\s*[:=]\s+(?P<value>[^\s].{0,60})$", build.colon),
    (r"^(?P<np>[^,;:]+?)\s+(?:is|are|am|equals|was set to|is set to|ends in)\s+(?P<not>not\s+)?(?:now\s+|set to\s+)?(?P<value>.+)$", build.stated),
    (r"^(?P<np>I|it|he|she|we|they|that|this)(?:'s|'re|'m)\s+(?P<not>not\s+)?(?:now\s+)?(?P<value>.+)$", build.stated),
)


@cache
def _grammar() -> tuple[tuple[re.Pattern[str], Builder], ...]:
    """Compiled on first use: most commands read no sentence."""
    return tuple((re.compile(source, re.IGNORECASE), make) for source, make in _ROWS)
