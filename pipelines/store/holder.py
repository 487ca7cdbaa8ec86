"""Which process holds a dream, a job or a lease, and whether it still lives.

A process is named host:pid:start, one of its threads or tasks (an owner) host:pid:start:n.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path


def this_process(host: str | None = None) -> str:
    """A name for this process that a later one with the same number does not share: host:pid:start. `host` is the machine's name, when it has a lasting one."""
    pid = os.getpid()
    return f"{host or socket.gethostname()}:{pid}:{_started(pid)}"


def host_of(holder: str) -> str:
    """The host a holder runs on; "" for another kind of name."""
    return holder.rpartition(":")[0].rpartition(":")[0]


def owner_of(process: str, n: int | str) -> str:
    """The name of one thread of a process."""
    return f"{process}:{n}"


def process_of(owner: str) -> str:
    """The process an owner belongs to."""
    return owner.rpartition(":")[0]


def alive(holder: str, *, host: str | None = None) -> bool:
    """Whether a process may still be at work, asked on `host`. Of another host, another kind of name or a system that does not tell: yes."""
    return fate(holder, host=host or socket.gethostname()) is not False


def fate(holder: str, *, host: str) -> bool | None:
    """Whether a process lives, asked on `host`; None where that cannot be told: another host, another kind of name, a system that does not say."""
    there, _, rest = holder.rpartition(":")
    there, _, number = there.rpartition(":")
    if there != host or not number.isdigit() or os.name == "nt":  # on Windows os.kill ends the process it asks about
        return None
    pid = int(number)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return None
    started = _started(pid)
    if started == rest:
        return True
    return None if "0" in (started, rest) else False


def _started(pid: int) -> str:
    """When the process began, in ticks since boot; "0" where the system does not say, "gone" for one that only waits to be reaped."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return "0"
    return "gone" if fields[0] == "Z" else fields[19]
