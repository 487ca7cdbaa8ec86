"""dreamd remember, edit, notes up: a person's own words, and what an agent says by them."""

from __future__ import annotations

import contextlib
import json
import os
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from pipelines.errors import DreamdError, Refused
from pipelines.logs.claude import REMEMBERED_BY
from pipelines.model import Status, Version
from pipelines.run import Parts, Request
from pipelines.run.beside import beside
from pipelines.run.following import Follows, notes_saying
from pipelines.run.ruling import is_out, named_note, restore, rule, rule_beside
from pipelines.wiki.content import anchor_of
from pipelines.wiki.inline import clean
from pipelines.wiki.reasons import UNPROVEN, missed
from worker import wiring
from worker.above import is_above
from worker.by_agent import Agent, agent_of
from worker.cli import common
from worker.cli.desk import HAND, Mine, Note, desk, little_dream, masked, require_person
from worker.cli.output import print_json, visible
from worker.connect.briefs import leave_briefs
from worker.registry import all_registered
from worker.settings import data_folder

TEXT_MAX = 4_000
"""Characters of what is remembered at once: a note is a sentence, a document belongs into the project."""
Said = Annotated[list[str], typer.Argument(metavar="TEXT", help="A sentence that makes sense alone.")]
Everywhere = Annotated[bool, typer.Option("--user", help="For all your projects: it stands above them, and each is told.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("remember")(remember)
    app.command("edit")(edit)


def edit(
    name: Note, text: Said, mine: Mine = False, wiki: common.Wiki = None, scope: common.Scope = None, config: common.Config = None,
    as_json: common.Json = False,
) -> int:  # fmt: skip
    """Say a note in your own words: the old ones are retracted, yours are remembered; where the engine reads no statement in them the note says them as it is."""
    require_person(mine, "saying a note in other words")
    said = _sentence(text)
    with desk(wiki, scope, config) as (parts, request, place, data):
        if is_out(named_note(parts.store, request.scope, name)):
            raise Refused(f"{name} was taken back already: say it anew with dreamd remember, or bring it back with dreamd revert {name}")
        meant = masked(said, parts)
        ruled = rule(parts.store, request.scope, "retract", name, at=parts.now(), hand=HAND, why=meant)
        rule_beside(parts.store, request.scope, ruled, at=parts.now(), hand=HAND)
        _, new, _ = _remembered(parts, request, place, data, said)
        if not new:
            restore(parts.store, request.scope, ruled.ruling.target, at=parts.now(), hand=HAND)
            ruled = rule(parts.store, request.scope, "edit", ruled.ruling.target, at=parts.now(), hand=HAND, why=meant)
            little_dream(parts, request, (), data)
        new = new or [ruled.ruling.target]
    if as_json:
        print_json({"note": anchor_of(ruled.ruling.target), "verb": "edit", "known": False, "notes": [anchor_of(n) for n in new]})
    else:
        old = anchor_of(ruled.ruling.target)
        moved = "" if ruled.ruling.target in new else f" (it was {old}, and dreamd why {old} leads here)"
        print(f"{', '.join(anchor_of(n) for n in new)} says now: {visible(meant)}{moved}")
    return 0


def remember(
    text: Said,
    everywhere: Everywhere = False,
    mine: Mine = False,
    wiki: common.Wiki = None,
    scope: common.Scope = None,
    config: common.Config = None,
    as_json: common.Json = False,
) -> int:
    """Tell the memory something yourself: your word, kept as a line of a log of its own. What an agent says by it is a draft that waits for you."""
    said = _sentence(text)
    agent = None if mine else agent_of(os.environ)
    if everywhere and (wiki or scope):
        raise typer.BadParameter("is for all your projects: leave out --wiki and --scope", param_hint="--user")
    with desk(wiki, scope, config, everywhere=everywhere) as (parts, request, place, data):
        known = notes_saying(parts.store, request.scope, masked(said, parts), status=None if agent else Status.CONFIRMED)
        log, new, moved = ("", known, ()) if known else _remembered(parts, request, place, data, said, agent=agent)
        over, folder = request.scope, place.wiki
        heads = [h.version for h in parts.store.heads(over) if h.version.note in new]
        drafts = {v.note: v for v in heads if v.status is Status.DRAFT and not agent}
        near = beside(parts.store, over)
        against = {v.note: told for v in heads if v.status is Status.CONFIRMED and (told := near.against(v.note, v.statement))}
    if everywhere:
        _tell_projects(config)
    undo = f" --wiki {folder}" if everywhere else ""
    if as_json:
        print_json({
            "log": log or None, "notes": [anchor_of(n) for n in new], "waits": sorted(map(anchor_of, drafts)), "scope": over, "known": bool(known),
            "replaces": [{"note": anchor_of(m.note), "text": m.old} for m in moved], "by": agent.name if agent else "you",
            "against": [{"note": anchor_of(note), "file": told.path, "line": told.line} for note, told in against.items()],
        })  # fmt: skip
    elif known:
        print(f"Known already, as {', '.join(anchor_of(n) for n in known)}: nothing was added")
    elif agent:
        _print_by_agent(agent, new)
    elif new:
        _print_remembered([n for n in new if n not in drafts], drafts, " for all your projects" if everywhere else "", undo)
        for m in moved:
            print(f"replaces: {visible(m.old)} (dreamd revert {anchor_of(new[0])}{undo} brings it back)")
    else:
        print("Kept in the log, as no note: the engine reads no statement in it; dreamd search finds it")
    for note, told in {} if as_json else against.items():
        print(
            f"No session is told {anchor_of(note)} yet, since {visible(told.place)} says otherwise. Yours holds: dreamd review accept {anchor_of(note)}{undo}"
        )
    return 0


def up(name: Note, mine: Mine = False, wiki: common.Wiki = None, scope: common.Scope = None, config: common.Config = None, as_json: common.Json = False) -> int:
    """Move a note up, from this project to all of yours: there it is your word, here it is taken back."""
    require_person(mine, "moving a note up")
    with desk(wiki, scope, config) as (parts, request, place, data):
        if is_above(place.wiki, request.scope, common.start(config)):
            raise Refused(f"{name} stands above the projects already: nothing is above that")
        stands = [v for v in named_note(parts.store, request.scope, name) if v.status in _MOVABLE]
        if not stands:
            raise Refused(f"{name} does not stand here as a note: dreamd why {name} says how it is")
        said = stands[0].statement
        with desk(None, None, config, everywhere=True) as (above_parts, above_request, above_place, above_data):
            _, new, _ = _remembered(above_parts, above_request, above_place, above_data, said)
        if not new:
            raise Refused(f"the engine reads no statement in “{said}”: say it in other words with dreamd remember --user, then dreamd retract {name}")
        rule(parts.store, request.scope, "retract", name, at=parts.now(), hand=HAND, why="moved up, to all projects")
        little_dream(parts, request, (), data)
    _tell_projects(config)
    if as_json:
        print_json({"note": anchor_of(stands[0].note), "moved_to": above_request.scope, "notes": [anchor_of(n) for n in new]})
    else:
        print(f"{anchor_of(stands[0].note)} stands above all your projects now, as {', '.join(anchor_of(n) for n in new)}: {visible(said)}")
    return 0


def _print_remembered(stand: Sequence[str], drafts: Mapping[str, Version], told: str, undo: str) -> None:
    """What became of the person's words: notes that stand, and those that wait since the words leave a doubt."""
    if stand:
        print(f"Remembered{told} as {', '.join(map(anchor_of, stand))}. To take it back: {'; '.join(f'dreamd retract {anchor_of(n)}{undo}' for n in stand)}")
    for note, draft in drafts.items():
        print(f"Kept as a draft no session is told, since {missed(draft.missed or UNPROVEN)}. If it is so: dreamd review accept {anchor_of(note)}{undo}")


_MOVABLE = frozenset({Status.CONFIRMED, Status.DRAFT, Status.NEEDS_RECHECK})


def _print_by_agent(agent: Agent, new: Sequence[str]) -> None:
    """What became of words an agent had remembered: the person decides."""
    print(f"{agent.name} runs this command ({agent.sign} is set), so these count as its words, not the person's; if they are the person's own: --mine")
    if new:
        print(f"Kept as a draft that waits for them: {', '.join(f'dreamd review accept {anchor_of(n)}' for n in new)}")
    else:
        print("Kept in the log, as no note: a rule or a taste is the person's to give, and of other words the engine reads no statement")


def _remembered(
    parts: Parts, request: Request, place: wiring.Place, data: Path, said: str, *, agent: Agent | None = None
) -> tuple[str, Sequence[str], tuple[Follows, ...]]:  # fmt: skip
    """Write down what the person, or an agent, said and dream over it; the log, the notes that say it, and what is over for it."""
    log = _write_down(place.private, said, parts, agent)
    before = {h.version.note for h in parts.store.heads(request.scope) if h.version.status is Status.CONFIRMED}
    moved = little_dream(parts, request, (log,), data)
    over = tuple(m for m in moved if m.note in before and m.old != m.new and not m.new.startswith(m.old))
    return log, notes_saying(parts.store, request.scope, masked(said, parts)), over


def _tell_projects(config: Path | None) -> None:
    """Leave every project's next session what is told to all of them now; one that cannot be opened is told when it is dreamt over again."""
    loaded = common.start(config)
    for project in all_registered(data_folder(loaded)):
        with contextlib.suppress(DreamdError), wiring.open_only_store(wiring.place_of(project.wiki, loaded, create=False)) as store:
            leave_briefs(store, project.scope, data=data_folder(loaded), wiki=project.wiki)


def _sentence(words: Sequence[str]) -> str:
    said = clean(" ".join(words))
    if not any(c.isprintable() and not c.isspace() for c in said):
        raise typer.BadParameter("say something", param_hint="TEXT...")
    if len(said) > TEXT_MAX:
        raise typer.BadParameter(f"at most {TEXT_MAX} characters at once", param_hint="TEXT...")
    return said


def _write_down(private: Path, said: str, parts: Parts, agent: Agent | None) -> str:
    """Append what the person, or an agent, said to the log of the day, as an explicit memory; the log is read like any other, and is cited by its lines."""
    at = parts.now()
    said = masked(said, parts)  # this log is ours, so no secret may stand in it either
    day = f"{at:%Y-%m-%d}{'-by-agent' if agent else ''}"
    folder = private / "said"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    session = str(uuid.uuid5(uuid.NAMESPACE_URL, f"dreamd:{private.name}:{day}"))
    record = {
        "type": "user", "sessionId": session, "uuid": str(uuid.uuid4()), "parentUuid": None, "timestamp": at.isoformat().replace("+00:00", "Z"),
        "cwd": os.getcwd(), "version": REMEMBERED_BY, **({"agentId": agent.name} if agent else {}), "message": {"role": "user", "content": f"<user-memory-input>{said}</user-memory-input>"},
    }  # fmt: skip
    path = folder / f"{day}.jsonl"
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab") as file:
        file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
    return str(path)
