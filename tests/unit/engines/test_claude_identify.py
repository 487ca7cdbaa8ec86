"""What a model's claim is about: the grammar's names where it reads the words, the model's own as far as they were said."""

from __future__ import annotations

import pytest

from pipelines.engines.claude.config import ClaudeConfig
from pipelines.engines.claude.engine import ClaudeEngine
from pipelines.engines.local.engine import LocalEngine
from pipelines.gates import judge, outcome
from pipelines.model import Claim, Outcome
from pipelines.notes.identity import identity_of
from pipelines.ports import Window
from tests.unit.engines.claude_asking import Desk, item, items
from tests.unit.engines.talk import Talk


def claims(window: Window, *found: dict[str, object]) -> tuple[Claim, ...]:
    engine = ClaudeEngine(rules=LocalEngine(), config=ClaudeConfig())
    (read,) = engine.read([window], Desk(lambda _: items(*found)))
    return tuple(c for c in read.claims if c.made_by == engine.name)


def one(text: str, says: str, quote: str = "", **given: object) -> Claim:
    (claim,) = claims(Talk().user(text).window(), item(says, (1, quote or text), **given))
    return claim


def test_a_fact_nobody_has_a_rule_for_keeps_the_models_names() -> None:
    claim = one("payments gives up after three tries, by the way", "Payments gives up after three tries.", about="payments", what="retries", value="three")
    assert (claim.subject, claim.attribute, claim.value, claim.doubts) == ("payments", "retries", "three", ())


def test_what_the_rules_know_a_person_to_have_one_of_has_one_value_in_the_models_words_too() -> None:
    claim = one(
        "my Air Bergen card went silver today",
        "The user flies Air Bergen.",
        about="user",
        what="airline",
        value="Air Bergen",
        kind="preference",
        sure="implied",
    )
    assert (claim.subject, claim.attribute, claim.cardinality) == ("user", "airline", "single")


def test_a_subject_nobody_named_leaves_a_doubt() -> None:
    claim = one("it gives up after three tries, by the way", "It gives up after three tries.", about="billing gateway", what="retries", value="three")
    assert claim.doubts == ("subject_not_in_words",)


@pytest.mark.parametrize("about", ["user", "the user", "User", "me", "用户"])
def test_the_person_has_one_name(about: str) -> None:
    claim = one(
        "as for me, thirty minutes of running is what gets me going", "The user runs thirty minutes.", about=about, what="running", value="thirty minutes"
    )
    assert claim.subject == "user"


def test_a_speaker_with_a_name_is_called_by_it() -> None:
    window = Talk().user("as for me, thirty minutes of running is what gets me going", speaker="Ana").user("same here", speaker="Lee").window()
    (claim,) = claims(
        window, item("Ana runs thirty minutes.", (1, "thirty minutes of running is what gets me going"), about="user", what="running", value="thirty minutes")
    )
    assert claim.subject == "Ana"


def test_somebody_elses_fact_is_never_the_users() -> None:
    window = Talk().user("funny, my colleague lives in Lisbon and works from the beach").window()
    (claim,) = claims(window, item("The user lives in Lisbon.", (1, "my colleague lives in Lisbon"), about="user", what="home", value="Lisbon"))
    assert outcome(judge(claim, {t.uid: t for t in window.turns})) is Outcome.REJECT


def test_a_scope_the_words_name_is_taken_from_the_subject_into_the_qualifier() -> None:
    claim = one(
        "well the thing with the staging gateway is that it gives up after 3 tries",
        "The staging gateway gives up after 3 tries.",
        about="staging gateway",
        what="retries",
        value="3",
    )
    assert (claim.subject, claim.qualifier) == ("gateway", "staging")


def test_a_scope_the_words_do_not_name_is_dropped() -> None:
    claim = one(
        "payments gives up after three tries, by the way",
        "Payments gives up after three tries.",
        about="payments",
        what="retries",
        value="three",
        where="production",
    )
    assert claim.qualifier == ""


def test_an_old_value_a_reason_and_a_version_are_kept_only_where_they_were_said() -> None:
    text = "payments gives up after three tries since app 1.3, it was five, the bank complained"
    said = one(
        text, "Payments gives up after three tries.", about="payments", what="retries", value="three", was="five", why="the bank complained", version="app 1.3"
    )
    assert (said.old_value, said.reason, said.applies_to) == ("five", "the bank complained", "app 1.3")
    made = one(
        text, "Payments gives up after three tries.", about="payments", what="retries", value="three", was="nine", why="because of Lee", version="app 9.9"
    )
    assert (made.old_value, made.reason, made.applies_to) == (None, None, None)


def test_a_rule_is_standing_only_by_the_persons_own_mark() -> None:
    assert one("so, going forward we do squash merges on main, I mean always", "Squash merges on main, always.", kind="rule").standing_mark
    assert not one("squash merges for main, that would suit us fine I guess", "Squash merges for main.", kind="rule").standing_mark


def test_two_sessions_with_one_rule_have_one_note() -> None:
    first = one(
        "hmm, whatever you do in main: squash merges, always", "Squash merges in main, always.", "in main: squash merges, always", kind="rule", what="merging"
    )
    (second,) = claims(
        Talk("s2").user("and again, you forgot: in main squash merges, always").window(),
        item("Squash merges in main, always.", (1, "in main squash merges, always"), kind="rule", what="git", about="main"),
    )
    assert identity_of("s", first) == identity_of("s", second)


def test_a_quote_longer_than_a_page_shows_is_a_run_on() -> None:
    text = "so the gateway, which Lee wrote in a hurry, " + "and that was long ago, " * 8 + "gives up after three tries"
    assert "run_on" in one(text, "The gateway gives up after three tries.", about="gateway", what="retries", value="three").doubts


def test_chinese_is_named_by_its_grammar() -> None:
    window = Talk().user("他们终于确认，支付服务的端口是7443，之前一直没人知道").window()
    assert LocalEngine().extract(window).claims == ()
    (claim,) = claims(window, item("支付服务的端口是7443。", (1, "支付服务的端口是7443"), about="服务", what="监听端口", value="7443"))
    (rule,) = LocalEngine().extract(Talk("s2").user("支付服务的端口是7443。").window()).claims
    assert identity_of("s", claim) == identity_of("s", rule)


# --- what a model says beside its sentence is not believed -----------------------------------------------------------------------------------

TEXT = "for what it is worth, payments gives up after three tries on staging, not five"
SAYS = "Payments gives up after three tries on staging, not five."
HONEST = {"about": "payments", "what": "tries", "value": "three", "was": "five", "where": "staging"}


def test_an_honest_item_keeps_its_fields() -> None:
    claim = one(TEXT, SAYS, **HONEST)
    assert (claim.subject, claim.attribute, claim.value, claim.old_value, claim.qualifier, claim.negated) == (
        "payments",
        "tries",
        "three",
        "five",
        "staging",
        False,
    )
    assert claim.doubts == ()


@pytest.mark.parametrize("value", ["five", "seven"])
def test_a_value_the_sentence_denies_or_lacks_is_no_value(value: str) -> None:
    assert one(TEXT, SAYS, **{**HONEST, "value": value, "was": ""}).value is None


def test_a_denial_is_what_the_sentence_denies_whatever_the_flag_says() -> None:
    text = "as to tables, we never move the round ones on weekends"
    assert one(text, "Never move the round tables on weekends.", kind="rule", negated=False).negated
    assert not one("as to tables, always move the round ones on weekends", "Always move the round tables on weekends.", kind="rule", negated=True).negated
    used = one(
        "for the record: payments, as ever, does without Kafka, it does not use Kafka",
        "Payments does not use Kafka.",
        about="payments",
        what="queue",
        value="Kafka",
    )
    assert used.negated or used.value is None


def test_a_scope_put_in_place_of_another_leaves_a_doubt() -> None:
    claim = one(TEXT, "Payments gives up after three tries on production, not five.", **{**HONEST, "where": "production"})
    assert "scope_not_in_words" in claim.doubts


def test_a_scope_left_out_is_put_back() -> None:
    assert one(TEXT, "Payments gives up after three tries, not five.", **{**HONEST, "where": ""}).qualifier == "staging"


@pytest.mark.parametrize(
    ("text", "says", "about"),
    [
        ("so the billing database listens on port 5433, they say", "The payments database listens on port 5433.", "payments database"),
        ("well, gateways give up after three tries, by the way", "Workers give up after three tries.", "workers"),
        ("他们终于确认，支付服务的端口是7443，之前一直没人知道", "订单服务的端口是7443。", "订单服务"),
    ],
)
def test_a_subject_put_in_place_of_another_leaves_a_doubt_or_fails_a_gate(text: str, says: str, about: str) -> None:
    window = Talk().user(text).window()
    value = "three" if "three" in says else "5433" if "5433" in says else "7443"
    (claim,) = claims(window, item(says, (1, text), about=about, what="port", value=value))
    assert outcome(judge(claim, {t.uid: t for t in window.turns})) is not Outcome.PASS
