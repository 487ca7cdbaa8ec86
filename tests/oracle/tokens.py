"""What the fake server counts and books: tokens by rules of its own, a cache by prefixes, and a price list typed in by hand.

Nothing here is shared with dreamd's own estimate, prices or cache rules, so that a figure of the one can be held against the other.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

_PIECE = re.compile(
    r"(?P<word> ?[A-Za-z]+)|(?P<number> ?[0-9]+)|(?P<cjk>[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff])|(?P<newlines>\s*\n\s*)|(?P<space>[^\S\n]+)"
    r"|(?P<same>([!-/:-@\[-`{-~])\7*)|(?P<letters>[^\W\d_]+)|(?P<rest>.)",
    re.DOTALL,
)
_LENGTHS = {"word": 5, "number": 3, "cjk": 1, "newlines": 8, "space": 8, "same": 4, "letters": 2, "rest": 1}
"""Characters a token holds at most, by what it is made of."""
MESSAGE_TOKENS = 4
"""What the frame of each message costs."""


def pieces(text: str) -> Iterator[str]:
    """The tokens of a text in order; joined they are the text."""
    for match in _PIECE.finditer(text):
        length = _LENGTHS[match.lastgroup if match.lastgroup in _LENGTHS else "same"]
        piece = match.group()
        lead = 1 if piece[0] == " " and len(piece) > 1 and piece[1].isalnum() else 0
        yield piece[: length + lead]
        yield from (piece[at : at + length] for at in range(length + lead, len(piece), length))


def count(text: str) -> int:
    """How many tokens a text has."""
    return sum(1 for _ in pieces(text))


def head(text: str, tokens: int) -> str:
    """The first tokens of a text."""
    return "".join(piece for _, piece in zip(range(tokens), pieces(text), strict=False))


# --- a request -------------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a request in the order of the prefix: tools, system, messages. `marked` ends a prefix to be cached."""

    words: str
    tokens: int
    marked: bool


def blocks(body: Mapping[str, Any]) -> list[Block]:
    """Everything of a request that is counted."""
    found = [_block(tool, json.dumps(tool, sort_keys=True)) for tool in body.get("tools") or ()]
    schema = ((body.get("output_config") or {}).get("format") or {}).get("schema")
    if schema is not None:
        found.append(_block({}, json.dumps(schema, sort_keys=True)))
    found += _of_content(body.get("system") or ())
    for message in body.get("messages") or ():
        found += _of_content(message["content"], frame=MESSAGE_TOKENS, role=message["role"])
    return found


def input_tokens(body: Mapping[str, Any]) -> int:
    """The tokens of a whole request."""
    return sum(block.tokens for block in blocks(body))


def _of_content(content: Any, *, frame: int = 0, role: str = "") -> list[Block]:
    listed = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
    found = [_block(part, role + str(part.get("text", ""))) for part in listed]
    if found:
        found[0] = Block(found[0].words, found[0].tokens + frame, found[0].marked)
    return found


def _block(given: Mapping[str, Any], words: str) -> Block:
    return Block(words, count(words), bool(given.get("cache_control")))


# --- the cache -------------------------------------------------------------------------------------------------------------------------

LIFETIME_S = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """The usage of one answer; `fresh` is what was neither written to nor read from the cache."""

    fresh: int
    output: int
    written: int = 0
    read: int = 0

    @property
    def input(self) -> int:
        """All tokens of the request."""
        return self.fresh + self.written + self.read


@dataclass
class Cache:
    """Prefixes by model; one can be read once the request that wrote it has been answered, until so long after it was last used."""

    _life: dict[str, tuple[float, float]] = field(default_factory=dict)

    def look(self, body: Mapping[str, Any], began: float) -> tuple[int, int, int]:
        """Tokens of a request that are fresh, written and read. One that `began` before the answer that wrote a prefix came cannot read that prefix,
        even when it is booked later."""
        minimum = price_of(str(body["model"])).cache_min
        total, marks = _marks(body)
        usable = [(size, key) for size, key in marks if size >= minimum]
        if not usable:
            return total, 0, 0
        longest = usable[-1][0]
        read = max((size for size, key in usable if self._lives(key, began)), default=0)
        return total - longest, longest - read, read

    def keep(self, body: Mapping[str, Any], now: float) -> None:
        """The prefixes of a request that has been answered can be read from now on."""
        for _, key in _marks(body)[1]:
            since = self._life[key][0] if self._lives(key, now) else now
            self._life[key] = (since, now + LIFETIME_S)

    def _lives(self, key: str, at: float) -> bool:
        since, until = self._life.get(key, (0.0, -1.0))
        return since <= at <= until


def _marks(body: Mapping[str, Any]) -> tuple[int, list[tuple[int, str]]]:
    """The tokens of a request, and each marked prefix with its size and identity."""
    total, marks = 0, []
    state = hashlib.sha256(str(body["model"]).encode())
    for block in blocks(body):
        total += block.tokens
        state.update(block.words.encode("utf-8", "surrogatepass") + b"\0")
        if block.marked:
            marks.append((total, state.hexdigest()))
    return total, marks


# --- money -----------------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """Dollars per million tokens in and out, up to `upto` tokens of a prompt and beyond; `read` is a cached token's share."""

    cheap: tuple[str, str]
    dear: tuple[str, str] | None = None
    upto: int = 0
    read: str = "0.10"
    cache_min: int = 1024


PRICES = {
    "claude-haiku-5-5": Listed(cheap=("0.10", "0.50"), dear=("0.50", "2.50"), upto=100_000, cache_min=512),
    "claude-haiku-4-5": Listed(cheap=("1", "5"), cache_min=4096),
    "claude-sonnet-5-5": Listed(cheap=("2", "10"), read="0.05"),
    "claude-opus-5-5": Listed(cheap=("4", "20"), read="0.05"),
    "claude-opus-5": Listed(cheap=("5", "25"), cache_min=512),
    "claude-fable-5-1": Listed(cheap=("10", "50"), read="0.025"),
}
FREE = Listed(cheap=("0", "0"))
"""What a model of a local server costs."""


def price_of(model: str) -> Listed:
    """The price of a model; nothing for one that is not listed."""
    return PRICES.get(model, FREE)


def dollars(model: str, used: Tokens, *, batch: bool = False) -> Fraction:
    """What an answer costs, exactly."""
    price = price_of(model)
    fresh, output = price.dear if price.dear and used.input > price.upto else price.cheap
    share = used.fresh + Fraction("1.25") * used.written + Fraction(price.read) * used.read
    total = (share * Fraction(fresh) + used.output * Fraction(output)) / 1_000_000
    return total / 2 if batch else total
