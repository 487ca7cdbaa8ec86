import pytest

from pipelines.gates import origin_gate, scope_gate, weakest_origin
from pipelines.model import Kind, Origin, Outcome

from .build import by_uid, claim, turn

PASS, DRAFT, REJECT = Outcome.PASS, Outcome.DRAFT, Outcome.REJECT


def origin(
    kind: Kind, *origins: Origin, text: str = "The port is 5433.", statement: str = "The port is 5433.", mark: bool = False, memory: bool = False
) -> tuple[Outcome, str]:
    turns = [turn(text, one, uid=f"t{n}", memory=memory) for n, one in enumerate(origins)]
    found = origin_gate(claim(statement, *turns, kind=kind, standing_mark=mark), by_uid(*turns))
    return found.outcome, found.why


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind not in {Kind.RULE, Kind.PREFERENCE}])
def test_the_user_may_say_anything(kind: Kind) -> None:
    assert origin(kind, Origin.USER) == (PASS, "")


@pytest.mark.parametrize(
    ("kind", "outcome"),
    [
        (Kind.FACT, PASS),
        (Kind.PROCEDURE, PASS),
        (Kind.INCIDENT, DRAFT),
        (Kind.INSIGHT, PASS),
        (Kind.RULE, REJECT),
        (Kind.PREFERENCE, REJECT),
        (Kind.GOAL, REJECT),
        (Kind.DECISION, REJECT),
    ],
)
def test_a_tool_gives_facts_and_procedures_and_pieces_of_insights(kind: Kind, outcome: Outcome) -> None:
    assert origin(kind, Origin.TOOL)[0] is outcome


def test_external_text_gives_facts_worded_as_reported() -> None:
    assert origin(Kind.FACT, Origin.EXTERNAL, statement="According to the ticket, the port is 5433.") == (PASS, "")
    assert origin(Kind.FACT, Origin.EXTERNAL, statement="工单称端口是5433") == (PASS, "")
    assert origin(Kind.FACT, Origin.EXTERNAL) == (DRAFT, "not_worded_as_reported")
    assert origin(Kind.RULE, Origin.EXTERNAL) == (REJECT, "not_users_words")
    assert origin(Kind.PROCEDURE, Origin.EXTERNAL) == (REJECT, "no_result_shown")


@pytest.mark.parametrize("kind", list(Kind))
def test_the_assistant_gives_a_draft_at_most(kind: Kind) -> None:
    assert origin(kind, Origin.ASSISTANT)[0] in {DRAFT, REJECT}


@pytest.mark.parametrize("one", [Origin.MODEL_SUMMARY, Origin.HARNESS, Origin.QUOTED, Origin.SELF, Origin.INSTRUCTIONS])
@pytest.mark.parametrize("kind", list(Kind))
def test_what_is_never_evidence_rejects_every_kind(one: Origin, kind: Kind) -> None:
    assert origin(kind, one) == (REJECT, f"origin_{one}")
    assert origin(kind, Origin.USER, one)[0] is REJECT


def test_a_rule_passes_when_marked_as_standing_and_is_a_draft_when_said_once() -> None:
    assert origin(Kind.RULE, Origin.USER, text="Always use tabs.", statement="Always use tabs.", mark=True) == (PASS, "")
    assert origin(Kind.RULE, Origin.USER, text="Use tabs.", statement="Use tabs.") == (DRAFT, "said_once")
    assert origin(Kind.RULE, Origin.USER, text="Don't commit yet.", statement="Don't commit yet.") == (REJECT, "asked_for_this_once")
    assert origin(Kind.RULE, Origin.USER, text="现在帮我提交。", statement="现在帮我提交。") == (REJECT, "asked_for_this_once")
    assert origin(Kind.PREFERENCE, Origin.USER, text="We prefer tabs now.", statement="We prefer tabs now.") == (DRAFT, "said_once")
    assert origin(Kind.PREFERENCE, Origin.USER, text="Now I drink tea.", statement="Now I drink tea.") == (DRAFT, "said_once")
    assert origin(Kind.PREFERENCE, Origin.USER, text="以后用中文回答。", statement="以后用中文回答。", mark=True) == (PASS, "")


def test_an_engine_cannot_mark_a_rule_that_the_words_do_not_mark() -> None:
    assert origin(Kind.RULE, Origin.USER, text="Use tabs.", statement="Use tabs.", mark=True) == (DRAFT, "said_once")


def test_words_that_mark_something_else_do_not_mark_what_the_engine_left_unmarked() -> None:
    assert origin(Kind.RULE, Origin.USER, text="Always a pleasure, use tabs.", statement="Use tabs.", mark=False) == (DRAFT, "said_once")


def test_an_explicit_memory_is_standing() -> None:
    assert origin(Kind.RULE, Origin.USER, text="Use tabs.", statement="Use tabs.", mark=True, memory=True) == (PASS, "")


def test_the_line_that_opens_a_list_marks_its_rules() -> None:
    said = turn("From now on:\n- use tabs\n- reply in German")
    assert origin_gate(claim("Reply in German.", said, words="reply in German", kind=Kind.RULE, standing_mark=True), by_uid(said)).outcome is PASS
    other = turn("Always:\n\nSome text in between.\n- use tabs")
    assert origin_gate(claim("Use tabs.", other, words="use tabs", kind=Kind.RULE, standing_mark=True), by_uid(other)).outcome is DRAFT


def test_a_rule_that_needs_anothers_words_to_be_understood_is_a_draft() -> None:
    assert origin(Kind.RULE, Origin.USER, Origin.ASSISTANT, text="Always use tabs.", statement="Always use tabs.", mark=True) == (
        DRAFT,
        "not_users_words_alone",
    )


def test_the_weakest_origin_counts() -> None:
    assert origin(Kind.FACT, Origin.USER, Origin.ASSISTANT) == (DRAFT, "assistant_only")
    turns = [turn("a b", one, uid=f"t{n}") for n, one in enumerate((Origin.USER, Origin.EXTERNAL))]
    assert weakest_origin(claim("x", *turns), by_uid(*turns)) is Origin.EXTERNAL
    assert weakest_origin(claim("x", *turns), {}) is Origin.SELF


def test_a_pasted_part_of_a_typed_message_is_no_evidence() -> None:
    said = turn("look: the port is 5433", quoted=((6, 22),))
    assert origin_gate(claim("The port is 5433.", said, words="the port is 5433"), by_uid(said)).why == "origin_quoted"
    assert origin_gate(claim("Look.", said, words="look"), by_uid(said)).outcome is PASS


def test_a_tool_call_weighs_what_its_result_weighs() -> None:
    call = turn("npm start", Origin.ASSISTANT, uid="call", call=True)
    shown = turn("Serving on 8080", Origin.TOOL, uid="result", exit=0)
    both = claim("npm start serves on 8080.", call, shown, kind=Kind.PROCEDURE)
    assert origin_gate(both, by_uid(call, shown)).outcome is PASS
    assert origin_gate(claim("npm start serves.", call, kind=Kind.PROCEDURE), by_uid(call)).outcome is REJECT


def test_nothing_is_written_across_scopes_not_even_upwards() -> None:
    assert scope_gate("acme/web/ana", "acme/web/ana").outcome is PASS
    assert scope_gate("acme/web", "acme/web/ana").why == "other_scope"
    assert scope_gate("acme/web/ben", "acme/web/ana").outcome is REJECT
    assert scope_gate("", "").outcome is REJECT
