"""What the Claude engine is asked beside windows: checks, relations, answers, insights; and where code has the last word."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

import pytest

from pipelines.engines.claude.asked import Evidence, Gap, Group, Pair, Supported
from pipelines.engines.claude.config import ClaudeConfig
from pipelines.engines.claude.engine import ClaudeEngine
from pipelines.engines.local.engine import LocalEngine
from pipelines.gates import judge, outcome
from pipelines.model import Claim, Kind, Origin, Outcome, Question, Quote, Relation, Turn
from pipelines.ports import Ask
from tests.unit.engines.claude_asking import Desk, asked, reply
from tests.unit.engines.talk import Talk

ENGINE = ClaudeEngine(rules=LocalEngine(), config=ClaudeConfig())


def typed(text: str, session: str = "s1") -> Turn:
    return Talk(session).user(text).turns[0]


def supported(says: str, words: str = "", *, session: str = "s1", **given: object) -> Supported:
    """A claim with the one turn it rests on, which says nothing else."""
    turn = typed(words or says, session)
    quote = Quote(turn=turn.uid, start=0, end=len(turn.text), text=turn.text)
    plain: dict[str, object] = {"kind": Kind.FACT, "subject": "project", "attribute": "", "statement": says, "quotes": (quote,)}
    return Supported(claim=Claim(**{**plain, **given}), contexts=(Evidence(quote=quote, turn=turn),))  # type: ignore[arg-type]


def verdicts(words: Mapping[int, str]) -> str:
    return json.dumps({"verdicts": [{"item": n, "word": word} for n, word in words.items()]})


def shown(ask: Ask) -> list[str]:
    return re.findall(r"^\[\d+\] (.*)$", asked(ask), re.MULTILINE)


# --- checks ------------------------------------------------------------------------------------------------------------------------------


def test_statements_are_checked_twenty_at_a_time_over_all_sessions() -> None:
    desk = Desk(lambda ask: verdicts({n: "yes" for n in range(1, len(shown(ask)) + 1)}))
    found = ENGINE.supports([supported(f"Table {n} is for guests.", session=f"s{n}") for n in range(45)], desk)
    assert found == ("yes",) * 45
    assert [len(shown(ask)) for ask in desk.asks] == [20, 20, 5]
    assert {ask.stage for ask in desk.asks} == {"check"}


def test_a_check_shows_statement_words_and_speaker_and_not_why_it_was_claimed() -> None:
    one = supported(
        "The user lives in Lisbon.", "so my sister moved. she lives in Lisbon now", subject="user", attribute="home", doubts=("inferred",), made_by="local/2"
    )
    desk = Desk(lambda _: verdicts({1: "no"}))
    assert ENGINE.supports([one], desk) == ("no",)
    text = asked(desk.asks[0])
    assert "The user lives in Lisbon. (about: user)" in text
    assert "user, Mon 2026-03-02: so my sister moved. she lives in Lisbon now" in text
    assert not any(word in text for word in ("inferred", "local/2", "fact", one.contexts[0].turn.uid))


def test_an_item_without_a_verdict_or_with_two_is_unsure() -> None:
    answer = json.dumps({"verdicts": [{"item": 1, "word": "yes"}, {"item": 1, "word": "no"}, {"item": 9, "word": "yes"}, {"item": 3, "word": "yes"}]})
    assert ENGINE.supports([supported(f"Table {n} is for guests.") for n in range(3)], Desk(lambda _: answer)) == ("unsure", "unsure", "yes")


def test_the_statement_that_spoils_a_check_is_found_and_the_others_are_checked() -> None:
    def answer(ask: Ask) -> str:
        return "no idea" if "POISON" in asked(ask) else verdicts({n: "yes" for n in range(1, len(shown(ask)) + 1)})

    items = [supported("POISON" if n == 5 else f"Table {n} is for guests.") for n in range(8)]
    assert ENGINE.supports(items, Desk(answer)) == tuple("unsure" if n == 5 else "yes" for n in range(8))


def test_what_no_money_was_left_for_is_told_apart() -> None:
    assert ENGINE.supports([supported("Table 1 is for guests.")], Desk(lambda _: None)) == ("unasked",)


# --- relations ---------------------------------------------------------------------------------------------------------------------------


def related(older: Supported, newer: Supported, word: str) -> Relation | None:
    desk = Desk(lambda _: json.dumps({"pairs": [{"pair": 1, "word": word}]}))
    (found,) = ENGINE.relate([Pair(older=older, newer=newer)], desk)
    return found.relation


def test_two_wordings_of_one_rule_are_the_same_when_the_model_says_so() -> None:
    older = supported("Commit messages follow the conventional commits convention.", kind=Kind.RULE)
    newer = supported("Conventional commits is how commit messages are written.", kind=Kind.RULE)
    assert related(older, newer, "same") is Relation.SAME


@pytest.mark.parametrize(
    ("one", "two", "given"),
    [
        ("Backups are kept for 30 days.", "Backups are kept for 90 days.", {}),
        ("Migrations run from laptops.", "Migrations never run from laptops.", {"negated": True}),
        ("The app runs on Node 22.1.0.", "The app runs on Node 24.1.0.", {}),
        ("Nora reviews the API changes.", "Lee reviews the API changes.", {}),
        ("The cache is flushed at night.", "The cache is flushed at night.", {"qualifier": "staging"}),
        ("The cache is flushed at night.", "The cache is flushed each night.", {"applies_to": "app 1.3"}),
        ("报告周五前交。", "报告周四前交。", {}),
        ("Run the migrations before the deploy.", "Run the migrations after the deploy.", {}),
        ("The gateway closes idle connections.", "The customer closes idle connections.", {}),
        ("部署前先跑迁移。", "部署后先跑迁移。", {}),
        ("失败的付款由网关在夜里重试。", "失败的付款由客户在夜里重试。", {}),
        ("Run the smoke tests before each deploy.", "Run the database migrations before each release.", {}),
        ("以后部署前一律先跑冒烟测试。", "以后数据库迁移一律在部署之前跑。", {}),
    ],
)
def test_a_merge_of_what_differs_is_refused_whatever_the_model_says(one: str, two: str, given: dict[str, object]) -> None:
    assert related(supported(one), supported(two, **given), "same") is Relation.OTHER


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Run the migrations before the deploy.", "Before the deploy, run the migration."),
        ("The gateway closes idle connections after a while.", "Idle connections are closed by the gateway."),
        ("部署前要先跑迁移。", "迁移要在部署前先跑。"),
    ],
)
def test_a_merge_of_what_is_only_worded_otherwise_is_the_models_to_say(one: str, two: str) -> None:
    assert related(supported(one), supported(two), "same") is Relation.SAME


@pytest.mark.parametrize(
    ("one", "two", "stands"),
    [
        ("Write the release notes in the short form.", "Write the release notes in the long form.", Relation.UPDATE),
        ("Run the smoke tests before each deploy.", "Run the database migrations before each release.", Relation.OTHER),
        ("以后部署前一律先跑冒烟测试。", "以后数据库迁移一律在部署之前跑。", Relation.OTHER),
    ],
)
def test_a_change_between_sentences_about_other_things_is_refused(one: str, two: str, stands: Relation) -> None:
    assert related(supported(one), supported(two), "update") is stands


def test_an_update_across_scopes_is_refused() -> None:
    older = supported("The cache holds 2 GB.", subject="cache", attribute="size", value="2 GB", qualifier="staging")
    newer = supported("The cache holds 8 GB.", subject="cache", attribute="size", value="8 GB", qualifier="production")
    assert related(older, newer, "update") is Relation.OTHER
    same_scope = supported("The cache holds 8 GB.", subject="cache", attribute="size", value="8 GB", qualifier="staging")
    assert related(older, same_scope, "update") is Relation.UPDATE


def test_a_pair_nobody_was_asked_about_has_no_relation() -> None:
    pair = Pair(older=supported("Tables are for guests."), newer=supported("Guests sit at tables."))
    assert [(r.relation, r.why) for r in ENGINE.relate([pair], Desk(lambda _: None))] == [(None, "budget")]
    assert [(r.relation, r.why) for r in ENGINE.relate([pair], Desk(lambda _: reply("", stop="refusal")))] == [(None, "refused")]


# --- answers -----------------------------------------------------------------------------------------------------------------------------


def gap(text: str, *candidates: Turn) -> Gap:
    turn = typed(text, "asking")
    quote = Quote(turn=turn.uid, start=0, end=len(text), text=text)
    return Gap(question=Question(text=f"What is meant: {text}", quotes=(quote,)), contexts=(Evidence(quote=quote, turn=turn),), candidates=candidates)


def answered(question: int, line: int, quote: str, says: str, **given: object) -> dict[str, object]:
    plain = {"kind": "fact", "about": "staging database", "what": "port", "where": "", "value": "", "was": "", "negated": False}
    return {"question": question, "line": line, "quote": quote, "says": says, **plain, **given}


def told(*found: Mapping[str, object]) -> str:
    return json.dumps({"answers": list(found)})


def test_an_answer_is_a_claim_quoted_from_a_line_of_its_candidates() -> None:
    line = typed("the staging database listens on port 5433", "other")
    desk = Desk(lambda _: told(answered(1, 1, "the staging database listens on port 5433", "The staging database listens on port 5433.", value="5433")))
    (found,) = ENGINE.answer([gap("use the usual port", line)], desk)
    assert found.claim is not None
    assert (found.claim.subject, found.claim.attribute, found.claim.value, found.claim.qualifier) == ("database", "port", "5433", "staging")
    assert [q.turn for q in found.claim.quotes] == [line.uid]
    assert outcome(judge(found.claim, {line.uid: line})) is Outcome.PASS
    assert set(desk.asks[0].turns) == {line.uid, typed("use the usual port", "asking").uid}


def test_none_is_an_answer() -> None:
    (found,) = ENGINE.answer([gap("use the usual port", typed("ports are cheap", "other"))], Desk(lambda _: told(answered(1, 0, "", ""))))
    assert (found.claim, found.why) == (None, "none")


def test_a_line_of_another_question_answers_nothing() -> None:
    one, two = typed("the staging database listens on port 5433", "a"), typed("Ana likes tea", "b")
    desk = Desk(lambda _: told(answered(2, 1, "the staging database listens on port 5433", "The staging database listens on port 5433.")))
    assert [f.claim for f in ENGINE.answer([gap("use the usual port", one), gap("what she likes", two)], desk)] == [None, None]


def test_a_line_that_speaks_of_something_else_answers_nothing() -> None:
    line = typed("the search index is rebuilt at night", "other")
    desk = Desk(
        lambda _: told(answered(1, 1, "the search index is rebuilt at night", "The search index is rebuilt at night.", about="search index", what="rebuild"))
    )
    (found,) = ENGINE.answer([gap("use the usual port", line)], desk)
    assert found.claim is None


@pytest.mark.parametrize(
    ("asks", "line", "about", "what"), [("who is on call", "Lee carries the pager this week", "Lee", "call"), ("值班的人是谁", "这周轮到小李", "小李", "值班")]
)  # fmt: skip
def test_a_line_answers_in_words_of_its_own_what_it_is_said_to_be_about(asks: str, line: str, about: str, what: str) -> None:
    desk = Desk(lambda _: told(answered(1, 1, line, line, about=about, what=what)))
    (found,) = ENGINE.answer([gap(asks, typed(line, "other"))], desk)
    assert found.claim is not None


def test_an_answer_invented_in_a_true_line_is_refused_by_the_gates() -> None:
    line = typed("the staging database listens on port 5433", "other")
    desk = Desk(lambda _: told(answered(1, 1, "the staging database listens on port 6000", "The staging database listens on port 6000.", value="6000")))
    (found,) = ENGINE.answer([gap("use the usual port", line)], desk)
    assert found.claim is not None
    assert outcome(judge(found.claim, {line.uid: line})) is Outcome.REJECT


# --- insights ----------------------------------------------------------------------------------------------------------------------------


def group(*sessions: str) -> Group:
    words = ("the nightly import stopped because the disk was full", "no backup was made, the disk was full", "old releases fill the disk", "Mira likes tea")
    return Group(pieces=tuple(supported(w, session=s) for w, s in zip(words, sessions, strict=False)), roots=sessions)


def concluded(*pieces: int) -> str:
    says = "The disk keeps being full, where old releases are kept."
    return json.dumps({"insights": [{"about": "disk", "what": "space", "says": says, "pieces": list(pieces)}]})


def test_an_insight_rests_on_three_pieces_of_two_sessions_and_is_marked_as_inferred() -> None:
    given = group("a", "b", "b", "c")
    (found,) = ENGINE.infer([given], Desk(lambda _: concluded(1, 2, 3)))
    (claim,) = found.claims
    assert (claim.kind, claim.doubts, claim.subject) == (Kind.INSIGHT, ("inferred",), "disk")
    assert [q for p in given.pieces[:3] for q in p.claim.quotes] == list(claim.quotes)


@pytest.mark.parametrize("pieces", [(1, 2), (1, 1, 1), (2, 3, 2), (1, 2, 9), (0, 1, 2), (-1, 1, 2)])
def test_an_insight_on_less_is_none(pieces: tuple[int, ...]) -> None:
    (found,) = ENGINE.infer([group("a", "b", "b", "b")], Desk(lambda _: concluded(*pieces)))
    assert found.claims == ()


def test_three_pieces_of_one_session_are_not_asked_about() -> None:
    desk = Desk(lambda _: concluded(1, 2, 3))
    assert ENGINE.infer([group("a", "a", "a")], desk)[0].claims == ()
    assert desk.asks == []


def test_no_request_shows_an_id() -> None:
    desk = Desk(lambda _: "{}")
    one = supported("Tables are for guests.", session="sessionuid")
    ENGINE.supports([one], desk)
    ENGINE.relate([Pair(older=one, newer=one)], desk)
    ENGINE.answer([gap("which table", one.contexts[0].turn)], desk)
    ENGINE.infer([group("sessionuid", "otheruid", "thirduid")], desk)
    ENGINE.read([Talk("sessionuid").user("Tables are for guests").other(Origin.EXTERNAL, "page").window()], desk)
    assert {ask.stage for ask in desk.asks} == {"check", "relate", "answer", "insight", "extract"}
    for ask in desk.asks:
        assert not re.search(r"sessionuid|otheruid|thirduid|" + one.contexts[0].turn.uid, json.dumps(dict(ask.body)))
