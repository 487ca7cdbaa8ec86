"""What a person writes into the wiki stays; what dreamd wrote itself, and somebody put back, is no edit."""

from __future__ import annotations

import os
from datetime import timedelta

from pipelines.run.rebuild import rebuild_from_logs, rebuild_wiki
from tests.dreaming import SCOPE, Desk, differences, lines_with
from tests.writing import START, ClaudeLog, memory

MARK = "<!-- yours below: dreamd never touches it -->"
MINE = "My own words, [a link](https://example.org) and ünïcödé 中文.\n\n- a list of mine\n"


def rule(desk: Desk, text: str, *, day: int = 0) -> None:
    ClaudeLog(text, at=START + timedelta(days=day)).user(text).assistant("ok").save(desk.logs)


def write_below(desk: Desk, name: str) -> None:
    path = desk.wiki / name
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(f"{MARK}\n", f"{MARK}\n\n{MINE}"), encoding="utf-8")
    assert MINE in path.read_text(encoding="utf-8")


def journals(desk: Desk) -> str:
    return "".join(p.read_text(encoding="utf-8") for p in desk.wiki.glob("journal/*.md"))


def test_words_below_the_line_survive_every_later_dream(desk: Desk) -> None:
    rule(desk, "Always run migrations with `make migrate`.")
    desk.dream()
    write_below(desk, "how-we-work.md")
    rule(desk, "Never push to main.", day=1)
    changed = desk.dream()
    page = (desk.wiki / "how-we-work.md").read_text(encoding="utf-8")
    assert "Never push to main" in page
    assert MINE in page
    assert page.index(MARK) < page.index(MINE)
    assert changed.published is not None
    assert (changed.published.held, changed.published.edits) == ((), ())
    desk.dream()
    with desk.store() as store:
        rebuild_wiki(desk.parts(store), desk.request())
    assert (desk.wiki / "how-we-work.md").read_text(encoding="utf-8") == page


def test_words_on_a_page_whose_notes_have_all_run_out_stay(desk: Desk) -> None:
    rule(desk, "The deadline for the report is 10 March 2026.")
    desk.now = START + timedelta(days=1)
    desk.dream()
    write_below(desk, "about.md")
    desk.now += timedelta(days=20)
    for _ in range(2):
        left = desk.dream()
        assert MINE in (desk.wiki / "about.md").read_text(encoding="utf-8")
    assert left.published is None or [p for p, _ in left.published.held] == ["about.md"]
    assert lines_with({"brief": desk.brief()}, "deadline") == []


def test_words_on_a_page_that_is_renamed_stay_where_they_were_written(desk: Desk) -> None:
    rule(desk, "Hello")
    desk.note("ports.md", memory("Ports", "The port is 8080."))
    desk.dream()
    write_below(desk, "ports.md")
    desk.note("ports.md", memory("Harbour doors", "The port is 8080."))
    desk.dream()
    left = (desk.wiki / "ports.md").read_text(encoding="utf-8")
    assert MINE in left
    assert "[Harbour doors](harbour-doors.md)" in left
    assert lines_with(desk.pages(), "8080")


def test_words_behind_the_brief_survive(desk: Desk) -> None:
    rule(desk, "Always run migrations with `make migrate`.")
    desk.dream()
    index = desk.wiki / "MEMORY.md"
    index.write_text(index.read_text(encoding="utf-8") + f"\n{MINE}", encoding="utf-8")
    rule(desk, "Never push to main.", day=1)
    desk.dream()
    assert "Never push to main" in desk.brief()
    assert desk.brief().rstrip().endswith(MINE.rstrip())


def test_an_edited_bullet_stays_and_is_reported_and_nothing_is_lost(desk: Desk) -> None:
    rule(desk, "Always run migrations with `make migrate`.")
    desk.dream()
    path = desk.wiki / "how-we-work.md"
    edited = path.read_text(encoding="utf-8").replace("Always run migrations with `make migrate`.", "Run migrations by hand, I do not care.", 1)
    assert "by hand" in edited
    path.write_text(edited, encoding="utf-8")
    rule(desk, "Never push to main.", day=1)
    desk.now += timedelta(days=1)
    left = desk.dream()
    assert left.published is not None
    assert [p for p, _ in left.published.held] == ["how-we-work.md"]
    assert path.read_text(encoding="utf-8") == edited
    assert "how-we-work.md" in journals(desk)
    assert "Never push to main" in desk.brief(), "the rest goes on"
    assert lines_with({"brief": desk.brief()}, "by hand") == [], "an edit alone makes no rule"
    path.unlink()
    desk.dream()
    assert lines_with(desk.pages(), "Never push to main"), "the new state was kept and comes back"
    assert lines_with(desk.pages(), "Always run migrations")


def test_an_old_page_that_is_put_back_is_no_edit(desk: Desk) -> None:
    rule(desk, "Always run migrations with `make migrate`.")
    desk.dream()
    old = (desk.wiki / "how-we-work.md").read_bytes()
    rule(desk, "Never push to main.", day=1)
    desk.dream()
    want = desk.tree()
    (desk.wiki / "how-we-work.md").write_bytes(old)
    again = desk.dream()
    assert again.published is not None
    assert (again.published.held, again.published.edits) == ((), ())
    assert differences(want, desk.tree()) == []


def test_a_whole_wiki_put_back_to_an_older_state_is_brought_up_to_date(desk: Desk) -> None:
    rule(desk, "Always run migrations with `make migrate`.")
    desk.dream()
    old = {p: p.read_bytes() for p in desk.wiki.rglob("*") if p.is_file()}
    rule(desk, "Never push to main.", day=1)
    desk.dream()
    want = desk.tree()
    for path, data in old.items():
        path.write_bytes(data)
    desk.dream()
    assert differences(want, desk.tree()) == []


def test_a_page_that_was_deleted_comes_back(desk: Desk) -> None:
    rule(desk, "Always run migrations with `make migrate`.")
    desk.dream()
    want = desk.tree()
    (desk.wiki / "how-we-work.md").unlink()
    desk.dream()
    assert differences(want, desk.tree()) == []


def test_a_file_of_a_persons_own_is_never_touched(desk: Desk) -> None:
    rule(desk, "Always run migrations with `make migrate`.")
    desk.dream()
    own = desk.wiki / "my-plans.md"
    own.write_text(MINE, encoding="utf-8")
    os.utime(own, (1_700_000_000, 1_700_000_000))
    rule(desk, "Never push to main.", day=1)
    desk.dream()
    assert own.read_text(encoding="utf-8") == MINE
    assert own.stat().st_mtime == 1_700_000_000
    assert "my-plans.md" in journals(desk)


def test_notes_derived_again_from_the_archive_do_not_differ(desk: Desk) -> None:
    rule(desk, "Always run migrations with `make migrate`.")
    rule(desk, "The staging port is 5432.", day=1)
    desk.dream()
    rule(desk, "Actually the staging port is 5433, not 5432.", day=2)
    desk.dream()
    for log in desk.logs.iterdir():
        log.unlink()
    with desk.store() as store:
        assert store.heads(SCOPE)
        assert rebuild_from_logs(desk.parts(store), desk.request()) == []
