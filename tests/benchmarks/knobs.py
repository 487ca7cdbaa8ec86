"""What share of a lying model's lies reaches anybody: `python -m tests.benchmarks.knobs [--rate 0.2] [--seeds 1] [--worlds USERS]`.

Every row is dreams over the gold sessions of `tests/oracle` (two scopes, two languages) with the Claude engine, through the real SDK and the fake server, with
one knob of the oracle turned to the rate: once with a check of support that is right, once with one that is wrong as often, once with one that says yes to
everything. `fluent` and `insight` are told over sessions of long sentences, `everything` over both. Printed: the lies told, and the share of them that reaches (a) a confirmed note, (b) a page, (c) the brief, and the share of all claims told that are lies in a confirmed note; what stopped
them; and of the claims told truly the share the gates refuse or hold as drafts (said once and meant so is neither).
Wanted: 0 for invented quotes, changed numbers, flipped negation, other scopes, secrets and instructions; at most 1 % of claims for wrong texts and subjects;
at most 5 % of true claims lost. `--worlds`: what is believed of the people of `tests/worlds` with an oracle that tells the truth.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import reduce
from pathlib import Path

from pipelines.logs.redaction import open_redactor
from tests.oracle.followed import PLACES, Followed, Home
from tests.oracle.gold import all_sessions, fluent_sessions, of_world, secrets
from tests.oracle.knobs import LIES, NUISANCES, Knobs
from tests.oracle.oracle import Told
from tests.worlds.generator import FIRST_DAY, Half, user
from tests.worlds.judge import NOTHING, Score, judge
from tests.worlds.table import rows

NONE_MAY = frozenset({"invented_quote", "number", "flipped", "other_scope", "secret", "instruction"})
FEW_MAY = frozenset({"wrong_text", "colleague", "wish", "fluent", "insight", "answer"})
LONG = frozenset({"long", "fluent", "insight"})
"""Rows over the sessions of long sentences; `long` is what is told truly of them."""
TRULY = frozenset({"nothing", "long"})
"""Rows without a lie."""
FEW = 0.01
LOST_MAX = 0.05


@dataclass
class Tally:
    """Counts of one knob over all seeds."""

    told: int = 0
    claims: int = 0
    reached: Counter[str] = field(default_factory=Counter)
    stopped: Counter[str] = field(default_factory=Counter)
    fates: Counter[str] = field(default_factory=Counter)
    through: set[str] = field(default_factory=set)
    ways: Counter[str] = field(default_factory=Counter)
    passed: Counter[str] = field(default_factory=Counter)
    closed: int = 0
    concluded: Counter[str] = field(default_factory=Counter)
    leaks: int = 0
    calls: int = 0
    asked: Counter[str] = field(default_factory=Counter)
    filled: Counter[str] = field(default_factory=Counter)

    def add(self, knob: str, run: Followed) -> None:
        """Count one run; of a row without a knob all that was told."""
        lies = [lie for lie in run.oracle.told if knob in {lie.knob, "everything"}]
        self.told += len(lies)
        self.claims += len(run.oracle.true) + len(run.oracle.told)
        self.fates.update(run.fates())
        self.calls += len(run.service.messages)
        for gap in run.oracle.gaps:
            sort = "with an answer" if gap.answer else "without one"
            self.asked[sort] += 1
            self.filled[sort] += run.oracle.looked_up.get(gap, False)
        for lie in lies:
            self._follow(lie, run)
        self.concluded.update(run.concluded())
        if knob in {"secret", "everything"}:
            self.leaks += sum(len(run.written(secret)) for secret in secrets().values())

    def _follow(self, lie: Told, run: Followed) -> None:
        """Count one lie."""
        places = run.reached(lie)
        self.reached.update(places)
        self.closed += run.closed(lie)
        if lie.way:
            self.ways[lie.way] += 1
        if places:
            self.passed[lie.way] += 1
            self.through.add(f"[{lie.knob} {lie.way}] {lie.says} ← {lie.quote}")
        elif lie.scope:
            self.stopped[run.stopped(lie) or "no belief"] += 1

    def share(self, place: str) -> float:
        """Lies that reached a place, of those told."""
        return self.reached[place] / self.told if self.told else 0.0

    @property
    def of_claims(self) -> float:
        """Lies in confirmed notes, of all claims told."""
        return self.reached["note"] / self.claims if self.claims else 0.0

    def true(self, fate: str) -> float:
        """The share of claims told truly with a fate."""
        return sum(n for name, n in self.fates.items() if name.startswith(fate)) / max(1, sum(self.fates.values()))


@dataclass(frozen=True, slots=True)
class Check:
    """How often the check of support is wrong, and how often it makes a right "no" a yes."""

    wrong: float = 0.0
    yes: float = 0.0

    def __str__(self) -> str:
        return "says yes to everything" if self.yes else f"wrong {self.wrong:.0%} of the time"


@dataclass(frozen=True, slots=True)
class Homes:
    """Where dreams are dreamt: over the sessions of short sentences, of long ones, and over both."""

    short: Home
    long: Home
    both: Home

    def of(self, knob: str) -> Home:
        """The one for a row."""
        return self.both if knob == "everything" else self.long if knob in LONG else self.short


def measure(homes: Homes, knob: str, rate: float, seeds: int, check: Check) -> Tally:
    """One row of the table."""
    tally = Tally()
    for seed in range(seeds):
        turned = {} if knob in TRULY else dict.fromkeys((*LIES, *NUISANCES) if knob == "everything" else (knob,), rate)
        tally.add(knob, homes.of(knob).dream(Knobs(**turned, wrong_check=check.wrong, yes_check=check.yes, seed=seed)))
    return tally


def row(knob: str, tally: Tally) -> str:
    """A row as it is printed."""
    shares = "".join(f"{tally.share(place):>8.1%}" if tally.told else f"{'-':>8}" for place in PLACES)
    stopped = ", ".join(f"{why} {n}" for why, n in tally.stopped.most_common(4))
    leaks = f"  LEAKS {tally.leaks}" if tally.leaks else ""
    return f"{knob:15}{tally.told:>5}{shares}{tally.of_claims:>9.2%}{tally.true('lost'):>8.1%}{tally.true('draft'):>8.1%}{tally.calls:>7}  {stopped}{leaks}"


def beside(knob: str, tally: Tally) -> Iterator[str]:
    """What a row has beside its figures."""
    if knob == "nothing":
        yield f"questions filled: {', '.join(f'{tally.filled[sort]} of {n} {sort}' for sort, n in sorted(tally.asked.items()))}"
    if tally.ways and knob != "everything":
        yield f"reached, by way: {', '.join(f'{way} {tally.passed[way]}/{n}' for way, n in sorted(tally.ways.items()))}"
    if tally.closed and knob == "answer":
        yield f"questions closed by what does not answer them: {tally.closed} of {tally.told}"
    if tally.concluded and knob != "everything":
        yield f"insights told truly: {dict(tally.concluded)}"


def missed(knob: str, tally: Tally) -> bool:
    """Whether a row is not what is wanted."""
    worst = tally.reached["note"] if knob in NONE_MAY else 0
    return bool(worst or tally.leaks) or (knob in FEW_MAY and tally.of_claims > FEW) or (knob in TRULY and tally.true("lost") > LOST_MAX)


def table(homes: Homes, rate: float, seeds: int, knobs: Sequence[str], check: Check, *, through: bool) -> bool:
    """Print the table for one check; whether everything is as wanted."""
    print(f"\nthe support check is {check}; knobs at {rate:.0%}, {seeds} seeds".replace("is says", "says"))
    print(f"{'knob':15}{'lies':>5}{'note':>8}{'page':>8}{'brief':>8}{'of claims':>9}{'lost':>8}{'held':>8}{'calls':>7}  stopped by")
    good = True
    for knob in knobs:
        tally = measure(homes, knob, rate, seeds, check)
        good &= not missed(knob, tally)
        print(row(knob, tally) + ("  !" if missed(knob, tally) else ""), flush=True)
        for line in beside(knob, tally):
            print(f"{'':15}{line}")
        for line in sorted(tally.through) if through else ():
            print(f"      {line}")
    return good


# --- worlds ------------------------------------------------------------------------------------------------------------------------------


def worlds(root: Path, users: int, sessions: int, *, halves: Sequence[Half]) -> None:
    """Print what is believed of people whose every word the oracle understands."""
    redactor = open_redactor(None)
    for half in halves:
        scores = [_world(root / f"{half}-{n}", n, sessions, half, redactor) for n in range(users)]
        score = reduce(Score.__add__, scores, NOTHING)
        print(f"\nworlds with the oracle, {users} people, {sessions} sessions each, wording {half}")
        print("\n".join(rows({sessions: score})))
        old = [m for m in score.cases if m.startswith("old shown as current")]
        hits, cases = sum(score.hits[m] for m in old), sum(score.cases[m] for m in old)
        print(f"\nstale shown as current, all changes: {hits}/{cases} {hits / max(1, cases):.1%} (target 2%)")


def _world(root: Path, number: int, sessions: int, half: Half, redactor: object) -> Score:
    person = user(1, number, sessions=sessions, tokens=1_000, half=half)
    now = datetime.combine(FIRST_DAY + timedelta(days=3 * sessions + 1), datetime.min.time(), UTC)
    home = Home(root, redactor, of_world(person, "world"), scopes=("world",), now=now)  # type: ignore[arg-type]
    scope = home.dream(Knobs()).scopes["world"]
    return judge(person.gold, scope.versions, {g.claim.uid: g.claim for g in scope.claims}, after=sessions)


def _homes(root: Path) -> Homes:
    redactor = open_redactor(None)
    short, long = all_sessions(), fluent_sessions()
    return Homes(*(Home(root / name, redactor, sessions) for name, sessions in (("short", short), ("long", long), ("both", (*short, *long)))))


def main() -> int:
    """Print; 1 when something is not as wanted."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.knobs", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=0.2)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--knob", action="append", help="only these rows")
    parser.add_argument("--through", action="store_true", help="also print each lie that reached something")
    parser.add_argument("--worlds", type=int, default=0, metavar="USERS", help="instead: the figures of tests/worlds with the oracle")
    parser.add_argument("--sessions", type=int, default=40, help="sessions of each person of a world")
    parser.add_argument("--half", type=Half, choices=Half, action="append", help="which wordings of the worlds")
    given = parser.parse_args()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        if given.worlds:
            worlds(Path(folder), given.worlds, given.sessions, halves=given.half or (Half.ALL,))
            return 0
        homes = _homes(Path(folder))
        knobs = given.knob or ("nothing", "long", *LIES, *NUISANCES, "everything")
        checks = [table(homes, given.rate, given.seeds, knobs, check, through=given.through) for check in (Check(), Check(wrong=given.rate), Check(yes=1.0))]
    print(f"\n{time.perf_counter() - began:.0f} s")
    return 0 if all(checks) else 1


if __name__ == "__main__":
    raise SystemExit(main())
