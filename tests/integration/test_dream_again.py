"""What a further dream does: nothing when there is nothing new, only the new part when a log has grown, and never anything to a log."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import timedelta

import pytest

from pipelines.logs.codec import Source
from tests.dreaming import SCOPE, Desk, differences, footprint, lines_with
from tests.writing import START, ClaudeLog, conversation, events, memory


def a_week_of_work(desk: Desk) -> None:
    """A session that corrects a note, a rule, an event and a note nobody checked."""
    log = ClaudeLog("monday").user("no, the staging database listens on port 5433, not 5432").assistant("Thank you.")
    log.user("Always run migrations with `make migrate`.").bash("pytest -q", "1 failed", exit_code=1).bash("HARBOR_ENV=test pytest -q", "12 passed in 1.20s")
    log.save(desk.logs)
    (desk.logs / "seen.events.jsonl").write_text(events([("api-replicas", "3", "verified", "2026-03-04T08:00:00Z")]), encoding="utf-8")
    desk.note("ports.md", memory("ports", "The staging database listens on port 5432.", modified="2026-02-20T10:00:00Z"))
    desk.note("deploy.md", memory("deploy", "Deploys go to staging first.", modified="2026-02-20T10:00:00Z"))


def test_a_second_dream_with_nothing_new_touches_no_file_of_the_wiki(desk: Desk) -> None:
    a_week_of_work(desk)
    desk.dream()
    before = footprint(desk.wiki)
    desk.now += timedelta(days=3)
    again = desk.dream()
    assert footprint(desk.wiki) == before
    assert again.report.pages.written == 0
    assert again.report.records.good == 0
    assert again.sessions == ()


def test_a_dream_that_changes_nothing_writes_no_journal(desk: Desk) -> None:
    a_week_of_work(desk)
    desk.dream()
    (first,) = (desk.wiki / "journal").iterdir()
    desk.now += timedelta(days=1)
    desk.dream()
    assert list((desk.wiki / "journal").iterdir()) == [first]


def test_a_first_dream_over_nothing_but_chatter_writes_no_journal(desk: Desk) -> None:
    ClaudeLog("chat").user("Hello!").assistant("Hello, how can I help?").save(desk.logs)
    desk.dream()
    assert not list(desk.wiki.glob("journal/*"))


def test_a_second_dream_raises_no_revision_and_asks_the_engine_nothing(desk: Desk) -> None:
    a_week_of_work(desk)
    desk.dream()
    with desk.store() as store:
        before = store.revisions(SCOPE), store.counts(SCOPE)
    desk.dream()
    with desk.store() as store:
        assert (store.revisions(SCOPE), store.counts(SCOPE)) == before


def test_only_the_new_part_of_a_grown_log_is_read(desk: Desk) -> None:
    log = ClaudeLog("long")
    for n in range(40):
        log.user(f"Look at part {n} of the plan.").assistant(f"Part {n} looks fine.")
    path = log.save(desk.logs)
    desk.dream()
    old = path.stat().st_size
    log.user("Always use pnpm in the web folder.").save(desk.logs)
    again = desk.dream()
    assert (again.report.records.good, again.report.lines) == (1, 1)
    (file,) = again.taken.logs.files
    assert file.bytes == path.stat().st_size - old
    assert again.report.turns == 81
    assert lines_with(desk.pages(), "pnpm")


def test_a_log_read_in_two_parts_gives_the_tree_of_one_read_at_once(desk: Desk, desks: Callable[[], Desk]) -> None:
    log = ClaudeLog("cut").user("The staging port is 5432.").assistant("ok").user("Actually the staging port is 5433, not 5432.")
    log.bash("pytest -q", "1 failed", exit_code=1).bash("HARBOR_ENV=test pytest -q", "12 passed in 1.20s").user("Always use pnpm in the web folder.")
    whole = log.text().encode()
    at_once = desks()
    (at_once.logs / "log.jsonl").write_bytes(whole)
    at_once.dream()
    for cut in (whole.index(b"\n") + 1, len(whole) // 2, len(whole) - 1):
        parted = desks()
        (parted.logs / "log.jsonl").write_bytes(whole[:cut])
        parted.dream()
        (parted.logs / "log.jsonl").write_bytes(whole)
        parted.dream()
        assert differences(at_once.tree(), parted.tree()) == []


def test_logs_and_notes_keep_their_bytes_and_times(desk: Desk) -> None:
    a_week_of_work(desk)
    for path in [*desk.logs.iterdir(), *desk.notes.iterdir()]:
        os.utime(path, (1_700_000_000, 1_700_000_000))
        path.chmod(0o444)
    before = footprint(desk.logs), footprint(desk.notes), sorted(os.listdir(desk.logs)), sorted(os.listdir(desk.notes))
    desk.dream()
    desk.dream()
    assert (footprint(desk.logs), footprint(desk.notes), sorted(os.listdir(desk.logs)), sorted(os.listdir(desk.notes))) == before


def test_a_log_that_was_read_is_not_opened_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    a_week_of_work(desk)
    desk.dream()
    opened: list[str] = []
    whole = Source.__enter__

    def enter(self: Source) -> Source:
        opened.append("log")
        return whole(self)

    monkeypatch.setattr(Source, "__enter__", enter)
    desk.dream()
    assert opened == []


def test_a_log_that_is_gone_keeps_its_notes(desk: Desk) -> None:
    a_week_of_work(desk)
    desk.dream()
    before = desk.tree()
    for path in desk.logs.iterdir():
        path.unlink()
    desk.dream()
    assert differences(before, desk.tree()) == []


def test_a_note_that_was_mended_is_no_longer_corrected(desk: Desk) -> None:
    a_week_of_work(desk)
    desk.dream()
    assert "## Corrected" in desk.brief()
    desk.note("ports.md", memory("ports", "The staging database listens on port 5433.", modified="2026-02-20T10:00:00Z"))
    desk.dream()
    assert "## Corrected" not in desk.brief()
    assert [v.verdict.value for t, (_, v) in desk.verdicts().items() if "5433" in t] == ["upheld"]


def test_a_rewritten_log_is_read_anew_and_reported(desk: Desk) -> None:
    path = desk.logs / "talk.jsonl"
    path.write_text(conversation("talk-1", [("Ana", "Always use pnpm."), ("Ana", "We meet on Monday.")]), encoding="utf-8")
    desk.dream()
    path.write_text(conversation("talk-1", [("Ana", "Always use pnpm."), ("Ana", "The API listens on port 8080.")]), encoding="utf-8")
    os.utime(path, ns=(path.stat().st_mtime_ns, path.stat().st_mtime_ns + 1))
    again = desk.dream()
    assert again.taken.logs.rewritten == (str(path),)
    assert lines_with(desk.pages(), "API listens on port")
    assert "rewritten" in "".join(p.read_text() for p in (desk.wiki / "journal").iterdir())


def test_what_has_run_out_leaves_the_brief_at_the_next_dream_without_an_engine(desk: Desk) -> None:
    ClaudeLog("plan").user("The deadline for the report is 10 March 2026.").user("Always run migrations with `make migrate`.").save(desk.logs)
    desk.now = START + timedelta(days=1)
    desk.dream()
    assert "deadline" in desk.brief()
    desk.now += timedelta(days=20)
    later = desk.dream()
    assert later.sessions == ()
    assert "deadline" not in desk.brief()
    assert lines_with({p: t for p, t in desk.tree().items() if p.startswith("archive/")}, "deadline")
    assert "make migrate" in desk.brief(), "a rule never runs out"


def test_since_leaves_out_sessions_that_ended_before(desk: Desk) -> None:
    ClaudeLog("old").user("Always use npm.").save(desk.logs)
    ClaudeLog("new", at=START + timedelta(days=10)).user("Always write tests first.").save(desk.logs)
    desk.dream(since=START + timedelta(days=5))
    assert lines_with(desk.pages(), "tests first")
    assert lines_with(desk.pages(), "npm") == []
    desk.dream()
    assert lines_with(desk.pages(), "npm"), "what was left out is read when it is asked for"


def test_a_dry_run_changes_no_note_and_no_file(desk: Desk) -> None:
    a_week_of_work(desk)
    planned = desk.dream(dry_run=True)
    assert planned.report.status == "planned"
    assert planned.report.notes.added > 0
    assert not desk.wiki.exists()
    with desk.store() as store:
        assert store.heads(SCOPE) == ()
    assert desk.dream().report.notes.added == planned.report.notes.added


def test_the_sample_wiki_is_the_same_from_any_folder(desks: Callable[[], Desk]) -> None:
    one, other = desks(), desks()
    for desk in (one, other):
        a_week_of_work(desk)
    moved = other.logs.rename(other.root / "elsewhere")
    one.dream()
    other.dream(moved)
    assert differences(one.tree(), other.tree()) == []


def test_verdicts_are_kept_by_a_dream_that_read_nothing(desk: Desk) -> None:
    a_week_of_work(desk)
    first = desk.dream().report
    again = desk.dream(since=START - timedelta(days=100))  # asked otherwise, so it looks again
    assert again.report.dream != first.dream
    assert (again.sessions, again.report.online, again.report.notes.corrected) == ((), first.online, first.notes.corrected)
    with desk.store() as store:
        (told,) = store.results(store.dream(SCOPE, again.report.dream), "analyse").values()
    assert told["kept"] is True
    desk.note("more.md", memory("more", "The staging database listens on port 5499.", modified="2026-02-20T10:00:00Z"))
    assert desk.dream().report.online.corrected == first.online.corrected + 1
