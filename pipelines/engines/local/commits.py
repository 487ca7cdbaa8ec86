"""What a session committed, and what it edited and did not commit, from what git printed and which files its tools wrote."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from pipelines.engines.local.runs import Ended, Run
from pipelines.model import Quote, Turn

FILES_MAX = 50

_COMMIT = re.compile(r"^\[(?P<branch>[^\s\]]+)(?: \([^)]*\))? (?P<sha>[0-9a-f]{7,40})\] (?P<subject>\S.*?)[ \t]*$", re.MULTILINE)
_STATUS_SHORT = re.compile(r"^(?P<state>[ MADRCU?!]{2}) (?P<path>\S.*?)[ \t]*$")
_STATUS_LONG = re.compile(r"^\t(?:(?:modified|new file|deleted|renamed|both modified|typechange):\s+)?(?P<path>\S.*?)[ \t]*$")
_CLEAN = re.compile(r"nothing to commit|working tree clean")
_WRITING_TOOLS = frozenset(
    {
        "write",
        "edit",
        "multiedit",
        "notebookedit",
        "create_file",
        "str_replace",
        "str_replace_editor",
        "str_replace_based_edit_tool",
        "replace",
        "write_file",
        "edit_file",
    }
)
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (?P<path>.+?)\s*$", re.MULTILINE)
_UNSETTLED = frozenset({"add", "stash", "checkout", "restore", "reset", "clean", "rm", "mv"})
"""Subcommands after which an earlier list of changed files is no longer true."""
_UNDOING = frozenset({"stash", "checkout", "restore", "reset", "clean"})
"""Those that may take an edit back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """A commit as `git commit` printed it."""

    branch: str
    sha: str
    subject: str
    quote: Quote


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A file written by a tool or a patch; `place` is where the call stands among the session's turns."""

    path: str
    turn: Turn
    place: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncommitted:
    """Files changed and not committed when the session ended, and the line that shows it: git's own list, or the last edit no commit came after.

    `clean`: git said at the end that there is nothing to commit.
    """

    paths: tuple[str, ...] = ()
    seen: Quote | None = None
    line: int | None = None
    clean: bool = False


def commits_of(runs: Sequence[Run]) -> Iterator[Commit]:
    """Each commit once, as its first printing has it."""
    seen: set[str] = set()
    for run in runs:
        if not _is_commit(run):
            continue
        for found in _COMMIT.finditer(run.result.text):
            if found["sha"] not in seen:
                seen.add(found["sha"])
                yield Commit(branch=found["branch"], sha=found["sha"], subject=found["subject"], quote=_quote(run.result, *found.span()))


def edits_of(turns: Sequence[Turn]) -> Iterator[Edit]:
    """The files that editing tools and patches touched, failed calls left out, in order."""
    failed = {t.result.call_id for t in turns if t.result is not None and (t.result.failed or t.result.refused)}
    for place, turn in enumerate(turns):
        call = turn.call
        if call is None or call.call_id in failed:
            continue
        if call.name.casefold() in _WRITING_TOOLS and call.path:
            yield Edit(path=call.path, turn=turn, place=place)
        for given in (call.command, call.arguments.get("input"), call.arguments.get("patch")):
            if isinstance(given, str) and "*** Begin Patch" in given:
                yield from (Edit(path=found["path"], turn=turn, place=place) for found in _PATCHED.finditer(given))


def within(path: str, folder: str | None) -> str | None:
    """A path as it stands below a folder; None for one outside. Without a folder, a path that is not absolute."""
    place = PurePosixPath(path.replace("\\", "/"))
    root = PurePosixPath(folder.replace("\\", "/")) if folder else None
    absolute = place.is_absolute() or path[1:2] == ":"
    if not absolute:
        return None if ".." in place.parts else str(place)
    return str(place.relative_to(root)) if root is not None and place.is_relative_to(root) else None


def uncommitted(runs: Sequence[Run], edits: Sequence[Edit], turns: Sequence[Turn], *, folder: str | None, git: bool) -> Uncommitted:
    """What was left uncommitted in the folder of the session; nothing where no `git` is known to look after it.

    Git's last list counts when nothing was edited after it; else what was edited after the last commit, unless something may have taken it back.
    """
    places = {turn.uid: place for place, turn in enumerate(turns)}
    mine = [edit for edit in edits if within(edit.path, folder) is not None]
    last = max((edit.place for edit in mine), default=-1)
    listed = _listed_last(runs)
    if listed is not None and (at := places.get(listed.turn.uid, -1)) > last and at >= 0:
        return listed.told
    since = max((places.get(run.result.uid, -1) for run in runs if _settles(run)), default=-1)
    left = [edit for edit in mine if edit.place > since] if git else []
    paths = tuple(dict.fromkeys(path for edit in left if (path := within(edit.path, folder)) is not None))
    return Uncommitted(paths=paths, line=left[-1].turn.place.line if left else None)


# --- git's words -------------------------------------------------------------------------------------------------------------------------


def _quote(turn: Turn, start: int, end: int) -> Quote:
    return Quote(turn=turn.uid, start=start, end=end, text=turn.text[start:end])


def _is_commit(run: Run) -> bool:
    return run.part.words[:1] == ("git",) and "commit" in run.part.words[:4]


def _settles(run: Run) -> bool:
    """Whether what was edited before may be committed or taken back after this."""
    return (
        run.part.words[:1] == ("git",) and run.ended is not Ended.FAILED and ("commit" in run.part.words[:4] or run.part.words[1:2] in {(w,) for w in _UNDOING})
    )


@dataclass(frozen=True, slots=True)
class _Listed:
    turn: Turn
    told: Uncommitted


def _listed_last(runs: Sequence[Run]) -> _Listed | None:
    """What the last `git status` of the session lists; after a commit only what was not staged for it, and None once more was staged or moved."""
    committed = False
    for run in reversed(runs):
        words = run.part.words
        if words[:1] != ("git",) or run.ended is Ended.FAILED:
            continue
        if words[1:2] == ("status",):
            return _Listed(run.result, _listed(run.result, committed=committed))
        if "commit" in words[:4]:
            committed = True
            if any(re.match(r"-[a-z]*a[a-z]*$|--all$", word) for word in words):
                return _Listed(run.result, Uncommitted())
        elif words[1:2] in {(word,) for word in _UNSETTLED}:
            return _Listed(run.result, Uncommitted())
    return None


def _listed(turn: Turn, *, committed: bool) -> Uncommitted:
    if _CLEAN.search(turn.text):
        return Uncommitted(clean=True)
    found: dict[str, tuple[int, int]] = {}
    staged = False
    for line in re.finditer(r"[^\n]+", turn.text):
        staged = line.group().startswith("Changes to be committed") or (staged and not line.group().startswith(("Changes not staged", "Untracked files")))
        short, long = _STATUS_SHORT.match(line.group()), _STATUS_LONG.match(line.group())
        entry = short or long
        ready = short["state"][1] == " " if short else staged
        if entry is not None and not (committed and ready) and len(found) < FILES_MAX:
            found.setdefault(entry["path"], line.span())
    if not found:
        return Uncommitted(clean=committed)
    return Uncommitted(paths=tuple(found), seen=_quote(turn, *next(iter(found.values()))), line=turn.place.line)
