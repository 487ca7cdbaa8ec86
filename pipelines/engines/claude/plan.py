"""What a dream will ask and cost, told before anything is spent: sessions, windows, tokens and dollars by stage. Pure, without a network.

What is put into the windows is known to the byte; what comes of it is not, so the rest is reckoned from rates (`Assumed`) and printed as an estimate.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil

from pipelines.engines.claude.answering import GAPS_MAX
from pipelines.engines.claude.config import CAPABLE, ClaudeConfig
from pipelines.engines.claude.engine import ClaudeEngine
from pipelines.engines.claude.judging import BATCH_MAX
from pipelines.engines.claude.prices import cost_uusd, price_of
from pipelines.engines.claude.prompts import answer, extract, insight, relate, support
from pipelines.engines.claude.prompts.prompt import Prompt
from pipelines.engines.claude.shorten import is_typed
from pipelines.engines.claude.tokens import tokens
from pipelines.engines.claude.windows import render
from pipelines.engines.local.speech import TURN_MAX, utterances
from pipelines.model import Turn
from pipelines.ports import Usage, Window
from pipelines.text.mood import Mood, mood_at

FRAME_TOKENS = 4
"""Tokens a message has beside its text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumed:
    """What is reckoned with where only the answers will tell; measured on sessions written for tests and on conversations with annotated observations.

    Items taken down for a turn in which a person tells something, and how many of them no rule has; tokens of an item, of a verdict, of an empty reply and of
    the thinking before a reply; pairs, questions and groups that come of an item; sessions one worker reads, and so checks, together.
    """

    items_per_turn: float = 0.9
    kept_per_item: float = 0.75
    item_tokens: int = 165
    verdict_tokens: int = 18
    reply_tokens: int = 12
    thinking_tokens: int = 0
    shown_tokens: int = 60
    pairs_per_item: float = 0.05
    questions_per_item: float = 0.2
    candidates_tokens: int = 160
    answer_tokens: int = 90
    groups_per_item: float = 0.02
    group_tokens: int = 1_300
    sessions_together: int = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class StageEstimate:
    """What one stage asks: calls, tokens of all of them, and what they cost asked at once and in batches."""

    stage: str
    model: str
    calls: int
    usage: Usage
    uusd: int
    batch_uusd: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a dream over some sessions asks and costs. `asked` sessions have something typed; `windows` are calls of the first stage."""

    sessions: int
    asked: int
    windows: int
    typed: int
    stages: tuple[StageEstimate, ...]

    @property
    def uusd(self) -> int:
        """Micro-dollars of everything, asked at once."""
        return sum(stage.uusd for stage in self.stages)

    @property
    def batch_uusd(self) -> int:
        """Micro-dollars of everything, in batches."""
        return sum(stage.batch_uusd for stage in self.stages)

    @property
    def input_tokens(self) -> int:
        """Tokens sent, cached ones included."""
        return sum(s.usage.input + s.usage.cache_written + s.usage.cache_read for s in self.stages)

    @property
    def output_tokens(self) -> int:
        """Tokens that come back."""
        return sum(stage.usage.output for stage in self.stages)


@dataclass(slots=True)
class _Seen:
    """What the sessions hold, added up as they go by."""

    sessions: int = 0
    asked: int = 0
    typed: int = 0
    telling: int = 0
    windows: tuple[int, ...] = ()


def estimate(windows: Iterable[Window], engine: ClaudeEngine, assumed: Assumed = Assumed()) -> Estimate:
    """What reading these sessions asks; each is looked at once and let go."""
    seen = _Seen()
    for window in windows:
        stretches = engine.stretches(window)
        seen.sessions += 1
        seen.asked += bool(stretches)
        seen.typed += sum(map(is_typed, window.turns))
        seen.telling += sum(map(_tells, window.turns))
        seen.windows += tuple(tokens(extract.content(render(stretch))) for stretch in stretches)
    return Estimate(
        sessions=seen.sessions, asked=seen.asked, windows=len(seen.windows), typed=seen.typed,
        stages=tuple(stage for stage in _stages(seen, engine.config, assumed) if stage.calls),
    )  # fmt: skip


def _tells(turn: Turn) -> bool:
    """Whether a person states something in a turn, and does not only ask or order."""
    return is_typed(turn) and any(mood_at(turn.text[:TURN_MAX], said.start, said.end) is Mood.PLAIN for said in utterances(turn))


def _stages(seen: _Seen, config: ClaudeConfig, assumed: Assumed) -> Iterable[StageEstimate]:
    items = seen.telling * assumed.items_per_turn
    kept = items * assumed.kept_per_item
    pairs, questions, groups = kept * assumed.pairs_per_item, kept * assumed.questions_per_item, kept * assumed.groups_per_item
    checks = max(ceil(kept / BATCH_MAX), min(ceil(seen.asked / assumed.sessions_together), ceil(kept)))
    yield _stage(extract.PROMPT, config, assumed, seen.windows, round(items * assumed.item_tokens))
    yield _stage(support.PROMPT, config, assumed, _even(checks, kept * assumed.shown_tokens), round(kept * assumed.verdict_tokens))
    yield _stage(relate.PROMPT, config, assumed, _even(round(pairs / BATCH_MAX), pairs * 2 * assumed.shown_tokens), round(pairs * assumed.verdict_tokens))
    yield _stage(
        answer.PROMPT, config, assumed, _even(round(questions / GAPS_MAX), questions * assumed.candidates_tokens), round(questions * assumed.answer_tokens)
    )
    yield _stage(insight.PROMPT, config, assumed, _even(round(groups), groups * assumed.group_tokens), round(groups * assumed.item_tokens))


def _even(calls: int, total: float) -> tuple[int, ...]:
    return (round(total / calls),) * calls if calls else ()


def _stage(prompt: Prompt, config: ClaudeConfig, assumed: Assumed, contents: Sequence[int], written: int) -> StageEstimate:
    """A stage of as many calls as there are contents (tokens each), whose replies hold `written` tokens beside what every reply has.

    The prompt is written to the cache by the calls that are sent first, at once, and read by the rest; one that is too short is sent anew each time.
    """
    stage = config.stages[prompt.stage]
    calls, fixed = len(contents), _fixed(prompt, config)
    price = price_of(stage.model, config.all_prices) if config.paid else None
    cached = price is not None and config.tier == CAPABLE and fixed >= price.cache_min
    first = min(calls, config.calls_at_once)
    usage = Usage(
        input=sum(contents) + FRAME_TOKENS * calls + (0 if cached else fixed * calls), output=written + calls * (assumed.reply_tokens + assumed.thinking_tokens),
        cache_written=fixed * first if cached else 0, cache_read=fixed * (calls - first) if cached else 0,
    )  # fmt: skip
    costs = [_cost(stage.model, usage, calls, config, batch=batch) for batch in (False, True)]
    return StageEstimate(stage=prompt.stage, model=stage.model, calls=calls, usage=usage, uusd=costs[0], batch_uusd=costs[1])


def _fixed(prompt: Prompt, config: ClaudeConfig) -> int:
    """Tokens every request of a stage begins with."""
    schema = tokens(json.dumps(prompt.schema)) if config.tier == CAPABLE else 0
    return tokens(prompt.text(config.tier)) + tokens(config.instructions) + schema


def _cost(model: str, usage: Usage, calls: int, config: ClaudeConfig, *, batch: bool) -> int:
    """The cost of calls that are about alike: that of one, so many times, so that the tier is that of one prompt."""
    if not config.paid or not calls:
        return 0
    one = replace(
        usage, input=ceil(usage.input / calls), output=ceil(usage.output / calls), cache_written=ceil(usage.cache_written / calls),
        cache_read=ceil(usage.cache_read / calls),
    )  # fmt: skip
    return cost_uusd(model, one, batch=batch, prices=config.all_prices) * calls
