"""A dream that waits for a person, planned by a dry run or held by the guard, is applied as it stands, or refused with what has moved."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pipelines.errors import Refused
from pipelines.ports import Extracted, Window
from pipelines.run import apply_dream
from tests.dreaming import SCOPE, Desk, differences, lines_with
from tests.integration.test_dream_again import a_week_of_work
from tests.integration.test_dream_guard import believed, values
from tests.redacting import shared_redactor
from tests.writing import ClaudeLog
from worker import wiring
from worker.cli import run


class Silent:
    """An engine nobody may ask."""

    name = "local/1"

    def extract(self, window: Window) -> Extracted:
        raise AssertionError("the engine was asked")


def test_what_a_dry_run_planned_is_applied_later_without_asking_the_engine(desk: Desk, desks: Callable[[], Desk]) -> None:
    a_week_of_work(desk)
    planned = desk.dream(dry_run=True).report
    assert (planned.status, planned.next) == ("planned", f"dreamd apply {planned.dream} --wiki {desk.wiki}")
    with desk.store() as store:
        done = apply_dream(replace(desk.parts(store), engine=Silent()), desk.request(), planned.dream)
        assert store.dream(SCOPE, planned.dream).state == "completed"
    assert (done.report.status, done.report.notes.added) == ("completed", planned.notes.added)
    other = desks()
    a_week_of_work(other)
    other.dream()
    assert differences(other.tree(), desk.tree()) == []
    assert desk.dream().report.dream == planned.dream, "there is nothing new after it"


def test_a_planned_dream_is_refused_with_what_has_moved_since(desk: Desk) -> None:
    ClaudeLog("one").user("Always run migrations with `make migrate`.").save(desk.logs)
    planned = desk.dream(dry_run=True).report
    desk.dream()
    before = desk.tree()
    with desk.store() as store:
        (note,) = {h.version.note for h in store.heads(SCOPE)}
    with pytest.raises(Refused, match=note):
        desk.apply(planned.dream)
    assert differences(before, desk.tree()) == []


def test_what_a_guard_held_is_believed_when_a_person_applies_it(desk: Desk) -> None:
    first, second = values(desk, "first", "10", 1), values(desk, "second", "20", 5)
    desk.dream(first)
    held = desk.dream(first, second).report
    assert (held.status, held.next) == ("held", f"dreamd apply {held.dream} --wiki {desk.wiki}")
    assert believed(desk) == {"10"}
    assert desk.apply(held.dream).report.status == "completed"
    assert believed(desk) == {"20"}
    assert lines_with(desk.tree(), "limit-1", "20")
    with pytest.raises(Refused, match="waits for nobody"):
        desk.apply(held.dream)


def test_what_an_engine_asks_stands_in_the_inbox_once(desk: Desk) -> None:
    ClaudeLog("one").user("Always use it for imports.").assistant("ok").save(desk.logs)
    desk.dream()
    with desk.store() as store:
        asked = [q.quotes[0].text for questions in store.questions(SCOPE).values() for q in questions]
    assert asked
    told = desk.tree()["inbox.md"].split("\n")
    assert [row.partition(": `dreamd")[0] for row in told if row.startswith("- ")] == [f"- {asked[0]} (it points at something it does not name)"]


@pytest.mark.parametrize("dry_run", [True, False])
def test_beliefs_that_move_while_a_dream_is_applied_by_hand_make_it_render_again(desk: Desk, dry_run: bool) -> None:
    first, second = values(desk, "first", "10", 1), values(desk, "second", "20", 5)
    desk.dream(first)
    waits = desk.dream(first, second, dry_run=dry_run, **({"change_share_max": 1.0} if dry_run else {})).report
    assert waits.status == ("planned" if dry_run else "held")
    steps: list[str] = []

    def step(name: str) -> None:
        steps.append(name)
        if steps.count("rendered") == 1 and name == "rendered":
            with desk.store() as another:
                another.raise_revision(SCOPE, cause="hand", above=another.revision(SCOPE))

    desk.step = step
    assert desk.apply(waits.dream).report.status == "completed"
    assert steps.count("rendered") == 2
    assert believed(desk) == {"20"}
    with desk.store() as store:
        assert store.dream(SCOPE, waits.dream).state == "completed"
        assert [(a.verb, a.hand, a.about) for a in store.audit(SCOPE) if a.verb == "apply"] == [("apply", "command", waits.dream)]


# --- the commands ------------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def dreamd(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    for name in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.setattr(wiring, "redactor", lambda: shared_redactor(request))

    def command(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run([str(a) for a in arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return command


def test_dreams_are_listed_shown_applied_and_taken_back(dreamd: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    wiki = tmp_path / "wiki"
    ClaudeLog("one").user("Always run migrations with `make migrate`.").save(tmp_path / "logs")
    code, out, _ = dreamd("dream", tmp_path / "logs", "--wiki", wiki, "--dry-run", "--json")
    planned = json.loads(out)["dream"]
    assert code == 0
    code, out, _ = dreamd("dreams", "list", "--wiki", wiki)
    assert (code, out.startswith(f"{planned}  planned"), out.endswith(" UTC\n")) == (0, True, True)
    (listed,) = json.loads(dreamd("dreams", "list", "--wiki", wiki, "--json")[1])["dreams"]
    assert (listed["state"], listed["status"]) == ("planned", "completed")
    code, out, _ = dreamd("dreams", "show", planned, "--wiki", wiki)
    assert (code, f"dreamd apply {planned}" in out, "extract  1 unit: done 1" in out) == (0, True, True)
    code, out, _ = dreamd("apply", planned, "--wiki", wiki)
    assert (code, "completed" in out, (wiki / "MEMORY.md").exists()) == (0, True, True)
    assert json.loads(dreamd("dreams", "show", planned, "--wiki", wiki, "--json")[1])["report"]["notes"]["added"] == 1
    shown = dreamd("dreams", "show", planned, "--wiki", wiki)[1].splitlines()
    assert re.fullmatch(rf"Dream {planned} over local: completed, asked by command, began [0-9-]{{10}} [0-9:]{{8}} UTC, ended [0-9:]{{8}} UTC", shown[0])
    assert [line.split()[0] for line in shown[1:]] == ["plan", "extract", "resolve", "analyse", "apply", "notes", "pages", "revision"]
    assert shown[6:] == ["  notes    added 1", "  pages    written 5", "  revision 1"]
    code, _, err = dreamd("dreams", "cancel", planned, "--wiki", wiki)
    assert (code, "cannot be canceled" in err) == (3, True)
    ClaudeLog("two").user("Never push to main.").save(tmp_path / "logs")
    again = json.loads(dreamd("dream", tmp_path / "logs", "--wiki", wiki, "--dry-run", "--json")[1])["dream"]
    assert dreamd("dreams", "cancel", again, "--wiki", wiki)[0] == 0
    assert dreamd("apply", again, "--wiki", wiki)[0] == 3
    code, _, err = dreamd("dreams", "show", "nosuch", "--wiki", wiki)
    assert (code, "no dream nosuch" in err) == (3, True)


def test_a_rehearsal_names_what_would_be_new_and_what_would_change(dreamd: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    wiki = tmp_path / "wiki"
    ClaudeLog("one").user("The staging database listens on port 5432.").save(tmp_path / "logs")
    assert "  would     learn The staging database listens on port 5432." in dreamd("dream", tmp_path / "logs", "--wiki", wiki, "--dry-run")[1].splitlines()
    assert "  would " not in dreamd("dream", tmp_path / "logs", "--wiki", wiki)[1]
    ClaudeLog("two").later(days=1).user("The staging database now listens on port 5433, not 5432.").user("Never push to main.").save(tmp_path / "logs")
    code, out, _ = dreamd("dream", tmp_path / "logs", "--wiki", wiki, "--dry-run")
    would = [line.split(None, 1)[1] for line in out.splitlines() if line.startswith("  would ")]
    assert (code, len(would), would[0]) == (0, 2, "learn Never push to main."), out
    assert would[1].startswith("say The staging database now listens on port 5433")
    assert would[1].endswith("it says The staging database listens on port 5432.")
    told = json.loads(dreamd("dream", tmp_path / "logs", "--wiki", wiki, "--dry-run", "--json")[1])["would"]
    assert sorted(bool(w["old"]) for w in told) == [False, True]
