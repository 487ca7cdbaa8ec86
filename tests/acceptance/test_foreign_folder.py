"""The command as a hook calls it: from a folder somebody else filled."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = Path(sys.executable).with_name("dreamd")


@pytest.mark.skipif(not COMMAND.exists(), reason="the checkout was not set up by deploy/setup")
@pytest.mark.parametrize("arguments", [["--version"], ["hook", "session-end"], ["status"]])
def test_no_file_of_the_current_folder_is_run(tmp_path: Path, arguments: list[str]) -> None:
    folder = tmp_path / "cloned"
    folder.mkdir()
    for name in ("worker", "json", "typer", "pipelines"):
        (folder / f"{name}.py").write_text(f"open({str(tmp_path / 'taken')!r}, 'w').close()\n")
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}
    subprocess.run([COMMAND, *arguments], cwd=folder, env=env, input=b"{}", capture_output=True, timeout=50, check=False)
    assert not (tmp_path / "taken").exists()


def test_every_way_the_command_is_started_leaves_the_current_folder_out() -> None:
    root = Path(__file__).parents[2]
    for place in ("deploy/setup", "deploy/try", "deploy/Dockerfile", "worker/cli/up.py"):
        text = (root / place).read_text(encoding="utf-8").replace('", "', " ")
        assert "-P -m worker" in text, f"{place} starts the command with the current folder on its path"
