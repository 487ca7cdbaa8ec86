"""Stands in for the desk in tests of the Claude engine: answers given by the test, every request kept."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pipelines.ports import Answered, Ask, Meanwhile, Reply, Usage

Answer = Callable[[Ask], str | Reply | None]


@dataclass
class Desk:
    """An `Asking` whose answers come from `answer`: a text, a whole reply, or None where the budget is used up.

    `slow` has the caller do what it can meanwhile: answers come one by one, the last ask's first.
    """

    answer: Answer
    slow: bool = False
    rounds: list[list[Ask]] = field(default_factory=list)

    @property
    def asks(self) -> list[Ask]:
        """Every request so far, in order."""
        return [ask for one in self.rounds for ask in one]

    def ask(self, asks: Sequence[Ask], meanwhile: Meanwhile | None = None) -> Sequence[Answered]:
        """Answer all of them."""
        self.rounds.append(list(asks))
        found = [self._answered(self.answer(ask)) for ask in asks]
        if self.slow and meanwhile is not None:
            for at in reversed(range(len(found))):
                if found[at].reply is not None:
                    meanwhile.came(at, found[at])
                while meanwhile.step():
                    pass
        return found

    @staticmethod
    def _answered(given: str | Reply | None) -> Answered:
        if given is None:
            return Answered(reply=None, why="budget")
        return Answered(reply=reply(given) if isinstance(given, str) else given)


def reply(text: str, stop: str = "end_turn") -> Reply:
    """A reply of some text."""
    return Reply(text=text, stop=stop, model="m", usage=Usage(input=10, output=10), cost_uusd=1)


def asked(ask: Ask) -> str:
    """What a request puts to the model, without the prompt."""
    messages = ask.body["messages"]
    assert isinstance(messages, list)
    return str(messages[0]["content"])


def prompted(ask: Ask) -> str:
    """The system part of a request."""
    system = ask.body["system"]
    assert isinstance(system, list)
    return "\n".join(block["text"] for block in system)


def numbers(ask: Ask) -> dict[int, str]:
    """The numbered turns of a request, by number."""
    log = re.search(r"<(log-\w+)>\n(.*)\n</\1>", asked(ask), re.DOTALL)
    assert log
    return {int(m[1]): m[2] for m in re.finditer(r"^\[(\d+)\] [^:\n]*: (.*?)(?=\n\[\d+\] |\n-- |\Z)", log[2], re.MULTILINE | re.DOTALL)}


def item(says: str, *quotes: tuple[int, str], **given: object) -> dict[str, object]:
    """One item of a reply to an extract request; a fact about the project unless told otherwise."""
    plain: Mapping[str, object] = {
        "kind": "fact", "about": "project", "what": "", "where": "", "value": "", "was": "", "why": "", "version": "", "negated": False, "sure": "stated",
    }  # fmt: skip
    return {**plain, "says": says, "quotes": [{"turn": turn, "text": text} for turn, text in quotes], **given}


def items(*found: Mapping[str, object], questions: Sequence[Mapping[str, object]] = ()) -> str:
    """A reply to an extract request."""
    return json.dumps({"items": list(found), "questions": list(questions)}, ensure_ascii=False)
