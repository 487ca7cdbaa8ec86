"""Which process holds a dream, and whether it still lives."""

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


def alive(holder: str, *, host: str | None = None) -> bool:
    """Whether a holder may still be at work, asked on `host`. Of another host, another kind of name or a system that does not tell: yes."""
    there, _, rest = holder.rpartition(":")
    there, _, number = there.rpartition(":")
    if there != (host or socket.gethostname()) or not number.isdigit() or os.name == "nt":  # on Windows os.kill ends the process it asks about
        return True
    pid = int(number)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    started = _started(pid)
    return started == rest or "0" in (started, rest)


def _started(pid: int) -> str:
    """When the process began, in ticks since boot; "0" where the system does not say, "gone" for one that only waits to be reaped."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return "0"
    return "gone" if fields[0] == "Z" else fields[19]
