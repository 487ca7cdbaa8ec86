"""A model's reply as JSON, read strictly: what is no object of the asked shape is unusable, an item with one wrong leaf is dropped and counted."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from pipelines.ports import Reply

REPLY_MAX = 2_000_000
"""Characters of a reply that are parsed; the longest a model can write is far shorter."""
ITEMS_MAX = 400
"""Items of a reply that are read; what goes beyond repeats itself."""
T = TypeVar("T")


class Fault(StrEnum):
    """Why a reply holds no answer: cut off at its limit, refused, or not of the asked shape."""

    TRUNCATED = "truncated"
    REFUSED = "refused"
    UNUSABLE = "unusable"


class WrongLeaf(Exception):
    """A field that is missing or of another type than asked for; caught where its item is read."""


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of one object of a reply, each read as one type. Every method raises WrongLeaf."""

    given: dict[str, object]

    def text(self, name: str, longest: int, *, empty: bool = True) -> str:
        """A string without control characters at its ends, of at most `longest` characters."""
        found = self.given.get(name)
        if not isinstance(found, str) or "\x00" in found or _HALF.search(found):
            raise WrongLeaf(name)
        found = found.strip()
        if len(found) > longest or not (empty or found):
            raise WrongLeaf(name)
        return found

    def line(self, name: str, longest: int, *, empty: bool = True) -> str:
        """A string on one line, its white space folded."""
        return " ".join(self.text(name, 2 * longest, empty=empty).split())[:longest]

    def number(self, name: str) -> int:
        """A whole number."""
        found = self.given.get(name)
        if isinstance(found, bool) or not isinstance(found, int):
            raise WrongLeaf(name)
        return found

    def yes(self, name: str) -> bool:
        """True or false."""
        found = self.given.get(name)
        if not isinstance(found, bool):
            raise WrongLeaf(name)
        return found

    def word(self, name: str, allowed: Sequence[str]) -> str:
        """One of the allowed words."""
        found = self.given.get(name)
        if not isinstance(found, str) or found not in allowed:
            raise WrongLeaf(name)
        return found

    def many(self, name: str) -> tuple[Fields, ...]:
        """A list of objects, not empty."""
        found = self.given.get(name)
        if not isinstance(found, list) or not found or not all(isinstance(one, dict) for one in found):
            raise WrongLeaf(name)
        return tuple(Fields(one) for one in found)

    def numbers(self, name: str) -> tuple[int, ...]:
        """A list of whole numbers."""
        found = self.given.get(name)
        if not isinstance(found, list) or any(isinstance(one, bool) or not isinstance(one, int) for one in found):
            raise WrongLeaf(name)
        return tuple(found)


_HALF = re.compile("[\ud800-\udfff]")


def lists_of(reply: Reply, *names: str) -> tuple[tuple[object, ...], ...] | Fault:
    """The named lists of a reply, their items not looked into; or why there are none."""
    if reply.stop in {"max_tokens", "model_context_window_exceeded"}:
        return Fault.TRUNCATED
    if reply.stop == "refusal":
        return Fault.REFUSED
    if reply.stop not in {"end_turn", "stop_sequence", ""}:
        return Fault.UNUSABLE
    found = parsed(reply.text)
    if found is None:
        return Fault.UNUSABLE
    lists = [found.get(name) for name in names]
    if not all(isinstance(one, list) for one in lists):
        return Fault.UNUSABLE
    return tuple(tuple(one[:ITEMS_MAX]) for one in lists if isinstance(one, list))


def parsed(text: str) -> dict[str, object] | None:
    """The one JSON object of a text, be it fenced as code or led in by words; None for anything else."""
    text = text[:REPLY_MAX]
    begin, end = text.find("{"), text.rfind("}")
    if begin < 0 or end < begin:
        return None
    try:
        found = json.loads(text[begin : end + 1])
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def each(items: Sequence[object], read: Callable[[Fields], T]) -> tuple[tuple[T, ...], int]:
    """What `read` makes of each item, and how many had a wrong leaf."""
    made: list[T] = []
    dropped = 0
    for item in items:
        try:
            if not isinstance(item, dict):
                raise WrongLeaf("item")
            made.append(read(Fields(item)))
        except WrongLeaf:
            dropped += 1
    return tuple(made), dropped
