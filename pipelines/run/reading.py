"""Second part: a session that has something unread goes through the engine and the gates; claims, questions and their keys are stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pipelines.gates import first_missed, weakest_origin
from pipelines.gates.follows import REWORDED
from pipelines.model import GateResult, Kind, OrderKey, Origin, Outcome, Question, SessionInfo, Standing, Turn, Witnessed, digest
from pipelines.notes.dependants import tie_keys
from pipelines.notes.identity import block_keys, group_key
from pipelines.notes.privacy import heard_by_all
from pipelines.ports import Engine, Extracted, Left, Window
from pipelines.run.parts import Params
from pipelines.run.retention import not_to_read, still_read
from pipelines.run.sources import TRUST
from pipelines.stages.extractor import Judged, judge_all, judge_questions, prepare
from pipelines.store import GatedClaim, Store

PARTLY = "partly"
"""The digest a session is read under that a later dream has to read again; no session has it."""


SHAPE = "shape"
"""What refuses items of a model's answer that are not of the asked shape, where claims are refused by gates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """A session an engine has to read, the digest that reading is saved under, whether a person vouches for its events, and its turns, counted."""

    session: str
    digest: str
    trusted: bool
    turns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionReading:
    """What an engine read in one session, judged by the gates: all that is stored of it, what the gates said no to, and turns it did not read for good.

    `whole` False says that something of it is to be asked by a later dream: it is kept as it is until then, and read again.
    """

    of: Unread
    engine: str
    order: tuple[OrderKey, ...]
    claims: tuple[GatedClaim, ...]
    questions: tuple[Question, ...]
    rejected: Mapping[str, int]
    left: tuple[Left, ...] = ()
    whole: bool = True


def unread_sessions(store: Store, scope: str, engine: str, params: Params) -> tuple[Unread, ...]:
    """Sessions with something this engine has not read, by uid; of one that ended before `since`, or that is no longer kept, nothing."""
    trusted = trusted_sessions(store, scope)
    marks = {uid: mark for uid, mark in store.unread(scope, reading_name(engine, params, trusted=False)).items() if uid not in trusted}
    if trusted:
        marks |= {uid: mark for uid, mark in store.unread(scope, reading_name(engine, params, trusted=True)).items() if uid in trusted}
    if params.since and marks:
        since, spans = params.since, store.spans(scope)
        marks = {uid: mark for uid, mark in marks.items() if (last := spans.get(uid, (None, None))[1]) is None or last >= since}
    gone = not_to_read(store, scope, marks) if marks else frozenset()
    marks = {uid: mark for uid, mark in marks.items() if uid not in gone}
    sizes = store.session_sizes(scope, marks)
    return tuple(Unread(session=uid, digest=marks[uid], trusted=uid in trusted, turns=sizes.get(uid, 0)) for uid in sorted(marks))


def window_of(info: SessionInfo, turns: Sequence[Turn], of: Unread, params: Params) -> Window:
    """What an engine is given of a session."""
    return prepare(with_trust(info, of.trusted, params.trusted), turns)


def read_session(engine: Engine, info: SessionInfo, turns: Sequence[Turn], of: Unread, params: Params) -> SessionReading:
    """Ask the engine about one session and judge its answer. Nothing is stored."""
    window = window_of(info, turns, of, params)
    extracted = engine.extract(window)
    return reading_of(engine, window, extracted, judge_all(extracted, window), of, params)


def reading_of(
    engine: Engine, window: Window, extracted: Extracted, judged: Sequence[Judged], of: Unread, params: Params, *, whole: bool = True
) -> SessionReading:  # fmt: skip
    """What is stored of an answer that was judged."""
    rejected = Counter(gate for j in judged for gate in _refusing(j.results))
    if extracted.dropped:
        rejected[SHAPE] = extracted.dropped
    return SessionReading(
        of=of, engine=reading_name(engine.name, params, trusted=of.trusted), order=window.keys,
        claims=tuple(gated(j) for j in judged), questions=judge_questions(extracted, window, judged),
        rejected=rejected, left=extracted.left, whole=whole,
    )  # fmt: skip


def gated(judged: Judged) -> GatedClaim:
    """A judged claim with the keys it is found by."""
    keys = tuple(sorted(block_keys(judged.claim) | tie_keys(judged.claim, judged.results)))
    return GatedClaim(claim=judged.claim, results=judged.results, group=group_key(judged.claim), blocks=keys)


def save_sessions(store: Store, scope: str, readings: Sequence[SessionReading]) -> None:
    """Make these the engine's readings of their sessions."""
    store.save_order(scope, [key for reading in readings for key in reading.order])
    kept = store.retained(scope) if readings else {}
    for r in readings:
        claims = still_read(store, scope, r.of.session, r.engine, r.order, r.claims, kept.get(r.of.session))
        store.save_reading(scope, r.of.session, engine=r.engine, digest=r.of.digest if r.whole else PARTLY, claims=claims, questions=r.questions)


def trusted_sessions(store: Store, scope: str) -> frozenset[str]:
    """Event sessions a person vouched for."""
    return frozenset(r.target for r in store.rulings(scope) if r.verb == TRUST)


def witnesses(store: Store, scope: str, gated: Iterable[GatedClaim], roots: Mapping[str, str]) -> tuple[Witnessed, ...]:
    """Claims with everything beliefs need of the turns they quote. A claim whose turns are not all there is left out: it cannot be shown."""
    gated = tuple(gated)
    uids = {q.turn for g in gated for q in g.claim.quotes}
    turns = store.turns(scope, uids)
    orders = store.order(scope, uids)
    heard = store.heard(scope, uids)
    out = []
    for g in gated:
        mine = [turns[q.turn] for q in g.claim.quotes if q.turn in turns]
        keys = [orders[q.turn] for q in g.claim.quotes if q.turn in orders]
        if len(mine) == len(g.claim.quotes) and keys:
            said_to = heard_by_all(heard.get(t.uid, "") for t in mine)
            out.append(replace(_witness(g, mine, keys, _lineages(mine, roots)), audience=said_to))
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
        claim=claim, uid=claim.uid, origin=origin, standing=_standing(gated, origin), order=newest, roots=roots, speaker=speaker,
        outcome=gated.outcome, missed=first_missed(gated.results),
    )  # fmt: skip


def _standing(gated: GatedClaim, origin: Origin) -> Standing:
    """What a claim weighs by who says it; what is put in words nobody said weighs no more than an inference."""
    claim = gated.claim
    if claim.verified_by:
        return Standing.VERIFIED
    if "inferred" in claim.doubts or claim.kind is Kind.INSIGHT or any(r.why == REWORDED for r in gated.results):
        return Standing.INFERRED
    return {Origin.USER: Standing.VERIFIED, Origin.TOOL: Standing.TOOL, Origin.EXTERNAL: Standing.EXTERNAL}.get(origin, Standing.INFERRED)


def _refusing(results: Iterable[GateResult]) -> list[str]:
    return [r.gate for r in results if r.outcome in {Outcome.REJECT, Outcome.QUARANTINE}]


def reading_name(engine: str, params: Params, *, trusted: bool) -> str:
    """Whom a person vouches for changes what is read, so it is part of the reading's name."""
    producers = f"+{digest(*sorted(params.trusted))[:8]}" if params.trusted else ""
    return f"{engine}{'+trusted' if trusted else ''}{producers}"


def with_trust(info: SessionInfo, trusted: bool, producers: frozenset[str]) -> SessionInfo:
    """The session with who vouches for its events, which is no part of the log."""
    extra = dict(info.extra)
    extra["events_trusted"] = "yes" if trusted else "no"
    extra["events_producers"] = "\n".join(sorted(producers))
    return replace(info, extra=extra)
