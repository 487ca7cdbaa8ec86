"""What dreamd wrote, coming back as notes or logs: it is nobody's word, however often it comes."""

from __future__ import annotations

import shutil

import pytest

from tests.dreaming import Desk, differences
from tests.writing import ClaudeLog


@pytest.fixture
def dreamt(desk: Desk) -> Desk:
    log = ClaudeLog("first").user("The staging database listens on port 5433.").user("Always run `make lint` before a commit.")
    log.save(desk.logs)
    desk.note("ports.md", "# Ports\n\n- The API listens on port 8080.\n")
    desk.dream()
    return desk


def test_a_wiki_given_as_a_note_folder_is_no_notes(dreamt: Desk) -> None:
    before = dreamt.tree()
    for _ in range(2):
        report = dreamt.dream(notes=(dreamt.notes, dreamt.wiki)).report
        assert any("what it wrote itself is no note" in refused.why for refused in report.refused)
    assert differences(before, dreamt.tree()) == []


def test_a_wiki_below_the_note_folder_is_no_notes(dreamt: Desk) -> None:
    before = dreamt.tree()
    shutil.copytree(dreamt.wiki, dreamt.notes / "wiki")
    dreamt.dream()
    assert differences(before, dreamt.tree()) == []


def test_a_copy_of_pages_without_their_folder_is_no_notes(dreamt: Desk) -> None:
    before = dreamt.tree()
    for name, text in dreamt.tree().items():
        dreamt.note(f"copy/{name}", text)
    dreamt.dream()
    assert differences(before, dreamt.tree()) == []


def test_a_brief_put_into_a_note_file_adds_no_note_and_the_lines_around_it_stay(dreamt: Desk) -> None:
    dreamt.note("own.md", f"# Own\n\n- The cache holds 3 days.\n\n{dreamt.brief()}\n- The queue holds 900 jobs.\n")
    carried = set(dreamt.verdicts())
    dreamt.dream()
    assert set(dreamt.verdicts()) - carried == {"The cache holds 3 days.", "The queue holds 900 jobs."}


def test_a_brief_read_back_a_hundred_times_is_no_evidence(dreamt: Desk) -> None:
    before, brief = dreamt.pages(), dreamt.brief()
    whole, bare = brief, brief.replace("<dreamd-brief>", "").replace("</dreamd-brief>", "")
    for n in range(10):
        log = ClaudeLog(f"again-{n}")
        for _ in range(5):
            log.user(f"{whole}\n\ngo on").bash("cat dreamd-wiki/MEMORY.md", whole).tool("Read", {"file_path": "/home/ana/wiki/MEMORY.md"}, bare)
            log.bash("dreamd brief", bare).user(whole.replace("</dreamd-brief>", "")).assistant(bare)
        log.save(dreamt.logs)
    dreamt.dream()
    after = {path: text for path, text in dreamt.pages().items() if path in before}
    assert differences(before, after) == []
    assert "again" not in "".join(dreamt.pages().values())
