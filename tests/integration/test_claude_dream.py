"""A dream whose engine asks a model: what it adds, what it may not, what it costs, and what a budget leaves for the next dream."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.ports import Ask
from pipelines.run.units import plan
from tests.dreaming import SCOPE, differences, lines_with
from tests.redacting import shared_redactor
from tests.scripted import COST, Model, ModelDesk, asking, nothing_asked
from tests.unit.engines.claude_asking import numbers
from tests.writing import ClaudeLog

MONDAYS = "we all agreed that Mondays are for maintenance"
READS = {
    "Mondays are for maintenance": {"kind": "decision", "says": "Mondays are for maintenance."},
    "Lee has the last word on invoices": {"kind": "decision", "says": "Lee has the last word on invoices."},
    "nobody touches the ledger on Fridays": {"kind": "decision", "says": "Nobody touches the ledger on Fridays.", "negated": True},
}


@pytest.fixture
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> ModelDesk:
    made = ModelDesk(tmp_path / "desk", shared_redactor(request), messages=Model(reads=READS))
    ClaudeLog("one").user(f"ok so, {MONDAYS}, nothing else").user("The staging database listens on port 5433.").save(made.logs)
    ClaudeLog("two").later(days=1).user("by the way Lee has the last word on invoices as ever").save(made.logs)
    return made


def model(desk: ModelDesk) -> Model:
    assert isinstance(desk.messages, Model)
    return desk.messages


def stated(desk: ModelDesk, *words: str) -> list[str]:
    return [line for line in lines_with(desk.pages(), *words) if "[^" in line and "/[^" not in line]


def test_what_a_model_reads_stands_on_a_page_beside_what_rules_read(desk: ModelDesk) -> None:
    done = desk.dream(**asking())
    assert done.errors == ()
    assert stated(desk, "Mondays are for maintenance")
    assert stated(desk, "Lee has the last word on invoices")
    assert stated(desk, "5433")
    assert model(desk).stages() == {"extract": 2, "check": 1}
    assert done.report.asked == {"cost_uusd": 3 * COST, "over_budget": 0, "recorded": 0, "sent": 3}
    assert done.report.engine.startswith("claude/1+")


def test_a_second_dream_asks_nothing(desk: ModelDesk) -> None:
    desk.dream(**asking())
    with nothing_asked(model(desk)):
        assert desk.dream(**asking()).report.status == "completed"


def test_a_statement_its_words_do_not_carry_is_a_draft_and_says_so(desk: ModelDesk) -> None:
    desk.messages = Model(reads=READS, denies=frozenset({"Mondays are for maintenance."}), unsure=frozenset({"Lee has the last word on invoices."}))
    desk.dream(**asking())
    assert not stated(desk, "Mondays are for maintenance")
    assert not stated(desk, "Lee has the last word")
    with desk.store() as store:
        missed = {h.version.statement: (h.version.status.value, h.version.missed) for h in store.heads(SCOPE)}
    assert missed["Mondays are for maintenance."] == ("draft", "not_supported")
    assert missed["Lee has the last word on invoices."] == ("draft", "support_unsure")


def test_only_claims_of_the_model_that_gates_would_believe_are_checked(desk: ModelDesk) -> None:
    lies = {**READS, "Mondays are for maintenance": {"kind": "decision", "says": "Tuesdays are for maintenance in 2027."}}
    desk.messages = Model(reads=lies)
    desk.dream(**asking())
    (check,) = [a for a in model(desk).asked if a.stage == "check"]
    assert "invoices" in str(check.body["messages"])
    assert "Tuesdays" not in str(check.body["messages"])
    assert "5433" not in str(check.body["messages"])
    assert not lines_with(desk.tree(), "Tuesdays")


def ten_sessions(desk: ModelDesk) -> None:
    for n in range(10):
        ClaudeLog(f"more-{n}").later(days=n + 2).user(f"remark {n}: the archive of room {n} is kept by Mira {n}, they told me so").save(desk.logs)


def test_a_budget_that_is_reached_leaves_whole_sessions_to_the_next_dream_and_nothing_is_asked_twice(desk: ModelDesk) -> None:
    ten_sessions(desk)
    desk.messages = Model(reads=READS, cost=9_000)
    first = desk.dream(**asking(budget_uusd=48_000))
    with desk.store() as store:
        spent = store.budget("dream", first.report.dream)
    assert spent.spent_uusd == len(model(desk).asked) * 9_000 <= 48_000
    assert first.report.status == "completed"
    assert first.report.unread["budget"] == 12 - len(model(desk).asked)  # one window each; nothing is left for the check
    assert first.report.claims > 0
    (report,) = (desk.wiki / "journal").glob("*.md")
    assert f"{sum(first.report.unread.values())} sessions are left to the next dream" in report.read_text(encoding="utf-8")
    second = desk.dream(**asking())
    assert second.report.unread == {}
    assert len(set(model(desk).digests())) == len(model(desk).digests())
    fresh = ModelDesk(desk.root / "fresh", desk.redactor, messages=Model(reads=READS))
    for log in desk.logs.iterdir():
        fresh.logs.joinpath(log.name).write_bytes(log.read_bytes())
    fresh.dream(**asking())
    assert differences(fresh.tree(), desk.tree()) == []


def test_without_a_budget_nothing_is_asked_and_the_report_says_so(desk: ModelDesk) -> None:
    done = desk.dream(**asking(budget_uusd=None))
    assert model(desk).asked == []
    assert done.report.unread == {"budget": 2}


def test_a_dry_run_that_is_applied_later_makes_no_second_call(desk: ModelDesk) -> None:
    planned = desk.dream(**asking(dry_run=True))
    assert planned.report.status == "planned"
    asked = model(desk).digests()
    with nothing_asked(model(desk)):
        desk.apply(planned.report.dream)
    assert stated(desk, "Mondays are for maintenance")
    other = ModelDesk(desk.root / "other", desk.redactor, messages=Model(reads=READS))
    for log in desk.logs.iterdir():
        other.logs.joinpath(log.name).write_bytes(log.read_bytes())
    other.dream(**asking())
    assert model(other).digests() == asked
    assert differences(other.tree(), desk.tree()) == []


@pytest.mark.parametrize("threads", [4, 16])
def test_the_requests_are_the_same_for_any_number_of_workers(desk: ModelDesk, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ten_sessions(desk)
    monkeypatch.setattr(plan, "SESSIONS_MAX", 3)
    desk.dream(**asking())
    other = ModelDesk(desk.root / "other", desk.redactor, messages=Model(reads=READS))
    for log in desk.logs.iterdir():
        other.logs.joinpath(log.name).write_bytes(log.read_bytes())
    other.units = threads
    other.dream(**asking())
    assert model(other).digests() == model(desk).digests()
    assert differences(other.tree(), desk.tree()) == []


def test_one_process_dreams_with_either_engine_and_each_reads_for_itself(desk: ModelDesk) -> None:
    local = desk.dream()
    assert local.report.engine.startswith("local/")
    assert model(desk).asked == []
    assert not stated(desk, "Mondays are for maintenance")
    desk.dream(**asking())
    assert stated(desk, "Mondays are for maintenance")


def test_a_stretch_no_model_answers_for_is_named_and_the_rest_is_read(desk: ModelDesk) -> None:
    def garble(ask: Ask) -> str | None:
        return "no" if ask.stage == "extract" and any("Mondays" in turn for turn in numbers(ask).values()) else None

    desk.messages = Model(reads=READS, before=garble)
    done = desk.dream(**asking())
    assert stated(desk, "Lee has the last word on invoices")
    assert stated(desk, "5433")
    assert done.report.left == {"unusable": 1}
    (report,) = (desk.wiki / "journal").glob("*.md")
    assert "1 turns were not read" in report.read_text(encoding="utf-8")
