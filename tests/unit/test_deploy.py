"""What lies in deploy/ and cannot run here is parsed, and fits the code: commands, options, settings, paths, stop times, codes."""

from __future__ import annotations

import configparser
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from pydantic import BaseModel
from ruamel.yaml import YAML

from pipelines.run import health
from worker import checks, cli, process, stopping
from worker.cli import up
from worker.settings import Settings, load

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").rglob("*.service"))
DOCKERFILE = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = YAML(typ="safe").load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
OURS = {name: service for name, service in COMPOSE["services"].items() if service["image"] == "dreamd"}
METRICS_PORT = 9464
STOPS = {
    "worker": stopping.GRACE_S + stopping.LAST_S, "schedule": stopping.GRACE_S, "publish": stopping.GRACE_S, "watch": stopping.GRACE_S,
    "up": up.LEAVE_S + up.LOOK_S,
}  # fmt: skip
"""How long each command may take to leave, by the code."""


def command_of(words: list[str]) -> str:
    """The command of a command line of dreamd, checked: it exists and knows every option that is given."""
    commands: dict[str, Any] = typer.main.get_command(cli.app_of()).commands  # type: ignore[attr-defined]
    assert words[0] in commands, words
    known = {option for parameter in commands[words[0]].params for option in parameter.opts}
    assert {word.partition("=")[0] for word in words[1:] if word.startswith("-")} <= known, words
    return words[0]


def variables(environment: dict[str, str]) -> set[str]:
    return {name for name in environment if name.startswith("DREAMD_")}


def require_settings(names: set[str]) -> None:
    assert names <= {f"DREAMD_{name}".upper() for name in Settings.model_fields}


def seconds(text: str) -> float:
    assert text.endswith("s"), text
    return float(text[:-1])


# --- systemd -----------------------------------------------------------------------------------------------------------------------------


def unit(path: Path) -> configparser.ConfigParser:
    parsed = configparser.ConfigParser(strict=True, interpolation=None, comment_prefixes=("#",), delimiters=("=",))
    parsed.optionxform = str  # type: ignore[assignment, method-assign]
    parsed.read_string(path.read_text(encoding="utf-8"))
    return parsed


@pytest.mark.parametrize("path", UNITS, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_a_unit_runs_a_command_that_exists_and_waits_for_it_to_leave(path: Path) -> None:
    service = unit(path)["Service"]
    program, *words = shlex.split(service["ExecStart"])
    assert program.endswith("/.venv/bin/dreamd")
    command = command_of(words)
    assert path.stem == f"dreamd-{command}"
    assert float(service["TimeoutStopSec"]) >= STOPS[command] + 2
    assert (service["KillMode"], service["KillSignal"], service["NoNewPrivileges"]) == ("mixed", "SIGTERM", "yes")
    assert service["RestartPreventExitStatus"] == str(process.OUTSIDE) == str(cli.REFUSED)
    require_settings(variables(dict(pair.split("=", 1) for pair in shlex.split(service["Environment"]))))


@pytest.mark.parametrize("path", [p for p in UNITS if p.parent.name == "system"], ids=lambda p: p.stem)
def test_a_unit_of_the_system_runs_unprivileged_and_may_write_to_its_own_folders(path: Path) -> None:
    service = unit(path)["Service"]
    assert service["User"] == "dreamd"
    assert service["ProtectSystem"] == "strict"
    folders = dict(pair.split("=", 1) for pair in shlex.split(service["Environment"]))
    assert folders["DREAMD_DATA_DIR"] == f"/var/lib/{service['StateDirectory']}"
    assert f"{folders['XDG_CACHE_HOME']}/dreamd" == f"/var/cache/{service['CacheDirectory']}"
    words = shlex.split(service["ExecStart"])
    if "--wiki" in words:
        assert words[words.index("--wiki") + 1].startswith(service["ReadWritePaths"])


def test_there_is_a_unit_for_each_process_of_a_server_and_one_for_a_persons_machine() -> None:
    assert [f"{p.parent.name}/{p.stem}" for p in UNITS] == [
        "system/dreamd-publish", "system/dreamd-schedule", "system/dreamd-up", "system/dreamd-worker", "user/dreamd-up",
    ]  # fmt: skip


# --- containers --------------------------------------------------------------------------------------------------------------------------


def test_services_run_commands_that_exist_with_settings_that_exist() -> None:
    for name, service in OURS.items():
        assert command_of(service["command"]) == name
        require_settings(variables(service["environment"]))
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert seconds(service["stop_grace_period"]) >= STOPS[name] + 2
    assert set(OURS) == {"worker", "schedule", "publish"}


def test_services_find_one_another_and_their_volumes() -> None:
    services = COMPOSE["services"]
    for service in OURS.values():
        assert set(service["depends_on"]) <= services.keys()
        assert service["build"] == {"context": "..", "dockerfile": "deploy/Dockerfile"}
        assert "@postgres/dreamd" in service["environment"]["DREAMD_DATABASE_URL"]
        assert service["environment"]["DREAMD_REDIS_URL"] == "redis://redis:6379/0"
    for needed in ("postgres", "redis"):
        assert services[needed]["healthcheck"]["test"], "others wait for it to be healthy"
    used = {volume.split(":")[0] for service in services.values() for volume in service.get("volumes", ())}
    assert used == set(COMPOSE["volumes"])
    assert services["postgres"]["environment"]["POSTGRES_USER"] == services["postgres"]["environment"]["POSTGRES_DB"] == "dreamd"
    assert services["schedule"]["ports"] == [f"127.0.0.1:{METRICS_PORT}:{METRICS_PORT}"], "metrics are for this host alone"


def test_the_redis_of_the_services_throws_nothing_away_and_keeps_what_it_has() -> None:
    words = COMPOSE["services"]["redis"]["command"]
    assert words[words.index("--maxmemory-policy") + 1] == "noeviction"
    assert words[words.index("--appendonly") + 1] == "yes"


def test_addresses_of_the_services_are_such_as_the_settings_take(tmp_path: Path) -> None:
    environment = {k: v.replace("${POSTGRES_PASSWORD:?set it in deploy/.env}", "abc") for k, v in OURS["worker"]["environment"].items()}
    loaded = load(environ={**environment, "XDG_CONFIG_HOME": str(tmp_path)})
    assert loaded.scope == "local"


def instructions() -> Iterator[tuple[str, str]]:
    for line in re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", DOCKERFILE, flags=re.MULTILINE)).splitlines():
        word, _, rest = line.strip().partition(" ")
        if word:
            yield word, rest.strip()


def test_the_image_copies_what_exists_and_runs_as_nobody_of_importance() -> None:
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    assert ignored[0] == "**"
    kept = {line[1:] for line in ignored if line.startswith("!")}
    for word, rest in instructions():
        if word == "COPY" and not rest.startswith("--from"):
            for source in rest.split()[:-1]:
                assert (ROOT / source).exists(), source
                assert source in kept, "the context holds it"
    done = list(instructions())
    assert {word for word, _ in done} >= {"FROM", "COPY", "USER", "HEALTHCHECK", "ENTRYPOINT"}
    user = max(n for n, (word, _) in enumerate(done) if word == "USER")
    assert int(done[user][1].split(":")[0]) >= 10_000
    assert done[user + 1 :]
    assert not any(word == "RUN" for word, _ in done[user:])
    assert dict(done)["ENTRYPOINT"] == '["python", "-P", "-m", "worker"]'


def test_the_image_installs_nothing_that_is_not_pinned_by_hash() -> None:
    installs = [rest for word, rest in instructions() if word == "RUN" and "pip install" in rest]
    assert len(installs) == 1
    assert {"--require-hashes", "--no-deps", "--only-binary"} <= set(installs[0].split())
    assert set(re.findall(r"-r (\S+)", installs[0])) == {"deploy/lock.txt", "deploy/lock-postgres.txt"}
    driver = re.split(r"\n(?=\S)", (DEPLOY / "lock-dev.txt").read_text(encoding="utf-8"))
    pinned = [entry for entry in driver if entry.startswith("psycopg")]
    assert [entry.split("==")[0] for entry in pinned] == ["psycopg", "psycopg-binary"]
    assert all("--hash=sha256:" in entry for entry in pinned)
    assert "keep = /^psycopg/" in installs[0]


def test_the_image_sets_settings_that_exist_and_asks_where_it_answers() -> None:
    told = dict(re.findall(r"(\w+)=(\S+)", dict(instructions())["ENV"]))
    require_settings(variables(told))
    assert told["DREAMD_METRICS_ADDR"] == f"0.0.0.0:{METRICS_PORT}"
    assert dict(instructions())["EXPOSE"] == str(METRICS_PORT)
    assert f"http://127.0.0.1:{METRICS_PORT}/healthz" in dict(instructions())["HEALTHCHECK"]
    written = {told["DREAMD_DATA_DIR"], "/wiki"}
    mounted = {volume.split(":")[1] for volume in OURS["publish"]["volumes"]}
    assert mounted == written
    assert told["XDG_CACHE_HOME"].startswith("/tmp/")


# --- settings and runbook ----------------------------------------------------------------------------------------------------------------


def test_the_example_of_the_settings_is_the_settings(tmp_path: Path) -> None:
    text = (DEPLOY / "config.example.toml").read_text(encoding="utf-8")
    assert load(DEPLOY / "config.example.toml", environ={}) == load(environ={"XDG_CONFIG_HOME": str(tmp_path)}), "as it is, it changes nothing"
    open_text = re.sub(r"^#(?=\S)", "", text, flags=re.MULTILINE)
    (tmp_path / "all.toml").write_text(open_text, encoding="utf-8")
    load(tmp_path / "all.toml", environ={})  # every example is one the settings take
    given = tomllib.loads(open_text)
    require_equal(given, Settings, text)


def require_equal(given: dict[str, Any], model: type[BaseModel], text: str) -> None:
    assert set(given) == set(model.model_fields)
    for name, field in model.model_fields.items():
        if isinstance(field.default, BaseModel):
            require_equal(given[name], type(field.default), text)
            continue
        if field.default is not None:
            assert (tuple(given[name]) if isinstance(given[name], list) else given[name]) == field.default, name
        assert field.description
        assert re.search(rf"^# {re.escape(field.description)}( \(an example\))?\n#{name} = ", text, re.MULTILINE), name


def test_the_runbook_says_what_every_code_means_and_no_other() -> None:
    text = (DEPLOY / "RUNBOOK.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (.+) \| (.+) \|$", text, re.MULTILINE)
    assert sorted(code for code, _, _ in rows) == [code for code, _, _ in rows] == sorted(health.CODES | checks.CODES)


def test_the_runbook_names_commands_settings_and_files_that_exist() -> None:
    text = (DEPLOY / "RUNBOOK.md").read_text(encoding="utf-8")
    for line in re.findall(r"`dreamd ([a-z][^`]*)`", text):
        if line.split()[0] != "up":
            command_of(line.split())
    for path in re.findall(r"`(deploy/[\w./]+|tests/[\w./]+)`", text):
        assert (ROOT / path).exists(), path
    for name in re.findall(r"`health\.(\w+)`", text):
        assert name in health.Limits.__dataclass_fields__
    assert "not run" in text.replace("*", "")
