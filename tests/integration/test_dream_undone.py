"""Work that is left undone is found by the next dream, whoever left it, and is never taken for nothing new."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from pipelines.model import Ruling, Status
from pipelines.run import Outcome, dream
from pipelines.run import render as render_module
from pipelines.run import showing as showing_module
from pipelines.run import sources as sources_module
from pipelines.run.showing import Sight
from pipelines.run.sources import NOTHING, take_in
from pipelines.run.wiki import organize
from pipelines.store import Asked, Store
from tests.dreaming import SCOPE, Desk, differences, lines_with
from tests.writing import START, ClaudeLog, events, memory

MARK = "<!-- yours below: dreamd never touches it -->"


class Stopped(Exception):
    """What a failing step raises."""


def rule(desk: Desk, text: str, *, folder: Path | None = None, day: int = 0) -> None:
    ClaudeLog(text, at=START + timedelta(days=day)).user(text).assistant("ok").save(folder or desk.logs)


def quiet(outcome: Outcome) -> bool:
    return outcome.taken is NOTHING


# --- brought into the store between two dreams -------------------------------------------------------------------------------------------


def test_sessions_taken_in_by_another_command_are_read_by_the_next_dream(desk: Desk) -> None:
    rule(desk, "Always run migrations with `make migrate`.")
    desk.dream()
    rule(desk, "Never push to main.", folder=desk.root / "elsewhere")
    with desk.store() as store:
        take_in(desk.parts(store), desk.request(desk.root / "elsewhere"))
    assert not quiet(desk.dream())
    assert lines_with({"brief": desk.brief()}, "Never push to main")
    assert quiet(desk.dream())


def test_notes_taken_in_by_another_command_are_judged_by_the_next_dream(desk: Desk) -> None:
    rule(desk, "Always run migrations with `make migrate`.")
    desk.dream()
    asked = desk.request()
    desk.note("ports.md", memory("ports", "The parser needs 4 GB of memory."))
    with desk.store() as store:
        take_in(desk.parts(store), desk.request(desk.root / "none"))
        assert not quiet(dream(desk.parts(store), asked))
    assert lines_with(desk.pages(), "The parser needs 4 GB")


def test_a_ruling_added_between_two_dreams_is_something_new(desk: Desk) -> None:
    rule(desk, "Always run migrations with `make migrate`.")
    desk.dream()
    with desk.store() as store:
        store.add_ruling(SCOPE, Ruling(uid="r1", verb="ban", target="n1"))
    assert not quiet(desk.dream())


def test_what_another_process_takes_in_while_a_dream_runs_is_left_to_the_next_one(desk: Desk) -> None:
    rule(desk, "Always run migrations with `make migrate`.")
    rule(desk, "Never push to main.", folder=desk.root / "elsewhere")

    def meanwhile(name: str) -> None:
        if name == "committed:analyse":
            desk.step = lambda _: None
            with desk.store() as store:
                take_in(desk.parts(store), desk.request(desk.root / "elsewhere"))

    desk.step = meanwhile
    desk.dream()
    assert not quiet(desk.dream())
    assert lines_with({"brief": desk.brief()}, "Never push to main")


# --- a dream that was cut short --------------------------------------------------------------------------------------------------------


def test_a_session_that_failed_another_dream_just_before_this_one_was_asked_for_is_read_by_this_one(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    rule(desk, "Always run migrations with `make migrate`.")
    desk.dream()
    rule(desk, "Never push to main.", day=1)
    begin = Store.request

    def after_another(self: Store, scope: str, **given: object) -> Asked:
        monkeypatch.setattr(Store, "request", begin)
        desk.step = stop_at("session_read")
        assert [r.why for r in desk.dream().report.refused] == ["Stopped"]
        desk.step = lambda _: None
        assert not lines_with({"brief": desk.brief()}, "Never push to main")
        return begin(self, scope, **given)  # type: ignore[arg-type]

    monkeypatch.setattr(Store, "request", after_another)
    desk.dream()
    assert lines_with({"brief": desk.brief()}, "Never push to main")


def stop_at(wanted: str) -> Callable[[str], None]:
    def step(name: str) -> None:
        if name == wanted:
            raise Stopped

    return step


def test_a_setting_that_decides_beliefs_is_applied_to_what_was_believed_before(desk: Desk) -> None:
    ClaudeLog("one").user("The staging database listens on port 5433.").save(desk.logs)
    ClaudeLog("two", at=START + timedelta(minutes=20)).user("The staging database listens on port 5434.").save(desk.logs)
    desk.dream()
    with desk.store() as store:
        assert Status.DISPUTED not in {h.version.status for h in store.heads(SCOPE)}
    desk.dream(skew_s=3600.0)
    with desk.store() as store:
        assert Status.DISPUTED in {h.version.status for h in store.heads(SCOPE)}


# --- whom a person vouches for -----------------------------------------------------------------------------------------------------------

WATCHED = [("api-replicas", "3", "verified", "2026-03-04T08:00:00Z")]


def verified(desk: Desk) -> bool:
    with desk.store() as store:
        return any(h.version.status is Status.CONFIRMED and h.version.value == "3" for h in store.heads(SCOPE))


def test_an_events_file_that_was_read_before_it_was_named_counts_once_it_is_named(desk: Desk) -> None:
    path = desk.logs / "seen.events.jsonl"
    path.write_text(events(WATCHED), encoding="utf-8")
    desk.dream()
    assert not verified(desk)
    desk.dream(path)
    assert verified(desk)


def test_a_dream_that_stops_before_it_has_vouched_for_a_named_file_does_so_later(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    path = desk.logs / "seen.events.jsonl"
    path.write_text(events(WATCHED), encoding="utf-8")

    def stop(*_: object) -> None:
        raise Stopped

    with monkeypatch.context() as patched:
        patched.setattr(sources_module, "_vouch", stop)
        with pytest.raises(Stopped):
            desk.dream(path)
    desk.dream(path)
    assert verified(desk)


# --- two at once -------------------------------------------------------------------------------------------------------------------------


def test_a_page_rendered_before_another_dream_never_takes_the_place_of_what_that_one_published(
    desk: Desk, desks: Callable[[], Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    rule(desk, "Always run migrations with `make migrate`.")
    desk.dream()
    rule(desk, "Never push to main.", day=1)
    see = showing_module.look

    def overtaken(*given: Any, **named: Any) -> Sight:
        sight = see(*given, **named)
        monkeypatch.setattr(render_module, "look", see)
        desk.dream()
        return sight

    monkeypatch.setattr(render_module, "look", overtaken)
    with desk.store() as store:
        organize(desk.parts(store), desk.request())
    other = desks()
    rule(other, "Always run migrations with `make migrate`.")
    rule(other, "Never push to main.", day=1)
    other.dream()
    assert differences(other.tree(), desk.tree()) == []


# --- a person's words in a report --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("below", [True, False], ids=["below the line", "above it"])
def test_what_a_person_writes_into_a_report_stays_when_a_second_dream_ends_on_the_same_day(desk: Desk, below: bool) -> None:
    rule(desk, "Always run migrations with `make migrate`.")
    desk.dream()
    (report,) = desk.wiki.glob("journal/*.md")
    text = report.read_text(encoding="utf-8")
    mine = "I told Lee about this."
    report.write_text(text.replace(MARK, f"{MARK}\n\n{mine}") if below else text.replace("# Dream", f"{mine}\n\n# Dream"), encoding="utf-8")
    for day, said in enumerate(("Never push to main.", "Always write tests first."), start=1):
        rule(desk, said, day=day)
        desk.dream()
        assert mine in report.read_text(encoding="utf-8")
        assert not below or said in report.read_text(encoding="utf-8")


def test_a_save_in_the_moment_of_writing_is_told_of(desk: Desk) -> None:
    rule(desk, "Always run migrations with `make migrate`.")
    desk.dream()
    rule(desk, "Never push to main.", day=1)

    def save(name: str) -> None:
        if name == "staged:how-we-work.md":
            (desk.wiki / "how-we-work.md").write_text("My page now.", encoding="utf-8")

    desk.step = save
    desk.dream()
    (report,) = desk.wiki.glob("journal/*.md")
    assert "kept below .dreamd/displaced: how-we-work.md" in report.read_text(encoding="utf-8").replace("\\", "")
    assert "My page now." in {p.read_text(encoding="utf-8") for p in (desk.wiki / ".dreamd" / "displaced").iterdir()}


def test_a_folder_with_the_name_of_a_page_stops_no_dream(desk: Desk) -> None:
    rule(desk, "Always run migrations with `make migrate`.")
    desk.dream()
    (desk.wiki / "mine.md").mkdir()
    (desk.wiki / "how-we-work.md").unlink()
    (desk.wiki / "how-we-work.md").mkdir()
    rule(desk, "Never push to main.", day=1)
    done = desk.dream()
    assert done.published is not None
    assert [path for path, _ in done.published.held] == ["how-we-work.md"]
    assert lines_with({"brief": desk.brief()}, "Never push to main")


def test_a_log_that_has_fallen_silent_is_looked_at_once_more(desk: Desk) -> None:
    log = ClaudeLog("torn").user("Always run migrations with `make migrate`.")
    behind = log.user("Never push to main.").text().splitlines()[-1]
    path = desk.logs / "torn.jsonl"
    first = log.text().splitlines()[0]
    path.write_text(first + '\n{\n "type": "user", "torn": [\n' + behind.replace("{", "{ ", 1) + "\n", encoding="utf-8")
    os.utime(path, (desk.now.timestamp(), desk.now.timestamp()))
    desk.dream()
    assert lines_with({"brief": desk.brief()}, "Never push to main") == []
    assert quiet(desk.dream())
    desk.now += timedelta(days=2)
    assert not quiet(desk.dream())
    assert lines_with({"brief": desk.brief()}, "Never push to main")
    assert quiet(desk.dream())


def test_a_log_that_shows_two_sessions_to_be_one_makes_them_one_witness(desk: Desk, desks: Callable[[], Desk]) -> None:
    said = "I prefer short commit messages."
    one = ClaudeLog("one").user("good morning, let us look at the build").assistant("Looking at it now.").user(said)
    two = ClaudeLog("two", at=START + timedelta(days=1)).user("hello again, where were we").assistant("We looked at the build.").user(said)
    both = ClaudeLog("both", at=START + timedelta(days=2)).user("carry on")
    copied = "\n".join([*one.text().splitlines()[:2], *two.text().splitlines()[:2]]).replace(one.uuid, both.uuid).replace(two.uuid, both.uuid)

    def write(at: Desk, *, all_at_once: bool) -> None:
        for log in (one, two):
            log.save(at.logs)
        if not all_at_once:
            at.dream()
            assert lines_with({"brief": at.brief()}, said)
        both.save(at.logs).write_text(f"{copied}\n{both.text()}", encoding="utf-8")
        at.dream()

    other = desks()
    write(desk, all_at_once=False)
    write(other, all_at_once=True)
    assert lines_with({"brief": desk.brief()}, said) == []
    assert differences(other.tree(), desk.tree()) == []
