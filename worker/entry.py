"""The console script. What must be quick is answered before anything heavy is imported."""

import os
import sys

from worker import READY_FD

SERVES = frozenset({"up", "worker", "schedule", "watch"})
"""Commands that a person ends with Ctrl-C; `publish --follow` is one as well."""
INTERRUPTED = 130


def main() -> int:
    """Run the command line and return its exit code."""
    if sys.argv[1:] == ["--version"]:
        from worker import __version__

        print(f"dreamd {__version__}")
        return 0
    if sys.argv[1:2] == ["hook"] and "--help" not in sys.argv:
        if sys.argv[2:3] == ["session-end"]:
            from worker.hook import session_end

            return session_end(sys.argv[3:])
        if sys.argv[2:3] == ["session-start"]:
            from worker.session_start import session_start

            return session_start(sys.argv[3:])
    _have_errors_somewhere()
    _take_ready_fd()
    if _serves(sys.argv[1:]):
        _leave_quietly()
        return _run()
    ended = _hear_sigterm()
    code = _run()
    if ended:
        _end_by_sigterm()
    return code


def _run() -> int:
    try:
        from worker.cli import run
    except KeyboardInterrupt:
        return INTERRUPTED
    return run()


def _have_errors_somewhere() -> None:
    """Where standard error was closed before the start, what is said there goes nowhere: no file of ours may become number 2, and no warning stops a dream."""
    if sys.stderr is None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        sys.stderr = os.fdopen(2, "w")


def _take_ready_fd() -> None:
    """A part of `dreamd up` tells it once it hears signals; until then it was started to ignore Ctrl-C, and its parent ends it."""
    if sys.argv[1:2] and sys.argv[1].startswith(READY_FD):
        from worker.stopping import tell_when_ready

        tell_when_ready(int(sys.argv.pop(1).removeprefix(READY_FD)))


def _serves(words: list[str]) -> bool:
    command = words[0] if words else ""
    return "--follow" in words if command == "publish" else command in SERVES and "--once" not in words


def _hear_sigterm() -> list[int]:
    """Let SIGTERM interrupt a command as Ctrl-C does; a second one ends it at once. What is returned then holds the signal."""
    import signal

    heard: list[int] = []

    def hear(number: int, _frame: object) -> None:
        heard.append(number)
        signal.signal(number, signal.SIG_DFL)
        raise KeyboardInterrupt

    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, hear)
    return heard


def _end_by_sigterm() -> None:
    """End as a process does that does not hear the signal: systemd and shells take that for a clean stop, and no exit code for one."""
    import signal

    os.kill(os.getpid(), signal.SIGTERM)


def _leave_quietly() -> None:
    import signal

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def _leave(_number: int, _frame: object) -> None:
    """Ctrl-C before a serving command hears it by itself: nothing has begun, so there is nothing to say. What it does is a transaction or a whole file."""
    os._exit(INTERRUPTED)
