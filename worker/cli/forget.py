"""dreamd forget: take words out of everything dreamd holds, and keep them from being learnt again; dreamd scrub: mask by the newest secret rules."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import typer

from pipelines.run import Parts, Request
from pipelines.run.forgetting import CARRIES, Forgot, carries, clean_leftovers, forget, note_named, scrub, session_named, shows_it
from pipelines.store.lost import Lost
from pipelines.store.reach import Choice
from pipelines.text.traces import Traces
from worker import wiring
from worker.cli import common
from worker.cli.output import many, print_json, visible
from worker.connect.briefs import leave_briefs
from worker.hook import spool_folder
from worker.note_files import BACKUPS, FOLDERS
from worker.settings import data_folder

HAND = "command"
Session = Annotated[str, typer.Option("--session", metavar="UID", help="A session, by its id or enough of it: all it said.")]
Note = Annotated[str, typer.Option("--note", metavar="NAME", help="A note or a line of a note file (n-…), with the lines of logs it rests on.")]
Subject = Annotated[str, typer.Option("--subject", metavar="TEXT", help="Whole words in this order, wherever they stand, and from now on.")]
Where = Annotated[
    str,
    typer.Option(
        "--scope",
        metavar="PATH",
        help="Alone: everything in this scope. Beside another choice: where to look. This scope and none below it: a/b leaves a/b/c alone.",
    ),
]
Before = Annotated[str, typer.Option("--before", metavar="DATE", help="Everything said before this day (UTC).")]
Lift = Annotated[str, typer.Option("--lift", metavar="ID", help="Let what a forget took be learnt again from logs that still hold it.")]
Dry = Annotated[bool, typer.Option("--dry-run", help="Say what would go; change nothing.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
List = Annotated[bool, typer.Option("--list", help="What was forgotten here: ids, times and counts.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("forget")(forget_command)
    app.command("scrub")(scrub_command)


def forget_command(
    session: Session = "", note: Note = "", subject: Subject = "", scope: Where = "", before: Before = "", lift: Lift = "", listed: List = False, dry_run: Dry = False,
    yes: Yes = False, wiki: common.Wiki = None, config: common.Config = None, as_json: common.Json = False,
) -> int:  # fmt: skip
    """Take words out of everything dreamd holds: log lines, notes, pages, answers of models, search. They are not learnt again; --lift undoes that."""
    chosen = [
        name
        for name, given in (("--session", session), ("--note", note), ("--subject", subject), ("--before", before), ("--lift", lift), ("--list", listed))
        if given
    ]
    if len(chosen) > 1 or not (chosen or scope):
        raise typer.BadParameter(
            "say one of --session, --note, --subject, --scope, --before, --lift, --list", param_hint="--session|--note|--subject|--scope|--before"
        )
    with _desk(wiki, common.scope_named(scope), config) as (parts, request, data, private):
        if listed:
            return _list(parts, request.scope, as_json)
        if lift:
            return _lift(parts, request.scope, lift, as_json)
        _end_earlier(parts, request, data)
        choice = _choice(parts, request.scope, session=session, note=note, subject=subject, before=before)
        look = forget(parts, request, choice, hand=HAND, look=True)
        if dry_run:
            return _told(look, as_json)
        if not yes and (as_json or not sys.stdin.isatty()):
            print("dreamd: nothing was forgotten: nobody can be asked here; add --yes (--dry-run shows what would go)", file=sys.stderr)
            return 2
        if not (yes or _agreed(look)):
            print("Nothing was forgotten.")
            return 1
        done = forget(parts, request, choice, hand=HAND, beside=lambda traces: _clean_private(data, private, traces))
        _leave_briefs(parts, request, data)
    return _told(done, as_json)


def scrub_command(
    dry_run: Dry = False, wiki: common.Wiki = None, scope: common.Scope = None, config: common.Config = None, as_json: common.Json = False
) -> int:  # fmt: skip
    """Mask secrets by the newest rules in what was taken in by older ones: turns, archive, and all that was derived from them."""
    with _desk(wiki, scope, config) as (parts, request, data, _):
        done = scrub(parts, request, hand=HAND, look=dry_run)
        if done is not None and not dry_run:
            _leave_briefs(parts, request, data)
    if as_json:
        print_json({"masked": dict(done.counts) if done else {}, "left": [{"what": w, "why": y} for w, y in done.left] if done else []})
    elif done is None:
        print("Nothing to mask: what was taken in holds no secret the newest rules know")
    else:
        print(f"{'This would be masked, or go and be derived anew' if dry_run else 'Masked, or gone and derived anew'}: {_counts(done.counts)}")
        print("Out of reach: " + "; ".join(done.beyond) + ".")
    return 1 if done is not None and done.left else 0


def _end_earlier(parts: Parts, request: Request, data: Path) -> None:
    """Clean what a forget that was cut off left in files: who asks for it again is told that there is no such thing any more."""
    clean_leftovers(parts, request)
    _leave_briefs(parts, request, data)


def _leave_briefs(parts: Parts, request: Request, data: Path) -> None:
    """The briefs of what is left, where the wiki shows the scope: the sessions of a wiki are told of no other."""
    if shows_it(parts, request):
        leave_briefs(parts.store, request.scope, data=data, wiki=request.wiki)


def _choice(parts: Parts, scope: str, *, session: str, note: str, subject: str, before: str) -> Choice:
    if session:
        return Choice(sessions=frozenset({session_named(parts.store, scope, session)}))
    if note:
        return note_named(parts.store, scope, note)
    if subject:
        choice = Choice(subject=subject)
        if not choice.phrase:
            raise typer.BadParameter("there is no word in it", param_hint="--subject")
        return choice
    if before:
        return Choice(before=_day(before))
    return Choice(everything=True)


def _day(told: str) -> datetime:
    try:
        at = datetime.fromisoformat(told)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        raise typer.BadParameter(f"{told!r} is no date: write it as 2026-03-31", param_hint="--before") from None


@contextmanager
def _desk(wiki: Path | None, scope: str | None, config: Path | None) -> Iterator[tuple[Parts, Request, Path, Path]]:
    """Live parts over an existing wiki, where to publish, the data folder, and the wiki's own folder in it."""
    loaded = common.start(config)
    place = wiring.place_of(wiring.find_wiki(wiki, loaded), loaded, create=False)
    with wiring.open_parts(place, loaded, scope=scope) as parts:
        request = Request(
            scope=common.scope_of(scope, loaded, parts.store), paths=(), wiki=place.wiki, wiki_id=place.wiki_id, host=place.host, cause="forget",
            exclude=(str(place.wiki),), params=parts.defaults,
        )  # fmt: skip
        yield parts, request, data_folder(loaded), place.private


def _agreed(look: Forgot) -> bool:
    """Whether the person says so, once it is shown what goes."""
    _show(look)
    print("It cannot be brought back from here; logs that still hold it can be read again after --lift.")
    return typer.confirm("Forget it?")


# --- files beside the store --------------------------------------------------------------------------------------------------------------


def _clean_private(data: Path, private: Path, traces: Traces) -> tuple[tuple[str, str], ...]:
    """What lies beside the store: what was remembered by hand, backups of note files, what hooks left. Returns files that hold it and are not known."""
    for log in sorted((private / "said").glob("*.jsonl")):
        _blank_lines(log, traces)
    for backup in sorted((private / BACKUPS).glob("*")):
        if any(_holds(path, traces) for path in backup.rglob("*") if path.is_file()):
            shutil.rmtree(backup)
    for left in (*sorted(Path(spool_folder(str(data))).rglob("*")), *sorted(data.glob("session-end-dream*"))):
        if left.is_file() and _holds(left, traces):
            left.unlink(missing_ok=True)
    stores = {p for p in private.rglob("*") if p.name.startswith("store.") or "archive" in p.relative_to(private).parts}
    known = [p for p in sorted(private.rglob("*")) if p.is_file() and p not in stores]
    found = ((p, CARRIES if traces.within(p.name) else carries(p, traces)) for p in known)
    return tuple((str(p), _why_left(p) if why == CARRIES else why) for p, why in found if why)


def _why_left(path: Path) -> str:
    """Why a file of the data folder holds the words after everything known was cleaned."""
    if path.name == FOLDERS:
        return "dreamd's own list of the folders of notes it reads: the name of one holds the words; rename that folder, and name it anew with --notes"
    return "it lies in dreamd's data folder, and dreamd does not know it"


def _holds(path: Path, traces: Traces) -> bool:
    """Whether a file holds it for certain: one that cannot be read is named, not deleted."""
    return traces.within(path.name) or carries(path, traces) == CARRIES


def _blank_lines(log: Path, traces: Traces) -> None:
    """Blanks of the same length in place of lines of a log of dreamd's own that hold it: citations of the others still find theirs."""
    data = log.read_bytes()
    lines = data.splitlines(keepends=True)
    kept = b"".join(b" " * (len(line) - 1) + line[-1:] if traces.within(line.decode("utf-8", "replace")) else line for line in lines)
    if kept != data:
        with log.open("r+b") as file:
            file.write(kept)
            file.flush()


# --- telling -----------------------------------------------------------------------------------------------------------------------------


SHOWN_MAX = 40
"""Notes, and sessions, that are named."""
KINDS: Final[Mapping[str, tuple[str, str]]] = {
    "turns": ("turn", "turns"), "sessions": ("session", "sessions"), "claims": ("statement read in them", "statements read in them"),
    "notes": ("note", "notes"), "online_notes": ("line of your note files", "lines of your note files"),
    "own_lines": ("line you wrote on a page", "lines you wrote on pages"), "reasons": ("reason you gave", "reasons you gave"),
    "pages": ("page", "pages"), "page_versions": ("kept version of a page", "kept versions of pages"),
    "note_versions": ("kept version of a note", "kept versions of notes"), "decisions": ("record of why a note changed", "records of why notes changed"),
    "findings": ("verdict on a line of your notes", "verdicts on lines of your notes"), "relations": ("link between statements", "links between statements"),
    "deliveries": ("record of what a session was told", "records of what sessions were told"), "dreams": ("report of a dream", "reports of dreams"),
    "answers": ("answer of a model", "answers of models"), "calls": ("question to a model", "questions to models"),
    "letters": ("message nobody could read", "messages nobody could read"), "files": ("name of a file", "names of files"),
    "segments": ("piece of a copied log", "pieces of copied logs"), "blobs": ("file of the archive", "files of the archive"),
}  # fmt: skip
"""What is counted, in words: one, and more."""


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {_kind(name, n)}" for name, n in counts.items() if n) or "nothing"


def _kind(name: str, count: int) -> str:
    words = KINDS.get(name)
    return words[count != 1] if words else name.replace("_", " ")


def _show(done: Forgot) -> None:
    """The notes and sessions it is about, then everything that goes, counted."""
    would = not done.uid
    gone = sum(not s.new for s in done.notes)
    told = [f"{many(gone, 'note')} {'would go' if would else 'went'}"] if gone else []
    if changed := len(done.notes) - gone:
        told.append(f"{many(changed, 'note')} {'would say' if would else 'say' if changed > 1 else 'says'} something else")
    print(f"{'This would be forgotten' if would else 'Forgotten'}: {', '.join(told) or 'no note says anything else for it'}")
    _named([f"{visible(s.title)}: {visible(s.old) or '(nothing)'} → {visible(s.new) or 'gone'}" for s in done.notes])
    _named([_session(s) for s in done.sessions])
    print(f"{'In all' if would else 'In all went'}: {_counts(done.counts)}")


def _session(lost: Lost) -> str:
    at = f"{lost.at:%Y-%m-%d}" if lost.at else "no date"
    words = f"“{visible(lost.words)}”" if lost.words else "nobody typed in it"
    return f"session {at} {words} ({lost.session[:8]}): {'all of it' if lost.whole else many(lost.turns, 'turn')}"


def _named(rows: Sequence[str]) -> None:
    for row in rows[:SHOWN_MAX]:
        print(f"  {row}")
    if len(rows) > SHOWN_MAX:
        print(f"  and {len(rows) - SHOWN_MAX} more (--json names all)")


def _told(done: Forgot, as_json: bool) -> int:
    if as_json:
        print_json(
            {"forget": done.uid or None, "counts": dict(done.counts), "beyond": list(done.beyond), "left": [{"what": w, "why": y} for w, y in done.left],
             "notes": [{"note": f"n-{s.note}", "title": s.title, "old": s.old, "new": s.new} for s in done.notes],
             "sessions": [{"session": s.session, "at": s.at, "words": s.words, "turns": s.turns, "whole": s.whole} for s in done.sessions]}
        )  # fmt: skip
        return 1 if done.left else 0
    _show(done)
    if done.uid:
        print(f"It is not learnt again from the same logs. To let it be: dreamd forget --lift {done.uid}")
    for what, why in done.left:
        print(f"  still there: {visible(what)} ({visible(why)})")
    print("Out of reach: " + "; ".join(done.beyond) + ".")
    return 1 if done.left else 0


def _list(parts: Parts, scope: str, as_json: bool) -> int:
    receipts = parts.store.receipts(scope)
    if as_json:
        rows = [{"forget": r.uid, "how": r.how, "hand": r.hand, "at": r.at, "counts": dict(r.counts), "lifted": r.lifted} for r in receipts]
        print_json({"forgets": rows})
        return 0
    for r in receipts:
        print(f"{r.uid}  {r.at:%Y-%m-%d %H:%M} UTC  by {r.how}{', lifted' if r.lifted else ''}: {_counts(r.counts)}")
    if not receipts:
        print("Nothing was ever forgotten here.")
    return 0


def _lift(parts: Parts, scope: str, uid: str, as_json: bool) -> int:
    gone = parts.store.lift(scope, uid, HAND)
    if as_json:
        print_json({"forget": uid, "tombstones": gone})
    elif gone:
        print(f"{uid} is lifted: the next dream reads the logs it touched again, and learns what they still hold")
    else:
        print(f"{uid} was lifted before")
    return 0
