"""How goals and holds end: by a person's words, and by nothing else."""

from __future__ import annotations

import pytest

from pipelines.model import Kind, Origin, Status, Version, Witnessed
from pipelines.notes.beliefs import believe
from tests.unit.engines.talk import Talk

from .heard import day, heard

HOLD = "Don't deploy until I say so."
GOAL = "Our goal is to migrate billing to Postgres."


def said(text: str, *, at: float, speaker: str | None = None, origin: Origin = Origin.USER) -> tuple[Witnessed, ...]:
    """What the rules read in a sentence, as heard in a session of its own."""
    found = []
    for claim in Talk().user(text).claims():
        found.append(
            heard(
                claim.value, at=at, session=f"s{at}", subject=claim.subject, attribute=claim.attribute, statement=claim.statement, kind=claim.kind,
                negated=claim.negated, cardinality=claim.cardinality, mark=claim.standing_mark, speaker=speaker, origin=origin, doubts=claim.doubts,
                missed=next(iter(claim.doubts), ""),
            )
        )  # fmt: skip
    assert found, f"nothing is read in {text!r}"
    return tuple(found)


def states(*claims: tuple[Witnessed, ...]) -> dict[str, Status]:
    flat = [w for several in claims for w in several]
    found: tuple[Version, ...] = believe("user", flat, skew_s=600.0, intake_at=day(365))
    assert found == believe("user", flat[::-1], skew_s=600.0, intake_at=day(365))
    return {v.statement: v.status for v in found}


@pytest.mark.parametrize("words", ["You can deploy now.", "Go ahead and deploy.", "OK, you can deploy again."])
def test_a_hold_ends_when_its_speaker_releases_it(words: str) -> None:
    assert states(said(HOLD, at=0)) == {HOLD: Status.CONFIRMED}
    assert states(said(HOLD, at=0), said(words, at=2)) == {HOLD: Status.SUPERSEDED}


def test_a_hold_is_kept_from_the_words_of_others_of_other_things_and_of_before() -> None:
    assert states(said(HOLD, at=0, speaker="Ana"), said("You can deploy now.", at=2, speaker="Lee")) == {HOLD: Status.CONFIRMED}
    assert states(said(HOLD, at=0), said("You can merge now.", at=2)) == {HOLD: Status.CONFIRMED}
    assert states(said(HOLD, at=3), said("You can deploy now.", at=2)) == {HOLD: Status.CONFIRMED}, "a new hold outlives an old release"
    assert states(said(HOLD, at=0), said("You can deploy now.", at=2, origin=Origin.ASSISTANT)) == {HOLD: Status.CONFIRMED}


@pytest.mark.parametrize(
    "words",
    ["The billing migration is done.", "We migrated billing to Postgres.", "We dropped the plan to migrate billing.", "The billing migration is cancelled."],
)
def test_a_goal_ends_when_it_is_reached_or_given_up(words: str) -> None:
    assert states(said(GOAL, at=0))[GOAL] is Status.CONFIRMED
    assert states(said(GOAL, at=0), said(words, at=2))[GOAL] is Status.SUPERSEDED


def test_a_goal_goes_on_when_another_thing_or_a_small_part_of_many_words_is_done() -> None:
    for words in ("The search migration is done.", "The billing tests are done.", "The importer is finished."):
        assert states(said(GOAL, at=0), said(words, at=2))[GOAL] is Status.CONFIRMED, words


def test_chinese_words_end_too() -> None:
    hold = "先别上线。"
    assert states(said(hold, at=0)) == {hold: Status.CONFIRMED}
    assert states(said(hold, at=0), said("可以上线了。", at=2)) == {hold: Status.SUPERSEDED}


def test_what_ends_a_thing_is_no_note() -> None:
    assert states(said("You can deploy now.", at=2)) == {}


def test_the_kind_that_ends_others_is_told_by_its_attribute() -> None:
    (claim,) = [c for c in Talk().user("You can deploy now.").claims()]
    assert (claim.kind, claim.attribute, claim.subject, claim.value) == (Kind.HOLD, "ended", "deploy", None)


RULE = "Always squash merge PRs."
TAKEN_BACK = "Actually forget what I said about squash merging, that was wrong."


@pytest.mark.parametrize("words", [TAKEN_BACK, "I was wrong about squash merging PRs.", "我之前说的 squash merge 不算了。"])
def test_a_rule_ends_when_its_speaker_takes_it_back(words: str) -> None:
    assert states(said(RULE, at=0)) == {RULE: Status.CONFIRMED}
    assert states(said(RULE, at=0), said(words, at=2)) == {RULE: Status.SUPERSEDED}


@pytest.mark.parametrize(
    "words",
    ["The staging port is 9090.", "I prefer a high staging port.", "Don't touch the staging port until I say so.", "We decided to move the staging port."],
)
def test_whatever_a_person_said_ends_so(words: str) -> None:
    assert all(s is Status.SUPERSEDED for s in states(said(words, at=0), said("Forget what I said about the staging port.", at=2)).values())


def test_what_is_taken_back_leaves_the_words_of_others_of_other_things_of_before_and_of_after() -> None:
    assert states(said(RULE, at=0, speaker="Ana"), said(TAKEN_BACK, at=2, speaker="Lee")) == {RULE: Status.CONFIRMED}
    assert states(said(RULE, at=0), said("Forget what I said about rebasing.", at=2)) == {RULE: Status.CONFIRMED}
    assert states(said(RULE, at=3), said(TAKEN_BACK, at=2)) == {RULE: Status.CONFIRMED}, "said again since"
    assert states(said(RULE, at=0), said(TAKEN_BACK, at=2, origin=Origin.ASSISTANT)) == {RULE: Status.CONFIRMED}
    long = "Always squash merge the PRs of the release branch after the nightly build passed."
    assert states(said(long, at=0), said("Forget what I said about the nightly build.", at=2)) == {long: Status.CONFIRMED}, "one thing of many"


def test_what_a_result_shows_is_not_taken_back() -> None:
    seen = said("The staging port is 9090.", at=0, origin=Origin.TOOL)
    assert Status.SUPERSEDED not in states(seen, said("Forget what I said about the staging port.", at=2)).values()


@pytest.mark.parametrize("words", ["Do not squash merge PRs.", "Do not squash merge PRs any more."])
def test_a_rule_its_speaker_forbids_once_is_to_be_checked_again(words: str) -> None:
    assert states(said(RULE, at=0), said(words, at=2))[RULE] is Status.NEEDS_RECHECK
    assert states(said(RULE, at=3), said(words, at=2))[RULE] is Status.CONFIRMED, "said again since"
    assert states(said(RULE, at=0, speaker="Ana"), said(words, at=2, speaker="Lee"))[RULE] is Status.CONFIRMED


def test_of_two_rules_on_the_language_of_one_thing_the_later_holds() -> None:
    found = states(said("以后提交信息都用中文写。", at=0), said("以后提交信息一律用英文。", at=2))
    assert found == {"以后提交信息都用中文写。": Status.SUPERSEDED, "以后提交信息一律用英文。": Status.CONFIRMED}
