"""What happened in a session, from its records alone: when, on which branch, what was asked first, which commits came out, what was left open.

No judgement and no meaning: every entry is a line of the log, quoted. It feeds `recent.md` and the brief's Waiting section, never a note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from pipelines.engines.local.runs import Ended, Run, runs_of, worth_telling
from pipelines.engines.local.speech import body_of, typed, utterances
from pipelines.model import Origin, Quote, Role, Turn
from pipelines.ports import Window
from pipelines.text.sentences import sentences

PROMPT_MAX = 120
QUESTION_MAX = 160
FILES_MAX = 50
LAST_SENTENCES = 12

_COMMIT = re.compile(r"^\[(?P<branch>[^\s\]]+)(?: \([^)]*\))? (?P<sha>[0-9a-f]{7,40})\] (?P<subject>\S.*?)[ \t]*$", re.MULTILINE)
_STATUS_SHORT = re.compile(r"^(?P<state>[ MADRCU?!]{2}) (?P<path>\S.*?)[ \t]*$")
_STATUS_LONG = re.compile(r"^\t(?:(?:modified|new file|deleted|renamed|both modified|typechange):\s+)?(?P<path>\S.*?)[ \t]*$")
_CLEAN = re.compile(r"nothing to commit|working tree clean")
_WRITING_TOOLS = frozenset(
    {
        "write",
        "edit",
        "multiedit",
        "notebookedit",
        "create_file",
        "str_replace",
        "str_replace_editor",
        "str_replace_based_edit_tool",
        "replace",
        "write_file",
        "edit_file",
    }
)
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (?P<path>.+?)\s*$", re.MULTILINE)
_CHECKS = re.compile(r"\b(?:test|tests|pytest|vitest|jest|build|compile|check|check-types|typecheck|lint|tsc|mypy|ruff|clippy|credo|dialyzer|ctest|tox|nox)\b")
_AT_WORK = frozenset({Origin.USER, Origin.ASSISTANT, Origin.TOOL, Origin.EXTERNAL})
_NO_QUESTION = re.compile(
    r"\b(?:anything else|let me know|need anything|help you with|what would you like|shall we continue|else (?:I|you)|questions\?)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """A commit as `git commit` printed it."""

    branch: str
    sha: str
    subject: str
    quote: Quote


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkRecord:
    """One session's work. Times are those of the first and last dated words or results in it, what the agent program says around them left out; quotes
    stand verbatim in their turns.

    `branch` is the last one the log names. `first_prompt` is what the person typed first, at most 120 characters. `failed` are the checks (tests, builds)
    whose last run failed. `open_question` is what the assistant asked last without an answer. `uncommitted` are the paths of the last `git status`, when
    nothing was committed after it.
    """

    session: str
    agent: str | None
    started: datetime | None
    ended: datetime | None
    branch: str | None
    prompts: int
    first_prompt: Quote | None
    commits: tuple[Commit, ...] = ()
    files: int = 0
    failed: tuple[str, ...] = ()
    open_question: Quote | None = None
    uncommitted: tuple[str, ...] = ()
    uncommitted_seen: Quote | None = None


def work_log(window: Window) -> WorkRecord | None:
    """The record of a session; None when nobody typed anything in it and no command ran."""
    turns = tuple(t for t in window.turns if not t.sidechain)
    prompts = [t for t in turns if typed(t)]
    runs = tuple(runs_of(turns))
    if not prompts and not runs:
        return None
    commits = tuple(_commits(runs))
    times = [t.at for t in turns if t.at is not None and t.origin in _AT_WORK]
    status = _status(runs)
    return WorkRecord(
        session=window.session.uid,
        agent=window.session.agent,
        started=min(times, default=None),
        ended=max(times, default=None),
        branch=commits[-1].branch if commits else window.session.branch,
        prompts=len(prompts),
        first_prompt=next((q for q in map(_prompt, prompts) if q is not None), None),
        commits=commits,
        files=len(set(_edited(turns))),
        failed=tuple(_failed(runs)),
        open_question=_open_question(turns),
        uncommitted=status[0],
        uncommitted_seen=status[1],
    )


def _quote(turn: Turn, start: int, end: int) -> Quote:
    return Quote(turn=turn.uid, start=start, end=end, text=turn.text[start:end])


def _prompt(turn: Turn) -> Quote | None:
    """The first words of a prompt that says something; of a long document its first line that nobody else wrote."""
    for said in utterances(turn):
        if len(body_of(said.text)) >= 4:
            return _quote(turn, said.start, min(said.end, _word_end(turn.text, said.start, PROMPT_MAX)))
    for span in sentences(turn.text[:4000]):
        end = min(span.end, _word_end(turn.text, span.start, PROMPT_MAX))
        if span.end - span.start >= 8 and turn.origin_of(span.start, end) is Origin.USER:
            return _quote(turn, span.start, end)
    return None


def _word_end(text: str, start: int, limit: int) -> int:
    """Where at most `limit` characters from `start` end without cutting a word of letters."""
    end = min(len(text), start + limit)
    while start < end < len(text) and text[end - 1 : end + 1].isascii() and text[end - 1 : end + 1].isalnum():
        end -= 1
    return end if end > start else min(len(text), start + limit)


def _commits(runs: Sequence[Run]) -> Iterator[Commit]:
    seen: set[str] = set()
    for run in runs:
        if run.part.words[:1] != ("git",) or "commit" not in run.part.words[:4]:
            continue
        for found in _COMMIT.finditer(run.result.text):
            if found["sha"] not in seen:
                seen.add(found["sha"])
                yield Commit(branch=found["branch"], sha=found["sha"], subject=found["subject"], quote=_quote(run.result, *found.span()))


def _edited(turns: Sequence[Turn]) -> Iterator[str]:
    """Paths of the files that editing tools and patches touched, failed calls left out."""
    failed = {t.result.call_id for t in turns if t.result is not None and (t.result.failed or t.result.refused)}
    for turn in turns:
        call = turn.call
        if call is None or call.call_id in failed:
            continue
        if call.name.casefold() in _WRITING_TOOLS and call.path:
            yield call.path
        for given in (call.command, call.arguments.get("input"), call.arguments.get("patch")):
            if isinstance(given, str) and "*** Begin Patch" in given:
                yield from (found["path"] for found in _PATCHED.finditer(given))


def _failed(runs: Sequence[Run]) -> Iterator[str]:
    """Checks whose last run with a known end failed."""
    last: dict[str, Run] = {}
    for run in runs:
        if run.ended is not Ended.UNKNOWN and worth_telling(run.part) and _CHECKS.search(run.command):
            last[run.command] = run
    yield from (command for command, run in last.items() if run.ended is Ended.FAILED)


def _status(runs: Sequence[Run]) -> tuple[tuple[str, ...], Quote | None]:
    """What the last `git status` of the session lists; after a commit only what was not staged for it, and nothing once more was staged."""
    committed = False
    for run in reversed(runs):
        words = run.part.words
        if words[:1] != ("git",) or run.ended is Ended.FAILED:
            continue
        if words[1:2] == ("status",):
            return _listed(run.result, committed=committed)
        if "commit" in words[:4]:
            committed = True
            if any(re.match(r"-[a-z]*a[a-z]*$|--all$", word) for word in words):
                return (), None
        elif words[1:2] in {("add",), ("stash",), ("checkout",), ("restore",), ("reset",), ("clean",), ("rm",), ("mv",)}:
            return (), None
    return (), None


def _listed(turn: Turn, *, committed: bool) -> tuple[tuple[str, ...], Quote | None]:
    if _CLEAN.search(turn.text):
        return (), None
    found: dict[str, tuple[int, int]] = {}
    staged = False
    for line in re.finditer(r"[^\n]+", turn.text):
        staged = line.group().startswith("Changes to be committed") or (staged and not line.group().startswith(("Changes not staged", "Untracked files")))
        short, long = _STATUS_SHORT.match(line.group()), _STATUS_LONG.match(line.group())
        entry = short or long
        ready = short["state"][1] == " " if short else staged
        if entry is not None and not (committed and ready) and len(found) < FILES_MAX:
            found.setdefault(entry["path"], line.span())
    if not found:
        return (), None
    return tuple(found), _quote(turn, *next(iter(found.values())))


def _open_question(turns: Sequence[Turn]) -> Quote | None:
    """The question with which the assistant's last words end, when the person typed nothing after it."""
    for turn in reversed(turns):
        if typed(turn):
            return None
        if turn.role is Role.ASSISTANT and turn.origin is Origin.ASSISTANT and turn.call is None and turn.text.strip():
            return _asked(turn)
    return None


def _asked(turn: Turn) -> Quote | None:
    """The last question among the last sentences of a turn, cut to the length of a quote."""
    for span in reversed(sentences(turn.text)[-LAST_SENTENCES:]):
        asked = span.of(turn.text).rstrip("*_\"'”) ")
        if asked.endswith(("?", "？")) and not _NO_QUESTION.search(asked):
            lead = len(asked) - len(asked.lstrip("*_"))
            return _quote(turn, span.start + lead, min(span.start + len(asked), _word_end(turn.text, span.start + lead, QUESTION_MAX)))
    return None
