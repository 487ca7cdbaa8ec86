"""The store: tables, migrations and queries; the only place that knows SQL.

`open_store` gives one `Store`, whose parts are modules by idea: what logs said (intake, reading), what was read in it (claims), online notes, dreams and the
beliefs they move, pages, search. Values of `model` and `ports` go in and come out; rows never leave.
"""

from pipelines.store.faults import StoreDamaged, StoreMisplaced
from pipelines.store.holder import alive, this_process
from pipelines.store.store import Store, open_store
from pipelines.store.values import (
    Applied,
    BeliefChange,
    Change,
    ClaimRelation,
    Counts,
    Decision,
    Delivery,
    Dream,
    DreamRunning,
    FindingChange,
    GatedClaim,
    Head,
    Match,
    PageHead,
    Placement,
    Reader,
    Receipt,
    RecordedDecision,
    Redirect,
    Revision,
    WikiState,
)  # fmt: skip

__all__ = [
    "Applied", "BeliefChange", "Change", "ClaimRelation", "Counts", "Decision", "Delivery", "Dream", "DreamRunning", "FindingChange", "GatedClaim",
    "Head", "Match", "PageHead", "Placement", "Reader", "Receipt", "RecordedDecision", "Redirect", "Revision", "Store", "StoreDamaged",
    "StoreMisplaced", "WikiState", "alive", "open_store", "this_process",
]  # fmt: skip
