"""English as it is typed in haste, spelled out: "im on it bc i cant" is "I'm on it because I can't". Function words only, never a name or a value."""

from __future__ import annotations

import re
from functools import lru_cache

_SPELLED = {
    "i": "I", "im": "I'm", "i'm": "I'm", "ive": "I've", "i've": "I've", "i'd": "I'd", "i'll": "I'll", "weve": "we've", "youre": "you're", "theyre": "they're", "dont": "don't",
    "doesnt": "doesn't", "didnt": "didn't", "isnt": "isn't", "arent": "aren't", "wasnt": "wasn't", "cant": "can't", "wont": "won't", "thats": "that's", "whats": "what's",
    "theres": "there's", "bday": "birthday", "bc": "because", "b/c": "because", "cuz": "because", "cus": "because", "coz": "because", "cos": "because", "'cause": "because",
    "w": "with", "w/": "with", "u": "you", "ur": "your", "tho": "though", "abt": "about",
}  # fmt: skip
_LONGER = {"any more": "anymore", "any longer": "anymore", "these days": "nowadays"}
_HASTY = re.compile(r"(?<![\w./'’-])(?:b/c|w/|'cause|[A-Za-z]{1,7}(?:['’][a-z]{1,2})?)(?![\w/-]|['’]\w|\.\w|\()")
_PAIRS = re.compile(r"\b(?:any more|any longer)\b(?! (?:than|of|\w+s\b))", re.IGNORECASE)
_CAUSE = re.compile(r"(?<=, )cause(?= \w)")


@lru_cache(maxsize=8192)
def spelled_out(text: str) -> str:
    """The text with hasty function words in full and curly apostrophes straight; everything else as it stands, lengths may change."""
    plain = _HASTY.sub(_full, text.replace("’", "'"))
    return _PAIRS.sub(lambda m: _LONGER[m[0].casefold()], _CAUSE.sub("because", plain))


def _full(match: re.Match[str]) -> str:
    word = match[0]
    if word in {"W", "B", "U"} or (word.isupper() and len(word) > 1):  # initials, and BC, IM, COS as names of things
        return word
    return _SPELLED.get(word.casefold(), word)
