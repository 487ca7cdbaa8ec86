"""A person's projects are found by themselves: whose a session is, what stands beside it, and a dream that needs no path."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.redacting import shared_redactor
from tests.writing import ClaudeLog
from worker import wiring
from worker.cli import run
from worker.projects import Homes, deleted_on, first_folder, root_of, sanitised, survey
from worker.registry import all_registered, planned, register, registered


@dataclass(frozen=True)
class Home:
    """A home folder with agents in it."""

    path: Path

    @property
    def homes(self) -> Homes:
        return Homes(claude=self.path / ".claude", codex=self.path / ".codex")

    def repository(self, name: str) -> Path:
        root = self.path / "code" / name
        (root / ".git").mkdir(parents=True)
        return root

    def claude(self, cwd: Path, session: str, *said: str, folder: str | None = None) -> Path:
        log = ClaudeLog(session, cwd=str(cwd))
        for text in said:
            log.user(text).assistant("Done.")
        place = self.homes.claude / "projects" / (folder or sanitised(cwd)) / f"{log.uuid}.jsonl"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(log.text(), encoding="utf-8")
        return place

    def codex(self, cwd: Path, session: str) -> Path:
        place = self.homes.codex / "sessions/2026/03/02" / f"rollout-2026-03-02T09-00-00-{session}.jsonl"
        place.parent.mkdir(parents=True, exist_ok=True)
        stamp = "2026-03-02T09:00:00.000Z"
        lines = [
            {"timestamp": stamp, "type": "session_meta", "payload": {"id": session, "timestamp": stamp, "cwd": str(cwd), "originator": "codex_cli_rs", "cli_version": "0.128.0"}},
            {"timestamp": stamp, "type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "From now on always run make lint before you push."}]}},
        ]  # fmt: skip
        place.write_text("".join(json.dumps(x) + "\n" for x in lines), encoding="utf-8")
        return place


Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    path = tmp_path / "home"
    path.mkdir()
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


def test_a_session_belongs_to_the_repository_of_its_first_working_directory_worktrees_included(home: Home) -> None:
    web = home.path / "code" / "web"
    web.mkdir(parents=True)
    tree = home.path / "trees" / "web-fix"
    for words in (
        ("init", "-q", str(web)),
        ("-C", str(web), "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"),
        ("-C", str(web), "worktree", "add", "-q", str(tree)),
    ):
        subprocess.run(("git", *words), check=True)
    home.claude(web / "src", "one", "hello")
    home.claude(tree, "two", "hello")
    home.codex(web, "three")
    found = survey(home.homes)
    assert [(p.root, len(p.logs)) for p in found.projects] == [(web, 3)]


def test_two_paths_the_agent_gives_one_folder_name_stay_two_projects_and_neither_takes_their_common_notes(home: Home, dreamd: Command) -> None:
    dash, deep = home.repository("a-b"), home.repository("a") / "b"
    (deep / ".git").mkdir(parents=True)
    assert sanitised(dash) == sanitised(deep)
    home.claude(dash, "one", "From now on always use tabs in Makefiles.")
    home.claude(deep, "two", "hello")
    memory = home.homes.claude / "projects" / sanitised(dash) / "memory"
    memory.mkdir()
    (memory / "MEMORY.md").write_text("# Memory\n- The port is 5432.\n", encoding="utf-8")
    found = {p.root: p for p in survey(home.homes).projects}
    assert set(found) == {dash, deep}
    assert found[dash].shared == (deep,)
    code, out, err = dreamd(dash, "dream")
    assert code == 0
    assert "carried" not in out
    assert str(deep) in err


def test_a_subagents_log_goes_with_the_session_it_stands_below(home: Home) -> None:
    web, other = home.repository("web"), home.repository("other")
    main = home.claude(web, "one", "hello")
    below = main.with_suffix("") / "subagents" / "agent-1.jsonl"
    below.parent.mkdir(parents=True)
    below.write_text(ClaudeLog("two", cwd=str(other)).user("look around").text(), encoding="utf-8")
    assert [(p.root, len(p.logs)) for p in survey(home.homes).projects] == [(web, 2)]


def test_a_working_directory_is_read_from_records_not_from_what_somebody_said(tmp_path: Path) -> None:
    said = tmp_path / "said.jsonl"
    said.write_text(json.dumps({"type": "user", "text": 'see {"cwd": "/evil"}'}) + "\n" + json.dumps({"cwd": "/good/\u8def"}) + "\n", encoding="utf-8")
    assert first_folder(str(said)) == Path("/good/\u8def")
    nothing = tmp_path / "nothing.jsonl"
    nothing.write_text('{"cwd": 5}\n{"cwd": "\\u0000"}\n', encoding="utf-8")
    assert first_folder(str(nothing)) is None
    assert first_folder(str(tmp_path / "gone.jsonl")) is None


def test_dream_without_a_path_reads_the_project_and_every_later_command_finds_its_wiki(home: Home, dreamd: Command) -> None:
    web = home.repository("web")
    home.claude(web, "one", "From now on always run the tests with pytest -x before you commit.", "The staging port is 5433, not 5432.")
    home.codex(web, "two")
    memory = home.homes.claude / "projects" / sanitised(web) / "memory"
    memory.mkdir()
    (memory / "MEMORY.md").write_text("# Memory\n- The staging port is 5432.\n", encoding="utf-8")
    before = {p: p.read_bytes() for p in home.path.rglob("*") if p.is_file()}
    code, out, err = dreamd(web / ".git", "dream")
    assert (code, "2 sessions" in out, "corrected 1" in out) == (0, True, True), out + err
    wiki = home.path / "dreamd" / "web"
    brief = (wiki / "MEMORY.md").read_text(encoding="utf-8")
    assert "5433, not 5432" in brief
    assert "make lint" in brief
    assert {p: p.read_bytes() for p in before} == before
    code, out, _ = dreamd(web, "status")
    assert (code, str(wiki) in out) == (0, True)
    code, out, _ = dreamd(web)
    assert "Last dream over web: completed" in out
    assert "~/dreamd/web" in out


def test_a_dream_that_was_asked_for_and_waits_is_not_said_to_run(home: Home, dreamd: Command) -> None:
    web = home.repository("web")
    home.claude(web, "one", "From now on always write tests.")
    assert dreamd(web, "dream")[0] == 0
    assert dreamd(web, "submit", "--request-id", "later")[0] == 0
    code, out, _ = dreamd(web)
    assert (code, "Last dream over web: waits for a worker: dreamd up or dreamd worker runs it" in out) == (0, True), out


def test_dreamd_alone_writes_nothing_and_says_what_to_do_next(home: Home, dreamd: Command) -> None:
    web, api = home.repository("web"), home.repository("api")
    home.claude(web, "one", "hello")
    home.claude(api, "two", "hello")
    before = {p for p in home.path.rglob("*")}
    code, out, _ = dreamd(web)
    assert {p for p in home.path.rglob("*")} == before
    assert (code, "2 projects, 2 session logs" in out, "* web" in out, out.strip().endswith("Next: dreamd dream")) == (0, True, True, True), out
    code, out, _ = dreamd(web, "--json")
    told = json.loads(out)
    assert [(p["name"], p["here"], len(p["deleted_on"] or "")) for p in told["projects"]] == [("web", True, 32), ("api", False, 32)]
    code, _, err = dreamd(home.path, "dream")
    assert (code, "no agent keeps logs" in err, "Invalid value" in err) == (2, True, False)


def test_dreamd_alone_goes_from_the_dream_to_what_waits_to_connecting_and_back_to_the_dream(home: Home, dreamd: Command) -> None:
    web = home.repository("web")
    log = home.claude(web, "one", "We decided to use Postgres for the tide table.")

    def then() -> str:
        return dreamd(web)[1].strip().rpartition("Next: ")[2]

    assert then() == "dreamd dream"
    dreamd(web, "dream")
    assert then() == "dreamd connect claude-code"
    (home.homes.claude / "settings.json").write_text('{"hooks": {"SessionStart": "dreamd hook session-start"}}', encoding="utf-8")
    assert then() == "nothing now; dreamd dream once a session has ended"
    assert "New sessions of claude-code are told" in dreamd(web)[1]
    home.claude(web, "two", "The centre is west of the cave, not east.")
    assert then() == "dreamd dream"
    memory = log.parent / "memory"
    memory.mkdir()
    (memory / "cave.md").write_text("The centre is east of the cave.\n", encoding="utf-8")
    dreamd(web, "dream")
    assert then() == "dreamd review"


def test_names_of_wide_letters_leave_the_columns_where_they_are(home: Home, dreamd: Command) -> None:
    for name in ("web", "灯塔灯塔灯塔"):
        home.claude(home.repository(name), name, "hello")
    rows = [line for line in dreamd(home.path)[1].splitlines() if line.startswith("  ") and " 20" in line]
    assert [line.replace("灯塔", "____").index(" 20") for line in rows] == [rows[0].replace("灯塔", "____").index(" 20")] * 2


def test_all_dreams_over_every_project_each_into_its_own_wiki(home: Home, dreamd: Command) -> None:
    roots = [home.repository("web"), home.repository("api"), home.repository("nested/web")]
    for number, root in enumerate(roots):
        home.claude(root, f"s{number}", f"From now on always greet with number {number}.")
    code, out, err = dreamd(home.path, "dream", "--all")
    assert (code, out.count("completed")) == (0, 3), out + err
    given = all_registered(home.path / ".local/share/dreamd")
    assert {g.root for g in given} == set(roots)
    assert len({g.wiki for g in given}) == len({g.scope for g in given}) == 3
    for g in given:
        assert f"number {roots.index(g.root)}" in (g.wiki / "MEMORY.md").read_text(encoding="utf-8")
    assert dreamd(home.path, "dream", "--all", "--wiki", "x")[0] == 2


def test_a_project_is_given_a_name_nobody_has_and_keeps_it(tmp_path: Path) -> None:
    data, wikis = tmp_path / "data", tmp_path / "wikis"
    (wikis / "web").mkdir(parents=True)
    (wikis / "web" / "letter.txt").write_text("mine", encoding="utf-8")
    first = planned(data, Path("/a/web"), wikis=wikis)
    assert first.wiki.name.startswith("web-")
    assert first.scope == first.wiki.name
    register(data, first)
    assert planned(data, Path("/a/web"), wikis=tmp_path / "elsewhere") == first
    assert planned(data, Path("/b/\u652f\u4ed8 app "), wikis=wikis, scope="ana").scope == "ana/\u652f\u4ed8-app"
    next(data.rglob("*.json")).write_text("{", encoding="utf-8")
    assert registered(data, Path("/a/web")) is None


def test_the_day_an_agent_deletes_a_log_follows_its_own_setting(home: Home) -> None:
    web = home.repository("web")
    home.claude(web, "one", "hello")
    home.codex(web, "two")
    logs = {log.agent: log for log in survey(home.homes).projects[0].logs}
    at = logs["claude"].mtime
    assert deleted_on(logs["codex"], home.homes) is None
    assert (deleted_on(logs["claude"], home.homes) or datetime.min.replace(tzinfo=UTC)) - at == timedelta(days=30)
    (home.homes.claude / "settings.json").write_text('{"cleanupPeriodDays": 90}', encoding="utf-8")
    assert (deleted_on(logs["claude"], home.homes) or datetime.min.replace(tzinfo=UTC)) - at == timedelta(days=90)


def test_a_dream_over_all_ends_with_a_line_over_all_and_dreamd_alone_goes_on_from_there(home: Home, dreamd: Command) -> None:
    web, empty = home.repository("web"), home.repository("empty")
    home.claude(web, "one", "From now on always run the tests with pytest -x before you commit.")
    home.claude(empty, "two", "hello")
    code, out, _ = dreamd(home.path, "dream", "--all")
    assert code == 0
    assert out.splitlines()[-1] == "All in all: 2 projects dreamt over, 1 learnt something, nothing waits for you. Next: dreamd"
    assert not re.search(r"\b0 |disputed|pending", out), out
    assert dreamd(home.path)[1].splitlines()[-1] == "Next: dreamd connect claude-code"
    home.claude(empty, "three", "The API listens on port 8080.")
    assert dreamd(home.path)[1].splitlines()[-1].startswith("Next: dreamd dream --all")


def test_a_log_without_a_folder_is_named_in_the_right_number(home: Home, dreamd: Command) -> None:
    web = home.repository("web")
    home.claude(web, "one", "hello")
    lost = home.homes.claude / "projects" / "lost" / "a.jsonl"
    lost.parent.mkdir(parents=True)
    lost.write_text('{"type": "summary", "summary": "x"}\n', encoding="utf-8")
    assert "1 log names no folder it worked in (~/.claude/projects/lost/a.jsonl): " in dreamd(web)[1]


def test_dream_in_a_wiki_folder_is_over_the_project_it_shows_and_elsewhere_says_where_to_go(home: Home, dreamd: Command) -> None:
    web = home.repository("web")
    home.claude(web, "one", "From now on always run the tests with pytest -x before you commit.")
    assert dreamd(web, "dream")[0] == 0
    home.claude(web, "two", "The API listens on port 8080.")
    code, out, err = dreamd(home.path / "dreamd" / "web" / "journal", "dream")
    assert (code, "2 logs into " in err, "1 new" in out) == (0, True, True), out + err
    code, _, err = dreamd(home.path / "dreamd", "dream")
    assert (code, "--all" in err, "cd to a project" in err) == (2, True, True), err
