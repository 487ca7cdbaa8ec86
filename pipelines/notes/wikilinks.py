"""What `[[name]]` means in a folder of notes: the one file of that name, else the one that calls itself so. Pure.

Dashes, underscores, blanks and case are one, as people and agents write them: `[[Deploy order]]` is deploy_order.md. A name that could be several files leads to
none of them.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from pathlib import PurePosixPath

from pipelines.model import OnlineNote


def loose(name: str) -> str:
    """A name as links are found by it."""
    return re.sub(r"[\s_-]+", " ", unicodedata.normalize("NFC", name).casefold()).strip()


def own_names(note: OnlineNote) -> tuple[str, ...]:
    """What the file of a line calls itself in its front matter, beside its title."""
    return tuple(name for key in ("name", "metadata.name", "title") if (name := note.front_matter.get(key)) and name != note.title)


class FileNames:
    """The files of a folder by what links call them."""

    def __init__(self, notes: Iterable[OnlineNote]) -> None:
        stems, called = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
        for note in notes:
            stems[loose(PurePosixPath(note.path).stem)].add(note.path)
            for name in (note.title, *own_names(note)):
                called[loose(name)].add(note.path)
        self._files = {**called, **stems}

    def files(self, name: str) -> tuple[str, ...]:
        """The files a name may mean, in order of their paths: one where it leads somewhere."""
        return tuple(sorted(self._files.get(loose(name), ())))
