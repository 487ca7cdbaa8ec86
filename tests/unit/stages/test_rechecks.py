"""Which fallen note a line is said to rest on, where several may be meant."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import permutations

from pipelines.model import Basis, Finding, Kind, Standing, Status, Verdict, Version
from pipelines.notes.folder import read_text
from pipelines.stages.analyzer import rechecks, stated_by


def fallen(note: str) -> Version:
    return Version(
        note=note, slot="s", kind=Kind.FACT, subject="billing gateway", attribute="host", qualifier="", statement="It is db1", value="db1",
        status=Status.RETRACTED, standing=Standing.INFERRED, basis=Basis.STATED, claims=("c",), valid_until=datetime(2026, 1, 5, tzinfo=UTC), ended_by="r",
    )  # fmt: skip


def test_the_one_that_is_named_does_not_hang_on_the_order_they_are_read_in() -> None:
    _, (line,) = read_text("The billing gateway port is 5433.\n", folder="f", path="a.md")
    found = {line.uid: Finding(note=line.uid, verdict=Verdict.UNCHECKED, why="")}
    versions = [fallen(name) for name in ("n3", "n1", "n2")]
    said = {line.uid: stated_by(line)}
    assert {rechecks([line], said, found, order)[line.uid].other for order in permutations(versions)} == {"n1"}
