"""What was written outside the data folder, and how to take it out again: one file an edited file in the data folder, its former bytes beside it.

It is written before the edit: killed in between, the file is found as it was and there is nothing to take out.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from pipelines.errors import Conflict, Refused
from pipelines.model import digest

FOLDER: Final = "connected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An edited file. `what` says how it is undone: "hooks" by the commands, "block" by the markers, "file" is ours whole.

    `existed`: before us; `folders` were made for it, innermost first; `after` is the digest of what we last wrote; `root` is the project it is for and `wiki`
    what it tells of ("" where each session's project decides); `undo` are commands to run when it is taken out; `lead` stood before a block; `mark` is the
    digest of the block as we wrote it.
    """

    path: str
    agent: str
    what: str
    existed: bool
    after: str
    folders: tuple[str, ...] = ()
    root: str = ""
    wiki: str = ""
    commands: tuple[str, ...] = ()
    undo: tuple[tuple[str, ...], ...] = ()
    lead: str = ""
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Ledger:
    """The entries of a data folder."""

    data: Path
    _folder: Path = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_folder", self.data / FOLDER)

    def entries(self) -> tuple[Entry, ...]:
        """All of them, by path. A file that cannot be read is refused by name: what it stood for would be forgotten."""
        return tuple(sorted((_read(f) for f in self._folder.glob("*.json")), key=lambda e: e.path))

    def entry(self, path: Path) -> Entry | None:
        """What was done to a file."""
        place = self._place(path)
        return _read(place) if place.is_file() else None

    def before(self, path: Path) -> bytes:
        """The bytes a file had before us."""
        return self._place(path).with_suffix(".before").read_bytes()

    def keep(self, entry: Entry, before: bytes | None = None) -> None:
        """Write an entry down, with the file's former bytes the first time."""
        place = self._place(Path(entry.path))
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if before is not None:
            replace_file(place.with_suffix(".before"), before, mode=0o600)
        replace_file(place, json.dumps(asdict(entry), ensure_ascii=False).encode("utf-8", "surrogateescape"), mode=0o600)

    def drop(self, entry: Entry) -> None:
        """Forget an entry, and take the folder away with the last one."""
        place = self._place(Path(entry.path))
        place.unlink(missing_ok=True)
        place.with_suffix(".before").unlink(missing_ok=True)
        if not any(self._folder.iterdir()):
            self._folder.rmdir()

    def _place(self, path: Path) -> Path:
        return self._folder / f"{digest(os.fsencode(path))[:24]}.json"


def _read(place: Path) -> Entry:
    try:
        said: dict[str, Any] = json.loads(place.read_bytes().decode("utf-8", "surrogateescape"))
        said |= {name: tuple(said[name]) for name in ("folders", "commands")}
        return Entry(**{**said, "undo": tuple(map(tuple, said["undo"]))})
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise Refused(f"{place} should say what was written into a settings file and cannot be read ({type(error).__name__})") from error


# --- files -------------------------------------------------------------------------------------------------------------------------------


def read_file(path: Path) -> bytes | None:
    """A file's bytes, None when it is not there. Raises Refused for what is no plain file or may not be read."""
    try:
        if path.exists() and not path.is_file():
            raise Refused(f"{path} is no file")
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror}") from error


def write_file(path: Path, data: bytes | None, *, expected: bytes | None) -> tuple[str, ...]:
    """Put bytes in a file's place (None: take it away), if it still holds what was read. Returns the folders made for it, innermost first.

    A symbolic link stays one: what it leads to is written. Raises Conflict when somebody else was faster, Refused when it cannot be written. Between the last
    look and the rename somebody may still save; that save is lost.
    """
    place = Path(os.path.realpath(path))
    if path.is_symlink() and not place.exists():
        raise Refused(f"{path} is a link to {place}, which is not there: make that file, or take the link away")
    try:
        made = _make(place.parent) if data is not None else ()
        if read_file(place) != expected:
            raise Conflict(f"{path} was changed by somebody else just now: run the command again")
        if data is None:
            place.unlink(missing_ok=True)
        else:
            replace_file(place, data, mode=place.stat().st_mode & 0o777 if expected is not None else 0o600)
    except OSError as error:
        raise Refused(f"{path} cannot be written: {error.strerror}") from error
    return made


def replace_file(place: Path, data: bytes, *, mode: int) -> None:
    """A file whole or not at all."""
    temporary = place.with_name(f".{place.name}.dreamd-{os.getpid()}")
    file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(file, "wb") as handle:
            handle.write(data)
            handle.flush()
            os.fchmod(handle.fileno(), mode)
            os.fsync(handle.fileno())
        temporary.replace(place)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    here = os.open(place.parent, os.O_RDONLY)
    try:
        os.fsync(here)
    finally:
        os.close(here)


def remove_folders(folders: tuple[str, ...]) -> tuple[str, ...]:
    """Take away folders that were made here and are empty again; returns those that are not: something stands in them, and those above hold them."""
    for n, folder in enumerate(folders):
        try:
            os.rmdir(folder)
        except FileNotFoundError:
            continue
        except OSError:
            return folders[n:]
    return ()


def _make(folder: Path) -> tuple[str, ...]:
    missing = [f for f in (folder, *folder.parents) if not f.exists()]
    for part in reversed(missing):
        part.mkdir()
    return tuple(str(f) for f in missing)
