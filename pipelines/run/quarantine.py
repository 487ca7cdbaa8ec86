"""What a gate holds back until a person has looked at it: found by id, shown with its words in this one place, let out or refused by a decision."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from pipelines.errors import Refused
from pipelines.gates import first_missed
from pipelines.model import Outcome, Ruling, Turn, digest
from pipelines.notes.identity import in_force
from pipelines.run.content import quarantined
from pipelines.run.edits import DISMISSED
from pipelines.run.held import under_quarantine
from pipelines.run.ruling import UID_MIN
from pipelines.run.sources import standing_notes
from pipelines.store import Store

SHOWN: Final = 12
"""Characters of a uid the queue shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Something under quarantine with its words. `claim` is False for a line of a note file; `place` is the session or file, `turns` the quoted lines."""

    uid: str
    claim: bool
    statement: str
    gate: str
    why: str
    origin: str
    place: str
    line: int | None
    turns: tuple[Turn, ...] = ()


def held_named(store: Store, scope: str, name: str) -> Held | None:
    """What an id of the queue names, when it is under quarantine; None when it is not. Raises Refused when several begin like it."""
    wanted = name.removeprefix("^").removeprefix("n-")
    if len(wanted) < UID_MIN:
        return None
    found = [*_claims(store, scope, wanted), *_notes(store, scope, wanted)]
    if len(found) > 1:
        raise Refused(f"{len(found)} things under quarantine begin with n-{wanted}: give more of the id")
    return found[0] if found else None


def _claims(store: Store, scope: str, wanted: str) -> list[Held]:
    waiting = {q.uid for q in quarantined(store, scope) if q.uid.startswith(wanted[:SHOWN])}
    held = [g for g in store.claims_of(scope, store.quarantined_claims(scope)) if g.claim.uid[:SHOWN] in waiting and g.claim.uid.startswith(wanted)]
    turns = store.turns(scope, {q.turn for g in held for q in g.claim.quotes})
    out = []
    for g in held:
        mine = tuple(turns[q.turn] for q in g.claim.quotes if q.turn in turns)
        gate = next(r.gate for r in g.results if r.outcome is Outcome.QUARANTINE)
        out.append(
            Held(
                uid=g.claim.uid, claim=True, statement=g.claim.statement, gate=gate, why=first_missed(g.results), origin=mine[0].origin.value, place=mine[0].session,
                line=mine[0].place.line, turns=mine,
            )
        )  # fmt: skip
    return out


def _notes(store: Store, scope: str, wanted: str) -> list[Held]:
    findings = store.findings(scope)
    notes = {n.uid: n for n in standing_notes(store.online_notes(scope)) if n.uid.startswith(wanted)}
    return [
        Held(
            uid=uid, claim=False, statement=notes[uid].text, gate=held.gate, why=findings[uid].why if uid in findings else "", origin=held.origin,
            place=f"{notes[uid].folder}/{notes[uid].path}", line=notes[uid].line,
        )
        for uid, held in under_quarantine(notes.values(), findings).items()
    ]  # fmt: skip


def decide_held(store: Store, scope: str, verb: Literal["approve", "reject"], held: Held, *, at: datetime, hand: str, why: str = "") -> Ruling:
    """Record a person's decision about something under quarantine; the next dream goes by it. The same decision twice is one."""
    before = next((r for r in in_force(store.rulings(scope, [held.uid])) if r.verb == verb and r.target == held.uid), None)
    if before is not None:
        return before
    ruling = Ruling(uid=digest("ruling", verb, held.uid, at.isoformat()), verb=verb, target=held.uid, body=why or None, at=at)
    with store.together("rule"):
        store.add_ruling(scope, ruling)
        if held.claim:
            store.mark_dirty(scope, frozenset({held.uid}), "ruling")
        if verb == "reject":
            store.add_ruling(scope, Ruling(uid=digest(DISMISSED, held.uid[:SHOWN]), verb=DISMISSED, target=held.uid[:SHOWN], at=at))
        store.write_down(scope, verb, hand, held.uid, key=ruling.uid)
    return ruling
