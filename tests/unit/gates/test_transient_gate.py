import pytest

from pipelines.gates import transient_gate
from pipelines.model import Kind, Outcome

from .build import claim, turn


def gone(statement: str, kind: Kind = Kind.FACT) -> bool:
    return transient_gate(claim(statement, turn("x y"), kind=kind)).outcome is Outcome.REJECT


@pytest.mark.parametrize(
    "statement",
    [
        "All 12 tests passed.", "The tests pass now.", "The build is green.", "The test suite failed.", "12 passed, 1 failed", "测试全部通过了。", "构建失败",
        "The account balance is $120.", "The balance is 5 ETH.", "余额是100元",
        "The player is at (3, 4).", "You are on line 42.", "The current position is 12.", "当前位置是第三行",
        "There are 14 files in src.", "The repository has 3 branches.", "3 files changed", "npm audit found 0 vulnerabilities.", "共14个文件",
        "The directory contains the following files.", "package-lock.json pins left-pad at 1.3.0.", "The lockfile has react 18.", "The working tree is clean, working tree clean.",
        "The branch is ahead of origin/main by 2 commits.", "CPU usage is 80%.", "The server runs with pid 4711.",
    ],
)  # fmt: skip
def test_what_can_be_looked_up_again_is_no_note(statement: str) -> None:
    assert gone(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "The port is 5433.", "The centre is west of the cave.", "I have 3 cats.", "We have 4 environments.", "Tests must pass before merging.", "CI runs on GitHub Actions.", "The tests live in tests/.",
        "The max upload size is 25 MB.", "The user prefers tests in pytest.", "The cave is finished.", "The limit is 10 files.", "The account belongs to Ana.", "每次提交之前都要运行测试。", "The user passed the exam.",
        "Commit messages have a 72 character limit.",
    ],
)  # fmt: skip
def test_what_lasts_is_kept(statement: str) -> None:
    assert not gone(statement)


def test_a_goal_or_rule_may_speak_of_tests_but_an_outcome_is_no_decision() -> None:
    assert not gone("All tests pass.", Kind.GOAL)
    assert not gone("Never merge when the build is red.", Kind.RULE)
    assert gone("All tests passed.", Kind.DECISION)
    assert gone("The build is green.", Kind.PROCEDURE)
    assert not gone("There are 3 branches to keep.", Kind.DECISION)
