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
