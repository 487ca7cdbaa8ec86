"""What a person decides in the files of the wiki: ticks and missing lines of the inbox, bullets taken from pages or changed. An agent can write there, too."""

from __future__ import annotations

import json
import shutil
from datetime import timedelta
from functools import reduce
from pathlib import Path

import pytest

from pipelines.model import Status
from pipelines.run.content import content_of
from pipelines.run.edits import edit_named, open_edits
from pipelines.run.render import differing
from pipelines.run.ruling import rule
from pipelines.run.why import why
from pipelines.wiki.edits import EditKind, PageEdit, statement_in
from pipelines.wiki.inbox import entries
from pipelines.wiki.inline import words
from pipelines.wiki.page import OWN_MARK
from tests.dreaming import SCOPE, Desk
from tests.integration.conftest import Command
from tests.writing import START, ClaudeLog, events, memory


def inbox(desk: Desk) -> Path:
    return desk.wiki / "inbox.md"


def line_of(desk: Desk, words: str) -> str:
    return next(line for line in inbox(desk).read_text(encoding="utf-8").splitlines() if words in line)


def write_line(desk: Desk, old: str, new: str) -> None:
    path = inbox(desk)
    path.write_text(path.read_text(encoding="utf-8").replace(old + "\n", new), encoding="utf-8")


def statuses(desk: Desk, words: str) -> set[Status]:
    with desk.store() as store:
        return {h.version.status for h in store.heads(SCOPE) if words in h.version.statement}


def waiting_rule(desk: Desk) -> str:
    """A draft of a rule: said once, inside a task."""
    log = ClaudeLog("one").user("Build the client.").assistant("How?").user("Don't use spaces in the Makefile.").assistant("ok")
    log.user("Don't touch the legacy folder.").save(desk.logs)
    desk.dream()
    assert statuses(desk, "legacy") == {Status.DRAFT}
    return line_of(desk, "legacy")


def waiting_fact(desk: Desk) -> str:
    """A draft of a fact: a watcher inferred it."""
    (desk.logs / "rows.jsonl").write_text(events([("retention-days", "30", "inferred", "2026-03-02T09:00:00Z")]), encoding="utf-8")
    desk.dream()
    return line_of(desk, "retention-days")


def test_a_line_taken_out_of_the_inbox_rejects_and_is_not_learnt_again_from_the_same_lines(desk: Desk) -> None:
    line = waiting_rule(desk)
    write_line(desk, line, "")
    for _ in range(2):
        desk.dream()
        assert "legacy" not in inbox(desk).read_text(encoding="utf-8")
        assert statuses(desk, "legacy") == {Status.RETRACTED}
    assert "spaces" in inbox(desk).read_text(encoding="utf-8"), "the rest still waits"


def test_a_tick_makes_a_fact_the_persons_word_but_never_a_rule_by_itself(desk: Desk) -> None:
    waiting_fact(desk)
    order = waiting_rule(desk)
    fact = line_of(desk, "retention-days")
    write_line(desk, fact, "- [x] " + fact.removeprefix("- ") + "\n")
    write_line(desk, order, "- [x] " + order.removeprefix("- ") + "\n")
    desk.dream()
    assert statuses(desk, "retention-days") == {Status.CONFIRMED}
    assert statuses(desk, "legacy") == {Status.DRAFT}
    assert "legacy" not in desk.brief()
    assert 'Accept "Don’t touch the legacy folder' in inbox(desk).read_text(encoding="utf-8").replace("'", "’")
    with desk.store() as store:
        (asked,) = open_edits(store, SCOPE)
        content = content_of(store, SCOPE, title="", own={}, redirects={})
    assert asked.wants == "approve"
    for listed in (inbox(desk).read_text(encoding="utf-8").split("<!--")[0], "\n".join(words(e.spans) for e in entries(content))):
        assert listed.count("legacy") == 1, "what was ticked is asked about once, not as a draft as well"
        assert "retention-days" not in listed, "a plain statement is not asked about again"
    assert "2 things wait for you" in inbox(desk).read_text(encoding="utf-8")
    assert f"`dreamd review accept n-{asked.uid}`" in inbox(desk).read_text(encoding="utf-8")
    assert f"(note n-{asked.note}; nobody knows who changed the file, so it is asked once more; either id will do)" in listed


def test_in_a_folder_the_person_declared_their_own_a_tick_makes_a_rule(desk: Desk) -> None:
    order = waiting_rule(desk)
    write_line(desk, order, "- [X] " + order.removeprefix("- ") + "\n")
    desk.dream(mine=True)
    assert statuses(desk, "legacy") == {Status.CONFIRMED}
    assert "legacy" in desk.brief()


def test_a_line_in_other_words_is_asked_about_and_is_the_persons_word_when_they_say_so(desk: Desk) -> None:
    line = waiting_fact(desk)
    write_line(desk, line, line.replace("30", "45") + "\n")
    desk.dream()
    assert statuses(desk, "retention-days") == {Status.DRAFT}
    with desk.store() as store:
        edit = edit_named(store, SCOPE, open_edits(store, SCOPE)[0].uid)
        assert edit is not None
        assert (edit.wants, "retention-days = 45" in edit.after, "`" in edit.after) == ("edit", True, False)
        rule(store, SCOPE, "edit", edit.note, at=desk.now, hand="command", why=edit.after)
    desk.dream()
    assert statuses(desk, "45") == {Status.CONFIRMED}
    assert "retention-days = 45" in desk.brief()
    assert "retention-days = 30" not in desk.brief()


@pytest.mark.parametrize("broken", ["", "# Inbox\n", "cut", "conflict", "stripped", "older"])
def test_a_file_that_is_not_whole_decides_nothing(desk: Desk, broken: str) -> None:
    waiting_fact(desk)
    older = inbox(desk).read_text(encoding="utf-8")
    waiting_rule(desk)
    text = inbox(desk).read_text(encoding="utf-8")
    stripped = "".join(line for line in text.splitlines(keepends=True) if not line.startswith(("#", "1", "2", "3")) and "legacy" not in line)
    found = {
        "cut": text[: len(text) // 2],
        "conflict": "<<<<<<< mine\n" + text.replace(line_of(desk, "legacy") + "\n", ""),
        "stripped": stripped,
        "older": older,
    }
    inbox(desk).write_text(found.get(broken, broken), encoding="utf-8")
    desk.dream()
    inbox(desk).unlink()
    desk.dream()
    assert statuses(desk, "legacy") == {Status.DRAFT}
    assert statuses(desk, "retention-days") == {Status.DRAFT}
    assert "legacy" in inbox(desk).read_text(encoding="utf-8"), "a file that is gone is written again"


STILL_THERE = {
    "ticked, and once more as it was": lambda line: f"{line}\n- [x] {line[2:]}\n",
    "ticked behind a number": lambda line: f"1. [x] {line[2:]}\n",
    "wrapped by a formatter": lambda line: f"- [x] {line[2:40]}\n  {line[40:]}\n",
    "struck through": lambda line: f"- ~~{line[2:]}~~\n",
    "under another id": lambda line: line.replace("^n-", "^n-0") + "\n",
    "half of it": lambda line: line.rpartition(" ^")[0] + "\n",
}


@pytest.mark.parametrize("shape", STILL_THERE)
def test_a_line_that_still_stands_there_in_any_shape_is_not_taken_out(desk: Desk, shape: str) -> None:
    line = waiting_fact(desk)
    write_line(desk, line, STILL_THERE[shape](line))
    stood = inbox(desk).read_bytes()
    outcome = desk.dream()
    assert statuses(desk, "retention-days") == {Status.DRAFT}
    assert inbox(desk).read_bytes() == stood
    assert "inbox.md" in str(outcome.published), "it is said that the file was left as it is"


def test_a_line_moved_below_the_mark_is_not_taken_out(desk: Desk) -> None:
    line = waiting_fact(desk)
    write_line(desk, line, "")
    path = inbox(desk)
    path.write_text(path.read_text(encoding="utf-8").replace("touches it -->\n", f"touches it -->\n\n- [x] {line[2:]}\n"), encoding="utf-8")
    desk.dream()
    assert statuses(desk, "retention-days") == {Status.DRAFT}
    assert path.read_text(encoding="utf-8").count(line[2:]) == 2, "it waits again, and what stands below the mark is kept"


@pytest.mark.parametrize("ticked", ["- [x] {0}\n- [x] {0}\n", "  - [x] {0}\n", "- [x] {0}\r\n"])
def test_a_tick_counts_on_an_indented_line_and_on_one_that_stands_there_twice_alike(desk: Desk, ticked: str) -> None:
    line = waiting_fact(desk)
    write_line(desk, line, ticked.format(line[2:]))
    desk.dream()
    assert statuses(desk, "retention-days") == {Status.CONFIRMED}


def test_more_lines_than_one_takes_out_by_hand_are_no_decision_and_it_is_said(desk: Desk) -> None:
    log = ClaudeLog("many").user("Build the client.").assistant("How?")
    for thing in ("legacy folder", "old schema", "vendor tree", "release notes", "lock file", "old tests"):
        log.user(f"Don't touch the {thing}.").assistant("ok")
    log.save(desk.logs)
    desk.dream()
    text = inbox(desk).read_text(encoding="utf-8")
    assert text.count("- Don't touch") > 4
    inbox(desk).write_text("".join(x for x in text.splitlines(keepends=True) if not x.startswith("- Don't touch") or "legacy" in x), encoding="utf-8")
    left = desk.dream()
    assert left.published is not None
    assert [why for path, why in left.published.held if path == "inbox.md" and "more of its lines are gone" in why]
    assert statuses(desk, "schema") == {Status.DRAFT}


def confirmed(desk: Desk) -> Path:
    ClaudeLog("rules").user("Always run migrations with `make migrate`.").assistant("ok").user("Never push to main.").save(desk.logs)
    desk.dream()
    return desk.wiki / "how-we-work.md"


def without(path: Path, words: str) -> None:
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(x for x in lines if words not in x or x.startswith("[^")), encoding="utf-8")


def test_a_bullet_taken_from_a_page_asks_to_retract_it_and_stays_away_while_that_waits(desk: Desk) -> None:
    page = confirmed(desk)
    without(page, "push to main")
    for _ in range(2):
        desk.dream()
        assert "push to main" not in page.read_text(encoding="utf-8").split("<!--")[0]
        assert 'Take out "Never push to main' in inbox(desk).read_text(encoding="utf-8")
        assert statuses(desk, "push to main") == {Status.CONFIRMED}, "no agent's tool retracts"
    with desk.store() as store:
        edit = open_edits(store, SCOPE)[0]
        rule(store, SCOPE, "retract", edit.note, at=desk.now, hand="command")
    for _ in range(2):
        desk.dream()
        assert "push to main" not in "".join(desk.tree().values())
    with desk.store() as store:
        assert any(r.verb == "retract" for r in why(store, SCOPE, edit.note)[0].rulings)
        assert open_edits(store, SCOPE) == ()


def test_in_a_folder_of_their_own_a_bullet_taken_out_is_retracted(desk: Desk) -> None:
    page = confirmed(desk)
    without(page, "push to main")
    desk.dream(mine=True)
    assert statuses(desk, "push to main") == {Status.RETRACTED}
    assert "push to main" not in page.read_text(encoding="utf-8")
    assert "make migrate" in page.read_text(encoding="utf-8")


def test_a_bullet_moved_in_a_desk_that_was_restored_is_not_taken_back_either(desk: Desk) -> None:
    page = confirmed(desk)
    shutil.copytree(desk.root, desk.root.with_name("backup"))
    shutil.rmtree(desk.root)
    shutil.copytree(desk.root.with_name("backup"), desk.root)
    text = page.read_text(encoding="utf-8")
    line = next(row for row in text.splitlines() if "push to main" in row and row.startswith("- "))
    page.write_text(text.replace(line + "\n", "", 1).replace(f"{OWN_MARK}\n", f"{OWN_MARK}\n\n{line}\n", 1), encoding="utf-8")
    for _ in range(2):
        desk.dream(mine=False)
    with desk.store() as store:
        assert open_edits(store, SCOPE) == ()


@pytest.mark.parametrize("mine", [True, False])
@pytest.mark.parametrize("shape", ["{}", "> {bare}", "* {bare}"])
def test_a_bullet_moved_below_the_line_of_its_page_is_not_taken_back(desk: Desk, mine: bool, shape: str) -> None:
    page = confirmed(desk)
    text = page.read_text(encoding="utf-8")
    line = next(row for row in text.splitlines() if "push to main" in row and row.startswith("- "))
    moved = shape.format(line, bare=line.removeprefix("- ").split(" [^")[0])
    page.write_text(text.replace(line + "\n", "", 1).replace(f"{OWN_MARK}\n", f"{OWN_MARK}\n\n{moved}\n", 1), encoding="utf-8")
    for _ in range(2):
        desk.dream(mine=mine)
        assert statuses(desk, "push to main") == {Status.CONFIRMED}
        assert moved in page.read_text(encoding="utf-8")
    with desk.store() as store:
        assert open_edits(store, SCOPE) == ()


def test_a_bullet_in_other_words_stays_as_it_was_written_and_is_asked_about(desk: Desk) -> None:
    page = confirmed(desk)
    edited = page.read_text(encoding="utf-8").replace("Never push to main.", "Never push to main or release.", 1)
    page.write_text(edited, encoding="utf-8")
    desk.dream()
    desk.now = START.replace(year=2027)
    desk.dream()
    assert page.read_text(encoding="utf-8") == edited
    with desk.store() as store:
        (edit,) = open_edits(store, SCOPE)
    assert (edit.before, edit.after) == ("Never push to main.", "Never push to main or release.")
    assert "or release" not in desk.brief()


@pytest.mark.parametrize("mine", [True, False])
def test_a_page_is_written_again_once_what_was_changed_on_it_is_believed(desk: Desk, mine: bool) -> None:
    log = ClaudeLog("rules")
    for number in range(8):  # which of its versions a note tells first is chance
        log.user(f"From now on always run suite {number} before you push.").assistant("ok")
    log.save(desk.logs)
    desk.dream()
    page = desk.wiki / "how-we-work.md"
    changed = page.read_text(encoding="utf-8").replace("before you push. [", "before you merge. [")
    page.write_text(changed, encoding="utf-8")
    desk.now += timedelta(minutes=1)
    desk.dream(mine=mine, change_share_max=1.0)
    desk.now += timedelta(minutes=1)
    with desk.store() as store:
        for edit in open_edits(store, SCOPE):
            rule(store, SCOPE, "edit", edit.note, at=desk.now, hand="command", why=edit.after)
    desk.now += timedelta(minutes=1)
    desk.dream(mine=mine, change_share_max=1.0)
    assert page.read_text(encoding="utf-8").count("- Until 1 Apr 2026: From now on") == 8


def test_a_value_changed_on_a_page_is_the_note_in_plain_words_without_what_dreamd_put_around_it(desk: Desk) -> None:
    log = ClaudeLog("one").user("The staging database listens on port 5432.").assistant("ok")
    log.user("Never push to main, because the nightly build breaks.").save(desk.logs)
    desk.dream()
    changes = (("5432", "5433"), ("Never push", "Never ever push"))
    for path in desk.wiki.glob("*.md"):
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        if path.name not in {"MEMORY.md", "inbox.md", "recent.md"}:
            path.write_text("".join(reduce(lambda x, c: x.replace(*c), changes, x) if x[:2] == "- " else x for x in lines), encoding="utf-8")
    desk.dream()
    said = {"The staging database listens on port 5433.", "Never ever push to main, because the nightly build breaks."}
    with desk.store() as store:
        assert {e.after for e in open_edits(store, SCOPE)} == said
        for edit in open_edits(store, SCOPE):
            rule(store, SCOPE, "edit", edit.note, at=desk.now, hand="command", why=edit.after)
    desk.dream()
    with desk.store() as store:
        assert said <= {h.version.statement for h in store.heads(SCOPE)}


@pytest.mark.parametrize(
    ("statement", "before", "after", "said"),
    [
        ("Docs lie at https://a.example.", "Docs lie at `https://a.example`.", "The docs lie at `https://a.example`.", "The docs lie at https://a.example."),
        ("Run `make x`.", "Run `make x`. Reason: it is quick.", "Run `make y`. Reason: it is quick.", "Run `make y`."),
        ("Use a*b.", "Use a\\*b. *old*", "Use **c**\\*d &amp; e. *old*", "Use c*d & e."),
        ("Use tea.", "Use tea.", "Use\n  tea.", ""),
    ],
)
def test_what_a_changed_bullet_says_is_the_sentence_alone(statement: str, before: str, after: str, said: str) -> None:
    assert statement_in(PageEdit(kind=EditKind.CHANGED, path="a.md", before=before, after=after), statement) == said


def test_a_bullet_that_only_looks_otherwise_is_no_edit(desk: Desk) -> None:
    page = confirmed(desk)
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace("- Never push", "> - **Never** push", 1), encoding="utf-8")
    desk.dream()
    with desk.store() as store:
        assert open_edits(store, SCOPE) == ()


def test_the_command_says_of_an_edit_and_of_a_ticked_correction_what_closes_them(dreamd: Command, tmp_path: Path) -> None:
    notes = tmp_path / "memory"
    notes.mkdir()
    (notes / "ports.md").write_text("---\nmodified: 2026-02-01\n---\n# Ports\n\n- The staging database listens on port 5432.\n", encoding="utf-8")
    log = tmp_path / "log.jsonl"
    said = ClaudeLog("one").user("No, the staging database listens on port 5433, not 5432.").assistant("ok").user("Never push to main.")
    log.write_text(said.text(), encoding="utf-8")
    dreamd("dream", log, "--notes", notes)
    without(tmp_path / "wiki/how-we-work.md", "push to main")
    waiting = {e["waits"]: e["id"] for e in json.loads(dreamd("review", "--json")[1])["first"]}
    assert waiting.keys() == {"Edited in files", "Corrections proposed"}, "the listing itself takes what files say"
    assert dreamd("review", "accept", waiting["Corrections proposed"])[0] == 0
    assert "port 5433" in (notes / "ports.md").read_text(encoding="utf-8")
    assert dreamd("review", "reject", waiting["Edited in files"])[0] == 0
    assert "Never push to main" in (tmp_path / "wiki/how-we-work.md").read_text(encoding="utf-8"), "the page is written anew"
    assert "Nothing waits for you." in dreamd("review")[1]


def test_a_correction_a_person_rejects_leaves_the_queue_the_brief_and_the_patch(dreamd: Command, tmp_path: Path) -> None:
    notes = tmp_path / "memory"
    notes.mkdir()
    (notes / "ports.md").write_text("---\nmodified: 2026-02-01\n---\n# Ports\n\n- The staging database listens on port 5432.\n", encoding="utf-8")
    log = tmp_path / "log.jsonl"
    log.write_text(ClaudeLog("one").user("No, the staging database listens on port 5433, not 5432.").text(), encoding="utf-8")
    dreamd("dream", log, "--notes", notes)
    (entry,) = json.loads(dreamd("review", "--json")[1])["first"]
    assert dreamd("review", "reject", entry["id"])[0] == 0
    assert "Nothing waits for you." in dreamd("review")[1]
    assert "say nothing the logs prove wrong" in dreamd("notes", "diff")[1]
    assert "wrong in" not in (tmp_path / "wiki/MEMORY.md").read_text(encoding="utf-8")


def test_the_patch_names_what_note_files_say_twice_and_numbers_that_moved_on_without_any_log(dreamd: Command, tmp_path: Path) -> None:
    notes = tmp_path / "memory"
    notes.mkdir()
    for name, day, body in (
        ("a", "2026-01-05", "- All 1948 tests passing.\n- Deploys run from the release branch."),
        ("b", "2026-02-01", "- 2129 tests green."),
    ):
        (notes / f"{name}.md").write_text(memory(name, body, modified=day), encoding="utf-8")
    (notes / "c.md").write_text(memory("c", "- Deploys run from the release branch.", modified="2026-02-02"), encoding="utf-8")
    log = tmp_path / "log.jsonl"
    log.write_text(ClaudeLog("one").user("Build the client.").text(), encoding="utf-8")
    dreamd("dream", log, "--notes", notes)
    before = {p.name: p.read_bytes() for p in notes.iterdir()}
    code, out, _ = dreamd("notes", "diff")
    assert code == 0
    assert "stale number memory/a.md line" in out
    assert "newer: 2129 in memory/b.md line" in out
    assert "duplicate memory/c.md line" in out
    kinds = [row["kind"] for row in json.loads(dreamd("notes", "diff", "--json")[1])["in_themselves"]]
    assert kinds == ["stale number", "duplicate"]
    assert {p.name: p.read_bytes() for p in notes.iterdir()} == before


def test_a_draft_nobody_speaks_of_again_leaves_the_queue_after_thirty_days_of_evidence(desk: Desk) -> None:
    waiting_rule(desk)
    ClaudeLog("soon", at=START + timedelta(days=29)).user("Always run migrations with `make migrate`.").save(desk.logs)
    desk.dream()
    assert "legacy" in inbox(desk).read_text(encoding="utf-8")
    ClaudeLog("late", at=START + timedelta(days=31)).user("Never push to main.").save(desk.logs)
    desk.now = START + timedelta(days=32)
    desk.dream()
    assert "Nothing waits for you." in inbox(desk).read_text(encoding="utf-8")
    with desk.store() as store:
        assert differing(desk.parts(store), SCOPE) == (), "rendering the whole says the same"
