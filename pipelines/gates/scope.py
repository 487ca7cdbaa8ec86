"""Gate 6: nothing is written across scopes."""

from __future__ import annotations

from pipelines.model import GateResult, Outcome

from .evidence import result


def scope_gate(claim_scope: str, turn_scope: str) -> GateResult:
    """PASS only when the claim is to be written where its turns were read. Not even upwards: a note moves up only by a person."""
    return result("scope") if claim_scope == turn_scope and claim_scope else result("scope", Outcome.REJECT, "other_scope")
