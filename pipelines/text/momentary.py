"""Words that ask for something at this moment of the work, and so cannot be meant for good: "now", "not yet", "the failing test", "step 3", 这次."""

# Full-width characters are data here.

from __future__ import annotations

import re

from .words import fold_width

_AT_THE_MOMENT = (
    r"(?<!from )(?<!by )(?<!until )now(?! on\b)(?! and then\b)(?!\(|,? (?:not|instead of|rather than)\b)|for the (?:moment|time being)|this (?:time|once)|just (?:this )?once"
    r"|today|tonight|tomorrow|yet(?! (?:another|to|un\w+|\w+ed)\b)|at this point|right away"
    r"|(?:we|you|I|let's) (?:should |can |will |must )?(?:start|begin|continue|proceed) (?:with|by|on)|anything else|something else"
)
_OF_THE_TASK = (
    r"the (?:latest|last|current|previous|recent|remaining|pending|staged|unstaged|following|attached|above|next|other|first|second|third) "
    r"(?:change|commit|diff|error|message|file|branch|test|run|step|output|result|task|part|patch|work|code|issue|option|function|point|one)\w*"
    r"|the (?:failing|broken) \w+|(?:option|step|phase|task|part|todo|line|point) (?:\d+|[A-D](?![\w']))|(?:issue |PR |pull request )#\d+"
)
_HANDED_OVER = (
    r"(?:give|write|send|show|make|get|create|provide|prepare|draft|respond with|reply with|answer with)(?: me| us)? (?:an?|the|another|one) (?:[\w-]+ ){0,3}?"
    r"(?:summary|list|report|explanation|overview|example|draft|plan|table|outline)"
)
_MOMENT = re.compile(rf"\b(?:{_AT_THE_MOMENT})\b", re.IGNORECASE)
_TASK = re.compile(rf"\b(?:{_OF_THE_TASK}|{_HANDED_OVER})\b|(?<!\w)#\d+\b", re.IGNORECASE)
_IN_GENERAL = re.compile(r"\b(?:each|every|any|whenever)\b|\b(?:of|in|per) an?\b", re.IGNORECASE)
"""What speaks of all of its kind."""
_LIST_FORM = re.compile(r"\b(?:bullet(?:ed|s)?|numbered|dot[- ]points?)\b", re.IGNORECASE)
_LASTS = "项目|項目|仓库|倉庫|代码库|库|工程|团队|團隊|公司"
"""What a Chinese sentence speaks of for good, though it points at it: 这个项目不要用 npm is a rule of the project."""
_MOMENTARY_ZH = re.compile(
    r"(?<!从)(?:现在|現在)(?!起|开始|開始)|这次|這次|这一次|本次|刚才|剛才|目前|今天|明天|暂时|暫時|接下来|接下來|下一步|第[一二三四五六七八九十\d]+(?:个|個|步|项|項)"
    rf"|(?:上面|下面|以上|以下)的(?!格式|规则|规范|风格|约定|词|模板|命名)|(?:这|這|那)(?:[个個](?!{_LASTS})|[些段])"
)


def momentary(text: str) -> bool:
    """Whether a request is one of this moment. What speaks of all of its kind ("each", "of a commit") may be meant for good, and so may how a list should look."""
    folded = fold_width(text)
    if _MOMENTARY_ZH.search(folded):
        return True
    return not _LIST_FORM.search(folded) and bool(_MOMENT.search(folded) or (_TASK.search(folded) and not _IN_GENERAL.search(folded)))
