"""What a reader looks at: a scope as it is committed, as it is by the reader's clock, or as it was (DESIGN §4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from pipelines.model import Finding, OnlineNote, Verdict
from pipelines.notes.moment import PRESENT, Moment, stood_at
from pipelines.run.reworded import reworded
from pipelines.store import Head, Store
from pipelines.wiki.content import Item


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """`now` is the reader's clock, None for what is rendered: files do not look at it. `moment` looks back, and goes with `now`.

    `audience` is who is told, and goes with `now`, too; None is the person, who is told everything. Another one is told no lines of note files, work
    logs and questions: those were said to nobody.
    """

    store: Store
    scope: str
    now: datetime | None = None
    moment: Moment = PRESENT
    audience: str | None = None

    def heads(self, notes: Iterable[str] | None = None) -> tuple[Head, ...]:
        """Versions as they hold at the moment looked at."""
        if self.now is None:
            return self.store.heads(self.scope, notes=notes)
        return self.store.heads_then(self.scope, self.moment, now=self.now, notes=notes, audience=self.audience)

    def online_notes(self) -> tuple[OnlineNote, ...]:
        """The lines of note files that stood."""
        if self.audience is not None:
            return ()
        notes = self.store.online_notes(self.scope, known_at=self.moment.known_at)
        at = self.moment.as_of or self.moment.known_at or self.now
        notes = notes if at is None else tuple(n for n in notes if stood_at(n, at))
        return notes if self.moment.as_of is None else self._written_by(notes)

    def _written_by(self, notes: tuple[OnlineNote, ...]) -> tuple[OnlineNote, ...]:
        """Without the lines dreamd itself wrote into the files for what was said only later: a file does not date its lines."""
        upheld = {uid: f.quotes for uid, f in self.store.findings(self.scope).items() if f.verdict is Verdict.UPHELD and f.quotes}
        turns = self.store.turns(self.scope, {q.turn for quotes in upheld.values() for q in quotes})
        later = {uid for uid, quotes in upheld.items() if not any(self.tells(turns[q.turn].at) for q in quotes if q.turn in turns)}
        ours = reworded(self.store, self.scope, [n for n in notes if n.uid in later])
        return tuple(n for n in notes if n.uid not in ours)

    def findings(self) -> Mapping[str, Finding]:
        """The analyzer's word on them; what was proved wrong only later was not yet."""
        known = self.moment.known_at
        found = self.store.findings(self.scope, rev=None if known is None else self.store.revision_at(self.scope, known))
        if self.moment.as_of is None:
            return found
        ended = {uid: f for uid, f in found.items() if f.verdict in {Verdict.CORRECTED, Verdict.SUPERSEDED}}
        turns = self.store.turns(self.scope, {q.turn for f in ended.values() for q in f.quotes})
        later = {uid for uid, f in ended.items() if not any(self.tells(turns[q.turn].at) for q in f.quotes if q.turn in turns)}
        return {uid: f for uid, f in found.items() if uid not in later}

    def tells(self, at: datetime | None) -> bool:
        """Whether something of this time is told: it had happened by then."""
        if self.audience is not None:
            return False
        latest = self.moment.latest
        return latest is None or (at is not None and at <= latest)

    def dated(self, item: Item) -> Item:
        """A note without news of later: what goes by its age goes by the age it had then."""
        latest, newest = self.moment.latest, item.newest_evidence
        return replace(item, newest_evidence=latest) if latest and newest and newest > latest else item
