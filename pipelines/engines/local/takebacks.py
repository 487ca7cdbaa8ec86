"""What a person takes back of their own words: by name ("forget what I said about squash merging"), or what they said last ("scratch that")."""

# Full-width characters are data here.

from __future__ import annotations

import re
from dataclasses import dataclass

NAME_WORDS_MAX = 8


@dataclass(frozen=True, slots=True)
class TakenBack:
    """`what` names it, None for what was said last; from `end` on the sentence says something else."""

    what: str | None
    end: int


_LEAD = (
    r"\s*(?:(?:actually|no|nope|ok(?:ay)?|so|and|but|also|wait|hmm+|oh|ah|sorry|please|on second thou?ghts?|in fact|my mistake|correction|well|right|now|then|you know what|let(?:'|’)?s"
    r"|you can|I(?:'d| would) like you to|不对|等等|等一下|那个|哦|嗯|抱歉|对不起|好吧|算了|请|麻烦|其实|那)[\s,.!:;，。！：；—–-]*){0,6}"
)
_DROP = r"(?:forget|disregard|ignore|scratch|strike|drop|never\s?mind|cancel)"
_ALL = r"(?:what(?:ever)?|everything|anything|all(?:\s+that)?|the\s+(?:thing|part|bit)s?)"
_I_SAID = r"I(?:['’]ve|['’]d|\s+have|\s+had)?(?:\s+(?:just|earlier|previously|once|before|originally|first))*\s+(?:said|told\s+you|wrote|mentioned|asked(?:\s+(?:you|for))?|typed|claimed)"
_WHEN = r"(?:\s+(?:earlier|before|above|just\s+now|previously|yesterday|a\s+(?:moment|minute|while)\s+ago|at\s+the\s+start))*"
_ON = r"\s+(?:about|on|regarding|concerning|with\s+regard\s+to|w\.?r\.?t\.?)\s+"
_SAYING = r"(?:rule|instruction|preference|guideline|remark|comment|statement|convention|request)s?"
_WHAT = r"(?:the\s+|our\s+|my\s+|us\s+|always\s+|never\s+)?(?P<what>[^,;:.!?，。；！？()—–]+?(?:\.[^\s.,;:!?()]+)*?)"
_CLOSES = r"(?=\s*(?:[,;:!，。；！()—–]|\s-\s|\.(?:\s|$)|$)|\s+(?:any\s?more|(?:that|it|this)\s+(?:was|is)\s+(?:all\s+)?wrong|I\s+was\s+wrong|and|because|since|please|now)\b)"
_WRONG = r"(?:\s+(?:was|is|were)\s+(?:all\s+)?(?:wrong|incorrect|a\s+mistake|not\s+(?:right|true|correct)|nonsense|rubbish)|\s+(?:doesn['’]?t|does\s+not|no\s+longer)\s+(?:hold|holds|count|counts|apply|applies)|\s+(?:is|are)\s+off\s+the\s+table)"

_BY_NAME = tuple(
    re.compile(_LEAD + pattern, re.IGNORECASE)
    for pattern in (
        rf"{_DROP}(?:\s+about)?\s+{_ALL}(?:\s+that)?\s+{_I_SAID}{_WHEN}{_ON}{_WHAT}{_CLOSES}",
        rf"{_DROP}(?:\s+about)?\s+my\s+(?:(?:earlier|previous|last|old|former|first)\s+)?{_SAYING}\s+(?:about|on|regarding|concerning|to|that|for)\s+{_WHAT}{_CLOSES}",
        rf"(?:forget|scratch|disregard)(?:\s+about)?\s+(?:the|that|our|this)\s+(?:(?:earlier|previous|last|old|former|first)\s+)?{_SAYING}\s+(?:about|regarding|concerning)\s+{_WHAT}{_CLOSES}",
        rf"I(?:\s+was|['’]ve\s+been|\s+have\s+been)\s+(?:wrong|mistaken){_ON}{_WHAT}{_CLOSES}",
        rf"I\s+(?:(?:want|need)\s+to\s+|hereby\s+)?(?:take\s+back|retract|withdraw)\s+(?:{_ALL}(?:\s+that)?\s+{_I_SAID}{_WHEN}{_ON}|my\s+{_SAYING}\s+(?:about|on|to|that)\s+){_WHAT}{_CLOSES}",
        rf"what\s+{_I_SAID}{_WHEN}{_ON}{_WHAT}{_WRONG}(?:\s+any\s?more)?",
        r"(?:忘掉|忘了|忘记|忽略|无视|不用管|别管|收回|撤回|撤销|作废|取消)(?:掉|一下)?(?:我(?:之前|刚才|刚刚|先前|前面|上面|早先)?|(?:之前|刚才|刚刚|先前|前面|上面)我?)(?:说|讲|提|要求|规定)(?:过|到|了)?的?\s*(?:关于|有关)?\s*(?P<what>[^的\s，。；！？,;!?][^，。；！？,;!?]*?)(?:的(?:话|事|事情|规定|要求|规则|那句|那条|说法))?(?:了|吧)?(?=[，。；！,;!]|$)",
        r"我(?:之前|刚才|刚刚|先前|前面|上面)?(?:关于|有关|对于|对)(?P<what>[^，。；！？,;!?]+?)(?:的(?:说法|话|要求|规定)|说的|讲的)(?:是|都)?(?:错的?|不对|不算数?|作废)(?:了)?",
        r"我(?:之前|刚才|刚刚|先前|前面|上面)?说的?\s*(?:关于|有关)?\s*(?P<what>[^的\s，。；！？,;!?][^，。；！？,;!?]*?)(?:的(?:话|事|规定|要求|规则|那句|那条|说法))?(?:是|都)?(?:错的|不对|不算数?|作废)(?:了)?(?=[，。；！,;!]|$)",
        r"(?:(?:以后|今后|从现在起|现在)(?:就|都)?)?(?:不用|不必|不需要|无需)再(?P<what>[^，。；！？,;!?]+?)了(?=[，。；！,;!]|$)",
    )
)  # fmt: skip
_BACK = r"(?:scratch|strike|disregard|forget|take\s+back)"
"""Words for taking back what was said; one may ignore, drop or cancel many another thing that was just shown."""
_THAT = rf"that(?:\s+(?:one|last\s+(?:one|rule|message|part|bit)|{_SAYING}))?"
_MINE = rf"(?:my\s+(?:last|previous)\s+(?:message|{_SAYING}|one|sentence|words?)|{_ALL}(?:\s+that)?\s+{_I_SAID}{_WHEN})"
_LAST_SAID = tuple(
    re.compile(_LEAD + pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:{_BACK}(?:\s+about)?\s+{_THAT}|(?:{_DROP}|{_BACK})(?:\s+about)?\s+{_MINE})(?=\s*(?:[,;:!—–]|\s-\s|\.(?:\s|$)|$)|\s+(?:please|actually|and|instead|I\s+was)\b)",
        r"I\s+(?:take|took)\s+(?:that|it)\s+back(?=\s*(?:[,;:!—–]|\s-\s|\.(?:\s|$)|$))",
        r"I\s+(?:was\s+(?:wrong|mistaken)|misspoke)(?:\s+(?:about\s+(?:that|it|this)|there|before|earlier|just\s+now))?(?=\s*(?:[,;:!—–]|\s-\s|\.(?:\s|$)|$))",
        r"(?:忘掉|忘了|忘记|忽略|无视|不用管|别管|收回|撤回)(?:掉|一下)?(?:我)?(?:之前|刚才|刚刚|前面|上面|上一?[句条])(?:我)?(?:说)?的?(?:那(?:句|条|个))?(?:话|规定|要求|规则)?(?:吧|了)?(?=[，。；！,;!]|$)",
        r"(?:我)?(?:之前|刚才|刚刚|前面|上面)(?:我)?(?:说)?的?(?:那(?:句|条|个))?(?:话|规定|要求|规则)?(?:是|都)?(?:说错了?|错了|不算数?|不作数|作废)了?(?=[，。；！,;!]|$)",
        r"(?:就)?当我没说(?:过)?(?:吧)?(?=[，。；！,;!]|$)",
        r"我说错了(?=[，。；！,;!]|$)",
    )
)  # fmt: skip
_BETWEEN = re.compile(
    r"[\s,;:.!，。；：！—–-]*(?:(?:and|so|but|please|instead)\b[\s,]*|(?:any\s?more|now)\b[\s,.;]*|(?:(?:that|it|this|I)\s+(?:was|is)\s+(?:all\s+)?(?:wrong|a\s+mistake|incorrect|not\s+right|mistaken))[\s,.;!]*)*",
    re.IGNORECASE,
)
_NOTHING_NAMED = re.compile(
    r"(?:that|it|this|these|those|them|there|everything|anything|all|you|me|us|him|her|没有|什么|这个?|那个?|它们?|这些|那些|的|话|的话)", re.IGNORECASE
)


_MAY = re.compile(
    r"\b(?:forget|disregard|ignore|scratch|strike|drop|never\s?mind|cancel|retract|withdraw|take|took)\b"
    r"|\bI\s+(?:was|misspoke)|\bbeen\s+(?:wrong|mistaken)\b|\bwhat\s+I\b|忘|忽略|无视|别管|收回|撤[回销]|作废|取消|说错|我没说|不算|不[用必对]|不需要|无需|不作数|错",
    re.IGNORECASE,
)
"""One of these stands in whatever takes something back: looked for first, as nearly no sentence does."""


def taken_back(sentence: str) -> TakenBack | None:
    """What a sentence takes back, as it stands in a log (line breaks and all); None when it takes back nothing."""
    if not _MAY.search(sentence):
        return None
    for pattern in _LAST_SAID:
        if found := pattern.match(sentence):
            return TakenBack(None, _behind(sentence, found.end()))
    for pattern in _BY_NAME:
        if (found := pattern.match(sentence)) and len((what := found["what"].strip(" `'\"")).split()) <= NAME_WORDS_MAX and what:
            return None if _NOTHING_NAMED.fullmatch(what) else TakenBack(what, _behind(sentence, found.end()))
    return None


def _behind(sentence: str, at: int) -> int:
    """Where what else the sentence says begins; its end when it says no more."""
    found = _BETWEEN.match(sentence, at)
    return found.end() if found else at
