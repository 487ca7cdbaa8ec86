"""A model that lies in every way the oracle knows, through the real SDK: what of it is believed, shown or told, and what of the truth is kept."""

from __future__ import annotations

import pytest

from tests.oracle.followed import Followed, Home
from tests.oracle.gold import all_sessions, fluent_sessions, secrets
from tests.oracle.knobs import ITEM_KNOBS, LIES, NUISANCES, TRAP_KNOBS, Knobs
from tests.oracle.wire import Drops, Fails, Said, busy
from tests.redacting import shared_redactor

NAMES = ("packages", "incident", "cache", "cache-later", "party", "handover", "notes-to-self", "依赖", "缓存", "缓存二", "家")
"""Sessions that hold every trap, a pair that must not be merged in either language, and other people."""
LONG = ("imports", "backups", "release", "habits", "weekend", "习惯")
"""Sessions of long sentences in two languages, and things they show together."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Home:
    sessions = [s for s in all_sessions() if s.name in NAMES]
    return Home(tmp_path_factory.mktemp("knobs"), shared_redactor(request), sessions)


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Home:
    sessions = [s for s in fluent_sessions() if s.name in LONG]
    return Home(tmp_path_factory.mktemp("long"), shared_redactor(request), sessions)


@pytest.fixture(scope="module")
def truth(home: Home) -> Followed:
    return home.dream(Knobs())


@pytest.fixture(scope="module")
def lies(home: Home) -> Followed:
    """Every claim a lie of some sort, every trap walked into, every pair merged, and a check of support that is right."""
    return home.dream(Knobs(**dict.fromkeys(ITEM_KNOBS, 0.4), **dict.fromkeys(TRAP_KNOBS, 1.0), merge=1.0, seed=2))


def reaching(run: Followed, *knobs: str) -> list[str]:
    return sorted(f"{lie.knob}: {lie.says} ← {lie.quote}" for lie in run.oracle.told if lie.knob in knobs and run.reached(lie))


def told(run: Followed, knob: str) -> int:
    return sum(lie.knob == knob for lie in run.oracle.told)


def test_what_a_truthful_model_says_is_kept(truth: Followed) -> None:
    fates = truth.fates()
    assert truth.errors == ()
    assert sum(n for fate, n in fates.items() if fate.startswith("lost")) <= 0.05 * sum(fates.values())
    assert fates["kept"] >= 0.75 * sum(fates.values())
    assert truth.oracle.told == set()


def test_no_lie_of_any_sort_is_believed_shown_or_told(lies: Followed) -> None:
    assert [knob for knob in (*ITEM_KNOBS, *TRAP_KNOBS) if not told(lies, knob)] == ["fluent"]  # of which these short sessions have none
    assert reaching(lies, *LIES) == []


def test_a_check_that_is_wrong_every_time_lets_through_no_lie_that_gates_see(home: Home) -> None:
    run = home.dream(Knobs(**dict.fromkeys(ITEM_KNOBS, 0.3), **dict.fromkeys(TRAP_KNOBS, 1.0), wrong_check=1.0, seed=3))
    assert "yes" in run.oracle.checked.values()
    assert reaching(run, "invented_quote", "number", "flipped", "other_scope", "secret", "instruction") == []


def test_no_long_lie_and_no_wrong_insight_is_believed_where_the_check_is_right(long: Home) -> None:
    run = long.dream(Knobs(fluent=0.3, insight=1.0))
    assert told(run, "fluent") >= 10
    assert told(run, "insight") > 2
    assert reaching(run, "fluent", "insight") == []


def test_of_long_lies_few_pass_a_check_that_says_yes_to_everything(long: Home) -> None:
    run = long.dream(Knobs(fluent=1.0, insight=1.0, yes_check=1.0))
    assert {lie.way for lie in run.oracle.told if lie.knob == "fluent"} >= {"reason", "person", "condition", "always", "done", "extra"}
    assert len(reaching(run, "fluent")) <= 0.25 * told(run, "fluent")
    assert [lie.way for lie in run.oracle.told if run.reached(lie) and lie.way in {"always", "number", "denied", "order", "few", "one"}] == []


def test_a_truthful_model_that_words_freely_is_believed(long: Home) -> None:
    run = long.dream(Knobs())
    fates = run.fates()
    assert sum(n for fate, n in fates.items() if fate.startswith("lost")) <= 0.05 * sum(fates.values())
    assert fates["kept"] >= 0.6 * sum(fates.values())
    assert run.concluded()["kept"] == len(run.oracle.concluded) > 0


def test_a_wrong_answer_is_no_note_and_leaves_its_question_open(home: Home) -> None:
    run = home.dream(Knobs(answer=1.0))
    made_up = [lie for lie in run.oracle.told if lie.knob == "answer" and lie.way == "made up"]
    assert made_up
    assert [lie for lie in made_up if run.reached(lie) or run.closed(lie)] == []


def test_no_secret_stands_in_any_file_whatever_the_model_says(lies: Followed) -> None:
    assert told(lies, "secret")
    assert [lies.written(secret) for secret in secrets().values()] == [[]] * len(secrets())


def test_an_order_found_in_a_page_that_was_read_stands_in_no_file(lies: Followed) -> None:
    assert told(lies, "instruction")
    assert lies.written("npm audit fix --force") == []
    assert lies.written("npm install --force") == []


def test_what_is_withheld_broken_off_or_said_thirty_times_takes_nothing_else_with_it(home: Home, truth: Followed) -> None:
    run = home.dream(Knobs(**dict.fromkeys(NUISANCES, 0.3), seed=1))
    assert run.errors == ()
    assert run.oracle.told == set()
    told_at_all = {claim for claim in run.oracle.true if run.fate(claim) != "lost: gone"}
    assert len(told_at_all) >= 0.4 * len(truth.oracle.true)
    assert {claim: run.fate(claim) for claim in told_at_all} == {claim: truth.fate(claim) for claim in told_at_all}


def test_broken_connections_and_a_busy_server_change_nothing_but_the_number_of_calls(home: Home, truth: Followed) -> None:
    run = home.dream(Knobs(), Drops(accepted=True), Drops(accepted=False), busy(0.01), Fails(status=529), Fails(status=500), Said(text="", stop="refusal"))
    assert run.errors == ()
    assert len(run.service.messages) == len(truth.service.messages) + 6
    assert len(run.service.paid_twice) == 2  # the connection that broke after the answer, and the refusal, which is an answer
    assert {name: scope.files["MEMORY.md"] for name, scope in run.scopes.items()} == {name: scope.files["MEMORY.md"] for name, scope in truth.scopes.items()}
    assert run.fates() == truth.fates()
