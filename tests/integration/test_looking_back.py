"""`--as-of` and `--known-at` on the command line: search, why, brief, export."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.integration.conftest import Command
from tests.writing import ClaudeLog
from worker import wiring

MAR, JUN = datetime(2026, 3, 2, 9, 0, tzinfo=UTC), datetime(2026, 6, 1, 9, 0, tzinfo=UTC)


@pytest.fixture
def clocked(dreamd: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    """Logs are kept 30 days since March, believed in April; 90 days since June, believed in July; it is August."""

    def clock(at: datetime) -> None:
        monkeypatch.setattr(wiring, "utc_now", lambda: at)

    logs = tmp_path / "logs"
    ClaudeLog("one", at=MAR).user("We keep audit logs for 30 days.").save(logs)
    clock(datetime(2026, 4, 1, tzinfo=UTC))
    assert dreamd("dream", logs)[0] == 0
    ClaudeLog("two", at=JUN).user("We keep audit logs for 90 days because the auditors ask for it.").save(logs)
    clock(datetime(2026, 7, 1, tzinfo=UTC))
    assert dreamd("dream", logs)[0] == 0
    clock(datetime(2026, 8, 1, 12, 0, tzinfo=UTC))
    return dreamd


def test_search_says_once_that_it_looks_back_and_tells_what_was_true(clocked: Command) -> None:
    code, said, _ = clocked("search", "audit", "logs", "--as-of", "2026-05-01")
    assert code == 0
    assert said.splitlines()[0] == "as it was true on 1 May 2026 (UTC)"
    assert said.count("as it was true") == 1
    assert "30 days" in said
    assert "90 days" not in said
    assert "90 days" in clocked("search", "audit", "logs")[1]


def test_known_at_tells_what_was_believed(clocked: Command) -> None:
    code, said, _ = clocked("search", "audit", "logs", "--known-at", "2026-05-01")
    assert (code, said.splitlines()[0]) == (0, "as it was believed on 1 May 2026 (UTC)")
    assert "30 days" in said
    assert "90 days" not in said
    assert clocked("search", "audit", "logs", "--known-at", "2026-03-15")[1].splitlines()[1:] == ["nothing found"]


def test_both_are_combined_and_json_carries_them(clocked: Command) -> None:
    code, said, _ = clocked("search", "audit", "logs", "--as-of", "2026-06-15T08:00", "--known-at", "2026-06-20", "--json")
    told = json.loads(said)
    assert code == 0
    assert told["looking_back"] == {"as_of": "2026-06-15T08:00:00+00:00", "known_at": "2026-06-20T23:59:59.999999+00:00"}
    assert {h["text"] for h in told["hits"] if h["kind"] == "note"} == {"We keep audit logs for 30 days."}, "nobody knew of June's change yet"
    assert "looking_back" not in json.loads(clocked("search", "audit", "--json")[1])


def test_why_brief_and_export_look_back_too(clocked: Command, tmp_path: Path) -> None:
    note = next(h["uid"] for h in json.loads(clocked("search", "audit", "--json")[1])["hits"] if h["kind"] == "note")
    code, said, _ = clocked("why", note, "--as-of", "2026-05-01")
    assert code == 0
    assert said.splitlines()[0] == "as it was true on 1 May 2026 (UTC)"
    assert "confirmed until 2026-06-01" in said
    assert "30 days" in said
    brief = clocked("brief", "--as-of", "2026-05-01")[1]
    assert "30 days" in brief
    assert "90 days" not in brief
    assert "90 days" in clocked("brief")[1]
    file = tmp_path / "then.jsonl"
    code, said, _ = clocked("export", file, "--known-at", "2026-05-01")
    assert (code, said.strip()) == (0, f"{file} holds 1 note of local, as it was believed on 1 May 2026 (UTC)")
    first, only, last = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    assert (first["dreamd"], first["known_at"]) == ("notes", "2026-05-01T23:59:59.999999+00:00")
    assert (only["statement"], only["status"], only["valid_until"]) == ("We keep audit logs for 30 days.", "confirmed", None)
    assert [e["quote"] for e in only["evidence"]] == ["We keep audit logs for 30 days."]
    assert last == {"end": True, "notes": 1}


def test_a_note_that_said_nothing_then_is_named(clocked: Command) -> None:
    note = next(h["uid"] for h in json.loads(clocked("search", "audit", "--json")[1])["hits"] if h["kind"] == "note")
    code, _, said = clocked("why", note, "--as-of", "2026-01-01")
    assert code == 3
    assert "says nothing of that time" in said


BAD = [
    ("soon", "is no date"),
    ("2026-13-01", "is no date"),
    ("20260501", "is no date"),
    ("2026-08-02", "is yet to come"),
    ("2026-08-01T13:00", "is yet to come"),
]


def test_a_bad_or_future_date_is_named_with_its_option(clocked: Command) -> None:
    for option in ("--as-of", "--known-at"):
        for value, why in BAD:
            code, said, error = clocked("search", "x", option, value)
            assert (code, said) == (2, ""), value
            assert option in error
            assert f"'{value}'" in error
            assert why in error


def test_a_day_lasts_to_its_end_in_the_zone_of_the_settings(clocked: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """1 June 2026 ends in Auckland (UTC+12) at 12:00 UTC, after the turn of 09:00 UTC; in New York (UTC-4) 31 May ends at 04:00 UTC of 1 June."""
    monkeypatch.setenv("DREAMD_ZONE", "Pacific/Auckland")
    told = json.loads(clocked("search", "audit", "logs", "--as-of", "2026-06-01", "--json")[1])
    assert told["looking_back"]["as_of"] == "2026-06-01T11:59:59.999999+00:00"
    monkeypatch.setenv("DREAMD_ZONE", "America/New_York")
    told = json.loads(clocked("search", "audit", "logs", "--as-of", "2026-05-31", "--json")[1])
    assert told["looking_back"]["as_of"] == "2026-06-01T03:59:59.999999+00:00"
    assert clocked("search", "audit", "--as-of", "2026-08-01")[0] == 0, "today is no day to come"


def test_a_look_back_dates_a_note_by_what_had_been_said_and_marks_what_was_learned_later(dreamd: Command, tmp_path: Path) -> None:
    for name, at in (("one", MAR), ("two", JUN)):
        ClaudeLog(name, at=at).user("The staging server is called heron.").save(tmp_path / "logs")
    assert dreamd("dream", tmp_path / "logs")[0] == 0
    (note,) = (x for x in dreamd("search", "heron", "--as-of", "2026-05-01")[1].splitlines() if x.startswith("n-"))
    assert "2026-03-02" in note
    assert "2026-06-01" in next(x for x in dreamd("search", "heron")[1].splitlines() if x.startswith("n-"))
    proofs = [x for x in dreamd("why", note.split()[0], "--as-of", "2026-05-01")[1].splitlines() if "user: “" in x]
    assert [("2026-03-02" in x, "learned later" in x) for x in proofs] == [(True, False), (False, True)]
    assert "learned later" not in dreamd("why", note.split()[0])[1]
