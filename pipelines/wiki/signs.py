"""What of a revision may be told to a new session, in the order in which it is: the best of each section, and the doors of the pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from pipelines.model import Kind, Status, Verdict
from pipelines.notes.recheck import FAILED
from pipelines.wiki import inline
from pipelines.wiki.content import Asked, Content, Correction, Item, Work
from pipelines.wiki.doors import Door, doors_of
from pipelines.wiki.topics import Layout, Sort, fold

CORRECTED_MAX = 10
CORRECTION_DAYS = 30
CORRECTION_DELIVERIES = 5
QUIET_GOAL_DAYS = 30


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


CORRECTED = "Corrected"
RULES = "Rules"
COMMANDS = "Commands that work"
GOALS = "Waiting"
FACTS = "Facts and decisions"
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
    return (tier, -item.sessions, -stamp(item.newest_evidence), item.uid)


_LASTING = frozenset(
    """allergy intolerance condition illness disability medication diet name called pronouns birthday hometown home education spouse partner husband wife child
    children son daughter dog cat pet job employer drink food airline seat""".split()  # noqa: SIM905 - reads better as text
)  # fmt: skip


def lasts(item: Item) -> bool:
    """Whether a fact stays true of a person however long nothing is heard of it, so that no cap may evict it."""
    if item.kind is not Kind.FACT or item.carried or item.valid_until:
        return False
    return not _LASTING.isdisjoint(fold(item.attribute).split())


def stamp(at: datetime | None) -> float:
    """A time as it is ordered; unknown ones come before all."""
    return at.timestamp() if at else 0.0


def due_corrections(corrections: Iterable[Correction], newest: datetime | None) -> tuple[tuple[Correction, ...], ...]:
    """The newest corrections of note files that still say the wrong thing, one group a truth, however many files say otherwise. One leaves when the
    file is fixed, or when it is old and has been told often."""
    due = sorted((c for c in corrections if not c.fixed and not c.against and not _worn(c, newest)), key=lambda c: (-stamp(c.at), c.uid))
    groups: dict[str, list[Correction]] = {}
    for correction in due:
        for right in correction.rights or (correction.right,):
            groups.setdefault(right, []).append(replace(correction, right=right))
    return tuple(tuple(group) for group in groups.values())


def said_above(due: Sequence[Sequence[Correction]]) -> frozenset[str]:
    """The sentences corrections say: a fact in these words need not be told again."""
    return frozenset(inline.clean(group[0].right) for group in due[:CORRECTED_MAX])


def is_old(correction: Correction, newest: datetime | None) -> bool:
    """Whether a correction may leave once it was told often enough."""
    return bool(newest and correction.at and newest - correction.at > timedelta(days=CORRECTION_DAYS))


def _worn(correction: Correction, newest: datetime | None) -> bool:
    return is_old(correction, newest) and correction.deliveries >= CORRECTION_DELIVERIES


def goal_rank(item: Item) -> tuple[bool, float, str]:
    """Pinned goals first, then the newest."""
    return (not item.pinned, -stamp(item.newest_evidence), item.uid)


def quiet_before(newest: datetime | None) -> datetime | None:
    """Goals not heard of since then are not told; None when no time is known."""
    return newest - timedelta(days=QUIET_GOAL_DAYS) if newest else None


def _quiet(item: Item, newest: datetime | None) -> bool:
    since = quiet_before(newest)
    return bool(since and not item.pinned and item.newest_evidence and item.newest_evidence < since)
