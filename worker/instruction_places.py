"""Where the instruction files of a project stand, as its agents look for them: at its root, in the folders above it, in folders below it, and in the home.

Claude Code loads CLAUDE.md of every folder from the working directory upwards, and that of a subfolder once it works there; Codex loads AGENTS.md from the root
of the repository downwards, one file a folder. Nothing is written. The walk below a root is bounded, and leaves out what nobody instructs anyone in: hidden and
vendored folders, and repositories of their own (worktrees and submodules are other projects, or the same files again).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from pipelines.logs.discovery import discover
from pipelines.notes.instruction_files import Instructed, InstructionFile
from worker.projects import Homes, at_root, claude_files, codex_files, first_folder, root_of, rules_below

FOLDERS_MAX: Final = 2_000
"""Folders looked into below a root, the nearest first: the largest repositories have some ten thousand, and instructions stand near the top."""
FILES_MAX: Final = 200
LOGS_MAX: Final = 100
"""Logs of paths that are asked for their working directory, spread evenly over all."""
_MARKS: Final = frozenset({"CLAUDE.md", "CLAUDE.local.md", ".claude", "AGENTS.md", "AGENTS.override.md"})
_FOREIGN: Final = frozenset({
    "node_modules", "bower_components", "vendor", "third_party", "thirdparty", "site-packages", "venv", "env", "__pycache__", "target", "dist", "build", "out",
    "pods", "deps",
})  # fmt: skip


def instructed(root: Path, homes: Homes) -> Instructed:
    """The instruction files a session of the project with this root may load: its own, those of folders below it and above it, then the person's for all
    projects. What they import may lie beside either."""
    homely = {homes.claude: "~/.claude/", homes.codex: "~/.codex/"}
    own = (InstructionFile(path=f, shown=f.relative_to(root).as_posix()) for f in at_root(root))
    inner = (
        InstructionFile(path=f, shown=f.relative_to(root).as_posix(), below=folder.relative_to(root).as_posix())
        for folder, files in _inner(root) for f in files
    )  # fmt: skip
    outer = (
        InstructionFile(path=f, shown="../" * (level + 1) + f.relative_to(folder).as_posix(), root=folder)
        for level, folder in enumerate(_outer(root)) for f in claude_files(folder)
        if f.parent != homes.claude
    )  # fmt: skip
    everywhere = [(homes.claude, f) for f in (homes.claude / "CLAUDE.md", *rules_below(homes.claude / "rules"))]
    everywhere += [(homes.codex, f) for f in codex_files(homes.codex)]
    above = (InstructionFile(path=f, shown=homely[home] + f.relative_to(home).as_posix()) for home, f in everywhere if os.path.isfile(f))
    return Instructed(files=(*own, *inner, *outer, *above), within=((root, ""), *homely.items()), home=Path.home())


def instructed_by(paths: Iterable[str], homes: Homes) -> Instructed | None:
    """The instruction files of the one project that logs below these paths were made in; None where they name none that is on this machine, or several."""
    files = discover(list(paths)).files
    step = max(1, -(-len(files) // LOGS_MAX))
    folders = {first_folder(f.path) for f in files[::step]}
    roots = {root_of(folder) for folder in folders if folder is not None and os.path.isdir(folder)}
    return instructed(roots.pop(), homes) if len(roots) == 1 else None


def _inner(root: Path) -> Iterator[tuple[Path, tuple[Path, ...]]]:
    """Folders below a root that hold instruction files, with those, the nearest first."""
    if _home().is_relative_to(root):
        return  # a home, or more than one: what lies below are other projects
    waiting, looked, left = [root], 0, FILES_MAX
    for folder in waiting:
        if looked >= FOLDERS_MAX or left <= 0:
            return
        looked += 1
        names, folders = _entries(folder)
        if folder != root:
            if names & {".git", ".dreamd"}:
                continue
            if names & _MARKS and (files := at_root(folder)[:left]):
                left -= len(files)
                yield folder, files
        waiting += folders


def _entries(folder: Path) -> tuple[frozenset[str], list[Path]]:
    """The names in a folder, and its subfolders that are looked into, in the order of their names; nothing of one that cannot be read."""
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda e: e.name)
            inside = [folder / e.name for e in entries if not e.name.startswith(".") and e.name.casefold() not in _FOREIGN and e.is_dir(follow_symlinks=False)]
    except OSError:
        return frozenset(), []
    return frozenset(e.name for e in entries), inside


def _outer(root: Path) -> Iterator[Path]:
    """The folders above a root, the nearest first: up to the home folder; outside of it those that are the person's own, since anybody may put a file into
    another's."""
    home = _home()
    if root == home:
        return
    for folder in root.parents:
        if folder == Path(folder.anchor) or (not folder.is_relative_to(home) and not _mine(folder)):
            return
        yield folder
        if folder == home:
            return


def _home() -> Path:
    return Path(os.path.realpath(Path.home()))


def _mine(folder: Path) -> bool:
    try:
        return folder.stat().st_uid == os.getuid() and not folder.stat().st_mode & 0o002
    except OSError:
        return False
