"""Who this machine is does not change with the network it is in."""

import socket
from pathlib import Path

import pytest

from worker.settings import Settings
from worker.wiring import place_of


def test_a_machine_keeps_its_name_when_its_host_name_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(data_dir=tmp_path / "data")
    before = place_of(tmp_path / "wiki", settings, create=True)
    monkeypatch.setattr(socket, "gethostname", lambda: "cafe-guest-17")
    assert place_of(tmp_path / "wiki", settings, create=True) == before
    other = place_of(tmp_path / "wiki", Settings(data_dir=tmp_path / "elsewhere"), create=True)
    assert other.host.startswith("cafe-guest-17-")
    assert other.host != before.host


def test_what_is_remembered_is_for_this_user_alone(tmp_path: Path) -> None:
    place_of(tmp_path / "wiki", Settings(data_dir=tmp_path / "data"), create=True)
    kept = [p for p in (tmp_path / "data").rglob("*") if p.is_file()]
    assert kept
    assert {p.stat().st_mode & 0o777 for p in kept} == {0o600}
