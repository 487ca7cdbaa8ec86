"""dreamd lint: what an agent would load of memory and instruction files, what is wrong with it, and where they say otherwise than one another."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from pipelines.errors import Refused, UnreadableSource
from pipelines.model import OnlineNote, Origin
from pipelines.notes.choices import by_itself
from pipelines.notes.folder import read_folder
from pipelines.notes.instruction_files import Instructed, InstructionFile, read_instructions
from pipelines.notes.instructions import Instructions, Told, told_by
from pipelines.notes.lint import ORDER_WITHOUT_USER, lint
from pipelines.notes.stale import stale_numbers, told_of
from pipelines.notes.wikilinks import FileNames
from pipelines.stages.analyzer import duplicates
from pipelines.text.tokens import tokenize
from pipelines.text.words import content_words
from pipelines.wiki.inline import cut_quote
from worker import wiring
from worker.cli import common
from worker.cli.output import many, print_json, visible
from worker.instruction_places import instructed
from worker.projects import Homes, survey

FromUser = Callable[[str], bool] | None
SHOWN_MAX = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One finding: the file and line it stands at, a constant code, and what to do about it."""

    file: Path
    line: int
    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What is looked over: files of instructions and folders of notes as they were read, and where each of their files is, by what it is called."""

    instructed: Instructed
    folders: tuple[Path, ...]

    def findings(self, from_user: FromUser) -> Iterator[Found]:
        """Everything that is to be found in it."""
        read = read_instructions(self.instructed)
        where = {f.shown: f.path for f in read.files}
        yield from (Found(file=Path(p.path), line=1, code="not_read", message=p.why) for p in read.problems)
        told = tuple(replace(t, path=str(where[t.path])) for t in told_by(read.notes))
        instructions, said, files = Instructions(told), list[Told](), list(where.values())
        names: dict[Path, FileNames] = {}
        for folder in self.folders:
            notes, base = read_folder(folder, name="").notes, folder if folder.is_dir() else folder.parent
            inside = [base / path for path in dict.fromkeys(n.path for n in notes)]
            files += inside
            names |= dict.fromkeys(inside, FileNames(notes))
            for note in notes:
                said += (replace(t, alone=t.alone and by_itself(note.title)) for t in told_by((note,), prefix=f"{base}/"))
            yield from _in_themselves(notes, base)
        yield from _contradictions(instructions, said)
        for file in files:
            yield from _of_file(file, from_user if file in names else None, names.get(file))


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("lint")(lint_command)


def lint_command(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="MEMORY.md, CLAUDE.md, AGENTS.md or a note; default: all of this project's and your own.")
    ] = None,
    wiki: common.Wiki = None,
    scope: common.Scope = None,
    config: common.Config = None,
    as_json: common.Json = False,
) -> int:
    """Name lines no session loads, duplicates, numbers out of date, dead links, orders no user gave, and lines that contradict one another. Nothing is
    changed."""
    loaded = common.start(config)
    read = _read_of(file)

    def look(from_user: FromUser) -> int:
        found = sorted(set(read.findings(from_user)), key=lambda f: (str(f.file), f.line, f.code, f.message))
        if file is not None:
            found = [f for f in found if _same(f.file, file) or f"{file.resolve()}:" in f.message]
        return _tell(found, file, as_json=as_json)

    try:
        place = wiring.place_of(wiring.find_wiki(wiki, loaded), loaded, create=False)
    except wiring.NoWiki:
        return look(None)
    with wiring.open_only_store(place) as store:
        at = common.scope_of(scope, loaded, store)

        def said(line: str) -> bool:
            wanted = set(content_words(line))
            hits = store.search_turns(at, tokenize(line), limit=20)
            return any(h.origin == Origin.USER and len(wanted & set(content_words(h.text))) * 2 >= len(wanted) for h in hits)

        return look(said)


def _read_of(file: Path | None) -> Read:
    """The files of the current project; those of the project a named file stands in, with the file. Raises UnreadableSource, Refused."""
    homes = Homes.of(os.environ)
    if file is not None:
        try:
            file.open("rb").close()
        except OSError as error:
            raise UnreadableSource(str(file), f"cannot be read: {error.strerror}") from error
    found = survey(homes)
    project = found.of(file.resolve().parent if file else Path.cwd())
    folders = () if project.shared else project.memory
    files = instructed(project.root, homes)
    if file is None:
        if not files.files and not folders:
            raise Refused(f"{visible(str(project.root))} has no instruction file and no notes of an agent: name a file")
        return Read(instructed=files, folders=folders)
    known = any(_same(f.path, file) for f in files.files) or any(file.resolve().is_relative_to(folder.resolve()) for folder in folders)
    if not known and _instructs(file):
        files = replace(files, files=(*files.files, InstructionFile(path=file, shown=str(file))), within=(*files.within, (file.resolve().parent, "")))
    return Read(instructed=files, folders=folders if known or _instructs(file) else (*folders, file))


def _instructs(file: Path) -> bool:
    return file.name.casefold() in {"claude.md", "claude.local.md", "agents.md", "agents.override.md"}


def _same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()


# --- findings ----------------------------------------------------------------------------------------------------------------------------


def _of_file(file: Path, from_user: FromUser, names: FileNames | None) -> Iterator[Found]:
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError:  # gone since it was read
        return
    meant, linked = names.files if names else lambda _: (), names is not None and file.name != "MEMORY.md"
    for p in lint(text, name=file.name, exists=lambda target: (file.parent / target).exists(), from_user=from_user, meant=meant, linked=linked):
        yield Found(file=file, line=p.line, code=p.code, message=p.message)


def _in_themselves(notes: Sequence[OnlineNote], base: Path) -> Iterator[Found]:
    """Numbers that are out of date, and what another file says already."""
    for stale in stale_numbers(notes):
        old = stale.counted
        yield Found(file=base / old.path, line=old.line, code="stale_number", message=f"“{cut_quote(old.words)}” is out of date: {told_of(stale)}")
    by_uid = {n.uid: n for n in notes}
    for uid, first in duplicates(notes).items():
        same, of = by_uid[uid], by_uid[first]
        if same.path != of.path:
            yield Found(file=base / same.path, line=same.line, code="duplicate", message=f"says the same as {of.path} line {of.line}: keep one")


def _contradictions(instructions: Instructions, said: Sequence[Told]) -> Iterator[Found]:
    """Lines of instruction files that say otherwise than one another, and lines of notes that do than one of those."""
    pairs = [(c.one, c.other) for c in instructions.clashes()]
    pairs += [(told, against) for told in said if (against := instructions.against(told.words, alone=told.alone))]
    for one, other in pairs:
        message = f"{_quoted(one)} cannot hold beside {Path(other.path).resolve()}:{other.line}: {_quoted(other)}"
        yield Found(file=Path(one.path), line=one.line, code="contradiction", message=message)


def _quoted(told: Told) -> str:
    """The words, and what paths alone they are a rule for."""
    return f"“{visible(told.words)[:SHOWN_MAX]}”{f' {visible(told.only)}' if told.paths else ''}"


def _collapsed(found: Sequence[Found]) -> Iterator[Found]:
    """Findings as a person is shown them: lines of one file that order without a user are one, at the first of them."""
    orders = [f for f in found if f.code == ORDER_WITHOUT_USER]
    counts, told = Counter(f.file for f in orders), set[Path]()
    for f in found:
        if f.code != ORDER_WITHOUT_USER or counts[f.file] == 1:
            yield f
        elif f.file not in told:
            told.add(f.file)
            yield replace(f, message=f"{counts[f.file]} lines tell the reader what to do, and no user's words in the logs say it (each: --json)")


def _tell(found: Sequence[Found], file: Path | None, *, as_json: bool) -> int:
    if as_json:
        rows = [{"file": str(f.file), "line": f.line, "code": f.code, "message": f.message} for f in found]
        print_json({"file": str(file) if file else None, "problems": rows})
        return 0
    for f in _collapsed(found):
        print(f"{visible(str(file if file and _same(f.file, file) else f.file))}:{f.line}: {f.code}: {f.message}")
    print(many(len(found), "finding") if found else "nothing to mend")
    return 0
