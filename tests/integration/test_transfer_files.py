"""The file of an export takes nobody's place and leaves nothing half-written; what is no file is not imported."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pipelines.errors import Refused
from worker import cli
from worker.cli.transfer import _whole


def test_a_file_made_meanwhile_is_not_written_over(tmp_path: Path) -> None:
    target = tmp_path / "x.dreamd.zst"
    with pytest.raises(Refused, match="exists"), _whole(target):
        target.write_bytes(b"theirs")
    assert target.read_bytes() == b"theirs"
    assert os.listdir(tmp_path) == [target.name]


def test_a_file_system_without_hard_links_has_the_file_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.link", refuses)
    target = tmp_path / "x"
    with _whole(target) as out:
        out.write(b"ours")
    assert (target.read_bytes(), os.listdir(tmp_path)) == (b"ours", ["x"])
    assert target.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["plain/x", "none/x", "n" * 400])
def test_a_name_that_cannot_be_is_refused_by_name(tmp_path: Path, name: str) -> None:
    (tmp_path / "plain").write_text("a file")
    with pytest.raises(Refused, match="cannot be written"), _whole(tmp_path / name):
        pytest.fail("there is nothing to write to")


def test_a_link_that_leads_nowhere_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("DREAMD_DATA_DIR", str(tmp_path / "data"))
    link = tmp_path / "x"
    link.symlink_to(tmp_path / "nowhere")
    assert cli.run(["export", str(link), "--wiki", str(tmp_path / "wiki")]) == 3
    assert "exists" in capsys.readouterr().err
    assert link.is_symlink()


def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("DREAMD_DATA_DIR", str(tmp_path / "data"))
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "."):
        assert cli.run(["import", str(tmp_path / name), "--wiki", str(tmp_path / "wiki")]) == 3
        assert "it is no file" in capsys.readouterr().err
    assert not (tmp_path / "data").exists()
