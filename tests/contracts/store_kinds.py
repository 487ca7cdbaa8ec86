"""Which databases the store's suites run against, and a clock they move by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import pytest

from pipelines.store import Store, open_store
from tests.contracts.store_builders import DAY

URLS: dict[str, Callable[[Path], str]] = {"sqlite": lambda folder: f"sqlite:///{folder}/data/store.db"}


class Clock:
    """A clock a test moves by hand."""

    def __init__(self) -> None:
        self.at = DAY

    def __call__(self) -> datetime:
        return self.at


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=sorted(URLS))
def store(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Store]:
    with open_store(URLS[request.param](tmp_path), now=clock) as opened:
        yield opened
