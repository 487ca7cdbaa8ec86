"""What was done: the sessions of the last two weeks, as the work log tells them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from pipelines.engines.local.ending import End, Ended
from pipelines.engines.local.worklog import WorkRecord, work_log
from pipelines.model import SessionInfo
from pipelines.notes.moment import is_ahead
from pipelines.run.evidence import latest
from pipelines.run.held import shown
from pipelines.run.looking import Look
from pipelines.stages.extractor import prepare
from pipelines.store import Store
from pipelines.wiki.content import Work

RECENT = timedelta(days=14)


def recent_records(store: Store, scope: str, look: Look) -> tuple[WorkRecord, ...]:
    """The sessions of the last two weeks before the newest one, from their records alone; of a look back those that were over by then."""
    spans = {s: span for s, span in store.spans(scope).items() if not (look.moment or look.audience) or look.tells(span[1])}
    newest = latest(last for _, last in spans.values())
    recent = sorted(s for s, (_, last) in spans.items() if newest and last and newest - last <= RECENT)
    infos = {i.uid: i for i in store.sessions(scope)}
    records = (work_record(store, scope, infos[s]) for s in recent if s in infos)
    return tuple(r for r in records if r)


def work_record(store: Store, scope: str, info: SessionInfo) -> WorkRecord | None:
    """The record of a session as far as it is kept, without first words that are under quarantine, and without times that cannot be."""
    read_at = store.read_at(scope, info.uid)
    until = store.gone_until(scope, info.uid)
    stays = (turn for turn in store.turns_of(scope, info.uid) if until is None or (turn.at is not None and turn.at > until))
    turns = (replace(turn, at=None) if is_ahead(turn.at, read_at) else turn for turn in stays)
    record = work_log(prepare(info, tuple(turns)))
    first = record.first_prompt if record else None
    return replace(record, first_prompt=None, cut=False) if record and first and store.withheld(scope, [first.turn]) else record


def as_question(words: str) -> str:
    """A question as it is shown: what was cut of it says so."""
    return words if not words or words.endswith(("?", "？", "؟")) else f"{words.rstrip(' —–-,;:')} …"


TODOS_MAX = 3
UNSAVED_MAX = 3


def work_of(record: WorkRecord) -> Work:
    """A session in the work log; words of anybody but the person only as far as they may be shown."""
    end, left, tested = record.end, record.uncommitted, record.tested
    summary = shown(tested.summary or ("failed" if tested.failed else "passed")) if tested else ""
    first = record.first_prompt.text + (" …" if record.cut else "") if record.first_prompt else ""
    todos = tuple(t for t in map(shown, record.todos.open) if t)
    return Work(
        session=record.session, started=record.started, ended=record.ended, zone=record.zone, folder=shown(record.folder or ""), branch=shown(record.branch or ""),
        title=shown(record.title or ""), asked=first, command=record.command, begins=record.begins[:12],
        parent=record.parent or "", prompts=record.prompts, commits=tuple(f"{c.sha} {shown(c.subject)}".rstrip() for c in record.commits),
        tested=summary, test_command=shown(tested.command) if tested else "", failed=tuple(filter(None, map(shown, record.failed))), files=record.files,
        touched=tuple(filter(None, map(shown, record.touched))), todos=todos[:TODOS_MAX], open_todos=len(record.todos.open), all_todos=record.todos.count,
        how=end.how.value, outcome=shown(end.error), question=_left(end), question_line=end.line,
        uncommitted=len(left.paths), unsaved=tuple(filter(None, map(shown, left.paths)))[:UNSAVED_MAX], unsaved_line=left.line, clean=left.clean,
    )  # fmt: skip


def _left(end: End) -> str:
    """The words of what a session left open, as they are shown."""
    words = shown(end.asked.text) if end.asked else ""
    if end.how is Ended.PLAN:
        return f"{words} …" if words and end.cut else words
    return as_question(words)
