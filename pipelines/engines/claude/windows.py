"""A session as the stretches a model is asked about: cut from its start by content and closed when full, so that growth changes only the last one.

The text of a log is data. It stands between marks made from its own digest, which no text can hold that was written before it; whatever looks like such a
mark or like the head of a turn is set apart by a space, which the search for quotes does not see.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pipelines.engines.claude.shorten import GAP, Line
from pipelines.model import Turn, digest
from pipelines.text.times import zone_of

BEFORE_MAX, BEFORE_LINES = 500, 2
"""Of what goes before a stretch so many lines are repeated, so many characters of each: for understanding, not to be cited."""
HEAD_BYTES = 60
"""Bytes the head of a line takes at most, reckoned alike for every line so that a cut does not depend on numbers."""
HALVES_MIN = 2_000
"""Characters a single line must have to be cut in two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Lines of one session that are asked about at once, numbered from 1, and the few before them."""

    lines: tuple[Line, ...]
    before: tuple[Line, ...] = ()

    @property
    def turns(self) -> tuple[str, ...]:
        """Uids of every turn whose words stand in the stretch."""
        return tuple(dict.fromkeys(line.turn.uid for line in (*self.before, *self.lines)))

    def turn(self, number: int) -> Turn | None:
        """The turn that has a number in the stretch; None for a number nothing has."""
        return self.lines[number - 1].turn if 1 <= number <= len(self.lines) else None


def cut(lines: Sequence[Line], window_bytes: int) -> tuple[Stretch, ...]:
    """Stretches of at most `window_bytes` in order; a line that is longer is parted, and all of it is shown."""
    found: list[Stretch] = []
    held: list[Line] = []
    room = window_bytes
    for line in (part for whole in lines for part in _parted(whole, window_bytes - HEAD_BYTES)):
        size = _size(line)
        if held and size > room:
            found.append(Stretch(lines=tuple(held), before=_tail(found[-1].lines if found else ())))
            held, room = [], window_bytes
        held.append(line)
        room -= size
    if held:
        found.append(Stretch(lines=tuple(held), before=_tail(found[-1].lines if found else ())))
    return tuple(found)


def halves(stretch: Stretch) -> tuple[Stretch, ...]:
    """Two stretches of one; of a single long line its two parts; nothing where it cannot be cut further."""
    if len(stretch.lines) > 1:
        middle = _middle(stretch.lines)
        first, second = stretch.lines[:middle], stretch.lines[middle:]
    else:
        line = stretch.lines[0]
        if len(line.text) < HALVES_MIN:
            return ()
        at = _cut_at(line.text, len(line.text) // 2)
        first, second = (replace(line, text=line.text[:at]),), (replace(line, text=line.text[at:]),)
    return replace(stretch, lines=first), Stretch(lines=second, before=_tail(first))


def _middle(lines: Sequence[Line]) -> int:
    """Where the halves weigh about the same; at least one line on either side."""
    half, at, seen = sum(map(_size, lines)) / 2, 0, 0
    while at < len(lines) - 1 and seen + _size(lines[at]) <= half:
        seen += _size(lines[at])
        at += 1
    return max(1, at)


def _size(line: Line) -> int:
    return HEAD_BYTES + _bytes(line.text)


def _tail(lines: Sequence[Line]) -> tuple[Line, ...]:
    """The last lines, their ends only."""
    return tuple(replace(line, text=line.text if len(line.text) <= BEFORE_MAX else f"{GAP} {line.text[-BEFORE_MAX:]}") for line in lines[-BEFORE_LINES:])


def _parted(line: Line, longest: int) -> Iterator[Line]:
    """The line in parts of at most `longest` bytes, cut where a sentence, a line or a word ends."""
    text, at = line.text, 0
    while len(text) - at > longest or _bytes(text[at:]) > longest:
        near = _characters(text[at : at + longest], longest)
        end = at + _cut_at(text[at : at + near + 1], near)
        yield replace(line, text=text[at:end])
        at = end
    if at == 0:
        yield line
    elif text[at:].strip():
        yield replace(line, text=text[at:])


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _characters(text: str, longest: int) -> int:
    """How many characters of the text fit into so many bytes."""
    return len(text.encode("utf-8", "surrogatepass")[:longest].decode("utf-8", "ignore"))


_ENDS = (re.compile(r"\n\s*\n"), re.compile(r"\n|(?<=[。！？])|(?<=[.!?])\s"), re.compile(r"\s"))


def _cut_at(text: str, near: int) -> int:
    """The last end of a paragraph, sentence or word in the quarter of the text before `near`; `near` itself in a text without any."""
    begin = near - near // 4
    for end in _ENDS:
        found = [m.end() for m in end.finditer(text, begin, near) if m.end() > 0]
        if found:
            return found[-1]
    return max(1, near)


# --- as it is shown ----------------------------------------------------------------------------------------------------------------------

_MARK = re.compile(r"<(?=/?log-)", re.IGNORECASE)
_HEAD = re.compile(r"^(?=\[\d+\]|-- )", re.MULTILINE)


def render(stretch: Stretch) -> str:
    """The stretch between its marks: a day a line of its own where it changes, each turn with its number, who speaks, and its words."""
    return fenced("\n".join(_rendered(stretch)))


def fenced(body: str) -> str:
    """Text between marks made of its own digest. What of it comes from a log has to be `escaped`."""
    mark = f"log-{digest(body)[:12]}"
    return f"<{mark}>\n{body}\n</{mark}>"


def _rendered(stretch: Stretch) -> Iterator[str]:
    if stretch.before:
        yield "-- before (for understanding only, not to be cited) --"
        yield from (f"{line.head}: {escaped(line.text)}" for line in stretch.before)
        yield "-- the log --"
    day = ""
    for number, line in enumerate(stretch.lines, 1):
        spoken = day_of(line.turn)
        if spoken and spoken != day:
            yield f"-- {spoken} --"
            day = spoken
        yield f"[{number}] {line.head}: {escaped(line.text)}"


def day_of(turn: Turn) -> str:
    """The day of a turn where it was spoken ("Mon 2026-03-02"), "" where the log does not tell."""
    if turn.at is None:
        return ""
    try:
        return turn.at.astimezone(zone_of(turn.zone)).strftime("%a %Y-%m-%d")
    except OverflowError:
        return ""


def escaped(text: str) -> str:
    """The text with a space set before what looks like a turn's head and inside what looks like a mark."""
    return _HEAD.sub(" ", _MARK.sub("< ", text))


def unescaped(text: str) -> str:
    """The text with the space taken out of what looks like a mark again."""
    return re.sub(r"<\s(?=/?log-)", "<", text, flags=re.IGNORECASE)
