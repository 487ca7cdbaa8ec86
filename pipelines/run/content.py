"""What a wiki is rendered from, gathered: beliefs, online notes with their verdicts, and the log lines both rest on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from pipelines.model import Finding, OnlineNote, Outcome
from pipelines.notes.identity import in_force
from pipelines.run.beside import beside
from pipelines.run.carried import carried_notes
from pipelines.run.edits import dismissed, open_edits
from pipelines.run.looking import Look
from pipelines.run.noted import note_items, one_a_sentence
from pipelines.run.telling import with_tellings
from pipelines.run.waiting import asked, last_of, waiting
from pipelines.run.worked import recent_records, work_of
from pipelines.store import Store
from pipelines.wiki.content import Content, Quarantined


def content_of(store: Store, scope: str, *, title: str, own: dict[str, str], redirects: dict[str, str], look: Look | None = None) -> Content:
    """The whole content of the scope's present revision, or of what `look` looks at: notes as they hold then, of sessions and questions what was by then."""
    look = look or Look(store=store, scope=scope)
    records = recent_records(store, scope, look)
    near = beside(store, scope, known_at=look.moment.known_at)
    noted, carried = note_items(store, scope, look=look, near=near), carried_notes(store, scope, look, near=near)
    works = tuple(map(work_of, records))
    gone = dismissed(store, scope)
    questions = tuple(q for q in asked(store, scope, waiting(works, map(last_of, records))) if q.uid not in gone)
    return Content(
        title=title, items=tuple(map(look.dated, (*one_a_sentence(noted.items.values()), *carried.items))), corrections=with_tellings(carried.corrections, _tellings(store, scope)),
        quarantined=tuple(h for h in (*quarantined(store, scope), *carried.held) if h.uid not in gone),
        asked=tuple(q for q in questions if look.tells(q.at)), edited=open_edits(store, scope), work=works, own=own, redirects=redirects,
    )  # fmt: skip


def _tellings(store: Store, scope: str) -> Mapping[str, int]:
    """How often corrections had been told when the scope was last rendered: who is told more since changes no page."""
    state = store.render_state(scope)
    return state.aside.get("tellings", {}) if state else {}


def quarantined(store: Store, scope: str) -> tuple[Quarantined, ...]:
    """Claims under quarantine that nobody has decided about, by uid: named by place, and by no word of theirs."""
    decided = {r.target for r in in_force(store.rulings(scope)) if r.verb in {"approve", "reject"}}
    held = [g for g in store.claims_of(scope, store.quarantined_claims(scope) - decided) if g.outcome is Outcome.QUARANTINE]
    turns = store.turns(scope, {g.claim.quotes[0].turn for g in held})
    out = []
    for g in held:
        turn = turns.get(g.claim.quotes[0].turn)
        if turn:
            gate = next(r.gate for r in g.results if r.outcome is Outcome.QUARANTINE)
            out.append(Quarantined(uid=g.claim.uid[:12], gate=gate, origin=turn.origin.value, session=turn.session, line=turn.place.line))
    return tuple(out)


def verdicts(notes: Iterable[OnlineNote], findings: Mapping[str, Finding]) -> Counter[str]:
    """How many online notes have which verdict."""
    return Counter(findings[n.uid].verdict.value for n in notes if n.uid in findings)
