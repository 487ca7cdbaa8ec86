"""What a person takes back of their own words, and what only sounds like it."""

from __future__ import annotations

import pytest

from pipelines.engines.local.takebacks import taken_back
from pipelines.model import Claim, Kind

from .talk import Talk

RULE = "Always squash merge PRs."


def taking(*turns: str) -> list[Claim]:
    talk = Talk()
    for text in turns:
        talk.user(text).assistant("ok")
    return [c for c in talk.claims() if c.attribute == "ended"]


def rules(*turns: str) -> list[str]:
    talk = Talk()
    for text in turns:
        talk.user(text).assistant("ok")
    return [c.statement for c in talk.claims() if c.kind is Kind.RULE]


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ("Actually forget what I said about squash merging, that was wrong.", "squash merging"),
        ("Forget what I said about squash merging PRs.", "squash merging PRs"),
        ("I was wrong about squash merging, do not squash merge PRs any more.", "squash merging"),
        ("Please disregard everything I told you earlier about squash merging.", "squash merging"),
        ("Ignore my earlier rule about squash merging.", "squash merging"),
        ("I take back what I said about squash merging", "squash merging"),
        ("What I said about squash merging was wrong.", "squash merging"),
        ("Forget what I said about `src/app.ts` please", "src/app.ts"),
        ("忘掉我说的 squash 合并。", "squash 合并"),
        ("忘掉我之前说的关于 squash 合并的事。", "squash 合并"),
        ("我之前说的 squash 合并不算了。", "squash 合并"),
        ("以后不用再跑集成测试了。", "跑集成测试"),
    ],
)
def test_words_are_taken_back_by_name(words: str, what: str) -> None:
    found = taken_back(words)
    assert found is not None
    assert found.what == what


@pytest.mark.parametrize(
    "words",
    [
        "Scratch that.", "Scratch that, do not squash merge PRs.", "Actually, forget that.", "Forget that rule.", "Disregard my last message.", "I was wrong.", "I take that back.",
        "Forget what I just said.", "我之前说错了。", "上面说的不算。", "刚才说的作废", "当我没说。", "忘掉我刚才说的。",
    ],
)  # fmt: skip
def test_what_was_said_last_is_taken_back_without_a_name(words: str) -> None:
    found = taken_back(words)
    assert found is not None
    assert found.what is None


@pytest.mark.parametrize(
    "words",
    [
        "Scratch that buffer.", "Should we scratch that?", "Don't forget what I said about squash merging.", "Forget that it happened and go on.", "Drop that table.", "Ignore it when the file is missing.",
        "Did I say I was wrong about squash merging?", "You forgot what I said about squash merging.", "If it fails, forget what I said about squash merging.", "The code was wrong about the port.",
        "Ignore the rule that lints imports in tests/fixtures when it is run in CI on the release branch, for all of the packages.", "别忘了我说的 squash 合并。", "他之前说的不算。", "Never mind the warnings.",
        "Cancel it when the user leaves.", "Was I wrong about squash merging", "Ignore that.", "Ignore it.",
        "Drop that rule.", "Never mind that.", "Forget it.", "Forget that the build is slow.", "忘了说端口是 8080。", "Forget what I said about it.",
    ],
)  # fmt: skip
def test_what_only_sounds_like_it_takes_nothing_back(words: str) -> None:
    assert taking(RULE, words) == []


def test_a_name_is_the_subject_of_the_claim_that_takes_back() -> None:
    (claim,) = taking(RULE, "Actually forget what I said about squash merging, that was wrong.")
    assert (claim.kind, claim.subject, claim.negated, claim.value, claim.doubts) == (Kind.DECISION, "squash merging", True, None, ())


def test_scratch_that_takes_back_the_one_thing_said_in_the_turn_before() -> None:
    (claim,) = taking(RULE, "Scratch that.")
    assert (claim.subject, [q.text for q in claim.quotes]) == (RULE, ["Scratch that.", RULE])
    assert taking("Always squash merge PRs. Never push to main.", "Scratch that.") == [], "nobody can tell which"
    assert taking(RULE, "Now look at the parser.", "Scratch that.") == [], "it is about the parser"
    assert taking("Always squash merge PRs. Now look at the parser.", "Scratch that.") == []
    assert taking("Look at the parser.", "Scratch that.") == []


def test_what_somebody_else_said_last_is_not_taken_back() -> None:
    talk = Talk().user(RULE, speaker="Ana").user("Scratch that.", speaker="Lee")
    assert [c for c in talk.claims() if c.attribute == "ended"] == []


def test_a_long_name_is_looked_at_once() -> None:
    assert taken_back("Forget what I said about " + "a." * 400 + "(b") is None


def test_what_stands_behind_is_read_on_its_own() -> None:
    assert rules(RULE, "Scratch that, do not squash merge PRs.") == [RULE, "Do not squash merge PRs."]
    assert rules(RULE, "I was wrong about squash merging, do not squash merge PRs any more.") == [RULE, "Do not squash merge PRs any more."]


def test_what_is_taken_back_in_the_same_message_was_never_said() -> None:
    assert rules("Always squash merge PRs. Wait, scratch that.") == []
    assert rules("Always squash merge PRs. Never push to main. Actually forget what I said about squash merging.") == ["Never push to main."]
    assert rules("Always squash merge PRs. Never push to main. Scratch that.") == ["Always squash merge PRs."]
