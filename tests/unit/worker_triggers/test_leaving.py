"""A worker that leaves by itself while a unit hangs ends in time, and its exit code says why."""

from __future__ import annotations

import subprocess
import sys

import pytest

HUNG = """
import sys, threading
from worker import process
from worker.stopping import Stop

class Hung:
    ttl_ms, threads, done, failed, outside, broken, busy = 30_000, 2, 0, 0, None, False, True
    begun = threading.Event()

    def one(self):
        self.begun.set()
        threading.Event().wait()

    def beat(self):
        self.begun.wait()
        if sys.argv[1] == "outside":
            self.outside = ValueError("another schema")
        if sys.argv[1] == "broken":
            raise RuntimeError("a fault of ours")
        if sys.argv[1] == "asked":
            stop.set()

    def broke(self, error):
        self.broken = True

    def leaving(self):
        return stop() or self.outside is not None or self.broken

    def sweep(self):
        pass

    def tend(self):
        pass

    def leave(self):
        print("gave back")

stop = Stop()
sys.exit(process.work_alone(Hung(), stop))
"""


@pytest.mark.timeout(120)
def test_a_worker_with_a_unit_that_hangs_ends_with_the_code_of_why_it_left() -> None:
    codes = {"outside": 3, "broken": 1, "asked": 0}
    command = [sys.executable, "-u", "-c", HUNG]
    started = {why: subprocess.Popen([*command, why], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for why in codes}
    try:
        said = {why: process.communicate(timeout=60) for why, process in started.items()}
    finally:
        for process in started.values():
            process.kill()
    assert {why: process.returncode for why, process in started.items()} == codes, said
    assert all("gave back" in out for out, _ in said.values())


UNHEARD = """
import signal, threading
from worker.stopping import stopping

begun = threading.Event()

def to_myself():  # the main thread's wait is not interrupted then, as when a signal comes just before it begins
    begun.wait()
    threading.Event().wait(0.2)  # so that it waits by now; if it does not, this shows nothing and fails nothing
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

with stopping(grace_s=60) as stop:
    threading.Thread(target=to_myself).start()
    begun.set()
    stop.wait()
print("left", flush=True)
"""


def test_a_signal_that_interrupts_no_wait_is_heard_all_the_same() -> None:
    done = subprocess.run([sys.executable, "-c", UNHEARD], capture_output=True, text=True, timeout=10, check=False)
    assert (done.returncode, done.stdout) == (0, "left\n"), done.stderr
