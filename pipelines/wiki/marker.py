"""Whose folder a wiki stands in: the marker dreamd leaves there, and refusing what is not ours."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from pipelines.errors import NotOurFolder, Transient
from pipelines.wiki.folder import PRIVATE, Folder

MARKER = f"{PRIVATE}/marker.json"


class FolderGone(Transient):
    """A folder that was published before is not there, or is empty: is it mounted? Nothing was written and nothing is taken as deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """Whose folder it is: the wiki, the epoch of the store it is published from, and the one host that publishes."""

    wiki: str
    epoch: str
    host: str


def claim_folder(folder: Path, *, new: bool) -> None:
    """Refuse somebody else's folder before anything is written into it; make it when it is to be new."""
    if not folder.exists():
        if not new:
            raise FolderGone(f"{folder} is gone: {_GONE}")
        folder.mkdir(parents=True)
    if not folder.is_dir():
        raise NotOurFolder(f"{folder} is not a folder")
    if (folder / MARKER).is_file():
        return
    others = sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith("."))
    if others:
        raise NotOurFolder(f"{folder} holds {others[0]} and no marker of dreamd: name an empty folder for the wiki")
    if not new:
        raise FolderGone(f"{folder} has lost its marker: {_GONE}")


_GONE = "is it mounted? nothing was written and nothing is taken as deleted; dreamd rebuild writes it anew"


def mark_folder(place: Folder, marker: Marker, *, take_over: bool) -> None:
    """Under the lock: check the marker that stands there, or set ours."""
    stands = _read_marker(place)
    if stands is not None:
        require_ours(place.path, stands, marker, take_over=take_over)
    place.make(PRIVATE)
    if stands != marker:
        place.replace(f"{PRIVATE}/.gitignore", b"*\n")
        place.replace(MARKER, (json.dumps({"wiki": marker.wiki, "epoch": marker.epoch, "host": marker.host}) + "\n").encode())


def require_ours(folder: Path, stands: Marker, marker: Marker, *, take_over: bool = False) -> None:
    """Raise NotOurFolder, with who publishes it, when the marker that stands in a folder is not this one."""
    if stands.wiki != marker.wiki:
        raise NotOurFolder(f"{folder} belongs to the wiki {stands.wiki}, not to {marker.wiki}")
    if not take_over and stands != marker:
        what = f"host {stands.host}" if stands.host != marker.host else "another store (a restored or copied one)"
        raise NotOurFolder(f"{folder} is published by {what}: take it over if that is over")


def _read_marker(place: Folder) -> Marker | None:
    found = place.read(MARKER)
    if found is None:
        return None
    try:
        given = json.loads(found.data)
        return Marker(wiki=str(given["wiki"]), epoch=str(given["epoch"]), host=str(given["host"]))
    except (ValueError, KeyError, TypeError) as error:
        raise NotOurFolder(f"{place.path}/{MARKER} cannot be read") from error


def read_marker(folder: Path) -> Marker | None:
    """The marker of a folder, None when there is none."""
    if not (folder / MARKER).is_file():
        return None
    with Folder(folder) as place:
        return _read_marker(place)
