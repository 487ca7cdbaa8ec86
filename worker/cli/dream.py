"""dreamd dream: the main job."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import structlog
import typer

from pipelines.errors import DreamdError
from pipelines.report import DreamReport
from pipelines.run import Outcome, Params, Request, dream
from pipelines.run.sources import NOTHING
from pipelines.store import DreamRunning
from pipelines.wiki.content import anchor_of
from pipelines.wiki.inbox import UNASKED
from pipelines.wiki.inline import cut_quote
from pipelines.wiki.reasons import refused
from worker import wiring
from worker.above import require_not_above
from worker.cli import common, money
from worker.cli.file_decisions import decided_in_files, taken_line
from worker.cli.output import Progress, counted, many, print_json, visible
from worker.cli.targets import Target, pending_targets, targets_of
from worker.connect.briefs import leave_briefs
from worker.connect.pending import leaves_it, served
from worker.engines import dollars
from worker.hands import Busy, helped
from worker.instruction_places import instructed_by
from worker.note_files import remember_folders
from worker.projects import Homes
from worker.settings import Settings, data_folder
from worker.spool import drain, spool_of

log = structlog.get_logger("dreamd.dream")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("dream")(dream_command)


def dream_command(
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="PATH", help="Log files, or folders to look for logs in; default: what your agents keep of this project.")
    ] = None,
    wiki: common.Wiki = None,
    notes: Annotated[list[Path] | None, typer.Option("--notes", metavar="DIR", help="A folder (or file) of the agent's own notes; may be repeated.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Every project your agents keep logs of, each into its own wiki.")] = False,
    pending: Annotated[bool, typer.Option("--pending", help="Every project that was dreamt over before and has something new.")] = False,
    keep: Annotated[bool, typer.Option("--keep", help="With --wiki: that is the project's wiki from now on, not for this command alone.")] = False,
    at_session_end: Annotated[bool, typer.Option("--at-session-end", hidden=True)] = False,
    scope: common.Scope = None,
    since: Annotated[str | None, typer.Option("--since", metavar="DATE", help="Leave out sessions that ended before this date (YYYY-MM-DD).")] = None,
    engine: money.Engine = None,
    budget: money.Budget = None,
    batch: money.Batch = None,
    instructions: money.Instructions = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Plan everything, change no note and no page.")] = False,
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Refuse instead of waiting when another dream runs over this wiki.")] = False,
    config: common.Config = None,
    as_json: common.Json = False,
) -> int:
    """Read new logs and notes, correct, merge and expire notes, and write the wiki."""
    loaded = common.start(config)
    wish = money.Wish(engine=engine, budget=budget, batch=batch, instructions=instructions)
    choice = wish.choice(loaded)
    when = _date(since)
    if (every or pending) and (paths or notes or wiki):
        raise typer.BadParameter("takes neither PATH nor --notes nor --wiki: each project has its own", param_hint="--all" if every else "--pending")
    if keep and (wiki is None or paths or notes):
        raise typer.BadParameter("goes with --wiki, for the project of the current folder", param_hint="--keep")
    if at_session_end and (why := leaves_it(loaded)):
        typer.echo(f"not dreamt: {why}", err=True)
        return 0
    if paths or notes:
        _require_paths(paths or [], notes or [])
        _require_notes(notes or [])
        made_in = instructed_by(paths or (), Homes.of(os.environ))
        targets: Iterable[Target] = (
            Target(wiki=wiring.find_wiki(wiki, loaded), scope=scope, paths=tuple(paths or ()), notes=tuple(notes or ()), instructions=made_in),
        )
    elif pending:
        targets = (t for t in pending_targets(loaded) if not (at_session_end and served(t.wiki, loaded)))
    else:
        targets = targets_of(loaded, every=every, wiki=wiki, scope=scope, keep=keep)
    if not as_json and wish.leaves_open(loaded):
        typer.echo(f"engine {choice.engine}: {choice.why}", err=True)
    ended: list[_Ended] = []
    for target in targets:
        if not as_json and target.told:
            typer.echo(target.told, err=True)
        try:
            ended.append(_dream(target, loaded, lambda defaults: replace(wish.params(loaded, choice, defaults), since=when, dry_run=dry_run), no_wait, as_json))
        except DreamdError as error:
            if not (every or pending):
                raise
            typer.echo(f"dreamd: {error}", err=True)  # the others' dreams are not at fault
            ended.append(_Ended(code=1, root=target.project.root if target.project else None, failed=True))
    if pending and not ended and not as_json:
        typer.echo("nothing new in any project that is dreamt over")
    if every and not as_json:
        print(_closing(ended))
    return max((e.code for e in ended), default=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ended:
    """How the dream over one target ended: its exit code, whether it changed a note, how much waits for the person, whether it could not be dreamt at all."""

    code: int
    root: Path | None = None
    learnt: bool = False
    waits: int = 0
    failed: bool = False


def _closing(ended: Sequence[_Ended]) -> str:
    """What came of all projects, and the next command."""
    failed, learnt, waiting = (sum(e.failed for e in ended), sum(e.learnt for e in ended), [e for e in ended if e.waits])
    things = sum(e.waits for e in waiting)
    told = [f"{many(len(ended) - failed, 'project')} dreamt over", f"{learnt or 'none'} learnt something"]
    told += [f"{failed} could not be (said above)"] if failed else []
    told.append(
        f"{many(things, 'thing')} {'waits' if things == 1 else 'wait'} for you in {many(len(waiting), 'project')}" if waiting else "nothing waits for you"
    )
    most = max(waiting, key=lambda e: e.waits, default=None)
    following = f"cd {shlex.quote(visible(str(most.root)))} && dreamd review" if most and most.root else "dreamd"
    return f"All in all: {', '.join(told)}. Next: {following}"


def _dream(target: Target, loaded: Settings, params: Callable[[Params], Params], no_wait: bool, as_json: bool) -> _Ended:
    require_not_above(target.wiki, target.scope, loaded)
    place = wiring.place_of(target.wiki, loaded, create=True)
    target.register(loaded)
    progress = Progress(quiet=as_json)
    with ExitStack() as stack:
        busy = Busy()
        alone = stack.enter_context(wiring.open_parts(place, loaded, scope=target.scope, progress=progress, busy=busy))
        request = Request(
            scope=common.scope_of(target.scope, loaded, alone.store), paths=target.paths, wiki=place.wiki, wiki_id=place.wiki_id, host=place.host,
            notes=tuple(n.expanduser() for n in target.notes), exclude=(str(place.wiki), str(place.private)), mine=loaded.edits_are_mine, params=params(alone.defaults),
            instructions=target.instructions,
        )  # fmt: skip
        busy.parts = parts = stack.enter_context(helped(alone, place, loaded, scope=target.scope, params=request.params))
        if target.project is not None and not request.params.dry_run:
            drain(parts, spool_of(loaded), request, host=place.host, asks=False)
        decided = decided_in_files(parts.store, request.scope)
        outcome = dream(parts, request, waiting=None if no_wait else Waiting())
        if not as_json and (taken := taken_line(decided, decided_in_files(parts.store, request.scope))):
            progress.done()
            typer.echo(taken, err=True)
        leave_briefs(parts.store, request.scope, data=data_folder(loaded), wiki=place.wiki)
        summary = parts.store.dream(request.scope, outcome.report.dream).summary or {}
    progress.done()
    remember_folders(place.private, target.notes)
    for error in outcome.errors:
        log.warning("unit_failed", dream=outcome.report.dream, error=type(error).__name__)
    waits = summary.get("waiting")
    return _Ended(
        code=tell(outcome, place.wiki, as_json=as_json, noted=bool(target.notes)), root=target.project.root if target.project else None,
        learnt=not _nothing_new(outcome) and outcome.report.status == "completed" and _moved(outcome.report), waits=waits if isinstance(waits, int) else 0,
    )  # fmt: skip


def _moved(report: DreamReport) -> bool:
    """Whether a note is new or says something else."""
    return bool(report.notes.added or report.notes.extended or report.notes.superseded)


class Waiting:
    """Says once for whom a dream waits."""

    def __init__(self) -> None:
        self._told = ""

    def __call__(self, running: DreamRunning) -> None:
        """Told as often as there is somebody to wait for."""
        if running.dream != self._told:
            typer.echo(f"waiting: {running.told}; this dream goes on when it has ended", err=True)
            self._told = running.dream


def tell(outcome: Outcome, wiki: Path, *, as_json: bool, noted: bool = True) -> int:
    """Print what a dream did; returns the exit code. `noted`: folders of notes were read, so that a person knows where their notes come from."""
    report = outcome.report
    withheld = outcome.published.withheld if outcome.published else ()
    if as_json:
        gone = {"no_longer_kept": dict(outcome.let_go)} if outcome.let_go else {}
        would = {"would": [{"note": anchor_of(f.note), "old": f.old or None, "new": f.new or None} for f in outcome.would]} if outcome.would else {}
        print_json({**report.as_json(), **gone, **would, **({"withheld": list(withheld)} if withheld else {})})
    else:
        _print(report, outcome, wiki, noted=noted)
        if outcome.let_go:
            print(f"Older than the settings keep (retention): {counted(outcome.let_go)} went; nothing is believed otherwise for it")
    return 1 if report.refused or report.unread.get("unreachable") or report.status == "held" or withheld else 0


def _date(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no date such as 2026-03-02", param_hint="--since") from None
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def _require_paths(paths: list[str], notes: list[Path]) -> None:
    """Something to read: a misspelt name alone makes no wiki; one among others is refused by name and the rest is done."""
    if not paths and not notes:
        raise typer.BadParameter("name the logs to read (a file or a folder), or a folder of notes with --notes", param_hint="PATH...")
    if not notes:
        common.require_some(paths)


def _require_notes(notes: list[Path]) -> None:
    for folder in notes:
        if not folder.expanduser().exists():
            raise typer.BadParameter(f"{folder} does not exist", param_hint="--notes")


def _nothing_new(outcome: Outcome) -> bool:
    return outcome.taken is NOTHING and not outcome.report.seconds


def _parts(counts: Mapping[str, int]) -> str:
    """`3 new, 1 extended`: the counts that are not zero, as they come."""
    return ", ".join(f"{n} {name}" for name, n in counts.items() if n)


def _records(report: DreamReport) -> str:
    """What the lines of logs were worth, where there is something to say of them."""
    records = report.records
    told = _parts({"good": records.good, "bad (dreamd status --bad names them)": records.bad, "pending": records.pending})
    return "; ".join(filter(None, (told, f"{many(report.redacted, 'secret')} masked" if report.redacted else "")))


def _print(report: DreamReport, outcome: Outcome, wiki: Path, *, noted: bool) -> None:
    """The summary for a person: what came in, what the notes are worth, what was written, what to do next."""
    if _nothing_new(outcome):
        stands = "its folder shows it again" if outcome.published else "the wiki stands as it was"
        print(f"Nothing new since dream {report.dream}: {many(report.sessions, 'session')}, {many(report.turns, 'turn')}; {stands}.")
        _print_left(outcome)
        return
    notes, online = report.notes, report.online
    print(f"Dream {report.dream} over {report.scope}: {report.status} in {report.seconds:.1f} s (engine {report.engine})")
    origins = f" ({counted(report.origins)})" if any(report.origins.values()) else ""
    print(f"  read      {many(report.sessions, 'session')}, {many(report.turns, 'turn')}{origins}")
    if told := _records(report):
        print(f"  records   {told}")
    moved = {"new": notes.added, "extended": notes.extended, "superseded": notes.superseded, "disputed": notes.conflicting}
    drafts = many(notes.drafts, "draft") if notes.drafts else ""
    unasked = f"{notes.unasked} {UNASKED} (dreamd review --all)" if notes.unasked else ""
    stand = ", ".join(filter(None, (drafts, unasked)))
    print(f"  notes     {', '.join(filter(None, (_parts(moved), stand))) if _parts(moved) else '; '.join(filter(None, ('nothing new', stand)))}")
    if online.carried:
        checked = {k: v for k, v in vars_of(online).items() if k != "carried"}
        found = "" if noted else ", found in the logs, which show them being written"
        print(f"  carried   {many(online.carried, 'note')} of your own{found}: {counted(checked)}")
    for line in _asked(report):
        print(line)
    if report.rejected:
        print(f"  refused   {refused(report.rejected)}")
    for line in _would(outcome):
        print(line)
    if report.status == "planned":
        print(f"No note and no page was changed (--dry-run){_spent_dry(report)}. To apply it as it is: {report.next}")
    else:
        pages = _parts({"written": report.pages.written, "unchanged": report.pages.unchanged})
        print(f"  wiki      {pages or 'no page'}; brief {many(report.brief.lines, 'line')}, {many(report.brief.bytes, 'byte')}")
    for source in report.refused:
        print(f"  not taken {visible(source.path)}: {visible(source.why)}{_notes_hint(source.path)}")
    if report.status == "held":
        print(f"A guard holds changes to confirmed notes: too many would change at once. If they are right: dreamd apply {report.dream}")
    if outcome.wrong:
        files, lines = outcome.wrong.keys(), sum(outcome.wrong.values())
        print(f"{many(lines, 'wrong line')} {'is' if lines == 1 else 'are'} still live in {', '.join(files)}: dreamd notes diff shows what they should say")
    if others := outcome.waits - sum(outcome.wrong.values()):
        more = " more" if outcome.wrong else ""
        print(f"{others}{more} {'thing waits' if others == 1 else 'things wait'} for you: dreamd review")
    _print_left(outcome)
    if outcome.published:
        print(f"Read {wiki / 'MEMORY.md'}")


WOULD_MAX = 12
"""Notes a rehearsal names; `--json` names all."""


def _would(outcome: Outcome) -> Iterator[str]:
    """What a rehearsal would have notes say, new ones first."""
    told = sorted(outcome.would, key=lambda f: bool(f.old))
    for f in told[:WOULD_MAX]:
        old, new = visible(cut_quote(f.old)), visible(cut_quote(f.new))
        yield f"  would     {f'learn {new}' if not old else f'say {new}; it says {old}' if new else f'no longer say {old}'}"
    if len(told) > WOULD_MAX:
        yield f"  and {len(told) - WOULD_MAX} more: --json names all"


def _print_left(outcome: Outcome) -> None:
    """The files of the wiki that were not written, since somebody changed them."""
    for path, why in outcome.published.held if outcome.published else ():
        print(f"  left as it is {path}: {why}")


def _spent_dry(report: DreamReport) -> str:
    """What a rehearsal cost all the same: its answers are recorded, and applying it asks nothing again."""
    spent = report.asked.get("cost_uusd", 0)
    return f", but its calls were made: {dollars(spent)} spent, and their answers kept" if spent else ""


def _asked(report: DreamReport) -> Iterator[str]:
    """What a model was asked and what that cost; what a budget or an unusable answer left unread."""
    asked = report.asked
    if asked:
        there = f"; {many(asked.get('recorded', 0), 'answer')} stood recorded" if asked.get("recorded") else ""
        yield f"  asked     {many(asked.get('sent', 0), 'call')}, {dollars(asked.get('cost_uusd', 0))}{there}"
    if over := asked.get("over_budget"):
        left = report.unread.get("budget", 0) + report.unread.get("partly", 0)
        sessions = f", {many(left, 'session')} with them" if left else ""
        yield f"  budget    used up: {many(over, 'question')} left to the next dream{sessions}; --budget or claude.budget_usd gives more"
    if silent := report.unread.get("unreachable"):
        yield f"  model     cannot be reached: {many(silent, 'session')} read by the rules alone; the next dream asks again"
    if report.left:
        dumps = "; dumps can be read again where they came from" if report.left.get("dump") else ""
        yield f"  unread    {counted(report.left)} (turns, by why{dumps})"


def _notes_hint(path: str) -> str:
    """What to do with Markdown named as a log: it may be notes."""
    named = Path(path).expanduser()
    holds = named.suffix == ".md" or (named.is_dir() and next(named.glob("*.md"), None) is not None)
    return "; notes are named with --notes" if holds else ""


def vars_of(value: object) -> dict[str, int]:
    """Fields of a small frozen value, by name."""
    return {name: getattr(value, name) for name in value.__slots__}  # type: ignore[attr-defined]
