"""What calls cost and can cost at most: whole micro-dollars from a dated table."""

from __future__ import annotations

import pytest

from pipelines.engines.claude.config import INSTRUCTIONS_MAX, WINDOW_BYTES_MAX, ClaudeConfig, StageModel, default_stages
from pipelines.engines.claude.prices import bound_uusd, cost_uusd, flat_price, price_of, usd
from pipelines.engines.claude.prompts.extract import PROMPT
from pipelines.errors import Refused
from pipelines.ports import Usage

HAIKU = "claude-haiku-5-5"


@pytest.mark.parametrize(
    ("model", "usage", "batch", "expected"),
    [
        (HAIKU, Usage(input=1_000_000 // 10, output=0), False, 10_000),  # 100,000 tokens at $0.10
        (HAIKU, Usage(input=100_001), False, 50_001),  # one more: all of them at $0.50
        (HAIKU, Usage(input=60_000, cache_read=60_000), False, 33_000),  # the whole prompt decides the tier: 60k at $0.50 and 60k at a tenth of it
        (HAIKU, Usage(output=1_000), False, 500),
        (HAIKU, Usage(output=1_000), True, 250),
        (HAIKU, Usage(cache_written=8_000), False, 1_000),
        ("claude-sonnet-5-5", Usage(cache_read=100_000), False, 10_000),  # a twentieth of $2
        ("claude-fable-5-1", Usage(cache_read=40_000), False, 10_000),  # a fortieth of $10
        (HAIKU, Usage(input=1), False, 1),  # a tenth of a micro-dollar, rounded up
        (HAIKU, Usage(), False, 0),
        ("claude-haiku-4-5-20251001", Usage(input=1_000_000, output=1_000_000), False, 6_000_000),
    ],
)
def test_the_cost_of_an_answer(model: str, usage: Usage, batch: bool, expected: int) -> None:
    assert cost_uusd(model, usage, batch=batch) == expected


def test_no_request_costs_more_than_its_bound() -> None:
    bound = bound_uusd(HAIKU, 50_000, 16_000, batch=False)
    for usage in (Usage(input=50_000, output=16_000), Usage(cache_written=51_000, output=16_000), Usage(cache_read=50_000, output=16_000)):
        assert cost_uusd(HAIKU, usage, batch=False) <= bound


def test_a_model_without_a_price_is_refused_by_name() -> None:
    with pytest.raises(Refused, match="qwen3"):
        price_of("qwen3")


def test_an_explicit_price_is_taken() -> None:
    prices = {"qwen3": flat_price("0.03", "0.09")}
    assert cost_uusd("qwen3", Usage(input=1_000, output=1_000), batch=False, prices=prices) == 120


def test_dollars_are_read_exactly() -> None:
    assert [usd(x) for x in ("0.1", "0.000001", "12.34")] == [100_000, 1, 12_340_000]


def test_a_paid_engine_needs_prices_and_a_local_one_none() -> None:
    stages = {**default_stages(), "extract": StageModel(model="qwen3")}
    with pytest.raises(Refused, match="qwen3"):
        ClaudeConfig(stages=stages)
    assert ClaudeConfig(stages=stages, paid=False).may_ask
    assert ClaudeConfig(stages=stages, prices={"qwen3": flat_price("1", "2")}).all_prices["qwen3"].cheap_max is None


def test_nothing_is_paid_for_without_a_limit() -> None:
    assert not ClaudeConfig().may_ask
    assert not ClaudeConfig(dream_limit_uusd=0).may_ask
    assert ClaudeConfig(dream_limit_uusd=1).may_ask


@pytest.mark.parametrize(
    "wrong",
    [{"tier": "huge"}, {"instructions": "x" * 4097}, {"window_bytes": 10}, {"window_bytes": 10**6}, {"calls_at_once": 0}, {"stages": {}}],
)
def test_a_wrong_setting_is_refused_by_name(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        ClaudeConfig(**wrong)  # type: ignore[arg-type]


def test_a_full_window_stays_below_the_cheap_tier_whatever_its_text() -> None:
    cheap = price_of(HAIKU).cheap_max
    assert cheap is not None
    assert WINDOW_BYTES_MAX + 4 * INSTRUCTIONS_MAX + len(PROMPT.capable.encode()) + len(str(PROMPT.schema)) < cheap
