"""What is true of the person of a world after each session, as frozen values; written down by the generator, read by the judge."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Way(StrEnum):
    """How a change was told: with the old value, with the new one alone, or only by an aside that shows it."""

    NAMED = "named"
    UNNAMED = "unnamed"
    IMPLIED = "implied"

    @property
    def outright(self) -> bool:
        """Whether the words state the change."""
        return self is not Way.IMPLIED


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One value of one item, told outright in one session (counted from 1)."""

    item: str
    value: str
    session: int
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """An item's value replaced by another in one session, with the person's own reason."""

    item: str
    old: str
    new: str
    reason: str
    way: Way
    session: int
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Never:
    """A sentence whose `values` must not become the person's; `kind` says why (event, other, joke, wish, …)."""

    kind: str
    session: int
    sentence: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """Everything that is true of one person. `names` are the subjects that mean the person, `bullets` the request made once in a session."""

    user: str
    language: str
    names: tuple[str, ...]
    told: tuple[Told, ...]
    changes: tuple[Change, ...]
    never: tuple[Never, ...]
    bullets: Told | None

    def believed(self, after: int) -> dict[str, str]:
        """Item → the value that holds after this session."""
        held = {t.item: t.value for t in sorted(self.told, key=lambda t: t.session) if t.session <= after}
        held.update({c.item: c.new for c in sorted(self.changes, key=lambda c: c.session) if c.session <= after})
        return held

    def changed(self, after: int) -> tuple[Change, ...]:
        """The changes that have happened after this session."""
        return tuple(c for c in self.changes if c.session <= after)

    def over(self, change: Change, after: int) -> bool:
        """Whether the old value of a change is still over after this session: nothing has brought it back."""
        return self.believed(after)[change.item] != change.old
