"""A desk in a folder of its own for every test that dreams."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.dreaming import Desk
from tests.redacting import shared_redactor


@pytest.fixture
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Desk:
    """One person's logs, notes, wiki and store."""
    return Desk(tmp_path / "desk", shared_redactor(request))


@pytest.fixture
def desks(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Desk]:
    """As many desks as a test wants to compare."""
    return lambda: Desk(tmp_path_factory.mktemp("desk"), shared_redactor(request))
