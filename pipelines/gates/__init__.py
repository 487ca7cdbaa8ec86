"""The gates: pure code, the same for every engine. Each takes a claim and the turns it quotes and says what may become of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pipelines.model import Claim, GateResult, Outcome, Turn

from .evidence import result, weakest_origin
from .follows import follows_gate
from .instruction import instruction_gate
from .origin import origin_gate
from .quote import quote_gate
from .scope import scope_gate
from .transient import transient_gate

__all__ = [
    "doubts_gate",
    "first_missed",
    "follows_gate",
    "instruction_gate",
    "judge",
    "origin_gate",
    "outcome",
    "quote_gate",
    "scope_gate",
    "transient_gate",
    "weakest_origin",
]

_STRICTNESS = tuple(Outcome)


def judge(claim: Claim, turns: Mapping[str, Turn]) -> tuple[GateResult, ...]:
    """What every gate that needs only the claim and its turns says, in the gates' order. `turns` must hold at least the quoted turns."""
    return (
        quote_gate(claim, turns),
        follows_gate(claim, turns),
        origin_gate(claim, turns),
        instruction_gate(claim, turns),
        transient_gate(claim),
        doubts_gate(claim),
    )


def doubts_gate(claim: Claim) -> GateResult:
    """DRAFT with the first criterion the engine itself knows to be missing."""
    return result("doubts", Outcome.DRAFT, claim.doubts[0]) if claim.doubts else result("doubts")


def outcome(results: Sequence[GateResult]) -> Outcome:
    """The strictest outcome of all; PASS for no results."""
    return max((one.outcome for one in results), key=_STRICTNESS.index, default=Outcome.PASS)


def first_missed(results: Sequence[GateResult]) -> str:
    """Why a claim did not pass: the first reason of the strictest outcome, "" when it passed."""
    strictest = outcome(results)
    return next((one.why for one in results if one.outcome is strictest and strictest is not Outcome.PASS), "")
