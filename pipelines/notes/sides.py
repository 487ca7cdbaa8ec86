"""The fold: claims of a scope heard in event order, each for or against the sides that stand. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from pipelines.model import Kind, Origin, Ruling, Standing, Witnessed

from .clock import Clock
from .ending import ENDABLE, ends, is_ending, takes_back
from .identity import cardinality_of, event_order
from .promotion import said_once
from .recheck import FAILED, MAY_HAVE_CHANGED
from .rulings import TAKING_BACK, heard_before, is_ruling
from .weights import Key, best_of, clash, is_failure, is_proven, key_of, names_as_over, one_voice, weight_of


@dataclass(frozen=True, slots=True)
class NoteClaims:
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


@dataclass(slots=True, eq=False)
class Side:
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
    mends: Side | None = None
    taken_back: Ruling | None = None

    @property
    def weight(self) -> Standing:
        return max(self.weights().values(), default=Standing.INFERRED)

    @property
    def proven(self) -> bool:
        return self.mends is not None or is_proven(self.claims)

    @property
    def failed(self) -> Witnessed | None:
        """The run that shows the procedure failing, if none has shown it working since."""
        return self.doubt[1] if self.doubt and self.doubt[0] == FAILED else None

    def weights(self) -> dict[str, Standing]:
        """What each live claim weighs, by uid: words said once carry a person's full weight as soon as another session says them too."""
        carried = any(map(said_once, self.live.values())) and self.proven
        return {uid: w.standing if carried and said_once(w) else weight_of(w) for uid, w in self.live.items()}


_SAID_OF_IT = frozenset({"", "inferred", "hedged"})
"""What words may lack that speak of the thing all the same; what points at something unnamed, or plays a role, may speak of another."""


def _may_end(ending: Witnessed, held: Collection[Witnessed]) -> bool:
    """Whether it is the speaker's to end: of a hold and of words taken back their own words alone, whatever anybody else says or a result shows."""
    if takes_back(ending.claim):
        return all(one_voice(ending, w) and w.origin is Origin.USER for w in held)
    return all(w.claim.kind is not Kind.HOLD or one_voice(ending, w) for w in held)


def _says_another_value(claim: Witnessed, held: Collection[Witnessed]) -> bool:
    fact = claim.claim.kind in {Kind.FACT, Kind.PREFERENCE} and cardinality_of(claim.claim) == "single" and not claim.claim.negated
    spoken = fact and {claim.missed, *claim.claim.doubts} <= _SAID_OF_IT
    return spoken and all(w.claim.kind is Kind.FACT for w in held) and any(clash(claim, w) == "conflict" for w in held)


def _orders_otherwise(claim: Witnessed, held: Collection[Witnessed]) -> bool:
    """Whether an order given once denies what a rule of the same person orders, or orders what it denies."""
    return said_once(claim) and all(w.claim.kind is claim.claim.kind and one_voice(claim, w) and w.claim.negated != claim.claim.negated for w in held)


class Fold:
    """Hears claims in event order; `active` are the sides that stand, `ended` those that were beaten, `low` what never weighed enough."""

    def __init__(self, notes: Sequence[NoteClaims], against: Mapping[str, frozenset[str]], clock: Clock) -> None:
        self._note_of = {w.uid: index for index, note in enumerate(notes) for w in (*note.kept, *note.failures, *note.taken_back)}
        self._taken_back = {w.uid: ruling for note in notes for w, ruling in note.taken_back.items()}
        self._gone: dict[tuple[int, Key], Side] = {}
        self.ended_elsewhere: set[str] = set()
        self._against = against
        self.clock = clock
        self.active: dict[tuple[int, Key], Side] = {}
        self.ended: list[Side] = []
        self.low: dict[tuple[int, Key], Side] = {}
        self._of_note: dict[int, list[Side]] = defaultdict(list)
        self._of_claim: dict[str, Side] = {}
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
        place = (self._note_of[claim.uid], key_of(claim))
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
            self.ended.append(Side(*place, [claim], {}, by))
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
        place = (self._note_of[claim.uid], key_of(claim))
        opponents = self._opponents(claim, place)
        weight = weight_of(claim)
        if any(side.weight > weight for side in opponents) or self._over_already(claim, opponents):
            return
        side = self._gone.get(place)
        if side is None:
            side = self._gone[place] = Side(*place, taken_back=self._taken_back[claim.uid])
            self._of_note[place[0]].append(side)
        side.claims.append(claim)
        side.live[claim.uid] = claim
        self._of_claim[claim.uid] = side
        for opponent in opponents:
            if side.proven or not opponent.proven:
                self._press(claim, weight, side, opponent)

    def _end(self, ending: Witnessed) -> None:
        """A person says that something is done, cancelled or released, or takes their words back: what was heard before about it is over."""
        notes = sorted(self._of_note) if takes_back(ending.claim) else self._endable
        sides = [side for index in notes for side in self._of_note[index] if side.taken_back is None]
        for side in [s for s in sides if any(ends(ending.claim, w.claim) for w in s.live.values())]:
            held = side.live.values()
            if _may_end(ending, held) and all(self.clock.later(ending, w) for w in held):
                side.ended_by = ending
                self.ended.append(side)
                self._of_note[side.note].remove(side)
                del self.active[(side.note, side.key)]

    def _fail(self, failure: Witnessed) -> None:
        """A run shows a procedure failing: it falls when that is clearly later than whatever shows it working."""
        for side in self._of_note[self._note_of[failure.uid]]:
            if all(self.clock.later(failure, w) for w in side.live.values()):
                side.doubt = (FAILED, failure)

    def _hint(self, claim: Witnessed, opponent: Side) -> None:
        """A person's own words that prove nothing yet say that a fact of one value has another by now, or forbid once what a rule of theirs orders."""
        if is_ruling(claim) or claim.origin is not Origin.USER:
            return
        held = opponent.live.values()
        if all(self.clock.later(claim, w) for w in held) and (_says_another_value(claim, held) or _orders_otherwise(claim, held)):
            opponent.doubt = (MAY_HAVE_CHANGED, claim)

    def _weight_here(self, claim: Witnessed, place: tuple[int, Key]) -> Standing:
        """What a claim weighs together with what was heard of its value before."""
        if not said_once(claim):
            return weight_of(claim)
        before = self.active.get(place) or self.low.get(place)
        return claim.standing if is_proven([*(before.claims if before else ()), claim]) else weight_of(claim)

    def rivals(self, side: Side) -> list[Side]:
        """Sides that stand against this one: at least one pair of their claims cannot both hold."""
        near = [*self._of_note[side.note], *(self._of_claim[uid] for c in side.live for uid in self._against.get(c, ()) if uid in self._of_claim)]
        standing = {id(other): other for other in near if other is not side and other.ended_by is None and other.taken_back is None}
        return [other for other in standing.values() if any(self._at_odds(a, b) for a in side.live.values() for b in other.live.values())]

    def _at_odds(self, a: Witnessed, b: Witnessed) -> bool:
        if b.uid in self._against.get(a.uid, ()):
            return True
        older, newer = sorted((a, b), key=event_order)
        return self._note_of[a.uid] == self._note_of[b.uid] and clash(newer, older) == "conflict"

    def _opponents(self, claim: Witnessed, place: tuple[int, Key], how: str = "conflict") -> list[Side]:
        found = [s for s in self._of_note[place[0]] if s.key != place[1] and any(clash(claim, x) == how for x in s.live.values())]
        for uid in sorted(self._against.get(claim.uid, ())) if how == "conflict" else ():
            side = self._of_claim.get(uid)
            if side is not None and uid in side.live and side not in found:
                found.append(side)
        return [side for side in found if side.taken_back is None or heard_before(claim, side.taken_back)]

    def _over_already(self, claim: Witnessed, opponents: Sequence[Side]) -> Witnessed | None:
        """The standing claim that says this one's value is over, when nothing shows this one to be later."""
        for side in opponents:
            for x in sorted(side.live.values(), key=event_order):
                if (
                    weight_of(x) >= weight_of(claim)
                    and names_as_over(x, claim)
                    and one_voice(x, claim)
                    and not names_as_over(claim, x)
                    and not self.clock.later(claim, x)
                ):
                    return x
        return None

    def _press(self, claim: Witnessed, weight: Standing, side: Side, opponent: Side) -> None:
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
        return one_voice(newer, older) and (self.clock.later(newer, older) or names_as_over(newer, older))

    def _open(self, place: tuple[int, Key]) -> Side:
        """A new stretch of a value; what was heard of it before at lower standing becomes part of its evidence."""
        side = Side(*place)
        if earlier := self.low.pop(place, None):
            side.claims.extend(earlier.claims)
        self.active[place] = side
        self._of_note[place[0]].append(side)
        return side

    def _lower(self, claim: Witnessed, place: tuple[int, Key], stronger: Sequence[Side]) -> None:
        side = self.low.setdefault(place, Side(*place))
        side.claims.append(claim)
        for opponent in stronger:
            self._hint(claim, opponent)
        top = max(stronger, key=lambda s: (s.weight, s.note, s.key))
        side.ended_by = side.ended_by or best_of(list(top.live.values()))
