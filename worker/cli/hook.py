"""dreamd hook: what agents call. `worker.entry` answers both before anything here is imported; this is their help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from worker.hook import CONNECTED, session_end
from worker.session_start import session_start


def register(app: typer.Typer) -> None:
    """Add the commands."""
    hooks = typer.Typer(help="What an agent's hooks call.", no_args_is_help=True, rich_markup_mode=None)
    hooks.command("session-end")(session_end_command)
    hooks.command("session-start")(session_start_command)
    app.add_typer(hooks, name="hook")


def session_end_command(
    wiki: Annotated[Path | None, typer.Option("--wiki", metavar="DIR", help="The wiki this session belongs to; default: whichever drains it.")] = None,
    scope: Annotated[str | None, typer.Option("--scope", metavar="S", help="The tenant/project/user path of its notes.")] = None,
    notes: Annotated[list[Path] | None, typer.Option("--notes", metavar="DIR", help="A folder of the agent's own notes to read along.")] = None,
    agent: Annotated[str | None, typer.Option("--agent", metavar="NAME", help="claude-code or codex.")] = None,
    connected: Annotated[bool, typer.Option("--connected", help="Only sessions of projects that were dreamt over.")] = False,
    data: Annotated[Path | None, typer.Option("--data", metavar="DIR", help="The data folder; default: the settings'.")] = None,
    config: Annotated[Path | None, typer.Option("--config", metavar="FILE", help="A settings file instead of the default one.")] = None,
) -> int:
    """Record that a session ended: the hook's JSON on standard input becomes a file in the spool, drained later.

    Prints nothing and exits 0, always. `dreamd watch` and `dreamd up` drain the spool; where neither runs, the end of a session may start a dream.
    """
    options = (
        ("--wiki", wiki), ("--scope", scope), ("--agent", agent), ("--data", data), ("--config", config), *(("--notes", n) for n in notes or ())
    )  # fmt: skip
    return session_end([*([CONNECTED] if connected else []), *(f"{name}={value}" for name, value in options if value is not None)])


def session_start_command(
    wiki: Annotated[Path | None, typer.Option("--wiki", metavar="DIR", help="Tell of this wiki; default: that of the session's project.")] = None,
    agent: Annotated[str | None, typer.Option("--agent", metavar="NAME", help="claude-code or codex.")] = None,
    data: Annotated[Path | None, typer.Option("--data", metavar="DIR", help="The data folder; default: the settings'.")] = None,
    config: Annotated[Path | None, typer.Option("--config", metavar="FILE", help="A settings file instead of the default one.")] = None,
) -> int:
    """Print the brief that the last dream left for sessions, and record that this one was told.

    Exits 0, always; prints nothing where there is no brief.
    """
    options = (("--wiki", wiki), ("--agent", agent), ("--data", data), ("--config", config))
    return session_start([f"{name}={value}" for name, value in options if value is not None])
