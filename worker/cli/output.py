"""What commands print: one JSON object with --json, else text for a person; progress goes to standard error."""

from __future__ import annotations

import json
import sys
import time
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import Enum

from pipelines.store.measured import ScopeHealth
from pipelines.store.values import Dream
from pipelines.text.controls import without_controls


def print_json(value: object) -> None:
    """One object on one line, keys in their order, non-ASCII as it is."""
    print(json.dumps(value, ensure_ascii=False, default=_plain))


def visible(text: str) -> str:
    """Text of logs and file names as a terminal may show it: on one line, nothing that moves the cursor, colours or turns the direction round."""
    return "".join(ch if ch.isprintable() else "\ufffd" for ch in " ".join(without_controls(text).split()))


def columns(text: str) -> int:
    """How many columns of a terminal a text takes: letters of East Asia take two, marks over a letter none."""
    return sum(0 if unicodedata.combining(ch) else 2 if unicodedata.east_asian_width(ch) in "WF" else 1 for ch in text)


def counted(counts: Mapping[str, int]) -> str:
    """`user 3, no log 12`: the counts that are not zero, as they come."""
    return ", ".join(f"{name.replace('_', ' ')} {n}" for name, n in counts.items() if n) or "none"


def is_cut_short(dream: Dream) -> bool:
    """Whether a dream nobody works on was a command's that ended too soon; of others a worker takes the next unit up."""
    return dream.cause == "command"


def unattended(dream: Dream, workers: int) -> str:
    """What becomes of a dream that has not ended and that no process works on, where so many workers were seen."""
    if is_cut_short(dream):
        return "cut short; the next dream goes on from there"
    if workers:
        return f"waits until a worker takes it up ({many(workers, 'worker')} seen)"
    return "waits for a worker: dreamd up or dreamd worker runs it"


def many(count: int, noun: str) -> str:
    """`1 session`, `2 sessions`: a count with its noun, for nouns that take an s."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def stalled(of: ScopeHealth, most: int) -> str:
    """A warning when `most` dreams in a row confirmed nothing although something could be believed; "" when all is well."""
    if of.unpromoted < most or not of.eligible:
        return ""
    what = f"{many(of.eligible, 'claim')} passed all gates and {'is' if of.eligible == 1 else 'are'} not believed"
    return f"{many(of.unpromoted, 'quiet dream')} in a row confirmed nothing although {what}: dreamd doctor says what to do"


def table(heads: Sequence[str], lines: Sequence[Sequence[str]], *, words: int) -> None:
    """Columns side by side: the first `words` of them are words, the others numbers. A last column with nothing in it is left out."""
    if not any(line[-1] for line in lines):
        heads, lines = heads[:-1], [line[:-1] for line in lines]
    widths = [max(len(row[n]) for row in (heads, *lines)) for n in range(len(heads))]
    for row in (heads, *lines):
        print("  ".join(cell.ljust(width) if n < words else cell.rjust(width) for n, (cell, width) in enumerate(zip(row, widths, strict=True))).rstrip())


class Progress:
    """One changing line on a terminal for work that takes longer than a second; silent elsewhere."""

    def __init__(self, *, quiet: bool) -> None:
        self._on = not quiet and sys.stderr.isatty()
        self._start = time.monotonic()
        self._shown = False

    def __call__(self, what: str, done: int, total: int) -> None:
        """Say where the work is; `total` 0 leaves the count out."""
        if not self._on or time.monotonic() - self._start < 1:
            return
        count = f" {done}/{total}" if total else ""
        print(f"\r\x1b[K{what}{count}", end="", file=sys.stderr, flush=True)
        self._shown = True

    def done(self) -> None:
        """Leave no half line behind."""
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self._shown = False


def _plain(value: object) -> object:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, frozenset | set):
        return sorted(value)
    return str(value)
