"""A person's own words on a page: what stands below our line, in sections, and what became of them since we last looked.

Folders of one wiki may each hold words of their own. They are kept as sections, one after the other with a mark between them, so that the page is the
same whichever arrived first, and none is dropped. What changed in a folder is the difference to the sections that stood there when we last wrote it or
looked; words that are there because a crash, a restore or a checkout put an older version of ours back are no change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from pipelines.model import digest
from pipelines.wiki.edits import INDEX_PATH, doubt, parts
from pipelines.wiki.page import OWN_MARK

BETWEEN = "<!-- yours as well, written in another folder of this wiki -->"
_BETWEEN = re.compile(rf"\r?\n{re.escape(BETWEEN)}[ \t]*\r?\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Halves:
    """A whole file of ours in two: `above`, a digest of our part, and the person's sections below the line."""

    above: str
    sections: tuple[str, ...]

    @property
    def own(self) -> frozenset[str]:
        """Digests of the sections."""
        return digests(self.sections)


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """What we know to have stood at a path when we last wrote it or looked: digests our part may have, and the person's sections."""

    above: frozenset[str]
    own: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """What a person did to their sections: texts that are new, digests of those that are gone."""

    added: tuple[str, ...] = ()
    removed: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)


def halves(path: str, data: bytes) -> Halves | None:
    """The two halves of a published file as it stands; None for what is none of ours, or only half there."""
    text = data.decode("utf-8", "surrogateescape")
    if doubt(path, text):
        return None
    head, own, notes = parts(path, text)
    return Halves(above=digest(_bytes(head), _bytes(notes)), sections=sections(own))


def sections(own: str) -> tuple[str, ...]:
    """The sections of a person's text, in order; what is only white space is none."""
    return tuple(part for part in _BETWEEN.split(own) if part.strip())


def joined(found: Iterable[str]) -> str:
    """Sections as they stand on a page."""
    return f"\n{BETWEEN}\n".join(found)


def with_own(path: str, data: bytes, own: str) -> bytes:
    """A file as we render it, with these words of the person's in place of those it has."""
    text = data.decode("utf-8", "surrogateescape")
    head, _, notes = parts(path, text)
    if path == INDEX_PATH:
        return _bytes(head + notes + own)
    return _bytes(f"{head}{OWN_MARK}\n{own}") + (b"\n" + _bytes(notes) if notes else b"")


def digests(found: Iterable[str]) -> frozenset[str]:
    """What sections are known by."""
    return frozenset(digest(_bytes(section)) for section in found)


def changed(found: Sequence[str], *, base: Base | None, known: Set[str], current: Set[str]) -> Changed:
    """What became of the sections of one file since `base`. Without a base, because it is not known or an older version of ours was put back, only
    words that were never seen are a person's.

    `known` are digests of every section this page ever had, `current` of those it has, wherever they were written.
    """
    named = {digest(_bytes(section)): section for section in found}
    unseen = named.keys() - known
    if base is None:
        return Changed(added=_in_order(named, unseen))
    again = named.keys() - base.own - current
    return Changed(added=_in_order(named, unseen | again), removed=frozenset((base.own - named.keys()) & current))


def _in_order(named: dict[str, str], wanted: Set[str]) -> tuple[str, ...]:
    return tuple(section for key, section in named.items() if key in wanted)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
