"""The store: tables, migrations and queries; the only place that knows SQL.

`open_store` gives one `Store`, whose parts are modules by idea: what logs said (intake, reading), what was read in it (claims), online notes, dreams and the
beliefs they move, pages, search; and work: what was asked for (requests), jobs and who claimed them (jobs, claiming), leases, repair (sweep),
when scopes dream by themselves (schedules), messages nobody could act on (letters), and how well all of it goes (health);
and money: what models answered (answers), the calls that brought it (calls, batches), what may be spent (budgets) and what was (costs).
Values of `model` and `ports` go in and come out; rows never leave.
"""

from pipelines.store.faults import StoreDamaged, StoreMisplaced
from pipelines.store.holder import alive, host_of, owner_of, process_of, this_process
from pipelines.store.letters import Letter
from pipelines.store.measured import Folder, Measured, ProcessHealth, ScopeHealth, Spread, duration
from pipelines.store.money import BATCH_OPEN, Answer, Batch, BatchState, Budget, CallsPaused, CostRow, Intended, Kept, Limit, OpenCall, Reserved
from pipelines.store.pages import PageMark
from pipelines.store.schedules import Schedule, Waiting
from pipelines.store.shown import Moves, PageWords, Render, Shown, ShownItem, ShownLink, ShownPage, ShownSession
from pipelines.store.speakers import Spoken, with_word
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
    NamedReading,
    PageHead,
    Placement,
    Reader,
    Receipt,
    RecordedDecision,
    Redirect,
    Revision,
    WikiState,
)  # fmt: skip
from pipelines.store.work import HOSTED, REVERT, STAGES, Asked, Audited, DreamState, Job, Lease, Swept, Unit, Worker, is_whole

__all__ = [
    "BATCH_OPEN",
    "HOSTED",
    "REVERT",
    "STAGES",
    "Answer",
    "Applied",
    "Asked",
    "Audited",
    "Batch",
    "BatchState",
    "BeliefChange",
    "Budget",
    "CallsPaused",
    "Change",
    "ClaimRelation",
    "CostRow",
    "Counts",
    "Decision",
    "Delivery",
    "Dream",
    "DreamRunning",
    "DreamState",
    "FindingChange",
    "Folder",
    "GatedClaim",
    "Head",
    "Intended",
    "Job",
    "Kept",
    "Lease",
    "Letter",
    "Limit",
    "Match",
    "Measured",
    "Moves",
    "NamedReading",
    "OpenCall",
    "PageHead",
    "PageMark",
    "PageWords",
    "Placement",
    "ProcessHealth",
    "Reader",
    "Receipt",
    "RecordedDecision",
    "Redirect",
    "Render",
    "Reserved",
    "Revision",
    "Schedule",
    "ScopeHealth",
    "Shown",
    "ShownItem",
    "ShownLink",
    "ShownPage",
    "ShownSession",
    "Spoken",
    "Spread",
    "Store",
    "StoreDamaged",
    "StoreMisplaced",
    "Swept",
    "Unit",
    "Waiting",
    "WikiState",
    "Worker",
    "alive",
    "duration",
    "host_of",
    "is_whole",
    "open_store",
    "owner_of",
    "process_of",
    "this_process",
    "with_word",
]  # fmt: skip
