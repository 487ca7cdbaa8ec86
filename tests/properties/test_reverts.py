"""Whatever is dreamt, reverted and brought back in whichever order: what is believed is the fold over the lines of the dreams that count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipelines.engines.local.engine import LocalEngine
from pipelines.logs.redaction import Redactor
from pipelines.model import Status
from pipelines.run.reverting import revert
from tests.dreaming import SCOPE, Desk
from tests.redacting import shared_redactor
from tests.writing import ClaudeLog

SAYINGS = (
    "The staging port is 5432.", "The staging port is 5433.", "The staging host is blue-1.", "The staging host is blue-2.",
    "Always run migrations with `make migrate`.", "Never deploy on Fridays.",
)  # fmt: skip
LIVE = {Status.CONFIRMED, Status.DISPUTED, Status.DRAFT}
Steps = Sequence[tuple[str, int]]
STEPS = st.lists(st.tuples(st.sampled_from(["dream", "dream", "revert", "again"]), st.integers(0, 5)), min_size=2, max_size=6)


def log(desk: Desk, number: int, saying: int) -> Path:
    return ClaudeLog(f"s{number}").later(days=number).user(SAYINGS[saying]).save(desk.logs)


def stands(desk: Desk) -> set[tuple[str, str, str, int]]:
    """What is believed, by note, with how it stands and on how many witnesses."""
    with desk.store() as store:
        heads = [h.version for h in store.heads(SCOPE)]
    return {(v.note, v.statement, v.status.value, v.roots) for v in heads if v.status in LIVE}


@pytest.fixture(scope="module")
def redactor(request: pytest.FixtureRequest) -> Redactor:
    return shared_redactor(request)


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(steps=STEPS)
def test_any_sequence_of_dreams_reverts_and_agains_is_the_fold_over_what_counts(
    steps: Steps, redactor: Redactor, tmp_path_factory: pytest.TempPathFactory
) -> None:
    desk = Desk(tmp_path_factory.mktemp("desk"), redactor)
    read: list[tuple[str, int]] = []
    out: set[int] = set()
    for what, n in steps:
        if what == "dream":
            log(desk, len(read), n)
            read.append((desk.dream().report.dream, n))
        elif read:
            place = n % len(read)
            with desk.store() as store:
                parts = replace(desk.parts(store), engine=LocalEngine())
                revert(parts, desk.request(), read[place][0], again=what == "again", dry_run=False, hand="test")
            out = out | {place} if what == "revert" else out - {place}
    other = Desk(tmp_path_factory.mktemp("other"), redactor)
    for number, (_, saying) in enumerate(read):
        if number not in out:
            log(other, number, saying)
    other.dream()
    assert stands(desk) == stands(other)
