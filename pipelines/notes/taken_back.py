"""What was taken back, as inputs to beliefs: bans, so that what a reverted decision rested on is not believed again by the next dream (systems R3).

A ban names what one line says of one note, whoever reads it there and in whichever words. Where somebody else had read the same of that note in that line
before, it names the one claim. What other lines say is believed as ever.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from pipelines.model import Claim, Ruling, digest

from .identity import identity_of
from .rulings import VOIDING


def read_in(note: str, turn: str) -> str:
    """Target of the ban on what a turn says of a note."""
    return digest("read in", note, turn)


@dataclass(frozen=True, slots=True)
class Banned:
    """What rulings in force keep from being believed."""

    targets: frozenset[str]
    lines: bool

    @classmethod
    def of(cls, rulings: Iterable[Ruling]) -> Self:
        """From rulings as `in_force` gives them."""
        found = [r for r in rulings if r.verb in VOIDING and r.other is None]
        return cls(frozenset(r.target for r in found), any(r.verb == "ban" for r in found))

    def holds(self, claim: Claim) -> bool:
        """Whether a claim is banned itself, or every line it rests on is for its note."""
        if claim.uid in self.targets:
            return True
        return self.lines and lines_of(claim) <= self.targets

    def hides(self, note: str, turn: str) -> bool:
        """Whether a turn says nothing of a note any more."""
        return self.lines and read_in(note, turn) in self.targets


def lines_of(claim: Claim) -> frozenset[str]:
    """What a ban on all a claim rests on has to name."""
    note = identity_of("", claim).uid
    return frozenset(read_in(note, quote.turn) for quote in claim.quotes)


def bans_on(claims: Iterable[Claim], others: Iterable[Claim]) -> frozenset[str]:
    """Targets of the bans that take these claims out and leave the others be."""
    claims = tuple(claims)
    lines = frozenset[str]().union(*map(lines_of, claims))
    lines -= frozenset[str]().union(*(of for other in others if (of := lines_of(other)) <= lines))
    covered = {c.uid for c in claims if lines_of(c) <= lines}
    needed = frozenset[str]().union(*(lines_of(c) for c in claims if c.uid in covered))
    return needed | {c.uid for c in claims if c.uid not in covered}


def kept_apart(names: Sequence[frozenset[str]], pairs: Iterable[tuple[str, str]]) -> frozenset[frozenset[int]]:
    """Which notes, by their place, have a name each in one of the pairs: they have nothing to do with each other."""
    at = {name: place for place, several in enumerate(names) for name in several}
    return frozenset(frozenset((at[a], at[b])) for a, b in pairs if a in at and b in at and at[a] != at[b])
