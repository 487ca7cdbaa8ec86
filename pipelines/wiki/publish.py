"""Putting a revision of the wiki into its folder: by state, additive first, and giving back what was displaced (systems R1, R13).

The order is: an empty page for each new path, pages, stubs, the index, removals; so that at no moment a link leads nowhere. What will be written is
recorded before the first file moves. A file whose words are not ours is a person's: it is left alone and reported, until the caller says that it
has been taken in. After an interruption at any point the same call makes the folder what an undisturbed run would have made it.

What is not promised: that a save is seen which happens after the exchange into a file the editor still holds open; it is found and reported by the
next publish, which looks at every displaced file again before it lets go of it.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from pipelines.errors import Conflict, NotOurFolder, Refused
from pipelines.model import digest
from pipelines.wiki.folder import DISPLACED, PRIVATE, TEMPORARY, Folder, Found, InTheWay, PublishFailed
from pipelines.wiki.slugs import FOLDERS, check_path, fold

INDEX_PATH = "MEMORY.md"
MANIFEST, MARKER = f"{PRIVATE}/manifest.json", f"{PRIVATE}/marker.json"
_OURS_BESIDE = frozenset({PRIVATE, *FOLDERS})


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """Whose folder it is: the wiki, the epoch of the store it is published from, and the one host that publishes."""

    wiki: str
    epoch: str
    host: str


class How(StrEnum):
    """Where a person's words were found: in place, in a file that changed under our hands, in a displaced file written to later, at a new page's path."""

    FOUND = "found"
    WINDOW = "window"
    LATE = "late"
    STRANGER = "stranger"


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Bytes dreamd did not write, at a path it publishes to. They are kept until the caller's `taken` knows their digest."""

    path: str
    data: bytes
    how: How
    mtime_ns: int
    base: str | None = None

    @property
    def digest(self) -> str:
        """What `taken` is asked about."""
        return digest(self.data)


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """What one publish did. `held` are paths left as they were because a person's words or a foreign thing stand there, with the reason."""

    written: tuple[str, ...] = ()
    unchanged: int = 0
    removed: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()
    held: tuple[tuple[str, str], ...] = ()
    strangers: tuple[str, ...] = ()


class SecretFound(Refused):
    """A page would have shown a secret; nothing was written."""

    def __init__(self, paths: Collection[str]) -> None:
        super().__init__(f"nothing was published: a secret stands in {', '.join(sorted(paths))}")
        self.paths = tuple(sorted(paths))


def no_step(name: str) -> None:
    """Nothing between two steps; tests put failures here."""


def no_secret(path: str, data: bytes) -> bool:
    """No secret is looked for."""
    return False


@dataclass(slots=True)
class _Manifest:
    """What stands in the folder by our hand: path → digest published, and digest about to be published."""

    revision: int = 0
    published: dict[str, str] = field(default_factory=dict)
    publishing: dict[str, str] = field(default_factory=dict)

    @property
    def paths(self) -> set[str]:
        return self.published.keys() | self.publishing.keys()

    def dump(self) -> bytes:
        files = {p: {"published": self.published.get(p), "publishing": self.publishing.get(p)} for p in sorted(self.paths)}
        return (json.dumps({"revision": self.revision, "files": files}, ensure_ascii=False, indent=1) + "\n").encode()


def publish(
    folder: Path,
    files: Mapping[str, bytes],
    *,
    marker: Marker,
    revision: int,
    holder: str,
    known: Callable[[str], bool],
    taken: Callable[[str], bool] = lambda _: False,
    stubs: Collection[str] = (),
    drop: Collection[str] = (),
    new: bool = False,
    take_over: bool = False,
    has_secret: Callable[[str, bytes], bool] = no_secret,
    step: Callable[[str], None] = no_step,
) -> Published:
    """Make the folder hold `files`, and nothing else of ours but journal pages (`drop` names those to remove).

    `known` says whether a digest is of something dreamd ever wrote, `taken` whether a person's bytes with this digest are stored by the caller and may be
    replaced. `new` allows a folder without marker, if nothing stands in it; `take_over` claims a folder of another host or epoch.
    Raises NotOurFolder, FolderBusy, SecretFound, Conflict (a newer revision stands there) and PublishFailed; all leave every file whole.
    """
    _check(files, has_secret)
    try:
        _claim(folder, marker, new=new)
        with Folder(folder) as place, place.locked(holder):
            step("locked")
            _mark(place, marker, new=new, take_over=take_over)
            return _Run(place, dict(files), revision, known, taken, frozenset(stubs), frozenset(drop), step).run()
    except OSError as error:
        raise PublishFailed(f"publishing into {folder} stopped: {error.strerror or error}") from error


def _check(files: Mapping[str, bytes], has_secret: Callable[[str, bytes], bool]) -> None:
    for path in files:
        check_path(path)
    if len({fold(path) for path in files}) != len(files):
        raise ValueError("two pages would meet on a file system that folds case")
    secret = [path for path, data in files.items() if has_secret(path, data)]
    if secret:
        raise SecretFound(secret)


# --- whose folder ------------------------------------------------------------------------------------------------------------------------


def _claim(folder: Path, marker: Marker, *, new: bool) -> None:
    """Refuse somebody else's folder before anything is written into it; make it when it is to be new."""
    if not folder.exists():
        if not new:
            raise NotOurFolder(f"{folder} is gone: is it mounted? nothing was written and nothing is taken as deleted")
        folder.mkdir(parents=True)
    if not folder.is_dir():
        raise NotOurFolder(f"{folder} is not a folder")
    if (folder / MARKER).is_file():
        return
    others = sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith("."))
    if others:
        raise NotOurFolder(f"{folder} holds {others[0]} and no marker of dreamd: name an empty folder for the wiki")
    if not new:
        raise NotOurFolder(f"{folder} has lost its marker: is it mounted? nothing was written and nothing is taken as deleted")


def _mark(place: Folder, marker: Marker, *, new: bool, take_over: bool) -> None:
    """Under the lock: check the marker that stands there, or set ours."""
    stands = _read_marker(place)
    if stands is not None and stands.wiki != marker.wiki:
        raise NotOurFolder(f"{place.path} belongs to the wiki {stands.wiki}, not to {marker.wiki}")
    if stands is not None and not take_over and stands != marker:
        what = f"host {stands.host}" if stands.host != marker.host else "another store (a restored or copied one)"
        raise NotOurFolder(f"{place.path} is published by {what}: take it over if that is over")
    place.make(PRIVATE)
    if stands != marker:
        place.replace(f"{PRIVATE}/.gitignore", b"*\n")
        place.replace(MARKER, (json.dumps({"wiki": marker.wiki, "epoch": marker.epoch, "host": marker.host}) + "\n").encode())


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


def _read_manifest(place: Folder) -> _Manifest:
    """The manifest, or an empty one when it is missing or torn (then only `known` tells our files)."""
    found = place.read(MANIFEST)
    try:
        given = json.loads(found.data) if found else {}
        rows = {str(p): dict(row) for p, row in dict(given.get("files", {})).items()}
        pick = {name: {p: str(row[name]) for p, row in rows.items() if row.get(name)} for name in ("published", "publishing")}
        return _Manifest(int(given.get("revision", 0)), pick["published"], pick["publishing"])
    except (ValueError, TypeError, AttributeError):
        return _Manifest()


def read_folder(folder: Path) -> dict[str, bytes]:
    """Every page that stands in a wiki folder, by path; what is no plain Markdown file is left out. For looking at edits before rendering.

    Raises PublishFailed for one that may not be read: what a person wrote there is not known.
    """
    out = {}
    with Folder(folder) as place:
        for path in _pages(place):
            try:
                found = place.read(path)
            except InTheWay:
                continue
            except OSError as error:
                raise PublishFailed(f"{folder}/{path} cannot be read: {error.strerror or error}") from error
            if found is not None:
                out[path] = found.data
    return out


def published_digests(folder: Path) -> Mapping[str, str]:
    """Path → digest of what we last put there, by the folder's own manifest; empty when there is none."""
    with Folder(folder) as place:
        manifest = _read_manifest(place)
    return manifest.published | manifest.publishing


def _pages(place: Folder) -> list[str]:
    names = [n for n in place.names() if n.endswith(".md")]
    for sub in sorted(FOLDERS):
        try:
            names += [f"{sub}/{n}" for n in place.names(sub) if n.endswith(".md")]
        except InTheWay:
            continue
    return names


# --- one run -----------------------------------------------------------------------------------------------------------------------------


def placeholder(path: str) -> bytes:
    """What stands at a new path for the moment in which the pages that link to it are written."""
    return f"# {path.rpartition('/')[2].removesuffix('.md')}\n\nThis page is being written.\n".encode()


class _Run:
    """One publish under the lock."""

    def __init__(
        self, place: Folder, files: dict[str, bytes], revision: int, known: Callable[[str], bool], taken: Callable[[str], bool],
        stubs: frozenset[str], drop: frozenset[str], step: Callable[[str], None],
    ) -> None:  # fmt: skip
        self.place, self.files, self.revision = place, files, revision
        self.known, self.taken, self.stubs, self.drop, self.step = known, taken, stubs, drop, step
        self.manifest = _read_manifest(place)
        if self.manifest.revision > revision:
            raise Conflict(f"{place.path} shows revision {self.manifest.revision}, newer than {revision}")
        self.wanted = {path: digest(data) for path, data in files.items()}
        self.edits: list[Edit] = []
        self.held: list[tuple[str, str]] = []
        self.written: list[str] = []
        self.removed: list[str] = []

    def run(self) -> Published:
        self._sweep()
        self.step("swept")
        standing = self._standing()
        todo = [path for path in self.files if path in standing and (standing[path] is None or standing[path] != self.wanted[path])]
        gone = [path for path in self._removable() if path in standing and standing[path] is not None]
        if todo or gone or self.manifest.publishing or self.manifest.published != self._settled(standing) or self.manifest.revision != self.revision:
            self._announce(todo, standing)
            self._write(todo, standing)
            self._remove(gone, standing)
            self._settle()
        unchanged = len(self.files) - len(self.written) - len({p for p, _ in self.held if p in self.files})
        return Published(
            written=tuple(self.written), unchanged=unchanged, removed=tuple(self.removed), edits=tuple(self.edits), held=tuple(self.held),
            strangers=tuple(p for p in _pages(self.place) if p not in self.files and p not in self.manifest.paths),
        )  # fmt: skip

    # what stands there

    def _ours(self, path: str, found: str) -> bool:
        own = {self.manifest.published.get(path), self.manifest.publishing.get(path), self.wanted.get(path), digest(placeholder(path))}
        return found in own or self.known(found)

    def _sweep(self) -> None:
        """Look once more at what the last publish displaced, report what is a person's, and let go of the rest."""
        for name in self.place.names(TEMPORARY):
            self.place.remove(f"{TEMPORARY}/{name}")
        for name in self.place.names(DISPLACED):
            base, _, flat = name.removesuffix(".old").split(".", 2)
            path = flat.replace("~", "/")
            try:
                found = self.place.read(f"{DISPLACED}/{name}")
            except InTheWay:
                continue
            if found is None:
                continue
            if found.digest == base or self._ours(path, found.digest) or self.taken(found.digest):
                self.place.remove(f"{DISPLACED}/{name}")
            else:
                self._person(path, found, How.LATE, base)

    def _standing(self) -> dict[str, str | None]:
        """Path → digest of what stands there and may be replaced (None: nothing); what may not is held and reported."""
        out: dict[str, str | None] = {}
        for path in sorted({*self.files, *self._removable()}):
            try:
                found = self.place.read(path)
            except InTheWay as error:
                self.held.append((path, error.what))
                continue
            if found is None or self._ours(path, found.digest) or self.taken(found.digest):
                out[path] = found.digest if found else None
            else:
                self._person(path, found, How.FOUND if path in self.manifest.paths else How.STRANGER, self.manifest.published.get(path))
                self.held.append((path, "a person's words"))
        return out

    def _removable(self) -> list[str]:
        """What we once published and no longer want; the journal stays unless it is named."""
        return sorted(p for p in (self.manifest.paths | self.drop) - self.files.keys() if p in self.drop or not p.startswith("journal/"))

    def _person(self, path: str, found: Found, how: How, base: str | None) -> None:
        self.edits.append(Edit(path=path, data=found.data, how=how, mtime_ns=found.mtime_ns, base=base))

    # what is done

    def _announce(self, todo: list[str], standing: Mapping[str, str | None]) -> None:
        """Record what is about to stand where, and what of ours stands there now, before the first file moves."""
        self.place.make(DISPLACED)
        self.manifest.published |= {p: now for p in todo if (now := standing[p]) is not None and self._ours(p, now)}
        self.manifest.publishing |= {path: self.wanted[path] for path in todo}
        self.manifest.revision = self.revision
        self.place.replace(MANIFEST, self.manifest.dump())
        self.step("intent")

    def _write(self, todo: list[str], standing: dict[str, str | None]) -> None:
        for path in [p for p in todo if standing[p] is None]:
            if self._open(path):
                standing[path] = digest(placeholder(path))
        phases = (
            ("pages", [p for p in todo if p not in self.stubs and p != INDEX_PATH]),
            ("stubs", [p for p in todo if p in self.stubs]),
            ("index", [p for p in todo if p == INDEX_PATH]),
        )
        for name, paths in phases:
            for path in paths:
                if standing[path] is not None:
                    self._replace(path, standing[path] or "")
            self.place.sync()
            self.step(f"phase:{name}")

    def _open(self, path: str) -> bool:
        """Put the placeholder at a new path; False when a file has appeared there meanwhile."""
        temporary = self.place.write_temporary(placeholder(path), sync=False)
        self.step(f"opening:{path}")
        if self.place.create(temporary, path):
            self.step(f"opened:{path}")
            return True
        found = self.place.read(path)
        if found is not None:
            self._person(path, found, How.STRANGER, None)
        self.held.append((path, "a file that appeared meanwhile"))
        return False

    def _replace(self, path: str, base: str) -> None:
        """Exchange the file for the new one and look at what came out."""
        temporary = self.place.write_temporary(self.files[path])
        self.step(f"written:{path}")
        staged = self._keep(base, path)
        self.place.move(temporary, staged)
        self.step(f"staged:{path}")
        try:
            self.place.exchange(staged, path)
        except OSError as error:
            if error.errno != errno.ENOENT:
                raise
            if not self.place.create(staged, path):  # somebody removed it since we looked, and put another there
                self.held.append((path, "a file that appeared meanwhile"))
                return
        self.step(f"exchanged:{path}")
        self._displaced(staged, path, base)
        self.written.append(path)

    def _keep(self, base: str, path: str) -> str:
        """A free name for the file that stands at `path`: what is kept there already may be a person's."""
        flat, n = path.replace("/", "~"), 0
        while self.place.stands(f"{DISPLACED}/{base}.{n}.{flat}"):
            n += 1
        return f"{DISPLACED}/{base}.{n}.{flat}"

    def _displaced(self, staged: str, path: str, base: str) -> None:
        """What came out of the place of a page: as expected, or a person's save in the window."""
        try:
            found = self.place.read(staged)
        except InTheWay as error:
            self.held.append((path, f"{error.what}, kept in {staged}"))
            return
        if found is not None and found.digest != base and not self._ours(path, found.digest) and not self.taken(found.digest):
            self._person(path, found, How.WINDOW, base)

    def _remove(self, gone: list[str], standing: dict[str, str | None]) -> None:
        """Take away what nothing links to any more; while a page is held at an older state, it may still link there, so nothing is removed."""
        if gone and any(path in self.files for path, _ in self.held):
            self.held += [(path, "an older page may link to it") for path in gone]
            return
        for path in gone:
            self.step(f"removing:{path}")
            staged = self._keep(standing[path] or "", path)
            with suppress(FileNotFoundError):
                self.place.move(path, staged)
            self.step(f"removed:{path}")
            self._displaced(staged, path, standing[path] or "")
            self.removed.append(path)
        self.place.sync()
        self.step("phase:removals")

    def _settled(self, standing: Mapping[str, str | None]) -> dict[str, str]:
        """Path → digest that is published now."""
        journal = {p: d for p, d in self.manifest.published.items() if p.startswith("journal/") and p not in self.drop}
        waiting = {path for path, _ in self.held}
        stays = {p: d for p, d in self.manifest.published.items() if p in waiting}
        return journal | stays | {p: d for p, d in self.wanted.items() if p not in waiting}

    def _settle(self) -> None:
        """Record what stands there now."""
        self.manifest.published = self._settled({})
        self.manifest.publishing = {}
        self.place.replace(MANIFEST, self.manifest.dump())
        self.step("manifest")
