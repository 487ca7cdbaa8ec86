"""Finds a person's projects: the logs their agents keep, and the notes and instructions that stand beside the code.

A session belongs to the git repository of its *first* working directory (worktrees are one project), else to that folder. The agent's own folder names
do not decide: they are not injective. Nothing is written, and of a log only the first bytes are read. What may not be looked into holds nothing
(`os.path` says so; `Path.is_file` raises).
"""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Final

from pipelines.errors import UnreadableSource
from pipelines.logs.codec import Source
from pipelines.logs.discovery import Found, discover

HEAD_BYTES: Final = 256 * 1024
"""Of a log, read in search of its working directory: a session that opens with a long prompt names it behind that."""
CLEANUP_DAYS: Final = 30
"""Days after which Claude Code deletes a log, where its settings say nothing else (`cleanupPeriodDays`)."""
_NAME_MAX: Final = 200
_PLACES_MAX: Final = 200
"""Folders looked into in search of the one a name stands for."""
_CWD: Final = re.compile(rb'"(?:cwd|working_directory)"\s*:\s*("(?:[^"\\]|\\.)+")')
_CLAUDE: Final = ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md")
_CODEX: Final = ("AGENTS.override.md", "AGENTS.md")
_RULES: Final = ".claude/rules"


@dataclass(frozen=True, slots=True, kw_only=True)
class Homes:
    """Where agent programs keep what they write, on this machine."""

    claude: Path
    codex: Path

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Homes:
        """As the agents look for them: CLAUDE_CONFIG_DIR and CODEX_HOME, else the home folder."""
        home = Path.home()
        return cls(claude=Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude"), codex=Path(environ.get("CODEX_HOME") or home / ".codex"))


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFile:
    """A log of an agent. `folder` is its first working directory, None when it names none; `mtime` is when it was last written to."""

    agent: str
    path: Path
    size: int
    mtime: datetime
    folder: Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """What belongs to one root: its logs in a stable order, memory folders of its agents, instruction files that stand at it. `shared` names other roots whose agent keeps
    its memory in the same folder (two paths that its naming cannot tell apart)."""

    root: Path
    name: str
    logs: tuple[LogFile, ...] = ()
    memory: tuple[Path, ...] = ()
    instructions: tuple[Path, ...] = ()
    shared: tuple[Path, ...] = ()

    @property
    def bytes(self) -> int:
        """Of all logs."""
        return sum(log.size for log in self.logs)

    @property
    def oldest(self) -> LogFile | None:
        """The log written to the longest ago."""
        return min(self.logs, key=lambda log: (log.mtime, log.path), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """All projects in the order of their roots, and the logs that name no working directory."""

    projects: tuple[Project, ...]
    homeless: tuple[LogFile, ...] = ()

    def of(self, folder: Path) -> Project:
        """The project a folder belongs to; one without logs where no agent has worked there."""
        root = root_of(folder)
        return next((p for p in self.projects if p.root == root), None) or _project(root, (), (), ())


def survey(homes: Homes) -> Survey:
    """Every project an agent keeps a log or notes of. A memory folder belongs to the project whose root its name is made from, else to that of the logs beside
    it; where its agent has deleted those, to the folder on this machine that alone has that name; else it is a project under the name its agent gave it."""
    by_root: defaultdict[Path, list[LogFile]] = defaultdict(list)
    homeless = []
    for log in logs_of(homes):
        if log.folder is None:
            homeless.append(log)
        else:
            by_root[root_of(log.folder)].append(log)
    memory = _memory_folders(homes, by_root)
    for folder in _left_behind(homes, memory):
        root = _root_named(folder.parent.name) or folder.parent
        by_root.setdefault(root, [])
        memory[root] = (*memory.get(root, ()), folder)
    sharing = {root: tuple(r for r in by_root if r != root and memory.get(r) and memory.get(r) == memory.get(root)) for root in by_root}
    projects = tuple(_project(root, by_root[root], memory.get(root, ()), sharing[root]) for root in sorted(by_root))
    return Survey(projects=projects, homeless=tuple(homeless))


def logs_of(homes: Homes) -> Iterator[LogFile]:
    """The logs of both agents, by path. A log that stands below a session's (a subagent's) has that session's working directory."""
    for agent, folders in (("claude", [homes.claude / "projects"]), ("codex", [homes.codex / "sessions", homes.codex / "archived_sessions"])):
        found = discover([str(f) for f in folders if os.path.isdir(f)]).files
        known: dict[str, Path | None] = {}
        for file in sorted((f for f in found if f.name.endswith(".jsonl")), key=lambda f: f.path):
            stem = str(Path(file.path).parent / file.name.removesuffix(".jsonl"))
            known[stem] = next((known[up] for up in _above(file.path) if known.get(up)), None) or first_folder(file.path)
            yield _log(agent, file, known[stem])


def first_folder(path: str) -> Path | None:
    """The first working directory a log names, as it stands there; None when it names none or cannot be read."""
    try:
        with Source(path) as source:
            head = source.part(0, HEAD_BYTES)
    except UnreadableSource:
        return None
    match = _CWD.search(head)
    if match is None:
        return None
    try:
        said = json.loads(match[1])
    except ValueError:
        return None
    return Path(said) if isinstance(said, str) and said.strip() and "\0" not in said else None


@cache
def root_of(folder: Path) -> Path:
    """The folder that holds the common git directory of `folder` (worktrees are one project), the nearest that is still there; else the folder itself."""
    for place in (folder, *folder.parents):
        mark = place / ".git"
        try:
            if mark.is_dir():
                return _real(place)
            if mark.is_file() and (common := _common_directory(mark)) is not None:
                return common
        except OSError:
            continue
    return _real(folder)


def _common_directory(mark: Path) -> Path | None:
    """The work tree that a worktree's `.git` file leads to ("gitdir: /repo/.git/worktrees/x"), or the submodule's own folder."""
    text = mark.read_text(encoding="utf-8", errors="replace")
    if not text.startswith("gitdir:"):
        return None
    git = (mark.parent / text.removeprefix("gitdir:").strip()).resolve()
    if git.parent.name == "worktrees":
        shared = git.parent.parent
        return _real(shared.parent) if shared.name == ".git" else _real(shared)
    return _real(mark.parent)


def _real(folder: Path) -> Path:
    return Path(os.path.realpath(folder))


def sanitised(root: Path) -> str:
    """The name Claude Code gives a folder of its own for a working directory: all but ASCII letters and digits become `-`; a long one is cut."""
    return re.sub(r"[^A-Za-z0-9]", "-", str(root))[:_NAME_MAX]


def _memory_folders(homes: Homes, by_root: Mapping[Path, Iterable[LogFile]]) -> dict[Path, tuple[Path, ...]]:
    out: dict[Path, tuple[Path, ...]] = {}
    taken: set[Path] = set()
    for root in by_root:
        named = [f for f in _named(homes.claude / "projects", sanitised(root)) if os.path.isdir(f)]
        out[root] = tuple(named)
        taken.update(named)
    for root, logs in by_root.items():
        beside = {log.path.parent / "memory" for log in logs if log.agent == "claude"} - taken
        out[root] += tuple(sorted(f for f in beside if os.path.isdir(f)))
    return out


def _left_behind(homes: Homes, memory: Mapping[Path, Iterable[Path]]) -> Iterator[Path]:
    """The memory folders with notes in them that no project with logs has, in the order of their names."""
    taken = {folder for folders in memory.values() for folder in folders}
    for folder in sorted((homes.claude / "projects").glob("*/memory")):
        if folder not in taken and not os.path.lexists(folder / ".dreamd") and next(folder.rglob("*.md"), None) is not None:
            yield folder


def _root_named(name: str) -> Path | None:
    """The project of the one folder on this machine whose name Claude Code writes so; None where there is none, or several."""
    waiting, found = [Path("/")], set[Path]()
    for looked, place in enumerate(waiting):
        if looked == _PLACES_MAX:
            return None
        start = "" if place == Path("/") else sanitised(place)
        for entry in _folders(place):
            here = f"{start}-{sanitised(Path(entry))}"
            if here == name:
                found.add(root_of(place / entry))
            elif name.startswith(f"{here}-"):
                waiting.append(place / entry)
    return found.pop() if len(found) == 1 else None


def _folders(place: Path) -> list[str]:
    try:
        with os.scandir(place) as entries:
            return sorted(e.name for e in entries if e.is_dir(follow_symlinks=False))
    except OSError:
        return []


def _named(projects: Path, name: str) -> list[Path]:
    """Memory folders under a project's name; a name that was cut has a digest of its program's own behind it."""
    if len(name) < _NAME_MAX:
        return [projects / name / "memory"]
    return sorted(p / "memory" for p in projects.glob(f"{name}*"))


def _project(root: Path, logs: Iterable[LogFile], memory: tuple[Path, ...], shared: tuple[Path, ...]) -> Project:
    return Project(root=root, name=root.name.strip("-") or "root", logs=tuple(logs), memory=memory, instructions=at_root(root), shared=shared)


def at_root(root: Path) -> tuple[Path, ...]:
    """The instruction files that stand in a folder itself, those of Claude Code first."""
    return (*claude_files(root), *rules_below(root / _RULES), *codex_files(root))


def claude_files(folder: Path) -> tuple[Path, ...]:
    """What Claude Code loads of a folder, but for its rules."""
    return tuple(f for f in (folder / name for name in _CLAUDE) if os.path.isfile(f))


def codex_files(folder: Path) -> tuple[Path, ...]:
    """What Codex loads of a folder: one file, the first that says something."""
    return tuple(f for f in (folder / name for name in _CODEX) if os.path.isfile(f) and _says_something(f))[:1]


def rules_below(folder: Path) -> tuple[Path, ...]:
    """The files of a folder of rules."""
    return tuple(f for f in sorted(folder.rglob("*.md")) if os.path.isfile(f)) if os.path.isdir(folder) else ()


def _says_something(file: Path) -> bool:
    try:
        return file.stat().st_size > 0
    except OSError:
        return False


def _above(path: str) -> Iterator[str]:
    """The session folders a log stands in, nearest first (`<session>/subagents/agent-x.jsonl`)."""
    return (str(p) for p in Path(path).parents)


def _log(agent: str, file: Found, folder: Path | None) -> LogFile:
    return LogFile(agent=agent, path=Path(file.path), size=file.size, mtime=datetime.fromtimestamp(file.mtime_ns / 1e9, tz=UTC), folder=folder)


def deleted_on(log: LogFile, homes: Homes) -> datetime | None:
    """When its agent will delete a log; None where it never does (Codex keeps its own)."""
    days = cleanup_days(homes)
    return log.mtime + timedelta(days=days) if log.agent == "claude" and 0 <= days <= 36_500 else None


def cleanup_days(homes: Homes) -> int:
    """After how many days without a new line Claude Code deletes a log; -1 where its settings say something else than a number."""
    days: object = CLEANUP_DAYS
    try:
        said = json.loads((homes.claude / "settings.json").read_text(encoding="utf-8"))
        days = said.get("cleanupPeriodDays", CLEANUP_DAYS) if isinstance(said, dict) else CLEANUP_DAYS
    except (OSError, ValueError):
        pass
    return days if isinstance(days, int) and not isinstance(days, bool) else -1


def tells_sessions(homes: Homes) -> tuple[str, ...]:
    """The agents whose settings hand a new session the brief."""
    marks = {"claude-code": (homes.claude / "settings.json",), "codex": (homes.codex / "AGENTS.md", homes.codex / "hooks.json", homes.codex / "config.toml")}
    return tuple(agent for agent, files in marks.items() if any(_mentions(file) for file in files))


def _mentions(file: Path) -> bool:
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return "hook session-start" in text or "<dreamd-brief" in text
