"""Who is told what: people who say things at four doors and at none, and tasks of each audience that ask for them.

    python -m tests.benchmarks.privacy [--people 20]

A person says twenty things: at work, at home, to a doctor, to a bank, and to nobody in particular. Each is asked for once by the audience it was said to
(400 tasks of 20 people), in a search; brief and export of that audience are looked at, too. A leak is the mark of a thing said to others in any of them.
Usefulness is the share of tasks whose thing is found, beside what the person finds who names no audience.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from pipelines.logs.redaction import Redactor
from pipelines.notes.moment import PRESENT
from pipelines.recall.search import search
from pipelines.run import dream
from pipelines.run.content import content_of
from pipelines.run.looking import Look
from pipelines.run.notes_file import notes_file
from pipelines.store import Store
from pipelines.wiki.brief import brief
from pipelines.wiki.budget import Budget, Unit
from pipelines.wiki.topics import layout
from tests.dreaming import NOW, SCOPE, Desk
from tests.writing import ClaudeLog

OWN = ""
"""Said to nobody in particular."""
HITS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One thing a person said: at which door, in which words, by which words it is looked for, the mark only it holds. `private` is as a reader judges it."""

    door: str
    words: str
    asked: str
    mark: str
    private: bool = False


def said_by(person: int) -> tuple[Said, ...]:
    """What a person says; marks are words nothing else holds."""
    n = iter(range(10))

    def mark(stem: str) -> str:
        return f"{stem}{person:02}x{next(n) if stem == 'svc' else person}"

    def thing(door: str, words: str, asked: str, name: str, *, private: bool = False) -> Said:
        return Said(door=door, words=words.replace("{}", name), asked=asked, mark=name, private=private)

    p = f"{person:02}"
    return (
        thing("work", "Always deploy {} on Mondays.", "deploy Mondays", mark("svc")), thing("work", "The staging port of {} is 5433.", "staging port", mark("svc")),
        thing("work", "Never restart {} during office hours.", "restart office hours", mark("svc")), thing("work", "The owner of {} is the platform team.", "owner platform team", mark("svc")),
        thing("work", "My salary at {} is 82000 euros.", "salary euros", f"Firm{p}", private=True),
        thing("home", "My wife likes {} tea.", "wife tea", f"sencha{p}", private=True), thing("home", "我女儿的学校是{}小学。", "女儿学校", f"青松{p}", private=True),
        thing("home", "Always lock the {} gate at night.", "lock gate night", f"garden{p}"), thing("home", "Our holiday house is in {}.", "holiday house", f"Oslo{p}ville"),
        thing("doctor", "I am allergic to {}.", "allergic", f"peanut{p}oil", private=True), thing("doctor", "I take 50 mg of {} every morning.", "take morning mg", f"sertral{p}", private=True),
        thing("doctor", "我对{}过敏。", "过敏", f"花生{p}", private=True),
        thing("bank", "My mortgage number is {}.", "mortgage number", f"MG{p}77", private=True), thing("bank", "I owe {} 4000 euros.", "owe euros", f"Lender{p}", private=True),
        thing("bank", "我的月薪是{}元。", "月薪", f"31{p}7", private=True),
        thing(OWN, "Always answer in {} style.", "answer style", f"terse{p}"), thing(OWN, "The nickname of my laptop is {}.", "nickname laptop", f"falcon{p}"),
        thing(OWN, "I prefer {} indentation.", "prefer indentation", f"tab{p}wide"), thing(OWN, "I was diagnosed with {} last year.", "diagnosed", f"asthma{p}", private=True),
        thing(OWN, "My brother {} is in debt.", "brother debt", f"Tom{p}as", private=True),
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Tasks, marks that reached a wrong audience (audience and words of each), and how many tasks the audience, or the person, got their thing in."""

    tasks: int = 0
    leaks: tuple[tuple[str, str], ...] = ()
    useful: int = 0
    useful_to_person: int = 0

    def __add__(self, other: Figures) -> Figures:
        return Figures(
            tasks=self.tasks + other.tasks, leaks=self.leaks + other.leaks, useful=self.useful + other.useful,
            useful_to_person=self.useful_to_person + other.useful_to_person,
        )  # fmt: skip


def live(desk: Desk, things: tuple[Said, ...]) -> None:
    """Say everything at its door, each door a day of its own, and dream."""
    with desk.store() as store:
        for day, door in enumerate(sorted({s.door for s in things})):
            folder = desk.logs / (door or "own")
            log = ClaudeLog(f"at-{door or 'own'}", at=NOW - timedelta(days=20 - day))
            for said in (s for s in things if s.door == door):
                log.remember(said.words)
            log.save(folder)
            dream(replace(desk.parts(store), audience=door), desk.request(folder))


def told(store: Store, audience: str | None) -> Iterator[str]:
    """Brief and export of an audience."""
    look = Look(store=store, scope=SCOPE, now=NOW, moment=PRESENT, audience=audience)
    content = content_of(store, SCOPE, title="notes", own={}, redirects={}, look=look)
    yield brief(content, layout(content.items), Budget(lines=200, size=9000, unit=Unit.CHARS)).text
    yield from (json.dumps(line, ensure_ascii=False) for line in notes_file(look))


def found(store: Store, words: str, audience: str | None) -> str:
    return "\n".join(h.text for h in search(store, SCOPE, words, limit=HITS, now=NOW, audience=audience))


def measured(desk: Desk, things: tuple[Said, ...]) -> Figures:
    """The tasks of one person."""
    live(desk, things)
    sum_ = Figures()
    with desk.store() as store:
        standing = {door: "\n".join(told(store, door)) for door in {s.door or "work" for s in things}}
        for task in things:
            audience = task.door or "work"
            answer = found(store, task.asked, audience)
            seen = answer + standing[audience]
            leaks = tuple((audience, s.words) for s in things if s.mark in seen and s.door != audience and not (s.door == OWN and not s.private))
            fair = task.door != OWN or not task.private  # what is private and was said to nobody is for nobody: not to be found is right
            sum_ += Figures(
                tasks=1, leaks=leaks, useful=(task.mark in answer) if fair else 1, useful_to_person=(task.mark in found(store, task.asked, None)) if fair else 1
            )  # fmt: skip
    return sum_


def simulate(folder: Path, redactor: Redactor, people: int) -> Figures:
    """The tasks of so many people, each at a desk of their own."""
    total = Figures()
    for person in range(people):
        total += measured(Desk(folder / f"p{person}", redactor), said_by(person))
    return total


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=20)
    people = parser.parse_args().people
    from worker.wiring import redactor

    with tempfile.TemporaryDirectory() as folder:
        done = simulate(Path(folder), redactor(), people)
    print(f"{done.tasks} tasks, {len(done.leaks)} leaks")
    print(f"useful to its own audience {done.useful / done.tasks:.1%}, to the person {done.useful_to_person / done.tasks:.1%}")
    for audience, words in dict.fromkeys(done.leaks):
        print(f"  told to {audience}: {words}")


if __name__ == "__main__":
    main()
