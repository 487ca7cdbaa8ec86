"""What models cost: a dated table of list prices, in whole micro-dollars per million tokens, so that no sum of money is ever a float."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from pipelines.errors import Refused
from pipelines.ports import Usage

LISTED = date(2026, 10, 1)
"""When the list prices below were read."""
MILLION = 1_000_000
HIDDEN_TOKENS = 1_000
"""Tokens a provider may add of its own to a request (the grammar of a reply schema, wrapping of messages)."""
WRITE_PERCENT = 125
"""What a token written to the five-minute cache costs, in percent of a fresh one."""
BATCH_SHARE = 2
"""A batch costs one part in so many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier:
    """Micro-dollars per million tokens in (`fresh`) and out, for prompts of at most `prompt_max` tokens; None is any length."""

    fresh: int
    output: int
    prompt_max: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """The price of one model: tiers by length of the prompt, shortest first, the last for any length. A token read from the cache costs
    `read_permille` of a fresh one; prompts shorter than `cache_min` tokens are never cached."""

    tiers: tuple[Tier, ...]
    read_permille: int = 100
    cache_min: int = 1024

    def __post_init__(self) -> None:
        bounds = [tier.prompt_max for tier in self.tiers]
        if not bounds or bounds[-1] is not None or None in bounds[:-1]:
            raise ValueError("the tiers of a price end with one for prompts of any length, and only the last one is")

    @property
    def cheap_max(self) -> int | None:
        """Tokens of a prompt up to which the cheapest tier holds; None for any number."""
        return self.tiers[0].prompt_max

    def tier(self, prompt_tokens: int) -> Tier:
        """The tier of a prompt of so many tokens, cached ones included."""
        return next(t for t in self.tiers if t.prompt_max is None or prompt_tokens <= t.prompt_max)


def usd(amount: str) -> int:
    """Micro-dollars of an amount of dollars written in decimals ("0.10")."""
    return int(Decimal(amount) * MILLION)


def flat_price(fresh_usd: str, output_usd: str) -> Price:
    """A price given as dollars per million tokens in and out, whatever the length: how settings name that of a model not listed here."""
    return Price(tiers=(Tier(fresh=usd(fresh_usd), output=usd(output_usd)),))


LIST_PRICES: Mapping[str, Price] = {
    "claude-haiku-5-5": Price(
        tiers=(Tier(fresh=usd("0.10"), output=usd("0.50"), prompt_max=100_000), Tier(fresh=usd("0.50"), output=usd("2.50"))), cache_min=512
    ),
    "claude-haiku-4-5": Price(tiers=(Tier(fresh=usd("1"), output=usd("5")),), cache_min=4096),
    "claude-sonnet-5-5": Price(tiers=(Tier(fresh=usd("2"), output=usd("10")),), read_permille=50),
    "claude-opus-5-5": Price(tiers=(Tier(fresh=usd("4"), output=usd("20")),), read_permille=50),
    "claude-opus-5": Price(tiers=(Tier(fresh=usd("5"), output=usd("25")),), cache_min=512),
    "claude-fable-5-1": Price(tiers=(Tier(fresh=usd("10"), output=usd("50")),), read_permille=25),
}
_DAY_STAMP = re.compile(r"-\d{8}$")


def price_of(model: str, prices: Mapping[str, Price] = LIST_PRICES) -> Price:
    """The price of a model, a dated id ("…-20261001") as the model's own. Raises Refused for one nobody has given a price."""
    found = prices.get(model) or prices.get(_DAY_STAMP.sub("", model))
    if found is None:
        raise Refused(f"no price is known for the model {model!r}: give its price in the settings (claude.prices), or use one of {', '.join(sorted(prices))}")
    return found


def cost_uusd(model: str, usage: Usage, *, batch: bool, prices: Mapping[str, Price] = LIST_PRICES) -> int:
    """What an answer cost by the provider's own count, rounded up to a whole micro-dollar."""
    price = price_of(model, prices)
    tier = price.tier(usage.input + usage.cache_written + usage.cache_read)
    # a hundred-thousandth of a token is the common part of all shares
    fresh = usage.input * 100_000 + usage.cache_written * WRITE_PERCENT * 1_000 + usage.cache_read * price.read_permille * 100
    return _up(fresh * tier.fresh + usage.output * 100_000 * tier.output, 100_000 * MILLION * (BATCH_SHARE if batch else 1))


def bound_uusd(model: str, body_bytes: int, max_tokens: int, *, batch: bool, prices: Mapping[str, Price] = LIST_PRICES) -> int:
    """The most a request can cost: no token is shorter than a byte, all of them are written to the cache, and the answer is as long as it may be."""
    return cost_uusd(model, Usage(cache_written=body_bytes + HIDDEN_TOKENS, output=max_tokens), batch=batch, prices=prices)


def _up(part: int, whole: int) -> int:
    return -(-part // whole)
