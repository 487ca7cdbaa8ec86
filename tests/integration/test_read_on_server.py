"""What a host that has no wiki reads of a store on a server, as a runbook asks of it after a restore or an import."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.conftest import Command
from tests.writing import ClaudeLog

LOOKS = (["verify"], ["search", "staging", "--json"], ["why", "staging"], ["brief"], ["status", "--bad"])


def test_a_host_without_a_wiki_reads_of_a_server_s_store_what_the_one_with_it_reads(
    dreamd: Command, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ClaudeLog("one").user("no, the staging database listens on port 5433, not 5432").save(tmp_path / "logs")
    monkeypatch.setenv("DREAMD_DATABASE_URL", database_url)
    monkeypatch.setenv("DREAMD_SCOPE", "acme/web/ana")
    assert dreamd("dream", tmp_path / "logs")[0] == 0
    with_wiki = [dreamd(*words) for words in LOOKS]
    _elsewhere(tmp_path, monkeypatch)
    assert [dreamd(*words) for words in LOOKS] == with_wiki
    assert [code for code, _, _ in with_wiki] == [0] * len(LOOKS)
    assert "5433" in with_wiki[1][1]


def test_a_store_that_is_a_file_is_read_through_its_wiki_where_its_archive_is(dreamd: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DREAMD_DATABASE_URL", f"sqlite:///{tmp_path / 'shared.db'}")
    _elsewhere(tmp_path, monkeypatch)
    code, _, err = dreamd("verify")
    assert (code, "found by its wiki: name it with --wiki" in err) == (3, True)


def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that shares only the database."""
    (tmp_path / "host").mkdir()
    monkeypatch.chdir(tmp_path / "host")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "host" / "data"))
    monkeypatch.delenv("DREAMD_WIKI")
