"""Drafts a person is not asked about: the work of another session settles them, or they left the queue unheard of. One rule for what counts and lists them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pipelines.model import Status, Version
from pipelines.report import NoteCounts
from pipelines.run.edits import open_edits
from pipelines.run.held import shown
from pipelines.store import Store
from pipelines.wiki.inbox import Entry, Queue, Waits


def asked_apart(store: Store, scope: str, notes: NoteCounts, queue: Queue) -> NoteCounts:
    """The counts with all drafts parted into those the queue asks about, as drafts or as edits, and the others."""
    edited = {e.note for e in open_edits(store, scope)}
    as_edits = len(store.heads(scope, notes=sorted(edited), statuses=[Status.DRAFT])) if edited else 0
    asked = sum(n for (waits, _), n in queue.counted.items() if waits is Waits.DRAFT)
    return replace(notes, drafts=asked, unasked=max(0, notes.drafts - asked - as_edits))


def unasked(store: Store, scope: str, waiting: Iterable[Entry]) -> tuple[Version, ...]:
    """The drafts nobody is asked about beside what waits, by statement; without the words of one that may be shown nowhere."""
    asked = {e.uid for e in waiting if e.waits is Waits.DRAFT} | {e.note for e in open_edits(store, scope)}
    drafts = (h.version for h in store.heads(scope, statuses=[Status.DRAFT]) if h.version.note not in asked)
    return tuple(sorted((replace(v, statement=shown(v.statement)) for v in drafts), key=lambda v: (v.statement, v.note)))
