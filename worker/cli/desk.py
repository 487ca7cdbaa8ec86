"""The table a person decides at: an open store with the request of a dream that reads nothing but what they said, and what that dream moved."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from pipelines.errors import Refused
from pipelines.notes.instruction_files import Instructed
from pipelines.run import Parts, Request, dream
from pipelines.run.following import Follows, follows
from worker import wiring
from worker.above import user_place
from worker.by_agent import agent_of
from worker.cli import common
from worker.cli.dream import Waiting
from worker.cli.output import Progress
from worker.connect.briefs import leave_briefs
from worker.instruction_places import instructed
from worker.projects import Homes
from worker.registry import all_registered
from worker.settings import data_folder

HAND = "command"
Note = Annotated[str, typer.Argument(metavar="NOTE", help="A note's id (n-…), as pages and the inbox show it.")]
Mine = Annotated[bool, typer.Option("--mine", help="It is your own word, although an agent runs this command for you.")]


def require_person(mine: bool, what: str) -> None:
    """Refuse to an agent what only a person may do, unless it says that they did."""
    if not mine and (agent := agent_of(os.environ)) is not None:
        raise Refused(
            f"{agent.name} runs this command ({agent.sign} is set), and {what} is the person's to do: in a terminal of theirs, or with --mine if they said so"
        )


@contextmanager
def desk(wiki: Path | None, scope: str | None, config: Path | None, *, everywhere: bool = False) -> Iterator[tuple[Parts, Request, wiring.Place, Path]]:
    """Live parts over an existing wiki (`everywhere`: the one above the projects, made when there is none), and the request of a dream that reads nothing
    but what the person said."""
    loaded = common.start(config)
    if everywhere:
        place, scope = user_place(loaded)
    else:
        place = wiring.place_of(wiring.find_wiki(wiki, loaded), loaded, create=False)
    with wiring.open_parts(place, loaded, scope=scope) as parts:
        yield parts, Request(
            scope=common.scope_of(scope, loaded, parts.store), paths=(), wiki=place.wiki, wiki_id=place.wiki_id, host=place.host, cause="review",
            exclude=(str(place.wiki),), mine=loaded.edits_are_mine, params=parts.defaults,
        ), place, data_folder(loaded)  # fmt: skip


def little_dream(parts: Parts, request: Request, paths: Sequence[str], data: Path) -> tuple[Follows, ...]:
    """Believe anew what was decided or said, beside the instruction files as they are now, and let the next session be told so; returns what notes say
    otherwise for it."""
    progress = Progress(quiet=False)
    meant = replace(request, paths=tuple(paths), instructions=_instructed(request, data))
    try:
        done = dream(replace(parts, progress=progress), meant, waiting=Waiting())
    finally:
        progress.done()
    leave_briefs(parts.store, request.scope, data=data, wiki=request.wiki)
    return follows(parts.store, parts.store.dream(request.scope, done.report.dream))


def _instructed(request: Request, data: Path) -> Instructed | None:
    """The instruction files of the project whose wiki this is; None, which leaves those of the dream before, where it is no project's on this machine."""
    roots = (p.root for p in all_registered(data) if p.scope == request.scope and request.wiki and p.wiki.resolve() == Path(request.wiki).resolve())
    root = next((r for r in roots if r.is_dir()), None)
    return instructed(root, Homes.of(os.environ)) if root else None


def masked(text: str, parts: Parts) -> str:
    """The text with its secrets masked; what no file can hold as UTF-8 becomes a question mark."""
    return parts.redactor.mask(text.encode("utf-8", "replace")).data.decode("utf-8", "replace")
