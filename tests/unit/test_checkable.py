"""The benchmark over checkable items, on a data folder of two items written here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.benchmarks.checkable import measure
from tests.redacting import shared_redactor

QUESTION = {
    "question_id": "q1",
    "haystack_session_ids": ["first", "second"],
    "haystack_dates": ["2026/03/02 (Mon) 10:00", "2026/03/09 (Mon) 10:00"],
    "haystack_sessions": [
        [{"role": "user", "content": "I live in Porto."}, {"role": "assistant", "content": "Noted, a fine harbour."}],
        [{"role": "user", "content": "Which apples keep longest?"}, {"role": "user", "content": "I moved from Porto to Lisbon."}],
    ],
}
CURRENT = {
    "set": "longmemeval", "split_key": "q1", "kind": "current_value", "qid": "q1", "question": "To which city have I moved?", "gold": ["Lisbon"],
    "evidence": [{"session": "first", "turn": 0}, {"session": "second", "turn": 1}], "gold_in": [{"session": "second", "turn": 1}],
}  # fmt: skip
CORRECTION = {
    "set": "memory_history", "split_key": "own", "kind": "note_correction", "qid": "n1", "question": "", "gold": ["- The server listens on port 9090."],
    "old": ["- The server listens on port 8080."],
}  # fmt: skip


def test_each_item_is_answered_by_search_beliefs_or_relate(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    file = tmp_path / "data" / "longmemeval" / "oracle_dev" / "own.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(QUESTION) + "\n", encoding="utf-8")
    table = measure([CURRENT, CORRECTION], tmp_path / "data", tmp_path / "desks", shared_redactor(request))
    assert table == {
        ("note_correction", "memory_history", "relate: seen as a change"): [("n1", True)],
        ("note_correction", "memory_history", "relate: not taken for the same"): [("n1", True)],
        ("current_value", "longmemeval", "beliefs: a confirmed note holds it"): [("q1", True)],
        ("current_value", "longmemeval", "beliefs: a note or draft holds it"): [("q1", True)],
        ("current_value", "longmemeval", "search: answer among the first 1"): [("q1", True)],
        ("current_value", "longmemeval", "search: answer among the first 5"): [("q1", True)],
        ("current_value", "longmemeval", "search: answer among the first 10"): [("q1", True)],
        ("current_value", "longmemeval", "search: all evidence among the first 10"): [("q1", True)],
    }


def test_what_no_note_says_is_not_believed(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    file = tmp_path / "data" / "longmemeval" / "oracle_dev" / "own.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(QUESTION) + "\n", encoding="utf-8")
    old = {**CURRENT, "gold": ["Porto"], "gold_in": [{"session": "first", "turn": 0}]}
    table = measure([old], tmp_path / "data", tmp_path / "desks", shared_redactor(request))
    assert table["current_value", "longmemeval", "beliefs: a confirmed note holds it"] == [("q1", False)]
