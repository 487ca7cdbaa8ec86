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
from pipelines.engines.local.ending import End, end_of, word_end
from pipelines.engines.local.runs import Ended, Run, runs_of, worth_telling
from pipelines.engines.local.speech import body_of, typed, utterances
from pipelines.engines.local.summaries import LastTest, last_test
from pipelines.engines.local.todos import Todos, todos_left
from pipelines.model import Origin, Quote, Role, SessionInfo, Turn
from pipelines.ports import Window
from pipelines.text.sentences import sentences

PROMPT_MAX = 120
TOUCHED_MAX = 3

_CHECKS = re.compile(r"\b(?:test|tests|pytest|vitest|jest|build|compile|check|check-types|typecheck|lint|tsc|mypy|ruff|clippy|credo|dialyzer|ctest|tox|nox)\b")
_AT_WORK = frozenset({Origin.USER, Origin.ASSISTANT, Origin.TOOL, Origin.EXTERNAL})
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

    `folder` is where it ran, `title` the agent's own title, `branch` the last one the log names. `first_prompt` is what the person typed first, at most 120
    characters (`cut`: its sentence goes on), `command` a command of the agent (`/init`) typed before it. `begins` is the first typed turn: copies and resumed sessions share it. `files`
    counts files written; `touched` are those written most often, below the folder. `failed` are the checks (tests, builds) whose last run failed.
    """

    session: str
    agent: str | None
    started: datetime | None
    ended: datetime | None
    branch: str | None
    prompts: int
    first_prompt: Quote | None
    end: End
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
    times = [t.at for t in turns if t.at is not None and t.origin in _AT_WORK]
    info = window.session
    first = next((found for found in map(_prompt, prompts) if found is not None), None)
    return WorkRecord(
        session=info.uid, agent=info.agent, started=min(times, default=None), ended=max(times, default=None),
        branch=commits[-1].branch if commits else info.branch, prompts=len(prompts),
        first_prompt=first[0] if first else None, cut=bool(first and first[1]), end=end_of(turns), folder=info.cwd, title=info.title, parent=info.parent,
        begins=prompts[0].uid if prompts else "", command=_command(turns, prompts), commits=commits, files=len({e.path for e in edits}),
        touched=_touched(edits, info), tested=last_test(runs), failed=tuple(_failed(runs)), todos=todos_left(turns),
        uncommitted=uncommitted(runs, edits, turns, folder=info.cwd, git=bool(info.branch or commits)),
    )  # fmt: skip


def _prompt(turn: Turn) -> tuple[Quote, bool] | None:
    """The first words of a prompt that says something, and whether they are cut; of a long document its first line that nobody else wrote."""
    for said in utterances(turn):
        if len(body_of(said.text)) >= 4:
            return _begin(turn, said.start, said.end)
    for span in sentences(turn.text[:4000]):
        quote, cut = _begin(turn, span.start, span.end)
        if span.end - span.start >= 8 and turn.origin_of(span.start, quote.end) is Origin.USER:
            return quote, cut
    return None


def _begin(turn: Turn, start: int, end: int) -> tuple[Quote, bool]:
    most = min(end, word_end(turn.text, start, PROMPT_MAX))
    return Quote(turn=turn.uid, start=start, end=most, text=turn.text[start:most]), most < end


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
