"""What a scope holds true: one pure function of gated claims, recorded relations and people's rulings (systems R3, R7; DESIGN §4).

Claims are folded in event order, never in order of arrival. At every moment a note has *sides*: values with claims nobody has beaten yet. A claim beats another
of a different value when its standing is higher, or when it is equal, from the same voice (or a repeatable check), and clearly later: by position in one
session, by more than the clock skew across sessions. What is not clear is no order: both sides stand, disputed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from pipelines.model import Basis, Claim, Kind, Origin, Outcome, Relation, Ruling, Standing, Status, Version, Witnessed
from pipelines.text.statement import canonical_words

from .bounds import is_sighting
from .ending import ENDABLE, ends, is_ending, may_end
from .half_life import over_after, passes
from .identity import (
    Relations,
    Shapes,
    candidate_pairs,
    cardinality_of,
    components,
    event_order,
    identity_of,
    in_force,
    pairs_ruled,
    related,
    shapes,
    statement_of,
    unique,
    value_name,
)
from .moment import is_ahead
from .privacy import heard_by_any, sensitivity_of_claim
from .promotion import promote, said_once, witnesses
from .recheck import FAILED, MAY_HAVE_CHANGED
from .relate import value_key
from .released import released
from .rulings import EDIT, SETTLING, TAKING_BACK, before, heard_before, is_ruling, settled, slot_head, voids
from .taken_back import Banned, kept_apart

LOWER_STANDING = "lower_standing"
"""`Version.reason` of a value that never replaced the current one because it weighed less."""

Key = tuple[str, bool]
"""What tells the values of one note apart: canonical value ("" for sets and rules), denied or not."""


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
    clock = _Clock(skew_s, intake_at)
    said = shapes(heard)
    about = _by_target(decided)
    notes = tuple(_note(scope, part, about, banned, clock) for part in components(heard, decided, scope=scope, relations=relations, said=said))
    fold = _Fold(notes, _against_other_notes(notes, said, decided, relations or {}), clock)
    endings = [w for w in unique(claims) if may_end(w) and not banned.holds(w.claim)]
    for witness in sorted((*(w for note in notes for w in (*note.kept, *note.failures, *note.taken_back)), *endings), key=event_order):
        fold.hear(witness)
    sides = _by_note([*sorted(fold.ended, key=_from), *fold.active.values(), *fold.low.values()])
    versions = [version for index, note in enumerate(notes) for version in _versions(note, sides.get(index, []), fold)]
    return tuple(sorted(versions, key=lambda v: (v.note, v.slot)))


def aliases(scope: str, claims: Iterable[Witnessed], rulings: Sequence[Ruling] = (), *, relations: Relations | None = None) -> Mapping[str, str]:
    """Every note uid the claims ever had → the uid of the note they stand in now: what keeps an anchor of a merged note alive."""
    heard = [w for w in unique(claims) if w.outcome in {Outcome.PASS, Outcome.DRAFT} and not _says_nothing_itself(w.claim)]
    parts = components(heard, rulings, scope=scope, relations=relations)
    return {identity_of(scope, w.claim).uid: identity_of(scope, part[0].claim).uid for part in parts for w in part}


def _says_nothing_itself(claim: Claim) -> bool:
    """Whether a claim is there for others alone: it shows a version, or ends what it names."""
    return is_sighting(claim) or is_ending(claim)


# --- notes -------------------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Note:
    """One component: its uid, every uid its claims had, the claims that count and those a ruling took out (with the ruling).

    `failures` are runs that show the command of a procedure failing: they say nothing of their own, only how it stands.
    """

    uid: str
    names: frozenset[str]
    kept: tuple[Witnessed, ...]
    voided: tuple[tuple[Witnessed, Ruling], ...]
    failures: tuple[Witnessed, ...] = ()

    @property
    def taken_back(self) -> Mapping[Witnessed, Ruling]:
        """Claims a person took back that may have ended others while they stood."""
        return {w: r for w, r in self.voided if r.verb in TAKING_BACK and r.other is None and not is_failure(w)}


def _by_target(rulings: Sequence[Ruling]) -> Mapping[str, Sequence[tuple[int, Ruling]]]:
    """Rulings in force by what they are about, each with its place in the order they were made in."""
    found: dict[str, list[tuple[int, Ruling]]] = defaultdict(list)
    for place, ruling in enumerate(rulings):
        found[ruling.target].append((place, ruling))
    return found


def _note(scope: str, part: Sequence[Witnessed], rulings: Mapping[str, Sequence[tuple[int, Ruling]]], banned: Banned, clock: _Clock) -> _Note:
    names = frozenset(identity_of(scope, w.claim).uid for w in part)
    about = [ruling for _, ruling in sorted((r for name in names for r in rulings.get(name, ())), key=lambda placed: placed[0])]
    kept: list[Witnessed] = []
    voided: list[tuple[Witnessed, Ruling]] = []
    taken_back: list[Witnessed] = []
    for witness in part:
        head = slot_head(*_key(witness))
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
    return _Note(identity_of(scope, part[0].claim).uid, names, tuple(kept), tuple(voided), failures)


def _settled(part: Sequence[Witnessed], kept: Sequence[Witnessed], ruling: Ruling, clock: _Clock) -> Iterator[Witnessed]:
    """The claims a person's decision makes: for the slot it names, else for every side that stood uncontested when it was made."""
    heard = sorted(before(kept, ruling), key=event_order)
    latest = max((w.order.at for w in part if w.order.at and not clock.future(w)), default=None)
    by_head: dict[str, list[Witnessed]] = defaultdict(list)
    for witness in [*heard, *part]:
        by_head[slot_head(*_key(witness))].append(witness)
    if ruling.other is not None:
        models = [_best(group) for head, group in by_head.items() if head == ruling.other.split(".")[0]]
    else:
        fold = _Fold((_Note("", frozenset(), tuple(heard), ()),), {}, clock)
        for witness in heard:
            fold.hear(witness)
        models = [_best(side.claims) for side in fold.active.values() if not fold.rivals(side)]
        if ruling.verb == "edit":
            models = models[:1] or [_best(heard or list(part))]
    for model in models:
        yield settled(ruling, model, latest or clock.intake_at)


def is_failure(witness: Witnessed) -> bool:
    """Whether a claim is a run that shows a command failing."""
    claim = witness.claim
    return claim.kind is Kind.PROCEDURE and claim.negated and claim.verified_by is not None and not is_ruling(witness)


def _key(witness: Witnessed) -> Key:
    claim = witness.claim
    if claim.made_by == EDIT:
        return value_name(claim.value) or " ".join(canonical_words(claim.statement)), claim.negated
    return value_name(claim.value) if cardinality_of(claim) == "single" else "", claim.negated


def _against_other_notes(notes: Sequence[_Note], said: Shapes, rulings: Sequence[Ruling], relations: Relations) -> Mapping[str, frozenset[str]]:
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


# --- order -------------------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Clock:
    """When one claim is clearly later than another (systems R7)."""

    skew_s: float
    intake_at: datetime | None

    def future(self, witness: Witnessed) -> bool:
        """Stated later than the log was read: the time is wrong."""
        at = witness.order.at
        return self.intake_at is not None and at is not None and at > self.intake_at + timedelta(seconds=self.skew_s)

    def at(self, witness: Witnessed) -> datetime | None:
        """The time of a claim; None where that cannot be (`is_ahead`) or is not its own."""
        order = witness.order
        return None if order.basis is Basis.UNKNOWN or is_ahead(order.at, self.intake_at) else order.at

    def later(self, newer: Witnessed, older: Witnessed) -> bool:
        """By position inside one session, by more than the skew across sessions; a ruling is later than all its maker had heard."""
        one, two = newer.order, older.order
        if one.session == two.session and not is_ruling(newer):
            return one.ordinal > two.ordinal and one.sort > two.sort
        if not (self._dated(newer) and (self._dated(older) or is_ruling(newer))):
            return False
        assert one.at is not None
        if two.at is None:
            return True
        if is_ruling(newer) or is_ruling(older):
            return one.at >= two.at if is_ruling(newer) else one.at > two.at
        return (one.at - two.at).total_seconds() > self.skew_s

    def _dated(self, witness: Witnessed) -> bool:
        order = witness.order
        return order.known and order.at is not None and order.basis is not Basis.UNKNOWN and not self.future(witness)


def _proven(claims: Sequence[Witnessed]) -> bool:
    return promote(_best(claims).claim.kind, claims)[0] is Status.CONFIRMED


def _weight(witness: Witnessed) -> Standing:
    """What a claim can overturn: an unproven one, whoever said it, weighs no more than an inference."""
    return witness.standing if witness.outcome is Outcome.PASS and not witness.claim.doubts else Standing.INFERRED


def _one_voice(newer: Witnessed, older: Witnessed) -> bool:
    """The same speaker, a check that can be repeated, or a person's decision. Pages of strangers are not one voice."""
    if is_ruling(newer) or is_ruling(older) or newer.claim.verified_by:
        return True
    if newer.speaker is None and Origin.EXTERNAL in (newer.origin, older.origin):
        return False
    return newer.speaker == older.speaker


def _names_as_over(newer: Witnessed, older: Witnessed) -> bool:
    """The newer claim itself says that the older one's value is over."""
    return newer.claim.old_value is not None and not older.claim.negated and value_name(newer.claim.old_value) == value_name(older.claim.value)


def _clash(newer: Witnessed, older: Witnessed) -> str:
    """Two claims of one note: "conflict", "extends" (the newer only says more) or "" (both can hold)."""
    one, two = _key(newer), _key(older)
    if one == two:
        return ""
    if EDIT in (newer.claim.made_by, older.claim.made_by):
        return "conflict"
    if one[1] != two[1]:
        return "conflict" if one[0] == two[0] or not (one[0] and two[0]) else ""
    if one[1] or not one[0] or not two[0] or statement_of(newer.claim).also:
        return ""
    more, less = _parts(newer), _parts(older)
    return "extends" if less < more else "" if more < less else "conflict"


def _parts(witness: Witnessed) -> frozenset[str]:
    typed, words = value_key(witness.claim.value)
    return frozenset(part for _, part in typed) | frozenset(words)


# --- the fold ----------------------------------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class _Side:
    """One value of one note over one stretch of time: all its claims, and those not beaten yet.

    `doubt` is what was heard against it that cannot end it, and its code; `mends` is the procedure that failed and that this one took the place of.
    `taken_back` is the decision that took its claims back: such a side is no version and nobody's rival, but what it ended stays over.
    """

    note: int
    key: Key
    claims: list[Witnessed] = field(default_factory=list)
    live: dict[str, Witnessed] = field(default_factory=dict)
    ended_by: Witnessed | None = None
    doubt: tuple[str, Witnessed] | None = None
    mends: _Side | None = None
    taken_back: Ruling | None = None

    @property
    def weight(self) -> Standing:
        return max(self.weights().values(), default=Standing.INFERRED)

    @property
    def proven(self) -> bool:
        return self.mends is not None or _proven(self.claims)

    @property
    def failed(self) -> Witnessed | None:
        """The run that shows the procedure failing, if none has shown it working since."""
        return self.doubt[1] if self.doubt and self.doubt[0] == FAILED else None

    def weights(self) -> dict[str, Standing]:
        """What each live claim weighs, by uid: words said once carry a person's full weight as soon as another session says them too."""
        carried = any(map(said_once, self.live.values())) and self.proven
        return {uid: w.standing if carried and said_once(w) else _weight(w) for uid, w in self.live.items()}


_SAID_OF_IT = frozenset({"", "inferred", "hedged"})
"""What words may lack that speak of the thing all the same; what points at something unnamed, or plays a role, may speak of another."""


class _Fold:
    """Hears claims in event order; `active` are the sides that stand, `ended` those that were beaten, `low` what never weighed enough."""

    def __init__(self, notes: Sequence[_Note], against: Mapping[str, frozenset[str]], clock: _Clock) -> None:
        self._note_of = {w.uid: index for index, note in enumerate(notes) for w in (*note.kept, *note.failures, *note.taken_back)}
        self._taken_back = {w.uid: ruling for note in notes for w, ruling in note.taken_back.items()}
        self._gone: dict[tuple[int, Key], _Side] = {}
        self.ended_elsewhere: set[str] = set()
        self._against = against
        self.clock = clock
        self.active: dict[tuple[int, Key], _Side] = {}
        self.ended: list[_Side] = []
        self.low: dict[tuple[int, Key], _Side] = {}
        self._of_note: dict[int, list[_Side]] = defaultdict(list)
        self._of_claim: dict[str, _Side] = {}
        self._endable = [index for index, note in enumerate(notes) if any(w.claim.kind in ENDABLE for w in note.kept)]

    def hear(self, claim: Witnessed) -> None:
        """Fold the next claim in: evidence for its own side, a lower-standing value, a value already over, or the end of what it beats."""
        if is_ending(claim.claim):
            self._end(claim)
            return
        if is_failure(claim):
            self._fail(claim)
            return
        if claim.uid in self._taken_back:
            self._hear_taken_back(claim)
            return
        place = (self._note_of[claim.uid], _key(claim))
        own = self.active.get(place)
        opponents = self._opponents(claim, place)
        weight = self._weight_here(claim, place)
        if own is not None and weight < own.weight:
            own.claims.append(claim)
            return
        stronger = [side for side in opponents if side.weight > weight]
        if stronger:
            self._lower(claim, place, stronger)
            return
        if by := self._over_already(claim, opponents):
            self.ended.append(_Side(*place, [claim], {}, by))
            return
        side = own or self._open(place)
        side.doubt = None
        side.claims.append(claim)
        side.live[claim.uid] = claim
        self._of_claim[claim.uid] = side
        for opponent in [*opponents, *self._opponents(claim, place, "extends")]:
            self._press(claim, weight, side, opponent)

    def _hear_taken_back(self, claim: Witnessed) -> None:
        """Take from others what this claim beat before a person took it back: that it was over stays so, unless the taking back is reverted."""
        place = (self._note_of[claim.uid], _key(claim))
        opponents = self._opponents(claim, place)
        weight = _weight(claim)
        if any(side.weight > weight for side in opponents) or self._over_already(claim, opponents):
            return
        side = self._gone.get(place)
        if side is None:
            side = self._gone[place] = _Side(*place, taken_back=self._taken_back[claim.uid])
            self._of_note[place[0]].append(side)
        side.claims.append(claim)
        side.live[claim.uid] = claim
        self._of_claim[claim.uid] = side
        for opponent in opponents:
            if side.proven or not opponent.proven:
                self._press(claim, weight, side, opponent)

    def _end(self, ending: Witnessed) -> None:
        """A person says that something is done, cancelled or released: goals, plans and holds about it that were heard before are over."""
        sides = [side for index in self._endable for side in self._of_note[index] if side.taken_back is None]
        for side in [s for s in sides if any(ends(ending.claim, w.claim) for w in s.live.values())]:
            held = side.live.values()
            spoken = all(w.claim.kind is not Kind.HOLD or _one_voice(ending, w) for w in held)
            if spoken and all(self.clock.later(ending, w) for w in held):
                side.ended_by = ending
                self.ended.append(side)
                self._of_note[side.note].remove(side)
                del self.active[(side.note, side.key)]

    def _fail(self, failure: Witnessed) -> None:
        """A run shows a procedure failing: it falls when that is clearly later than whatever shows it working."""
        for side in self._of_note[self._note_of[failure.uid]]:
            if all(self.clock.later(failure, w) for w in side.live.values()):
                side.doubt = (FAILED, failure)

    def _hint(self, claim: Witnessed, opponent: _Side) -> None:
        """A person's own words that prove nothing yet say that a fact of one value has another by now."""
        own = claim.origin is Origin.USER and not is_ruling(claim) and {claim.missed, *claim.claim.doubts} <= _SAID_OF_IT
        fact = own and claim.claim.kind in {Kind.FACT, Kind.PREFERENCE} and cardinality_of(claim.claim) == "single" and not claim.claim.negated
        held = opponent.live.values()
        if fact and all(w.claim.kind is Kind.FACT and self.clock.later(claim, w) for w in held) and any(_clash(claim, w) == "conflict" for w in held):
            opponent.doubt = (MAY_HAVE_CHANGED, claim)

    def _weight_here(self, claim: Witnessed, place: tuple[int, Key]) -> Standing:
        """What a claim weighs together with what was heard of its value before."""
        if not said_once(claim):
            return _weight(claim)
        before = self.active.get(place) or self.low.get(place)
        return claim.standing if _proven([*(before.claims if before else ()), claim]) else _weight(claim)

    def rivals(self, side: _Side) -> list[_Side]:
        """Sides that stand against this one: at least one pair of their claims cannot both hold."""
        near = [*self._of_note[side.note], *(self._of_claim[uid] for c in side.live for uid in self._against.get(c, ()) if uid in self._of_claim)]
        standing = {id(other): other for other in near if other is not side and other.ended_by is None and other.taken_back is None}
        return [other for other in standing.values() if any(self._at_odds(a, b) for a in side.live.values() for b in other.live.values())]

    def _at_odds(self, a: Witnessed, b: Witnessed) -> bool:
        if b.uid in self._against.get(a.uid, ()):
            return True
        older, newer = sorted((a, b), key=event_order)
        return self._note_of[a.uid] == self._note_of[b.uid] and _clash(newer, older) == "conflict"

    def _opponents(self, claim: Witnessed, place: tuple[int, Key], clash: str = "conflict") -> list[_Side]:
        found = [s for s in self._of_note[place[0]] if s.key != place[1] and any(_clash(claim, x) == clash for x in s.live.values())]
        for uid in sorted(self._against.get(claim.uid, ())) if clash == "conflict" else ():
            side = self._of_claim.get(uid)
            if side is not None and uid in side.live and side not in found:
                found.append(side)
        return [side for side in found if side.taken_back is None or heard_before(claim, side.taken_back)]

    def _over_already(self, claim: Witnessed, opponents: Sequence[_Side]) -> Witnessed | None:
        """The standing claim that says this one's value is over, when nothing shows this one to be later."""
        for side in opponents:
            for x in sorted(side.live.values(), key=event_order):
                if (
                    _weight(x) >= _weight(claim)
                    and _names_as_over(x, claim)
                    and _one_voice(x, claim)
                    and not _names_as_over(claim, x)
                    and not self.clock.later(claim, x)
                ):
                    return x
        return None

    def _press(self, claim: Witnessed, weight: Standing, side: _Side, opponent: _Side) -> None:
        """Take from an opponent what the claim beats; what is not proven takes nothing from what is, unless that is a procedure that failed."""
        if opponent.proven and not side.proven and opponent.failed is None:
            self._hint(claim, opponent)
            return
        for uid, older in opponent.weights().items():
            if weight > older or (weight == older and self._replaces(claim, opponent.live[uid])):
                del opponent.live[uid]
        if not opponent.live:
            self._of_note[opponent.note].remove(opponent)
            opponent.ended_by = claim
            if opponent.taken_back is not None:
                del self._gone[(opponent.note, opponent.key)]
                return
            if opponent.failed is not None and opponent.proven:
                side.mends = opponent
            self.ended.append(opponent)
            if opponent.note != side.note:
                self.ended_elsewhere.add(claim.uid)
            del self.active[(opponent.note, opponent.key)]

    def _replaces(self, newer: Witnessed, older: Witnessed) -> bool:
        return _one_voice(newer, older) and (self.clock.later(newer, older) or _names_as_over(newer, older))

    def _open(self, place: tuple[int, Key]) -> _Side:
        """A new stretch of a value; what was heard of it before at lower standing becomes part of its evidence."""
        side = _Side(*place)
        if earlier := self.low.pop(place, None):
            side.claims.extend(earlier.claims)
        self.active[place] = side
        self._of_note[place[0]].append(side)
        return side

    def _lower(self, claim: Witnessed, place: tuple[int, Key], stronger: Sequence[_Side]) -> None:
        side = self.low.setdefault(place, _Side(*place))
        side.claims.append(claim)
        for opponent in stronger:
            self._hint(claim, opponent)
        top = max(stronger, key=lambda s: (s.weight, s.note, s.key))
        side.ended_by = side.ended_by or _best(list(top.live.values()))


# --- versions ----------------------------------------------------------------------------------------------------------------------------


def _by_note(sides: Iterable[_Side]) -> dict[int, list[_Side]]:
    found: dict[int, list[_Side]] = defaultdict(list)
    for side in sides:
        found[side.note].append(side)
    return found


def _versions(note: _Note, sides: Sequence[_Side], fold: _Fold) -> Iterator[Version]:
    """The versions of one note from its sides: ended ones in order, then those that stand, then those that never weighed enough."""
    count: dict[Key, int] = defaultdict(int)
    for side in sides:
        head = slot_head(*side.key)
        if fold.low.get((side.note, side.key)) is side:
            yield _lower_version(note, f"{head}.lower", side, fold.clock)
            continue
        count[side.key] += 1
        slot = head if count[side.key] == 1 else f"{head}.{count[side.key]}"
        yield _ended(note, slot, side, fold.clock) if side.ended_by else _standing(note, slot, side, fold)
        if side.mends is not None:
            yield _mended(note, f"{slot}.mends", side.mends, fold.clock)
    heard = [side for side in sides if fold.low.get((side.note, side.key)) is not side]
    yield from _told(note, [w for side in heard for w in side.claims], {side.key for side in sides}, fold)
    yield from _retracted(note, fold.clock)


def _from(side: _Side) -> tuple[object, ...]:
    return event_order(side.claims[0])


def _standing(note: _Note, slot: str, side: _Side, fold: _Fold) -> Version:
    status, missed = promote(_best(side.claims).claim.kind, side.claims)
    if status is Status.CONFIRMED and any(rival.proven for rival in fold.rivals(side)):
        status = Status.DISPUTED
    if side.mends is not None and status is Status.DRAFT:
        status, missed = Status.CONFIRMED, ""
    newest = max(side.claims, key=event_order)
    until = newest.claim.valid_until or _passes_at(side.claims, fold.clock)
    version = replace(_version(note, slot, side.claims, status, fold.clock), missed=missed, valid_until=until)
    return _doubted(version, *side.doubt) if side.doubt else version


def _passes_at(claims: Sequence[Witnessed], clock: _Clock) -> datetime | None:
    """When what passes by itself is over: some time after it was last heard of, or a person last spoke for it."""
    claim = _best(claims).claim
    if not passes(claim.kind, claim.subject, claim.attribute):
        return None
    return over_after(max((at for w in claims if (at := clock.at(w))), default=None))


def _doubted(version: Version, code: str, by: Witnessed) -> Version:
    """The version to be checked again because of a claim that cannot end it; a draft stays one, a failed one says so."""
    if version.status is Status.DRAFT:
        return replace(version, missed=code, ended_by=by.uid) if code == FAILED else version
    if version.status is not Status.CONFIRMED:
        return version
    reason = by.claim.reason if code == FAILED else by.claim.statement
    return replace(version, status=Status.NEEDS_RECHECK, missed=code, ended_by=by.uid, reason=reason or version.reason)


def _ended(note: _Note, slot: str, side: _Side, clock: _Clock) -> Version:
    by = side.ended_by
    assert by is not None
    clear = any(clock.later(by, w) for w in side.claims)
    version = _version(note, slot, side.claims, Status.SUPERSEDED, clock)
    reason = (
        (by.claim.reason or _why_failed(side) or (by.claim.statement if is_ending(by.claim) else None))
        if clear or _names_as_over(by, side.claims[0])
        else LOWER_STANDING
    )
    missed = "" if side.proven else promote(_best(side.claims).claim.kind, side.claims)[1]
    return replace(version, valid_until=clock.at(by) if clear else None, ended_by=by.uid, reason=reason, missed=missed)


def _why_failed(side: _Side) -> str | None:
    return side.failed.claim.reason if side.failed is not None else None


def _mended(note: _Note, slot: str, old: _Side, clock: _Clock) -> Version:
    """What a procedure was before it failed, as history of the one that works: told by the claim that shows both."""
    by = old.ended_by
    assert by is not None
    best = _best(old.claims)
    version = _version(note, slot, [by], Status.SUPERSEDED, clock)
    return replace(
        version, statement=best.claim.statement, value=best.claim.value, valid_from=None, valid_until=clock.at(by), ended_by=by.uid,
        reason=by.claim.reason or _why_failed(old),
    )  # fmt: skip


def _lower_version(note: _Note, slot: str, side: _Side, clock: _Clock) -> Version:
    """History for what weighed less; a draft where only a missing criterion made it weigh less, so that a person may see it. What misses more
    than a speaker of higher standing names that: it was never believed, and is told nowhere."""
    by = side.ended_by
    assert by is not None
    best = max(side.claims, key=lambda w: (w.standing, event_order(w)))
    missed = best.missed or next(iter(best.claim.doubts), "unproven")
    if best.standing >= _weight(by) or best.claim.made_by == EDIT:
        return replace(_version(note, slot, side.claims, Status.DRAFT, clock), missed=missed)
    over = replace(_version(note, slot, side.claims, Status.SUPERSEDED, clock), reason=LOWER_STANDING, ended_by=by.uid)
    return over if any(map(_lacks_but_standing, side.claims)) else replace(over, missed=missed)


def _lacks_but_standing(witness: Witnessed) -> bool:
    """Whether nothing but a speaker of higher standing is missing: a gate let it through, or it is an agent's own word."""
    lacking = {witness.missed, *witness.claim.doubts} - {""}
    return not lacking or (witness.standing is Standing.INFERRED and lacking <= _OF_AGENTS)


_OF_AGENTS = frozenset({"assistant_only", "only_the_assistant_says_so", "inferred"})
"""Missed by whatever an agent says itself."""


def _told(note: _Note, claims: Iterable[Witnessed], known: set[Key], fold: _Fold) -> Iterator[Version]:
    """A former value no claim states, known because a claim names it as over."""
    done = set(known)
    for witness in sorted(claims, key=event_order):
        claim = witness.claim
        key = (value_name(claim.old_value), False)
        single = cardinality_of(claim) == "single" and claim.value is not None
        if not claim.old_value or not single or key in done or witness.outcome is not Outcome.PASS or witness.uid in fold.ended_elsewhere:
            continue
        done.add(key)
        version = _version(note, f"{slot_head(*key)}.told", [witness], Status.SUPERSEDED, fold.clock)
        at = fold.clock.at(witness)
        yield replace(version, value=claim.old_value, valid_from=None, valid_until=at, ended_by=witness.uid, reason=claim.reason)


def _retracted(note: _Note, clock: _Clock) -> Iterator[Version]:
    by_key: dict[Key, list[tuple[Witnessed, Ruling]]] = defaultdict(list)
    for witness, ruling in note.voided:
        by_key[_key(witness)].append((witness, ruling))
    for key, pairs in by_key.items():
        ruling = pairs[0][1]
        version = _version(note, f"{slot_head(*key)}.retracted", [w for w, _ in pairs], Status.RETRACTED, clock)
        yield replace(version, reason=ruling.body or ruling.verb, ended_by=ruling.uid, valid_until=ruling.at)


def _version(note: _Note, slot: str, claims: Sequence[Witnessed], status: Status, clock: _Clock) -> Version:
    """A version in the words of the oldest of its strongest claims; times are those of the evidence, never of now.

    A time that cannot be (`_Clock.at`) dates nothing.
    """
    best = _best(claims)
    ordered = sorted(claims, key=event_order)
    dated = [(at, is_ruling(w)) for w in ordered if (at := clock.at(w)) is not None]
    times = sorted(at for at, ruled in dated if not ruled) or [at for at, _ in dated]
    claim = best.claim
    standing = best.standing if said_once(best) and _proven(claims) else _weight(best)
    counted = [w for w in ordered if _weight(w) is not Standing.INFERRED or said_once(w)] or ordered
    return Version(
        note=note.uid, slot=slot, kind=claim.kind, subject=claim.subject, attribute=claim.attribute, qualifier=claim.qualifier, statement=claim.statement,
        value=claim.value, status=status, standing=standing, basis=best.order.basis, claims=tuple(dict.fromkeys(w.uid for w in ordered)),
        valid_from=times[0] if times else None, oldest_evidence=times[0] if times else None, newest_evidence=times[-1] if times else None,
        verified_by=next((w.claim.verified_by for w in sorted(claims, key=_strength) if w.claim.verified_by), None),
        applies_to=next((w.claim.applies_to for w in reversed(ordered) if w.claim.applies_to), None),
        reason=next((w.claim.reason for w in reversed(ordered) if w.claim.reason), None), roots=witnesses(counted), sensitivity=sensitivity_of_claim(claim),
        audience=heard_by_any(w.audience for w in ordered if w.claim.statement == claim.statement),
    )  # fmt: skip


def _strength(witness: Witnessed) -> tuple[object, ...]:
    """Strongest first; the newest edit before the oldest claim, other decisions (they have no words of their own) last."""
    if witness.claim.made_by == EDIT:
        return -_weight(witness), 0, -witness.order.sort[1], event_order(witness)
    return -_weight(witness), 1 + is_ruling(witness), 0.0, event_order(witness)


def _best(claims: Sequence[Witnessed]) -> Witnessed:
    """The claim a version speaks in the words of: the strongest, of these the oldest; a decision only where it brings its own words."""
    return min(claims, key=_strength)
