"""The store as callers see it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from pipelines.store.audiences import Audiences
from pipelines.store.batches import Batches
from pipelines.store.beliefs import Beliefs
from pipelines.store.claiming import Claiming
from pipelines.store.costs import Costs
from pipelines.store.dreams import Dreams
from pipelines.store.forget import Forget
from pipelines.store.health import Health
from pipelines.store.intake import Intake
from pipelines.store.jobs import Jobs
from pipelines.store.kin import Kinship
from pipelines.store.leases import Leases
from pipelines.store.letters import Letters
from pipelines.store.online import Online
from pipelines.store.open import Busy, open_engines
from pipelines.store.own_words import OwnWords
from pipelines.store.pages import Pages
from pipelines.store.processes import Processes
from pipelines.store.projection import Projection
from pipelines.store.rates import Rates
from pipelines.store.retain import Retain
from pipelines.store.running import Running
from pipelines.store.schedules import Schedules
from pipelines.store.search import Search
from pipelines.store.speakers import Speakers
from pipelines.store.sweep import Sweeping


class Store(
    Schedules,
    Letters,
    Intake,
    Audiences,
    Speakers,
    Kinship,
    Online,
    Beliefs,
    Dreams,
    Pages,
    OwnWords,
    Search,
    Sweeping,
    Claiming,
    Jobs,
    Leases,
    Processes,
    Projection,
    Running,
    Rates,
    Batches,
    Costs,
    Health,
    Retain,
    Forget,
):
    """One database of scopes. Every method is one transaction; `scope` is always the scope's path."""


def open_store(url: str, *, now: Callable[[], datetime], setting: str = "the store's place in the settings", busy: Busy | None = None) -> Store:
    """Open, and make or migrate when needed, the store a URL names ("sqlite:////path/store.db").

    Raises StoreTooNew, StoreDamaged, StoreMisplaced (all Refused, naming the path) or StoreUnavailable. `setting` is named where a person has to move
    the store. `now` gives the current time in UTC; it is only ever recorded, or compared with validity where a method says so. `busy`
    is told once by a write that waits long for another process on SQLite.
    """
    return Store(open_engines(url, setting=setting, now=now, busy=busy), now=now)
