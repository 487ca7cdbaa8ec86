"""The `user` scope above the projects: read from each of them, nearest first, and written by the person alone (DESIGN §3, gate 6)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from pipelines.errors import DreamdError, Refused
from pipelines.run.above import Above, told_above
from pipelines.run.looking import Look
from pipelines.store import Store, open_store
from pipelines.wiki.marker import read_marker
from worker import wiring
from worker.registry import Registered, planned_user, register_user, user_scope
from worker.settings import Settings, data_folder, wikis_folder


def user_place(loaded: Settings) -> tuple[wiring.Place, str]:
    """Where what is told to all projects lies, made when it is told something first; and its scope. Raises Refused on a shared store without a scope of
    one's own: another person's projects would read it."""
    data, own = data_folder(loaded), loaded.scope if "scope" in loaded.model_fields_set else ""
    if loaded.database_url and not own:
        raise Refused("a shared store needs the setting scope (DREAMD_SCOPE), so that what you tell all your projects is not told to others'")
    user = planned_user(data, wikis=wikis_folder(loaded), scope=own)
    place = wiring.place_of(user.wiki, loaded, create=True)
    register_user(data, user)
    return place, user.scope


def is_above(wiki: Path, scope: str | None, loaded: Settings) -> bool:
    """Whether this is the wiki above the projects, or its scope in a shared store."""
    user = user_scope(data_folder(loaded))
    if user is None:
        return False
    return user.wiki.resolve() == wiki.expanduser().resolve() or (loaded.database_url is not None and scope == user.scope)


def require_not_above(wiki: Path, scope: str | None, loaded: Settings) -> None:
    """Refuse to take logs and notes into what stands above the projects: only the person writes there."""
    if is_above(wiki, scope, loaded):
        raise Refused(f"{wiki} stands above your projects and is written by you alone: dreamd remember --user TEXT, dreamd notes up NOTE")


@contextlib.contextmanager
def above(store: Store, scope: str, data: Path) -> Iterator[tuple[Store, str] | None]:
    """Store and path of the scope above this one; None where nothing stands above it, or what stands there cannot be read: a project is read without it."""
    user = user_scope(data)
    if user is None or user.scope == scope or not _is_below(scope, user.scope):
        yield None
        return
    file = _store_file(data, user)
    if file is None:
        yield (store, user.scope) if user.scope in store.scopes() else None
        return
    with contextlib.ExitStack() as stack:
        try:
            found = (stack.enter_context(open_store(f"sqlite:///{file}", now=lambda: datetime.now(UTC))), user.scope)
        except DreamdError:
            found = None
        yield found


def lines_above(store: Store, scope: str, *, data: Path, now: datetime) -> Above:
    """What every project is told."""
    with above(store, scope, data) as found:
        if found is None:
            return Above()
        return told_above(Look(store=found[0], scope=found[1], now=now), Look(store=store, scope=scope, now=now))


def _is_below(scope: str, user: str) -> bool:
    """Whether a scope stands below the same tenant as the user's; compared by whole segments (systems R8)."""
    tenant = user.split("/")[:-1]
    return scope.split("/")[: len(tenant)] == tenant


def _store_file(data: Path, user: Registered) -> Path | None:
    """The store of its own the wiki above has, where stores are files."""
    marker = read_marker(user.wiki) if user.wiki.is_dir() else None
    file = data.resolve() / "stores" / marker.wiki / "store.db" if marker else None
    return file if file is not None and file.is_file() else None
