"""What a person says to be over: a hold released, a goal reached or given up."""

from __future__ import annotations

import re

from pipelines.model import Kind

WHAT_WORDS_MAX = 8
_LEAD = r"^(?:(?:ok(?:ay)?|so|now|great|good|fine|alright|and|all right)[,.!:]?\s+)*"
_LATELY = r"(?:(?:finally|just|now|already|fully|all|officially)\s+)*"
_IS = rf"\s+(?:is|are|was|were|has been|have been)\s+{_LATELY}"
_THE = r"(?:(?:the|our|my)\s+)?"
_ENDINGS = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        (Kind.HOLD, rf"{_LEAD}(?:you|we|everyone|everybody)\s+(?:can|may|are (?:free|allowed|cleared) to)\s+(?:now\s+)?(?P<what>[^,;]+?)\s+(?:now|again)(?:\s+now)?[.!]?$"),
        (Kind.HOLD, rf"{_LEAD}go ahead (?:and|with)\s+(?P<what>[^,;]+?)(?:\s+now)?[.!]?$"),
        (Kind.HOLD, rf"{_LEAD}{_THE}(?P<what>[^,;]*?(?:hold|freeze|ban|embargo))(?:\s+on\s+[^,;]+?)?{_IS}(?:over|lifted|released|off|ended)\b[^,;]{{0,30}}$"),
        (Kind.GOAL, rf"{_LEAD}{_THE}(?P<what>[^,;]+?){_IS}(?:done|finished|completed?|shipped|launched|live|reached)(?:\s+(?:now|today|yesterday))?[.!]?$"),
        (Kind.GOAL, rf"{_LEAD}(?:we|I)(?:'ve|\s+have)?\s+{_LATELY}(?:finished|completed|reached)\s+(?P<what>[^,;]+?)(?:\s+(?:now|today|yesterday))?[.!]?$"),
        (Kind.GOAL, rf"{_LEAD}(?:we|I)(?:'ve|\s+have)?\s+{_LATELY}(?P<what>(?:shipped|released|launched|migrated|ported|replaced|published|delivered)\s+[^,;]+?)(?:\s+(?:now|today|yesterday))?[.!]?$"),
        (Kind.GOAL, rf"{_LEAD}(?:we|I)(?:'ve|\s+have)?\s+{_LATELY}(?:cancell?ed|dropped|scrapped|abandoned|gave up(?: on)?|given up(?: on)?|called off|shelved)\s+(?:the\s+(?:plan|goal|idea)s?\s+(?:to|of|for)\s+)(?P<what>[^,;]+?)[.!]?$"),
        (Kind.GOAL, rf"{_LEAD}{_THE}(?P<what>[^,;]+?){_IS}(?:cancell?ed|called off|off the table|scrapped|abandoned|shelved)\b[^,;]{{0,30}}$"),
        (Kind.HOLD, r"^(?:好[，,]?)?(?:你|我们|大家)?(?:现在)?(?:可以|能)(?:开始)?(?P<what>[^，。,;]+?)了[。！!]?$"),
        (Kind.GOAL, r"^(?P<what>[^，。,;]+?)(?:已经|终于|都)?(?:完成|做完|搞定|结束)了[。！!]?$"),
        (Kind.GOAL, r"^(?:我们)?(?:已经)?(?:取消|放弃)了?(?P<what>[^，。,;]+?)(?:的?计划)?(?:了)?[。！!]?$"),
    )
)  # fmt: skip


def ending_of(body: str) -> tuple[str, Kind] | None:
    """(what, the kind that ends) when a sentence says that something is released (a hold), done or cancelled; None when it says nothing like that."""
    for kind, pattern in _ENDINGS:
        if (found := pattern.match(body)) and len(found["what"].split()) <= WHAT_WORDS_MAX:
            return found["what"].strip(), kind
    return None
