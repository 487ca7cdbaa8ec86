"""What comes of taking back, rewording and repeating one's own words: nothing denied comes back, and every answer says what follows."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.integration.conftest import Command
from tests.writing import ClaudeLog


def told(tmp_path: Path) -> str:
    return (tmp_path / "wiki/MEMORY.md").read_text(encoding="utf-8")


def journal(tmp_path: Path) -> str:
    """The newest report of the day."""
    days = sorted((tmp_path / "wiki/journal").glob("*.md"))
    return days[-1].read_text(encoding="utf-8").partition("## Earlier that day")[0]


def note_of(dreamd: Command, words: str) -> str:
    _, out, _ = dreamd("search", words, "--json")
    return next(f"n-{h['uid']}" for h in json.loads(out)["hits"] if h["kind"] == "note")


def corrected(dreamd: Command, tmp_path: Path) -> str:
    """Dreams over a port and its correction, each in a note of its own; the id of the correction."""
    old, new = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    old.write_text(ClaudeLog("one").user("Redis runs on port 6379.").text(), encoding="utf-8")
    new.write_text(ClaudeLog("two").later(days=3).user("no, that is wrong. The Redis cache runs on port 6380, not 6379").text(), encoding="utf-8")
    dreamd("dream", old, new)
    assert "Redis runs on port 6379" not in told(tmp_path)
    return note_of(dreamd, "Redis cache 6380")


def test_taking_back_a_correction_brings_no_value_back_that_it_denied(dreamd: Command, tmp_path: Path) -> None:
    note = corrected(dreamd, tmp_path)
    code, out, _ = dreamd("retract", note)
    assert code == 0
    assert "The Redis cache runs on port 6380, not 6379 → (nothing)" in out
    assert f"dreamd revert {note}" in out
    assert "6379" not in told(tmp_path)
    assert "6380" not in told(tmp_path)
    report = journal(tmp_path)
    assert "Learnt" not in report
    assert "The Redis cache runs on port 6380, not 6379 → (nothing)" in report
    dreamd("dream", tmp_path / "old.jsonl", tmp_path / "new.jsonl")
    assert "6379" not in told(tmp_path)
    assert dreamd("rebuild")[0] == 0
    assert "6379" not in told(tmp_path)


def test_reverting_what_was_taken_back_brings_the_correction_back(dreamd: Command, tmp_path: Path) -> None:
    note = corrected(dreamd, tmp_path)
    before = told(tmp_path)
    dreamd("retract", note)
    assert dreamd("revert", note)[0] == 0
    assert told(tmp_path) == before


def test_a_value_said_again_after_its_correction_was_taken_back_stands(dreamd: Command, tmp_path: Path) -> None:
    dreamd("retract", corrected(dreamd, tmp_path))
    assert dreamd("remember", "Redis runs on port 6379.")[0] == 0
    assert "Redis runs on port 6379." in told(tmp_path)


def test_a_value_of_its_own_stands_beside_one_that_was_taken_back(dreamd: Command, tmp_path: Path) -> None:
    """What a person took back is in nobody's way afterwards: a result of lower standing is believed again."""
    note = corrected(dreamd, tmp_path)
    dreamd("retract", note)
    dreamd("remember", "The Redis cache runs on port 6381.")
    assert "6381" in told(tmp_path)


def test_a_sentence_that_replaces_another_says_so_and_is_known_the_second_time(dreamd: Command, tmp_path: Path) -> None:
    corrected(dreamd, tmp_path)
    dreamd("remember", "The staging port is 5433.")
    code, out, _ = dreamd("remember", "The staging port is 6000.")
    assert code == 0
    assert "replaces: The staging port is 5433." in out
    new = note_of(dreamd, "staging port 6000")
    assert f"(dreamd revert {new} brings it back)" in out
    reports = journal(tmp_path)
    code, out, _ = dreamd("remember", "The staging port is 6000.")
    assert (code, "Known already" in out, new in out) == (0, True, True)
    assert journal(tmp_path) == reports
    assert json.loads(dreamd("remember", "The staging port is 6000.", "--json")[1])["known"] is True
    assert dreamd("revert", new)[0] == 0
    assert "5433" in told(tmp_path)
    assert "6000" not in told(tmp_path)


def test_an_edit_says_the_new_words_and_the_new_id_and_the_old_id_leads_there(dreamd: Command, tmp_path: Path) -> None:
    old = corrected(dreamd, tmp_path)
    code, out, _ = dreamd("edit", old, "Sessions are kept in Memcached.")
    assert code == 0
    new = note_of(dreamd, "Memcached")
    assert new != old
    assert f"{new} says now: Sessions are kept in Memcached." in out
    assert f"(it was {old}, and dreamd why {old} leads here)" in out
    assert "6380" not in out
    assert f"edited: {new} says it now" in dreamd("why", old)[1]
    assert json.loads(dreamd("why", old, "--json")[1])["chains"][0]["reworded"] == [new]
    report = journal(tmp_path)
    assert "1 edited" in report
    assert "The Redis cache runs on port 6380, not 6379 → Sessions are kept in Memcached; undo" in report
    assert "Learnt" not in report
    assert "637" not in told(tmp_path)


def test_what_was_rejected_is_not_accepted_before_it_is_brought_back(dreamd: Command, tmp_path: Path) -> None:
    note = corrected(dreamd, tmp_path)
    assert dreamd("review", "reject", note)[0] == 0
    for verb in ("accept", "keep"):
        code, out, err = dreamd("review", verb, note)
        assert (code, out, f"dreamd revert {note}" in err) == (3, "", True)
    assert dreamd("revert", note)[0] == 0
    assert "6380" in told(tmp_path)
    assert dreamd("review", "accept", note)[0] == 0


def test_the_undo_of_a_retraction_brings_the_correction_back_and_an_echo_of_the_old_value_stays_out(dreamd: Command, tmp_path: Path) -> None:
    """What weighs less than the correction did and was heard before it was taken back is not believed in its place."""
    note = corrected(dreamd, tmp_path)
    echo = tmp_path / "echo.jsonl"
    echo.write_text(ClaudeLog("three").later(days=5).fetch("https://wiki.example/redis", "Redis runs on port 6379.").text(), encoding="utf-8")
    dreamd("dream", echo)
    before = told(tmp_path)
    dreamd("retract", note)
    assert "6379" not in told(tmp_path)
    undo = re.findall(r"`(dreamd revert \w+)`", journal(tmp_path))[0]
    assert dreamd(*undo.split()[1:])[0] == 0
    assert told(tmp_path) == before
