"""The morning report: what a dream did, in at most forty lines; and how much of what was said the wiki repeats."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from enum import StrEnum

from pipelines.wiki import inline
from pipelines.wiki.content import anchor_of
from pipelines.wiki.doors import Moved
from pipelines.wiki.inbox import UNASKED, Entry, Waits
from pipelines.wiki.inline import Spans, Style, code, join, plain
from pipelines.wiki.lines import MONTHS, Part, day
from pipelines.wiki.page import OWN_MARK
from pipelines.wiki.reasons import refused
from pipelines.wiki.slugs import page_path

LINES_MAX = 40
EARLIER_LINES_MAX = 400
WAITING_MAX = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected:
    """A note that changed: what it said, what it says, the proving words, and the file and line that still say the old; `over`: it was right once.
    `told` counts the sessions that had been told the old, since the day `since`."""

    old: str
    new: str
    proof: str = ""
    path: str = ""
    line: int | None = None
    over: bool = False
    told: int = 0
    since: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What one dream did. Lists are in the order to show, `work` as headlines of sessions; `checked` counts the lines of the person's notes judged anew by verdict, `refused` claims by gate;
    `left_out` names index lines that are not in the brief.

    `more_waiting` and `more_left_out` count what waits and what is left out beside those that are named here.
    `stale` counts the numbers in note files that are out of date, where lines that hold one were judged anew. `reverted` is what a revert put in the place of what, or a person took back, `edited` what a person said in other words, `problems` are things a person should know of (sources refused, files someone else holds, quiet nights). `undo` is the one command that takes the
    dream back.
    """

    day: date
    waiting: tuple[Entry, ...] = ()
    corrected: tuple[Corrected, ...] = ()
    learnt: tuple[str, ...] = ()
    work: tuple[Spans, ...] = ()
    merged: tuple[str, ...] = ()
    retired: tuple[str, ...] = ()
    checked: Mapping[str, int] = field(default_factory=dict)
    refused: Mapping[str, int] = field(default_factory=dict)
    left_out: tuple[Moved, ...] = ()
    problems: tuple[str, ...] = ()
    redacted: int = 0
    drafts: int = 0
    unasked: int = 0
    more_waiting: int = 0
    more_left_out: int = 0
    undo: str = ""
    said_at: str = ""
    """When a person's own command asked for this (HH:MM, UTC): what it did is one line then, with its undo."""
    reverted: tuple[Corrected, ...] = ()
    edited: tuple[Corrected, ...] = ()
    stale: int = 0

    @property
    def changed(self) -> bool:
        """Whether there is anything to report; what was refused or waits unchanged is none."""
        return bool(
            self.corrected
            or self.reverted
            or self.edited
            or self.learnt
            or self.merged
            or self.retired
            or self.problems
            or self.drafts
            or self.unasked
            or self.checked
        )


def journal_path(when: date) -> str:
    """Where the report of a day stands."""
    return page_path(when.isoformat(), folder="journal")


def report(dream: Report, *, before: str = "") -> str | None:
    """The text of the report, at most 40 lines above the line below which a person may write; None for a dream that changed nothing.

    `before` is the file as an earlier dream of the day left it: its report stays, below this one.
    """
    if not dream.changed:
        return None
    head = [f"# Dream of {day(dream.day)}", "", _verdict(dream), ""]
    room = LINES_MAX - len(head) - 3  # one line is left for what went since (`with_let_go`)
    blocks = [b for b in _blocks(dream) if b[1]]
    rows: list[str] = []
    for n, (title, lines) in enumerate(blocks):
        after = sum(1 + min(2, len(b[1])) for b in blocks[n + 1 :])
        rows += _block(title, lines, room - len(rows) - after, more=_more(dream, title))
    return "\n".join([*head, *rows, *_earlier(head[0], before, rows), "", OWN_MARK, ""])


def _more(dream: Report, title: str) -> int:
    """How many there are beside the lines of a block."""
    if title == _WAITING:
        return max(0, len(_waiting(dream.waiting)) - WAITING_MAX) + dream.more_waiting
    return dream.more_left_out if title == _LEFT_OUT else 0


EARLIER = "## Earlier that day"
_LET_GO = "- **No longer kept**: "


def told_already(alone: str, before: str) -> bool:
    """Whether the file of a day begins with this very report already."""
    said, stands = (text.partition(OWN_MARK)[0].strip() for text in (alone, before))
    return stands == said or stands.startswith(f"{said}\n\n{EARLIER}\n")


def tells(text: str, problem: str) -> bool:
    """Whether the file of a day tells of a problem already, in this report or an earlier one."""
    return f"  - {inline.write_line(plain(problem))}" in text.split("\n")


def _earlier(title: str, before: str, newest: Sequence[str]) -> list[str]:
    """The rows of the day's earlier reports, newest first: what a person's own commands did together, then each dream's, without what the `newest` report tells
    anew (`_TOLD_ANEW`); of the work, which each tells the last of only, what no newer one tells. The oldest go when a day had very many."""
    told = before.partition(OWN_MARK)[0].strip()
    if not told.startswith(title + "\n"):
        return []
    said: list[str] = []
    worked = {_session(row) for row in newest if row.startswith("  - ")}
    reports = [_folded(part.strip().split("\n"), said, worked) for part in f"\n{told.removeprefix(title)}".split(f"\n{EARLIER}\n")]
    mine = [f"- **{_SAID}**", *said, ""] if said else []
    rows = "\n".join([*mine, f"\n\n{EARLIER}\n\n".join(r for r in reports if r)]).strip()
    if not rows:
        return []
    return ["", EARLIER, "", *rows.split("\n")[:EARLIER_LINES_MAX]]


_GOES_ON = re.compile(r"–\d\d:\d\d(?= UTC)|(?<=\")[^\"]*$")


def _session(row: str) -> str:
    """A line of work without how long it went and what came of it: a session that was gone on with is the same."""
    return _GOES_ON.sub("", row)


def _folded(rows: Sequence[str], said: list[str], worked: set[str]) -> str:
    """An earlier report without the blocks that the newest tells anew; the lines of what a person said go to `said`, and the work that it is first to tell to
    `worked`. "" when it told nothing else."""
    kept: list[str] = []
    block, blocks, in_work = "", 0, False
    for row in rows:
        if not row.startswith("  - "):
            found = _BLOCK.fullmatch(row)
            block = found[1] if found else ""
            blocks += row.startswith(_LET_GO) or (bool(block) and block not in _TOLD_ANEW and block != _SAID)
        elif block == _SAID:
            said.append(row)
        elif block == _WORK and not _MORE.match(row) and _session(row) not in worked:
            worked.add(_session(row))
            kept += [row] if kept and kept[-1].startswith("  - ") and in_work else [f"- **{_WORK}**", row]
            in_work, blocks = True, blocks + 1
            continue
        in_work = in_work and block == _WORK
        if block not in _TOLD_ANEW and block != _SAID:
            kept.append(_STILL.sub(r" (then in \1", row))
    return "\n".join(kept).strip() if blocks else ""


_MORE = re.compile(r"  - and \d+ more")
_BLOCK = re.compile(r"- \*\*(.+)\*\*")
_STILL = re.compile(r" \(still in (`)")
"""What an earlier report found in a file; by now it may have been corrected."""


def _verdict(dream: Report) -> str:
    counts = (
        (sum(not c.over for c in dream.corrected), "corrected"),
        (sum(c.over for c in dream.corrected), "superseded"),
        (len(dream.reverted), "taken back or brought back"),
        (len(dream.edited), "edited"),
        (len(dream.learnt), "learnt"),
        (len(dream.merged), "merged"),
        (len(dream.retired), "retired"),
        (dream.drafts, "draft" if dream.drafts == 1 else "drafts"),
        (dream.unasked, UNASKED),
    )
    said = ", ".join(f"{n} {word}" for n, word in counts if n) or (
        f"{sum(dream.checked.values())} of your own notes looked at" if dream.checked else "nothing learnt"
    )
    count = len(dream.waiting) + dream.more_waiting
    waits = f"; {count} {'waits' if count == 1 else 'wait'} for you" if count else ""
    return said[0].upper() + said[1:] + waits + "."


def _blocks(dream: Report) -> list[tuple[str, list[Spans]]]:
    waiting = _waiting(dream.waiting)[:WAITING_MAX]
    not_believed = [plain(refused(dream.refused))] if any(dream.refused.values()) else []
    masked = [join(f"{dream.redacted} {'secret' if dream.redacted == 1 else 'secrets'}")] if dream.redacted else []
    left = [
        join(plain(m.section), ": ", plain(inline.cut_quote(m.text, 120)), " (", plain(m.why.replace("_", " ")), ", see ", code(m.page), ")")
        for m in dream.left_out
    ]
    blocks = [
        (_WAITING, waiting),
        ("Look at this", [plain(p) for p in dream.problems]),
        (_SAID, [_said(dream)] if dream.said_at else []),
        ("Taken back or brought back", [_corrected(c) for c in dream.reverted]),
        ("Edited", [_corrected(c) for c in dream.edited]),
        ("Corrected", [_corrected(c) for c in dream.corrected]),
        ("Learnt", [plain(inline.cut_quote(t)) for t in dream.learnt]),
        (_WORK, list(dream.work)),
        ("Merged and retired", [plain(inline.cut_quote(t)) for t in (*dream.merged, *dream.retired)]),
        ("Your own notes", _own_notes(dream)),
        ("Refused", not_believed),
        ("Masked", masked),
        (_LEFT_OUT, left),
        ("Undo", [join(code(dream.undo))] if dream.undo else []),
    ]
    return [(title, lines) for title, lines in blocks if title not in _OF_DREAMS] if dream.said_at else blocks


SAID_MAX = 3
"""Things one command did that its line tells."""


def _said(dream: Report) -> Spans:
    """What a person's own command did, in one line with its time and its undo."""
    changes = [_corrected(c) for c in (*dream.reverted, *dream.edited, *dream.corrected)]
    did = changes + [plain(inline.cut_quote(t)) for t in (*dream.learnt, *dream.merged, *dream.retired)]
    parts: list[Part] = [f"{dream.said_at} UTC "]
    for n, row in enumerate(did[:SAID_MAX]):
        parts += ["; " if n else "", _open(row) if dream.undo or n + 1 < len(did) else row]
    if len(did) > SAID_MAX:
        parts.append(f"; and {len(did) - SAID_MAX} more")
    if not did:
        parts.append(_verdict(replace(dream, waiting=(), more_waiting=0)).rstrip("."))
    return join(*parts, *(("; undo: ", code(dream.undo)) if dream.undo else ()))


def _own_notes(dream: Report) -> list[Spans]:
    """The verdicts on lines of note files, and in one line the numbers that are out of date."""
    checked = [plain(", ".join(f"{n} {verdict.replace('_', ' ')}" for verdict, n in sorted(dream.checked.items())))] if dream.checked else []
    hold = "line holds" if dream.stale == 1 else "lines hold"
    stale = [join(f"{dream.stale} {hold} a number that is out of date and not told: ", code("dreamd notes diff"))] if dream.stale else []
    return checked + stale


_CLOSES = {
    Waits.DISPUTE: "dreamd review accept {} --side 1", Waits.CORRECTION: "dreamd notes apply", Waits.RECHECK: "dreamd review keep {}",
    Waits.QUESTION: "dreamd review reject {}", Waits.QUARANTINE: "dreamd review reject {}",
}  # fmt: skip
"""The commands that close what no plain yes does; for a no in place of a yes the person changes one word of it."""


def _waiting(entries: Sequence[Entry]) -> list[Spans]:
    """What waits, each with the command that closes it; wrong lines of note files are one, since one command closes all of them."""
    wrong = [e for e in entries if e.waits is Waits.CORRECTION]
    out: list[Spans] = []
    for entry in entries:
        if len(wrong) < 2 or entry.waits is not Waits.CORRECTION:
            out.append(join(_open(entry.spans), ": ", code(closing(entry))))
        elif entry is wrong[0]:
            out.append(join(f"{len(wrong)} lines of your own note files say the wrong thing: ", code(closing(entry))))
    return out


def _open(spans: Spans) -> Spans:
    """A sentence that goes on with a colon: its full stop left out, but for one that says it was cut."""
    last = spans[-1] if spans else None
    if last is None or last.style is not Style.TEXT or not re.search(r"[^.。\s][.。]$", last.text):
        return spans
    return (*spans[:-1], replace(last, text=last.text[:-1]))


def closing(entry: Entry) -> str:
    """The command that closes one thing that waits."""
    return _CLOSES.get(entry.waits, "dreamd review accept {}").format(anchor_of(entry.uid))


_WAITING = "Waiting for you"
_SAID = "You said"
_LEFT_OUT = "Not whole in the brief"
_WORK = "Work"
_TOLD_ANEW = frozenset({_WAITING, _WORK, _LEFT_OUT})
"""Blocks that every report tells as they are by then."""
_OF_DREAMS = frozenset({"Taken back or brought back", "Edited", "Corrected", "Learnt", "Merged and retired", "Your own notes", "Refused", "Undo"})
"""Blocks of what a dream did; what a person's own command did is one line."""


def _corrected(change: Corrected) -> Spans:
    proven = change.proof and change.proof.strip(" .。") != change.new.strip(" .。")  # what the log says in these very words is said already
    new = plain(inline.cut_quote(change.new, 120))
    goes_on = proven or (change.told and change.since and not change.path)
    parts: list[Part] = [plain(inline.cut_quote(change.old, 120)), " → ", _open(new) if goes_on else new]
    if proven:
        parts += [', for the log says "', plain(inline.cut_quote(change.proof)), '"']
    if change.path:
        parts += [" (still in ", code(change.path), f" line {change.line})" if change.line else ")"]
    if change.told and change.since:
        parts += [f"; told to {change.told} {'session' if change.told == 1 else 'sessions'} since {day(change.since)}"]
    return join(*parts)


def _block(title: str, lines: list[Spans], room: int, *, more: int = 0) -> list[str]:
    """A label and its lines, at least one; what has no room is counted, with the `more` that nobody wrote down."""
    if not lines:
        return []
    most = max(1, room - 1)
    count = len(lines) + more
    shown = lines if count <= most else lines[: max(1, most - 1)]
    rows = [f"- **{title}**", *(f"  - {inline.write_line(line)}" for line in shown)]
    look = ": `dreamd review`" if title == _WAITING else ""
    return rows if len(shown) == count else [*rows, f"  - and {count - len(shown)} more{look}"]


# --- what went -----------------------------------------------------------------------------------------------------------------------------

_WORK_DAY = re.compile(rf"  - (\d{{1,2}}) ({'|'.join(MONTHS)}) (\d{{4}})\b")
_OF_DAY = re.compile(rf"# Dream of (\d{{1,2}}) ({'|'.join(MONTHS)}) (\d{{4}})")


def with_let_go(before: str, when: date, said: str) -> str:
    """The file of a day with a line that says what is no longer kept, in place of an earlier one; `before` is the file as it stands, "" where none does."""
    line = _LET_GO + inline.write_line(plain(said))
    if not before:
        return "\n".join([f"# Dream of {day(when)}", "", "Nothing learnt.", "", line, "", OWN_MARK, ""])
    rows = [row for row in before.split("\n") if not row.startswith(_LET_GO)]
    end = next((n for n, row in enumerate(rows) if row in {"- **Undo**", EARLIER, OWN_MARK}), len(rows))
    at = end - 1 if rows[end - 1 : end] == [""] else end  # to the blocks of the newest report, above the blank line behind them
    return "\n".join([*rows[:at], line, *rows[at:]])


def without_work(text: str, before: date) -> str:
    """The file of a day without the work of sessions from before a day."""
    of = _day_in(_OF_DAY, text.split("\n", 1)[0])
    old = of is not None and of < before
    kept: list[str] = []
    block = False
    for row in text.split("\n"):
        block = row == "- **Work**" or (block and row.startswith("  - "))
        worked = _day_in(_WORK_DAY, row) if block else None
        if block and row.startswith("  - ") and (worked < before if worked else old):
            continue
        if kept and kept[-1] == "- **Work**" and not row.startswith("  - "):
            kept.pop()
        kept.append(row)
    return "\n".join(kept)


def _day_in(pattern: re.Pattern[str], row: str) -> date | None:
    found = pattern.match(row)
    return date(int(found[3]), MONTHS.index(found[2]) + 1, int(found[1])) if found else None


# --- bloat -------------------------------------------------------------------------------------------------------------------------------

BLOAT_FROM_BYTES = 100_000
BLOAT_WARN, BLOAT_FAULT = 0.5, 1.0


class Level(StrEnum):
    """What a bloat figure means; `small`: too little was said for it to mean anything."""

    SMALL = "small"
    OK = "ok"
    WARN = "warn"
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class Bloat:
    """Bytes of live pages without footnotes over bytes of what users and assistants said."""

    pages: int
    said: int

    @property
    def ratio(self) -> float:
        """0.0 when nothing was said."""
        return self.pages / self.said if self.said else 0.0

    @property
    def level(self) -> Level:
        """Judged once a scope holds 100 kB."""
        if self.said < BLOAT_FROM_BYTES:
            return Level.SMALL
        return Level.FAULT if self.ratio > BLOAT_FAULT else Level.WARN if self.ratio > BLOAT_WARN else Level.OK


def bloat(pages: Iterable[bytes], *, said: int) -> Bloat:
    """The figure of a scope; `pages` are its live topic pages, `said` the bytes of user and assistant text consolidated."""
    return Bloat(sum(len(without_footnotes(page)) for page in pages), said)


def without_footnotes(page: bytes) -> bytes:
    """What of a page counts as its size."""
    return re.sub(rb"(?m)^\[\^\d+\]: .*\n?", b"", page)
