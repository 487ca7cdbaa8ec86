"""Composition root: settings and a wiki folder in, live parts out. The only file that names a port and its driver together.

What only some commands need is imported where it is used: reading logs, patterns, engine and the stages take longer to import than `status` takes to answer.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import sys
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.errors import NotOurFolder, Refused
from pipelines.model import digest
from pipelines.store import Store, open_store, this_process
from pipelines.wiki.marker import Marker, read_marker
from worker import engines
from worker.settings import Settings, cache_folder, data_folder

if TYPE_CHECKING:
    from pipelines.logs.redaction import Redactor
    from pipelines.ports import Blobs
    from pipelines.run import Params, Parts
    from pipelines.run.parts import Progress
    from pipelines.run.retention import Keep
    from worker.registry import Registered

_OTHER_STORE = "set data_dir (DREAMD_DATA_DIR) to the data folder it was made with, or name another folder with --wiki and dream again from the logs"


class NoWiki(Refused):
    """No wiki was named and none stands in the current folder or above it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a wiki and what belongs to it lie."""

    wiki: Path
    wiki_id: str
    store_url: str = field(repr=False)  # may hold a password
    archive: Path
    private: Path
    host: str


def utc_now() -> datetime:
    """The clock."""
    return datetime.now(UTC)


def find_wiki(given: Path | None, settings: Settings, *, start: Path | None = None) -> Path:
    """The wiki folder: the one named, the setting's, or the nearest one from the current folder upwards. Raises NoWiki, and Refused as `named_wiki`."""
    if given:
        return named_wiki(given)
    if settings.wiki:
        return settings.wiki.expanduser()
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if _marker(folder) is not None:
            return folder
        inside = folder / "dreamd-wiki"
        if _marker(inside) is not None:
            return inside
    if (known := registered_at(here, settings)) is not None:
        return known.wiki
    raise NoWiki("no wiki here: dreamd dream makes one of this project's logs; another is named with --wiki, the setting wiki, or DREAMD_WIKI")


def named_wiki(given: Path) -> Path:
    """The wiki folder an option names; what stands above it must be there, so that a misspelt path makes no folders. Raises Refused."""
    wiki = given.expanduser()
    above = wiki.absolute().parent
    if not above.is_dir():
        raise Refused(f"{above} is no folder: name a wiki in one that is there (only the last part of --wiki is made), or make it first")
    return wiki


def registered_at(folder: Path, settings: Settings) -> Registered | None:
    """The wiki of the project a folder belongs to, None when it was never dreamt over."""
    data = data_folder(settings)
    if not (data / "projects").is_dir():
        return None
    from worker.projects import root_of
    from worker.registry import registered

    return registered(data, root_of(folder))


def place_of(wiki: Path, settings: Settings, *, create: bool) -> Place:
    """Where store and archive of a wiki lie. A new wiki gets an id, remembered by its path until its folder carries it.

    Raises NotOurFolder when something else stands in the folder, NoWiki when it must exist and does not.
    """
    marker = _marker(wiki)
    data = data_folder(settings).resolve()
    known = data / "wikis" / f"{digest(str(wiki.resolve()))[:24]}.id"
    if marker is None and wiki.exists():
        _require_ours(wiki)
    if marker is None and not create and not known.is_file():
        raise NoWiki(f"{wiki} is no wiki of dreamd: make one with dreamd dream PATH... --wiki {wiki}")
    wiki_id = marker.wiki if marker else _remembered(known, uuid.uuid4().hex[:16])
    private = data / "stores" / wiki_id
    if marker is not None and not settings.database_url and not (private / "store.db").exists():
        raise NotOurFolder(f"{wiki} is published from a store that is not in {data}: {_OTHER_STORE}")
    url = settings.database_url.get_secret_value() if settings.database_url else f"sqlite:///{private / 'store.db'}"
    return Place(wiki=wiki, wiki_id=wiki_id, store_url=url, archive=private / "archive", private=private, host=_host(data))


@contextlib.contextmanager
def open_parts(
    place: Place, settings: Settings, *, scope: str | None = None, progress: Progress | None = None, busy: Callable[[str], None] | None = None
) -> Iterator[Parts]:  # fmt: skip
    """Live parts for one command over a scope (default: the setting's), with every engine: a dream that needs no answer goes on where none can be had.

    Everything is closed when it ends.
    """
    from pipelines.run.parts import silent

    with _connected(place, settings, scope=scope, progress=progress or silent, busy=busy) as parts:
        _require_publisher(place, parts.store)
        caught_up(parts, settings, lambda scope: archive_of(place, parts.store, scope), host=place.host)
        yield parts
        caught_up(parts, settings, lambda scope: archive_of(place, parts.store, scope), host=place.host)


@contextlib.contextmanager
def helping_parts(place: Place, settings: Settings, *, scope: str | None) -> Iterator[Parts]:
    """Live parts of a process that helps the one which opened the same place: that one has seen to everything beside."""
    from pipelines.run.parts import silent

    with _connected(place, settings, scope=scope, progress=silent, busy=lambda _: None) as parts:
        yield replace(parts, helps=True)


@contextlib.contextmanager
def _connected(place: Place, settings: Settings, *, scope: str | None, progress: Progress, busy: Callable[[str], None] | None = None) -> Iterator[Parts]:
    from pipelines.logs.detect import READERS
    from pipelines.run import Parts
    from worker.gittimes import git_times

    defaults, provider = defaults_of(settings), engines.provider_of(settings)
    with open_only_store(place, busy=busy) as store, contextlib.closing(provider) if provider else contextlib.nullcontext():
        yield Parts(
            store=store, archive=archive_of(place, store, scope or settings.scope), redactor=redactor(), engine=engines.engine_of(settings, defaults),
            readers=READERS, now=utc_now, holder=this_process(place.host), git_times=git_times, progress=progress, defaults=defaults,
            engines=engines.others(settings, defaults, asks=True), means=engines.means_of(settings, messages=provider),
            audience=settings.audience, keep=keep_of(settings),
        )  # fmt: skip


def working_parts(store: Store, settings: Settings, *, host: str | None = None) -> Parts:
    """Live parts of a process that works on units of all scopes, with the engines it can dream with: it reads neither logs nor wiki, and is connected as long
    as it lives.

    `host` is this machine's lasting name, where it has one. Raises Refused when the engine of the settings could ask nothing.
    """
    from pipelines.logs.detect import READERS
    from pipelines.run import Parts

    engines.require(settings, settings.engine)
    defaults, provider = defaults_of(settings), engines.provider_of(settings)
    return Parts(
        store=store, archive=archive_of(None, store, settings.scope), redactor=redactor(), engine=engines.engine_of(settings, defaults), readers=READERS,
        now=utc_now, holder=this_process(host), defaults=defaults, engines=engines.others(settings, defaults, asks=provider is not None),
        means=engines.means_of(settings, messages=provider), keep=keep_of(settings),
    )  # fmt: skip


def caught_up(parts: Parts, settings: Settings, archive_of: Callable[[str], Blobs], *, host: str) -> None:
    """Have the store forget what other copies of it have forgotten, and tell them what it has."""
    from worker import mirror

    data = data_folder(settings)
    mirror.say_caught_up(mirror.catch_up(data, parts, archive_of, host=host))
    mirror.tell(data, parts.store)


def keep_of(settings: Settings) -> Keep:
    """For how long what is old is kept by the settings."""
    from pipelines.run.retention import Keep, Otherwise

    told = settings.retention
    scopes = {scope: Otherwise(turns_days=kept.turns_days, archive_days=kept.archive_days) for scope, kept in (told.scopes or {}).items()}
    return Keep(turns_days=told.turns_days, archive_days=told.archive_days, scopes=scopes)


def defaults_of(settings: Settings, *, nightly: bool = False) -> Params:
    """What a dream is by the settings of this process, where its request left it open; a nightly one may ask in batches."""
    from pipelines.run import Params

    plain = Params(trusted=frozenset(settings.events.trusted), skew_s=settings.skew_s, change_share_max=settings.change_share_max)
    return engines.params_of(settings, engines.choose(settings), plain, nightly=nightly)


def _require_publisher(place: Place, store: Store) -> None:
    """Refuse a folder that another store or host publishes before any work is done for it; publishing itself looks once more."""
    marker = _marker(place.wiki)
    if marker is None:
        return
    if marker.epoch != store.epoch:
        raise NotOurFolder(f"{place.wiki} is published from another store than {place.private} (a restored or copied one): {_OTHER_STORE}")
    if marker.host != place.host:
        raise NotOurFolder(f"{place.wiki} is published by host {marker.host}, this is {place.host}: dream there, or name another folder with --wiki")


@contextlib.contextmanager
def open_only_store(place: Place, *, busy: Callable[[str], None] | None = None) -> Iterator[Store]:
    """The store alone, for commands that only read. `busy` is told where a write waits (default: a person is)."""
    if place.store_url.startswith("sqlite"):
        _make_private(place.private)
    store = open_store(place.store_url, now=utc_now, setting="data_dir (DREAMD_DATA_DIR)", busy=busy or tell_busy)  # named where a file has to be moved
    try:
        yield store
    finally:
        store.close()


@contextlib.contextmanager
def open_shared_store(settings: Settings) -> Iterator[Store]:
    """The store the settings name, for what needs no wiki. Raises Refused when they name none."""
    if settings.database_url is None:
        raise Refused("no shared store is set: name one with database_url (DREAMD_DATABASE_URL)")
    store = open_store(settings.database_url.get_secret_value(), now=utc_now, setting="database_url (DREAMD_DATABASE_URL)", busy=tell_busy)
    try:
        yield store
    finally:
        store.close()


def tell_busy(where: str) -> None:
    """Say on standard error that a write waits for another process, as a dream does that waits for another."""
    print(f"waiting: another process writes to {where} (a forget, an import or a large dream takes minutes); this goes on when it has ended", file=sys.stderr)


def archive_of(place: Place | None, store: Store, scope: str) -> Blobs:
    """Where the bytes of a scope's logs are kept: a folder beside a store that is a file, else the database, which every host reaches."""
    from pipelines.logs.archive import FolderArchive
    from pipelines.store.blobs import DatabaseArchive

    return FolderArchive(place.archive) if place is not None and store.on_sqlite else DatabaseArchive(store, scope)


def redactor() -> Redactor:
    """The secret scanner with its compiled rules cached."""
    from pipelines.logs.redaction import open_redactor

    folder = cache_folder() / "rules"
    with contextlib.suppress(OSError):  # a read-only home costs seconds, not the start
        folder.mkdir(parents=True, exist_ok=True)
    return open_redactor(folder if os.access(folder, os.W_OK) else None)


def _marker(folder: Path) -> Marker | None:
    try:
        return read_marker(folder) if folder.is_dir() else None
    except PermissionError:
        return None


def _require_ours(wiki: Path) -> None:
    if not wiki.is_dir():
        raise NotOurFolder(f"{wiki} is a file: name a folder for the wiki")
    if any(p.name != ".dreamd" for p in wiki.iterdir()):
        raise NotOurFolder(f"{wiki} holds files that are not dreamd's: name an empty or new folder for the wiki")


def _host(data: Path) -> str:
    """The name this machine publishes and dreams under: its host name when the data folder was made, and a part of chance. A laptop's host name
    changes with the network it is in; who it is does not."""
    plain = re.sub(r"[^\w.-]+", "-", socket.gethostname())
    return _remembered(data / "host", f"{plain}-{uuid.uuid4().hex[:8]}")


def _remembered(place: Path, made: str) -> str:
    """What was written down there first, or `made`, written down whole."""
    with contextlib.suppress(FileNotFoundError):
        if found := place.read_text(encoding="utf-8").strip():
            return found
    _make_private(place.parent)
    temporary = place.with_name(f"{place.name}.{os.getpid()}")
    temporary.touch(mode=0o600)
    temporary.write_text(made, encoding="utf-8")
    with contextlib.suppress(FileExistsError):
        os.link(temporary, place)
    temporary.unlink()
    return place.read_text(encoding="utf-8").strip()


def _make_private(folder: Path) -> None:
    """Make a folder and those above it that are missing, each for this user alone."""
    try:
        for part in (*reversed(folder.parents), folder):
            part.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise Refused(f"cannot make the data folder {folder}: {error.strerror}; name another with data_dir or DREAMD_DATA_DIR") from error
