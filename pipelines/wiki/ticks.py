"""What a person decided in `inbox.md` itself: a ticked line, a line taken out, a line in other words. Pure; the caller knows whose hand it may have been.

Only a whole file speaks (systems R1): one that is empty, half saved, torn by a merge, put back to an older state or stripped of more lines than a person
takes out one by one says nothing at all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum

from pipelines.wiki.edits import NotAnEdit, doubt, line_key, parts

INBOX_PATH = "inbox.md"
REMOVED_MAX = 3
"""So many lines may always be gone; more only as long as half of them stay."""
_ROW = re.compile(r"^\s*[-*+] +(?:\[(?P<mark>[ xX])\] +)?(?P<words>.*?)(?P<notes>(?: *\[\^\d+\])*) +\^(?P<anchor>n-[a-z0-9-]+)[ \t]*$")
_COMMAND = re.compile(r": `dreamd [^`]*`$")
_ANCHOR = re.compile(r"\^n-[a-z0-9-]+")
_BARE = re.compile(r"~~|\s+\^n-[a-z0-9-]+")
_ESCAPED = re.compile(r"\\([^\w\s])")


class Said(StrEnum):
    """What was done to a line."""

    ACCEPT = "accept"
    REJECT = "reject"
    EDIT = "edit"


@dataclass(frozen=True, slots=True)
class Tick:
    """A decision about the thing with this block id; `text` are the new words of an edit."""

    said: Said
    anchor: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Ticks:
    """The decisions of a file, and whether it holds nothing else that is not ours, so that it may be written anew."""

    made: tuple[Tick, ...]
    only: bool


@dataclass(frozen=True, slots=True)
class _Row:
    words: str
    ticked: bool


def read_ticks(found: bytes, base: bytes) -> Ticks | NotAnEdit:
    """The decisions made since `base` was published."""
    text = found.decode("utf-8", "surrogateescape")
    if why := doubt(INBOX_PATH, text):
        return NotAnEdit(INBOX_PATH, why)
    (head, own, _), (was, own_before, _) = (parts(INBOX_PATH, t) for t in (text, base.decode("utf-8", "surrogateescape")))
    rows, before = _rows(head), _rows(was)
    missing = [anchor for anchor in before if anchor not in rows]
    elsewhere = _written("\n".join([*(line for line in head.splitlines() if not _is_of(line, rows.keys() & before.keys())), *_new_lines(own, own_before)]))
    gone = [anchor for anchor in missing if not _stands(anchor, before[anchor], elsewhere)]
    if gone and _frame(was, before, gone) - _frame(head, rows, ()):
        return NotAnEdit(INBOX_PATH, "rest_changed")
    if len(gone) > max(REMOVED_MAX, len(before) // 2):
        return NotAnEdit(INBOX_PATH, "too_many_removed")
    made = [Tick(Said.REJECT, anchor) for anchor in gone]
    for anchor, row in rows.items():
        if (old := before.get(anchor)) is not None:
            made += _decided(anchor, row, old)
    strangers = _frame(head, rows, ()) - _frame(was, before, ())
    told_twice = any(_stands(anchor, before[anchor], _written(head)) for anchor in missing)
    return Ticks(tuple(made), only=not strangers and not told_twice and rows.keys() <= before.keys())


def _decided(anchor: str, row: _Row, old: _Row) -> list[Tick]:
    if line_key(row.words) != line_key(old.words):
        text = statement_of(row.words, old.words)
        return [Tick(Said.EDIT, anchor, text)] if text else []
    return [Tick(Said.ACCEPT, anchor)] if row.ticked and not old.ticked else []


def statement_of(words: str, old: str) -> str:
    """The sentence of a line in other words: without the reason and the command that stood behind the old one, as far as they are still there."""
    command = _COMMAND.search(old)
    if command:
        words = words.removesuffix(command[0])
        reason = re.search(r" \([^()]*\)$", old[: command.start()])
        words = words.removesuffix(reason[0]) if reason else words
    return " ".join(_ESCAPED.sub(r"\1", words).split())


def _rows(head: str) -> Mapping[str, _Row]:
    """The lines with a block id; of two that do not say the same, as a merge of two copies leaves them, neither says anything."""
    found: dict[str, set[_Row]] = {}
    for line in head.splitlines():
        if m := _ROW.match(line):
            found.setdefault(m["anchor"], set()).add(_Row(m["words"], (m["mark"] or " ") in "xX"))
    return {anchor: next(iter(rows)) for anchor, rows in found.items() if len(rows) == 1}


def _is_of(line: str, anchors: Set[str]) -> bool:
    """Whether a line is the row of one of these."""
    return bool((m := _ROW.match(line)) and m["anchor"] in anchors)


def _new_lines(own: str, before: str) -> list[str]:
    """What stands in the person's part since."""
    stood = set(before.splitlines())
    return [line for line in own.splitlines() if line not in stood]


def _written(text: str) -> str:
    """Text as it is compared with a row: what a list mark, a line break or a struck-through word adds is gone."""
    return " ".join(_BARE.sub("", " ".join(map(line_key, text.splitlines()))).split()) + " " + " ".join(_ANCHOR.findall(text))


def _stands(anchor: str, row: _Row, written: str) -> bool:
    """Whether a line that is no row any more still stands somewhere, in whatever shape: what a person or a formatter moved was not taken out."""
    words = " ".join(_BARE.sub("", line_key(row.words)).split())
    return f"^{anchor}" in written.split() or (bool(words) and words in written)


def _frame(head: str, rows: Mapping[str, _Row], gone: Sequence[str]) -> set[str]:
    """The lines of ours around the rows; headings whose rows are all gone need not stay."""
    out: set[str] = set()
    heading, left = "", 0
    for line in [*head.splitlines(), "## "]:
        match = _ROW.match(line)
        if line.startswith("## "):
            if heading and left:
                out.add(line_key(heading))
            heading, left = line, 0
        elif match:
            left += match["anchor"] not in gone
        elif line.strip():
            left += bool(heading)
            out.add(line_key(line))
    return out
