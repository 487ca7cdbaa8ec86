"""Writing a person's note files and giving them their bytes back, file by file."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from worker import note_files
from worker.note_files import Change, undo, write

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def applied(tmp_path: Path, *, days: int, **files: tuple[str, str]) -> None:
    """One apply that writes these files, each from its first words to its second."""
    changes = []
    for name, (before, after) in files.items():
        path = tmp_path / f"{name}.md"
        path.write_text(before, encoding="utf-8")
        changes.append(Change(path=path, before=before.encode(), after=after.encode()))
    assert not write(tmp_path / "private", changes, at=AT + timedelta(days=days)).left


def told(tmp_path: Path) -> dict[str, str]:
    return {p.stem: p.read_text(encoding="utf-8") for p in tmp_path.glob("*.md")}


def test_undo_gives_back_what_can_be_names_what_cannot_and_goes_on_to_the_apply_before(tmp_path: Path) -> None:
    applied(tmp_path, days=0, cave=("old", "new"))
    applied(tmp_path, days=1, port=("5432", "5433"), owner=("Ana", "Lee"))
    (tmp_path / "owner.md").unlink()
    done = undo(tmp_path / "private")
    assert done is not None
    assert (done.written, [p for p, _ in done.left]) == ((tmp_path / "port.md",), [tmp_path / "owner.md"])
    (why,) = (w for _, w in done.left)
    assert why.startswith("it is gone")
    kept = Path(why.rpartition(" kept in ")[2])
    assert kept.read_text(encoding="utf-8") == "Ana"
    assert told(tmp_path) == {"port": "5432", "cave": "new"}
    assert undo(tmp_path / "private") == note_files.Done(written=(tmp_path / "cave.md",))
    assert told(tmp_path) == {"port": "5432", "cave": "old"}
    assert undo(tmp_path / "private") is None
    assert kept.read_text(encoding="utf-8") == "Ana", "nothing is lost"


def test_undo_that_could_not_write_a_file_tries_it_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    applied(tmp_path, days=0, port=("5432", "5433"))

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(os, "fsync", full)
        done = undo(tmp_path / "private")
    assert done is not None
    assert [why.partition(";")[0] for _, why in done.left] == ["No space left on device"]
    assert undo(tmp_path / "private") == note_files.Done(written=(tmp_path / "port.md",))
    assert told(tmp_path) == {"port": "5432"}
