"""A session stamped wholly in the far future: it is read and cited, and neither new, nor newer, nor a day of the work log."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from pipelines.model import Status
from tests.dreaming import SCOPE, Desk, differences, lines_with
from tests.writing import START, ClaudeLog, memory

FAR = datetime(2099, 1, 1, 9, 0, tzinfo=UTC)


def at_hand(desk: Desk) -> None:
    ClaudeLog("now").user("The staging port is 5432.").user("We keep audit logs for 90 days.").save(desk.logs)


def test_a_session_of_the_far_future_is_no_newest_evidence_and_wins_nothing(desk: Desk) -> None:
    at_hand(desk)
    ClaudeLog("wild", at=FAR).user("The staging port is 6001.").user("The cache lives in /var/cache/harbor.").save(desk.logs)
    desk.dream()
    assert "Newest evidence: 2 Mar 2026." in desk.brief()
    updated = {line for text in desk.pages().values() for line in text.splitlines() if line.startswith("updated:")}
    assert updated <= {"updated: 2026-03-02"}, updated
    assert lines_with({"MEMORY.md": desk.brief()}, "90 days"), "what is known did not become old"
    assert not lines_with({"MEMORY.md": desk.brief()}, "6001")
    with desk.store() as store:
        stands = {h.version.value: h.version.status for h in store.heads(SCOPE) if h.version.attribute == "port"}
    assert stands == {"5432": Status.DISPUTED, "6001": Status.DISPUTED}
    recent = desk.tree()["recent.md"]
    assert "2099" not in recent
    assert "2 Mar 2026" in recent


def test_a_wild_stamp_at_the_end_of_a_session_leaves_it_on_its_day(desk: Desk) -> None:
    log = ClaudeLog("now").user("The staging port is 5432.")
    log.at = FAR
    log.user("We keep audit logs for 90 days.").save(desk.logs)
    desk.dream()
    assert "Newest evidence: 2 Mar 2026." in desk.brief()
    assert "2099" not in desk.tree()["recent.md"]
    assert "## 2 Mar 2026" in desk.tree()["recent.md"]


def test_a_line_of_the_far_future_does_not_correct_a_note_that_a_line_of_today_bears_out(desk: Desk) -> None:
    at_hand(desk)
    ClaudeLog("limit").user("The cache TTL is 10 minutes.").save(desk.logs)
    ClaudeLog("wild", at=FAR).user("The cache TTL is 20 minutes.").user("The upload limit is 25 MB.").save(desk.logs)
    desk.note("cache.md", memory("cache", "The cache TTL is 10 minutes.", modified="2026-03-02T10:00:00Z"))
    desk.note("limit.md", memory("limit", "The upload limit is 10 MB.", modified="2026-03-02T10:00:00Z"))
    desk.dream()
    found = {n.text: f.verdict.value for n, f in desk.verdicts().values()}
    assert found["The cache TTL is 10 minutes."] == "upheld"
    assert found["The upload limit is 10 MB."] in {"corrected", "contradicted"}, "the only line there is still speaks"
    assert "Newest evidence: 2 Mar 2026." in desk.brief()


def test_the_tree_is_the_same_whether_the_wild_session_comes_first_or_last(desks: Callable[[], Desk]) -> None:
    last, first = desks(), desks()
    wild = ClaudeLog("wild", at=FAR).user("The staging port is 6001.")
    at_hand(last)
    last.dream()
    wild.save(last.logs)
    last.dream()
    wild.save(first.logs)
    first.dream()
    at_hand(first)
    first.dream()
    assert differences(last.tree(), first.tree()) == []


def test_a_clock_some_hours_ahead_is_believed(desk: Desk) -> None:
    desk.now = START
    ClaudeLog("zone", at=START + timedelta(hours=14)).user("The staging port is 5432.").save(desk.logs)
    desk.dream()
    assert "Newest evidence: 2 Mar 2026." in desk.brief()
