"""From a sentence of the wiki back to the log: the chain of note, claims, quotes and lines, with what stood around them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pipelines.errors import Refused
from pipelines.gates import without_orders
from pipelines.model import Finding, OnlineNote, Outcome, Quote, Ruling, Status, Turn, Version
from pipelines.notes.identity import in_force
from pipelines.notes.instructions import Told, stands_alone
from pipelines.run.beside import Beside, beside
from pipelines.run.disputes import Contradiction, contradiction
from pipelines.run.following import notes_saying
from pipelines.run.looking import Look
from pipelines.run.ruling import is_out
from pipelines.run.sources import standing_notes
from pipelines.run.taking_back import stands_in
from pipelines.run.waiting import asked, last_asked
from pipelines.store import RecordedDecision, Store
from pipelines.wiki.content import Asked

AROUND = 3
"""Turns shown before and after a quoted one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """One quote and the turns around it that are kept, the quoted one marked by its uid. `unkept` is the setting, in days, by which its archived line is
    no longer kept; 0 when it is. `paths` are the files the line was read from, where it was read from files, and `line` is its number there."""

    quote: Quote
    turn: Turn
    source: str
    around: tuple[Turn, ...]
    unkept: int = 0
    paths: tuple[str, ...] = ()
    line: int = 0


@dataclass(frozen=True, slots=True)
class Questioned:
    """A question of a session, and whether it waits for a person now; an answer, later work or a decision ends that."""

    asked: Asked
    open: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Why something stands where it stands. A carried note has `online` and `finding`, a note of dreamd's own its versions; `rulings` are people's.

    `contradiction` is set for a note whose sides stand, or stood until a person decided, against one another, `against` for one that a line of an
    instruction file says otherwise than. `reworded` names the notes that say it now, in the words of the person who edited it.
    `question` is set for what is no note.
    """

    note: str
    versions: tuple[Version, ...]
    proofs: tuple[Proof, ...]
    decisions: tuple[RecordedDecision, ...]
    online: OnlineNote | None = None
    finding: Finding | None = None
    rulings: tuple[Ruling, ...] = ()
    contradiction: Contradiction | None = None
    against: Told | None = None
    reworded: tuple[str, ...] = ()
    question: Questioned | None = None


class NotCalled(Refused):
    """Nothing has this name; its words may be some note's all the same."""


def why(store: Store, scope: str, name: str, look: Look | None = None) -> tuple[Chain, ...]:
    """The chains of a note (its id, with or without `n-`), or of every note on a page (its path or title), as they stand or where `look` looks.

    Raises NotCalled when there is none, Refused when there was none then.
    """
    at = look or Look(store=store, scope=scope)
    wanted = name.removeprefix("^").removeprefix("n-")
    notes = standing_notes(at.online_notes())
    online = [n for n in notes if n.uid.startswith(wanted) and len(wanted) >= 6]
    own = _standing(at, [wanted])
    if not own and not online:
        placed = _on_page(at, name)
        own = _standing(at, placed)
        online = [n for n in notes if n.uid[:12] in placed]
    if not own and not online and not at.moment and (waiting := _waiting(store, scope, wanted)):
        return waiting
    if not own and not online and not at.moment and (gone := _gone(at, wanted)):
        return gone
    if not own and not online and at.moment and _is_known(store, scope, name):
        raise Refused(f"{name!r} says nothing of that time: no version of it held then, or none was known")
    if not own and not online:
        raise NotCalled(
            f"no note and no page is called {name!r}, and no note says it: dreamd search {shlex.join(name.split())} looks through the sessions, too"
        )
    near = beside(store, scope, known_at=at.moment.known_at)
    return (*(_chain(at, n, near) for n in own), *(_carried(at, n, near) for n in online))


def _standing(at: Look, notes: Sequence[str]) -> list[str]:
    """Those of these notes that stand."""
    return sorted({h.version.note for h in at.heads(notes)}) if notes else []


def _is_known(store: Store, scope: str, name: str) -> bool:
    """Whether a note or page of this name is there now."""
    try:
        return bool(why(store, scope, name))
    except Refused:
        return False


def _on_page(at: Look, name: str) -> list[str]:
    pages = at.store.pages(at.scope).values()
    wanted = name.removesuffix(".md").casefold()
    uids = {p.uid for p in pages if wanted in {p.slug.removesuffix(".md").casefold(), p.title.casefold()}}
    return [n for n, p in sorted(at.store.placements(at.scope).items()) if p.page in uids]


def _waiting(store: Store, scope: str, wanted: str) -> tuple[Chain, ...]:
    """What stands in the inbox without being a note: a question nobody answered. Text under quarantine is shown elsewhere."""
    if len(wanted) < 6:
        return ()
    found = [g for g in store.all_claims(scope) if g.claim.uid.startswith(wanted)]
    if any(g.outcome is Outcome.QUARANTINE for g in found):
        raise Refused(f"n-{wanted[:12]} is text under quarantine: dreamd review show n-{wanted[:12]} shows it, and only that")
    held = [g.claim for g in found]
    raised = [q for questions in store.questions(scope).values() for question in questions for q in question.quotes if q.turn.startswith(wanted)]
    questions = _asked(store, scope, wanted, raised)
    quotes = [*(q for claim in held for q in claim.quotes), *(() if questions else raised)]
    claims = (Chain(note=wanted, versions=(), proofs=_proofs(store, scope, quotes), decisions=()),) if quotes else ()
    return (*claims, *questions)


def _asked(store: Store, scope: str, wanted: str, raised: Sequence[Quote]) -> tuple[Chain, ...]:
    """Questions an engine raised and nobody answered, and those at the ends of sessions, as the queue names them: by the turn that asks."""
    ends, waits = last_asked(store, scope)
    quotes = [*raised, *(end.asked for end in ends if end.asked)]
    open_ones = {a.uid for a in waits}
    return tuple(
        Chain(
            note=a.uid, versions=(), proofs=_proofs(store, scope, [q for q in quotes if q.turn.startswith(a.uid)]), decisions=(),
            question=Questioned(a, a.uid in open_ones),
        )
        for a in asked(store, scope, ends) if a.uid.startswith(wanted)
    )  # fmt: skip


def _chain(at: Look, note: str, near: Beside) -> Chain:
    versions = tuple(h.version for h in at.heads([note]))
    claims = at.store.claims(at.scope, {c for v in versions for c in v.claims})
    quotes = [q for uid in sorted(claims) for q in claims[uid].quotes]
    proofs, rulings = _proofs(at.store, at.scope, quotes), in_force(at.store.rulings(at.scope, [note, *claims]))
    confirmed = next((v for v in versions if v.status is Status.CONFIRMED), None)
    return Chain(
        note=note, versions=versions, proofs=proofs, decisions=_decisions(at, note), rulings=rulings,
        contradiction=contradiction(versions, rulings, claims, {p.turn.uid: p.turn for p in proofs}),
        against=near.against(note, confirmed.statement) if confirmed else None, reworded=_reworded(at, note, versions),
    )  # fmt: skip


def _reworded(at: Look, note: str, versions: Sequence[Version]) -> tuple[str, ...]:
    said = {v.reason for v in versions if v.reason} if versions and is_out(versions) else set()
    return tuple(sorted({new for words in said for new in notes_saying(at.store, at.scope, words, status=Status.CONFIRMED)} - {note}))


def _carried(at: Look, note: OnlineNote, near: Beside) -> Chain:
    finding = at.findings().get(note.uid)
    quotes = finding.quotes if finding else ()
    return Chain(
        note=note.uid[:12], versions=(), proofs=_proofs(at.store, at.scope, quotes), decisions=_decisions(at, note.uid), online=note, finding=finding,
        rulings=in_force(at.store.rulings(at.scope, [note.uid[:12]])),
        against=near.against(note.uid[:12], note.text, alone=stands_alone(note, note.title)),
    )  # fmt: skip


def _gone(at: Look, note: str) -> tuple[Chain, ...]:
    """A note that stands no more: what was decided about it, and the note it stands in by now."""
    decisions = _decisions(at, note)
    into = stands_in(at.store, at.scope, note) if decisions else note
    merged = (_chain(at, into, beside(at.store, at.scope)),) if into != note else ()
    return (Chain(note=note, versions=(), proofs=(), decisions=decisions), *merged) if decisions else ()


def _decisions(at: Look, note: str) -> tuple[RecordedDecision, ...]:
    """Why it became so, as far as that was decided by then."""
    known = at.moment.known_at
    return tuple(d for d in at.store.decisions(at.scope, note=note) if known is None or d.recorded_at <= known)


def _proofs(store: Store, scope: str, quotes: Sequence[Quote]) -> tuple[Proof, ...]:
    uids = {q.turn for q in quotes}
    turns = store.turns(scope, uids)
    told: dict[str, Turn] = {}
    places, gone = store.occurrences(scope, uids), store.unkept(scope, uids)
    paths = store.paths_of(scope, {where[0].source for where in places.values()})
    out = []
    for quote in dict.fromkeys(quotes):
        turn = turns.get(quote.turn)
        if turn is None:
            continue
        near = sorted((t for t in store.turns_of(scope, turn.session) if abs(t.ordinal - turn.ordinal) <= AROUND and _says(t)), key=lambda t: t.ordinal)
        place = next(iter(places.get(quote.turn, ())), None)
        around = tuple(_shown(t, told) for t in near)
        source, line = (place.source, place.place.line) if place else ("", 0)
        out.append(Proof(quote=quote, turn=turn, source=source, around=around, unkept=gone.get(quote.turn, 0), paths=paths.get(source, ()), line=line))
    return tuple(out)


def _says(turn: Turn) -> bool:
    """Whether anything of a turn is kept."""
    return bool(turn.text or turn.call or turn.result or turn.event)


def _shown(turn: Turn, told: dict[str, Turn]) -> Turn:
    """A turn that stands around a proof, without what orders its reader about and no user said."""
    if turn.uid not in told:
        words = without_orders(turn.text, turn.origin, turn.quoted)
        told[turn.uid] = turn if words == turn.text else replace(turn, text=words, quoted=())
    return told[turn.uid]
