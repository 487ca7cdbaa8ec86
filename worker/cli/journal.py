"""dreamd journal: the report of a day; what changed nothing is said in one line."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from pipelines.errors import DreamdError, Refused
from pipelines.store import Dream, ScopeHealth, Store
from pipelines.wiki.page import OWN_MARK
from worker import wiring
from worker.cli import common
from worker.cli.output import many, print_json, stalled
from worker.settings import Settings

LATELY = 200
"""Dreams looked through for those of a day."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("journal")(journal)


def journal(
    day: Annotated[str | None, typer.Argument(metavar="DATE", help="The day (YYYY-MM-DD); default: the newest report.")] = None,
    wiki: common.Wiki = None,
    scope: common.Scope = None,
    config: common.Config = None,
    as_json: common.Json = False,
) -> int:
    """The morning report of a day, and in one line that dreams since then, or of that day, changed nothing."""
    loaded = common.start(config)
    folder = wiring.find_wiki(wiki, loaded)
    reports = {p.stem: p for p in sorted((folder / "journal").glob("*.md"))}
    ended, warned = _looked(folder, scope, loaded)
    shown = day or max(reports, default="")
    quiet = _quiet(ended, shown, only=day is not None, reported=shown in reports)
    if shown not in reports and not quiet:
        raise Refused(f"no report of {day or 'any day'} in {folder / 'journal'}; there are {', '.join(sorted(reports)[-5:]) or 'none'}")
    text = reports[shown].read_text(encoding="utf-8", errors="replace") if shown in reports else ""
    if as_json:
        print_json({"date": shown or None, "text": text, "quiet": quiet or None, "warning": warned or None})
        return 0
    for line in filter(None, (warned, quiet)):
        print(line)
    if text:
        print(("\n" if quiet or warned else "") + text.replace(OWN_MARK, "").rstrip())
    return 0


def _looked(folder: Path, scope: str | None, loaded: Settings) -> tuple[Sequence[Dream], str]:
    """The dreams that ended, newest first, and a warning when they confirm nothing; nothing where the store cannot be asked: the reports lie in the folder."""
    try:
        place = wiring.place_of(folder, loaded, create=False)
        with wiring.open_only_store(place) as store:
            return _asked(store, common.scope_of(scope, loaded, store), loaded)
    except DreamdError:
        return (), ""


def _asked(store: Store, scope: str, loaded: Settings) -> tuple[Sequence[Dream], str]:
    ended = tuple(d for d in store.dreams(scope, limit=LATELY) if d.ended_at and d.state == "completed")
    of = next(iter(store.health(scope).scopes), ScopeHealth(scope=scope))
    return ended, stalled(of, loaded.health.stalled_dreams)


def _quiet(ended: Sequence[Dream], shown: str, *, only: bool, reported: bool) -> str:
    """That dreams changed nothing: those of the day asked for when it has no report, else those of the days since the newest one."""
    if only:
        of = [] if reported else [d for d in ended if _day(d) == shown]
        return f"{_dreams(len(of))} of {shown} changed nothing." if of else ""
    since = [d for d in ended if _day(d) > shown]
    if not since:
        return ""
    last = f"{since[0].ended_at:%Y-%m-%d %H:%M} UTC"
    return f"{_dreams(len(since))} since {'then' if shown else 'the beginning'} changed nothing, the last of {last}." + (
        f" The newest report is that of {shown}:" if shown else ""
    )


def _dreams(count: int) -> str:
    return "The dream" if count == 1 else f"{many(count, 'dream')}"


def _day(dream: Dream) -> str:
    at: date | None = dream.ended_at.date() if dream.ended_at else None
    return at.isoformat() if at else ""
