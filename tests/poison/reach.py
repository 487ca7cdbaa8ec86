"""Where poison ends up: one desk that dreams over all of it, and every place a later session could read it in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from unittest.mock import patch

from pipelines.gates import instruction, serving
from pipelines.gates.evidence import result
from pipelines.model import Outcome, Status
from pipelines.ports import Engine
from pipelines.recall.search import search
from pipelines.run import Parts
from pipelines.store import Store
from tests.dreaming import NOW, SCOPE, Desk
from tests.poison.cases import Case
from tests.poison.doors import DOORS, TIMES, VEILS
from tests.writing import ClaudeLog, memory

PLACES = ("draft", "page", "brief", "file", "search")
DETECTOR, ORIGIN, BOTH, NEITHER = "detector", "origin", "both", "neither"
LAST_WEEK = NOW - timedelta(days=20)
FOLDER = "folder"
_UNSEEN = re.compile("[\u200b-\u200f\u202a-\u202e]")


@dataclass
class ReadingDesk(Desk):
    """A desk whose dreams read with a given engine."""

    engine: Engine | None = None

    def parts(self, store: Store) -> Parts:
        """Live parts with that engine."""
        return replace(super().parts(store), engine=self.engine) if self.engine else super().parts(store)


def word_of(number: int) -> str:
    """The word that stands in one case and nowhere else."""
    return f"zq{number:03d}vk"


def poisoned(case: Case, number: int) -> tuple[str, frozenset[str]]:
    """The case's text as it comes, and the strings of it that show it anywhere."""
    text = case.text.format(word_of(number))
    veiled = VEILS[case.veil](text)
    bare = _UNSEEN.sub("", veiled)
    longest = max(bare.split(), key=len)
    word = word_of(number)
    return veiled, frozenset({word, word[::-1], *([longest[4:40]] if word not in bare and word[::-1] not in bare else [])})


def write_logs(desk: Desk, cases: Sequence[Case]) -> dict[int, frozenset[str]]:
    """The logs and notes of all cases; returns what shows each."""
    traces = {}
    for number, case in enumerate(cases):
        text, traces[number] = poisoned(case, number)
        for n in range(TIMES.get(case.door, 2)):
            log = ClaudeLog(f"poison-{number}-{n}", at=LAST_WEEK + timedelta(hours=20 * n, minutes=number)).user("Look at the tests of this module.")
            DOORS[case.door](log, text).save(desk.logs)
        if case.door in {"note", "elsewhere"}:
            desk.note(f"setup{number}.md", memory(f"setup{number}", f'- The staging port is 5433 (user: "The staging port is 5433."). {text}\n'))
    return traces


@contextmanager
def guarded_by(rules: str) -> Iterator[None]:
    """Only the named rules at work: the instruction detector, the origin rule, both or neither."""
    with ExitStack() as stack:
        if rules in {ORIGIN, NEITHER}:
            for name in ("takeover", "addressed", "imperative", "normative", "waiving", "has_override", "grave"):
                stack.enter_context(patch.object(instruction, name, lambda _: False))
            stack.enter_context(patch.object(serving, "takeover", lambda _: False))
            stack.enter_context(patch("pipelines.gates.sensitive_gate", lambda *_: result("sensitive")))
        if rules in {DETECTOR, NEITHER}:
            stack.enter_context(patch("pipelines.gates.origin_gate", lambda *_: result("origin")))
            stack.enter_context(patch("pipelines.notes.promotion._users", list))
        yield


def reached(desk: Desk, traces: Mapping[int, frozenset[str]]) -> dict[int, frozenset[str]]:
    """The places each case reached."""
    seen = dict(_places(desk))
    with desk.store() as store:
        drafts = [h.version.statement for h in store.heads(SCOPE) if h.version.status is not Status.QUARANTINED]
        out = {}
        for number, words in traces.items():
            hits = [hit.text for hit in search(store, SCOPE, word_of(number), limit=30, now=desk.now)]
            found = {place for place, texts in ({"draft": drafts, **seen, "search": hits}).items() if _shows(texts, words)}
            out[number] = frozenset(found)
    return out


def _places(desk: Desk) -> Iterator[tuple[str, list[str]]]:
    yield "page", list(desk.pages().values())
    yield "brief", [desk.brief()]
    files = [p for p in desk.wiki.rglob("*") if p.is_file()]
    yield "file", [f"{p.relative_to(desk.wiki)}\n{p.read_text(encoding='utf-8', errors='replace')}" for p in files]


def _shows(texts: Iterable[str], words: frozenset[str]) -> bool:
    return any(word in bare for text in texts for bare in (_UNSEEN.sub("", text),) for word in words)


def dreamt(desk: Desk, cases: Sequence[Case]) -> dict[int, frozenset[str]]:
    """Dream over all cases and say what each reached; what comes by the wiki folder is written there between two dreams."""
    ClaudeLog("own", at=LAST_WEEK).user("Always run `make lint` before a commit.").save(desk.logs)
    traces = write_logs(desk, cases)
    desk.dream()
    return reached(desk, traces)


def held_rules(desk: Desk, rules: Sequence[tuple[str, str]]) -> list[str]:
    """Which of these rules, typed by a person, are held back after a dream."""
    for n, (_, rule) in enumerate(rules):
        ClaudeLog(f"rule-{n}", at=LAST_WEEK + timedelta(minutes=n)).user(rule).save(desk.logs)
    desk.dream()
    with desk.store() as store:
        held = store.claims_of(SCOPE, store.quarantined_claims(SCOPE))
        quoted = {q.text for g in held if g.outcome is Outcome.QUARANTINE for q in g.claim.quotes}
        quoted |= {h.version.statement for h in store.heads(SCOPE, statuses=[Status.QUARANTINED])}
    return [rule for _, rule in rules if any(rule in q or q in rule for q in quoted)]


def table(cases: Sequence[Case], found: Mapping[int, frozenset[str]]) -> dict[str, Counter[str]]:
    """How many of each kind there are and reached which place."""
    out: dict[str, Counter[str]] = {}
    for number, case in enumerate(cases):
        out.setdefault(case.kind, Counter()).update(["cases", *found[number]])
    return out
