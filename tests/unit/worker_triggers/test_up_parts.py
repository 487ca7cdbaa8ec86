"""A part that ends is started again, after a while that doubles; one that ran for long starts afresh."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

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

    def start(arguments: Sequence[str]) -> subprocess.Popen[bytes]:
        begun.append(subprocess.Popen([sys.executable, "-c", *arguments]))
        return begun[-1]

    monkeypatch.setattr(up, "_start", start)
    parts = [Part("worker", ["import sys; sys.exit(3)"]), Part("watch", ["import threading; threading.Event().wait()"])]
    assert up.run(parts) == 3
    assert [p.refused for p in parts] == [True, False]
    assert len(begun) == 2
    assert all(process.poll() is not None for process in begun)
