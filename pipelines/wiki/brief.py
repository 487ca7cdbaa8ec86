"""What a new session is told: one pure function of a revision and a budget.

The order is the order of use: what an agent would do wrong first (corrections), then what it must keep to, what works, what waits, what is so, and where
more stands. Overflow leaves from the bottom to the pages it stands on anyway, and is reported; no line is cut without saying so.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import groupby

from pipelines.model import Kind, Status, Verdict
from pipelines.notes.recheck import FAILED
from pipelines.notes.relate import ValueKey, subject_key, value_key
from pipelines.text.statement import Form, parse
from pipelines.wiki import inline
from pipelines.wiki.content import Asked, Content, Correction, Item, Work
from pipelines.wiki.doors import HOOK_CHARS_MAX, PAGES_PATH, Door, Entry, Moved, doors_of, entry
from pipelines.wiki.inline import Spans, join, plain
from pipelines.wiki.lines import Part, carried_text, day, recheck, worked
from pipelines.wiki.page import link
from pipelines.wiki.topics import Layout, Sort, fold, hooked
from pipelines.wiki.unfinished import NOT_ANSWERED, NOT_APPROVED, Left, told_of, unfinished

CORRECTED_MAX, COMMANDS_MAX, WAITING_MAX, FACTS_MAX = 10, 10, 3, 20
CORRECTION_DAYS, CORRECTION_DELIVERIES = 30, 5
CORRECTED_BYTES_MAX = 1400
"""What keeps the corrections within the first 2,000 bytes, the purpose lines before them included."""
QUIET_GOAL_DAYS = 30
OWN_CHARS_MAX = 1000
"""A line of the person's own index, told whole while the budget lasts: a session that was told it before is told it after."""
LINE_CHARS_MAX = 300
NAME_CHARS_MAX = 60
LINES_MIN, SIZE_MIN = 18, 1000


class Unit(StrEnum):
    """What a budget counts."""

    BYTES = "bytes"
    CHARS = "chars"


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Hard limits of one door; the smallest that holds what every brief says is 18 lines and 1,000 bytes or characters.

    `facts` caps the facts and decisions that are told; it evicts nothing that lasts (`lasts`).
    """

    lines: int
    size: int
    unit: Unit = Unit.BYTES
    facts: int = FACTS_MAX

    def __post_init__(self) -> None:
        if self.lines < LINES_MIN or self.size < SIZE_MIN:
            raise ValueError(f"a brief needs at least {LINES_MIN} lines and {SIZE_MIN} {self.unit}, got {self.lines} and {self.size}")

    def measure(self, text: str) -> int:
        """The size of a text as this budget counts it."""
        return len(text.encode("utf-8", "surrogatepass")) if self.unit is Unit.BYTES else len(text)


MEMORY_MD = Budget(lines=200, size=25_000)
CLAUDE_CODE_HOOK = Budget(lines=200, size=9_000, unit=Unit.CHARS)
CODEX = Budget(lines=200, size=8_000)
DOORS: Mapping[str, Budget] = {"claude-code": CLAUDE_CODE_HOOK, "codex": CODEX}
"""The doors of agents beside `MEMORY.md`."""
DOOR_ROOM = 400
"""Kept free in the brief of such a door for what only the host knows that opens it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """The brief and its measure. `told` are the notes and corrections (`told_correction`) it carries, for the record of deliveries.

    `left` counts what did not fit whole; `moved` names it, in a large scope only the first of each section.
    """

    text: str
    lines: int
    bytes: int
    moved: tuple[Moved, ...] = ()
    told: tuple[str, ...] = ()
    left: int = 0


@dataclass(frozen=True, slots=True)
class _Section:
    """The lines of a section; `beyond` are those left out before anything was measured, and `uncounted` how many more are not even named."""

    title: str
    entries: tuple[Entry, ...]
    beyond: tuple[Moved, ...] = ()
    uncounted: int = 0


@dataclass(frozen=True, slots=True)
class Stand:
    """A note that may be told, and the page it stands on."""

    item: Item
    title: str
    path: str


@dataclass(frozen=True, slots=True)
class Best:
    """The first notes of a section by rank, all or at least as many as a budget has lines, and how many the section has."""

    first: tuple[Stand, ...] = ()
    count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """What a brief is made of: of each section its best notes, of each page its hook.

    `corrections` are those due, newest first, one group a truth; `places` says on which page (title, path) the line of a correction stands. `goals` are
    those heard of lately, pinned ones before the newest, whoever has the third's time included. `checked`: some note on a page rests on a log. `doors` are in page order.
    """

    title: str
    newest: datetime | None = None
    checked: bool = False
    corrections: tuple[tuple[Correction, ...], ...] = ()
    places: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    rules: Best = Best()
    commands: Best = Best()
    facts: Best = Best()
    goals: Best = Best()
    asked: tuple[Asked, ...] = ()
    work: tuple[Work, ...] = ()
    doors: tuple[Door, ...] = ()
    memory: frozenset[str] = frozenset()


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
        left=len(moved) + len(left) + sum(s.uncounted for s in sections),
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


def room_of(door: str) -> Budget:
    """What the brief itself may take of an agent's door."""
    return replace(DOORS[door], size=DOORS[door].size - DOOR_ROOM)


def at_door(text: str, budget: Budget, *lines: str) -> str:
    """A brief with lines of the host at its end, each as far as there is room."""
    head, mark, foot = text.rpartition("\n</dreamd-brief>")
    for line in lines:
        longer = f"{head}{line}\n"
        if budget.measure(longer + mark + foot) <= budget.size:
            head = longer
    return head + mark + foot


def signs_of(content: Content, layout: Layout) -> Signs:
    """The signs of a whole revision."""
    where = {item.uid: topic for topic in layout.topics for item in topic.items}
    due = due_corrections(content.corrections, content.newest_evidence)
    above = said_above(due)
    told = [i for i in content.items if i.uid in where and section_of(i) and not (i.kind is Kind.FACT and inline.clean(i.statement) in above)]

    def best(section: str) -> Best:
        stands = [Stand(i, where[i.uid].title, where[i.uid].path) for i in sorted((i for i in told if section_of(i) == section), key=rank)]
        return Best(tuple(stands), len(stands))

    goals = sorted((i for i in told if section_of(i) == GOALS and not _quiet(i, content.newest_evidence)), key=goal_rank)
    return Signs(
        title=content.title, newest=content.newest_evidence, checked=any(cite.session for i in content.items if i.uid in where for cite in i.cites), corrections=due,
        places={group[0].uid: (t.title, t.path) for group in due if (t := where.get(group[0].uid))}, rules=best(RULES), commands=best(COMMANDS),
        facts=best(FACTS), goals=Best(tuple(Stand(i, where[i.uid].title, where[i.uid].path) for i in goals), len(goals)), asked=content.asked,
        work=content.work, doors=doors_of(layout), memory=frozenset(t.key for t in layout.topics if t.sort is Sort.MEMORY),
    )  # fmt: skip


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
    how = "checked against their logs" if signs.checked else "not checked, since no log that was read decides it"
    return f"What earlier sessions left behind, {how}, so that you need not learn it again."


def _foot() -> str:
    return (
        "## More\n\n"
        "- Search notes and raw sessions: `dreamd search WORDS`; where a line comes from: `dreamd why PAGE`\n"
        "- What waits for a person: [inbox](inbox.md); what happened lately: [recent](recent.md)\n\n"
        "</dreamd-brief>\n"
    )


# --- what stands in it -------------------------------------------------------------------------------------------------------------------

CORRECTED, RULES, COMMANDS, GOALS, FACTS = "Corrected", "Rules", "Commands that work", "Waiting", "Facts and decisions"
_SECTION_OF = {
    Kind.RULE: RULES, Kind.PREFERENCE: RULES, Kind.HOLD: RULES, Kind.PROCEDURE: COMMANDS, Kind.GOAL: GOALS, Kind.PLAN: GOALS, Kind.FACT: FACTS,
    Kind.DECISION: FACTS, Kind.INSIGHT: FACTS, Kind.INCIDENT: FACTS,
}  # fmt: skip


def section_of(item: Item) -> str:
    """The section that may tell a note; "" for none: only what is confirmed, and neither said by an instruction file already (unless it is pinned) nor
    contradicted by one, and of carried lines only those the logs uphold and whose numbers are not out of date (the others are told by their page)."""
    if item.status is not Status.CONFIRMED or item.against or (item.covered and not item.pinned):
        return ""
    if item.carried and item.verdict is Verdict.NEEDS_RECHECK:  # a session may run it before a person looks
        return COMMANDS if item.missed == FAILED else ""
    if item.carried and (item.verdict is not Verdict.UPHELD or item.carried.index or item.stale):
        return ""
    return _SECTION_OF[item.kind]


def rank(item: Item) -> tuple[int, int, float, str]:
    """What is pinned first, then what lasts, decisions before facts; then more witnesses, the newest, by id."""
    tier = 1 if lasts(item) else 2 if item.kind is Kind.DECISION else 3 if item.kind in {Kind.FACT, Kind.INSIGHT, Kind.INCIDENT} else 1
    if item.pinned:
        tier = 0
    return (tier, -item.sessions, -_stamp(item.newest_evidence), item.uid)


_LASTING = frozenset(
    """allergy intolerance condition illness disability medication diet name called pronouns birthday hometown home education spouse partner husband wife child
    children son daughter dog cat pet job employer drink food airline seat""".split()  # noqa: SIM905 - reads better as text
)  # fmt: skip


def lasts(item: Item) -> bool:
    """Whether a fact stays true of a person however long nothing is heard of it, so that no cap may evict it."""
    if item.kind is not Kind.FACT or item.carried or item.valid_until:
        return False
    return not _LASTING.isdisjoint(fold(item.attribute).split())


def _stamp(at: datetime | None) -> float:
    return at.timestamp() if at else 0.0


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
    both give the same thing the same value. Adds to `said`."""
    kept = []
    files = {slot for s in best.first if s.item.carried for slot in _slots(s.item)}
    for stand in best.first:
        words = _words(stand.item)
        if not stand.item.carried and not stand.item.pinned and not files.isdisjoint(_slots(stand.item) if files else ()):
            continue
        if stand.item.high_stakes or words not in said:
            kept.append(stand)
            said.add(words)
    return Best(tuple(kept), best.count - len(best.first) + len(kept))


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


def due_corrections(corrections: Iterable[Correction], newest: datetime | None) -> tuple[tuple[Correction, ...], ...]:
    """The newest corrections of note files that still say the wrong thing, one group a truth, however many files say otherwise. One leaves when the
    file is fixed, or when it is old and has been told often."""
    due = sorted((c for c in corrections if not c.fixed and not c.against and not _worn(c, newest)), key=lambda c: (-_stamp(c.at), c.uid))
    groups: dict[str, list[Correction]] = {}
    for correction in due:
        for right in correction.rights or (correction.right,):
            groups.setdefault(right, []).append(replace(correction, right=right))
    return tuple(tuple(group) for group in groups.values())


def said_above(due: Sequence[Sequence[Correction]]) -> frozenset[str]:
    """The sentences corrections say: a fact in these words need not be told again."""
    return frozenset(inline.clean(group[0].right) for group in due[:CORRECTED_MAX])


def _corrected(signs: Signs, moved: list[Moved]) -> tuple[Entry, ...]:
    said = signs.corrections
    full = [_correction(group, signs.places.get(group[0].uid), quote_max) for quote_max in (120, 60, 0) for group in said]
    full = next((s for s in (full[: len(said)], full[len(said) : 2 * len(said)]) if _bytes(s[:CORRECTED_MAX]) <= CORRECTED_BYTES_MAX), full[2 * len(said) :])
    moved.extend(
        Moved(section=CORRECTED, text=inline.words(e.spans), page=e.page.target if e.page else "inbox.md", why="over_limit") for e in full[CORRECTED_MAX:]
    )
    return tuple(full[:CORRECTED_MAX])


def is_old(correction: Correction, newest: datetime | None) -> bool:
    """Whether a correction may leave once it was told often enough."""
    return bool(newest and correction.at and newest - correction.at > timedelta(days=CORRECTION_DAYS))


def _worn(correction: Correction, newest: datetime | None) -> bool:
    return is_old(correction, newest) and correction.deliveries >= CORRECTION_DELIVERIES


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


def goal_rank(item: Item) -> tuple[bool, float, str]:
    """Pinned goals first, then the newest."""
    return (not item.pinned, -_stamp(item.newest_evidence), item.uid)


def quiet_before(newest: datetime | None) -> datetime | None:
    """Goals not heard of since then are not told; None when no time is known."""
    return newest - timedelta(days=QUIET_GOAL_DAYS) if newest else None


def _quiet(item: Item, newest: datetime | None) -> bool:
    since = quiet_before(newest)
    return bool(since and not item.pinned and item.newest_evidence and item.newest_evidence < since)


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
    found.sort(key=lambda pair: (not pair[1].pinned, -_stamp(pair[0]), inline.words(pair[1].spans)))
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
    last = _stamp(goals[WAITING_MAX - 1].item.newest_evidence)
    return sum(1 for s in goals if s.item.pinned or _stamp(s.item.newest_evidence) >= last)


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


def _index_line(item: Item, door: Door, moved: list[Moved], chars_max: int, *, depth: int) -> Entry:
    spans = _told(item, door.path, "Pages", chars_max, moved)
    return Entry(spans or plain(item.statement), None, item.uid, depth=depth)


def _told(item: Item, path: str, section: str, chars_max: int, moved: list[Moved]) -> Spans:
    """A note's words in one line; what is too long, or has more under it than a line can hold, is reported."""
    own = item.carried and item.markdown and not item.corrected_to
    spans, blocks = carried_text(item.markdown, lambda _: None) if own else (plain(item.corrected_to or item.statement), ())
    text = inline.words(spans)
    if len(text) > chars_max or blocks:
        moved.append(Moved(section=section, text=text, page=path, why="shortened"))
    return plain(inline.cut_quote(text, chars_max)) if len(text) > chars_max else spans
