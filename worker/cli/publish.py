"""dreamd publish: a wiki folder made to show what is committed, once or for as long as it is followed. It reads the store alone, no log."""

from __future__ import annotations

import contextlib
import fcntl
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

import structlog
import typer

from pipelines.errors import Conflict, Transient
from pipelines.logs.redaction import Redactor
from pipelines.run.publish import Follower, Shown, WikiFolder, publish_revision
from pipelines.store import Store, this_process
from pipelines.wiki.publish import no_step
from worker import settings, wiring
from worker.cli import common, serving
from worker.cli.output import many, print_json, visible
from worker.connect.briefs import leave_briefs
from worker.health_server import serving_health
from worker.stopping import Stop, stopping

log = structlog.get_logger("dreamd.publish")


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderParts:
    """The live parts of a process that only publishes."""

    store: Store
    redactor: Redactor
    holder: str
    now: Callable[[], datetime] = wiring.utc_now
    step: Callable[[str], None] = no_step


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("publish")(publish)


def publish(
    follow: Annotated[bool, typer.Option("--follow", help="Stay, and publish whenever the store or the folder changes; SIGTERM ends it.")] = False,
    interval: Annotated[float, typer.Option("--interval", metavar="S", min=0.1, max=3600, help="With --follow: seconds between two looks.")] = 2.0,
    take_over: Annotated[
        bool, typer.Option("--take-over", help="Publish a folder that another host, or another copy of the store, published until some time ago.")
    ] = False,
    wiki: common.Wiki = None,
    scope: common.Scope = None,
    config: common.Config = None,
    as_json: common.Json = False,
) -> int:
    """Make a wiki folder show what is committed, and bring your own words below the line of its pages into the store.

    With a shared store (database_url) the folder may be a new one on any host; one host publishes into it.
    """
    loaded = serving.start(config) if follow else common.start(config)
    place = wiring.place_of(wiring.find_wiki(wiki, loaded), loaded, create=loaded.database_url is not None)
    with wiring.open_only_store(place) as store:
        over = common.scope_of(scope, loaded, store)
        parts = FolderParts(store=store, redactor=wiring.redactor(), holder=this_process(place.host))
        at = WikiFolder(folder=place.wiki, wiki=place.wiki_id, host=place.host, mine=loaded.edits_are_mine)
        if not follow:
            shown = publish_revision(parts, at, over, take_over=take_over)
            leave_briefs(store, over, data=settings.data_folder(loaded), wiki=place.wiki)
            _print(shown, as_json=as_json)
            return 1 if shown.published.held else 0
        with stopping() as stop, serving_health(store, loaded), _followed(loaded, place):

            def told(shown: Shown) -> None:
                leave_briefs(store, over, data=settings.data_folder(loaded), wiki=place.wiki)
                _print(shown, as_json=as_json)

            following(Follower(parts, at, over, take_over=take_over), stop, interval_s=interval, told=told)
    return 0


def following(follower: Follower, stop: Stop, *, interval_s: float, told: Callable[[Shown], None]) -> None:
    """Look again and again until stopped; `told` hears of every look that changed the folder. What may pass is logged, once while it stays the same, and
    tried again: a store that is away, or one restored to a moment before what the folder shows, until it has caught up; a folder that is not mounted.

    Raises what a person has to decide (Refused).
    """
    log.info(
        "follow_started", does="publishes into the folder whenever the store or the folder changes, until SIGTERM or Ctrl-C",
        folder=str(follower.at.folder), wiki=follower.at.wiki, scope=follower.scope, interval_s=interval_s,
    )  # fmt: skip
    failed = ""
    while not stop():
        try:
            shown = follower.look()
        except (Transient, Conflict) as error:
            if str(error) != failed:
                log.warning("publish_failed", wiki=follower.at.wiki, scope=follower.scope, error=type(error).__name__, why=str(error))
            failed = str(error)
        else:
            failed = ""
            if shown is not None and (shown.published.written or shown.published.removed):
                log.info(
                    "published", wiki=follower.at.wiki, scope=follower.scope, revision=shown.revision, written=len(shown.published.written),
                    removed=len(shown.published.removed), held=len(shown.published.held),
                )  # fmt: skip
                told(shown)
        stop.wait(interval_s)
    log.info("follow_ended", wiki=follower.at.wiki, scope=follower.scope)


@contextlib.contextmanager
def _followed(loaded: settings.Settings, place: wiring.Place) -> Iterator[None]:
    """Say when another process of this host follows the same folder: each publish is one at a time, so nothing goes wrong, and one of them is enough."""
    with (settings.data_folder(loaded) / f"follow-{place.wiki_id}.lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            log.warning("followed_already", folder=str(place.wiki), why="another process of this host follows this folder: one is enough, this may be ended")
        yield


def _print(shown: Shown, *, as_json: bool) -> None:
    did = shown.published
    if as_json:
        print_json(
            {"revision": shown.revision, "written": did.written, "removed": did.removed, "unchanged": did.unchanged, "held": did.held, "withheld": did.withheld}
        )
    elif not shown.revision:
        print("nothing is rendered yet in this scope")
    else:
        print(f"revision {shown.revision}: {many(len(did.written), 'page')} written, {len(did.removed)} removed, {did.unchanged} unchanged")
        for path, reason in did.held:
            print(f"  left as it is {visible(path)}: {visible(reason)}")
    sys.stdout.flush()  # who follows reads along
