"""What happened in a session, from its records alone: when, on which branch, what was asked first, which commits came out, what was left open.

No judgement and no meaning: every entry is a line of the log, quoted. It feeds `recent.md` and the brief's Waiting section, never a note.
"""

# Word lists read better as text.
# ruff: noqa: SIM905

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from pipelines.engines.local.commits import Commit, Edit, Uncommitted, commits_of, edits_of, uncommitted, within
from pipelines.engines.local.ending import End, end_of
from pipelines.engines.local.opening import opening
from pipelines.engines.local.runs import Ended, Run, runs_of, worth_telling
from pipelines.engines.local.speech import typed
from pipelines.engines.local.summaries import LastTest, last_test
from pipelines.engines.local.todos import Todos, todos_left
from pipelines.model import Origin, Quote, Role, SessionInfo, Turn
from pipelines.ports import Window

TOUCHED_MAX = 3

_CHECKS = re.compile(r"\b(?:test|tests|pytest|vitest|jest|build|compile|check|check-types|typecheck|lint|tsc|mypy|ruff|clippy|credo|dialyzer|ctest|tox|nox)\b")
_AT_WORK = frozenset({Origin.USER, Origin.ASSISTANT, Origin.TOOL, Origin.EXTERNAL})
_OFFSET = re.compile(r"[+-](?:[01]\d|2[0-3]):[0-5]\d")
_COMMAND = re.compile(r"/[a-z][\w:.-]{1,60}$")
_OF_THE_PROGRAM = frozenset(
    """/add-dir /agents /bug /clear /compact /config /context /copy /cost /doctor /effort /exit /export /extra-usage /fast /feedback /help /hooks /ide
    /keybindings /login /logout /mcp /memory /model /output-style /permissions /plugin /privacy-settings /quit /release-notes /rename /resume /rewind
    /sandbox /settings /skills /stats /status /statusline /tasks /terminal-setup /theme /todos /usage /vim""".split()
)
"""Commands that set up the agent's program and ask for no work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkRecord:
    """One session's work. Times are those of the first and last dated words or results in it, what the agent program says around them left out; quotes
    stand verbatim in their turns.

    `folder` is where it ran, `title` the agent's own title, `branch` the last one the log names. `first_prompt` is what the person asked first, at most 120
    characters (`cut`: its sentence goes on), `command` a command of the agent (`/init`) typed before it. `begins` is the first typed turn: copies and resumed sessions share it. `files`
    counts files written; `touched` are those written most often, below the folder. `zone` is the offset ("+02:00") all its
    times were said in, "" where they were said in UTC, in none or in several. `failed` are the checks (tests, builds) whose last run failed.
    """

    session: str
    agent: str | None
    started: datetime | None
    ended: datetime | None
    branch: str | None
    prompts: int
    first_prompt: Quote | None
    end: End
    zone: str = ""
    folder: str | None = None
    title: str | None = None
    parent: str | None = None
    begins: str = ""
    cut: bool = False
    command: str = ""
    commits: tuple[Commit, ...] = ()
    files: int = 0
    touched: tuple[str, ...] = ()
    tested: LastTest | None = None
    failed: tuple[str, ...] = ()
    todos: Todos = field(default_factory=Todos)
    uncommitted: Uncommitted = field(default_factory=Uncommitted)


def work_log(window: Window) -> WorkRecord | None:
    """The record of a session; None when nobody typed anything in it and no tool was called."""
    turns = tuple(t for t in window.turns if not t.sidechain)
    prompts = [t for t in turns if typed(t)]
    if not prompts and not any(t.call is not None for t in turns):
        return None
    runs, edits = tuple(runs_of(turns)), tuple(edits_of(turns))
    commits = tuple(commits_of(runs))
    at_work = [t for t in turns if t.at is not None and t.origin in _AT_WORK]
    times = [t.at for t in at_work if t.at is not None]
    info = window.session
    first = opening(prompts)
    return WorkRecord(
        session=info.uid, agent=info.agent, started=min(times, default=None), ended=max(times, default=None),
        branch=commits[-1].branch if commits else info.branch, prompts=len(prompts),
        first_prompt=first[0] if first else None, cut=bool(first and first[1]), end=end_of(turns), zone=_zone(at_work), folder=info.cwd, title=info.title, parent=info.parent,
        begins=prompts[0].uid if prompts else "", command=_command(turns, prompts), commits=commits, files=len({e.path for e in edits}),
        touched=_touched(edits, info), tested=last_test(runs), failed=tuple(_failed(runs)), todos=todos_left(turns),
        uncommitted=uncommitted(runs, edits, turns, folder=info.cwd, git=bool(info.branch or commits)),
    )  # fmt: skip


def _zone(turns: Sequence[Turn]) -> str:
    zones = {t.zone for t in turns}
    only = zones.pop() if len(zones) == 1 else None
    return only if only and _OFFSET.fullmatch(only) else ""


def _command(turns: Sequence[Turn], prompts: Sequence[Turn]) -> str:
    """The first command of the agent that asks for work, when it came before anything typed."""
    for turn in turns:
        if prompts and turn is prompts[0]:
            return ""
        if turn.role is Role.USER and turn.origin is Origin.HARNESS and _COMMAND.match(turn.text.strip()) and turn.text.strip() not in _OF_THE_PROGRAM:
            return turn.text.strip()
    return ""


def _touched(edits: Sequence[Edit], info: SessionInfo) -> tuple[str, ...]:
    """The files below the session's folder that were written most often, the first written first among equals."""
    counts = Counter(path for e in edits if (path := within(e.path, info.cwd)) is not None)
    return tuple(path for path, _ in counts.most_common(TOUCHED_MAX))


def _failed(runs: Sequence[Run]) -> Iterator[str]:
    """Checks whose last run with a known end failed."""
    last: dict[str, Run] = {}
    for run in runs:
        if run.ended is not Ended.UNKNOWN and worth_telling(run.part) and _CHECKS.search(run.command):
            last[run.command] = run
    yield from (command for command, run in last.items() if run.ended is Ended.FAILED)
