"""What a first hour asks of messages: each says what became of what was typed, what waits, and the command to go on with."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import ClassVar

import pytest

from pipelines.errors import Refused
from tests.integration.conftest import Command
from tests.writing import ClaudeLog
from worker.cli.connect import run_command


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_text(ClaudeLog("one").user("The staging port is 5433.").assistant("Yes.").user("The API host is blue-1.").text(), encoding="utf-8")
    return path


def test_what_is_remembered_with_a_doubt_says_that_it_waits_and_why(dreamd: Command, log: Path) -> None:
    dreamd("dream", log)
    _, out, _ = dreamd("remember", "Maybe we deploy on Tuesdays.")
    assert "Remembered" not in out
    assert "it was said with a maybe" in out
    (accept,) = re.findall(r"dreamd (review accept n-\w+)", out)
    assert "uesday" not in dreamd("brief")[1]
    assert dreamd(*accept.split())[0] == 0
    assert "deploy on Tuesdays" in dreamd("brief")[1]


def test_a_draft_of_ones_own_is_named_in_json_too(dreamd: Command, log: Path) -> None:
    dreamd("dream", log)
    told = json.loads(dreamd("remember", "Maybe we deploy on Tuesdays.", "--json")[1])
    assert told["waits"] == told["notes"] != []
    assert json.loads(dreamd("remember", "The web host is blue-2.", "--json")[1])["waits"] == []


def test_a_dream_says_how_much_waits_for_the_person_beside_wrong_lines(dreamd: Command, log: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "MEMORY.md").write_text("# Memory\n\n- The staging port is 5432.\n", encoding="utf-8")
    log.write_text(ClaudeLog("one").user("The staging port is 5433, not 5432.").assistant("Should the client move, too?").text(), encoding="utf-8")
    _, out, _ = dreamd("dream", log, "--notes", notes)
    assert "1 wrong line is still live" in out
    assert "1 more thing waits for you: dreamd review" in out
    assert len(json.loads(dreamd("review", "--json")[1])["first"]) == 2


def test_an_edit_that_waits_is_shown_by_the_id_the_queue_gives_it(dreamd: Command, log: Path, tmp_path: Path) -> None:
    dreamd("dream", log)
    page = next(p for p in (tmp_path / "wiki").glob("*.md") if "staging port is **5433**" in p.read_text(encoding="utf-8"))
    page.write_text(page.read_text(encoding="utf-8").replace("port is **5433**", "port is **5434**"), encoding="utf-8")
    code, out, _ = dreamd("dream", log)
    assert code == 0
    assert f"left as it is {page.name}" in out, "named although no log is new"
    (entry,) = json.loads(dreamd("review", "--json")[1])["first"]
    code, out, err = dreamd("review", "show", entry["id"])
    assert code == 0, err
    assert 'Say "The staging port is 5434."' in out
    assert "user: “The staging port is 5433.”" in out


def test_a_program_that_is_not_there_is_said_without_the_words_of_the_system() -> None:
    with pytest.raises(Refused) as error:
        run_command(("no-such-program-of-ours",))
    assert str(error.value) == "no-such-program-of-ours is not installed on this machine"


class Seen:
    """A line of progress that keeps what it was told."""

    told: ClassVar[list[str]] = []

    def __init__(self, *, quiet: bool) -> None:
        assert not quiet

    def __call__(self, what: str, done: int, total: int) -> None:
        self.told.append(what)

    def done(self) -> None:
        self.told.append("done")


def test_what_is_decided_or_said_shows_how_far_it_is_and_leaves_no_half_line(dreamd: Command, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dreamd("dream", log)
    monkeypatch.setattr("worker.cli.desk.Progress", Seen)
    assert dreamd("remember", "The web host is blue-2.")[0] == 0
    assert (Seen.told[0] != "done", Seen.told[-1]) == (True, "done")
