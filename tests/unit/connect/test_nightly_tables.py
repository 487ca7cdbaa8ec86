"""The dream of every night, as systemd, launchd and cron are told of it; nothing is run here."""

from __future__ import annotations

import configparser
import plistlib
from pathlib import Path

import pytest

from pipelines.errors import Refused
from worker.connect.nightly import crontab_with, crontab_without, installed, kind_of

COMMAND = ["/opt/my apps/100%/dreamd"]
HOME, DATA = Path("/home/ana"), Path("/home/ana/.local/share/dreamd")


def test_each_machine_is_told_in_its_own_way() -> None:
    assert [kind_of("darwin", has_systemd=False), kind_of("linux", has_systemd=True), kind_of("linux", has_systemd=False), kind_of("freebsd14", has_systemd=False)] == [
        "launchd", "systemd", "crontab", "crontab",
    ]  # fmt: skip


def test_a_systemd_user_timer_runs_the_command_whole_and_makes_up_for_a_night_that_was_missed() -> None:
    done = installed("systemd", command=COMMAND, home=HOME, config_home=HOME / ".config", data=DATA)
    folder = HOME / ".config/systemd/user"
    assert set(done.files) == {folder / "dreamd-nightly.service", folder / "dreamd-nightly.timer"}
    units = {}
    for path, text in done.files.items():
        units[path.suffix] = configparser.ConfigParser(interpolation=None)
        units[path.suffix].read_string(text)
    assert units[".service"]["Service"]["ExecStart"] == '"/opt/my apps/100%%/dreamd" dream --pending'
    assert units[".service"]["Service"]["Environment"] == f"DREAMD_DATA_DIR={DATA}"
    assert units[".timer"]["Timer"]["Persistent"] == "true"
    assert units[".timer"]["Install"]["WantedBy"] == "timers.target"
    assert done.then[-1] == ("systemctl", "--user", "enable", "--now", "dreamd-nightly.timer")
    assert done.undo == (("systemctl", "--user", "disable", "--now", "dreamd-nightly.timer"),)
    with pytest.raises(Refused):
        installed("systemd", command=["a\nb"], home=HOME, config_home=HOME, data=DATA)


def test_a_launchd_agent_is_a_property_list() -> None:
    done = installed("launchd", command=COMMAND, home=HOME, config_home=HOME / ".config", data=DATA, options=["--config=/x.toml"])
    ((path, text),) = done.files.items()
    said = plistlib.loads(text.encode())
    assert path == HOME / "Library/LaunchAgents/dev.dreamd.nightly.plist"
    assert said["ProgramArguments"] == [*COMMAND, "dream", "--pending", "--config=/x.toml"]
    assert set(said["StartCalendarInterval"]) == {"Hour", "Minute"}


@pytest.mark.parametrize("table", ["", "MAILTO=ana\n0 1 * * * backup\n", "0 1 * * * backup"])
def test_a_crontab_gets_one_line_and_loses_it_again(table: str) -> None:
    line = installed("crontab", command=COMMAND, home=HOME, config_home=HOME, data=DATA).line
    assert line.split()[:5] == ["17", "3", "*", "*", "*"]
    assert r"100\%" in line, "cron takes a bare % for the end of the line"
    once = crontab_with(table, line)
    assert crontab_with(once, line) == once
    assert once.count("dreamd-nightly") == 1
    assert crontab_without(once).rstrip("\n") == table.rstrip("\n")
