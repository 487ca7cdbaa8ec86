"""From the paths a person names to the files that may be logs, in a stable order; what is passed over is counted by reason.

Folders whose names begin with a dot are walked (`.claude` and `.codex` are where the logs are). Links are followed, and each file and folder is taken
once however many ways lead to it. Nothing is opened here.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Final, NamedTuple

from pipelines.logs.codec import plain_name

_LOG_SUFFIXES: Final = (".jsonl", ".ndjson", ".json")
_NEVER_ENTERED: Final = frozenset({".git", ".dreamd", "node_modules", "__pycache__", ".venv"})
_WIKI_MARK: Final = ".dreamd"
_AGAIN: Final = "the same file again"


class Found(NamedTuple):
    """A file to look into. `relative` is its POSIX path below the path the person named; `named` says that they named the file itself."""

    path: str
    relative: str
    size: int
    mtime_ns: int
    inode: int
    named: bool = False

    @property
    def name(self) -> str:
        """The file's name, without `.gz` or `.zst`."""
        return plain_name(os.path.basename(self.path))


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """A path that cannot be looked into, and why."""

    path: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """What stands under the given paths: files in stable order, paths that could not be looked into, and counts of what was passed over."""

    files: tuple[Found, ...]
    missing: tuple[Missing, ...]
    skipped: Mapping[str, int]


def discover(paths: Iterable[str], *, exclude: Iterable[str] = ()) -> Discovery:
    """The log files under the paths. A file given by name is always taken, one found in a folder when its name is a log's.

    `exclude` are folders never entered (the wiki, the data folder); a folder that holds a `.dreamd` folder is a wiki and is not entered either.
    """
    walk = _Walk(exclude)
    for path in paths:
        walk.start(whole_path(path))
    return Discovery(files=tuple(walk.files), missing=tuple(walk.missing), skipped=dict(sorted(walk.skipped.items())))


def whole_path(path: str) -> str:
    """A path a person named, as `Found` and `Missing` say it."""
    return os.path.abspath(os.path.expanduser(path))


class _Walk:
    def __init__(self, exclude: Iterable[str]) -> None:
        self.excluded = {(s.st_dev, s.st_ino) for s in map(os.stat, filter(os.path.exists, exclude))}
        self.files: list[Found] = []
        self.missing: list[Missing] = []
        self.skipped: Counter[str] = Counter()
        self._taken: set[tuple[int, int]] = set()

    def start(self, path: str) -> None:
        try:
            found = os.stat(path)
        except (OSError, ValueError) as error:
            self.missing.append(Missing(path=path, why=_why(error)))
            return
        if stat.S_ISDIR(found.st_mode):
            known = len(self.files) + len(self.missing) + self.skipped[_AGAIN]
            self._below(path, found)
            if len(self.files) + len(self.missing) + self.skipped[_AGAIN] == known:
                self.missing.append(Missing(path=path, why=f"no log in it: no file ends in {', '.join(_LOG_SUFFIXES)} (or one of these and .gz or .zst)"))
        else:
            self._file(path, os.path.basename(path), found, named=True)

    def _below(self, root: str, found: os.stat_result) -> None:
        """All of a folder, depth first in the order of names; a stack of its own, since a path can be deeper than Python's."""
        cut = len(root.rstrip(os.sep)) + 1
        stack = [iter(self._listed(root, found))]
        while stack:
            entry = next(stack[-1], None)
            if entry is None:
                stack.pop()
            elif (folder := self._entry(entry, cut)) is not None:
                stack.append(iter(self._listed(entry.path, folder)))

    def _listed(self, path: str, found: os.stat_result) -> list[os.DirEntry[str]]:
        """What stands in a folder; nothing when it was here before or is one of our own."""
        if not self._first_time(found):
            return []
        if (found.st_dev, found.st_ino) in self.excluded or os.path.isdir(os.path.join(path, _WIKI_MARK)):
            self.skipped["own folder"] += 1
            return []
        try:
            with os.scandir(path) as entries:
                return sorted(entries, key=attrgetter("name"))
        except OSError as error:
            self.missing.append(Missing(path=path, why=_why(error)))
            return []

    def _entry(self, entry: os.DirEntry[str], cut: int) -> os.stat_result | None:
        """Take a file or count it as skipped; the stat of a folder to enter."""
        name = entry.name
        try:
            is_folder = entry.is_dir()
            if not is_folder and not name.endswith(_LOG_SUFFIXES) and not plain_name(name).lower().endswith(_LOG_SUFFIXES):
                self.skipped["not a log by its name"] += 1
                return None
            found = entry.stat()
        except OSError as error:  # a link that leads nowhere or in a circle, a file that went away
            self.skipped[_why(error)] += 1
            return None
        if not is_folder:
            self._file(entry.path, entry.path[cut:], found, named=False)
        elif name in _NEVER_ENTERED:
            self.skipped["own folder" if name == _WIKI_MARK else "not a folder of logs"] += 1
        else:
            return found
        return None

    def _file(self, path: str, relative: str, found: os.stat_result, *, named: bool) -> None:
        if not stat.S_ISREG(found.st_mode):
            self.skipped["not a file"] += 1
        elif self._first_time(found):
            self.files.append(Found(path, relative if os.sep == "/" else relative.replace(os.sep, "/"), found.st_size, found.st_mtime_ns, found.st_ino, named))
        else:
            self.skipped[_AGAIN] += 1

    def _first_time(self, found: os.stat_result) -> bool:
        key = (found.st_dev, found.st_ino)
        if key in self._taken:
            return False
        self._taken.add(key)
        return True


def _why(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
