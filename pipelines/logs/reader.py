"""What every reader of a log format promises, and the values that go in and come out.

A reader is pure: records and a carry in, turns out. The carry is what it must remember to go on where it stopped when the file has grown: JSON-able,
bounded, `{}` at the start of a file. Reading a file at once gives the turns of reading it in parts cut at any record.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, TypeAlias

from pipelines.logs.split import Record
from pipelines.model import BadSpan, SessionInfo, Turn, require_aware

Carry: TypeAlias = Mapping[str, object]
"""A reader's memory between two parts of one file; JSON-able and bounded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileContext:
    """What the file's place tells: its name without `.gz` or `.zst`, and its POSIX path relative to the folder the person named."""

    name: str
    relative_path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenNote:
    """A write into a memory folder that the log shows: the whole `content`, or `edits` as pairs of old and new text (an empty old text appends).

    `path` stands as the log gives it. `deleted` says that the file was removed.
    """

    path: str
    session: str
    turn: str
    content: str | None = None
    edits: tuple[tuple[str, str], ...] = ()
    at: datetime | None = None
    deleted: bool = False

    def __post_init__(self) -> None:
        require_aware(self.at, "WrittenNote.at")


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What a reader made of some records.

    `ignored` counts records or parts of them that say nothing (kind of thing → how many); `bad` are records that do not have the shape their kind
    promises. `sessions` holds what is known so far of each session met; the newest wins field by field.
    """

    sessions: tuple[SessionInfo, ...] = ()
    turns: tuple[Turn, ...] = ()
    ignored: Mapping[str, int] = field(default_factory=dict)
    bad: tuple[BadSpan, ...] = ()
    notes: tuple[WrittenNote, ...] = ()
    carry: Carry = field(default_factory=dict)


class Reader(Protocol):
    """One log format. Never raises on a record's content: what it cannot use it counts in `ignored` or reports in `bad`."""

    @property
    def format(self) -> str:
        """The format's name: "claude", "codex", "chat", "events", "conversation"."""

    def sniff(self, first: Sequence[object], name: str) -> bool:
        """Whether these first values of a file named `name` are of this format."""

    def read(self, records: Sequence[Record], carry: Carry, where: FileContext) -> Read:
        """The turns of these records, which follow those that left `carry`."""


_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def clean(text: str) -> tuple[str, bool]:
    """Text that every database can store, and whether it had to be changed: NUL and lone surrogates become U+FFFD."""
    if "\0" not in text:
        if text.isascii():
            return text, False
        try:
            text.encode()  # eight times as fast as looking for what it refuses
        except UnicodeEncodeError:
            pass
        else:
            return text, False
    return _UNSTORABLE.sub("\ufffd", text), True
