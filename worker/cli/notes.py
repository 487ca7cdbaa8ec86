"""dreamd notes: what the person's own note files should say, as a patch, and the patch made and taken back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from pipelines.errors import Refused
from pipelines.notes.patch import as_diff
from pipelines.run.carried import carried_notes
from worker import wiring
from worker.cli import common
from worker.cli.desk import desk, little_dream
from worker.cli.output import many, print_json, visible
from worker.cli.saying import up
from worker.cli.wrong_files import File, in_themselves, wrong_files
from worker.note_files import Change, Done, note_folders, undo, write

Notes = Annotated[list[Path] | None, typer.Option("--notes", metavar="DIR", help="The folders of notes; default: those the dreams of this wiki read.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, help="Your own note files: what they should say, and making it so.", rich_markup_mode=None)
    group.command("diff")(diff)
    group.command("apply")(apply)
    group.command("up")(up)
    app.add_typer(group, name="notes")


def diff(wiki: common.Wiki = None, notes: Notes = None, scope: common.Scope = None, config: common.Config = None, as_json: common.Json = False) -> int:
    """The corrections of your note files as a patch; nothing is written."""
    with common.opened(wiki, scope, config) as at:
        files = tuple(_wrong_files(at, notes or ()))
        theirs = in_themselves(at.place.private, notes or ())
    if as_json:
        found = [dict(zip(("kind", "path", "line", "words", "against"), row, strict=True)) for row in theirs]
        print_json({"files": [_file_json(f) for f in files], "in_themselves": found})
        return 0
    for file in files:
        print(as_diff(file.shown, file.before.decode("utf-8"), file.patch.text), end="")
    for file in files:
        _tell_left(file)
    for kind, path, line, said, against in theirs:
        beside = {"duplicate": f"says the same as {against}", "stale number": f"newer: {against}" if against else "others say otherwise, none is dated"}[kind]
        print(f"{kind} {visible(path)} line {line}: “{visible(said)[:160]}” ({visible(beside)})")
    made = [p for f in files for p in f.patch.made]
    right, gone = sum(bool(p.right) for p in made), sum(not p.right for p in made)
    left = sum(bool(p.right) for f in files for p, _ in f.patch.left)
    told = [f"{many(right, 'line')} to correct{f', {left} by hand' if left else ''}"] if right or left else []
    told += [f"{many(gone, 'line')} to take out (numbers with a newer one, and what a file says twice)"] if gone else []
    if told:
        print(f"{'; '.join(told)}. To write it: dreamd notes apply", flush=True)
    if not right and not left:
        print("Your note files say nothing the logs prove wrong.")
    if len(theirs) > gone:
        print(f"{many(len(theirs) - gone, 'place')} to take out by hand: numbers a command tells, and what is said twice.")
    return 0


def apply(
    wiki: common.Wiki = None, notes: Notes = None, scope: common.Scope = None, config: common.Config = None, as_json: common.Json = False,
    back: Annotated[bool, typer.Option("--undo", help="Give the files of the last apply their bytes back.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the patch, as dreamd notes diff does; write nothing.")] = False,
) -> int:  # fmt: skip
    """Write the corrections into your note files, each with a backup; a file somebody wrote to meanwhile stays as it is. What then stands is dreamt over at
    once: pages, brief and what waits for you tell of the files as they are."""
    if dry_run and back:
        raise typer.BadParameter("shows what apply would write, and nothing of --undo: leave one of them out", param_hint="--dry-run")
    if dry_run:
        return diff(wiki, notes, scope, config, as_json)
    with common.opened(wiki, scope, config) as at:
        private = at.place.private
        if back:
            done = undo(private)
            if done is None:
                raise Refused("there is nothing to undo: no note file was written by dreamd notes apply")
        else:
            files = tuple(f for f in _wrong_files(at, notes or ()) if f.patch.made)
            done = write(private, [Change(path=f.path, before=f.before, after=f.after) for f in files], at=wiring.utc_now())
            at.store.write_down(at.scope, "notes", "command", f"{len(done.written)} files", key=f"notes {wiring.utc_now().isoformat()}")
        moved = bool(done.written or carried_notes(at.store, at.scope).corrections)  # or the files were corrected before, by a hand or an apply that was killed
    try:
        if moved:
            _take_in(wiki, scope, config)
    finally:  # whatever became of the dream, the files are written: that is told
        _tell_done(done, back=back, as_json=as_json)
    return 1 if done.left else 0


def _take_in(wiki: Path | None, scope: str | None, config: Path | None) -> None:
    """Dream over the note files as they stand now, and over nothing else."""
    with desk(wiki, scope, config) as (parts, request, place, data):
        little_dream(parts, replace(request, notes=note_folders(place.private), cause="notes"), (), data)


def _wrong_files(at: common.Opened, given: Sequence[Path]) -> Iterator[File]:
    return wrong_files(carried_notes(at.store, at.scope).corrections, at.place.private, given, tidy=True)


def _tell_left(file: File) -> None:
    for proposal, why in ((p, why) for p, why in file.patch.left if p.right):
        print(
            f"by hand {visible(file.shown)} line {proposal.line}: “{visible(proposal.wrong)[:160]}” is wrong, “{visible(proposal.right)[:160]}” holds ({why})"
        )


def _tell_done(done: Done, *, back: bool, as_json: bool) -> None:
    if as_json:
        print_json({"written": [str(p) for p in done.written], "left": [{"path": str(p), "why": why} for p, why in done.left]})
        return
    for path in done.written:
        print(f"{'restored' if back else 'corrected'} {visible(str(path))}")
    for path, why in done.left:
        print(f"left as it is {visible(str(path))}: {why}")
    if not done.written and not done.left:
        print("Nothing to write: your note files say nothing the logs prove wrong, or only what you have to change by hand (dreamd notes diff).")
    elif done.written and not back:
        print("To take it back: dreamd notes apply --undo. Pages and brief tell of the files as they are now.")


def _file_json(file: File) -> dict[str, object]:
    return {
        "path": str(file.path), "diff": as_diff(file.shown, file.before.decode("utf-8"), file.patch.text), "corrected": [p.note for p in file.patch.made if p.right],
        "taken_out": [{"line": p.line, "words": p.wrong, "why": p.why} for p in file.patch.made if not p.right],
        "by_hand": [{"line": p.line, "wrong": p.wrong, "right": p.right, "why": why} for p, why in file.patch.left if p.right],
    }  # fmt: skip
