"""Second part: every session that has something unread goes through the engine and the gates; claims and their keys are stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from pipelines.gates import first_missed, weakest_origin
from pipelines.model import GateResult, OrderKey, Origin, Outcome, SessionInfo, Standing, Turn, Witnessed, digest
from pipelines.notes.identity import block_keys, group_key
from pipelines.run.parts import Parts, Request
from pipelines.run.sources import TRUST
from pipelines.stages.extractor import judge_all, prepare
from pipelines.store import GatedClaim, Store


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSessions:
    """What reading changed: uids of claims that came, left or changed, sessions read, and what the gates said no to."""

    dirty: frozenset[str]
    sessions: tuple[str, ...]
    claims: int
    rejected: Mapping[str, int]


def read_sessions(parts: Parts, request: Request) -> ReadSessions:
    """Read all unread sessions, one transaction each."""
    store, scope = parts.store, request.scope
    infos = {info.uid: info for info in store.sessions(scope)}
    trusted = trusted_sessions(store, scope)
    unread = {uid: mark for uid, mark in store.unread(scope, _engine(parts, request, False)).items() if uid not in trusted}
    unread |= {uid: mark for uid, mark in store.unread(scope, _engine(parts, request, True)).items() if uid in trusted}
    dirty: set[str] = set()
    rejected: Counter[str] = Counter()
    read: list[str] = []
    claims = 0
    for done, (uid, mark) in enumerate(sorted(unread.items())):
        parts.progress("reading sessions", done, len(unread))
        turns = store.turns_of(scope, uid)
        if request.since and not _reaches(turns, request.since):
            continue
        window = prepare(with_trust(infos[uid], uid in trusted, request.trusted), turns)
        judged = judge_all(parts.engine.extract(window), window)
        store.save_order(scope, window.keys)
        gated = [GatedClaim(claim=j.claim, results=j.results, group=group_key(j.claim), blocks=tuple(sorted(block_keys(j.claim)))) for j in judged]
        dirty |= store.save_reading(scope, uid, engine=_engine(parts, request, uid in trusted), digest=mark, claims=gated)
        rejected.update(gate for j in judged for gate in _refusing(j.results))
        claims += len(judged)
        read.append(uid)
        parts.step("session_read")
    return ReadSessions(dirty=frozenset(dirty), sessions=tuple(read), claims=claims, rejected=dict(sorted(rejected.items())))


def trusted_sessions(store: Store, scope: str) -> frozenset[str]:
    """Event sessions a person vouched for."""
    return frozenset(r.target for r in store.rulings(scope) if r.verb == TRUST)


def witnesses(store: Store, scope: str, gated: Iterable[GatedClaim], roots: Mapping[str, str]) -> tuple[Witnessed, ...]:
    """Claims with everything beliefs need of the turns they quote. A claim whose turns are not all there is left out: it cannot be shown."""
    gated = tuple(gated)
    uids = {q.turn for g in gated for q in g.claim.quotes}
    turns = store.turns(scope, uids)
    orders = store.order(scope, uids)
    out = []
    for g in gated:
        mine = [turns[q.turn] for q in g.claim.quotes if q.turn in turns]
        keys = [orders[q.turn] for q in g.claim.quotes if q.turn in orders]
        if len(mine) == len(g.claim.quotes) and keys:
            out.append(_witness(g, mine, keys, _lineages(mine, roots)))
    return tuple(out)


def _lineages(turns: Iterable[Turn], roots: Mapping[str, str]) -> frozenset[str]:
    """The lineages of the quoted turns: copies and forks of a session share one root and are one witness."""
    return frozenset(roots.get(t.session, t.session) for t in turns)


def _witness(gated: GatedClaim, turns: list[Turn], keys: list[OrderKey], roots: frozenset[str]) -> Witnessed:
    claim = gated.claim
    origin = weakest_origin(claim, {t.uid: t for t in turns})
    newest = max(keys, key=lambda k: k.sort)
    speaker = next((t.speaker for t in turns if t.speaker), None)
    return Witnessed(
        claim=claim, uid=claim.uid, origin=origin, standing=_standing(claim.verified_by, claim.doubts, origin), order=newest, roots=roots, speaker=speaker,
        outcome=gated.outcome, missed=first_missed(gated.results),
    )  # fmt: skip


def _standing(verified_by: str | None, doubts: tuple[str, ...], origin: Origin) -> Standing:
    if verified_by:
        return Standing.VERIFIED
    if "inferred" in doubts:
        return Standing.INFERRED
    return {Origin.USER: Standing.VERIFIED, Origin.TOOL: Standing.TOOL, Origin.EXTERNAL: Standing.EXTERNAL}.get(origin, Standing.INFERRED)


def _refusing(results: Iterable[GateResult]) -> list[str]:
    return [r.gate for r in results if r.outcome in {Outcome.REJECT, Outcome.QUARANTINE}]


def _reaches(turns: Iterable[Turn], since: datetime) -> bool:
    times = [t.at for t in turns if t.at]
    return not times or max(times) >= since


def _engine(parts: Parts, request: Request, trusted: bool) -> str:
    """Whom a person vouches for changes what is read, so it is part of the reading's name."""
    producers = f"+{digest(*sorted(request.trusted))[:8]}" if request.trusted else ""
    return f"{parts.engine.name}{'+trusted' if trusted else ''}{producers}"


def with_trust(info: SessionInfo, trusted: bool, producers: frozenset[str]) -> SessionInfo:
    """The session with who vouches for its events, which is no part of the log."""
    extra = dict(info.extra)
    extra["events_trusted"] = "yes" if trusted else "no"
    extra["events_producers"] = "\n".join(sorted(producers))
    return replace(info, extra=extra)
