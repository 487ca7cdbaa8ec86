"""How a session ended, from its last records: answered, with a question left open, interrupted, with an error of the program, or in the middle."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum

from pipelines.engines.local.speech import typed
from pipelines.model import Call, Origin, Quote, Role, Turn
from pipelines.text.sentences import sentences

QUESTION_MAX = 160
LAST_SENTENCES = 12
ERROR_MAX = 120

_NO_QUESTION = re.compile(
    r"\b(?:anything else|let me know|need anything|help you with|what would you like|shall we continue|else (?:I|you)|questions\?)", re.IGNORECASE
)
_INTERRUPTED = ("[Request interrupted by user", "<turn_aborted>")
_ERROR = re.compile(r"\bAPI Error\b|\blimit\b|\berror\b|\boverloaded\b|\bcredit balance\b|\bunavailable\b", re.IGNORECASE)
_ASKING = frozenset({"askuserquestion", "ask_user_question", "request_user_input"})
_PLANNING = frozenset({"exitplanmode", "exit_plan_mode"})
_CALLED_PLAN = re.compile(r"\A(?:(?:implementation |the |my )?plan|计划|計劃|実装計画|plano|план)(?:\s*[:：—–-]\s*|\Z)", re.IGNORECASE)


class Ended(StrEnum):
    """The last thing a log tells of its session; `middle`: something was under way, it still runs or was cut off."""

    ANSWERED = "answered"
    QUESTION = "question"
    PLAN = "plan"
    INTERRUPTED = "interrupted"
    ERROR = "error"
    MIDDLE = "middle"


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """How a session ended. `asked` is the question left open, or the title of the plan that waits for a yes, `cut` when it goes on, and `line` where it stands; `error` the program's own words."""

    how: Ended
    asked: Quote | None = None
    line: int | None = None
    cut: bool = False
    error: str = ""


def end_of(turns: Sequence[Turn]) -> End:
    """The end of the main conversation; `turns` are in order, without those of subagents."""
    answered = {t.result.call_id for t in turns if t.result is not None}
    for at in range(len(turns) - 1, -1, -1):
        end = _ended_with(turns[at], answered)
        if end is not None:
            return end
    return End(how=Ended.MIDDLE)


def _ended_with(turn: Turn, answered: Set[str]) -> End | None:
    """What this turn says of the end; None when it says nothing, as reminders and the program's own commands do."""
    if turn.text.lstrip().startswith(_INTERRUPTED):
        return End(how=Ended.INTERRUPTED)
    if turn.call is not None:
        return _with_call(turn, turn.call, answered)
    if turn.result is not None:
        stopped = turn.result.interrupted or turn.result.refused
        return End(how=Ended.INTERRUPTED if stopped else Ended.MIDDLE)
    if typed(turn) and not turn.memory:  # "# always use tabs" is kept, and asks for no answer
        return End(how=Ended.MIDDLE)
    if turn.role is Role.ASSISTANT and turn.origin is Origin.HARNESS and _ERROR.search(turn.text):
        return End(how=Ended.ERROR, error=" ".join(turn.text.split())[:ERROR_MAX])
    if turn.role is Role.ASSISTANT and turn.origin is Origin.ASSISTANT and turn.text.strip():
        asked = asked_in(turn)
        return End(how=Ended.QUESTION, asked=asked, line=turn.place.line) if asked else End(how=Ended.ANSWERED)
    return None


def _with_call(turn: Turn, call: Call, answered: Set[str]) -> End:
    """A call that nothing came back to: a question or a plan waits for the person, anything else was under way."""
    name = call.name.casefold()
    planned = name in _PLANNING
    words = _question(call.arguments) if name in _ASKING else _plan(call.arguments) if planned else ""
    asked = _quoted(turn, words) if call.call_id not in answered else None
    if asked is None:
        return End(how=Ended.MIDDLE)
    return End(how=Ended.PLAN if planned else Ended.QUESTION, asked=asked, line=turn.place.line, cut=len(asked.text) < len(words))


def _question(arguments: Mapping[str, object]) -> str:
    """The first question of a tool that asks the person."""
    questions = arguments.get("questions")
    first = questions[0] if isinstance(questions, list) and questions and isinstance(questions[0], Mapping) else arguments
    words = first.get("question")
    return words if isinstance(words, str) else ""


def _plan(arguments: Mapping[str, object]) -> str:
    """The first line of a plan that waits for a yes, without the word that it is one."""
    plan = arguments.get("plan")
    lines = (line.strip("#* \t") for line in plan.split("\n")) if isinstance(plan, str) else iter(())
    return next((words for line in lines if (words := _CALLED_PLAN.sub("", line))), "")


def _quoted(turn: Turn, words: str) -> Quote | None:
    """These words as they stand in the turn; None when they do not stand there so."""
    cut = words[: word_end(words, 0, QUESTION_MAX)]
    start = turn.text.find(cut) if cut else -1
    return Quote(turn=turn.uid, start=start, end=start + len(cut), text=cut) if start >= 0 else None


def asked_in(turn: Turn) -> Quote | None:
    """The last question among the last sentences of a turn, cut to the length of a quote."""
    for span in reversed(sentences(turn.text)[-LAST_SENTENCES:]):
        asked = span.of(turn.text).rstrip("*_\"'”) ")
        if asked.endswith(("?", "？", "؟")) and not _NO_QUESTION.search(asked):
            start = span.start + len(asked) - len(asked.lstrip("*_"))
            end = min(span.start + len(asked), word_end(turn.text, start, QUESTION_MAX))
            return Quote(turn=turn.uid, start=start, end=end, text=turn.text[start:end])
    return None


def word_end(text: str, start: int, limit: int) -> int:
    """Where at most `limit` characters from `start` end without cutting a word of letters."""
    end = min(len(text), start + limit)
    while start < end < len(text) and text[end - 1 : end + 1].isascii() and text[end - 1 : end + 1].isalnum():
        end -= 1
    return end if end > start else min(len(text), start + limit)
