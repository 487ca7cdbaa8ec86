"""Whether the process that holds a dream still lives."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.store.holder import alive, host_of, this_process


def test_this_process_lives() -> None:
    assert alive(this_process())


def test_an_ended_process_does_not_and_a_later_one_of_the_same_number_is_not_it() -> None:
    program = "from pipelines.store.holder import this_process; print(this_process())"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3]).stdout.strip()
    assert not alive(ended)
    host, _pid, started = this_process().rsplit(":", 2)
    if started != "0":
        assert not alive(f"{host}:{os.getpid()}:{int(started) + 1}")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_a_process_that_only_waits_to_be_reaped_is_gone() -> None:
    program = "import sys; from pipelines.store.holder import this_process; print(this_process(), flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[3]) as child:
        assert child.stdout is not None
        holder = child.stdout.readline().strip()
        assert alive(holder)
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # it has ended and nobody has taken its exit status yet
        assert not alive(holder)


@pytest.mark.parametrize("holder", ["elsewhere:1:1", "", "x", "a:b:c", f"{os.uname().nodename}:x:1"])
def test_a_holder_that_cannot_be_asked_counts_as_alive(holder: str) -> None:
    assert alive(holder)


def test_a_dead_process_is_known_under_the_machines_lasting_name() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        child.wait()
    assert not alive(f"lasting-1f2e:{child.pid}:1", host="lasting-1f2e")
    assert alive(f"lasting-1f2e:{child.pid}:1", host="another")
    assert host_of(this_process("lasting-1f2e")) == "lasting-1f2e"
