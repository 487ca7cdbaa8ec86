"""dreamd doctor: is all well here, and if not, what to do."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import typer

from pipelines.errors import DreamdError
from pipelines.run.health import missing
from pipelines.store import Store
from pipelines.wiki.marker import Marker
from worker import checks, engines, settings, wiring
from worker.checks import Check, fine, of_fault, of_problem
from worker.cli import common, serving
from worker.cli.output import print_json, visible
from worker.health_server import limits_of, look

ASK_S = 10.0
"""How long the provider may take to list its batches."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("doctor")(doctor)


def doctor(wiki: common.Wiki = None, scope: common.Scope = None, config: common.Config = None, as_json: common.Json = False) -> int:
    """Check this host, its store and what gets done there; exit code 1 when something is wrong."""
    loaded = common.start(config)
    here = tuple(on_host(loaded))
    found = here if any(c.code == "extra_missing" for c in here) else (*here, *in_store(wiki, loaded, scope))
    bad = sum(c.state == "problem" for c in found)
    if as_json:
        print_json({"healthy": not bad, "checks": [asdict(c) for c in found]})
        return 1 if bad else 0
    for c in found:
        code = "" if c.state == "ok" else f"{c.code}: "
        print(f"{c.state:8} {code}{visible(c.about)}: {visible(c.why)}")
        if c.what_to_do:
            print(f"         → {visible(c.what_to_do)}")
    print(
        f"{bad} of {len(found)} checks {'is a problem' if bad == 1 else 'are problems'}; deploy/RUNBOOK.md says more of each"
        if bad
        else f"{len(found)} checks, nothing is wrong"
    )
    return 1 if bad else 0


def on_host(loaded: settings.Settings) -> Iterator[Check]:
    """What can be said without a store."""
    yield from checks.extras(loaded)
    yield from checks.engine(loaded)
    yield from checks.folder(settings.data_folder(loaded), "data folder", private=False)
    yield from checks.spool(loaded, now=time.time())
    if loaded.redis_url is not None:
        yield from checks.redis(loaded.redis_url.get_secret_value(), queue=loaded.queue)


def in_store(wiki: Path | None, loaded: settings.Settings, scope: str | None) -> Iterator[Check]:
    """What the store says, or why it says nothing."""
    try:
        place = _place(wiki, loaded)
    except wiring.NoWiki:
        yield checks.wrong("store_unreachable", "the store", "there is no wiki here yet", "dreamd dream PATH... makes one; --wiki names one", grave=False)
        return
    except DreamdError as error:
        yield of_fault(error, "the wiki")
        return
    file = _file(place, loaded)
    where = str(file) if file else "the database of database_url"
    if file is not None:
        yield from checks.writer(file)
        yield from checks.folder(file.parent, "store folder")
    try:
        with serving.open_serving(wiki, loaded) as (store, _):
            yield fine("store_unreachable", store.engines.where, "answers; its schema and triggers are as they must be")
            yield from _of(store, place, loaded, scope)
    except DreamdError as error:
        yield of_fault(error, where)


def _of(store: Store, place: wiring.Place | None, loaded: settings.Settings, scope: str | None) -> Iterator[Check]:
    """All that is measured, over one scope or all."""
    yield from checks.clock(store)
    yield from checks.forgets(settings.data_folder(loaded), store)
    yield from checks.leftovers(store)
    if found := store.schedules(scope):
        yield from checks.schedules(found, wiring.utc_now())
    yield from checks.money(store, loaded, scope, wiring.utc_now())
    if loaded.claude.costs and (provider := engines.provider_of(loaded)) is not None:
        with contextlib.closing(provider):
            yield from checks.foreign_batches(store, lambda: provider.recent(timeout_s=ASK_S))
    limits = limits_of(loaded)
    answer = look(store, limits, scope)
    told = {p.code for p in answer.problems}
    early = missing(answer.measured, limits) if answer.measured else ()
    yield from map(of_problem, (*answer.problems, *(p for p in early if p.code not in told)))
    if place is not None:
        ours = Marker(wiki=place.wiki_id, epoch=store.epoch, host=place.host)
        yield from checks.wiki(place.wiki, marker=ours, published=store.wiki(place.wiki_id) is not None)
    if place is None and store.on_sqlite:
        return  # the folder of the archive is the wiki's
    for of in answer.measured.scopes if answer.measured else ():
        blobs = wiring.archive_of(place, store, of.scope)
        yield from checks.archive(store, of.scope, blobs, loaded.health.unreadable_share)


def _file(place: wiring.Place | None, loaded: settings.Settings) -> Path | None:
    """Where the store lies, if it is a file."""
    url = loaded.database_url.get_secret_value() if loaded.database_url else place.store_url if place else ""
    return Path(url.removeprefix("sqlite:///")) if url.startswith("sqlite:///") else None


def _place(wiki: Path | None, loaded: settings.Settings) -> wiring.Place | None:
    """Where the wiki lies; None when there is none and a shared store is set. Raises NoWiki and NotOurFolder."""
    try:
        return wiring.place_of(wiring.find_wiki(wiki, loaded), loaded, create=False)
    except wiring.NoWiki:
        if loaded.database_url is None:
            raise
        return None
