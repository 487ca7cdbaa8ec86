from __future__ import annotations

import pytest

from pipelines.engines.local.speech import QUOTE_MAX, body_of, clauses, dangling, shortened, statement_of, utterances
from pipelines.model import Origin
from pipelines.text.reasons import reason_in
from tests.unit.engines.talk import Talk


def heard(text: str, **given: object) -> list[str]:
    return [u.text for u in utterances(Talk().user(text, **given).turns[0])]


def test_sentences_a_person_typed_are_heard_one_by_one() -> None:
    assert heard("We use pnpm here. Never use npm!") == ["We use pnpm here.", "Never use npm!"]


@pytest.mark.parametrize("origin", [o for o in Origin if o is not Origin.USER])
def test_nobody_but_the_person_is_heard(origin: Origin) -> None:
    assert utterances(Talk().other(origin, "Always use pnpm, never npm.").turns[0]) == ()


def test_pasted_things_are_not_the_persons_words() -> None:
    text = (
        "The build breaks here\n```\nalways use npm please\n```\n> never use pnpm at all\n"
        "2026-03-02 10:00:01 ERROR the port is 5432\n  at Object.run (/srv/app/index.js:10:5)\nexport const port = 5432;\n<log>always restart it</log>"
    )
    assert heard(text) == ["The build breaks here"]


def test_a_span_the_reader_marked_as_quoted_is_not_heard() -> None:
    text = "Look at this. The port is 5432. Thanks for that."
    start = text.index("The port")
    assert heard(text, quoted=((start, start + 17),)) == ["Look at this.", "Thanks for that."]


def test_context_an_editor_put_in_front_is_not_heard() -> None:
    text = "# Context from my IDE setup:\n\n## Open tabs:\n- db.ts: src/db.ts\n\n## My request for Codex:\nWe will keep our database on supabase."
    assert heard(text) == ["We will keep our database on supabase."]


def test_a_long_document_is_not_heard() -> None:
    rows = "\n".join(f"- Rule {n}: always do thing number {n} with great care and love" for n in range(40))
    assert heard(rows) == []


def test_lines_an_editor_wrapped_are_one_sentence() -> None:
    text = "I want to migrate this app from\n  supabase to prisma. This will take\n  a while."
    assert heard(text) == ["I want to migrate this app from supabase to prisma.", "This will take a while."]


def test_two_short_lines_stay_two_sentences() -> None:
    assert heard("fix the tests\nalso bump the version") == ["fix the tests", "also bump the version"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no, the port is 5433", "The port is 5433"),
        ("ok so please use tabs", "Use tabs"),
        ("prefer pnpm over npm tbh", "Prefer pnpm over npm"),
        ("No cashews for me", "No cashews for me"),
        ("no the port is 5433", "The port is 5433"),
        ("No more than 3 retries", "No more than 3 retries"),
        ("pnpm-lock.yaml stays", "pnpm-lock.yaml stays"),
        ("不对，端口是5433", "端口是5433"),
        ("works with Node v24...", "Works with Node v24"),
        ("Note: the API is public", "The API is public"),
        ("note in memory what you did", "Note in memory what you did"),
    ],
)
def test_a_statement_loses_only_what_links_it_to_the_talk(text: str, expected: str) -> None:
    assert statement_of(text) == expected


def test_the_body_keeps_its_case() -> None:
    assert body_of("and pnpm is what we use") == "pnpm is what we use"


@pytest.mark.parametrize(
    "text",
    ["don't do that", "it must be there", "we don't want this", "This should be faster", "never call those again", "他住在上海", "这样写不对", "put it above"],
)
def test_a_sentence_that_points_outside_itself_dangles(text: str) -> None:
    assert dangling(text)


@pytest.mark.parametrize(
    "text",
    [
        "Always run migrations with `make migrate`", "this project uses pnpm", "make sure that the tests pass", "There is a staging server", "The tool that builds docs is sphinx",
        "Restart the worker before you deploy it", "这个项目用 pnpm", "We deploy this week",
    ],
)  # fmt: skip
def test_a_sentence_that_names_what_it_means_does_not(text: str) -> None:
    assert not dangling(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I moved to Porto because rent got too expensive.", "rent got too expensive"),
        ("Since the auditors ask for it, we keep 90 days", "the auditors ask for it"),
        ("我换成了 pnpm，因为装包更快。", "装包更快"),
        ("We are late due to the strike", "the strike"),
        ("I have lived here since 2019", None),
        ("We deploy on Thursdays", None),
    ],
)
def test_a_reason_is_the_persons_own_words(text: str, expected: str | None) -> None:
    assert reason_in(text) == expected


def test_a_run_on_is_cut_at_its_own_punctuation_or_not_at_all() -> None:
    long = "we talked about many things yesterday with the whole team and everybody had something to say about the way we work and about the people in it"
    (said,) = utterances(Talk().user(f"{long}; the API listens on port 8080").turns[0])
    cut = shortened(said, ["8080"])
    assert cut is not None
    assert cut.text == "the API listens on port 8080"
    (said,) = utterances(Talk().user(f"{long} and the API listens on port 8080 as everybody knows").turns[0])
    assert said.end - said.start > QUOTE_MAX
    assert shortened(said, ["8080"]) is None


def test_clauses_lie_inside_their_sentence() -> None:
    (said,) = utterances(Talk().user("keep the log; rotate it weekly, and compress old files").turns[0])
    assert [c.text for c in clauses(said)] == ["keep the log", "rotate it weekly", "and compress old files"]


@pytest.mark.parametrize(
    ("said", "stated"),
    [
        ("你好，我叫林小满，很高兴认识你。", "我叫林小满"),
        ("大家好！我的工位在三楼。", "我的工位在三楼。"),
        ("Hello, my desk is on floor 3, nice to meet you!", "My desk is on floor 3"),
        ("你好世界是示例程序的名字。", "你好世界是示例程序的名字。"),
        ("We were nice to meet you at noon.", "We were nice to meet you at noon."),
    ],
)
def test_a_greeting_around_what_is_told_is_no_part_of_it(said: str, stated: str) -> None:
    assert statement_of(said) == stated
