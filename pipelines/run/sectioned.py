"""Large topics cut into sections (`wiki.topics.sections`), where something changed in them: what stands far from a change keeps its section unread."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, cast

from pipelines.run.placed import Rows, root_of
from pipelines.store import ShownItem, ShownPage
from pipelines.store.types import dump, load
from pipelines.wiki import cutting
from pipelines.wiki.cutting import NEVER, Spot, beginnings, begins_group, section_names
from pipelines.wiki.topics import SHELVES, subject_names

Order = tuple[str, int, str]
BESIDE = 2
"""Sections read before and after one that changed: the farther one is never cut anew, and gives the nearer one its neighbours."""
_FIRST: Order = ("", -NEVER, "")


@dataclass(frozen=True, slots=True)
class Section:
    """A section as it is now: what it is called, and where it begins ("root": with its topic)."""

    title: str
    aliases: tuple[str, ...]
    begin: str


ROOT = "root"


def cut_into_sections(rows: Rows, pages: Sequence[ShownPage], *, anew: bool) -> dict[str, Section]:
    """Give every row that was looked at its section; returns the sections that were cut anew, by topic key. `pages` are the first parts that stood."""
    moved: defaultdict[str, set[str]] = defaultdict(set)
    for uid in {r.uid for r in rows.changed} | rows.gone:
        old, now = rows.old.get(uid), rows.now.get(uid)
        for row in (old, now):
            if row and row.root and not row.root.startswith("1:"):
                moved[row.root].add(uid)
    stood: defaultdict[str, list[ShownPage]] = defaultdict(list)
    for page in pages:
        stood[root_of(page.topic)].append(page)
    found: dict[str, Section] = {}
    for root, uids in sorted(moved.items()):
        found |= _Root(rows, root, uids, stood[root], anew=anew).cut()
    return found


class _Root:
    """One topic in which notes changed."""

    def __init__(self, rows: Rows, root: str, uids: Iterable[str], stood: Iterable[ShownPage], *, anew: bool) -> None:
        self.rows, self.root, self.uids, self.anew = rows, root, sorted(uids), anew
        self.of_subject = root.startswith("2:")
        self.stood = sorted(((_order_of(p.begin), p) for p in stood), key=lambda pair: pair[0])
        self.was = [old for uid in self.uids if (old := rows.old.get(uid)) and old.root == root]
        self.now = [row for uid in self.uids if (row := rows.now.get(uid)) and row.root == root]

    def cut(self) -> dict[str, Section]:
        """The sections that were cut anew; none where the topic is not large."""
        limit = cutting.LARGE_NOTES + len(self.uids)
        before = 0 if self.anew else self.rows.store.count_of_root(self.rows.scope, self.root, limit)
        was, large = before >= cutting.LARGE_NOTES, before >= limit or before - len(self.was) + len(self.now) >= cutting.LARGE_NOTES
        if not large and not was:
            return {}
        title, aliases = self._names()
        if not large:
            self._all()
            self._put(self._mine(), self.root)
            return {self.root: Section(title, aliases, "")}
        if not was or not self.stood or (self.stood[0][1].title, self.stood[0][1].aliases) != (title, dump(list(aliases))):
            self._all()
            return self._cut(self._mine(), title, aliases)
        return self._cut_near(title, aliases)

    def _all(self) -> None:
        if not self.anew:
            self.rows.load(roots=[self.root])

    def _mine(self) -> list[ShownItem]:
        return [row for row in self.rows.now.values() if row.root == self.root]

    def _put(self, rows: Iterable[ShownItem], topic: str) -> None:
        for row in rows:
            if row.topic != topic:
                self.rows.put(replace(row, topic=topic, part=0))

    def _names(self) -> tuple[str, tuple[str, ...]]:
        if not self.of_subject:
            return SHELVES[self.root[2:]][0], ()
        forms = Counter({} if self.anew else self.rows.store.forms_of_root(self.rows.scope, self.root))
        forms.subtract(r.forms for r in self.was)
        forms.update(r.forms for r in self.now)
        return subject_names(self.root[2:], {_forms(told): n for told, n in forms.items() if n > 0})

    # --- cutting ---

    def _cut(self, mine: Iterable[ShownItem], title: str, aliases: tuple[str, ...]) -> dict[str, Section]:
        """All of the topic."""
        rows = sorted(mine, key=lambda r: _spot(r).order)
        spots = [_spot(r) for r in rows]
        begins = [0, *beginnings(spots)]
        return self._sections(rows, spots, begins, title, Section(title, aliases, ROOT), self.root)

    def _sections(
        self, rows: Sequence[ShownItem], spots: Sequence[Spot], begins: Sequence[int], title: str, first: Section | None, key: str
    ) -> dict[str, Section]:
        """Put the rows from each beginning on on a section; the first one is `key`, which may not be cut anew (`first` is None)."""
        found = {} if first is None else {key: first}
        for begin, end in pairwise([*begins, len(rows)]):
            name = key
            if begin:
                at, first_of = spots[begin], begins_group(spots, begin)
                name, called = section_names(self.root, title, at, first=first_of, of_subject=self.of_subject)
                found[name] = Section(called, (), dump(list(at.order)))
            self._put(rows[begin:end], name)
        return found

    def _cut_near(self, title: str, aliases: tuple[str, ...]) -> dict[str, Section]:
        """The sections around the notes that stand elsewhere than before."""
        moved = {uid for uid in self.uids if self._moved(uid)}
        orders = [_spot(r).order for r in (*self.was, *self.now) if r.uid in moved]
        begins = [order for order, _ in self.stood]
        near = {n for o in orders for at in (bisect_right(begins, o) - 1,) for n in range(at - BESIDE, at + BESIDE + 1) if 0 <= n < len(begins)}
        self.rows.of_topics(self.stood[n][1].topic for n in near)
        self._restore(moved)
        found: dict[str, Section] = {}
        for first, last in _runs(near):
            found |= self._cut_run(first, last, title, aliases)
        return found

    def _moved(self, uid: str) -> bool:
        old, now = self.rows.old.get(uid), self.rows.now.get(uid)
        return old is None or now is None or old.root != now.root or _spot(old) != _spot(now)

    def _restore(self, moved: set[str]) -> None:
        """Notes that changed and stand where they stood keep their section."""
        for row in self.now:
            if row.uid not in moved and (old := self.rows.old.get(row.uid)):
                self._put([self.rows.now[row.uid]], old.topic)

    def _cut_run(self, first: int, last: int, title: str, aliases: tuple[str, ...]) -> dict[str, Section]:
        """Sections that follow one another; the outer one on each side is left as it is unless the topic ends there."""
        begins = [order for order, _ in self.stood]
        low, high = begins[first], begins[last + 1] if last + 1 < len(begins) else None
        rows = sorted((r for r in self._mine() if low <= _spot(r).order and (high is None or _spot(r).order < high)), key=lambda r: _spot(r).order)
        if not rows:
            return {}
        spots = [_spot(r) for r in rows]
        inner = (begins[first + 1] if first else _FIRST, begins[last] if high is not None else None)
        cuts = [n for n in beginnings(spots) if inner[0] <= spots[n].order and (inner[1] is None or spots[n].order <= inner[1])]
        return self._sections(rows, spots, [0, *cuts], title, None if first else Section(title, aliases, ROOT), self.stood[first][1].topic)


def _spot(row: ShownItem) -> Spot:
    return Spot(row.key, NEVER if row.oldest is None else row.oldest, row.uid, _forms(row.forms)[0])


def _forms(told: str) -> tuple[str, ...]:
    return tuple(cast(list[str], load(told)))


def _order_of(begin: str) -> Order:
    if begin in {"", ROOT}:
        return _FIRST
    told: Any = load(begin)
    return (told[0], told[1], told[2])


def _runs(found: Iterable[int]) -> list[tuple[int, int]]:
    """Numbers as runs without a gap: (first, last)."""
    runs: list[tuple[int, int]] = []
    for n in sorted(found):
        runs = [*runs[:-1], (runs[-1][0], n)] if runs and runs[-1][1] == n - 1 else [*runs, (n, n)]
    return runs
