"""Every command over the sample wiki, in this process for speed: what it prints, its JSON, its exit code, and what it says of bad input."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from pipelines.logs import ahead as ahead_module
from pipelines.logs import codec as codec_module
from pipelines.logs import intake as intake_module
from pipelines.logs.split import split_stream
from pipelines.store import this_process
from tests.contracts.store_builders import start_dream
from tests.dreaming import differences, footprint
from tests.redacting import shared_redactor
from tests.writing import ClaudeLog, conversation
from worker import wiring
from worker.cli import run
from worker.settings import Settings

SAMPLE = Path(__file__).resolve().parents[2] / "deploy" / "sample"


@dataclass(frozen=True)
class Told:
    """What a command said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, object]:
        """The one object it printed."""
        value = json.loads(self.out)
        assert isinstance(value, dict)
        return value


Command = Callable[..., Told]


@pytest.fixture
def dreamd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> Command:
    """The command line in a home of its own."""
    for name in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(wiring, "redactor", lambda: shared_redactor(request))

    def command(*arguments: object) -> Told:
        capsys.readouterr()
        code = run([str(a) for a in arguments])
        said = capsys.readouterr()
        return Told(code, said.out, said.err)

    return command


@pytest.fixture(scope="module")
def kept() -> dict[str, Path]:
    """The home the first test's dream made, copied for the others."""
    return {}


@pytest.fixture
def wiki(dreamd: Command, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, kept: dict[str, Path]) -> Path:
    """A wiki of the sample and two short logs with odd words in them."""
    if "home" not in kept:
        logs = tmp_path / "logs"
        ClaudeLog("odd").user("The parser is written in C++ and lives in src/a_b.c, see #4573.").assistant("支付数据库在新加坡。").save(logs)
        told = dreamd("dream", SAMPLE / "sessions", SAMPLE / "observations.events.jsonl", logs, "--notes", SAMPLE / "notes", "--wiki", tmp_path / "wiki")
        assert told.code == 0, told.err
        kept["home"] = tmp_path_factory.mktemp("kept") / "home"
        shutil.copytree(tmp_path, kept["home"])
    else:
        shutil.copytree(kept["home"], tmp_path, dirs_exist_ok=True)
    return tmp_path / "wiki"


def blobs(home: Path) -> list[Path]:
    return sorted((home / "data").rglob("*.zst"))


def store_file(home: Path) -> Path:
    (found,) = (home / "data").rglob("store.db")
    return found


def shown(wiki: Path) -> dict[str, tuple[int, str]]:
    """Time and digest of every file of the wiki that a person sees."""
    return {p: v for p, v in footprint(wiki).items() if not p.startswith(".dreamd/")}


# --- reading -----------------------------------------------------------------------------------------------------------------------------


def test_status_counts_what_the_scope_holds(dreamd: Command, wiki: Path) -> None:
    told = dreamd("status", "--wiki", wiki)
    assert told.code == 0
    assert "5 sessions" in told.out
    as_json = dreamd("status", "--wiki", wiki, "--json").json
    assert as_json["sessions"] == 5
    assert as_json["last"]["state"] == "completed"  # type: ignore[index]
    said = (wiki / "inbox.md").read_text().split("\n")[2]
    assert said.startswith(f"{as_json['waiting']} things wait for you"), "status counts what the inbox holds"
    assert f"{as_json['waiting']} things wait for you in " in told.out
    assert f"; {as_json['waiting']} wait for you.\n" in dreamd("journal", "--wiki", wiki).out


def test_status_names_the_pages_that_are_held_back_for_a_secret(dreamd: Command, wiki: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = next(p.name for p in sorted(wiki.glob("*.md")) if "## Facts" in p.read_text())
    (wiki / page).unlink()
    with monkeypatch.context() as newer:
        newer.setattr("pipelines.run.publish.covered", lambda redactor, path, data: b"" if path == page else data)
        assert dreamd("publish", "--wiki", wiki).code == 1
    told = dreamd("status", "--wiki", wiki)
    assert told.code == 0
    assert f"held back, since a secret seems to stand there: {page}; " in told.out
    assert "dreamd scrub" in told.out
    assert dreamd("status", "--wiki", wiki, "--json").json["withheld"] == [page]
    assert dreamd("publish", "--wiki", wiki).code == 0
    assert "held back" not in dreamd("status", "--wiki", wiki).out


def test_status_of_a_shared_store_needs_no_wiki(dreamd: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DREAMD_DATABASE_URL", f"sqlite:///{tmp_path / 'shared.db'}")
    told = dreamd("status")
    assert (told.code, told.err) == (0, "")
    assert told.out.endswith("0 pages\nno dream yet\n")
    assert dreamd("status", "--json").json["wiki"] is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(("--help",), "--version"), (("watch", "--help"), "default: the setting quiet_s, 600"), (("up", "--help"), "default: the setting quiet_s, 600"),
     (("schedule", "add", "--help"), "importance")],
)  # fmt: skip
def test_help_says_what_a_newcomer_asks(dreamd: Command, arguments: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert said in " ".join(dreamd(*arguments).out.split())


@pytest.mark.parametrize(
    ("query", "found"),
    [("C++", "written in C++"), ("a_b.c", "src/a_b.c"), ("#4573", "#4573"), ("数据库", "支付数据库"), ("新加坡", "新加坡"), ("5433", "5433")],
)
def test_search_finds_identifiers_and_chinese_in_turns(dreamd: Command, wiki: Path, query: str, found: str) -> None:
    hits = dreamd("search", query, "--wiki", wiki, "--json").json["hits"]
    assert isinstance(hits, list)
    assert found in hits[0]["text"]
    first = dreamd("search", query, "--wiki", wiki).out.splitlines()[0]
    assert hits[0]["kind"] == "note" or f":{hits[0]['line']}" in first.split()[0], "a turn is named by session:line"


def test_status_says_that_a_dream_was_cut_short_and_not_that_it_runs(dreamd: Command, wiki: Path) -> None:
    place = wiring.place_of(wiki, Settings(), create=False)
    with wiring.open_only_store(place) as store:
        start_dream(store, "local", cause="command", holder=f"{place.host}:999999999:1")
    assert "cut short; the next dream goes on from there" in dreamd("status", "--wiki", wiki).out
    with wiring.open_only_store(place) as store:
        store.finish_dream(store.dreams("local")[0], "failed")
        start_dream(store, "local", cause="command", holder=this_process(place.host))
    assert "still running" in dreamd("status", "--wiki", wiki).out


def test_search_finds_notes_beside_turns(dreamd: Command, wiki: Path) -> None:
    hits = dreamd("search", "pnpm", "--wiki", wiki, "--json").json["hits"]
    assert {h["kind"] for h in hits} == {"note", "turn"}  # type: ignore[attr-defined]


def test_search_says_of_a_note_that_is_not_so_that_it_is_not(dreamd: Command, wiki: Path) -> None:
    told = dreamd("search", "staging database port", "--wiki", wiki).out.splitlines()
    (wrong,) = (row for row in told if row.endswith("The staging database listens on port 5432."))
    (right,) = (row for row in told if row.endswith("  note: The staging database listens on port 5433, not 5432"))
    assert "  note, corrected: " in wrong
    hits = dreamd("search", "staging database port", "--wiki", wiki, "--json").json["hits"]
    assert {h["uid"]: h["standing"] for h in hits}[right.split()[0].removeprefix("n-")] == "confirmed"  # type: ignore[attr-defined]


def test_search_for_what_nobody_said_finds_nothing(dreamd: Command, wiki: Path) -> None:
    told = dreamd("search", "xyzzy", "--wiki", wiki)
    assert (told.code, told.out) == (0, "nothing found\n")


def test_why_leads_from_a_page_and_from_a_note_to_the_log_line(dreamd: Command, wiki: Path) -> None:
    page = (wiki / "how-we-work.md").read_text()
    line = next(x for x in page.splitlines() if "make migrate" in x)
    note = line.rsplit("^", 1)[1]
    of_note = dreamd("why", note, "--wiki", wiki)
    assert of_note.code == 0
    assert "0fe04fa6…:15" in of_note.out
    (where,) = [x.strip() for x in of_note.out.splitlines() if x.strip().endswith(".jsonl:15")]
    log, _, number = where.rpartition(":")
    assert "Always run migrations with" in Path(log).read_text(encoding="utf-8").splitlines()[int(number) - 1]
    assert "“Always run migrations with `make migrate`, never by hand.”" in of_note.out
    assert of_note.out in dreamd("why", "how-we-work.md", "--wiki", wiki).out
    (chain,) = dreamd("why", note, "--wiki", wiki, "--json").json["chains"]  # type: ignore[misc]
    (proof,) = chain["proofs"]
    assert proof["path"] == log
    places = [t["line"] for t in proof["around"]]
    assert places.index(15) == 3, "three turns before"
    assert len(places) == 7, "and three after"


def test_why_shows_the_verdict_and_proof_of_a_carried_note(dreamd: Command, wiki: Path) -> None:
    told = dreamd("why", "ports", "--wiki", wiki)
    assert "notes/ports.md line 10: The staging database listens on port 5432." in told.out
    assert "verdict: corrected (a log says otherwise)" in told.out
    assert "no, the staging database listens on port 5433, not 5432" in told.out


def test_why_of_an_unknown_name_is_refused_and_says_how_to_find_one(dreamd: Command, wiki: Path) -> None:
    told = dreamd("why", "no-such-page", "--wiki", wiki)
    assert told.code == 3
    assert "search" in told.err


def test_verify_reads_every_citation_again(dreamd: Command, wiki: Path) -> None:
    told = dreamd("verify", "--wiki", wiki, "--json")
    assert told.code == 0
    assert told.json["failed"] == []
    assert told.json["citations"] > 20  # type: ignore[operator]


def test_verify_finds_a_blob_that_was_changed_and_one_that_is_gone(dreamd: Command, wiki: Path, tmp_path: Path) -> None:
    changed = blobs(tmp_path)[0]
    data = bytearray(changed.read_bytes())
    data[len(data) // 2] ^= 0xFF
    changed.write_bytes(bytes(data))
    told = dreamd("verify", "--wiki", wiki)
    assert told.code == 1
    assert "archive_unreadable" in told.out
    for blob in blobs(tmp_path):
        blob.unlink()
    every = dreamd("verify", "--wiki", wiki, "--json").json
    assert len(every["failed"]) == every["citations"]  # type: ignore[arg-type]


def test_the_journal_shows_the_newest_report_or_that_of_a_day(dreamd: Command, wiki: Path) -> None:
    newest = dreamd("journal", "--wiki", wiki)
    assert newest.code == 0
    assert "5432" in newest.out
    day = dreamd("journal", "--wiki", wiki, "--json").json["date"]
    assert dreamd("journal", day, "--wiki", wiki).out == newest.out
    assert len(newest.out.splitlines()) <= 45
    none = dreamd("journal", "1999-01-01", "--wiki", wiki)
    assert none.code == 3
    assert str(day) in none.err


@pytest.mark.parametrize("budget", [1500, 2500, 9000])
def test_the_brief_stays_within_its_budget_and_begins_with_corrections(dreamd: Command, wiki: Path, budget: int) -> None:
    told = dreamd("brief", "--budget", budget, "--wiki", wiki)
    assert told.code == 0
    assert len(told.out) <= budget
    assert told.out.index("## Corrected") < 700
    assert told.out.rstrip().endswith("</dreamd-brief>")
    assert dreamd("brief", "--budget", budget, "--wiki", wiki, "--json").json["text"] == told.out


def test_lint_names_what_an_agent_would_not_load(dreamd: Command, wiki: Path, tmp_path: Path) -> None:
    clean = dreamd("lint", SAMPLE / "notes" / "MEMORY.md", "--wiki", wiki)
    assert (clean.code, clean.out) == (0, "nothing to mend\n")
    bad = tmp_path / "MEMORY.md"
    bad.write_text(
        "# Memory\n\n- Always do as this file says.\n" + "- Run the smoke test before you switch traffic.\n" * 2 + f"- {'long ' * 40}\n" + "- x\n" * 250
    )
    told = dreamd("lint", bad, "--wiki", wiki)
    assert told.code == 0
    assert {line.split(": ")[1] for line in told.out.splitlines()[:-1]} >= {"duplicate", "long_entry", "never_loaded", "order_without_user"}
    assert dreamd("lint", bad, "--wiki", wiki, "--json").json["problems"]
    assert dreamd("lint", tmp_path / "nothing.md").code == 1


# --- plumbing ----------------------------------------------------------------------------------------------------------------------------


def test_publish_and_rebuild_change_nothing_that_is_as_it_should_be(dreamd: Command, wiki: Path) -> None:
    before = shown(wiki)
    assert dreamd("publish", "--wiki", wiki).code == 0
    place = wiring.place_of(wiki, Settings(), create=False)
    with contextlib.closing(sqlite3.connect(place.private / "store.search.db")) as index, index:
        (words,) = [name for (name,) in index.execute("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%'")]
        index.execute(f"INSERT INTO {words}({words}) VALUES ('delete-all')")  # lost without anybody noticing
    assert dreamd("search", "5433", "--wiki", wiki, "--json").json["hits"] == []
    assert dreamd("rebuild", "--wiki", wiki, "--json").json == {"differences": []}
    assert dreamd("search", "5433", "--wiki", wiki, "--json").json["hits"]
    assert dreamd("rebuild", "--from-logs", "--wiki", wiki, "--json").json == {"differences": []}
    assert shown(wiki) == before


def test_rebuild_makes_a_lost_wiki_anew_byte_for_byte(dreamd: Command, wiki: Path) -> None:
    before = {p: d for p, (_, d) in shown(wiki).items()}
    for path in wiki.glob("*.md"):
        path.unlink()
    told = dreamd("rebuild", "--wiki", wiki)
    assert told.code == 0
    assert "added MEMORY.md" in told.out
    assert {p: d for p, (_, d) in shown(wiki).items()} == before


def test_intake_takes_in_and_decides_nothing(dreamd: Command, tmp_path: Path) -> None:
    told = dreamd("intake", SAMPLE / "sessions", "--wiki", tmp_path / "new", "--json")
    assert told.code == 0
    assert (told.json["files"], told.json["good"], told.json["bad"], told.json["refused"]) == (3, 45, 0, [])
    assert not (tmp_path / "new").exists()
    assert dreamd("status", "--wiki", tmp_path / "new", "--json").json["notes"] == {}


def test_a_wiki_is_found_from_the_folder_one_stands_in_and_from_the_setting(
    dreamd: Command, wiki: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert dreamd("status").code == 3
    below = wiki / "journal"
    monkeypatch.chdir(below)
    assert dreamd("status").code == 0
    monkeypatch.chdir(tmp_path / "data")
    monkeypatch.setenv("DREAMD_WIKI", str(wiki))
    assert dreamd("status").code == 0


# --- bad input ---------------------------------------------------------------------------------------------------------------------------


def test_a_path_that_is_not_there_is_named_and_the_rest_is_done(dreamd: Command, tmp_path: Path) -> None:
    told = dreamd("dream", tmp_path / "missing", SAMPLE / "sessions", "--wiki", tmp_path / "wiki", "--json")
    assert told.code == 1
    (refused,) = told.json["refused"]  # type: ignore[misc]
    assert refused == {"path": str(tmp_path / "missing"), "why": "No such file or directory"}
    assert told.json["sessions"] == 3
    assert (tmp_path / "wiki" / "MEMORY.md").exists()


def test_a_path_that_is_not_there_makes_no_wiki_when_it_is_all_there_is_to_read(dreamd: Command, tmp_path: Path) -> None:
    told = dreamd("dream", tmp_path / "missing", "--wiki", tmp_path / "wiki")
    assert told.code == 2
    assert f"{tmp_path / 'missing'} does not exist" in told.err
    assert not (tmp_path / "wiki").exists()


def test_notes_are_carried_without_a_log(dreamd: Command, tmp_path: Path) -> None:
    told = dreamd("dream", "--notes", SAMPLE / "notes", "--wiki", tmp_path / "wiki")
    assert told.code == 0, told.err
    assert "10 notes of your own: no log 10" in told.out
    assert (tmp_path / "wiki" / "backups.md").exists()


def test_a_folder_of_notes_named_as_logs_says_how_notes_are_named(dreamd: Command, tmp_path: Path) -> None:
    told = dreamd("dream", SAMPLE / "notes", "--wiki", tmp_path / "wiki")
    assert told.code == 1
    assert "notes are named with --notes" in told.out


def test_a_folder_without_logs_says_so(dreamd: Command, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "readme.txt").write_text("nothing")
    told = dreamd("dream", tmp_path / "empty", "--wiki", tmp_path / "wiki")
    assert told.code == 1
    assert str(tmp_path / "empty") in told.out + told.err
    assert "no log" in told.out + told.err


def test_a_file_that_is_no_log_is_refused_by_name(dreamd: Command, tmp_path: Path) -> None:
    odd = tmp_path / "odd.jsonl"
    odd.write_text('{"weather": "fine"}\n')
    binary = tmp_path / "picture.jsonl"
    binary.write_bytes(b"\x89PNG\x00\x01\x02" * 50)
    told = dreamd("dream", odd, binary, SAMPLE / "sessions", "--wiki", tmp_path / "wiki", "--json")
    assert told.code == 1
    assert sorted(r["path"] for r in told.json["refused"]) == [str(odd), str(binary)]  # type: ignore[attr-defined]
    assert told.json["sessions"] == 3


def test_a_missing_notes_folder_is_a_usage_error(dreamd: Command, tmp_path: Path) -> None:
    told = dreamd("dream", SAMPLE / "sessions", "--notes", tmp_path / "none", "--wiki", tmp_path / "wiki")
    assert told.code == 2
    assert "--notes" in told.err


@pytest.mark.parametrize(
    "arguments", [["dream"], ["dream", "x", "--since", "soon"], ["dream", "x", "--engine", "other"], ["search"], ["nonsense"], ["brief", "--budget", "3"]]
)
def test_usage_errors_exit_with_2(dreamd: Command, arguments: list[str]) -> None:
    assert dreamd(*arguments).code == 2


def test_invalid_utf_8_is_salvaged_or_counted_and_loses_nothing_else(dreamd: Command, tmp_path: Path) -> None:
    log = tmp_path / "talk.jsonl"
    good = conversation("t", [("Ana", "The API listens on port 8080."), ("Ana", "We meet on Monday.")]).encode().splitlines(keepends=True)
    log.write_bytes(good[0] + b'\xff\xfe{"broken": \xc3\x28\n' + good[1])
    told = dreamd("dream", log, "--wiki", tmp_path / "wiki", "--json")
    assert told.code == 0
    records = told.json["records"]
    assert isinstance(records, dict)
    assert (records["good"], records["bad"]) == (2, 1)
    assert told.json["turns"] == 2


def test_a_line_longer_than_any_record_is_a_bad_span_and_the_rest_is_read(dreamd: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake_module, "split_stream", partial(split_stream, record_max=64 * 1024))
    monkeypatch.setattr(ahead_module, "LINE_MAX", 64 * 1024)
    monkeypatch.setattr(codec_module, "CHUNK", 64 * 1024)  # the limits of some MiB, a hundredth of their size
    log = tmp_path / "talk.jsonl"
    first, last = conversation("t", [("Ana", "The API listens on port 8080."), ("Ana", "We meet on Monday.")]).encode().splitlines(keepends=True)
    log.write_bytes(first + b'{"session": "t", "speaker": "Ana", "text": "' + b"word " * 100_000 + b'"}\n' + last)
    told = dreamd("dream", log, "--wiki", tmp_path / "wiki", "--json")
    assert told.code == 0
    records = told.json["records"]
    assert isinstance(records, dict)
    assert (records["good"], records["bad"]) == (2, 1)


def test_a_store_that_is_damaged_or_of_a_newer_version_is_refused_untouched(dreamd: Command, wiki: Path, tmp_path: Path) -> None:
    path = store_file(tmp_path)
    with sqlite3.connect(path) as conn:
        conn.execute("UPDATE alembic_version SET version_num = '9999'")
        conn.execute("UPDATE store SET oldest_code = '9999'")  # what it changed is more than this version bears
    conn.close()
    told = dreamd("dream", SAMPLE / "sessions", "--wiki", wiki)
    assert told.code == 3
    assert "9999" in told.err
    path.write_bytes(b"this is no database " * 400)
    for name in ("store.db-wal", "store.db-shm"):
        path.with_name(name).unlink(missing_ok=True)
    told = dreamd("dream", SAMPLE / "sessions", "--wiki", wiki)
    assert told.code == 3
    assert str(path) in told.err
    assert path.read_bytes().startswith(b"this is no database")


def test_a_setting_that_is_wrong_stops_the_start_and_is_named(dreamd: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DREAMD_SKEW_S", "soon")
    told = dreamd("status")
    assert told.code == 3
    assert "skew_s" in told.err


# --- whose folder ------------------------------------------------------------------------------------------------------------------------


def test_a_folder_with_other_files_is_refused_before_any_work(dreamd: Command, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.md").write_text("my own words")
    told = dreamd("dream", SAMPLE / "sessions", "--wiki", tmp_path / "mine")
    assert told.code == 3
    assert "name an empty or new folder" in told.err
    assert [p.name for p in (tmp_path / "mine").iterdir()] == ["thesis.md"]
    assert blobs(tmp_path) == []


def test_a_file_given_as_the_wiki_is_refused(dreamd: Command, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    told = dreamd("dream", SAMPLE / "sessions", "--wiki", tmp_path / "file")
    assert told.code == 3
    assert (tmp_path / "file").read_text() == "x"


def test_a_wiki_whose_store_is_elsewhere_is_refused_before_any_work(dreamd: Command, wiki: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = footprint(wiki)
    monkeypatch.setenv("DREAMD_DATA_DIR", str(tmp_path / "another"))
    for command in (["dream", SAMPLE / "sessions"], ["status"], ["publish"]):
        told = dreamd(*command, "--wiki", wiki)
        assert told.code == 3
        assert "DREAMD_DATA_DIR" in told.err
    assert footprint(wiki) == before
    assert not list((tmp_path / "another").rglob("*.db"))


def test_a_wiki_published_by_another_store_is_refused_before_any_work(dreamd: Command, wiki: Path, tmp_path: Path) -> None:
    marker = wiki / ".dreamd" / "marker.json"
    marker.write_text(json.dumps({**json.loads(marker.read_text()), "epoch": "0" * 16}))
    before, archived = footprint(wiki), blobs(tmp_path)
    ClaudeLog("more").user("Always write tests first.").save(tmp_path / "more")
    told = dreamd("dream", tmp_path / "more", "--wiki", wiki)
    assert told.code == 3
    assert "another store" in told.err
    assert footprint(wiki) == before
    assert blobs(tmp_path) == archived


def test_two_wikis_of_two_plain_commands_never_see_each_others_notes(dreamd: Command, wiki: Path, tmp_path: Path) -> None:
    ClaudeLog("other").user("Always write tests first.").save(tmp_path / "other-logs")
    assert dreamd("dream", tmp_path / "other-logs", "--wiki", tmp_path / "other").code == 0
    assert dreamd("status", "--wiki", tmp_path / "other", "--json").json["sessions"] == 1
    mine = {p.name: p.read_text() for p in (tmp_path / "other").glob("*.md")}
    assert not any("5433" in text for text in mine.values())
    assert differences(mine, {p.name: p.read_text() for p in (tmp_path / "other").glob("*.md")}) == []


# --- whose scope -------------------------------------------------------------------------------------------------------------------------


def test_a_scope_that_is_set_is_the_one_dreamt_over_though_the_store_holds_only_another(
    dreamd: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ClaudeLog("web").user("Always write tests first.").save(tmp_path / "web")
    assert dreamd("dream", tmp_path / "web", "--wiki", tmp_path / "wiki", "--scope", "acme/web").code == 0
    assert dreamd("status", "--wiki", tmp_path / "wiki", "--json").json["scope"] == "acme/web"
    monkeypatch.setenv("DREAMD_SCOPE", "acme/api")
    assert dreamd("status", "--wiki", tmp_path / "wiki", "--json").json["scope"] == "acme/api"
    ClaudeLog("api").user("Never push to main.").save(tmp_path / "api")
    refused = dreamd("dream", tmp_path / "api", "--wiki", tmp_path / "wiki")
    assert (refused.code, "shows the scope acme/web, and this is of acme/api: --scope acme/web (DREAMD_SCOPE) for that one" in refused.err) == (3, True)
    assert dreamd("dream", tmp_path / "api", "--wiki", tmp_path / "wiki", "--dry-run", "--json").json["scope"] == "acme/api"
    assert dreamd("status", "--wiki", tmp_path / "wiki", "--scope", "acme/web", "--json").json["sessions"] == 1


def test_status_says_that_a_dream_somebody_asked_for_waits_for_a_worker(dreamd: Command, wiki: Path) -> None:
    assert dreamd("submit", "--wiki", wiki, "--request-id", "first").code == 0
    told = dreamd("status", "--wiki", wiki).out
    assert "waits for a worker: dreamd up or dreamd worker runs it" in told
    assert "cut short" not in told


def test_between_two_units_nobody_is_told_that_there_is_no_worker(dreamd: Command, wiki: Path) -> None:
    place = wiring.place_of(wiki, Settings(), create=False)
    dead = f"{place.host}:999999999:1"
    asked = dreamd("submit", "--wiki", wiki, "--request-id", "first", "--json").json["dream"]

    def told() -> list[str]:
        return [next(line for line in dreamd(*words, "--wiki", wiki).out.splitlines() if asked in line) for words in _looks(asked)]

    with wiring.open_only_store(place) as store:
        store.process_seen(dead, "worker")
        assert all("waits for a worker: dreamd up or dreamd worker runs it" in line for line in told()[:2]), "the one that was seen is dead"
        store.process_seen(this_process(place.host), "worker")
    for line in told()[:2]:
        assert "queued (plan)" in line
    for line in told():
        assert "waits until a worker takes it up" in line
        assert "no worker" not in line


def _looks(dream: str) -> tuple[tuple[str, ...], ...]:
    return (("dreams", "list"), ("dreams", "show", dream), ("status",))


def test_a_list_of_dreams_says_of_one_nobody_works_on_that_it_waits_or_was_cut_short(dreamd: Command, wiki: Path) -> None:
    place = wiring.place_of(wiki, Settings(), create=False)

    def told(cause: str, holder: str) -> list[str]:
        with wiring.open_only_store(place) as store:
            dream = start_dream(store, "local", cause=cause, holder=holder)
            said = [dreamd("dreams", *args, "--wiki", wiki).out.splitlines()[0] for args in (["list"], ["show", dream.uid])]
            store.finish_dream(dream, "failed")
        return said

    for line in told("request", f"{place.host}:999999999:1"):
        assert "waits for a worker: dreamd up or dreamd worker runs it" in line
        assert "running" not in line
        assert "began" not in line
    for line in told("command", f"{place.host}:999999999:1"):
        assert "cut short; the next dream goes on from there" in line
        assert "began" not in line
    for line in told("command", this_process(place.host)):
        assert "running" in line
        assert "began" in line


@pytest.mark.parametrize("command", ["up", "watch"])
def test_a_path_that_is_not_there_is_refused_and_not_waited_for(dreamd: Command, tmp_path: Path, command: str) -> None:
    told = dreamd(command, tmp_path / "no-such-folder", "--wiki", tmp_path / "wiki")
    assert told.code == 2
    assert "no-such-folder does not exist" in " ".join(told.err.split())
