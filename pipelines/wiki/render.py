"""The files of a revision: topic pages, stubs of pages that moved, archive pages. Pure; the same content gives the same bytes.

`MEMORY.md`, `recent.md`, `inbox.md` and the journal are rendered by modules of their own; `tree` brings all of them together.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby

from pipelines.model import Kind, Status, Verdict
from pipelines.text.mood import negated
from pipelines.text.words import content_words
from pipelines.wiki import inline, links
from pipelines.wiki.content import Cite, Content, Item, shown_folder
from pipelines.wiki.inline import Spans, code, join, plain
from pipelines.wiki.lines import NO_LONGER_TOLD, Draft, Resolve, archived, bullet, day, history, number
from pipelines.wiki.page import SEE_ALSO_MAX, Page, Section, link, write
from pipelines.wiki.slugs import page_path
from pipelines.wiki.topics import Layout, Sort, Topic, fold, memory_key, named_key, stem_of, target_key

HISTORY_MAX = 5
"""Earlier values a page shows of one note; older ones stand in its archive page."""
_SECTIONS = (
    ("Facts", frozenset({Kind.FACT, Kind.INSIGHT, Kind.INCIDENT})),
    ("Rules", frozenset({Kind.RULE, Kind.PREFERENCE, Kind.HOLD})),
    ("How to", frozenset({Kind.PROCEDURE})),
    ("Decisions", frozenset({Kind.DECISION})),
    ("Goals", frozenset({Kind.GOAL, Kind.PLAN})),
)


@dataclass(frozen=True, slots=True)
class Rendered:
    """Topic pages and archive pages by path, and the stubs of pages that moved."""

    pages: dict[str, Page]
    stubs: dict[str, Page]

    @property
    def files(self) -> dict[str, bytes]:
        """Path → bytes, as they are published."""
        return {path: to_bytes(write(page)) for path, page in sorted((self.pages | self.stubs).items())}


def to_bytes(text: str) -> bytes:
    """A page's bytes; what a person's editor wrote that is no UTF-8 goes through unchanged."""
    return text.encode("utf-8", "surrogateescape")


def render(content: Content, layout: Layout) -> Rendered:
    """Every topic page with its links, its archive page, and a stub for each page that moved."""
    topics = [t for t in layout.topics if t.items]
    doors = doors_to((t.key, t.title, t.path, t.aliases) for t in topics if t.part == 1 and t.sort is Sort.MEMORY)
    live = [topic_page(topic, doors, content.own.get(topic.path, "")) for topic in topics]
    past = [page for topic in layout.topics if (page := archive_page(topic, content.own)) is not None]
    pages = _linked(live, past, topics)
    stubs = {path: page for path, key in sorted(content.redirects.items()) if path not in pages and (page := _stub(path, key, layout, content.own))}
    return Rendered({p.path: p for p in pages.values()}, stubs)


# --- one page ----------------------------------------------------------------------------------------------------------------------------


Doors = Mapping[str, tuple[str, str]]
"""Topic key, or name (`named_key`) → (title, path) of a page: where a link written in a note leads."""


def doors_to(pages: Iterable[tuple[str, str, str, Iterable[str]]]) -> Doors:
    """The doors to the pages of note files (topic key, title, path, other names): by key, by the one file of that name, by the one page that is called so."""
    doors, called, stems = dict[str, tuple[str, str]](), defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for key, title, path, others in pages:
        doors[key] = (title, path)
        stems[named_key(stem_of(key))].add(key)
        for name in (title, *others):
            called[named_key(name)].add(key)
    for name, keys in (called | stems).items():
        if len(keys) == 1:
            doors[name] = doors[next(iter(keys))]
    return doors


def topic_page(topic: Topic, doors: Doors, own: str) -> Page:
    """One topic page without its links to others."""
    notes: list[Spans] = []
    sections = tuple(Section(title=plain(name), lines=number(drafts, notes)) for name, drafts in _sections(topic, doors) if drafts)
    newest = _newest(topic.items)
    return Page(
        path=topic.path, title=topic.title, aliases=topic.aliases, updated=newest.date() if newest else None, sources=_sources(topic.items),
        intro=_intro(topic), sections=sections, footnotes=tuple(notes), own=own,
    )  # fmt: skip


def _newest(items: Iterable[Item]) -> datetime | None:
    return max((i.newest_evidence for i in items if i.newest_evidence), default=None)


def _sources(items: Iterable[Item]) -> str:
    cites = [c for i in items for c in (*i.cites, *(c for side in i.sides for c in side.cites), *(c for h in i.history for c in h.cites))]
    sessions = len({c.session for c in cites if c.session})
    files = len({c.source for c in cites if c.source and not c.session})
    return ", ".join(f"{n} {word}{'s' if n > 1 else ''}" for n, word in ((sessions, "session"), (files, "note file")) if n)


def _intro(topic: Topic) -> Spans:
    """For a memory file: where it was carried from and what the logs said of its lines. Other pages need no words of ours."""
    carried = [i for i in topic.items if i.carried]
    if topic.sort is not Sort.MEMORY or not carried:
        return ()
    shown = [*_said_once([i for i in carried if i.status is not Status.DISPUTED], topic), *(i for i in carried if i.status is Status.DISPUTED)]
    own = [i for i in carried if i.carried and not i.carried.index] or carried
    place = own[0].carried
    assert place is not None, "these items were carried"
    written = max((c.at for i in own for c in i.cites if c.at and not c.session), default=None)
    when = f", written {day(written)}" if written else ""
    named = next((c for i in own for c in i.cites if c.source), None)
    if named and named.session:
        when = f" as a log shows it written{f', {day(named.at)}' if named.at else ''}"
    file = named.source if named and named.source else f"{shown_folder(place.folder)}/{place.path}"
    return join("Carried from ", code(file), f"{when}. {_verdicts(shown)}.")


_SAID = (
    (Verdict.UPHELD, "upheld"), (Verdict.CORRECTED, "corrected"), (Verdict.CONTRADICTED, "contradicted"), (Verdict.SUPERSEDED, "superseded"),
    (Verdict.DUPLICATE, "merged"), (Verdict.UNSUPPORTED, "unsupported"), (Verdict.UNCHECKED, "unchecked"), (Verdict.NO_LOG, "without a log"), (Verdict.NEEDS_RECHECK, "to check again"),
)  # fmt: skip


def _verdicts(items: Sequence[Item]) -> str:
    counts = [(sum(1 for i in items if (i.verdict or Verdict.NO_LOG) is verdict), word) for verdict, word in _SAID]
    named = [f"{n} {word}" for n, word in counts if n]
    lines = f"{len(items)} {'line' if len(items) == 1 else 'lines'}"
    if len(named) == 1:
        word = named[0].partition(" ")[2]
        return f"{lines}, {word}" if len(items) == 1 else f"{lines}, all {word}"
    return f"{lines}: " + ", ".join(named)


def _sections(topic: Topic, doors: Doors) -> list[tuple[str, list[Draft]]]:
    """Section titles and bullets in page order: a file's own headings, then ours by kind, disputes, what is to be checked again, history."""
    doors = {key: door for key, door in doors.items() if door != doors.get(topic.key)}
    out: list[tuple[str, list[Draft]]] = []
    carried = _said_once([i for i in topic.items if i.carried and i.status is not Status.DISPUTED], topic)
    for heading, group in groupby(carried, key=lambda i: i.carried.heading if i.carried and memory_key(i.carried) == topic.key else ""):
        drafts = _bullets(group, doors)
        if drafts:
            out.append((heading or ("More" if out else ""), drafts))
    noted = [i for i in topic.items if not i.carried and i.status is Status.CONFIRMED]
    out += [(name, _bullets((i for i in noted if i.kind in kinds), doors)) for name, kinds in _SECTIONS]
    out.append(("Disputed", _bullets((i for i in topic.items if i.status is Status.DISPUTED), doors)))
    out.append(("To check again", _bullets((i for i in topic.items if not i.carried and i.status is Status.NEEDS_RECHECK), doors)))
    out.append(("History", [d for i in topic.items for d in history(i)[-HISTORY_MAX:]]))
    return out


_NAMING = re.compile(r"^(\s*(?:[-*+]\s+)?)(?:\*\*|__)?\[([^\[\]]+)\]\([^()\s]*\)(?:\*\*|__)?\s*(?:[-–—:：·|]+\s*)?(?=\S)")


def _unnamed(item: Item, topic: Topic) -> Item:
    """An index line on the page it leads to, without the link it opens with: the page need not be told its own name. A corrected one is quoted as it stood."""
    named = _NAMING.match(item.markdown) if _led_here(item, topic) and not item.corrected_to else None
    names = {fold(name) for name in (topic.title, *topic.aliases)}
    if named is None or fold(named[2].removesuffix(".md")) not in names:
        return item
    return replace(item, markdown=named[1] + item.markdown[named.end() :])


def _said_once(carried: Sequence[Item], topic: Topic) -> list[Item]:
    """The lines of a page, an index line that leads to it only where it says more than they do: else the line that says most of it cites both. Nor is an index
    line shown that was corrected to what a line of the file itself was: the brief names both, the page says it once."""
    said = {i.corrected_to for i in carried if i.corrected_to and i.carried and not i.carried.index}
    lines = {i.uid: i.corrected_to or i.statement for i in carried if _tells(i)} if any(_led_here(i, topic) for i in carried) else {}
    own = {uid: (_words(text), negated(text)) for uid, text in lines.items()}
    cited: defaultdict[str, list[Cite]] = defaultdict(list)
    shown = []
    for item in carried:
        if item.carried and item.carried.index and item.corrected_to and _all_said(item.corrected_to, said):
            continue
        if (line := _repeated(item, topic, own)) is not None:
            cited[line] += item.cites
        else:
            shown.append(_unnamed(item, topic))
    return [replace(i, cites=(*i.cites, *cited[i.uid])) if i.uid in cited else i for i in shown]


def _all_said(text: str, said: Collection[str]) -> bool:
    """Whether a text is made of these sentences."""
    for sentence in sorted(said, key=lambda s: (-len(s), s)):
        text = text.replace(sentence, "")
    return not text.strip(" .")


def _repeated(item: Item, topic: Topic, own: Mapping[str, tuple[frozenset[str], bool]]) -> str | None:
    """The line of a page that says most of what an index line says, where the page's lines say all of it, or one line denies all of what it denies; None where
    they do not, or it stands corrected."""
    if not _led_here(item, topic) or item.corrected_to or item.against or item.stale:
        return None
    words, denies = _words(item.statement) - _words(topic.title), negated(item.statement)
    near = {uid: words & said for uid, (said, denied) in own.items() if denied == denies}
    whole = [frozenset().union(*near.values())] if not denies else list(near.values())
    if not words or words not in whole:
        return None
    return max(near, key=lambda uid: len(near[uid]))


def _tells(item: Item) -> bool:
    """Whether this is a line of a file's own that its page tells."""
    return item.carried is not None and not item.carried.index and item.verdict not in NO_LONGER_TOLD


def _led_here(item: Item, topic: Topic) -> bool:
    """Whether this is a line of an index that leads to the page."""
    return item.carried is not None and item.carried.index and memory_key(item.carried) != topic.key


def _words(text: str) -> frozenset[str]:
    return frozenset(content_words(text.replace("`", "")))


def _bullets(items: Iterable[Item], doors: Doors) -> list[Draft]:
    return [draft for item in items if (draft := bullet(item, resolve=_resolver(item, doors)))]


def _resolver(item: Item, doors: Doors) -> Resolve:
    return lambda target: (doors.get(target_key(item.carried, target)) or doors.get(named_key(target))) if item.carried else None


# --- archive and stubs -------------------------------------------------------------------------------------------------------------------


def archive_path(path: str) -> str:
    """Where the notes stand that are over, of the topic whose page lies at `path`."""
    return page_path(path.removesuffix(".md"), folder="archive")


def archive_page(topic: Topic, own: Mapping[str, str]) -> Page | None:
    """The notes of a topic that are over, and the history its page has no room for; None when there are none."""
    drafts = [archived(i) for i in topic.past] + [d for i in topic.past for d in history(i)]
    drafts += [d for i in topic.items for d in history(i)[:-HISTORY_MAX]]
    if not drafts:
        return None
    path = archive_path(topic.path)
    notes: list[Spans] = []
    lines = number(drafts, notes)
    newest = _newest([*topic.past, *topic.items])
    back = join("What is over, kept from ", (link(topic.title, topic.path),), ".") if topic.items else ()
    return Page(
        path=path, title=f"{topic.title}: archive", updated=newest.date() if newest else None, sources=_sources([*topic.past]), intro=back,
        sections=(Section(title=(), lines=lines),), footnotes=tuple(notes), own=own.get(path, ""),
    )  # fmt: skip


def _stub(path: str, key: str, layout: Layout, own: Mapping[str, str]) -> Page | None:
    """What is left where a page was: a link to where it is now. Nothing when its topic is gone or stands there again."""
    topic = layout.of(key)
    if topic is None or not topic.items or topic.path == path:
        return None
    return stub(path, topic.title, topic.path, own=own.get(path, ""))


def stub(path: str, title: str, to: str, *, own: str = "") -> Page:
    """A page that only leads on to the one with this title and path."""
    return Page(path=path, title=_stem(path), intro=join("This page moved to ", (link(title, to),), "."), own=own)


def left(path: str) -> Page:
    """What stays at a path where nothing of ours stands any more, under a person's own words."""
    return Page(path=path, title=_stem(path), intro=join("No note is kept here any more; what stands below is yours."))


def _stem(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")


# --- links -------------------------------------------------------------------------------------------------------------------------------


def _linked(live: Sequence[Page], past: Sequence[Page], topics: Sequence[Topic]) -> dict[str, Page]:
    """The pages with "See also" and "Referenced by"; parts of one topic and its archive page come first among the links."""
    titles = {p.path: p.title for p in live}
    names = links.Names({p.path: links.names_of([p.title, *p.aliases]) for p in live})
    found = links.see_also(live, names, titles)
    first = _leading(topics, past)
    pages = []
    for page in live:
        pages.append(replace(page, see_also=see_also(first.get(page.path, ()), found[page.path])))
    back = links.named_by(pages, titles)
    return {p.path: p for p in (*(replace(p, named_by=back.get(p.path, ())) for p in pages), *past)}


def see_also(first: tuple[inline.Span, ...], found: Iterable[inline.Span]) -> tuple[inline.Span, ...]:
    """The links under "See also": those that belong to the page first."""
    return (*first, *(s for s in found if s not in first))[:SEE_ALSO_MAX]


def _leading(topics: Sequence[Topic], past: Sequence[Page]) -> dict[str, tuple[inline.Span, ...]]:
    """Page path → links that belong to it whatever its words: the part before and after it, and its archive."""
    archives = {p.path for p in past}
    parts: defaultdict[str, list[Topic]] = defaultdict(list)
    for topic in topics:
        parts[topic.key].append(topic)
    out = {}
    for topic in topics:
        beside = [(t.title, t.path) for t in parts[topic.key] if abs(t.part - topic.part) == 1]
        archive = archive_path(topic.path)
        out[topic.path] = leading(beside, archive if topic.part == 1 and archive in archives else "")
    return out


def leading(beside: Iterable[tuple[str, str]], archive: str) -> tuple[inline.Span, ...]:
    """Links that belong to a page whatever its words: the parts (title, path) before and after it, and its archive."""
    spans = [link(*place) for place in beside]
    return (*spans, link("archive", archive)) if archive else tuple(spans)
