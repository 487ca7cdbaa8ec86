"""A dream as a command asks for it: take in what is new here, ask, work on it in this process, and publish. A crash leaves what the next one goes on from."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from pipelines.errors import Conflict, Permanent, Refused
from pipelines.report import DreamReport
from pipelines.run.asking_batch import BATCH
from pipelines.run.asking_read import asks
from pipelines.run.ending import ending_of, write_ending
from pipelines.run.following import Follows, would_follow
from pipelines.run.forgetting import clean_leftovers
from pipelines.run.journal import trouble_report
from pipelines.run.parts import Parts, Request, params_of
from pipelines.run.publish import publish_revision, publishing_problems, shows, take_own_words
from pipelines.run.render import again_on_conflict, commit_report, covered_report
from pipelines.run.report import BROUGHT, Brought, brought_by, brought_for, report_from, report_of
from pipelines.run.retention import retain
from pipelines.run.runner import Driven, drive
from pipelines.run.sources import NOTHING, Taken, take_in
from pipelines.run.unchanged import fingerprint, nothing_new, read_all
from pipelines.run.wiki import folder_of
from pipelines.store import Asked, Dream, DreamRunning, host_of
from pipelines.wiki.publish import Published

LOOKED_BACK = 20
"""Dreams among which one that waits is looked for."""
WhileRunning = Callable[[DreamRunning], None]


class DreamFailed(Permanent):
    """A dream ended without having been applied to the end; `code` says of what."""

    def __init__(self, dream: Dream, why: str) -> None:
        super().__init__(f"dream {dream.uid} over {dream.scope} failed ({why}); what it read is kept, the next dream goes on from there")
        self.dream = dream.uid
        self.code = dream.code


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A dream that has ended: its report, and what only this host knows of it.

    `sessions` were read in it, `wrong` counts the wrong lines that still stand in note files, by file, `waits` all that waits for the person, those included, `errors` went wrong with units worked on here,
    `let_go` counts what is no longer kept since, `would` is what notes would say otherwise for a dream that was only planned.
    """

    report: DreamReport
    taken: Taken = NOTHING
    published: Published | None = None
    sessions: tuple[str, ...] = ()
    wrong: Mapping[str, int] = field(default_factory=dict)
    waits: int = 0
    errors: tuple[Exception, ...] = ()
    let_go: Mapping[str, int] = field(default_factory=dict)
    would: tuple[Follows, ...] = ()


def dream(parts: Parts, request: Request, *, waiting: WhileRunning | None = None) -> Outcome:
    """Dream once, in turn, and let go of what is old by the settings. While a living process dreams over the scope `waiting` is told so; without it DreamRunning is raised.

    What a dead process left is finished first, and is all there is to do when nothing has come in since. Raises DreamFailed, or what made it fail here;
    other DreamdErrors when nothing more can be done.
    """
    done = _dream(parts, request, waiting)
    if request.params.dry_run:
        return done
    let_go = retain(parts.store, request.scope, parts.archive, parts.keep, now=parts.now())
    if let_go:
        clean_leftovers(parts, request)
    return replace(done, let_go=let_go)


def _dream(parts: Parts, request: Request, waiting: WhileRunning | None) -> Outcome:
    began = parts.now()
    parts = parts.serving(request.params)
    words: tuple[str, ...] = ()
    if not request.params.dry_run:
        words = take_own_words(parts, folder_of(request), request.scope)  # before any log is read: a folder that is not ours to publish into is refused
    clean_leftovers(parts, request)  # a forget that was killed after its commit
    mark = fingerprint(parts, request)
    if (same := nothing_new(parts, request, mark)) is not None:
        shown = not words and shows(parts, folder_of(request), request.scope)  # words taken are written down in the folder, too
        return Outcome(report=same, published=None if shown else _publish(parts, request))
    _collect(parts, request, mark)
    left = _finish_what_runs(parts, request, waiting)
    if left is not None and not request.params.dry_run and read_all(parts, left.dream, mark):
        return _outcome(parts, request, left, NOTHING, began.timestamp())
    taken = take_in(parts, request)
    clean_leftovers(parts, request)  # bytes it archived and then did not take in, since they were forgotten meanwhile
    parts.step("taken_in")
    asked = _ask(parts, request, brought_by(taken, mark))
    parts.step("requested")
    assert asked.dream is not None, "a request that was accepted has a dream"
    try:
        done = drive(parts, request.scope, asked.dream, threads=threads_of(parts), waiting=waiting or _refuse)
    except DreamRunning:
        if asked.answer == "accepted":  # one we joined is another sender's, too
            parts.store.cancel(request.scope, asked.dream)
        raise
    return _outcome(parts, request, done, taken, began.timestamp())


def threads_of(parts: Parts) -> int:
    """How many units at once: one for an engine that works here, as many as it says, or as its means do, for one that waits for answers."""
    waits = parts.means.units_at_once if parts.means and asks(parts.engine) else 1
    wanted: object = getattr(parts.engine, "threads", waits)
    return max(1, wanted) if isinstance(wanted, int) else 1


def apply_dream(parts: Parts, request: Request, uid: str) -> Outcome:
    """Apply what a dry run planned, or what a guard held: a person has looked at it. The engine is asked nothing.

    Raises Refused when the dream has nothing to apply, or when something it was planned against has moved since, naming what.
    """
    began = parts.now()
    store, scope = parts.store, request.scope
    waits = store.dream(scope, uid)
    if waits.state not in {"planned", "held"}:
        raise Refused(f"dream {uid} is {waits.state} and waits for nobody: only planned and held dreams are applied by hand")
    params = params_of(waits.params, parts.defaults)
    parts = parts.serving(params)
    try:
        with store.together("apply a dream"):
            applied = store.apply(waits, max_share=1.0 if waits.state == "held" else params.change_share_max)
            store.write_down(scope, "apply", "command", uid, key=f"{uid} {waits.state}")  # a planned one that is held then is applied twice
            expired = store.expire(scope, parts.now())
    except Conflict as moved:
        raise Refused(f"{moved}; dream again, or look at what has changed") from moved
    parts.step("applied")
    take_own_words(parts, folder_of(request), scope)
    status = "held" if applied.held else "completed"

    def end() -> None:
        ending = ending_of(parts, store.dream(scope, uid), params, status=status, expired=len(expired))
        parts.step("rendered")
        with store.together("end a dream"):
            told = write_ending(store, ending)
            store.finish_dream(waits, status, summary={**ending.summary, **told})

    again_on_conflict(end)
    parts.step("pages_committed")
    store.refresh_search()
    return _outcome(parts, request, Driven(dream=store.dream(scope, uid), units=0, errors=()), NOTHING, began.timestamp())


def _collect(parts: Parts, request: Request, mark: str) -> None:
    """Have the dream that waits for its batch over the same files look for it now: another would read the same, and wait beside it."""
    alike = (d for d in parts.store.dreams(request.scope, limit=LOOKED_BACK) if d.state == "waiting" and _asked_alike(parts, d, request, mark))
    if request.params.batch and (first := next(alike, None)) is not None:
        parts.store.hurry(first, BATCH)


def _asked_alike(parts: Parts, dream: Dream, request: Request, mark: str) -> bool:
    return brought_for(dream).mark == mark and params_of(dream.params, parts.defaults) == request.params


def _finish_what_runs(parts: Parts, request: Request, waiting: WhileRunning | None) -> Driven | None:
    """Let the dream that runs over the scope end: a living process's is waited for and helped with, a dead one's is taken over."""
    runs = parts.store.running(request.scope)
    if runs is None:
        return None
    others = [p for p in parts.store.at_work(runs, host=host_of(parts.holder)) if p != parts.holder]
    if others and waiting is None:
        raise DreamRunning(request.scope, runs.uid, others[0], runs.started_at)
    return drive(parts, request.scope, runs.uid, threads=threads_of(parts), waiting=waiting)


def _refuse(running: DreamRunning) -> None:
    raise running


def _ask(parts: Parts, request: Request, brought: Brought) -> Asked:
    params = {**request.params.as_json(), BROUGHT: brought.as_json()}
    asked = parts.store.request(request.scope, request_id=uuid.uuid4().hex, params=params, cause=request.cause, hand="command")
    if asked.answer == "refused":
        raise Refused(f"too many dreams wait over {request.scope}: ask again in {asked.retry_after_s} s")
    return asked


def _outcome(parts: Parts, request: Request, done: Driven, taken: Taken, began: float) -> Outcome:
    """Publish what the dream made, and tell of it."""
    store, ended = parts.store, done.dream
    _require_done(done)
    summary = ended.summary
    report = report_from(summary) if summary else report_of(store, ended, engine=parts.engine.name, status=ended.state, now=parts.now())
    published = None
    if ended.state != "planned":
        published = _publish(parts, request)
    read = store.results(ended, "extract").values()
    sessions = tuple(sorted(str(s) for told in read for s in _listed(told.get("sessions"))))
    wrong, waits = (summary or {}).get("wrong"), (summary or {}).get("waiting")
    return Outcome(
        report=replace(report, seconds=round(parts.now().timestamp() - began, 3), next=_next(request, ended)), taken=taken, published=published,
        sessions=sessions, wrong=wrong if isinstance(wrong, dict) else {}, waits=waits if isinstance(waits, int) else 0, errors=done.errors,
        would=would_follow(store, ended) if ended.state == "planned" else (),
    )  # fmt: skip


def _publish(parts: Parts, request: Request) -> Published:
    """Make the folder show what is committed; what it held that could not be touched is told in the day's report."""
    store, scope, at = parts.store, request.scope, folder_of(request)
    published = publish_revision(parts, at, scope).published

    def report() -> bool:
        told = trouble_report(store, scope, day=parts.now().date(), problems=publishing_problems(published))
        if told is not None:
            path, text = told
            commit_report(store, scope, path, covered_report(parts.redactor, path, text), rev=store.revision(scope))
        return told is not None

    if again_on_conflict(report):
        publish_revision(parts, at, scope)
    parts.step("published")
    return published


def _require_done(done: Driven) -> None:
    """Raise what made a dream fail: the error itself when it happened here."""
    ended = done.dream
    if ended.state == "canceled":
        raise Refused(f"dream {ended.uid} over {ended.scope} was canceled while it ran")
    if ended.state == "failed":
        if done.errors:
            raise done.errors[-1]
        raise DreamFailed(ended, ended.code)


def _listed(told: object) -> list[object]:
    return told if isinstance(told, list) else []


def _next(request: Request, ended: Dream) -> str:
    if ended.state == "completed":
        return f"dreamd status --wiki {request.wiki}"
    return f"dreamd apply {ended.uid} --wiki {request.wiki}"
