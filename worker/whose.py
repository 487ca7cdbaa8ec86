"""Whose a folder is, for hooks: the wiki of its project, found with the standard library alone.

It decides as `worker.wiring.find_wiki`, `worker.registry` and `worker.projects.root_of` do, without importing them; tests compare the two.
"""

import contextlib
import hashlib
import json
import os


def wiki_of(data: str, folder: str, *, given: object = None) -> str | None:
    """The wiki a session in this folder is told of: the one given, the nearest from there upwards, its project's."""
    if given and isinstance(given, str):
        return os.path.expanduser(given)
    here = os.path.realpath(folder)
    for place in _upwards(here):
        for wiki in (place, os.path.join(place, "dreamd-wiki")):
            if os.path.isfile(os.path.join(wiki, ".dreamd", "marker.json")):
                return wiki
    return registered_wiki(data, here)


def registered_wiki(data: str, folder: str) -> str | None:
    """The wiki of the project a folder belongs to."""
    with (
        contextlib.suppress(OSError, ValueError, KeyError),
        open(os.path.join(data, "projects", f"{digest(root_of(folder))[:24]}.json"), encoding="utf-8") as file,
    ):
        return str(json.load(file)["wiki"])
    return None


def root_of(folder: str) -> str:
    """`worker.projects.root_of`."""
    for place in _upwards(folder):
        mark = os.path.join(place, ".git")
        if os.path.isdir(mark):
            return os.path.realpath(place)
        if os.path.isfile(mark):
            with contextlib.suppress(OSError):
                if common := _common_directory(mark):
                    return common
    return os.path.realpath(folder)


def digest(text: str) -> str:
    """`pipelines.model.digest` of one part."""
    raw = text.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(len(raw).to_bytes(8, "big") + raw, digest_size=20).hexdigest()


def _common_directory(mark: str) -> str | None:
    with open(mark, encoding="utf-8", errors="replace") as file:
        text = file.read()
    if not text.startswith("gitdir:"):
        return None
    git = os.path.realpath(os.path.join(os.path.dirname(mark), text.removeprefix("gitdir:").strip()))
    above = os.path.dirname(git)
    if os.path.basename(above) != "worktrees":
        return os.path.realpath(os.path.dirname(mark))
    shared = os.path.dirname(above)
    return os.path.realpath(os.path.dirname(shared) if os.path.basename(shared) == ".git" else shared)


def _upwards(folder: str) -> list[str]:
    out = [folder]
    while (above := os.path.dirname(out[-1])) != out[-1]:
        out.append(above)
    return out
