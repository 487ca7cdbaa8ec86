"""What stands in a wiki folder by our hand, written down in the folder itself: so nobody has to read a page to know that it is as we left it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import orjson

from pipelines.model import digest
from pipelines.wiki.folder import PRIVATE, Folder, Stamp
from pipelines.wiki.own import Base, halves

MANIFEST = f"{PRIVATE}/manifest.json"


class Ours(NamedTuple):
    """A file as we put it there: the digest of it all, of our part, and of the person's sections it showed (None: written down by an older version).

    `stamp` is how the file looked from outside when it was last read and found to be this one.
    """

    digest: str
    above: str = ""
    own: tuple[str, ...] | None = None
    stamp: Stamp | None = None


@dataclass(slots=True)
class Manifest:
    """Path → file published, and file about to be published. `withheld` are paths whose newest page would show a secret, `learned` are stamps not written
    down yet."""

    revision: int = 0
    published: dict[str, Ours] = field(default_factory=dict)
    publishing: dict[str, Ours] = field(default_factory=dict)
    withheld: tuple[str, ...] = ()
    learned: dict[str, Stamp] = field(default_factory=dict)

    @property
    def paths(self) -> set[str]:
        """Every path we put a file at."""
        return self.published.keys() | self.publishing.keys()

    def rows(self, path: str) -> list[Ours]:
        """What we may have put at a path: one file, or after a crash one of two."""
        return [row for rows in (self.published, self.publishing) if (row := rows.get(path)) is not None]

    def base(self, path: str) -> Base | None:
        """What a file there was before it was changed. After a crash only sections of both are known to have stood there."""
        rows = self.rows(path)
        shown = [frozenset(row.own) for row in rows if row.own is not None]
        if not rows or len(shown) < len(rows):
            return None
        return Base(above=frozenset(row.above for row in rows if row.above), own=frozenset.intersection(*shown))

    def untouched(self, path: str, stamp: Stamp) -> Ours | None:
        """The file we put at a path, when one that looks like this is known to be it and its sections are known."""
        row = self.published.get(path)
        if row is None or path in self.publishing or row.own is None or stamp not in (row.stamp, self.learned.get(path)):
            return None
        return row

    def settle(self, published: dict[str, Ours], withheld: tuple[str, ...]) -> None:
        """This stands there now."""
        self.withheld = withheld
        self.published = {p: row._replace(stamp=self.learned[p]) if p in self.learned else row for p, row in published.items()}
        self.publishing = {}
        self.learned = {}

    def dump(self) -> bytes:
        """The file's bytes."""
        told = {name: dict(sorted(rows.items())) for name, rows in (("published", self.published), ("publishing", self.publishing))}
        withheld = {"withheld": self.withheld} if self.withheld else {}
        return orjson.dumps({"revision": self.revision, **told, **withheld}, default=tuple) + b"\n"


def ours(path: str, data: bytes) -> Ours:
    """The row of a file with these bytes."""
    found = halves(path, data)
    return Ours(digest(data), found.above if found else "", tuple(sorted(found.own)) if found else ())


def read_manifest(place: Folder) -> Manifest:
    """The manifest of a folder, or an empty one when it is missing or torn (then only the store knows which files are ours)."""
    found = place.read(MANIFEST)
    try:
        revision, published, publishing, withheld = _read(found.data) if found else (0, {}, {}, ())
    except (ValueError, TypeError, AttributeError, KeyError, IndexError):
        return Manifest()
    return Manifest(revision, dict(published), dict(publishing), withheld)


@lru_cache(maxsize=1)
def _read(data: bytes) -> tuple[int, Mapping[str, Ours], Mapping[str, Ours], tuple[str, ...]]:
    """Revision, files published and about to be, paths withheld; the last manifest is remembered, since a dream looks at a folder several times. Raises what bad data raises."""
    given = orjson.loads(data)
    if "files" in given:
        return (*_of_older(given), ())
    pick = {name: {p: _row(row) for p, row in given.get(name, {}).items()} for name in ("published", "publishing")}
    return int(given.get("revision", 0)), pick["published"], pick["publishing"], tuple(map(str, given.get("withheld", ())))


def _row(row: Any) -> Ours:
    what, above, own, stamp = row
    if not (isinstance(what, str) and isinstance(above, str)):
        raise ValueError("a row of another shape")
    size, written, changed, number = stamp or (0, 0, 0, 0)
    return Ours(what, above, None if own is None else tuple(own), (size, written, changed, number) if stamp else None)


def _of_older(given: Any) -> tuple[int, Mapping[str, Ours], Mapping[str, Ours]]:
    """What the first version wrote down: digests alone."""
    rows = {str(p): dict(row) for p, row in dict(given["files"]).items()}
    pick = {name: {p: Ours(str(row[name])) for p, row in rows.items() if row.get(name)} for name in ("published", "publishing")}
    return int(given.get("revision", 0)), pick["published"], pick["publishing"]
