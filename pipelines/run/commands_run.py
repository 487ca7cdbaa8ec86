"""The person's own notes against the runs of the commands they tell: a note whose command a later log leaves failing is to be checked again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from pipelines.gates import held_unless_said
from pipelines.model import Claim, Finding, Kind, OnlineNote, Outcome, Quote, Verdict
from pipelines.notes.failing import ITS_COMMAND_FAILED, Ran, by_command, commands_in, is_run, last_failure, working_instead
from pipelines.notes.identity import relation_keys
from pipelines.stages.analyzer import is_older
from pipelines.store import GatedClaim, Store

_MAY_FALL = frozenset({Verdict.UNCHECKED, Verdict.UNSUPPORTED, Verdict.NO_LOG, Verdict.UPHELD})


@dataclass(slots=True)
class CommandsRun:
    """The runs of a scope's logs; all of them are read only when some note's command fails."""

    store: Store
    scope: str
    skew: timedelta
    _all: tuple[Ran, ...] | None = None
    _kept: dict[str, tuple[Ran, ...]] = field(default_factory=dict)

    def recheck(self, notes: Iterable[OnlineNote], findings: Mapping[str, Finding]) -> dict[str, Finding]:
        """Findings with every note that tells a command which fails since moved to `needs_recheck`, with the line that says so and what worked instead."""
        out = dict(findings)
        told = {n.uid: (n, commands) for n in notes if findings[n.uid].verdict in _MAY_FALL and not n.index and (commands := commands_in(n.text))}
        self._read({c for _, commands in told.values() for c in commands})
        for uid, (note, commands) in told.items():
            failed = next((f for c in commands if (f := last_failure(c, self._kept.get(c, ()))) and self._counts(note, f, findings[uid])), None)
            if failed is not None:
                out[uid] = self._finding(note, failed)
        return out

    def _finding(self, note: OnlineNote, failed: Ran) -> Finding:
        worked = working_instead(failed, self._runs())
        proof = (failed.claim.quotes[-1], *(worked.claim.quotes[:1] if worked else ()))
        return Finding(note=note.uid, verdict=Verdict.NEEDS_RECHECK, why=ITS_COMMAND_FAILED, quotes=proof, corrected=f"`{worked.command}`" if worked else None)

    def _counts(self, note: OnlineNote, failed: Ran, finding: Finding) -> bool:
        """Whether a failure says something of the note: what upholds it is older, and it was not written knowing better."""
        upheld = self.store.order(self.scope, [q.turn for q in finding.quotes]) if finding.verdict is Verdict.UPHELD else {}
        return not is_older(failed.order, note, self.skew) and all(o.sort < failed.order.sort for o in upheld.values())

    def _read(self, commands: Iterable[str]) -> None:
        keys = {key for c in commands for key in relation_keys(_as_claim(c))}
        self._kept = dict(by_command(self._ran(self.store.claims_in_blocks(self.scope, keys, attribute="command")))) if keys else {}

    def _runs(self) -> tuple[Ran, ...]:
        if self._all is None:
            self._all = self._ran(self.store.all_claims(self.scope))
        return self._all

    def _ran(self, found: Iterable[GatedClaim]) -> tuple[Ran, ...]:
        claims = [g.claim for g in found if g.outcome in {Outcome.PASS, Outcome.DRAFT} and is_run(g.claim)]
        claims = [c for c in claims if not any(held_unless_said(q.text) for q in c.quotes)]
        orders = self.store.order(self.scope, {c.quotes[0].turn for c in claims})
        return tuple(Ran(claim=c, order=orders[c.quotes[0].turn]) for c in claims if c.quotes[0].turn in orders)


def _as_claim(command: str) -> Claim:
    """A command in the shape keys are made from; it is looked up with, never stored."""
    nowhere = (Quote(turn="", start=0, end=len(command), text=command),)
    return Claim(kind=Kind.PROCEDURE, subject=command, attribute="command", statement=f"`{command}`", value=command, cardinality="set", quotes=nowhere)
