"""What a new session is told at an agent's door, from the store alone: the brief as the last revision left it, and which versions of notes it tells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime

from pipelines.store import Store
from pipelines.wiki.brief import told_correction
from pipelines.wiki.content import Correction
from pipelines.wiki.signs import is_old


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The brief of a door at a revision. `versions` are the note versions it tells, "note/slot", and notes of the agent's own as "note"."""

    door: str
    rev: int
    text: str
    versions: tuple[str, ...]


def told_at(store: Store, scope: str) -> tuple[Told, ...]:
    """The brief of every door; none before the first dream of a scope."""
    state = store.render_state(scope)
    briefs = state.aside.get("briefs", {}) if state else {}
    versions = versions_of(store, scope, {uid for brief in briefs.values() for uid in brief["told"]})
    return tuple(
        Told(door=door, rev=state.rev if state else 0, text=brief["text"], versions=tuple(v for uid in brief["told"] for v in versions[uid]))
        for door, brief in sorted(briefs.items())
    )  # fmt: skip


def versions_of(store: Store, scope: str, notes: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """Note → its current versions, "note/slot"; notes of the agent's own, which have none, as they are."""
    slots: dict[str, list[str]] = {note: [] for note in notes}
    for head in store.heads(scope, notes=sorted(slots)) if slots else ():
        slots[head.version.note].append(f"{head.version.note}/{head.version.slot}")
    return {note: tuple(sorted(found)) or (note,) for note, found in slots.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A session that was told a note: when, at which door, and which version."""

    session: str
    at: str
    door: str
    version: str


def sessions_told(store: Store, scope: str, note: str) -> tuple[Sent, ...]:
    """The sessions that were told a note of this id, oldest first; a session told twice stands twice."""
    return tuple(
        Sent(session=d.session, at=f"{d.at:%Y-%m-%d %H:%M}", door=d.door, version=version)
        for d in store.deliveries(scope) for version in d.versions if version.partition("/")[0] == note
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Heard:
    """How many sessions were told something, and since which day."""

    sessions: int
    since: date


def heard(store: Store, scope: str, wanted: Iterable[str], *, before: datetime) -> Mapping[str, Heard]:
    """Who was told these versions ("note/slot", or the id of an own note) before a moment; nothing of those nobody was told."""
    names = frozenset(wanted)
    sessions: dict[str, set[str]] = {}
    since: dict[str, date] = {}
    for delivery in store.deliveries(scope) if names else ():
        for name in names.intersection(delivery.versions) if delivery.at < before else ():
            sessions.setdefault(name, set()).add(delivery.session)
            since.setdefault(name, delivery.at.date())
    return {name: Heard(len(told), since[name]) for name, told in sessions.items()}


def tellings(store: Store, scope: str, corrections: Iterable[Correction], newest: datetime | None) -> dict[str, int]:
    """How often each correction was told, by uid; only of those old enough for it to matter, since all deliveries are read for it."""
    old = {told_correction(c.uid): c.uid for c in corrections if is_old(c, newest)}
    counts = Counter(old[name] for d in (store.deliveries(scope) if old else ()) for name in old.keys() & set(d.versions))
    return dict(sorted(counts.items()))


def with_tellings(corrections: Iterable[Correction], counts: Mapping[str, int]) -> tuple[Correction, ...]:
    """The corrections with how often they were told."""
    return tuple(replace(c, deliveries=counts.get(c.uid, 0)) for c in corrections)
