from __future__ import annotations

from dataclasses import replace

import mdformat
import pytest
from markdown_it import MarkdownIt

from pipelines.wiki import inline
from pipelines.wiki.content import Work
from pipelines.wiki.recent import recent
from pipelines.wiki.unfinished import Left, told_of, unfinished
from tests.unit.wiki.samples import at

ASKED = Work(
    session="a", started=at(20, 9), ended=at(20, 10), folder="/src/web", branch="main", asked="look at the backups", begins="t1", prompts=1, how="question",
    question="Which retention do the nightly backups need?", question_line=40, files=3, touched=("a.py",), uncommitted=2, unsaved=("a.py", "b.py"), unsaved_line=38,
)  # fmt: skip
NEXT = Work(session="b", started=at(21, 9), ended=at(21, 10), folder="/src/web", branch="main", asked="add a page for prices", begins="t2", prompts=1)
BOTH = [("a", Left.QUESTION), ("a", Left.CHANGES)]


def left(*works: Work) -> list[tuple[str, Left]]:
    return [(u.work.session, u.left) for u in unfinished(works)]


def test_a_question_and_changes_wait_and_a_session_about_something_else_settles_neither() -> None:
    assert left(ASKED) == BOTH
    assert left(ASKED, NEXT) == BOTH


@pytest.mark.parametrize("later", [replace(NEXT, parent="a"), replace(NEXT, begins="t1")])
def test_they_wait_until_the_session_goes_on(later: Work) -> None:
    assert left(ASKED, later) == []
    assert left(ASKED, replace(later, started=at(19, 9), ended=at(19, 10))) == BOTH


def test_a_session_that_speaks_of_the_same_settles_the_question() -> None:
    assert left(ASKED, replace(NEXT, asked="nightly backups: keep 30 days")) == [("a", Left.CHANGES)]
    assert left(ASKED, replace(NEXT, asked="nightly backups: keep 30 days", folder="/src/shop")) == BOTH


def test_an_offer_lapses_when_the_person_goes_on_to_something_else() -> None:
    offered = replace(ASKED, question="Want me to add a test for it?")
    assert left(offered, NEXT) == [("a", Left.CHANGES)]
    assert left(offered, replace(NEXT, prompts=0)) == BOTH


PLANNED = replace(ASKED, how="plan", question="Implement the scrolling parts", uncommitted=0, unsaved=())


def test_a_plan_says_that_it_is_one_and_lapses_when_the_person_goes_on_to_something_else() -> None:
    (plan,) = unfinished([PLANNED])
    assert inline.words(told_of(plan)) == 'Plan shown, no yes or no to it yet (20 Nov 2026, web on main): "Implement the scrolling parts"'
    assert '  - Ended with a plan that waits for a yes: "Implement the scrolling parts"\n' in recent([PLANNED], at(20, 10))
    assert left(PLANNED, NEXT) == []
    assert left(PLANNED, replace(NEXT, prompts=0)) == [("a", Left.QUESTION)]


def test_a_later_commit_or_a_clean_tree_on_the_branch_settles_the_changes() -> None:
    for later in (
        replace(NEXT, commits=("1a2b3c4 all",)),
        replace(NEXT, clean=True),
        replace(NEXT, clean=True, folder="/src/web/api"),
        replace(NEXT, clean=True, branch=""),
    ):
        assert left(ASKED, later) == [("a", Left.QUESTION)]
    for other in (replace(NEXT, commits=("1a2b3c4 all",), branch="fix"), replace(NEXT, clean=True, folder="/src/web2")):
        assert left(ASKED, other) == BOTH


def test_of_two_copies_of_a_session_one_waits() -> None:
    assert left(ASKED, replace(ASKED, session="a2")) == BOTH


def test_without_a_time_nothing_is_later() -> None:
    assert left(replace(ASKED, started=None, ended=None), NEXT, replace(NEXT, session="c", clean=True)) == BOTH


def test_what_waits_makes_sense_alone() -> None:
    question, changes = (inline.words(told_of(u)) for u in unfinished([ASKED]))
    assert question == 'Asked and not answered (20 Nov 2026, web on main): "Which retention do the nightly backups need?"'
    assert changes == "2 files changed and not committed (20 Nov 2026, web on main): a.py, b.py"


def test_recent_work_begins_with_at_most_three_things_that_wait() -> None:
    works = [replace(ASKED, session=f"s{n}", begins=f"t{n}", started=at(20, n), ended=at(20, n)) for n in range(4)]
    text = recent(works, at(20, 9))
    above, _, below = text.partition("## 20 Nov 2026")
    assert above.count("\n- ") == 3
    assert "5 older: see how the sessions below ended.\n" in above
    assert "[^1]: `s3` line 40, 20 Nov 2026 03:41 UTC\n" in below


def test_hostile_words_stay_words() -> None:
    bad = "<script>[x](http://evil) `a` [^9] **b** \u202e|"
    work = replace(ASKED, title=bad, asked=bad, question=bad, tested=bad, test_command=bad, failed=(bad,), todos=(bad,), open_todos=1, all_todos=1)
    text = recent(
        [
            replace(work, folder=f"/src/{bad}", branch=bad, touched=(bad,), unsaved=(bad,), commits=(f"1a2b3c4 {bad}", "x")),
            replace(NEXT, how="error", outcome=bad),
        ],
        at(21),
    )
    assert mdformat.text(text, extensions={"footnote", "frontmatter"}) == text
    assert "\u202e" not in text
    assert "\n[^9]:" not in text
    kinds = {child.type for token in MarkdownIt().parse(text) for child in token.children or ()}
    assert kinds <= {"text", "code_inline"}
