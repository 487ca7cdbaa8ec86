"""Copies from before a forget: an export brought in again, a store that was restored, and what a crash left in files."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.auditing import files_with
from tests.writing import ClaudeLog

Command = Callable[..., tuple[int, str, str]]
WORD = "zanzibarquux"


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    ClaudeLog("one").user(f"The staging host is called {WORD}.").save(folder)
    ClaudeLog("two").later(days=1).user("The API listens on port 8080.").save(folder)
    return folder


def everywhere(tmp_path: Path) -> list[str]:
    return files_with([tmp_path / "data", tmp_path / "wiki", tmp_path / "other"], WORD)


def checks_of(dreamd: Command) -> set[str]:
    """The codes doctor gives that are not fine."""
    return {c["code"] for c in json.loads(dreamd("doctor", "--json")[1])["checks"] if c["state"] != "ok"}


def test_an_export_from_before_a_forget_is_brought_in_without_what_was_forgotten(dreamd: Command, logs: Path, tmp_path: Path) -> None:
    dreamd("dream", logs)
    assert dreamd("export", tmp_path / "old.zst")[0] == 0
    assert dreamd("forget", "--session", ClaudeLog("one").uuid, "--yes")[0] == 0
    assert everywhere(tmp_path) == []
    code, _, err = dreamd("import", tmp_path / "old.zst", "--wiki", tmp_path / "other")
    assert (code, "forgotten here again" in err) == (0, True)
    assert everywhere(tmp_path) == []
    assert dreamd("dream", logs, "--wiki", tmp_path / "other")[0] == 0
    assert everywhere(tmp_path) == []
    assert "8080" in dreamd("search", "port", "--wiki", tmp_path / "other")[1]


def test_a_restored_copy_forgets_again_before_it_is_worked_on_and_says_so(dreamd: Command, logs: Path, tmp_path: Path) -> None:
    dreamd("dream", logs)
    store = next((tmp_path / "data").rglob("store.db"))
    copy = tmp_path / "copy"
    copy.mkdir()
    with sqlite3.connect(store) as conn:
        conn.execute("VACUUM INTO ?", (str(copy / "store.db"),))
    conn.close()
    shutil.copytree(store.parent / "archive", copy / "archive")
    assert dreamd("forget", "--session", ClaudeLog("one").uuid, "--yes")[0] == 0
    assert "forget_missed" not in checks_of(dreamd)
    for old in store.parent.glob("store.*"):
        old.unlink()
    shutil.copyfile(copy / "store.db", store)
    shutil.rmtree(store.parent / "archive")
    shutil.copytree(copy / "archive", store.parent / "archive")
    assert everywhere(tmp_path)
    assert "forget_missed" in checks_of(dreamd)
    _, _, err = dreamd("rebuild")
    assert "forgotten here again" in err
    assert files_with([tmp_path / "data"], WORD) == []
    assert "forget_missed" not in checks_of(dreamd)
    assert "forgotten here again" not in dreamd("dream", logs, "--wiki", tmp_path / "wiki")[2]
    assert files_with([tmp_path / "data"], WORD) == []


def test_a_lifted_forget_is_not_forgotten_again(dreamd: Command, logs: Path, tmp_path: Path) -> None:
    dreamd("dream", logs)
    assert dreamd("export", tmp_path / "old.zst")[0] == 0
    done = json.loads(dreamd("forget", "--session", ClaudeLog("one").uuid, "--yes", "--json")[1])
    assert dreamd("forget", "--lift", done["forget"])[0] == 0
    code, _, err = dreamd("import", tmp_path / "old.zst", "--wiki", tmp_path / "other")
    assert (code, err) == (0, "")
    assert everywhere(tmp_path)


def test_a_damaged_list_of_forgets_is_said_and_nothing_is_worked_on(dreamd: Command, logs: Path, tmp_path: Path) -> None:
    dreamd("dream", logs)
    assert dreamd("forget", "--session", ClaudeLog("one").uuid, "--yes")[0] == 0
    told = next((tmp_path / "data" / "dreamd" / "forgotten").iterdir())
    assert WORD not in told.read_text(encoding="utf-8")
    told.write_text("{", encoding="utf-8")
    code, _, err = dreamd("dream", logs)
    assert (code, str(told) in err) == (3, True)
    assert "forget_missed" in checks_of(dreamd)


def test_what_a_crash_left_in_files_is_named_by_doctor_and_cleaned_by_the_schedule(dreamd: Command, logs: Path, tmp_path: Path) -> None:
    dreamd("dream", logs)
    with sqlite3.connect(next((tmp_path / "data").rglob("store.db"))) as conn:
        conn.execute("INSERT INTO leftovers (scope_id, what, name) SELECT id, 'space', '' FROM scopes")
    conn.close()
    assert "left_over" in checks_of(dreamd)
    assert dreamd("schedule", "--once")[0] == 0
    assert "left_over" not in checks_of(dreamd)


def test_what_is_old_goes_by_the_schedule_and_status_counts_it(dreamd: Command, logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ClaudeLog("talk", at=datetime(2024, 1, 1, tzinfo=UTC)).user(f"I had a coffee with {WORD}s, it rained a lot.").save(logs)
    dreamd("dream", logs)
    monkeypatch.setenv("DREAMD_RETENTION__TURNS_DAYS", "14")
    assert dreamd("schedule", "--once")[0] == 0
    assert json.loads(dreamd("status", "--json")[1])["no_longer_kept"]["turns"] >= 1
    assert not [path for path in files_with([tmp_path / "data"], f"{WORD}s") if "search" in path]
