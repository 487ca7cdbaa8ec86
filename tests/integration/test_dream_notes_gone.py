"""A notes folder with nothing in it is not a folder whose notes were all taken back."""

from __future__ import annotations

from tests.dreaming import Desk
from tests.writing import ClaudeLog


def test_notes_stay_when_their_folder_is_empty_and_it_is_said(desk: Desk) -> None:
    ClaudeLog("gone").user("Please look at the gate.").save(desk.logs)
    desk.note("gate.md", "# Gate\n\n- The gate opens at six.\n- The gate closes at ten.\n")
    desk.dream()
    before = desk.pages()
    (desk.notes / "gate.md").unlink()
    ClaudeLog("later").user("And now at the fence.").save(desk.logs)
    outcome = desk.dream()
    assert desk.pages() == before
    assert [r.why for r in outcome.report.refused if r.path.startswith("notes")] == ["no note is left here: is the folder mounted? its notes stay as they were"]
    desk.note("fence.md", "# Fence\n\n- The fence is green.\n")
    desk.dream()
    assert "gate.md" not in desk.pages()
    assert "The fence is green." in desk.pages()["fence.md"]


def test_a_file_that_only_a_log_shows_being_written_is_cited_by_the_line_that_writes_it(desk: Desk) -> None:
    desk.note("gate.md", "# Gate\n\n- The gate opens at six.\n")
    log = ClaudeLog("writes").user("Please look at the gate.").write("/home/ana/.claude/projects/-w/memory/fence.md", "# Fence\n\n- The fence is green.\n")
    log.save(desk.logs)
    desk.dream()
    fence, gate = desk.pages()["fence.md"], desk.pages()["gate.md"]
    written = next(n for n, line in enumerate(log.text().splitlines(), 1) if "fence is green" in line)
    assert "Carried from `memory/fence.md` as a log shows it written, 2 Mar 2026. 1 line, unsupported." in fence
    assert f"line {written}, 2 Mar 2026 09:01 UTC, assistant, writes `memory/fence.md`, its log says nothing else of it" in fence
    assert "/home/ana" not in fence
    assert "sources: 1 session\n" in fence
    assert "Carried from `notes/gate.md`" in gate
    assert "`notes/gate.md` line 3" in gate
