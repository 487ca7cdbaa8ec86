"""What a new session is told: one pure function of a revision and a budget.

The order is the order of use: what an agent would do wrong first (corrections), then what it must keep to, what works, what waits, what is so, and where
more stands. Overflow leaves from the bottom to the pages it stands on anyway, and is reported; no line is cut without saying so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import groupby

from pipelines.model import Kind, Status, Verdict
from pipelines.wiki import inline
from pipelines.wiki.content import Content, Correction, Item
from pipelines.wiki.inline import Span, Spans, Style, join, plain
from pipelines.wiki.lines import NO_LONGER_TOLD, Part, carried_text, day, worked
from pipelines.wiki.page import OWN_MARK, link
from pipelines.wiki.topics import Layout, Sort, Topic, hooked, is_name

CORRECTED_MAX, COMMANDS_MAX, WAITING_MAX, FACTS_MAX = 10, 10, 3, 20
CORRECTION_DAYS, CORRECTION_DELIVERIES = 30, 5
CORRECTED_BYTES_MAX = 1400
"""What keeps the corrections within the first 2,000 bytes, the purpose lines before them included."""
QUIET_GOAL_DAYS = 30
HOOK_CHARS_MAX = 120
OWN_CHARS_MAX = 1000
"""A line of the person's own index, told whole while the budget lasts: a session that was told it before is told it after."""
HOOK_CHARS_MIN = 20
HOOK_SUBJECTS_MAX = 8
LINE_CHARS_MAX = 300
NAME_CHARS_MAX = 60
LINES_MIN, SIZE_MIN = 18, 1000
PAGES_PATH = "pages.md"


class Unit(StrEnum):
    """What a budget counts."""

    BYTES = "bytes"
    CHARS = "chars"


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Hard limits of one door; the smallest that holds what every brief says is 18 lines and 1,000 bytes or characters."""

    lines: int
    size: int
    unit: Unit = Unit.BYTES

    def __post_init__(self) -> None:
        if self.lines < LINES_MIN or self.size < SIZE_MIN:
            raise ValueError(f"a brief needs at least {LINES_MIN} lines and {SIZE_MIN} {self.unit}, got {self.lines} and {self.size}")

    def measure(self, text: str) -> int:
        """The size of a text as this budget counts it."""
        return len(text.encode("utf-8", "surrogatepass")) if self.unit is Unit.BYTES else len(text)


MEMORY_MD = Budget(lines=200, size=25_000)
CLAUDE_CODE_HOOK = Budget(lines=200, size=9_000, unit=Unit.CHARS)
CODEX = Budget(lines=200, size=8_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A line that did not fit whole: its section, its words, the page they stand on, and why."""

    section: str
    text: str
    page: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """The brief and its measure. `told` are the notes and corrections it carries, for the record of deliveries."""

    text: str
    lines: int
    bytes: int
    moved: tuple[Moved, ...] = ()
    told: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Entry:
    """A line of the brief: its words, the page it leads to (None: none), and the id of what it tells."""

    spans: Spans
    page: Span | None
    uid: str = ""
    depth: int = 0

    def write(self) -> str:
        """The line as a page has it."""
        return self._write(readable=False)

    def tell(self) -> str:
        """The line for an agent: links in their own script, since a percent-encoded one costs up to nine bytes a character."""
        return self._write(readable=True)

    def _write(self, *, readable: bool) -> str:
        arrow = f" → {inline.write((self.page,), readable=readable)}" if self.page else ""
        return f"{'  ' * self.depth}- {inline.write_line(self.spans, readable=readable)}{arrow}"


@dataclass(frozen=True, slots=True)
class _Section:
    title: str
    entries: tuple[_Entry, ...]


def brief(content: Content, layout: Layout, budget: Budget = MEMORY_MD, *, scope: str = "") -> Brief:
    """The whole text within the budget, between `<dreamd-brief>` and `</dreamd-brief>`."""
    newest = content.newest_evidence
    checked = any(cite.session for item in content.items for cite in item.cites)
    head, foot = _head(content.title, newest, scope, checked=checked), _foot()
    for own_max in (OWN_CHARS_MAX, HOOK_CHARS_MAX):  # lines of the person's own index whole, while there is room for all
        moved: list[Moved] = []
        kept, over = _fit(_sections(content, layout, moved, own_max), budget, head, foot)
        if not over:
            break
    text = _text(head, kept, foot)
    left = [Moved(section=s, text=inline.words(e.spans), page=e.page.target if e.page else PAGES_PATH, why="no_room") for s, e in over]
    told = tuple(dict.fromkeys(e.uid for s in kept for e in s.entries if e.uid))
    return Brief(text=text, lines=text.count("\n"), bytes=len(text.encode("utf-8", "surrogatepass")), moved=(*moved, *left), told=told)


# --- fitting -----------------------------------------------------------------------------------------------------------------------------


def _fit(sections: Sequence[_Section], budget: Budget, head: str, foot: str) -> tuple[list[_Section], list[tuple[str, _Entry]]]:
    """Drop lines from the bottom until the text fits; the first dropped line of "Pages" leaves one that leads to all of them."""
    kept = {s.title: list(s.entries) for s in sections if s.entries}
    size, lines = budget.measure(_text(head, sections, foot)), _text(head, sections, foot).count("\n")
    over: list[tuple[str, _Entry]] = []
    rest: list[_Entry] = []
    for title in reversed(list(kept)):
        while kept[title] and (size > budget.size or lines > budget.lines):
            gone = kept[title].pop()
            over.append((title, gone))
            size, lines = size - budget.measure(gone.tell() + "\n"), lines - 1
            if title == "Pages" and not rest:
                rest.append(_REST)
                size, lines = size + budget.measure(_REST.tell() + "\n"), lines + 1
            if not kept[title] and not (title == "Pages" and rest):
                size, lines = size - budget.measure(f"## {title}\n\n\n"), lines - 3
    full = [_Section(title, (*entries, *(rest if title == "Pages" else ()))) for title, entries in kept.items()]
    return [s for s in full if s.entries], over[::-1]


_REST = _Entry(join("All pages"), link("pages", PAGES_PATH))


def _text(head: str, sections: Sequence[_Section], foot: str) -> str:
    body = "".join(f"## {s.title}\n\n" + "".join(e.tell() + "\n" for e in s.entries) + "\n" for s in sections if s.entries)
    return head + body + foot


def _head(title: str, newest: datetime | None, scope: str, *, checked: bool) -> str:
    """Opening mark, title, and two lines: what this memory is for, and how far to trust it."""
    path = re.sub(r"[^\w/.@+-]+", "-", inline.clean(scope))[:NAME_CHARS_MAX]
    name = f' scope="{path}"' if path else ""
    known = f" Newest evidence: {day(newest)}." if newest else ""
    return (
        f"<dreamd-brief{name}>\n\n# Memory: {inline.write_heading(plain(title[:NAME_CHARS_MAX])) or 'notes'}\n\n"
        f"What earlier sessions left behind, {'checked against their logs, ' if checked else 'not checked, since no log of theirs was read, '}so that you need not learn it again.\n"
        f"A record to check before you rely on it, not orders. Each line leads to a page with its sources.{known}\n\n"
    )


def _foot() -> str:
    return (
        "## More\n\n"
        "- Search notes and raw sessions: `dreamd search WORDS`; where a line comes from: `dreamd why PAGE`\n"
        "- What waits for a person: [inbox](inbox.md); what happened lately: [recent](recent.md)\n\n"
        "</dreamd-brief>\n"
    )


# --- what stands in it -------------------------------------------------------------------------------------------------------------------


def _sections(content: Content, layout: Layout, moved: list[Moved], own_max: int) -> list[_Section]:
    where = {item.uid: topic for topic in layout.topics for item in topic.items}
    above = {inline.clean(group[0].right) for group in _due(content)[:CORRECTED_MAX]}  # a correction says the fact, and says it first
    told = [i for i in content.items if i.uid in where and _may_tell(i) and not (i.kind is Kind.FACT and inline.clean(i.statement) in above)]

    def entries(kinds: Iterable[Kind], most: int | None, name: str) -> tuple[_Entry, ...]:
        chosen = sorted((i for i in told if i.kind in set(kinds)), key=_rank)
        full = [_entry(i, where[i.uid], name, moved) for i in chosen]
        kept = full if most is None else full[:most]
        moved.extend(Moved(section=name, text=inline.words(e.spans), page=e.page.target if e.page else "", why="over_limit") for e in full[len(kept) :])
        return tuple(kept)

    return [
        _Section("Corrected", _corrected(content, where, moved)),
        _Section("Rules", entries({Kind.RULE, Kind.PREFERENCE, Kind.HOLD}, None, "Rules")),
        _Section("Commands that work", entries({Kind.PROCEDURE}, COMMANDS_MAX, "Commands that work")),
        _Section("Waiting", _waiting(content, told, where, moved)),
        _Section("Facts and decisions", entries({Kind.FACT, Kind.DECISION, Kind.INSIGHT, Kind.INCIDENT}, FACTS_MAX, "Facts and decisions")),
        _Section("Pages", _pages(layout, moved, own_max)),
    ]


def _may_tell(item: Item) -> bool:
    """Confirmed, not said by an instruction file already; of carried lines only those the logs uphold (the others are told by their page)."""
    if item.status is not Status.CONFIRMED or item.covered:
        return False
    return item.carried is None or (item.verdict is Verdict.UPHELD and not item.carried.index)


def _rank(item: Item) -> tuple[int, float, str]:
    """More witnesses first, then the newest, then by id."""
    return (-item.sessions, -(item.newest_evidence.timestamp() if item.newest_evidence else 0.0), item.uid)


def _entry(item: Item, topic: Topic, section: str, moved: list[Moved]) -> _Entry:
    page = link(topic.title, topic.path)
    if item.high_stakes:
        return _Entry(join(plain(_name(item)), ": look it up on the page"), page, item.uid)
    when = [worked(item)] if item.worked_on else []
    until = [f" Until {day(item.valid_until)}."] if item.valid_until else []
    return _Entry(join(_told(item, topic, section, LINE_CHARS_MAX, moved), *when, *until), page, item.uid)


def _name(item: Item) -> str:
    return f"{item.subject}, {item.attribute}" if item.attribute and item.attribute != item.subject else item.subject


def _due(content: Content) -> list[list[Correction]]:
    """The newest corrections of note files that still say the wrong thing, one group a truth, however many files say otherwise."""
    due = [c for c in content.corrections if not c.fixed and not _worn(c, content.newest_evidence)]
    due.sort(key=lambda c: (-(c.at.timestamp() if c.at else 0.0), c.uid))
    return list({c.right: [o for o in due if o.right == c.right] for c in due}.values())


def _corrected(content: Content, where: dict[str, Topic], moved: list[Moved]) -> tuple[_Entry, ...]:
    """What is due; a correction leaves when the file is fixed, or is old and has been told often."""
    said = _due(content)
    full = [_correction(group, where.get(group[0].uid), quote_max) for quote_max in (120, 60, 0) for group in said]
    full = next((s for s in (full[: len(said)], full[len(said) : 2 * len(said)]) if _bytes(s[:CORRECTED_MAX]) <= CORRECTED_BYTES_MAX), full[2 * len(said) :])
    moved.extend(
        Moved(section="Corrected", text=inline.words(e.spans), page=e.page.target if e.page else "inbox.md", why="over_limit") for e in full[CORRECTED_MAX:]
    )
    return tuple(full[:CORRECTED_MAX])


def _worn(correction: Correction, newest: datetime | None) -> bool:
    old = bool(newest and correction.at and newest - correction.at > timedelta(days=CORRECTION_DAYS))
    return old and correction.deliveries >= CORRECTION_DELIVERIES


def _bytes(entries: Iterable[_Entry]) -> int:
    return sum(len(e.tell().encode("utf-8", "surrogatepass")) + 1 for e in entries)


def _correction(group: Sequence[Correction], topic: Topic | None, quote_max: int) -> _Entry:
    """The right thing first, then the files that say otherwise, and as much of the first one's words as there is room for."""
    places: list[Part] = []
    for n, c in enumerate(group):
        places += [" and " if n else "", inline.code(c.path), f" line {c.line}" if c.line else ""]
    wrong = group[0].wrong
    quoted: list[Part] = [', which says "', plain(inline.cut_quote(wrong, quote_max)), '"'] if quote_max and wrong and len(group) == 1 else []
    spans = join(plain(group[0].right.rstrip(" .。")), " (wrong in ", *places, *quoted, ")")
    return _Entry(spans, link(topic.title, topic.path) if topic else None, group[0].uid)


def _waiting(content: Content, told: Sequence[Item], where: dict[str, Topic], moved: list[Moved]) -> tuple[_Entry, ...]:
    """Goals heard of in the last 30 days, questions nobody answered, work not committed; the newest three."""
    newest = content.newest_evidence
    found: list[tuple[datetime | None, _Entry]] = []
    for item in (i for i in told if i.kind in {Kind.GOAL, Kind.PLAN}):
        if not (newest and item.newest_evidence and newest - item.newest_evidence > timedelta(days=QUIET_GOAL_DAYS)):
            found.append((item.newest_evidence, _entry(item, where[item.uid], "Waiting", moved)))
    for asked in content.asked:
        found.append((asked.at, _Entry(join("Asked and not answered: ", plain(inline.cut_quote(asked.text))), link("inbox", "inbox.md"), asked.uid)))
    for work in (w for w in content.work if w.uncommitted):
        files = f"{work.uncommitted} {'file' if work.uncommitted == 1 else 'files'} not committed"
        branch = join(files, " on ", inline.code(work.branch)) if work.branch else join(files)
        found.append((work.ended or work.started, _Entry(branch, link("recent", "recent.md"))))
    found.sort(key=lambda pair: (-(pair[0] or datetime.min.replace(tzinfo=UTC, year=1970)).timestamp(), inline.words(pair[1].spans)))
    entries = [e for _, e in found]
    moved.extend(
        Moved(section="Waiting", text=inline.words(e.spans), page=e.page.target if e.page else "inbox.md", why="over_limit") for e in entries[WAITING_MAX:]
    )
    return tuple(entries[:WAITING_MAX])


# --- pages -------------------------------------------------------------------------------------------------------------------------------


def _pages(layout: Layout, moved: list[Moved], own_max: int) -> tuple[_Entry, ...]:
    """One hook a page, memory files first in the order and under the headings of their index; lines of an index that are no hooks stand under their page's."""
    out: list[_Entry] = []
    keys = {t.key for t in layout.topics}
    group = ""
    for topic in _in_page_order(layout):
        prose = [i for i in topic.items if i.carried and i.carried.index and not hooked(i.carried, keys)]
        named = _named_in_index(topic)
        above = group if topic.part > 1 else named.carried.heading if named and named.carried and not prose else ""
        if above and above != group:
            out.append(_Entry(plain(above), None))
        group = above
        hook = _Entry((link(topic.title, topic.path),), None) if prose else _hook(topic, moved, own_max)
        out.append(replace(hook, depth=1 if above else 0))
        for heading, lines in groupby(prose, key=lambda i: i.carried.heading if i.carried else ""):
            if heading:
                out.append(_Entry(plain(heading), None, depth=1))
            out += [_index_line(i, topic, moved, max(own_max, LINE_CHARS_MAX), depth=2 if heading else 1) for i in lines]
    return tuple(out)


def _named_in_index(topic: Topic) -> Item | None:
    """The line of the memory index that leads to this page; later parts of a page have none."""
    return next((i for i in topic.items if i.carried and i.carried.index and i.carried.targets), None) if topic.part == 1 else None


def _in_page_order(layout: Layout) -> list[Topic]:
    """Topics with a page: memory files in the order their index names them, then the others by key; parts of one topic together."""
    places: dict[str, int] = {}
    for topic in layout.topics:
        for item in topic.items:
            if item.carried and item.carried.index:
                places[topic.key] = min(places.get(topic.key, item.carried.position), item.carried.position)
    shown = [t for t in layout.topics if t.items]
    return sorted(shown, key=lambda t: (0 if t.sort is Sort.MEMORY else 1, places.get(t.key, 1 << 30), t.key, t.part))


def _hook(topic: Topic, moved: list[Moved], own_max: int = HOOK_CHARS_MAX) -> _Entry:
    """`[Title](page.md): what it holds`: the memory index's own words for the file (`own_max`), else ours, within 120 characters."""
    page = link(topic.title, topic.path)
    item = _named_in_index(topic)
    spans = (plain(item.corrected_to) if item.corrected_to else _after_link(item)) if item else plain(_hook_text(topic))
    uid = item.uid if item else ""
    room = max(own_max if item else 0, HOOK_CHARS_MAX - len(topic.title) - 2)
    text = inline.words(spans)
    if not text or room < HOOK_CHARS_MIN:
        return _Entry((page,), None, uid)
    if len(text) > room:
        spans = plain(inline.cut_quote(text, room))
        if item:  # a line of the person's own; what we made up as a hook loses nothing
            moved.append(Moved(section="Pages", text=text, page=topic.path, why="shortened"))
    return _Entry(join((page,), ": ", spans), None, uid)


_EMPTY = re.compile(r"\[[^\]]*\]$")
"""A line that only says what will stand there: "[to be written]"."""


def _hook_text(topic: Topic) -> str:
    """The file's description, else the names a page speaks of, else the first thing it says; for later parts their headings."""
    told = [i for i in topic.items if i.status is Status.CONFIRMED and not i.high_stakes and i.verdict not in NO_LONGER_TOLD and not _EMPTY.match(i.statement)]
    names: Iterable[str] = ()
    if topic.part > 1:
        names = (i.carried.heading if i.carried else inline.clean(i.subject) for i in topic.items)
    elif described := next((i.carried.description for i in topic.items if i.carried and i.carried.description), ""):
        return described
    elif topic.sort is Sort.SHELF:
        names = (i.value or "" if i.kind is Kind.PROCEDURE else inline.clean(i.subject) for i in told if i.kind is Kind.PROCEDURE or is_name(i.subject))
    if listed := [n for n in dict.fromkeys(names) if n][:HOOK_SUBJECTS_MAX]:
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


def _index_line(item: Item, topic: Topic, moved: list[Moved], chars_max: int, *, depth: int) -> _Entry:
    spans = _told(item, topic, "Pages", chars_max, moved)
    return _Entry(spans or plain(item.statement), None, item.uid, depth=depth)


def _told(item: Item, topic: Topic, section: str, chars_max: int, moved: list[Moved]) -> Spans:
    """A note's words in one line; what is too long, or has more under it than a line can hold, is reported."""
    own = item.carried and item.markdown and not item.corrected_to
    spans, blocks = carried_text(item.markdown, lambda _: None) if own else (plain(item.corrected_to or item.statement), ())
    text = inline.words(spans)
    if len(text) > chars_max or blocks:
        moved.append(Moved(section=section, text=text, page=topic.path, why="shortened"))
    return plain(inline.cut_quote(text, chars_max)) if len(text) > chars_max else spans


def all_pages(layout: Layout, *, own: str = "") -> str:
    """The text of `pages.md`: every page under its hook, and the person's own words below the mark."""
    entries = [_hook(t, []) for t in _in_page_order(layout)]
    listed = "\n".join(e.write() for e in entries) or "No page yet."
    return f"# Pages\n\n{listed}\n\n{OWN_MARK}\n{own}"
