"""A dream that asks in batches: it waits and blocks nobody, pays half, and whatever happens between intent and results, no answer is lost or asked for twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import pipelines.run.asking as asking_desk
from pipelines.engines.claude.client import Provider
from pipelines.ports import Ask
from pipelines.run import Outcome
from pipelines.run.asking_batch import tend
from pipelines.run.runner import DreamWaits
from pipelines.store import Lease, Store, host_of
from tests.dreaming import SCOPE, differences
from tests.oracle.gold import all_sessions, save
from tests.oracle.oracle import Oracle
from tests.oracle.server import Service, serving
from tests.oracle.wire import Body, Drops
from tests.redacting import shared_redactor
from tests.scripted import ModelDesk, asking
from tests.writing import ClaudeLog

SESSIONS = all_sessions()[:3]
LATER = timedelta(minutes=20)


@pytest.fixture
def service() -> Iterator[Service]:
    with serving(Oracle(SESSIONS)) as made:
        yield made


@pytest.fixture
def desk(request: pytest.FixtureRequest, tmp_path: Path, service: Service) -> ModelDesk:
    return desk_at(request, tmp_path / "desk", service)


def desk_at(request: pytest.FixtureRequest, root: Path, service: Service) -> ModelDesk:
    provider = Provider(base_url=service.base_url, key="k", local=True)
    request.addfinalizer(provider.close)
    made = ModelDesk(root, shared_redactor(request), messages=provider, poll_s=0.3)
    save(SESSIONS, made.logs)
    return made


def night(desk: ModelDesk, **given: object) -> Outcome | None:
    """Dream as far as it goes; None when it waits."""
    with suppress(DreamWaits):
        return desk.dream(**asking(batch=True, **given))
    return None


def through(desk: ModelDesk, service: Service) -> Outcome:
    """Dream, working off what is out, until the dream has ended."""
    for _ in range(20):
        if (done := night(desk)) is not None:
            return done
        service.end_batches()
    raise AssertionError("the dream never ended")


def twice(service: Service) -> list[str]:
    """Requests of ours that were answered more than once."""
    ours = [seen.digest for seen in service.answered if not seen.custom_id.startswith("other-")]
    return [digest for digest, n in Counter(ours).items() if n > 1]


def states(desk: ModelDesk) -> list[str]:
    with desk.store() as store:
        return [b.state for b in store.batches(SCOPE, states=("intended", "unknown", "posted", "canceling", "ended", "settled", "refused"))]


def test_a_batch_dream_gives_the_wiki_of_a_plain_one_at_half_the_price(request: pytest.FixtureRequest, desk: ModelDesk, service: Service) -> None:
    through(desk, service)
    batched = service.booked_uusd
    assert {seen.what for seen in service.messages} == {"batch item"}
    assert service.paid_twice == ()
    assert set(states(desk)) == {"settled"}
    with serving(Oracle(SESSIONS)) as other:
        plain = desk_at(request, desk.root.parent / "plain", other)
        plain.dream(**asking())
        assert differences(plain.tree(), desk.tree()) == []
        assert sorted(s.digest for s in other.answered) == sorted(s.digest for s in service.answered)
        assert batched * 2 == pytest.approx(other.booked_uusd, rel=0.15)  # a cache is written and read in another order
    with desk.store() as store:
        assert store.budget("scope", SCOPE).spent_uusd == pytest.approx(float(batched), abs=len(service.answered))


def test_a_dream_that_waits_for_its_batch_blocks_nobody(desk: ModelDesk, service: Service) -> None:
    assert night(desk) is None
    ClaudeLog("meanwhile").later(days=300).user("The staging database listens on port 5433.").save(desk.logs)
    assert desk.dream().report.status == "completed"
    service.end_batches()
    assert through(desk, service).report.status == "completed"
    assert service.paid_twice == ()


def test_a_post_without_an_answer_that_was_taken_is_adopted(desk: ModelDesk, service: Service) -> None:
    service.next(Drops(accepted=True))
    assert night(desk) is None
    assert states(desk) == ["unknown"]
    assert night(desk) is None  # too early to tell
    assert states(desk) == ["unknown"]
    desk.now += LATER
    through(desk, service)
    assert service.paid_twice == ()
    assert [s.what for s in service.log].count("batch") == len(states(desk))


def test_a_post_without_an_answer_that_was_not_taken_is_posted_again(desk: ModelDesk, service: Service) -> None:
    service.next(Drops(accepted=False))
    assert night(desk) is None
    desk.now += LATER
    through(desk, service)
    assert service.paid_twice == ()
    assert [s.what for s in service.log].count("batch") == len(states(desk)) + 1


def test_a_batch_that_turns_up_after_it_was_posted_again_is_booked_as_paid_twice(desk: ModelDesk, service: Service) -> None:
    service.next(Drops(accepted=False, late=True))
    assert night(desk) is None
    desk.now += LATER
    assert night(desk) is None
    service.deliver_late()
    service.end_batches()
    through(desk, service)
    assert len(service.paid_twice) == len(SESSIONS)
    with desk.store() as store:
        spent = store.budget("scope", SCOPE).spent_uusd
    assert spent == pytest.approx(float(service.booked_uusd), abs=len(service.answered))


def test_of_a_strange_batch_as_large_as_ours_nothing_is_taken(desk: ModelDesk, service: Service) -> None:
    service.foreign_batch(len(SESSIONS))
    service.next(Drops(accepted=True))
    assert night(desk) is None
    desk.now += LATER
    assert night(desk) is None
    assert states(desk) == ["unknown"]  # two that fit, and nobody can tell
    through(desk, service)
    assert twice(service) == []


def test_a_strange_batch_that_was_adopted_is_given_up_for_our_own(desk: ModelDesk, service: Service) -> None:
    service.next(Drops(accepted=False, late=True))
    service.foreign_batch(len(SESSIONS))
    assert night(desk) is None
    desk.now += LATER
    assert night(desk) is None  # adopts the only one that fits
    assert states(desk) == ["posted"]
    service.deliver_late()
    through(desk, service)
    assert twice(service) == []


@pytest.mark.parametrize("fate", ["errored", "expired"])
def test_what_a_batch_did_not_answer_is_asked_alone(request: pytest.FixtureRequest, tmp_path: Path, fate: str) -> None:
    fated: list[str] = []

    def fate_of(custom_id: str, _: Body) -> str:
        fated.append(custom_id)
        return fate if len(fated) == 1 else "succeeded"

    with serving(Oracle(SESSIONS), fate=fate_of) as service:
        desk = desk_at(request, tmp_path / "desk", service)
        through(desk, service)
        assert [s.what for s in service.answered].count("message") == 1
        assert service.paid_twice == ()


def test_a_batch_of_a_dream_that_was_canceled_is_stopped_and_what_it_answered_is_booked(desk: ModelDesk, service: Service) -> None:
    assert night(desk) is None
    with desk.store() as store:
        (batch,) = store.batches(SCOPE)
        store.cancel(SCOPE, batch.dream)
        assert isinstance(desk.messages, Provider)
        assert tend(store, desk.messages, host=host_of(desk.holder)) == 1
        assert store.batch(batch.intent).state == "canceling"
        service.end_batches()
        assert tend(store, desk.messages, host=host_of(desk.holder)) == 0
        assert store.batch(batch.intent).state == "settled"
        assert store.open_calls(SCOPE) == ()


class Dies:
    """A provider whose process dies while it posts."""

    def __init__(self, provider: Provider, after: bool) -> None:
        self.provider, self.after = provider, after

    def post(self, asks: dict[str, Ask], *, timeout_s: float) -> str:
        if self.after:
            self.provider.post(asks, timeout_s=timeout_s)
        raise KeyboardInterrupt

    def __getattr__(self, name: str) -> object:
        return getattr(self.provider, name)


@pytest.mark.parametrize("after", [False, True])
def test_a_process_that_dies_while_it_posts_leaves_a_batch_that_is_looked_for(desk: ModelDesk, service: Service, after: bool) -> None:
    assert isinstance(desk.messages, Provider)
    dying = replace(desk, holder=f"{host_of(desk.holder)}:999999:1", messages=Dies(desk.messages, after))
    with pytest.raises(KeyboardInterrupt):
        dying.dream(**asking(batch=True))
    assert states(desk) == ["intended"]
    assert night(desk) is None
    assert states(desk) == ["unknown"]
    desk.now += LATER
    through(desk, service)
    assert service.paid_twice == ()


def test_a_process_paused_past_its_turn_to_post_posts_nothing(desk: ModelDesk, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another posts by then: of two batches without an answer at once, nobody could tell whose is whose."""
    take, intend = Store.take_lease, Store.intend
    fences, intents = [], []

    def pause(self: Store, *given: Any) -> Lease | None:
        lease = take(self, *given)
        fences.append(lease.fence if lease else None)
        if len(fences) == 1:
            with self.writing("another takes over meanwhile, and lets go") as conn:
                conn.exec_driver_sql("UPDATE leases SET fence = fence + 1, owner = NULL, until_ms = 0")
        return lease

    def note(self: Store, *given: Any, **more: Any) -> Any:
        intents.append(fences[-1])
        return intend(self, *given, **more)

    monkeypatch.setattr(Store, "take_lease", pause)
    monkeypatch.setattr(Store, "intend", note)
    monkeypatch.setattr(asking_desk, "ELSEWHERE_S", 0.01)
    assert night(desk) is None
    assert (fences, intents) == ([1, 3], [3])
    assert through(desk, service).report.status == "completed"
    assert service.paid_twice == ()


def test_a_batch_is_as_large_as_a_budget_holds_and_the_rest_is_posted_when_it_cost_less(desk: ModelDesk, service: Service) -> None:
    assert night(desk, budget_uusd=11_000) is None
    with desk.store() as store:
        (batch,) = store.batches(SCOPE)
        assert 0 < batch.requests < len(SESSIONS)
        assert store.budget("dream", batch.dream).reserved_uusd <= 11_000
    through(desk, service)
    assert service.paid_twice == ()


def test_a_budget_that_holds_no_request_posts_no_batch(desk: ModelDesk, service: Service) -> None:
    done = night(desk, budget_uusd=1_000)
    assert done is not None
    assert done.report.unread == {"budget": len(SESSIONS)}
    assert service.log == ()
