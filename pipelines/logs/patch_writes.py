"""Tells what calls outside Claude Code write into memory folders: `apply_patch` envelopes, and the memory tools they share.

A write waits in the reader's carry until the call's result says that it happened.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from pipelines.logs.claude_writes import NOTE_CHARS_MAX, written_by
from pipelines.logs.origins import is_memory_file
from pipelines.logs.reader import WrittenNote
from pipelines.model import Call, Result

WRITES_HELD = 8
"""How many calls that write notes may wait for their results at once."""

_BEGIN, _END = "*** Begin Patch", "*** End Patch"
_FILE = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)")
_MOVE = re.compile(r"\*\*\* Move to: (.+)")


def hold_writes(held: dict[str, Any], call: Call, *, session: str, turn: str) -> None:
    """Remembers under its call id what a call would write into a memory folder."""
    writes = writes_of(call)
    if not writes:
        return
    held[call.call_id] = {"writes": writes, "session": session, "turn": turn}
    while len(held) > WRITES_HELD:
        del held[next(iter(held))]


def writes_done(held: dict[str, Any], result: Result, at: datetime | None) -> Iterator[WrittenNote]:
    """The notes that a call wrote, now that its result says it succeeded; nothing for one that failed or was refused."""
    waited = held.pop(result.call_id, None)
    if waited is None or result.failed or result.refused or result.interrupted:
        return
    for write in waited["writes"]:
        yield WrittenNote(
            path=write["path"],
            session=waited["session"],
            turn=waited["turn"],
            content=write.get("content"),
            edits=tuple((old, new) for old, new in write.get("edits", ())),
            at=at,
            deleted=write.get("deleted") is True,
        )


def writes_of(call: Call) -> list[Mapping[str, Any]]:
    """The writes of one call, JSON-able: `path` with `content`, `edits` (old and new text) or `deleted`."""
    if write := written_by(call):
        return [write]
    patch = _patch_of(call)
    return [write for write in _patched(patch) if is_memory_file(write["path"])] if patch and len(patch) <= NOTE_CHARS_MAX else []


def _patch_of(call: Call) -> str | None:
    """The patch a call applies: its free input, or the argument of a shell's `apply_patch`."""
    given = call.arguments.get("input") if call.name == "apply_patch" else call.command
    if not isinstance(given, str) or (call.name != "apply_patch" and "apply_patch" not in given):
        return None
    begin, end = given.find(_BEGIN), given.rfind(_END)
    return given[begin + len(_BEGIN) : end] if 0 <= begin < end else None


def _patched(patch: str) -> Iterator[dict[str, Any]]:
    """The files of a patch, in order."""
    current: dict[str, Any] | None = None
    lines: list[str] = []
    for line in [*patch.split("\n"), "*** Delete File: end"]:
        if found := _FILE.fullmatch(line.rstrip("\r")):
            if current is not None:
                yield _finished(current, lines)
            current, lines = {"path": found[2].strip(), "verb": found[1]}, []
        elif (moved := _MOVE.fullmatch(line.rstrip("\r"))) and current is not None:
            current["path"] = moved[1].strip()
        else:
            lines.append(line)


def _finished(file: dict[str, Any], lines: list[str]) -> dict[str, Any]:
    if file["verb"] == "Delete":
        return {"path": file["path"], "deleted": True}
    if file["verb"] == "Add":
        return {"path": file["path"], "content": "".join(f"{line[1:]}\n" for line in lines if line.startswith("+"))}
    return {"path": file["path"], "edits": [edit for hunk in _hunks(lines) if (edit := _edit(hunk))[0] != edit[1]]}


def _hunks(lines: list[str]) -> list[list[str]]:
    """The hunks of one updated file: `@@` begins the next."""
    hunks: list[list[str]] = [[]]
    for line in lines:
        if line.startswith("@@"):
            hunks.append([])
        elif line[:1] in {"+", "-", " "} or line == "":
            hunks[-1].append(line)
    return [hunk for hunk in hunks if any(line[:1] in {"+", "-"} for line in hunk)]


def _edit(hunk: list[str]) -> list[str]:
    """Old and new text of one hunk, its unchanged lines in both; only added lines make the old text empty (they are appended)."""
    while hunk and hunk[-1] == "":
        hunk = hunk[:-1]
    old = "\n".join(line[1:] for line in hunk if not line.startswith("+"))
    new = "\n".join(line[1:] for line in hunk if not line.startswith("-"))
    return [old, new]
