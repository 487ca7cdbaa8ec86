"""A contradiction as a person sees it: its sides by number, with dates, speakers and words, and how it was decided."""

from __future__ import annotations

from datetime import datetime

from pipelines.notes.instructions import Told
from pipelines.run.beside import words_of
from pipelines.run.disputes import OPEN, Contradiction, Stand
from worker.cli.output import visible

QUOTE_MAX = 160


def print_sides(note: str, found: Contradiction) -> None:
    """The sides, the verdict, and the command that gives one."""
    for side in found.sides:
        right = " (holds)" if side.number == found.right else ""
        print(f"  side {side.number}{right}, {_span(side)}, {visible(', '.join(side.said_by)) or 'nobody'}: {_line(side.statement)}")
        for quote in side.quotes:
            print(f"      “{_line(quote.text)}”")
    if found.verdict == OPEN:
        print(
            f"  verdict: open, nothing orders the sides. To decide: dreamd review accept n-{note} --side 1|{'|'.join(str(s.number) for s in found.sides[1:])}"
        )
    else:
        why = f": {_line(found.reason)}" if found.reason else ""
        print(f"  verdict: side {found.right or 'none'}, decided by {visible(found.by)}, {_day(found.at)}{why}")


def print_against(note: str, told: Told) -> None:
    """The line of an instruction file that says otherwise, and what either decision does."""
    said = words_of(told)
    print(
        f"  {visible(told.path)}:{told.line} says otherwise{f': “{_line(said)}”' if said else ''}; until you decide the file wins, and no session is told the note"
    )
    print(f"  The note holds: dreamd review accept n-{note} (then change the file: dreamd never does). The file is right: dreamd review reject n-{note}")


def sides_json(found: Contradiction) -> dict[str, object]:
    """The same as data."""
    return {
        "verdict": found.verdict, "right": found.right, "by": found.by or None, "at": found.at, "reason": found.reason or None,
        "sides": [{"side": s.number, "statement": s.statement, "status": s.status, "said_by": list(s.said_by), "first": s.first, "last": s.last,
                   "quotes": [q.text for q in s.quotes]} for s in found.sides],
    }  # fmt: skip


def _span(side: Stand) -> str:
    first, last = _day(side.first), _day(side.last)
    return first if first == last else f"{first} to {last}"


def _day(at: datetime | None) -> str:
    return f"{at:%Y-%m-%d %H:%M}" if at else "no time"


def _line(text: str) -> str:
    flat = " ".join(visible(text).split())
    return flat if len(flat) <= QUOTE_MAX else flat[: QUOTE_MAX - 1] + "…"
