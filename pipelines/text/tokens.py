"""THE search tokenizer: one for documents and queries, SQLite and PostgreSQL, so that both answer alike.

A code-like word gives itself whole and its parts (`a_b.c` → a_b.c, a_b, a, b, c); C++ and C# stay whole only, so that a search for C finds neither.
Plain English words give their stem. A run of CJK characters gives its bigrams, in order, then its single characters (documents only: a query of
two or more characters asks for bigrams, which is what makes a substring of a sentence findable).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from .words import ENGLISH_STOP, WORD, runs, stem

_LEVELS = (re.compile(r"[/\\:@=]+"), re.compile(r"\.+"), re.compile(r"(?=#)"), re.compile(r"[-+]+"), re.compile(r"_+"), re.compile(r"['’]+"))
_SHARP = re.compile(r"([a-z]{1,2}\+\+|[a-z]{1,2}#(?!\w))(.*)", re.IGNORECASE)
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]+|[a-z]+|[0-9]+")


def tokenize(text: str) -> list[str]:
    """Tokens of a document: NFKC, casefolded, order kept, a token once for every place it stands."""
    return _tokens(unicodedata.normalize("NFKC", text), singles=True)


def tokens_of_query(text: str) -> list[str]:
    """Tokens of a query, each once: as `tokenize`, but without single characters of a longer CJK run and without stop words (unless nothing else is left)."""
    found = list(dict.fromkeys(_tokens(unicodedata.normalize("NFKC", text), singles=False)))
    kept = [token for token in found if token not in STOP_TOKENS]
    return kept or found


STOP_TOKENS = frozenset(stem(word) for word in ENGLISH_STOP if "'" not in word)
"""Tokens of words that every English sentence may have."""


def _tokens(text: str, *, singles: bool) -> list[str]:
    tokens: list[str] = []
    for start, end, cjk in runs(text):
        if cjk:
            tokens += _bigrams(text[start:end], singles=singles)
        else:
            for word in WORD.findall(text, start, end):
                tokens += _parts(word)
    return tokens


def _bigrams(run: str, *, singles: bool) -> Iterator[str]:
    if len(run) == 1:
        yield run
        return
    yield from (run[i : i + 2] for i in range(len(run) - 1))
    if singles:
        yield from run


@lru_cache(maxsize=1 << 16)
def _parts(word: str) -> tuple[str, ...]:
    """The word, then its parts, level by level; each spelling once. Kept, since few words make up most of a log."""
    if word.isascii() and word.isalpha() and word.islower():  # most words, and they have no parts
        return (stem(word),)
    seen: dict[str, None] = {}
    _collect(word, seen, 0)
    return tuple(seen)


def _collect(word: str, seen: dict[str, None], level: int) -> None:
    plain = word.casefold()
    if not any(map(str.isalnum, plain)):
        return
    seen.setdefault(stem(plain))
    if sharp := _SHARP.fullmatch(word):
        for piece in sharp.groups() if sharp[2] else ():
            _collect(piece, seen, level)
        return
    for depth in range(level, len(_LEVELS)):
        pieces = [piece for piece in _LEVELS[depth].split(word) if piece]
        if len(pieces) > 1 or (pieces and pieces[0] != word):
            for piece in pieces:
                _collect(piece, seen, depth + 1)
            return
    bare = word.lstrip("#$~@")
    if bare != word:
        _collect(bare, seen, len(_LEVELS))
        return
    humps = _CAMEL.findall(word) if word.isascii() and word.isalnum() else []
    if len(humps) > 1:
        for hump in humps:
            seen.setdefault(stem(hump.casefold()))
