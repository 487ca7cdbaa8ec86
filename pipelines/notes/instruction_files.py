"""Instruction files as an agent loads them: CLAUDE.md and kin with what they import. Read, never written.

An import is `@path` anywhere in a file but in code: relative to the file it stands in, or from the home folder (`@~/…`). At most so many deep as Claude Code
goes; each file once, so that a circle ends. What leads out of the folders a person's instructions may stand in is not followed, whoever wrote the line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from pipelines.model import OnlineNote
from pipelines.notes.folder import NoteProblem, read_text
from pipelines.notes.front_matter import split_front_matter
from pipelines.notes.instructed import BELOW, FOLDER, PATHS
from pipelines.notes.rule_paths import globs_of, scope_of

DEPTH_MAX = 5
FILES_MAX = 500
BYTES_MAX = 1_000_000
"""Of one file; instructions are read by every session, and the longest that are known have some tens of thousands."""
RULES = "/.claude/rules/"
"""Where a file's front matter may name the paths it is a rule for."""
_IMPORT = re.compile(r"(?<![\w@/.`])@((?:~/|\.{0,2}/)?[^\s`<>\"'()\[\]]*[^\s`<>\"'()\[\].,;:!?])")
_CODE = re.compile(r"^(`{3,}|~{3,}).*?(?:^\1[`~]*[ \t]*$|\Z)|`[^`\n]+`", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionFile:
    """A file that is loaded without being imported: where it is, and what people call it ("CLAUDE.md", "~/.claude/CLAUDE.md").

    `below` is the folder of the project it binds in, "" for everywhere; `paths` are the patterns it is a rule for, none for all. `root` is one more folder that it may stand in and that its imports may lead to.
    """

    path: Path
    shown: str
    below: str = ""
    root: Path | None = None
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Instructed:
    """Where a person's instructions stand: the files, and the folders an import may lead to, each with what its files are called by ("", "~/.claude/")."""

    files: tuple[InstructionFile, ...] = ()
    within: tuple[tuple[Path, str], ...] = ()
    home: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionReading:
    """The lines of all files in their order, where each file is, and what was not read."""

    notes: tuple[OnlineNote, ...] = ()
    files: tuple[InstructionFile, ...] = ()
    problems: tuple[NoteProblem, ...] = ()


def read_instructions(given: Instructed) -> InstructionReading:
    """Everything a session would load of these files. Links, circles, other bytes than text, and what is too large are problems, not errors."""
    reader = _Reader(given)
    for file in given.files:
        reader.read(file, depth=0)
    return InstructionReading(notes=tuple(reader.notes), files=tuple(reader.files), problems=tuple(reader.problems))


@dataclass(slots=True)
class _Reader:
    given: Instructed
    notes: list[OnlineNote] = field(default_factory=list)
    files: list[InstructionFile] = field(default_factory=list)
    problems: list[NoteProblem] = field(default_factory=list)
    _seen: set[Path] = field(default_factory=set)

    def read(self, file: InstructionFile, *, depth: int) -> None:
        """One file and what it imports; a file that was read before adds nothing."""
        try:
            real = file.path.resolve(strict=True)
            if real in self._seen:
                return
            self._seen.add(real)
            text = self._text(real, file.root)
        except (OSError, RuntimeError, _NotRead) as error:  # a link that leads to itself is a RuntimeError before Python 3.13
            self._problem(file.shown, getattr(error, "strerror", None) or str(error))
            return
        self.files.append(file)
        _, notes = read_text(text, folder=FOLDER, path=file.shown)
        if RULES in f"/{file.shown}" and (globs := globs_of(split_front_matter(text).values.get("paths", ""))):
            file = replace(file, paths=globs)
        self.notes += [replace(n, written_at=None, dated_by="unknown", session=None, front_matter={**n.front_matter, **_bound(file)}) for n in notes]
        for target in _imports(text):
            self._import(target, file, depth + 1)

    def _text(self, real: Path, root: Path | None) -> str:
        folders = (*(folder for folder, _ in self.given.within), *([root] if root else []))
        if not any(real.is_relative_to(folder.resolve()) for folder in folders):
            raise _NotRead("leads out of the project: not read")
        if not real.is_file():
            raise _NotRead("is no file")
        if real.stat().st_size > BYTES_MAX:
            raise _NotRead(f"larger than {BYTES_MAX} bytes: not read")
        if len(self.files) >= FILES_MAX:
            raise _NotRead(f"more than {FILES_MAX} files of instructions: not read")
        raw = real.read_bytes()
        if b"\0" in raw:
            raise _NotRead("no text: not read")
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise _NotRead("not valid UTF-8: not read") from error

    def _import(self, target: str, by: InstructionFile, depth: int) -> None:
        if target.startswith("~/"):
            if self.given.home is None:
                return
            path = self.given.home / target[2:]
        else:
            path = by.path.parent / target
        try:
            there = path.is_file()
        except (OSError, ValueError):
            return
        if not there:
            return  # a package (@types/node), a person (@ana), or a file that is not here: nothing is loaded of it
        if depth > DEPTH_MAX:
            self._problem(by.shown, f"imports {target}, which is more than {DEPTH_MAX} files deep: not read")
            return
        self.read(replace(by, path=path, shown=self._shown(path, target, by)), depth=depth)

    def _shown(self, path: Path, target: str, by: InstructionFile) -> str:
        real = path.resolve()
        for folder, called in self.given.within:
            if real.is_relative_to(folder.resolve()):
                return called + real.relative_to(folder.resolve()).as_posix()
        up = by.shown[: len(by.shown) - len(by.shown.lstrip("./"))]
        return f"{up}{real.relative_to(by.root.resolve()).as_posix()}" if by.root and real.is_relative_to(by.root.resolve()) else target

    def _problem(self, path: str, why: str) -> None:
        self.problems.append(NoteProblem(path=path, why=why))


def _imports(text: str) -> Iterator[str]:
    """Targets of a file's imports in order; what stands in code or a comment is none."""
    for found in _IMPORT.finditer(_CODE.sub(" ", _COMMENT.sub(" ", text))):
        yield found[1]


def _bound(file: InstructionFile) -> dict[str, str]:
    """Where the lines of a file hold, as they are stored with it; nothing where they hold everywhere."""
    if file.paths:
        return {BELOW: scope_of(file.paths, file.below), PATHS: ", ".join(file.paths)}
    return {BELOW: file.below} if file.below else {}


class _NotRead(Exception):
    """Why a file is left out."""
