"""Decides who really speaks: in a typed message, in a tool's result, in a file that was read (DESIGN §1).

Agent programs put much into a person's mouth: command bodies, reminders, hook output, notices. People paste logs, plans, code and other agents' words
into what they type. Whatever is not surely typed by the person is not theirs: a wrong "user" makes a rule of a log line, a missed one costs a draft.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import PurePosixPath
from typing import NamedTuple

from pipelines.logs.pasted import quoted_spans
from pipelines.model import Origin


class Part(NamedTuple):
    """A stretch of one message with its speaker. `quoted` are the spans of a typed part that the person only repeats; `memory` marks `#` memories."""

    origin: Origin
    text: str
    memory: bool = False
    quoted: tuple[tuple[int, int], ...] = ()


def parts_of_message(text: str) -> tuple[Part, ...]:
    """A message an agent program filed under the person's name, cut by speaker; frames come first, what the person typed around them last.

    What is typed is one part: the text with the frames taken out, verbatim at each piece.
    """
    if origin := _whole(text):
        return (Part(origin=origin, text=text),)
    rest, parts = _without_frames(text, _FRAME)
    typed = rest.strip()
    if command := _SLASH_COMMAND.fullmatch(typed):
        parts.append(Part(origin=Origin.HARNESS, text=command["name"]))
        typed = command["rest"].strip()
    if not typed:
        return tuple(parts)
    if "<task-notification>" in text and _NOTICE.search(text):
        return (*parts, Part(origin=Origin.HARNESS, text=typed))
    return (*parts, Part(origin=Origin.USER, text=typed, quoted=quoted_spans(typed)))


def parts_of_result(text: str, origin: Origin) -> tuple[Part, ...]:
    """A tool's result: its own words first (even when there are none), then the reminders and briefs the program put into it."""
    if not any(map(text.__contains__, _OPENINGS_INSIDE)):  # nearly always, and twenty times as fast as to look for whole frames
        return (Part(origin=origin, text=text),)
    rest, parts = _without_frames(text, _INSIDE_RESULTS)
    return (Part(origin=origin, text=rest), *parts)


def origin_of_result(name: str, arguments: Mapping[str, object]) -> Origin:
    """Whose words a tool's result holds, from the call alone: this session's own command or file, or what others wrote."""
    if name in _OF_OTHERS or name.startswith("mcp__") or name.endswith(("_fetch", "_search")):
        return Origin.EXTERNAL
    if name in _OF_HARNESS:
        return Origin.HARNESS
    command = arguments.get("command")
    if isinstance(command, str) and not name.lower().startswith("memory"):
        return _origin_of_command(command)
    for key in ("file_path", "path", "notebook_path"):
        path = arguments.get(key)
        if isinstance(path, str):
            return origin_of_file(path)
    return Origin.TOOL


@lru_cache(maxsize=4096)
def origin_of_file(path: str) -> Origin:
    """Whose words a file of the session's own machine holds: instruction files, an agent's notes, mails and tickets, or just files."""
    pure = PurePosixPath(path.replace("\\", "/"))
    if pure.name in INSTRUCTION_FILES:
        return Origin.INSTRUCTIONS
    if is_memory_file(path):
        return Origin.MODEL_SUMMARY
    folders = {part.lower() for part in pure.parts[:-1]}
    if pure.suffix.lower() in {".eml", ".mbox", ".msg"} or folders & {"tickets", "mails", "emails", "inbox"}:
        return Origin.EXTERNAL
    return Origin.TOOL


@lru_cache(maxsize=4096)
def is_memory_file(path: str) -> bool:
    """Whether a file holds an agent's own notes: MEMORY.md, or text below a folder `memory` or `memories`."""
    pure = PurePosixPath(path.replace("\\", "/"))
    if pure.name == "MEMORY.md":
        return True
    folders = pure.parts[:-1]
    return pure.suffix.lower() in {".md", ".txt", ".xml", ""} and ("memories" in folders or ("memory" in folders and pure.suffix == ".md"))


INSTRUCTION_FILES = frozenset({"CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENTS.override.md", "GEMINI.md", ".cursorrules", "copilot-instructions.md"})

_OF_OTHERS = frozenset(
    {
        "WebFetch",
        "WebSearch",
        "web_search",
        "web_fetch",
        "Task",
        "Agent",
        "TaskOutput",
        "AgentOutputTool",
        "ReadMcpResourceTool",
        "ReadMcpResource",
        "SendMessage",
    }
)
_OF_HARNESS = frozenset(
    {
        "AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "Skill", "SlashCommand", "TodoWrite", "TodoRead", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet",
        "ToolSearch", "ListMcpResourcesTool",
    }
)  # fmt: skip

# --- commands ----------------------------------------------------------------------------------------------------------------------------

_SEGMENT = re.compile(r"[|;&(\n]+")
_FETCHES = re.compile(r"(?:^|\s)(?:curl|wget|http|https|lynx|w3m|xh)\s")
_ELSEWHERE = re.compile(r"https?://(?!(?:localhost|127\.|0\.0\.0\.0|\[::1\]))")
_TRACKERS = re.compile(
    r"(?:\A|[|;&(\n])[^\S\n]*(?:gh[^\S\n]+(?:issue|pr|api|search|discussion)|glab[^\S\n]+(?:issue|mr|api)|jira|linear|himalaya|mutt|notmuch)[^\S\n]"
)
"""A command that prints tickets or mails, where one may begin. No blank before it is a line's end: of many empty lines each would be read from each."""
_PRINTS = re.compile(r"(?:^|[|;&(\n][ \t]*)(?:cat|bat|head|tail|less|more|sed|awk|grep|rg)\s+(?!<<)(?P<words>[^|;&<>\n]*)")
_DREAMD = re.compile(r"(?:^|[|;&(]\s*)(?:[^\s|;&()]*/)?dreamd\s")
_WORD = re.compile(r"[^\s'\"|;&()<>]+")


def _origin_of_command(command: str) -> Origin:
    if _DREAMD.search(command):
        return Origin.SELF
    if _TRACKERS.search(command) or ("://" in command and any(_fetches(segment) for segment in _SEGMENT.split(command))):
        return Origin.EXTERNAL
    origins = {origin_of_file(word) for printed in _PRINTS.finditer(command) for word in _WORD.findall(printed["words"])}
    return next((origin for origin in (Origin.MODEL_SUMMARY, Origin.INSTRUCTIONS, Origin.EXTERNAL) if origin in origins), Origin.TOOL)


def _fetches(segment: str) -> bool:
    """Whether one simple command prints a page of another host."""
    return _FETCHES.search(segment) is not None and _ELSEWHERE.search(segment) is not None


# --- frames ------------------------------------------------------------------------------------------------------------------------------

_HARNESS_TAGS = (
    "system-reminder", "system_reminder", "command-name", "command-message", "command-contents", "local-command-stdout", "local-command-stderr",
    "local-command-caveat", "task-notification", "ide_opened_file", "ide_selection", "ide_diagnostics", "new-diagnostics", "environment_context",
    "environment_details", "tool_use_error", "post-tool-use-hook", "user-prompt-submit-hook", "session-start-hook", "hook-output", "fork-boilerplate",
    "background-task-output", "env", "tick", "channel", "functions",
)  # fmt: skip
_TAGS: Mapping[str, Origin] = {
    **dict.fromkeys(_HARNESS_TAGS, Origin.HARNESS),
    "dreamd-brief": Origin.SELF,
    "claude-mem-context": Origin.SELF,
    "user_instructions": Origin.INSTRUCTIONS,
    "INSTRUCTIONS": Origin.INSTRUCTIONS,
    "teammate-message": Origin.ASSISTANT,
    "bash-stdout": Origin.TOOL,
    "bash-stderr": Origin.TOOL,
    "command-args": Origin.USER,
    "bash-input": Origin.USER,
    "user-memory-input": Origin.USER,
}
_ANYWHERE = "system-reminder|system_reminder|dreamd-brief"


def _frame(anywhere: str, at_line_start: str | None) -> re.Pattern[str]:
    opening = rf"<(?P<a>{anywhere})(?=[\s>])[^<>]*>" + (rf"|(?:^|(?<=>))[ \t]*<(?P<b>{at_line_start})(?=[\s>])[^<>]*>" if at_line_start else "")
    closing = r"</(?P=a)>|\Z" if not at_line_start else r"(?:(?(a)</(?P=a)>|</(?P=b)>))|\Z"
    return re.compile(rf"(?:{opening})(?P<body>.*?)(?:{closing})", re.DOTALL | re.MULTILINE)


_FRAME = _frame(_ANYWHERE, "|".join(map(re.escape, _TAGS)) + "|[a-z-]+-hook")
_INSIDE_RESULTS = _frame(_ANYWHERE, None)
_OPENINGS_INSIDE = tuple(f"<{tag}" for tag in _ANYWHERE.split("|"))
_INSTRUCTIONS = re.compile(r"^# claudeMd\b|Contents of \S*(?:CLAUDE(?:\.local)?|AGENTS|MEMORY)\.md|^# AGENTS\.md instructions", re.MULTILINE)

# A notice of the program is its own to the end: it closes with what to do next.
_NOTICE = re.compile(r"^[ \t]*<task-notification>", re.MULTILINE)
_SLASH_COMMAND = re.compile(r"(?P<name>/[A-Za-z][\w:.-]*)(?P<rest>(?:\s.*)?)", re.DOTALL)

_PREFIXES: tuple[tuple[str, Origin], ...] = (
    ("Caveat: The messages below were generated by the user while running local commands", Origin.HARNESS),
    ("[Request interrupted by user", Origin.HARNESS),
    ("(no content)", Origin.HARNESS),
    ("Base directory for this skill:", Origin.HARNESS),
    ("Please analyze this codebase and create a CLAUDE.md file", Origin.HARNESS),
    ("Your task is to create a detailed summary of the conversation so far", Origin.HARNESS),
    ("Your task is to create a detailed summary of the RECENT portion", Origin.HARNESS),
    ("Stop hook feedback:", Origin.HARNESS),
    ("Stop hook blocking error", Origin.HARNESS),
    ("Unknown slash command:", Origin.HARNESS),
    ("Implement the following plan:", Origin.ASSISTANT),
    ("This session is being continued from a previous conversation", Origin.MODEL_SUMMARY),
    ("# AGENTS.md instructions", Origin.INSTRUCTIONS),
)


_ALL_PREFIXES = tuple(prefix for prefix, _ in _PREFIXES)


def _whole(text: str) -> Origin | None:
    start = text.lstrip()
    return next(origin for prefix, origin in _PREFIXES if start.startswith(prefix)) if start.startswith(_ALL_PREFIXES) else None


def _without_frames(text: str, frame: re.Pattern[str]) -> tuple[str, list[Part]]:
    """The text around the frames, and a part for each frame that holds words.

    Text put together around a frame that was cut out of its middle would say what nobody said: a newline keeps its halves apart.
    """
    if "<" not in text:
        return text, []
    around: list[str] = []
    parts: list[Part] = []
    at = 0
    for found in frame.finditer(text):
        around.append(text[at : found.start()])
        parts += _framed(found)
        at = found.end()
    if not around:
        return text, []
    around.append(text[at:])
    return "\n".join(piece.strip("\n") for piece in around if piece.strip()), parts


def _framed(found: re.Match[str]) -> Iterator[Part]:
    groups = found.groupdict()
    tag = groups["a"] or groups.get("b") or ""
    origin = _TAGS.get(tag, Origin.HARNESS)
    body = found["body"].strip()
    if not body:
        return
    if "<dreamd-brief" in found[0]:
        origin = Origin.SELF
    elif origin is Origin.HARNESS and _INSTRUCTIONS.search(body):
        origin = Origin.INSTRUCTIONS
    part = Part(origin=origin, text=body, memory=tag == "user-memory-input")
    yield part._replace(quoted=quoted_spans(body)) if origin is Origin.USER else part
