"""What is asked of a note again and again, worked out once: where it may stand, and its rank in the brief and in the queue. Plain values, to be kept
and looked up by."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from pipelines.model import Kind, digest
from pipelines.wiki import inline
from pipelines.wiki.content import LIVE, Item
from pipelines.wiki.inbox import reason_of, value, waits_of
from pipelines.wiki.signs import rank, section_of
from pipelines.wiki.topics import fold, forms_of, is_named, key_of, may_stand, shelf_of, upper

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = 10**18
"""Microseconds; no time Python knows is that far."""
_SESSIONS_MAX = 10**7 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """See `ShownItem` of the store, which keeps them."""

    live: bool = False
    placed: bool = False
    key: str = ""
    subject: str = ""
    named: bool = False
    pin: str = ""
    forms: tuple[str, ...] = ()
    shelf: str = ""
    oldest: int | None = None
    newest: int | None = None
    position: int = 0
    waits: str = ""
    reason: str = ""
    queue_rank: str = ""
    section: str = ""
    brief_rank: str = ""
    said: str = ""
    checked: bool = False
    indexed: bool = False
    upper_lines: int = 0
    upper_bytes: int = 0


NOTHING = Facts()
"""Of a note that another one says, too."""


def facts(item: Item) -> Facts:
    """What is asked of a note. Ranks are texts that sort as the notes do."""
    placed, waits, section = may_stand(item), waits_of(item), section_of(item)
    lines, size = upper(item) if placed else (0, 0)
    told = section if placed and item.status in LIVE else ""
    return Facts(
        live=placed and item.status in LIVE, placed=placed, key=key_of(item), subject=fold(item.subject), named=is_named(item), pin=item.pin,
        forms=forms_of(item), shelf=shelf_of(item), oldest=micros(item.oldest_evidence), newest=micros(item.newest_evidence),
        position=item.carried.position if item.carried else 0, waits=waits or "", reason=reason_of(item) if waits else "",
        queue_rank=_queue_rank(item) if waits else "", section=told, brief_rank=_brief_rank(item) if told else "",
        said=said_digest(item.statement) if told and item.kind is Kind.FACT else "", checked=placed and item.status in LIVE and any(c.session for c in item.cites),
        indexed=bool(item.carried and item.carried.index), upper_lines=lines, upper_bytes=size,
    )  # fmt: skip


def said_digest(sentence: str) -> str:
    """What two sentences share that a reader takes for one."""
    return digest(inline.clean(sentence))[:16]


def micros(at: datetime | None) -> int | None:
    """Whole microseconds since 1970."""
    return None if at is None else (at - _EPOCH) // timedelta(microseconds=1)


def instant(given: int | None) -> datetime | None:
    """The time of `micros`."""
    return None if given is None else _EPOCH + timedelta(microseconds=given)


def _brief_rank(item: Item) -> str:
    tier, sessions, _, uid = rank(item)
    return f"{tier}{_SESSIONS_MAX + max(sessions, -_SESSIONS_MAX):07d}{_LATEST - (micros(item.newest_evidence) or 0):019d}{uid}"


def _queue_rank(item: Item) -> str:
    sessions, kind, stamp, uid = value(item)
    newest = (micros(item.newest_evidence) or 0) if stamp else 0
    return f"{_SESSIONS_MAX + max(sessions, -_SESSIONS_MAX):07d}{kind:02d}{_LATEST - newest:019d}{uid}"
