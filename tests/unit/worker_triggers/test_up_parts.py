"""A part that ends is started again, after a while that doubles; one that ran for long starts afresh."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from worker.cli import up
from worker.cli.up import BACK_OFF_MAX_S, Part


class Ended:
    """A process that has ended, or has not."""

    pid = 7

    def __init__(self, code: int | None) -> None:
        self.code = code

    def poll(self) -> int | None:
        return self.code


def test_the_wait_doubles_up_to_a_limit_and_begins_anew_after_a_long_run() -> None:
    part = Part("worker", ["worker"])
    process = Ended(None)
    begun: list[float] = []

    def start(_: Sequence[str]) -> subprocess.Popen[bytes]:
        begun.append(now)
        return process  # type: ignore[return-value]

    now = 100.0
    waits = []
    for _ in range(9):
        part.look(now, start)
        process.code = 1
        part.look(now, start)
        waits.append(part.due - now)
        part.look(part.due - 0.01, start)
        assert part.process is None
        now, process.code = part.due, None
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert len(begun) == 9
    part.look(now, start)
    now += BACK_OFF_MAX_S
    process.code = 0
    part.look(now, start)
    assert part.due - now == 1


def test_the_parts_are_commands_of_ours() -> None:
    done = subprocess.run([sys.executable, "-m", "worker", "--help"], capture_output=True, text=True)
    assert all(f" {name} " in done.stdout for name in ("worker", "schedule", "watch", "publish", "up"))


@pytest.mark.timeout(60)
def test_a_part_that_refuses_to_run_is_not_started_again_and_ends_all_with_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[subprocess.Popen[bytes]] = []

    def start(arguments: Sequence[str], _ready: int) -> subprocess.Popen[bytes]:
        begun.append(subprocess.Popen([sys.executable, "-c", *arguments]))
        return begun[-1]

    monkeypatch.setattr(up, "_start", start)
    parts = [Part("worker", ["import sys; sys.exit(3)"]), Part("watch", ["import threading; threading.Event().wait()"])]
    assert up.run(parts) == 3
    assert [p.refused for p in parts] == [True, False]
    assert len(begun) == 2
    assert all(process.poll() is not None for process in begun)


SLOW = """
import sys, threading
threading.Event().wait()
"""
READY = """
import os, sys
from worker.stopping import stopping, tell_when_ready
tell_when_ready(int(sys.argv[1]))
with stopping() as stop:
    stop.wait()
"""


@pytest.mark.timeout(60)
def test_ctrl_c_ends_parts_that_are_ready_and_parts_that_still_load_without_a_word(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    begun: list[subprocess.Popen[bytes]] = []

    def start(arguments: Sequence[str], ready: int) -> subprocess.Popen[bytes]:
        begun.append(subprocess.Popen([sys.executable, "-c", *arguments, str(ready)], preexec_fn=up._as_part(), pass_fds=(ready,)))
        return begun[-1]

    answered = threading.Event()
    has = up._Answers.has

    def told(self: up._Answers, pid: int) -> bool:
        if has(self, pid) and pid == begun[0].pid and not answered.is_set():
            answered.set()
            for number in (*(p.pid for p in begun), os.getpid()):  # as a terminal does to its whole group
                os.kill(number, signal.SIGINT)
        return has(self, pid)

    monkeypatch.setattr(up, "_start", start)
    monkeypatch.setattr(up._Answers, "has", told)
    assert up.run([Part("worker", [READY]), Part("watch", [SLOW])], ready="ready") == 0
    assert [p.returncode for p in begun] == [0, -signal.SIGTERM]
    assert "Traceback" not in capfd.readouterr().err


ENTRY = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # as in a terminal: a shell starts what runs in its background with Ctrl-C ignored
sys.argv = ["dreamd", *{words!r}]
class Interrupts:
    def find_spec(self, name, *_):
        if name == "worker.cli":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupts())
from worker.entry import main
sys.exit(main())
"""


@pytest.mark.parametrize("words", [["up"], ["publish", "--follow"], ["status"]])
def test_ctrl_c_while_a_command_loads_is_no_traceback(words: list[str]) -> None:
    done = subprocess.run([sys.executable, "-c", ENTRY.format(words=words)], cwd=Path(__file__).parents[3], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.timeout(60)
def test_on_a_terminal_one_line_says_that_all_parts_are_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    assert up.ready_line(["~/logs"]) == "ready: worker, scheduler, publisher; watching ~/logs; Ctrl-C stops it"
    line = up.ready_line([])
    assert "no log folder is watched: give PATHs" in line

    def start(arguments: Sequence[str], ready: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", *arguments, str(ready)], preexec_fn=up._as_part(), pass_fds=(ready,))

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

        def write(self, text: str) -> int:
            os.kill(os.getpid(), signal.SIGTERM)  # shown: that was it
            return super().write(text)

    shown = Terminal()
    monkeypatch.setattr(up, "_start", start)
    monkeypatch.setattr(sys, "stderr", shown)
    assert up.run([Part("worker", [READY]), Part("watch", [READY])], ready=line) == 0
    assert shown.getvalue() == f"{line}\n"
