"""The claims of each note: those that count, those a person's decision took out or made, and those of other notes they cannot hold beside. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from pipelines.model import Relation, Ruling, Witnessed

from .clock import Clock
from .identity import Relations, Shapes, candidate_pairs, event_order, identity_of, pairs_ruled, related
from .rulings import SETTLING, before, is_ruling, settled, slot_head, voids
from .sides import Fold, NoteClaims
from .taken_back import Banned, kept_apart
from .weights import best_of, is_failure, key_of


def by_target(rulings: Sequence[Ruling]) -> Mapping[str, Sequence[tuple[int, Ruling]]]:
    """Rulings in force by what they are about, each with its place in the order they were made in."""
    found: dict[str, list[tuple[int, Ruling]]] = defaultdict(list)
    for place, ruling in enumerate(rulings):
        found[ruling.target].append((place, ruling))
    return found


def note_claims(scope: str, part: Sequence[Witnessed], rulings: Mapping[str, Sequence[tuple[int, Ruling]]], banned: Banned, clock: Clock) -> NoteClaims:
    """The claims of one component, after what people decided about any of its names, in the order they decided it."""
    names = frozenset(identity_of(scope, w.claim).uid for w in part)
    about = [ruling for _, ruling in sorted((r for name in names for r in rulings.get(name, ())), key=lambda placed: placed[0])]
    kept: list[Witnessed] = []
    voided: list[tuple[Witnessed, Ruling]] = []
    taken_back: list[Witnessed] = []
    for witness in part:
        head = slot_head(*key_of(witness))
        by = next((r for r in about if voids(r, names, head, witness)), None)
        if banned.holds(witness.claim):
            taken_back += [witness] if by is None else []
        elif by is None:
            kept.append(witness)
        elif by.verb != "ban":
            voided.append((witness, by))
    failures = tuple(w for w in kept if is_failure(w))
    kept = [w for w in kept if not is_failure(w)]
    for ruling in about:
        if ruling.verb in SETTLING and (stated := [w for w in part if not is_failure(w)]):
            kept.extend(_settled(stated, [*kept, *taken_back], ruling, clock))  # what a person spoke for stays on their word
    return NoteClaims(identity_of(scope, part[0].claim).uid, names, tuple(kept), tuple(voided), failures)


def _settled(part: Sequence[Witnessed], kept: Sequence[Witnessed], ruling: Ruling, clock: Clock) -> Iterator[Witnessed]:
    """The claims a person's decision makes: for the slot it names, else for every side that stood uncontested when it was made."""
    heard = sorted(before(kept, ruling), key=event_order)
    latest = max((w.order.at for w in part if w.order.at and not clock.future(w)), default=None)
    by_head: dict[str, list[Witnessed]] = defaultdict(list)
    for witness in [*heard, *part]:
        by_head[slot_head(*key_of(witness))].append(witness)
    if ruling.other is not None:
        models = [best_of(group) for head, group in by_head.items() if head == ruling.other.split(".")[0]]
    else:
        fold = Fold((NoteClaims("", frozenset(), tuple(heard), ()),), {}, clock)
        for witness in heard:
            fold.hear(witness)
        models = [best_of(side.claims) for side in fold.active.values() if not fold.rivals(side)]
        if ruling.verb == "edit":
            models = models[:1] or [best_of(heard or list(part))]
    for model in models:
        yield settled(ruling, model, latest or clock.intake_at)


def against_other_notes(notes: Sequence[NoteClaims], said: Shapes, rulings: Sequence[Ruling], relations: Relations) -> Mapping[str, frozenset[str]]:
    """Claims of different notes that cannot both hold: related as update or contradiction, by the rules or by a recorded verdict, and not banned."""
    home = {w.uid: index for index, note in enumerate(notes) for w in (*note.kept, *note.taken_back) if not is_ruling(w)}
    alike = {id(kept[0].claim): kept for several in said.values() if (kept := [w for w in several if w.uid in home])}
    found = [
        (a.uid, b.uid)
        for one, two in candidate_pairs(several[0].claim for several in alike.values())
        if related(one, two) & _CHANGES
        for a in alike[id(one)]
        for b in alike[id(two)]
    ]
    found += [pair for pair, relation in relations.items() if relation in _CHANGES and pair[0] in home and pair[1] in home]
    _, banned = pairs_ruled(rulings)
    strangers = kept_apart([note.names for note in notes], banned)
    against: dict[str, set[str]] = defaultdict(set)
    for low, high in found:
        if home[low] != home[high] and (min(low, high), max(low, high)) not in banned and frozenset((home[low], home[high])) not in strangers:
            against[low].add(high)
            against[high].add(low)
    return {uid: frozenset(others) for uid, others in against.items()}


_CHANGES = frozenset({Relation.UPDATE, Relation.CONTRADICTION})
