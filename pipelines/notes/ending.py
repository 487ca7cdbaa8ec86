"""How goals, plans and holds end: by the words of a person that they are done, cancelled or released, never by time. And how whatever a person said ends when
they take it back.

What ends is told apart by the words it is about, by their first letters ("migration" ends what says "migrate"). A claim that ends something is no note.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from pipelines.model import Claim, Kind, Origin, Outcome, Witnessed, short_uid
from pipelines.text.statement import canonical_words
from pipelines.text.words import ENGLISH_STOP

ENDED = "ended"
"""Attribute of a claim that says that what its subject names is over: a goal of that kind done or cancelled, a hold released, and, of a denying decision, words
of a person that they take back."""
ENDABLE = frozenset({Kind.GOAL, Kind.PLAN, Kind.HOLD})
_STEM = 4
_SAYS_NOTHING = frozenset(
    """goal aim plan objective target mission want like need intend going project until till unless before say says said tell approve confirm ready review now again please
    dont don't wait hold off stop finally already just new whole thing work done finished completed can could may go ahead everything anything also be 可以 能 先 别 不要 暂时 了 目标 计划 打算""".split()  # noqa: SIM905 - reads better as text
)
SHARE = 3
"""A goal ends when at least one word in so many of its own is said to be done."""


TAKEN_BACK_SHARE = 2
"""Words are taken back when at least one in so many of theirs is named."""
_MAY_BE_TAKEN_BACK = ENDABLE | {Kind.RULE, Kind.PREFERENCE, Kind.FACT, Kind.DECISION, Kind.PROCEDURE}
_MARKS = frozenset("always alway never must should ever every use everywhere everyone from now 以后 今后 一律 每次 永远 都 用 必须 务必".split())  # noqa: SIM905
"""Words of a rule that say nothing of what it is about."""


def is_ending(claim: Claim) -> bool:
    """Whether a claim does nothing but end others."""
    return claim.attribute == ENDED and (claim.kind in ENDABLE or takes_back(claim))


def takes_back(claim: Claim) -> bool:
    """Whether a claim does nothing but take back words of its speaker."""
    return claim.attribute == ENDED and claim.kind is Kind.DECISION and claim.negated and claim.value is None


def may_end(witness: Witnessed) -> bool:
    """Whether it counts: a person's own plain words."""
    return is_ending(witness.claim) and witness.outcome is Outcome.PASS and witness.origin is Origin.USER


def ends(ending: Claim, other: Claim) -> bool:
    """Whether what one claim says to be over is what the other is about."""
    if takes_back(ending):
        return _is_taken_back(ending, other)
    if other.kind not in ENDABLE or is_ending(other) or (ending.kind is Kind.HOLD and other.kind is not Kind.HOLD):
        return False
    what, about = _stems(ending.subject), _stems(other.statement)
    return bool(what) and what <= about and (other.kind is Kind.HOLD or len(what) * SHARE >= len(about))


def _is_taken_back(ending: Claim, other: Claim) -> bool:
    if other.kind not in _MAY_BE_TAKEN_BACK or is_ending(other):
        return False
    what, about = _named(ending.subject), _named(other.statement)
    return bool(what) and what <= about and len(what) * TAKEN_BACK_SHARE >= len(about)


def end_keys(claims: Iterable[Claim]) -> frozenset[str]:
    """Keys by which goals, plans, holds and the claims that end them find each other. What takes words back has one key for all: it is rare, and looks at all."""
    claims = tuple(claims)
    found = {short_uid("ends", stem) for c in claims if c.kind in ENDABLE for stem in _stems(c.subject if is_ending(c) else c.statement)}
    return frozenset(found | {TAKES_BACK for c in claims if takes_back(c)})


TAKES_BACK = short_uid("takes back")
"""Key of every claim that takes words back."""


@lru_cache(maxsize=8192)
def _stems(text: str) -> frozenset[str]:
    words = (w for w in canonical_words(text) if w not in ENGLISH_STOP and w not in _SAYS_NOTHING)
    return frozenset(w[:_STEM] if w.isascii() else w for w in words)


@lru_cache(maxsize=8192)
def _named(text: str) -> frozenset[str]:
    """What words are about that a person may take back: stems as above, plurals of short words, too ("PRs")."""
    words = (w for w in canonical_words(text) if w not in ENGLISH_STOP and w not in _SAYS_NOTHING and w not in _MARKS)
    return frozenset((w.removesuffix("s") if len(w) > 2 else w)[:_STEM] if w.isascii() else w for w in words)
