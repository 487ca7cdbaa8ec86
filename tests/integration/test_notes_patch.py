"""After `notes apply` the very file the next session loads says what holds; `--undo` gives the old bytes back; nobody's edit is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.conftest import Command
from tests.writing import ClaudeLog
from worker import note_files

NOTES = "# Cave\r\n\r\n- The centre is east of the cave.\r\n- The staging port is 5432.\r\n- Ana reviews deploys.\r\n"


@pytest.fixture
def notes(dreamd: Command, tmp_path: Path) -> Path:
    """A note file with two wrong lines, after a dream that proved them wrong."""
    folder = tmp_path / "memory"
    folder.mkdir()
    file = folder / "MEMORY.md"
    file.write_bytes(NOTES.encode())
    log = tmp_path / "log.jsonl"
    log.write_text(
        ClaudeLog("one").user("The centre is west of the cave, not east.").assistant("I see.").user("The staging port is 5433, not 5432.").text(),
        encoding="utf-8",
    )
    assert dreamd("dream", log, "--notes", folder)[0] == 0
    return file


def test_the_file_no_longer_says_what_is_wrong_and_undo_gives_its_bytes_back(dreamd: Command, notes: Path) -> None:
    mode = notes.stat().st_mode
    code, out, _ = dreamd("notes", "diff")
    assert (code, "-- The staging port is 5432." in out.replace("\r", ""), notes.read_bytes()) == (0, True, NOTES.encode())
    assert dreamd("notes", "apply")[0] == 0
    told = notes.read_bytes().decode()
    assert "east" not in told.replace("not east", "")
    assert "5432" not in told
    assert "- Ana reviews deploys.\r\n" in told
    assert notes.stat().st_mode == mode
    assert list(notes.parent.iterdir()) == [notes]
    assert dreamd("notes", "apply", "--undo")[0] == 0
    assert notes.read_bytes() == NOTES.encode()
    assert dreamd("notes", "apply", "--undo")[0] == 3


def test_the_next_dream_sees_the_file_fixed_and_the_brief_corrects_nothing_any_more(dreamd: Command, notes: Path, tmp_path: Path) -> None:
    assert "## Corrected" in (tmp_path / "wiki/MEMORY.md").read_text(encoding="utf-8")
    dreamd("notes", "apply")
    assert dreamd("dream", "--notes", notes.parent)[0] == 0
    told = (tmp_path / "wiki/MEMORY.md").read_text(encoding="utf-8")
    assert "## Corrected" not in told
    assert "5433" in told
    _, out, _ = dreamd("notes", "diff")
    assert "nothing the logs prove wrong" in out


def test_an_edit_made_since_is_kept_by_apply_and_by_undo(dreamd: Command, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edited = NOTES.replace("Ana", "Lee").encode()
    seen = note_files._bytes

    def meanwhile(path: Path) -> bytes | None:
        notes.write_bytes(edited)
        return seen(path)

    monkeypatch.setattr(note_files, "_bytes", meanwhile)
    code, out, _ = dreamd("notes", "apply")
    assert (code, "written to meanwhile" in out, notes.read_bytes()) == (1, True, edited)
    monkeypatch.setattr(note_files, "_bytes", seen)
    dreamd("notes", "apply")
    agents = notes.read_bytes() + b"- One more.\r\n"
    notes.write_bytes(agents)
    code, out, _ = dreamd("notes", "apply", "--undo")
    assert (code, notes.read_bytes()) == (1, agents)


def test_a_full_disk_leaves_the_file_whole(dreamd: Command, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="No space"):
        note_files._replace(notes, b"half", 0o600)
    assert notes.read_bytes() == NOTES.encode()
    assert list(notes.parent.iterdir()) == [notes]


def test_json_tells_the_same_and_folders_that_are_gone_are_named(dreamd: Command, notes: Path, tmp_path: Path) -> None:
    _, out, _ = dreamd("notes", "diff", "--json")
    files = json.loads(out)["files"]
    assert [f["path"] for f in files] == [str(notes)]
    assert len(files[0]["corrected"]) + len(files[0]["by_hand"]) == 2
    notes.parent.rename(tmp_path / "elsewhere")
    code, _, err = dreamd("notes", "diff")
    assert (code, "--notes" in err) == (3, True)


SUPERFLUOUS = "# Memory\n\n- All 1948 tests pass. Deploys take an hour.\n- Ana reviews every deploy.\n- All **2129** tests pass.\n  - not on Windows\n- All 2000 tests pass.\n- Ana reviews every deploy.\n"


def test_numbers_with_a_newer_one_and_what_is_said_twice_are_taken_out_and_come_back(dreamd: Command, tmp_path: Path) -> None:
    file = tmp_path / "memory/notes.md"
    file.parent.mkdir()
    file.write_text(SUPERFLUOUS, encoding="utf-8")
    log = tmp_path / "log.jsonl"
    log.write_text(ClaudeLog("one").user("All 1948 tests pass.").user("Build the client.").text(), encoding="utf-8")
    assert dreamd("dream", log, "--notes", file.parent)[0] == 0
    wiki = tmp_path / "wiki"
    assert "1948" not in (wiki / "MEMORY.md").read_text(encoding="utf-8")
    assert "*number out of date: 2000 in notes.md line 7*" in "".join(p.read_text(encoding="utf-8") for p in wiki.glob("*.md"))
    (report,) = (wiki / "journal").glob("*.md")
    assert "2 lines hold a number that is out of date and not told: `dreamd notes diff`" in report.read_text(encoding="utf-8")
    code, out, _ = dreamd("notes", "diff")
    assert code == 0
    assert "2 lines to take out" in out
    assert "1 place to take out by hand" in out, "a line that another stands below"
    assert dreamd("notes", "apply")[0] == 0
    wanted = "# Memory\n\n- Deploys take an hour.\n- Ana reviews every deploy.\n- All **2129** tests pass.\n  - not on Windows\n- All 2000 tests pass.\n"
    assert file.read_text(encoding="utf-8") == wanted
    assert dreamd("notes", "apply", "--undo")[0] == 0
    assert file.read_text(encoding="utf-8") == SUPERFLUOUS
