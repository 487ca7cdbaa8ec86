"""Gate 3: who said it decides what it may become."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pipelines.model import Claim, GateResult, Kind, Origin, Outcome, Turn
from pipelines.text.momentary import momentary
from pipelines.text.mood import Mood, mood_of, standing_mark

from .evidence import EVIDENCE, STRENGTH, Located, located, result

SAID_ONCE = "said_once"
"""Missed by a person's own words that nothing marks as standing: a second session says them again, or they stay a draft (`notes.promotion`)."""
ONLY_NOW = "asked_for_this_once"
"""Missed by what is asked of this moment of the work ("rename it now"): nobody means it for good, however often it is said."""
_OWN_WORDS = frozenset({Kind.RULE, Kind.PREFERENCE})
# A goal, a plan, a hold or a decision is a person's to have; a tool's output or a page that states one states somebody's.
_PERSONAL = frozenset({Kind.GOAL, Kind.PLAN, Kind.HOLD, Kind.DECISION})
_AS_REPORTED = re.compile(
    r"(?<![A-Za-z])(?:reported(?:ly)?|reports?|says?|said|states?|stated|according to|claims?|claimed|writes?|wrote|lists?"
    r"|mentions?|per)(?![A-Za-z])|据|称|写道|报道|说",
    re.I,
)


def origin_gate(claim: Claim, turns: Mapping[str, Turn]) -> GateResult:
    """What the origins of the quotes allow for this kind; the weakest origin counts.

    One quote that is never evidence rejects the claim. A rule or preference needs the user's own words and passes when they mark it as standing; said once
    it is a draft, and asked of this moment it is nothing. External text gives facts, passed only when worded as reported. The assistant gives drafts.
    """
    found = located(claim, turns)
    origins = {one.origin for one in found}
    if not found or len(found) < len(claim.quotes):
        return result("origin", Outcome.REJECT, "origin_unknown")
    weakest = max(origins, key=STRENGTH.index)
    if weakest not in EVIDENCE:
        return result("origin", Outcome.REJECT, f"origin_{weakest}")
    if claim.kind in _OWN_WORDS:
        return _own_words(claim, found, origins)
    if claim.kind in _PERSONAL:
        return _personal(origins)
    return _stated(claim, weakest)


def _own_words(claim: Claim, found: Sequence[Located], origins: set[Origin]) -> GateResult:
    if Origin.USER not in origins:
        return result("origin", Outcome.REJECT, "not_users_words")
    if origins != {Origin.USER}:
        return result("origin", Outcome.DRAFT, "not_users_words_alone")
    if claim.standing_mark and any(_marked(one) for one in found):
        return result("origin")
    if momentary(claim.statement) and not _OF_THE_SPEAKER.search(claim.statement):
        return result("origin", Outcome.REJECT, ONLY_NOW)
    return result("origin", Outcome.DRAFT, SAID_ONCE)


_OF_THE_SPEAKER = re.compile(r"(?<!\w)(?:i|i['’]\w+|my|we|our)(?!\w)|(?<![给給帮幫跟让讓为為对對向替])(?<!告[诉訴])我", re.IGNORECASE)
"""What people say of their own tastes: "I drink tea now" is no request, 帮我 (for me) is one."""


def _marked(one: Located) -> bool:
    """Whether the words around the quote mark a standing rule: its sentence, an explicit memory, or the line that opens its list ("Always:")."""
    if one.turn.memory or standing_mark(one.context):
        return True
    for line in reversed(one.turn.text[: one.quote.start].splitlines()[:-1]):
        if line.rstrip().endswith((":", "：")):
            return standing_mark(line)
        if not re.match(r"\s*(?:[-*+•]|\d+[.)])\s", line):
            return False
    return False


def _personal(origins: set[Origin]) -> GateResult:
    if Origin.USER not in origins:
        return result("origin", Outcome.REJECT, "not_users_words")
    return result("origin") if origins == {Origin.USER} else result("origin", Outcome.DRAFT, "not_users_words_alone")


def _stated(claim: Claim, weakest: Origin) -> GateResult:
    """Facts, procedures, incidents, and insights, which are concluded from any of them."""
    if weakest is Origin.USER:
        return result("origin")
    if weakest is Origin.TOOL:
        return result("origin") if claim.kind in {Kind.FACT, Kind.PROCEDURE, Kind.INSIGHT} else result("origin", Outcome.DRAFT, "tool_gives_facts")
    if claim.kind is Kind.PROCEDURE:
        return result("origin", Outcome.REJECT, "no_result_shown")
    if weakest is Origin.EXTERNAL and claim.kind is Kind.FACT:
        worded = mood_of(claim.statement) is Mood.REPORTED or _AS_REPORTED.search(claim.statement)
        return result("origin") if worded else result("origin", Outcome.DRAFT, "not_worded_as_reported")
    return result("origin", Outcome.DRAFT, f"{weakest}_only")
