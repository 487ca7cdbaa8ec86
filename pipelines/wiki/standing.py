"""What stands in a wiki folder: its pages as they were found, and what we know of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pipelines.model import digest
from pipelines.wiki.folder import DISPLACED, Folder, InTheWay, PublishFailed, Stamp
from pipelines.wiki.manifest import Manifest, read_manifest
from pipelines.wiki.own import Base
from pipelines.wiki.slugs import FOLDERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Stood:
    """A page as it stood in the folder. `published`: we put a file there before; `untouched`: it is that file. `base` is what it was then, if known.

    Of an untouched file that nobody had to read, `data` is empty and the base left out.
    """

    path: str
    digest: str
    data: bytes
    published: bool
    untouched: bool
    base: Base | None


Needs = Callable[[str, frozenset[str]], bool]
"""Whether an untouched page has to be read all the same, since its sections (their digests) are not all kept."""


def read_folder(folder: Path) -> dict[str, bytes]:
    """Every page that stands in a wiki folder, by path; what is no plain Markdown file is left out. Raises PublishFailed for one that may not be read."""
    with Folder(folder) as place:
        return {found.path: found.data for found in look_all(place, Manifest(), lambda path, own: True)}


def standing(folder: Path, *, needs: Needs) -> tuple[Stood, ...]:
    """Every page that stands in a wiki folder, with what we know of it; for looking at it while somebody else may publish there.

    Raises PublishFailed for one that may not be read: what a person wrote there is not known.
    """
    with Folder(folder) as place:
        manifest = read_manifest(place)  # first: what is published meanwhile then looks like a change whose words the store knows already
        return tuple(look_all(place, manifest, needs))


def withheld(folder: Path) -> tuple[str, ...]:
    """The pages of a wiki folder that the last publish held back, since a secret would stand in them; none where there is no folder."""
    if not folder.is_dir():
        return ()
    with Folder(folder) as place:
        return read_manifest(place).withheld


def stamps(folder: Path) -> str:
    """A word for how the files of a wiki folder stand, without reading them: another word when one was written, made or removed, by whomever."""
    rows: list[str] = []
    try:
        for sub in ("", *sorted(FOLDERS), DISPLACED):
            with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder / sub) as entries:
                rows += [_stamp(sub, entry) for entry in entries]
    except OSError as error:
        raise PublishFailed(f"{folder} cannot be looked at: {error.strerror}") from error
    return digest(*(os.fsencode(row) for row in sorted(rows)))


def _stamp(sub: str, entry: os.DirEntry[str]) -> str:
    name = f"{sub}/{entry.name}"
    with suppress(FileNotFoundError):
        if entry.is_file(follow_symlinks=False):
            found = entry.stat(follow_symlinks=False)
            return f"{name}\0{found.st_mtime_ns}\0{found.st_size}\0{found.st_ino}"
    return name


def look_all(place: Folder, manifest: Manifest, needs: Needs) -> Iterator[Stood]:
    """Every plain Markdown file of the folder."""
    for path, stamp in _stamped(place):
        try:
            found = look_at(place, path, stamp, manifest, needs)
        except InTheWay:
            continue
        except OSError as error:
            raise PublishFailed(f"{place.path}/{path} cannot be read: {error.strerror or error}") from error
        if found is not None:
            yield found


def look_at(place: Folder, path: str, stamp: Stamp, manifest: Manifest, needs: Needs) -> Stood | None:
    """A page as it stands, read only when it does not look as when it was last found to be ours."""
    row = manifest.untouched(path, stamp)
    if row is not None and not (row.own and needs(path, frozenset(row.own))):
        return Stood(path=path, digest=row.digest, data=b"", published=True, untouched=True, base=None)
    found = place.read(path)
    if found is None:
        return None
    rows = manifest.rows(path)
    untouched = found.digest in {row.digest for row in rows}
    if untouched and len(rows) == 1 and found.stamp is not None and found.stamp != rows[0].stamp:
        manifest.learned[path] = found.stamp
    return Stood(path=path, digest=found.digest, data=found.data, published=bool(rows), untouched=untouched, base=manifest.base(path))


def _stamped(place: Folder) -> Iterator[tuple[str, Stamp]]:
    """Every plain Markdown file of the folder and how it looks."""
    for sub in ("", *sorted(FOLDERS)):
        try:
            found = place.stamps(sub)
        except InTheWay:
            continue
        except OSError as error:
            raise PublishFailed(f"{place.path}/{sub} cannot be read: {error.strerror or error}") from error
        yield from ((f"{sub}/{name}" if sub else name, stamp) for name, stamp in found.items() if name.endswith(".md"))


def page_paths(place: Folder) -> list[str]:
    """The names of all Markdown files of the folder."""
    names = [n for n in place.names() if n.endswith(".md")]
    for sub in sorted(FOLDERS):
        try:
            names += [f"{sub}/{n}" for n in place.names(sub) if n.endswith(".md")]
        except InTheWay:
            continue
    return names
