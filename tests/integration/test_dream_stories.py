"""The two stories every dream is measured by: a note corrected against the log with what was built on it, and a value told several times."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import pytest

from pipelines.model import Status, Verdict
from tests.dreaming import SCOPE, Desk, all_but_footnotes, differences, lines_with
from tests.writing import ClaudeLog, CodexLog, conversation, events, memory

# --- (a) the centre and the cave ---------------------------------------------------------------------------------------------------------


def shown_by_a_result(desk: Desk) -> None:
    log = ClaudeLog("centre").user("Where does the map put the centre? Write it down.").assistant("I will look at the map.")
    log.bash("cat map.txt", "The centre is west of the cave.").assistant("I have noted where it is.").user("Go on with the cave tomorrow.").save(desk.logs)


def said_by_the_user(desk: Desk) -> None:
    log = ClaudeLog("centre").user("Map what is around the camp.").assistant("The centre is east of the cave.")
    log.user("no, the centre is west of the cave").assistant("Understood.").save(desk.logs)


def said_in_a_conversation(desk: Desk) -> None:
    lines = [("Ana", "Let us map the place."), ("assistant", "I think the centre is east of the cave."), ("Ana", "The centre is west of the cave.")]
    (desk.logs / "talk.jsonl").write_text(conversation("talk-7", lines), encoding="utf-8")


def shown_in_a_codex_session(desk: Desk) -> None:
    CodexLog("centre").user("Where is the centre?").bash("cat map.txt", "The centre is west of the cave.").assistant("Found it.").save(desk.logs)


def notes_with_a_link(desk: Desk) -> None:
    desk.note("centre.md", memory("centre", "The centre is east of the cave.", modified="2026-03-02T09:30:00Z"))
    desk.note("cave.md", memory("cave", "The cave is finished. See [[centre]].", modified="2026-03-03T09:30:00Z"))


def notes_that_name_the_same_thing(desk: Desk) -> None:
    desk.note("centre.md", memory("centre", "The centre is east of the cave.", modified="2026-03-02T09:30:00Z"))
    desk.note("cave.md", memory("cave", "The cave is finished.", modified="2026-03-03T09:30:00Z"))


def notes_without_a_date(desk: Desk) -> None:
    desk.note("first.md", "The centre is east of the cave.\n")
    desk.note("second.md", "Building on the centre: the cave is finished.\n")


def notes_in_few_words(desk: Desk) -> None:
    desk.note("camp.md", "# Camp\n\n- Centre: east of the cave\n")
    desk.note("progress.md", "# Progress\n\n- cave: finished\n")


def one_list(desk: Desk) -> None:
    desk.note("MEMORY.md", "# Memory\n\n- The centre is east of the cave.\n- The cave is finished.\n")


def notes_under_an_index(desk: Desk) -> None:
    notes_that_name_the_same_thing(desk)
    desk.note("MEMORY.md", "# Memory\n\n- [Centre](centre.md) — the centre is east of the cave\n- [Cave](cave.md) — the cave is finished\n")


def denied_by_the_user(desk: Desk) -> None:
    log = ClaudeLog("centre").user("Map what is around the camp.").assistant("The centre is east of the cave.")
    log.user("The centre is west of the cave, not east.").assistant("Understood.").save(desk.logs)


def said_in_chinese(desk: Desk) -> None:
    ClaudeLog("centre").user("看一下地图。").assistant("好的。").user("不对，中心在洞穴的西边。").assistant("明白。").save(desk.logs)


def notes_written_in_the_log(desk: Desk) -> None:
    folder = "/home/ana/.claude/projects/-home-ana-camp/memory"
    log = (
        ClaudeLog("centre")
        .user("Map it.")
        .bash("python where.py", "centre: west of the cave")
        .write(f"{folder}/centre.md", "The centre lies east of the cave.\n")
    )
    log.write(f"{folder}/cave.md", "The cave is finished (see [[centre]]).\n").save(desk.logs)


LOGS = (shown_by_a_result, said_by_the_user, said_in_a_conversation, shown_in_a_codex_session)
NOTES = (notes_with_a_link, notes_that_name_the_same_thing, notes_without_a_date, one_list, notes_under_an_index)


def no_folder(desk: Desk) -> None:
    """The notes stand in the log alone."""


WORDINGS = (
    [(denied_by_the_user, notes_in_few_words), (notes_written_in_the_log, no_folder)]
    + [(log, NOTES[i % len(NOTES)]) for i, log in enumerate(LOGS)]
    + [(LOGS[i % len(LOGS)], notes) for i, notes in enumerate(NOTES, 1)]
)


@pytest.mark.parametrize(("log", "notes"), dict.fromkeys(WORDINGS))
def test_a_wrong_note_is_corrected_and_what_was_built_on_it_is_shown_nowhere(desk: Desk, log: Callable[[Desk], None], notes: Callable[[Desk], None]) -> None:
    log(desk)
    notes(desk)
    outcome = desk.dream()
    verdicts = {text: finding for text, (_, finding) in desk.verdicts().items()}
    wrong = [f for text, f in verdicts.items() if "east" in text]
    built = [f for text, f in verdicts.items() if "finished" in text]
    assert {f.verdict for f in wrong} == {Verdict.CORRECTED}
    assert all("west of the cave" in q.text for f in wrong for q in f.quotes)
    assert {f.verdict for f in built} == {Verdict.NEEDS_RECHECK}

    proof = [line for line in lines_with(desk.pages(), "[^", "]: `", "west of the cave") if line.endswith("corrected")]
    assert proof, "a footnote holds the proving words"
    assert all("line " in line and "2 Mar 2026" in line for line in proof)
    stated = all_but_footnotes(desk.pages())
    assert lines_with(stated, "west of the cave")
    assert [x for x in lines_with(stated, "east") if "the note said" not in x and "not east" not in x and ": - Until" not in x] == []

    told = desk.brief().splitlines()
    sections = [line for line in told if line.startswith("## ")]
    assert sections[0] == "## Corrected"
    first = next(line for line in told if line.startswith("- "))
    assert "west" in first
    assert "no, the centre" not in desk.brief()
    assert lines_with({**desk.pages(), "MEMORY.md": desk.brief()}, "finished") == []
    assert [x for x in lines_with({"MEMORY.md": desk.brief()}, "east") if "which says" not in x and "not east" not in x] == []
    assert outcome.report.online.corrected >= 1
    assert outcome.report.notes.needs_recheck >= 1


def test_the_same_story_in_chinese(desk: Desk) -> None:
    said_in_chinese(desk)
    desk.note("中心.md", "中心在洞穴的东边。\n")
    desk.note("洞穴.md", "洞穴已经完成了。\n")
    desk.dream()
    verdicts = {text: finding.verdict for text, (_, finding) in desk.verdicts().items()}
    assert verdicts == {"中心在洞穴的东边。": Verdict.CORRECTED, "洞穴已经完成了。": Verdict.NEEDS_RECHECK}
    assert "完成" not in desk.brief() + "".join(desk.pages().values())
    assert "中心在洞穴的西边" in next(line for line in desk.brief().splitlines() if line.startswith("- "))


def test_a_result_that_shows_the_cave_done_keeps_the_second_note(desk: Desk) -> None:
    ClaudeLog("centre").user("no, the centre is west of the cave").assistant("Understood.").user("The cave is finished.").save(desk.logs)
    notes_that_name_the_same_thing(desk)
    desk.dream()
    verdicts = {text: finding.verdict for text, (_, finding) in desk.verdicts().items()}
    assert verdicts["The cave is finished."] is Verdict.UPHELD
    assert lines_with(all_but_footnotes(desk.pages()), "cave is finished")


def test_a_request_to_finish_the_cave_and_the_agents_own_word_show_nothing_done(desk: Desk) -> None:
    log = ClaudeLog("centre").user("no, the centre is west of the cave").user("Please finish the cave and tell me when the cave is finished.")
    log.assistant("The cave is finished.").save(desk.logs)
    notes_that_name_the_same_thing(desk)
    desk.dream()
    verdicts = {text: finding.verdict for text, (_, finding) in desk.verdicts().items()}
    assert verdicts["The cave is finished."] is Verdict.NEEDS_RECHECK
    assert lines_with({**desk.pages(), "MEMORY.md": desk.brief()}, "cave is finished") == []


# --- (b) retention-days ------------------------------------------------------------------------------------------------------------------

FIRST, SECOND, THIRD = "2026-03-01T08:00:00Z", "2026-03-05T08:00:00Z", "2026-03-09T08:00:00Z"
LOW_AFTER_HIGH = (("30", "verified", FIRST), ("90", "inferred", SECOND))


def told(desk: Desk, *rows: tuple[str, str, str]) -> list[Path]:
    """A file of events a row."""
    files = []
    for value, status, at in rows:
        file = desk.logs / f"{value}-{status}-{at[:10]}.events.jsonl"
        file.write_text(events([("retention-days", value, status, at)]), encoding="utf-8")
        files.append(file)
    return files


def versions(desk: Desk) -> list[tuple[str | None, Status]]:
    with desk.store() as store:
        return sorted((h.version.value, h.version.status) for h in store.heads(SCOPE))


def history(desk: Desk) -> list[str]:
    return [line for line in desk.pages().get("about.md", "").split("## History")[-1].splitlines() if line.startswith("- ")]


def test_a_later_inferred_value_stands_under_history_as_inferred(desk: Desk) -> None:
    desk.dream(*told(desk, *LOW_AFTER_HIGH))
    assert lines_with(all_but_footnotes(desk.pages()), "retention-days = **30**")
    (line,) = history(desk)
    assert "90" in line
    assert "inferred" in line
    assert "5 Mar 2026" in line
    assert "retention-days = 30" in desk.brief()
    assert "90" not in desk.brief()


def test_the_same_verified_value_again_adds_evidence_and_no_version(desk: Desk) -> None:
    files = told(desk, *LOW_AFTER_HIGH)
    desk.dream(*files)
    before = versions(desk)
    outcome = desk.dream(*files, *told(desk, ("30", "verified", THIRD)))
    assert versions(desk) == before
    assert (outcome.report.notes.added, outcome.report.notes.extended, outcome.report.notes.superseded) == (0, 1, 0)
    page = desk.pages()["about.md"]
    assert "9 Mar 2026" in page
    assert len(history(desk)) == 1


def test_a_later_verified_value_replaces_a_verified_one(desk: Desk) -> None:
    desk.dream(*told(desk, ("30", "verified", FIRST), ("45", "verified", SECOND)))
    assert lines_with(all_but_footnotes(desk.pages()), "retention-days = **45**")
    assert versions(desk) == [("30", Status.SUPERSEDED), ("45", Status.CONFIRMED)]
    (line,) = history(desk)
    assert "30" in line


def test_of_two_inferred_values_the_later_one_is_the_draft(desk: Desk) -> None:
    desk.dream(*told(desk, ("30", "inferred", FIRST), ("90", "inferred", SECOND)))
    assert versions(desk) == [("30", Status.SUPERSEDED), ("90", Status.DRAFT)]
    assert lines_with(desk.pages(), "retention-days") == []
    assert [x for x in lines_with({"inbox.md": desk.tree()["inbox.md"]}, "retention-days = 90") if x.startswith("inbox.md: - ")]


def test_any_file_order_gives_the_same_bytes(desks: Callable[[], Desk]) -> None:
    rows = (*LOW_AFTER_HIGH, ("30", "verified", THIRD), ("45", "verified", "2026-03-11T08:00:00Z"))
    want: dict[str, str] | None = None
    for order in list(permutations(range(len(rows))))[::13]:
        at_once, one_by_one = desks(), desks()
        at_once.dream(*[told(at_once, *rows)[i] for i in order])
        for i in order:
            one_by_one.dream(told(one_by_one, *rows)[i])
        want = want or at_once.tree()
        assert differences(want, at_once.tree()) == []
        assert differences(want, one_by_one.tree()) == []


def test_verified_rows_of_a_file_nobody_named_are_not_verified(desk: Desk) -> None:
    told(desk, ("30", "verified", FIRST))
    desk.dream(desk.logs)
    assert versions(desk) == [("30", Status.DRAFT)]
