"""What a memory of forty sessions still tells of the second one: `python -m tests.benchmarks.users [--users 20] [--sessions 40] [--cap 12] [--every 1]`.

Each simulated user says in session 2 what they are allergic to, what they drink and which airline they fly; every session tells three facts of the work that
are heard again in other sessions, so that by witnesses and by time all of them stand before those. A dream comes after `--every` sessions. The brief may tell `--cap` facts.
Printed: for how many users the allergy, the drink and the airline stand in it at the end, and in the brief of every dream since; and the facts of the work, to show that the cap
holds. Wanted: all of them, always.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from pipelines.logs.redaction import Redactor, open_redactor
from pipelines.run.content import content_of
from pipelines.wiki.brief import brief
from pipelines.wiki.budget import MEMORY_MD
from pipelines.wiki.signs import FACTS
from pipelines.wiki.topics import layout
from tests.dreaming import SCOPE, Desk
from tests.writing import START, ClaudeLog

ALLERGIES = ("peanuts", "shellfish", "penicillin", "latex", "soy")
DRINKS = ("oolong", "espresso", "matcha", "mineral water", "rooibos")
AIRLINES = ("Lufthansa", "Finnair", "Iberia", "Qantas", "Emirates")
THINGS = ("api", "web", "worker", "cache", "gateway", "billing", "search", "mailer")
TOLD_IN = 2
"""The session that tells what must be kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What one user's brief told at its end: what they said of themselves, in how many of the briefs since all of it stood, and facts of the work."""

    allergy: bool
    drink: bool
    airline: bool
    always: bool
    work: int


def main(arguments: Sequence[str]) -> int:
    """Print the table; 1 when something was lost."""
    parser = argparse.ArgumentParser(prog="users", description=__doc__)
    parser.add_argument("--users", type=int, default=20)
    parser.add_argument("--sessions", type=int, default=40)
    parser.add_argument("--cap", type=int, default=12)
    parser.add_argument("--every", type=int, default=1)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        redactor = open_redactor(Path(folder) / "rules")
        found = [live(Path(folder) / f"user-{n}", redactor, n, sessions=given.sessions, cap=given.cap, every=given.every) for n in range(given.users)]
    for name in ("allergy", "drink", "airline", "always"):
        print(f"{name:8} {sum(getattr(kept, name) for kept in found)} of {len(found)}")
    print(f"facts of the work in the last brief: {min(k.work for k in found)} to {max(k.work for k in found)} (cap {given.cap})")
    return 0 if all(k.allergy and k.drink and k.airline and k.always for k in found) else 1


def live(root: Path, redactor: Redactor, user: int, *, sessions: int, cap: int, every: int = 1) -> Kept:
    """One user's sessions, a dream after every few; what the briefs told."""
    root.mkdir()
    desk = Desk(root, redactor, now=START + timedelta(days=sessions + 1))
    wanted = (ALLERGIES[user % 5], DRINKS[(user + user // 5) % 5], AIRLINES[(user + 2 * (user // 5)) % 5])
    told: list[str] = []
    for number in range(1, sessions + 1):
        log = ClaudeLog(f"user-{user}-{number}", at=START + timedelta(days=number))
        for line in _said(user, number, wanted):
            log.user(line).assistant("Noted.")
        log.save(desk.logs)
        if number % every and number < sessions:
            continue
        desk.dream()
        if number >= TOLD_IN:
            told.append(_facts(desk, cap))
    here = [word in told[-1] for word in wanted]
    return Kept(
        allergy=here[0], drink=here[1], airline=here[2], always=all(word in section for section in told for word in wanted), work=told[-1].count(" listens on port ")
    )  # fmt: skip


def _said(user: int, session: int, wanted: tuple[str, str, str]) -> Iterator[str]:
    if session == TOLD_IN:
        yield f"I'm allergic to {wanted[0]}."
        yield f"I drink {wanted[1]}."
        yield f"I always fly with {wanted[2]}."
    for n in range(3):
        thing = (session * 3 + n) % (len(THINGS) * 3)
        yield f"The {THINGS[thing % len(THINGS)]}-{thing // len(THINGS)} service listens on port {8000 + user * 100 + thing}."


def _facts(desk: Desk, cap: int) -> str:
    """The section of facts and decisions of a brief with this cap."""
    with desk.store() as store:
        content = content_of(store, SCOPE, title="memory", own={}, redirects={})
    text = brief(content, layout(content.items), replace(MEMORY_MD, facts=cap)).text
    return text.partition(f"## {FACTS}\n")[2].partition("\n## ")[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
