from __future__ import annotations

from dataclasses import replace

import pytest

from pipelines.model import Kind, Origin, Quote, Status, Witnessed
from pipelines.notes.promotion import promote, witnesses

from .heard import heard

TOOL, EXTERNAL, ASSISTANT = Origin.TOOL, Origin.EXTERNAL, Origin.ASSISTANT
CONFIRMED = (Status.CONFIRMED, "")


def draft(why: str) -> tuple[Status, str]:
    return Status.DRAFT, why


def twice(origin: Origin = Origin.USER, verified_by: str | None = None, speaker: str | None = None) -> list[Witnessed]:
    return [heard("30", session=s, origin=origin, verified_by=verified_by, speaker=speaker) for s in ("s1", "s2")]


@pytest.mark.parametrize("kind", [Kind.RULE, Kind.PREFERENCE])
def test_a_rule_needs_a_standing_mark_or_two_sessions_in_the_users_words(kind: Kind) -> None:
    assert promote(kind, [heard("30")]) == draft("said_once")
    assert promote(kind, [heard("30"), heard("30", ordinal=5)]) == draft("said_once")
    assert promote(kind, [heard("30", mark=True)]) == CONFIRMED
    assert promote(kind, twice()) == CONFIRMED
    assert promote(kind, twice(TOOL)) == draft("not_the_users_words")
    assert promote(kind, [heard("30"), heard("30", session="s2", origin=ASSISTANT)]) == draft("said_once")


def once(session: str = "s1", kind: Kind = Kind.RULE, **given: object) -> Witnessed:
    return heard("30", session=session, kind=kind, missed="said_once", doubts=("said_once",), **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [Kind.RULE, Kind.PREFERENCE])
def test_unmarked_words_of_a_person_count_by_sessions(kind: Kind) -> None:
    assert promote(kind, [once(kind=kind)]) == draft("said_once")
    assert promote(kind, [once(kind=kind), once("s2", kind=kind)]) == CONFIRMED
    assert promote(kind, [once(kind=kind), once("s2", kind=kind, roots=frozenset({"s1"}))]) == draft("said_once")
    assert promote(kind, [once(kind=kind), once("s2", kind=kind, origin=ASSISTANT)]) == draft("said_once")
    assert promote(kind, [once(kind=kind), heard("30", kind=kind, session="s2", mark=True)]) == CONFIRMED


def test_a_doubt_beside_having_been_said_once_stays_one() -> None:
    vague = heard("30", session="s2", kind=Kind.RULE, missed="said_once", doubts=("said_once", "dangling_reference"))
    assert promote(Kind.RULE, [once(), vague]) == draft("said_once")
    hedged = replace(once("s2"), missed="hedged")
    assert promote(Kind.RULE, [once(), hedged]) == draft("said_once")
    assert promote(Kind.FACT, [once(kind=Kind.FACT), once("s2", kind=Kind.FACT)]) == draft("said_once")


@pytest.mark.parametrize("kind", [Kind.GOAL, Kind.PLAN, Kind.HOLD, Kind.DECISION])
def test_a_goal_is_the_users_to_state(kind: Kind) -> None:
    assert promote(kind, [heard("30")]) == CONFIRMED
    assert promote(kind, twice(TOOL, "exit_status")) == draft("not_the_users_words")


@pytest.mark.parametrize("kind", [Kind.FACT, Kind.INCIDENT])
def test_a_fact_needs_a_word_a_check_two_sessions_or_two_sources(kind: Kind) -> None:
    assert promote(kind, [heard("30")]) == CONFIRMED
    assert promote(kind, [heard("30", origin=TOOL, verified_by="exit_status")]) == CONFIRMED
    assert promote(kind, [heard("30", origin=TOOL)]) == draft("seen_in_one_session")
    assert promote(kind, twice(TOOL)) == CONFIRMED
    assert promote(kind, [heard("30", origin=EXTERNAL)]) == draft("one_outside_source")
    assert promote(kind, twice(EXTERNAL)) == CONFIRMED
    assert promote(kind, twice(EXTERNAL, speaker="wiki.example")) == draft("one_outside_source")


def test_a_procedure_worked_in_two_sessions_or_where_its_forerunner_failed() -> None:
    worked = heard("make all", origin=TOOL, verified_by="exit_status")
    assert promote(Kind.PROCEDURE, [worked]) == draft("worked_in_one_session")
    assert promote(Kind.PROCEDURE, twice(TOOL, "exit_status")) == CONFIRMED
    assert promote(Kind.PROCEDURE, twice(TOOL)) == draft("success_not_shown")
    assert promote(Kind.PROCEDURE, [heard("make all", origin=TOOL, verified_by="exit_status", old_value="make", reason="no rule")]) == CONFIRMED
    assert promote(Kind.PROCEDURE, [heard("make all", origin=TOOL, verified_by="exit_status", old_value="make")]) == draft("worked_in_one_session")
    assert promote(Kind.PROCEDURE, [heard("make all")]) == CONFIRMED


def test_an_insight_needs_three_pieces_of_evidence_from_two_sessions() -> None:
    assert promote(Kind.INSIGHT, twice()) == draft("fewer_than_three_pieces_of_evidence")
    same = [heard("30", ordinal=n) for n in range(3)]
    assert promote(Kind.INSIGHT, same) == draft("evidence_from_one_session")
    assert promote(Kind.INSIGHT, [*same, heard("30", session="s2")]) == CONFIRMED


@pytest.mark.parametrize("kind", list(Kind))
def test_the_assistant_alone_never_confirms(kind: Kind) -> None:
    said = [heard("30", session=f"s{n}", origin=ASSISTANT, mark=True) for n in range(4)]
    assert promote(kind, said) == draft("only_the_assistant_says_so")
    passed = [replace(w, outcome=heard("x").outcome, missed="") for w in said]
    assert promote(kind, passed) == draft("only_the_assistant_says_so")


@pytest.mark.parametrize("kind", list(Kind))
def test_a_doubt_keeps_a_draft_and_names_itself_and_a_person_lifts_it(kind: Kind) -> None:
    doubtful = heard("30", mark=True, doubts=("dangling_reference",))
    assert promote(kind, [doubtful]) == draft("dangling_reference")
    assert promote(kind, [doubtful, heard("30", verified_by="person")]) == CONFIRMED


def test_the_criterion_named_is_the_one_the_strongest_claim_missed() -> None:
    claims = [heard("30", origin=ASSISTANT), heard("30", missed="completion_without_result")]
    assert promote(Kind.FACT, claims) == promote(Kind.FACT, claims[::-1]) == draft("completion_without_result")


def test_copies_and_forks_are_one_witness() -> None:
    copy = [heard("30", session="s1"), heard("30", session="fork", roots=frozenset({"s1"}))]
    assert witnesses(copy) == 1
    assert promote(Kind.RULE, copy) == draft("said_once")


def test_pieces_of_evidence_are_counted_by_place() -> None:
    claim = heard("30")
    again = replace(claim, claim=replace(claim.claim, quotes=(*claim.claim.quotes, Quote(turn="s1:0", start=0, end=4, text="rete"), *claim.claim.quotes)))
    assert promote(Kind.INSIGHT, [again]) == draft("fewer_than_three_pieces_of_evidence")
