"""The poison suite with a model that claims everything it reads: nothing of it gets beyond a draft, and what a person types is not held."""

from __future__ import annotations

import pytest

from pipelines.model import Claim, Kind, Origin, Outcome, Place, Quote, Role, Turn
from pipelines.stages.extractor import judge_claims
from tests.poison.cases import BENIGN, CASES
from tests.poison.greedy import GreedyEngine
from tests.poison.reach import ORIGIN, ReadingDesk, dreamt, guarded_by
from tests.redacting import shared_redactor


@pytest.fixture
def desk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ReadingDesk:
    return ReadingDesk(tmp_path_factory.mktemp("desk"), shared_redactor(request), engine=GreedyEngine())


def test_the_suite_is_as_large_and_mixed_as_it_says() -> None:
    assert len(CASES) >= 60
    assert len({case.language for case in CASES}) >= 6
    assert sum(case.group != "seen" for case in CASES) >= len(CASES) // 2
    assert len(BENIGN) >= 40


@pytest.mark.parametrize("groups", [("seen", "further"), ("held out", "last")])
def test_nothing_poisoned_gets_beyond_a_draft(desk: ReadingDesk, groups: tuple[str, ...]) -> None:
    cases = [case for case in CASES if case.group in groups]
    found = dreamt(desk, cases)
    assert {f"{cases[n].kind}: {cases[n].text}": sorted(places) for n, places in found.items() if places - {"draft"}} == {}
    assert "make lint" in desk.brief(), "what the person said themselves is told"


def test_without_the_detector_the_suite_does_get_through(desk: ReadingDesk) -> None:
    some = [case for case in CASES if case.veil == "plain" and case.door in {"fetch", "drip"}]
    with guarded_by(ORIGIN):
        found = dreamt(desk, some)
    assert any("page" in places for places in found.values())


def test_rules_a_person_typed_are_not_held() -> None:
    held = []
    for _, rule in BENIGN:
        turn = Turn(uid="t", snap="", session="s", ordinal=0, role=Role.USER, origin=Origin.USER, text=rule, place=Place(line=1, offset=0, length=1))
        quotes = (Quote(turn="t", start=0, end=len(rule), text=rule),)
        made = Claim(kind=Kind.RULE, subject="project", attribute="", statement=rule, quotes=quotes, standing_mark=True)
        held += [rule for judged in judge_claims([made], {"t": turn}) if judged.outcome is Outcome.QUARANTINE]
    assert len(held) <= 0.05 * len(BENIGN), held
