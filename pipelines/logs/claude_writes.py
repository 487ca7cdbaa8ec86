"""Tells which tool calls write an agent's notes, and what they write there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipelines.logs.origins import is_memory_file
from pipelines.model import Call

NOTE_CHARS_MAX = 256_000
"""A note longer than this is no note; the write is left to the files themselves."""


def written_by(call: Call) -> Mapping[str, Any] | None:
    """The write a call makes into a memory folder, JSON-able: `path` with `content`, `edits` (old and new text) or `deleted`; None for other calls."""
    arguments = call.arguments
    path = call.path
    if path is None or not is_memory_file(path):
        return None
    command = arguments.get("command") if "memory" in call.name.lower() else None
    if command is not None:
        return _memory_tool(str(command), path, arguments)
    if call.name in {"Write", "write_file", "create_file", "memory_write"}:
        return _whole(path, arguments.get("content"))
    if call.name in {"Edit", "StrReplace", "str_replace_editor"}:
        return _edits(path, [arguments])
    if call.name == "MultiEdit" and isinstance(edits := arguments.get("edits"), list):
        return _edits(path, edits)
    return None


def deletes_notes(write: Mapping[str, Any]) -> bool:
    """Whether a write removes its file."""
    return write.get("deleted") is True


def _memory_tool(command: str, path: str, arguments: Mapping[str, object]) -> Mapping[str, Any] | None:
    match command:
        case "create":
            return _whole(path, arguments.get("file_text", arguments.get("content")))
        case "str_replace":
            return _edits(path, [{"old_string": arguments.get("old_str"), "new_string": arguments.get("new_str")}])
        case "insert":
            return _edits(path, [{"old_string": "", "new_string": arguments.get("insert_text", arguments.get("new_str"))}])
        case "delete":
            return {"path": path, "deleted": True}
        case _:
            return None


def _whole(path: str, content: object) -> Mapping[str, Any] | None:
    return {"path": path, "content": content} if isinstance(content, str) and len(content) <= NOTE_CHARS_MAX else None


def _edits(path: str, edits: list[Any]) -> Mapping[str, Any] | None:
    pairs = [[edit.get("old_string"), edit.get("new_string")] for edit in edits if isinstance(edit, Mapping)]
    usable = [pair for pair in pairs if all(isinstance(text, str) and len(text) <= NOTE_CHARS_MAX for text in pair)]
    return {"path": path, "edits": usable} if usable else None
