"""A provider in this process that answers as a test says: what it would read in which words, which statements it would deny, how it relates and answers."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from pipelines.engines.claude.config import ClaudeConfig
from pipelines.engines.claude.engine import ClaudeEngine
from pipelines.engines.local.engine import LocalEngine
from pipelines.ports import Ask, Messages, Reply, Usage
from pipelines.run import Params, Parts
from pipelines.run.asking import Means, Slots
from pipelines.store import Store
from tests.dreaming import Desk
from tests.unit.engines.claude_asking import asked, item, numbers

COST = 100
"""What a call costs here, in millionths of a dollar."""
BUDGET = 10_000_000


@dataclass
class Model:
    """Answers requests by their words.

    `reads`: what it takes down where a turn holds these words (the fields of an item; `says` is the words themselves unless given). `asks`: a question where
    a turn holds these words. `denies`: statements whose words do not carry them. `relates`: the word for a pair whose A and B hold these words. `answers`: the
    words that answer a question which holds these words. `concludes`: an insight once a group shows all these words. `before` is called with each ask first.
    """

    reads: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    asks: Mapping[str, str] = field(default_factory=dict)
    denies: frozenset[str] = frozenset()
    unsure: frozenset[str] = frozenset()
    relates: Mapping[tuple[str, str], str] = field(default_factory=dict)
    answers: Mapping[str, tuple[str, Mapping[str, Any]]] = field(default_factory=dict)
    concludes: Mapping[tuple[str, ...], str] = field(default_factory=dict)
    before: Callable[[Ask], str | None] = lambda _: None
    cost: int = COST
    asked: list[Ask] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def create(self, ask: Ask, *, timeout_s: float) -> Reply:
        """One call."""
        with self._lock:
            self.asked.append(ask)
        given = self.before(ask)
        text = given if given is not None else self.answer(ask)
        return Reply(text=text, stop="end_turn", model="scripted", usage=Usage(input=len(asked(ask)) // 4, output=len(text) // 4), cost_uusd=self.cost)

    def answer(self, ask: Ask) -> str:
        """The text of a reply."""
        return json.dumps(
            {"extract": self._extract, "check": self._check, "relate": self._relate, "answer": self._answer, "insight": self._insight}[ask.stage](ask)
        )

    def stages(self) -> Counter[str]:
        """Calls by stage."""
        return Counter(ask.stage for ask in self.asked)

    def digests(self) -> list[str]:
        """Every request so far, sorted."""
        return sorted(f"{ask.digest}/{ask.attempt}" for ask in self.asked)

    def _extract(self, ask: Ask) -> dict[str, object]:
        turns = numbers(ask)
        found = [
            item(str(given.get("says", f"{words}.")), (n, words), **{k: v for k, v in given.items() if k != "says"})
            for n, text in turns.items() for words, given in self.reads.items() if words in text
        ]  # fmt: skip
        questions = [{"asks": q, "quotes": [{"turn": n, "text": words}]} for n, text in turns.items() for words, q in self.asks.items() if words in text]
        return {"items": found, "questions": questions}

    def _check(self, ask: Ask) -> dict[str, object]:
        verdicts = []
        for n, text in blocks(ask):
            statement = text.split(" (about:")[0]
            word = "no" if statement in self.denies else "unsure" if statement in self.unsure else "yes"
            verdicts.append({"item": n, "word": word})
        return {"verdicts": verdicts}

    def _relate(self, ask: Ask) -> dict[str, object]:
        pairs = []
        for n, text in blocks(ask):
            a, _, b = text.removeprefix("A: ").partition("\n B: ")
            word = next((w for (x, y), w in self.relates.items() if x in a and y in b), "other")
            pairs.append({"pair": n, "word": word})
        return {"pairs": pairs}

    def _answer(self, ask: Ask) -> dict[str, object]:
        out = []
        for question in re.split(r"^(?=question \d+)", asked(ask), flags=re.MULTILINE | re.IGNORECASE):
            head = re.match(r"question (\d+)", question, re.IGNORECASE)
            for words, (line, given) in self.answers.items():
                if head is None or words not in question:
                    continue
                at = next((int(m[1]) for m in re.finditer(r"^\[(\d+)\] (.*)$", question, re.MULTILINE) if line in m[2]), None)
                if at is not None:
                    told = item(str(given.get("says", f"{line}.")), (0, line), **{k: v for k, v in given.items() if k != "says"})
                    out.append(
                        {
                            **{k: v for k, v in told.items() if k not in {"quotes", "sure", "why", "version"}},
                            "question": int(head[1]),
                            "line": at,
                            "quote": line,
                        }
                    )
        return {"answers": out}

    def _insight(self, ask: Ask) -> dict[str, object]:
        pieces = dict(blocks(ask))
        out = []
        for words, says in self.concludes.items():
            named = [next((n for n, text in pieces.items() if word in text), 0) for word in words]
            if all(named):
                out.append({"about": "project", "what": "", "says": says, "pieces": named})
        return {"insights": out}


def blocks(ask: Ask) -> list[tuple[int, str]]:
    """The numbered entries of a request, each with all of its lines."""
    log = re.search(r"<(log-\w+)>\n(.*)\n</\1>", asked(ask), re.DOTALL)
    assert log
    return [(int(m[1]), m[2]) for m in re.finditer(r"^\[(\d+)\] (.*?)(?=\n\[\d+\] |\Z)", log[2], re.MULTILINE | re.DOTALL)]


@dataclass
class ModelDesk(Desk):
    """A person's desk whose dreams ask a model. `messages` None asks nobody (replay)."""

    messages: Messages | None = None
    slots: int = 8
    window_bytes: int = 48_000
    day_uusd: int | None = None
    units: int = 1
    poll_s: float = 60
    batch_min: int = 0

    def engine(self, params: Params) -> ClaudeEngine:
        """The engine of a dream."""
        return ClaudeEngine(
            rules=LocalEngine(), config=ClaudeConfig(window_bytes=self.window_bytes, instructions=params.instructions, batch=params.batch, dream_limit_uusd=params.budget_uusd)
        )  # fmt: skip

    def parts(self, store: Store) -> Parts:
        """Live parts with both engines."""
        means = Means(
            messages=self.messages, slots=Slots(self.slots), day_uusd=self.day_uusd, units_at_once=self.units, poll_s=self.poll_s, batch_min=self.batch_min
        )  # fmt: skip
        local = LocalEngine()
        return replace(super().parts(store), engines={"claude": self.engine, "local": lambda _: local}, means=means)


def asking(**given: object) -> dict[str, object]:
    """Params of a dream with the Claude engine, within a budget that is no matter."""
    return {"engine": "claude", "budget_uusd": BUDGET, **given}


@contextmanager
def nothing_asked(model: Model) -> Any:
    """Fails when a call is made inside."""
    before = len(model.asked)
    yield
    assert [ask.name for ask in model.asked[before:]] == []
