"""Tells which format a log has, from its first records."""

from __future__ import annotations

from collections.abc import Sequence

from pipelines.errors import UnreadableSource
from pipelines.logs.chat import ChatReader
from pipelines.logs.claude import ClaudeReader
from pipelines.logs.codex import CodexReader
from pipelines.logs.conversation import ConversationReader
from pipelines.logs.events import EventsReader
from pipelines.logs.reader import Reader

READERS: tuple[Reader, ...] = (ClaudeReader(), CodexReader(), EventsReader(), ConversationReader(), ChatReader())
"""Every format dreamd reads; where two claim the same number of records, the earlier has the narrower shape."""

KEYS_SHOWN = 6


def detect(first: Sequence[object], name: str, *, readers: Sequence[Reader] = READERS) -> Reader:
    """The reader that knows most of these first values of the file `name`. Raises UnreadableSource saying what stands there instead of a log."""
    if not first:
        raise UnreadableSource(name, "holds no JSON object")
    known: list[int] = []
    for reader in readers:
        known.append(sum(reader.sniff([value], name) for value in first))
        if known[-1] == len(first):  # none can know more
            return reader
    if not any(known):
        raise UnreadableSource(name, f"is no log format dreamd knows ({', '.join(r.format for r in readers)}); its first record {_shape(first[0])}")
    return readers[known.index(max(known))]


def reader_of(format: str, *, readers: Sequence[Reader] = READERS) -> Reader | None:
    """The reader of a format by its name; None when this dreamd has none (a newer one wrote the name)."""
    return next((reader for reader in readers if reader.format == format), None)


def _shape(value: object) -> str:
    if not isinstance(value, dict):
        return f"is a {type(value).__name__}"
    keys = [str(key)[:40] for key in value]
    shown = ", ".join(keys[:KEYS_SHOWN]) + (", …" if len(keys) > KEYS_SHOWN else "")
    return f"has the keys {shown}" if keys else "has no keys"
