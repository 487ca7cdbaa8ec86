"""Whether a text carries words that were forgotten, and the same text without them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from pipelines.text.tokens import STOP_TOKENS, tokenize

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+")
TOKEN_MIN = 3
"""Characters of the shortest token of plain letters or digits that tells a text apart."""


def words_of(text: str) -> list[str]:
    """The words of a text in order, for comparing whole words: folded, punctuation gone, each character of East Asian writing a word."""
    return _WORD.findall(folded(text))


def phrases_of(words: list[str], size: int) -> set[tuple[str, ...]]:
    """Every run of `size` words."""
    return {tuple(words[i : i + size]) for i in range(len(words) - size + 1)} if size > 0 else set()


def telling(text: str) -> frozenset[str]:
    """Search tokens of a text that are long enough to tell it apart, and no words of every sentence."""
    return frozenset(token for token in tokenize(text) if (len(token) >= TOKEN_MIN or not token.isascii()) and token not in STOP_TOKENS)


def strings_of(value: object, *, names: bool = True) -> Iterator[str]:
    """Every string in a JSON value, with the names in it or without."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings_of(item, names=names)
    elif isinstance(value, dict):
        for name, item in value.items():
            if names:
                yield str(name)
            yield from strings_of(item, names=names)


FEW = 64
"""Tokens that are looked for one by one in a text before it is taken apart; for more that takes longer."""


def folded(text: str) -> str:
    """A text as it is looked through: every word and token of it stands in this, a token but for its last letter (`_begin`)."""
    return unicodedata.normalize("NFKC", text).casefold()


def may_hold(tokens: frozenset[str], plain: str) -> bool:
    """False when a text, folded, certainly holds none of these tokens; far quicker than taking it apart."""
    return bool(tokens) and (len(tokens) > FEW or any(begin in plain for begin in _begins(tokens)))


@lru_cache(maxsize=64)
def _begins(tokens: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted({_begin(token) for token in tokens}))


def _begin(token: str) -> str:
    """What of a token stands in the text: a stem ends in another letter than its word did ("tries", "tri"; "happy", "happi")."""
    return token[:-1] if len(token) > 1 and token.isascii() and token.isalpha() else token


@lru_cache(maxsize=8)
def _named(ids: frozenset[str]) -> re.Pattern[str]:
    """Finds any of these ids where it is not a part of a longer word."""
    return re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(map(re.escape, sorted(ids)))})(?![A-Za-z0-9])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Traces:
    """What is looked for: phrases (whole words in order), tokens no other text holds, and ids as they stand."""

    phrases: frozenset[tuple[str, ...]] = frozenset()
    tokens: frozenset[str] = frozenset()
    ids: frozenset[str] = field(default=frozenset())

    def __bool__(self) -> bool:
        return bool(self.phrases or self.tokens or self.ids)

    def within(self, text: str | None) -> bool:
        """Whether the text carries any of it."""
        if not text:
            return False
        if self.ids and _named(self.ids).search(text):
            return True
        plain = folded(text)
        if any(all(word in plain for word in phrase) for phrase in self.phrases):
            words = words_of(text)
            if any(not self.phrases.isdisjoint(phrases_of(words, size)) for size in {len(p) for p in self.phrases}):
                return True
        return may_hold(self.tokens, plain) and not self.tokens.isdisjoint(tokenize(text))

    def without(self, value: object) -> object:
        """A JSON value with every string that carries any of it emptied, and every name that does left out."""
        match value:
            case str():
                return "" if self.within(value) else value
            case list():
                return [self.without(item) for item in value]
            case dict():
                return {name: self.without(item) for name, item in value.items() if not self.within(name)}
            case _:
                return value

    def lines_without(self, text: str) -> str:
        """The text without the lines that carry any of it."""
        return "".join(line for line in text.splitlines(keepends=True) if not self.within(line))
