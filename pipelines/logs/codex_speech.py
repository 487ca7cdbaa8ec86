"""Tells who really speaks in a Codex message of role user: the person, the program, an instruction file, a model's summary.

Codex puts its environment, instruction files, skills, notices and IDE state into the user's mouth, often in one message with what the person typed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pipelines.logs.origins import Part, parts_of_message
from pipelines.model import Origin

_TAGS = {
    "user_instructions": Origin.INSTRUCTIONS,
    "INSTRUCTIONS": Origin.INSTRUCTIONS,
    "memories": Origin.INSTRUCTIONS,
    "dreamd-brief": Origin.SELF,
    **dict.fromkeys(
        (
            "environment_context", "turn_context", "turn_aborted", "permissions instructions", "collaboration_mode", "personality_spec", "model_switch",
            "multi_agent_mode", "skill", "skills_instructions", "apps_instructions", "plugins_instructions", "recommended_plugins", "subagent_notification",
            "user_action", "user_shell_command", "current_time_reminder", "hook_prompt", "codex_internal_context", "system_reminder", "realtime_conversation",
        ),
        Origin.HARNESS,
    ),
}  # fmt: skip
_BLOCK = re.compile(
    r"^[ \t]*(?:\# AGENTS\.md instructions[^\n]*\n\s*)?<(" + "|".join(map(re.escape, _TAGS)) + r")(?:\s[^>\n]*)?>.*?(?:</\1>[ \t]*\n?|\Z)",
    re.DOTALL | re.MULTILINE,
)
_WRAPPED = re.compile(r"\s*<([a-z]+(?:_[a-z]+)+)>.*</\1>\s*", re.DOTALL)
_IMAGE = re.compile(r"\s*</?image(?:\s[^>\n]*)?>\s*")
_REQUEST = re.compile(r"^\#\# My request for Codex:?[ \t]*\n?", re.MULTILINE)
_PREFIXES = (
    ("Another language model started to solve this problem", Origin.MODEL_SUMMARY),
    ("You are performing a CONTEXT CHECKPOINT COMPACTION", Origin.HARNESS),
    ("Continue working toward the active thread goal.", Origin.HARNESS),
    ("# AGENTS.md instructions", Origin.INSTRUCTIONS),
)


def parts_of(texts: Iterable[str], *, typed: Origin) -> tuple[Part, ...]:
    """The texts of one message cut into parts by speaker, in order; what nobody else says is `typed`, and neighbours of it are one part."""
    cut: list[tuple[Origin, str]] = []
    for origin, text in (part for given in texts if not _IMAGE.fullmatch(given) for part in _parts(given, typed)):
        if not text.strip():
            continue
        if origin is typed and cut and cut[-1][0] is typed:
            cut[-1] = (typed, f"{cut[-1][1]}\n{text}")
        else:
            cut.append((origin, text))
    parts: list[Part] = []
    for origin, text in cut:
        parts += parts_of_message(text) if origin is Origin.USER else [Part(origin=origin, text=text)]
    return tuple(parts)


def _parts(text: str, typed: Origin) -> Iterator[tuple[Origin, str]]:
    start = text.lstrip()
    for prefix, origin in _PREFIXES:
        if start.startswith(prefix) and not _BLOCK.match(start):
            yield origin, text
            return
    if _WRAPPED.fullmatch(text) and not _BLOCK.match(start):
        yield Origin.HARNESS, text
        return
    requests = list(_REQUEST.finditer(text)) if start.startswith("# ") else []
    if requests:
        # What an IDE shows may hold the marker too: only what stands behind the last one is surely typed.
        yield Origin.HARNESS, text[: requests[-1].start()]
        text = text[requests[-1].end() :].strip("\n")
    yield from _around_blocks(text, typed)


def _around_blocks(text: str, typed: Origin) -> Iterator[tuple[Origin, str]]:
    position = 0
    for block in _BLOCK.finditer(text):
        yield typed, text[position : block.start()]
        yield _TAGS[block[1]], block[0]
        position = block.end()
    yield typed, text[position:]
