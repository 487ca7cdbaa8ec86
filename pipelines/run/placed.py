"""Notes as pages show them, kept up to date: which ones changed, which say one sentence, and on which topic each stands.

Works on rows the store keeps. Only rows that changed, and those whose place depends on them, are looked at; what comes out is what looking at all of
them would give.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from pipelines.model import digest
from pipelines.run.noted import one_a_sentence, sentence_of
from pipelines.store import ShownItem, Store
from pipelines.store.types import dump, load
from pipelines.wiki.content import Item
from pipelines.wiki.cutting import SUBJECT_NOTES_MIN
from pipelines.wiki.packed import item_of, pack
from pipelines.wiki.placing import NOTHING, Facts, facts
from pipelines.wiki.topics import SMALL_NOTES, joined_to, layout, memory_topics, owners_of


class Rows:
    """Rows of items as they stood and as they stand now, as far as they were looked at."""

    def __init__(self, store: Store, scope: str) -> None:
        self.store, self.scope = store, scope
        self.old: dict[str, ShownItem] = {}
        self.now: dict[str, ShownItem] = {}
        self._items: dict[str, tuple[str, Item]] = {}
        self._topics: set[str] = set()

    def load(self, **by: Any) -> list[ShownItem]:
        """Read rows by one of their keys, as `Store.shown_items`; rows read before stay as they are by now."""
        found = self.store.shown_items(self.scope, **by)
        for row in found:
            if row.uid not in self.old:
                self.old[row.uid] = row
                self.now.setdefault(row.uid, row)
        return [self.now[row.uid] for row in found if row.uid in self.now]

    def item(self, row: ShownItem) -> Item:
        """What a row shows."""
        known = self._items.get(row.uid)
        if known is None or known[0] != row.shown:
            known = self._items[row.uid] = (row.shown, unpacked(row.shown))
        return known[1]

    def put(self, row: ShownItem, item: Item | None = None) -> None:
        """This is how it stands now."""
        self.now[row.uid] = row
        if item is not None:
            self._items[row.uid] = (row.shown, item)

    def drop(self, uid: str) -> None:
        """It stands nowhere any more."""
        self.now.pop(uid, None)

    def of_topics(self, topics: Iterable[str]) -> dict[str, list[ShownItem]]:
        """The rows that stand on these topics now, by topic."""
        wanted = set(topics)
        self.load(topics=wanted - self._topics)
        self._topics |= wanted
        found: dict[str, list[ShownItem]] = {topic: [] for topic in wanted}
        for row in self.now.values():
            if row.topic in found:
                found[row.topic].append(row)
        return found

    @property
    def changed(self) -> tuple[ShownItem, ...]:
        """Rows that are new or other than they were."""
        return tuple(row for uid, row in sorted(self.now.items()) if self.old.get(uid) != row)

    @property
    def gone(self) -> frozenset[str]:
        """Rows that were there and are not."""
        return frozenset(self.old.keys() - self.now.keys())


def packed(item: Item) -> str:
    """A note as a row holds it."""
    return dump(pack(item))


def unpacked(text: str) -> Item:
    """The note a row holds."""
    told: Any = load(text)
    return item_of(told)


# --- which notes there are ---------------------------------------------------------------------------------------------------------------


def take_notes(rows: Rows, looked_at: Collection[str], items: Mapping[str, Item]) -> None:
    """Bring the notes that were looked at up to date: `items` are those of them that may be shown."""
    rows.load(uids=looked_at)
    sentences: set[str] = set()
    for uid in looked_at:
        old, item = rows.old.get(uid), items.get(uid)
        raw = packed(item) if item else ""
        if raw == (old.raw if old else ""):
            continue
        sentences |= {old.sentence} if old else set()
        if item is None:
            rows.drop(uid)
            continue
        sentence = digest(*sentence_of(item))[:24]
        sentences.add(sentence)
        rows.put(_row(item, sentence=sentence, carried=False, raw=raw, before=old), item)
    _lead(rows, sentences)


def take_carried(rows: Rows, items: Sequence[Item]) -> None:
    """Make these the lines of note files that are shown."""
    stood = {row.uid for row in rows.load(carried=True)}
    for item in items:
        old, raw = rows.old.get(item.uid), packed(item)
        if old is None or old.raw != raw:
            rows.put(_shown(_row(item, sentence="", carried=True, raw=raw, before=old), item, body=""), item)
    for uid in stood - {i.uid for i in items}:
        rows.drop(uid)


def _lead(rows: Rows, sentences: Collection[str]) -> None:
    """Of the notes that say one sentence one leads, and shows the evidence of all."""
    rows.load(sentences=sentences)
    groups: defaultdict[str, list[ShownItem]] = defaultdict(list)
    for uid in sorted(rows.now):
        row = rows.now[uid]
        if not row.carried and row.sentence in sentences:
            groups[row.sentence].append(row)
    for same in groups.values():
        items = {row.uid: unpacked(row.raw) for row in same}
        (lead,) = one_a_sentence(items.values())
        for row in same:
            if row.uid != lead.uid:
                rows.put(_filled(row, NOTHING, lead=False, body="", root="", topic="", part=0))
        row = rows.now[lead.uid]
        rows.put(_shown(row, lead, body="" if len(same) == 1 else packed(lead)), lead)


def _row(item: Item, *, sentence: str, carried: bool, raw: str, before: ShownItem | None) -> ShownItem:
    blank = before or ShownItem(
        uid=item.uid, lead=False, root="", topic="", part=0, lines=None, size=None, mark="", body="", sentence="", carried=carried, raw="", **_columns(NOTHING)
    )
    return replace(blank, sentence=sentence, raw=raw)


def _shown(row: ShownItem, item: Item, *, body: str) -> ShownItem:
    """A row that leads with what is asked of its note; weighed anew when it shows something else."""
    filled = _filled(row, facts(item), lead=True, body=body)
    mark = digest(filled.shown)[:24]
    return filled if mark == row.mark else replace(filled, mark=mark, lines=None, size=None)


def _filled(row: ShownItem, found: Facts, **more: Any) -> ShownItem:
    return replace(row, **_columns(found), **more)


def _columns(found: Facts) -> dict[str, Any]:
    return {f.name: getattr(found, f.name) for f in fields(found)} | {"forms": dump(list(found.forms))}


# --- where each stands -------------------------------------------------------------------------------------------------------------------


class Places:
    """The topic of every row that was looked at, as its root: a large one is cut into sections afterwards. `memory` are the pages of note files by key when lines of those changed; else `owners` is what the
    pages that stand are called."""

    def __init__(self, rows: Rows, owners: Mapping[str, set[str]], memory_keys: frozenset[str], *, anew: bool, carried: bool) -> None:
        self.rows, self.owners, self.memory = rows, owners, memory_keys
        self.anew, self.carried = anew, carried
        self._lines: dict[str, str] = {}
        self._joined: dict[str, str | None] = {}

    def settle(self) -> None:
        """Give every row its topic."""
        if self.carried:
            self._memory()
        rows = self.rows
        if self._few():
            rows.load(placed=True)
            self._whole()
            return
        if self.was_few:
            rows.load(placed=True)
        touched = {r.uid for r in (*rows.changed, *(rows.old[u] for u in rows.gone))}
        touched |= {uid for uid, row in rows.now.items() if self.was_few and row.placed}
        touched |= {uid for uid in self._renamed if uid in rows.now}
        named = self._named(touched)
        for uid in sorted(rows.now):
            row = rows.now[uid]
            if row.carried or (uid not in touched and row.key not in named):
                continue
            self._stand(row, self._topic(row, named))

    # --- memory pages ---

    _renamed: frozenset[str] = frozenset()

    def _memory(self) -> None:
        """Pages of note files from all their lines; notes whose subject has become, or is no longer, what such a page is called, are looked at."""
        rows = self.rows
        lines = [rows.item(row) for row in rows.now.values() if row.carried and row.placed]
        topics = memory_topics(sorted(lines, key=_in_file))
        self._lines = {item.uid: key for key, topic in topics.items() for item in (*topic.items, *topic.past)}
        owners = owners_of((key, (t.title, *t.aliases)) for key, t in topics.items())
        names = {n for n in owners.keys() | self.owners.keys() if owners.get(n) != self.owners.get(n)} | (topics.keys() ^ self.memory)
        self.owners, self.memory = owners, frozenset(topics)
        self._renamed = frozenset(r.uid for r in rows.load(names=names, placed=True, carried=False)) if names and not self.anew else frozenset()
        for row in [r for r in rows.now.values() if r.carried]:
            self._stand(row, self._lines.get(row.uid, ""))

    def _joins(self, row: ShownItem) -> str | None:
        if row.uid not in self._joined:
            self._joined[row.uid] = joined_to(row.subject, row.key, row.pin, named=row.named, owners=self.owners, memory=self.memory)
        return self._joined[row.uid]

    # --- few notes ---

    was_few = False

    def _few(self) -> bool:
        """Whether there are so few live notes that pages are few, too; or were, and all may stand elsewhere now."""
        rows = self.rows
        before = {r.uid for r in (*rows.changed, *(rows.old[u] for u in rows.gone))}
        limit = SMALL_NOTES + len(before)
        stood = 0 if self.anew else rows.store.live_shown(rows.scope, limit)
        change = sum(rows.now[u].live for u in before if u in rows.now) - sum(rows.old[u].live for u in before if u in rows.old)
        self.was_few = stood < SMALL_NOTES
        return stood + change < SMALL_NOTES if stood < limit else False

    def _whole(self) -> None:
        """The layout of all notes, of which there are few."""
        rows = self.rows
        placed = [row for row in rows.now.values() if row.placed]
        where = {item.uid: root_of(t.key) for t in layout([rows.item(r) for r in placed]).topics for item in (*t.items, *t.past)}
        for row in list(rows.now.values()):
            self._stand(row, where.get(row.uid, ""))

    # --- subjects and shelves ---

    def _named(self, touched: Collection[str]) -> dict[str, bool]:
        """Of the subjects of what was touched: whether each is a page of its own. Where that has changed, all its notes are read."""
        rows = self.rows
        keys = {row.key for uid in touched for row in (rows.old.get(uid), rows.now.get(uid)) if row and row.placed and not row.carried}
        stood = {} if self.anew else rows.store.live_keys(rows.scope, keys)
        live, names = ({key: stood.get(key, (0, 0))[n] for key in keys} for n in (0, 1))
        was = {key: _is_page(key, live[key], names[key]) for key in keys}
        for uid in touched:
            old, row = rows.old.get(uid), rows.now.get(uid)
            if old and old.placed and not old.carried and not old.root.startswith("1:"):
                live[old.key], names[old.key] = live[old.key] - old.live, names[old.key] - old.named
            if row and row.placed and not row.carried and not self._joins(row):
                live[row.key], names[row.key] = live[row.key] + row.live, names[row.key] + row.named
        now = {key: _is_page(key, live[key], names[key]) for key in keys}
        turned = keys if self.was_few else {key for key in keys if was[key] != now[key]}
        if not self.anew:
            rows.load(keys=turned, placed=True, carried=False)
        return now

    def _topic(self, row: ShownItem, named: Mapping[str, bool]) -> str:
        if not row.placed:
            return ""
        return self._joins(row) or (f"2:{row.key}" if named[row.key] else f"0:{row.shelf}")

    def _stand(self, row: ShownItem, topic: str) -> None:
        if row.root != topic:
            self.rows.put(replace(row, root=topic, topic=topic, part=0))


def root_of(topic: str) -> str:
    """The topic a section belongs to; a whole one is its own."""
    return topic if topic.startswith("1:") else topic.partition("\n")[0]


def _is_page(key: str, live: int, names: int) -> bool:
    return live >= SUBJECT_NOTES_MIN and names > 0 and not key.startswith("\n")


def _in_file(item: Item) -> tuple[str, str, int, str]:
    at = item.carried
    return (at.folder, at.path, at.position, item.uid) if at else ("", "", 0, item.uid)
