"""The README says what is so: its page is the one the sample gives, its commands and settings exist, its scripts are there."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.redacting import rule_cache
from worker import cli
from worker.settings import Settings

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """The wiki of the sample, written by the command of `deploy/try` with the notes' times fixed by their front matter."""
    home = tmp_path_factory.mktemp("home")
    shutil.copytree(ROOT / "deploy" / "sample", home / "sample")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(home / "data"))
        patch.setenv("XDG_CACHE_HOME", str(rule_cache(request)))
        patch.setenv("XDG_CONFIG_HOME", str(home / "config"))
        given = [str(home / "sample" / "sessions"), str(home / "sample" / "observations.events.jsonl"), "--notes", str(home / "sample" / "notes")]
        assert cli.run(["dream", *given, "--wiki", str(home / "wiki")]) == 0
    return home / "wiki"


def test_the_page_in_the_readme_is_the_page_the_sample_gives(sample: Path) -> None:
    shown = re.search(r"<!-- page: (\S+) -->\n````markdown\n(.*?)````\n<!-- /page -->", README, re.DOTALL)
    assert shown is not None
    assert shown[2] == (sample / shown[1]).read_text(encoding="utf-8")


def test_every_command_the_readme_names_exists_and_every_command_is_named() -> None:
    block = re.search(r"## Commands\n\n(.*?)\n\n", README, re.DOTALL)
    assert block is not None
    named = {
        word
        for line in block[1].splitlines()
        for word in re.split(r", | \[|  ", line.strip().removeprefix("dreamd "))[:3]
        if re.fullmatch("[a-z]+", word.split()[0] if word else "")
    }
    known = {command.name for command in cli.app.registered_commands}
    assert {n.split()[0] for n in named} & known == known
    assert {m for m in re.findall(r"`dreamd ([a-z]+)", README)} <= known


def test_the_settings_table_is_the_settings() -> None:
    rows = set(re.findall(r"^\| `([a-z_.]+)` \|", README, re.MULTILINE))
    fields = {name for name in Settings.model_fields if name not in {"events", "engine", "database_url"}} | {"events.trusted"}
    assert rows == fields


def test_the_two_set_up_commands_and_the_figures_commands_are_there() -> None:
    commands = re.findall(r"^    (sh deploy/\w+)$", README, re.MULTILINE)
    assert commands == ["sh deploy/try", "sh deploy/test"]
    assert all((ROOT / c.split()[1]).is_file() for c in commands)
    for module in re.findall(r"python -m (tests\.[\w.]+)", README):
        path = ROOT / module.replace(".", "/")
        assert path.with_suffix(".py").is_file() or (path / "__main__.py").is_file(), module


def test_a_wiki_named_to_the_try_command_is_the_one_it_writes(tmp_path: Path) -> None:
    """The wiki the script names itself comes first: of an option given twice the last one counts."""
    (tmp_path / "bin").mkdir()
    python = tmp_path / "bin" / "python"
    python.write_text('#!/bin/sh\necho "$@"\n')
    python.chmod(0o755)
    shutil.copy(ROOT / "deploy" / "lock.txt", tmp_path / "dreamd-lock.txt")  # what tells the script that all is set up
    told = subprocess.run(
        ["sh", ROOT / "deploy" / "try", "logs", "--wiki", "mine"],
        env={"PATH": "/usr/bin:/bin", "DREAMD_VENV": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout == "-m worker dream --wiki dreamd-wiki logs --wiki mine\n"
