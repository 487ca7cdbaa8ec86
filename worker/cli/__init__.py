"""The command line: parse, call, print. Exit codes: 0 done, 1 a source refused or work left undone, 2 usage, 3 refused."""

from __future__ import annotations

import sys

import structlog
import typer

from pipelines.errors import DreamdError, Refused
from worker.cli.doctor import register as register_doctor
from worker.cli.dream import register as register_dream
from worker.cli.dreams import register as register_dreams
from worker.cli.hook import register as register_hook
from worker.cli.lint import register as register_lint
from worker.cli.metrics import register as register_metrics
from worker.cli.plumbing import register as register_plumbing
from worker.cli.publish import register as register_publish
from worker.cli.reading import register as register_reading
from worker.cli.schedule import register as register_schedule
from worker.cli.status import register as register_status
from worker.cli.submit import register as register_submit
from worker.cli.transfer import register as register_transfer
from worker.cli.up import register as register_up
from worker.cli.watch import register as register_watch
from worker.cli.worker import register as register_worker
from worker.settings import BadSettings

DONE, LEFT_UNDONE, USAGE, REFUSED = 0, 1, 2, 3
INTERRUPTED = 130

app = typer.Typer(
    name="dreamd", add_completion=False, pretty_exceptions_enable=False, no_args_is_help=True, rich_markup_mode=None,
    help="Consolidates the memory of agents: session logs and notes in, a corrected and linked wiki out.",
)  # fmt: skip
register_dream(app)
register_dreams(app)
register_status(app)
register_reading(app)
register_lint(app)
register_schedule(app)
register_watch(app)
register_submit(app)
register_hook(app)
register_transfer(app)
register_plumbing(app)
register_publish(app)
register_worker(app)
register_up(app)
register_doctor(app)
register_metrics(app)


def run(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code; every expected error is one clear line on standard error."""
    try:
        code = app(arguments if arguments is not None else sys.argv[1:], prog_name="dreamd", standalone_mode=False)
        return int(code or DONE)
    except BadSettings as error:
        return _say(error, REFUSED)
    except Refused as error:
        return _say(error, REFUSED)
    except DreamdError as error:
        return _say(error, LEFT_UNDONE)
    except KeyboardInterrupt:
        print("dreamd: interrupted; nothing is half-written, the next dream goes on from here", file=sys.stderr)
        return INTERRUPTED
    except typer.Exit as error:
        return int(error.exit_code)
    except typer.Abort:
        return INTERRUPTED
    except Exception as error:
        shown = getattr(error, "show", None)  # a usage error of the parser typer carries within
        if callable(shown):
            shown()
            return int(getattr(error, "exit_code", USAGE))
        structlog.get_logger("dreamd").exception("command_failed")
        return _say(error, LEFT_UNDONE)


def _say(error: BaseException, code: int) -> int:
    print(f"dreamd: {error}", file=sys.stderr)
    return code
