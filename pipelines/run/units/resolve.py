"""Resolve: every note that a changed claim touches is believed anew; what differs is staged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from pipelines.run.parts import Params
from pipelines.run.resolving import lineage_of, of_one_lineage, resolve_dirty
from pipelines.run.units.bench import Bench, Ready
from pipelines.run.versions import BELIEFS
from pipelines.store import Dream, Store, is_whole

LOOK_BACK = 16
"""Dreams looked at first for the last one that was applied; all of them when none of these was."""


def resolve(bench: Bench) -> Ready:
    """Stage what the dirty claims do to beliefs."""
    store, scope, dream = bench.store, bench.scope, bench.job.dream
    bench.parts.progress("resolving", 0, 0)
    lineage = lineage_of(store, scope)
    last, since = since_last_applied(store, dream)
    dirty = store.freeze_dirty(dream)
    if last is None or (last.summary or {}).get("beliefs") != basis(bench.params):
        dirty |= {g.claim.uid for g in store.all_claims(scope)}
    else:
        dirty |= of_one_lineage(store, scope, sessions_read(store, (dream, *since)), lineage)
    bench.go_on()
    done = resolve_dirty(store, scope, dirty, lineage, skew_s=bench.params.skew_s, intake_at=bench.parts.now())
    verbs = Counter(r.verb.value for r in done.resolutions)

    def write() -> Mapping[str, object]:
        store.stage(dream, done.changes, done.reads)
        return {}

    return Ready(result={"verbs": dict(sorted(verbs.items())), "changes": len(done.changes), "dirty": len(dirty)}, write=write)


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
