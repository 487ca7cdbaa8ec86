"""A new session is told what the wiki knows: connected, told, written down, and taken out again to the byte. All in a home of its own."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path

import pytest

from tests.integration.test_projects import Home
from tests.redacting import shared_redactor
from tests.workers import until
from tests.writing import ClaudeLog
from worker import detached, wiring
from worker.cli import connect as connecting
from worker.cli import run
from worker.connect.ledger import Ledger
from worker.projects import Homes, root_of, sanitised, tells_sessions

Command = Callable[..., tuple[int, str, str]]
SETTINGS = '{\n    "model": "opus",\n    "autoMemoryEnabled": true,\n    "permissions": {"allow": ["Bash(ls:*)"]},\n    "端口": 1\n}\n'


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    for name in [n for n in os.environ if n.startswith(("DREAMD_", "XDG_")) or n in {"CLAUDE_CONFIG_DIR", "CODEX_HOME"}]:
        monkeypatch.delenv(name)
    path = tmp_path / "home"
    (path / ".claude").mkdir(parents=True)
    (path / ".codex").mkdir()
    monkeypatch.setenv("HOME", str(path))
    root_of.cache_clear()
    return Home(path)


@pytest.fixture
def dreamd(home: Home, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> Command:
    monkeypatch.setattr(wiring, "redactor", lambda: shared_redactor(request))

    def command(where: Path, *words: str) -> tuple[int, str, str]:
        monkeypatch.chdir(where)
        capsys.readouterr()
        code = run(list(words))
        said = capsys.readouterr()
        return code, said.out, said.err

    return command


@pytest.fixture
def web(home: Home, dreamd: Command) -> Path:
    """A project that was dreamt over."""
    root = home.repository("web")
    home.claude(root, "one", "From now on always run make lint before you push.", "The staging database listens on port 5433.")
    assert dreamd(root, "dream")[0] == 0
    return root


def files_of(home: Home) -> dict[str, tuple[str, int]]:
    """Every file of a home outside dreamd's own folders, with its mode and the digest of its bytes."""
    ours = (home.path / "dreamd", home.path / ".local", home.path / ".cache")
    found = (p for p in home.path.rglob("*") if not any(p.is_relative_to(o) for o in ours))
    return {str(p): (sha256(p.read_bytes()).hexdigest() if p.is_file() else "folder", p.stat().st_mode) for p in found}


def hooks_of(file: Path) -> dict[str, str]:
    """Event → the one command a settings file runs at it."""
    return {event: hook["command"] for event, groups in json.loads(file.read_text())["hooks"].items() for g in groups for hook in g["hooks"]}


def call(command: str, event: Mapping[str, object], home: Home) -> str:
    """Run a hook as its agent does: by a shell, in the session's folder, the event on standard input."""
    done = subprocess.run(("sh", "-c", command), input=json.dumps(event).encode(), cwd=str(event["cwd"]), env={"HOME": str(home.path), "PATH": "/usr/bin:/bin"},
                          capture_output=True, timeout=30, check=False)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def claude_event(root: Path, name: str, **more: object) -> dict[str, object]:
    return {"session_id": f"id-{name}", "transcript_path": f"/logs/{name}.jsonl", "cwd": str(root), "hook_event_name": name, "source": "startup", **more}


# --- told --------------------------------------------------------------------------------------------------------------------------------


def test_claude_code_sessions_are_told_their_projects_brief_and_why_names_them(home: Home, web: Path, dreamd: Command) -> None:
    assert dreamd(web, "connect", "claude-code")[0] == 0
    hooks = hooks_of(home.homes.claude / "settings.json")
    assert set(hooks) == {"SessionStart", "SessionEnd"}
    (web / "src").mkdir()
    told = call(hooks["SessionStart"], claude_event(web / "src", "SessionStart"), home)
    assert told.startswith("<dreamd-brief>\n")
    assert told.endswith("\n</dreamd-brief>\n")
    assert "make lint" in told
    assert f"`{home.path}/dreamd/web`" in told, "links of the brief lead to files below it"
    assert len(told) <= 9000
    assert call(hooks["SessionStart"], claude_event(home.repository("other"), "SessionStart"), home) == "", "a project nobody dreams over is told nothing"
    home.claude(web, "two", "hello")
    assert dreamd(web, "dream")[0] == 0
    _, said, _ = dreamd(web, "why", "how-we-work", "--sessions", "--json")
    (note,) = json.loads(said)["notes"]
    assert [(t["session"], t["door"]) for t in note["told"]] == [("id-SessionStart", "claude-code")]
    assert note["told"][0]["version"].startswith(f"{note['note']}/")
    assert "id-SessionStart" in dreamd(web, "why", f"n-{note['note']}", "--sessions")[1]


def test_codex_is_told_in_the_json_it_takes_within_8000_bytes(home: Home, web: Path, dreamd: Command) -> None:
    code, said, _ = dreamd(web, "connect", "codex")
    assert code == 0
    assert "/hooks" in said, "Codex runs nothing that was not trusted, and says nothing"
    hooks = hooks_of(home.homes.codex / "hooks.json")
    event = {"session_id": "019", "transcript_path": None, "cwd": str(web), "hook_event_name": "SessionStart", "model": "gpt-5.5", "permission_mode": "default",
             "source": "resume"}  # fmt: skip
    told = json.loads(call(hooks["SessionStart"], event, home))
    assert set(told) == {"hookSpecificOutput"}
    assert told["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    assert "make lint" in told["hookSpecificOutput"]["additionalContext"]
    assert len(told["hookSpecificOutput"]["additionalContext"].encode()) <= 8000
    before = len(list((home.path / ".local/share/dreamd/spool").glob("*.json")))
    (home.path / ".config/dreamd").mkdir(parents=True)
    (home.path / ".config/dreamd/config.toml").write_text("dream_at_end = false\n")
    assert call(hooks["Stop"], {**event, "hook_event_name": "Stop", "stop_hook_active": False}, home) == ""
    assert len(list((home.path / ".local/share/dreamd/spool").glob("*.json"))) == before, "a turn's end is no session's end"


def test_the_block_of_agents_md_is_kept_up_to_date_until_a_person_changes_it(home: Home, web: Path, dreamd: Command) -> None:
    file = web / "AGENTS.md"
    file.write_text("# Web\n\nUse tabs.")
    before = files_of(home)
    assert dreamd(web, "connect", "codex", "--agents-md")[0] == 0
    assert file.read_text().startswith("# Web\n\nUse tabs.\n\n<dreamd-brief>\n")
    assert tells_sessions(Homes(claude=home.homes.claude, codex=web)) == ("codex",)
    home.claude(web, "two", "From now on always sign your commits.")
    assert dreamd(web, "dream")[0] == 0
    assert "sign your commits" in file.read_text()
    file.write_text(file.read_text().replace("Use tabs.", "Use blanks."))
    assert dreamd(web, "disconnect", "codex")[0] == 0
    assert file.read_text() == "# Web\n\nUse blanks."
    file.write_text("# Web\n\nUse tabs.")
    assert {k: v for k, v in files_of(home).items() if k in before} == before
    assert dreamd(web, "connect", "codex", "--agents-md")[0] == 0
    file.write_text(file.read_text().replace("make lint", "make test"))
    changed = file.read_text()
    home.claude(web, "three", "From now on always write a changelog.")
    assert dreamd(web, "dream")[0] == 0
    assert file.read_text() == changed, "a block a person changed is theirs"
    assert "changed by somebody" in dreamd(web, "disconnect")[1]
    assert file.read_text() == changed


def test_a_brief_told_a_hundred_times_adds_no_evidence(home: Home, web: Path, dreamd: Command) -> None:
    assert dreamd(web, "connect", "claude-code")[0] == 0
    told = call(hooks_of(home.homes.claude / "settings.json")["SessionStart"], claude_event(web, "SessionStart"), home)
    before = {p.name: p.read_text() for p in (home.path / "dreamd/web").glob("*.md") if p.name not in {"recent.md", "inbox.md", "MEMORY.md", "pages.md"}}
    assert before
    folder = home.homes.claude / "projects" / sanitised(web)
    for n in range(100):
        log = ClaudeLog(f"again-{n}", cwd=str(web))
        log.user(f"<system-reminder>SessionStart:startup hook success: {told}</system-reminder>").user(f"{told}\ngo on").bash("cat brief", told).assistant(told)
        (folder / f"{log.uuid}.jsonl").write_text(log.text())
    assert dreamd(web, "dream")[0] == 0
    assert {p.name: p.read_text() for p in (home.path / "dreamd/web").glob("*.md") if p.name in before} == before


# --- connected and taken out ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [SETTINGS, "{}", '{"hooks": {"SessionStart": []}}', '{"a":1,"hooks":{"SessionEnd":[{"hooks":[]}]}}', "", None])
def test_every_touched_file_is_as_it_was_to_the_byte_after_disconnect(home: Home, web: Path, dreamd: Command, text: str | None) -> None:
    settings = home.homes.claude / "settings.json"
    if text is not None:
        settings.write_text(text)
        settings.chmod(0o640)
    before = files_of(home)
    code, said, _ = dreamd(web, "connect", "claude-code", "--dry-run")
    assert code == 0
    assert "+" in said
    assert files_of(home) == before
    for words in (("claude-code",), ("claude-code", "--project", str(web)), ("codex",), ("codex", "--project", str(web)), ("codex", "--agents-md")):
        assert dreamd(web, "connect", *words)[0] == 0
        assert dreamd(web, "connect", *words)[0] == 0, "twice is as good as once"
    assert set(files_of(home)) - set(before) - {str(settings)} == {
        str(p) for p in (web / ".claude", web / ".claude/settings.local.json", web / ".codex", web / ".codex/hooks.json", web / "AGENTS.md",
                         home.homes.codex / "hooks.json")
    }  # fmt: skip
    assert json.loads(settings.read_text()).items() >= {k: v for k, v in json.loads(text or "{}").items() if k != "hooks"}.items()
    code, said, _ = dreamd(web, "disconnect")
    assert code == 0
    assert files_of(home) == before
    assert Ledger(home.path / ".local/share/dreamd").entries() == ()
    assert dreamd(web, "disconnect")[1] == "nothing is connected\n"


def test_what_others_change_meanwhile_stays_and_ours_alone_is_taken_out(home: Home, web: Path, dreamd: Command) -> None:
    settings = home.homes.claude / "settings.json"
    settings.write_text(SETTINGS)
    assert dreamd(web, "connect", "claude-code")[0] == 0
    settings.write_text(settings.read_text().replace('"opus"', '"sonnet"'))
    assert "the rest stays" in dreamd(web, "disconnect", "claude-code")[1]
    assert settings.read_text() == SETTINGS.replace('"opus"', '"sonnet"')


def test_a_session_end_hook_put_in_by_hand_is_neither_doubled_nor_taken_out(home: Home, web: Path, dreamd: Command) -> None:
    settings = home.homes.claude / "settings.json"
    settings.write_text('{"hooks": {"SessionEnd": [{"hooks": [{"type": "command", "command": "/venv/bin/dreamd hook session-end"}]}]}}')
    before = settings.read_bytes()
    assert dreamd(web, "connect", "claude-code")[0] == 0
    assert hooks_of(settings)["SessionEnd"] == "/venv/bin/dreamd hook session-end"
    assert dreamd(web, "disconnect")[0] == 0
    assert settings.read_bytes() == before


def test_a_link_that_leads_nowhere_is_refused_and_nothing_is_made_behind_it(home: Home, web: Path, dreamd: Command, tmp_path: Path) -> None:
    (home.homes.claude / "settings.json").symlink_to(tmp_path / "gone" / "settings.json")
    code, _, err = dreamd(web, "connect", "claude-code")
    assert (code, "is a link to" in err) == (3, True)
    assert not (tmp_path / "gone").exists()


def test_a_settings_file_that_is_a_link_stays_one(home: Home, web: Path, dreamd: Command) -> None:
    kept = home.path / "dotfiles" / "claude.json"
    kept.parent.mkdir()
    kept.write_text(SETTINGS)
    (home.homes.claude / "settings.json").symlink_to(kept)
    assert dreamd(web, "connect", "claude-code")[0] == 0
    assert "session-start" in kept.read_text()
    assert dreamd(web, "disconnect")[0] == 0
    assert (home.homes.claude / "settings.json").is_symlink()
    assert kept.read_text() == SETTINGS


@pytest.mark.parametrize("data", [b'{\r\n  "a": 1\r\n}\r\n', b"\xef\xbb\xbf{}", b'{"a": 1, // mine\n}', b"[]"])
def test_a_file_that_could_not_be_given_back_is_refused_and_left(home: Home, web: Path, dreamd: Command, data: bytes) -> None:
    settings = home.homes.claude / "settings.json"
    settings.write_bytes(data)
    before = files_of(home)
    code, _, said = dreamd(web, "connect", "claude-code")
    assert code == 3
    assert str(settings) in said
    assert files_of(home) == before


def test_an_edit_made_between_reading_and_writing_is_kept(home: Home, web: Path, dreamd: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = home.homes.claude / "settings.json"
    settings.write_text(SETTINGS)
    write = connecting.agents.write

    def late(ledger: Ledger, change: connecting.Change) -> None:
        settings.write_text('{"model": "haiku"}')
        write(ledger, change)

    monkeypatch.setattr(connecting.agents, "write", late)
    assert dreamd(web, "connect", "claude-code")[0] == 1
    assert settings.read_text() == '{"model": "haiku"}'
    assert dreamd(web, "disconnect")[0] == 0
    assert settings.read_text() == '{"model": "haiku"}'


def test_without_a_name_the_agents_that_keep_logs_of_the_project_are_connected(home: Home, web: Path, dreamd: Command) -> None:
    code, out, _ = dreamd(web, "connect", "--dry-run")
    assert (code, ".claude/settings.json" in out, ".codex" in out) == (0, True, False)
    elsewhere = home.repository("elsewhere")
    code, _, said = dreamd(elsewhere, "connect")
    assert (code, "no agent keeps logs of" in " ".join(said.split())) == (2, True)


@pytest.mark.parametrize("words", [("cursor",), ("claude-code", "--agents-md"), ("claude-code", "--project", "/nowhere/at/all")])
def test_what_makes_no_sense_is_a_usage_error(home: Home, web: Path, dreamd: Command, words: tuple[str, ...]) -> None:
    assert dreamd(web, "connect", *words)[0] == 2


def test_an_agent_that_never_ran_here_is_refused(home: Home, web: Path, dreamd: Command) -> None:
    (home.path / ".codex").rmdir()
    code, _, said = dreamd(web, "connect", "codex")
    assert (code, ".codex is not there" in said) == (3, True)


def test_hooks_are_told_of_a_data_folder_that_only_this_shell_knows(home: Home, web: Path, dreamd: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DREAMD_DATA_DIR", str(home.path / "else where"))
    assert dreamd(web, "connect", "claude-code")[0] == 0
    command = hooks_of(home.homes.claude / "settings.json")["SessionStart"]
    assert f"--data={home.path / 'else where'}" in shlex.split(command)


def test_the_nightly_dream_is_installed_and_taken_out_without_a_trace(home: Home, web: Path, dreamd: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[tuple[str, ...]] = []
    monkeypatch.setattr(connecting, "run_command", lambda words, told=None: ran.append(tuple(words)) or "")
    monkeypatch.setattr(connecting.nightly, "kind_of", lambda system, has_systemd: "systemd")
    monkeypatch.setattr(connecting.shutil, "which", lambda name: None)
    before = files_of(home)
    code, said, _ = dreamd(web, "connect", "--nightly")
    assert code == 0
    assert "OnCalendar=" in said
    assert (home.path / ".config/systemd/user/dreamd-nightly.timer").is_file()
    assert [w[2] for w in ran] == ["daemon-reload", "enable"]
    ran.clear()
    assert dreamd(web, "disconnect", "--nightly")[0] == 0
    assert {w[2] for w in ran} == {"disable"}
    assert files_of(home) == before


# --- the dream that follows a session's end -------------------------------------------------------------------------------------------------


def test_a_session_end_starts_one_dream_at_most_every_half_hour(home: Home, web: Path, dreamd: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    data = home.path / ".local/share/dreamd"
    mark = home.path / "ran"
    monkeypatch.setattr(detached, "command", lambda options: [sys.executable, "-c", f"import os; open({str(mark)!r}, 'x').write(str(os.nice(0)))", *options])
    assert detached.start_dream(str(data), [])
    assert not detached.start_dream(str(data), []), "the last one is too young"
    _await(mark)
    assert mark.read_text() == "19"
    mark.unlink()
    os.utime(data / detached.STAMP, (1, 1))
    until(lambda: detached.start_dream(str(data), []))  # the first one may not be quite over, and there is one at a time
    _await(mark)


def _await(file: Path) -> None:
    """Until a file stands there and is not empty; a pipe nobody writes to is the clock."""
    import select

    quiet, other = os.pipe()
    for _ in range(1000):
        if file.exists() and file.stat().st_size:
            os.close(quiet)
            os.close(other)
            return
        select.select([quiet], [], [], 0.02)
    raise AssertionError(f"{file} was never written")


def test_the_end_of_a_session_of_a_known_project_is_dreamt_over_and_told_to_its_own_wiki(home: Home, web: Path, dreamd: Command) -> None:
    assert dreamd(web, "connect", "claude-code")[0] == 0
    end = hooks_of(home.homes.claude / "settings.json")["SessionEnd"]
    data = home.path / ".local/share/dreamd"
    (home.path / ".config/dreamd").mkdir(parents=True)
    (home.path / ".config/dreamd/config.toml").write_text("dream_at_end = false\n")
    other = home.repository("other")
    assert call(end, claude_event(other, "SessionEnd", reason="exit"), home) == ""
    assert list((data / "spool").glob("*.json")) == [] if (data / "spool").exists() else True
    log = home.claude(web, "two", "From now on always sign your commits.")
    assert call(end, claude_event(other, "SessionEnd", reason="other", transcript_path=str(log), cwd=str(web)), home) == ""
    assert len(list((data / "spool").glob("*.json"))) == 1
    assert not (data / detached.STAMP).exists(), "the setting turns it off"
    home.claude(other, "three", "hello")
    assert dreamd(other, "dream")[0] == 0
    assert len(list((data / "spool").glob("*.json"))) == 1, "another project's dream leaves it"
    code, said, _ = dreamd(other, "dream", "--pending", "--at-session-end")
    assert (code, said) == (0, "")
    code, said, err = dreamd(other, "dream", "--pending")
    assert code == 0
    assert "web:" in err
    assert "other:" not in err
    assert list((data / "spool").glob("*.json")) == []
    assert "sign your commits" in (home.path / "dreamd/web/how-we-work.md").read_text()
    assert dreamd(other, "dream", "--pending")[1] == "nothing new in any project that is dreamt over\n"


def test_with_a_worker_seen_lately_or_an_engine_that_costs_the_started_dream_leaves(
    home: Home, web: Path, dreamd: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.claude(web, "two", "From now on always sign your commits.")
    loaded = connecting.common.start(None)
    with wiring.open_only_store(wiring.place_of(home.path / "dreamd/web", loaded, create=False)) as store:
        store.process_seen("desk:1:1", "worker")
    assert "nothing new" in dreamd(web, "dream", "--pending", "--at-session-end")[1]
    monkeypatch.setenv("DREAMD_ENGINE", "claude")
    monkeypatch.setenv("DREAMD_CLAUDE__BUDGET_USD", "1")
    monkeypatch.setenv("DREAMD_CLAUDE__API_KEY", "k")
    assert "costs money" in dreamd(web, "dream", "--pending", "--at-session-end")[2]
    assert "sign your commits" not in (home.path / "dreamd/web/how-we-work.md").read_text()
