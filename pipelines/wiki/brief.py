"""What a new session is told: one pure function of a revision and a budget.

The order is the order of use: what an agent would do wrong first (corrections), then what it must keep to, what works, what waits, what is so, and where
more stands. Overflow leaves from the bottom to the pages it stands on anyway, and is reported; no line is cut without saying so.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby

from pipelines.notes.relate import ValueKey, subject_key, value_key
from pipelines.text.statement import Form, parse
from pipelines.wiki import inline
from pipelines.wiki.budget import MEMORY_MD, Budget, room_of
from pipelines.wiki.content import Content, Correction, Item
from pipelines.wiki.doors import HOOK_CHARS_MAX, PAGES_PATH, Door, Entry, Moved, entry
from pipelines.wiki.inline import Spans, join, plain
from pipelines.wiki.lines import Part, carried_text, day, recheck, worked
from pipelines.wiki.page import Block, link
from pipelines.wiki.signs import COMMANDS, CORRECTED, CORRECTED_MAX, FACTS, GOALS, RULES, Best, Signs, Stand, lasts, signs_of, stamp
from pipelines.wiki.topics import Layout, Sort, hooked
from pipelines.wiki.unfinished import NOT_ANSWERED, NOT_APPROVED, Left, told_of, unfinished

COMMANDS_MAX = 10
WAITING_MAX = 3
CORRECTED_BYTES_MAX = 1400
"""What keeps the corrections within the first 2,000 bytes, the purpose lines before them included."""
OWN_CHARS_MAX = 1000
"""A line of the person's own index, told whole while the budget lasts: a session that was told it before is told it after."""
LINE_CHARS_MAX = 300
NAME_CHARS_MAX = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """The brief and its measure. `told` are the notes and corrections (`told_correction`) it carries, for the record of deliveries.

    `left` counts what did not fit whole; `moved` names it, in a large scope only the first of each section. `leads` are the lines of the person's own index,
    its title among them, that no brief tells, since they only lead in others.
    """

    text: str
    lines: int
    bytes: int
    moved: tuple[Moved, ...] = ()
    told: tuple[str, ...] = ()
    left: int = 0
    leads: tuple[Moved, ...] = ()


@dataclass(frozen=True, slots=True)
class _Section:
    """The lines of a section; `beyond` are those left out before anything was measured, and `uncounted` how many more are not even named."""

    title: str
    entries: tuple[Entry, ...]
    beyond: tuple[Moved, ...] = ()
    uncounted: int = 0


def brief(content: Content, layout: Layout, budget: Budget = MEMORY_MD, *, scope: str = "") -> Brief:
    """The whole text within the budget, between `<dreamd-brief>` and `</dreamd-brief>`."""
    return tell(signs_of(content, layout), budget, scope=scope)


def tell(signs: Signs, budget: Budget = MEMORY_MD, *, scope: str = "") -> Brief:
    """The brief of these signs within the budget."""
    head, foot = _head(signs, scope), _foot()
    # lines of the person's own index whole, while there is room for all
    for own_max in (HOOK_CHARS_MAX,) if _too_many(signs, budget) else (OWN_CHARS_MAX, HOOK_CHARS_MAX):
        moved: list[Moved] = []
        sections = _sections(signs, moved, own_max, budget)
        kept, over = _fit(sections, budget, head, foot)
        if not over and not any(s.beyond or s.uncounted for s in sections):
            break
    text = _text(head, kept, foot)
    left = [Moved(section=s, text=inline.words(e.spans), page=e.page.target if e.page else PAGES_PATH, why="no_room") for s, e in over]
    left += [m for s in sections for m in s.beyond]
    truths: defaultdict[str, tuple[str, ...]] = defaultdict(tuple)
    for group in signs.corrections:
        truths[group[0].uid] += tuple(told_correction(c.uid) for c in group)
    told = tuple(
        dict.fromkeys(uid for title, entries in kept.items() for e, _ in entries if e.uid for uid in (truths[e.uid] if title == CORRECTED else (e.uid,)))
    )
    return Brief(
        text=text, lines=text.count("\n"), bytes=len(text.encode("utf-8", "surrogatepass")), moved=(*moved, *left), told=told,
        left=len(moved) + len(left) + sum(s.uncounted for s in sections), leads=_leads(signs),
    )  # fmt: skip


def _too_many(signs: Signs, budget: Budget) -> bool:
    """Whether some page is left out whatever is told of the others: more that have to earn their line than there are lines."""
    return sum(1 for door in signs.doors if not door.index and door.sort is not Sort.MEMORY) > budget.lines


def told_correction(uid: str) -> str:
    """How a brief names that it told the correction of a note, which is not to tell the note."""
    return f"{uid}/corrected"


def door_brief(signs: Signs, door: str) -> Brief:
    """The brief of an agent's door, with room for what `at_door` adds."""
    return tell(signs, room_of(door))


# --- fitting -----------------------------------------------------------------------------------------------------------------------------


Kept = dict[str, list[tuple[Entry, str]]]
"""Title of a section → its lines, each as it is told."""


def _fit(sections: Sequence[_Section], budget: Budget, head: str, foot: str) -> tuple[Kept, list[tuple[str, Entry]]]:
    """Drop lines from the bottom until the text fits, pinned ones last; the first dropped line of "Pages" leaves one that leads to all of them."""
    kept: Kept = {s.title: [(e, e.tell()) for e in s.entries] for s in sections if s.entries}
    text = _text(head, kept, foot)
    size, lines = budget.measure(text), text.count("\n")
    over: list[tuple[str, Entry]] = []
    rest: list[Entry] = []
    if any(s.title == "Pages" and s.beyond for s in sections):
        rest.append(_REST)
        size, lines = size + budget.measure(_REST.tell() + "\n"), lines + 1
    for pinned, title in [(pinned, title) for pinned in (False, True) for title in reversed(list(kept))]:
        while kept[title] and kept[title][-1][0].pinned <= pinned and (size > budget.size or lines > budget.lines):
            gone, told = kept[title].pop()
            over.append((title, gone))
            size, lines = size - budget.measure(told + "\n"), lines - 1
            if title == "Pages" and not rest:
                rest.append(_REST)
                size, lines = size + budget.measure(_REST.tell() + "\n"), lines + 1
            if not kept[title] and not (title == "Pages" and rest):
                size, lines = size - budget.measure(f"## {title}\n\n\n"), lines - 3
    full = {title: [*entries, *((e, e.tell()) for e in (rest if title == "Pages" else ()))] for title, entries in kept.items()}
    return {title: entries for title, entries in full.items() if entries}, over[::-1]


_REST = Entry(join("All pages"), link("pages", PAGES_PATH))


def rest_of_pages() -> str:
    """The line that leads to all pages, as it is told where some were left out."""
    return _REST.tell()


def _text(head: str, kept: Kept, foot: str) -> str:
    body = "".join(f"## {title}\n\n" + "".join(f"{told}\n" for _, told in entries) + "\n" for title, entries in kept.items())
    return head + body + foot


def _head(signs: Signs, scope: str) -> str:
    """Opening mark, title, and two lines: what this memory is for, and how far to trust it."""
    path = re.sub(r"[^\w/.@+-]+", "-", inline.clean(scope))[:NAME_CHARS_MAX]
    name = f' scope="{path}"' if path else ""
    known = f" Newest evidence: {day(signs.newest)}." if signs.newest else ""
    return (
        f"<dreamd-brief{name}>\n\n# Memory: {inline.write_heading(plain(signs.title[:NAME_CHARS_MAX])) or 'notes'}\n\n"
        f"{_purpose(signs)}\n"
        f"A record to check before you rely on it, not orders. Each line leads to a page with its sources.{known}\n\n"
    )


def _purpose(signs: Signs) -> str:
    """What this memory is for, claiming no more than was done: a memory of drafts alone has told nothing, and a line of a note file no log decides is no finding."""
    if not signs.doors and not signs.corrections and not signs.goals.count:
        return "Earlier sessions were read; nothing that lasts is sure enough to be told here yet."
    how = "Checked against their logs where those decide it." if signs.checked else "Not checked: no log that was read decides it."
    return f"What earlier sessions left behind, so that you need not learn it again. {how}"


def _foot() -> str:
    return (
        "## More\n\n"
        "- Search notes and raw sessions: `dreamd search WORDS`; where a line comes from: `dreamd why PAGE`\n"
        "- What waits for a person: [inbox](inbox.md); what happened lately: [recent](recent.md)\n\n"
        "</dreamd-brief>\n"
    )


# --- what stands in it -------------------------------------------------------------------------------------------------------------------


def _sections(signs: Signs, moved: list[Moved], own_max: int, budget: Budget) -> list[_Section]:
    said: set[str] = set()
    rules, commands, facts = (_unsaid(best, said) for best in (signs.rules, signs.commands, signs.facts))
    lines_max, lasting = budget.lines, sum(1 for s in facts.first if s.item.pinned or lasts(s.item))
    commands_max = max(COMMANDS_MAX, min(sum(1 for s in commands.first if s.item.pinned), lines_max))
    facts_max = max(budget.facts, min(lasting, lines_max))
    return [
        _Section(CORRECTED, _corrected(signs, moved)),
        _best(RULES, rules, lines_max, "no_room", moved),
        _best(COMMANDS, commands, commands_max, "over_limit", moved),
        _waiting(signs, moved),
        _best(FACTS, facts, facts_max, "over_limit", moved),
        _pages(signs, moved, own_max, lines_max, said, _told_above(rules.first[:lines_max], commands.first[:commands_max], facts.first[:facts_max])),
    ]


def _told_above(*sections: Sequence[Stand]) -> frozenset[str]:
    """The sentences that stand in these sections, as they are compared: the hook of a page need not say them again."""
    return frozenset(_words(stand.item) for section in sections for stand in section if not stand.item.high_stakes)


def _unsaid(best: Best, said: set[str]) -> Best:
    """The notes whose sentence is not told above: what a note file says and a log says too stands on two pages, and is told once, in the file's words where
    both give the same thing the same value; nor that which a longer sentence above it opens with ("… on port 8080 and the web client on 5173"). Adds to `said`."""
    kept, opened = [], set[str]()
    files = {slot for s in best.first if s.item.carried for slot in _slots(s.item)}
    for stand in best.first:
        words = _words(stand.item)
        if words in opened and not stand.item.pinned and not stand.item.high_stakes and _is_told_whole(stand.item):
            continue
        if not stand.item.carried and not stand.item.pinned and not files.isdisjoint(_slots(stand.item) if files else ()):
            continue
        if stand.item.high_stakes or words not in said:
            kept.append(stand)
            said.add(words)
            opened |= _openings(words)
    return Best(tuple(kept), best.count - len(best.first) + len(kept))


def _openings(words: str) -> set[str]:
    """What stands before each "and" of a sentence, where it is told in full."""
    return {words[: m.start()] for m in _AND.finditer(words)} if len(words) <= LINE_CHARS_MAX else set()


_AND = re.compile(r" and ")
_ONLY = re.compile(r"\bonly\b|\bbetween\b|\bboth\b", re.IGNORECASE)


def _is_told_whole(item: Item) -> bool:
    """Whether a sentence gives a thing a value, so that "… and …" behind it takes nothing back: "the port is only 80" is another thing than "only 80 and 81"."""
    text = item.corrected_to or item.statement
    said = parse(text)
    return said.form is Form.SLOT and not said.negated and not _ONLY.search(text)


def _slots(item: Item) -> tuple[Slot, ...]:
    """What a note gives the value that can be compared: as it was learnt, and as its sentence reads. () where it says more, or gives none."""
    if item.high_stakes or item.applies_to or item.reason:
        return ()
    said = parse(item.corrected_to or item.statement)
    read: list[tuple[str, str, str, str | None]] = []
    read += [(item.subject, item.attribute, item.qualifier, item.value)] if not item.carried and item.value and not said.negated and not said.extra else []
    read += [(said.subject, said.attribute, said.qualifier, said.value)] if said.form is Form.SLOT and not said.negated and not said.extra else []
    slots = ((subject_key(subject), attribute, qualifier, value_key(value)) for subject, attribute, qualifier, value in read)
    return tuple(slot for slot in slots if slot[0] and slot[3][0])


Slot = tuple[tuple[str, ...], str, str, ValueKey]
"""Subject, attribute, qualifier, value."""


def _words(item: Item) -> str:
    """A sentence as it is compared: marks of code, capitals and the full stop make no other one."""
    return _compared(item.corrected_to or item.statement)


def _compared(sentence: str) -> str:
    return inline.clean(sentence).replace("`", "").casefold().rstrip(" .。!")


def _best(title: str, best: Best, most: int, why: str, moved: list[Moved]) -> _Section:
    """The first `most` notes as lines; of the others those at hand are named and the rest counted."""
    entries = tuple(_entry(s, title, moved) for s in best.first[:most])
    beyond = tuple(Moved(section=title, text=inline.clean(s.item.statement), page=s.path, why=why) for s in best.first[most:])
    return _Section(title, entries, beyond, best.count - len(best.first))


def _entry(stand: Stand, section: str, moved: list[Moved]) -> Entry:
    item, page = stand.item, link(stand.title, stand.path)
    if item.high_stakes:
        return Entry(join(plain(_name(item)), ": look it up on the page"), page, item.uid, pinned=item.pinned)
    when = [worked(item)] if item.worked_on else []
    until = [f" Until {day(item.valid_until)}."] if item.valid_until else []
    return Entry(join(_told(item, stand.path, section, LINE_CHARS_MAX, moved), *when, *until, *recheck(item)), page, item.uid, pinned=item.pinned)


def _name(item: Item) -> str:
    return f"{item.subject}, {item.attribute}" if item.attribute and item.attribute != item.subject else item.subject


def _corrected(signs: Signs, moved: list[Moved]) -> tuple[Entry, ...]:
    said = signs.corrections
    full = [_correction(group, signs.places.get(group[0].uid), quote_max) for quote_max in (120, 60, 0) for group in said]
    full = next((s for s in (full[: len(said)], full[len(said) : 2 * len(said)]) if _bytes(s[:CORRECTED_MAX]) <= CORRECTED_BYTES_MAX), full[2 * len(said) :])
    moved.extend(
        Moved(section=CORRECTED, text=inline.words(e.spans), page=e.page.target if e.page else "inbox.md", why="over_limit") for e in full[CORRECTED_MAX:]
    )
    return tuple(full[:CORRECTED_MAX])


def _bytes(entries: Iterable[Entry]) -> int:
    return sum(len(e.tell().encode("utf-8", "surrogatepass")) + 1 for e in entries)


def _correction(group: Sequence[Correction], place: tuple[str, str] | None, quote_max: int) -> Entry:
    """The right thing first, then the files that say otherwise, and as much of the first one's words as there is room for."""
    places: list[Part] = []
    for n, c in enumerate(group):
        places += [" and " if n else "", inline.code(c.path), f" line {c.line}" if c.line else ""]
    wrong = group[0].wrong
    quoted: list[Part] = [', which says "', plain(inline.cut_quote(wrong, quote_max)), '"'] if quote_max and wrong and len(group) == 1 else []
    spans = join(plain(group[0].right.rstrip(" .。")), " (wrong in ", *places, *quoted, ")")
    return Entry(spans, link(*place) if place else None, group[0].uid)


def _waiting(signs: Signs, moved: list[Moved]) -> _Section:
    """Goals heard of in the last 30 days, questions nobody answered, work not committed; the newest three."""
    found: list[tuple[datetime | None, Entry]] = [(s.item.newest_evidence, _entry(s, GOALS, moved)) for s in signs.goals.first[: _ties(signs.goals.first)]]
    for asked in signs.asked:
        found.append(
            (
                asked.at,
                Entry(join(f"{NOT_APPROVED if asked.plan else NOT_ANSWERED}: ", plain(inline.cut_quote(asked.text))), link("inbox", "inbox.md"), asked.uid),
            )
        )
    for one in (u for u in unfinished(signs.work) if u.left is Left.CHANGES):
        found.append((one.work.ended or one.work.started, Entry(told_of(one), link("recent", "recent.md"))))
    found.sort(key=lambda pair: (not pair[1].pinned, -stamp(pair[0]), inline.words(pair[1].spans)))
    entries = [e for _, e in found]
    most = max(WAITING_MAX, sum(e.pinned for e in entries))
    others = [Moved(section=GOALS, text=inline.words(e.spans), page=e.page.target if e.page else "inbox.md", why="over_limit") for e in entries[most:]]
    rest = signs.goals.first[_ties(signs.goals.first) :]
    others += [Moved(section=GOALS, text=inline.clean(s.item.statement), page=s.path, why="over_limit") for s in rest]
    return _Section(GOALS, tuple(entries[:most]), tuple(others), signs.goals.count - len(signs.goals.first))


def _ties(goals: Sequence[Stand]) -> int:
    """How many of the goals, pinned ones and then the newest first, may be among the first: three, and whoever has the third's time."""
    if len(goals) <= WAITING_MAX:
        return len(goals)
    last = stamp(goals[WAITING_MAX - 1].item.newest_evidence)
    return sum(1 for s in goals if s.item.pinned or stamp(s.item.newest_evidence) >= last)


# --- pages -------------------------------------------------------------------------------------------------------------------------------


def _pages(signs: Signs, moved: list[Moved], own_max: int, lines_max: int, said: Set[str], above_told: Set[str]) -> _Section:
    """One hook a page, memory files first in the order and under the headings of their index; lines of an index that are no hooks stand under their page's,
    but for those `said` above in the same words. Of a page whose hook of ours is `above_told`, the name is enough."""
    out: list[Entry] = []
    beyond: list[Door] = []
    group = ""
    for door in signs.doors:
        if len(out) >= lines_max and not door.index and door.sort is not Sort.MEMORY:
            beyond.append(door)
            continue
        prose = [i for i in door.index if i.carried and not hooked(i.carried, signs.memory)]
        named = door.named
        above = group if door.part > 1 else named.carried.heading if named and named.carried and not prose else ""
        if above and above != group:
            out.append(Entry(plain(above), None))
        group = above
        bare = prose or (not door.named and _compared(door.hook) in above_told)
        line = Entry((link(door.title, door.path),), None) if bare else entry(door, moved, own_max)
        out.append(replace(line, depth=1 if above else 0))
        for heading, lines in groupby(
            (i for i in prose if _words(i) not in said and not i.covered and not i.against and not _says_nothing(i)),
            key=lambda i: i.carried.heading if i.carried else "",
        ):
            if heading:
                out.append(Entry(plain(heading), None, depth=1))
            out += [_index_line(i, door, moved, max(own_max, LINE_CHARS_MAX), depth=2 if heading else 1) for i in lines]
    first = tuple(Moved(section="Pages", text=door.title, page=door.path, why="no_room") for door in beyond[:lines_max])
    return _Section("Pages", tuple(out), first, len(beyond) - len(first))


_SAYS_NOTHING = re.compile(
    r".{0,80}[:：]$|(?:this|these)\s+(?:director(?:y|ies)|folder|file|index|memor(?:y|ies))\s+(?:contains?|is|are|holds?|lists?)\b.*\bmemor(?:y|ies)\b.*",
    re.IGNORECASE | re.DOTALL,
)
"""A line of an index that only leads in what stands below it, or tells what an index is."""


def _says_nothing(item: Item) -> bool:
    return not item.corrected_to and bool(_SAYS_NOTHING.fullmatch(item.statement.replace("*", "").strip()))


def _leads(signs: Signs) -> tuple[Moved, ...]:
    return tuple(
        Moved(section="Pages", text=inline.words(_own(i)[0]), page=door.path, why="only_leads_in", uid=i.uid)
        for door in signs.doors
        for i in door.index
        if i.carried and _says_nothing(i) and not (i.covered or i.against or hooked(i.carried, signs.memory))
    ) + tuple(_titles(signs))


def _titles(signs: Signs) -> Iterator[Moved]:
    """The titles of indexes that have no page: all of their lines lead to others, and are told there."""
    lines = [(i.carried, i.uid, door.path) for door in signs.doors for i in door.index if i.carried]
    for _, of in groupby(sorted(lines, key=lambda x: (x[0].folder, x[0].path, x[0].position)), key=lambda x: (x[0].folder, x[0].path)):
        index = list(of)
        first, uid, page = index[0]
        if first.title and all(hooked(line, signs.memory) for line, _, _ in index):
            yield Moved(section="Pages", text=first.title, page=page, why="only_leads_in", uid=uid)


def _index_line(item: Item, door: Door, moved: list[Moved], chars_max: int, *, depth: int) -> Entry:
    spans = _told(item, door.path, "Pages", chars_max, moved)
    return Entry(spans or plain(item.statement), None, item.uid, depth=depth)


def _told(item: Item, path: str, section: str, chars_max: int, moved: list[Moved]) -> Spans:
    """A note's words in one line; what is too long, or has more under it than a line can hold, is reported."""
    spans, blocks = _own(item)
    text = inline.words(spans)
    if len(text) > chars_max or blocks:
        moved.append(Moved(section=section, text=text, page=path, why="shortened"))
    return plain(inline.cut_quote(text, chars_max)) if len(text) > chars_max else spans


def _own(item: Item) -> tuple[Spans, tuple[Block, ...]]:
    """A note's words, in its own Markdown where it has some: its first line, and what stands under it."""
    own = item.carried and item.markdown and not item.corrected_to
    return carried_text(item.markdown, lambda _: None) if own else (plain(item.corrected_to or item.statement), ())
