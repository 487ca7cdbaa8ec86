"""A line no code can correct stays wrong, and by hand, until somebody changes it, whatever became of the line that proved it wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.conftest import Command
from tests.writing import ClaudeLog

INDEX = "# Memory\n\n- [Dev server](dev_server.md) — Foundry on port 30000, CI on Node 18\n- [Team](team.md) — Ana reviews\n"
FILE = "# Dev server\n\n- The local Foundry server runs on port 30000.\n- CI runs on Node 18.\n"


@pytest.fixture
def folder(dreamd: Command, tmp_path: Path) -> Path:
    """A folder of notes, an index and a file, both wrong twice, after the dream that proved it."""
    folder = tmp_path / "memory"
    folder.mkdir()
    (folder / "MEMORY.md").write_text(INDEX, encoding="utf-8")
    (folder / "dev_server.md").write_text(FILE, encoding="utf-8")
    (folder / "team.md").write_text("# Team\n\n- Ana reviews deploys.\n", encoding="utf-8")
    log = tmp_path / "log.jsonl"
    said = ClaudeLog("one").user("No, the local Foundry server runs on port 30001, not 30000.").assistant("I see.").user("CI runs on Node 22 now.")
    log.write_text(said.text(), encoding="utf-8")
    assert dreamd("dream", log, "--notes", folder)[0] == 0
    return folder


def _by_hand(dreamd: Command) -> list[dict[str, object]]:
    return [line for file in json.loads(dreamd("notes", "diff", "--json")[1])["files"] for line in file["by_hand"]]


def test_an_index_line_stays_wrong_once_the_file_it_points_to_was_corrected(dreamd: Command, folder: Path, tmp_path: Path) -> None:
    before = _by_hand(dreamd)
    assert [line["line"] for line in before] == [3]
    assert dreamd("notes", "apply")[0] == 0
    assert (folder / "dev_server.md").read_text(encoding="utf-8") == FILE.replace("30000", "30001").replace("18", "22")
    assert _by_hand(dreamd) == before
    told = (tmp_path / "wiki/MEMORY.md").read_text(encoding="utf-8")
    pages = told.partition("## Pages")[2]
    assert "Node 18" not in pages
    assert "port 30000" not in pages
    (folder / "MEMORY.md").write_text(INDEX.replace("30000", "30001").replace("18", "22"), encoding="utf-8")
    assert dreamd("dream", "--notes", folder)[0] == 0
    assert _by_hand(dreamd) == []
    assert "Foundry on port 30001, CI on Node 22" in (tmp_path / "wiki/MEMORY.md").read_text(encoding="utf-8")


def test_a_line_wrong_twice_is_told_with_both_that_hold(dreamd: Command, folder: Path) -> None:
    assert folder.exists()
    _, out, _ = dreamd("notes", "diff")
    (told,) = [line for line in out.splitlines() if line.startswith("by hand")]
    assert "30001" in told
    assert "Node 22" in told
