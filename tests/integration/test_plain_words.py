"""What commands say in plain words where a person would be left with a number, an id or a traceback."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NoReturn

import pytest

from pipelines.store import ScopeHealth
from tests.integration.test_projects import Home as Desktop
from tests.paying import Home
from tests.writing import ClaudeLog
from worker import cli, wiring
from worker.cli.output import stalled
from worker.engines import dollars
from worker.projects import root_of

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A folder with one session."""
    ClaudeLog("one").user("From now on always run make lint before you push.").assistant("ok").save(tmp_path / "logs")
    return tmp_path / "logs"


def now_is(monkeypatch: pytest.MonkeyPatch, day: int) -> None:
    at = datetime(2026, 4, day, 3, tzinfo=UTC)
    monkeypatch.setattr(wiring, "utc_now", lambda: at)


# --- journal -----------------------------------------------------------------------------------------------------------------------------


def test_the_journal_says_in_one_line_that_later_dreams_changed_nothing(dreamd: Command, logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now_is(monkeypatch, 1)
    assert dreamd("dream", logs)[0] == 0
    report = dreamd("journal")[1]
    assert report.startswith("# Dream of 1 Apr 2026\n")
    now_is(monkeypatch, 3)
    ClaudeLog("two", at=datetime(2026, 3, 4, tzinfo=UTC)).user("thanks a lot").assistant("You are welcome.").save(logs)
    assert dreamd("dream", logs)[0] == 0
    code, out, _ = dreamd("journal")
    said, _, rest = out.partition("\n\n")
    assert (code, said) == (0, "The dream since then changed nothing, the last of 2026-04-03 03:00 UTC. The newest report is that of 2026-04-01:")
    assert rest == report
    assert dreamd("journal", "2026-04-03")[:2] == (0, "The dream of 2026-04-03 changed nothing.\n")
    assert dreamd("journal", "2026-04-02")[0] == 3
    assert json.loads(dreamd("journal", "--json")[1])["quiet"].startswith("The dream since then")


def test_a_wiki_whose_dreams_changed_nothing_yet_has_a_journal_that_says_so(dreamd: Command, tmp_path: Path) -> None:
    ClaudeLog("one").user("hi").assistant("Hello.").save(tmp_path / "logs")
    dreamd("dream", tmp_path / "logs")
    code, out, _ = dreamd("journal")
    assert (code, out.startswith("The dream since the beginning changed nothing, the last of ")) == (0, True)


def test_quiet_dreams_warn_only_when_something_could_be_believed() -> None:
    assert stalled(ScopeHealth(scope="s", unpromoted=3, eligible=0), 3) == stalled(ScopeHealth(scope="s", unpromoted=2, eligible=4), 3) == ""
    told = "3 quiet dreams in a row confirmed nothing although 4 claims passed all gates and are not believed: dreamd doctor says what to do"
    assert stalled(ScopeHealth(scope="s", unpromoted=3, eligible=4), 3) == told


def test_status_and_journal_tell_the_warning(dreamd: Command, logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dreamd("dream", logs)
    monkeypatch.setattr("worker.cli.status.stalled", lambda of, most: f"{of.scope} is quiet, at most {most}")
    monkeypatch.setattr("worker.cli.journal.stalled", lambda of, most: f"{of.scope} is quiet, at most {most}")
    assert "\nlocal is quiet, at most 3\n" in dreamd("status")[1]
    assert dreamd("journal")[1].startswith("local is quiet, at most 3\n\n# Dream of ")


# --- what was not read -------------------------------------------------------------------------------------------------------------------


def test_bad_records_are_named_with_file_line_and_reason(dreamd: Command, logs: Path) -> None:
    (log,) = logs.iterdir()
    with log.open("a") as file:
        file.write("{this is no record}\n" + ClaudeLog("one").user("Always sign off commits.").text())
    assert "1 bad (dreamd status --bad names them)" in dreamd("dream", logs)[1]
    assert "; 1 bad record, named by dreamd status --bad\n" in dreamd("status")[1]
    code, out, _ = dreamd("status", "--bad")
    first, last = out.splitlines()
    assert (code, first.startswith(f"{log} line 3: "), last) == (0, True, "1 record could not be read; the rest of each log was")
    assert json.loads(dreamd("status", "--bad", "--json")[1])["records"][0]["line"] == 3


def test_without_bad_records_none_are_spoken_of(dreamd: Command, logs: Path) -> None:
    assert " bad" not in dreamd("dream", logs)[1]
    assert "bad record" not in dreamd("status")[1]
    assert dreamd("status", "--bad")[:2] == (0, "every record could be read\n")


# --- money -------------------------------------------------------------------------------------------------------------------------------


def test_a_rehearsal_that_paid_for_calls_says_what_it_spent(home: Home) -> None:
    code, out, _ = home.dream("--budget", "1", "--dry-run")
    assert code == 0
    spent = home.told("costs")["total"]["uusd"]
    assert spent
    assert f"No note and no page was changed (--dry-run), but its calls were made: {dollars(spent)} spent, and their answers kept." in out


def test_a_rehearsal_that_cost_nothing_says_nothing_of_money(dreamd: Command, logs: Path) -> None:
    assert "No note and no page was changed (--dry-run). To apply it as it is: dreamd apply " in dreamd("dream", logs, "--dry-run")[1]


# --- the current project -------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def desktop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desktop:
    """A home with a project that Claude Code keeps a log of."""
    path = tmp_path / "home"
    (path / ".claude").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.delenv("CODEX_HOME", raising=False)
    root_of.cache_clear()
    return Desktop(path)


def test_an_estimate_without_a_path_is_over_the_current_project(desktop: Desktop, dreamd: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    web = desktop.repository("web")
    desktop.claude(web, "one", "From now on always run make lint before you push.")
    monkeypatch.delenv("DREAMD_WIKI")
    monkeypatch.chdir(web)
    code, out, _ = dreamd("estimate")
    assert (code, out.startswith("1 session to read, 1 with something typed")) == (0, True)
    assert "A budget that lasts: dreamd dream --engine claude --budget " in out
    assert not (desktop.path / "dreamd").exists()
    monkeypatch.chdir(desktop.repository("empty"))
    assert dreamd("estimate")[0] == 2


def test_dreamd_alone_says_who_deletes_the_oldest_log_and_when(desktop: Desktop, dreamd: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    web = desktop.repository("web")
    log = desktop.claude(web, "one", "hello")
    lost = datetime.fromtimestamp(Path(log).stat().st_mtime, tz=UTC) + timedelta(days=30)
    monkeypatch.chdir(web)
    said = f"Claude Code deletes a log 30 days after its last line, the first of these on {lost:%Y-%m-%d}; what a dream has read is kept\n"
    assert said in dreamd()[1]


# --- the disk ----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [("connect", "claude-code"), ("dream", "logs"), ("remember", "We", "deploy", "on", "Mondays.")])
def test_a_data_folder_that_cannot_be_written_is_one_plain_line(
    desktop: Desktop, dreamd: Command, logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:  # fmt: skip
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    code, out, err = dreamd(*words)
    assert (code in {1, 3}, out) == (True, "")
    assert err.startswith("dreamd: ")
    assert err.count("\n") == 1
    assert str(tmp_path / "file") in err or "no wiki" in err


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_full_disk_is_told_in_one_line_although_the_system_names_no_file(dreamd: Command, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def full(command: str | None = None) -> NoReturn:
        raise OSError(number, os.strerror(number))  # as a write into an open file raises it

    monkeypatch.setattr(cli, "app_of", full)
    code, out, err = dreamd("status")
    assert (code, out, err.count("\n"), "Traceback" in err) == (3, "", 1, False)
    assert "full" in err
    assert "make room" in err


def test_a_brief_too_short_doctors_engine_and_ticks_are_told_in_plain_words(dreamd: Command, logs: Path, tmp_path: Path) -> None:
    assert dreamd("dream", logs)[0] == 0
    code, _, err = dreamd("brief", "--budget", "200")
    assert (code, "a brief needs 1000 characters at least, 200 are too few" in err) == (2, True)
    assert "ask no model, since claude has neither a budget" in dreamd("doctor")[1]


def test_what_was_ticked_in_the_inbox_is_said_by_whoever_takes_it(dreamd: Command, tmp_path: Path) -> None:
    log = ClaudeLog("a").user("Build the client.").assistant("How?").user("Don't use spaces in the Makefile.").assistant("ok")
    log.user("Don't touch the legacy folder.").save(tmp_path / "more")
    assert dreamd("dream", tmp_path / "more")[0] == 0
    place = tmp_path / "wiki" / "inbox.md"
    rows = place.read_text(encoding="utf-8").splitlines(keepends=True)
    assert any("legacy" in row for row in rows)
    place.write_text("".join(row for row in rows if "legacy" not in row), encoding="utf-8")
    assert dreamd("review")[2] == "taken from inbox.md: 1 rejected\n"
    assert "taken from" not in dreamd("review")[2]


def test_why_says_once_that_no_line_decides(dreamd: Command, logs: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "ports.md").write_text("# Ports\n\n- The scheduler wakes every 17 minutes.\n", encoding="utf-8")
    assert dreamd("dream", logs, "--notes", notes)[0] == 0
    name = next(row.split()[0] for row in dreamd("search", "scheduler wakes")[1].splitlines() if row.startswith("n-"))
    told = dreamd("why", name)[1]
    assert told.count("(no line decides)") + told.count("(no log)") == 1, told
