"""Numbers that moved on inside one folder, found without any log."""

from __future__ import annotations

import pytest

from pipelines.notes.folder import read_text
from pipelines.notes.stale import stale_numbers
from tests.writing import memory


def notes_of(*files: tuple[str, str, str]):  # type: ignore[no-untyped-def]
    """(name, day or nothing, body) → notes."""
    texts = ((name, memory(name, body, **({"modified": day} if day else {}))) for name, day, body in files)
    return [n for name, text in texts for n in read_text(text, folder="memory", path=f"{name}.md")[1]]


def test_of_three_test_counts_the_newest_stays_and_the_others_are_named() -> None:
    notes = notes_of(
        ("tdd", "2026-01-05", "- PASS: 1948 tests passing after the change."),
        ("ship", "2026-02-01", "Suite: 2129 tests green."),
        ("weapons", "2026-01-20", "- All 2,000 tests pass."),
    )
    found = stale_numbers(notes)
    assert [(s.counted.path, s.counted.value, s.newest.value if s.newest else None) for s in found] == [
        ("tdd.md", "1948", "2129"), ("weapons.md", "2000", "2129")
    ]  # fmt: skip


def test_without_dates_all_are_named_and_none_is_taken_for_the_newest() -> None:
    found = stale_numbers(notes_of(("a", "", "The suite has 120 tests in all."), ("b", "", "The suite has 140 tests in all.")))
    assert [(s.counted.value, s.newest) for s in found] == [("120", None), ("140", None)]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Work on plan 11 is done and merged.", "Work on plan 12 is done and merged."),
        ("The API listens on port 8080.", "The web client listens on port 8080."),
        ("Barrel-exported, 3 tests.", "Barrel-exported, 2 tests."),
        ("Released as 1.2.3 to all users.", "Released as 1.2.4 to all users."),
    ],
)
def test_names_with_numbers_and_different_things_are_no_stale_counts(one: str, two: str) -> None:
    assert stale_numbers(notes_of(("a", "2026-01-01", one), ("b", "2026-01-02", two))) == ()


def test_where_one_file_has_them_all_the_last_is_the_newest() -> None:
    found = stale_numbers(notes_of(("log", "", "- All 1948 tests pass.\n- Deploys are slow.\n- All 2129 tests pass.\n- All 2000 tests pass.")))
    assert [(s.counted.value, s.newest.value if s.newest else None) for s in found] == [("1948", "2000"), ("2129", "2000")]
    dated = stale_numbers(notes_of(("old", "2026-01-01", "All 900 tests pass."), ("log", "2026-01-02", "- All 1948 tests pass.\n- All 2129 tests pass.")))
    assert [(s.counted.value, s.newest.value if s.newest else None) for s in dated] == [("1948", "2129"), ("900", "2129")]
