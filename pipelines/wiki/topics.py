"""Where each note lives. Without a model a topic is a thing, not a theme.

A memory file stays one page; a named subject is a page at three notes; the rest stands by kind on a few shelves. Pure: the same notes give the same
topics, whatever order they came in.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from itertools import groupby
from posixpath import basename, normpath
from urllib.parse import unquote

from pipelines.model import Kind, Verdict
from pipelines.wiki import inline
from pipelines.wiki.content import LIVE, PAST, Carried, Item
from pipelines.wiki.lines import weigh
from pipelines.wiki.slugs import RESERVED, assign, page_path

SUBJECT_NOTES_MIN = 3
PAGE_NOTES_MAX, PAGE_LINES_MAX, PAGE_BYTES_MAX = 60, 200, 12_000
PAGE_FRAME_LINES, PAGE_FRAME_BYTES = 32, 1_800
"""What front matter, our own headings and links of a page take at most, left free when a topic is split."""
SMALL_NOTES, SMALL_PAGES_MAX = 30, 8
TITLE_CHARS_MAX = 80
ALIASES_MAX = 12


class Sort(StrEnum):
    """What a topic is made of."""

    MEMORY = "memory"
    SUBJECT = "subject"
    SHELF = "shelf"


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """One page to be: its stable key, title, path, other names and its notes in order; `past` are those for the archive page."""

    key: str
    sort: Sort
    title: str
    path: str = ""
    aliases: tuple[str, ...] = ()
    items: tuple[Item, ...] = ()
    past: tuple[Item, ...] = ()
    part: int = 1


@dataclass(frozen=True, slots=True)
class Layout:
    """All topics of a revision, with their paths, in a fixed order."""

    topics: tuple[Topic, ...]

    @property
    def where(self) -> dict[str, str]:
        """Note uid → path of the one page it stands on (live notes only)."""
        return {item.uid: topic.path for topic in self.topics for item in topic.items}

    def of(self, key: str) -> Topic | None:
        """The topic with this key; its first part when it was split."""
        return next((t for t in self.topics if t.key == key), None)


SHELVES: Mapping[str, tuple[str, frozenset[Kind]]] = {
    "how-we-work": ("How we work", frozenset({Kind.RULE, Kind.PREFERENCE, Kind.HOLD})),
    "commands": ("Commands", frozenset({Kind.PROCEDURE})),
    "decisions": ("Decisions", frozenset({Kind.DECISION})),
    "goals": ("Goals", frozenset({Kind.GOAL, Kind.PLAN})),
    "about": ("About", frozenset({Kind.FACT, Kind.INSIGHT, Kind.INCIDENT})),
}
_SHELF_OF = {kind: name for name, (_, kinds) in SHELVES.items() for kind in kinds}
_GENERIC_WORDS = (
    "user i me my we us our you your it this that they he she agent assistant system project projects repo repository codebase code app application team "
    "everything general misc other unknown today yesterday tomorrow monday tuesday wednesday thursday friday saturday sunday "
    "用户 我 我们 你 他 她 它 项目 代码 系统 助手 今天 明天 昨天 ユーザー 私 プロジェクト 사용자 프로젝트"
)
_GENERIC = frozenset(_GENERIC_WORDS.split())


def layout(items: Sequence[Item]) -> Layout:
    """Where every note stands that a page may show; drafts, notes to recheck and quarantined ones stand nowhere."""
    shown = [i for i in items if i.status in LIVE | PAST and i.verdict is not Verdict.NEEDS_RECHECK]
    memory = _memory_topics([i for i in shown if i.carried])
    rest = _join_memory(memory, [i for i in shown if not i.carried])
    named = _few(_named_subjects(rest), rest, memory=len(memory), notes=sum(1 for i in shown if i.status in LIVE))
    topics = [*memory.values(), *_subject_topics(rest, named), *_shelf_topics([i for i in rest if _key(i) not in named])]
    parts = [part for topic in sorted(topics, key=lambda t: t.key) for part in _split(topic)]
    paths = assign({_part_key(t): t.title for t in parts})
    return Layout(tuple(replace(t, path=page_path(paths[_part_key(t)])) for t in parts))


def _part_key(topic: Topic) -> str:
    return topic.key if topic.part == 1 else f"{topic.key}\n{topic.part}"


def fold(text: str) -> str:
    """A subject or title as topics compare it; nothing but case and composition is folded, so that C, C++ and C# stay three."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", inline.clean(text)).casefold())


def _key(item: Item) -> str:
    """What a note is grouped by; one pinned to a shelf belongs to no subject."""
    if item.pin.startswith("0:"):
        return _PINNED + item.pin
    return item.pin.removeprefix("2:") if item.pin.startswith("2:") else item.subject_key or fold(item.subject)


_PINNED = "\n"


# --- memory files ------------------------------------------------------------------------------------------------------------------------


def _memory_topics(carried: Sequence[Item]) -> dict[str, Topic]:
    """Topic key → page of one memory file, its lines in their own order; an index line that names a file opens that file's page."""
    files: defaultdict[str, list[Item]] = defaultdict(list)
    for item in carried:
        if item.carried and not item.carried.index:
            files[memory_key(item.carried)].append(item)
    for item in carried:
        if item.carried and item.carried.index:
            named = hooked(item.carried, files.keys())
            files[named if named else memory_key(item.carried)].append(item)
    return {key: _memory_topic(key, lines) for key, lines in sorted(files.items())}


def memory_key(at: Carried) -> str:
    """The topic key of the file a line was carried from."""
    return f"1:{at.folder}/{at.path}"


def hooked(at: Carried, keys: Iterable[str]) -> str | None:
    """The key of the memory page an index line is the hook of: the first of its targets that has one, or the only file of that name elsewhere.

    An agent that writes its index beside its memory folder and not into it still means the file it names.
    """
    known = set(keys) - {memory_key(at)}
    wanted = [target_key(at, target) for target in at.targets]
    if exact := next((key for key in wanted if key in known), None):
        return exact
    named = [key for key in known if wanted and key.startswith("1:") and basename(key) == basename(wanted[0])]
    return named[0] if len(named) == 1 else None


def target_key(at: Carried, target: str) -> str:
    """The topic key of the memory file a link in a note names, relative to the note's own file; wikilinks come without their ending."""
    bare = unquote(target).split("#")[0].split("?")[0].strip()
    bare = bare if re.search(r"\.\w+$", bare) else bare + ".md"
    folder = at.path.rpartition("/")[0]
    return f"1:{at.folder}/{normpath(f'{folder}/{bare}' if folder else bare)}"


def _memory_topic(key: str, lines: list[Item]) -> Topic:
    ordered = sorted(lines, key=lambda i: (not (i.carried and i.carried.index), i.carried.position if i.carried else 0, i.uid))
    body = [i.carried for i in ordered if i.carried and memory_key(i.carried) == key]
    own = body[0]
    stem = basename(own.path).rpartition(".")[0] or basename(own.path)
    called = [_link_words(i) for i in ordered if i.carried and memory_key(i.carried) != key]
    title = _title(own.title) or stem
    if _is_slug(title):
        title = next((c for c in called if _title(c) and not _is_slug(c)), title)
    names = [stem, own.title, *(alias for i in ordered for alias in i.aliases), *called]
    return Topic(
        key=key, sort=Sort.MEMORY, title=title, aliases=_aliases(title, names),
        items=tuple(i for i in ordered if i.status in LIVE), past=tuple(i for i in ordered if i.status in PAST),
    )  # fmt: skip


def _title(text: str) -> str:
    """The text when it may stand as a title: one short line that is no sentence."""
    bare = inline.clean(text)
    sentence = bool(re.search(r"[.!?](?:\s|$)|[。！？]", bare)) and len(bare.split()) > 6
    return "" if sentence or len(bare) > TITLE_CHARS_MAX else bare


def _is_slug(title: str) -> bool:
    """Whether a title is a file's name and no words: `staging_tokens`, `deploy-order`, `tokens`."""
    return bool(re.fullmatch(r"[A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+)+|[a-z0-9]+", title))


def _link_words(item: Item) -> str:
    """What an index calls the file it links to."""
    found = re.search(r"\[([^\[\]]+)\]\(", item.markdown or item.statement)
    return found[1].removesuffix(".md") if found else ""


def _aliases(title: str, names: Iterable[str]) -> tuple[str, ...]:
    found = {fold(n): inline.clean(n) for n in sorted(names) if inline.clean(n) and fold(n) not in {fold(title), *RESERVED} and _title(n)}
    return tuple(found[k] for k in sorted(found))[:ALIASES_MAX]


def _join_memory(memory: dict[str, Topic], items: Sequence[Item]) -> list[Item]:
    """Put notes whose subject is what a memory page is called onto that page (changes `memory`); give back the others."""
    owners: defaultdict[str, set[str]] = defaultdict(set)
    for key, topic in memory.items():
        for name in (topic.title, *topic.aliases):
            owners[fold(name)].add(key)
    rest: list[Item] = []
    joined: defaultdict[str, list[Item]] = defaultdict(list)
    for item in items:
        keys = {item.pin} & memory.keys() or owners.get(fold(item.subject), set()) | owners.get(_key(item), set())
        (joined[next(iter(keys))] if len(keys) == 1 and (item.pin or _is_name(item)) else rest).append(item)
    for key, more in joined.items():
        topic = memory[key]
        memory[key] = replace(
            topic, items=(*topic.items, *_in_order(i for i in more if i.status in LIVE)), past=(*topic.past, *_in_order(i for i in more if i.status in PAST)),
        )  # fmt: skip
    return rest


# --- named subjects ----------------------------------------------------------------------------------------------------------------------


def _named_subjects(items: Sequence[Item]) -> list[str]:
    """Keys of subjects that are a page of their own, those with most notes first: a name, and three live notes or more."""
    live = Counter(_key(i) for i in items if i.status in LIVE)
    names = {_key(i) for i in items if _is_name(i) and not _key(i).startswith(_PINNED)}
    return sorted((key for key, count in live.items() if count >= SUBJECT_NOTES_MIN and key in names), key=lambda key: (-live[key], key))


def _is_name(item: Item) -> bool:
    return any(is_name(form) for form in (item.subject, *item.aliases))


def is_name(text: str) -> bool:
    """Whether a subject names one thing: an identifier, path, package, service, ticket or person; not "the user", not a common word or a phrase."""
    bare = inline.clean(text).strip("`\"'")
    if not bare or fold(bare) in _GENERIC or len(bare) > 60 or len(bare.split()) > 4:
        return False
    if re.search(r"[_./#@\\+]|\w-\w|\d|[a-z][A-Z]", bare) and not re.fullmatch(r"[\d\s.,:/-]+", bare):
        return True
    if re.search(r"[^\x00-\u024f]", bare):
        return len(bare) >= 2
    return all(word[0].isupper() for word in bare.split() if word[0].isalpha() and len(word) > 3) and bare[0].isupper()


def _few(named: Sequence[str], items: Sequence[Item], *, memory: int, notes: int) -> frozenset[str]:
    """Under 30 notes at most 8 pages: the subjects with the fewest notes give way to the shelves (memory files never do)."""
    if notes >= SMALL_NOTES:
        return frozenset(named)
    for count in range(len(named), 0, -1):
        shelves = {_shelf(i) for i in items if i.status in LIVE and _key(i) not in named[:count]}
        if memory + count + len(shelves) <= SMALL_PAGES_MAX:
            return frozenset(named[:count])
    return frozenset()


def _subject_topics(items: Sequence[Item], named: frozenset[str]) -> list[Topic]:
    groups: defaultdict[str, list[Item]] = defaultdict(list)
    for item in items:
        if _key(item) in named:
            groups[_key(item)].append(item)
    return [_subject_topic(key, lines) for key, lines in groups.items()]


def _subject_topic(key: str, lines: list[Item]) -> Topic:
    forms = Counter(inline.clean(i.subject).strip("`\"'") for i in lines)
    named = {form: n for form, n in forms.items() if is_name(form) and _title(form)} or {a: 1 for i in lines for a in i.aliases if is_name(a) and _title(a)}
    title = min(named, key=lambda form: (-named[form], form)) if named else key
    names = [*forms, *(alias for i in lines for alias in i.aliases)]
    return Topic(
        key=f"2:{key}", sort=Sort.SUBJECT, title=title, aliases=_aliases(title, names),
        items=_in_order(i for i in lines if i.status in LIVE), past=_in_order(i for i in lines if i.status in PAST),
    )  # fmt: skip


# --- shelves -----------------------------------------------------------------------------------------------------------------------------


def _shelf(item: Item) -> str:
    pinned = item.pin.removeprefix("0:")
    return pinned if pinned in SHELVES else _SHELF_OF[item.kind]


def _shelf_topics(items: Sequence[Item]) -> list[Topic]:
    out = []
    for name, (title, _) in SHELVES.items():
        lines = [i for i in items if _shelf(i) == name]
        if lines:
            live, past = _in_order(i for i in lines if i.status in LIVE), _in_order(i for i in lines if i.status in PAST)
            out.append(Topic(key=f"0:{name}", sort=Sort.SHELF, title=title, items=live, past=past))
    return out


_NEVER = datetime.max.replace(tzinfo=UTC)


def _in_order(items: Iterable[Item]) -> tuple[Item, ...]:
    """By subject, then in the order they were learnt: a new note joins its neighbours and moves nothing else."""
    return tuple(sorted(items, key=lambda i: (_key(i), i.oldest_evidence or _NEVER, i.uid)))


# --- splitting ---------------------------------------------------------------------------------------------------------------------------


def _split(topic: Topic) -> list[Topic]:
    """The topic in parts that fit a page each, cut between headings or subjects where one is near; later parts are numbered in their title."""
    if _surely_fits(topic.items):
        return [topic]
    sizes = {item.uid: weigh(item) for item in topic.items}
    parts: list[list[Item]] = [[]]
    for group in _groups(topic):
        if parts[-1] and not _fits([*parts[-1], *group], sizes) and _fits(group, sizes):
            parts.append([])
        for item in group:
            if parts[-1] and not _fits([*parts[-1], item], sizes):
                parts.append([])
            parts[-1].append(item)
    if len(parts) > 1 and len(parts[-1]) < SUBJECT_NOTES_MIN < len(parts[-2]) - SUBJECT_NOTES_MIN:
        parts[-1] = parts[-2][-SUBJECT_NOTES_MIN:] + parts[-1]
        parts[-2] = parts[-2][:-SUBJECT_NOTES_MIN]
    whole = [replace(topic, items=tuple(parts[0]))]
    return whole + [
        replace(topic, title=f"{topic.title} ({n})", aliases=(), items=tuple(items), past=(), part=n) for n, items in enumerate(parts[1:], 2)
    ]  # fmt: skip


def _surely_fits(items: Sequence[Item]) -> bool:
    """A cheap upper bound, so that only topics near the limits are weighed: escapes at most double a text, a footnote frames its quote in 200 bytes."""
    size, lines = PAGE_FRAME_BYTES, PAGE_FRAME_LINES
    for item in items:
        past = [h.statement + h.reason for h in item.history]
        sides = [side.statement for side in item.sides]
        cites = [*item.cites, *(c for h in item.history for c in h.cites), *(c for side in item.sides for c in side.cites)]
        heading = item.carried.heading if item.carried else ""
        texts = [heading, item.statement, item.markdown, item.reason, item.corrected_to or "", *past, *sides, *(c.quote for c in cites)]
        size += 2 * sum(len(t.encode("utf-8", "replace")) for t in texts) + 200 * (len(cites) + len(past) + 1)
        lines += 5 + item.markdown.count("\n") + len(past) + 2 * len(cites)
    return len(items) <= PAGE_NOTES_MAX and size <= PAGE_BYTES_MAX and lines <= PAGE_LINES_MAX


def _groups(topic: Topic) -> list[list[Item]]:
    return [list(group) for _, group in groupby(topic.items, key=_heading)]


def _heading(item: Item) -> str:
    return "\n" + item.carried.heading if item.carried else _key(item)


def _fits(items: Sequence[Item], sizes: Mapping[str, tuple[int, int]]) -> bool:
    headings = {_heading(i) for i in items if i.carried}
    lines = PAGE_FRAME_LINES + 4 * len(headings) + sum(sizes[i.uid][0] for i in items)
    size = PAGE_FRAME_BYTES + sum(len(h.encode("utf-8", "replace")) + 8 for h in headings) + sum(sizes[i.uid][1] for i in items)
    return len(items) <= PAGE_NOTES_MAX and lines <= PAGE_LINES_MAX and size <= PAGE_BYTES_MAX
