"""`dreamd hook session-start` as the process an agent starts: the brief or nothing, exit code 0, whatever is broken; and who was told, out of the spool."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipelines.errors import Refused
from pipelines.model import digest
from pipelines.store import Store
from tests.dreaming import SCOPE, Desk
from tests.integration.test_projects import Home
from tests.redacting import rule_cache
from tests.writing import ClaudeLog
from worker import detached, projects, registry, settings, whose, wiring
from worker.connect.briefs import brief_file, leave_briefs
from worker.spool import Drained, drain

EVENT = {"session_id": "5b539e53", "transcript_path": "/logs/5b539e53.jsonl", "hook_event_name": "SessionStart", "source": "startup", "model": "opus"}
ALLOWED = "__future__, contextlib, hashlib, json, os, select, time"


@pytest.fixture
def store(desk: Desk) -> Iterator[Store]:
    with desk.store() as opened:
        yield opened


@pytest.fixture
def told(desk: Desk, store: Store) -> Desk:
    """A desk whose brief lies ready."""
    ClaudeLog("one").user("From now on always run make lint before you push.").save(desk.logs)
    desk.dream()
    assert leave_briefs(store, SCOPE, data=desk.data, wiki=desk.wiki)
    return desk


def start(
    data: Path, event: object, *arguments: str, cwd: Path | None = None, env: Mapping[str, str] | None = None, before: Callable[[], None] | None = None
) -> str:
    """Run the hook; whatever happens it says nothing of its own and exits 0."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("DREAMD_", "XDG_"))} | {"DREAMD_DATA_DIR": str(data), "PYTHONWARNINGS": "error"}
    payload = event if isinstance(event, bytes) else json.dumps(event).encode()
    done = subprocess.run((sys.executable, "-m", "worker", "hook", "session-start", *arguments), input=payload, env={**kept, **(env or {})}, cwd=cwd,
                          preexec_fn=before, capture_output=True, timeout=30, check=False)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def spooled(desk: Desk) -> list[dict[str, object]]:
    return [json.loads(p.read_bytes()) for p in sorted((desk.data / "spool").glob("*.json"))]


def test_a_session_is_told_the_brief_whole_and_that_it_was_stands_in_the_spool(told: Desk) -> None:
    said = start(told.data, {**EVENT, "cwd": str(told.wiki)}, cwd=told.root)
    assert said.splitlines()[0] == "<dreamd-brief>"
    assert "make lint" in said
    assert said == json.loads(brief_file(told.data, told.wiki).read_bytes())["doors"]["claude-code"]["text"]
    (end,) = spooled(told)
    assert (end["door"], end["version"]) == ("session-start", 1)
    assert {p.stat().st_mode & 0o077 for p in (told.data / "briefs", *(told.data / "briefs").iterdir(), *(told.data / "spool").iterdir())} == {0}


@pytest.mark.parametrize("payload", [b"", b"{", b"[]", b"\xff\x00", b'{"cwd": 7}', b'{"cwd": "/nowhere/\\u0000"}', b"[" * 100_000])
def test_what_is_no_event_is_told_nothing_or_what_stands_where_it_is_called(told: Desk, payload: bytes) -> None:
    start(told.data, payload, cwd=told.root)
    assert all(isinstance(s, dict) for s in spooled(told))


def test_an_agent_that_leaves_the_pipe_open_is_answered(told: Desk) -> None:
    command = (sys.executable, "-m", "worker", "hook", "session-start", f"--wiki={told.wiki}")
    with subprocess.Popen(command, env={**os.environ, "DREAMD_DATA_DIR": str(told.data)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as hook:
        assert hook.stdin is not None
        assert hook.stdout is not None
        hook.stdin.write(json.dumps({**EVENT, "cwd": "/"}).encode())
        hook.stdin.flush()
        assert "make lint" in hook.stdout.read().decode()
        assert hook.wait(30) == 0


@pytest.mark.parametrize("how", ["no brief", "broken brief", "no such door", "a folder in its place", "no data folder"])
def test_without_a_brief_that_can_be_read_a_session_is_told_nothing(told: Desk, how: str) -> None:
    file, data, arguments = brief_file(told.data, told.wiki), told.data, []
    if how == "no such door":
        arguments = ["--agent", "cursor"]
    elif how == "no data folder":
        data = told.root / "nowhere"
    elif how == "broken brief":
        file.write_bytes(file.read_bytes()[:-40])
    else:
        file.unlink()
        if how == "a folder in its place":
            file.mkdir()
    assert start(data, {**EVENT, "cwd": str(told.wiki)}, *arguments) == ""
    assert spooled(told) == []


def test_where_nothing_can_be_written_a_session_is_told_all_the_same(told: Desk) -> None:
    (told.data / "spool").write_text("")
    assert "make lint" in start(told.data, {**EVENT, "cwd": str(told.wiki)})


def test_with_database_and_settings_broken_a_session_is_told(told: Desk) -> None:
    (told.root / "broken.toml").write_text("wiki = \n")
    env = {"DREAMD_DATABASE_URL": "postgresql+psycopg://nobody@127.0.0.1:1/x", "DREAMD_WIKKI": "no setting", "DREAMD_CONFIG": str(told.root / "broken.toml")}
    assert "make lint" in start(told.data, {**EVENT, "cwd": str(told.wiki)}, env=env)


def test_nobody_who_closed_the_pipe_counts_as_told(told: Desk) -> None:
    read, write = os.pipe()
    os.close(read)
    command = (sys.executable, "-m", "worker", "hook", "session-start", f"--wiki={told.wiki}")
    done = subprocess.run(
        command, env={**os.environ, "DREAMD_DATA_DIR": str(told.data)}, input=b"{}", stdout=write, stderr=subprocess.PIPE, timeout=30, check=False
    )
    os.close(write)
    assert (done.returncode, done.stderr, spooled(told)) == (0, b"", [])


def test_it_imports_the_standard_library_alone_and_little_of_it(told: Desk) -> None:
    env = {k: v for k, v in os.environ.items() if not k.startswith("DREAMD_")} | {"DREAMD_DATA_DIR": str(told.data)}

    def loaded(first: str) -> set[str]:
        code = f"import sys; {first}; print(*sys.modules)"
        event = json.dumps({**EVENT, "cwd": str(told.wiki)})
        done = subprocess.run((sys.executable, "-c", code), check=True, capture_output=True, text=True, env=env, input=event, timeout=30)
        return set(done.stdout.splitlines()[-1].split())

    ours = loaded("from worker.entry import main; sys.argv = ['dreamd', 'hook', 'session-start']; assert main() == 0")
    assert ours - loaded(f"import {ALLOWED}") == {"worker", "worker.entry", "worker.hook", "worker.session_start", "worker.whose"}
    assert len(spooled(told)) == 1


# --- whose a session is ------------------------------------------------------------------------------------------------------------------


def test_hooks_find_the_wiki_that_commands_find(told: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [n for n in os.environ if n.startswith("DREAMD_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("DREAMD_DATA_DIR", str(told.data))
    loaded = settings.load()
    code = tmp_path / "code" / "端口 web"
    (code / ".git" / "worktrees" / "fix").mkdir(parents=True)
    (code / "src").mkdir()
    tree, module, plain = tmp_path / "fix", code / "vendored", tmp_path / "plain"
    for folder, leads in ((tree, code / ".git/worktrees/fix"), (module, code / ".git/modules/vendored"), (plain, "")):
        folder.mkdir()
        if leads:
            (folder / ".git").write_text(f"gitdir: {leads}\n")
    (tmp_path / "link").symlink_to(code / "src")
    registry.register(told.data, registry.Registered(root=code, wiki=tmp_path / "w" / "web", scope="web"))
    folders = (code, code / "src", tree, module, plain, tmp_path / "link", told.wiki, told.wiki / ".dreamd", tmp_path, Path("/"))
    for folder in folders:
        projects.root_of.cache_clear()
        assert whose.root_of(str(folder)) == str(projects.root_of(folder)), folder
        try:
            wanted = str(wiring.find_wiki(None, loaded, start=folder))
        except wiring.NoWiki:
            wanted = None
        assert whose.wiki_of(str(told.data), str(folder)) == wanted, folder
    assert {whose.wiki_of(str(told.data), str(f)) for f in (code, tree)} == {str(tmp_path / "w" / "web")}
    assert all(whose.digest(text) == digest(text) for text in ("", "a", "端口", "\ud800"))


# --- out of the spool ----------------------------------------------------------------------------------------------------------------------


def drained(desk: Desk, store: Store, **given: object) -> Drained:
    return drain(desk.parts(store), desk.data / "spool", desk.request(), host="desk", **given)  # type: ignore[arg-type]


def test_who_was_told_becomes_a_row_once_wherever_draining_is_killed(told: Desk, store: Store) -> None:
    start(told.data, {**EVENT, "cwd": str(told.wiki)})
    (spool,) = (told.data / "spool").glob("*.json")
    content = spool.read_bytes()

    def kill(step: str) -> None:
        if step == "delivery_recorded":
            raise Refused("killed")

    assert drain(replace(told.parts(store), step=kill), told.data / "spool", told.request(), host="desk").left == 1
    assert spool.read_bytes() == content
    assert drained(told, store).told == 1
    assert list((told.data / "spool").glob("*.json")) == []
    (row,) = store.deliveries(SCOPE)
    assert (row.session, row.door, row.target, row.agent) == ("5b539e53", "claude-code", "brief", "claude-code")
    assert row.at == datetime.fromtimestamp(json.loads(content)["at"], UTC)
    heads = {f"{h.version.note}/{h.version.slot}" for h in store.heads(SCOPE)}
    assert row.versions
    assert set(row.versions) <= heads


def test_who_was_told_of_another_wiki_is_left_to_that_one(told: Desk, store: Store) -> None:
    start(told.data, {**EVENT, "cwd": str(told.wiki)})
    other = replace(told.request(), wiki=told.root / "other")
    assert drain(told.parts(store), told.data / "spool", other, host="desk").left == 1
    assert drained(told, store, asks=False).told == 1


@pytest.mark.parametrize("wrong", [{"told": None}, {"told": {"wiki": 7}}, {"at": "noon"}, {"at": 1e300}, {"payload": "{}"}])
def test_what_no_hook_wrote_is_kept_as_a_letter(told: Desk, store: Store, wrong: dict[str, object]) -> None:
    start(told.data, {**EVENT, "cwd": str(told.wiki)})
    (spool,) = (told.data / "spool").glob("*.json")
    spool.write_text(json.dumps({**json.loads(spool.read_bytes()), **wrong}))
    assert drained(told, store) == Drained(letters=1)
    assert store.deliveries(SCOPE) == ()


def test_a_session_end_goes_to_the_wiki_of_its_first_folder_and_one_of_nobody_to_whoever_asks(told: Desk, store: Store) -> None:
    code = told.root / "code"
    (code / ".git").mkdir(parents=True)
    registry.register(told.data, registry.Registered(root=code, wiki=told.root / "other", scope="other"))
    log = ClaudeLog("elsewhere", cwd=str(code)).user("From now on always use tabs.").save(told.root / "kept")
    for transcript, cwd in ((log, "/"), (None, str(code)), (None, "/")):
        kept = {k: v for k, v in os.environ.items() if not k.startswith("DREAMD_")} | {"DREAMD_DATA_DIR": str(told.data)}
        event = {"session_id": "x", "hook_event_name": "SessionEnd", "cwd": cwd, **({"transcript_path": str(transcript)} if transcript else {})}
        subprocess.run(
            (sys.executable, "-m", "worker", "hook", "session-end"), input=json.dumps(event).encode(), env={**kept, "DREAMD_DREAM_AT_END": "0"}, check=True
        )
    done = drained(told, store, asks=False)
    assert (done.left, done.asked) == (3, ())
    done = drained(told, store)
    assert (done.left, len(done.asked)) == (2, 1)
    assert drain(told.parts(store), told.data / "spool", replace(told.request(), wiki=told.root / "other", scope="other"), host="desk", asks=False).left == 0
    assert [s.uid for s in store.sessions("other")] == [ClaudeLog("elsewhere").uuid]


def test_corrections_and_briefs_that_did_not_change_are_not_written_anew(told: Desk, store: Store) -> None:
    file = brief_file(told.data, told.wiki)
    before = file.stat().st_mtime_ns, file.stat().st_ino
    assert not leave_briefs(store, SCOPE, data=told.data, wiki=told.wiki)
    assert (file.stat().st_mtime_ns, file.stat().st_ino) == before
    assert not leave_briefs(store, "nobody", data=told.data, wiki=told.wiki)


# --- the dream that follows ------------------------------------------------------------------------------------------------------------------


def test_the_end_of_a_session_starts_a_dream_that_outlives_its_agent(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").mkdir()
    home = Home(tmp_path / "home")
    root, data = home.repository("web"), home.path / ".local/share/dreamd"
    log = home.claude(root, "one", "From now on always run make lint before you push.")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("DREAMD_", "XDG_")) and k not in {"CLAUDE_CONFIG_DIR", "CODEX_HOME"}}
    env = {**kept, "HOME": str(home.path), "XDG_CACHE_HOME": str(rule_cache(request).parent)}
    registry.register(data, registry.Registered(root=root, wiki=home.path / "dreamd/web", scope="web"))
    event = {"session_id": log.stem, "transcript_path": str(log), "cwd": str(root), "hook_event_name": "SessionEnd", "reason": "prompt_input_exit"}
    command = (sys.executable, "-m", "worker", "hook", "session-end", "--connected")
    done = subprocess.run(command, input=json.dumps(event).encode(), env=env, start_new_session=True, capture_output=True, timeout=30, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    with (data / detached.STAMP).open() as stamp:
        fcntl.flock(stamp, fcntl.LOCK_EX)  # held for as long as the dream runs
        said = stamp.read()
    assert said.startswith("started 2")
    assert "make lint" in (home.path / "dreamd/web/MEMORY.md").read_text(), said
    assert list((data / "spool").glob("*.json")) == []
    assert json.loads(brief_file(data, home.path / "dreamd/web").read_bytes())["scope"] == "web"
