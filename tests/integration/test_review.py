"""What a person decides about notes holds: over more dreams, over the same logs again, and every sentence of theirs has a line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.conftest import Command
from tests.writing import ClaudeLog, conversation


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_text(
        ClaudeLog("one").user("From now on always run the tests with pytest -x.").assistant("Yes.").user("The staging port is 5433.").text(), encoding="utf-8"
    )
    return path


def note_of(dreamd: Command, words: str) -> str:
    """The id of the note search finds for some words."""
    _, out, _ = dreamd("search", words, "--json")
    return next(f"n-{h['uid']}" for h in json.loads(out)["hits"] if h["kind"] == "note")


def pages(tmp_path: Path) -> str:
    """All that a session may be told; reports and the work log tell what happened, not what holds."""
    wiki = tmp_path / "wiki"
    return "\n".join(p.read_text(encoding="utf-8") for p in sorted(wiki.glob("*.md")) if p.name != "recent.md")


def test_a_retracted_note_leaves_every_page_and_is_not_learnt_again_from_the_same_lines(dreamd: Command, log: Path, tmp_path: Path) -> None:
    dreamd("dream", log)
    note = note_of(dreamd, "pytest")
    assert "pytest -x" in pages(tmp_path)
    assert dreamd("retract", note, "--because", "we use nox")[0] == 0
    assert "pytest -x" not in pages(tmp_path)
    with log.open("a", encoding="utf-8") as more:
        more.write(ClaudeLog("one").user("x").user("y").user("z").user("The staging host is blue-1.").text().splitlines(keepends=True)[-1])
    copied = tmp_path / "copy.jsonl"
    copied.write_bytes(log.read_bytes())
    dreamd("dream", log, copied)
    assert "pytest -x" not in pages(tmp_path)
    code, out, _ = dreamd("retract", note)
    assert (code, "decided like this before" in out) == (0, True)


def test_what_is_remembered_is_a_rule_at_once_with_a_line_of_its_own_and_survives_rebuilding(dreamd: Command, log: Path, tmp_path: Path) -> None:
    dreamd("dream", log)
    code, out, _ = dreamd("remember", "Never", "deploy on Fridays.")
    assert (code, "dreamd retract n-" in out) == (0, True)
    page = (tmp_path / "wiki/how-we-work.md").read_text(encoding="utf-8")
    assert "- Never deploy on Fridays. [^" in page
    assert 'user: "Never deploy on Fridays."' in page
    assert dreamd("verify")[0] == 0
    before = pages(tmp_path)
    assert dreamd("rebuild")[0] == 0
    assert pages(tmp_path) == before
    assert dreamd("remember", " ")[0] == 2
    assert dreamd("remember", "x" * 5000)[0] == 2


def test_an_edit_says_the_note_in_the_persons_words_and_keeps_no_old_value_current(dreamd: Command, log: Path, tmp_path: Path) -> None:
    dreamd("dream", log)
    assert dreamd("edit", note_of(dreamd, "staging port"), "The staging port is 6000.")[0] == 0
    told = (tmp_path / "wiki/MEMORY.md").read_text(encoding="utf-8")
    assert "6000" in told
    assert "5433" not in told


def test_an_edit_in_words_no_engine_reads_is_the_note_all_the_same(dreamd: Command, log: Path, tmp_path: Path) -> None:
    dreamd("dream", log)
    note = note_of(dreamd, "staging port")
    code, out, _ = dreamd("edit", note, "Staging, port: see the wall.")
    assert (code, "Staging, port: see the wall." in out, "5433" in out) == (0, True, False)
    told = (tmp_path / "wiki/MEMORY.md").read_text(encoding="utf-8")
    assert "see the wall" in told
    assert "5433" not in told
    dreamd("dream", log)
    assert "see the wall" in (tmp_path / "wiki/MEMORY.md").read_text(encoding="utf-8")


def test_what_was_taken_back_is_not_edited_and_controls_are_no_words(dreamd: Command, log: Path, tmp_path: Path) -> None:
    dreamd("dream", log)
    note = note_of(dreamd, "staging port")
    assert dreamd("edit", note, "\x00")[0] == 2
    assert dreamd("remember", "\u200b\x00 \x07")[0] == 2
    assert "5433" in (tmp_path / "wiki/MEMORY.md").read_text(encoding="utf-8")
    dreamd("retract", note)
    code, _, err = dreamd("edit", note, "The staging port is 6000.")
    assert (code, "dreamd remember" in err) == (3, True)
    assert "6000" not in (tmp_path / "wiki/MEMORY.md").read_text(encoding="utf-8")


def test_a_draft_is_accepted_or_rejected_for_good(dreamd: Command, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(
        ClaudeLog("one")
        .user("Build the client.")
        .assistant("How?")
        .user("Don't use spaces in the Makefile.")
        .assistant("ok")
        .user("Don't touch the legacy folder.")
        .text(),
        encoding="utf-8",
    )
    dreamd("dream", log)
    _, out, _ = dreamd("review", "--json")
    drafts = {e["text"]: e["id"] for e in json.loads(out)["first"] if e["waits"] == "Drafts"}
    assert len(drafts) == 2, drafts
    tabs, legacy = (next(uid for text, uid in drafts.items() if word in text) for word in ("spaces", "legacy"))
    assert "spaces" not in (tmp_path / "wiki/MEMORY.md").read_text(encoding="utf-8")
    assert dreamd("review", "accept", tabs)[0] == 0
    assert dreamd("review", "reject", legacy, "--because", "it was only that day")[0] == 0
    told = (tmp_path / "wiki/MEMORY.md").read_text(encoding="utf-8")
    assert "use spaces in the Makefile" in told
    assert "legacy" not in told
    code, out, _ = dreamd("review")
    assert (code, "Nothing waits for you." in out) == (0, True), out
    page = (tmp_path / "wiki/how-we-work.md").read_text(encoding="utf-8")
    assert "use spaces in the Makefile. [^" in page, "an accepted note keeps the line it rests on"
    log.write_text(log.read_text(encoding="utf-8"), encoding="utf-8")
    dreamd("dream", log)
    assert "Nothing waits for you." in dreamd("review")[1]


def test_a_dispute_is_decided_by_the_side_a_person_names(dreamd: Command, tmp_path: Path) -> None:
    log = tmp_path / "talk.jsonl"
    said = (("a", "Ana", "Platform"), ("b", "Lee", "Billing"))
    log.write_text("".join(conversation(session, [(who, f"The owner of payments is {team}.")]) for session, who, team in said), encoding="utf-8")
    dreamd("dream", log)
    _, out, _ = dreamd("review", "--json")
    dispute = next(e for e in json.loads(out)["first"] if e["waits"] == "Disputes")
    code, _, err = dreamd("review", "accept", dispute["id"])
    assert (code, "--side" in err) == (3, True)
    number = 1 if err.index("Billing") < err.index("Platform") else 2
    _, shown, _ = dreamd("review", "show", dispute["id"])
    sides = [line for line in shown.splitlines() if line.startswith("  side ")]
    assert {("Ana" in line, "Platform" in line, "2026-0" in line) for line in sides} == {(True, True, True), (False, False, True)}
    assert {f"“The owner of payments is {team}.”" in shown for team in ("Platform", "Billing")} == {True}
    assert "verdict: open, nothing orders the sides" in shown
    code, said, _ = dreamd("review", "accept", dispute["id"], "--side", number, "--because", "Lee runs it")
    assert (code, "Billing" in said, "Platform" in said) == (0, True, False), "it says what holds now, not what was decided against"
    decided = json.loads(dreamd("why", dispute["id"], "--json")[1])["chains"][0]["contradiction"]
    assert (decided["verdict"], decided["by"], decided["reason"]) == ("decided", "person", "Lee runs it")
    assert decided["at"]
    assert [s["statement"] for s in decided["sides"] if s["side"] == decided["right"]] == ["The owner of payments is Billing."]
    assert f"verdict: side {decided['right']}, decided by person" in dreamd("review", "show", dispute["id"])[1]
    told = pages(tmp_path)
    assert "The owner of payments is Billing" in told.replace("**", "")
    (lost,) = (line for line in told.splitlines() if "decided against" in line)
    assert ("Ana" in lost, "by a person" in lost, "Platform" in lost) == (True, True, True)
    assert any('"Lee runs it"' in line and "your decision" in line for line in told.splitlines() if line.startswith("[^")), "who decided, when and why"
    assert "Nothing waits for you." in dreamd("review")[1]
    assert dreamd("review", "accept", dispute["id"], "--side", "9")[0] == 3


def test_what_cannot_be_decided_is_refused_by_name(dreamd: Command, log: Path, tmp_path: Path) -> None:
    notes = tmp_path / "memory"
    notes.mkdir()
    (notes / "MEMORY.md").write_text("# Memory\n- The port is 5432.\n", encoding="utf-8")
    dreamd("dream", log, "--notes", notes)
    code, _, err = dreamd("retract", "n-zzzzzzzzzzzz")
    assert (code, "no note is called" in err) == (3, True)
    assert dreamd("retract", "n-4")[0] == 3
    own = next(h for h in json.loads(dreamd("search", "port", "--json")[1])["hits"] if h["kind"] == "note" and "5432" in h["text"])
    code, _, err = dreamd("retract", f"n-{own['uid']}")
    assert (code, "line 2 of your own file" in err) == (3, True)


def test_a_secret_that_is_remembered_stands_in_no_file(dreamd: Command, log: Path, tmp_path: Path) -> None:
    dreamd("dream", log)
    secret = "ghp_" + "x7Qp2LmN9vRt4KsB8wYc1ZdF6hJg3TaUe5Xo"
    assert dreamd("remember", f"The deploy token is {secret}.")[0] == 0
    holding = [p for p in tmp_path.rglob("*") if p.is_file() and secret.encode() in p.read_bytes()]
    assert holding == []


def test_remember_names_the_notes_of_its_own_sentence_and_survives_being_killed_before_its_dream(
    dreamd: Command, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dreamd("dream", log)
    with monkeypatch.context() as killed:
        killed.setattr("worker.cli.saying.little_dream", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        assert dreamd("remember", "The worker listens on port 7333.")[0] == 130
    code, out, _ = dreamd("remember", "The mailer listens on port 7222.", "--json")
    notes = json.loads(out)["notes"]
    assert (code, notes) == (0, [note_of(dreamd, "mailer")])
    assert note_of(dreamd, "worker") not in notes, "said before, and not lost"
    assert json.loads(dreamd("remember", "The mailer listens on port 7222.", "--json")[1])["notes"] == notes


def test_words_that_are_no_text_are_taken_as_far_as_they_are(dreamd: Command, log: Path) -> None:
    dreamd("dream", log)
    code, _, err = dreamd("remember", "The relay\udcff listens on port 7444.")
    assert (code, err) == (0, "")


def test_escape_sequences_in_what_is_remembered_or_logged_leave_no_remains_anywhere(dreamd: Command, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(ClaudeLog("one").user("\x1b[31mAlways run\x1b[0m the tests with pytest -x.").text(), encoding="utf-8")
    dreamd("dream", log)
    _, told, _ = dreamd("remember", "Never\x1b[1;31m deploy \x1b]0;t\x07on Fridays.")
    shown = "".join(p.read_text(encoding="utf-8", errors="replace") for p in (tmp_path / "wiki").rglob("*.md"))
    assert "Never deploy on Fridays." in shown
    assert "Always run the tests" in shown
    for text in (shown, told, dreamd("search", "tests")[1], dreamd("review")[1]):
        assert not any(rest in text for rest in ("[31m", "[0m", "[1;31m", "]0;t", "\x1b"))


TWO_IN_ONE = "The API listens on port 8080 and the web client on port 5173."
"""One sentence of which two notes are read; on a page it is one bullet."""


@pytest.fixture
def two_in_one(dreamd: Command, tmp_path: Path) -> str:
    """A wiki with that bullet; the id that stands behind it."""
    log = tmp_path / "two.jsonl"
    log.write_text(ClaudeLog("two").user(TWO_IN_ONE).assistant("Yes.").user("The staging port is 5433.").text(), encoding="utf-8")
    dreamd("dream", log)
    bullet = next(line for line in (tmp_path / "wiki/about.md").read_text(encoding="utf-8").splitlines() if "web client" in line)
    return bullet.rsplit("^", 1)[1]


def test_a_bullet_that_stands_for_two_notes_is_taken_back_with_both_and_brought_back_with_both(dreamd: Command, two_in_one: str, tmp_path: Path) -> None:
    _, out, _ = dreamd("retract", two_in_one)
    assert "5173" not in pages(tmp_path)
    assert "8080" not in pages(tmp_path)
    for command in out.rstrip().split("To bring it back: ")[1].split("; "):
        assert dreamd(*command.split()[1:])[0] == 0
    assert "8080** and the web client on port 5173" in pages(tmp_path) or "8080 and the web client on port **5173**" in pages(tmp_path)


def test_a_bullet_of_two_notes_taken_out_of_its_page_is_gone_once_accepted(dreamd: Command, two_in_one: str, tmp_path: Path) -> None:
    page = tmp_path / "wiki/about.md"
    page.write_text("\n".join(line for line in page.read_text(encoding="utf-8").split("\n") if f"^{two_in_one}" not in line), encoding="utf-8")
    _, out, _ = dreamd("review", "--json")
    asked = next(w["id"] for w in json.loads(out)["first"] if "Take out" in w["text"])
    assert dreamd("review", "accept", asked)[0] == 0
    page.unlink()
    dreamd("publish")
    assert "5173" not in pages(tmp_path)


def test_a_bullet_of_two_notes_in_other_words_leaves_none_of_the_old_ones(dreamd: Command, two_in_one: str, tmp_path: Path) -> None:
    assert dreamd("edit", two_in_one, "The gateway is called Zeno.")[0] == 0
    assert "Zeno" in pages(tmp_path)
    assert "5173" not in pages(tmp_path)


def test_a_bullet_of_two_notes_taken_out_of_a_page_of_ones_own_folder_is_gone(
    dreamd: Command, two_in_one: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DREAMD_EDITS_ARE_MINE", "true")
    page = tmp_path / "wiki/about.md"
    page.write_text("\n".join(line for line in page.read_text(encoding="utf-8").split("\n") if f"^{two_in_one}" not in line), encoding="utf-8")
    assert dreamd("dream", tmp_path / "two.jsonl")[0] == 0
    assert "5173" not in pages(tmp_path)


def test_a_decision_about_a_bullet_of_two_notes_that_was_killed_in_the_middle_is_whole_when_it_is_made_again(
    dreamd: Command, two_in_one: str, tmp_path: Path
) -> None:
    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as dies:
        dies.setattr("worker.cli.review.rule_beside", killed)
        assert dreamd("retract", two_in_one)[0] == 130
    assert dreamd("retract", two_in_one)[0] == 0
    assert "5173" not in pages(tmp_path)
