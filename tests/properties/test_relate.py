"""What holds for any two statements, built from near-valid sentences."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pipelines.model import Relation
from pipelines.notes.relate import forbids_merge, relate
from pipelines.text.statement import parse

SUBJECTS = st.sampled_from(["The gateway", "gateway", "The search API", "My wife", "I", "网关", "小周", "Nora", "It", "The staging gateway", ""])
VERBS = st.sampled_from(
    [
        "listens on port",
        "'s port is",
        " is",
        " lives in",
        " no longer uses",
        "的端口是",
        "负责",
        " like",
        ": ",
        " moved from 1 to",
        " is not",
        "不再用",
        " should never run",
    ]
)
VALUES = st.sampled_from(
    ["7001", "7002", "C", "C++", "C#", "Oslo", "大连", "3.1", "3.10", "on", "off", "tests/", "", "Monday", "25 MB", "`a_b.c`", "搜索模块", "Tom"]
)
TAILS = st.sampled_from(["", ".", "。", " anymore", " for the admin", " too", ", not 7001", " because it broke", "了", " in production"])
SENTENCES = st.one_of(st.builds(lambda s, v, x, t: f"{s} {v} {x}{t}", SUBJECTS, VERBS, VALUES, TAILS), st.text(max_size=40))


@given(SENTENCES)
def test_any_text_gives_a_statement_and_always_the_same(text: str) -> None:
    read = parse(text)
    assert read.text == text
    assert parse(text) == read
    assert read.value is None or read.value.strip()
    assert read.cardinality in {"single", "set"}


@given(SENTENCES)
def test_a_statement_is_never_in_conflict_with_itself(text: str) -> None:
    assert relate(parse(text), parse(text)).relation in {Relation.SAME, Relation.OTHER}
    assert forbids_merge(parse(text), parse(text)) is None


@given(SENTENCES, SENTENCES)
def test_sameness_and_what_forbids_it_do_not_depend_on_who_came_first(a: str, b: str) -> None:
    one, two = parse(a), parse(b)
    assert forbids_merge(one, two) == forbids_merge(two, one)
    if not one.also and not two.also:
        assert (relate(one, two).relation is Relation.SAME) == (relate(two, one).relation is Relation.SAME)


@given(SENTENCES, SENTENCES)
def test_statements_with_other_numbers_scopes_or_polarity_are_never_the_same(a: str, b: str) -> None:
    one, two = parse(a), parse(b)
    if relate(one, two).relation is Relation.SAME:
        assert one.negated == two.negated
        assert one.qualifier == two.qualifier
        assert {v.key for v in one.values if v.kind not in {"name", "bound", "state"}} == {
            v.key for v in two.values if v.kind not in {"name", "bound", "state"}
        }


@given(SENTENCES, SENTENCES)
def test_a_change_needs_two_values_or_two_polarities(a: str, b: str) -> None:
    one, two = parse(a), parse(b)
    if relate(one, two).relation in {Relation.UPDATE, Relation.CONTRADICTION}:
        assert one.negated != two.negated or one.value != two.value or one.values != two.values
