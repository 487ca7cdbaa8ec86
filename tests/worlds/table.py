"""Prints what a world's people are believed to be, measure by measure, with the targets each measure has."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from tests.worlds.direct import read
from tests.worlds.generator import Half, user
from tests.worlds.judge import NOTHING, Miss, Score, judge


@dataclass(frozen=True, slots=True)
class Target:
    """A measure with the share it must reach or must not exceed; with neither it is only printed."""

    measure: str
    least: float | None = None
    most: float | None = None

    def met(self, score: Score) -> bool:
        """Whether the share lies where it must; true where nothing is asked."""
        share = score.share(self.measure)
        return not score.cases[self.measure] or ((self.least is None or share >= self.least) and (self.most is None or share <= self.most))

    @property
    def words(self) -> str:
        """The target as it is printed."""
        if self.least is not None:
            return f"≥ {self.least:.0%}"
        return "" if self.most is None else f"≤ {self.most:.0%}"


TARGETS = (
    Target("others' value as the user's", most=0.0),
    Target("old shown as current, told outright", most=0.02),
    Target("old shown as current, told by an aside"),
    Target("disputed, told outright"),
    Target("mood stored", most=0.0),
    Target("mood stored as confirmed", most=0.0),
    Target("allergy live", least=1.0),
    Target("bullet points live", least=1.0),
    Target("bullet points confirmed", most=0.0),
    Target("old and reason in History", least=0.9),
    Target("recall"),
    Target("recall of what was told once"),
    Target("recall of changes told named"),
    Target("recall of changes told unnamed"),
    Target("precision"),
)
DETAILS = ("others: ", "mood: ", "old as current: ", "history: ", "recall: ")


def world(*, seed: int, users: int, sessions: int, tokens: int, afters: Sequence[int], half: Half = Half.ALL) -> dict[int, Score]:
    """The score of all users after each of these sessions."""
    found: dict[int, list[Score]] = {after: [] for after in afters}
    for number in range(users):
        person = user(seed, number, sessions=sessions, tokens=tokens, half=half)
        reading = read(person)
        claims = reading.claims
        for after in afters:
            found[after].append(judge(person.gold, reading.beliefs(after), claims, after=after))
    return {after: reduce(Score.__add__, scores, NOTHING) for after, scores in found.items()}


def rows(scores: dict[int, Score]) -> list[str]:
    """The table: a line a measure, a column a session; "!" where a target is missed after the last session."""
    last = scores[max(scores)]
    lines = [f"{'':44}{'':>7}" + "".join(f"{f'after {n}':>16}" for n in scores)]
    for target in TARGETS:
        cells = "".join(f"{_cell(score, target.measure):>16}" for score in scores.values())
        lines.append(f"{target.measure:44}{target.words:>7}{cells}{'' if target.met(last) else '  !'}")
    named = sorted(m for m in last.cases if m.startswith(DETAILS))
    lines += ["", *(f"  {m:42}{'':>7}" + "".join(f"{_cell(s, m):>16}" for s in scores.values()) for m in named)]
    return lines


def _cell(score: Score, measure: str) -> str:
    return f"{score.hits[measure]}/{score.cases[measure]} {score.share(measure):.0%}" if score.cases[measure] else "-"


def _shown(misses: Sequence[Miss]) -> list[str]:
    ordered = sorted(misses, key=lambda m: (m.measure, m.user, m.sentence))
    return [f"{m.measure} | {m.user} | {m.sentence!r} | {m.found}" for m in ordered]


def main(arguments: Sequence[str]) -> int:
    """Print the table; 1 when a target is missed after the last session."""
    parser = argparse.ArgumentParser(prog="python -m tests.worlds", description=__doc__)
    parser.add_argument("--users", type=int, default=20)
    parser.add_argument("--sessions", type=int, default=40)
    parser.add_argument("--tokens", type=int, default=12_000, help="size of a session")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--half", type=Half, choices=Half, default=Half.ALL, help="which phrasings: make rules on dev, believe test")
    parser.add_argument("--misses", action="store_true", help="also print every miss after the last session")
    given = parser.parse_args(arguments)
    afters = sorted({max(1, given.sessions * quarter // 4) for quarter in (1, 2, 3, 4)})
    scores = world(seed=given.seed, users=given.users, sessions=given.sessions, tokens=given.tokens, afters=afters, half=given.half)
    print("\n".join(rows(scores)))
    last = scores[max(scores)]
    if given.misses:
        print("\n".join(["", *_shown(last.misses)]))
    return 0 if all(target.met(last) for target in TARGETS) else 1
