"""Who speaks in a scope, and what has to wait because of it: rules of people who are new there, and what anybody says of money, permissions, credentials.

Which speaker is new follows from all sessions there are, in whatever order they came; so the gate's word on a claim is given again when a session that was
just read changes it. A scope where fewer than two people speak by name is left alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime

from pipelines.gates import SPEAKER, Company, Lineage, company_of, speaker_gate, voices_changed
from pipelines.model import Outcome, Turn
from pipelines.store import GatedClaim, Spoken, Store, with_word


def hold_by_speaker(store: Store, scope: str, roots: Mapping[str, str], read: Collection[str] | None) -> frozenset[str]:
    """Hold and let go what the company says of; returns the claims that changed, which are dirty from now on.

    `roots` are the roots of all sessions (`resolving.lineage_of`), `read` the sessions that were read since this was last asked, None for all.
    """
    if read is not None and not read:
        return frozenset()
    spoken = store.spoken(scope)
    if not spoken:
        return frozenset()
    after = _lineages(spoken, roots)
    concerned = set(after)
    if read is not None:
        mine = {roots.get(uid, uid) for uid in read}
        before = company_of(_lineages({uid: one for uid, one in spoken.items() if uid not in read}, roots))
        concerned = {root for root in after if root in mine} | set(voices_changed(before, company_of(after), after))
    company = company_of(after)
    spoken_there = store.turns_in(scope, [uid for uid in spoken if roots.get(uid, uid) in concerned], quoted=True)
    claims = store.claims_of(scope, store.quoting(scope, spoken_there))
    turns = store.turns(scope, {q.turn for g in claims for q in g.claim.quotes} & spoken_there)
    said = {g.claim.uid: speaker_gate(g.claim, turns, company, roots) for g in claims if _weighed(g)}
    return store.say(scope, SPEAKER, said)


def held_by_speaker(store: Store, scope: str, gated: Iterable[GatedClaim], roots: Mapping[str, str]) -> tuple[GatedClaim, ...]:
    """These claims, as they were just read, with what the company says of them; nothing is stored."""
    spoken = store.spoken(scope)
    gated = tuple(gated)
    company = company_of(_lineages(spoken, roots))
    if not company.several:
        return gated
    turns = store.turns(scope, {q.turn for g in gated for q in g.claim.quotes})
    return tuple(_with_company(g, turns, company, roots) for g in gated)


def _with_company(gated: GatedClaim, turns: Mapping[str, Turn], company: Company, roots: Mapping[str, str]) -> GatedClaim:
    if not _weighed(gated):
        return gated
    results = with_word(gated.results, SPEAKER, speaker_gate(gated.claim, turns, company, roots))
    return GatedClaim(claim=gated.claim, results=results, group=gated.group, blocks=gated.blocks)


def _weighed(gated: GatedClaim) -> bool:
    """Whether a claim would be believed or asked about: what another gate refused, or holds already, needs no further word."""
    others = [r.outcome for r in gated.results if r.gate != SPEAKER]
    return Outcome.REJECT not in others and Outcome.QUARANTINE not in others


def _lineages(spoken: Mapping[str, Spoken], roots: Mapping[str, str]) -> dict[str, Lineage]:
    """The lineages somebody speaks in by name, by root; each began with the first of its sessions."""
    began: dict[str, datetime | None] = {}
    voices: dict[str, frozenset[str]] = {}
    for uid, one in spoken.items():
        root = roots.get(uid, uid)
        times = [at for at in (began.get(root), one.began) if at is not None]
        began[root] = min(times, default=None)
        voices[root] = voices.get(root, frozenset()) | one.voices
    return {root: Lineage(began=began[root], voices=voices[root]) for root in began}
