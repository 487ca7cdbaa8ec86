"""What a dream will ask and cost, told before anything is spent: sessions, windows, tokens and dollars by stage. Pure, without a network.

What is put into the windows is known to the byte; what comes of it is not, so the rest is reckoned, from what earlier calls came to (`Past`) or from rates (`Assumed`), and told as a
range: from nothing worth a note to twice the usual, each end as far out as tokens may be miscounted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import ceil
from types import MappingProxyType

from pipelines.engines.claude.answering import GAPS_MAX
from pipelines.engines.claude.config import CAPABLE, ClaudeConfig
from pipelines.engines.claude.engine import ClaudeEngine
from pipelines.engines.claude.judging import BATCH_MAX
from pipelines.engines.claude.prices import cost_uusd, price_of
from pipelines.engines.claude.prompts import answer, extract, insight, relate, support
from pipelines.engines.claude.prompts.prompt import Prompt
from pipelines.engines.claude.shorten import is_typed
from pipelines.engines.claude.tokens import WITHIN, tokens
from pipelines.engines.claude.windows import render
from pipelines.engines.local.speech import TURN_MAX, utterances
from pipelines.model import Turn, digest
from pipelines.ports import Usage, Window
from pipelines.text.mood import Mood, mood_at

FRAME_TOKENS = 4
"""Tokens a message has beside its text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumed:
    """What is reckoned with where only the answers will tell; measured on sessions written for tests and on conversations with annotated observations.

    Items taken down for a turn in which a person tells something, and how many of them no rule has; tokens of an item, of a verdict, of an empty reply and of
    the thinking before a reply; pairs, questions and groups that come of an item, how many questions and groups a dream asks about at most, and what is
    concluded of a group; sessions one worker reads, and so checks, together.
    """

    items_per_turn: float = 1.05
    kept_per_item: float = 0.9
    item_tokens: int = 188
    verdict_tokens: int = 18
    reply_tokens: int = 12
    thinking_tokens: int = 0
    shown_tokens: int = 58
    pairs_per_item: float = 0.05
    questions_per_item: float = 0.16
    questions_max: int = 60
    candidates_tokens: int = 160
    answer_tokens: int = 98
    groups_per_item: float = 0.016
    groups_max: int = 5
    group_tokens: int = 2_000
    concluded: float = 0.5
    sessions_together: int = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What calls of a stage came to before: answered calls, tokens sent (cached ones included), tokens that came back."""

    calls: int
    sent: int
    output: int


LEARN_MIN = 20
"""Calls of the first stage from which on their own yield is reckoned with instead of what is assumed."""
MOST = 2.0
"""The most that is reckoned: so many times the usual yield."""


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
class Sum:
    """All stages together: tokens sent (cached ones included) and back, micro-dollars at once and in batches."""

    input_tokens: int
    output_tokens: int
    uusd: int
    batch_uusd: int


def sum_of(stages: Iterable[StageEstimate]) -> Sum:
    """The stages added up."""
    stages = tuple(stages)
    return Sum(
        input_tokens=sum(s.usage.input + s.usage.cache_written + s.usage.cache_read for s in stages), output_tokens=sum(s.usage.output for s in stages),
        uusd=sum(s.uusd for s in stages), batch_uusd=sum(s.batch_uusd for s in stages),
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a dream over some sessions asks and costs. `asked` sessions have something typed; `windows` are calls of the first stage.

    `stages` are reckoned with the usual yield; `least` is when nothing is worth a note, so that no stage follows, and tokens are fewer than counted; `most` when
    there is `MOST` times as much, and they are more.
    `learnt` counts the earlier calls whose yield was taken for the usual one, 0 where it is assumed.
    """

    sessions: int
    asked: int
    windows: int
    typed: int
    stages: tuple[StageEstimate, ...]
    least: Sum
    most: Sum
    learnt: int = 0

    @property
    def usual(self) -> Sum:
        """All stages, with the usual yield."""
        return sum_of(self.stages)


@dataclass(slots=True)
class _Seen:
    """What the sessions hold, added up as they go by."""

    sessions: int = 0
    asked: int = 0
    typed: int = 0
    telling: int = 0
    windows: dict[str, int] = field(default_factory=dict)


def estimate(windows: Iterable[Window], engine: ClaudeEngine, assumed: Assumed = Assumed(), *, past: Mapping[str, Past] = MappingProxyType({})) -> Estimate:
    """What reading these sessions asks; each is looked at once and let go. `past` is what earlier calls of the same models came to, by stage."""
    seen = _Seen()
    for window in windows:
        stretches = engine.stretches(window)
        seen.sessions += 1
        seen.asked += bool(stretches)
        seen.typed += sum(map(is_typed, window.turns))
        seen.telling += sum(map(_tells, window.turns))
        for stretch in stretches:
            content = extract.content(render(stretch))
            seen.windows.setdefault(digest(content), tokens(content))  # equal windows, of a session and its copy, are asked about once
    learns = extract.PROMPT.stage in past and past[extract.PROMPT.stage].calls >= LEARN_MIN

    def stages(yields: float) -> tuple[StageEstimate, ...]:
        told = _learnt(seen, engine.config, assumed, past, yields) if learns else _assumed(seen, engine.config, assumed, yields)
        return tuple(stage for stage in told if stage.calls)

    return Estimate(
        sessions=seen.sessions, asked=seen.asked, windows=len(seen.windows), typed=seen.typed, stages=stages(1.0),
        least=_off(sum_of(stages(0.0)), 1 - WITHIN), most=_off(sum_of(stages(MOST)), 1 + WITHIN), learnt=past[extract.PROMPT.stage].calls if learns else 0,
    )  # fmt: skip


def _off(total: Sum, share: float) -> Sum:
    """A sum where tokens are so many times what was counted."""
    return Sum(**{name: round(share * amount) for name, amount in asdict(total).items()})


def _tells(turn: Turn) -> bool:
    """Whether a person states something in a turn, and does not only ask or order."""
    return is_typed(turn) and any(mood_at(turn.text[:TURN_MAX], said.start, said.end) is Mood.PLAIN for said in utterances(turn))


def _assumed(seen: _Seen, config: ClaudeConfig, assumed: Assumed, yields: float) -> Iterable[StageEstimate]:
    """All stages by what is assumed of the turns in which somebody tells something, times `yields`."""
    items = seen.telling * assumed.items_per_turn * yields
    if yields > 1.0:
        items = max(items, len(seen.windows))  # even a session in which somebody only asks and orders may hold something
    kept = items * assumed.kept_per_item
    pairs = kept * assumed.pairs_per_item
    questions, groups = min(kept * assumed.questions_per_item, assumed.questions_max), min(kept * assumed.groups_per_item, assumed.groups_max)
    asked = ceil if yields > 1.0 else round  # of what would be half a call the most has a whole one
    checks = max(ceil(kept / BATCH_MAX), min(ceil(seen.asked / assumed.sessions_together), ceil(kept)))
    yield _stage(extract.PROMPT, config, assumed, tuple(seen.windows.values()), round(items * assumed.item_tokens))
    yield _stage(support.PROMPT, config, assumed, _even(checks, kept * assumed.shown_tokens), round(kept * assumed.verdict_tokens))
    yield _stage(relate.PROMPT, config, assumed, _even(ceil(asked(pairs) / BATCH_MAX), pairs * 2 * assumed.shown_tokens), round(pairs * assumed.verdict_tokens))
    yield _stage(
        answer.PROMPT, config, assumed, _even(asked(questions / GAPS_MAX), questions * assumed.candidates_tokens), round(questions * assumed.answer_tokens)
    )
    yield _stage(insight.PROMPT, config, assumed, _even(asked(groups), groups * assumed.group_tokens), round(groups * assumed.concluded * assumed.item_tokens))


def _learnt(seen: _Seen, config: ClaudeConfig, assumed: Assumed, past: Mapping[str, Past], yields: float) -> Iterable[StageEstimate]:
    """All stages by what earlier calls came to: what the first stage wrote for the words it was shown, the calls of the others for one of the first."""
    first, shown = past[extract.PROMPT.stage], sum(seen.windows.values())
    written = _beside(first.output, first.calls * assumed.reply_tokens) / _beside(first.sent, first.calls * _fixed(extract.PROMPT, config), least=first.calls)
    yield _stage(extract.PROMPT, config, assumed, tuple(seen.windows.values()), round(written * shown * yields))
    for prompt in (support.PROMPT, relate.PROMPT, answer.PROMPT, insight.PROMPT):
        if (told := past.get(prompt.stage)) is None or not told.calls:
            continue
        share = len(seen.windows) * yields / first.calls
        calls = (ceil if yields > 1.0 else round)(told.calls * share)
        sent = _beside(told.sent, told.calls * _fixed(prompt, config)) / told.calls
        yield _stage(prompt, config, assumed, _even(calls, calls * sent), round(calls * _beside(told.output / told.calls, assumed.reply_tokens)))


def _beside(all_of: float, known: float, *, least: float = 0) -> float:
    """What is left of a number beside a part that is known."""
    return max(least, all_of - known)


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
