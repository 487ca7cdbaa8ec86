"""Sentences of a text, with exact offsets: what a quote is cut from, so no sentence ever starts or ends inside a path, a version or a code span."""

# Word lists read better as text.
# ruff: noqa: SIM905

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .words import is_cjk

_LINE = re.compile(r"[^\n\r\u2028\u2029\x85\x0b\x0c]+")
# What a line may open with and a sentence does not: quote marks, bullets, list numbers, task boxes, headings. 1.2 is no list number.
_OPENING = re.compile(r"(?:\s|>|[-*+•·–—](?=\s)|\d{1,3}[.)](?=\s)|[(（]?\d{1,2}[)）、]|\[[ xX]\](?=\s)|#{1,6}(?=\s))+")
_FENCE = re.compile(r"\s*(```+|~~~+)")
_END = re.compile(r"[.!?…。！？．｡]+")
_CODE = re.compile(r"(?<!`)(`+)(?!`)[^\n]+?(?<!`)\1(?!`)")
_HARD = frozenset("。！？｡")
_CLOSERS = "\"'”’»」』）)]】*_"
_ABBREVIATIONS = frozenset(
    """e.g i.e eg ie vs cf mr mrs ms dr prof nr approx ca eq dept jan feb apr jun jul aug sep sept oct nov dec tue wed thu z.b d.h bzw ggf u.a
    p.ex sr sra resp""".split()
)
# Abbreviations that are words too: only before a number, or capitalised before a capital (St. John, No. 5; "say no. Then stop" is two sentences).
_ALSO_WORDS = frozenset("no st min max sec co mon mar al est fig fri".split())


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Characters `start` to `end` (exclusive) of a text; never empty."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """The words the span covers."""
        return text[self.start : self.end]


def sentences(text: str) -> list[Span]:
    """Spans of the sentences in order: disjoint, trimmed, never empty. Bullets and list numbers belong to no sentence; a line of a code fence is one."""
    found: list[Span] = []
    fence = ""
    for line in _LINE.finditer(text):
        mark = _FENCE.match(line.group())
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
            continue
        start, end = line.span()
        if not fence:
            opening = _OPENING.match(text, start, end)
            found.extend(_cut(text, opening.end() if opening else start, end))
        elif span := _trimmed(text, start, end):
            found.append(span)
    return found


AROUND_MAX = 2_000
"""Characters looked at on each side of a quote: what is longer is no sentence."""


def sentence_at(text: str, start: int, end: int) -> Span | None:
    """The stretch of sentences that covers characters `start` to `end`, or None where no sentence touches them; at most AROUND_MAX beyond either side."""
    cut = max(0, start - AROUND_MAX)
    near = text[cut : end + AROUND_MAX]
    touched = [span for span in sentences(near) if cut + span.start < end and start < cut + span.end]
    return Span(cut + touched[0].start, cut + touched[-1].end) if touched else None


def _cut(text: str, start: int, end: int) -> Iterator[Span]:
    """Sentences of one line."""
    code = _code_spans(text, start, end)
    at = start
    for mark in _END.finditer(text, start, end):
        stop = _stop(text, mark, end)
        if stop is None or stop <= at or any(a < mark.start() < b for a, b in code):
            continue
        if span := _trimmed(text, at, stop):
            yield span
        at = stop
    if span := _trimmed(text, at, end):
        yield span


def _stop(text: str, mark: re.Match[str], end: int) -> int | None:
    """Where the sentence closed by `mark` ends (closing quotes included), or None when the mark closes nothing."""
    stop = mark.end()
    while stop < end and text[stop] in _CLOSERS:
        stop += 1
    if _HARD & set(mark.group()):
        return stop
    followed = stop >= end or text[stop].isspace() or is_cjk(text[stop])
    return stop if followed and not _abbreviated(text, mark) else None


def _abbreviated(text: str, mark: re.Match[str]) -> bool:
    """A single full stop behind an abbreviation or an initial."""
    if mark.group() != ".":
        return False
    start = mark.start()
    while start > 0 and (text[start - 1].isalnum() or text[start - 1] == ".") and not is_cjk(text[start - 1]):
        start -= 1
    word = text[start : mark.start()]
    if len(word) == 1 and word.isupper() and word not in {"I", "C", "R"}:
        return mark.end() < len(text) and text[mark.end()] == " "
    if word.casefold() in _ALSO_WORDS:
        return re.match(r"\s\d" if word.islower() else r"\s[A-Z\d]", text[mark.end() : mark.end() + 2]) is not None
    return word.casefold() in _ABBREVIATIONS


def _code_spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    return [match.span() for match in _CODE.finditer(text, start, end)]


def _trimmed(text: str, start: int, end: int) -> Span | None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start, end) if start < end else None
