"""A contradiction as one thing: its sides with who said them when, how it stands, and who decided it.

Sides are numbered as decisions name them (`run.ruling`): in the order of their slots. A decided one keeps its sides, so that the decision can be looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from pipelines.model import Claim, Quote, Ruling, Status, Turn, Version

OPEN = "open"
DECIDED = "decided"
_DERIVED = (".told", ".mends", ".lower", ".retracted")
"""Ends of slots of versions nobody stated as a side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stand:
    """One side: what it says, how it stands, who said it first and last, and the words."""

    number: int
    statement: str
    status: Status
    said_by: tuple[str, ...]
    first: datetime | None
    last: datetime | None
    quotes: tuple[Quote, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Sides that cannot both hold. `verdict` is open or decided; then `by` and `at` say who decided and when, `right` the number of the side that holds."""

    sides: tuple[Stand, ...]
    verdict: str
    by: str = ""
    at: datetime | None = None
    right: int | None = None
    reason: str = ""


def contradiction(versions: Sequence[Version], rulings: Sequence[Ruling], claims: Mapping[str, Claim], turns: Mapping[str, Turn]) -> Contradiction | None:
    """The contradiction a note holds, or held until a person decided; None when there is none. `rulings` are those in force about the note."""
    disputed = [v for v in versions if v.status is Status.DISPUTED]
    if len(disputed) > 1:
        return Contradiction(sides=_sides(disputed, claims, turns), verdict=OPEN)
    ruling = next((r for r in reversed(rulings) if r.other and r.verb in {"approve", "reject", "keep"}), None)
    stated = [v for v in versions if not v.slot.endswith(_DERIVED) or v.status is Status.RETRACTED]
    if ruling is None or ruling.other is None or len(stated) < 2:
        return None
    sides = _sides(stated, claims, turns)
    named = next((n for n, v in enumerate(sorted(stated, key=lambda v: v.slot), 1) if v.slot.split(".")[0] == ruling.other.split(".")[0]), None)
    right = named if ruling.verb != "reject" else next((s.number for s in sides if s.status is Status.CONFIRMED), None)
    return Contradiction(sides=sides, verdict=DECIDED, by=ruling.hand, at=ruling.at, right=right, reason=ruling.body or "")


def _sides(versions: Sequence[Version], claims: Mapping[str, Claim], turns: Mapping[str, Turn]) -> tuple[Stand, ...]:
    return tuple(_stand(n, v, claims, turns) for n, v in enumerate(sorted(versions, key=lambda v: v.slot), 1))


def _stand(number: int, version: Version, claims: Mapping[str, Claim], turns: Mapping[str, Turn]) -> Stand:
    quotes = tuple(dict.fromkeys(q for uid in version.claims if uid in claims for q in claims[uid].quotes if q.turn in turns))
    names = {turns[q.turn].speaker or turns[q.turn].origin_of(q.start, q.end).value for q in quotes}
    return Stand(
        number=number, statement=version.statement, status=version.status, said_by=tuple(sorted(names)), first=version.oldest_evidence, last=version.newest_evidence,
        quotes=quotes,
    )  # fmt: skip
