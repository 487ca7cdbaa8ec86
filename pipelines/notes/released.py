"""What a person let out of quarantine: a claim a gate holds counts from the moment somebody approved it, on their word."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from pipelines.model import Outcome, Ruling, Witnessed

from .identity import in_force
from .rulings import settled

APPROVED = "approved_by_a_person"
"""Why a line of a note file stands on its page although a gate holds it."""


def approvals(rulings: Sequence[Ruling]) -> dict[str, Ruling]:
    """The approval of each thing of which a person last said that it counts, by its uid."""
    last = {r.target: r for r in in_force(rulings) if r.verb in {"approve", "reject"}}
    return {uid: r for uid, r in last.items() if r.verb == "approve"}


def released(claims: Iterable[Witnessed], rulings: Sequence[Ruling]) -> tuple[Witnessed, ...]:
    """The claims, an approved one as what it is without the gate (a draft, for its lines) and beside it as the person's word."""
    approved = approvals(rulings)
    out: list[Witnessed] = []
    for witness in claims:
        ruling = approved.get(witness.uid) if witness.outcome is Outcome.QUARANTINE else None
        if ruling is None:
            out.append(witness)
        else:
            out += [replace(witness, outcome=Outcome.DRAFT), settled(ruling, witness, None)]
    return tuple(out)
