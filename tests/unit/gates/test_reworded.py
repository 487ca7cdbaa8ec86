"""Statements in words that are not their quotes': which of them are put to the check, and which stay drafts unasked."""

import pytest

from pipelines.gates import follows_gate, judge
from pipelines.gates.follows import FREELY_WORDED, only_reworded
from pipelines.model import Kind, Origin, Outcome

from .build import by_uid, claim, turn

SAME = (
    ("The nightly import often fails because the disk of staging fills up.", "the nightly import keeps breaking whenever staging's disk runs full"),
    ("The user switched to a vegan diet two years ago and feels healthier since.", "I went onto a vegan diet two years ago and honestly I feel so much better"),
    ("The team moved its weekly sync to Tuesday so that Ana can attend.", "we shifted our weekly sync to Tuesday, Ana couldn't make it otherwise"),
    ("The user was brought up close to Bergen and keeps talking Norwegian with their parents.", "I was raised close to Bergen, with my parents I talk Norwegian to this day"),
    ("用户每天早上先喝一杯咖啡再开始写代码。", "我每天早上都得来一杯咖啡，然后才写代码"),
)  # fmt: skip
"""(what a model makes of it, what was said): the same in other words."""
SWAPPED = (
    ("Carla works for Lufthansa.", "Carla flies Lufthansa only"),
    ("Releases go straight to main.", "hotfixes go straight to main"),
    ("The hourly snapshot is dropped; restores from it never worked.", "we agreed to drop the nightly snapshot, restores from it never worked"),
    ("This repository uses yarn, do not use npm.", "this repo uses pnpm, do not use npm"),
    ("The worker runs on the red cluster of the lab.", "the worker runs on the blue cluster of the lab"),
    ("这个仓库用 pnpm，不要用 npm。", "这个仓库用 yarn，不要用 npm，锁文件会乱"),
    ("决定下线每小时快照。", "我们决定下线夜间快照"),
)
"""One thing in the place of another."""
ELSEWHERE = (
    ("The user enjoys hiking mountains daily.", "I like to walk outside."),
    ("The user wants to adopt a child with the help of an agency.", "painting helps me calm down after a long week"),
    ("用户打算明年换一份离家近的工作。", "我昨天和同事去吃了火锅"),
)
"""Of something else."""


def asked(statement: str, text: str, kind: Kind = Kind.FACT) -> bool:
    said = turn(text)
    made = claim(statement, said, kind=kind)
    return follows_gate(made, by_uid(said)).why == FREELY_WORDED and only_reworded(made, by_uid(said))


@pytest.mark.parametrize(("statement", "text"), SAME)
def test_a_statement_that_says_the_same_in_other_words_is_for_the_check_to_judge(statement: str, text: str) -> None:
    assert asked(statement, text)


@pytest.mark.parametrize(("statement", "text"), SWAPPED)
def test_one_thing_put_in_the_place_of_another_is_not_wording(statement: str, text: str) -> None:
    assert not asked(statement, text)


@pytest.mark.parametrize(("statement", "text"), ELSEWHERE)
def test_a_statement_most_of_which_stands_in_no_quote_is_not_wording(statement: str, text: str) -> None:
    assert not asked(statement, text)


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        (
            "The user switched to a vegan diet three years ago and feels healthier since.",
            "I went onto a vegan diet two years ago and honestly I feel so much better",
        ),
        ("The team moved its weekly sync to Tuesday so that Lee can attend.", "we shifted our weekly sync to Tuesday, Ana couldn't make it otherwise"),
        (
            "The user does not feel healthier since the vegan diet of two years ago.",
            "I went onto a vegan diet two years ago and honestly I feel so much better",
        ),
        (
            "The user switched to a vegan diet two years ago and feels healthier since.",
            "my sister went onto a vegan diet two years ago and feels so much better",
        ),
        ("The user switched to a vegan diet two years ago and feels healthier since.", "if I went onto a vegan diet I would feel so much better in two years"),
    ],
)
def test_what_differs_in_a_number_a_name_a_denial_a_person_or_a_mood_is_never_asked_about(statement: str, text: str) -> None:
    assert not asked(statement, text)


PIECES = ("the nightly import stopped because the disk of staging was full", "old releases are kept on staging, all of them", "the staging disk was full again")
CONCLUDED = "Jobs on staging keep failing because its disk is full, where old releases are kept."


@pytest.mark.parametrize(
    ("statement", "asks"),
    [
        (CONCLUDED, True),
        ("The nightly import, the staging disk and old releases are a burden.", True),
        ("Backups in Frankfurt keep failing because the disk of staging is full.", False),  # a name of its own
        ("Nobody watches whether people clean up, so everything breaks on Mondays.", False),  # of something else
    ],
)
def test_what_several_things_show_together_is_for_the_check_where_its_words_are_mostly_theirs(statement: str, asks: bool) -> None:
    turns = [turn(text, uid=f"t{n}", origin=Origin.TOOL if n == 2 else Origin.USER) for n, text in enumerate(PIECES)]
    made = claim(statement, *turns, kind=Kind.INSIGHT)
    missed = {r.why for r in judge(made, by_uid(*turns)) if r.outcome is not Outcome.PASS}
    assert (missed == {FREELY_WORDED} and only_reworded(made, by_uid(*turns))) is asks
