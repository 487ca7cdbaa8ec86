"""The person's own note files that say something wrong, each with what it would become; and one of their lines made right."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from pipelines.errors import Refused
from pipelines.model import OnlineNote
from pipelines.notes.folder import read_folder
from pipelines.notes.patch import Patched, Proposal, patched
from pipelines.notes.stale import stale_numbers, told_of
from pipelines.run.sources import named_folders
from pipelines.stages.analyzer import duplicates
from pipelines.store import Store
from pipelines.wiki.content import Correction
from worker.note_files import Change, note_folders, write


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A note file that is wrong somewhere: its bytes and what they would become."""

    path: Path
    shown: str
    before: bytes
    patch: Patched

    @property
    def after(self) -> bytes:
        """The bytes with the patch made."""
        return self.patch.text.encode("utf-8")


def wrong_files(corrections: Sequence[Correction], private: Path, given: Sequence[Path], *, tidy: bool = False) -> Iterator[File]:
    """The files these corrections are about, in `given` or in the folders the dreams of this wiki read; to `tidy` takes out of all files what needs no log
    to be known for superfluous. Raises Refused when there is no folder."""
    roots = [p.expanduser() for p in given] or list(note_folders(private))
    if not roots:
        raise Refused("no dream of this wiki read a folder of notes that is still here: name it with --notes")
    wrong: defaultdict[str, list[Correction]] = defaultdict(list)
    for correction in corrections:
        wrong[correction.uid].append(correction)
    for root, name in named_folders(roots):
        base = root if root.is_dir() else root.parent
        proposals: defaultdict[str, list[Proposal]] = defaultdict(list)
        notes = read_folder(root, name=name).notes
        for path, proposal in superfluous([n for n in notes if n.uid[:12] not in wrong]) if tidy else ():
            proposals[path].append(proposal)
        for note in notes:
            for c in wrong.get(note.uid[:12], ()):
                proposals[note.path].append(
                    Proposal(note=c.uid, line=note.line, lines=note.markdown.count("\n") + 1, wrong=note.text, right=c.right)
                )  # fmt: skip
        for path, of_file in sorted(proposals.items()):
            before = (base / path).read_bytes()
            try:
                text = before.decode("utf-8")
            except UnicodeDecodeError:
                continue  # was told when it was read
            yield File(path=base / path, shown=f"{name}/{path}", before=before, patch=patched(text, of_file))


def superfluous(notes: Sequence[OnlineNote]) -> Iterator[tuple[str, Proposal]]:
    """What one folder can do without, by file: a number beside its newest, where it is known which that is, and a line that says what its file said before.
    A line that others stand below is left alone."""
    by_uid = {n.uid: n for n in notes}
    holders = {a.uid for a, b in pairwise(notes) if a.path == b.path and b.depth > a.depth}
    words = [(s.counted.note, s.counted.words, f"newer: {told_of(s)}") for s in stale_numbers(notes) if s.newest]
    for uid, first in duplicates(notes).items():
        if by_uid[uid].path == by_uid[first].path and uid not in {note for note, _, _ in words}:
            words.append((uid, by_uid[uid].text, f"says the same as line {by_uid[first].line}"))
    for uid, said, why in words:
        note = by_uid[uid]
        if uid not in holders:
            yield note.path, Proposal(note=uid[:12], line=note.line, lines=note.markdown.count("\n") + 1, wrong=said, right="", why=why)


def in_themselves(private: Path, given: Sequence[Path]) -> tuple[tuple[str, ...], ...]:
    """What folders of notes tell without any log, as (kind, file, line, words, what it is set against): numbers that are out of date, and lines that say the
    same as an earlier one."""
    out: list[tuple[str, ...]] = []
    for root, name in named_folders([p.expanduser() for p in given] or list(note_folders(private))):
        notes = read_folder(root, name=name).notes
        by_uid = {n.uid: n for n in notes}
        for stale in stale_numbers(notes):
            newest = f"{stale.newest.value} in {name}/{stale.newest.path} line {stale.newest.line}" if stale.newest else ""
            out.append(("stale number", f"{name}/{stale.counted.path}", str(stale.counted.line), stale.counted.words, newest))
        for uid, first in sorted(duplicates(notes).items(), key=lambda pair: (by_uid[pair[0]].path, by_uid[pair[0]].line)):
            same, of = by_uid[uid], by_uid[first]
            out.append(("duplicate", f"{name}/{same.path}", str(same.line), same.text, f"{name}/{of.path} line {of.line}"))
    return tuple(out)


def make_right(store: Store, scope: str, private: Path, corrections: Sequence[Correction], *, at: datetime, hand: str) -> Collection[Path]:
    """Write these corrections into their files as `dreamd notes apply` does; returns the files written. Raises Refused, with what to do, when one cannot be."""
    files = tuple(wrong_files(corrections, private, ()))
    by_hand = [(f, p, why) for f in files for p, why in f.patch.left]
    if by_hand:
        raise Refused("; ".join(f"{f.shown} line {p.line}: write “{p.right}” ({why})" for f, p, why in by_hand))
    if not files:
        raise Refused("; ".join(_not_there(c, private) for c in corrections))
    done = write(private, [Change(path=f.path, before=f.before, after=f.after) for f in files], at=at)
    store.write_down(scope, "notes", hand, f"{len(done.written)} files", key=f"notes {at.isoformat()}")
    if done.left:
        raise Refused("; ".join(f"{path} was left as it is: {why}" for path, why in done.left))
    return done.written


def _not_there(correction: Correction, private: Path) -> str:
    """Why a correction finds no line to write into: its file is gone, or says something else by now."""
    here = (base / path for base, path in _files_called(correction.path, private))
    if not any(file.is_file() for file in here):
        return f"the note file {correction.path} is not here any more: dreamd dream takes in what there is"
    return f"{correction.path} does not say “{correction.wrong}” any more: it was changed since it was read, and dreamd dream takes in what it says now"


def _files_called(shown: str, private: Path) -> Iterator[tuple[Path, str]]:
    """Where a note file may lie that is shown as folder and path: in the folders of that name."""
    for root, name in named_folders(list(note_folders(private))):
        if shown.startswith(f"{name}/"):
            yield root if root.is_dir() else root.parent, shown.removeprefix(f"{name}/")
