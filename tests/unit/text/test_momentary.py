from __future__ import annotations

import pytest

from pipelines.text.momentary import momentary


@pytest.mark.parametrize(
    "text",
    [
        "please rename this variable now", "Don't commit yet.", "Stage the latest changes and use conventional commits.", "You should fix the failing test.",
        "We should start with packages/services.", "Don't do anything else.", "I prefer option 2", "Give me a short summary", "Write a summary of the changes",
        "Only do step 3.", "Don't close #12.", "Don't close issue #12.", "Don't touch the other files.", "Use zod instead of yup this time.", "现在不要提交", "这次用中文回答", "先改第二个，不要动别的",
    ],
)  # fmt: skip
def test_what_is_asked_of_this_moment_is_momentary(text: str) -> None:
    assert momentary(text)


@pytest.mark.parametrize(
    "text",
    [
        "From now on use pnpm.", "Use pnpm instead of npm.", "Don't squash commits.", "Keep answers short.", "Answer in bullet points.", "Give me a bulleted list",
        "Every function should have a docstring.", "Don't touch the tests.", "Run the linter before each commit.", "Use the latest version of React.",
        "Every now and then run the slow tests.", "Don't end the first line of a commit with a period.", "Don't use the following words: simply, just.",
        "Make a summary at the end of each session", "Use NOW() and not CURRENT_TIMESTAMP", "Don't depend on yet unreleased packages", "Use pnpm now, not npm",
        "Wait for the first review before merging", "这个项目不要用 npm", "在这个仓库里不要用 npm", "这里的接口不要返回 null", "这个库用 pnpm，不要用 npm",
        "从现在起一律用中文", "不要动测试", "回答请简短",
    ],
)  # fmt: skip
def test_what_may_be_meant_for_good_is_not(text: str) -> None:
    assert not momentary(text)
