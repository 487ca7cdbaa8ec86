"""Queries for one changed group go by index, so they cost the same in a scope of a hundred notes and of a hundred thousand (SQLite's own words for it)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import event

from pipelines.model import Status
from pipelines.ports import Ask, Reply, Usage
from pipelines.store import Limit, Reader, Store, this_process
from tests.contracts.store_builders import DAY, SCOPE, batch, belief, claim, gated, start_dream, turn, version
from tests.contracts.store_kinds import clock, store

__all__ = ["clock", "store"]  # fixtures of this suite

SMALL = {"scopes", "store", "dreams", "CONSTANT"}  # a row a scope, a row a dream, no row at all


def linear(step: str) -> bool:
    """Whether a step of a plan looks at every row of a table or of a scope, or at every version up to a revision."""
    return (step.startswith("SCAN") or step.endswith(("(scope_id=?)", "(scope_id=? AND rev<?)"))) and step.split()[1] not in SMALL


def fill(store: Store) -> None:
    store.commit_intake(SCOPE, batch(*(turn(f"t{i}", ordinal=i) for i in range(20))))
    store.save_reading(SCOPE, "s1", engine="local/1", digest="d", claims=[gated(claim())])
    dream = start_dream(store, SCOPE, cause="hand", holder=this_process())
    store.stage(dream, [belief("n1", version())], {"n1": ()})
    store.apply(dream, max_share=1)
    store.finish_dream(dream, "completed")


ASK = Ask(stage="extract", name="s1", body={"q": 1}, prompt="p", turns=("t1",), bound_uusd=9)
LIMITS = (Limit(kind="dream", name="d", limit_uusd=100),)


def one_call(store: Store) -> None:
    """Asked, lost, asked again and answered."""
    store.reserve(SCOPE, [ASK], dream="d", until_ms=1, limits=LIMITS)
    (call,) = store.reserve(SCOPE, [ASK], dream="d", until_ms=2**60, limits=LIMITS).calls.values()
    store.settle(SCOPE, call, Reply(text="", stop="", model="", usage=Usage(), cost_uusd=1), ASK)


def one_batch(store: Store) -> None:
    made = store.intend(SCOPE, [ASK], dream="d", until_ms=2**60, limits=LIMITS)
    assert made.batch is not None
    store.posted(made.batch.intent, "r")
    store.ended(made.batch.intent)
    store.save_results(made.batch.intent, dict.fromkeys(made.custom_ids.values(), "errored"))
    store.settled(made.batch.intent)


def one_dream(store: Store) -> None:
    dream = start_dream(store, SCOPE, cause="hand", holder=this_process())
    store.stage(
        dream, [belief("n1", version("n1", "other")), belief("n2", version("n2"))], {"n1": [h.token for h in store.heads(SCOPE, notes=["n1"])], "n2": ()}
    )
    store.apply(dream, max_share=1)
    store.finish_dream(dream, "completed")


ASKED: dict[str, Callable[[Store], Any]] = {
    "heads of a note": lambda s: s.heads(SCOPE, notes=["n1"]),
    "heads of a subject": lambda s: s.heads(SCOPE, subjects=["payments"]),
    "quarantined heads": lambda s: s.heads(SCOPE, statuses=[Status.QUARANTINED]),
    "seen": lambda s: s.seen(SCOPE, Reader(now=DAY), notes=["n1"]),
    "believed": lambda s: s.believed(SCOPE, 1, notes=["n1"]),
    "history": lambda s: s.history(SCOPE, ["n1"]),
    "next expiry": lambda s: s.next_expiry(SCOPE),
    "expire": lambda s: s.expire(SCOPE, DAY),
    "claims of a group": lambda s: s.claims_in_groups(SCOPE, ["payments|port"]),
    "claims of a block": lambda s: s.claims_in_blocks(SCOPE, ["payments"]),
    "claims by uid": lambda s: s.claims(SCOPE, [claim().uid]),
    "claims by turn": lambda s: s.quoting(SCOPE, ["t1"]),
    "relations": lambda s: s.relations(SCOPE, ["a", "b"]),
    "rulings": lambda s: s.rulings(SCOPE, ["n1"]),
    "turns": lambda s: s.turns(SCOPE, ["t1"]),
    "a session": lambda s: s.turns_of(SCOPE, "s1"),
    "occurrences": lambda s: s.occurrences(SCOPE, ["t1"]),
    "order": lambda s: s.order(SCOPE, ["t1"]),
    "decisions of a note": lambda s: s.decisions(SCOPE, note="n1"),
    "a reading": lambda s: s.save_reading(SCOPE, "s1", engine="local/2", digest="e", claims=[gated(claim("other"))]),
    "growth of a log": lambda s: s.commit_intake(SCOPE, batch(turn("t99", ordinal=99), turn("t1", ordinal=1), after=batch().after, expected=(0, 1000))),
    "a dream of one note": one_dream,
    "our lines": lambda s: s.are_our_lines(SCOPE, ["m"]),
    "our pages": lambda s: s.is_ours(SCOPE, "d"),
    "answers": lambda s: s.answers(SCOPE, [("d", 1)]),
    "a call": one_call,
    "a batch": one_batch,
    "requests in batches": lambda s: s.in_batches(SCOPE, [("d", 1)]),
    "calls without an end": lambda s: s.open_calls(SCOPE),
    "costs of a dream": lambda s: s.costs(SCOPE, dream="d", by=("stage",)),
}


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
@pytest.mark.parametrize("asked", sorted(ASKED))
def test_nothing_is_scanned_for_one_group(store: Store, asked: str) -> None:
    fill(store)
    scans: list[str] = []

    def explain(conn: Any, _cursor: object, sql: str, parameters: Any, _context: object, many: bool) -> None:
        if sql.split(None, 1)[0] in {"SELECT", "UPDATE", "DELETE"}:
            cursor = conn.connection.driver_connection.execute(f"EXPLAIN QUERY PLAN {sql}", parameters[0] if many else parameters)
            ends = "SELECT max(" in sql  # SQLite goes to the end of the index, whatever its plan says
            scans.extend(f"{row[3]}: {sql}" for row in cursor if linear(row[3]) and not ends)

    for engine in (store.engines.read, store.engines.write):
        event.listen(engine, "before_cursor_execute", explain)
    ASKED[asked](store)
    assert scans == []
