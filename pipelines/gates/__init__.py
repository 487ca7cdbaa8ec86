"""The gates: pure code, the same for every engine. Each takes a claim and the turns it quotes and says what may become of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pipelines.model import Claim, GateResult, Outcome, Turn, outcome
from pipelines.text.voices import voice_of

from .evidence import result, weakest_origin
from .follows import follows_gate
from .instruction import ORDERS_READER, held, held_unless_said, instruction_gate
from .origin import SAID_ONCE, origin_gate
from .quote import quote_gate
from .scope import scope_gate
from .sensitive import SENSITIVE, sensitive, sensitive_gate
from .serving import without_orders
from .speaker import NEWCOMER, SPEAKER, Company, Lineage, company_of, speaker_gate, voices_changed
from .transient import transient_gate

__all__ = [
    "NEWCOMER",
    "ORDERS_READER",
    "SAID_ONCE",
    "SENSITIVE",
    "SPEAKER",
    "Company",
    "Lineage",
    "company_of",
    "doubts_gate",
    "first_missed",
    "follows_gate",
    "held",
    "held_unless_said",
    "instruction_gate",
    "judge",
    "origin_gate",
    "outcome",
    "quote_gate",
    "scope_gate",
    "sensitive",
    "sensitive_gate",
    "speaker_gate",
    "transient_gate",
    "voice_of",
    "voices_changed",
    "weakest_origin",
    "without_orders",
]


def judge(claim: Claim, turns: Mapping[str, Turn]) -> tuple[GateResult, ...]:
    """What every gate that needs only the claim and its turns says, in the gates' order. `turns` must hold at least the quoted turns."""
    return (
        quote_gate(claim, turns),
        follows_gate(claim, turns),
        origin_gate(claim, turns),
        instruction_gate(claim, turns),
        sensitive_gate(claim, turns),
        transient_gate(claim),
        doubts_gate(claim),
    )


def doubts_gate(claim: Claim) -> GateResult:
    """DRAFT with the first criterion the engine itself knows to be missing."""
    return result("doubts", Outcome.DRAFT, claim.doubts[0]) if claim.doubts else result("doubts")


def first_missed(results: Sequence[GateResult]) -> str:
    """Why a claim did not pass: the first reason of the strictest outcome, "" when it passed.

    `SAID_ONCE` is named only where nothing else is missing: it is the one reason a second session takes away.
    """
    strictest = outcome(results)
    if strictest is Outcome.PASS:
        return ""
    reasons = [one.why for one in results if one.outcome is strictest]
    return next((why for why in reasons if why != SAID_ONCE), reasons[0])
