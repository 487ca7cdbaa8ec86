"""What a scope holds true: one pure function of gated claims, recorded relations and people's rulings (systems R3, R7; DESIGN §4).

Claims are folded in event order, never in order of arrival. At every moment a note has *sides*: values with claims nobody has beaten yet. A claim beats another
of a different value when its standing is higher, or when it is equal, from the same voice (or a repeatable check), and clearly later: by position in one
session, by more than the clock skew across sessions. What is not clear is no order: both sides stand, disputed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from pipelines.model import Claim, Outcome, Ruling, Version, Witnessed

from .bounds import is_sighting
from .clock import Clock
from .ending import is_ending, may_end
from .identity import Relations, components, event_order, identity_of, in_force, shapes, unique
from .note_claims import against_other_notes, by_target, note_claims
from .released import released
from .rulings import SETTLING
from .sides import Fold, Side
from .taken_back import Banned
from .versions_of import versions_of


def believe(
    scope: str, claims: Iterable[Witnessed], rulings: Sequence[Ruling] = (), *, skew_s: float, intake_at: datetime | None, relations: Relations | None = None
) -> tuple[Version, ...]:
    """Every version of every note the claims speak of, sorted by note and slot; equal for any order of the arguments' members.

    `skew_s` is how far two clocks may differ, `intake_at` when the logs were read: a later time is no order. Claims a gate rejected, or quarantined and
    nobody approved, count for nothing. Give it all claims that bear on each other (`identity.linked`): it relates only what it sees.
    """
    claims = released(claims, rulings)
    decided = in_force(rulings)
    banned, spoken_for = Banned.of(decided), {r.target for r in decided if r.verb in SETTLING}
    gated = (w for w in unique(claims) if w.outcome in {Outcome.PASS, Outcome.DRAFT} and not _says_nothing_itself(w.claim))
    heard = tuple(w for w in gated if not banned.holds(w.claim) or identity_of(scope, w.claim).uid in spoken_for)
    clock = Clock(skew_s, intake_at)
    said = shapes(heard)
    about = by_target(decided)
    notes = tuple(note_claims(scope, part, about, banned, clock) for part in components(heard, decided, scope=scope, relations=relations, said=said))
    fold = Fold(notes, against_other_notes(notes, said, decided, relations or {}), clock)
    endings = [w for w in unique(claims) if may_end(w) and not banned.holds(w.claim)]
    for witness in sorted((*(w for note in notes for w in (*note.kept, *note.failures, *note.taken_back)), *endings), key=event_order):
        fold.hear(witness)
    sides = _by_note([*sorted(fold.ended, key=_from), *fold.active.values(), *fold.low.values()])
    versions = [version for index, note in enumerate(notes) for version in versions_of(note, sides.get(index, []), fold)]
    return tuple(sorted(versions, key=lambda v: (v.note, v.slot)))


def aliases(scope: str, claims: Iterable[Witnessed], rulings: Sequence[Ruling] = (), *, relations: Relations | None = None) -> Mapping[str, str]:
    """Every note uid the claims ever had → the uid of the note they stand in now: what keeps an anchor of a merged note alive."""
    heard = [w for w in unique(claims) if w.outcome in {Outcome.PASS, Outcome.DRAFT} and not _says_nothing_itself(w.claim)]
    parts = components(heard, rulings, scope=scope, relations=relations)
    return {identity_of(scope, w.claim).uid: identity_of(scope, part[0].claim).uid for part in parts for w in part}


def _says_nothing_itself(claim: Claim) -> bool:
    """Whether a claim is there for others alone: it shows a version, or ends what it names."""
    return is_sighting(claim) or is_ending(claim)


def _by_note(sides: Iterable[Side]) -> dict[int, list[Side]]:
    found: dict[int, list[Side]] = defaultdict(list)
    for side in sides:
        found[side.note].append(side)
    return found


def _from(side: Side) -> tuple[object, ...]:
    return event_order(side.claims[0])
