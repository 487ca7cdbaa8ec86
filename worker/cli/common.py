"""What every command shares: its options, its settings, and the wiki it works on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from pipelines.notes.privacy import NAME
from pipelines.run.health import WORKER
from pipelines.store import Store, alive
from worker import logsetup, settings, wiring

NAMED = 5  # of the scopes a store holds, so many are named

Wiki = Annotated[
    Path | None, typer.Option("--wiki", metavar="DIR", help="The wiki folder; default: the setting, else the nearest from here upwards, else the project's.")
]


def _checked(scope: str | None) -> str | None:
    try:
        return None if scope is None else settings.scope_path(scope)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def scope_named(given: str) -> str | None:
    """A scope as an option gives it, checked; None when it was left out."""
    return _checked(given or None)


Scope = Annotated[str | None, typer.Option("--scope", metavar="S", callback=_checked, help="The tenant/project/user path of the notes; default: the setting.")]


def _named(audience: str | None) -> str | None:
    if audience is not None and not NAME.fullmatch(audience):
        raise typer.BadParameter("must be a name such as work: small letters, digits, dots and dashes, at most 40")
    return audience


Audience = Annotated[
    str | None,
    typer.Option("--audience", metavar="NAME", callback=_named, help="Only what is for this audience: what it was told, and what is no secret of anybody's."),
]
Config = Annotated[Path | None, typer.Option("--config", metavar="FILE", help="A settings file instead of the default one.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]


def require_some(paths: Sequence[str]) -> None:
    """Refuse paths of which none is there: a misspelt name is found now, and not by waiting for what never comes."""
    if paths and not any(Path(p).expanduser().exists() for p in paths):
        raise typer.BadParameter(f"{', '.join(paths)} {'does' if len(paths) == 1 else 'do'} not exist", param_hint="PATH...")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Settings, scope, a store, and where its wiki lies: None for a server's, read where there is no wiki."""

    settings: settings.Settings
    scope: str
    place: wiring.Place | None
    store: Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """Settings, scope, where the wiki lies, and its store."""

    settings: settings.Settings
    scope: str
    place: wiring.Place
    store: Store


def start(config: Path | None) -> settings.Settings:
    """Settings of this process, with logging set up by them."""
    loaded = settings.load(config)
    logsetup.configure(loaded.log_level)
    return loaded


@contextlib.contextmanager
def opened(wiki: Path | None, scope: str | None, config: Path | None) -> Iterator[Opened]:
    """The store of an existing wiki, for commands that look at its folder, too."""
    loaded = start(config)
    place = wiring.place_of(wiring.find_wiki(wiki, loaded), loaded, create=False)
    with wiring.open_only_store(place) as store:
        yield Opened(settings=loaded, scope=scope_of(scope, loaded, store), place=place, store=store)


@contextlib.contextmanager
def reading(wiki: Path | None, scope: str | None, config: Path | None) -> Iterator[Reading]:
    """A store for commands that read nothing else: that of an existing wiki, or the server's the settings name, which every host reads without one."""
    loaded = start(config)
    with store_of(wiki, loaded) as (store, place):
        if place is None and store.on_sqlite:
            raise wiring.NoWiki(
                "no wiki here, and of a store that is a file the archive is found by its wiki: name it with --wiki, the setting wiki, or DREAMD_WIKI"
            )
        yield Reading(settings=loaded, scope=scope_of(scope, loaded, store), place=place, store=store)


@contextlib.contextmanager
def store_of(wiki: Path | None, loaded: settings.Settings) -> Iterator[tuple[Store, wiring.Place | None]]:
    """The store, and where the wiki lies; a shared store needs none."""
    try:
        place = wiring.place_of(wiring.find_wiki(wiki, loaded), loaded, create=False)
    except wiring.NoWiki:
        if loaded.database_url is None or wiki is not None:
            raise
        place = None
    with wiring.open_only_store(place) if place is not None else wiring.open_shared_store(loaded) as store:
        yield store, place


def scope_of(given: str | None, loaded: settings.Settings, store: Store) -> str:
    """The scope named, else the one set, else the only one a store of one wiki has, else the default. In a shared store the only one may be another's."""
    if given:
        return given
    scopes = () if loaded.database_url or "scope" in loaded.model_fields_set else store.scopes()
    return scopes[0] if len(scopes) == 1 else loaded.scope


def nothing_in(scope: str, said: str, store: Store) -> str:
    """Says that a scope has nothing yet, and which scopes the store holds instead: the scope may not be the one that was meant."""
    others = [known for known in store.scopes() if known != scope]
    more = f" and {len(others) - NAMED} more" if len(others) > NAMED else ""
    return f"{said} in {scope} yet" + (f"; the store holds {', '.join(others[:NAMED])}{more}: --scope names one" if others else "")


def workers_seen(store: Store, loaded: settings.Settings, host: str | None) -> int:
    """How many workers were seen lately and, as far as this host can tell, still live."""
    since = wiring.utc_now().timestamp() - loaded.health.seen_s
    return sum(w.seen_ms / 1000 > since and alive(w.name, host=host) for w in store.workers(role=WORKER))
