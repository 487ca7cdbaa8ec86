"""`dreamd --help`: eight verbs first, then more, then plumbing, each line whole on a terminal."""

from __future__ import annotations

import re

import pytest
import typer

from worker import cli
from worker.cli.verbs import PARTS

EIGHT = ["dream", "brief", "search", "why", "review", "notes", "journal", "connect"]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """The help as a terminal of 80 columns shows it."""
    monkeypatch.setenv("COLUMNS", "80")
    assert cli.run(["--help"]) == 0
    return capsys.readouterr().out


def shown(told: str, head: str) -> list[str]:
    """The commands under a heading, in their order."""
    return re.findall(r"^  (\w+)  ", told.partition(f"\n{head}:\n")[2].partition("\n\n")[0], re.MULTILINE)


def test_the_eight_verbs_come_first_and_plumbing_last(told: str) -> None:
    assert shown(told, "Commands") == EIGHT
    assert re.findall(r"^(\w+):$", told, re.MULTILINE) == ["Options", "Commands", "More", "Plumbing"]
    assert "  --version  " in told


def test_every_command_stands_in_one_part_and_is_found_by_its_name(told: str) -> None:
    there = set(typer.main.get_command(cli.app_of()).commands)  # type: ignore[attr-defined]
    listed = [name for part in PARTS.values() for name in part]
    assert sorted(listed) == sorted(there) == sorted(cli.HOMES)
    assert [name for head in PARTS for name in shown(told, head)] == listed


def test_what_a_command_is_for_is_told_whole_on_one_line(told: str) -> None:
    for part in PARTS.values():
        for name, says in part.items():
            assert re.search(rf"^  {name} +{re.escape(says)}$", told, re.MULTILINE), name


def test_a_command_nobody_put_in_a_part_is_shown_all_the_same(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("worker.cli.verbs.PARTS", {"Commands": {"dream": "Dream."}})
    assert cli.run(["--help"]) == 0
    others = capsys.readouterr().out.partition("\nOthers:\n")[2]
    assert "  status  " in others
    assert "  dream  " not in others
