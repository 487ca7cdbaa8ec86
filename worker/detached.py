"""Starts the dream that follows a session's end where no worker serves: one process of its own, of the lowest priority, at most every half hour.

The hook only starts it. Whether there is something to dream, whether a worker serves and whether the engine costs anything is looked at by the started
process (`worker.connect.pending`), which then leaves again.
"""

import contextlib
import fcntl
import os
import sys
import time

EVERY_S = 1800
"""Between two starts."""
STAMP = "session-end-dream"
"""A file in the data folder: when the last one was started, and what it said."""
NICEST = 19
FILES_MAX = 256
"""Descriptors the agent may have left open in us."""


def start_dream(data: str, options: list[str]) -> bool:
    """Start one if the last is old enough; whether it was started. It outlives the agent that called the hook, and hears none of its signals."""
    os.makedirs(data, mode=0o700, exist_ok=True)
    stamp = os.open(os.path.join(data, STAMP), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(stamp, fcntl.LOCK_EX | fcntl.LOCK_NB)  # of two hooks at once one starts it
        status = os.fstat(stamp)
        if status.st_size and 0 <= time.time() - status.st_mtime < EVERY_S:
            return False
        os.ftruncate(stamp, 0)
        os.write(stamp, f"started {time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())}\n".encode())
        if os.fork() == 0:
            _become(stamp, data, options)
    except BlockingIOError:
        return False
    finally:
        os.close(stamp)
    return True


def _become(said: int, data: str, options: list[str]) -> None:
    """In the child: leave the agent's session and everything of it behind, and be the command."""
    with contextlib.suppress(BaseException):
        os.setsid()
        if os.fork():
            os._exit(0)
        os.nice(NICEST)
        os.chdir("/")
        nothing = os.open(os.devnull, os.O_RDWR)
        for to, source in ((0, nothing), (1, said), (2, said)):
            os.dup2(source, to)
        os.closerange(3, FILES_MAX)
        environment = {**os.environ, "DREAMD_DATA_DIR": os.path.abspath(data)}
        os.execve(sys.executable, command(options), environment)
    os._exit(0)


def command(options: list[str]) -> list[str]:
    """What is run."""
    return [sys.executable, "-P", "-m", "worker", "dream", "--pending", "--at-session-end", *options]
