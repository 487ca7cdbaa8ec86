"""Topic pages kept up to date: which parts a topic has, where they lie, what they name, and the bytes of those that changed.

Works on rows the store keeps; only pages whose notes changed, and those whose links depend on them, are rendered. What comes out is what rendering all
of them would give.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import cast

from pipelines.model import digest
from pipelines.run.placed import Rows
from pipelines.run.sectioned import Section, cut_into_sections
from pipelines.store import PageWords, ShownItem, ShownLink, ShownPage, Store
from pipelines.store.types import dump, load
from pipelines.wiki.content import Item
from pipelines.wiki.doors import door_of
from pipelines.wiki.inline import Span
from pipelines.wiki.lines import weigh
from pipelines.wiki.links import Name, Names, back_links, fold_word, line_targets, names_of, outgoing, ranked, words
from pipelines.wiki.packed import pack_spans
from pipelines.wiki.page import Page
from pipelines.wiki.render import archive_page, archive_path, doors_to, leading, see_also, topic_page
from pipelines.wiki.slugs import page_path, settle, slug
from pipelines.wiki.topics import Sort, Topic, memory_topic, shelf_topic, split, subject_topic, with_joined

PageKey = tuple[str, int]
"""Topic key and part."""


@dataclass(frozen=True, slots=True)
class Made:
    """A part of a topic rendered, without its links to other pages; `archive` holds what is over of it."""

    topic: Topic
    page: Page | None
    archive: Page | None


@dataclass(slots=True)
class Links:
    """What a page names and where it leads: pages by key with the number of mentions, paths its bullets lead to, and all paths it leads to."""

    mentions: dict[str, int] = field(default_factory=dict)
    lines: frozenset[str] = frozenset()
    paths: frozenset[str] = frozenset()


class Pages:
    """The pages of a scope as they stood and as they stand now."""

    def __init__(self, store: Store, scope: str, rows: Rows, own: Mapping[str, str], renderer: str, *, anew: bool) -> None:
        self.store, self.scope, self.rows, self.own, self.renderer, self.anew = store, scope, rows, own, renderer, anew
        self.sections: Mapping[str, Section] = {}
        self.old: dict[PageKey, ShownPage] = {(p.topic, p.part): p for p in store.shown_pages(scope)}
        self.now = dict(self.old)
        self.made: dict[PageKey, Made] = {}
        self.words: dict[PageKey, PageWords] = {}
        self.links: dict[str, list[ShownLink]] = {}
        self.write: dict[PageKey, Page] = {}
        self._topics: dict[str, list[Topic]] = {}

    @property
    def owners(self) -> list[tuple[str, tuple[str, ...]]]:
        """What the pages of note files are called, by topic key, as they stood."""
        return [(p.topic, (p.title, *_texts(p.aliases))) for p in self.old.values() if p.sort == Sort.MEMORY and p.part == 1]

    def settle(self, *, memory: bool, own_changed: Iterable[str]) -> None:
        """Bring every page up to date whose notes, words or links changed; `memory` says that lines of note files did."""
        self.sections = cut_into_sections(self.rows, [p for p in self.old.values() if p.part == 1], anew=self.anew)
        moved = {
            t for uid in {r.uid for r in self.rows.changed} | self.rows.gone for r in (self.rows.old.get(uid), self.rows.now.get(uid)) if r and (t := r.topic)
        }
        if memory:
            moved |= {t for t, _ in self.owners}
        self._part(moved)
        relocated = self._locate()
        own_paths = set(own_changed)
        again = {k for k, p in self.now.items() if k[0] in moved or k in relocated or (own_paths and {p.path, archive_path(p.path)} & own_paths)}
        if self._doors_of(self.old) != self.doors:
            again |= {k for k, p in self.now.items() if p.sort == Sort.MEMORY}
        for key in sorted(again):
            self._render(key)
        self._link({k for k in again if self.now[k].live} | set(self.made))

    @property
    def gone(self) -> frozenset[PageKey]:
        """Parts that are no more."""
        return frozenset(self.old.keys() - self.now.keys())

    @property
    def changed(self) -> tuple[tuple[ShownPage, PageWords | None], ...]:
        """Parts that are new or other than they were, with their words where those were made anew."""
        return tuple((p, self.words.get(k)) for k, p in sorted(self.now.items()) if self.old.get(k) != p or k in self.words)

    # --- parts and places ---

    def _part(self, topics: Iterable[str]) -> None:
        """The parts of these topics from the notes that stand on them now."""
        for topic, rows in self.rows.of_topics(topics).items():
            parts = split(self._topic(topic, rows), self._weigh) if rows else []
            self._topics[topic] = parts
            for key in [k for k in self.now if k[0] == topic and k[1] > len(parts)]:
                del self.now[key]
            for part in parts:
                key = (topic, part.part)
                self.now[key] = _named(part, self.now.get(key), self.sections[topic].begin if topic in self.sections else None)
                for item in part.items:
                    self._stands(item.uid, part.part)
                for item in part.past:
                    self._stands(item.uid, 1)

    def _stands(self, uid: str, part: int) -> None:
        row = self.rows.now[uid]
        if row.part != part:
            self.rows.put(replace(row, part=part))

    def _weigh(self, item: Item) -> tuple[int, int]:
        """What a note takes on its page, as its row remembers it."""
        row = self.rows.now[item.uid]
        if row.lines is not None and row.size is not None:
            return row.lines, row.size
        lines, size = weigh(item)
        self.rows.put(replace(row, lines=lines, size=size))
        return lines, size

    def _topic(self, topic: str, rows: Sequence[ShownItem]) -> Topic:
        items = [self.rows.item(r) for r in sorted(rows, key=lambda r: r.uid)]
        root = rows[0].root
        if root.startswith("1:"):
            return with_joined(memory_topic(topic, [i for i in items if i.carried]), [i for i in items if not i.carried])
        made = subject_topic(root[2:], items) if root.startswith("2:") else shelf_topic(root[2:], items)
        named, stood = self.sections.get(topic), self.now.get((topic, 1))
        if named:
            return replace(made, key=topic, title=named.title, aliases=named.aliases)
        if stood and (topic != root or stood.begin):
            return replace(made, key=topic, title=stood.title, aliases=_texts(stood.aliases))
        return made

    def _locate(self) -> set[PageKey]:
        """Give every part its path; returns those that lie elsewhere than before."""
        if {k: p.slug for k, p in self.now.items()} == {k: p.slug for k, p in self.old.items()}:
            return set()
        paths = settle({p.key: p.slug for p in self.now.values()})
        moved = [(key, page_path(name)) for key, page in self.now.items() if page.path != f"{(name := paths[page.key])}.md"]
        for key, path in moved:
            self.now[key] = replace(self.now[key], path=path)
        return {key for key, _ in moved if key in self.old}

    # --- pages without their links ---

    @cached_property
    def doors(self) -> Mapping[str, tuple[str, str]]:
        """Where links written in notes may lead: pages of note files."""
        return self._doors_of(self.now)

    def _doors_of(self, pages: Mapping[PageKey, ShownPage]) -> Mapping[str, tuple[str, str]]:
        return doors_to((p.topic, p.title, p.path, _texts(p.aliases)) for p in pages.values() if p.sort == Sort.MEMORY and p.part == 1 and p.live)

    def topic_of(self, key: PageKey) -> Topic:
        """A part with its notes and its path."""
        topic, part = key
        if topic not in self._topics:
            self._part([topic])
        return replace(self._topics[topic][part - 1], path=self.now[key].path)

    def _render(self, key: PageKey) -> None:
        """Render a part unless it is made of what it was made of."""
        topic, page = self.topic_of(key), self.now[key]
        mark = self._mark(topic)
        if mark == page.mark:
            return
        made = self._make(topic)
        self.made[key] = made
        door = door_of(topic) if topic.items else None
        self.now[key] = replace(
            page, mark=mark, archived=made.archive is not None, hook=door.hook if door else "", line=door.line if door else "",
            bytes=page.bytes if made.page else 0, links_mark="" if made.page else page.links_mark,
        )  # fmt: skip
        self.words[key] = _words(made.page)

    def _make(self, topic: Topic) -> Made:
        page = topic_page(topic, self.doors, self.own.get(topic.path, "")) if topic.items else None
        return Made(topic, page, archive_page(topic, self.own))

    def _mark(self, topic: Topic) -> str:
        marks = [[self.rows.now[i.uid].mark for i in items] for items in (topic.items, topic.past)]
        doors = sorted(self.doors.items()) if topic.sort is Sort.MEMORY else []
        own = [self.own.get(path, "") for path in (topic.path, archive_path(topic.path))]
        return digest(dump([self.renderer, topic.title, topic.path, topic.aliases, marks, doors, own]))[:24]

    # --- links ---

    def _link(self, rendered: set[PageKey]) -> None:
        """Links between pages: of those rendered, of those that say a name which leads elsewhere now, and of those that lead to or are led to from one
        whose title or path is another."""
        keys = {p.key: k for k, p in self.now.items() if p.live}
        paths = {self.now[k].path: name for name, k in keys.items()}
        renamed = {p.key for k, p in self.old.items() if p.live and (k not in self.now or not self.now[k].live or _place(self.now[k]) != _place(p))}
        renamed |= {p.key for k, p in self.now.items() if p.live and (k not in self.old or not self.old[k].live)}
        found = self._mentions(keys)
        about = {self.now[k].key for k in rendered} | found.keys() | {s.source for s in self.store.shown_links(self.scope, targets=renamed)}
        stood: defaultdict[str, list[ShownLink]] = defaultdict(list)
        for link in self.store.shown_links(self.scope, sources=about | renamed):
            stood[link.source].append(link)
        see = self._see({a for a in about if a in keys}, found, stood, keys, paths)
        led = {s.target for name in about | renamed for s in stood[name] if s.leads} | {s.target for links in self.links.values() for s in links if s.leads}
        touched = (led | see.keys()) & keys.keys()
        for name in renamed - keys.keys():
            self.links[name] = []
        more = {t for t in touched if t not in see}
        for link in self.store.shown_links(self.scope, sources=more):
            stood[link.source].append(link)
        kept = dict(self.links)
        see |= self._see(more, {}, stood, keys, paths)
        self.links = kept
        back = self._back(touched, keys, see)
        for name in sorted(touched):
            self._finish(keys[name], see[name], back[name])

    def _mentions(self, keys: Mapping[str, PageKey]) -> dict[str, Counter[str]]:
        """What pages name, of those rendered and those that say a name which leads elsewhere than before."""
        names = {p.key: p.names for p in self.now.values() if p.live}
        turned = self._turned({p.key: p.names for p in self.old.values() if p.live}, names)
        others = frozenset(k for k in self.store.pages_saying(self.scope, turned) if k in self.now and self.now[k].live and k not in self.words)
        bodies = {k: w.body for k, w in self.store.page_words(self.scope, others).items()} | {k: w.body for k, w in self.words.items()}
        said = {fold_word(w) for body in bodies.values() for w in words(body)}
        known = Names(_beginning(names, said))
        found = {self.now[k].key: Counter(known.mentions(body)) for k, body in bodies.items() if self.now[k].live}
        for name, counted in found.items():
            del counted[name]
        return {name: counted for name, counted in found.items() if name in keys}

    @staticmethod
    def _turned(before: Mapping[str, str], after: Mapping[str, str]) -> list[tuple[str, ...]]:
        """Names that lead to another page than they did, or to none any more; `before` and `after` are the packed names of each page."""
        changed = {page for page in before.keys() | after.keys() if before.get(page) != after.get(page)}
        firsts = {key[0] for page in changed for pages in (before, after) for key, _ in _unpacked(pages.get(page, ""))}
        was, now = (Names(_beginning(pages, firsts)).lead for pages in (before, after))
        return [name for name in was.keys() | now.keys() if was.get(name) != now.get(name)]

    def _see(
        self,
        about: set[str],
        found: Mapping[str, Counter[str]],
        stood: Mapping[str, Sequence[ShownLink]],
        keys: Mapping[str, PageKey],
        paths: Mapping[str, str],
    ) -> dict[str, tuple[Span, ...]]:
        """The links under "See also" of these pages; what each leads to is put into `links`."""
        told = self.store.page_words(self.scope, [keys[a] for a in about if keys[a] not in self.words])
        out = {}
        for name in sorted(about):
            key = keys[name]
            words = self.words.get(key) or told[key]
            lines, every = cast(list[list[str]], load(words.targets))
            counted = found[name] if name in found else {s.target: s.mentions for s in stood.get(name, ()) if s.mentions and s.target in keys}
            spans = see_also(self._first(key), ranked(counted, {t: _place(self.now[keys[t]]) for t in counted}, frozenset(lines)))
            leads = {paths[p] for p in {*every, *(s.target for s in spans)} if p in paths} - {name}
            self.links[name] = [ShownLink(name, t, counted.get(t, 0), t in leads) for t in sorted(counted.keys() | leads)]
            out[name] = spans
        return out

    def _first(self, key: PageKey) -> tuple[Span, ...]:
        topic, part = key
        beside = [_place(p) for n in (part - 1, part + 1) if (p := self.now.get((topic, n))) and p.live]
        page = self.now[key]
        return leading(beside, archive_path(page.path) if part == 1 and page.archived else "")

    def _back(self, touched: Iterable[str], keys: Mapping[str, PageKey], see: Mapping[str, tuple[Span, ...]]) -> dict[str, tuple[Span, ...]]:
        """The links under "Referenced by" of these pages, of which `see` says what they show under "See also"."""
        sources: dict[str, set[str]] = {name: set() for name in touched}
        for link in self.store.shown_links(self.scope, targets=sources):
            if link.leads and link.source not in self.links:
                sources[link.target].add(link.source)
        for links in self.links.values():
            for link in links:
                if link.leads and link.target in sources:
                    sources[link.target].add(link.source)
        return {name: back_links((_place(self.now[keys[s]]) for s in found if s in keys), see[name]) for name, found in sources.items()}

    def _finish(self, key: PageKey, see: tuple[Span, ...], back: tuple[Span, ...]) -> None:
        """A page with its links, when it is new or they changed."""
        mark = digest(dump([pack_spans(see), pack_spans(back)]))[:24]
        if key not in self.made and mark == self.now[key].links_mark:
            return
        made = self.made.get(key) or self._make(self.topic_of(key))
        assert made.page is not None, "a page that is linked has notes"
        self.write[key] = replace(made.page, see_also=see, named_by=back)
        self.now[key] = replace(self.now[key], links_mark=mark)


def _named(part: Topic, old: ShownPage | None, begin: str | None) -> ShownPage:
    """The row of a part: what it is called now, and what it was made of until it is rendered."""
    blank = old or ShownPage(
        topic=part.key, part=part.part, sort=part.sort.value, live=False, title="", path="", slug="", begin="", aliases="[]", names="", hook="", line="", archived=False,
        bytes=0, mark="", links_mark="",
    )  # fmt: skip
    blank = blank if begin is None or begin == blank.begin else replace(blank, begin=begin)
    live, aliases = bool(part.items), dump(list(part.aliases))
    if (blank.title, blank.aliases, blank.live) == (part.title, aliases, live):
        return blank
    names = _packed(names_of([part.title, *part.aliases])) if live else ""
    return replace(blank, live=live, title=part.title, slug=slug(part.title), aliases=aliases, names=names)


def _packed(names: Iterable[Name]) -> str:
    """Names as a row holds them, a line each; no word holds a blank, and no form a tab or a line end."""
    return "\n".join(f"{' '.join(key)}\t{form}" for key, form in names)


def _unpacked(told: str) -> list[Name]:
    return [(tuple(key.split(" ")), form) for key, _, form in (line.partition("\t") for line in told.split("\n") if line)]


def _beginning(names: Mapping[str, str], firsts: AbstractSet[str]) -> dict[str, list[Name]]:
    """Of the packed names of pages those that begin with one of these words: nothing else can be said without them."""
    out = {}
    for page, told in names.items():
        if told.partition(" ")[0].partition("\t")[0] in firsts or (
            "\n" in told and any(line.partition("\t")[0].partition(" ")[0] in firsts for line in told.split("\n"))
        ):
            out[page] = [name for name in _unpacked(told) if name[0][0] in firsts]
    return out


def _texts(told: str) -> tuple[str, ...]:
    return tuple(cast(list[str], load(told)))


def _place(page: ShownPage) -> tuple[str, str]:
    return (page.title, page.path)


def _words(page: Page | None) -> PageWords:
    if page is None:
        return PageWords("", "", "[[],[]]")
    body = page.text
    distinct = sorted({fold_word(w) for w in words(body)})
    return PageWords("\n" + "".join(f"{w}\n" for w in distinct), body, dump([sorted(line_targets(page)), sorted(outgoing(page))]))
