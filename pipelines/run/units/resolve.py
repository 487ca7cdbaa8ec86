"""Resolve: every note that a changed claim touches is believed anew; what differs is staged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from pipelines.errors import Permanent
from pipelines.model import Relation
from pipelines.run.asking_read import asks
from pipelines.run.asking_resolve import Known, Thinker, Verdicts, relate_open, save_thought, think
from pipelines.run.company import hold_by_speaker
from pipelines.run.parts import Params
from pipelines.run.reading import unread_sessions
from pipelines.run.resolving import Resolved, lineage_of, of_one_lineage, resolve_dirty
from pipelines.run.units.bench import WITHOUT, Bench, Ready
from pipelines.run.versions import BELIEFS
from pipelines.store import Dream, Store, is_whole

ERROR_MAX = 300
LOOK_BACK = 16
"""Dreams looked at first for the last one that was applied; all of them when none of these was."""


def resolve(bench: Bench) -> Ready:
    """Stage what the dirty claims do to beliefs. An engine that asks a model first looks up what was left open, and then relates what certain matching could
    not; where its provider cannot be had, the dream goes on with what is certain."""
    store, scope, dream = bench.store, bench.scope, bench.job.dream
    bench.parts.progress("resolving", 0, 0)
    lineage = lineage_of(store, scope)
    last, since = since_last_applied(store, dream)
    read = sessions_read(store, (dream, *since))
    thinker = _thinker(bench)
    thought = _think(bench, thinker, lineage, read) if thinker else {}
    anew = last is None or (last.summary or {}).get("beliefs") != basis(bench.params)
    with store.finishing(bench.job, "hold what speakers said"):
        hold_by_speaker(store, scope, lineage, None if anew else read)
    dirty = store.freeze_dirty(dream)
    if anew:
        dirty |= {g.claim.uid for g in store.all_claims(scope)}
    else:
        dirty |= of_one_lineage(store, scope, read, lineage)
    bench.go_on()
    now = bench.parts.now()
    done = resolve_dirty(store, scope, dirty, lineage, skew_s=bench.params.skew_s, intake_at=now, engine=bench.parts.engine.name)
    said = _relate(bench, thinker, done, lineage) if thinker else Verdicts()
    if any(v.relation is not Relation.OTHER for v in said.relations):
        done = resolve_dirty(
            store, scope, dirty, lineage, skew_s=bench.params.skew_s, intake_at=now, engine=bench.parts.engine.name, verdicts=said.relations
        )  # fmt: skip
    verbs = Counter(r.verb.value for r in done.resolutions)

    def write() -> Mapping[str, object]:
        if thinker:
            store.save_relations(scope, said.relations)
            store.mark_dirty(scope, said.unasked, UNASKED)
        store.stage(dream, done.changes, done.reads)
        return {}

    result = {"verbs": dict(sorted(verbs.items())), "changes": len(done.changes), "dirty": len(dirty), **thought, **bench.asked()}
    return Ready(result=result | ({"related": _told(said)} if thinker else {}), write=write)


UNASKED = "unasked"
"""Why claims are to be resolved again that a budget kept from being related."""


def _thinker(bench: Bench) -> Thinker | None:
    """The engine, if it asks a model that can be had."""
    engine = bench.parts.engine
    return cast(Thinker, engine) if asks(engine) and bench.job.failures < WITHOUT else None


def _think(bench: Bench, thinker: Thinker, lineage: Mapping[str, str], read: tuple[str, ...]) -> dict[str, object]:
    """Answers and insights, kept at once: they are resolved with what was read. Returns counts for the unit's result."""
    store, scope, dream = bench.store, bench.scope, bench.job.dream
    bench.go_on()
    unread = frozenset(u.session for u in unread_sessions(store, scope, thinker.name, replace(bench.params, since=None)))
    known = Known(dream=dream.uid, read=frozenset(read), unread=unread, lineage=lineage)
    try:
        thought = think(store, scope, thinker, bench.desk, known)
    except Permanent as error:
        return {"not_asked": str(error)[:ERROR_MAX]}
    with store.finishing(bench.job, "keep answers and insights"):
        save_thought(store, scope, dream.uid, thought)
    bench.parts.step("thought")
    return {"looked_up": thought.questions, "answered": thought.answered, "insights": thought.insights}


def _relate(bench: Bench, thinker: Thinker, done: Resolved, lineage: Mapping[str, str]) -> Verdicts:
    bench.go_on()
    try:
        return relate_open(bench.store, bench.scope, thinker, bench.desk, done, lineage)
    except Permanent:
        return Verdicts()


def _told(said: Verdicts) -> dict[str, int]:
    return dict(sorted(Counter(v.relation.value for v in said.relations).items()))


def basis(params: Params) -> str:
    """What decides beliefs beside claims and rulings."""
    return f"{BELIEFS} skew {params.skew_s:g}"


def since_last_applied(store: Store, dream: Dream) -> tuple[Dream | None, tuple[Dream, ...]]:
    """The last dream before this one that moved beliefs to the end, and those after it that did not: what they read is not believed yet."""
    for limit in (LOOK_BACK, None):
        between: list[Dream] = []
        for before in store.dreams(dream.scope, limit=limit):
            if before.uid == dream.uid or before.state == "pending" or not is_whole(before.params):
                continue
            if before.state == "completed" and before.summary:  # of a held one not all was believed
                return before, tuple(between)
            between.append(before)
    return None, tuple(between)


def sessions_read(store: Store, dreams: tuple[Dream, ...]) -> tuple[str, ...]:
    """The sessions whose reading changed in these dreams."""
    found = (told.get("sessions") for dream in dreams for told in store.results(dream, "extract").values())
    return tuple(sorted({str(uid) for sessions in found if isinstance(sessions, list) for uid in sessions}))
