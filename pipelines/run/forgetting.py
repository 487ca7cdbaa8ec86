"""Forgetting, whole: rows deleted, what is left believed and rendered, in one transaction; then the files that held it.

A look at what would go is the same transaction taken back. What a crash leaves to be cleaned in files is cleaned by whoever dreams or forgets next.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import groupby
from pathlib import Path

from pipelines.errors import Conflict, Refused, Transient
from pipelines.run.archived import drop_unused, holding, leave_over, listed
from pipelines.run.asking_read import asks
from pipelines.run.company import hold_by_speaker
from pipelines.run.ending import ending_of, write_ending
from pipelines.run.parts import Params, Parts, Request
from pipelines.run.publish import publish_revision, take_own_words
from pipelines.run.reading import read_session, save_sessions, unread_sessions
from pipelines.run.render import commit_report
from pipelines.run.resolving import lineage_of, resolve_dirty
from pipelines.run.retold import retell
from pipelines.run.reverting import Shift, titles_of, told_verdict
from pipelines.run.ruling import named_note
from pipelines.run.sources import standing_notes
from pipelines.run.taking_back import says
from pipelines.run.units.analyse import believed_with
from pipelines.run.verdicts import assess_notes, change_of
from pipelines.run.wiki import folder_of
from pipelines.store import Store
from pipelines.store.filled import BLOB
from pipelines.store.forget import SPACE, WIKI, Gone
from pipelines.store.lost import Lost
from pipelines.store.reach import Choice
from pipelines.store.retain import PAGES
from pipelines.text.traces import Traces

SESSION_MIN = 6
"""Characters of a session's id that are enough to name it, when only one begins so."""
BEYOND = (
    "backups of this machine and of the store, and exports",
    "the history of a git repository the wiki or the logs lie in",
    "the original logs and note files, which dreamd never changes: delete them yourself",
    "what was sent to a model's provider, which keeps it by its own terms",
)
"""What no forget reaches, wherever the store lies."""
BEYOND_SERVER = (
    "the write-ahead log and its archive on the PostgreSQL server",
    "deleted rows in the server's files until they are written anew: VACUUM FULL does that, and locks the tables while it runs",
)


class NothingChosen(Refused):
    """No turn and no note is what was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgot:
    """What went or would go: the forget's id ("" for a look), counts by kind, what is out of reach, and files that still hold the words, with the reason.

    `notes` say something else than before, or nothing; `sessions` lose words.
    """

    uid: str
    counts: Mapping[str, int]
    beyond: tuple[str, ...]
    left: tuple[tuple[str, str], ...] = ()
    traces: Traces = field(default_factory=Traces)
    notes: tuple[Shift, ...] = ()
    sessions: tuple[Lost, ...] = ()


class _Look(Exception):
    """Takes the transaction of a look back."""


def nothing_beside(traces: Traces) -> tuple[tuple[str, str], ...]:
    """Nothing lies beside the store that could hold the words."""
    return ()


def forget(
    parts: Parts, request: Request, choice: Choice, *, hand: str, look: bool = False, beside: Callable[[Traces], tuple[tuple[str, str], ...]] = nothing_beside
) -> Forgot:  # fmt: skip
    """Forget what was chosen in a scope. With `look` nothing changes, and what would go is told.

    `beside` takes the words out of what lies beside the store and returns what still holds them. It is called last inside the transaction: whoever is cut off
    behind it finds the words in the store still, and may ask again; nobody could tell them behind the commit.

    Raises NothingChosen when there is no such thing, ArchiveUnavailable when bytes that have to be looked at cannot be read; nothing is gone then.
    """
    clean_leftovers(parts, request)
    if not look and shows_it(parts, request):
        take_own_words(parts, folder_of(request), request.scope)  # what stands in the folder alone is looked through, too
    found = listed(parts)
    gone: list[Gone] = []
    shifts: list[Shift] = []
    try:
        with parts.store.together("forget", sees=True):
            stood = _saying(parts.store, request.scope)
            gone.append(_forget_rows(parts, request, choice, hand, fill=not look))
            leave_over(parts, request.scope, found, holding(gone[0].reach.names))
            shifts += _shifts(stood, _saying(parts.store, request.scope))
            parts.step("forgotten")
            if look:
                raise _Look
            left = beside(gone[0].reach.names)
    except _Look:
        return _forgot("", parts.store, gone[0], shifts)
    parts.step("forget_committed")
    left = (*clean_leftovers(parts, request), *left)
    parts.store.refresh_search()
    if shows_it(parts, request):
        left += files_with(request.wiki, gone[0].reach.names)
    return replace(_forgot(gone[0].uid, parts.store, gone[0], shifts), left=left)


def _forgot(uid: str, store: Store, gone: Gone, shifts: Sequence[Shift]) -> Forgot:
    return Forgot(uid=uid, counts=_told(gone), beyond=_beyond(store, gone), traces=gone.reach.names, notes=tuple(shifts), sessions=gone.lost)


def scrub(parts: Parts, request: Request, *, hand: str, look: bool = False) -> Forgot | None:
    """Mask by the newest rules for secrets what was taken in by older ones, in store and archive, and derive anew what came of it; None when nothing is to
    be masked. With `look` nothing changes.

    An engine that asks a model reads the sessions it touched in its next dream. Raises as `forget`.
    """
    clean_leftovers(parts, request)
    gone: list[Gone | None] = []
    try:
        with parts.store.together("scrub", sees=True):
            gone.append(_scrub_rows(parts, request, hand, fill=not look))
            if look:
                raise _Look
    except _Look:
        pass
    found = gone[0]
    if found is None:
        return None
    left = () if look else clean_leftovers(parts, request)
    parts.store.refresh_search()
    return Forgot(uid="" if look else found.uid, counts=_told(found), beyond=beyond(parts.store), left=left, traces=found.reach.names)


def beyond(store: Store) -> tuple[str, ...]:
    """What a forget in this store does not reach."""
    return BEYOND if store.on_sqlite else (*BEYOND, *BEYOND_SERVER)


def _beyond(store: Store, gone: Gone) -> tuple[str, ...]:
    """What this forget did not reach."""
    untimed = gone.reach.untimed
    return (*beyond(store), *((f"{untimed} {'turn that tells' if untimed == 1 else 'turns that tell'} no time: forget by session",) if untimed else ()))


def _told(gone: Gone) -> Mapping[str, int]:
    return {name: n for name, n in gone.counts.items() if n}


# --- one transaction ---------------------------------------------------------------------------------------------------------------------


def _forget_rows(parts: Parts, request: Request, choice: Choice, hand: str, *, fill: bool) -> Gone:
    """Delete, believe what is left as if the rest had never been there, and render it."""
    store, scope = parts.store, request.scope
    gone = store.forget(scope, choice, parts.archive, hand=hand, fill=fill)
    if not (gone.reach.turns or gone.reach.online or gone.reach.sessions):
        raise NothingChosen(f"nothing in {scope} is that: dreamd search finds turns and notes, dreamd why shows their sessions")
    parts.step("deleted")
    _read_again(parts, scope, request.params, gone.reach.again)
    _believe_anew(parts, scope, gone, request.params)
    store.forget_rulings(scope, gone.reach.rested)
    parts.step("believed")
    _render_anew(parts, scope, gone, request.params)
    return gone


def _scrub_rows(parts: Parts, request: Request, hand: str, *, fill: bool) -> Gone | None:
    """Mask, read the sessions it touched again, believe and render."""
    store, scope = parts.store, request.scope
    gone = store.scrub(scope, lambda data: parts.redactor.mask(data).data, parts.archive, hand=hand, fill=fill)
    if gone is None:
        return None
    _read_again(parts, scope, request.params, gone.reach.again)
    _believe_anew(parts, scope, gone, request.params)
    _render_anew(parts, scope, gone, request.params)
    return gone


def _read_again(parts: Parts, scope: str, params: Params, sessions: Collection[str]) -> None:
    """Have the rules read sessions again that lost a claim or whose words changed; a model is asked by the next dream."""
    store = parts.store
    engine = parts.engines["local"](params) if asks(parts.engine) else parts.engine
    unread = [of for of in unread_sessions(store, scope, engine.name, replace(params, since=None)) if of.session in sessions]
    infos = {info.uid: info for info in store.sessions(scope, [of.session for of in unread])}
    turns = store.turns_of_sessions(scope, infos)
    save_sessions(store, scope, [read_session(engine, infos[of.session], turns.get(of.session, ()), of, params) for of in unread])


def _believe_anew(parts: Parts, scope: str, gone: Gone, params: Params) -> None:
    """Everything that is left, folded anew: notes with other evidence survive on it (systems R3, hole 70). What differs from what stands is written."""
    store, dream = parts.store, gone.dream
    lineage = lineage_of(store, scope)
    hold_by_speaker(store, scope, lineage, None)
    left = frozenset(g.claim.uid for g in store.all_claims(scope)) | store.dirty(scope)
    done = resolve_dirty(store, scope, left, lineage, skew_s=params.skew_s, intake_at=parts.now(), engine=parts.engine.name)
    store.stage(dream, done.changes, done.reads)
    notes = standing_notes(store.online_notes(scope))
    found = assess_notes(
        store, parts.engine, scope, notes, believed_with(store, scope, done.changes), skew_s=params.skew_s, now=parts.now(), begin=lambda _: None
    )  # fmt: skip
    stands = store.findings(scope)
    store.stage(dream, [change_of(finding) for uid, finding in sorted(found.items()) if stands.get(uid) != finding], {})
    store.apply(dream, max_share=1.0)
    store.expire(scope, parts.now())


def _render_anew(parts: Parts, scope: str, gone: Gone, params: Params) -> None:
    """The pages of what is left, the reports of days without the lines that went, and the dream's end."""
    store = parts.store
    ending = ending_of(parts, store.dream(scope, gone.dream.uid), params, status="completed", expired=1)
    told = write_ending(store, ending)
    for path, text in sorted(gone.reports.items()):
        if text.strip() and (ending.report is None or ending.report[0] != path):
            commit_report(store, scope, path, text, rev=store.revision(scope))
    store.finish_dream(gone.dream, "completed", summary={**ending.summary, **told})


# --- what moves --------------------------------------------------------------------------------------------------------------------------


def _saying(store: Store, scope: str) -> dict[str, tuple[str, str]]:
    """What every note and every line of the agent's notes says, by uid: title and words."""
    beliefs = {note: [h.version for h in heads] for note, heads in groupby(store.heads(scope), key=lambda h: h.version.note)}
    lines = {n.uid: n for n in standing_notes(store.online_notes(scope))}
    findings = store.findings(scope)
    titles = titles_of(store, scope, [*beliefs, *(uid[:12] for uid in lines)])
    said = {note: (titles.get(note, versions[0].subject), says(versions)) for note, versions in beliefs.items()}
    for uid, line in lines.items():
        judged = f" ({told_verdict(findings[uid])})" if uid in findings else ""
        said[uid] = (titles.get(uid[:12], line.title), f"{line.text}{judged}")
    return said


def _shifts(stood: Mapping[str, tuple[str, str]], stands: Mapping[str, tuple[str, str]]) -> list[Shift]:
    """The notes that say something else, by title; one that is gone says nothing."""
    moved = []
    for note in stood.keys() | stands.keys():
        (title, old), (title_now, new) = stood.get(note, ("", "")), stands.get(note, ("", ""))
        if old != new:
            moved.append(Shift(note=note[:12], title=title or title_now, old=old, new=new))
    return sorted(moved, key=lambda s: (s.title.casefold(), s.note))


# --- files -------------------------------------------------------------------------------------------------------------------------------


def clean_leftovers(parts: Parts, request: Request) -> tuple[tuple[str, str], ...]:
    """Clean out of files what a forget took out of the store: pages, blobs, the search index, free pages. Returns what could not be cleaned now, and why.

    Doing it twice is as good as once; a crash leaves the rest for the next time.
    """
    store, scope = parts.store, request.scope
    left: list[tuple[str, str]] = []
    for what, named in groupby(store.leftovers(scope), key=lambda found: found[0]):
        names = [name for _, name in named]
        try:
            if what == WIKI and not shows_it(parts, request):
                continue  # whoever publishes the scope next does it
            if what == BLOB:
                drop_unused(parts, scope, names)
            elif what == SPACE:
                store.rebuild_search()
                store.reclaim()
            elif what == PAGES:
                for name in names:
                    retell(parts, scope, date.fromisoformat(name) if name else None)
            elif what == WIKI:
                _publish(parts, request)
            store.cleaned(scope, what, *names)
        except (Transient, Conflict) as error:
            left.append((what, str(error)))
    return tuple(left)


def _publish(parts: Parts, request: Request) -> None:
    """Make the folder show what is left; twice, since the first time keeps what it displaced until the second."""
    for _ in range(2):
        publish_revision(parts, folder_of(request), request.scope)


def shows_it(parts: Parts, request: Request) -> bool:
    """Whether the folder here is there and shows this scope."""
    known = parts.store.wiki(request.wiki_id)
    return request.wiki.is_dir() and (known is None or known.scope == request.scope)


def files_with(folder: Path, traces: Traces) -> tuple[tuple[str, str], ...]:
    """Files below a folder that carry any of the traces or cannot be looked at, by path, each with the reason why it is still there."""
    files = ((p, carries(p, traces)) for p in sorted(folder.rglob("*")) if p.is_file() and not p.is_symlink())
    return tuple((path.relative_to(folder).as_posix(), "it is not dreamd's, or was changed by hand" if why == CARRIES else why) for path, why in files if why)


CARRIES = "it holds the words"


def carries(path: Path, traces: Traces) -> str:
    """Why a file may hold any of the traces: `CARRIES`, or that it cannot be read; "" when it holds none, or went meanwhile. What is no text is looked at as
    far as it is."""
    try:
        said = path.read_bytes().decode("utf-8", "replace")
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"it cannot be read ({error.strerror}), so nobody looked whether it holds the words"
    return CARRIES if traces.within(said) else ""


# --- what is meant -----------------------------------------------------------------------------------------------------------------------


def session_named(store: Store, scope: str, name: str) -> str:
    """The session an id, or enough of one, names. Raises Refused."""
    found = [info.uid for info in store.sessions(scope) if info.uid == name or (len(name) >= SESSION_MIN and info.uid.startswith(name))]
    if name in found or len(found) == 1:
        return name if name in found else found[0]
    if found:
        raise Refused(f"{len(found)} sessions begin with {name}: give more of the id")
    if len(name) < SESSION_MIN:
        raise NothingChosen(f"{name!r} is too short to name a session: give {SESSION_MIN} characters of its id, or more")
    raise NothingChosen(f"{scope} has no session {name!r}: dreamd why and dreamd search name sessions")


def note_named(store: Store, scope: str, name: str) -> Choice:
    """The note, or the line of a note file, an id names. Raises Refused when there is none."""
    wanted = name.removeprefix("^").removeprefix("n-")
    own = [n.uid for n in store.online_notes(scope) if len(wanted) >= SESSION_MIN and n.uid.startswith(wanted)]
    if len(set(own)) == 1:
        return Choice(online=frozenset(own))
    return Choice(notes=frozenset({named_note(store, scope, name)[0].note}))
