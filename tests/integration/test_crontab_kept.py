"""A person's crontab is theirs: one that cannot be read is not replaced, and every byte of one that can stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.errors import Refused
from worker.cli import connect
from worker.connect.nightly import installed

TABLE = installed("crontab", command=["/opt/dreamd"], home=Path("/home/ana"), config_home=Path("/home/ana/.config"), data=Path("/home/ana/data"))


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file a stand-in for `crontab` keeps; `failing` beside it holds what reading says instead."""
    kept, failing = tmp_path / "table", tmp_path / "failing"
    program = tmp_path / "bin" / "crontab"
    program.parent.mkdir()
    program.write_text(
        f"""#!/bin/sh
case $1 in
-l) if [ -f '{failing}' ]; then cat '{failing}' >&2; exit 1; fi; cat '{kept}';;
-r) rm '{kept}';;
-) cat > '{kept}';;
esac
"""
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    return kept


def test_a_crontab_that_cannot_be_read_is_not_replaced(table: Path) -> None:
    table.write_text("0 4 * * * backup\n")
    (table.parent / "failing").write_text("crontab: you are not allowed to use this program\n")
    with pytest.raises(Refused, match="not allowed"):
        connect._wake(TABLE)
    assert table.read_text() == "0 4 * * * backup\n"
    assert not connect._crontab_out(), "who may not read theirs can still disconnect the rest"
    assert table.read_text() == "0 4 * * * backup\n"


@pytest.mark.parametrize("said", ["no crontab for ana\n", "crontab: can't open 'ana': No such file or directory\n"])
def test_a_person_without_a_crontab_gets_one_and_loses_it_again(table: Path, said: str) -> None:
    (table.parent / "failing").write_text(said)
    connect._wake(TABLE)
    (table.parent / "failing").unlink()
    assert table.read_text().splitlines()[-1] == TABLE.line
    assert connect._crontab_out()
    assert not table.exists()


def test_bytes_that_are_no_utf_8_stay(table: Path) -> None:
    table.write_bytes(b"0 4 * * * gr\xfc\xdfe\n")
    connect._wake(TABLE)
    assert b"gr\xfc\xdfe\n" in table.read_bytes()
    assert connect._crontab_out()
    assert table.read_bytes() == b"0 4 * * * gr\xfc\xdfe\n"
