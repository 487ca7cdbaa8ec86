"""Small words that tell two sentences of the same words apart: before and after, all and some, what is used and what used to be.

They stand in no list of telling words, being in nearly every sentence; a statement that has one where its quotes have its opposite says another thing.
"""

# Full-width characters are data here.

from __future__ import annotations

import re
from collections.abc import Sequence

from pipelines.text.words import fold_width

from .evidence import Located


def _small(english: str, chinese: str = "") -> re.Pattern[str]:
    words = rf"(?<![^\W\d_])(?:{english})(?![^\W\d_])"
    return re.compile(f"{words}|{chinese}" if chinese else words, re.IGNORECASE)


_OPPOSITES = (
    (_small("before|until|till", r"之前|以前|(?<![目当提])前(?![端面台者后缀])"), _small("after|since", r"之后|以后|(?<!最)后(?![端面台者来缀])")),
    (_small("up|upwards?"), _small("down|downwards?")),
    (_small("more|over|above|at least|exceed(?:s|ed)?", "超过|多于|以上|至少"), _small("less|fewer|under|below|at most", "不到|少于|以下|至多|最多")),
    (_small("all|every|each|everyone|everybody", "所有|全部|每[个次]"), _small("some|few|several|many|most|half", "部分|有些|有的|少数|多数")),
    (_small(r"can(?! (?:you|we|i)(?![a-z]))|may|might|optional", "可以|可选"), _small("must|ha(?:ve|s) to|required?", "必须|务必|一定要")),
)
_ADDED = (
    (
        _small("only|solely|exclusively", "只|仅"),
        _small("only|solely|exclusively|just|sole|alone|nothing but|no one else|nobody else|no other", "只|仅|唯一|单独|就"),
    ),
    (
        _small("used to(?= [a-z]+)|formerly|previously", "以前|曾经?|原先"),
        _small(
            r"\w{2,}ed|used to|former(?:ly)?|previous(?:ly)?|before|was|were|had|did|been|left|went|came|gave|kept|from|ago|until|till|back then|old",
            "以前|曾|原|之前|过|了|改|换|搬",
        ),
    ),
)
"""Words that make less of a sentence, and what a quote says for them."""


def opposed(statement: str, support: Sequence[Located]) -> bool:
    """Whether the statement has a small word where all its quotes have the opposite one, or one that makes less of what they say."""
    said, quoted = fold_width(statement), "\n".join(fold_width(one.context) for one in support)
    return any(_swapped(said, quoted, one, other) or _swapped(said, quoted, other, one) for one, other in _OPPOSITES) or any(
        added.search(said) and not given.search(quoted) for added, given in _ADDED
    )


def _swapped(said: str, quoted: str, one: re.Pattern[str], other: re.Pattern[str]) -> bool:
    return bool(one.search(said) and other.search(quoted)) and not (other.search(said) or one.search(quoted))
