"""What three memory tools ask of a model for the same sessions: `python -m tests.benchmarks.peers --python VENV/bin/python SESSION...`.

Every session (a Claude Code log) is given to `mem0ai` (one `add` of its typed and spoken turns), to `daimon-briefing` (one `daimon serialize`) and to a dream of
ours, each in an empty store, all over one server on loopback that answers with little. VENV has both installed (`pip install mem0ai daimon-briefing`) and need
not be ours. Printed: calls of a model and characters of their prompts (schemas included; embeddings apart), a session and in all. What a tool makes of better
answers, and so what it asks further, is not measured: these are the least calls of each.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from pipelines.engines.claude.client import Provider
from pipelines.logs.redaction import open_redactor
from tests.benchmarks.sent import windows_of
from tests.oracle.server import nothing_found, serving
from tests.scripted import ModelDesk, asking

ITEM = {"text": "The project has tests.", "trust": "inferred"}
CHECKPOINT = {
    "working_context": {"active_topic": ITEM, "open_questions": [], "recent_decisions": [ITEM]},
    "epistemic_snapshot": {"strong_beliefs": [], "uncertainties": [], "contradictions_flagged": []},
}
MEMORIES = {"memory": [{"id": "0", "text": "The project has tests.", "attributed_to": "user"}]}
ANSWERS = {"mem0": MEMORIES, "daimon": CHECKPOINT}
MEM0 = """
import json, sys
from mem0 import Memory
url, folder, messages = sys.argv[1], sys.argv[2], json.load(open(sys.argv[3]))
memory = Memory.from_config({
    "llm": {"provider": "openai", "config": {"model": "m", "api_key": "k", "openai_base_url": url}},
    "embedder": {"provider": "openai", "config": {"model": "e", "api_key": "k", "openai_base_url": url, "embedding_dims": 8}},
    "vector_store": {"provider": "qdrant", "config": {"path": folder + "/qdrant", "embedding_model_dims": 8, "on_disk": True}},
    "history_db_path": folder + "/history.db",
})
memory.add(messages, user_id="u")
"""


@dataclass
class Heard:
    """Calls and characters by tool."""

    calls: Counter[str] = field(default_factory=Counter)
    characters: Counter[str] = field(default_factory=Counter)
    embedded: Counter[str] = field(default_factory=Counter)

    def told(self, tool: str) -> tuple[int, int, int]:
        """Calls, characters of prompts, embeddings."""
        return self.calls[tool], self.characters[tool], self.embedded[tool]


def main(arguments: list[str]) -> int:
    """Print a row a session and tool."""
    parser = argparse.ArgumentParser(prog="peers", description=__doc__)
    parser.add_argument("--python", required=True, metavar="PYTHON")
    parser.add_argument("sessions", nargs="+", type=Path, metavar="SESSION")
    asked = parser.parse_args(arguments)
    total = Counter[tuple[str, str]]()
    print(f"{'session':44} {'tool':8} {'calls':>6} {'characters':>11} {'embeddings':>10}")
    for session in asked.sessions:
        for tool, figures in _measured(session, asked.python).items():
            total.update({(tool, "calls"): figures[0], (tool, "characters"): figures[1], (tool, "embeddings"): figures[2]})
            _row("/".join(session.parts[-2:]), tool, figures)
    for tool in dict.fromkeys(name for name, _ in total):
        _row("all", tool, tuple(total[tool, what] for what in ("calls", "characters", "embeddings")))
    return 0


def _row(name: str, tool: str, figures: tuple[int, ...]) -> None:
    print(f"{name[-44:]:44} {tool:8} {figures[0]:6} {figures[1]:11,} {figures[2]:10}", flush=True)


def _measured(session: Path, python: str) -> Mapping[str, tuple[int, int, int]]:
    with tempfile.TemporaryDirectory(prefix="dreamd-peers-") as folder, _listening() as (url, heard):
        root = Path(folder)
        said = root / "messages.json"
        said.write_text(json.dumps(_messages(session)), encoding="utf-8")
        _run([python, "-c", MEM0, f"{url}/mem0", folder, str(said)], root)
        _run([python, "-m", "daimon_briefing.cli", "serialize", "--project", folder, str(session)], root, DAIMON_LLM_BASE_URL=f"{url}/daimon")
        return {"mem0": heard.told("mem0"), "daimon": heard.told("daimon"), "dreamd": _ours(root / "ours", session)}


def _messages(session: Path) -> list[dict[str, str]]:
    """What was typed and spoken, as a chat."""
    return [
        {"role": turn.role.value, "content": turn.text}
        for window in windows_of([str(session)])
        for turn in window.turns
        if turn.role.value in {"user", "assistant"} and turn.origin.value in {"user", "assistant"} and turn.text.strip()
    ]


def _ours(root: Path, session: Path) -> tuple[int, int, int]:
    with serving(nothing_found) as service, closing(Provider(base_url=service.base_url, key="k", local=True)) as provider:
        desk = ModelDesk(root, open_redactor(None), now=datetime.now(UTC), messages=provider)
        desk.dream(session, **asking(change_share_max=1.0, budget_uusd=10**9))
        return len(service.messages), sum(_characters(seen.body) for seen in service.messages), 0


def _run(command: list[str], root: Path, **env: str) -> None:
    more = {
        "HOME": str(root),
        "MEM0_DIR": str(root / "mem0"),
        "MEM0_TELEMETRY": "False",
        "DAIMON_LLM_API_KEY": "k",
        "DAIMON_LLM_MODEL": "m",
        "DAIMON_LLM_STREAM": "0",
        "DAIMON_LLM_BACKEND": "litellm",
    }
    done = subprocess.run(command, cwd=root, env={**os.environ, **more, **env}, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        print(f"{' '.join(command[1:4])[:60]} ended with {done.returncode}: {done.stderr[-500:] or done.stdout[-500:]}", file=sys.stderr)


# --- the server --------------------------------------------------------------------------------------------------------------------------


@contextmanager
def _listening() -> Iterator[tuple[str, Heard]]:
    heard = Heard()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(heard))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", heard
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(heard: Heard) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            tool = self.path.strip("/").split("/")[0]
            if self.path.endswith("/embeddings"):
                inputs = body["input"] if isinstance(body["input"], list) else [body["input"]]
                heard.embedded[tool] += len(inputs)
                vectors = [{"object": "embedding", "index": n, "embedding": [0.1 * (n + 1)] * 8} for n in range(len(inputs))]
                self._say({"object": "list", "data": vectors, "model": "e", "usage": {"prompt_tokens": 1, "total_tokens": 1}})
                return
            heard.calls[tool] += 1
            heard.characters[tool] += _characters(body)
            message = {"role": "assistant", "content": json.dumps(ANSWERS[tool])}
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            self._say(
                {
                    "id": "c",
                    "object": "chat.completion",
                    "created": 0,
                    "model": "m",
                    "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                    "usage": usage,
                }
            )

        def _say(self, value: object) -> None:
            data = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler


def _characters(body: object) -> int:
    """Characters of all strings of a request: system, messages, schema."""
    if isinstance(body, str):
        return len(body)
    if isinstance(body, Mapping):
        return sum(_characters(value) for value in body.values())
    return sum(map(_characters, body)) if isinstance(body, list | tuple) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
