"""The one queue for a person, as a file: what waits, most valuable first, each with its id and the command that shows what it rests on.

Text under quarantine is named by id, gate, origin and place, never by its words.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from pipelines.model import Kind, Status, Verdict
from pipelines.wiki import inline
from pipelines.wiki.content import Asked, Content, Correction, Edited, Item, Quarantined, anchor_of
from pipelines.wiki.inline import Spans, code, join, plain
from pipelines.wiki.lines import Part, footnotes, recheck, short_session
from pipelines.wiki.page import OWN_MARK
from pipelines.wiki.reasons import UNPROVEN, held_text, missed
from pipelines.wiki.unfinished import NOT_APPROVED

SHOWN_MAX = 20
QUIET_DAYS = 30
"""Drafts and questions not heard of again for so long, by the evidence, leave the queue. What contradicts something stays until a person decides."""


UNASKED = "not asked about"
"""What drafts are called that the work of another session settles, or that left the queue unheard of."""


class Waits(StrEnum):
    """Why something waits for a person; the value is the heading it stands under, the order is the order of use."""

    EDIT = "Edited in files"
    DISPUTE = "Disputes"
    CORRECTION = "Corrections proposed"
    RECHECK = "To check again"
    DRAFT = "Drafts"
    QUESTION = "Open questions"
    QUARANTINE = "Quarantined"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing that waits: its id, what it is about, the code of why it waits, the command that shows its lines, and what it rests on."""

    uid: str
    waits: Waits
    spans: Spans
    reason: str
    command: str
    notes: tuple[Spans, ...] = ()

    @property
    def why(self) -> str:
        """Why it waits in words for a person, where nothing else of it says so."""
        return missed(self.reason) if self.waits is Waits.DRAFT else ""


@dataclass(frozen=True, slots=True)
class Queue:
    """What waits: the first of it, most valuable first, and how many there are by reason, those included."""

    first: tuple[Entry, ...]
    counted: Mapping[tuple[Waits, str], int]

    def __len__(self) -> int:
        return sum(self.counted.values())


def entries(content: Content) -> tuple[Entry, ...]:
    """Everything that waits, most valuable first; what is asked about as an edit is not asked about a second time as what it was."""
    waiting: defaultdict[Waits, list[Item]] = defaultdict(list)
    since = heard_since(content.newest_evidence)
    asked = {e.note for e in content.edited}
    for item in (i for i in content.items if i.uid not in asked):
        if (waits := waits_of(item)) and (waits is not Waits.DRAFT or _heard(item.newest_evidence, since)):
            waiting[waits].append(item)
    notes = {waits: [entry(i) for i in sorted(items, key=value)] for waits, items in waiting.items()}
    return (*edits(content.edited), *notes.get(Waits.DISPUTE, ()), *corrections(content.corrections), *notes.get(Waits.RECHECK, ()), *notes.get(Waits.DRAFT, ()),
            *questions(content.asked, since), *(quarantined(q) for q in sorted(content.quarantined, key=lambda q: q.uid)))  # fmt: skip


def queue(waiting: Sequence[Entry]) -> Queue:
    """The queue of everything that waits."""
    return Queue(tuple(waiting[:SHOWN_MAX]), Counter((e.waits, e.reason) for e in waiting))


def waits_of(item: Item) -> Waits | None:
    """As what a note waits for a person; None when it does not, as what the work of another session settles: a command by running, a result by being seen again."""
    if item.status is Status.DISPUTED or (item.against and not item.corrected_to):
        return Waits.DISPUTE
    if item.status is Status.NEEDS_RECHECK or (item.verdict is Verdict.NEEDS_RECHECK and item.status is not Status.QUARANTINED):
        return Waits.RECHECK
    settled = item.kind is Kind.PROCEDURE or item.missed == "seen_in_one_session"
    return Waits.DRAFT if item.status is Status.DRAFT and not settled else None


def entry(item: Item) -> Entry:
    """A note that waits, as the queue has it."""
    match waits_of(item):
        case Waits.DISPUTE:
            return _dispute(item)
        case Waits.RECHECK:
            return _recheck(item)
        case _:
            return _draft(item)


def reason_of(item: Item) -> str:
    """Why a note waits, as it is counted by."""
    match waits_of(item):
        case Waits.DRAFT:
            return item.missed or UNPROVEN
        case Waits.RECHECK:
            return item.missed or "rests_on_a_wrong_note"
        case _:
            return ""


def corrections(found: Iterable[Correction]) -> tuple[Entry, ...]:
    """Note files that say the wrong thing, the newest proof first."""
    return tuple(_correction(c) for c in sorted(found, key=_newest_first) if not c.fixed)


def edits(found: Iterable[Edited]) -> tuple[Entry, ...]:
    """What was changed on pages or ticked in the queue and waits for the person's yes."""
    return tuple(_edit(e) for e in sorted(found, key=lambda e: e.uid))


def heard_since(newest: datetime | None) -> datetime | None:
    """What was last heard of before this waits no more."""
    return newest - timedelta(days=QUIET_DAYS) if newest else None


def _heard(at: datetime | None, since: datetime | None) -> bool:
    return at is None or since is None or at >= since


def questions(asked: Iterable[Asked], since: datetime | None = None) -> tuple[Entry, ...]:
    """Questions that wait for an answer, the newest first; those asked before `since` have been answered by going on."""
    return tuple(
        Entry(uid=a.uid, waits=Waits.QUESTION, spans=_question(a), reason="" if a.plan else "unanswered", command=_why(a.uid), notes=footnotes(a.cites[:2]))
        for a in sorted((a for a in asked if _heard(a.at, since)), key=lambda a: (-(a.at.timestamp() if a.at else 0.0), a.uid))
    )  # fmt: skip


def _question(asked: Asked) -> Spans:
    words = plain(inline.cut_quote(asked.text))
    return join(f"{NOT_APPROVED}: ", words) if asked.plan else words


_FIRST = (Kind.RULE, Kind.PREFERENCE, Kind.HOLD, Kind.DECISION, Kind.PROCEDURE, Kind.FACT, Kind.GOAL, Kind.PLAN, Kind.INSIGHT, Kind.INCIDENT)


def value(item: Item) -> tuple[int, int, float, str]:
    """The order of notes that wait: more witnesses first, then what would be a rule before what would be a fact, then the newest; disputes by id alone."""
    if waits_of(item) is Waits.DISPUTE:
        return (0, 0, 0.0, item.uid)
    return (-item.sessions, _FIRST.index(item.kind), -(item.newest_evidence.timestamp() if item.newest_evidence else 0.0), item.uid)


def _newest_first(correction: Correction) -> tuple[float, str]:
    return (-(correction.at.timestamp() if correction.at else 0.0), correction.uid)


def _why(uid: str) -> str:
    return f"dreamd why {anchor_of(uid)}"


def _dispute(item: Item) -> Entry:
    if item.against:
        spans = join(plain(inline.cut_quote(item.statement)), " (", code(item.against), " says otherwise)")
        command = f"dreamd review show {item.anchor}"
        return Entry(uid=item.uid, waits=Waits.DISPUTE, spans=spans, reason="", command=command, notes=footnotes(item.cites[:2]))
    sides: list[Part] = []
    for n, side in enumerate(item.sides):
        who = f" ({inline.clean(side.said_by)})" if side.said_by else ""
        sides += [" or " if n else "", plain(inline.cut_quote(side.statement + who))]
    cites = [side.cites[0] for side in item.sides]
    name = plain(item.attribute or item.subject)
    return Entry(uid=item.uid, waits=Waits.DISPUTE, spans=join(name, ": ", *sides), reason="", command=_why(item.uid), notes=footnotes(cites))


_WANTS = {"retract": "Take out", "reject": "Reject", "approve": "Accept", "keep": "Keep"}


def _edit(edited: Edited) -> Entry:
    """In whose hand it was done nobody knows, so it says what would become of the note."""
    before = plain(inline.cut_quote(edited.before))
    asks: list[Part] = (
        ['Say "', plain(inline.cut_quote(edited.after)), '" in place of "', before, '"?'] if edited.after else [_WANTS[edited.wants], ' "', before, '"?']
    )
    spans = join(*asks, f" (note {anchor_of(edited.note)}; nobody knows who changed the file, so it is asked once more; either id will do)")
    return Entry(uid=edited.uid, waits=Waits.EDIT, spans=spans, reason="", command=f"dreamd review accept {anchor_of(edited.uid)}")


def _correction(correction: Correction) -> Entry:
    at = f" line {correction.line}" if correction.line else ""
    said: list[Part] = [' says "', plain(inline.cut_quote(correction.wrong)), '"'] if correction.wrong else [" is wrong"]
    spans = join(code(correction.path), at, *said, '; it should say "', plain(inline.cut_quote(correction.right)), '"')
    return Entry(uid=correction.uid, waits=Waits.CORRECTION, spans=spans, reason="", command=_why(correction.uid), notes=footnotes(correction.cites[:2]))


def _recheck(item: Item) -> Entry:
    told = recheck(item) or [" (", plain(missed(reason_of(item))), ")"]
    spans = join(plain(inline.cut_quote(item.statement)), *told)
    return Entry(uid=item.uid, waits=Waits.RECHECK, spans=spans, reason=reason_of(item), command=_why(item.uid), notes=footnotes(item.cites[:2]))


def _draft(item: Item) -> Entry:
    spans = plain(inline.cut_quote(item.statement))
    return Entry(uid=item.uid, waits=Waits.DRAFT, spans=spans, reason=reason_of(item), command=_why(item.uid), notes=footnotes(item.cites[:2]))


def quarantined(held: Quarantined) -> Entry:
    """Text held back, by its place and by no word of it."""
    line: list[Part] = [f", line {held.line}" if held.line else ""]
    spans = join(plain(held_text(held.gate, held.origin)), " (", code(short_session(held.session)), *line, ")")
    return Entry(uid=held.uid, waits=Waits.QUARANTINE, spans=spans, reason="", command=f"dreamd review show {anchor_of(held.uid)}")


# --- the file ----------------------------------------------------------------------------------------------------------------------------


def inbox(waiting: Queue, *, own: str = "") -> str:
    """The text of `inbox.md`: twenty things, the rest counted by reason, and the person's own words below the mark."""
    shown = waiting.first[:SHOWN_MAX]
    notes: list[Spans] = []
    parts = ["# Inbox", _purpose(len(waiting))]
    for waits in Waits:
        rows = [_row(e, notes) for e in shown if e.waits is waits]
        if rows:
            parts += [f"## {waits}", "\n".join(rows)]
    rest = Counter(waiting.counted) - Counter((e.waits, e.reason) for e in shown)
    if rest:
        counted = Counter({(waits.value.lower(), reason): n for (waits, reason), n in rest.items()})
        parts.append("## Not shown")
        parts.append(
            "\n".join(
                f"- {n} {kind}: {inline.write_line(plain(missed(reason)))}" if reason else f"- {n} {kind}"
                for (kind, reason), n in sorted(counted.items(), key=lambda kv: (-kv[1], kv[0]))
            )
        )
    below = "".join(f"\n[^{n}]: {inline.write_line(note)}\n" for n, note in enumerate(notes, 1))
    return "\n\n".join(parts) + "\n\n" + OWN_MARK + "\n" + own + below


def _purpose(count: int) -> str:
    if not count:
        return "Nothing waits for you."
    return (
        f"{count} {'thing waits' if count == 1 else 'things wait'} for you; the command beside each shows the lines it rests on. To accept one put `- [x]` before "
        "it, to reject it take its line out; the next dream, `dreamd publish` or `dreamd review` takes that as your word. What would become a rule, and a line "
        "in other words, is asked about once more."
    )


def _row(entry: Entry, notes: list[Spans]) -> str:
    numbers = []
    for note in entry.notes:
        if note not in notes:
            notes.append(note)
        numbers.append(notes.index(note) + 1)
    marks = "".join(f" [^{n}]" for n in numbers)
    why: list[Part] = [" (", plain(entry.why), ")"] if entry.why else []
    words = join(entry.spans, *why, ": ", code(entry.command))
    return f"- {inline.write((*words, inline.Span(' ')) if marks else words).rstrip()}{marks} ^{anchor_of(entry.uid)}"
