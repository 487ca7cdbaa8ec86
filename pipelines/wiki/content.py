"""What a wiki is rendered from: values of one revision of one scope, filled by the caller from note versions, online notes and findings.

Nothing in here is computed from a clock; every time is an aware UTC `datetime`. Texts are words of logs and notes, untrusted: they reach a page
only through `inline`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import PurePosixPath

from pipelines.model import Kind, Status, Verdict, require_aware, short_uid


@dataclass(frozen=True, slots=True, kw_only=True)
class Cite:
    """Where a sentence comes from: a line of a session's log, or, without `session`, a line of a note file (`source`).

    `who` says who speaks there ("user", "tool", "Ana"); `quote` holds the proving words as the log has them (cut when rendered); `remark` is a word of
    ours on the evidence ("no log", "upheld"). Where both are named, that line of the session writes the file `source`.
    """

    session: str | None = None
    line: int | None = None
    source: str | None = None
    at: datetime | None = None
    who: str = ""
    quote: str = ""
    remark: str = ""

    def __post_init__(self) -> None:
        require_aware(self.at, "Cite.at")
        if not self.session and not self.source:
            raise ValueError("a citation names a session or a source")


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryLine:
    """What a note said before, or what was said and not taken. `until` and `since` bound its validity; `slot` tells it from its siblings.

    `taken` is False for a value that never was current (lower standing than the one that stood). `reason` is the person's own reason for the change.
    `decided`: it was the other side of a contradiction, until a person decided on the day `until`.
    """

    statement: str
    cites: tuple[Cite, ...]
    since: datetime | None = None
    until: datetime | None = None
    said_by: str = ""
    status: Status = Status.SUPERSEDED
    reason: str = ""
    taken: bool = True
    slot: str = ""
    decided: bool = False

    def __post_init__(self) -> None:
        _require_cites(self.cites, self.statement)
        require_aware(self.since, "HistoryLine.since")
        require_aware(self.until, "HistoryLine.until")


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One side of a dispute: what it says, who said it and when."""

    statement: str
    cites: tuple[Cite, ...]
    said_by: str = ""
    at: datetime | None = None

    def __post_init__(self) -> None:
        _require_cites(self.cites, self.statement)
        require_aware(self.at, "Side.at")


def shown_folder(folder: str) -> str:
    """A memory folder as pages name it: of one known from a log alone the last part, where it lies on that machine says nothing."""
    path = PurePosixPath(folder)
    return path.name if path.is_absolute() or folder[1:2] == ":" else folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """The place an online note was carried from: its file keeps its own page, title, headings and order.

    `folder` is the stable name of the memory folder, `path` the file relative to it, `description` the file's own one-line summary. `index` marks a
    line of the folder's index; `targets` are the link targets in it, as written (relative to the file). `depth` is how many lines above it holds it.
    """

    folder: str
    path: str
    title: str
    position: int
    line: int | None = None
    heading: str = ""
    description: str = ""
    index: bool = False
    targets: tuple[str, ...] = ()
    depth: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One note as a page shows it.

    `subject` is the form to show, `subject_key` the canonical one to group by (empty: the folded subject); `aliases` are its other forms.
    `statement` is the sentence; `markdown`, for carried notes, the text as it stood. `worked_on` are the days a procedure worked. `sessions` counts
    independent witnesses. `high_stakes`: an amount, a permission, a legal matter; the brief links it and does not repeat it. `covered`: an
    instruction file says it already. `missed` is the first promotion criterion a draft misses. `remark` is a word of ours behind the sentence ("edited
    on this page, not confirmed"); `pin` the key of the topic a note must stand on, for what a person wrote on a page. `against` is the place of an
    instruction file's line that says otherwise, undecided; of a carried line whose command failed since `missed` says that, `remark` how, and `reason`
    which command worked instead. `pinned`: the person wants it told first. `stale` says beside which newer number a carried line's is out of date.
    """

    uid: str
    kind: Kind
    status: Status
    subject: str
    statement: str
    cites: tuple[Cite, ...]
    value: str | None = None
    said_by: str = ""
    history: tuple[HistoryLine, ...] = ()
    sides: tuple[Side, ...] = ()
    verdict: Verdict | None = None
    corrected_to: str | None = None
    carried: Carried | None = None
    markdown: str = ""
    subject_key: str = ""
    attribute: str = ""
    qualifier: str = ""
    applies_to: str | None = None
    aliases: tuple[str, ...] = ()
    worked_on: tuple[date, ...] = ()
    sessions: int = 1
    valid_until: datetime | None = None
    oldest_evidence: datetime | None = None
    newest_evidence: datetime | None = None
    high_stakes: bool = False
    covered: bool = False
    missed: str = ""
    reason: str = ""
    remark: str = ""
    pin: str = ""
    against: str = ""
    pinned: bool = False
    stale: str = ""

    def __post_init__(self) -> None:
        _require_cites(self.cites, self.statement)
        for name in ("valid_until", "oldest_evidence", "newest_evidence"):
            require_aware(getattr(self, name), f"Item.{name}")
        if self.status is Status.DISPUTED and len(self.sides) < 2:
            raise ValueError(f"the disputed note {self.uid} needs its two sides")

    @property
    def anchor(self) -> str:
        """The block id without its caret."""
        return anchor_of(self.uid)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantined:
    """Text that gave orders nobody of the users spoke: named by id, gate, origin and place, never by its words."""

    uid: str
    gate: str
    origin: str
    session: str
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question that waits for an answer: an engine's gap, or what the assistant asked last and nobody answered; `plan`: the title of a plan nobody said
    yes or no to."""

    uid: str
    text: str
    cites: tuple[Cite, ...]
    at: datetime | None = None
    plan: bool = False

    def __post_init__(self) -> None:
        _require_cites(self.cites, self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """What a changed file of ours asks of a note: the decision it wants, the sentence as it stands, and the new words of an edit."""

    uid: str
    note: str
    wants: str
    before: str
    after: str = ""
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """A wrong line of a note file and what the logs say instead. `path` and `line` are the file's own; `fixed`: the file says it rightly by now.

    `deliveries` counts the briefs that carried this correction; `at` is the time of the proving evidence. `against`: an instruction file says otherwise
    than what is right by the logs, undecided. `rights` are the sentences `right` is made of (`together`), where the line is wrong more than once.
    """

    uid: str
    wrong: str
    right: str
    path: str
    cites: tuple[Cite, ...]
    line: int | None = None
    at: datetime | None = None
    fixed: bool = False
    deliveries: int = 0
    against: str = ""
    rights: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _require_cites(self.cites, self.right)
        require_aware(self.at, "Correction.at")


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One session in the work log, from records alone.

    `zone` is the offset its times were said in ("" for UTC), `folder` where it ran, `title` the agent's own, `asked` what was typed first, `command` a command of the agent before that. `begins` is shared by
    copies and resumed sessions, `parent` the session this one goes on from. `tested` sums up the last run of `test_command`, `failed` are the checks whose
    last run failed. `files` counts files written, `touched` names those written most. A few `todos` are told of the open ones. `how` it ended is a word of
    the local engine's `Ended`, `outcome` the words of an error, `question` what was asked last and not answered, or the title of the plan that waits. `uncommitted` counts files changed after
    the last commit, `unsaved` names the first of them; `clean`: git said at the end that nothing is left to commit. The lines are those of the log.
    """

    session: str
    started: datetime | None
    ended: datetime | None
    zone: str = ""
    folder: str = ""
    branch: str = ""
    title: str = ""
    asked: str = ""
    command: str = ""
    begins: str = ""
    parent: str = ""
    prompts: int = 0
    commits: tuple[str, ...] = ()
    tested: str = ""
    test_command: str = ""
    failed: tuple[str, ...] = ()
    files: int = 0
    touched: tuple[str, ...] = ()
    todos: tuple[str, ...] = ()
    open_todos: int = 0
    all_todos: int = 0
    how: str = ""
    outcome: str = ""
    question: str = ""
    question_line: int | None = None
    uncommitted: int = 0
    unsaved: tuple[str, ...] = ()
    unsaved_line: int | None = None
    clean: bool = False

    def __post_init__(self) -> None:
        require_aware(self.started, "Work.started")
        require_aware(self.ended, "Work.ended")


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """Everything one revision of a wiki is rendered from. `own` holds the person's own text by page path, `known` the pages that may be stubs.

    `redirects` maps the path of a page that moved to the topic key of the page it is now on.
    """

    title: str
    items: tuple[Item, ...] = ()
    corrections: tuple[Correction, ...] = ()
    quarantined: tuple[Quarantined, ...] = ()
    asked: tuple[Asked, ...] = ()
    edited: tuple[Edited, ...] = ()
    work: tuple[Work, ...] = ()
    own: dict[str, str] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)

    @property
    def newest_evidence(self) -> datetime | None:
        """The newest time anything of this content rests on: what "recent" is measured against, never the clock."""
        times = [i.newest_evidence for i in self.items] + [w.ended or w.started for w in self.work] + [c.at for c in self.corrections]
        return max((t for t in times if t), default=None)


def together(sentences: Sequence[str]) -> str:
    """Sentences as one text; all but the last end in a stop."""
    return " ".join([*(s if s.endswith((".", "!", "。", "！")) else f"{s}." for s in sentences[:-1]), *sentences[-1:]])


def anchor_of(uid: str) -> str:
    """The block id a page shows for a note or anything else that has a uid: `n-` and at most 16 letters, digits and dashes."""
    return "n-" + (uid if len(uid) <= 16 and re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", uid) else short_uid(uid))


LIVE = frozenset({Status.CONFIRMED, Status.DISPUTED, Status.NEEDS_RECHECK})
PAST = frozenset({Status.SUPERSEDED, Status.EXPIRED})


def _require_cites(cites: tuple[Cite, ...], what: str) -> None:
    if not cites:
        raise ValueError(f"no sentence without a footnote: {what[:80]!r} cites nothing")
