"""Reads the outcome of a tool call out of its output: exit code, failure, time-out, interruption, refusal, and the text itself.

The heads and phrases are those Codex writes; other agents that write them mean the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from pipelines.logs.drafts import text_of
from pipelines.logs.origins import origin_of_result
from pipelines.model import Call, Origin, Result

TIMED_OUT = 124
"""The exit code Codex gives a command it stopped for its time."""

# The head Codex puts before a command's own words: "Exit code: 1\nWall time: 0.2 seconds\nOutput:\n", or "Chunk ID: …\n…Process exited with code 1\n…Output:\n".
_HEAD = re.compile(
    r"(?:(?:Chunk ID|Wall time|Exit code|Original token count|Total output lines|Session ID): [^\n]*\n|Process (?:exited|running) with [^\n]*\n)+(?:Output:\n)?"
)
_EXIT = re.compile(r"^(?:Exit code: |Process exited with code )(-?\d+)", re.MULTILINE)
_SANDBOX = re.compile(r"failed in sandbox .*? with execution error: .*?exit code: (-?\d+), stdout: ", re.DOTALL)
_TIMEOUT = re.compile(r"(?:command|execution) timed out|timed? ?out after \d+", re.IGNORECASE)
_REFUSED = re.compile(
    r"[^\n]{0,200}\b(?:rejected|denied|declined|cancell?ed) by (?:the )?user\b|\s*user (?:rejected|denied|declined|cancell?ed) ", re.IGNORECASE
)
_ABORTED = re.compile(r"\s*(?:aborted(?: by user)?(?: after [\d.]+ ?s)?\.?\s*$|command was aborted)", re.IGNORECASE)
_FAILED = re.compile(
    r"\s*(?:error\b|err:|execution error|tool call error|apply_patch verification failed|failed to parse|unsupported call|exec_command failed|failed in sandbox)",
    re.IGNORECASE,
)


def speaker_of_result(call: Call) -> Origin:
    """Whose words the result of this call will hold; tools of a server ("server__tool") are judged as such, a memory server returns notes."""
    arguments = {key: value for key, value in (("command", call.command), ("path", call.path)) if value is not None}
    name = call.name
    if name.removeprefix("mcp__").lower().startswith("memory"):
        return Origin.MODEL_SUMMARY
    if "__" in name and not name.startswith("mcp__"):
        name = f"mcp__{name}"
    return origin_of_result(name, arguments)


def result_of(call_id: str, output: object, known: Mapping[str, Any]) -> tuple[str, Result]:
    """The output's own text and what became of the call. `known` ("exit_code", "status") is used where the output does not say it."""
    text, said = _unwrapped(output)
    text, exit_code = _without_head(text)
    given = said.get("exit_code", exit_code)
    if not isinstance(given, int) or isinstance(given, bool):
        given = known.get("exit_code")
    code = given if isinstance(given, int) and not isinstance(given, bool) else None
    timed_out = bool(code in {None, TIMED_OUT} and _TIMEOUT.match(text.lstrip()[:80])) or code == TIMED_OUT
    refused = (code is None and _REFUSED.match(text) is not None) or known.get("status") == "declined"
    interrupted = code is None and _ABORTED.match(text) is not None
    failed = bool(code) or said.get("success") is False or known.get("status") == "failed" or (code is None and _FAILED.match(text) is not None)
    return text, Result(
        call_id=call_id, exit=code, failed=failed or timed_out or refused or interrupted, timed_out=timed_out, interrupted=interrupted, refused=refused
    )


def _unwrapped(output: object) -> tuple[str, dict[str, Any]]:
    """The words of an output, with what its wrapping says: JSON text with `output` and `metadata`, MCP content, or content parts."""
    if isinstance(output, str):
        decoded = _decoded(output)
        if isinstance(decoded, Mapping) and isinstance(decoded.get("output"), str) and isinstance(decoded.get("metadata"), Mapping):
            return decoded["output"], {"exit_code": decoded["metadata"].get("exit_code")}
        if isinstance(decoded, list) and decoded and all(isinstance(d, Mapping) and isinstance(d.get("text"), str) for d in decoded):
            return text_of(decoded), {}
        return output, {}
    if isinstance(output, Mapping):
        success = False if output.get("success") is False or output.get("isError") is True or output.get("is_error") is True else None
        content = output.get("content", output.get("output", output.get("Ok", output.get("message"))))
        return text_of(content) or json.dumps(dict(output), ensure_ascii=False, default=str), {"success": success}
    return text_of(output), {}


def _decoded(output: str) -> object:
    if not output.startswith(("{", "[")):
        return None
    try:
        return json.loads(output)
    except (ValueError, RecursionError):
        return None


def _without_head(text: str) -> tuple[str, int | None]:
    head = _HEAD.match(text)
    if head is None:
        sandboxed = _SANDBOX.match(text)
        return text, int(sandboxed[1]) if sandboxed else None
    code = _EXIT.search(head[0])
    return text[head.end() :], int(code[1]) if code else None
