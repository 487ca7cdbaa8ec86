"""Which databases the store's suites run against, and a clock they move by hand."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import pytest
from sqlalchemy import Engine, event

from pipelines.store import Store, open_store
from tests.contracts.store_builders import DAY


def _sqlite(template: Path, folder: Path) -> str:
    """A store of its own for one test: a copy of a migrated one, since a migration takes longer than most tests."""
    if not template.exists():
        open_store(f"sqlite:///{template}", now=lambda: DAY).close()
    folder.mkdir(mode=0o700)
    shutil.copyfile(template, folder / "store.db")
    return f"sqlite:///{folder}/store.db"


MAKE: dict[str, Callable[[Path, Path], str]] = {"sqlite": _sqlite}


class Clock:
    """A clock a test moves by hand."""

    def __init__(self) -> None:
        self.at = DAY

    def __call__(self) -> datetime:
        return self.at


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=sorted(MAKE))
def store(request: pytest.FixtureRequest, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, clock: Clock) -> Iterator[Store]:
    template = tmp_path_factory.getbasetemp() / f"template-{request.param}" / "store.db"
    with open_store(MAKE[request.param](template, tmp_path / "data"), now=clock) as opened:
        yield opened


class Killed(Exception):
    """Stands for the process ending here."""


@contextmanager
def killed_at(engine: Engine, statement: int) -> Iterator[list[str]]:
    """Raise before the given statement of the engine, counted from 0; the list holds what ran before it."""
    ran: list[str] = []

    def before(_conn: object, _cursor: object, sql: str, *_rest: object) -> None:
        if len(ran) == statement:
            raise Killed(sql)
        ran.append(sql)

    event.listen(engine, "before_cursor_execute", before)
    try:
        yield ran
    finally:
        event.remove(engine, "before_cursor_execute", before)
