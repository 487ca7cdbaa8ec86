"""What is to be done is decided by pure functions: moves from what stands to what is wanted, and the guard over them."""

from __future__ import annotations

from typing import Any

import pytest

from pipelines.store.apply import Move, Stands, held, moves, shrinking


def stands(slot: str = "a", *, status: str = "confirmed", content: str = "c", statement: str = "s", closing: bool = False) -> Stands:
    return Stands(id=hash(slot) % 1000, slot=slot, status=status, closing=closing, content=content, statement=statement, value=None)


def told(slot: str = "a", *, status: str = "confirmed", content: str = "c", statement: str = "s") -> dict[str, Any]:
    return {"slot": slot, "status": status, "content": content, "statement": statement, "value": None}


def test_what_stands_as_wanted_moves_nothing() -> None:
    assert moves([stands("a"), stands("b", closing=True)], [told("a")]) == ()


def test_a_wanted_slot_replaces_what_stands_in_it_closed_or_not() -> None:
    for old in (stands(content="old"), stands(closing=True)):
        assert moves([old], [told()]) == (Move(told(), old),)


def test_a_new_slot_replaces_nothing_and_an_unwanted_one_ends() -> None:
    assert moves([stands("a")], [told("b")]) == (Move(told("b"), None), Move(None, stands("a")))


@pytest.mark.parametrize(
    ("move", "endangers"),
    [
        (Move(told(content="d"), stands()), False),
        (Move(told(statement="other"), stands()), True),
        (Move(told(status="superseded"), stands()), True),
        (Move(None, stands()), True),
        (Move(None, stands(status="draft")), False),
        (Move(told(statement="other"), stands(status="draft")), False),
        (Move(told(), None), False),
        (Move(told(statement="other"), stands(closing=True)), False),
    ],
)
def test_only_the_loss_or_change_of_a_confirmed_statement_endangers(move: Move, endangers: bool) -> None:
    assert move.endangers is endangers


@pytest.mark.parametrize(("lost", "confirmed", "kept"), [(5, 8, 0), (6, 8, 6), (10, 100, 0), (11, 100, 11)])
def test_the_guard_holds_all_endangered_notes_above_share_and_floor(lost: int, confirmed: int, kept: int) -> None:
    plans = {f"n{i}": [Move(None, stands())] for i in range(lost)} | {"new": [Move(told(), None)]}
    assert len(held(plans, confirmed=confirmed, max_share=0.1, floor=5)) == kept


def test_a_page_holds_what_it_would_lose_once_that_is_two_facts_and_more_than_a_quarter() -> None:
    page = {"p": frozenset("abcdefgh"), "q": frozenset("xy"), "r": frozenset("z")}
    assert shrinking(page, frozenset("ab")) == frozenset(), "a quarter"
    assert shrinking(page, frozenset("abc")) == frozenset("abc")
    assert shrinking(page, frozenset("abxyz")) == frozenset("xy"), "one fact alone may go"
