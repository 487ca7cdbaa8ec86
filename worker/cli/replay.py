"""dreamd replay: a dream once more from recorded answers, without a network, compared to the byte."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Annotated

import typer

from worker import wiring
from worker.cli import common
from worker.cli.output import Progress, many, print_json


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("replay")(replay_command)


def replay_command(
    dream: Annotated[str, typer.Argument(metavar="DREAM", help="Its id, as dreamd dreams list tells it.")],
    wiki: common.Wiki = None,
    scope: common.Scope = None,
    config: common.Config = None,
    as_json: common.Json = False,
) -> int:
    """Make every request again that reading led to, answer it from the record, and compare what comes of it; notes and pages too, where no later dream moved
    them. Nothing is asked and nothing changes. Exit code 3 names the first request, reading, note or page that differs or is missing.
    """
    from pipelines.run.replay import replay

    loaded = common.start(config)
    place = wiring.place_of(wiring.find_wiki(wiki, loaded), loaded, create=False)
    progress = Progress(quiet=as_json)
    with wiring.open_parts(place, loaded, scope=scope, progress=progress) as parts:
        done = replay(replace(parts, means=None), common.scope_of(scope, loaded, parts.store), dream)
    progress.done()
    if as_json:
        print_json(asdict(done))
        return 0
    print(
        f"dream {done.dream} comes out the same: {many(done.sessions, 'session')}, {many(done.requests, 'request')} answered from the record (engine {done.engine})"
    )
    if done.beliefs:
        print("notes and pages come out the same, too")
    if done.grown:
        print(f"not compared: {many(done.grown, 'session')} of units of which one has grown since, was forgotten or is no longer kept")
    if done.read_again:
        print(f"not compared: {many(done.read_again, 'session')} that a later dream has read anew")
    return 0
