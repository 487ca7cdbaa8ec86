"""A person's home whose dreams are paid for: some sessions, and a provider on loopback that wants a key."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.service import Service
from tests.oracle.wire import Body, Said
from tests.writing import ClaudeLog
from worker import cli

KEY = "sk-ant-loopback"
SAID = ("The staging database listens on port 5433.", "From now on always run the tests before you push.", "The web client is served by nginx.")


def finds_nothing(body: Body) -> Said:
    """An empty answer, whatever is asked."""
    return Said(text=json.dumps({name: [] for name in ("items", "questions", "verdicts", "pairs", "answers", "insights")}))


@dataclass
class Home:
    """A person's home with the sample's sessions, and a provider on loopback that wants a key and is paid."""

    at: Path
    logs: Path
    server: Service
    capsys: pytest.CaptureFixture[str]
    env: pytest.MonkeyPatch

    def run(self, *words: str) -> tuple[int, str, str]:
        self.capsys.readouterr()
        code = cli.run([*words])
        said = self.capsys.readouterr()
        return code, said.out, said.err

    def told(self, *words: str) -> dict[str, Any]:
        code, out, err = self.run(*words, "--json")
        assert (code, err) == (0, ""), (code, err)
        found: dict[str, Any] = json.loads(out)
        return found

    def dream(self, *words: str) -> tuple[int, str, str]:
        return self.run("dream", str(self.logs), *words)


def home_of(at: Path, server: Service, capsys: pytest.CaptureFixture[str], env: pytest.MonkeyPatch, cache: Path) -> Home:
    """A new home: three sessions of one turn, the server in the environment as one that is paid, the key beside it, and no budget."""
    for n, said in enumerate(SAID):
        ClaudeLog(f"session {n}").later(days=n).user(said).save(at / "logs")
    for name in ("DATA", "CONFIG"):
        env.setenv(f"XDG_{name}_HOME", str(at / name.lower()))
    told = {"XDG_CACHE_HOME": str(cache), "DREAMD_WIKI": str(at / "wiki"), "DREAMD_CLAUDE__BASE_URL": server.base_url + "/v1/", "DREAMD_CLAUDE__PAID": "true"}
    for name, value in {**told, "ANTHROPIC_API_KEY": KEY}.items():
        env.setenv(name, value)
    return Home(at, at / "logs", server, capsys, env)
