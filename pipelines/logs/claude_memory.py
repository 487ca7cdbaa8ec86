"""What the Claude reader remembers from one part of a file to the next: bounded, JSON-able, evicted oldest first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from pipelines.logs.reader import Carry, clean
from pipelines.model import Origin, digest

CALLS_HELD = 128
LINKS_HELD = 128
MESSAGES_HELD = 64
QUEUED_HELD = 64
SESSIONS_HELD = 64
WRITES_HELD = 8


class Slot(NamedTuple):
    """A text block of a message seen before; `complete` says that the text at hand is that block as it was, or an earlier state of it."""

    uid: str
    ordinal: int
    complete: bool


@dataclass
class Memory:
    """The reader's state; every table is bounded, so a very old call or message is forgotten (its replay would then be a turn of the same uid)."""

    session: str = ""
    corrects: str | None = None
    last_call: str | None = None  # the newest call that has no result yet
    ordinals: dict[str, int] = field(default_factory=dict)
    calls: dict[str, tuple[str, Origin, str]] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    messages: dict[str, list[list[Any]]] = field(default_factory=dict)
    queued: dict[str, str] = field(default_factory=dict)
    writes: dict[str, list[Any]] = field(default_factory=dict)
    sessions: dict[str, dict[str, str]] = field(default_factory=dict)

    @classmethod
    def from_carry(cls, carry: Carry) -> Memory:
        """The memory a carry holds; the carry itself is left as it is."""
        given: Mapping[str, Any] = carry
        return cls(
            session=given.get("session", ""),
            corrects=given.get("corrects"),
            last_call=given.get("last_call"),
            ordinals=dict(given.get("ordinals", {})),
            calls={key: (name, Origin(origin), uid) for key, (name, origin, uid) in given.get("calls", {}).items()},
            links=dict(given.get("links", {})),
            messages={key: [list(block) for block in blocks] for key, blocks in given.get("messages", {}).items()},
            queued=dict(given.get("queued", {})),
            writes={key: list(held) for key, held in given.get("writes", {}).items()},
            sessions={key: dict(told) for key, told in given.get("sessions", {}).items()},
        )

    def to_carry(self) -> Carry:
        """This memory as JSON-able values."""
        return {
            "session": self.session,
            "corrects": self.corrects,
            "last_call": self.last_call,
            "ordinals": self.ordinals,
            "calls": {key: [name, str(origin), uid] for key, (name, origin, uid) in self.calls.items()},
            "links": self.links,
            "messages": self.messages,
            "queued": self.queued,
            "writes": self.writes,
            "sessions": self.sessions,
        }

    def next_ordinal(self, session: str) -> int:
        """The next position in a session."""
        ordinal = self.ordinals.pop(session, 0)
        self.ordinals[session] = ordinal + 1
        _bound(self.ordinals, SESSIONS_HELD)
        return ordinal

    def open_call(self, call_id: str, name: str, origin: Origin, words: str) -> None:
        """Remember whose words the result of a call will be; `words` is the digest of the call, which tells its copies."""
        self.calls[call_id] = (name, origin, words)
        self.last_call = call_id
        _bound(self.calls, CALLS_HELD)

    def link(self, record_uuid: object, turn: str | None, parent_uuid: object) -> None:
        """A record stands for the last turn made of it, or for its parent's when it says nothing."""
        links = self.links
        uid = turn or (links.get(parent_uuid) if isinstance(parent_uuid, str) else None)
        if uid is not None and isinstance(record_uuid, str):
            links.pop(record_uuid, None)
            links[record_uuid] = uid
            if len(links) > LINKS_HELD:
                _bound(links, LINKS_HELD)

    def turn_of(self, record_uuid: object) -> str | None:
        """The turn a record stands for."""
        return self.links.get(record_uuid) if isinstance(record_uuid, str) else None

    def blocks(self, session: str, message_id: str) -> int:
        """How many text blocks of a message were seen."""
        return len(self.messages.get(_message_key(session, message_id), ()))

    def slot(self, session: str, message_id: str, text: str) -> Slot | None:
        """The block of this message that the text repeats or continues."""
        for length, mark, uid, ordinal in self.messages.get(_message_key(session, message_id), ()):
            if len(text) >= length and digest(text[:length]) == mark:
                return Slot(uid, ordinal, len(text) == length)
        return None

    def keep_slot(self, session: str, message_id: str, text: str, uid: str, ordinal: int) -> None:
        """Remember a text block as it is now."""
        key = _message_key(session, message_id)
        blocks = self.messages.pop(key, [])
        kept = [len(text), digest(text), uid, ordinal]
        self.messages[key] = [kept if block[2] == uid else block for block in blocks] if any(block[2] == uid for block in blocks) else [*blocks, kept]
        _bound(self.messages, MESSAGES_HELD)

    def put_queued(self, session: str, text: str, uid: str) -> None:
        """Remember a message that waits for its delivery."""
        self.queued[digest(session, text.strip())] = uid
        _bound(self.queued, QUEUED_HELD)

    def take_queued(self, session: str, text: str) -> str | None:
        """The turn of the waiting message with this text, which is thereby delivered."""
        return self.queued.pop(digest(session, text.strip()), None) if self.queued else None

    def hold_write(self, call_id: str, write: Mapping[str, Any], session: str, turn: str) -> None:
        """Keep a note's write until its result shows it done."""
        self.writes[call_id] = [dict(write), session, turn]
        _bound(self.writes, WRITES_HELD)

    def take_write(self, call_id: str) -> tuple[Mapping[str, Any], str, str] | None:
        """The write of this call."""
        held = self.writes.pop(call_id, None)
        return None if held is None else (held[0], held[1], held[2])

    def tell(self, session: str, facts: Mapping[str, str]) -> None:
        """Take in what a record says of its session; the newest word wins."""
        self.session = session.partition("/")[0]
        told = self.sessions.get(session)
        if told is not None and facts.items() <= told.items():
            return
        self.sessions[session] = {**(self.sessions.pop(session, {})), **{key: clean(value)[0] for key, value in facts.items()}}
        _bound(self.sessions, SESSIONS_HELD)

    def told(self, session: str) -> Mapping[str, str]:
        """What is known of a session."""
        return self.sessions.get(session, {})


@lru_cache(maxsize=256)
def _message_key(session: str, message_id: str) -> str:
    return digest(session, message_id)[:24]


def _bound(table: dict[str, Any], limit: int) -> None:
    while len(table) > limit:
        del table[next(iter(table))]
