"""A line no code can correct stays wrong, and by hand, until somebody changes it, whatever became of the line that proved it wrong."""

from __future__ import annotations

import json
from datetime import UTC, datetime
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
    (told,) = [line for line in dreamd("notes", "diff")[1].splitlines() if line.startswith("by hand")]
    assert "30001" in told
    assert "Node 22" in told, "all that is wrong of a line is named"
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
    told = (tmp_path / "wiki/MEMORY.md").read_text(encoding="utf-8")
    assert "Foundry on port 30001, CI on Node 22" in told
    facts = told.partition("## Facts and decisions")[2].partition("\n## ")[0]
    assert "- The local Foundry server runs on port 30001" in facts
    assert (facts.count("30001"), facts.count("Node 22")) == (1, 1), "the file's line and the note that was learnt say it once"


def test_a_line_without_a_verb_is_judged_where_its_subject_and_attribute_are_those_of_what_was_said(dreamd: Command, tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    folder.mkdir()
    body = "# Facts\n\n- The local Foundry server runs on port 30000.\n- Dev server: Foundry on port 30000\n- Staging: Foundry on port 30000\n- Foundry on port 30000, CI on Node 18\n"
    (folder / "facts.md").write_text(body, encoding="utf-8")
    log = tmp_path / "log.jsonl"
    said = ClaudeLog("one").user("No, the local Foundry server runs on port 30001, not 30000.").assistant("I see.").user("CI runs on Node 22 now.")
    log.write_text(said.text(), encoding="utf-8")
    assert dreamd("dream", log, "--notes", folder)[0] == 0
    assert [line["line"] for line in _by_hand(dreamd)] == [6]
    for _ in range(2):
        waits = (tmp_path / "wiki/inbox.md").read_text(encoding="utf-8")
        assert "Dev server: Foundry on port 30000 (it rests on a note that was corrected)" in waits
        assert "Staging: Foundry" not in waits
        assert "Dev server: Foundry" not in (tmp_path / "wiki/facts.md").read_text(encoding="utf-8")
        assert dreamd("notes", "apply")[0] == 0


def test_status_counts_the_lines_that_stand_and_a_report_what_is_still_in_the_file(dreamd: Command, folder: Path, tmp_path: Path) -> None:
    def counted() -> int:
        return sum(json.loads(dreamd("status", "--json")[1])["online"].values())

    assert counted() == 5
    for args in (["apply"], ["apply", "--undo"], ["apply"]):
        assert dreamd("notes", *args)[0] == 0
        assert counted() == 5
    (report,) = (tmp_path / "wiki/journal").glob("*.md")
    told = report.read_text(encoding="utf-8")
    assert "You said" not in told, "nobody said anything since the first dream"
    assert "(still in `memory/dev_server.md`" not in told, "the file says it rightly by now"
    assert "(then in `memory/dev_server.md` line 3)" in told
    assert (folder / "dev_server.md").read_text(encoding="utf-8") != FILE


def test_looking_back_a_line_dreamd_wrote_into_a_file_is_no_older_than_what_proved_it(dreamd: Command, tmp_path: Path) -> None:
    folder, logs = tmp_path / "memory", tmp_path / "logs"
    folder.mkdir()
    (folder / "facts.md").write_text("# Facts\n\n- The staging port is 8080.\n- The proxy port is 7000.\n- Ana reviews deploys.\n", encoding="utf-8")
    ClaudeLog("one", at=datetime(2026, 3, 2, 9, 0, tzinfo=UTC)).user("The staging port is 8080.").user("Ana reviews deploys.").save(logs)
    ClaudeLog("two", at=datetime(2026, 6, 1, 9, 0, tzinfo=UTC)).user("The staging port is 9090, not 8080.").user("The proxy port is 7001, not 7000.").save(logs)
    assert dreamd("dream", logs, "--notes", folder)[0] == 0
    assert "(wrong in" not in dreamd("brief", "--as-of", "2026-05-01")[1], "nobody had said so yet"
    assert dreamd("notes", "apply")[0] == 0
    assert "9090" in (folder / "facts.md").read_text(encoding="utf-8")
    then = dreamd("brief", "--as-of", "2026-05-01")[1]
    assert "9090" not in then
    assert "Ana reviews deploys" in then
    assert "9090" in dreamd("brief", "--as-of", "2026-07-01")[1]
