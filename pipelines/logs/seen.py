"""How a file is known again before it is opened: the name it goes by, whether it was written to since, and whether more is expected of it."""

from __future__ import annotations

import os
import re
from datetime import datetime, timedelta
from typing import Final

from pipelines.logs.discovery import Found
from pipelines.logs.redaction import Redactor
from pipelines.ports import Seen

CLOSED_AFTER: Final = timedelta(days=1)
"""A log not written to for this long is read as closed: records behind an object that never ends are looked for."""


def path_key(redactor: Redactor, path: str) -> str:
    """A path as text that every database stores and anybody may read: the name `Seen` goes by. The scanner looks at names that hold something like a key."""
    told = path if path.isascii() else os.fsencode(path).decode("utf-8", "backslashreplace")
    return redactor.mask(told.encode()).data.decode("utf-8", "replace") if _LIKE_A_KEY.search(told) else told


_LIKE_A_KEY: Final = re.compile(r"[A-Za-z0-9]{16}|pass|secret|token|key", re.IGNORECASE)


def is_as_seen(found: Found, before: Seen) -> bool:
    """Whether a file has the size, the time and the inode it had when it was taken in."""
    return (before.size, before.mtime_ns, before.inode) == (found.size, found.mtime_ns, found.inode)


def closed_before(now: datetime) -> int:
    """Nanoseconds since the epoch: a log last written to before has been silent for so long that no more is expected."""
    return int((now - CLOSED_AFTER).timestamp() * 1e9)


def is_closed(mtime_ns: int, *, now: datetime) -> bool:
    """Whether a log was not written to for so long that no more is expected."""
    return mtime_ns < closed_before(now)
