"""Ends a long-running process on SIGTERM or SIGINT: asked at the next check, and within a few seconds whatever it is doing.

Everything a process of ours does is a transaction or a whole file, so leaving in the middle loses nothing.
"""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final

GRACE_S: Final = 4.0
"""How long work at hand may go on after a signal."""
LOOK_UP_S: Final = 0.5
"""How long a wait goes on before it looks whether a signal was missed."""
LAST_S: Final = 0.8
"""How long giving back may take then."""


class Stop:
    """Whether to stop. Waiting and asking are safe in any thread, setting also in a signal handler (an Event's lock is not)."""

    def __init__(self) -> None:
        self._set = False
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)

    def __call__(self) -> bool:
        """Whether to stop."""
        return self._set

    def set(self) -> None:
        """Ask everybody to stop."""
        self._set = True
        os.write(self._write, b".")

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it is time to stop, at most so long; whether it is.

        It looks up now and then: a signal that comes just before the main thread waits, or to another thread, interrupts no wait, and Python's handler,
        which sets this, runs only once the main thread goes on.
        """
        until = None if seconds is None else time.monotonic() + seconds
        while not self._set and (left := LOOK_UP_S if until is None else min(LOOK_UP_S, until - time.monotonic())) > 0:
            select.select([self._read], [], [], left)
        return self._set

    def close(self) -> None:
        """Give the pipe back."""
        os.close(self._read)
        os.close(self._write)


_to_tell: list[int] = []
"""Where this process says that it is ready: at most one."""


def tell_when_ready(fd: int) -> None:
    """Have this process write its id to an open file, and close it, once it hears signals (`stopping`)."""
    os.set_inheritable(fd, False)
    _to_tell[:] = [fd]


def _tell_ready() -> None:
    while _to_tell:
        fd = _to_tell.pop()
        with suppress(OSError):  # who wanted to know is gone
            os.write(fd, f"{os.getpid()}\n".encode())
        os.close(fd)


@contextmanager
def stopping(
    stop: Stop | None = None, *, last: Callable[[], None] = lambda: None, code: Callable[[], int] = lambda: 0, grace_s: float = GRACE_S
) -> Iterator[Stop]:
    """Let SIGTERM and SIGINT set a `Stop` (the one given, else a new one). Whoever is not out of this context `grace_s` after it is set, or at a second
    signal, has `last` called, for LAST_S at most, and is ended with `code`."""
    given, stop, twice, out = stop, stop or Stop(), Stop(), threading.Event()

    def heard(_number: int, _frame: FrameType | None) -> None:
        (twice if stop() else stop).set()

    def end_late() -> None:
        stop.wait()
        twice.wait(grace_s)
        if not out.is_set():
            helper = threading.Thread(target=last, name="last", daemon=True)
            helper.start()
            helper.join(LAST_S)
            os._exit(code())

    before = {number: signal.signal(number, heard) for number in (signal.SIGTERM, signal.SIGINT)}
    late = threading.Thread(target=end_late, name="end-late", daemon=True)
    late.start()
    _tell_ready()
    try:
        yield stop
    finally:
        out.set()
        stop.set()
        twice.set()
        late.join()
        for number, handler in before.items():
            signal.signal(number, handler)
        twice.close()
        if given is None:
            stop.close()
