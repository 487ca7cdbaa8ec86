"""What only the assistant says of a thing falls with the note of that thing, whichever of them arrives first and however each spells the thing."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from pipelines.run.resolving import lineage_of, resolve_dirty
from tests.dreaming import NOW, SCOPE
from tests.redacting import shared_redactor
from tests.scripted import Model, ModelDesk, asking
from tests.writing import START, ClaudeLog

READS = {
    "The gateway router answers on port 5432": {"about": "gateway router", "what": "port", "value": "5432"},
    "The gateway router answers on port 5433": {"about": "gateway router", "what": "port", "value": "5433"},
    "The Gateway Routers are in Leiden": {"about": "The Gateway Routers", "what": "place", "value": "Leiden"},
}


def logs() -> list[ClaudeLog]:
    return [
        ClaudeLog("one", at=START).user("The gateway router answers on port 5432."),
        ClaudeLog("two", at=START + timedelta(days=1)).user("Where are they?").assistant("The Gateway Routers are in Leiden."),
        ClaudeLog("three", at=START + timedelta(days=2)).user("The gateway router answers on port 5433."),
    ]


def believed(desk: ModelDesk, order: tuple[int, ...]) -> dict[str, tuple[str, str]]:
    """Statement → status and what it misses, after a dream over each log in this order."""
    for n in order:
        desk.dream(logs()[n].save(desk.logs), **asking())
    with desk.store() as store:
        return {h.version.statement: (h.version.status.value, h.version.missed) for h in store.heads(SCOPE)}


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (2, 0, 1)], ids=str)
def test_it_falls_in_any_order_of_arrival(order: tuple[int, ...], request: pytest.FixtureRequest, tmp_path: Path) -> None:
    desk = ModelDesk(tmp_path, shared_redactor(request), messages=Model(reads=READS))
    assert believed(desk, order)["The Gateway Routers are in Leiden."] == ("needs_recheck", "rests_on_a_fallen_note")


def test_where_nothing_falls_what_leans_on_a_thing_is_not_looked_at(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """An assistant may have said a thousand things of a subject; a new word on it reads them only when a note of it falls."""
    desk = ModelDesk(tmp_path, shared_redactor(request), messages=Model(reads=READS))
    believed(desk, (0, 1))
    with desk.store() as store:
        (port,) = [h.version for h in store.heads(SCOPE) if h.version.value == "5432"]
        done = resolve_dirty(store, SCOPE, frozenset(port.claims), lineage_of(store, SCOPE), skew_s=600, intake_at=NOW)
    assert [w.claim.value for w in done.claims] == ["5432"]
