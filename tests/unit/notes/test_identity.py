from __future__ import annotations

from dataclasses import replace

import pytest

from pipelines.model import Relation, Witnessed
from pipelines.notes.identity import (
    attribute_key,
    block_keys,
    components,
    group_key,
    identity_of,
    in_force,
    linked,
    merged_with,
    pairs_ruled,
    qualifier_key,
    relation_keys,
    statement_of,
    unique,
    value_name,
)
from pipelines.text.statement import Person

from .heard import heard, ruling


def uid(claim: Witnessed, scope: str = "user") -> str:
    return identity_of(scope, claim.claim).uid


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ({"subject": "The API server", "attribute": "port"}, {"subject": "api servers", "attribute": "Port number"}),
        ({"subject": "数据库", "attribute": "端口"}, {"subject": "database", "attribute": "port"}),
        ({"subject": "ＡＰＩ", "attribute": "port"}, {"subject": "API", "attribute": "port"}),
        ({"subject": "db", "attribute": "port", "qualifier": "prod"}, {"subject": "database", "attribute": "port", "qualifier": "production"}),
    ],
)
def test_spellings_of_one_slot_are_one_note(one: dict[str, str], two: dict[str, str]) -> None:
    assert uid(heard(**one)) == uid(heard("31", **two))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ({"subject": "C"}, {"subject": "C++"}),
        ({"subject": "C#"}, {"subject": "C++"}),
        ({"subject": "小李"}, {"subject": "小王"}),
        ({"subject": "max_retry"}, {"subject": "max_retries"}),
        ({"subject": "db", "qualifier": "staging"}, {"subject": "db", "qualifier": "production"}),
        ({"subject": "db", "attribute": "port"}, {"subject": "db", "attribute": "version"}),
        ({"subject": "..."}, {"subject": "???"}),
    ],
)
def test_different_things_are_different_notes(one: dict[str, str], two: dict[str, str]) -> None:
    assert uid(heard(**one)) != uid(heard(**two))  # type: ignore[arg-type]


def test_a_scope_is_part_of_the_identity_and_a_value_of_a_single_attribute_is_not() -> None:
    assert uid(heard("30"), "a") != uid(heard("30"), "b")
    assert uid(heard("30")) == uid(heard("90"))


def test_members_of_a_set_have_a_note_each_and_a_group_together() -> None:
    tea, cocoa = (heard(v, subject="user", attribute="likes", cardinality="set") for v in ("tea", "cocoa"))
    assert uid(tea) != uid(cocoa)
    assert group_key(tea.claim) == group_key(cocoa.claim)
    assert uid(tea) == uid(heard("Tea", subject="user", attribute="likes", cardinality="set", negated=True))


def test_what_an_engine_calls_a_set_is_single_where_the_attribute_is() -> None:
    assert uid(heard("30", attribute="port", cardinality="set")) == uid(heard("31", attribute="port"))


def test_keys_are_canonical() -> None:
    assert attribute_key("Port  Number") == "port"
    assert attribute_key("written in") == "written in"
    assert qualifier_key("prod+Frontend") == "frontend+production"
    assert value_name("25MB") == value_name("25 MB") != value_name("26 MB")
    assert value_name(None) == ""


def test_the_subject_of_a_claim_says_whose_fact_it_is() -> None:
    assert statement_of(heard("Oslo", subject="Nora", attribute="home", statement="She lives in Oslo").claim).person is Person.OTHER
    assert statement_of(heard("Oslo", subject="someone else (unresolved)", attribute="home", statement="She lives in Oslo").claim).person is Person.UNRESOLVED
    assert statement_of(heard("Oslo", subject="user", attribute="home", statement="I live in Oslo").claim).person is Person.SPEAKER


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        (
            heard("npm", attribute="use", statement="We use npm"),
            heard("pnpm", attribute="use", old_value="npm", subject="repo", statement="use pnpm instead of npm"),
        ),
        (heard("8080", subject="API", attribute="port"), heard("9090", subject="the api", attribute="port")),
        (
            heard(None, attribute="Always squash commits", statement="Always squash commits"),
            heard(None, attribute="never squash", statement="Never squash commits"),
        ),
        (heard(None, attribute="a", statement="Keep answers short"), heard(None, attribute="b", statement="Please keep your replies brief.")),
    ],
)
def test_claims_that_may_relate_share_a_block(older: Witnessed, newer: Witnessed) -> None:
    assert block_keys(older.claim) & block_keys(newer.claim)


def test_claims_about_nothing_in_common_share_none() -> None:
    assert not block_keys(heard("8080", subject="API", attribute="port").claim) & block_keys(
        heard("tea", subject="user", attribute="likes", cardinality="set").claim
    )


def test_a_paraphrase_joins_a_note_and_a_number_keeps_it_apart() -> None:
    short = heard(None, subject="answers", attribute="x", statement="Keep answers short.")
    brief = heard(None, subject="answers", attribute="y", session="s2", statement="Please keep your replies brief.")
    five = heard(None, subject="answers", attribute="z", session="s3", statement="Keep answers under 5 lines.")
    parts = components([five, brief, short])
    assert [[w.claim.statement for w in part] for part in parts] == [
        ["Keep answers short.", "Please keep your replies brief."],
        ["Keep answers under 5 lines."],
    ]


def test_a_recorded_verdict_never_joins_a_forbidden_pair() -> None:
    a, b = heard(None, attribute="x", statement="Deploy with 3 workers"), heard(None, attribute="y", statement="Deployment uses 4 workers")
    same = {(min(a.uid, b.uid), max(a.uid, b.uid)): Relation.SAME}
    assert len(components([a, b], relations=same)) == 2


def test_a_person_may_merge_what_the_rules_would_not_and_a_ban_stands_against_it() -> None:
    a, b = heard(None, attribute="x", statement="Deploy with 3 workers"), heard(None, attribute="y", statement="Deployment uses 4 workers")
    merge = ruling("merge", uid(a), uid(b), uid="m", at=1)
    assert len(components([a, b], [merge], scope="user")) == 1
    assert len(components([a, b], [merge, ruling("ban", uid(b), uid(a), uid="n", at=2)], scope="user")) == 2
    assert len(components([a, b], [replace(merge, at=None), ruling("unmerge", uid(a), uid(b), uid="n", at=2)], scope="user")) == 2


def test_the_last_ruling_on_a_pair_counts_and_a_lifted_one_does_not() -> None:
    rulings = [
        ruling("ban", "b", "a", uid="r2", at=2),
        ruling("merge", "a", "b", uid="r1", at=1),
        ruling("merge", "c", "d", uid="r3", at=3),
        ruling("lift", "r3", uid="r4", at=4),
    ]
    assert pairs_ruled(rulings) == ((), frozenset({("a", "b")}))
    assert [r.uid for r in in_force(rulings)] == ["r1", "r2"]


def test_a_claim_read_twice_counts_once() -> None:
    claim = heard("30")
    later = replace(claim, order=replace(claim.order, session="z"))
    assert unique([later, claim, claim]) == unique([claim, later]) == (claim,)


def test_linked_follows_relations_and_not_common_words() -> None:
    npm = heard("npm", subject="project", attribute="use", cardinality="set", statement="We use npm")
    pnpm = heard("pnpm", subject="project", attribute="tool", old_value="npm", session="s2", statement="use pnpm instead of npm")
    other = heard(None, attribute="z", statement="The npm cache was slow in May")
    every = [npm, pnpm, other]
    found = linked([pnpm], lambda keys: [w for w in every if block_keys(w.claim) & keys])
    assert {w.uid for w in found} == {npm.uid, pnpm.uid}


def test_notes_that_people_merged_are_decided_together() -> None:
    rulings = [
        ruling("merge", "a", "b", uid="r1"),
        ruling("merge", "b", "c", uid="r2"),
        ruling("merge", "x", "y", uid="r3"),
        ruling("unmerge", "b", "c", uid="r4", at=101),
    ]
    assert merged_with(["a"], rulings[:3]) == {"a", "b", "c"}
    assert merged_with(["a"], rulings) == {"a", "b"}
    assert merged_with(["z"], rulings) == {"z"}


def test_keys_to_compare_by_are_among_the_keys_to_find_by() -> None:
    for claim in (
        heard("npm", attribute="use", cardinality="set"),
        heard(None, statement="Never squash commits"),
        heard("8080", subject="API", attribute="port"),
    ):
        assert relation_keys(claim.claim) <= block_keys(claim.claim)
