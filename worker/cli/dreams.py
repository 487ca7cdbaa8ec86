"""dreamd dreams: what was asked for, how far it is, and taking it back. dreamd apply: what waits for a person, believed as it was planned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer

from pipelines.run import Request, apply_dream
from pipelines.store import HOSTED, STAGES, Dream, DreamState, Store
from worker import wiring
from worker.cli import common, serving
from worker.cli.dream import tell
from worker.cli.output import Progress, counted, is_cut_short, many, print_json, unattended, visible
from worker.connect.briefs import leave_briefs
from worker.settings import data_folder

LISTED = 20
Uid = Annotated[str, typer.Argument(metavar="DREAM", help="The dream's id, as dreamd dream and dreamd dreams list print it.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    dreams = typer.Typer(no_args_is_help=True, help="List dreams, show one, take one back.")
    dreams.command("list")(list_dreams)
    dreams.command("show")(show)
    dreams.command("cancel")(cancel)
    app.add_typer(dreams, name="dreams")
    app.command("apply")(apply)


def list_dreams(
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="So many, the newest first.")] = LISTED,
    wiki: common.Wiki = None,
    scope: common.Scope = None,
    config: common.Config = None,
    as_json: common.Json = False,
) -> int:
    """The scope's dreams, the newest first."""
    loaded = common.start(config)
    with serving.open_serving(wiki, loaded) as (store, host):
        at = common.scope_of(scope, loaded, store)
        found = [(d, _working(store, d, host)) for d in store.dreams(at, limit=limit)]
        there = common.workers_seen(store, loaded, host)
        nothing = "" if found else common.nothing_in(at, "no dream", store)
    if as_json:
        print_json({"dreams": [{**_told(d), "working": working} for d, working in found]})
        return 0
    for d, working in found:
        print(f"{d.uid}  {_state(d, working, there):24} {d.cause:10} {_when(d, working, there)}")
    if nothing:
        print(visible(nothing))
    return 0


def show(uid: Uid, wiki: common.Wiki = None, scope: common.Scope = None, config: common.Config = None, as_json: common.Json = False) -> int:
    """How far a dream is, what it went on without, and what it did."""
    loaded = common.start(config)
    with serving.open_serving(wiki, loaded) as (store, host):
        at = store.dream_state(common.scope_of(scope, loaded, store), uid)
        parked = store.parked(at.dream)
        working, there = _working(store, at.dream, host), common.workers_seen(store, loaded, host)
    if as_json:
        left = [{"stage": stage, "unit": unit, "code": code, "why": why} for stage, unit, code, why in parked]
        print_json({**_told(at.dream), "jobs": at.jobs, "parked": left, "working": working, "report": at.dream.summary, "params": at.dream.params})
        return 0
    print(f"Dream {uid} over {at.dream.scope}: {_state(at.dream, working, there)}, asked by {at.dream.cause}, {_when(at.dream, working, there)}")
    for line in _stages(at):
        print(f"  {line}")
    for process in working:
        print(f"  working  {process}")
    for stage, unit, code, why in parked:
        print(f"  left out {visible(unit)} of {stage} ({code}): {visible(why)}")
    for line in _did(at.dream):
        print(f"  {line}")
    if at.dream.state in {"planned", "held"}:
        print(f"  waits for you: dreamd apply {uid}, or dreamd dreams cancel {uid}")
    return 0


def cancel(uid: Uid, wiki: common.Wiki = None, scope: common.Scope = None, config: common.Config = None, as_json: common.Json = False) -> int:
    """End a dream before it is applied, or drop what was planned or held; what it read is kept for the next one."""
    loaded = common.start(config)
    with serving.open_serving(wiki, loaded) as (store, _):
        over = common.scope_of(scope, loaded, store)
        ring = store.cancel(over, uid, hand="command")
        after = store.dream(over, uid)
        if ring:
            serving.bell(loaded)(ring)
    if as_json:
        print_json(_told(after))
    else:
        kept = "nothing of it was believed" if after.applied_rev is None else f"what it held is dropped; revision {after.applied_rev} stays as it was applied"
        print(f"Dream {uid} over {after.scope} is canceled; {kept}.")
    return 0


def apply(uid: Uid, wiki: common.Wiki = None, scope: common.Scope = None, config: common.Config = None, as_json: common.Json = False) -> int:
    """Believe what a dry run planned or a guard held, as it stands there, and write the wiki. Refused, naming them, when notes have moved since."""
    loaded = common.start(config)
    place = wiring.place_of(wiring.find_wiki(wiki, loaded), loaded, create=True)
    progress = Progress(quiet=as_json)
    with wiring.open_parts(place, loaded, scope=scope, progress=progress) as parts:
        over = common.scope_of(scope, loaded, parts.store)
        outcome = apply_dream(parts, Request(scope=over, paths=(), wiki=place.wiki, wiki_id=place.wiki_id, host=place.host), uid)
        leave_briefs(parts.store, over, data=data_folder(loaded), wiki=place.wiki)
    progress.done()
    return tell(outcome, place.wiki, as_json=as_json)


def _told(dream: Dream) -> dict[str, object]:
    """A dream as JSON; `status` is its state in the words of hosted dreams."""
    return {
        "dream": dream.uid, "scope": dream.scope, "state": dream.state, "status": HOSTED[dream.state], "phase": dream.phase, "code": dream.code,
        "cause": dream.cause, "requested_at": dream.requested_at, "started_at": dream.started_at, "ended_at": dream.ended_at,
    }  # fmt: skip


def _working(store: Store, dream: Dream, host: str | None) -> tuple[str, ...]:
    """The processes that work on a dream now."""
    return store.at_work(dream, host=host or "") if dream.state == "running" else ()


def _state(dream: Dream, working: Sequence[str], there: int) -> str:
    """The state in a word, and how far it is or why it ended; of a dream nobody works on not that it runs."""
    at = f" ({dream.phase})" if dream.state == "running" and dream.phase else f" ({dream.code})" if dream.code else ""
    state = dream.state if working or dream.state != "running" else "cut short" if is_cut_short(dream) else "queued" if there else "no worker"
    return f"{state}{at}"


def _when(dream: Dream, working: Sequence[str], there: int) -> str:
    if dream.state == "pending":
        return f"asked for {dream.started_at:%Y-%m-%d %H:%M} UTC"
    if dream.state == "running" and not working:
        return f"asked for {dream.requested_at or dream.started_at:%Y-%m-%d %H:%M} UTC, {unattended(dream, there)}"
    ended = f", ended {dream.ended_at:%H:%M:%S} UTC" if dream.ended_at else ""
    return f"began {dream.started_at:%Y-%m-%d %H:%M:%S} UTC{ended}"


def _stages(at: DreamState) -> list[str]:
    """The stages a dream has come to, in their order."""
    return [f"{stage:8} {many(sum(states.values()), 'unit')}: {counted(states)}" for stage in STAGES if (states := at.jobs.get(stage))]


def _did(dream: Dream) -> list[str]:
    """What an ended dream did, as far as its summary says so."""
    told = dream.summary or {}
    counts = ((name, told.get(key)) for name, key in (("notes", "notes"), ("your own", "online"), ("refused", "rejected"), ("pages", "pages")))
    out = [f"{name:8} {said}" for name, count in counts if isinstance(count, Mapping) and (said := counted(count)) != "none"]
    return [*out, f"revision {dream.applied_rev}"] if dream.applied_rev is not None else out
