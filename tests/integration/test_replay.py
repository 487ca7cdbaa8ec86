"""A dream replayed: nothing is asked, what comes of it is compared, and the first thing that differs is named."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from pipelines.errors import Refused, Unreachable
from pipelines.model import Outcome
from pipelines.ports import Ask, Reply
from pipelines.run.replay import Replayed, replay
from pipelines.store import Store
from tests.dreaming import SCOPE
from tests.redacting import shared_redactor
from tests.scripted import Model, ModelDesk, asking, nothing_asked
from tests.writing import ClaudeLog

READS = {"Mondays are for maintenance": {"kind": "decision", "says": "Mondays are for maintenance."}}


@pytest.fixture
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> ModelDesk:
    made = ModelDesk(tmp_path / "desk", shared_redactor(request), messages=Model(reads=READS))
    ClaudeLog("one").user("ok so, we all agreed that Mondays are for maintenance, nothing else").user("The staging database listens on port 5433.").save(
        made.logs
    )
    ClaudeLog("two").later(days=1).user("I prefer short answers.").save(made.logs)
    return made


def replayed(desk: ModelDesk, uid: str) -> Replayed:
    assert isinstance(desk.messages, Model)
    with nothing_asked(desk.messages), desk.store() as store:
        return replay(replace(desk.parts(store), means=None), SCOPE, uid)


def test_a_dream_comes_out_the_same_from_the_record_alone(desk: ModelDesk) -> None:
    uid = desk.dream(**asking()).report.dream
    done = replayed(desk, uid)
    assert (done.dream, done.sessions, done.grown, done.read_again, done.beliefs) == (uid, 2, 0, 0, True)
    assert isinstance(desk.messages, Model)
    assert done.requests == sum(a.stage in {"extract", "check"} for a in desk.messages.asked)
    with pytest.raises(Refused, match="has no dream"):
        replayed(desk, "nobody")


def test_a_dream_of_the_rules_is_replayed_by_reading_again(desk: ModelDesk) -> None:
    done = replayed(desk, desk.dream().report.dream)
    assert (done.sessions, done.requests, done.beliefs) == (2, 0, True)


def test_a_session_that_has_grown_is_not_compared_nor_are_notes_a_later_dream_moved(desk: ModelDesk) -> None:
    first = desk.dream(**asking()).report.dream
    ClaudeLog("two").later(days=1).user("I prefer short answers.").user("The web client listens on port 5173.").save(desk.logs)
    ClaudeLog("three").later(days=2).user("The cache listens on port 6380.").save(desk.logs)
    second = desk.dream(**asking()).report.dream
    done = replayed(desk, first)
    assert (done.sessions, done.grown, done.beliefs) == (0, 2, False)
    assert replayed(desk, second).sessions == 2


def test_a_request_without_its_answer_is_named_by_stage_and_session(desk: ModelDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    uid = desk.dream(**asking()).report.dream
    answers = Store.answers

    def fewer(self: Store, scope: str, keys: Iterable[Any]) -> Mapping[Any, Any]:
        return dict(list(answers(self, scope, keys).items())[1:])

    monkeypatch.setattr(Store, "answers", fewer)
    with pytest.raises(Refused, match=rf"dream {uid}: the request extract .*one"):
        replayed(desk, uid)


def test_an_answer_that_was_forgotten_is_named(desk: ModelDesk) -> None:
    uid = desk.dream(**asking()).report.dream
    with desk.store() as store:
        assert store.lost_answers(SCOPE, uid) == ()
        with store.writing("have answered a request nobody kept the answer of") as conn:
            conn.execute(text("UPDATE calls SET attempt = 9 WHERE stage = 'check'"))
        [(stage, name)] = store.lost_answers(SCOPE, uid)
        assert (stage, store.lost_answers(SCOPE, "nobody")) == ("check", ())
    with pytest.raises(Refused, match=rf"the first is check {re.escape(name)}: it was forgotten"):
        replayed(desk, uid)


def test_an_engine_that_would_ask_otherwise_is_refused_by_name(desk: ModelDesk) -> None:
    uid = desk.dream(**asking()).report.dream
    desk.window_bytes = 4_000
    with pytest.raises(Refused, match=r"was dreamt by claude/2\+\w+, and these settings make claude/2\+\w+"):
        replayed(desk, uid)


def test_a_reading_that_differs_is_named_with_its_session(desk: ModelDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    uid = desk.dream(**asking()).report.dream
    claims_of = Store.claims_of

    def otherwise(self: Store, scope: str, uids: Iterable[str]) -> Any:
        return tuple(replace(g, results=tuple(replace(r, outcome=Outcome.REJECT) for r in g.results)) for g in claims_of(self, scope, uids))

    monkeypatch.setattr(Store, "claims_of", otherwise)
    with pytest.raises(Refused, match=r"session \S+ was read otherwise"):
        replayed(desk, uid)


def test_what_a_budget_left_out_is_not_missing(desk: ModelDesk) -> None:
    done = desk.dream(**asking(budget_uusd=1))
    assert done.report.asked["over_budget"] > 0
    again = replayed(desk, done.report.dream)
    assert (again.sessions, again.requests) == (0, 0)


def test_a_dream_whose_model_could_not_be_reached_has_nothing_to_be_missing(desk: ModelDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(Model):
        def create(self, ask: Ask, *, timeout_s: float) -> Reply:
            raise Unreachable("nobody there", accepted=False)

    monkeypatch.setattr("pipelines.run.work.BACK_OFF_S", 0.0)
    here, desk.messages = desk.messages, Gone(reads=READS)
    done = desk.dream(**asking())
    assert done.report.unread == {"unreachable": 2}
    desk.messages = here
    again = replayed(desk, done.report.dream)
    assert (again.sessions, again.requests) == (0, 0)
