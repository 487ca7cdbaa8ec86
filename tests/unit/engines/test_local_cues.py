from __future__ import annotations

import pytest

from pipelines.engines.local.cues import Cue, cue_of
from pipelines.engines.local.speech import body_of
from pipelines.model import Kind
from pipelines.text.mood import mood_of


def cue(text: str, *, memory: bool = False, corrects: bool = False, first: bool = False) -> Cue | None:
    return cue_of(body_of(text), mood_of(text), memory=memory, corrects=corrects, first=first)


@pytest.mark.parametrize(
    "text",
    [
        "Always run the linter before committing", "never push to main", "From now on use pnpm instead of npm", "In web/ always use pnpm, never npm.", "Don't ever touch the vendor folder",
        "When committing, always use conventional commits", "you must never commit secrets, from now on ask first", "以后提交信息一律用英文", "每次提交之前都要运行测试", "永远不要直接推送到 main", "以後請用繁體中文回覆",
    ],
)  # fmt: skip
def test_a_standing_order_is_a_rule(text: str) -> None:
    found = cue(text)
    assert found is not None
    assert (found.kind in {Kind.RULE, Kind.PREFERENCE}, found.standing, found.doubts) == (True, True, ())


@pytest.mark.parametrize(
    "text",
    [
        "以后提交信息都用中文写。",
        "以后测试都在 Docker 里跑。",
        "今后所有接口文档都写在 docs/api 里",
        "以后 PR 描述都要附上截图。",
        "从现在起日志都用英文",
        "以後提交訊息都用中文寫。",
        "以后提交信息不要用英文",
        "以后分支名都以工单号开头",
    ],
)
def test_a_standing_order_may_name_what_it_is_about_first(text: str) -> None:
    found = cue(text)
    assert found is not None
    assert (found.kind, found.standing, found.doubts) == (Kind.RULE, True, ())


@pytest.mark.parametrize(
    "text",
    ["以后用户都会看到这个。", "以后可能都要重写", "以后我都在家办公", "以后数据都能恢复吗？", "以后测试都是绿的", "三天以后测试都在跑了", "以后他都不用来了"],
)
def test_what_will_be_is_no_rule(text: str) -> None:
    found = cue(text)
    assert found is None or found.kind is not Kind.RULE


@pytest.mark.parametrize(
    "text", ["use pnpm, not npm, for this", "Run the linter before every commit", "Commit messages must follow the convention", "不要直接推送到 main"]
)
def test_an_order_given_once_is_a_draft(text: str) -> None:
    found = cue(text)
    assert found is not None
    assert (found.kind, found.doubts) == (Kind.RULE, ("said_once",))


@pytest.mark.parametrize(
    "text", ["The button should be blue", "apply_patch should have its own filter button", "The header must not overlap the logo", "I prefer option 2"]
)
def test_how_one_thing_should_turn_out_is_no_rule_or_taste(text: str) -> None:
    assert cue(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "The tests must pass before you commit", "Tests should not use the network", "Documentation must be in English", "The header must never overlap",
        "Our commit messages should be in English", "The branch names should start with the ticket", "Our migrations must be reversible", "The code must pass mypy",
    ],
)  # fmt: skip
def test_what_holds_for_all_of_its_kind_or_at_any_time_is_one(text: str) -> None:
    found = cue(text)
    assert found is not None
    assert found.kind is Kind.RULE


def test_an_explicit_memory_makes_any_order_standing() -> None:
    found = cue("Use tabs in Go files", memory=True)
    assert found is not None
    assert (found.kind, found.standing) == (Kind.RULE, True)


def test_an_answer_to_a_refused_call_is_a_draft_rule() -> None:
    assert cue("stage the files instead of running git init", corrects=True) == Cue(kind=Kind.RULE, doubts=("said_once",))
    assert cue("create the issues", corrects=True) is None


@pytest.mark.parametrize(
    "text", ["I prefer tabs over spaces", "I like short answers", "bullet points please", "Keep your answers short", "我喜欢深色模式", "回答尽量简短"]
)
def test_a_taste_told_once_is_a_draft(text: str) -> None:
    found = cue(text)
    assert found is not None
    assert (found.kind, found.standing, found.doubts) == (Kind.PREFERENCE, False, ("said_once",))


def test_a_taste_marked_as_standing_is_not() -> None:
    assert cue("From now on answer in bullet points") == Cue(kind=Kind.PREFERENCE, standing=True)


@pytest.mark.parametrize(
    "text", ["Don't deploy to production until I say so.", "hold off on the release until legal signs", "先别上线", "not until I approve it"]
)
def test_what_must_wait_for_a_word_is_a_hold(text: str) -> None:
    found = cue(text)
    assert found is not None
    assert found.kind is Kind.HOLD


@pytest.mark.parametrize(
    "text",
    [
        "We decided to go with Redis for caching",
        "let's go with Postgres",
        "We will keep our database on supabase",
        "we removed the web app in favor of static files",
        "我们决定采用 Vue",
        "Scrap Redis, we're going with Memcached",
    ],
)
def test_what_was_settled_is_a_decision(text: str) -> None:
    found = cue(text)
    assert found is not None
    assert found.kind is Kind.DECISION


def test_the_first_prompt_may_name_the_goal() -> None:
    found = cue("I want to migrate this app to prisma", first=True)
    assert found is not None
    assert found.kind is Kind.GOAL
    assert cue("I want to migrate this app to prisma") is None
    named = cue("Our goal is to ship v2 in March")
    assert named is not None
    assert named.kind is Kind.GOAL


@pytest.mark.parametrize(
    "text",
    [
        "it always crashes on startup", "I never said to rewrite that file", "Do you always use tabs?", "Suppose we always use tabs", "always use comic sans, just kidding", "You always help me", "I don't know what to do",
        "Novels always make me happy", "let's give the button a background", "fix the failing test", "make note of progress in memory", "continue", "ok", "I will keep your words in mind", "You can't taste food",
        "I love these ideas!", "I like the sound of the rooftop bar", "I'd prefer to fly out of Boston", "I loved the sushi", "和你聊天总是让我收获很多", "特别是站在山顶上的时候", "what should I buy",
    ],
)  # fmt: skip
def test_ordinary_talk_has_no_cue(text: str) -> None:
    assert cue(text) is None
