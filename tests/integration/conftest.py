"""A desk in a folder of its own for every test that dreams, and a home whose dreams are paid for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from pipelines.store.migrations import upgrade as upgrading
from tests.dreaming import Desk, empty_store
from tests.oracle.server import serving
from tests.oracle.service import Service
from tests.paying import KEY, Home, finds_nothing, home_of
from tests.quick import migrate_by_copy
from tests.redacting import rule_cache, shared_redactor
from worker import wiring
from worker.cli import run


@pytest.fixture(autouse=True)
def _migrated_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new store of a test here is a copy of an empty one: migrations have tests of their own."""
    monkeypatch.setattr(upgrading, "upgrade", partial(migrate_by_copy, empty_store()))


@pytest.fixture
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Desk:
    """One person's logs, notes, wiki and store."""
    return Desk(tmp_path / "desk", shared_redactor(request))


@pytest.fixture
def desks(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Desk]:
    """As many desks as a test wants to compare."""
    return lambda: Desk(tmp_path_factory.mktemp("desk"), shared_redactor(request))


@pytest.fixture
def server() -> Iterator[Service]:
    """A provider on loopback that finds nothing in anything, and wants a key."""
    with serving(finds_nothing, key=KEY) as service:
        yield service


@pytest.fixture
def home(
    tmp_path: Path, server: Service, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Home:  # fmt: skip
    """A person's home with some sessions and that provider."""
    return home_of(tmp_path, server, capsys, monkeypatch, Path(rule_cache(request)))


Command = Callable[..., tuple[int, str, str]]
"""A command line: its words in; exit code, standard output and standard error out."""


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Command:
    """The command line as it is found where the test stands, in this process for speed."""

    def command(*words: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run([str(w) for w in words])
        said = capsys.readouterr()
        return code, said.out, said.err

    return command


@pytest.fixture
def dreamd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, say: Command) -> Command:
    """The command line over the wiki `wiki` of a home of its own, in this process for speed."""
    for name in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.setenv("DREAMD_WIKI", str(tmp_path / "wiki"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(wiring, "redactor", lambda: shared_redactor(request))
    return say
