"""The Claude engine reads sessions: what it asks, what it makes of the answers, and what it does when there are none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from pipelines.engines.claude.config import ClaudeConfig
from pipelines.engines.claude.engine import PROMPTS, ClaudeEngine
from pipelines.engines.local.engine import LocalEngine
from pipelines.gates import judge, outcome
from pipelines.model import Claim, Kind, Origin, Outcome
from pipelines.notes.identity import identity_of
from pipelines.ports import Answered, Ask, Extracted, Meanwhile, Reply, Window
from tests.unit.engines.claude_asking import Desk, asked, item, items, numbers, prompted, reply
from tests.unit.engines.talk import Talk

EMPTY = items()


def engine(**given: object) -> ClaudeEngine:
    return ClaudeEngine(rules=LocalEngine(), config=ClaudeConfig(**given))  # type: ignore[arg-type]


def read(window: Window, answer: str) -> Extracted:
    (found,) = engine().read([window], Desk(lambda _: answer))
    return found


def models(window: Window, answer: str) -> tuple[Claim, ...]:
    """The claims that the model made."""
    return tuple(c for c in read(window, answer).claims if c.made_by.startswith("claude/"))


def judged(claim: Claim, window: Window) -> Outcome:
    return outcome(judge(claim, {t.uid: t for t in window.turns}))


def test_a_claim_of_the_model_is_made_from_its_quote_with_exact_offsets() -> None:
    said = "ok so, we all agreed that Mondays are for maintenance, nothing else"
    window = Talk().user(said).window()
    (claim,) = models(window, items(item("Mondays are for maintenance, nothing else.", (1, "Mondays are for maintenance, nothing else"), kind="decision")))
    (quote,) = claim.quotes
    assert (quote.text, said[quote.start : quote.end]) == ("Mondays are for maintenance, nothing else",) * 2
    assert claim.kind is Kind.DECISION
    assert judged(claim, window) is Outcome.PASS


def test_what_is_read_while_answers_come_is_what_is_read_when_all_are_there() -> None:
    windows = [
        Talk("s1").user("The staging database listens on port 5433.").window(),
        Talk("s2").user("ok so, we all agreed that Mondays are for maintenance, nothing else").window(),
        Talk("s3").user("Lee owns the billing service, they told me so").window(),
    ]

    def answer(ask: Ask) -> str | None:
        if "Lee" in asked(ask):
            return None  # the budget is used up
        if "Mondays" in asked(ask) and ask.attempt == 1:
            return "no JSON"
        return items(item("Mondays are for maintenance.", (1, "Mondays are for maintenance"), kind="decision")) if "Mondays" in asked(ask) else EMPTY

    fast, slow = Desk(answer), Desk(answer, slow=True)
    found = engine().read(windows, slow)
    assert found == engine().read(windows, fast)
    assert [bool(one.claims) for one in found] == [True, True, False]
    assert [ask.digest for ask in slow.asks] == [ask.digest for ask in fast.asks]


def test_the_rules_read_while_the_model_is_asked() -> None:
    window = Talk().user("The staging database listens on port 5433.").window()

    class Seen(LocalEngine):
        def extract(self, window: Window) -> Extracted:
            read.append(window)
            return LocalEngine().extract(window)

    class Waits(Desk):
        def ask(self, asks: Sequence[Ask], meanwhile: Meanwhile | None = None) -> Sequence[Answered]:
            found = super().ask(asks, meanwhile)
            assert read == [window]
            return found

    read: list[Window] = []
    (found,) = replace(engine(), rules=Seen()).read([window], Waits(lambda _: EMPTY, slow=True))
    assert found.claims == LocalEngine().extract(window).claims
    assert read == [window]


def test_what_a_rule_read_in_the_sentence_is_not_said_twice() -> None:
    window = Talk().user("The staging database listens on port 5433.").window()
    answer = items(
        item(
            "The staging database listens on port 5433.", (1, "The staging database listens on port 5433"), about="staging database", what="port", value="5433"
        )
    )
    rules = LocalEngine().extract(window).claims
    assert read(window, answer).claims == rules != ()


def test_a_claim_meets_that_of_the_rules_in_another_session_where_the_grammar_reads_its_sentence() -> None:
    plain = Talk("s1").user("The billing service listens on port 8080.").window()
    (rule,) = LocalEngine().extract(plain).claims
    loose = Talk("s2").user("After the move the billing service now really does listen on port 9090, they told me so").window()
    answer = items(
        item(
            "The billing service listens on port 9090.", (1, "the billing service now really does listen on port 9090"),
            about="the payments thing", what="tcp port", value="9090",
        )
    )  # fmt: skip
    assert LocalEngine().extract(loose).claims == ()
    (claim,) = models(loose, answer)
    assert identity_of("s", claim) == identity_of("s", rule)


def test_a_quote_that_stands_nowhere_is_left_for_the_quote_gate_to_reject() -> None:
    window = Talk().user("I think we should talk about Lee some day").window()
    (claim,) = models(window, items(item("Lee owns the billing service.", (1, "Lee owns the billing service"))))
    assert next((r.gate, r.outcome) for r in judge(claim, {t.uid: t for t in window.turns})) == ("quote", Outcome.REJECT)


def test_a_number_no_turn_has_is_a_rejected_claim_and_no_error() -> None:
    window = Talk().user("Lee owns the billing service").window()
    (claim,) = models(window, items(item("Lee owns the billing service.", (7, "Lee owns the billing service"))))
    assert judged(claim, window) is Outcome.REJECT


def test_a_quote_is_looked_for_in_the_turn_it_names_alone() -> None:
    window = Talk().user("who owns billing? look it up").other(Origin.EXTERNAL, "Lee owns the billing service").window()
    (claim,) = models(window, items(item("Lee owns the billing service.", (1, "Lee owns the billing service"))))
    assert judged(claim, window) is Outcome.REJECT


def test_what_was_concluded_is_never_more_than_a_draft() -> None:
    window = Talk().user("Mondays are for maintenance, nothing else").window()
    answer = items(item("Mondays are for maintenance.", (1, "Mondays are for maintenance"), kind="decision", sure="implied"))
    (claim,) = models(window, answer)
    assert claim.doubts == ("inferred",)
    assert judged(claim, window) is Outcome.DRAFT


def test_a_model_verifies_nothing() -> None:
    window = Talk().user("check it").run("make deploy", "deployed").window()
    answer = items(item("make deploy works.", (2, "make deploy"), verified_by="exit_status"))
    assert [c.verified_by for c in models(window, answer)] == [None]


def test_an_item_with_a_wrong_leaf_is_dropped_and_counted_and_the_others_stay() -> None:
    window = Talk().user("Mondays are for maintenance, nothing else").window()
    good = item("Mondays are for maintenance.", (1, "Mondays are for maintenance"), kind="decision")
    found = read(window, items(good, {**good, "negated": "no"}, {**good, "kind": "order"}, {**good, "quotes": []}))
    assert [c.statement for c in found.claims if c.made_by.startswith("claude/")] == ["Mondays are for maintenance."]
    assert found.dropped == 3


def test_one_window_is_one_call_and_all_sessions_are_asked_at_once() -> None:
    desk = Desk(lambda _: EMPTY)
    windows = [Talk(f"s{n}").user(f"remark number {n}").window() for n in range(5)]
    assert len(engine().read(windows, desk)) == 5
    assert [len(one) for one in desk.rounds] == [5]


def test_an_empty_answer_is_an_answer() -> None:
    window = Talk().user("hello there, how are you").window()
    assert read(window, EMPTY) == LocalEngine().extract(window)


def test_a_session_in_which_nobody_typed_is_not_asked_about() -> None:
    desk = Desk(lambda _: EMPTY)
    engine().read([Talk().other(Origin.HARNESS, "do it").assistant("done").run("ls", "a").window()], desk)
    assert desk.asks == []


def test_an_answer_cut_off_is_asked_for_in_halves() -> None:
    window = Talk().user("one thing").user("another thing").user("a third thing").user("a fourth thing").window()
    desk = Desk(lambda ask: reply("{", stop="max_tokens") if len(numbers(ask)) > 2 else EMPTY)
    (found,) = engine().read([window], desk)
    assert [[list(numbers(ask).values()) for ask in one] for one in desk.rounds] == [
        [["one thing", "another thing", "a third thing", "a fourth thing"]], [["one thing", "another thing"], ["a third thing", "a fourth thing"]],
    ]  # fmt: skip
    assert found.left == ()


@pytest.mark.parametrize(("given", "why"), [(reply("", stop="refusal"), "refused"), (reply("I cannot do that."), "unusable")])
def test_the_turn_that_spoils_an_answer_is_found_and_left_and_the_others_are_read(given: Reply, why: str) -> None:
    talk = Talk()
    for n in range(7):
        talk.user(f"Table {n} is for guests, always" if n != 4 else "POISON")
    window = talk.window()

    def answer(ask: Ask) -> str | Reply:
        shown = numbers(ask)
        if "POISON" in shown.values():
            return given
        return items(*(item(text + ".", (n, text), kind="decision") for n, text in shown.items()))

    desk = Desk(answer)
    (found,) = engine().read([window], desk)
    assert [(one.why, one.turns) for one in found.left] == [(why, (window.turns[4].uid,))]
    assert {q.turn for c in found.claims for q in c.quotes} == {t.uid for t in window.turns} - {window.turns[4].uid}
    assert [ask.attempt for ask in desk.asks[:2]] == [1, 2]
    assert desk.asks[0].digest == desk.asks[1].digest


def test_a_session_money_ran_out_for_is_unread_and_the_others_are_read() -> None:
    windows = [Talk(f"s{n}").user(f"Table {n} is for guests").window() for n in range(3)]
    found = engine().read(windows, Desk(lambda ask: None if "Table 1" in asked(ask) else EMPTY))
    assert [one.unread for one in found] == ["", "budget", ""]
    assert found[1].claims == ()


def test_equal_windows_give_equal_requests() -> None:
    def ask() -> Ask:
        desk = Desk(lambda _: EMPTY)
        engine().read([Talk().user("Mondays are for maintenance").window()], desk)
        return desk.asks[0]

    assert ask() == ask()
    assert ask().digest == ask().digest


def test_requests_of_a_stage_begin_with_the_same_bytes_and_hold_no_tool() -> None:
    desk = Desk(lambda _: EMPTY)
    engine(instructions="Keep names of birds.").read([Talk(f"s{n}").user(f"remark {n}").window() for n in range(2)], desk)
    one, two = desk.asks
    assert one.body["system"] == two.body["system"]
    assert {key for ask in desk.asks for key in ask.body} == {"model", "max_tokens", "system", "messages", "output_config"}
    assert prompted(one).endswith("Keep names of birds.")
    system = one.body["system"]
    assert isinstance(system, list)
    assert all(block["cache_control"] == {"type": "ephemeral"} for block in system)


def test_a_small_model_gets_a_form_and_no_settings_it_may_not_know() -> None:
    desk = Desk(lambda _: EMPTY)
    engine(tier="small", paid=False).read([Talk().user("remark").window()], desk)
    (ask,) = desk.asks
    assert set(ask.body) == {"model", "max_tokens", "system", "messages"}
    assert prompted(ask).startswith("Fill in a form")
    assert ask.bound_uusd == 0


def test_a_request_names_every_turn_whose_words_it_holds() -> None:
    talk = Talk()
    for n in range(60):
        talk.user(f"remark {n} " + "x" * 200)
    window = talk.window()
    desk = Desk(lambda _: EMPTY)
    engine(window_bytes=4_000).read([window], desk)
    assert len(desk.asks) > 2
    for ask in desk.asks:
        assert set(ask.turns) == {t.uid for t in window.turns if t.text[:12].rstrip("x") in asked(ask)}


def test_the_name_changes_with_what_is_asked() -> None:
    plain = engine().name
    assert plain.startswith("claude/2+")
    assert plain == engine(calls_at_once=3, batch=True).name
    assert len({plain, engine(instructions="x").name, engine(tier="small").name, engine(window_bytes=5_000).name}) == 4


def test_the_name_changes_with_a_word_of_any_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {engine().name}
    for n, prompt in enumerate(PROMPTS):
        changed = (*PROMPTS[:n], replace(prompt, capable=prompt.capable + " "), *PROMPTS[n + 1 :])
        monkeypatch.setattr("pipelines.engines.claude.engine.PROMPTS", changed)
        names.add(engine().name)
    assert len(names) == 1 + len(PROMPTS) == 6


def test_an_explicit_json_reply_in_a_fence_is_read() -> None:
    window = Talk().user("Mondays are for maintenance, nothing else").window()
    good = items(item("Mondays are for maintenance.", (1, "Mondays are for maintenance"), kind="decision"))
    assert [c.statement for c in models(window, f"Here you are:\n```json\n{good}\n```")] == ["Mondays are for maintenance."]


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"items": {}}', '{"items": [], "questions": 3}', "{" * 100_000, json.dumps({"items": []})])
def test_a_reply_of_another_shape_is_unusable_and_no_error(text: str) -> None:
    window = Talk().user("Mondays are for maintenance, nothing else").window()
    assert [one.why for one in read(window, text).left] == ["unusable"]
