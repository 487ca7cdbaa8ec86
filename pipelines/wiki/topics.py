"""Where each note lives. Without a model a topic is a thing, not a theme.

A memory file stays one page; a named subject is a page at three notes; the rest stands by kind on a few shelves. Pure: the same notes give the same
topics, whatever order they came in.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from posixpath import basename, normpath
from typing import TypedDict
from urllib.parse import unquote

from pipelines.model import Kind, Status, Verdict
from pipelines.notes.recheck import OWN_EVIDENCE
from pipelines.notes.wikilinks import loose
from pipelines.wiki import cutting, inline
from pipelines.wiki.content import LIVE, PAST, Carried, Item
from pipelines.wiki.cutting import EPOCH, NEVER, SUBJECT_NOTES_MIN, Piece, Spot, beginnings, begins_group, cut, fits_surely, section_names
from pipelines.wiki.lines import weigh
from pipelines.wiki.slugs import RESERVED, assign, page_path

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
_OF_THE_USER = re.compile(r"user['’]s\b", re.IGNORECASE)
"""Who is known by the speaker alone ("user's wife", "user's 上司") is no name that others would look for."""


def layout(items: Sequence[Item]) -> Layout:
    """Where every note stands that a page may show; drafts, notes to recheck of which nothing is left to rest on, and quarantined ones stand nowhere."""
    shown = [i for i in items if may_stand(i)]
    memory = memory_topics([i for i in shown if i.carried])
    rest = _join_memory(memory, [i for i in shown if not i.carried])
    named = _few(_named_subjects(rest), rest, memory=len(memory), notes=sum(1 for i in shown if i.status in LIVE))
    own = [*_subject_topics(rest, named), *_shelf_topics([i for i in rest if key_of(i) not in named])]
    topics = [*memory.values(), *(section for topic in own for section in sections(topic))]
    parts = [part for topic in sorted(topics, key=lambda t: t.key) for part in split(topic)]
    paths = assign({part_key(t): t.title for t in parts})
    return Layout(tuple(replace(t, path=page_path(paths[part_key(t)])) for t in parts))


def may_stand(item: Item) -> bool:
    """Whether a note stands on a page or in an archive; drafts, notes to recheck of which nothing is left to rest on, and quarantined ones do not."""
    fallen = item.status is Status.NEEDS_RECHECK and item.missed not in OWN_EVIDENCE
    return item.status in LIVE | PAST and not fallen and (item.verdict is not Verdict.NEEDS_RECHECK or item.missed in OWN_EVIDENCE)


def part_key(topic: Topic) -> str:
    return topic.key if topic.part == 1 else f"{topic.key}\n{topic.part}"


def fold(text: str) -> str:
    """A subject or title as topics compare it; nothing but case and composition is folded, so that C, C++ and C# stay three."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", inline.clean(text)).casefold())


def key_of(item: Item) -> str:
    """What a note is grouped by; one pinned to a shelf belongs to no subject."""
    if item.pin.startswith("0:"):
        return _PINNED + item.pin
    return item.pin.removeprefix("2:") if item.pin.startswith("2:") else item.subject_key or fold(item.subject)


_PINNED = "\n"


# --- memory files ------------------------------------------------------------------------------------------------------------------------


def memory_topics(carried: Sequence[Item]) -> dict[str, Topic]:
    """Topic key → page of one memory file, its lines in their own order; an index line that names a file opens that file's page."""
    files: defaultdict[str, list[Item]] = defaultdict(list)
    for item in carried:
        if item.carried and not item.carried.index:
            files[memory_key(item.carried)].append(item)
    for item in carried:
        if item.carried and item.carried.index:
            named = hooked(item.carried, files.keys())
            files[named if named else memory_key(item.carried)].append(item)
    return {key: memory_topic(key, lines) for key, lines in sorted(files.items())}


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
    named = named or [key for key in known if wanted and key.startswith("1:") and named_key(stem_of(key)) == named_key(stem_of(wanted[0]))]
    return named[0] if len(named) == 1 else None


def target_key(at: Carried, target: str) -> str:
    """The topic key of the memory file a link in a note names, relative to the note's own file; wikilinks come without their ending."""
    bare = unquote(target).split("#")[0].split("?")[0].strip()
    bare = bare if re.search(r"\.\w+$", bare) else bare + ".md"
    folder = at.path.rpartition("/")[0]
    return f"1:{at.folder}/{normpath(f'{folder}/{bare}' if folder else bare)}"


def named_key(name: str) -> str:
    """A name as links written in notes are found by, told from a topic's key."""
    return f"[[{loose(name)}"


def stem_of(key: str) -> str:
    """The name of a note file without its ending, from its topic's key."""
    name = basename(key)
    return name.rpartition(".")[0] or name


def memory_topic(key: str, lines: Sequence[Item]) -> Topic:
    """The page of a memory file from its own lines and the index lines that lead to it."""
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
    owners = owners_of((key, (t.title, *t.aliases)) for key, t in memory.items())
    rest: list[Item] = []
    joined: defaultdict[str, list[Item]] = defaultdict(list)
    for item in items:
        joins = joined_to(fold(item.subject), key_of(item), item.pin, named=is_named(item), owners=owners, memory=memory.keys())
        (joined[joins] if joins else rest).append(item)
    memory.update({key: with_joined(memory[key], more) for key, more in joined.items()})
    return rest


def with_joined(topic: Topic, more: Sequence[Item]) -> Topic:
    """A memory page with the notes that belong to it behind its own lines."""
    live, past = _in_order(i for i in more if i.status in LIVE), _in_order(i for i in more if i.status in PAST)
    return replace(topic, items=(*topic.items, *live), past=(*topic.past, *past))


def owners_of(called: Iterable[tuple[str, Iterable[str]]]) -> dict[str, set[str]]:
    """Folded name → keys of the memory pages called so."""
    owners: defaultdict[str, set[str]] = defaultdict(set)
    for key, names in called:
        for name in names:
            owners[fold(name)].add(key)
    return dict(owners)


def joined_to(subject: str, key: str, pin: str, *, named: bool, owners: Mapping[str, set[str]], memory: AbstractSet[str]) -> str | None:
    """The key of the one memory page a note belongs to, by its folded subject and its key; None when there is none, or more than one."""
    keys = {pin} & memory or owners.get(subject, set()) | owners.get(key, set())
    return next(iter(keys)) if len(keys) == 1 and (pin or named) else None


# --- named subjects ----------------------------------------------------------------------------------------------------------------------


def _named_subjects(items: Sequence[Item]) -> list[str]:
    """Keys of subjects that are a page of their own, those with most notes first: a name, and three live notes or more."""
    live = Counter(key_of(i) for i in items if i.status in LIVE)
    names = {key_of(i) for i in items if is_named(i) and not key_of(i).startswith(_PINNED)}
    return sorted((key for key, count in live.items() if count >= SUBJECT_NOTES_MIN and key in names), key=lambda key: (-live[key], key))


def is_named(item: Item) -> bool:
    return any(is_name(form) for form in (item.subject, *item.aliases))


def is_name(text: str) -> bool:
    """Whether a subject names one thing: an identifier, path, package, service, ticket or person; not "the user" or what is theirs, not a common word or a phrase."""
    bare = inline.clean(text).strip("`\"'")
    if not bare or fold(bare) in _GENERIC or _OF_THE_USER.match(bare) or len(bare) > 60 or len(bare.split()) > 4:
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
        shelves = {shelf_of(i) for i in items if i.status in LIVE and key_of(i) not in named[:count]}
        if memory + count + len(shelves) <= SMALL_PAGES_MAX:
            return frozenset(named[:count])
    return frozenset()


def _subject_topics(items: Sequence[Item], named: frozenset[str]) -> list[Topic]:
    groups: defaultdict[str, list[Item]] = defaultdict(list)
    for item in items:
        if key_of(item) in named:
            groups[key_of(item)].append(item)
    return [subject_topic(key, lines) for key, lines in groups.items()]


def subject_topic(key: str, lines: Sequence[Item]) -> Topic:
    """The page of a named subject."""
    title, aliases = subject_names(key, Counter(forms_of(i) for i in lines))
    return Topic(
        key=f"2:{key}", sort=Sort.SUBJECT, title=title, aliases=aliases,
        items=_in_order(i for i in lines if i.status in LIVE), past=_in_order(i for i in lines if i.status in PAST),
    )  # fmt: skip


def forms_of(item: Item) -> tuple[str, ...]:
    """The form of a note's subject, and its other names."""
    return (inline.clean(item.subject).strip("`\"'"), *item.aliases)


def subject_names(key: str, notes: Mapping[tuple[str, ...], int]) -> tuple[str, tuple[str, ...]]:
    """Title and aliases of a subject from the forms its notes use and how many use them: the commonest that names it is the title."""
    forms: Counter[str] = Counter()
    for note, count in notes.items():
        forms[note[0]] += count
    named = {form: n for form, n in forms.items() if is_name(form) and _title(form)} or {a: 1 for n in notes for a in n[1:] if is_name(a) and _title(a)}
    title = min(named, key=lambda form: (-named[form], form)) if named else key
    return title, _aliases(title, [*forms, *(alias for n in notes for alias in n[1:])])


# --- shelves -----------------------------------------------------------------------------------------------------------------------------


def shelf_of(item: Item) -> str:
    pinned = item.pin.removeprefix("0:")
    return pinned if pinned in SHELVES else _SHELF_OF[item.kind]


def _shelf_topics(items: Sequence[Item]) -> list[Topic]:
    shelves = ((name, [i for i in items if shelf_of(i) == name]) for name in SHELVES)
    return [shelf_topic(name, lines) for name, lines in shelves if lines]


def shelf_topic(name: str, lines: Sequence[Item]) -> Topic:
    """A shelf with these notes."""
    live, past = _in_order(i for i in lines if i.status in LIVE), _in_order(i for i in lines if i.status in PAST)
    return Topic(key=f"0:{name}", sort=Sort.SHELF, title=SHELVES[name][0], items=live, past=past)


_NEVER = datetime.max.replace(tzinfo=UTC)


def _in_order(items: Iterable[Item]) -> tuple[Item, ...]:
    """By subject, then in the order they were learnt: a new note joins its neighbours and moves nothing else."""
    return tuple(sorted(items, key=lambda i: (key_of(i), i.oldest_evidence or _NEVER, i.uid)))


# --- sections of large topics ------------------------------------------------------------------------------------------------------------


def _called(topic: Topic, spots: Sequence[Spot], begin: int) -> tuple[str, str]:
    if not begin:
        return topic.key, topic.title
    return section_names(topic.key, topic.title, spots[begin], first=begins_group(spots, begin), of_subject=topic.sort is Sort.SUBJECT)


def spot(item: Item) -> Spot:
    """The spot of a note."""
    at = item.oldest_evidence
    return Spot(key_of(item), NEVER if at is None else (at - EPOCH) // timedelta(microseconds=1), item.uid, forms_of(item)[0])


def sections(topic: Topic) -> list[Topic]:
    """A large topic in sections, each a topic of its own; another one as it is.

    Where a section begins is decided by the notes near it alone, so that a new note changes the section it joins and no other, and by no count, so that
    a section keeps its name. The first keeps the topic's.
    """
    notes = {i.uid: i for i in (*topic.items, *topic.past)}
    if len(notes) < cutting.LARGE_NOTES:
        return [topic]
    spots = sorted(map(spot, notes.values()), key=lambda s: s.order)
    begins = [0, *beginnings(spots)]
    out = []
    for begin, end in zip(begins, [*begins[1:], len(spots)], strict=True):
        key, title = _called(topic, spots, begin)
        here = [notes[s.uid] for s in spots[begin:end]]
        out.append(
            Topic(
                key=key, sort=topic.sort, title=title, aliases=() if begin else topic.aliases, items=tuple(i for i in here if i.status in LIVE),
                past=tuple(i for i in here if i.status in PAST),
            )
        )  # fmt: skip
    return out


# --- splitting ---------------------------------------------------------------------------------------------------------------------------


def split(topic: Topic, weigh: Callable[[Item], tuple[int, int]] = weigh) -> list[Topic]:
    """The topic in parts that fit a page each."""
    if fits_surely(upper(i) for i in topic.items):
        return [topic]
    items = {i.uid: i for i in topic.items}
    parts = [tuple(items[p.uid] for p in part) for part in cut([piece(i, *weigh(i)) for i in topic.items])]
    return [replace(topic, items=parts[0]), *(replace(topic, items=items, past=(), **part_names(topic.title, n)) for n, items in enumerate(parts[1:], 2))]


class PartNames(TypedDict):
    """What tells a later part of a topic from its first."""

    title: str
    aliases: tuple[str, ...]
    part: int


def part_names(title: str, n: int) -> PartNames:
    """Later parts are numbered in their title and have no other names."""
    return {"title": f"{title} ({n})", "aliases": (), "part": n}


def piece(item: Item, lines: int, size: int) -> Piece:
    """A note that takes so many lines and bytes."""
    return Piece(item.uid, _heading(item), bool(item.carried), lines, size)


def upper(item: Item) -> tuple[int, int]:
    """A cheap upper bound of the (lines, bytes) of a note, so that only topics near the limits are weighed: escapes at most double a text, a footnote
    frames its quote in 200 bytes."""
    past = [h.statement + h.reason for h in item.history]
    sides = [side.statement for side in item.sides]
    cites = [*item.cites, *(c for h in item.history for c in h.cites), *(c for side in item.sides for c in side.cites)]
    heading = item.carried.heading if item.carried else ""
    texts = [heading, item.statement, item.markdown, item.reason, item.corrected_to or "", *past, *sides, *(c.quote for c in cites)]
    size = 2 * sum(len(t.encode("utf-8", "replace")) for t in texts) + 200 * (len(cites) + len(past) + 1)
    return 5 + item.markdown.count("\n") + len(past) + 2 * len(cites), size


def _heading(item: Item) -> str:
    return "\n" + item.carried.heading if item.carried else key_of(item)
