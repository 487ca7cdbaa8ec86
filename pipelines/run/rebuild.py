"""What is derived, derived again: the wiki from the store, and the notes from the archived logs."""

from __future__ import annotations

from pipelines.model import Version
from pipelines.notes.beliefs import believe
from pipelines.run.asking_read import asks
from pipelines.run.company import held_by_speaker
from pipelines.run.parts import Parts, Request, family
from pipelines.run.reading import gated, trusted_sessions, with_trust, witnesses
from pipelines.run.render import differing
from pipelines.run.resolving import lineage_of, pieces_of, relations_among
from pipelines.run.wiki import organize
from pipelines.stages.extractor import judge_all, prepare
from pipelines.stages.resolver import rechecked
from pipelines.store import GatedClaim
from pipelines.wiki.publish import read_folder


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

    What a model was asked is not asked again: of an engine that asks, the readings count as they were recorded (`replay` compares them with its answers).
    """
    store, scope, engine = parts.store, request.scope, parts.engine
    gated = store.all_claims(scope) if asks(engine) else _read_again(parts, request)
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


def _differences(derived: tuple[Version, ...], stands: tuple[Version, ...]) -> list[str]:
    want = {(v.note, v.slot): v for v in derived}
    have = {(v.note, v.slot): v for v in stands}
    out = [f"missing n-{note}: {want[note, slot].statement}" for note, slot in sorted(want.keys() - have.keys())]
    out += [f"not derived n-{note}: {have[note, slot].statement}" for note, slot in sorted(have.keys() - want.keys())]
    out += [f"differs n-{k[0]}: {have[k].statement!r} → {want[k].statement!r}" for k in sorted(want.keys() & have.keys()) if want[k].content != have[k].content]
    return out
