"""How goals, plans and holds end: by the words of a person that they are done, cancelled or released, never by time.

What ends is told apart by the words it is about, by their first letters ("migration" ends what says "migrate"). A claim that ends something is no note.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from pipelines.model import Claim, Kind, Origin, Outcome, Witnessed, short_uid
from pipelines.text.statement import canonical_words
from pipelines.text.words import ENGLISH_STOP

ENDED = "ended"
"""Attribute of a claim that says that what its subject names is over: a goal of that kind done or cancelled, a hold released."""
ENDABLE = frozenset({Kind.GOAL, Kind.PLAN, Kind.HOLD})
_STEM = 4
_SAYS_NOTHING = frozenset(
    """goal aim plan objective target mission want like need intend going project until till unless before say says said tell approve confirm ready review now again please
    dont don't wait hold off stop finally already just new whole thing work done finished completed can could may go ahead everything anything also be 可以 能 先 别 不要 暂时 了 目标 计划 打算""".split()  # noqa: SIM905 - reads better as text
)
SHARE = 3
"""A goal ends when at least one word in so many of its own is said to be done."""


def is_ending(claim: Claim) -> bool:
    """Whether a claim does nothing but end others."""
    return claim.attribute == ENDED and claim.kind in ENDABLE


def may_end(witness: Witnessed) -> bool:
    """Whether it counts: a person's own plain words."""
    return is_ending(witness.claim) and witness.outcome is Outcome.PASS and witness.origin is Origin.USER


def ends(ending: Claim, other: Claim) -> bool:
    """Whether what one claim says to be over is what the other is about."""
    if other.kind not in ENDABLE or is_ending(other) or (ending.kind is Kind.HOLD and other.kind is not Kind.HOLD):
        return False
    what, about = _stems(ending.subject), _stems(other.statement)
    return bool(what) and what <= about and (other.kind is Kind.HOLD or len(what) * SHARE >= len(about))


def end_keys(claims: Iterable[Claim]) -> frozenset[str]:
    """Keys by which goals, plans, holds and the claims that end them find each other."""
    return frozenset(short_uid("ends", stem) for c in claims if c.kind in ENDABLE for stem in _stems(c.subject if is_ending(c) else c.statement))


@lru_cache(maxsize=8192)
def _stems(text: str) -> frozenset[str]:
    words = (w for w in canonical_words(text) if w not in ENGLISH_STOP and w not in _SAYS_NOTHING)
    return frozenset(w[:_STEM] if w.isascii() else w for w in words)
