"""Every write is all or nothing: killed before any of its statements it leaves every table as it was, and done again it succeeds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select

from pipelines.model import BadSpan, OrderKey, Place, Question, Quote, Ruling, Status
from pipelines.model import Basis as B
from pipelines.ports import Segment
from pipelines.store import Delivery, Placement, Store, this_process
from pipelines.store import tables as t
from tests.contracts.store_builders import DAY, SCOPE, batch, belief, claim, gated, online, source, start_dream, turn, version
from tests.contracts.store_kinds import Killed, clock, killed_at, store

__all__ = ["clock", "store"]  # fixtures of this suite

GROWN = batch(
    turn("t1", "the port is 5433, and more"), turn("t2", ordinal=1), turn("t3", session="s2"), after=source(offset=2000), expected=(0, 1000),
    bad=(BadSpan(place=Place(line=3, offset=1300, length=7), reason="torn"),), segments=(Segment(offset=1000, length=1000, blob="b", raw_mac="m"),),
    notes=(online("o9"),),
)  # fmt: skip
ORDER = [OrderKey(known=True, at=DAY, session="s1", ordinal=0, uid="t1", basis=B.STATED)]
ASKED = [Question(text="which?", quotes=(Quote(turn="t1", start=0, end=3, text="the"),))]

WRITES: dict[str, Callable[[Store], Any]] = {
    "intake": lambda s: s.commit_intake(SCOPE, GROWN),
    "reading": lambda s: s.save_reading(SCOPE, "s1", engine="local/2", digest="e", claims=[gated(claim("other"))], questions=ASKED),
    "order": lambda s: s.save_order(SCOPE, ORDER),
    "online notes": lambda s: s.save_online_notes(SCOPE, "mem", [online("o2")]),
    "ruling": lambda s: s.add_ruling(SCOPE, Ruling(uid="r1", verb="keep", target="n1")),
    "expiry": lambda s: s.expire(SCOPE, DAY),
    "staging": lambda s: s.stage(s.dreams(SCOPE)[0], [belief("n9", version("n9"))], {"n9": ()}),
    "ending": lambda s: s.finish_dream(s.dreams(SCOPE)[0], "completed"),
    "page": lambda s: s.commit_page(SCOPE, "p1", slug="new", title="New", body="b", rev=2, renderer="r", line_macs=["m"]),
    "retiring": lambda s: s.retire_page(SCOPE, "p1", rev=2, into="p2"),
    "placements": lambda s: s.save_placements(SCOPE, 2, [Placement(note="n1", page="p1", section="Facts")]),
    "delivery": lambda s: s.record_delivery(SCOPE, Delivery(session="s1", door="hook", target="brief", rev=1, versions=(), at=DAY)),
    "first words of a scope": lambda s: s.commit_intake("acme/web/lee", batch(turn("t1"))),
}


def fill(store: Store) -> None:
    store.commit_intake(SCOPE, batch(turn("t1")))
    store.save_reading(SCOPE, "s1", engine="local/1", digest="d", claims=[gated(claim())])
    store.save_order(SCOPE, ORDER)
    store.save_online_notes(SCOPE, "mem", [online("o1")])
    dream = start_dream(store, SCOPE, cause="hand", holder=this_process())
    store.stage(dream, [belief("n1", version(valid_until=DAY, status=Status.DRAFT))], {"n1": ()})
    store.apply(dream, max_share=1)
    store.finish_dream(dream, "completed")
    for page, slug in (("p1", "old"), ("p2", "other")):
        store.commit_page(SCOPE, page, slug=slug, title="T", body="b", rev=1, renderer="r")
    dream = start_dream(store, SCOPE, cause="hand", holder="dead")
    store.stage(dream, [belief("n8", version("n8"))], {"n8": ()})


def everything(store: Store) -> dict[str, list[Any]]:
    """All rows of all tables."""
    with store.engines.read.begin() as conn:
        return {name: [tuple(row) for row in conn.execute(select(table).order_by(table.c.id))] for name, table in t.metadata.tables.items()}


@pytest.mark.parametrize("write", sorted(WRITES))
def test_a_write_that_dies_anywhere_leaves_no_trace(store: Store, write: str) -> None:
    fill(store)
    before = everything(store)
    for deaths in range(60):
        with killed_at(store.engines.write, deaths):
            try:
                WRITES[write](store)
            except Killed:
                assert everything(store) == before
                continue
        break
    assert 1 < deaths < 59
    assert everything(store) != before
