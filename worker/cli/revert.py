"""dreamd revert: take back what a dream, or the last change of a note, decided; bring it back again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from pipelines.run import Request
from pipelines.run.publish import publishing_problems
from pipelines.run.reverting import Reverted, Shift, revert
from worker import wiring
from worker.cli import common
from worker.cli.output import many, print_json, visible
from worker.connect.briefs import leave_briefs
from worker.settings import data_folder

HAND = "command"
SHOWN_MAX = 40
Name = Annotated[str, typer.Argument(metavar="DREAM|NOTE", help="A dream's id (dreamd dreams list), or a note's (n-…) for its last change.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would change, old → new; write nothing.")]
Again = Annotated[bool, typer.Option("--again", help="Let it count again: lifts what an earlier revert took back.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("revert")(revert_command)


def revert_command(
    name: Name, dry_run: DryRun = False, again: Again = False, wiki: common.Wiki = None, scope: common.Scope = None, config: common.Config = None,
    as_json: common.Json = False,
) -> int:  # fmt: skip
    """Take back one dream, or the last change of one note, with all that depended on it. What came later with lines of its own stays, your edits too.

    No later dream learns it again from the same lines, until you say --again.
    """
    loaded = common.start(config)
    place = wiring.place_of(wiring.find_wiki(wiki, loaded), loaded, create=False)
    with wiring.open_parts(place, loaded, scope=scope) as parts:
        over = common.scope_of(scope, loaded, parts.store)
        request = Request(scope=over, paths=(), wiki=place.wiki, wiki_id=place.wiki_id, host=place.host, cause="revert", params=parts.defaults)
        done = revert(parts, request, name, again=again, dry_run=dry_run, hand=HAND)
        if done.dream is not None:
            leave_briefs(parts.store, over, data=data_folder(loaded), wiki=place.wiki)
    if as_json:
        print_json(_json(done, dry_run=dry_run))
    else:
        _print(done, dry_run=dry_run)
    return 0


def _json(done: Reverted, *, dry_run: bool) -> dict[str, object]:
    return {
        "reverts": done.mark, "again": done.again, "dry_run": dry_run, "known": done.known, "dream": done.dream.uid if done.dream else None,
        "revision": done.dream.applied_rev if done.dream else None,
        "notes": [{"note": f"n-{s.note}", "title": s.title, "old": s.old, "new": s.new} for s in done.shifts], "evidence_only": done.others,
        "problems": list(publishing_problems(done.published)) if done.published else [],
    }  # fmt: skip


def _print(done: Reverted, *, dry_run: bool) -> None:
    kind, _, uid = done.mark.partition(" ")
    what = f"dream {uid}" if kind == "dream" else f"the last change of n-{uid}"
    name = uid if kind == "dream" else f"n-{uid}"
    if done.known:
        print(
            f"{what} was never reverted: nothing to bring back" if done.again else f"{what} is reverted already; to bring it back: dreamd revert {name} --again"
        )
        return
    would = "would be " if dry_run else ""
    print(f"{what} {would}{'brought back' if done.again else 'reverted'}: {many(len(done.shifts), 'note')} {'would change' if dry_run else 'changed'}")
    _print_shifts(done.shifts)
    if done.others:
        print(f"  {many(done.others, 'note')} {'would say' if dry_run else 'says' if done.others == 1 else 'say'} the same on other evidence")
    for problem in publishing_problems(done.published) if done.published else ():
        print(f"  {visible(problem)}")
    if not dry_run:
        print(f"To take that back: dreamd revert {name}{'' if done.again else ' --again'}")


def _print_shifts(shifts: Sequence[Shift]) -> None:
    for shift in shifts[:SHOWN_MAX]:
        print(f"  {visible(shift.title)}: {visible(shift.old) or '(nothing)'} → {visible(shift.new) or '(nothing)'}")
    if len(shifts) > SHOWN_MAX:
        print(f"  and {len(shifts) - SHOWN_MAX} more (--json names all)")
