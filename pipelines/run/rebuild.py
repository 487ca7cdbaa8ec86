"""What is derived, derived again: the wiki from the store, and the notes from the archived logs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from pipelines.errors import Refused
from pipelines.model import Version
from pipelines.notes.beliefs import believe
from pipelines.ports import Answered, Ask, Meanwhile
from pipelines.run.asking_read import Reader, asks, checked_as
from pipelines.run.company import held_by_speaker
from pipelines.run.parts import Parts, Request, family
from pipelines.run.reading import gated, trusted_sessions, with_trust, witnesses
from pipelines.run.render import differing
from pipelines.run.resolving import lineage_of, pieces_of, relations_among
from pipelines.run.wiki import organize
from pipelines.stages.extractor import judge_all, prepare
from pipelines.stages.resolver import rechecked
from pipelines.store import GatedClaim, NamedReading, Store
from pipelines.wiki.standing import read_folder


def rebuild_wiki(parts: Parts, request: Request) -> list[str]:
    """Render the whole present revision and publish it, also into a folder that was emptied; returns which files of the folder changed by it.

    Pages that are not what the whole revision gives are rendered anew, and so is all that is kept for rendering the next one.
    """
    if differing(parts, request.scope):
        parts.store.forget_render(request.scope)
    before = read_folder(request.wiki) if request.wiki.is_dir() else {}
    organize(parts, request, new=True)
    after = read_folder(request.wiki)
    changed = sorted(p for p in before.keys() | after.keys() if before.get(p) != after.get(p))
    return [f"{'changed' if p in before and p in after else 'added' if p in after else 'removed'} {p}" for p in changed]


def rebuild_from_logs(parts: Parts, request: Request) -> list[str]:
    """Read every stored session again and fold all claims anew; returns every difference to what is believed, and changes nothing.

    A model is not asked again: its recorded answers are read and judged anew, with the words its checks gave. A session whose answers are not all there (it
    has grown since, was read by other settings, or they were forgotten) counts as it was read.
    """
    store, scope, engine = parts.store, request.scope, parts.engine
    gated = _answers_again(parts, request) if asks(engine) else _read_again(parts, request)
    lineage = lineage_of(store, scope)
    claims = witnesses(store, scope, held_by_speaker(store, scope, gated, lineage), lineage)
    relations = relations_among(store, scope, claims, engine.name)
    derived = believe(scope, claims, store.rulings(scope), skew_s=request.params.skew_s, intake_at=parts.now(), relations=relations)
    pieces = pieces_of(store, scope, claims)
    return _differences(rechecked(derived, pieces) if pieces else derived, tuple(h.version for h in store.heads(scope)))


def _read_again(parts: Parts, request: Request) -> tuple[GatedClaim, ...]:
    """What the engine reads in every stored session."""
    store, scope = parts.store, request.scope
    trusted = trusted_sessions(store, scope)
    kept = store.retained(scope)
    stands = [uid for r in store.readings_named(scope, family(parts.engine) + "/") if r.session in kept for uid in r.claims] if kept else ()
    found = {g.claim.uid: g for g in store.claims_of(scope, stands)}  # what was read in them before lines of them went
    for info in store.sessions(scope):
        if info.uid in kept:
            continue
        turns = store.turns_of(scope, info.uid)
        if not turns:
            continue
        window = prepare(with_trust(info, info.uid in trusted, request.params.trusted), turns)
        found.update((j.claim.uid, gated(j)) for j in judge_all(parts.engine.extract(window), window))
    return tuple(found.values())


@dataclass(frozen=True, slots=True)
class _Record:
    """Asks the record alone."""

    store: Store
    scope: str

    def ask(self, given: Sequence[Ask], meanwhile: Meanwhile | None = None) -> Sequence[Answered]:
        """Recorded answers. Raises Refused when one is missing."""
        found = self.store.answers(self.scope, [(ask.digest, ask.attempt) for ask in given])
        if len(found) < len({(ask.digest, ask.attempt) for ask in given}):
            raise Refused("an answer is not recorded")
        return [Answered(reply=found[ask.digest, ask.attempt].reply) for ask in given]


def _answers_again(parts: Parts, request: Request) -> tuple[GatedClaim, ...]:
    """Every claim as it is read from the recorded answers now; those of readings that cannot be made again as they are stored."""
    store, scope, reader = parts.store, request.scope, cast(Reader, parts.engine)
    stored = {g.claim.uid: g for g in store.all_claims(scope)}
    marks, kept, trusted = store.session_digest(scope), store.retained(scope), trusted_sessions(store, scope)
    mine = {r.session: r for r in store.readings_named(scope, reader.name) if r.digest == marks.get(r.session) and r.session not in kept}
    derived: dict[str, GatedClaim] = {}
    again: set[NamedReading] = set()
    for info in store.sessions(scope, list(mine)):
        window = prepare(with_trust(info, info.uid in trusted, request.params.trusted), store.turns_of(scope, info.uid))
        try:
            (told,) = reader.read([window], _Record(store, scope))
        except Refused:
            continue
        judged = (checked_as(j, stored[j.claim.uid].results if j.claim.uid in stored else ()) for j in judge_all(told, window))
        derived.update((j.claim.uid, gated(j)) for j in judged)
        again.add(mine[info.uid])
    others = frozenset[str]().union(*(r.claims for r in store.readings_named(scope, "") if r not in again))
    gone = frozenset[str]().union(*(r.claims for r in again)) - others
    return tuple({**derived, **{uid: g for uid, g in stored.items() if uid not in gone}}.values())


def _differences(derived: tuple[Version, ...], stands: tuple[Version, ...]) -> list[str]:
    want = {(v.note, v.slot): v for v in derived}
    have = {(v.note, v.slot): v for v in stands}
    out = [f"missing n-{note}: {want[note, slot].statement}" for note, slot in sorted(want.keys() - have.keys())]
    out += [f"not derived n-{note}: {have[note, slot].statement}" for note, slot in sorted(have.keys() - want.keys())]
    out += [f"differs n-{k[0]}: {have[k].statement!r} → {want[k].statement!r}" for k in sorted(want.keys() & have.keys()) if want[k].content != have[k].content]
    return out
