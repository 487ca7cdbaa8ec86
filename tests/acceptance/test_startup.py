"""What a command loads before it works."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.errors import StoreUnavailable
from tests.redacting import rule_cache
from tests.writing import ClaudeLog
from worker import cli


def test_a_command_that_reads_no_session_compiles_no_rule_of_the_engine() -> None:
    listed = "import sys, worker.wiring, worker.cli; print(*sorted(m for m in sys.modules if m.startswith('pipelines.engines')))"
    loaded = subprocess.run((sys.executable, "-c", listed), check=True, capture_output=True, text=True).stdout.split()
    assert not {"pipelines.engines.local.engine", "pipelines.engines.local.cues", "pipelines.engines.local.facts", "pipelines.engines.local.personal"} & set(
        loaded
    )


@pytest.mark.parametrize("words", [["--help"], ["dream", "LOGS"], ["status"], ["estimate", "LOGS"]], ids=lambda words: words[0])
def test_nothing_but_a_call_loads_the_provider_s_library(words: list[str], tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """It takes a second. The commands run in one process after a first dream, with a key in the environment."""
    ClaudeLog("one").user("The staging database listens on port 5433.").save(tmp_path / "logs")
    run = "import sys; from worker import cli; codes = [cli.run(w.split()) for w in sys.argv[1:]]; print(codes, {'anthropic', 'httpx2'} & {*sys.modules})"
    lines = [" ".join(words).replace("LOGS", str(tmp_path / "logs")) for words in (["dream", "LOGS"], words)]
    env = {
        **os.environ, "XDG_DATA_HOME": str(tmp_path / "data"), "XDG_CONFIG_HOME": str(tmp_path), "XDG_CACHE_HOME": str(rule_cache(request)),
        "DREAMD_WIKI": str(tmp_path / "wiki"), "ANTHROPIC_API_KEY": "sk-ant-x",
    }  # fmt: skip
    done = subprocess.run((sys.executable, "-c", run, *lines), check=True, capture_output=True, text=True, env=env)
    assert done.stdout.splitlines()[-1] == "[0, 0] set()", done


@pytest.mark.parametrize("words", [[], ["--help"], ["doctor"]])
def test_a_reader_who_has_gone_before_the_end_is_no_fault(words: list[str], tmp_path: Path) -> None:
    home = {**os.environ, "HOME": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-m", "worker", *words], env=home, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert (process.stderr.read(), process.wait(60)) == (b"", 141)


@pytest.mark.parametrize("words", ["", "--help", "doctor"])
def test_a_command_without_an_output_ends_as_it_does_with_one(words: str, tmp_path: Path) -> None:
    home = {**os.environ, "HOME": str(tmp_path)}
    codes = [
        subprocess.run(["sh", "-c", f'exec "$0" -m worker {words} {out}', sys.executable], env=home, capture_output=True).returncode
        for out in (">/dev/null", ">&-")
    ]
    assert codes[0] == codes[1]


def test_a_dream_with_no_place_for_errors_is_dreamt_all_the_same(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    ClaudeLog("one").user("The staging database listens on port 5433.").save(tmp_path / "logs")
    env = {
        **os.environ,
        "HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(rule_cache(request)),
        "DREAMD_WIKI": str(tmp_path / "wiki"),
        "LOGS": str(tmp_path / "logs"),
    }
    for closed in ("2>&-", "<&- >&- 2>&-"):
        assert subprocess.run(["sh", "-c", f'exec "$0" -m worker dream "$LOGS" --engine local {closed}', sys.executable], env=env).returncode == 0
    assert (tmp_path / "wiki" / "MEMORY.md").exists()


def test_ctrl_c_in_a_command_says_that_nothing_is_half_written(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("worker.cli.dream.targets_of", interrupted)
    monkeypatch.setattr("worker.cli.dream.wiring.find_wiki", interrupted)
    assert cli.run(["dream", str(tmp_path), "--engine", "local"]) == 130
    assert capsys.readouterr().err == "dreamd: interrupted; nothing is half-written, the next dream goes on from here\n"


def test_a_command_that_is_told_to_end_says_what_ctrl_c_has_it_say_and_ends_by_the_signal(tmp_path: Path) -> None:
    waits = (
        "import sys, threading; from worker import entry; import worker.cli.dream as dream\n"
        "def waits(*_, **__): print('ready', flush=True); threading.Event().wait(60)\n"
        "dream.targets_of = waits; sys.argv[1:] = ['dream', '--engine', 'local']; sys.exit(entry.main())"
    )
    command = [sys.executable, "-c", waits]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "HOME": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.terminate()
        _, said = process.communicate(timeout=30)
    assert (process.returncode, said) == (-signal.SIGTERM, "dreamd: interrupted; nothing is half-written, the next dream goes on from here\n")


@pytest.mark.parametrize(
    ("words", "after"), [(["dream"], ", the next dream goes on from here: try again when that is over"), (["status"], ": try again when that is over")]
)
def test_a_store_that_went_away_in_a_command_is_told_with_what_that_means(
    words: list[str], after: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def away(*_: object, **__: object) -> None:
        raise StoreUnavailable("put a job off in postgresql://db/notes: server closed the connection")

    monkeypatch.setattr("worker.cli.dream.targets_of", away)
    monkeypatch.setattr("worker.cli.common.store_of", away)
    monkeypatch.chdir(tmp_path)
    assert cli.run(words) == 1
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith("dreamd: the store is unavailable while trying to put a job off in postgresql://db/notes: server closed the connection; ")
    assert said.endswith(f"nothing is half-written{after}")
