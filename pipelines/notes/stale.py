"""Numbers of one folder of notes that have moved on, found in the notes alone: the same sentence with another number, and the outcome of a test run told again.

A count that a command prints is out of date the day after it was written down ("2129 tests", "2000 tests", "1948 tests"). Of several the newest stays, where
the files say when they were written, or one file has them all and was written from top to bottom; a file's time on this disk says nothing. Numbers that only
name a thing (plan 12, step 3) are no counts. Pure.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pipelines.model import OnlineNote
from pipelines.text.sentences import sentences

FRAME_WORDS_MIN = 4
"""Words two sentences must share beside their numbers to speak of one thing."""
SUITE_MIN = 20
"""Tests from which on a run is the project's, not one file's."""
_NUMBER = re.compile(r"(?<![\w.#/:\-–])\d[\d,]*(?:\.\d+)?(?![\w:\-–]|\.\d)")
_NAMED = re.compile(
    r"(?:\b(?:plan|iter\w*|step|phase|stage|version|v|issue|pr|chapter|line|page|task|part|level|lod|rev|no|chunk|sprint|week|day|round|example|option|rule|case)\.?\s*"
    r"|[–-]\s*)$",
    re.IGNORECASE,
)
_RUN = re.compile(r"(?<![\w.#/\-])(?P<count>\d[\d,]*)\s+(?:unit |automated |total )?tests?\b(?=[^.;\n]{0,24}\b(?:green|pass(?:ing|ed|es)?)\b)", re.IGNORECASE)
RUN = "a test run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A number somebody wrote down: where, the words it stands in, and what it counts (a sentence without its numbers, or "a test run")."""

    note: str
    path: str
    line: int
    words: str
    value: str
    frame: str
    at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stale:
    """A number that is out of date beside a newer one; `newest` is None where nothing tells which of them is the newest."""

    counted: Counted
    newest: Counted | None


def stale_numbers(notes: Iterable[OnlineNote]) -> tuple[Stale, ...]:
    """The numbers of these notes (of one folder) that others of them contradict, in order of file and line."""
    found: defaultdict[tuple[str, str], list[Counted]] = defaultdict(list)
    for note in notes:
        if note.shape in {"bullet", "paragraph"} and not note.index:
            for counted in _counted(note):
                found[(note.folder, counted.frame)].append(counted)
    out = [stale for several in found.values() for stale in _stale(several)]
    return tuple(sorted(out, key=lambda s: (s.counted.path, s.counted.line, s.counted.words)))


def _counted(note: OnlineNote) -> Iterator[Counted]:
    at = note.written_at.timestamp() if note.written_at and note.dated_by in {"modified", "git", "log"} else None
    for sentence in sentences(note.text):
        words = " ".join(note.text[sentence.start : sentence.end].split())
        run = _RUN.search(words)
        if run and int(run["count"].replace(",", "")) >= SUITE_MIN:
            yield Counted(note=note.uid, path=note.path, line=note.line, words=words, value=run["count"].replace(",", ""), frame=RUN, at=at)
            continue
        numbers = [m for m in _NUMBER.finditer(words) if not _NAMED.search(words[: m.start()])]
        frame = _framed(words, numbers)
        if len(numbers) == 1 and len(re.findall(r"[^\W\d_]+", frame)) >= FRAME_WORDS_MIN:
            yield Counted(note=note.uid, path=note.path, line=note.line, words=words, value=numbers[0].group(), frame=frame, at=at)


def _framed(words: str, numbers: Sequence[re.Match[str]]) -> str:
    for m in reversed(numbers):
        words = f"{words[: m.start()]}#{words[m.end() :]}"
    return words.casefold().strip(" .。!")


def _stale(several: Sequence[Counted]) -> Iterator[Stale]:
    if len({c.value for c in several}) < 2:
        return
    newest = _newest(several)
    for counted in several:
        if newest is None or counted.value != newest.value:
            yield Stale(counted=counted, newest=newest)


def _newest(several: Sequence[Counted]) -> Counted | None:
    """The one that was written last; None where neither dates nor the order in one file tell."""
    dated = [c.at for c in several if c.at is not None]
    if dated and len(dated) == len(several):
        several = [c for c in several if c.at == max(dated)]
    elif len({c.path for c in several}) > 1:
        return None
    if len({c.value for c in several}) > 1 and len({c.path for c in several}) > 1:
        return None
    return max(several, key=lambda c: c.line)


def told_of(stale: Stale) -> str:
    """What a number is out of date beside, in words: "2129 in ship.md line 3"."""
    return f"{stale.newest.value} in {stale.newest.path} line {stale.newest.line}" if stale.newest else "others say otherwise, none is dated"
