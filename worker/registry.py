"""Remembers which wiki and scope a project has, so that every command run in its folder finds them. One small file a project, in the data folder."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pipelines.model import digest

_FOLDER: Final = "projects"
_NAMED_MAX: Final = 60
_USER_FILE: Final = "user.json"
USER: Final = "user"
"""The name of the scope that stands above the projects."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """A project's wiki folder and the scope of its notes."""

    root: Path
    wiki: Path
    scope: str


def registered(data: Path, root: Path) -> Registered | None:
    """What a project was given, None before its first dream. A file that cannot be read counts as none: it is written anew."""
    return _read(_file(data, root))


def all_registered(data: Path) -> tuple[Registered, ...]:
    """Every project that was given a wiki, by root."""
    found = (_read(f) for f in sorted((data / _FOLDER).glob("*.json")))
    return tuple(sorted((r for r in found if r is not None), key=lambda r: str(r.root)))


def planned(data: Path, root: Path, *, wikis: Path, scope: str = "") -> Registered:
    """What a project has, or would be given: a wiki folder of its name below `wikis`, and that name as scope below `scope`.

    A name that another project has, the one of the scope above the projects, or whose folder holds something else, gets four letters of the root's digest behind it.
    """
    known = registered(data, root)
    if known is not None:
        return known
    name = _plain(root.name)
    others = {r.wiki for r in all_registered(data)}
    if name == USER or wikis / name in others or _is_taken(wikis / name):
        name = f"{name}-{digest(str(root))[:4]}"
    return Registered(root=root, wiki=wikis / name, scope=f"{scope}/{name}" if scope else name)


def register(data: Path, project: Registered) -> None:
    """Write it down whole, or not at all."""
    _write(_file(data, project.root), project)


def _write(place: Path, project: Registered) -> None:
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = place.with_name(f"{place.name}.{os.getpid()}")
    said = {"root": str(project.root), "wiki": str(project.wiki), "scope": project.scope}
    temporary.touch(mode=0o600)
    temporary.write_text(json.dumps(said, ensure_ascii=False), encoding="utf-8")
    temporary.replace(place)


def user_scope(data: Path) -> Registered | None:
    """The wiki and scope above the projects, None before the person told it anything; its root is the data folder."""
    return _read(data / _USER_FILE)


def planned_user(data: Path, *, wikis: Path, scope: str = "") -> Registered:
    """What stands above the projects, or would be made: the wiki and scope `user`, beside those of the projects."""
    return user_scope(data) or Registered(root=data, wiki=wikis / USER, scope=f"{scope}/{USER}" if scope else USER)


def register_user(data: Path, user: Registered) -> None:
    """Write it down whole, or not at all."""
    _write(data / _USER_FILE, user)


def _file(data: Path, root: Path) -> Path:
    return data / _FOLDER / f"{digest(str(root))[:24]}.json"


def _read(file: Path) -> Registered | None:
    try:
        said = json.loads(file.read_text(encoding="utf-8"))
        return Registered(root=Path(said["root"]), wiki=Path(said["wiki"]), scope=str(said["scope"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _plain(name: str) -> str:
    """A folder's name as a wiki's and a scope's: letters and digits of any script, dots and dashes."""
    kept = re.sub(r"[^\w.-]+", "-", name).strip("-._ ")[:_NAMED_MAX]
    return kept or "project"


def _is_taken(folder: Path) -> bool:
    """Whether something stands there that is no wiki of ours: a wiki without a register is one of a data folder that was lost, and is taken, too."""
    return folder.exists() and any(_visible(folder))


def _visible(folder: Path) -> Iterator[Path]:
    return iter(folder.iterdir()) if folder.is_dir() else iter((folder,))
