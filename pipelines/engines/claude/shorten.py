"""What of a session is shown to a model, turn by turn: typed words and the assistant's whole, tool traffic cut to what decides.

A line depends on its own turn and on earlier ones alone, so a session that grows never changes what was shown before. What can be read again where it came
from (files, listings, what was written) is dropped and told as coverage. The agent program's own words, instruction files, summaries and dreamd's output
are never evidence and never shown; rows of an `events` log are code's to read.
"""

# Word lists read better as text.
# ruff: noqa: SIM905

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pipelines.engines.local.runs import line_of, program_of
from pipelines.model import Call, Origin, Result, Turn

COMMAND_MAX, RESULT_MAX, FAILURE_MAX, OUTSIDE_MAX, REPORT_MAX, SIDE_MAX, ANSWER_MAX = 300, 500, 800, 600, 1_500, 400, 2_000
"""Characters shown of a command, its output, that of a failure, a page, a subagent's report, what a subagent says, and of questions put to the person."""
LINE_MAX = 200
GAP = "…"
"""Stands for what was left out, on a line of its own or at the end of a cut one."""

_LOOKING = frozenset(
    """read grep glob ls search find view notebookread codebase_search list_dir read_file list_files todowrite todoread tasklist taskget taskcreate taskupdate
    toolsearch listmcpresourcestool bashoutput taskoutput killbash killshell taskstop skill enterplanmode""".split()
)
_WRITING = frozenset("edit write multiedit notebookedit apply_patch str_replace_editor create_file write_file".split())
_ASKING = frozenset("askuserquestion exitplanmode request_user_input".split())
_REPORTING = frozenset("task agent".split())
_READING_COMMANDS = frozenset(
    """cat head tail sed awk grep rg ag find ls tree less more nl wc jq yq diff man strings file cut sort cd echo pwd which sleep date stat du ps true
    test mkdir touch""".split()
)
_READING_GIT = frozenset("diff show log status blame ls-files grep branch".split())
_TELLING = re.compile(
    r"error|fail|exception|traceback|cannot|can't|could not|not found|denied|refused|missing|unknown|unsupported|deprecat|warning|passed|invalid|fatal"
    r"|panic|listening|running (?:at|on)|https?://localhost|错误|失败|找不到|拒绝|无法|警告|成功",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A turn as it is shown: `head` says who speaks or what it is, `text` are words of the turn, `GAP` where some are left out."""

    turn: Turn
    head: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortened:
    """The lines of a session in order, and the uids of the tool turns of which something was left out."""

    lines: tuple[Line, ...]
    dumps: tuple[str, ...]


def shorten(turns: Sequence[Turn]) -> Shortened:
    """What is shown of the turns of one session."""
    calls: dict[str, Turn] = {}
    lines: list[Line] = []
    dumps: list[str] = []
    for turn in turns:
        if turn.call is not None:
            calls[turn.call.call_id] = turn
        shown = _shown(turn, calls)
        if shown is not None:
            lines.append(shown)
        if _observable(turn) and (shown is None or shown.text != turn.text.strip()):
            dumps.append(turn.uid)
    return Shortened(lines=tuple(lines), dumps=tuple(dict.fromkeys(dumps)))


def is_typed(turn: Turn) -> bool:
    """Whether a person typed this turn."""
    return turn.origin is Origin.USER and turn.call is None and turn.result is None and turn.event is None and not turn.sidechain


def _observable(turn: Turn) -> bool:
    """Whether a turn is tool traffic that says something: what is left out of it can be read again."""
    tool = turn.call is not None or (turn.result is not None and turn.origin in {Origin.TOOL, Origin.EXTERNAL})
    return tool and bool(turn.text.strip())


def _shown(turn: Turn, calls: Mapping[str, Turn]) -> Line | None:
    if turn.event is not None or not turn.text.strip():
        return None
    if is_typed(turn):
        return Line(turn=turn, head=_typed_head(turn), text=turn.text)
    if turn.call is not None:
        return _call(turn, turn.call)
    if turn.result is not None:
        return _result(turn, turn.result, calls.get(turn.result.call_id))
    if turn.origin is Origin.ASSISTANT:
        text = _clipped(turn.text.strip(), SIDE_MAX) if turn.sidechain else turn.text.strip()
        return Line(turn=turn, head="subagent" if turn.sidechain else "assistant", text=text)
    if turn.origin in {Origin.EXTERNAL, Origin.TOOL} and not turn.sidechain:
        return Line(turn=turn, head="outside text" if turn.origin is Origin.EXTERNAL else "tool", text=_clipped(turn.text.strip(), OUTSIDE_MAX))
    return None


def _typed_head(turn: Turn) -> str:
    who = "user" if turn.speaker is None else f"user {_name(turn.speaker)}"
    if turn.memory:
        return f"{who}, to be remembered"
    return f"{who}, having stopped the last command" if turn.corrects is not None else who


def _name(speaker: str) -> str:
    return " ".join(re.sub(r"[^\w .'-]", " ", speaker).split())[:40]


# --- calls -------------------------------------------------------------------------------------------------------------------------------


def _call(turn: Turn, call: Call) -> Line | None:
    """A call a reader needs to understand what follows: a command that does something, a question put to the person, work handed on."""
    name = call.name.casefold()
    if turn.sidechain or name in _LOOKING or name in _WRITING:
        return None
    if call.command is not None:
        return None if _only_looks(turn) else Line(turn=turn, head="runs", text=_clipped(turn.text.strip(), COMMAND_MAX))
    if name in _ASKING:
        return Line(turn=turn, head="assistant asks", text=_clipped(turn.text.strip(), ANSWER_MAX))
    return Line(turn=turn, head=f"calls {_name(call.name)}", text=_clipped(turn.text.strip(), COMMAND_MAX))


def _only_looks(turn: Turn) -> bool:
    """Whether a shell line reads and does nothing: what it shows can be read again."""
    parts = line_of(turn)
    return bool(parts) and all(_reads(part.words) for part in parts)


def _reads(words: Sequence[str]) -> bool:
    program = program_of(words)
    if program == "git":
        return len(words) > 1 and words[1] in _READING_GIT
    return not words or program in _READING_COMMANDS


# --- results -----------------------------------------------------------------------------------------------------------------------------


def _result(turn: Turn, result: Result, call: Turn | None) -> Line | None:
    """What came back, as far as it decides: an answer of the person, a failure, the telling lines of a command's output."""
    if turn.origin not in {Origin.TOOL, Origin.EXTERNAL, Origin.USER}:
        return None
    name = call.call.name.casefold() if call is not None and call.call is not None else ""
    text = turn.text.strip()
    if name in _ASKING or turn.origin is Origin.USER:
        return Line(turn=turn, head="answer", text=_clipped(text, ANSWER_MAX))
    if turn.sidechain:
        return None
    if result.refused or result.interrupted:
        return Line(turn=turn, head="refused by the user" if result.refused else "interrupted", text=_clipped(text, FAILURE_MAX))
    if result.failed or result.exit:
        return Line(turn=turn, head=f"{_about(call)}failed{_status(result)}", text=_telling(text, FAILURE_MAX))
    if name in _LOOKING or name in _WRITING or (call is not None and _only_looks(call)):
        return None
    if name in _REPORTING:
        return Line(turn=turn, head="subagent reports", text=_clipped(text, REPORT_MAX))
    if turn.origin is Origin.EXTERNAL:
        return Line(turn=turn, head="outside text", text=_clipped(text, OUTSIDE_MAX))
    return Line(turn=turn, head=f"result{_status(result)}", text=_telling(text, RESULT_MAX))


def _about(call: Turn | None) -> str:
    """What failed, where the call itself was not shown."""
    if call is None or call.call is None or _call(call, call.call) is not None:
        return ""
    return f"{_name(call.call.name)} "


def _status(result: Result) -> str:
    if result.timed_out:
        return ", timed out"
    return f", exit {result.exit}" if result.exit else ""


# --- cutting -----------------------------------------------------------------------------------------------------------------------------


def _clipped(text: str, longest: int) -> str:
    """The head and the tail of a text, cut between words."""
    if len(text) <= longest:
        return text
    tail = longest // 4
    head = _until_space(text[: longest - tail])
    end = text[-tail:]
    at = next((n for n, ch in enumerate(end) if ch.isspace()), -1)
    return f"{head} {GAP}\n{GAP} {end[at + 1 :]}"


def _until_space(text: str) -> str:
    cut = max(text.rfind(" "), text.rfind("\n"))
    return text[:cut].rstrip() if cut > len(text) // 2 else text


def _telling(text: str, longest: int) -> str:
    """The first lines, the lines that tell how it went, and the last ones, in order and each cut, until `longest` characters are full."""
    lines = text.split("\n")
    if len(text) <= longest and all(len(line) <= LINE_MAX for line in lines):
        return text
    kept: set[int] = set()
    room = longest
    for n in _by_weight(lines):
        size = min(len(lines[n]), LINE_MAX) + 1
        if n not in kept and size <= room and lines[n].strip():
            kept.add(n)
            room -= size
    return "\n".join(_with_gaps(lines, sorted(kept)))


def _by_weight(lines: Sequence[str]) -> Iterator[int]:
    last = len(lines) - 1
    yield from (0, 1, last, last - 1)[: len(lines)]
    told = 0
    for n, line in enumerate(lines[:2_000]):
        if told < 12 and _TELLING.search(line[:LINE_MAX]):
            told += 1
            yield n
    yield from (n for n in range(2, min(6, len(lines))))


def _with_gaps(lines: Sequence[str], kept: Sequence[int]) -> Iterator[str]:
    before = -1
    for n in kept:
        if n != before + 1:
            yield GAP
        line = lines[n]
        yield line if len(line) <= LINE_MAX else f"{_until_space(line[:LINE_MAX])} {GAP}"
        before = n
    if kept and kept[-1] != len(lines) - 1:
        yield GAP
