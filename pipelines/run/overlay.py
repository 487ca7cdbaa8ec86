"""Ranked notes and counts as they are once the rows that changed are kept: what the store has of the others, and these."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from datetime import datetime

from pipelines.run.placed import Rows
from pipelines.store import ShownItem, Store
from pipelines.wiki import inbox as q
from pipelines.wiki.brief import WAITING_MAX
from pipelines.wiki.placing import instant
from pipelines.wiki.signs import GOALS


class Overlay:
    """Ranked notes and counts as they are once the rows that changed are kept: what the store has of the others, and these."""

    def __init__(self, store: Store, scope: str, rows: Rows) -> None:
        self.store, self.scope, self.rows = store, scope, rows
        self.changed = rows.changed
        self.over = {r.uid for r in self.changed} | rows.gone
        self.was = [rows.old[uid] for uid in self.over if uid in rows.old]

    def newest(self) -> datetime | None:
        """The newest evidence of any note."""
        stood = self.store.newest_shown(self.scope, without=frozenset(r.uid for r in self.was))
        return instant(max((t for t in (stood, *(r.newest for r in self.changed)) if t is not None), default=None))

    def checked(self) -> bool:
        """Whether any note rests on a log."""
        return any(r.checked for r in self.changed) or self.store.any_checked(self.scope, without=frozenset(r.uid for r in self.was))

    def best(self, section: str, limit: int) -> tuple[list[ShownItem], int]:
        """The first notes of a section by rank, and how many it has."""
        rows, count = self.store.best_of(self.scope, section, limit + len(self.was))
        mine = [r for r in self.changed if r.section == section]
        kept = [self._same(r) for r in rows if r.uid not in self.over]
        return sorted([*kept, *mine], key=lambda r: r.brief_rank)[:limit], count - sum(r.section == section for r in self.was) + len(mine)

    def first(self, waits: str, limit: int, since: int | None = None) -> list[ShownItem]:
        """The first notes that wait as this, and were heard of since then."""
        rows = self.store.first_waiting(self.scope, waits, limit + len(self.was), since)
        mine = [r for r in self.changed if r.waits == waits and heard_since(r, since)]
        return sorted([*(self._same(r) for r in rows if r.uid not in self.over), *mine], key=lambda r: r.queue_rank)[:limit]

    def goals(self, since: int | None) -> tuple[list[ShownItem], int]:
        """Goals heard of since then, the newest first, and how many there are."""

        def heard(row: ShownItem) -> bool:
            return row.section == GOALS and (since is None or row.newest is None or row.newest >= since)

        rows, count = self.store.goals_since(self.scope, GOALS, since, WAITING_MAX + len(self.was))
        mine = [r for r in self.changed if heard(r)]
        kept = [self._same(r) for r in rows if r.uid not in self.over]
        return sorted([*kept, *mine], key=lambda r: (-(r.newest or 0), r.uid)), count - sum(map(heard, self.was)) + len(mine)

    def saying(self, said: Collection[str]) -> int:
        """How many facts say one of these sentences."""
        return self.store.said_in_brief(self.scope, said) - sum(r.said in said for r in self.was) + sum(r.said in said for r in self.changed)

    def waiting(self, since: int | None) -> Counter[tuple[str, str]]:
        """How many notes wait, by why and the reason they are counted by; drafts as far as they were heard of since then."""
        drafts = self.store.waiting_counts(self.scope, q.Waits.DRAFT, since)
        counts = Counter({**{k: n for k, n in self.store.waiting_counts(self.scope).items() if k[0] != q.Waits.DRAFT}, **drafts})
        counts.subtract((r.waits, r.reason) for r in self.was if is_counted(r, since))
        counts.update((r.waits, r.reason) for r in self.changed if is_counted(r, since))
        return +counts

    def waiting_of(self, notes: Collection[str], since: int | None) -> Counter[tuple[str, str]]:
        """As `waiting`, of these notes alone."""
        rows = self.rows.load(uids=notes) if notes else []
        return Counter((r.waits, r.reason) for r in rows if is_counted(r, since))

    def _same(self, row: ShownItem) -> ShownItem:
        """A row the store gave, as it stands now (its part may be another)."""
        return self.rows.now.get(row.uid, row)


def heard_since(row: ShownItem, since: int | None) -> bool:
    """Whether a note was heard of since then; one without a time always was."""
    return since is None or row.newest is None or row.newest >= since


def is_counted(row: ShownItem, since: int | None) -> bool:
    return bool(row.waits) and (row.waits != q.Waits.DRAFT or heard_since(row, since))
