"""Dreaming again while a batch is being worked on goes on with the dream that waits; a few late questions wait for no batch of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pipelines.engines.claude.client import Provider
from pipelines.run.runner import DreamWaits
from tests.dreaming import SCOPE
from tests.oracle.gold import all_sessions, save
from tests.oracle.oracle import Oracle
from tests.oracle.server import Service, serving
from tests.redacting import shared_redactor
from tests.scripted import ModelDesk, asking
from tests.writing import ClaudeLog

SESSIONS = all_sessions()[:3]


@pytest.fixture
def service() -> Iterator[Service]:
    with serving(Oracle(SESSIONS)) as made:
        yield made


@pytest.fixture
def desk(request: pytest.FixtureRequest, tmp_path: Path, service: Service) -> Iterator[ModelDesk]:
    """A desk that looks after a batch once a minute by itself: within a test never."""
    provider = Provider(base_url=service.base_url, key="k", local=True)
    made = ModelDesk(tmp_path / "desk", shared_redactor(request), messages=provider, poll_s=60)
    save(SESSIONS, made.logs)
    yield made
    provider.close()


def dreams(desk: ModelDesk) -> list[str]:
    with desk.store() as store:
        return [dream.uid for dream in store.dreams(SCOPE)]


def waits(desk: ModelDesk, **given: object) -> str:
    """Dream, and say what it waits for."""
    with pytest.raises(DreamWaits) as told:
        desk.dream(**asking(batch=True, **given))
    return str(told.value)


def test_dreaming_again_goes_on_with_the_dream_that_waits_and_names_it(desk: ModelDesk, service: Service) -> None:
    waits(desk)
    (first,) = dreams(desk)
    assert f"dream {first} " in waits(desk)
    assert dreams(desk) == [first]
    for _ in range(8):
        service.end_batches()
        try:
            done = desk.dream(**asking(batch=True))
        except DreamWaits:  # the answers raised questions, which are posted in their turn
            continue
        break
    assert (done.report.dream, done.report.status) == (first, "completed")
    assert dreams(desk) == [first]
    assert service.paid_twice == ()


def test_another_wish_or_a_new_session_is_another_dream(desk: ModelDesk) -> None:
    waits(desk)
    waits(desk, instructions="look for ports")
    assert len(dreams(desk)) == 2
    ClaudeLog("meanwhile").later(days=300).user("The staging database listens on port 5433.").save(desk.logs)
    waits(desk)
    assert len(dreams(desk)) == 3


@pytest.mark.parametrize(("least", "what"), [(1_000, {"message"}), (0, {"batch item"})])
def test_a_few_late_questions_are_asked_at_once_where_that_is_set(desk: ModelDesk, service: Service, least: int, what: set[str]) -> None:
    desk.batch_min = least
    waits(desk)
    service.end_batches()
    if least:
        assert desk.dream(**asking(batch=True)).report.status == "completed"
    else:
        waits(desk)
        service.end_batches()
    first, late = ({seen.what for seen in service.messages if reads == ("items" in schema(seen.body))} for reads in (True, False))
    assert (first, late) == ({"batch item"}, what)
    assert service.paid_twice == ()


def schema(body: object) -> object:
    return body["output_config"]["format"]["schema"]["properties"]  # type: ignore[index]
