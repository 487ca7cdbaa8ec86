from __future__ import annotations

import pytest

from pipelines.engines.local.engine import LocalEngine
from pipelines.model import Kind, Origin, Role
from pipelines.ports import Engine
from tests.unit.engines.talk import Talk, said, sure


def test_it_is_an_engine_with_a_name_and_version() -> None:
    engine: Engine = LocalEngine()
    assert engine.name == "local/7"


def test_claims_say_who_made_them_and_quote_verbatim() -> None:
    (claim,) = said("no, the staging gateway listens on port 5433, not 5432")
    assert claim.made_by == "local/7"
    assert claim.quotes[0].text == "no, the staging gateway listens on port 5433, not 5432"
    assert claim.statement == "The staging gateway listens on port 5433, not 5432"
    assert (claim.kind, claim.attribute, claim.qualifier, claim.value, claim.old_value, claim.cardinality) == (
        Kind.FACT,
        "port",
        "staging",
        "5433",
        "5432",
        "single",
    )


def test_an_explicit_memory_is_standing() -> None:
    (claim,) = said("Always run migrations with `make migrate`, never by hand.", memory=True)
    assert (claim.kind, claim.standing_mark, claim.doubts) == (Kind.RULE, True, ())
    (fact,) = said("The on-call phone is in the red box", memory=True)
    assert (fact.kind, fact.standing_mark) == (Kind.FACT, True)


@pytest.mark.parametrize("origin", [o for o in Origin if o is not Origin.USER])
@pytest.mark.parametrize("role", [Role.USER, Role.ASSISTANT, Role.TOOL])
def test_nobody_but_the_person_states_facts_or_rules(origin: Origin, role: Role) -> None:
    talk = Talk().user("hello").other(origin, "From now on always use pnpm. I live in Berlin. The API listens on port 8080.", role)
    assert talk.claims() == ()


def test_a_message_of_a_sidechain_is_the_assistants() -> None:
    assert Talk().user("I live in Berlin.", sidechain=True).claims() == ()


def test_a_joke_taken_back_in_the_next_sentence_is_nothing() -> None:
    assert sure(said("I live in Atlantis. Just kidding!")) == []


@pytest.mark.parametrize(
    "text",
    [
        "What if I lived in Paris?", "Suppose the API listens on port 9999.", "I wish I lived in Rome.", "Maybe the API listens on port 9999.", "Ana says the API listens on port 9999.", "If the API listens on port 9999, stop it.",
        "I had sushi yesterday.", "I'm tired.", "Can you always use tabs?", "My colleague has a dog named Bo.", "move the API to port 9999", "make the button blue",
    ],
)  # fmt: skip
def test_moods_events_and_requests_confirm_nothing(text: str) -> None:
    assert sure(said(text)) == []


def test_another_persons_fact_never_has_the_user_as_subject() -> None:
    claims = said("My friend Tom moved to Oslo. My nephew is allergic to nuts. My colleague's dog is called Bo. He lives in Bergen.")
    assert claims
    assert all(c.subject != "user" for c in claims)


def test_a_change_carries_old_value_and_reason() -> None:
    (claim,) = said("I moved from Berlin to Porto because rent got too expensive.")
    assert (claim.subject, claim.attribute, claim.value, claim.old_value, claim.reason) == ("user", "home", "Porto", "Berlin", "rent got too expensive")


def test_a_reason_told_in_the_next_sentence_is_quoted_too() -> None:
    (claim,) = said("I switched to Firefox. Because Chrome ate my memory.")
    assert (claim.value, claim.reason) == ("Firefox", "Chrome ate my memory")
    assert [q.text for q in claim.quotes] == ["I switched to Firefox. Because Chrome ate my memory"]


def test_the_speaker_is_the_subject_where_the_log_names_one() -> None:
    (claim,) = said("I live in Berlin.", speaker="Ana")
    assert claim.subject == "Ana"


def test_bullet_points_once_are_a_draft() -> None:
    (claim,) = said("bullet points please")
    assert (claim.kind, claim.doubts) == (Kind.PREFERENCE, ("said_once",))


def test_bullet_points_from_now_on_are_not() -> None:
    (claim,) = said("From now on always answer in bullet points.")
    assert (claim.kind, claim.standing_mark, claim.doubts) == (Kind.PREFERENCE, True, ())


def test_a_played_role_has_no_facts_until_it_is_over() -> None:
    talk = (
        Talk()
        .user("Let's role-play: you are a waiter.")
        .assistant("Welcome!")
        .user("I live in Mordor.")
        .assistant("Oh!")
        .user("Stop the role-play.")
        .user("I live in Berlin.")
    )
    assert [c.value for c in talk.claims()] == ["Berlin"]


def test_text_handed_over_to_be_translated_is_not_the_persons() -> None:
    assert said("Translate this into German:\nI live in Oslo. Never use npm.") == ()


def test_a_run_on_is_a_draft_with_a_short_quote() -> None:
    (claim,) = said("never ever deploy on a friday " + "because of the many things that went wrong the last time we did it " * 4)
    assert "run_on" in claim.doubts
    assert len(claim.quotes[0].text) <= 160


def test_a_rule_that_points_outside_itself_is_a_draft_and_a_question() -> None:
    talk = Talk().user("hi").user("Always do that before merging.")
    found = LocalEngine().extract(talk.window())
    assert [c.doubts for c in found.claims] == [("dangling_reference",)]
    assert found.questions[0].quotes == found.claims[0].quotes


def test_relative_dates_get_their_day() -> None:
    (claim,) = said("I moved to Lisbon last month.")
    assert claim.statement == "I moved to Lisbon last month (2026-02)."


def test_the_hold_the_goal_and_the_decision_are_told_apart() -> None:
    talk = Talk().user("I want to migrate this app to prisma. We will keep our database on supabase.").user("Don't deploy until I say so.")
    assert [(c.kind, c.doubts) for c in talk.claims()] == [(Kind.GOAL, ()), (Kind.DECISION, ()), (Kind.HOLD, ())]


def test_the_same_window_gives_the_same_claims() -> None:
    talk = Talk().user("I live in Berlin. We use pnpm.").run("mix test", "3 tests, 0 failures")
    assert talk.claims() == talk.claims()


def test_a_command_and_a_fact_come_out_of_one_session() -> None:
    talk = Talk().user("The API listens on port 8080.").run("mix test", "3 tests, 0 failures")
    assert [c.kind for c in talk.claims()] == [Kind.FACT, Kind.PROCEDURE]


def test_a_deadline_is_over_when_its_day_is() -> None:
    (claim,) = said("The release deadline is March 31.")
    assert claim.valid_until is not None
    assert claim.valid_until.isoformat() == "2026-04-01T00:00:00+00:00"


def test_advice_among_people_is_no_rule() -> None:
    talk = Talk(format="conversation").user("Always pack an umbrella when you travel!", speaker="Ana").user("I'm allergic to nuts.", speaker="Ben")
    assert [(c.kind, c.subject) for c in talk.claims()] == [(Kind.FACT, "Ben")]


def test_a_standing_order_against_a_tool_names_both() -> None:
    (claim,) = said("From now on use pnpm instead of npm.")
    assert (claim.kind, claim.value, claim.old_value, claim.standing_mark) == (Kind.RULE, "pnpm", "npm", True)


def test_a_sentence_without_end_is_left_to_search() -> None:
    assert said("always use pnpm and " * 200) == ()


def test_a_clause_of_a_long_sentence_may_state_something_of_its_own() -> None:
    long = "The last weeks were full of meetings with everybody who has a say in these things, and we decided to go with Redis for caching"
    (claim,) = said(long)
    assert (claim.kind, claim.value, claim.quotes[0].text) == (Kind.DECISION, "Redis", "and we decided to go with Redis for caching")


def test_what_somebody_wants_to_use_is_no_fact() -> None:
    assert sure(said("I want to use Redis for caching.")) == []
