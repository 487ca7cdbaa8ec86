"""Where a model's quote stands in a turn: word for word, Unicode composition and white space folded, with offsets into the turn's own text."""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterator, Sequence
from functools import lru_cache

from pipelines.model import Quote, Turn
from pipelines.text.words import is_cjk

from .windows import unescaped


def located(turn: Turn, words: str) -> Quote:
    """The quote with the place it stands at; one that stands nowhere in the turn gets a place where it does not, for the quote gate to refuse."""
    for wanted in dict.fromkeys((words, unescaped(words))):
        if span := find(turn.text, wanted):
            return Quote(turn=turn.uid, start=span[0], end=span[1], text=turn.text[span[0] : span[1]])
    return nowhere(turn.uid, words)


def nowhere(turn: str, words: str) -> Quote:
    """A quote that stands nowhere: no offsets, which no gate passes."""
    return Quote(turn=turn, start=0, end=0, text=words)


def find(text: str, words: str) -> tuple[int, int] | None:
    """Where `words` stand in `text`, folded; the first place that cuts no word, else the first at all; None for nowhere."""
    wanted = _SPACE.sub(" ", unicodedata.normalize("NFC", words)).strip()
    if not wanted:
        return None
    spans = list(_spans(text, wanted))
    return next((span for span in spans if not _cuts(text, *span)), spans[0] if spans else None)


FOLD_MAX = 4_000_000
"""Characters of a turn in which a quote is looked for folded; in a longer one it has to stand as it is."""
PLACES_MAX = 20
"""Places of one quote in one turn that are looked at."""
_SPACE = re.compile(r"\s+")


def _spans(text: str, wanted: str) -> Iterator[tuple[int, int]]:
    at = text.find(wanted)
    if at >= 0:
        for _ in range(PLACES_MAX):
            yield at, at + len(wanted)
            if (at := text.find(wanted, at + 1)) < 0:
                return
        return
    if len(text) > FOLD_MAX:
        return
    folded, places = fold(text)
    at = folded.find(wanted)
    for _ in range(PLACES_MAX):
        if at < 0:
            return
        yield places[at], places[at + len(wanted)]
        at = folded.find(wanted, at + 1)


@lru_cache(maxsize=4)
def fold(text: str) -> tuple[str, Sequence[int]]:
    """The text in NFC with runs of white space as one space, and for each character of it (and its end) the offset in `text` it comes from."""
    folded: list[str] = []
    places = array("L")
    at = 0
    for piece in _pieces(text):
        made = " " if piece[0].isspace() else piece if piece.isascii() else unicodedata.normalize("NFC", piece)
        folded.append(made)
        places.extend(range(at, at + len(piece)) if made == piece else (at,) * len(made))
        at += len(piece)
    places.append(at)
    return "".join(folded), places


_PIECE = re.compile(r"\s+|[\x21-\x7e]+(?![^\x00-\x7f])|[\x21-\x7e]|\S", re.DOTALL)


def _pieces(text: str) -> Iterator[str]:
    """White space in runs, and the shortest pieces that can be composed on their own."""
    held = ""
    for found in _PIECE.finditer(text):
        piece = found.group()
        if held and (held.isspace() or piece[0].isspace() or piece.isascii() or _stands_alone(held, piece)):
            yield held
            held = ""
        held += piece
    if held:
        yield held


def _stands_alone(held: str, piece: str) -> bool:
    """Whether composing the two apart is composing them together."""
    if unicodedata.combining(piece[0]):
        return False
    return unicodedata.normalize("NFC", held[-8:] + piece) == unicodedata.normalize("NFC", held[-8:]) + unicodedata.normalize("NFC", piece)


def _cuts(text: str, start: int, end: int) -> bool:
    """Whether a stretch begins or ends inside a word."""
    return _inside_word(text, start) or _inside_word(text, end)


def _inside_word(text: str, at: int) -> bool:
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    return before.isalnum() and after.isalnum() and not is_cjk(before) and not is_cjk(after)
