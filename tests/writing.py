"""Writes session logs for tests in the shapes agents write them, from lines a reader can follow."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def _uuid(*parts: object) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_OID, "/".join(map(str, parts))))


@dataclass
class ClaudeLog:
    """One Claude Code session: each call adds records a minute apart; `text()` is the file's content."""

    session: str
    at: datetime = START
    cwd: str = "/home/ana/harbor"
    branch: str = "main"
    records: list[dict[str, object]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.uuid = _uuid("session", self.session)

    def user(self, text: str, **extra: object) -> ClaudeLog:
        """Something the person typed."""
        return self._add("user", {"role": "user", "content": text}, extra)

    def remember(self, text: str) -> ClaudeLog:
        """A `#` memory."""
        return self.user(f"<user-memory-input>{text}</user-memory-input>")

    def assistant(self, text: str, **extra: object) -> ClaudeLog:
        """The assistant's words."""
        return self._add("assistant", self._message([{"type": "text", "text": text}]), extra)

    def tool(self, name: str, arguments: Mapping[str, object], output: str, *, exit_code: int | None = 0, raw: object = None) -> ClaudeLog:
        """A tool call and its result; `exit_code` None leaves the outcome unsaid."""
        call = f"toolu_{self.session}_{len(self.records)}"
        self._add("assistant", self._message([{"type": "tool_use", "id": call, "name": name, "input": dict(arguments)}]), {})
        failed = bool(exit_code)
        text = f"Exit code {exit_code}\n{output}" if failed else output
        block = {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": failed}
        given = raw if raw is not None else ({"stdout": "" if failed else output, "stderr": "", "interrupted": False} if not failed else f"Error: {text}")
        return self._add("user", {"role": "user", "content": [block]}, {"toolUseResult": given})

    def bash(self, command: str, output: str, *, exit_code: int | None = 0) -> ClaudeLog:
        """A shell command and what it printed."""
        return self.tool("Bash", {"command": command}, output, exit_code=exit_code)

    def write(self, path: str, content: str) -> ClaudeLog:
        """The agent writes a file."""
        raw = {"type": "create", "filePath": path, "content": content}
        return self.tool("Write", {"file_path": path, "content": content}, f"File created successfully at: {path}", raw=raw)

    def fetch(self, url: str, output: str) -> ClaudeLog:
        """The agent reads a web page."""
        return self.tool("WebFetch", {"url": url, "prompt": "read"}, output, raw={"url": url, "code": 200, "result": output})

    def later(self, **delta: float) -> ClaudeLog:
        """Let time pass."""
        self.at += timedelta(**delta)
        return self

    def text(self) -> str:
        """The file's content."""
        return "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in self.records)

    def save(self, folder: Path) -> Path:
        """Write `<folder>/<session>.jsonl` and return it."""
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{self.uuid}.jsonl"
        file.write_text(self.text(), encoding="utf-8")
        return file

    def _message(self, content: list[dict[str, object]]) -> dict[str, object]:
        return {"id": f"msg_{self.session}_{len(self.records)}", "role": "assistant", "type": "message", "model": "claude-x", "content": content}

    def _add(self, kind: str, message: dict[str, object], extra: Mapping[str, object]) -> ClaudeLog:
        number = len(self.records)
        self.records.append(
            {
                "parentUuid": self.records[-1]["uuid"] if self.records else None,
                "isSidechain": False,
                "userType": "external",
                "cwd": self.cwd,
                "sessionId": self.uuid,
                "version": "2.1.50",
                "gitBranch": self.branch,
                "type": kind,
                "message": message,
                "uuid": _uuid(self.session, number),
                "timestamp": _stamp(self.at),
                **extra,
            }
        )
        self.at += timedelta(minutes=1)
        return self


@dataclass
class CodexLog:
    """One Codex rollout: each call adds items a minute apart; `save` writes it under the name Codex gives it."""

    session: str
    at: datetime = START
    cwd: str = "/home/ana/harbor"
    records: list[dict[str, object]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.uuid = _uuid("codex", self.session)
        self.begun = self.at
        meta = {"id": self.uuid, "timestamp": _stamp(self.at), "cwd": self.cwd, "originator": "codex_cli_rs", "cli_version": "0.98.0", "source": "cli"}
        self._add("session_meta", meta)

    def user(self, text: str) -> CodexLog:
        """Something the person typed."""
        return self._add("response_item", {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]})

    def assistant(self, text: str) -> CodexLog:
        """The assistant's words."""
        return self._add("response_item", {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]})

    def bash(self, command: str, output: str, *, exit_code: int = 0) -> CodexLog:
        """A shell command and what it printed."""
        call = f"call_{len(self.records)}"
        self._add("response_item", {"type": "function_call", "name": "exec_command", "arguments": json.dumps({"cmd": command}), "call_id": call})
        told = f"Process exited with code {exit_code}\nOutput:\n{output}\n"
        return self._add("response_item", {"type": "function_call_output", "call_id": call, "output": told})

    def text(self) -> str:
        """The file's content."""
        return "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in self.records)

    def save(self, folder: Path) -> Path:
        """Write the rollout file and return it."""
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"rollout-{self.begun:%Y-%m-%dT%H-%M-%S}-{self.uuid}.jsonl"
        file.write_text(self.text(), encoding="utf-8")
        return file

    def _add(self, kind: str, payload: Mapping[str, object]) -> CodexLog:
        self.records.append({"timestamp": _stamp(self.at), "type": kind, "payload": dict(payload)})
        self.at += timedelta(minutes=1)
        return self


def _stamp(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def memory(name: str, body: str, **metadata: str) -> str:
    """A file of Claude Code's auto memory: front matter with `metadata:`, then the note."""
    told = "".join(f"  {key}: {value}\n" for key, value in {"type": "project", **metadata}.items())
    return f"---\nname: {name}\ndescription: {name}\nmetadata:\n{told}---\n\n{body}\n"


def events(rows: list[tuple[str, str, str, str]], *, producer: str = "watcher") -> str:
    """An `events` log: (topic, value, status, observed_at) rows as JSONL."""
    keys = ("topic", "value", "status", "observed_at")
    return "".join(json.dumps({**dict(zip(keys, row, strict=True)), "source": producer}) + "\n" for row in rows)


def conversation(session: str, lines: list[tuple[str, str]], *, at: datetime | None = START) -> str:
    """A plain conversation: (speaker, text) a minute apart as JSONL, without times when `at` is None."""
    out = []
    for n, (speaker, text) in enumerate(lines):
        when = {"time": (at + timedelta(minutes=n)).strftime("%Y-%m-%dT%H:%M:%SZ")} if at else {}
        out.append(json.dumps({"session": session, "speaker": speaker, **when, "text": text}, ensure_ascii=False) + "\n")
    return "".join(out)
