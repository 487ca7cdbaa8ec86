"""What stands around a statement and says nothing of it: words that only lead in what is told ("oh and by the way"), and the way back to the work behind it."""

from __future__ import annotations

import re

OPENERS = (
    r"by the way|btw|fyi|for your information|just so you know|for what it's worth|fwiw|in case it (?:helps|matters)|(?:a )?(?:quick|small|little) (?:aside|note|thing)(?: on the side)?|side note|(?:oh,? )?(?:and )?one (?:more|other|last) thing"
    r"|before i forget|(?:just )?a heads[- ]up|heads[- ]up|turns out|as it happens|on another note|by the by|ps|p\.s\.|ah right|oh right|ah yes|thx|ty|cheers|for the record|to be clear|just to be clear|long story short|speaking of which|as an aside|i should (?:mention|add|say)|dear (?:assistant|all|team|claude)"
)
"""Phrases that only lead in what is told, as alternatives of a pattern."""
_ZH_OPENERS = "另外|还有|哦还有|对了|顺便(?:说|提)?(?:一下|一句)?|说起来|谢啦|谢谢|多谢|好的|嗯"
_OPENING = re.compile(
    rf"^(?:[\s\"'“(*_-]*(?:{OPENERS}|oh|ah|ok|okay|so|and|but|also|hey|hi|thanks|please|pls)(?![\w'])(?!\s+(?:one|longer|more|way|idea|to|not|far|on|that|as|much|many)\b)[\s,.!:;–—-]+|(?:well|right|yes|yeah)\s*[,.!:;–—]+\s*|(?:{_ZH_OPENERS})[，,。！!\s]+)+",
    re.IGNORECASE,
)
BACK_TO_WORK = re.compile(
    r"(?:\s+[-–—]+\s+(?:ok(?:ay)?|anyway|anyhow|right(?=,)|back to|next (?:one|up|question|task|step|page)|next(?=[,:]))(?![\w'])"
    r"(?![^.!?。！？]*(?<![\w'])(?:not|never|no longer|\w+n't|said|says|told|did|was|were|used to|until|till|as if|kidding|joking)(?![\w']))[^.!?。！？]*"
    r"|(?<=\w)\s+(?-i:Now please|Now can you|Please|Can you|Could you) (?-i:[a-z])[^.!?。！？]*"
    r"|,\s+(?:so there you (?:go|have it)|so you know|just so you know|for your information|for what it's worth|that's all))[.!?\s]*$",
    re.IGNORECASE,
)
"""What goes on with the work behind a dash, or in a new sentence that was spoken without a full stop ("… - ok, back to the table"), and what only rounds off;
nothing that takes back what was told ("… - ok, not really")."""


_ASKED = re.compile(
    rf"(?:(?:{OPENERS}|oh|ah|so|and|also)[\s,.:–-]+)*(?:my|our) (?:(?:full|real|own|main|current|go-to|date of) )?(?:birthday|bday|birth|name|phone|mobile|airline|drink|dog|cat|home ?town|employer|database|db)\?\s*",
    re.IGNORECASE,
)
_AFTER_OPENING = re.compile(r"((?:my|our) [a-z -]+)\?\s+(?=\S)", re.IGNORECASE)


ANSWER_WORDS_MAX = 6
"""Words of what a speaker answers to a question of their own."""
_WORD = r"(?:i(?=P[a-z]))?[A-Z0-9][\w'&+.-]*"
_NAMED = re.compile(rf"(?:[Ii]t's |[Tt]hat's )?(?:[Aa]n? |[Tt]he )?{_WORD}(?: (?:{_WORD}|of|and|the|de))*")
_A_DRINK = re.compile(r"(?:an? )?[A-Za-z]+(?: [a-z]+){0,2}")
_TELLS_NOTHING = frozenset(
    "dead gone stolen broken lost missing sick asleep old new same fine good bad great awful nothing none nobody whatever unknown dunno why yes no not sure long both either secret".split()  # noqa: SIM905
)


def answers(question: str, words: str) -> bool:
    """Whether these words are what a sentence names that asks nobody ("My birthday? 3 May."): a name, a number or a drink, and not how it is ("My phone? Stolen.")."""
    plain = words.strip(" .!")
    if _ASKED.fullmatch(question) is None or len(plain.split()) > ANSWER_WORDS_MAX or _TELLS_NOTHING.intersection(plain.casefold().split()):
        return False
    return bool(_NAMED.fullmatch(plain) or ("drink" in question and _A_DRINK.fullmatch(plain)))


def answered(text: str) -> str:
    """The text as a statement where it opens with a question its speaker answers ("My birthday is 3 May.")."""
    found = _ASKED.match(text)
    return text if found is None or not answers(found[0], text[found.end() :]) else _AFTER_OPENING.sub(r"\1 is ", text, count=1)


def without_opening(text: str) -> str:
    """The text without the words that only lead in what is told; the text itself where nothing else is left."""
    return text[found.end() :] or text if (found := _OPENING.match(text)) else text
