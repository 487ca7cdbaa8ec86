"""What `dreamd dream --pending` is over: projects that are dreamt over and have something new, looked at by file times alone; and whether the dream that a
session's end started has anything to do at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from pipelines.errors import DreamdError
from pipelines.store import Dream, Store
from worker import engines, registry, wiring
from worker.instruction_places import instructed
from worker.projects import Homes, Project, Survey
from worker.settings import Settings, data_folder

WORKER_SEEN_S: Final = 600
"""A worker that was seen within this time dreams over what a session's end asks for."""
WORKER: Final = "worker"
_LATELY: Final = 20
"""Dreams among which the last that read everything is looked for."""


def pending_projects(found: Survey, loaded: Settings) -> Iterator[Project]:
    """The projects with something new since their last dream, of those that were dreamt over before: a first dream is the person's to ask for."""
    for project in found.projects:
        known = registry.registered(data_folder(loaded), project.root)
        if known is not None and _has_new(project, known, loaded):
            yield project


def leaves_it(loaded: Settings) -> str:
    """Why a dream at a session's end is not to be dreamt by itself; "" when it is."""
    if not loaded.dream_at_end:
        return "dream_at_end is off"
    choice = engines.choose(loaded)
    if choice.engine == engines.CLAUDE and loaded.claude.costs:
        return "the engine costs money: such dreams are asked for, or nightly"
    return ""


def served(wiki: Path, loaded: Settings) -> bool:
    """Whether a worker of a wiki's store was seen lately: then that one dreams. What is wrong with a wiki is said when it is dreamt over."""
    try:
        with wiring.open_only_store(wiring.place_of(wiki, loaded, create=False)) as store:
            return is_served(store, now=wiring.utc_now())
    except DreamdError:
        return False


def is_served(store: Store, *, now: datetime) -> bool:
    """Whether a worker was seen lately."""
    since = (now - timedelta(seconds=WORKER_SEEN_S)).timestamp() * 1000
    return any(w.seen_ms > since for w in store.workers(role=WORKER))


def _has_new(project: Project, known: registry.Registered, loaded: Settings) -> bool:
    try:
        place = wiring.place_of(known.wiki, loaded, create=False)
        with wiring.open_only_store(place) as store:
            dreams = store.dreams(known.scope, limit=_LATELY)
    except DreamdError:
        return True  # what is wrong is said when it is dreamt over
    last = next((d for d in dreams if d.state == "completed"), None)
    return last is None or (dreams[0] is not last and dreams[0].state in {"pending", "running"}) or any(at > _read_by(last) for at in _written(project))


def _read_by(last: Dream) -> float:
    return last.started_at.timestamp()


def _written(project: Project) -> Iterator[float]:
    """When each log, note and instruction file was last written to; those last that have to be looked for."""
    yield from (log.mtime.timestamp() for log in project.logs)
    yield from (_mtime(f) for folder in project.memory for f in folder.rglob("*.md"))
    yield from (_mtime(f.path) for f in instructed(project.root, Homes.of(os.environ)).files)


def _mtime(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0
