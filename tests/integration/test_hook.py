"""`dreamd hook session-end` as the process an agent starts: whatever stands on standard input and however the disk is, one line of nothing and exit code 0."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from worker import hook, settings

EVENT = {"session_id": "5b539e53", "transcript_path": "/logs/5b539e53.jsonl", "cwd": "/home/ana", "hook_event_name": "SessionEnd", "reason": "exit",
         "new_in_2027": {"端口": [1]}}  # fmt: skip
ALLOWED = "contextlib, json, os, select, time"


def run(
    data: Path, payload: bytes | int, *arguments: str, env: Mapping[str, str] | None = None, cwd: Path | None = None, before: Callable[[], None] | None = None
) -> None:
    """Run the hook; whatever happens it prints nothing and exits 0."""
    given = {"input": payload} if isinstance(payload, bytes) else {"stdin": payload}
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("DREAMD_", "XDG_"))} | {"DREAMD_DATA_DIR": str(data), "PYTHONWARNINGS": "error"}
    command = [sys.executable, "-m", "worker", "hook", "session-end", *arguments]
    done = subprocess.run(command, env={**kept, **(env or {})}, cwd=cwd, preexec_fn=before, capture_output=True, timeout=30, check=False, **given)  # type: ignore[call-overload]
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def spooled(data: Path) -> list[dict[str, object]]:
    """What the spool holds; nothing half-written may lie beside it."""
    names = sorted(os.listdir(data / "spool"))
    assert all(n.endswith(".json") and not n.startswith(".") for n in names), names
    return [json.loads((data / "spool" / n).read_bytes()) for n in names]


def test_a_session_end_becomes_one_file_for_this_user_alone_with_all_its_fields(tmp_path: Path) -> None:
    data = tmp_path / "data"
    run(data, json.dumps(EVENT).encode(), "--scope", "acme/web", "--notes=memory", env={"DREAMD_WIKI": "wiki"}, cwd=tmp_path)
    (told,) = spooled(data)
    assert json.loads(str(told["payload"])) == EVENT
    assert told["arguments"] == ["--scope", "acme/web", "--notes=memory"]
    assert (told["cwd"], told["environment"], told["version"]) == (str(tmp_path), {"DREAMD_WIKI": "wiki"}, 1)
    assert {p.stat().st_mode & 0o077 for p in (data, *data.rglob("*"))} == {0}


@pytest.mark.parametrize("payload", [b"", b"{", b"\xff\xfe no json \x00", "日本語".encode("utf-16"), b"[]" * 1000])
def test_what_is_no_json_is_kept_as_it_came(tmp_path: Path, payload: bytes) -> None:
    run(tmp_path, payload)
    (told,) = spooled(tmp_path)
    assert str(told["payload"]).encode("utf-8", "surrogateescape") == payload


def test_a_payload_without_end_is_cut_at_the_bound(tmp_path: Path) -> None:
    run(tmp_path, b"x" * (hook.PAYLOAD_MAX + 5000))
    (told,) = spooled(tmp_path)
    assert len(str(told["payload"])) == hook.PAYLOAD_MAX


def test_an_agent_that_leaves_the_pipe_open_does_not_hold_the_hook(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.write(write, b'{"session_id": "x"}')
    run(tmp_path, read)
    os.close(write)
    os.close(read)
    assert [s["payload"] for s in spooled(tmp_path)] == ['{"session_id": "x"}']


def test_without_standard_input_and_in_a_folder_that_is_gone_the_end_is_recorded_all_the_same(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()

    def before() -> None:
        os.close(0)
        gone.rmdir()

    run(tmp_path / "data", b"", cwd=gone, before=before)
    assert [(s["payload"], s["cwd"]) for s in spooled(tmp_path / "data")] == [("", "")]


def test_on_a_full_disk_and_where_no_folder_can_be_made_it_ends_as_if_nothing_were(tmp_path: Path) -> None:
    run(tmp_path / "full", b"{}", before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20)))
    assert spooled(tmp_path / "full") == []
    (tmp_path / "file").write_text("")
    run(tmp_path / "file", b"{}")
    run(tmp_path / "file" / "below", b"{}")


def test_with_database_and_redis_away_and_settings_that_are_broken_it_spools(tmp_path: Path) -> None:
    (tmp_path / "broken.toml").write_text("data_dir = \n")
    down = {"DREAMD_DATABASE_URL": "postgresql+psycopg://nobody@127.0.0.1:1/x", "DREAMD_REDIS_URL": "redis://127.0.0.1:1/0", "DREAMD_WIKKI": "no setting",
            "DREAMD_CONFIG": str(tmp_path / "broken.toml")}  # fmt: skip
    run(tmp_path, b"{}", env=down)
    assert len(spooled(tmp_path)) == 1


@pytest.mark.parametrize(("config", "more"), [("", ""), ("scope = 'a'", ""), ("data_dir = '{data}'", ", tomllib")])
def test_it_imports_the_standard_library_alone_and_little_of_it(config: str, more: str, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(config.format(data=tmp_path))
    env = {k: v for k, v in os.environ.items() if not k.startswith("DREAMD_")}
    env |= {"DREAMD_CONFIG": str(tmp_path / "config.toml"), "XDG_DATA_HOME": str(tmp_path)}

    def loaded(first: str) -> set[str]:
        listed = f"import sys; {first}; print(*sys.modules)"
        return set(subprocess.run((sys.executable, "-c", listed), check=True, capture_output=True, text=True, env=env, input="{}", timeout=30).stdout.split())

    ours = loaded("from worker.entry import main; sys.argv = ['dreamd', 'hook', 'session-end']; assert main() == 0")
    assert ours - loaded(f"import {ALLOWED}{more}") == {"worker", "worker.entry", "worker.hook"}
    assert len(list(tmp_path.rglob("spool/*.json"))) == 1


@pytest.mark.parametrize(
    ("env", "default", "named"),
    [
        ({}, "", ""),
        ({"XDG_DATA_HOME": "/srv/x"}, "", ""),
        ({"XDG_DATA_HOME": ""}, "", ""),
        ({"DREAMD_DATA_DIR": "~/d"}, "data_dir = '/from/file'", ""),
        ({"dreamd_data_dir": "/lower"}, "", ""),
        ({"DREAMD_DATA_DIR": ""}, "data_dir = '/from/file'", ""),
        ({}, "data_dir = '~/from/file' # data_dir", ""),
        ({}, "# data_dir = '/not/this'", ""),
        ({"DREAMD_CONFIG": "{named}"}, "data_dir = '/from/default'", "data_dir = '/from/named'"),
        ({"DREAMD_CONFIG": ""}, "data_dir = '/from/default'", "data_dir = '/from/named'"),
        ({"DREAMD_CONFIG": "{named}", "XDG_DATA_HOME": "/x"}, "", "scope = 'a'"),
        ({"XDG_CONFIG_HOME": "{home}/cfg"}, "data_dir = '/not/this'", ""),
    ],
)
def test_it_spools_below_the_data_folder_of_the_settings(
    env: dict[str, str], default: str, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [n for n in os.environ if n.upper().startswith(("DREAMD_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".config" / "dreamd").mkdir(parents=True)
    (tmp_path / ".config" / "dreamd" / "config.toml").write_text(default)
    (tmp_path / "named.toml").write_text(named)
    for name, value in env.items():
        monkeypatch.setenv(name, value.format(named=tmp_path / "named.toml", home=tmp_path))
    assert hook.data_folder(None) == str(settings.data_folder(settings.load()))
    given = tmp_path / "named.toml"
    assert hook.data_folder(str(given)) == str(settings.data_folder(settings.load(given)))
