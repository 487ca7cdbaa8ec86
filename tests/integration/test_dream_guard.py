"""A dream that would change too much at once holds that part for a person; the rest goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pipelines.engines.local.engine import LocalEngine
from pipelines.errors import Refused
from pipelines.model import Status
from pipelines.ports import Extracted, Window
from pipelines.run import Outcome, dream
from tests.dreaming import SCOPE, Desk, differences, lines_with
from tests.writing import ClaudeLog, events
from worker.cli import run

TOPICS = tuple(f"limit-{n}" for n in range(8))


def values(desk: Desk, name: str, value: str, day: int) -> Path:
    path = desk.logs / f"{name}.events.jsonl"
    path.write_text(events([(t, value, "verified", f"2026-03-{day:02}T08:00:00Z") for t in TOPICS]), encoding="utf-8")
    return path


def believed(desk: Desk) -> set[str | None]:
    with desk.store() as store:
        return {h.version.value for h in store.heads(SCOPE) if h.version.status is Status.CONFIRMED and h.version.value}


def test_a_change_of_too_much_is_held_and_the_rest_goes_on(desk: Desk) -> None:
    first = values(desk, "first", "10", 1)
    desk.dream(first)
    second = values(desk, "second", "20", 5)
    ClaudeLog("x").user("Always run migrations with `make migrate`.").save(desk.logs)
    held = desk.dream(first, second, desk.logs)
    assert held.report.status == "held"
    assert believed(desk) == {"10"}
    assert lines_with(desk.pages(), "make migrate")


def test_what_is_held_is_taken_back_and_what_was_believed_beside_it_stays(
    desk: Desk, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = values(desk, "first", "10", 1), values(desk, "second", "20", 5)
    desk.dream(first)
    ClaudeLog("x").user("Always run migrations with `make migrate`.").save(desk.logs)
    held = desk.dream(first, second, desk.logs).report
    monkeypatch.setenv("DREAMD_DATABASE_URL", desk.url)
    assert run(["dreams", "cancel", held.dream, "--wiki", str(desk.wiki), "--scope", SCOPE]) == 0
    with desk.store() as store:
        dream = store.dream(SCOPE, held.dream)
        assert (dream.state, store.planned(dream)) == ("canceled", ())
        assert dream.applied_rev is not None
    assert f"what it held is dropped; revision {dream.applied_rev} stays" in capsys.readouterr().out
    assert believed(desk) == {"10"}
    assert lines_with(desk.pages(), "make migrate")
    with pytest.raises(Refused, match="waits for nobody"):
        desk.apply(held.dream)


def test_what_is_held_stays_held_and_is_applied_when_a_person_allows_more(desk: Desk, desks: Callable[[], Desk]) -> None:
    first, second = values(desk, "first", "10", 1), values(desk, "second", "20", 5)
    desk.dream(first)
    assert desk.dream(first, second).report.status == "held"
    assert desk.dream(first, second).report.status == "held", "a second look does not let it through"
    allowed = desk.dream(first, second, change_share_max=1.0)
    assert allowed.report.status == "completed"
    assert believed(desk) == {"20"}
    other = desks()
    other.dream(values(other, "first", "10", 1), values(other, "second", "20", 5))
    assert differences(other.tree(), desk.tree()) == []


def test_a_change_of_too_much_waits_in_the_review(desk: Desk, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = values(desk, "first", "10", 1), values(desk, "second", "20", 5)
    desk.dream(first)
    held = desk.dream(first, second).report
    monkeypatch.setenv("DREAMD_DATABASE_URL", desk.url)
    place = ["--wiki", str(desk.wiki), "--scope", SCOPE]
    assert run(["review", *place]) == 0
    assert f"dreamd apply {held.dream}" in capsys.readouterr().out
    assert run(["dreams", "cancel", held.dream, *place]) == 0
    capsys.readouterr()
    assert run(["review", *place]) == 0
    assert held.dream not in capsys.readouterr().out


# --- an engine that answers destructively ------------------------------------------------------------------------------------------------


class Forgetful:
    """A newer reader that finds nothing in what the one before it read, and reads what is new as it should."""

    name = "local/999"

    def extract(self, window: Window) -> Extracted:
        old = any(turn.text.startswith("Never") for turn in window.turns)
        return Extracted(claims=(), questions=()) if old else LocalEngine().extract(window)


RULES = tuple(f"Never push to branch-{n} on a Friday." for n in range(8))


def dreamt_by(desk: Desk, engine: Forgetful) -> Outcome:
    with desk.store() as store:
        return dream(replace(desk.parts(store), engine=engine), desk.request())


def held_by_the_guard(desk: Desk) -> str:
    """A dream whose engine would empty the memory; returns its id."""
    log = ClaudeLog("rules")
    for rule in RULES:
        log.user(rule)
    log.save(desk.logs)
    desk.dream()
    ClaudeLog("new").later(days=3).user("Always run migrations with `make migrate`.").save(desk.logs)
    held = dreamt_by(desk, Forgetful()).report
    assert held.status == "held"
    return held.dream


def rules_on_pages(desk: Desk) -> int:
    return sum(bool(lines_with(desk.pages(), rule)) for rule in RULES)


def test_answers_that_would_empty_the_memory_are_held_and_what_is_new_is_learnt(desk: Desk) -> None:
    held_by_the_guard(desk)
    assert rules_on_pages(desk) == len(RULES)
    assert lines_with(desk.pages(), "make migrate")
    assert dreamt_by(desk, Forgetful()).report.status == "held", "asked again it is held again"
    assert rules_on_pages(desk) == len(RULES)


def test_review_names_what_is_held_and_the_commands_that_apply_and_drop_it(
    desk: Desk, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    uid = held_by_the_guard(desk)
    monkeypatch.setenv("DREAMD_DATABASE_URL", desk.url)
    at = ("--wiki", str(desk.wiki), "--scope", SCOPE)
    assert run(["review", *at]) == 0
    out = capsys.readouterr().out
    assert f"dreamd apply {uid} or dreamd dreams cancel {uid}" in out
    desk.apply(uid)
    assert rules_on_pages(desk) == 0, "a person has looked at it"


def test_a_page_that_would_lose_most_of_its_facts_for_no_reason_keeps_them_until_a_person_has_looked(desk: Desk) -> None:
    log = ClaudeLog("rules")
    for rule in RULES[:4]:
        log.user(rule)
    log.save(desk.logs)
    desk.dream()
    ClaudeLog("new").later(days=3).user("Always run migrations with `make migrate`.").save(desk.logs)
    held = dreamt_by(desk, Forgetful()).report
    assert (held.status, rules_on_pages(desk)) == ("held", 4), "so few that a change of all would go through"
    assert lines_with(desk.pages(), "make migrate")
    desk.apply(held.dream)
    assert rules_on_pages(desk) == 0
