"""What a new session is told at an agent's door, from the store alone: the brief as the last revision left it, and which versions of notes it tells."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.store import Store


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
    named = {uid for brief in briefs.values() for uid in brief["told"]}
    slots: dict[str, list[str]] = {}
    for head in store.heads(scope, notes=sorted(named)) if named else ():
        slots.setdefault(head.version.note, []).append(f"{head.version.note}/{head.version.slot}")
    return tuple(
        Told(door=door, rev=state.rev if state else 0, text=brief["text"], versions=tuple(v for uid in brief["told"] for v in sorted(slots.get(uid, [uid]))))
        for door, brief in sorted(briefs.items())
    )  # fmt: skip


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
