"""What a dream is over when no path is named: the project of the current folder, or every project an agent keeps logs of."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import typer

from pipelines.notes.instruction_files import Instructed
from worker import registry, wiring
from worker.cli.output import many, visible
from worker.connect.pending import pending_projects
from worker.instruction_places import instructed
from worker.projects import Homes, Project, survey
from worker.settings import Settings, data_folder, wikis_folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One wiki and what is read for it, with the instruction files of its project, if it is one's. `told` is said before; `project` is remembered with its wiki, so that later commands find it,
    and is None for a wiki that is meant for one command."""

    wiki: Path
    scope: str | None
    paths: tuple[str, ...]
    notes: tuple[Path, ...]
    told: str = ""
    project: registry.Registered | None = None
    instructions: Instructed | None = None

    def register(self, loaded: Settings) -> None:
        """Remember the project's wiki and scope."""
        if self.project is not None:
            registry.register(data_folder(loaded), self.project)


class NothingToRead(typer.BadParameter):
    """Nothing was named and there is nothing here: the person is told that, and not that a value they never gave is invalid."""

    def format_message(self) -> str:
        """The message alone."""
        return self.message


def targets_of(loaded: Settings, *, every: bool, wiki: Path | None, scope: str | None, keep: bool = False) -> Iterable[Target]:
    """The current project, or every one that has logs, each named when those before it are registered. `keep`: the project's wiki is `wiki` from now on.
    Raises BadParameter where there is nothing to read."""
    found = survey(Homes.of(os.environ))
    if every:
        if not found.projects:
            raise NothingToRead("no agent keeps logs here: name them (a file or a folder)")
        return (_target(p, loaded, None, scope) for p in found.projects)
    here = Path.cwd()
    project = found.of(_shown_in(here, loaded) or here)
    if not project.logs and not project.memory:
        raise NothingToRead(
            f"no agent keeps logs or notes of {visible(str(project.root))}: cd to a project's folder, or say --all (dreamd alone says which projects there are); or name "
            "the logs (a file or a folder), or a folder of notes with --notes"
        )  # fmt: skip
    return (_target(project, loaded, wiki, scope, keep=keep),)


def _shown_in(folder: Path, loaded: Settings) -> Path | None:
    """The root of the project whose wiki this folder is, or lies in."""
    return next((r.root for r in registry.all_registered(data_folder(loaded)) if folder.resolve().is_relative_to(r.wiki.resolve())), None)


def pending_targets(loaded: Settings) -> Iterable[Target]:
    """The projects that are dreamt over and have something new."""
    return (_target(p, loaded, None, None) for p in pending_projects(survey(Homes.of(os.environ)), loaded))


def _target(project: Project, loaded: Settings, wiki: Path | None, scope: str | None, *, keep: bool = False) -> Target:
    given = registry.planned(
        data_folder(loaded), project.root, wikis=wikis_folder(loaded), scope=loaded.scope if "scope" in loaded.model_fields_set else ""
    )  # fmt: skip
    known = registry.registered(data_folder(loaded), project.root)
    named = (wiring.named_wiki(wiki) if wiki else None) or (loaded.wiki.expanduser() if loaded.wiki else None)
    given = registry.Registered(root=project.root, wiki=(named or given.wiki).absolute(), scope=scope or given.scope)
    stays = wiki is not None and not keep and known is not None and known.wiki != given.wiki and known.wiki.exists()
    here_only = f"; {visible(project.name)}'s wiki stays {known.wiki}: to move it, dreamd dream --wiki {given.wiki} --keep" if stays and known else ""
    memory = () if project.shared else project.memory
    left = f"; its notes lie in one folder with those of {', '.join(str(r) for r in project.shared)}: name it with --notes" if project.shared else ""
    files = sum(1 for folder in memory for _ in folder.rglob("*.md"))
    read = f", {many(files, 'note file')}" if files else ""
    return Target(
        wiki=given.wiki, scope=given.scope, paths=tuple(str(log.path) for log in project.logs), notes=memory, project=None if stays else given, instructions=instructed(project.root, Homes.of(os.environ)),
        told=f"{visible(project.name)}: {many(len(project.logs), 'log')}{read} into {given.wiki}{here_only}{left}",
    )  # fmt: skip
