"""Plumbing: the parts of a dream on their own, and rebuilding what is derived."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pipelines.errors import Refused
from pipelines.run import Params, Request
from pipelines.run.rebuild import rebuild_from_logs, rebuild_wiki
from pipelines.run.sources import counts_of, take_in
from worker import wiring
from worker.above import require_not_above
from worker.cli import common
from worker.cli.output import Progress, many, print_json

_PANEL = "Plumbing"


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("intake", rich_help_panel=_PANEL)(intake)
    app.command("rebuild", rich_help_panel=_PANEL)(rebuild)


def intake(
    paths: Annotated[list[str], typer.Argument(metavar="PATH", help="Log files or folders.")],
    wiki: common.Wiki = None,
    notes: Annotated[list[Path] | None, typer.Option("--notes", metavar="DIR", help="A folder of the agent's own notes.")] = None,
    scope: common.Scope = None,
    config: common.Config = None,
    as_json: common.Json = False,
) -> int:
    """Take in what is new in logs and notes; decide nothing."""
    loaded = common.start(config)
    place = wiring.place_of(wiring.find_wiki(wiki, loaded), loaded, create=True)
    if paths or notes:
        require_not_above(place.wiki, scope, loaded)
    with wiring.open_parts(place, loaded, scope=scope, progress=Progress(quiet=as_json)) as parts:
        taken = take_in(parts, _request(place, common.scope_of(scope, loaded, parts.store), tuple(paths), tuple(notes or ())))
    totals = counts_of(taken.logs)
    if as_json:
        print_json({"files": len(taken.logs.files), "unchanged": taken.logs.unchanged, **totals, "refused": [{"path": p, "why": w} for p, w in taken.problems]})
    else:
        bad = f"{totals['bad']} bad{' (dreamd status --bad names them)' if totals['bad'] else ''}"
        print(f"{many(len(taken.logs.files), 'file')} read, {taken.logs.unchanged} unchanged: {totals['good']} good records, {bad}")
        for path, why in taken.problems:
            print(f"  not taken {path}: {why}")
    return 1 if taken.problems else 0


def rebuild(
    wiki: common.Wiki = None,
    from_logs: Annotated[bool, typer.Option("--from-logs", help="Derive the notes again from the archive and compare.")] = False,
    scope: common.Scope = None,
    config: common.Config = None,
    as_json: common.Json = False,
) -> int:
    """Render the wiki and make the search index again from the store, or derive notes again from the archived logs; print every difference."""
    loaded = common.start(config)
    place = wiring.place_of(wiring.find_wiki(wiki, loaded), loaded, create=False)
    if not place.wiki.parent.is_dir():
        raise Refused(f"{place.wiki.parent} does not exist")
    with wiring.open_parts(place, loaded, scope=scope) as parts:
        request = _request(place, common.scope_of(scope, loaded, parts.store), skew_s=loaded.skew_s)
        if not from_logs:
            parts.store.rebuild_search()
        differences = rebuild_from_logs(parts, request) if from_logs else rebuild_wiki(parts, request)
    if as_json:
        print_json({"differences": differences})
    else:
        for line in differences:
            print(line)
        print(many(len(differences), "difference") if differences else "rebuilt without a difference")
    return 1 if from_logs and differences else 0


def _request(place: wiring.Place, scope: str, paths: tuple[str, ...] = (), notes: tuple[Path, ...] = (), *, skew_s: float = 120) -> Request:
    return Request(
        scope=scope, paths=paths, wiki=place.wiki, wiki_id=place.wiki_id, host=place.host, notes=notes,
        exclude=(str(place.wiki), str(place.private)), params=Params(skew_s=skew_s),
    )  # fmt: skip
