"""Taking back what a dream, or the last change of a note, decided; and bringing that back again.

A revert changes inputs and believes anew (systems R3): what was decided is banned, lifted or split, everything that depended on it follows, and what came
later with evidence of its own stays. It reads no log and asks no model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from pipelines.model import Finding, Ruling, Version, short_uid
from pipelines.notes.identity import in_force, lifts_in_force
from pipelines.run.ending import ending_of, write_ending
from pipelines.run.parts import Params, Parts, Request
from pipelines.run.publish import publish_revision, take_own_words
from pipelines.run.render import again_on_conflict
from pipelines.run.resolving import Resolved, lineage_of, resolve_dirty
from pipelines.run.sources import standing_notes
from pipelines.run.taking_back import UNDONE, Subject, Takes, lines_hidden, revisions_of, says, subject_named, taking
from pipelines.run.units.analyse import believed_with
from pipelines.run.units.resolve import sessions_read
from pipelines.run.verdicts import assess_notes, change_of
from pipelines.run.wiki import folder_of
from pipelines.store import REVERT, BeliefChange, Change, Dream, Store
from pipelines.wiki.publish import Published

ROUNDS_MAX = 20
"""Times a note of the agent is looked at again: each time the line that decided is hidden, until no line of the dream decides."""
AGAIN = "again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """What a note said and says: `title` is its page's, or what it is about. Empty words: nothing is believed of it."""

    note: str
    title: str
    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reverted:
    """What was, or of a dry run would be, reverted. `dream` is the dream that did it, None when nothing was written.

    `known`: it stands reverted, or was never, so that there is nothing to do. `others` counts notes that say what they said, on less or more evidence.
    """

    mark: str
    again: bool
    shifts: tuple[Shift, ...] = ()
    others: int = 0
    known: bool = False
    dream: Dream | None = None
    published: Published | None = None


def revert(parts: Parts, request: Request, name: str, *, again: bool, dry_run: bool, hand: str) -> Reverted:
    """Take back a dream or the last change of a note, or with `again` lift that; believe anew, and publish.

    Raises Refused when there is no such dream or note, or when it changed nothing.
    """
    parts, scope = parts.serving(request.params), request.scope
    if not dry_run:
        take_own_words(parts, folder_of(request), scope)
    subject = subject_named(parts.store, scope, name, again=again)

    def work() -> tuple[_Plan, Dream | None]:
        plan = _planned(parts, request.params, scope, subject)
        return plan, None if dry_run or not plan.takes.rulings else _apply(parts, scope, subject, plan, hand)

    plan, done = again_on_conflict(work)
    told = Reverted(mark=subject.mark, again=subject.again, shifts=plan.shifts, others=plan.others, known=not plan.takes.rulings, dream=done)
    if done is None:
        return told
    parts.step("applied")
    again_on_conflict(lambda: _end(parts, done, request.params))
    parts.step("pages_committed")
    parts.store.refresh_search()
    published = publish_revision(parts, folder_of(request), scope).published
    parts.step("published")
    return replace(told, published=published)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """What is ruled, and what that does."""

    takes: Takes
    changes: tuple[Change, ...]
    reads: Mapping[str, tuple[int, ...]]
    shifts: tuple[Shift, ...]
    others: int


def _planned(parts: Parts, params: Params, scope: str, subject: Subject) -> _Plan:
    store = parts.store
    nothing = _Plan(takes=Takes(rulings=(), dirty=frozenset()), changes=(), reads={}, shifts=(), others=0)
    if subject.dream and not subject.again and _stands_reverted(store, scope, subject):
        return nothing
    takes = taking(store, scope, subject, parts.now())
    believe = _believing(parts, params, scope, takes.dirty)
    if subject.dream and not subject.again:
        hidden = _hidden(parts, params, scope, subject, believe(takes.rulings), takes.rulings)
        takes = replace(takes, rulings=(*takes.rulings, *hidden))
    if not takes.rulings:
        return nothing
    done = believe(takes.rulings)
    findings = _findings(parts, params, scope, done, takes.rulings)
    stood = store.findings(scope)
    told = tuple(finding for uid, finding in sorted(findings.items()) if stood.get(uid) != finding)
    changes: tuple[Change, ...] = (*(_told(c, subject) for c in done.changes), *map(change_of, told))
    shifts, others = _shifts(store, scope, done.changes, [(stood.get(f.note), f) for f in told])
    return _Plan(takes=takes, changes=changes, reads=done.reads, shifts=shifts, others=others)


def _stands_reverted(store: Store, scope: str, subject: Subject) -> bool:
    """Whether something that was ruled to take this back still counts."""
    every = store.rulings(scope)
    lifts = lifts_in_force(every)
    mine = {r.uid for r in every if r.body == subject.mark and r.verb in UNDONE}
    return any(r.uid in mine for r in (*in_force(every), *(lift for lift in lifts if lift.target not in mine)))


def _believing(parts: Parts, params: Params, scope: str, dirty: frozenset[str]) -> Callable[[Sequence[Ruling]], Resolved]:
    lineage = lineage_of(parts.store, scope)
    return lambda rulings: resolve_dirty(
        parts.store, scope, dirty, lineage, skew_s=params.skew_s, intake_at=parts.now(), engine=parts.engine.name, rulings=rulings
    )  # fmt: skip


def _told(change: BeliefChange, subject: Subject) -> BeliefChange:
    """The change with the revert for its reason."""
    reason = f"{AGAIN if subject.again else REVERT} {subject.mark}"
    return replace(change, decisions=tuple(replace(d, stage=REVERT, reason=reason) for d in change.decisions))


# --- the agent's own notes ---------------------------------------------------------------------------------------------------------------


def _findings(parts: Parts, params: Params, scope: str, done: Resolved, rulings: Sequence[Ruling], only: Iterable[str] | None = None) -> dict[str, Finding]:
    """The word on the agent's notes, or on some of them, once this is believed and ruled."""
    wanted = None if only is None else set(only)
    notes = [n for n in standing_notes(parts.store.online_notes(scope)) if wanted is None or n.uid in wanted]
    believed = believed_with(parts.store, scope, done.changes)
    return assess_notes(parts.store, parts.engine, scope, notes, believed, skew_s=params.skew_s, now=parts.now(), rulings=rulings) if notes else {}


def _hidden(parts: Parts, params: Params, scope: str, subject: Subject, done: Resolved, rulings: Sequence[Ruling]) -> tuple[Ruling, ...]:
    """What keeps the lines a dream read from deciding about notes it judged, so that these stand as they stood before it."""
    store, dream = parts.store, subject.dream
    assert dream is not None
    judged = [d.decision for d in store.decisions(scope, dream=dream.uid) if d.decision.stage == "analyze"]
    if not judged:
        return ()
    stood = store.findings(scope, rev=min(revisions_of(store, dream)) - 1)
    turns = store.turns_in(scope, sessions_read(store, (dream,))) | {ref for d in judged for ref in d.refs}
    open_, hides = {d.note for d in judged if d.note}, dict[str, set[str]]()
    for _ in range(ROUNDS_MAX):
        found = _findings(parts, params, scope, done, (*rulings, *lines_hidden(hides, subject, parts.now())), open_)
        more = {uid: {q.turn for q in f.quotes if q.turn in turns} - hides.get(uid, set()) for uid, f in found.items() if f != stood.get(uid)}
        open_ = {uid for uid, lines in more.items() if lines}
        if not open_:
            break
        hides |= {uid: hides.get(uid, set()) | more[uid] for uid in open_}
    return lines_hidden(hides, subject, parts.now())


# --- what moves --------------------------------------------------------------------------------------------------------------------------


def _shifts(
    store: Store, scope: str, changes: Sequence[BeliefChange], findings: Sequence[tuple[Finding | None, Finding]]
) -> tuple[tuple[Shift, ...], int]:  # fmt: skip
    """The notes that will say or be something else, by title, and how many only rest on other evidence."""
    stands: dict[str, list[Version]] = {
        note: [h.version for h in heads] for note, heads in groupby(store.heads(scope, notes=[c.note for c in changes]), key=lambda h: h.version.note)
    }
    titles = titles_of(store, scope, [*(c.note for c in changes), *(f.note[:12] for _, f in findings)])
    moved = []
    for change in changes:
        old, new = (says(versions) for versions in (stands.get(change.note, []), change.versions))
        subject = next((v.subject for v in (*change.versions, *stands.get(change.note, []))), "")
        moved.append(Shift(note=change.note, title=titles.get(change.note, subject), old=old, new=new))
    notes = {n.uid: n for n in standing_notes(store.online_notes(scope))}
    for was, is_ in findings:
        note = notes[is_.note]
        before, after = (f"{note.text} ({told_verdict(f)})" if f else "" for f in (was, is_))
        moved.append(Shift(note=note.uid[:12], title=titles.get(note.uid[:12], note.title), old=before, new=after))
    shifts = tuple(sorted((s for s in moved if s.old != s.new), key=lambda s: (s.title.casefold(), s.note)))
    return shifts, len(moved) - len(shifts)


def titles_of(store: Store, scope: str, notes: Sequence[str]) -> dict[str, str]:
    """Titles of the pages notes stand on, by note; those that stand on none are left out."""
    placed = store.placements(scope, notes=notes)
    titles = {uid: page.title for uid, page in store.pages(scope).items()} if placed else {}
    return {note: titles[p.page] for note, p in placed.items() if p.page in titles}


def told_verdict(finding: Finding) -> str:
    """A verdict in words, with what the line should say instead."""
    word = finding.verdict.value.replace("_", " ")
    return f"{word}: {finding.corrected}" if finding.corrected else word


# --- writing ---------------------------------------------------------------------------------------------------------------------------


def _apply(parts: Parts, scope: str, subject: Subject, plan: _Plan, hand: str) -> Dream:
    """Rule, believe anew and write down who did it, in one transaction. A dream that runs meanwhile looks at the same claims again."""
    store = parts.store
    number = sum(d.cause == REVERT for d in store.dreams(scope))
    uid = short_uid(scope, REVERT, subject.mark, str(number))
    params = {"reverts": subject.mark, "again": subject.again}
    with store.together("revert"):
        for ruling in plan.takes.rulings:
            store.add_ruling(scope, ruling)
        store.mark_dirty(scope, plan.takes.dirty, REVERT)
        dream = store.apply_at_once(scope, uid=uid, params=params, holder=parts.holder, changes=plan.changes, reads=plan.reads)
        store.write_down(scope, AGAIN if subject.again else REVERT, hand, subject.mark, key=uid)
    return dream


def _end(parts: Parts, dream: Dream, params: Params) -> None:
    """Commit the pages and the report of the day. A crash before this leaves both to the next dream."""
    store = parts.store
    ending = ending_of(parts, dream, params, status="completed", expired=1)
    with store.together("end a revert"):
        told = write_ending(store, ending)
        store.summarise(dream, {**ending.summary, **told})
