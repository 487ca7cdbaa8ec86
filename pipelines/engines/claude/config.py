"""What a person decides about the engine: models, limits, prices, instructions. Frozen and checked when made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pipelines.engines.claude.prices import LIST_PRICES, Price, price_of

CAPABLE, SMALL = "capable", "small"
"""Prompt tiers: a capable model gets the purpose and examples, a small one a form to fill."""
EFFORTS = ("", "low", "medium", "high", "xhigh", "max")
INSTRUCTIONS_MAX = 4096
WINDOW_BYTES, WINDOW_BYTES_MIN, WINDOW_BYTES_MAX = 48_000, 2_000, 70_000
"""Bytes of log text a request holds; with prompt and instructions the largest stays below 100,000 tokens, since no token is shorter than a byte."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageModel:
    """Who answers the requests of a stage. `max_tokens` holds the answer and the thinking before it; `effort` "" leaves it to the provider."""

    model: str
    effort: str = "low"
    max_tokens: int = 16_000

    def __post_init__(self) -> None:
        if not self.model:
            raise ValueError("a stage needs the name of a model")
        if self.effort not in EFFORTS:
            raise ValueError(f"effort is one of {', '.join(EFFORTS[1:])}, not {self.effort!r}")
        if not 256 <= self.max_tokens <= 128_000:
            raise ValueError(f"max_tokens is between 256 and 128,000, not {self.max_tokens}")


def default_stages() -> Mapping[str, StageModel]:
    """Reading and checking on a small model, what needs judgement on a stronger one."""
    small, strong = "claude-haiku-5-5", "claude-sonnet-5-5"
    return {
        "extract": StageModel(model=small, max_tokens=16_000), "check": StageModel(model=small, max_tokens=8_000),
        "relate": StageModel(model=strong, max_tokens=8_000), "answer": StageModel(model=small, max_tokens=8_000),
        "insight": StageModel(model=strong, effort="medium", max_tokens=12_000),
    }  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaudeConfig:
    """Everything that decides what is asked and what it may cost.

    `stages` names a model for each of extract, check, relate, answer and insight. `instructions` steer a dream and stand in the prompt. `prices` are
    those of models beside the listed ones, or instead of them. `paid` False is a local server: nothing costs anything, no key and no limit is needed.
    Limits are micro-dollars; None is no such limit. Without the one of the dream nothing is paid for (`may_ask`).
    """

    stages: Mapping[str, StageModel] = field(default_factory=default_stages)
    tier: str = CAPABLE
    instructions: str = ""
    window_bytes: int = WINDOW_BYTES
    calls_at_once: int = 16
    batch: bool = False
    paid: bool = True
    prices: Mapping[str, Price] = field(default_factory=dict)
    dream_limit_uusd: int | None = None
    day_limit_uusd: int | None = None
    scope_limit_uusd: int | None = None

    def __post_init__(self) -> None:
        """Raises ValueError naming the field; Refused for a model that has to be paid for and has no price."""
        if missing := sorted(set(default_stages()) ^ set(self.stages)):
            raise ValueError(f"stages must name each of {', '.join(default_stages())} and nothing else; differs in {', '.join(missing)}")
        if self.tier not in {CAPABLE, SMALL}:
            raise ValueError(f"tier is {CAPABLE!r} or {SMALL!r}, not {self.tier!r}")
        if len(self.instructions) > INSTRUCTIONS_MAX:
            raise ValueError(f"instructions have at most {INSTRUCTIONS_MAX} characters, these have {len(self.instructions)}")
        if not WINDOW_BYTES_MIN <= self.window_bytes <= WINDOW_BYTES_MAX:
            raise ValueError(f"window_bytes is between {WINDOW_BYTES_MIN} and {WINDOW_BYTES_MAX}, not {self.window_bytes}")
        if self.calls_at_once < 1:
            raise ValueError("calls_at_once is at least 1")
        if self.paid:
            for stage in self.stages.values():
                price_of(stage.model, self.all_prices)

    @property
    def all_prices(self) -> Mapping[str, Price]:
        """The listed prices with the person's own over them."""
        return {**LIST_PRICES, **self.prices}

    @property
    def may_ask(self) -> bool:
        """Whether any request may be sent: a local server, or a dream with a limit above nothing."""
        return not self.paid or bool(self.dream_limit_uusd)
