"""The README says what is so: its page is the one the sample gives, its commands and settings exist, its scripts are there."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer

from tests.redacting import rule_cache
from worker import celery_app, cli, messages
from worker.settings import Settings, load

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


def commands() -> dict[str, Any]:
    found: dict[str, Any] = typer.main.get_command(cli.app_of()).commands  # type: ignore[attr-defined]
    return found


def test_every_command_the_readme_names_exists_and_every_command_is_named() -> None:
    block = README.partition("## Commands\n")[2].partition("\n## ")[0]
    heads = [re.split(r"   *", line.strip().removeprefix("dreamd "))[0] for line in block.splitlines() if line.startswith("    dreamd ") and line[11] != " "]
    named = {part.split()[0] for head in heads for part in head.split(", ")}
    assert named == set(commands())
    assert {m for m in re.findall(r"`dreamd ([a-z]+)", README)} <= set(commands())


def test_the_settings_table_is_the_settings() -> None:
    cells = re.findall(r"^\| (`[a-z_.]+`(?:, `[a-z_.]+`)*) \|", README, re.MULTILINE)
    rows = {name.strip("`") for cell in cells for name in cell.split(", ")}
    assert rows == {name for name in Settings.model_fields if name != "events"} | {"events.trusted"}


# --- every night, after each session, from your platform ---------------------------------------------------------------------------------

SECTION = README.partition("## Every night, after each session, from your platform\n")[2].partition("\n## ")[0]
PASTED = [line[4:].partition("  #")[0].strip() for line in SECTION.splitlines() if line.startswith("    ")]
SERVES = {"worker": ["--once"], "schedule": ["--once"], "watch": ["--once"], "publish": [], "up": ["--help"]}
"""Commands that stay, and what is given them here so that they end."""


def pasted(first: str) -> list[str]:
    """The lines of the section that begin so."""
    return [line for line in PASTED if line.startswith(first)]


@pytest.fixture
def newcomer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """A home with some sessions, and the environment the section asks for."""
    shutil.copytree(ROOT / "deploy" / "sample" / "sessions", tmp_path / ".claude" / "projects" / "my-project")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(rule_cache(request)))
    [export] = [line for line in pasted("export ") if "DREAMD_WIKI" in line]
    monkeypatch.setenv("DREAMD_WIKI", export.partition("DREAMD_WIKI=")[2].replace("~", str(tmp_path)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def given(line: str, home: Path) -> list[str]:
    """The words of a pasted line as a shell gives them to the command."""
    return [str(home) + word[1:] if word.startswith("~") else word for word in shlex.split(line)[1:]]


def test_the_commands_of_the_section_run_as_they_are_pasted(newcomer: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In their order: a first dream, a schedule, a session end, a request, what became of it. What stays is told to look once."""
    lines = pasted("dreamd ")
    assert [line.split()[1] for line in lines][:4] == ["dream", "schedule", "up", "submit"]
    hook = json.loads(pasted("{")[0])["hooks"]["SessionEnd"][0]["hooks"][0]
    told = {"session_id": "s", "transcript_path": str(next(newcomer.rglob("*.jsonl"))), "hook_event_name": "SessionEnd", "reason": "exit", "cwd": str(newcomer)}
    assert run_line(lines[0], newcomer) == 0
    words = [sys.executable, "-m", "worker", *shlex.split(hook["command"])[1:]]
    done = subprocess.run(words, input=json.dumps(told), text=True, capture_output=True, cwd=newcomer, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True)
    assert (hook["type"], done.stdout, done.stderr) == ("command", "", "")
    for line in lines[1:]:
        capsys.readouterr()
        code = run_line(line, newcomer)
        said = capsys.readouterr()
        assert code == 0, (line, said)
        if line.endswith("dreams list"):
            assert "waits for a worker" in said.out, "the request of the line before"
    assert not list((newcomer / ".local/share/dreamd/spool").glob("*.json")), "dreamd watch drained the session end"


def run_line(line: str, home: Path) -> int:
    words = given(line, home)
    stays = words[0] in SERVES and (words[0] != "schedule" or len(words) == 1)
    return cli.run([w for w in words if w != "--follow"] + (SERVES[words[0]] if stays else []))


def test_the_section_names_settings_queues_and_tasks_as_the_code_does() -> None:
    for name in re.findall(r"(DREAMD_\w+)=", SECTION):
        assert name.removeprefix("DREAMD_").lower() in Settings.model_fields
    [servers] = [line for line in pasted("export ") if "DREAMD_DATABASE_URL" in line]
    load(environ={**dict(pair.split("=", 1) for pair in shlex.split(servers)[1:]), "XDG_CONFIG_HOME": "/nowhere"})
    _, _, queue, message = shlex.split(pasted("redis-cli RPUSH")[0])
    read = messages.read(message.encode())
    assert queue == Settings().queue
    assert shlex.split(pasted("redis-cli BLPOP")[0])[2] == f"{queue}:reply:{read.reply}"
    assert f"task `{celery_app.REQUEST}`" in SECTION
    assert f"`global_keyprefix` `{celery_app.KEY_PREFIX}`" in SECTION
    assert (ROOT / "deploy" / "RUNBOOK.md").is_file()
    extra = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    [driver] = [line for line in pasted(".venv/bin/pip install")]
    assert shlex.split(driver)[2:] == extra["postgres"]
    assert f"the extra `{next(iter(extra))}`" in README


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
    assert told.stdout == "-P -m worker dream --wiki dreamd-wiki logs --wiki mine\n"
