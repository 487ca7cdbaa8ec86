"""Writes a person's own note files when they ask for it: compare-and-swap on the bytes that were read, a backup first, and a way back."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final

from pipelines.model import digest

BACKUPS: Final = "note_backups"
FOLDERS: Final = "note_folders.json"
CHANGES: Final = "changes.json"
_GONE: Final = "it is gone or cannot be read"
_EDITED: Final = "it was written to meanwhile, and stays as it is"
_FOR_GOOD: Final = frozenset({_GONE, _EDITED})
"""Why a file cannot be given its bytes back however often that is tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One file as it was read and as it shall be."""

    path: Path
    before: bytes
    after: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """Files written, and files left as they are with the reason."""

    written: tuple[Path, ...] = ()
    left: tuple[tuple[Path, str], ...] = ()


def remember_folders(private: Path, folders: Iterable[Path]) -> None:
    """Keep which folders of notes a wiki's dreams read, so that `notes` finds them again."""
    known = {*note_folders(private), *(f.expanduser().absolute() for f in folders)}
    if known == set(note_folders(private)):
        return
    private.mkdir(parents=True, exist_ok=True, mode=0o700)
    _replace(private / FOLDERS, json.dumps(sorted(map(str, known)), ensure_ascii=False).encode(), 0o600)


def note_folders(private: Path) -> tuple[Path, ...]:
    """The folders kept, that are still there."""
    try:
        said = json.loads((private / FOLDERS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ()
    return tuple(p for x in said if isinstance(x, str) and (p := Path(x)).exists()) if isinstance(said, list) else ()


def write(private: Path, changes: Sequence[Change], *, at: datetime) -> Done:
    """Write the changes: backups of all of them first, then each file, unless somebody wrote to it since it was read."""
    if not changes:
        return Done()
    folder = private / BACKUPS / f"{at:%Y%m%dT%H%M%S.%fZ}"
    folder.mkdir(parents=True, mode=0o700)
    rows = []
    for number, change in enumerate(changes):
        _replace(folder / str(number), change.before, 0o600)
        rows.append({"file": str(number), "path": str(change.path), "before": digest(change.before), "after": digest(change.after)})
    _replace(folder / CHANGES, json.dumps(rows, ensure_ascii=False).encode(), 0o600)
    return _each((c.path, c.before, c.after) for c in changes)


def undo(private: Path) -> Done | None:
    """Give the files of the newest write their bytes back, but for those that are gone and those somebody wrote to since; None when there is nothing to undo.

    What cannot be given back is named with the place its bytes are kept at, and that write is done with: the next undo is of the one before. A file that
    could not be written (a full disk) is tried again.
    """
    folder = max((f for f in (private / BACKUPS).glob("*") if (f / CHANGES).is_file()), default=None, key=lambda f: f.name)
    if folder is None:
        return None
    rows = json.loads((folder / CHANGES).read_text(encoding="utf-8"))
    wanted, kept = [], {}
    for row in rows:
        path = Path(row["path"])
        stands = _bytes(path)
        if stands is not None and digest(stands) == row["before"]:
            continue  # was never written, or is back already
        ours = stands if stands is not None and digest(stands) == row["after"] else None
        kept[path] = folder / row["file"]
        wanted.append((path, ours, kept[path].read_bytes()))
    done = _each(wanted)
    if not done.left:
        shutil.rmtree(folder)
    elif all(why in _FOR_GOOD for _, why in done.left):
        os.replace(folder / CHANGES, folder / f"undone-{CHANGES}")
    return replace(done, left=tuple((path, f"{why}; what it held before is kept in {kept[path]}") for path, why in done.left))


def _each(wanted: Iterable[tuple[Path, bytes | None, bytes]]) -> Done:
    written, left = [], []
    for path, expected, data in wanted:
        why = _swap(path, expected, data)
        if why:
            left.append((path, why))
        else:
            written.append(path)
    return Done(written=tuple(written), left=tuple(left))


def _swap(path: Path, expected: bytes | None, data: bytes) -> str:
    """Write a file that still holds what is expected; why not, else ""."""
    real = Path(os.path.realpath(path))  # a link stays one
    stands = _bytes(real)
    if stands is None:
        return _GONE
    if stands != expected:
        return _EDITED
    try:
        _replace(real, data, stat.S_IMODE(real.stat().st_mode), expected=stands)
    except _Moved:
        return _EDITED
    except OSError as error:
        return error.strerror or str(error)
    return ""


class _Moved(Exception):
    """The file is not what was read."""


def _replace(path: Path, data: bytes, mode: int, *, expected: bytes | None = None) -> None:
    """A whole new file in place of the old one; looked at once more right before. Raises _Moved, OSError."""
    temporary = path.with_name(f".{path.name}.dreamd-{os.getpid()}")
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        if expected is not None and _bytes(path) != expected:
            raise _Moved
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
