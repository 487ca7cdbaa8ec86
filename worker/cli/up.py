"""dreamd up: everything a single host needs in one process group: worker, scheduler, watcher, publisher.

Each is the command of its name as a child of this process; one that ends is started again after a while, and said. One that refuses (exit code 3) would refuse
again: a person has to act, so all end, with its code. Children do not outlive their parent.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final

import structlog
import typer

from pipelines.store.postgres import THREADS_MAX
from worker import READY_FD, wiring
from worker.above import require_not_above
from worker.cli import common, serving
from worker.cli.output import visible
from worker.cli.watch import QUIET_HELP
from worker.cli.worker import THREADS
from worker.stopping import Stop

BACK_OFF_S, BACK_OFF_MAX_S = 1.0, 60.0
"""How long a part that ended is left down: twice as long each time, up to a limit; the first again once it ran for the limit."""
LOOK_S: Final = 0.2
LEAVE_S: Final = 7.0
"""How long parts may take to leave; each ends by itself within 5 s."""
REFUSED: Final = 3
"""Exit code of a part that a person has to do something for."""
_PR_SET_PDEATHSIG: Final = 1

log = structlog.get_logger("dreamd.up")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("up")(up)


def up(
    paths: Annotated[list[str] | None, typer.Argument(metavar="PATH...", help="Logs to watch; none: only sessions that a hook tells of.")] = None,
    threads: Annotated[
        int, typer.Option("--threads", metavar="N", min=1, max=THREADS_MAX, help="Units worked on at once; for more, start more processes.")
    ] = THREADS,
    notes: Annotated[list[Path] | None, typer.Option("--notes", metavar="DIR", help="A folder of the agent's own notes to read along.")] = None,
    quiet: Annotated[float | None, typer.Option("--quiet", metavar="S", min=0, max=86_400, help=QUIET_HELP)] = None,
    wiki: common.Wiki = None,
    scope: common.Scope = None,
    config: common.Config = None,
) -> int:
    """Run worker, scheduler, watcher and publisher until SIGTERM or Ctrl-C, which end all of them within 10 s. Exit code 3 when one of them refuses to run."""
    loaded = serving.start(config)
    common.require_some(paths or ())
    place = wiring.place_of(wiring.find_wiki(wiki, loaded), loaded, create=True)
    if paths or notes:
        require_not_above(place.wiki, scope, loaded)
    with wiring.open_only_store(place):
        pass  # made or migrated once, before four processes want to
    at = ["--wiki", str(place.wiki), *(["--config", str(config)] if config else [])]
    over = ["--scope", scope] if scope else []
    watched = [*(f"--notes={n}" for n in notes or ()), *([f"--quiet={quiet}"] if quiet is not None else []), "--", *(paths or ())]
    parts = (
        Part("worker", ["worker", f"--threads={threads}", *at]), Part("schedule", ["schedule", *at, *over]),
        Part("watch", ["watch", *at, *over, *watched]), Part("publish", ["publish", "--follow", *at, *over]),
    )  # fmt: skip
    return run(parts, ready=ready_line(paths or ()))


def ready_line(paths: Sequence[str]) -> str:
    """What a person at a terminal is told once all parts serve."""
    watched = f"watching {', '.join(visible(p) for p in paths)}" if paths else "no log folder is watched: give PATHs"
    return f"ready: worker, scheduler, publisher; {watched}; Ctrl-C stops it"


@dataclass(slots=True)
class Part:
    """A command that is kept running."""

    name: str
    arguments: Sequence[str]
    process: subprocess.Popen[bytes] | None = None
    began: float = 0.0
    due: float = 0.0
    falls: int = 0
    refused: bool = False

    def look(self, now: float, start: Callable[[Sequence[str]], subprocess.Popen[bytes]]) -> None:
        """Start what is due, and notice what has ended. `now` is in seconds that only grow."""
        if self.process is None:
            if now >= self.due:
                self.process, self.began = start(self.arguments), now
                log.info("part_started", part=self.name, pid=self.process.pid)
            return
        code = self.process.poll()
        if code is None:
            return
        if code == REFUSED:
            self.process, self.refused = None, True
            log.error("part_refused", part=self.name, code=code, why="it said so in its last line: mend that, and start dreamd up again")
            return
        self.falls = 1 if now - self.began >= BACK_OFF_MAX_S else self.falls + 1
        wait = min(BACK_OFF_MAX_S, BACK_OFF_S * 2.0 ** (self.falls - 1))
        self.process, self.due = None, now + wait
        log.warning("part_ended", part=self.name, code=code, again_in_s=wait)


def run(parts: Sequence[Part], *, ready: str = "") -> int:
    """Keep the parts running until told to leave, or until one of them refuses to run; returns the exit code. `ready` is shown on a terminal once all serve."""
    heard, answers = _Heard(), _Answers()
    before = {number: signal.signal(number, heard) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        while not heard.stop():
            for part in parts:
                part.look(time.monotonic(), lambda arguments: _start(arguments, answers.write))
            if any(part.refused for part in parts):
                break
            if ready and all(part.process and answers.has(part.process.pid) for part in parts):
                if sys.stderr.isatty():
                    print(ready, file=sys.stderr, flush=True)
                ready = ""
            heard.stop.wait(LOOK_S)
        log.info("leaving")
        running = [p.process for p in parts if p.process is not None]
        _end(running, told=[p for p in running if answers.has(p.pid)] if heard.by == signal.SIGINT else [])
        log.info("left")
    finally:
        answers.close()
        for number, handler in before.items():
            signal.signal(number, handler)
    return REFUSED if any(part.refused for part in parts) else 0


class _Answers:
    """Which parts have said that they are ready, by the id of their process: from then on they hear signals themselves."""

    def __init__(self) -> None:
        self._read, self.write = os.pipe()
        os.set_blocking(self._read, False)
        self._said = b""

    def has(self, pid: int) -> bool:
        """Whether this process has answered."""
        with suppress(BlockingIOError):
            while more := os.read(self._read, 4096):
                self._said += more
        return str(pid).encode() in self._said.split(b"\n")

    def close(self) -> None:
        """Give the pipe back."""
        os.close(self._read)
        os.close(self.write)


@dataclass(slots=True)
class _Heard:
    """The first signal to leave, and which it was."""

    stop: Stop = field(default_factory=Stop)
    by: int = 0

    def __call__(self, number: int, _frame: object) -> None:
        if not self.stop():
            self.by = number
            self.stop.set()


def _start(arguments: Sequence[str], ready: int) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-P", "-m", "worker", f"{READY_FD}{ready}", *arguments]
    return subprocess.Popen(words, stdin=subprocess.DEVNULL, preexec_fn=_as_part(), pass_fds=(ready,))


def _as_part() -> Callable[[], None]:
    """A child ignores Ctrl-C until it hears signals itself: it would end in the middle of its imports, with a traceback. On Linux it is told to leave when its
    parent is gone, however that ended."""
    tie = _with_parent() if sys.platform == "linux" else None

    def become() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if tie:
            tie()

    return become


def _with_parent() -> Callable[[], None]:
    libc, parent = ctypes.CDLL(None, use_errno=True), os.getpid()

    def tie() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:  # it went in between
            os._exit(0)

    return tie


def _end(processes: Sequence[subprocess.Popen[bytes]], *, told: Sequence[subprocess.Popen[bytes]]) -> None:
    """Let all leave; those that have not in time are killed, which loses nothing. `told` have heard Ctrl-C, which reaches the whole group: to be told twice
    means at once, so they are given time first."""
    deadline = time.monotonic() + LEAVE_S
    for process in processes:
        if process not in told:
            process.terminate()
    _await(told, min(deadline, time.monotonic() + LEAVE_S / 2))
    for process in told:
        process.terminate()
    _await(processes, deadline)
    for process in processes:
        process.kill()
        process.wait()


def _await(processes: Sequence[subprocess.Popen[bytes]], deadline: float) -> None:
    for process in processes:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            return
