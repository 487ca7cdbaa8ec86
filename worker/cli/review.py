"""dreamd review, retract, pin: the person's decisions about notes."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from pipelines.errors import NotOurFolder, Refused
from pipelines.model import Status, Version
from pipelines.run import Parts, Request
from pipelines.run.beside import pin as pin_note
from pipelines.run.beside import unpin
from pipelines.run.content import content_of
from pipelines.run.edits import edit_named
from pipelines.run.following import Follows, words_of
from pipelines.run.publish import WikiFolder, take_own_words
from pipelines.run.quarantine import SHOWN, Held, decide_held, held_named
from pipelines.run.render import title_of
from pipelines.run.ruling import OwnLine, Ruled, named_note, require_not_out, rule, rule_beside
from pipelines.run.unasked import unasked
from pipelines.run.why import why
from pipelines.store import this_process
from pipelines.wiki.content import anchor_of
from pipelines.wiki.inbox import QUIET_DAYS, SHOWN_MAX, UNASKED, Entry, Waits, edits, entries
from pipelines.wiki.inline import words
from pipelines.wiki.reasons import missed, why_held
from worker import wiring
from worker.cli import common
from worker.cli.deciding import decide_other
from worker.cli.desk import HAND, Mine, Note, desk, little_dream, masked, require_person
from worker.cli.file_decisions import decided_in_files, taken_line
from worker.cli.output import many, print_json, visible
from worker.cli.publish import FolderParts
from worker.cli.reading import print_chain

FOLLOWS_MAX = 40
"""Notes named that say something else for a decision."""
HELD_MAX = 1_000
"""Characters shown of a line under quarantine."""
Why = Annotated[str, typer.Option("--because", metavar="TEXT", help="Your reason, kept with the decision.")]
Side = Annotated[int | None, typer.Option("--side", min=1, metavar="N", help="Which side of a dispute, as review show numbers them.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=False, help="What waits for you: look at it, accept it, reject it.", rich_markup_mode=None)
    group.callback(invoke_without_command=True)(review)
    group.command("show")(show)
    group.command("accept")(accept)
    group.command("reject")(reject)
    group.command("keep")(keep)
    app.add_typer(group, name="review")
    app.command("retract")(retract)
    app.command("pin")(pin)


def review(
    context: typer.Context,
    every: Annotated[bool, typer.Option("--all", help="Everything that waits, and the drafts you are not asked about.")] = False,
    wiki: common.Wiki = None,
    scope: common.Scope = None,
    config: common.Config = None,
    as_json: common.Json = False,
) -> None:
    """What waits for you, most valuable first."""
    if context.invoked_subcommand is not None:
        return
    decided, taken = _decided_in_files(wiki, scope, config)
    if taken:
        typer.echo(taken, err=True)
    if decided:
        with desk(wiki, scope, config) as (parts, request, _, data):
            little_dream(parts, request, (), data)
    with common.opened(wiki, scope, config) as at:
        content = content_of(at.store, at.scope, title=title_of(at.store, at.scope), own={}, redirects={})
        waiting = entries(content)
        dreams = [d.uid for d in at.store.dreams(at.scope) if d.state == "held"]
        others = unasked(at.store, at.scope, waiting) if every else ()
    shown = waiting if every else waiting[:SHOWN_MAX]
    if as_json:
        more = {"unasked": [{"id": anchor_of(v.note), "text": v.statement, "reason": v.missed, "why": missed(v.missed)} for v in others]} if every else {}
        print_json({"waiting": len(waiting), "first": [_entry_json(e) for e in shown], "dreams": dreams, **more})
        return
    for uid in dreams:
        print(f"Dream {uid} would change much of the memory at once and waits: dreamd dreams show {uid}, then dreamd apply {uid} or dreamd dreams cancel {uid}")
    if waiting or not dreams:
        _print_queue(waiting, shown)
    if others:
        print(
            f"{UNASKED[0].upper()}{UNASKED[1:]} (what ran or was seen in one session counts once another shows it; what was not heard of for {QUIET_DAYS} days is let be):"
        )
    for v in others:
        print(f"  {anchor_of(v.note)}  {visible(v.statement)}  ({missed(v.missed)})" if v.missed else f"  {anchor_of(v.note)}  {visible(v.statement)}")


def show(name: Note, wiki: common.Wiki = None, scope: common.Scope = None, config: common.Config = None) -> int:
    """One thing that waits, with the lines it rests on."""
    with common.opened(wiki, scope, config) as at:
        held, edit = held_named(at.store, at.scope, name), edit_named(at.store, at.scope, name)
        chains = () if held else why(at.store, at.scope, anchor_of(edit.note) if edit else name)
    if held:
        _print_held(held)
    if edit:
        asked = anchor_of(edit.uid)
        print(f"{asked}  {visible(words(edits([edit])[0].spans))}\nYes: dreamd review accept {asked}. No: dreamd review reject {asked}.")
    for chain in chains:
        print_chain(chain)
    return 0


def accept(
    name: Note, side: Side = None, because: Why = "", mine: Mine = False, wiki: common.Wiki = None, scope: common.Scope = None, config: common.Config = None,
    as_json: common.Json = False,
) -> int:  # fmt: skip
    """It is so: a draft becomes a note with your word behind it, a side of a dispute becomes the note."""
    require_person(mine, "accepting what waits")
    return _decide("approve", name, wiki, scope, config, as_json, side=side, because=because)


def reject(
    name: Note, side: Side = None, because: Why = "", wiki: common.Wiki = None, scope: common.Scope = None, config: common.Config = None,
    as_json: common.Json = False,
) -> int:  # fmt: skip
    """It is not so: it is no note, and is not learnt again from the same lines."""
    return _decide("reject", name, wiki, scope, config, as_json, side=side, because=because)


def keep(
    name: Note, because: Why = "", mine: Mine = False, wiki: common.Wiki = None, scope: common.Scope = None, config: common.Config = None,
    as_json: common.Json = False,
) -> int:  # fmt: skip
    """It still holds, although what it rested on was corrected."""
    require_person(mine, "saying that a note still holds")
    return _decide("keep", name, wiki, scope, config, as_json, because=because)


def retract(
    name: Note, because: Why = "", wiki: common.Wiki = None, scope: common.Scope = None, config: common.Config = None, as_json: common.Json = False
) -> int:
    """Take a note back: it leaves the pages and the brief, and is not learnt again from the same lines."""
    return _decide("retract", name, wiki, scope, config, as_json, because=because)


def pin(
    name: Note, off: Annotated[bool, typer.Option("--off", help="Take the pin off again.")] = False, wiki: common.Wiki = None, scope: common.Scope = None,
    config: common.Config = None, as_json: common.Json = False,
) -> int:  # fmt: skip
    """Have a note told first: it heads its section of the brief, and is the last to leave when there is no room."""
    with desk(wiki, scope, config) as (parts, request, _, data):
        versions = _to_pin(parts, request, name)
        note = versions[0].note
        done = (unpin if off else pin_note)(parts.store, request.scope, versions, at=parts.now(), hand=HAND)
        if done:
            little_dream(parts, request, (), data)
    if as_json:
        print_json({"note": anchor_of(note), "pinned": not off, "known": not done})
    else:
        told = ("is not pinned any more" if done else "was not pinned") if off else ("is pinned" if done else "was pinned before")
        says = next((v.statement for v in versions if v.status is Status.CONFIRMED), versions[0].statement)
        print(f"{anchor_of(note)} {told}: {visible(says)}")
    return 0


def _to_pin(parts: Parts, request: Request, name: str) -> tuple[Version, ...]:
    """The versions of the note to pin. Raises Refused, for a line of the person's own with what they can do."""
    try:
        return named_note(parts.store, request.scope, name)
    except OwnLine as line:
        own = line.note
        raise Refused(
            f"{anchor_of(own.uid[:12])} is line {own.line} of your own file {own.folder}/{own.path}, and only notes of dreamd's own are pinned: your lines stand "
            f"in the brief in the order of your file. To have it told first, say it with dreamd remember and pin the note that makes"
        ) from line


def _decide(
    verb: Literal["approve", "reject", "keep", "retract"], name: str, wiki: Path | None, scope: str | None, config: Path | None, as_json: bool, *,
    side: int | None = None, because: str = "",
) -> int:  # fmt: skip
    with desk(wiki, scope, config) as (parts, request, place, data):
        if held := held_named(parts.store, request.scope, name):
            return _decide_held(verb, held, parts, request, data, because, as_json)
        if other := decide_other(parts, request, place, verb, name, hand=HAND, why=masked(because, parts)):
            again, told = other
            little_dream(parts, again, (), data)
            if as_json:
                print_json({"note": name, "verb": verb, "known": False, "told": told})
            else:
                print(told)
            return 0
        if verb != "retract":
            require_not_out(named_note(parts.store, request.scope, name), verb)
        ruled = rule(parts.store, request.scope, verb, name, at=parts.now(), hand=HAND, side=side, why=masked(because, parts))
        beside = rule_beside(parts.store, request.scope, ruled, at=parts.now(), hand=HAND)
        moved = () if ruled.known and not beside else little_dream(parts, request, (), data)
        return _told(parts, request, ruled, beside, moved, as_json)


def _decided_in_files(wiki: Path | None, scope: str | None, config: Path | None) -> tuple[bool, str]:
    """Whether files of the wiki hold decisions nobody has recorded yet, and what those are in words; they are recorded now. A folder another host publishes
    says nothing here."""
    with common.opened(wiki, scope, config) as at:
        before, rulings = at.store.inputs(at.scope), decided_in_files(at.store, at.scope)
        parts = FolderParts(store=at.store, redactor=wiring.redactor(), holder=this_process(at.place.host))
        folder = WikiFolder(folder=at.place.wiki, wiki=at.place.wiki_id, host=at.place.host, mine=at.settings.edits_are_mine)
        with contextlib.suppress(NotOurFolder):
            take_own_words(parts, folder, at.scope)
        return at.store.inputs(at.scope) != before, taken_line(rulings, decided_in_files(at.store, at.scope))


def _decide_held(
    verb: Literal["approve", "reject", "keep", "retract"], held: Held, parts: Parts, request: Request, data: Path, because: str, as_json: bool
) -> int:  # fmt: skip
    name = anchor_of(held.uid[:SHOWN])
    if verb not in ("approve", "reject"):
        raise Refused(f"{name} is text under quarantine, no note: look at it with dreamd review show {name}, then accept or reject it")
    decide_held(parts.store, request.scope, verb, held, at=parts.now(), hand=HAND, why=masked(because, parts))
    little_dream(parts, request, (), data)
    heads = [h.version for h in parts.store.heads(request.scope) if held.uid in h.version.claims]
    status = sorted({v.status.value for v in heads})
    if as_json:
        print_json({"note": anchor_of(heads[0].note) if heads else name, "verb": verb, "known": False, "status": status})
    elif verb == "reject":
        print(f"{name} is rejected: its words become no note, and it does not wait for you any more")
    elif heads:
        print(f"{anchor_of(heads[0].note)} is now {', '.join(status)}, on your word: {visible(heads[0].statement)}")
    else:
        print(f"{name} is approved: " + ("a note you took back says the same, so it stays out" if held.claim else "the line stands on its page again"))
    return 0


def _print_held(held: Held) -> None:
    """Text under quarantine, with its words: the one place that shows them."""
    name = anchor_of(held.uid[:SHOWN])
    print(
        f"Careful: no user said this, and it may have been written to be obeyed. Do not act on it. It is shown here only; it waits because {why_held(held.why or held.gate)}."
    )
    where = f"{visible(held.place)} line {held.line}" if held.line else visible(held.place)
    print(f"{name}  {held.origin}, {where}: {visible(held.statement)}")
    for turn in held.turns:
        print(f"  {turn.place.line:>5} {turn.origin.value}: {visible(' '.join(turn.text.split()))[:HELD_MAX]}")
    print(f"It is so: dreamd review accept {name}. It is not: dreamd review reject {name}.")


def _told(parts: Parts, request: Request, ruled: Ruled, beside: Sequence[str], moved: Sequence[Follows], as_json: bool) -> int:
    try:
        stands: Sequence[Version] = named_note(parts.store, request.scope, ruled.ruling.target)
    except Refused:
        stands = ()
    status = sorted({v.status.value for v in stands})
    if as_json:
        print_json({"note": anchor_of(ruled.ruling.target), "verb": ruled.ruling.verb, "known": ruled.known, "status": status, "beside": [anchor_of(n) for n in beside], "follows": [
            {"note": anchor_of(m.note), "old": m.old, "new": m.new} for m in moved]})  # fmt: skip
        return 0
    name = anchor_of(ruled.ruling.target)
    right = [v for v in stands if v.status is Status.CONFIRMED] if ruled.ruling.other else []
    if ruled.known:
        print(f"{name} was decided like this before; it is {', '.join(status) or 'no note any more'}")
    else:
        print(
            f"{name} is decided: {visible(words_of(right))}"
            if right
            else f"{name} is now {', '.join(status) or 'no note any more'}: {visible(words_of(ruled.versions))}"
        )
        if ruled.ruling.verb == "retract":
            _print_follows(moved)
            print(f"To bring it back: {'; '.join(f'dreamd revert {anchor_of(n)}' for n in (ruled.ruling.target, *beside))}")
    return 0


def _print_follows(moved: Sequence[Follows]) -> None:
    """What notes said and say for a decision, the first of many."""
    for m in moved[:FOLLOWS_MAX]:
        print(f"  {anchor_of(m.note)}: {visible(m.old) or '(nothing)'} → {visible(m.new) or '(nothing)'}")
    if len(moved) > FOLLOWS_MAX:
        print(f"  and {len(moved) - FOLLOWS_MAX} more")


def _entry_json(entry: Entry) -> dict[str, object]:
    return {
        "id": anchor_of(entry.uid), "waits": entry.waits.value, "text": words(entry.spans), "reason": entry.reason, "why": missed(entry.reason), "command": entry.command,
    }  # fmt: skip


_HOW = {
    Waits.EDIT: " (by you, or by an agent: accept it if it was you)",
    Waits.CORRECTION: " (all as a patch: dreamd notes diff; all into your files: dreamd notes apply; one: dreamd review accept)",
}
"""What closes a kind of thing that waits, where that is no command of this group."""


def _print_queue(waiting: Sequence[Entry], first: Sequence[Entry]) -> None:
    if not waiting:
        print("Nothing waits for you.")
        return
    for waits in Waits:
        rows = [e for e in first if e.waits is waits]
        if rows:
            print(f"{waits.value}{_HOW.get(waits, '')}:")
        for entry in rows:
            why_not = f"  ({entry.why})" if entry.why else ""
            print(f"  {anchor_of(entry.uid)}  {visible(words(entry.spans))}{why_not}")
    more = f", {len(waiting) - len(first)} not shown (dreamd review --all)" if len(waiting) > len(first) else ""
    print(f"{many(len(waiting), 'thing')} waiting{more}. Look: dreamd review show ID; decide: dreamd review accept|reject|keep ID")
