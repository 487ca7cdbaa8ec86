"""The paths a rule file is for (`paths:` in its front matter), and what part of the project they bind it to. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

_BETWEEN = re.compile(r",(?![^{}]*\})")
"""A comma between two patterns, not between the endings in braces (`*.{ts,tsx}`)."""
_WILD = re.compile(r"[*?\[{]")
_ALL = frozenset({"*", "**", "**/*"})


def globs_of(paths: str) -> tuple[str, ...]:
    """The patterns named; none where one of them is of every file."""
    found = tuple(dict.fromkeys(glob.removeprefix("./") for part in _BETWEEN.split(paths.strip("[] ")) if (glob := part.strip(" '\""))))
    return () if _ALL.intersection(found) else found


def scope_of(globs: Sequence[str], below: str = "") -> str:
    """The folder the patterns lie in, when they lie in one; else the patterns themselves, which no note names as a folder. `below` is the folder of the file."""
    folders = {_folder(glob) for glob in globs}
    folder = folders.pop() if len(folders) == 1 else ""
    if not below or not folder or folder == below or folder.startswith(f"{below}/"):
        return folder or ", ".join(globs)
    return f"{below}/{folder}"


def _folder(glob: str) -> str:
    """The part of a pattern in front of the first wild card."""
    parts = glob.strip("/").split("/")
    wild = next((n for n, part in enumerate(parts) if _WILD.search(part)), len(parts))
    return "/".join(parts[:wild])
