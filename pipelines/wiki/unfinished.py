"""Work that waits: a question nobody answered, files changed and not committed; until the session goes on or a later one settles it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import PurePosixPath

from pipelines.text.tokens import tokens_of_query
from pipelines.wiki import inline
from pipelines.wiki.content import Work
from pipelines.wiki.inline import Spans, code, join, plain
from pipelines.wiki.lines import Part, day

QUESTION_CHARS_MAX = 160
SESSIONS_MAX = 100
"""Sessions looked at: what was left by older ones of a scope with so many nobody goes back to."""
SHARED_WORDS = 2
"""Words of a question that a later session has in common with it when it speaks of the same."""
_OFFER = re.compile(
    r"\b(?:want|would you like|do you want|shall I|should I|may I|can I|ready|okay to|ok to|proceed|sound good|look good)\b|要我|需要我|是否需要|好吗|可以吗",
    re.IGNORECASE,
)


NOT_ANSWERED, NOT_APPROVED = "Asked and not answered", "Plan shown, no yes or no to it yet"
PLAN = "plan"
"""How a session ended that showed a plan last, as the local engine's `Ended` says it."""


class Left(StrEnum):
    """What a session left behind."""

    QUESTION = "question"
    CHANGES = "changes"


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A session and what of it waits."""

    work: Work
    left: Left

    @property
    def line(self) -> int | None:
        """Where the log shows it."""
        return self.work.question_line if self.left is Left.QUESTION else self.work.unsaved_line


def unfinished(works: Sequence[Work]) -> tuple[Unfinished, ...]:
    """What waits of the newest sessions, the newest first; of one session the question before the changes."""
    out = []
    newest = sorted(works, key=lambda w: (-_end(w), w.session))[:SESSIONS_MAX]
    for work in (w for w in newest if w.question or w.uncommitted):
        later = [other for other in newest if _later(other, work)]
        if any(_goes_on(other, work) for other in later):
            continue
        near = [other for other in later if _same_place(other, work)]
        if work.question and not any(_answers(other, work) for other in near):
            out.append(Unfinished(work, Left.QUESTION))
        if work.uncommitted and not any(other.commits or other.clean for other in near):
            out.append(Unfinished(work, Left.CHANGES))
    return tuple(out)


def questions_of(works: Iterable[Unfinished]) -> frozenset[str]:
    """The sessions whose question waits."""
    return frozenset(u.work.session for u in works if u.left is Left.QUESTION)


def told_of(one: Unfinished) -> Spans:
    """What waits in one line, with the day, the project and the branch: it makes sense alone."""
    work = one.work
    when = work.ended or work.started
    where: list[Part] = [f"{day(when)}"] if when else []
    if name := project_of(work):
        where += [", " if where else "", plain(name)]
    if work.branch:
        where += [" on " if where else "", code(work.branch)]
    about: list[Part] = [" (", *where, ")"] if where else []
    if one.left is Left.QUESTION:
        return join(NOT_APPROVED if work.how == PLAN else NOT_ANSWERED, *about, ': "', plain(inline.cut_quote(work.question, QUESTION_CHARS_MAX)), '"')
    count = f"{work.uncommitted} {'file' if work.uncommitted == 1 else 'files'}"
    return join(count, " changed and not committed", *about, ": ", *names(work.unsaved, work.uncommitted))


def project_of(work: Work) -> str:
    """The name of the folder a session ran in."""
    return _place(work.folder).name


def names(paths: Sequence[str], count: int) -> list[Part]:
    """A few paths, and how many there are beside them."""
    parts: list[Part] = []
    for n, path in enumerate(paths):
        parts += [", " if n else "", code(path)]
    more = count - len(paths)
    return [*parts, f" and {more} more"] if more > 0 else parts


# --- who settles it ----------------------------------------------------------------------------------------------------------------------


def _end(work: Work) -> float:
    at = work.ended or work.started
    return at.timestamp() if at else 0.0


def _later(other: Work, work: Work) -> bool:
    """Whether another session went on after this one ended; of exact copies the one named first stands."""
    if other.session == work.session or not _end(work):
        return False
    return _end(other) > _end(work) or (_end(other) == _end(work) and other.begins == work.begins and other.begins != "" and other.session < work.session)


def _goes_on(other: Work, work: Work) -> bool:
    """Whether a later session is this one resumed, or a fork of it."""
    return other.parent == work.session or (work.parent != "" and other.session == work.parent) or (work.begins != "" and other.begins == work.begins)


def _same_place(other: Work, work: Work) -> bool:
    """Whether another session ran in this one's folder, above or below it, on the same branch as far as that is known."""
    if other.branch and work.branch and other.branch != work.branch:
        return False
    here, there = _place(work.folder), _place(other.folder)
    return here == there or here.is_relative_to(there) or there.is_relative_to(here)


def _answers(other: Work, work: Work) -> bool:
    """Whether a later session settles a question: it speaks of the same; and an offer or a plan lapses when the person goes on to something else."""
    if not other.prompts:
        return False
    question = work.question
    if work.how == PLAN or _OFFER.search(question):
        return True
    said = " ".join((other.asked, other.title, *other.commits, *other.touched))
    return len(_tokens(question) & _tokens(said)) >= SHARED_WORDS


@lru_cache(maxsize=4 * SESSIONS_MAX)
def _tokens(text: str) -> frozenset[str]:
    """Kept, since each session is compared with all before it."""
    return frozenset(tokens_of_query(text))


@lru_cache(maxsize=SESSIONS_MAX)
def _place(folder: str) -> PurePosixPath:
    return PurePosixPath(folder.replace("\\", "/"))
