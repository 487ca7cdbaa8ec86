"""First part of a dream: logs and memory folders into the store."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path, PurePosixPath

from pipelines.logs.discovery import whole_path
from pipelines.logs.intake import IntakeReport, intake
from pipelines.logs.seen import path_key
from pipelines.model import OnlineNote, Ruling, digest
from pipelines.notes.folder import FolderReading, NoteProblem, read_folder
from pipelines.notes.instructed import FOLDER as INSTRUCTIONS
from pipelines.notes.instruction_files import read_instructions
from pipelines.run.parts import Parts, Request

TRUST = "trust"
"""Verb of the ruling by which a person who names an events file vouches for its `status: verified` rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What came in: the logs' report, and each memory folder as it was read."""

    logs: IntakeReport
    folders: tuple[FolderReading, ...]

    @property
    def problems(self) -> tuple[tuple[str, str], ...]:
        """Sources that were not taken in and note files that were read in part, with the reason."""
        notes = ((f"{f.folder}/{p.path}", p.why) for f in self.folders for p in f.problems)
        return (*self.logs.refused, *notes)


NOTHING = Taken(logs=IntakeReport(files=(), unchanged=0, missing=(), skipped={}), folders=())
"""What comes in when nothing is new."""


def take_in(parts: Parts, request: Request) -> Taken:
    """Read what is new. Each file is its own transaction: what a crash leaves is a prefix that the next dream goes on from."""
    report = intake(
        request.paths, store=parts.store, scope=request.scope, archive=parts.archive, redactor=parts.redactor, readers=parts.readers, now=parts.now(),
        exclude=request.exclude, audience=parts.audience, **({"among": partial(parts.hands.take_in, request.scope)} if parts.hands else {}),
    )  # fmt: skip
    parts.store.leave_refused(request.scope)
    _vouch(parts, request)
    named = ((root, _covered(parts, name)) for root, name in named_folders(request.notes))
    folders = tuple(_unless_emptied(parts, request, read_folder(root, name=name, git_times=parts.git_times)) for root, name in named)
    for reading in (f for f in folders if f.files):
        parts.store.save_online_notes(request.scope, reading.folder, [_masked(parts, n) for n in reading.notes])
    if request.instructions is not None:  # in place of those of the dream before; in the store, so that workers elsewhere have them
        lines = read_instructions(request.instructions).notes  # what is not read of them `dreamd lint` names: an import that is not followed fails no dream
        parts.store.save_online_notes(request.scope, INSTRUCTIONS, [_masked(parts, n) for n in lines])
    return Taken(logs=report, folders=tuple(_told(parts, f) for f in folders))


def _unless_emptied(parts: Parts, request: Request, reading: FolderReading) -> FolderReading:
    """A folder without a file where notes stood is not mounted or was cleared by accident: its notes stay, and it is said (systems R20)."""
    if reading.files or not any(n.folder == reading.folder and n.turn is None for n in parts.store.online_notes(request.scope)):
        return reading
    return replace(reading, problems=(*reading.problems, NoteProblem(path=".", why="no note is left here: is the folder mounted? its notes stay as they were")))


def named_folders(roots: Sequence[Path]) -> tuple[tuple[Path, str], ...]:
    """Each folder with the shortest tail of its path that no other given folder has: a stable name that tells nothing of the machine."""
    paths = [root.absolute() for root in dict.fromkeys(roots)]
    out = []
    for path in paths:
        parts = path.parts[1:]
        length = next((n for n in range(1, len(parts)) if sum(p.parts[-n:] == parts[-n:] for p in paths) == 1), len(parts))
        out.append((path, PurePosixPath(*parts[-length:]).as_posix()))
    return tuple(out)


def standing_notes(notes: Iterable[OnlineNote]) -> tuple[OnlineNote, ...]:
    """The online notes that count: a folder's own file over what a log shows written into it, of a log's writes the last one a file.

    A file's note takes session, turn and time from the log that shows the same words being written into a file of that name.
    """
    notes = tuple(notes)
    files = [n for n in notes if n.turn is None]
    written = [n for n in notes if n.turn is not None]
    origin: dict[tuple[str, str], OnlineNote] = {}
    for note in sorted(written, key=_written_key):
        origin.setdefault((_name(note), note.text), note)
    held = {_name(n) for n in files}
    own = [replace(n, session=n.session or o.session, turn=o.turn) if (o := origin.get((_name(n), n.text))) else n for n in files]
    return tuple(sorted([*own, *_last_writes(n for n in written if _name(n) not in held)], key=lambda n: (n.folder, n.path, n.position, n.uid)))


def _last_writes(written: Iterable[OnlineNote]) -> list[OnlineNote]:
    by_file: defaultdict[tuple[str, str], list[OnlineNote]] = defaultdict(list)
    for note in written:
        by_file[(note.folder, note.path)].append(note)
    out: list[OnlineNote] = []
    for notes in by_file.values():
        last = max(map(_written_key, notes))
        out.extend(n for n in notes if _written_key(n) == last)
    return out


def _written_key(note: OnlineNote) -> tuple[bool, float, str]:
    at: datetime | None = note.written_at
    return (at is not None, at.timestamp() if at else 0.0, note.turn or "")


def _name(note: OnlineNote) -> str:
    return PurePosixPath(note.path).name


def _vouch(parts: Parts, request: Request) -> None:
    """Naming an events file on the command line is a person's decision, and recorded as one, whenever the file itself was read."""
    named = [path for p in request.paths if os.path.isfile(path := whole_path(p))]
    if not named:
        return
    store, scope = parts.store, request.scope
    seen, formats = store.seen_files(scope), store.formats(scope)
    for identity in {seen[key].identity for path in named if (key := path_key(parts.redactor, path)) in seen}:
        if formats.get(identity) == "events":
            for session in sorted(store.sessions_in(scope, identity)):
                store.add_ruling(scope, Ruling(uid=digest(TRUST, session), verb=TRUST, target=session))


def _masked(parts: Parts, note: OnlineNote) -> OnlineNote:
    """Secrets of a note file never reach the store either: those of its words, and those of the names and front matter they come with."""
    words = (note.markdown, note.text, note.path, note.title, note.heading, note.description, *note.links)
    front = {key: str(value) for key, value in note.front_matter.items()}
    if _covered(parts, told := "\n".join((*words, *front, *front.values()))) == told:
        return note
    markdown, text, path, title, heading, description, *links = (_covered(parts, word) for word in words)
    if path != note.path and _letters(PurePosixPath(note.path).stem) == _letters(title):  # a title made of the file's name, its underscores gone
        title = PurePosixPath(path).stem
    return replace(
        note, markdown=markdown, text=text, path=path, title=title, heading=heading, description=description, links=tuple(links),
        front_matter={_covered(parts, key): _covered(parts, value) for key, value in front.items()},
    )  # fmt: skip


def _letters(text: str) -> str:
    return "".join(ch for ch in text.casefold() if ch.isalnum())


def _told(parts: Parts, reading: FolderReading) -> FolderReading:
    """What is told of a folder, its files' names masked too."""
    files = (replace(f, path=_covered(parts, f.path), title=_covered(parts, f.title), description=_covered(parts, f.description)) for f in reading.files)
    return replace(reading, files=tuple(files), problems=tuple(replace(p, path=_covered(parts, p.path)) for p in reading.problems))


def _covered(parts: Parts, text: str) -> str:
    """The text with its secrets masked."""
    masked = parts.redactor.mask(text.encode("utf-8", "surrogatepass"))
    return masked.data.decode("utf-8", "replace") if masked.count else text


def counts_of(report: IntakeReport) -> Mapping[str, int]:
    """Totals over the files of one intake."""
    total = Counter(lines=0, good=0, bad=0, pending=0, redacted=0, archived=0)
    for file in report.files:
        total.update(lines=file.lines, good=file.good, bad=file.bad, pending=int(file.pending > 0), redacted=file.redacted, archived=file.archived)
    return total
