"""Forgetting in the store itself: the door, answers of models, and every table that holds words."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select

from pipelines.errors import LeaseLost
from pipelines.model import Status
from pipelines.ports import Ask, Reply, Usage
from pipelines.store import Store, this_process
from pipelines.store import tables as t
from pipelines.store.forget import WIKI
from pipelines.store.reach import Choice
from tests.auditing import tables_with
from tests.contracts.store_builders import SCOPE, batch, belief, claim, gated, start_dream, turn, version
from tests.contracts.store_kinds import Killed, clock, killed_at, store
from tests.contracts.work_builders import ask as ask_for
from tests.contracts.work_builders import take

__all__ = ["clock", "store"]  # fixtures of this suite

OTHER = "acme/web/lee"
WORD = "zanzibarquux"
REACHED = {
    "answers", "blobs", "calls", "changes", "claim_blocks", "claims", "dreams", "files", "findings", "jobs", "leases", "letters", "note_versions", "online_notes",
    "own_words", "page_versions", "pages", "quotes", "read_claims", "redirects", "renders", "rulings", "schedules", "session_infos", "session_reads",
    "shown_infos", "shown_items", "shown_links", "shown_pages", "shown_sessions", "sources", "turns",
}  # fmt: skip
"""Tables with content that a forget cleans, or deletes rows of: whoever adds one adds it to `pipelines/store/forget.py` first, then here."""


class Nothing:
    """An archive with nothing in it."""

    def put(self, data: bytes) -> str:
        raise AssertionError("nothing is put")

    def get(self, address: str) -> bytes:
        raise AssertionError("nothing is asked for")


def filled(store: Store, scope: str = SCOPE) -> None:
    """A turn with a word nobody else says, a claim and a note that rest on it, and one more turn."""
    store.commit_intake(scope, batch(turn("t1", f"the port is {WORD}"), turn("t2", "the host is up", session="s2", ordinal=1)))
    store.save_reading(scope, "s1", engine="local/1", digest="d", claims=[gated(claim(statement=f"the port is {WORD}"))])
    dream = start_dream(store, scope, cause="hand", holder=this_process())
    store.stage(
        dream,
        [belief("n1", version(statement=f"the port is {WORD}", status=Status.CONFIRMED, claims=(claim(statement=f"the port is {WORD}").uid,)))],
        {"n1": ()},
    )
    store.apply(dream, max_share=1)
    store.finish_dream(dream, "completed")


def forget(store: Store, scope: str = SCOPE, *, dies: bool = False) -> None:
    with store.together("forget", sees=True):
        gone = store.forget(scope, Choice(sessions=frozenset({"s1"})), Nothing(), hand="test")
        store.finish_dream(gone.dream, "completed")
        if dies:
            raise Killed


def test_every_table_that_holds_words_is_one_a_forget_knows() -> None:
    with_words = {name for name, table in t.metadata.tables.items() if any(c.info["holds"] == "content" for c in table.columns)}
    assert with_words == REACHED


def test_what_outlives_a_forget_are_ids_counts_and_keyed_digests(store: Store) -> None:
    filled(store)
    assert tables_with(store, WORD)
    forget(store)
    assert tables_with(store, WORD) == []
    with store.reading("look") as conn:
        assert conn.scalar(select(func.count()).select_from(t.grants)) == 0
        assert conn.scalar(select(t.scopes.c.forget_epoch).where(t.scopes.c.path == SCOPE)) == 1
    assert [r.counts["turns"] for r in store.receipts(SCOPE)] == [1]


def test_another_scope_keeps_the_same_words(store: Store) -> None:
    filled(store)
    filled(store, OTHER)
    forget(store)
    with store.reading("look") as conn:
        assert conn.scalar(select(func.count()).select_from(t.turns).where(t.turns.c.body.contains(WORD))) == 1
    assert [h.version.note for h in store.heads(OTHER)] == ["n1"]


@pytest.mark.parametrize("share", [0.6])
def test_killed_before_any_statement_nothing_is_gone_and_the_door_is_shut(store: Store, share: float) -> None:
    filled(store)
    before = tables_with(store, WORD)
    with killed_at(store.engines.write, 10_000) as ran, pytest.raises(Killed):
        forget(store, dies=True)
    with killed_at(store.engines.write, int(len(ran) * share)), pytest.raises(Killed):
        forget(store)
    assert tables_with(store, WORD) == before
    with store.reading("look") as conn:
        assert conn.scalar(select(func.count()).select_from(t.grants)) == 0
    forget(store)
    assert tables_with(store, WORD) == []


def asked(name: str = "a") -> Ask:
    return Ask(stage="extract", name=name, body={"q": name, "model": "small"}, prompt="p1", turns=("t1",), bound_uusd=10)


def reply() -> Reply:
    return Reply(text=f"it is {WORD}", stop="end_turn", model="small-1", usage=Usage(input=10, output=1), cost_uusd=4)


def test_an_answer_that_comes_after_a_forget_is_booked_and_not_kept(store: Store) -> None:
    filled(store)
    here, late = asked("here"), asked("late")
    held = store.reserve(SCOPE, [here, late], dream="d", until_ms=store.now().year * 10**12, limits=())
    store.settle(SCOPE, held.calls[here.digest, 1], reply(), here)
    assert store.answers(SCOPE, [(here.digest, 1)])
    forget(store)
    store.settle(SCOPE, held.calls[late.digest, 1], reply(), late)
    assert store.answers(SCOPE, [(here.digest, 1), (late.digest, 1)]) == {}
    assert tables_with(store, WORD) == []
    with store.reading("look") as conn:
        assert sorted(conn.scalars(select(t.calls.c.cost_uusd))) == [4, 4]


def test_a_unit_that_was_canceled_by_a_forget_asks_nobody_any_more(store: Store) -> None:
    filled(store)
    ask_for(store, "r1")
    job = take(store)
    forget(store)
    with pytest.raises(LeaseLost):
        store.reserve(SCOPE, [asked()], dream=job.dream.uid, until_ms=10**15, limits=(), job=job.id)


def test_what_one_scope_has_cleaned_another_still_has_to(store: Store) -> None:
    for scope in (SCOPE, OTHER):
        filled(store, scope)
        forget(store, scope)
    store.cleaned(SCOPE, WIKI, "")
    assert (WIKI, "") not in store.leftovers(SCOPE)
    assert (WIKI, "") in store.leftovers(OTHER), "its folder shows the forgotten words until it is published"
