"""What a person takes back is told nowhere: neither by the lines of their own files that it bore out or corrected, nor by those that rest on it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.conftest import Command
from tests.writing import ClaudeLog

OWN = """# Notes

- The API listens on port 8080.
- The API is written in Go.
- We keep audit logs for 30 days.
- The cache is called wren.
"""


@pytest.fixture
def home(dreamd: Command, tmp_path: Path) -> Command:
    """A person whose note file says 8080 where a session says 9090, and rightly 30 days."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "MEMORY.md").write_text(OWN, encoding="utf-8")
    ClaudeLog("one").user("The API listens on port 9090.").user("We keep audit logs for 30 days.").save(tmp_path / "logs")
    assert dreamd("dream", tmp_path / "logs", "--notes", tmp_path / "notes")[0] == 0
    return dreamd


def note_saying(dreamd: Command, *words: str) -> str:
    """The id of dreamd's own note of these words; a line of the person's file may have them, too."""
    hits = json.loads(dreamd("search", *words, "--json")[1])["hits"]
    (uid,) = (h["uid"] for h in hits if h["kind"] == "note" and h["standing"] == "confirmed" and h["text"] == " ".join(words))
    return f"n-{uid}"


def told(tmp_path: Path) -> str:
    """What a session is told, and the pages of topics."""
    beside = {"inbox.md", "recent.md"}
    return "\n".join(p.read_text("utf-8") for p in sorted((tmp_path / "wiki").glob("*.md")) if p.name not in beside)


def inbox(tmp_path: Path) -> str:
    return (tmp_path / "wiki" / "inbox.md").read_text("utf-8")


def test_what_a_correction_taken_back_said_and_what_it_corrected_are_told_no_more(home: Command, tmp_path: Path) -> None:
    assert "9090" in told(tmp_path)
    note = note_saying(home, "The", "API", "listens", "on", "port", "9090.")
    assert home("retract", note)[0] == 0
    assert "9090" not in told(tmp_path)
    assert "8080" not in told(tmp_path)
    assert "The API listens on port 8080. (you took back what speaks for it or against it)" in inbox(tmp_path)
    assert home("notes", "diff")[1].count("9090") == 0
    assert home("revert", note)[0] == 0
    assert "9090" in told(tmp_path)


def test_a_line_that_rests_on_what_was_taken_back_is_checked_again_and_others_stay(home: Command, tmp_path: Path) -> None:
    home("retract", note_saying(home, "The", "API", "listens", "on", "port", "9090."))
    assert "written in Go" not in told(tmp_path)
    assert "The API is written in Go. (what it rests on is not believed any more)" in inbox(tmp_path)
    assert "The cache is called wren." in told(tmp_path)
    assert "We keep audit logs for 30 days." in told(tmp_path)


def test_a_line_that_only_what_was_taken_back_bore_out_is_checked_again(home: Command, tmp_path: Path) -> None:
    home("retract", note_saying(home, "We", "keep", "audit", "logs", "for", "30", "days."))
    assert "30 days" not in told(tmp_path)
    assert "We keep audit logs for 30 days. (you took back what speaks for it or against it)" in inbox(tmp_path)


def test_a_line_that_names_a_note_by_its_id_falls_with_it(home: Command, tmp_path: Path) -> None:
    audit = note_saying(home, "We", "keep", "audit", "logs", "for", "30", "days.")
    (tmp_path / "notes" / "MEMORY.md").write_text(f"{OWN}- Backups run on Fridays, see {audit}.\n", encoding="utf-8")
    home("dream", tmp_path / "logs", "--notes", tmp_path / "notes")
    assert "Backups run on Fridays" in told(tmp_path)
    home("retract", audit)
    assert "Backups run on Fridays" not in told(tmp_path)
    assert "Backups run on Fridays" in inbox(tmp_path)
