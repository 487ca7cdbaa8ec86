"""Memory folders: what an agent jotted down itself, read as online notes, never written.

Claude Code auto memory, `/memories`, `MEMORY.md` and CLAUDE.md-like lists, memory banks: one note a bullet, paragraph, table row or code
block, with its file, line, heading and order. A note is provisional: a pointer to where to look in the logs, never evidence (DESIGN gate 3).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from pipelines.model import Kind, OnlineNote, digest
from pipelines.notes.front_matter import FrontMatter, parse_time, split_front_matter
from pipelines.notes.markdown import Block, blocks

INDEX_NAME = "memory.md"
LISTS = frozenset({"index.md", "readme.md"})
"""Files that are an index when they list the folder's files; a README that explains things is a note like any other."""
FILE_BYTES_MAX = 2_000_000
FILES_MAX = 20_000
_KINDS = {"user": Kind.PREFERENCE, "feedback": Kind.RULE, "preference": Kind.PREFERENCE, "rule": Kind.RULE, "decision": Kind.DECISION}
_RULE_HEADING = re.compile(r"\b(?:rules?|conventions?|guidelines?|preferences?|policy|policies|how to apply)\b|规则|约定|偏好|ルール|규칙", re.IGNORECASE)
OWN_DIRECTORY = ".dreamd"
OWN_MARKS = ("<!-- yours below: dreamd never touches it -->", "<dreamd-brief")
"""What only files that dreamd wrote hold: a page, a brief. Its own words coming back are no notes, wherever somebody copied them to (DESIGN §1, `self`)."""
_BRIEF = re.compile(r"<dreamd-brief\b[^<>]*>.*?(?:</dreamd-brief>|\Z)", re.DOTALL)
_SKIPPED_DIRECTORIES = frozenset({".git", ".dreamd", "node_modules", "__pycache__"})


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteFile:
    """One file of a memory folder: its digest is what a later `notes apply` compares and swaps on."""

    path: str
    title: str
    description: str
    digest: str
    notes: int
    bytes: int
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteProblem:
    """A file that could not be read as notes, with the reason; the rest of the folder goes on."""

    path: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderReading:
    """A folder's notes in order of file and line, its files, and what could not be read."""

    folder: str
    notes: tuple[OnlineNote, ...] = ()
    files: tuple[NoteFile, ...] = ()
    problems: tuple[NoteProblem, ...] = ()


def read_folder(root: Path, *, name: str, git_times: Callable[[Path], Mapping[str, datetime]] | None = None) -> FolderReading:
    """All Markdown files below `root` (a folder or one file), index first, then by path.

    `name` is the folder's stable name in uids and footnotes; `git_times` gives the time of the last commit by relative path for files
    whose front matter has no `modified`. Links that lead out of the folder and files that cannot be decoded are problems, not errors.
    """
    problems: list[NoteProblem] = []
    notes: list[OnlineNote] = []
    files: list[NoteFile] = []
    base = root if root.is_dir() else root.parent
    found = _markdown_files(root, problems)
    committed = git_times(base) if git_times and found else {}
    for path in found:
        relative = path.relative_to(base).as_posix()
        try:
            raw = path.read_bytes()
            mtime = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        except OSError as error:
            problems.append(NoteProblem(path=relative, why=error.strerror or str(error)))
            continue
        text = raw.decode("utf-8", "replace").replace("\x00", "\ufffd")
        if "\ufffd" in text and b"\xef\xbf\xbd" not in raw:
            problems.append(NoteProblem(path=relative, why="not valid UTF-8: the bytes that are not are shown as U+FFFD"))
        file, made = read_text(text, folder=name, path=relative, mtime=mtime, committed=committed.get(relative))
        files.append(replace(file, digest=digest(raw), bytes=len(raw)))
        notes.extend(made)
    return FolderReading(folder=name, notes=_unique(notes), files=tuple(files), problems=tuple(problems))


def read_text(
    text: str, *, folder: str, path: str, mtime: datetime | None = None, committed: datetime | None = None, session: str | None = None, turn: str | None = None
) -> tuple[NoteFile, tuple[OnlineNote, ...]]:
    """The notes of one memory file's text; also used for files a log shows being written (`session`, `turn`, `mtime` then come from the log)."""
    text = without_own_words(text)
    front = split_front_matter(text)
    parts = blocks(front.body, first_line=front.body_line)
    title = _title(front, parts, path)
    written_at, dated_by = _when(front, mtime, committed, from_log=turn is not None)
    is_index = _is_index(path, parts)
    kind = _KINDS.get((front.get("type") or "").casefold(), Kind.FACT)
    notes: list[OnlineNote] = []
    for part in parts:
        if part.shape == "heading":
            continue
        notes.append(
            OnlineNote(
                uid="",
                folder=folder,
                path=path,
                line=part.line,
                position=len(notes),
                title=title,
                text=part.text,
                markdown=part.markdown,
                kind=_kind_of(part, kind),
                heading=part.heading if part.heading != title else "",
                depth=part.depth,
                shape=part.shape,
                description=front.get("description") or "",
                links=part.links,
                session=session or front.get("originSessionId"),
                turn=turn,
                written_at=written_at,
                dated_by=dated_by,
                index=is_index,
                front_matter=front.values,
            )
        )
    links = tuple(dict.fromkeys(x for part in parts for x in part.links))
    file = NoteFile(
        path=path, title=title, description=front.get("description") or "", digest=digest(text), notes=len(notes), bytes=len(text.encode()), links=links
    )
    return file, _unique(notes)


def _unique(notes: Sequence[OnlineNote]) -> tuple[OnlineNote, ...]:
    """Uids from folder, path and words; the n-th equal line of a file gets its own, so that no line is lost."""
    seen: Counter[tuple[str, str, str]] = Counter()
    out: list[OnlineNote] = []
    for note in notes:
        key = (note.folder, note.path, note.text)
        out.append(note if note.uid else replace(note, uid=digest("online", *key, str(seen[key]))))
        seen[key] += 1
    return tuple(out)


def _is_index(path: str, parts: Sequence[Block]) -> bool:
    name = Path(path).name.casefold()
    lines = [p for p in parts if p.shape != "heading"]
    pointing = sum(any(re.search(r"\.mdx?$|^[\w-]+$", x.split("#")[0], re.IGNORECASE) for x in p.links) for p in lines)
    return name == INDEX_NAME or (name in LISTS and 2 * pointing > len(lines))


def _markdown_files(root: Path, problems: list[NoteProblem]) -> list[Path]:
    if root.is_file():
        return [root]
    top = root.resolve()
    out: list[Path] = []
    pending = [root]
    while pending:
        here = pending.pop()
        for entry in _entries(here, root, problems):
            relative = entry.relative_to(root).as_posix()
            try:
                if entry.is_symlink() and not entry.resolve().is_relative_to(top):
                    problems.append(NoteProblem(path=relative, why="a link that leads out of the folder is not followed"))
                elif entry.is_dir() and not entry.is_symlink():
                    pending += [entry] if entry.name not in _SKIPPED_DIRECTORIES else []
                elif entry.suffix.casefold() in {".md", ".markdown", ".mdx"} and entry.is_file():
                    if why := _too_much(entry, len(out)):
                        problems.append(NoteProblem(path=relative, why=why))
                    else:
                        out.append(entry)
            except OSError as error:
                problems.append(NoteProblem(path=relative, why=error.strerror or str(error)))
            except RuntimeError:  # what `resolve` raises before Python 3.13
                problems.append(NoteProblem(path=relative, why="a link that leads to itself"))
    return sorted(out, key=lambda p: (p.name.casefold() not in {INDEX_NAME, *LISTS}, p.relative_to(root).as_posix()))


def _entries(here: Path, root: Path, problems: list[NoteProblem]) -> list[Path]:
    """What stands in a folder; nothing of a wiki, or of one that cannot be read, which is a problem."""
    try:
        if not (here / OWN_DIRECTORY).is_dir():
            return sorted(here.iterdir())
        why = _WIKI
    except OSError as error:
        why = error.strerror or str(error)
    problems.append(NoteProblem(path=here.relative_to(root).as_posix(), why=why))
    return []


def _too_much(file: Path, before: int) -> str:
    """Why a file is not taken beside so many others; "" when it is."""
    if file.stat().st_size > FILE_BYTES_MAX:
        return f"larger than {FILE_BYTES_MAX} bytes: no memory file"
    return f"more than {FILES_MAX} files: point --notes at the memory folder itself" if before >= FILES_MAX else ""


_WIKI = "a wiki of dreamd's: what it wrote itself is no note"


def without_own_words(text: str) -> str:
    """The text with what dreamd wrote blanked out, line for line: all of a page of its own, a brief wherever it was put."""
    if not any(mark in text for mark in OWN_MARKS):
        return text
    rest = _BRIEF.sub(lambda found: "\n" * found.group().count("\n"), text)
    return rest if OWN_MARKS[0] not in rest else "\n" * rest.count("\n")


def _title(front: FrontMatter, parts: Sequence[Block], path: str) -> str:
    """The file's own title: its first heading of level 1, else front matter, else the file's name."""
    first = next((p.text for p in parts if p.shape == "heading" and p.level == 1), None)
    named = front.get("title", "name")
    return first or named or Path(path).stem.replace("_", " ").replace("-", " ").strip() or path


def _kind_of(part: Block, kind: Kind) -> Kind:
    if kind is Kind.FACT and part.shape == "bullet" and _RULE_HEADING.search(part.heading):
        return Kind.RULE
    return kind


def _when(front: FrontMatter, mtime: datetime | None, committed: datetime | None, *, from_log: bool) -> tuple[datetime | None, str]:
    if from_log and mtime:
        return mtime, "log"
    if modified := parse_time(front.get("modified", "updated", "last_updated")):
        return modified, "modified"
    if committed:
        return committed, "git"
    return (mtime, "mtime") if mtime else (None, "unknown")
