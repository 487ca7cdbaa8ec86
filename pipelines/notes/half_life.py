"""What passes by itself when nobody speaks of it any more: incidents, and the status of a thing (DESIGN §4, forgetting by kind).

It is over a fixed time after it was last heard of, on the logs' own clocks; words that say until when go before that. Who or what a person is passes never.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from pipelines.model import Kind, Version
from pipelines.text.slots import USER

from .identity import attribute_key
from .relate import subject_key

HALF_LIFE = timedelta(days=30)
"""After so long without news an incident or a status says nothing about today."""
_STATUS = "status"
_OF_A_PERSON = frozenset("marital relationship civil family legal immigration residence employment citizenship health 婚姻 感情 就业 健康".split())  # noqa: SIM905


def passes(kind: Kind, subject: str, attribute: str) -> bool:
    """Whether what is said of this attribute of this subject passes with time."""
    if kind is Kind.INCIDENT:
        return True
    words = subject.casefold().split()
    owner = subject_key(subject)
    personal = not owner or words[0] == USER or not _OF_A_PERSON.isdisjoint({*words, *owner}) or any(w in subject for w in _OF_A_PERSON if not w.isascii())
    return kind is Kind.FACT and attribute_key(attribute) == _STATUS and not personal


def over_after(last_heard: datetime | None) -> datetime | None:
    """When what passes is over; None when nobody knows when it was heard, or its end lies beyond all calendars."""
    try:
        return last_heard + HALF_LIFE if last_heard else None
    except OverflowError:
        return None


def is_by_half_life(version: Version) -> bool:
    """Whether a version's end comes from its age alone, and from no words."""
    ends = version.valid_until
    return ends is not None and passes(version.kind, version.subject, version.attribute) and ends == over_after(version.newest_evidence)
