"""How much each door holds: lines, and bytes or characters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

FACTS_MAX = 20
LINES_MIN = 18
SIZE_MIN = 1000


class Unit(StrEnum):
    """What a budget counts."""

    BYTES = "bytes"
    CHARS = "chars"


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Hard limits of one door; the smallest that holds what every brief says is 18 lines and 1,000 bytes or characters.

    `facts` caps the facts and decisions that are told; it evicts nothing that lasts (`lasts`).
    """

    lines: int
    size: int
    unit: Unit = Unit.BYTES
    facts: int = FACTS_MAX

    def __post_init__(self) -> None:
        if self.lines < LINES_MIN or self.size < SIZE_MIN:
            raise ValueError(f"a brief needs at least {LINES_MIN} lines and {SIZE_MIN} {self.unit}, got {self.lines} and {self.size}")

    def measure(self, text: str) -> int:
        """The size of a text as this budget counts it."""
        return len(text.encode("utf-8", "surrogatepass")) if self.unit is Unit.BYTES else len(text)


MEMORY_MD = Budget(lines=200, size=25_000)
CLAUDE_CODE_HOOK = Budget(lines=200, size=9_000, unit=Unit.CHARS)
CODEX = Budget(lines=200, size=8_000)
DOORS: Mapping[str, Budget] = {"claude-code": CLAUDE_CODE_HOOK, "codex": CODEX}
"""The doors of agents beside `MEMORY.md`."""
DOOR_ROOM = 400
"""Kept free in the brief of such a door for what only the host knows that opens it."""


def room_of(door: str) -> Budget:
    """What the brief itself may take of an agent's door."""
    return replace(DOORS[door], size=DOORS[door].size - DOOR_ROOM)


def at_door(text: str, budget: Budget, *lines: str) -> str:
    """A brief with lines of the host at its end, each as far as there is room."""
    head, mark, foot = text.rpartition("\n</dreamd-brief>")
    for line in lines:
        longer = f"{head}{line}\n"
        if budget.measure(longer + mark + foot) <= budget.size:
            head = longer
    return head + mark + foot
