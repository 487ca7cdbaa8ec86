"""The morning report is put beside the wiki without rendering it again."""

from __future__ import annotations

import sys

import pytest

from pipelines.store import Store
from tests.dreaming import Desk
from tests.writing import ClaudeLog

MARK = "<!-- yours below: dreamd never touches it -->"


def test_a_dream_renders_once_and_leaves_its_report(desk: Desk) -> None:
    ClaudeLog("one").user("Always run migrations with `make migrate`.").assistant("ok").save(desk.logs)
    steps: list[str] = []
    desk.step = steps.append
    desk.dream()
    assert steps.count("pages_committed") == 1
    assert steps.count("manifest") == 1
    assert len(list(desk.wiki.glob("journal/*.md"))) == 1


def test_words_written_between_the_pages_and_the_report_stay(desk: Desk) -> None:
    ClaudeLog("one").user("Always run migrations with `make migrate`.").assistant("ok").save(desk.logs)
    page = desk.wiki / "how-we-work.md"
    written: list[str] = []

    def write(step: str) -> None:
        if step == "manifest" and not written:
            text = page.read_text(encoding="utf-8").replace(f"{MARK}\n", f"{MARK}\n\nWritten just now.\n")
            page.write_text(text, encoding="utf-8")
            written.append(text)

    desk.step = write
    desk.dream()
    assert "Written just now." in page.read_text(encoding="utf-8")
    desk.step = lambda _: None
    ClaudeLog("two").user("Never push to main.").assistant("ok").save(desk.logs)
    desk.dream()
    text = page.read_text(encoding="utf-8")
    assert ("Never push to main" in text, "Written just now." in text) == (True, True)


def test_what_a_folder_held_is_told_also_when_the_scope_moves_meanwhile(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    ClaudeLog("one").user("Always run migrations with `make migrate`.").save(desk.logs)
    desk.dream()
    (desk.wiki / "mine.md").write_text("A page of my own.\n", encoding="utf-8")
    ClaudeLog("two").user("Never push to main.").save(desk.logs)
    module = sys.modules["pipelines.run.dream"]
    commit, tried = module.commit_report, []

    def moved_once(store: Store, scope: str, path: str, text: str, *, rev: int) -> int:
        tried.append(rev)
        if len(tried) == 1:
            store.raise_revision(scope, cause="hand", above=rev)
        return int(commit(store, scope, path, text, rev=rev))

    monkeypatch.setattr(module, "commit_report", moved_once)
    assert desk.dream().report.status == "completed"
    assert len(tried) == 2
    assert any("mine.md" in page.read_text(encoding="utf-8") for page in (desk.wiki / "journal").glob("*.md"))


def test_a_line_of_an_index_that_only_leads_in_is_named_once(desk: Desk) -> None:
    desk.note("MEMORY.md", "# Yard\n\nThree barns beside one road:\n- `north/` holds hay\n- `south/` holds tools\n")
    said = []
    for words in ("Always run migrations with `make migrate`.", "Never push to main."):
        ClaudeLog(words).user(words).assistant("ok").save(desk.logs)
        desk.dream()
        report = next(desk.wiki.glob("journal/*.md")).read_text(encoding="utf-8").partition("## Earlier that day")[0]
        said.append("  - Pages: Three barns beside one road: (only leads in, see `yard.md`)\n" in report)
    assert said == [True, False]
    assert "Three barns" not in (desk.wiki / "MEMORY.md").read_text(encoding="utf-8")


def test_the_title_of_an_index_of_which_no_page_is_left_is_named_once(desk: Desk) -> None:
    """Each of its lines leads to another page and is told there; each line of a person's own index is to be in the new one or in the report."""
    desk.note("north.md", "# North barn\n\nIt holds hay.\n")
    desk.note("south.md", "# South barn\n\nIt holds tools.\n")
    desk.note("MEMORY.md", "# Everything in the yard\n\n- [North](north.md): hay\n- [South](south.md): tools\n")
    said = []
    for words in ("Always run migrations with `make migrate`.", "Never push to main."):
        ClaudeLog(words).user(words).assistant("ok").save(desk.logs)
        desk.dream()
        report = next(desk.wiki.glob("journal/*.md")).read_text(encoding="utf-8").partition("## Earlier that day")[0]
        said.append(report.count("Everything in the yard"))
    assert said == [1, 0]


def test_the_title_of_an_index_that_has_a_page_of_its_own_is_not_named_beside_it(desk: Desk) -> None:
    desk.note("north.md", "# North barn\n\nIt holds hay.\n")
    desk.note("MEMORY.md", "# Everything in the yard\n\n- [North](north.md): hay\n- The gate is locked at nine.\n")
    desk.dream()
    assert "Everything in the yard" not in next(desk.wiki.glob("journal/*.md")).read_text(encoding="utf-8")
