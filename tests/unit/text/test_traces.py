"""Looking for traces: what a quick look leaves out is never there."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.text.tokens import tokenize
from pipelines.text.traces import Traces, folded, may_hold, phrases_of, words_of

PIECES = st.sampled_from(
    ["stories", "Tries", "happy", "making", "hopping", "conflated", "classes", "Straße", "İzmir", "payDB_v2.1", "C++", "don’t", "ﬁle", "Ⅷ", "５４３３", "数据库", "가나다", "x", "ies", "dying"]
) | st.text(min_size=1, max_size=6)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=12).map(" ".join)


@settings(max_examples=300)
@given(text=TEXTS)
def test_no_token_and_no_word_of_a_text_is_left_out_by_the_quick_look(text: str) -> None:
    plain = folded(text)
    assert [token for token in tokenize(text) if not may_hold(frozenset({token}), plain)] == []
    assert [word for word in words_of(text) if word not in plain] == []


@settings(max_examples=100)
@given(text=TEXTS, other=TEXTS)
def test_a_text_carries_what_its_words_and_tokens_say(text: str, other: str) -> None:
    words = words_of(other)
    if phrase := tuple(words[:2]):
        assert Traces(phrases=frozenset({phrase})).within(text) == (phrase in phrases_of(words_of(text), len(phrase)))
    if tokens := frozenset(tokenize(other)):
        assert Traces(tokens=tokens).within(text) == (not tokens.isdisjoint(tokenize(text)))


@pytest.mark.parametrize(("tokens", "said"), [(frozenset({"stori"}), "two stories"), (frozenset({"happi"}), "Happy"), (frozenset({"make"[:3]}), "making")])
def test_a_stem_is_found_in_the_words_it_is_of(tokens: frozenset[str], said: str) -> None:
    assert Traces(tokens=tokens).within(said) == (not tokens.isdisjoint(tokenize(said)))
    assert may_hold(tokens, folded(said))
