"""A dream whose store and archive are a PostgreSQL database writes the wiki a dream over a file writes, byte for byte."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from pipelines.run import Parts
from pipelines.run.verify import verify
from pipelines.store import Store, open_store
from pipelines.store.blobs import DatabaseArchive
from tests.contracts.store_kinds import administrator
from tests.dreaming import SCOPE, Desk
from tests.integration.test_dream_stories import notes_with_a_link, said_by_the_user, shown_by_a_result
from tests.redacting import shared_redactor
from tests.writing import ClaudeLog, memory
from worker.cli import run

SAMPLE = Path(__file__).resolve().parents[2] / "deploy" / "sample"


@dataclass
class ServerDesk(Desk):
    """A desk whose store is a database; nothing lies in its data folder."""

    url: str = ""

    @contextmanager
    def store(self) -> Iterator[Store]:
        with open_store(self.url, now=lambda: self.now) as opened:
            yield opened

    def parts(self, store: Store) -> Parts:
        return replace(super().parts(store), archive=DatabaseArchive(store, SCOPE))


@pytest.fixture
def server_desk(request: pytest.FixtureRequest, tmp_path: Path, database_url: str) -> ServerDesk:
    return ServerDesk(tmp_path / "server", shared_redactor(request), url=database_url)


def everything(desk: Desk) -> dict[str, bytes]:
    """All files of a wiki but what names its store; each dream has an id of its own, which the last line of its report names."""
    files = (p for p in desk.wiki.rglob("*") if p.is_file() and ".dreamd" not in p.parts)
    return {p.relative_to(desk.wiki).as_posix(): re.sub(rb"`dreamd revert [a-z0-9]+`", b"`dreamd revert DREAM`", p.read_bytes()) for p in files}


def sample(desk: Desk) -> None:
    shutil.copytree(SAMPLE / "sessions", desk.logs, dirs_exist_ok=True)
    shutil.copytree(SAMPLE / "notes", desk.notes)


def corrected(desk: Desk) -> None:
    said_by_the_user(desk)
    notes_with_a_link(desk)


def told_several_times(desk: Desk) -> None:
    shown_by_a_result(desk)
    for name, value in (("one", "30"), ("two", "90"), ("three", "30")):
        ClaudeLog(name).user(f"no, the session timeout is {value} minutes").assistant("Understood.").save(desk.logs)
    desk.note("timeout.md", memory("timeout", "The session timeout is 60 minutes.", modified="2026-03-02T09:30:00Z"))


@pytest.mark.parametrize("filled", [sample, corrected, told_several_times], ids=lambda f: f.__name__)
def test_the_wiki_is_the_same_byte_for_byte_and_so_is_that_of_the_next_dream(desk: Desk, server_desk: ServerDesk, filled: Callable[[Desk], None]) -> None:
    for each in (desk, server_desk):
        filled(each)
        each.dream()
    first = everything(desk)
    assert len(first) > 3
    assert everything(server_desk) == first
    for each in (desk, server_desk):
        ClaudeLog("later").user("From now on, always run the tests before a push.").assistant("Understood.").save(each.logs)
        each.dream()
    assert everything(server_desk) == everything(desk) != first


def test_every_citation_is_read_again_from_the_database(server_desk: ServerDesk) -> None:
    corrected(server_desk)
    server_desk.dream()
    shutil.rmtree(server_desk.logs)
    with server_desk.store() as store:
        done = verify(store, SCOPE, DatabaseArchive(store, SCOPE))
    assert done.citations > 0
    assert done.failed == ()


def test_the_commands_run_over_a_database_named_in_the_environment(
    tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DREAMD_DATABASE_URL", database_url)
    monkeypatch.setenv("DREAMD_DATA_DIR", str(tmp_path / "data"))
    wiki = ["--wiki", str(tmp_path / "wiki"), "--scope", "acme/web/ana"]
    assert run(["dream", str(SAMPLE / "sessions"), "--notes", str(SAMPLE / "notes"), *wiki]) == 0
    for command in (["verify"], ["status"], ["search", "port"], ["rebuild"], ["rebuild", "--from-logs"], ["brief"]):
        assert run([*command, *wiki]) == 0, (command, capsys.readouterr())
    assert not list((tmp_path / "data").rglob("*.db"))
    assert not list((tmp_path / "data").rglob("*.zst"))
    with administrator(database_url) as admin:
        assert admin.execute("SELECT count(*) > 0 FROM blobs JOIN scopes ON scopes.id = scope_id WHERE path = 'acme/web/ana'").fetchone() == (True,)


def test_a_database_that_is_away_ends_a_command_with_one_line_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DREAMD_DATABASE_URL", "postgresql://ana:s3cret@127.0.0.1:1/notes?connect_timeout=2")
    monkeypatch.setenv("DREAMD_DATA_DIR", str(tmp_path / "data"))
    assert run(["dream", str(SAMPLE / "sessions"), "--wiki", str(tmp_path / "wiki")]) == 1
    said = capsys.readouterr().err
    assert "127.0.0.1:1/notes" in said
    assert "s3cret" not in said
    assert said.count("\n") == 1
    assert not (tmp_path / "wiki").exists()
