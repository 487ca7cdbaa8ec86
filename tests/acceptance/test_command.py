"""The installed command as a process: its exit codes, what it prints, and how it ends when it is killed, interrupted or meets another."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipelines.store import open_store
from tests.dreaming import differences, footprint

SAMPLE = Path(__file__).resolve().parents[2] / "deploy" / "sample"
DREAMD = Path(sys.executable).with_name("dreamd")
DEADLINE_S = 50
KEYS = ["dream", "scope", "status", "engine", "sources", "sessions", "turns", "origins", "lines", "records", "refused", "redacted", "claims", "rejected", "notes",
        "online", "pages", "brief", "archive", "bloat", "seconds", "next"]  # fmt: skip
KEYS_INSIDE = {
    "records": ["good", "bad", "pending"],
    "notes": ["added", "same", "extended", "superseded", "corrected", "conflicting", "merged", "expired", "quarantined", "drafts", "unasked", "needs_recheck"],
    "online": ["carried", "upheld", "corrected", "contradicted", "superseded", "duplicate", "unsupported", "unchecked", "no_log"],
    "pages": ["written", "unchanged", "redirected"],
    "brief": ["lines", "bytes", "moved"],
    "archive": ["bytes"],
}


class Machine:
    """A home of its own; the compiled rules of the secret scanner are shared, since making them takes seconds."""

    def __init__(self, root: Path, cache: Path) -> None:
        self.root = root
        self.wiki = root / "wiki"
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("DREAMD_", "XDG_"))}
        home = {"HOME": str(root), "XDG_DATA_HOME": str(root / "data"), "XDG_CONFIG_HOME": str(root / "config"), "XDG_CACHE_HOME": str(cache)}
        self.env = {**kept, **home, "PYTHONWARNINGS": "error"}

    def start(self, *arguments: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        """Start the command in the machine's folder."""
        return subprocess.Popen(
            [str(DREAMD), *arguments], cwd=self.root, env={**self.env, **(env or {})}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )  # fmt: skip

    def run(self, *arguments: str, env: Mapping[str, str] | None = None) -> tuple[int, str, str]:
        """Exit code, standard output, standard error."""
        with self.start(*arguments, env=env) as process:
            out, err = process.communicate(timeout=DEADLINE_S)
        return process.returncode, out, err

    def dream(self, *more: str) -> tuple[int, str, str]:
        """Dream over the sample sessions."""
        return self.run("dream", *sample(), "--wiki", str(self.wiki), *more)

    def tree(self) -> dict[str, str]:
        """The wiki's pages but the journal."""
        files = (p for p in self.wiki.rglob("*.md") if "journal" not in p.parts and ".dreamd" not in p.parts)
        return {p.relative_to(self.wiki).as_posix(): p.read_text(encoding="utf-8") for p in files}

    @property
    def store(self) -> str:
        """Where the store of the wiki lies."""
        (path,) = (self.root / "data" / "dreamd" / "stores").glob("*/store.db")
        return f"sqlite:///{path}"


def sample() -> list[str]:
    """What the README tells to dream over."""
    return [str(SAMPLE / "sessions"), str(SAMPLE / "observations.events.jsonl"), "--notes", str(SAMPLE / "notes")]


@pytest.fixture
def machine(tmp_path: Path, request: pytest.FixtureRequest) -> Machine:
    cache = request.config.cache
    assert cache is not None
    return Machine(tmp_path, Path(str(cache.mkdir("dreamd-command"))))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> dict[str, str]:
    """The tree one dream over the sample makes."""
    cache = request.config.cache
    assert cache is not None
    machine = Machine(tmp_path_factory.mktemp("undisturbed"), Path(str(cache.mkdir("dreamd-command"))))
    code, _, err = machine.dream()
    assert code == 0, err
    return machine.tree()


def test_one_command_makes_a_wiki_and_prints_one_object(machine: Machine, undisturbed: dict[str, str]) -> None:
    before = footprint(SAMPLE)
    code, out, err = machine.dream("--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert list(told) == KEYS
    assert {name: list(told[name]) for name in KEYS_INSIDE} == KEYS_INSIDE
    assert told["status"] == "completed"
    assert told["records"] == {"good": 48, "bad": 0, "pending": 0}
    assert sum(told["origins"].values()) == told["turns"]
    assert told["refused"] == []
    assert differences(undisturbed, machine.tree()) == []
    assert footprint(SAMPLE) == before
    brief = undisturbed["MEMORY.md"]
    assert brief.index("## Corrected") < brief.index("## Rules") < brief.index("## Pages")
    private = machine.root / "data" / "dreamd"
    assert {p.stat().st_mode & 0o077 for p in (private, *private.rglob("*"))} == {0}, "nobody else may look into the data folder"


def test_a_dream_killed_while_it_publishes_is_gone_on_with(machine: Machine, undisturbed: dict[str, str]) -> None:
    with machine.start("dream", *sample(), "--wiki", str(machine.wiki)) as process:
        until(lambda: (machine.wiki / ".dreamd" / "marker.json").exists() or process.poll() is not None)
        process.kill()
        process.communicate()
    code, _, err = machine.dream()
    assert code == 0, err
    assert differences(undisturbed, machine.tree()) == []


def test_ctrl_c_ends_quietly_and_the_next_dream_goes_on(machine: Machine, undisturbed: dict[str, str]) -> None:
    data = machine.root / "data" / "dreamd" / "stores"
    with machine.start("dream", *sample(), "--wiki", str(machine.wiki)) as process:
        until(lambda: any(data.glob("*/archive/*/*.zst")))
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=DEADLINE_S)
    if process.returncode != 0:  # the dream was quicker than the signal
        assert process.returncode == 130
        assert "Traceback" not in err + out
    assert machine.dream()[0] == 0
    assert differences(undisturbed, machine.tree()) == []


def test_a_second_dream_waits_for_the_first_and_says_for_whom_or_is_refused(machine: Machine) -> None:
    assert machine.run("intake", str(SAMPLE / "sessions"), "--wiki", str(machine.wiki))[0] == 0
    with open_store(machine.store, now=lambda: datetime.now(UTC)) as store:
        first = store.request("local", request_id="first", params={}, cause="command").dream
        assert first is not None
        assert store.claim(f"{socket.gethostname()}:{os.getpid()}:0:0", ttl_ms=60_000, deadline_ms=60_000) is not None
        code, out, err = machine.dream("--no-wait")
        assert (code, out) == (3, "")
        assert err.startswith("dreamd: another dream over local has been running since 2")
        assert f"in process {os.getpid()} on {socket.gethostname()}: wait for it, or end it with dreamd dreams cancel {first}\n" in err
        with machine.start("dream", *sample(), "--wiki", str(machine.wiki)) as second:
            assert second.stderr is not None
            said = second.stderr.readline()
            assert said.startswith("waiting: another dream over local runs since 2")
            assert said.endswith(f"in process {os.getpid()} on {socket.gethostname()}; this dream goes on when it has ended\n")
            assert second.poll() is None
            store.cancel("local", first)
            out, _ = second.communicate(timeout=DEADLINE_S)
    assert second.returncode == 0
    assert "completed" in out


def test_the_version_is_told_without_loading_anything(machine: Machine) -> None:
    code, out, _ = machine.run("--version")
    assert code == 0
    assert out.startswith("dreamd 0")


def until(true: Callable[[], bool]) -> None:
    """Wait for something another process does, with a deadline."""
    end, pause = time.monotonic() + DEADLINE_S, threading.Event()
    while not true():
        assert time.monotonic() < end
        pause.wait(0.01)
