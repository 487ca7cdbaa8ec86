"""A dream every night without a server: a systemd user timer, a launchd agent, or a line for crontab. What is written and run is a value first."""

from __future__ import annotations

import plistlib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pipelines.errors import Refused

NAME: Final = "dreamd-nightly"
LABEL: Final = "dev.dreamd.nightly"
HOUR, MINUTE = 3, 17
"""Not on the hour, when everything else wakes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """Files to write, commands to run then, and commands that take it out again (before the files go)."""

    kind: str
    files: Mapping[Path, str]
    then: tuple[tuple[str, ...], ...] = ()
    undo: tuple[tuple[str, ...], ...] = ()
    line: str = ""


def kind_of(system: str, *, has_systemd: bool) -> str:
    """What this machine wakes programs with."""
    if system == "darwin":
        return "launchd"
    return "systemd" if has_systemd else "crontab"


def installed(kind: str, *, command: Sequence[str], home: Path, config_home: Path, data: Path, options: Sequence[str] = ()) -> Installed:
    """What a nightly dream takes on a machine of this kind; a run that was missed is made up for where the system can."""
    words = [*command, "dream", "--pending", *options]
    if kind == "systemd":
        return _systemd(words, config_home, data)
    if kind == "launchd":
        return _launchd(words, home, data)
    line = f"{MINUTE} {HOUR} * * * DREAMD_DATA_DIR={shlex.quote(str(data))} nice {shlex.join(words)} # {NAME}"
    return Installed(kind=kind, files={}, line=line.replace("%", r"\%"))


def crontab_with(table: str, line: str) -> str:
    """A crontab with our line at its end, once."""
    table = crontab_without(table)
    return f"{table}{'' if not table or table.endswith(chr(10)) else chr(10)}{line}\n"


def crontab_without(table: str) -> str:
    """A crontab without our line."""
    return "".join(x for x in table.splitlines(keepends=True) if not x.rstrip("\n").endswith(f"# {NAME}"))


def _systemd(words: Sequence[str], config_home: Path, data: Path) -> Installed:
    folder = config_home / "systemd" / "user"
    service = (
        f"[Unit]\nDescription=dreamd: the dream of the night\n\n[Service]\nType=oneshot\nExecStart={' '.join(map(_unit_word, words))}\n"
        f"Environment={_unit_word(f'DREAMD_DATA_DIR={data}')}\nUMask=0077\nNice=19\nIOSchedulingClass=idle\n"
    )
    timer = (
        f"[Unit]\nDescription=dreamd: wakes at night\n\n[Timer]\nOnCalendar=*-*-* {HOUR:02}:{MINUTE:02}:00\nPersistent=true\nRandomizedDelaySec=10m\n\n"
        "[Install]\nWantedBy=timers.target\n"
    )
    reload = ("systemctl", "--user", "daemon-reload")
    return Installed(
        kind="systemd", files={folder / f"{NAME}.service": service, folder / f"{NAME}.timer": timer},
        then=(reload, ("systemctl", "--user", "enable", "--now", f"{NAME}.timer")), undo=(("systemctl", "--user", "disable", "--now", f"{NAME}.timer"),),
    )  # fmt: skip


def _unit_word(word: str) -> str:
    """A word of a unit file: quoted, and what systemd would read into it doubled."""
    if "\n" in word:
        raise Refused(f"{word!r} cannot stand in a unit of systemd")
    doubled = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return doubled if doubled == word and not any(c in word for c in " \t'") else f'"{doubled}"'


def _launchd(words: Sequence[str], home: Path, data: Path) -> Installed:
    path = home / "Library" / "LaunchAgents" / f"{LABEL}.plist"
    said = {
        "Label": LABEL, "ProgramArguments": list(words), "StartCalendarInterval": {"Hour": HOUR, "Minute": MINUTE}, "ProcessType": "Background",
        "LowPriorityIO": True, "Nice": 19, "EnvironmentVariables": {"DREAMD_DATA_DIR": str(data)},
    }  # fmt: skip
    text = plistlib.dumps(said, sort_keys=False).decode()
    return Installed(kind="launchd", files={path: text}, then=(("launchctl", "load", "-w", str(path)),), undo=(("launchctl", "unload", "-w", str(path)),))
