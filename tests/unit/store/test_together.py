"""Several writing methods in one transaction."""

from __future__ import annotations

import threading

import pytest

from pipelines.model import Ruling
from pipelines.store import Store
from tests.contracts.store_kinds import clock, store  # noqa: F401


def ruling(uid: str) -> Ruling:
    return Ruling(uid=uid, verb="keep", target="note")


def uids(store: Store) -> set[str]:  # noqa: F811
    return {r.uid for r in store.rulings("acme/web")}


def test_methods_within_together_are_all_kept(store: Store) -> None:  # noqa: F811
    with store.together("rule twice"):
        store.add_ruling("acme/web", ruling("one"))
        with store.together("rule once more"):
            store.add_ruling("acme/web", ruling("two"))
        store.add_ruling("acme/web", ruling("three"))
    assert uids(store) == {"one", "two", "three"}


def test_an_error_within_together_takes_all_back(store: Store) -> None:  # noqa: F811
    store.add_ruling("acme/web", ruling("before"))
    with pytest.raises(ZeroDivisionError):
        _rule_and_break(store)
    assert uids(store) == {"before"}
    store.add_ruling("acme/web", ruling("after"))
    assert uids(store) == {"before", "after"}


def _rule_and_break(store: Store) -> None:  # noqa: F811
    with store.together("rule"):
        store.add_ruling("acme/web", ruling("one"))
        raise ZeroDivisionError


def test_nobody_sees_a_part_and_another_thread_is_no_part(store: Store) -> None:  # noqa: F811
    store.add_ruling("acme/web", ruling("before"))
    other = threading.Thread(target=store.add_ruling, args=("acme/web", ruling("theirs")))
    with store.together("rule"):
        store.add_ruling("acme/web", ruling("one"))
        assert uids(store) == {"before"}
        other.start()
    other.join(10)
    assert uids(store) == {"before", "one", "theirs"}
