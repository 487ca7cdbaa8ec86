"""Putting a revision of the wiki into its folder: by state, additive first, and giving back what was displaced (systems R1, R13).

The order is: an empty page for each new path, pages, stubs, the index, removals; so that at no moment a link leads nowhere. What will be written is
recorded before the first file moves. What a person wrote below our line is handed to the caller and comes back as a part of the page; what was saved at
the very moment of writing comes back with the next publish. A file in which our own part was changed is left alone and reported. After an
interruption at any point the same call makes the folder what an undisturbed run would have made it.

What is not promised: that a save is seen which happens after the exchange into a file the editor still holds open; it is found and reported by the
next publish, which looks at every displaced file again before it lets go of it.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pipelines.errors import Conflict
from pipelines.model import digest
from pipelines.wiki.edits import doubt
from pipelines.wiki.folder import DISPLACED, TEMPORARY, Folder, Found, InTheWay, PublishFailed
from pipelines.wiki.manifest import MANIFEST, Ours, ours, read_manifest
from pipelines.wiki.marker import Marker, claim_folder, mark_folder
from pipelines.wiki.own import Base
from pipelines.wiki.slugs import check_path, fold
from pipelines.wiki.standing import Needs, Stood, look_all, look_at, page_paths

INDEX_PATH = "MEMORY.md"
LEARNED_MIN = 16
"""From so many pages on, that they were found to be ours is written down though nothing was published."""


class How(StrEnum):
    """Where a person's words were found: in place, in a file that changed under our hands, in a displaced file written to later, at a new page's path, in
    the brief, which no hand but ours may word."""

    FOUND = "found"
    WINDOW = "window"
    LATE = "late"
    STRANGER = "stranger"
    BRIEF = "brief"


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Bytes dreamd did not write, at a path it publishes to, which are more than words below our line. What was displaced is kept."""

    path: str
    data: bytes
    how: How
    base: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What the folder is to show: path → digest, the revision it is of, and which of the files only lead on. `load` gives the bytes of some."""

    wanted: Mapping[str, str]
    load: Callable[[Sequence[str]], Mapping[str, bytes]]
    revision: int
    stubs: frozenset[str] = frozenset()

    @classmethod
    def of(cls, files: Mapping[str, bytes], revision: int, *, stubs: frozenset[str] = frozenset()) -> State:
        """A state that is all here."""
        return cls(wanted={p: digest(d) for p, d in files.items()}, load=lambda paths: {p: files[p] for p in paths}, revision=revision, stubs=stubs)


@dataclass(frozen=True, slots=True)
class Taken:
    """The words below our line are kept, and the file may be replaced: by `data`, or taken away when there is nothing to show at its path."""

    data: bytes | None


Take = Callable[[Stood], Taken | None]
"""Keep what a person wrote below our line; None when our own part was changed, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """What one publish did. `held` are paths left as they were because a person's words or a foreign thing stand there, or because a secret would stand there
    (`withheld`: of these, a page that is new says only that), with the reason."""

    written: tuple[str, ...] = ()
    unchanged: int = 0
    removed: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()
    held: tuple[tuple[str, str], ...] = ()
    strangers: tuple[str, ...] = ()

    @property
    def withheld(self) -> tuple[str, ...]:
        """The paths held for a secret."""
        return tuple(path for path, why in self.held if why == SECRET)


SECRET = "a secret seems to stand in it: dreamd scrub masks it where it came from; the next publish tries again"
"""Why a page is held that would show a secret."""


def no_step(name: str) -> None:
    """Nothing between two steps; tests put failures here."""


def no_secret(path: str, data: bytes) -> bool:
    """No secret is looked for."""
    return False


def publish(
    folder: Path,
    show: State | Callable[[Sequence[Stood]], State],
    *,
    marker: Marker,
    holder: str,
    known: Callable[[str], bool],
    take: Take = lambda _: None,
    needs: Needs = lambda path, own: False,
    drop: Collection[str] = (),
    new: bool = False,
    take_over: bool = False,
    has_secret: Callable[[str, bytes], bool] = no_secret,
    step: Callable[[str], None] = no_step,
    patience_s: float = 0,
) -> Published:
    """Make the folder hold the files of a state, and nothing else of ours but journal pages (`drop` names those to remove).

    `show` is that state, or is asked for it once nobody else can publish here, with the pages that stand there. `known` says whether a digest is of a
    file dreamd ever wrote, `needs` which untouched pages are wanted whole. `new` allows a folder without marker, if nothing stands in it; `take_over` claims a folder of another host or epoch.
    Another publisher on this host is waited for `patience_s` seconds. Raises NotOurFolder, FolderGone, FolderBusy, Conflict (a newer revision
    stands there) and PublishFailed; all leave every file whole.
    """
    if isinstance(show, State):
        _check(show.wanted, ())
    try:
        claim_folder(folder, new=new)
        with Folder(folder) as place, place.locked(holder, patience_s=patience_s):
            step("locked")
            mark_folder(place, marker, take_over=take_over)
            return _Run(place, known, take, needs, frozenset(drop), has_secret, step).run(show)
    except OSError as error:
        why = error.strerror or str(error)
        raise PublishFailed(
            f"publishing into {folder} stopped: {why}; every file there is whole and what was decided is kept: "
            "once the folder can be written, `dreamd publish` brings it up to date"
        ) from error


def _check(paths: Collection[str], known: Collection[str]) -> None:
    """Refuse paths that lead out of the folder or meet on some file system; those `known` were looked at when they were published."""
    new = [path for path in paths if path not in known]
    for path in new:
        check_path(path)
    if new and len({fold(path) for path in paths}) != len(paths):
        raise ValueError("two pages would meet on a file system that folds case")


# --- one run -----------------------------------------------------------------------------------------------------------------------------


def placeholder(path: str) -> bytes:
    """What stands at a new path for the moment in which the pages that link to it are written."""
    return f"# {path.rpartition('/')[2].removesuffix('.md')}\n\nThis page is being written.\n".encode()


def notice(path: str) -> bytes:
    """What stands at the path of a new page that is held for a secret."""
    return f"# {path.rpartition('/')[2].removesuffix('.md')}\n\nThis page is held back: a secret seems to stand in it.\n".encode()


class _Run:
    """One publish under the lock."""

    def __init__(
        self, place: Folder, known: Callable[[str], bool], take: Take, needs: Needs, drop: frozenset[str], has_secret: Callable[[str, bytes], bool],
        step: Callable[[str], None],
    ) -> None:  # fmt: skip
        self.place, self.known, self.take, self.needs, self.drop, self.has_secret, self.step = place, known, take, needs, drop, has_secret, step
        self.manifest = read_manifest(place)
        self.state = State.of({}, 0)
        self.wanted: dict[str, str] = {}
        self.data: dict[str, bytes] = {}
        self.stands: dict[str, Ours] = {}
        self.edits: list[Edit] = []
        self.held: list[tuple[str, str]] = []
        self.notices: set[str] = set()
        self.written: list[str] = []
        self.removed: list[str] = []

    def run(self, show: State | Callable[[Sequence[Stood]], State]) -> Published:
        self._sweep()
        self.step("swept")
        stood = {} if isinstance(show, State) else {s.path: s for s in look_all(self.place, self.manifest, self.needs)}
        self._aim(show if isinstance(show, State) else show(list(stood.values())))
        self.step("read")
        standing = self._standing(stood)
        todo = self._todo(standing)
        gone = [path for path in self._removable() if path in standing and standing[path] is not None]
        todo = self._without_secrets(todo, standing)
        moved = self.manifest.revision != self.state.revision or self.manifest.withheld != self._withheld()
        if todo or gone or moved or self.manifest.publishing or self.manifest.published != self._settled():
            self._announce(todo, standing)
            self._write(todo, standing)
            self._remove(gone, standing)
            self._settle()
        elif len(self.manifest.learned) >= LEARNED_MIN:
            self._settle()
        unchanged = len(self.wanted) - len({*self.written, *(p for p, _ in self.held if p in self.wanted)})
        return Published(
            written=tuple(self.written), unchanged=unchanged, removed=tuple(self.removed), edits=tuple(self.edits), held=tuple(self.held),
            strangers=tuple(p for p in page_paths(self.place) if p not in self.wanted and p not in self.manifest.paths),
        )  # fmt: skip

    def _aim(self, state: State) -> None:
        _check(state.wanted, self.manifest.paths)
        if self.manifest.revision > state.revision:
            raise Conflict(f"{self.place.path} shows revision {self.manifest.revision}, newer than {state.revision}")
        self.state, self.wanted = state, dict(state.wanted)

    def _load(self, paths: Iterable[str]) -> None:
        missing = [path for path in paths if path not in self.data]
        if missing:
            self.data |= self.state.load(missing)

    def _todo(self, standing: Mapping[str, str | None]) -> list[str]:
        """Pages to write, with their bytes at hand."""
        todo = [path for path in self.wanted if path in standing and (standing[path] is None or standing[path] != self.wanted[path])]
        self._load(todo)
        self.wanted |= {path: digest(self.data[path]) for path in todo}  # a page stored by an older version may be known by another digest
        return [path for path in todo if standing[path] != self.wanted[path]]

    def _without_secrets(self, todo: list[str], standing: Mapping[str, str | None]) -> list[str]:
        """The pages that may be written. One that would show a secret is held: what stands there stays, and in the place of a new one, which others may
        link to, stands that it is held."""
        secret = [path for path in todo if self.has_secret(path, self.data[path])]
        self.held += [(path, SECRET) for path in secret]
        self.notices = {path for path in secret if standing[path] is None}
        for path in self.notices:
            self._now(path, notice(path))
        return [path for path in todo if path not in secret or path in self.notices]

    # what stands there

    def _ours(self, path: str, found: str) -> bool:
        own = {self.wanted.get(path), digest(placeholder(path)), digest(notice(path)), *(row.digest for row in self.manifest.rows(path))}
        return found in own or self.known(found)

    def _found(self, path: str, found: Found, base: Base | None) -> Stood:
        return Stood(path=path, digest=found.digest, data=found.data, published=bool(self.manifest.rows(path)), untouched=False, base=base)

    def _sweep(self) -> None:
        """Look once more at what the last publish displaced, take in or report what is a person's, and let go of the rest."""
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
            if found.digest == base or self._ours(path, found.digest) or self.take(self._found(path, found, None)):  # its base is not known by now
                self.place.remove(f"{DISPLACED}/{name}")
            else:
                self.edits.append(Edit(path=path, data=found.data, how=How.LATE, base=base))

    def _standing(self, stood: Mapping[str, Stood]) -> dict[str, str | None]:
        """Path → digest of what stands there and may be replaced (None: nothing); what may not is held and reported.

        A page in `stood` is not looked at again: what is saved into one from then on comes to light when it is exchanged, or with the next publish.
        """
        out: dict[str, str | None] = {}
        for path in sorted({*self.wanted, *self._removable()}):
            try:
                found = stood.get(path) or self._looked_at(path)
            except InTheWay as error:
                self.held.append((path, error.what))
                continue
            if found is None:
                out[path] = None
                continue
            if not found.untouched:
                self.stands[path] = ours(path, found.data)
            if found.untouched or self._ours(path, found.digest) or self._make_room(found):
                out[path] = found.digest
            elif path == INDEX_PATH and path in self.manifest.paths and not doubt(path, found.data.decode("utf-8", "surrogateescape")):
                self._set_aside(found)
                out[path] = found.digest
            else:
                row = self.manifest.published.get(path)
                how = How.FOUND if path in self.manifest.paths else How.STRANGER
                self.edits.append(Edit(path=path, data=found.data, how=how, base=row.digest if row else None))
                self.held.append((path, "a person's words"))
        return out

    def _looked_at(self, path: str) -> Stood | None:
        """A page that was not there, or no plain file, when all were looked at."""
        stamp = self.place.stamp(path)
        return None if stamp is None else look_at(self.place, path, stamp, self.manifest, lambda path, own: False)

    def _set_aside(self, found: Stood) -> None:
        """Keep a brief somebody changed, to be written anew: every session is told it at once, so that nobody's hand but ours may word it."""
        row = self.manifest.published.get(found.path)
        base = row.digest if row else ""
        self.place.make(DISPLACED)
        self.place.replace(self._keep(base, found.path), found.data)
        self.edits.append(Edit(path=found.path, data=found.data, how=How.BRIEF, base=base))

    def _make_room(self, found: Stood) -> bool:
        """Whether all that is a person's in a file is kept by now, so that the page as it is to be may take its place."""
        taken = self.take(found)
        if taken is not None and taken.data is not None:
            self._now(found.path, taken.data)
        return taken is not None

    def _now(self, path: str, data: bytes) -> None:
        self.data[path], self.wanted[path] = data, digest(data)

    def _removable(self) -> list[str]:
        """What we once published and no longer want; the journal stays unless it is named."""
        return sorted(p for p in (self.manifest.paths | self.drop) - self.wanted.keys() if p in self.drop or not p.startswith("journal/"))

    # what is done

    def _announce(self, todo: list[str], standing: Mapping[str, str | None]) -> None:
        """Record what is about to stand where, and what of ours stands there now, before the first file moves."""
        self.place.make(DISPLACED)
        for path in todo:
            self.manifest.learned.pop(path, None)
        self.manifest.published |= {p: self.stands[p] for p in todo if p in self.stands and self._ours(p, standing[p] or "")}
        self.manifest.publishing |= {path: ours(path, self.data[path]) for path in todo}
        self.manifest.revision = self.state.revision
        self.place.replace(MANIFEST, self.manifest.dump())
        self.step("intent")

    def _write(self, todo: list[str], standing: dict[str, str | None]) -> None:
        for path in [p for p in todo if standing[p] is None]:
            if self._open(path):
                standing[path] = digest(placeholder(path))
        phases = (
            ("pages", [p for p in todo if p not in self.state.stubs and p != INDEX_PATH]),
            ("stubs", [p for p in todo if p in self.state.stubs]),
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
            self.edits.append(Edit(path=path, data=found.data, how=How.STRANGER))
        self.held.append((path, "a file that appeared meanwhile"))
        return False

    def _replace(self, path: str, base: str) -> None:
        """Exchange the file for the new one and look at what came out."""
        temporary = self.place.write_temporary(self.data[path])
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
        """What came out of the place of a page: as expected, or a person's save in the window. Words of theirs are kept for the next publish to show."""
        try:
            found = self.place.read(staged)
        except InTheWay as error:
            self.held.append((path, f"{error.what}, kept in {staged}"))
            return
        if found is None or found.digest == base or self._ours(path, found.digest):
            return
        if self.take(self._found(path, found, self.manifest.base(path))) is None:
            self.edits.append(Edit(path=path, data=found.data, how=How.WINDOW, base=base))

    def _remove(self, gone: list[str], standing: dict[str, str | None]) -> None:
        """Take away what nothing links to any more; while a page is held at an older state, it may still link there, so nothing is removed."""
        if gone and any(path in self.wanted for path, _ in self.held if path not in self.notices):
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

    def _settled(self) -> dict[str, Ours]:
        """Path → file that is published now, with the person's sections that stand in those left alone."""
        journal = {p: row for p, row in self.manifest.published.items() if p.startswith("journal/") and p not in self.drop}
        waiting = {path for path, _ in self.held} - self.notices
        seen = {p: self.stands[p].own for p in waiting if p in self.stands}
        stays = {p: row._replace(own=seen.get(p, row.own)) for p, row in self.manifest.published.items() if p in waiting}
        shown = {p: self._same(p) for p in self.wanted if p not in waiting}
        self._load(p for p, row in shown.items() if row is None)
        return journal | stays | {p: row or ours(p, self.data[p]) for p, row in shown.items()}

    def _withheld(self) -> tuple[str, ...]:
        return tuple(sorted(path for path, why in self.held if why == SECRET))

    def _same(self, path: str) -> Ours | None:
        """The row of a page that is in the manifest already."""
        wanted = self.wanted[path]
        for rows in (self.manifest.published, self.manifest.publishing):
            if (row := rows.get(path)) is not None and row.digest == wanted and row.own is not None:
                return row
        return None

    def _settle(self) -> None:
        """Record what stands there now."""
        self.manifest.settle(self._settled(), self._withheld())
        self.place.replace(MANIFEST, self.manifest.dump())
        self.step("manifest")
