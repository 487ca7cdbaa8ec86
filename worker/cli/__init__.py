"""The command line: parse, call, print. Exit codes: 0 done, 1 a source refused or work left undone, 2 usage, 3 refused."""

from __future__ import annotations

import errno
import os
import select
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Annotated, Final

import typer

from pipelines.errors import DreamdError, Refused, StoreUnavailable
from worker import __version__
from worker.cli.verbs import Verbs
from worker.settings import BadSettings

DONE, LEFT_UNDONE, USAGE, REFUSED = 0, 1, 2, 3
INTERRUPTED = 130
UNREAD = 141
"""As of a program ended by SIGPIPE: who read the output has gone before its end (`dreamd search x | head -1`)."""

ABOUT: Final = "Consolidates the memory of agents: session logs and notes in, a corrected and linked wiki out."
FIRST: Final = "dreamd alone says what is here and what to do next, and writes nothing. Each command has its own --help."
HOMES: Final[Mapping[str, str]] = {
    "dream": "dream", "dreams": "dreams", "apply": "dreams", "status": "status", "search": "reading", "why": "reading", "verify": "reading",
    "journal": "journal", "brief": "reading", "lint": "lint", "schedule": "schedule", "watch": "watch", "submit": "submit", "hook": "hook",
    "export": "transfer", "import": "transfer", "intake": "plumbing", "rebuild": "plumbing", "publish": "publish", "worker": "worker", "up": "up",
    "doctor": "doctor", "metrics": "metrics", "letters": "kept", "audit": "kept", "costs": "costs", "review": "review", "remember": "saying",
    "retract": "review", "edit": "saying", "pin": "review", "revert": "revert", "notes": "notes", "estimate": "estimate", "replay": "replay",
    "connect": "connect", "disconnect": "connect", "forget": "forget", "scrub": "forget",
}  # fmt: skip
"""Command → its module here. Only the module of the command that is run is imported: `status` is asked often, and reads no log."""


def app_of(command: str | None = None) -> typer.Typer:
    """The command line with what stands in a command's module, or with all commands."""
    app = typer.Typer(
        name="dreamd", cls=Verbs, add_completion=False, pretty_exceptions_enable=False, no_args_is_help=True, rich_markup_mode=None, callback=_all,
        help=f"{ABOUT}\n\n{FIRST}",
    )  # fmt: skip
    if command == "--help":
        return _listed(app)
    home = HOMES.get(command or "")
    for module in (home,) if home else dict.fromkeys(HOMES.values()):
        import_module(f"{__name__}.{module}").register(app)
    return app


def _listed(app: typer.Typer) -> typer.Typer:
    """The command line with every command in name alone: the list of them is a table of ours (`verbs.PARTS`), and needs no module of theirs."""
    for name in HOMES:
        app.command(name)(lambda: None)
    return app


def _version(asked: bool) -> None:
    if asked:
        print(f"dreamd {__version__}")
        raise typer.Exit


def _all(version: Annotated[bool, typer.Option("--version", is_eager=True, callback=_version, help="Print the version and exit.")] = False) -> None:
    """So that a command line with one command in it is still called by the command's name."""


def run(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code; every expected error is one clear line on standard error."""
    words = arguments if arguments is not None else sys.argv[1:]
    try:
        if words in ([], ["--json"]):
            from worker.cli.home import home

            return _told(home(as_json=bool(words)))
        code = app_of(words[0] if words else None)(words, prog_name="dreamd", standalone_mode=False)
        return _interrupted(words) if code == INTERRUPTED else _told(int(code or DONE))  # the parser makes that of Ctrl-C
    except BadSettings as error:
        return _say(error, REFUSED)
    except Refused as error:
        return _say(error, REFUSED)
    except StoreUnavailable as error:
        return _say(_away(error, words), LEFT_UNDONE)
    except DreamdError as error:
        return _say(error, LEFT_UNDONE)
    except SystemExit:  # the parser within ends the process by itself where nobody reads what it prints
        if _nobody_reads():
            return UNREAD
        raise
    except KeyboardInterrupt:
        return _interrupted(words)
    except typer.Exit as error:
        return int(error.exit_code)
    except typer.Abort:
        return INTERRUPTED
    except OSError as error:
        if isinstance(error, BrokenPipeError) and _nobody_reads():
            return UNREAD
        told = _refused_by_the_system(error)
        return _say(told, REFUSED) if told else _fault(error)
    except Exception as error:
        shown = getattr(error, "show", None)  # a usage error of the parser typer carries within
        if callable(shown):
            shown()
            return int(getattr(error, "exit_code", USAGE))
        return _fault(error)


def _interrupted(words: Sequence[str]) -> int:
    return _say(f"interrupted; {_whole(words)}", INTERRUPTED)


def _away(error: StoreUnavailable, words: Sequence[str]) -> str:
    """What it means that a store did not answer, where the error does not say so itself."""
    return str(error) if "try again" in str(error) else f"{error}; {_whole(words)}: try again when that is over"


def _whole(words: Sequence[str]) -> str:
    """What a command leaves behind that ended in the middle."""
    return f"nothing is half-written{', the next dream goes on from here' if words[:1] == ['dream'] else ''}"


def _told(code: int) -> int:
    """The exit code, once all that was printed is written: else a reader who has gone is met when nobody can answer for it."""
    if sys.stdout is not None:  # nothing at all where it was closed before the start
        sys.stdout.flush()
    return code


def _nobody_reads() -> bool:
    """Whether who read our output has gone; what is left of it then goes nowhere."""
    try:
        out = sys.stdout.fileno()
    except (AttributeError, OSError, ValueError):  # no output, or no file of its own
        return False
    asked = select.poll()
    asked.register(out, select.POLLOUT)
    gone = any(event & (select.POLLERR | select.POLLHUP) for _, event in asked.poll(0))
    if gone:
        os.dup2(os.open(os.devnull, os.O_WRONLY), out)
    return gone


_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_NO_ROOM: Final = _FULL | {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR}
"""Why the system lets nothing be written at a place: a matter of the person's, no fault of ours."""


def _refused_by_the_system(error: OSError) -> str:
    """What a person should know of a file that could not be written or read; "" for what may be our own fault.

    A write into an open file that fails names no file: a full disk is told all the same.
    """
    if error.errno in _FULL and not error.filename:
        return f"{os.strerror(error.errno or 0)}: a disk dreamd writes to is full; nothing is half-written: make room (dreamd doctor says where), and try again"
    if error.errno not in _NO_ROOM or not error.filename:
        return ""
    return f"{error.filename}: {os.strerror(error.errno)}; make it writable, or name another place (--wiki, or data_dir for the data folder), and try again"


def _fault(error: Exception) -> int:
    """Tell of what nobody expected, with its traceback in the log."""
    import structlog  # here: it takes a tenth of a second to load, and a command that answers needs none of it

    from worker import logsetup

    if not structlog.is_configured():
        logsetup.configure()  # structlog's own way of telling an error prints local variables, settings among them
    structlog.get_logger("dreamd").exception("command_failed")
    return _say(error, LEFT_UNDONE)


def _say(error: BaseException | str, code: int) -> int:
    print(f"dreamd: {error}", file=sys.stderr)
    return code
