"""How an index names a page: one hook line each, and their order. What it needs of a page is a small value that may be kept beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from pipelines.model import Kind, Status
from pipelines.wiki import inline
from pipelines.wiki.content import Item
from pipelines.wiki.inline import Span, Spans, Style, join, plain
from pipelines.wiki.lines import NO_LONGER_TOLD, carried_text
from pipelines.wiki.page import link
from pipelines.wiki.topics import Layout, Sort, Topic, is_name

PAGES_PATH = "pages.md"
HOOK_CHARS_MAX = 120
HOOK_CHARS_MIN = 20
HOOK_SUBJECTS_MAX = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A line that is not told whole: its section, its words, the page they stand on, why, and the note it tells where somebody asks for that."""

    section: str
    text: str
    page: str
    why: str
    uid: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of an index or the brief: its words, the page it leads to (None: none), and the id of what it tells.

    `ready` is the line as it is told, without its indent, where that is known: its words need not be written again. What is `pinned` is the last to leave.
    """

    spans: Spans
    page: Span | None
    uid: str = ""
    depth: int = 0
    ready: str = ""
    pinned: bool = False

    def write(self) -> str:
        """The line as a page has it."""
        return self._write(readable=False)

    def tell(self) -> str:
        """The line for an agent: links in their own script, since a percent-encoded one costs up to nine bytes a character."""
        return f"{'  ' * self.depth}{self.ready}" if self.ready else self._write(readable=True)

    def _write(self, *, readable: bool) -> str:
        arrow = f" → {inline.write((self.page,), readable=readable)}" if self.page else ""
        return f"{'  ' * self.depth}- {inline.write_line(self.spans, readable=readable)}{arrow}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """A page as an index names it. `hook` is our own words for it, `index` the lines of a memory index that stand on it, in order.

    `line` is the hook as `pages.md` has it; it is made from the rest, and kept since making it takes longer than reading it.
    """

    key: str
    part: int
    sort: Sort
    title: str
    path: str
    hook: str
    index: tuple[Item, ...] = ()
    line: str = field(default="", compare=False)

    @property
    def named(self) -> Item | None:
        """The line of the memory index that leads to this page; later parts of a page have none."""
        return next((i for i in self.index if i.carried and i.carried.targets), None) if self.part == 1 else None


def door_of(topic: Topic) -> Door:
    """What an index needs of a topic's page."""
    door = Door(
        key=topic.key, part=topic.part, sort=topic.sort, title=topic.title, path=topic.path, hook=hook_text(topic),
        index=tuple(i for i in topic.items if i.carried and i.carried.index),
    )  # fmt: skip
    return replace(door, line=hook(door, []).write())


def doors_of(layout: Layout) -> tuple[Door, ...]:
    """Every page of a layout, in page order."""
    return in_page_order(door_of(t) for t in layout.topics if t.items)


def in_page_order(doors: Iterable[Door]) -> tuple[Door, ...]:
    """Memory files in the order their index names them, then the others by key; parts of one topic together."""
    doors = tuple(doors)
    places: dict[str, int] = {}
    for door in doors:
        for item in door.index:
            if item.carried:
                places[door.key] = min(places.get(door.key, item.carried.position), item.carried.position)
    return tuple(sorted(doors, key=lambda d: (d.sort is not Sort.MEMORY, places.get(d.key, 1 << 30), d.key, d.part)))


def entry(door: Door, moved: list[Moved], own_max: int) -> Entry:
    """The line of a page in the brief: the one of `pages.md` where nothing of it is a person's own, and no script tells the two apart."""
    if door.line and not door.index and door.path.isascii():
        return Entry((link(door.title, door.path),), None, ready=door.line)
    return hook(door, moved, own_max)


# --- hooks -------------------------------------------------------------------------------------------------------------------------------


def hook(door: Door, moved: list[Moved], own_max: int = HOOK_CHARS_MAX) -> Entry:
    """`[Title](page.md): what it holds`: the memory index's own words for the file (`own_max`), else ours, within 120 characters."""
    page = link(door.title, door.path)
    item = door.named
    spans = (plain(item.corrected_to) if item.corrected_to else _after_link(item)) if item else plain(door.hook)
    uid = item.uid if item else ""
    room = max(own_max if item else 0, HOOK_CHARS_MAX - len(door.title) - 2)
    text = inline.words(spans)
    if not text or room < HOOK_CHARS_MIN or text.casefold() == door.title.casefold():
        return Entry((page,), None, uid)
    if len(text) > room:
        spans = plain(inline.cut_quote(text, room))
        if item:  # a line of the person's own; what we made up as a hook loses nothing
            moved.append(Moved(section="Pages", text=text, page=door.path, why="shortened"))
    return Entry(join((page,), ": ", spans), None, uid)


_EMPTY = re.compile(r"\[[^\]]*\]$|.*[:：]$", re.DOTALL)
"""A line that only says what will stand there: "[to be written]", "Stack and scope:"."""


def hook_text(topic: Topic) -> str:
    """The file's description, else the commands or the several names a page speaks of, else the first thing it says; for later parts their headings."""
    sure = (i for i in topic.items if i.status is Status.CONFIRMED and not i.high_stakes and not i.against and not i.covered and not i.stale and not i.missed)
    told = [i for i in sure if i.verdict not in NO_LONGER_TOLD and not _EMPTY.match(i.statement)]
    names: Iterable[str] = ()
    if topic.part > 1:
        names = (i.carried.heading if i.carried else inline.clean(i.subject) for i in topic.items)
    elif described := next((i.carried.description for i in topic.items if i.carried and i.carried.description), ""):
        return described
    elif topic.sort is Sort.SHELF:
        names = (i.value or "" if i.kind is Kind.PROCEDURE else inline.clean(i.subject) for i in told if i.kind is Kind.PROCEDURE or is_name(i.subject))
    named = [n for n in names if n]
    listed = list(dict.fromkeys(named))[:HOOK_SUBJECTS_MAX]
    all_of_it = len(named) == len(told) > 1  # one name among other things is not what a page is about
    if len(listed) > 1 or (listed and (topic.part > 1 or all_of_it or told[0].kind is Kind.PROCEDURE)):
        return ", ".join(listed)
    first = next((i for i in told if i.value and i.kind is Kind.FACT), next(iter(told), None))
    if first is None or first.corrected_to:
        return first.corrected_to or "" if first else ""
    return inline.words(carried_text(first.markdown, lambda _: None)[0]) if first.carried and first.markdown else inline.clean(first.statement)


def _after_link(item: Item) -> Spans:
    """An index line without the link it opens with: `[Fog](fog.md) - how it works` gives `how it works`."""
    spans, _ = carried_text(item.markdown or item.statement, lambda _: ("", "x.md"))
    if spans and spans[0].style is Style.LINK:
        spans = spans[1:]
    if spans and spans[0].style is Style.TEXT:
        spans = (Span(spans[0].text.lstrip(" -–—:·|")), *spans[1:])
    return inline.normal(Span(s.text) if s.style is Style.LINK else s for s in spans) or plain(item.statement)
