"""Reads what a tool gave back in a Claude Code log: its text, how it ended, and the person's own words that came with it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from pipelines.model import Call, Result

_EXIT = re.compile(r"\s*(?:Error:\s*)?Exit code (-?\d+)\b")
_TIMED_OUT = re.compile(r"\s*(?:Error:\s*)?(?:<tool_use_error>)?\s*(?:Command|Request|Tool|Operation)\b[^\n]{0,40}\btimed out\b", re.IGNORECASE)
_REFUSED = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action",
    "User rejected",
    "Permission prompt was aborted",
    "Claude requested permissions to",
    "Permission to use",
)
_INTERRUPTED = ("[Request interrupted by user", "Interrupted by user", "The user interrupted")
_REASON = re.compile(
    r"(?:To tell you how to proceed, the user said|the user said|The user provided the following reason for the rejection):\s*\n?(.+)", re.DOTALL
)
_NOTE_TO_MODEL = re.compile(r"\n+Note: The user's next message may contain\b.*", re.DOTALL)
_SHELLS = frozenset({"Bash", "PowerShell"})


def result_of(call_id: str, name: str, block: Mapping[str, Any], raw: object) -> tuple[str, Result]:
    """The text of a result and how the call ended. `raw` is the record's `toolUseResult`: an object, "Error: …", or nothing.

    `exit` is 0 for a shell command only where the log says that nothing failed: Claude Code marks every other status as an error, or interprets it.
    """
    text = text_of(block.get("content"))
    told: Mapping[str, Any] = raw if isinstance(raw, Mapping) else {}
    start = text.lstrip()
    is_error = block.get("is_error") is True
    refused = is_error and start.startswith(_REFUSED)
    interrupted = told.get("interrupted") is True or told.get("wasInterrupted") is True or start.startswith(_INTERRUPTED)
    timed_out = is_error and _TIMED_OUT.match(text) is not None
    code = None if timed_out or refused else _exit_code(name, text, told, is_error, interrupted)
    failed = is_error or bool(code) or refused or timed_out or interrupted
    return text, Result(call_id=call_id, exit=code, failed=failed, timed_out=timed_out, interrupted=interrupted, refused=refused)


def _exit_code(name: str, text: str, told: Mapping[str, Any], is_error: bool, interrupted: bool) -> int | None:
    for key in ("exitCode", "exit_code", "returnCode"):
        if isinstance(code := told.get(key), int) and not isinstance(code, bool):
            return code
    if is_error:
        return int(found[1]) if (found := _EXIT.match(text)) else None
    is_silent = interrupted or told.get("backgroundTaskId") or told.get("returnCodeInterpretation") or "stdout" not in told
    return None if is_silent or name not in _SHELLS else 0


def answers_of(name: str, block: Mapping[str, Any], raw: object, result: Result) -> tuple[str, ...]:
    """Words of the person that came inside a result: answers to the agent's questions, the reason given with a refusal."""
    if result.refused:
        found = _REASON.search(text_of(block.get("content")))
        words = _NOTE_TO_MODEL.sub("", found[1]).strip() if found else ""
        return (words,) if words else ()
    answers = raw.get("answers") if name == "AskUserQuestion" and isinstance(raw, Mapping) else None
    if not isinstance(answers, Mapping):
        return ()
    return tuple(answer.strip() for answer in answers.values() if isinstance(answer, str) and answer.strip())


def text_of(content: object) -> str:
    """The text of a content: a string, a block, a file, or a list of those joined by newlines; "" for what holds no text."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(text for text in map(text_of, content) if text)
    if isinstance(content, Mapping):
        return next((text for key in ("text", "content", "file", "stdout", "title") if (text := text_of(content.get(key)))), "")
    return ""


def words_of(call: Call) -> str:
    """A call as text to search and quote: its command where it runs one, else its arguments as JSON."""
    if call.name in _SHELLS and call.command is not None:
        return call.command
    return _AS_JSON.encode(dict(call.arguments)) if call.arguments else call.name


_AS_JSON = json.JSONEncoder(ensure_ascii=False, default=str)
