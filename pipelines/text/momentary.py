"""Words that ask for something at this moment of the work, and so cannot be meant for good: "now", "not yet", "the failing test", "step 3", 这次."""

# Full-width characters are data here.

from __future__ import annotations

import re

from .words import fold_width

_AT_THE_MOMENT = (
    r"(?<!from )(?<!by )(?<!until )now(?! on\b)(?! and then\b)|for the (?:moment|time being)|this (?:time|once)|just (?:this )?once|today|tonight|tomorrow|yet|at this point|right away"
    r"|(?:we|you|I|let's) (?:should |can |will |must )?(?:start|begin|continue|proceed) (?:with|by|on)|anything else|something else"
)
_OF_THE_TASK = (
    r"the (?:latest|last|current|previous|recent|remaining|pending|staged|unstaged) (?:change|commit|diff|error|message|file|branch|test|run|step|output|result|task|part|patch|work)\w*"
    r"|the (?:failing|broken|following|attached|above|next|other|first|second|third) \w+|(?:option|step|phase|task|part|todo|line|point) (?:\d+|[A-D](?![\w']))|(?:issue |PR |pull request )?#\d+"
)
_HANDED_OVER = (
    r"(?:give|write|send|show|make|get|create|provide|prepare|draft|respond with|reply with|answer with)(?: me| us)? (?:an?|the|another|one) (?:[\w-]+ ){0,3}?"
    r"(?:summary|list|report|explanation|overview|example|draft|plan|table|outline)"
)
_MOMENTARY = re.compile(rf"\b(?:{_AT_THE_MOMENT}|{_OF_THE_TASK}|{_HANDED_OVER})\b", re.IGNORECASE)
_LIST_FORM = re.compile(r"\b(?:bullet(?:ed|s)?|numbered|dot[- ]points?)\b", re.IGNORECASE)
_MOMENTARY_ZH = re.compile(
    r"(?<!从)(?:现在|現在)(?!起|开始|開始)|这次|這次|这一次|本次|刚才|剛才|目前|今天|明天|暂时|暫時|接下来|接下來|下一步|第[一二三四五六七八九十\d]+(?:个|個|步|项|項)|(?:上面|下面|以上|以下)的|(?:这|這|那)(?:个|個|些|里|裡|段)"
)


def momentary(text: str) -> bool:
    """Whether a request is one of this moment. How a list should look may be meant for good, whatever it is a list of."""
    folded = fold_width(text)
    return bool(_MOMENTARY_ZH.search(folded) or (_MOMENTARY.search(folded) and not _LIST_FORM.search(folded)))
