"""Which engine dreams, and how it asks: from the settings to the engine's own values. Nothing here loads the provider's SDK.

A key alone spends nothing: what costs money is asked within a budget, or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Final

from pipelines.errors import Refused
from worker.settings import HOSTED, BadSettings, Claude, Settings, Stage, claude_key

if TYPE_CHECKING:
    from pipelines.engines.claude.client import Provider
    from pipelines.engines.claude.config import ClaudeConfig, StageModel
    from pipelines.engines.claude.prices import Price
    from pipelines.ports import Engine
    from pipelines.run.asking import Means
    from pipelines.run.parts import Params

LOCAL, CLAUDE, AUTO = "local", "claude", "auto"
NAMES: Final = (AUTO, LOCAL, CLAUDE)
MILLION: Final = 1_000_000

FREE: Final[Mapping[str, int]] = {"window_bytes": 12_000, "calls_at_once": 2, "max_tokens": 8_000}
PAID: Final[Mapping[str, int]] = {"window_bytes": 48_000, "calls_at_once": 16, "max_tokens": 128_000}
"""What is sent at once, asked side by side and answered at most where the settings leave it open: a model of one's own has a short memory and one
processor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """An engine, and why it is the one; `why` is one clause for a person."""

    engine: str
    why: str


def uusd(amount: Decimal | None) -> int | None:
    """Millionths of a dollar."""
    return None if amount is None else int(amount * MILLION)


def budget_of(claude: Claude) -> int | None:
    """The most a dream may cost by the settings: its own limit, else the least of those of a day and a scope; None when there is none."""
    if claude.budget_usd is not None:
        return uusd(claude.budget_usd)
    return min((most for most in (uusd(claude.day_usd), uusd(claude.scope_usd)) if most is not None), default=None)


def choose(settings: Settings, asked: str | None = None, *, budget_uusd: int | None = None) -> Choice:
    """The engine asked for, else the setting's. `auto` is claude where that may ask: a server that costs nothing, or a budget and a key; local otherwise."""
    claude, engine = settings.claude, asked or settings.engine
    if engine != AUTO:
        return Choice(engine=engine, why="as asked for" if asked else "as the settings have it")
    if not claude.costs and claude.base_url is not None:
        return Choice(engine=CLAUDE, why=f"{claude.base_url} costs nothing")
    budget = budget_of(claude) if budget_uusd is None else budget_uusd
    if not budget:
        return Choice(engine=LOCAL, why="claude has neither a budget (--budget, claude.budget_usd) nor a local server (claude.base_url)")
    if claude_key(settings) is None:
        return Choice(engine=LOCAL, why="claude has a budget and no key (ANTHROPIC_API_KEY, claude.api_key)")
    return Choice(engine=CLAUDE, why=f"it may cost {dollars(budget)} a dream")


def require(settings: Settings, engine: str, *, budget_uusd: int | None = None, works: bool = True) -> None:
    """Refuse an engine that could ask nothing. `works` False is for who only asks for dreams others work on: that needs no key."""
    claude = settings.claude
    if engine != CLAUDE or not claude.costs:
        return
    if not (budget_of(claude) if budget_uusd is None else budget_uusd):
        raise Refused("the engine claude costs money and has no budget: say how much a dream may cost with --budget USD, or set claude.budget_usd")
    if works and claude_key(settings) is None:
        at = claude.base_url or HOSTED
        raise Refused(f"the engine claude has no key for {at}: set ANTHROPIC_API_KEY or DREAMD_CLAUDE__API_KEY, or claude.paid = false if it asks for none")


def params_of(settings: Settings, choice: Choice, plain: Params, *, budget_uusd: int | None = None, nightly: bool = False) -> Params:
    """The params of a dream with this engine: what it may cost, whether it asks in batches, what it is told; nothing of it for an engine that asks nobody."""
    if choice.engine != CLAUDE:
        return replace(plain, engine=choice.engine)
    claude = settings.claude
    budget = (budget_of(claude) if budget_uusd is None else budget_uusd) if claude.costs else None
    batch = claude.costs and claude.batch in ({"nightly", "always"} if nightly else {"always"})
    return replace(plain, engine=CLAUDE, budget_uusd=budget, batch=batch, instructions=claude.instructions)


def engine_of(settings: Settings, params: Params) -> Engine:
    """A live engine for a dream. Raises Refused for a model without a price, BadSettings for what does not fit together."""
    from pipelines.engines.local.engine import LocalEngine

    if params.engine != CLAUDE:
        return LocalEngine()
    from pipelines.engines.claude.engine import ClaudeEngine

    return ClaudeEngine(rules=LocalEngine(), config=config_of(settings, params))


def others(settings: Settings, plain: Params, *, asks: bool) -> Mapping[str, Callable[[Params], Engine]]:
    """Engines a dream may ask for beside the one of a plain dream, each made for the params of the dream; one that asks a model only where it can (`asks`)."""
    made = {LOCAL: plain.engine != LOCAL, CLAUDE: asks}
    return {name: partial(engine_of, settings) for name, wanted in made.items() if wanted}


def config_of(settings: Settings, params: Params) -> ClaudeConfig:
    """The engine's own settings. Raises as `engine_of`."""
    from pipelines.engines.claude.config import CAPABLE, SMALL, ClaudeConfig

    claude = settings.claude
    size = PAID if claude.costs else FREE
    try:
        return ClaudeConfig(
            stages=stages_of(claude), tier=claude.tier or (CAPABLE if claude.costs else SMALL), instructions=params.instructions,
            window_bytes=claude.window_bytes or size["window_bytes"], calls_at_once=claude.calls_at_once or size["calls_at_once"], batch=params.batch,
            paid=claude.costs, prices=_prices(claude), dream_limit_uusd=params.budget_uusd, day_limit_uusd=uusd(claude.day_usd),
            scope_limit_uusd=uusd(claude.scope_usd),
        )  # fmt: skip
    except ValueError as error:
        raise BadSettings(f"bad settings of claude: {error}") from error


def stages_of(claude: Claude) -> dict[str, StageModel]:
    """Who answers each stage: what its own table says, else `claude.model`, else dreamd's choice."""
    from pipelines.engines.claude.config import default_stages

    out, size = {}, PAID if claude.costs else FREE
    for name, usual in default_stages().items():
        told: Stage = getattr(claude, name)
        out[name] = replace(
            usual, model=told.model or claude.model or usual.model, max_tokens=told.max_tokens or min(usual.max_tokens, size["max_tokens"]),
            effort=told.effort if told.effort is not None else usual.effort if claude.costs else "",
        )  # fmt: skip
    return out


def provider_of(settings: Settings) -> Provider | None:
    """Who is asked; None where what costs money has no key. Nothing is connected yet."""
    from pipelines.engines.claude.client import Provider
    from pipelines.engines.claude.prices import LIST_PRICES

    claude, key = settings.claude, claude_key(settings)
    if claude.costs and key is None:
        return None
    return Provider(
        base_url=claude.base_url or HOSTED, key=key.get_secret_value() if key else "", local=claude.local, paid=claude.costs,
        prices={**LIST_PRICES, **_prices(claude)},
    )  # fmt: skip


def means_of(settings: Settings, *, messages: Provider | None) -> Means:
    """How engines of this process ask; with no `messages` only recorded answers count."""
    from pipelines.run.asking import Means, Slots

    claude = settings.claude
    at_once = claude.calls_at_once or (PAID if claude.costs else FREE)["calls_at_once"]
    return Means(
        messages=messages, slots=Slots(at_once), paid=claude.costs, timeout_s=claude.timeout_s, day_uusd=uusd(claude.day_usd) if claude.costs else None,
        scope_uusd=uusd(claude.scope_usd) if claude.costs else None, rate_per_s=claude.calls_per_minute / 60 if claude.calls_per_minute else None,
        batch_min=claude.batch_min,
    )  # fmt: skip


def _prices(claude: Claude) -> dict[str, Price]:
    from pipelines.engines.claude.prices import flat_price

    return {name: flat_price(str(price.input), str(price.output)) for name, price in (claude.prices or {}).items()}


def dollars(amount_uusd: int) -> str:
    """An amount for a person: cents where they suffice, more digits for less, never rounded to nothing."""
    if not amount_uusd or abs(amount_uusd) >= 10_000:
        return f"${amount_uusd / MILLION:,.2f}"
    return f"${amount_uusd / MILLION:.6f}".rstrip("0")
