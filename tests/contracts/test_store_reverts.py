"""What every database behind the store promises of a revert: one transaction, a dream of its own, beside one that runs."""

from __future__ import annotations

import pytest

from pipelines.errors import Conflict
from pipelines.model import Status
from pipelines.store import REVERT, Store, is_whole
from tests.contracts.store_builders import SCOPE, belief, version
from tests.contracts.store_kinds import clock, store
from tests.contracts.test_store_dreams import dream_of, said, start, tokens

__all__ = ["clock", "store"]  # fixtures of this suite


def reverted(store: Store, uid: str, *notes: str, statement: str, reads: dict[str, list[int]] | None = None) -> int | None:
    changes = [belief(note, version(note, statement)) for note in notes]
    seen = tokens(store, *notes) if reads is None else reads
    done = store.apply_at_once(SCOPE, uid=uid, params={"reverts": "dream x", "again": False}, holder="h", changes=changes, reads=seen)
    assert (done.state, done.cause, done.summary, is_whole(done.params)) == ("completed", REVERT, None, False)
    return done.applied_rev


def test_a_revert_changes_any_share_at_once_and_leaves_a_dream_that_runs_alone(store: Store) -> None:
    notes = [f"n{n}" for n in range(9)]
    dream_of(store, *notes)
    runs = start(store)
    assert reverted(store, "r1", *notes, statement="the port is 5432") == 2
    assert {statement for statement, _ in said(store).values()} == {"the port is 5432"}
    assert [(r.cause, r.dream) for r in store.revisions(SCOPE)][-1] == (REVERT, "r1")
    assert store.running(SCOPE) == runs


def test_a_running_dream_that_read_what_a_revert_moved_plans_again(store: Store) -> None:
    dream_of(store, "n1")
    runs = start(store)
    store.stage(runs, [belief("n1", version("n1", "the port is 5434"))], tokens(store, "n1"))
    reverted(store, "r1", "n1", statement="the port is 5432")
    with pytest.raises(Conflict, match="n1"):
        store.apply(runs, max_share=1.0)


def test_a_revert_of_what_has_moved_writes_nothing(store: Store) -> None:
    dream_of(store, "n1")
    old = tokens(store, "n1")
    dream_of(store, "n1", statement="the port is 5434")
    before = (said(store), store.dreams(SCOPE), store.revisions(SCOPE))
    with pytest.raises(Conflict):
        reverted(store, "r1", "n1", statement="the port is 5432", reads=old)
    assert (said(store), store.dreams(SCOPE), store.revisions(SCOPE)) == before


def test_what_a_revision_moved_is_told_with_what_stood_before(store: Store) -> None:
    dream_of(store, "n1", "n2")
    dream_of(store, "n1", statement="the port is 5434")
    after, before = store.moved(SCOPE, [2])
    assert [(h.version.note, h.version.statement) for h in after] == [("n1", "the port is 5434")]
    assert [(h.version.note, h.version.statement) for h in before] == [("n1", "the port is 5433")]
    assert {h.version.status for h in after} == {Status.CONFIRMED}
    after, before = store.moved(SCOPE, [1])
    assert ([h.version.note for h in after], before) == (["n1", "n2"], ())


def test_what_is_told_of_a_revert_is_told_once(store: Store) -> None:
    dream_of(store, "n1")
    reverted(store, "r1", "n1", statement="the port is 5432")
    dream = store.dream(SCOPE, "r1")
    store.summarise(dream, {"pages": 1})
    store.summarise(dream, {"pages": 2})
    assert store.dream(SCOPE, "r1").summary == {"pages": 1}
