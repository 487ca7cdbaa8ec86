"""dreamd hook: what agents call. `session-end` is answered by `worker.entry` before anything here is imported; this is its help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from worker.hook import session_end


def register(app: typer.Typer) -> None:
    """Add the commands."""
    hooks = typer.Typer(help="What an agent's hooks call.", no_args_is_help=True, rich_markup_mode=None)
    hooks.command("session-end")(session_end_command)
    app.add_typer(hooks, name="hook")


def session_end_command(
    wiki: Annotated[Path | None, typer.Option("--wiki", metavar="DIR", help="The wiki this session belongs to; default: whichever drains it.")] = None,
    scope: Annotated[str | None, typer.Option("--scope", metavar="S", help="The tenant/project/user path of its notes.")] = None,
    notes: Annotated[list[Path] | None, typer.Option("--notes", metavar="DIR", help="A folder of the agent's own notes to read along.")] = None,
    config: Annotated[Path | None, typer.Option("--config", metavar="FILE", help="A settings file instead of the default one.")] = None,
) -> int:
    """Record that a session ended: the hook's JSON on standard input becomes a file in the spool, drained later.

    Prints nothing and exits 0, always. `dreamd watch` and `dreamd up` drain the spool.
    """
    options = (("--wiki", wiki), ("--scope", scope), ("--config", config), *(("--notes", n) for n in notes or ()))
    return session_end([f"{name}={value}" for name, value in options if value is not None])
