"""The marked block of an instruction file: the brief between its own markers, put in at the end, refreshed, taken out. Pure; bytes, since every other byte
of the file stays.
"""

from __future__ import annotations

from typing import Final

from pipelines.errors import Refused
from pipelines.model import digest

OPENS: Final = b"<dreamd-brief"
CLOSES: Final = b"</dreamd-brief>\n"


def with_block(data: bytes, text: str) -> tuple[bytes, str]:
    """The file with the block at its end, and what was put before it. Raises Refused for what cannot be given back as it was; the caller names the file."""
    if data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        raise Refused("it begins with a byte order mark: save it as UTF-8 without one")
    if b"\r" in data:
        raise Refused("its lines end in CR LF: save it with LF line ends")
    if OPENS in data:
        raise Refused("a brief stands in it already that this data folder knows nothing of: take it out first")
    lead = "" if not data else "\n" if data.endswith(b"\n") else "\n\n"
    return data + lead.encode() + text.encode("utf-8", "replace"), lead


def refreshed(data: bytes, mark: str, text: str) -> bytes | None:
    """The file with another brief in its block; None when the block is not as it was written: a person's words may stand in it."""
    place = _place(data)
    if place is None or digest(data[slice(*place)]) != mark:
        return None
    return data[: place[0]] + text.encode("utf-8", "replace") + data[place[1] :]


def without_block(data: bytes, lead: str, mark: str) -> bytes | None:
    """The file without its block and what was put before it; None when the block is gone or was changed."""
    place = _place(data)
    if place is None or digest(data[slice(*place)]) != mark:
        return None
    above = data[: place[0]]
    return above.removesuffix(lead.encode()) + data[place[1] :]


def _place(data: bytes) -> tuple[int, int] | None:
    start = data.find(OPENS)
    end = data.find(CLOSES, start)
    return (start, end + len(CLOSES)) if start >= 0 and end >= 0 else None
