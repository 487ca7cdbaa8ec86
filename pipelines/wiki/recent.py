"""The work log: what happened in the fourteen days before the newest evidence, from records alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import groupby

from pipelines.wiki import inline
from pipelines.wiki.content import Cite, Work
from pipelines.wiki.inline import Spans, code, join, plain
from pipelines.wiki.lines import Part, day, footnote
from pipelines.wiki.page import OWN_MARK
from pipelines.wiki.unfinished import Unfinished, names, project_of, told_of, unfinished

RECENT_DAYS = 14
SESSIONS_MAX = 60
COMMITS_MAX, CHECKS_MAX = 6, 3
WAITING_MAX = 3
ASKED_MAX, LINE_MAX = 160, 120


def recent(work: Sequence[Work], newest: datetime | None, *, own: str = "") -> str:
    """The text of `recent.md`: what waits, then the newest day first; sessions past the sixtieth are counted, sessions without a time stand last.

    `newest` is the newest evidence of the whole wiki.
    """
    works = within(work, newest)
    notes: list[Spans] = []
    parts = ["# Recent work", _head(works)] if works else ["# Recent work", "Nothing in these days."]
    waiting = unfinished(works)
    if waiting:
        rows = [_bullet(told_of(one), _note(one, notes)) for one in waiting[:WAITING_MAX]]
        parts += ["## Waiting", "\n".join(rows)]
        if len(waiting) > WAITING_MAX:
            parts.append(f"{len(waiting) - WAITING_MAX} older: see how the sessions below ended.")
    named = len({project_of(w) for w in works}) > 1
    for when, group in groupby(works[:SESSIONS_MAX], key=_day):
        rows = [_entry(work, notes, named=named) for work in group]
        parts += [f"## {day(when) if when else 'Day unknown'}", "\n".join(rows)]
    if len(works) > SESSIONS_MAX:
        parts.append(f"{len(works) - SESSIONS_MAX} more sessions in these {RECENT_DAYS} days.")
    below = "".join(f"\n[^{n}]: {inline.write_line(note)}\n" for n, note in enumerate(notes, 1))
    return "\n\n".join(parts) + "\n\n" + OWN_MARK + "\n" + own + below


def within(works: Sequence[Work], newest: datetime | None) -> list[Work]:
    """Sessions of the last fourteen days before `newest`, newest first; those without a time come last."""
    since = newest - timedelta(days=RECENT_DAYS) if newest else None
    kept = [w for w in works if since is None or (w.ended or w.started) is None or (w.ended or w.started or since) >= since]
    return sorted(kept, key=lambda w: (w.started is None and w.ended is None, -(when.toordinal() if (when := _day(w)) else 0), -_stamp(w), w.session))


def headline(work: Work, *, named: bool) -> Spans:
    """When, where, and what it was about: a session in one line."""
    where: list[Part] = [" ", plain(project_of(work))] if named and project_of(work) else []
    if work.branch:
        where += [" on " if where else " ", code(work.branch)]
    about = _about(work)
    return join(_span_of(work), *where, *([": ", *about] if about else []))


# --- the head ----------------------------------------------------------------------------------------------------------------------------


def _head(works: Sequence[Work]) -> str:
    """What the page is, and what need not be said of each session."""
    count = f"{len(works)} {'session' if len(works) == 1 else 'sessions'}"
    places = {project_of(w) for w in works}
    place = next(iter(places)) if len(places) == 1 else ""
    where: list[Part] = [" in ", plain(place)] if place else []
    return inline.write_line(join(count, *where, ", the newest first" if len(works) > 1 else "", ", from the logs alone."))


def _note(one: Unfinished, notes: list[Spans]) -> int:
    notes.append(footnote(Cite(session=one.work.session, line=one.line, at=one.work.ended or one.work.started)))
    return len(notes)


def _bullet(spans: Spans, note: int) -> str:
    return f"- {inline.write_line((*spans, inline.Span(' ')))}[^{note}]"


# --- a session ---------------------------------------------------------------------------------------------------------------------------


def _entry(work: Work, notes: list[Spans], *, named: bool) -> str:
    """A session: its headline with the footnote, and below it what it did and how it ended, as far as there is anything to say."""
    notes.append(footnote(Cite(session=work.session, at=work.started or work.ended)))
    rows = [_bullet(headline(work, named=named), len(notes))]
    facts = (*_commits(work), _files(work), _tests(work), _todos(work), _end_of(work))
    return "\n".join([*rows, *(f"{'  ' * fact.depth}- {inline.write_line(fact.spans)}" for fact in facts if fact.spans)])


@dataclass(frozen=True, slots=True)
class _Fact:
    """A line below a session's headline."""

    spans: Spans
    depth: int = 1


def _about(work: Work) -> list[Part]:
    """The agent's own title, and the words typed first; a session in which nobody typed says so."""
    parts: list[Part] = [plain(inline.cut_quote(work.title, LINE_MAX))] if work.title else []
    if work.command:
        parts += [": " if parts else "", code(work.command)]
    if work.asked:
        parts += [", then " if work.command else ": " if parts else "", '"', plain(inline.cut_quote(work.asked, ASKED_MAX)), '"']
    if not work.prompts and not work.command:
        parts += [" (nobody typed)"] if parts else ["nobody typed"]
    return parts


def _commits(work: Work) -> list[_Fact]:
    """One line, or a line each below their count."""
    told = [_Fact(_commit(c), 2) for c in work.commits[:COMMITS_MAX]]
    if len(told) < 2:
        return [_Fact(join("Commit ", one.spans)) for one in told]
    more = len(work.commits) - COMMITS_MAX
    return [_Fact(join(f"{len(work.commits)} commits:")), *told, *([_Fact(join(f"and {more} more"), 2)] if more > 0 else [])]


def _commit(printed: str) -> Spans:
    sha, _, subject = printed.partition(" ")
    return join(code(sha), " ", plain(inline.cut_quote(subject, LINE_MAX)))


def _files(work: Work) -> _Fact:
    """What was written, most often first, and how much of it was left uncommitted."""
    if not work.files and not work.uncommitted:
        return _Fact(())
    if not work.files:
        return _Fact(join(f"{_count(work.uncommitted)} not committed: ", *names(work.unsaved, work.uncommitted)))
    left = f" ({'' if work.uncommitted == work.files else f'{work.uncommitted} '}not committed)" if work.uncommitted else ""
    if not work.touched:
        return _Fact(join(_count(work.files), left, " outside the project's folder"))
    return _Fact(join(_count(work.files), left, ": ", *names(work.touched, work.files)))


def _count(files: int) -> str:
    return f"{files} {'file' if files == 1 else 'files'}"


def _tests(work: Work) -> _Fact:
    """The last test run, and other checks whose last run failed."""
    command: list[Part] = [", ", code(inline.cut_quote(work.test_command, LINE_MAX))] if work.test_command else []
    parts: list[Part] = ["Last tests", *command, ": ", plain(inline.cut_quote(work.tested, LINE_MAX))] if work.tested else []
    broken = [check for check in work.failed if check != work.test_command]
    for n, check in enumerate(broken[:CHECKS_MAX]):
        parts += [", " if n else "; failed: " if parts else "Failed: ", code(inline.cut_quote(check, LINE_MAX))]
    return _Fact(join(*parts))


def _todos(work: Work) -> _Fact:
    if not work.open_todos:
        return _Fact(())
    parts: list[Part] = [f"Open todos, {work.open_todos} of {work.all_todos}: "]
    for n, todo in enumerate(work.todos):
        parts += ["; " if n else "", plain(inline.cut_quote(todo, LINE_MAX))]
    more = work.open_todos - len(work.todos)
    return _Fact(join(*parts, f"; and {more} more" if more > 0 else ""))


_HOW = {
    "answered": "",
    "question": "Ended with a question",
    "plan": "Ended with a plan that waits for a yes",
    "interrupted": "Ended: interrupted by the person",
    "error": "Ended with an error",
    "middle": "Ended in the middle: still running when it was read, or cut off",
}
"""By how a session ended; an answer goes without saying."""


def _end_of(work: Work) -> _Fact:
    """How it ended, with the words of a question or an error."""
    how, said = _HOW.get(work.how, ""), work.question or work.outcome
    words: list[Part] = [': "', plain(inline.cut_quote(said, ASKED_MAX)), '"'] if how and said else []
    return _Fact(join(how, *words))


def _stamp(work: Work) -> float:
    at = work.started or work.ended
    return at.timestamp() if at else 0.0


def _day(work: Work) -> date | None:
    at = work.started or work.ended
    return _there(at, work).date() if at else None


def _there(at: datetime, work: Work) -> datetime:
    """A time by the clock the session's log goes by."""
    return at if not work.zone else at.astimezone(datetime.strptime(work.zone, "%z").tzinfo)


def _span_of(work: Work) -> str:
    """`23:00–23:54 UTC`, the end's date when it is another day; by the offset the log states, where it states one."""
    if not work.started:
        return "time unknown"
    zone = work.zone or "UTC"
    start = _there(work.started, work)
    end = _there(work.ended, work) if work.ended else start
    if f"{end:%H:%M %d}" == f"{start:%H:%M %d}":
        return f"{start:%H:%M} {zone}"
    return f"{start:%H:%M}–{end:%H:%M} {zone}" + ("" if end.date() == start.date() else f" on {day(end)}")
