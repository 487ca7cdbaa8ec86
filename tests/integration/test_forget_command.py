"""dreamd forget: look, forget, list, lift; and a process killed in the middle of it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pipelines.run import forgetting
from tests.auditing import files_with
from tests.redacting import rule_cache
from tests.writing import ClaudeLog, memory

Command = Callable[..., tuple[int, str, str]]
WORD = "zanzibarquux"


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    ClaudeLog("one").user(f"The staging host is called {WORD}.").user("Always run the linter before pushing.").save(folder)
    ClaudeLog("two").later(days=1).user("The API listens on port 8080.").save(folder)
    return folder


def everywhere(tmp_path: Path) -> list[str]:
    return files_with([tmp_path / "data", tmp_path / "wiki"], WORD)


def test_look_forget_list_and_lift(dreamd: Command, logs: Path, tmp_path: Path) -> None:
    assert dreamd("dream", logs)[0] == 0
    assert everywhere(tmp_path)
    session = ClaudeLog("one").uuid
    code, out, _ = dreamd("forget", "--session", session[:12], "--dry-run", "--json")
    look = json.loads(out)
    assert (code, look["forget"], look["counts"]["turns"]) == (0, None, 2)
    assert everywhere(tmp_path)
    code, _, err = dreamd("forget", "--session", session)
    assert (code, "--yes" in err) == (2, True)
    code, out, err = dreamd("forget", "--session", session, "--yes", "--json")
    done = json.loads(out)
    assert (code, done["counts"], done["left"], err) == (0, look["counts"], [], "")
    assert any("backups" in what for what in done["beyond"])
    assert everywhere(tmp_path) == []
    assert f"{done['forget']}  " in dreamd("forget", "--list")[1]
    assert dreamd("dream", logs)[0] == 0
    assert everywhere(tmp_path) == []
    assert dreamd("forget", "--lift", done["forget"])[0] == 0
    assert dreamd("dream", logs)[0] == 0
    assert everywhere(tmp_path)
    assert json.loads(dreamd("forget", "--list", "--json")[1])["forgets"][0]["lifted"] is True


def test_what_was_remembered_by_hand_and_backups_of_note_files_go_too(dreamd: Command, logs: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "ports.md").write_text(memory("ports", f"- The API listens on port 9090.\n- The host {WORD} is old.\n"), encoding="utf-8")
    assert dreamd("dream", logs, "--notes", notes)[0] == 0
    assert dreamd("remember", f"The mail host is called {WORD}.")[0] == 0
    assert dreamd("notes", "apply")[0] == 0
    assert any("note_backups" in name for name in everywhere(tmp_path))
    assert any("said" in name for name in everywhere(tmp_path))
    code, out, err = dreamd("forget", "--subject", WORD, "--yes")
    assert (code, err) == (0, ""), out
    assert everywhere(tmp_path) == []
    assert dreamd("remember", "The mail host is called ibis.")[0] == 0
    assert everywhere(tmp_path) == []


USAGE = {
    (): "say one of", ("--session", "a", "--note", "b"): "say one of", ("--before", "soon"): "no date", ("--before", "0001-01-01T00:00+14:00"): "no date", ("--subject", " ... "): "no word", ("--scope", "a//b"): "path of names",
}  # fmt: skip
ABSENT = (("--session", "ffffffff"), ("--note", "n-ffffffffffff"), ("--subject", "nobody said this"), ("--lift", "f-none"))


def test_a_choice_that_is_none_is_a_usage_error_and_what_is_not_there_is_refused(dreamd: Command, logs: Path) -> None:
    assert dreamd("dream", logs)[0] == 0
    for words, said in USAGE.items():
        code, _, err = dreamd("forget", *words)
        assert (code, said in err) == (2, True), err
    for words in ABSENT:
        code, out, err = dreamd("forget", *words, "--yes")
        assert (code, out, err.startswith("dreamd: ")) == (3, "", True)


KILLED = """
import os, signal, sys
from pathlib import Path
from pipelines.logs.redaction import open_redactor
from pipelines.run.forgetting import forget
from pipelines.store.reach import Choice
from tests.dreaming import Desk

def step(name):
    if name == "believed":
        os.kill(os.getpid(), signal.SIGKILL)

desk = Desk(Path(sys.argv[1]), open_redactor(Path(sys.argv[2])), step=step)
with desk.store() as store:
    forget(desk.parts(store), desk.request(), Choice(subject=sys.argv[3]), hand="test")
"""


def test_a_process_killed_inside_leaves_the_door_shut_and_nothing_gone(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    from tests.dreaming import Desk
    from tests.redacting import shared_redactor

    desk = Desk(tmp_path / "desk", shared_redactor(request))
    ClaudeLog("one").user(f"The staging host is called {WORD}.").save(desk.logs)
    desk.dream()
    stood = desk.tree()
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(desk.root), str(rule_cache(request)), WORD], cwd=Path(__file__).parents[2], timeout=60, check=False
    )
    assert done.returncode == -signal.SIGKILL
    desk.dream()  # opening the store refuses a door that is left open
    assert desk.tree() == stood
    assert files_with([desk.data], WORD)


def test_a_file_beside_that_is_gone_or_cannot_be_read_keeps_no_forget_from_ending(
    dreamd: Command, logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert dreamd("dream", logs)[0] == 0
    for name in ("mine.txt", "gone.txt"):
        (tmp_path / "wiki" / name).write_text("mine", encoding="utf-8")
    failures = {"mine.txt": PermissionError(13, "Permission denied"), "gone.txt": FileNotFoundError(2, "No such file")}
    read = Path.read_bytes

    def fails(path: Path) -> bytes:
        if path.name in failures:
            raise failures[path.name]
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", fails)
    code, out, err = dreamd("forget", "--session", ClaudeLog("one").uuid, "--yes", "--json")
    left = {row["what"]: row["why"] for row in json.loads(out)["left"]}
    assert (code, left, err) == (1, {"mine.txt": "it cannot be read (Permission denied), so nobody looked whether it holds the words"}, "")
    monkeypatch.undo()
    assert files_with([tmp_path / "data", tmp_path / "wiki"], WORD) == []


def test_a_look_names_notes_and_sessions_and_the_receipt_the_same(dreamd: Command, logs: Path) -> None:
    assert dreamd("dream", logs)[0] == 0
    session = ClaudeLog("one").uuid
    code, out, _ = dreamd("forget", "--session", session, "--dry-run")
    rows = out.splitlines()
    assert (code, rows[0]) == (0, "This would be forgotten: 2 notes would go")
    assert any(row.endswith("Always run the linter before pushing. → gone") for row in rows)
    assert f"  session 2026-03-02 “The staging host is called {WORD}.” ({session[:8]}): all of it" in rows
    assert [row for row in rows if row.startswith("In all: 2 turns, 1 session, 2 statements read in them, 2 notes")]
    assert not any(word in out for word in ("page versions", "segments", "1 sessions", "decisions"))
    code, receipt, _ = dreamd("forget", "--session", session, "--yes")
    assert (code, receipt.splitlines()[0]) == (0, "Forgotten: 2 notes went")
    assert receipt.splitlines()[1:4] == rows[1:4]


def test_a_value_that_falls_back_is_shown_old_and_new(dreamd: Command, tmp_path: Path) -> None:
    ClaudeLog("a").user("The API listens on port 8080.").save(tmp_path / "logs")
    ClaudeLog("b").later(days=1).user("The API listens on port 9090 now, no longer on 8080.").save(tmp_path / "logs")
    assert dreamd("dream", tmp_path / "logs")[0] == 0
    look = json.loads(dreamd("forget", "--session", ClaudeLog("b").uuid, "--dry-run", "--json")[1])
    assert [(n["old"], n["new"]) for n in look["notes"] if n["old"] and n["new"]] == [
        ("The API listens on port 9090 now, no longer on 8080.", "The API listens on port 8080.")
    ]


def test_where_nobody_can_be_asked_it_says_so_and_a_short_id_how_much_is_enough(dreamd: Command, logs: Path) -> None:
    assert dreamd("dream", logs)[0] == 0
    code, out, err = dreamd("forget", "--session", ClaudeLog("one").uuid)
    assert (code, out, "Invalid value" in err) == (2, "", False)
    assert err.startswith("dreamd: nothing was forgotten: nobody can be asked here; add --yes")
    code, _, err = dreamd("forget", "--session", ClaudeLog("one").uuid[:4], "--dry-run")
    assert (code, "6 characters" in err) == (3, True)


def test_dreamds_own_list_of_note_folders_is_named_as_its_own(dreamd: Command, logs: Path, tmp_path: Path) -> None:
    notes = tmp_path / f"notes-{WORD}"
    notes.mkdir()
    (notes / "ports.md").write_text(memory("ports", "- The API listens on port 9090.\n"), encoding="utf-8")
    assert dreamd("dream", logs, "--notes", notes)[0] == 0
    left = json.loads(dreamd("forget", "--subject", WORD, "--yes", "--json")[1])["left"]
    assert [row["why"].split(":")[0] for row in left if row["what"].endswith("note_folders.json")] == ["dreamd's own list of the folders of notes it reads"]


class _Killed(BaseException):
    """The process ends here."""


def _killed(*_: object) -> None:
    raise _Killed


@pytest.mark.parametrize("chosen", [("--subject", WORD), ("--session", ClaudeLog("one").uuid)])
def test_a_forget_cut_off_right_behind_its_transaction_is_ended_by_the_same_words(
    dreamd: Command, logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: tuple[str, str]
) -> None:
    assert dreamd("dream", logs)[0] == 0
    if chosen[0] == "--subject":
        assert dreamd("remember", f"The mail host is called {WORD}.")[0] == 0
    with monkeypatch.context() as cut:
        cut.setattr(forgetting, "_publish", _killed)
        with pytest.raises(_Killed):
            dreamd("forget", *chosen, "--yes")
    assert everywhere(tmp_path)
    dreamd("forget", *chosen, "--yes")
    assert everywhere(tmp_path) == []
