"""Where a topic that is too long for a page is cut: a large one into sections by what stands near each note, a section into parts by what fits a page.

Pure, over small values: whoever has only rows of a topic cuts it as one who has all its notes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby

from pipelines.model import digest
from pipelines.wiki import inline
from pipelines.wiki.lines import day

SUBJECT_NOTES_MIN = 3
PAGE_NOTES_MAX, PAGE_LINES_MAX, PAGE_BYTES_MAX = 60, 200, 12_000
PAGE_FRAME_LINES, PAGE_FRAME_BYTES = 32, 1_800
"""What front matter, our own headings and links of a page take at most, left free when a topic is split."""


# --- sections of large topics ------------------------------------------------------------------------------------------------------------

LARGE_NOTES = 300
"""From so many notes on, a shelf or subject is cut into sections; below, it is one topic, in numbered parts."""
NEAR = 20
"""How many notes before and after decide whether a section begins at a note: sections have more than this, and twice as many on average."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a note stands among those of its topic: by subject, then in the order they were learnt. `oldest` is in microseconds, `form` the subject's."""

    key: str
    oldest: int
    uid: str
    form: str

    @property
    def order(self) -> tuple[str, int, str]:
        """What notes of a topic are sorted by."""
        return (self.key, self.oldest, self.uid)


NEVER = 10**18
"""`Spot.oldest` of a note whose evidence has no time: behind all that have one."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def beginnings(spots: Sequence[Spot]) -> list[int]:
    """Where sections begin among spots in order, the first one left out: at a note whose digest is the least of all near it, at the first note of a
    subject where one is near."""
    weights = [_weight(s, begins_group(spots, n)) for n, s in enumerate(spots)]
    return [n for n in range(1, len(spots)) if weights[n] == min(weights[max(0, n - NEAR) : n + NEAR + 1])]


def begins_group(spots: Sequence[Spot], n: int) -> bool:
    """Whether a spot is the first of its subject."""
    return n == 0 or spots[n - 1].key != spots[n].key


def _weight(at: Spot, first: bool) -> tuple[bool, str]:
    return (not first, digest("section", at.key if first else at.uid))


def section_names(topic: str, title: str, begin: Spot, *, first: bool, of_subject: bool) -> tuple[str, str]:
    """Key and title of the section that begins here: by its first subject, inside of one by the day of its first note.

    `first`: a subject begins here; `of_subject`: the whole topic is one, and named in its title.
    """
    form = inline.clean(begin.form)[:SECTION_CHARS_MAX] if first or not of_subject else ""
    since = "" if first else f"from {day(EPOCH + timedelta(microseconds=begin.oldest))}" if begin.oldest != NEVER else begin.uid
    return f"{topic}\n{'=' + begin.key if first else '+' + begin.uid}", inline.clean(f"{title}: {form} {since}")


SECTION_CHARS_MAX = 40


# --- parts that fit a page ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Piece:
    """A note as splitting sees it: its lines and bytes, its group (a heading of its file, else its subject), and whether the group takes a heading."""

    uid: str
    group: str
    headed: bool
    lines: int
    size: int


def cut(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """The pieces in parts that fit a page each, cut between headings or subjects where one is near; one part at least, which may be empty."""
    parts: list[list[Piece]] = [[]]
    room = _Room()
    for _, run in groupby(pieces, key=lambda p: p.group):
        group = list(run)
        if parts[-1] and not room.takes(group) and _Room().takes(group):
            parts.append([])
            room = _Room()
        for one in group:
            if parts[-1] and not room.takes((one,)):
                parts.append([])
                room = _Room()
            parts[-1].append(one)
            room.add(one)
    if len(parts) > 1 and len(parts[-1]) < SUBJECT_NOTES_MIN < len(parts[-2]) - SUBJECT_NOTES_MIN:
        parts[-1] = parts[-2][-SUBJECT_NOTES_MIN:] + parts[-1]
        parts[-2] = parts[-2][:-SUBJECT_NOTES_MIN]
    return parts


class _Room:
    """What is taken of a page."""

    def __init__(self) -> None:
        self.count, self.lines, self.size = 0, PAGE_FRAME_LINES, PAGE_FRAME_BYTES
        self.headings: set[str] = set()

    def takes(self, more: Sequence[Piece]) -> bool:
        """Whether these fit, too."""
        headings = {p.group for p in more if p.headed} - self.headings
        lines = self.lines + 4 * len(headings) + sum(p.lines for p in more)
        size = self.size + sum(map(_heading_bytes, headings)) + sum(p.size for p in more)
        return self.count + len(more) <= PAGE_NOTES_MAX and lines <= PAGE_LINES_MAX and size <= PAGE_BYTES_MAX

    def add(self, one: Piece) -> None:
        """Take room for a piece."""
        if one.headed and one.group not in self.headings:
            self.headings.add(one.group)
            self.lines, self.size = self.lines + 4, self.size + _heading_bytes(one.group)
        self.count, self.lines, self.size = self.count + 1, self.lines + one.lines, self.size + one.size


def _heading_bytes(heading: str) -> int:
    return len(heading.encode("utf-8", "replace")) + 8


def fits_surely(bounds: Iterable[tuple[int, int]]) -> bool:
    """Whether notes with these upper bounds fit a page without weighing them."""
    count, lines, size = 0, PAGE_FRAME_LINES, PAGE_FRAME_BYTES
    for more, bytes_ in bounds:
        count, lines, size = count + 1, lines + more, size + bytes_
    return count <= PAGE_NOTES_MAX and size <= PAGE_BYTES_MAX and lines <= PAGE_LINES_MAX
