"""What a dream needs: the live parts that `worker.wiring` builds, and what a person asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.errors import Permanent
from pipelines.logs.reader import Reader
from pipelines.logs.redaction import Redactor
from pipelines.notes.instruction_files import Instructed
from pipelines.ports import Blobs, Engine
from pipelines.run.retention import FOR_EVER, Keep
from pipelines.store import Store

if TYPE_CHECKING:
    from pipelines.run.asking import Means
    from pipelines.run.hands import Hands

Progress = Callable[[str, int, int], None]
"""Told what is being done, how many units are done and of how many (0: unknown)."""


def silent(what: str, done: int, total: int) -> None:
    """Progress nobody watches."""


INSTRUCTIONS_MAX = 4_096
"""Characters of instructions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """What decides a dream beside its scope; stored with it as JSON, so that any worker runs it alike.

    `since` leaves out sessions that ended before, `trusted` are producers whose `status: verified` rows count everywhere.
    `skew_s` and `change_share_max` as in the settings. `budget_uusd` is the most a dream may cost, in millionths of a US dollar, `batch` has its engine ask
    in batches, which cost half and take hours, `instructions` steer what the engine looks for. Equal params are one dream while it has not begun.
    """

    engine: str = "local"
    since: datetime | None = None
    dry_run: bool = False
    trusted: frozenset[str] = frozenset()
    skew_s: float = 120
    change_share_max: float = 0.5
    budget_uusd: int | None = None
    batch: bool = False
    instructions: str = ""

    def __post_init__(self) -> None:
        if len(self.instructions) > INSTRUCTIONS_MAX:
            raise ValueError(f"instructions of {len(self.instructions)} characters; at most {INSTRUCTIONS_MAX} are taken")
        if self.budget_uusd is not None and self.budget_uusd < 0:
            raise ValueError(f"a budget of {self.budget_uusd} millionths of a dollar is less than nothing")

    def as_json(self) -> dict[str, object]:
        """As it is stored."""
        since = self.since.isoformat() if self.since else None
        return {"engine": self.engine, "since": since, "dry_run": self.dry_run, "trusted": sorted(self.trusted), "skew_s": self.skew_s,
                "change_share_max": self.change_share_max, "budget_uusd": self.budget_uusd, "batch": self.batch,
                "instructions": self.instructions}  # fmt: skip


def params_of(told: Mapping[str, object], defaults: Params) -> Params:
    """Params as they were stored; what was left open is as whoever runs the dream has it set. Raises Permanent naming what is wrong."""
    try:
        known = {name: convert(told[name]) for name, convert in _PARAMS.items() if told.get(name) is not None}
        return replace(defaults, **known)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise Permanent(f"the params of this dream are not those of this version ({error}): request it again") from error


def _text(told: object) -> str:
    if not isinstance(told, str):
        raise ValueError(f"{told!r} is no text")
    return told


def _number(told: object) -> float:
    if isinstance(told, bool) or not isinstance(told, int | float):
        raise ValueError(f"{told!r} is no number")
    return told


def _whole(told: object) -> int:
    if isinstance(told, bool) or not isinstance(told, int):
        raise ValueError(f"{told!r} is no whole number")
    return told


def _yes(told: object) -> bool:
    if not isinstance(told, bool):
        raise ValueError(f"{told!r} is neither true nor false")
    return told


def _names(told: object) -> frozenset[str]:
    if not isinstance(told, list):
        raise ValueError(f"{told!r} is no list of names")
    return frozenset(map(_text, told))


_PARAMS: Mapping[str, Callable[[object], object]] = {
    "engine": _text, "since": lambda told: datetime.fromisoformat(_text(told)), "dry_run": _yes, "trusted": _names, "skew_s": _number,
    "change_share_max": _number, "budget_uusd": _whole, "batch": _yes, "instructions": _text,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The live parts of one process. `now` is the only clock; `git_times` and `step` are the outside world's and the failure tests' way in.

    `defaults` is what this process does where a request left it open. `engine` is the one it dreams with unless told otherwise, `engines` make others by the
    name a dream asks for them by, `means` is how those that ask a model do so. `audience` is whom is said to what is taken in here, `keep` for how long
    what is old is kept. `hands` are other processes of this machine that help with much work; one of them `helps`, and leaves to the process it works for
    what one has to do alone.
    """

    store: Store
    archive: Blobs
    redactor: Redactor
    engine: Engine
    readers: Sequence[Reader]
    now: Callable[[], datetime]
    holder: str
    git_times: Callable[[Path], Mapping[str, datetime]] | None = None
    step: Callable[[str], None] = lambda _: None
    progress: Progress = silent
    defaults: Params = Params()
    engines: Mapping[str, Callable[[Params], Engine]] = field(default_factory=dict)
    means: Means | None = None
    audience: str = ""
    keep: Keep = FOR_EVER
    hands: Hands | None = None
    helps: bool = False

    def has(self, engine: object) -> bool:
        """Whether this process can dream with the engine a dream asks for; None is for no one in particular."""
        return engine is None or engine in self.engines or engine == family(self.engine)

    def engine_for(self, params: Params) -> Engine:
        """The engine of a dream that is worked on here (`has` says whether it can be)."""
        make = self.engines.get(params.engine)
        return self.engine if make is None else make(params)

    def serving(self, params: Params) -> Parts:
        """The same parts with the engine of a dream."""
        engine = self.engine_for(params)
        return self if engine is self.engine else replace(self, engine=engine)


def family(engine: Engine) -> str:
    """An engine's name without its version: what a dream asks for."""
    return engine.name.split("/", 1)[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One dream as it was asked for on this host: what decides it, and where things lie here.

    `paths` and `notes` are read, `wiki` is the folder to publish into, `exclude` is never read. `mine`: what is changed in that folder is the person's word.
    `instructions` are read, too; None where nobody knows which they are: those of the last dream count.
    """

    scope: str
    paths: tuple[str, ...]
    wiki: Path
    wiki_id: str
    host: str
    notes: tuple[Path, ...] = ()
    cause: str = "command"
    exclude: tuple[str, ...] = ()
    mine: bool = False
    params: Params = Params()
    instructions: Instructed | None = None
