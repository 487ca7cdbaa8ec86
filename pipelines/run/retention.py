"""Retention, whole: what is older than the settings allow goes out of a scope, some sessions a transaction, and then out of the files that held it.

It changes nothing that is believed. Whoever reads a session again of which lines went keeps what was read in them (`still_read`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from pipelines.gates import held_unless_said
from pipelines.model import OrderKey, Origin
from pipelines.ports import Blobs
from pipelines.store import GatedClaim, Store
from pipelines.store.retain import Limit
from pipelines.store.unkept import Retained

ROUNDS = 1_000
"""Transactions of one call: a scope with more old sessions goes on with the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Otherwise:
    """What is kept otherwise in a scope and those below it; None: as above it."""

    turns_days: int | None = None
    archive_days: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Keep:
    """For how many days turns that nothing rests on, and archived bytes, are kept after the newest turn of their session; 0 for ever. `scopes` says where
    it is otherwise, by scope."""

    turns_days: int = 0
    archive_days: int = 0
    scopes: Mapping[str, Otherwise] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return any((self.turns_days, self.archive_days, *(o.turns_days or o.archive_days for o in self.scopes.values())))

    def of(self, scope: str) -> Keep:
        """What holds for a scope: what is said of it, else of the nearest above it by whole names (systems R8), else of all."""
        turns, archived, path = self.turns_days, self.archive_days, scope.split("/")
        for n in range(1, len(path) + 1):
            if (here := self.scopes.get("/".join(path[:n]))) is not None:
                turns = turns if here.turns_days is None else here.turns_days
                archived = archived if here.archive_days is None else here.archive_days
        return Keep(turns_days=turns, archive_days=archived)


FOR_EVER = Keep()


def retain(store: Store, scope: str, archive: Blobs, keep: Keep, *, now: datetime) -> Mapping[str, int]:
    """Let go of what is over by whole days (UTC), so that a second call on the same day finds nothing new to do; returns what went, counted by kind.

    `keep` is for all scopes. Pages that show what went are left over for `clean_leftovers`. Lines that order somebody about stay, whoever said them: what
    holds their echo back in note files goes by them. Raises ArchiveUnavailable.
    """
    gone: Counter[str] = Counter()
    here = keep.of(scope)
    if not here:
        return gone
    turns, archived = _limit(here.turns_days, now), _limit(here.archive_days, now)
    for _ in range(ROUNDS):
        going = store.going(scope, turns, archived)
        went = {} if going is None else store.retain(scope, archive, turns=turns, archived=archived, stays=_judged(going))
        if not went:
            break
        gone.update(went)
    return gone


def _limit(days: int, now: datetime) -> Limit | None:
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return Limit(days=days, before=today - timedelta(days=days)) if days else None


def _judged(lines: Iterable[tuple[Origin, str]]) -> Callable[[Origin, str], bool]:
    """`_orders`, of these lines known beforehand: megabytes take it minutes, for which nobody is to wait and no server keeps a transaction open."""
    known = {line: _orders(*line) for line in lines}
    return lambda origin, said: known[origin, said] if (origin, said) in known else _orders(origin, said)


def _orders(origin: Origin, said: str) -> bool:
    return origin in {Origin.USER, Origin.EXTERNAL, Origin.TOOL} and bool(said) and bool(held_unless_said(said))


def no_longer_kept(days: int) -> str:
    """What is said of a line that can no longer be read in the log."""
    return f"the line is no longer kept (retention of {days} days)"


def not_to_read(store: Store, scope: str, sessions: Collection[str]) -> frozenset[str]:
    """Those of these sessions that end where lines of them went: without those nothing is read in them."""
    until = {s: kept.turns_until for s, kept in store.retained(scope).items() if s in sessions and kept.turns_until}
    if not until:
        return frozenset()
    spans = store.spans(scope)
    return frozenset(s for s, at in until.items() if (last := spans.get(s, (None, None))[1]) is None or last <= at)


def still_read(
    store: Store, scope: str, session: str, engine: str, order: Iterable[OrderKey], claims: Iterable[GatedClaim], kept: Retained | None
) -> tuple[GatedClaim, ...]:  # fmt: skip
    """What counts as read in a session that went on after lines of it went: of those days what was read then, of the rest what is read now."""
    if kept is None or (until := kept.turns_until) is None:
        return tuple(claims)
    old = {key.uid for key in order if key.at is not None and key.at <= until}
    family = engine.split("/", 1)[0] + "/"
    held = {uid for reading in store.readings_named(scope, family) if reading.session == session for uid in reading.claims}
    before = {g.claim.uid: g for g in store.claims_of(scope, held) if all(q.turn in old for q in g.claim.quotes)}
    now = {g.claim.uid: g for g in claims if any(q.turn not in old for q in g.claim.quotes)}
    return tuple({**now, **before}.values())
