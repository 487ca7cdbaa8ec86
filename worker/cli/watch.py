"""dreamd watch: sessions that ended without a hook, by quiet time; and the spool of those that had one."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import structlog
import typer

from pipelines.errors import DreamdError
from pipelines.run import Parts, Request
from worker import settings, wiring
from worker.above import require_not_above
from worker.bell import Bell
from worker.cli import common, serving
from worker.cli.output import many, print_json, visible
from worker.spool import Drained, drain, spool_of
from worker.stopping import Stop, stopping
from worker.watcher import Polled, Watcher, poll_s

log = structlog.get_logger("dreamd.watch")


QUIET_HELP = "A log that grew ended after so many seconds without more; default: the setting quiet_s, 600."


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("watch")(watch)


def watch(
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="PATH...", help="Log files, or folders to look for logs in; none: only sessions that a hook tells of.")
    ] = None,
    quiet: Annotated[float | None, typer.Option("--quiet", metavar="S", min=0, max=86_400, help=QUIET_HELP)] = None,
    notes: Annotated[list[Path] | None, typer.Option("--notes", metavar="DIR", help="A folder of the agent's own notes to read along.")] = None,
    once: Annotated[bool, typer.Option("--once", help="Look once and end.")] = False,
    wiki: common.Wiki = None,
    scope: common.Scope = None,
    config: common.Config = None,
    as_json: common.Json = False,
) -> int:
    """Take in sessions that ended and ask for a dream over them; `dreamd up` or `dreamd worker` dreams it."""
    loaded = common.start(config) if once else serving.start(config)
    common.require_some(paths or ())
    place = wiring.place_of(wiring.find_wiki(wiki, loaded), loaded, create=True)
    if paths or notes:
        require_not_above(place.wiki, scope, loaded)
    quiet_s = loaded.quiet_s if quiet is None else quiet
    with wiring.open_parts(place, loaded, scope=scope) as parts:
        request = request_of(place, loaded, common.scope_of(scope, loaded, parts.store), tuple(paths or ()), tuple(notes or ()))
        watcher, ring = Watcher(parts, request, quiet_s=quiet_s), serving.bell(loaded)
        if once:
            _print(empty(parts, watcher, place, loaded, ring), look(watcher, ring), quiet_s=quiet_s, as_json=as_json)
            return 0
        with stopping() as stop:
            watching(parts, watcher, place, loaded, ring, stop, quiet_s=quiet_s)
    return 0


def request_of(place: wiring.Place, loaded: settings.Settings, scope: str, paths: tuple[str, ...], notes: tuple[Path, ...]) -> Request:
    """What is taken in, and where it belongs."""
    return Request(
        scope=scope, paths=paths, wiki=place.wiki, wiki_id=place.wiki_id, host=place.host, notes=tuple(n.expanduser() for n in notes),
        exclude=(str(place.wiki), str(place.private)), mine=loaded.edits_are_mine, params=wiring.defaults_of(loaded),
    )  # fmt: skip


def empty(parts: Parts, watcher: Watcher, place: wiring.Place, loaded: settings.Settings, ring: Bell, stop: Callable[[], bool] = lambda: False) -> Drained:
    """Drain the spool of this host once, and ring."""
    drained = drain(
        parts, spool_of(loaded), watcher.request, host=place.host, archive_of=lambda at: wiring.archive_of(place, parts.store, at), stop=stop
    )  # fmt: skip
    if drained.ring:
        ring(drained.ring)
    return drained


def look(watcher: Watcher, ring: Bell) -> Polled:
    """Look at the logs once, and ring."""
    polled = watcher.look()
    if polled.ring:
        ring(polled.ring)
    return polled


def watching(
    parts: Parts, watcher: Watcher, place: wiring.Place, loaded: settings.Settings, ring: Bell, stop: Stop, *, quiet_s: float
) -> None:  # fmt: skip
    """Look again and again until stopped. Trouble is logged, and the next look tries again; a spool nobody may read does not keep the logs from being seen."""
    log.info(
        "watch_started", does="takes in logs that are quiet and sessions a hook tells of, and asks for dreams over them, until SIGTERM or Ctrl-C",
        paths=list(watcher.request.paths), spool=str(spool_of(loaded)), quiet_s=quiet_s, scope=watcher.request.scope,
    )  # fmt: skip
    while not stop():
        with _logged("spool_not_drained"):
            drained = empty(parts, watcher, place, loaded, ring, stop)
            if drained.asked or drained.letters:
                log.info("spool_drained", ended=len(drained.asked), letters=drained.letters, left=drained.left)
            for where, why in drained.problems:
                log.warning("session_end_incomplete", where=where, why=why)
        with _logged("logs_not_watched"):
            polled = look(watcher, ring)
            if polled.read:
                log.info("watched", read=polled.read, waiting=polled.waiting, asked=polled.asked.answer if polled.asked else "")
        stop.wait(poll_s(quiet_s))


@contextlib.contextmanager
def _logged(event: str) -> Iterator[None]:
    try:
        yield
    except (DreamdError, OSError) as error:
        log.warning(event, error=type(error).__name__, why=str(error))


def _print(drained: Drained, polled: Polled, *, quiet_s: float, as_json: bool) -> None:
    asked = [*drained.asked, *([polled.asked] if polled.asked else [])]
    problems = (*drained.problems, *polled.problems)
    if as_json:
        print_json(
            {"ended": len(drained.asked), "letters": drained.letters, "left": drained.left, "read": polled.read, "waiting": polled.waiting,
             "asked": [{"answer": a.answer, "dream": a.dream, "state": a.state} for a in asked], "problems": problems}
        )  # fmt: skip
        return
    did = [f"{many(n, what)} {verb}" for n, what, verb in ((len(drained.asked), "session end", "of a hook"), (polled.read, "log", "taken in")) if n]
    if did:
        print(", ".join(did))
    if polled.waiting:
        grew, end = ("grew and is", "a session has") if polled.waiting == 1 else ("grew and are", "each session has")
        print(f"{many(polled.waiting, 'log')} {grew} not quiet yet: {end} ended after {quiet_s:g} s without more")
    if not (did or polled.waiting or drained.letters or problems):
        print("nothing new: what is there was taken in")
    if drained.letters:
        print(f"  kept as letters, since nobody could read them: {drained.letters}")
    for path, why in problems:
        print(f"  not taken {visible(path)}: {visible(why)}")
    for a in asked:
        print(f"  {_ANSWERS[a.answer].format(a.dream)} ({a.state})" if a.dream else "  too many requests wait: asked again at the next look")


_ANSWERS = {"accepted": "asked for dream {}", "coalesced": "joins dream {}, which has not begun", "known": "asked for dream {} before"}
