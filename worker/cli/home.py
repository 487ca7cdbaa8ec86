"""dreamd alone: what is here, what waits, what to do next. Nothing is written."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pipelines.errors import DreamdError
from pipelines.store import Dream, Store
from worker import __version__, registry, wiring
from worker.cli.common import workers_seen
from worker.cli.output import columns, many, print_json, unattended, visible
from worker.projects import Homes, Project, Survey, cleanup_days, deleted_on, root_of, survey, tells_sessions
from worker.settings import Settings, data_folder, load

NAMED = 3
"""Logs named that tell no folder."""
SHOWN = 12
"""Projects shown, the current one and the newest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What one project is told by. `lost_at` is when its agent deletes the oldest log, `waits` counts what waits for the person (None: no dream yet),
    `has_new` is whether a log or a note was written to since its last dream began."""

    project: Project
    here: bool
    wiki: Path | None
    newest: datetime | None
    lost_at: datetime | None
    note_files: int
    last: str = ""
    waits: int | None = None
    has_new: bool = True


def home(*, as_json: bool = False) -> int:
    """Print what stands in this person's home, and the next command."""
    loaded = load()
    homes = Homes.of(os.environ)
    found = survey(homes)
    here = root_of(Path.cwd())
    nowhere = all(p.root != here for p in found.projects)  # then what to do next depends on all of them
    lines = sorted((_line(p, here, homes, loaded, look=nowhere or p.root == here) for p in found.projects), key=_rank)
    told = tells_sessions(homes)
    if as_json:
        print_json(_json(found, lines, told))
    else:
        _print(found, lines, told, homes)
    return 0


def _rank(line: Line) -> tuple[bool, float, str]:
    return (not line.here, -(line.newest.timestamp() if line.newest else 0.0), str(line.project.root))


def _line(project: Project, here: Path, homes: Homes, loaded: Settings, *, look: bool) -> Line:
    """One project; `look` into its store and at its notes, too."""
    given = registry.registered(data_folder(loaded), project.root)
    last, waits, began = _dreamt(given.wiki, given.scope, loaded) if given is not None and look else ("", None, None)
    oldest, notes = project.oldest, [f for folder in project.memory for f in folder.rglob("*.md")]
    written = [*(log.mtime.timestamp() for log in project.logs), *(_written(f) for f in notes if look)]
    return Line(
        project=project, here=project.root == here, wiki=given.wiki if given else None, newest=max((log.mtime for log in project.logs), default=None),
        lost_at=deleted_on(oldest, homes) if oldest else None, note_files=len(notes), last=last, waits=waits,
        has_new=began is None or max(written, default=0.0) > began.timestamp(),
    )  # fmt: skip


def _written(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:  # gone since it was listed
        return 0.0


def _dreamt(wiki: Path, scope: str, loaded: Settings) -> tuple[str, int | None, datetime | None]:
    """When a project was last dreamt over and how it ended, how much waits for the person, and when that dream began if it was completed."""
    try:
        place = wiring.place_of(wiki, loaded, create=False)
        if not loaded.database_url and not (place.private / "store.db").exists():
            return "", None, None
        with wiring.open_only_store(place) as store:
            last = next(iter(store.dreams(scope, limit=1)), None)
            waiting = last.summary.get("waiting") if last and last.summary else None
            stands = _stands(store, last, loaded, place.host) if last else ""
    except DreamdError as error:
        return f"cannot be told ({visible(str(error))})", None, None
    if last is None:
        return "", None, None
    return stands, waiting if isinstance(waiting, int) else 0, last.started_at if last.state == "completed" else None


def _stands(store: Store, last: Dream, loaded: Settings, host: str) -> str:
    """How a dream ended; of one that has not whether somebody works on it, and else what becomes of it."""
    if last.ended_at:
        return f"{last.state}, {last.ended_at:%Y-%m-%d %H:%M} UTC"
    return "runs now" if store.at_work(last, host=host) else unattended(last, workers_seen(store, loaded, host))


def _json(found: Survey, lines: Sequence[Line], told: Sequence[str]) -> dict[str, object]:
    return {
        "version": __version__,
        "projects": [
            {
                "root": str(x.project.root), "name": x.project.name, "here": x.here, "sessions": len(x.project.logs), "bytes": x.project.bytes,
                "newest": x.newest, "oldest": x.project.oldest.mtime if x.project.oldest else None, "deleted_on": x.lost_at, "note_files": x.note_files,
                "instructions": [str(f) for f in x.project.instructions], "wiki": str(x.wiki) if x.wiki else None, "last": x.last or None, "waiting": x.waits,
            }
            for x in lines
        ],
        "homeless": [str(log.path) for log in found.homeless], "told": list(told), "next": _next(lines, told),
    }  # fmt: skip


def _print(found: Survey, lines: Sequence[Line], told: Sequence[str], homes: Homes) -> None:
    logs = sum(len(x.project.logs) for x in lines)
    size = sum(x.project.bytes for x in lines) / 1e6
    print(
        f"dreamd {__version__}: {many(len(lines), 'project')}, {many(logs, 'session log')} ({size:.1f} MB) in {_short(homes.claude)} and {_short(homes.codex)}"
    )
    if lines:
        print()
        _table(lines[:SHOWN])
        if len(lines) > SHOWN:
            print(f"  and {len(lines) - SHOWN} more: dreamd --json")
        if losing := [x.lost_at for x in lines if x.lost_at]:
            print(
                f"Claude Code deletes a log {many(cleanup_days(homes), 'day')} after its last line, the first of these on {_day(min(losing))}; what a dream has read is kept"
            )
    if found.homeless:
        one, named = len(found.homeless) == 1, [visible(_short(log.path)) for log in found.homeless[:NAMED]]
        more = f" and {len(found.homeless) - NAMED} more" if len(found.homeless) > NAMED else ""
        worked = "names no folder it" if one else "name no folder they"
        print(f"{many(len(found.homeless), 'log')} {worked} worked in ({', '.join(named)}{more}): dreamd dream PATH... --wiki DIR")
    for x in lines:
        if x.project.shared:
            print(
                f"{visible(x.project.name)}: its agent keeps its memory in one folder with {', '.join(_short(r) for r in x.project.shared)}; name it with --notes"
            )
    print()
    for line in _here(lines):
        print(line)
    if lines:
        print(_telling(told))
    print(f"Next: {_next(lines, told)}")


def _telling(told: Sequence[str]) -> str:
    if not told:
        return "New sessions are not told yet what the wiki knows: dreamd connect claude-code (or codex)"
    return f"New sessions of {' and '.join(told)} are told what their project's wiki knows."


def _table(lines: Sequence[Line]) -> None:
    names = [visible(x.project.name) for x in lines]
    wide = max(7, *(columns(n) for n in names))
    print(f"  {'project':{wide}}  logs      MB  newest      oldest      lost on     notes  wiki")
    for name, x in zip(names, lines, strict=True):
        oldest = x.project.oldest
        print(
            f"{'*' if x.here else ' '} {name}{' ' * (wide - columns(name))} {len(x.project.logs):5} {x.project.bytes / 1e6:7.1f}  {_day(x.newest)}  {_day(oldest.mtime if oldest else None)}  "
            f"{_day(x.lost_at)} {x.note_files:6}  {_short(x.wiki) if x.wiki else '-'}"
        )  # fmt: skip


def _here(lines: Sequence[Line]) -> Sequence[str]:
    """What there is to say of the project of the current folder."""
    here = next((x for x in lines if x.here), None)
    if here is None:
        return ()
    said = [f"Last dream over {visible(here.project.name)}: {here.last}"] if here.last else [f"{visible(here.project.name)} was never dreamt over."]
    if here.waits:
        said.append(f"{many(here.waits, 'thing')} {'waits' if here.waits == 1 else 'wait'} for you: dreamd review, or {_short(here.wiki)}/inbox.md")
    return said


def _next(lines: Sequence[Line], told: Sequence[str]) -> str:
    """The one command to go on with."""
    here = next((x for x in lines if x.here), None)
    if here is None:
        return _next_of_all(lines, told) if lines else "dreamd dream PATH... --wiki DIR"
    if not here.last or here.has_new:
        return "dreamd dream"
    if here.waits:
        return "dreamd review"
    if not told:
        return _connect([here])
    return "nothing now; dreamd dream once a session has ended"


def _next_of_all(lines: Sequence[Line], told: Sequence[str]) -> str:
    """The same from outside of all projects."""
    if any(not x.last or x.has_new for x in lines):
        return "dreamd dream --all, or in a project's folder dreamd dream"
    most = max(lines, key=lambda x: x.waits or 0)
    if most.waits:
        things = f"{many(most.waits, 'thing')} {'waits' if most.waits == 1 else 'wait'} there"
        return f"cd {shlex.quote(visible(str(most.project.root)))} && dreamd review ({things})"
    return "nothing now; dreamd dream --all once sessions have ended" if told else _connect(lines)


def _connect(lines: Sequence[Line]) -> str:
    agents = {log.agent for x in lines for log in x.project.logs}
    return f"dreamd connect {'codex' if agents == {'codex'} else 'claude-code'}"


def _day(at: datetime | None) -> str:
    return f"{at:%Y-%m-%d}" if at else "-         "


def _short(path: Path | None) -> str:
    text, at_home = str(path), str(Path.home())
    return "~" + text[len(at_home) :] if text == at_home or text.startswith(at_home + os.sep) else text
