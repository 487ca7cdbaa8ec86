"""dreamd export and dreamd import: a scope as one file, between stores on SQLite and PostgreSQL."""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from pipelines.errors import Refused
from pipelines.ports import Blobs
from pipelines.run.looking import Look
from pipelines.run.notes_file import notes_file
from pipelines.store import Store, host_of
from pipelines.store.transfer import Transferred, export_scope, import_scope
from worker import settings, wiring
from worker.cli import common, looking_back
from worker.cli.output import many, print_json

_PANEL = "Operations"
_File = Annotated[Path, typer.Argument(metavar="FILE", help="The file; by custom NAME.dreamd.zst.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("export", rich_help_panel=_PANEL)(export_command)
    app.command("import", rich_help_panel=_PANEL)(import_command)


def export_command(
    file: _File, wiki: common.Wiki = None, scope: common.Scope = None, as_of: looking_back.AsOf = None, known_at: looking_back.KnownAt = None,
    audience: common.Audience = None,
    config: common.Config = None, as_json: common.Json = False,
) -> int:  # fmt: skip
    """Write all of a scope into one file: logs, notes, decisions, history, pages. Keep it as you keep the logs: it holds the same words.

    With a date it is the notes of that time as lines of JSON, to read and to compare; no store takes those back. For an audience it is the notes it may be
    told, without the words of logs they rest on.
    """
    loaded = common.start(config)
    moment = looking_back.moment_of(as_of, known_at, loaded)
    target = file.expanduser()
    if os.path.lexists(target):
        raise _exists(target)
    with _opened(wiki, loaded, create=False) as (store, archive_of):
        at = common.scope_of(scope, loaded, store)
        if moment or audience:
            look = Look(store=store, scope=at, now=wiring.utc_now(), moment=moment, audience=audience)
            told = ", ".join([*([looking_back.told(moment, loaded)] if moment else []), *([f"for {audience}"] if audience else [])])
            return _export_notes(look, target, told, as_json)
        with _whole(target) as out:
            done = export_scope(store, at, archive_of(at), out, hand=_hand())
    return _tell(done, f"{target} holds", as_json)


def _export_notes(look: Look, target: Path, looks_back: str, as_json: bool) -> int:
    """The notes of a look back; who did it goes into the audit, as for a whole scope."""
    if look.scope not in look.store.scopes():
        raise Refused(f"there is no scope {look.scope} here")
    lines = tuple(notes_file(look))
    count = len(lines) - 2  # the first and the last one are no notes
    with _whole(target) as out:
        out.writelines(json.dumps(line, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n" for line in lines)
    look.store.write_down(look.scope, "export", _hand(), looks_back, key=secrets.token_hex(8))
    if as_json:
        print_json({"scope": look.scope, "notes": count, "looking_back": looking_back.as_json(look.moment), "audience": look.audience})
    else:
        print(f"{target} holds {many(count, 'note')} of {look.scope}, {looks_back}")
    return 0


def import_command(file: _File, wiki: common.Wiki = None, config: common.Config = None, as_json: common.Json = False) -> int:
    """Bring an exported scope into a store that holds nothing, or only scopes exported from the same store. The file is taken at its word: import only what
    you trust."""
    loaded = common.start(config)
    source = file.expanduser()

    def opened() -> BinaryIO:  # more than once: what can be read only once is no file for it
        if os.path.lexists(source) and not os.path.isfile(source):
            raise Refused(f"{source} cannot be read: it is no file")
        try:
            return source.open("rb")
        except OSError as error:
            raise Refused(f"{source} cannot be read: {error.strerror}") from error

    opened().close()
    with _opened(wiki, loaded, create=True) as (store, archive_of):
        done = import_scope(store, archive_of, opened, name=str(source), hand=_hand())
        parts = wiring.working_parts(store, loaded)
        wiring.caught_up(parts, loaded, archive_of, host=host_of(parts.holder))
    code = _tell(done, "The store now holds", as_json)
    if not as_json:
        print(f"Next: dreamd publish --scope {done.scope} --wiki DIR writes its wiki into a folder")
    return code


@contextlib.contextmanager
def _opened(wiki: Path | None, loaded: settings.Settings, *, create: bool) -> Iterator[tuple[Store, Callable[[str], Blobs]]]:
    """A store and its archives: a server's needs no wiki to be named."""
    if loaded.database_url is not None and not loaded.database_url.get_secret_value().startswith("sqlite"):
        with wiring.open_shared_store(loaded) as store:
            yield store, lambda scope: wiring.archive_of(None, store, scope)
        return
    place = wiring.place_of(wiring.find_wiki(wiki, loaded), loaded, create=create)
    with wiring.open_only_store(place) as store:
        yield store, lambda scope: wiring.archive_of(place, store, scope)


@contextlib.contextmanager
def _whole(target: Path) -> Iterator[BinaryIO]:
    """A file that is there whole or not at all, for this user alone."""
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(fd, "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        _name_it(temporary, target)
    except OSError as error:
        raise Refused(f"{target} cannot be written: {error.strerror or error}") from error
    finally:
        with contextlib.suppress(OSError):  # where it could not be made, it cannot be looked for either
            temporary.unlink(missing_ok=True)


def _name_it(temporary: Path, target: Path) -> None:
    """Give a file its name, unless somebody made one of that name meanwhile; a file system without hard links is asked just before."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise _exists(target) from None
    except OSError:
        if os.path.lexists(target):
            raise _exists(target) from None
        temporary.replace(target)


def _exists(target: Path) -> Refused:
    return Refused(f"{target} exists: name a file that does not")


def _hand() -> str:
    """Who asks, as the system names them."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user without a name
        return f"uid {os.getuid()}"


def _tell(done: Transferred, what: str, as_json: bool) -> int:
    if as_json:
        print_json({"scope": done.scope, "records": done.rows, "blobs": done.blobs})
    else:
        print(f"{what} {done.scope}: {many(done.rows, 'record')} and {many(done.blobs, 'piece')} of logs")
    return 0
