"""Replaying a dream: every request its sessions lead to is made again, answered from the record alone, and what comes of it compared to the byte.

Nothing is asked and nothing is changed. A request that leads to no recorded answer is one that differs from the one that was sent, or one whose answer was
forgotten: it is named. The requests that follow reading (relations, answers, insights) depend on what was believed then, so of them the answers are looked
for, not the requests made; what rests on their answers is believed and rendered again where no later dream has moved it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pipelines.errors import Refused
from pipelines.gates import SPEAKER, outcome
from pipelines.model import Outcome
from pipelines.ports import Answered, Ask, Meanwhile
from pipelines.run.asking import BUDGET
from pipelines.run.asking_read import UNREACHABLE, asks, read_asking
from pipelines.run.parts import Params, Parts, params_of
from pipelines.run.reading import PARTLY, SessionReading, Unread, read_session, window_of
from pipelines.run.render import differing
from pipelines.run.resolving import lineage_of, resolve_dirty
from pipelines.run.units.plan import sessions_of
from pipelines.run.units.resolve import sessions_read
from pipelines.store import Dream, GatedClaim, NamedReading, Store, is_whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What was compared. `requests` were made again and found answered; `sessions` came out the same; `grown` have more turns by now, or are no longer kept whole, and `read_again` were
    read by a later dream, so that there is nothing to compare with; `beliefs` says that notes and pages were compared, too."""

    dream: str
    engine: str
    requests: int = 0
    sessions: int = 0
    grown: int = 0
    read_again: int = 0
    beliefs: bool = False


def replay(parts: Parts, scope: str, uid: str) -> Replayed:
    """Replay one dream. Raises Refused naming the first request, reading, note or page that differs or is missing, or why nothing can be compared."""
    store = parts.store
    dream = store.dream(scope, uid)
    params = params_of(dream.params, parts.defaults)
    parts = parts.serving(params)
    _require_same_engine(parts, dream)
    _require_answers(store, dream)
    units = {name: sessions_of(told) for name, told in store.units(dream, "extract").items()}
    if not units and dream.state != "completed":
        raise Refused(f"dream {uid} is {dream.state}: there is nothing of it to replay")
    after = _after(store, dream)
    found = _Found(parts=parts, scope=scope, params=params, dream=dream, again=frozenset(sessions_read(store, after)))
    results = store.results(dream, "extract")
    for number, (name, sessions) in enumerate(units.items()):
        parts.progress("replaying", number, len(units))
        found.unit(sessions, results[name])
    beliefs = not any(map(_moved, after)) and dream.state == "completed"
    if beliefs:
        _require_beliefs(parts, dream, params)
    return Replayed(
        dream=uid, engine=parts.engine.name, requests=found.requests, sessions=found.sessions, grown=found.grown, read_again=found.read_again, beliefs=beliefs
    )  # fmt: skip


def _require_same_engine(parts: Parts, dream: Dream) -> None:
    made = (dream.summary or {}).get("engine")
    if made is not None and made != parts.engine.name:
        raise Refused(
            f"dream {dream.uid} was dreamt by {made}, and these settings make {parts.engine.name}: models, prompts, tier, instructions or the version of "
            "dreamd differ, so that every request would; set them as they were"
        )


def _require_answers(store: Store, dream: Dream) -> None:
    """Every call that was answered has its answer in the record."""
    lost = store.lost_answers(dream.scope, dream.uid)
    if lost:
        raise Refused(
            f"{len(lost)} requests of dream {dream.uid} have no recorded answer any more, the first is {lost[0][0]} {lost[0][1]}: it was forgotten, or is no longer kept"
        )


def _after(store: Store, dream: Dream) -> tuple[Dream, ...]:
    """Later dreams, newest first."""
    out = []
    for other in store.dreams(dream.scope):
        if other.uid == dream.uid:
            break
        out.append(other)
    return tuple(out)


def _moved(dream: Dream) -> bool:
    """Whether a dream may have moved beliefs or pages."""
    return dream.state not in {"pending", "planned", "canceled"} or not is_whole(dream.params)


@dataclass(slots=True, kw_only=True)
class _Recorded:
    """Asks the record alone. `over` requests may be missing: a budget left as many out."""

    store: Store
    dream: Dream
    over: int
    asked: int = 0
    missing: list[Ask] = field(default_factory=list)

    def ask(self, given: Sequence[Ask], meanwhile: Meanwhile | None = None) -> Sequence[Answered]:
        """Recorded answers. Raises Refused when more are missing than a budget left out."""
        found = self.store.answers(self.dream.scope, [(ask.digest, ask.attempt) for ask in given])
        self.missing += [ask for ask in given if (ask.digest, ask.attempt) not in found]
        self.asked += len(given)
        if len(self.missing) > self.over:
            first = self.missing[0]
            raise Refused(f"dream {self.dream.uid}: the request {first.stage} {first.name} (answer {first.attempt}) is none that was recorded: it differs from the one that was sent, or its answer was forgotten")  # fmt: skip
        told = ((ask, found.get((ask.digest, ask.attempt))) for ask in given)
        return [Answered(reply=None, why=BUDGET) if answer is None else Answered(reply=answer.reply) for _, answer in told]


@dataclass(slots=True, kw_only=True)
class _Found:
    """The units of a dream, one by one."""

    parts: Parts
    scope: str
    params: Params
    dream: Dream
    again: frozenset[str]
    requests: int = 0
    sessions: int = 0
    grown: int = 0
    read_again: int = 0
    _stands: Mapping[tuple[str, str], NamedReading] | None = None

    def unit(self, sessions: Sequence[Unread], result: Mapping[str, object]) -> None:
        """Read the sessions of a unit as they were read, unless one of them is not as it was: then the requests they shared are not either."""
        store = self.parts.store
        marks = store.session_digest(self.scope)
        kept = store.retained(self.scope)
        grown = [s for s in sessions if marks.get(s.session) != s.digest or s.session in kept]
        if grown:
            self.grown += len(sessions)
            return
        if _named_in(result, "unread", UNREACHABLE):
            return  # nobody was asked
        desk = _Recorded(store=store, dream=self.dream, over=_named_in(result, "asked", "over_budget"))
        for reading in self._read(sessions, desk):
            if reading.of.session in self.again:
                self.read_again += 1
            else:
                self._compare(reading)
                self.sessions += 1
        self.requests += desk.asked - len(desk.missing)

    def _read(self, sessions: Sequence[Unread], desk: _Recorded) -> Sequence[SessionReading]:
        store, engine = self.parts.store, self.parts.engine
        infos = {info.uid: info for info in store.sessions(self.scope, [s.session for s in sessions])}
        turns = store.turns_of_sessions(self.scope, infos)
        if not asks(engine):
            return [read_session(engine, infos[s.session], turns.get(s.session, ()), s, self.params) for s in sessions]
        windows = [window_of(infos[s.session], turns.get(s.session, ()), s, self.params) for s in sessions]
        read = read_asking(engine, windows, sessions, self.params, desk)
        left = {session for session, _ in read.unread}  # of these the rules' reading alone was kept, under their own name
        return [reading for reading in read.readings if reading.of.session not in left]

    def _compare(self, reading: SessionReading) -> None:
        """Raise Refused unless what is stored of the session is what was read of it just now."""
        if self._stands is None:
            self._stands = {(r.session, r.engine): r for r in self.parts.store.readings_named(self.scope, self.parts.engine.name)}
        stands = self._stands.get((reading.of.session, reading.engine))
        said = f"dream {self.dream.uid}: session {reading.of.session} was read otherwise than it is read now"
        if stands is None or stands.digest != (reading.of.digest if reading.whole else PARTLY):
            raise Refused(f"{said}: no reading of it stands")
        now: dict[str, GatedClaim] = {g.claim.uid: g for g in reading.claims}
        if odd := sorted(stands.claims ^ now.keys()):
            raise Refused(f"{said}: {len(odd)} claims are only in one of both, the first is {odd[0]}")
        kept = {g.claim.uid: (g.claim, _as_read(g)) for g in self.parts.store.claims_of(self.scope, stands.claims)}
        if odd := sorted(uid for uid, gated in now.items() if kept.get(uid) != (gated.claim, gated.outcome)):
            raise Refused(f"{said}: claim {odd[0]} differs")


def _as_read(gated: GatedClaim) -> Outcome:
    """What the gates said of a claim when it was read, before anything hung on who else speaks in the scope."""
    return outcome([r for r in gated.results if r.gate != SPEAKER])


def _named_in(result: Mapping[str, object], part: str, name: str) -> int:
    """A count in a part of a unit's result; 0 where there is none."""
    told = result.get(part)
    count = told.get(name, 0) if isinstance(told, dict) else 0
    return count if isinstance(count, int) else 0


def _require_beliefs(parts: Parts, dream: Dream, params: Params) -> None:
    """Notes and pages are what the stored claims, verdicts and decisions give."""
    store, scope = parts.store, dream.scope
    everything = frozenset(g.claim.uid for g in store.all_claims(scope))
    done = resolve_dirty(store, scope, everything, lineage_of(store, scope), skew_s=params.skew_s, intake_at=parts.now(), engine=parts.engine.name)
    if done.changes:
        raise Refused(f"dream {dream.uid}: {len(done.changes)} notes would be believed otherwise now, the first is n-{done.changes[0].note}")
    if pages := differing(parts, scope):
        raise Refused(f"dream {dream.uid}: {len(pages)} pages would be rendered otherwise now, the first is {pages[0]}")
