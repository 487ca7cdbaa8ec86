"""Which sessions are one witness: copies, forks, resumed and spawned sessions count once (systems R11).

Computed over everything that is stored, so a fork may arrive before its parent. Two sessions are of one lineage when a turn of the same uid stands
in both (uids of turns with a record id or a time are equal in every copy), when one names the other as its parent, or when `RUN_MIN` consecutive
turns that have neither id nor time say the same: shorter runs are small talk ("yes", "ok"), and prove nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pipelines.model import Turn, digest
from pipelines.ports import Occurrence

RUN_MIN = 8


def content_key(turn: Turn) -> str | None:
    """What a turn without a time says, as a key to compare runs by; None for a turn with a time (its uid is compared instead)."""
    return digest(turn.role, turn.text) if turn.at is None else None


def roots(occurrences: Iterable[Occurrence], *, parents: Mapping[str, str | None], said: Mapping[str, str]) -> dict[str, str]:
    """The root session of each session: equal roots are one witness.

    `parents` maps a session to the one it was resumed, forked or spawned from (which need not have arrived), `said` maps the uid of each turn
    without a time to its `content_key`. The root is the member of the lineage that has no parent, the smallest uid where there are several
    or none. No order of the arguments changes the answer.
    """
    lineages = _Union()
    first_with: dict[str, str] = {}
    positions: defaultdict[str, set[tuple[int, str]]] = defaultdict(set)  # a set: a copied file holds every place twice
    for o in occurrences:
        lineages.join(o.session, first_with.setdefault(o.turn, o.session))
        positions[o.session].add((o.ordinal, o.turn))
    for session, parent in parents.items():
        lineages.join(session, parent or session)
    _join_equal_runs(lineages, positions, said)
    return _named(lineages, parents)


def roots_of(kin: Iterable[tuple[str, str]], *, parents: Mapping[str, str | None]) -> dict[str, str]:
    """`roots` from pairs of sessions that are kin by what they hold: enough pairs that whoever is of one lineage is tied by some of them."""
    lineages = _Union()
    for session, other in kin:
        lineages.join(session, other)
    for session, parent in parents.items():
        lineages.join(session, parent or session)
    return _named(lineages, parents)


def _join_equal_runs(lineages: _Union, positions: Mapping[str, set[tuple[int, str]]], said: Mapping[str, str]) -> None:
    first_with: dict[str, str] = {}
    for session, held in positions.items():
        for key in runs([said.get(turn) for _, turn in sorted(held)]):
            lineages.join(session, first_with.setdefault(key, session))


def runs(keys: Sequence[str | None]) -> Iterator[str]:
    """A digest of every stretch of RUN_MIN consecutive keyed turns; a turn with a time in between ends the stretch."""
    window: list[str] = []
    for key in keys:
        window = [*window[-(RUN_MIN - 1) :], key] if key is not None else []
        if len(window) == RUN_MIN:
            yield digest(*window)


def _named(lineages: _Union, parents: Mapping[str, str | None]) -> dict[str, str]:
    members: defaultdict[str, list[str]] = defaultdict(list)
    for session in lineages.known():
        members[lineages.find(session)].append(session)
    named: dict[str, str] = {}
    for lineage in members.values():
        root = min(lineage, key=lambda session: (bool(parents.get(session)), session))
        named.update(dict.fromkeys(lineage, root))
    return named


class _Union:
    """Disjoint sets of session uids (union by first seen, path halving)."""

    def __init__(self) -> None:
        self._up: dict[str, str] = {}

    def known(self) -> tuple[str, ...]:
        return tuple(self._up)

    def find(self, x: str) -> str:
        self._up.setdefault(x, x)
        while self._up[x] != x:
            self._up[x] = self._up[self._up[x]]
            x = self._up[x]
        return x

    def join(self, a: str, b: str) -> None:
        self._up[self.find(a)] = self.find(b)
