"""What commands that may ask a model share: the options for it, and which engine they choose."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated

import typer

from worker import engines
from worker.settings import USD_MAX, Settings

if TYPE_CHECKING:
    from pipelines.run import Params

INSTRUCTIONS_MAX = 4_096
"""Characters; a test keeps it equal to what a dream takes."""


def _known(name: str | None) -> str | None:
    if name is not None and name not in engines.NAMES:
        raise typer.BadParameter(f"there is no engine {name!r}: it is {', '.join(engines.NAMES[:-1])} or {engines.NAMES[-1]}")
    return name


def _short(text: str | None) -> str | None:
    if text is not None and len(text) > INSTRUCTIONS_MAX:
        raise typer.BadParameter(f"at most {INSTRUCTIONS_MAX} characters, these are {len(text)}")
    return text


Engine = Annotated[
    str | None, typer.Option("--engine", metavar="NAME", callback=_known, help="What reads meaning: auto, local or claude; default: the setting.")
]  # fmt: skip
Budget = Annotated[
    float | None, typer.Option("--budget", metavar="USD", min=0, max=USD_MAX, help="The most this dream may cost, in dollars; default: the setting.")
]  # fmt: skip
Batch = Annotated[bool | None, typer.Option("--batch/--no-batch", help="Ask in batches: half the price, and up to a day; default: the setting.")]
Instructions = Annotated[
    str | None, typer.Option("--instructions", metavar="TEXT", callback=_short, help="What to look for or leave out, in your words; default: the setting.")
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the command line says about the engine; None is as the settings have it. `budget` is in dollars."""

    engine: str | None = None
    budget: float | None = None
    batch: bool | None = None
    instructions: str | None = None

    @property
    def budget_uusd(self) -> int | None:
        """In millionths of a dollar."""
        return None if self.budget is None else engines.uusd(Decimal(str(self.budget)))

    def leaves_open(self, settings: Settings) -> bool:
        """Whether somebody would want to know which engine it became: `auto` was said, or something of claude is set. Where nothing is, it is the rules."""
        auto = (self.engine or settings.engine) == engines.AUTO
        return auto and bool(self.engine or self.budget or "engine" in settings.model_fields_set or settings.claude.model_fields_set)

    def choice(self, settings: Settings) -> engines.Choice:
        """The engine of a dream that is worked on here. Raises Refused for one that could ask nothing, also when only a budget was named; BadParameter for
        options only a model knows."""
        chosen = engines.choose(settings, self.engine, budget_uusd=self.budget_uusd)
        auto = (self.engine or settings.engine) == engines.AUTO
        wanted = engines.CLAUDE if auto and self.budget and settings.claude.costs else chosen.engine
        engines.require(settings, wanted, budget_uusd=self.budget_uusd)
        told = {"--budget": self.budget, "--batch": self.batch, "--instructions": self.instructions}
        if chosen.engine != engines.CLAUDE and (idle := [name for name, value in told.items() if value]):
            raise typer.BadParameter(f"the engine {chosen.engine} asks no model: add --engine claude", param_hint=", ".join(idle))
        if self.batch and not settings.claude.costs:
            raise typer.BadParameter("a server that costs nothing is asked at once", param_hint="--batch")
        return chosen

    def params(self, settings: Settings, chosen: engines.Choice, plain: Params) -> Params:
        """The params of the dream, over those of a plain one."""
        made = engines.params_of(settings, chosen, plain, budget_uusd=self.budget_uusd)
        if chosen.engine != engines.CLAUDE:
            return made
        said = made.instructions if self.instructions is None else self.instructions
        return replace(made, batch=made.batch if self.batch is None else self.batch, instructions=said)
