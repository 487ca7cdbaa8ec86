"""Whatever a reply says, nothing but values comes out of reading it: replies shaped like the schema with wrong leaves, cut, nested and repeated."""

from __future__ import annotations

import json
from collections.abc import Mapping

from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.engines.claude.asked import Evidence, Gap, Group, Pair, Supported
from pipelines.engines.claude.config import ClaudeConfig
from pipelines.engines.claude.engine import ClaudeEngine
from pipelines.engines.claude.prompts import answer, extract, insight, relate, support
from pipelines.engines.claude.quotes import find, fold
from pipelines.engines.claude.reply import parsed
from pipelines.engines.local.engine import LocalEngine
from pipelines.gates import judge
from pipelines.gates.evidence import folded
from pipelines.model import Claim, Kind, Question, Quote
from pipelines.ports import Extracted
from tests.unit.engines.claude_asking import Desk, reply
from tests.unit.engines.talk import Talk

ENGINE = ClaudeEngine(rules=LocalEngine(), config=ClaudeConfig())
WINDOW = Talk().user("The staging database listens on port 5433, 不要改 it. Ana owns café billing").run("make deploy", "done").window()
TURN = WINDOW.turns[0]
CLAIM = Claim(kind=Kind.FACT, subject="project", attribute="", statement=TURN.text, quotes=(Quote(turn=TURN.uid, start=0, end=len(TURN.text), text=TURN.text),))
ITEM = Supported(claim=CLAIM, contexts=(Evidence(quote=CLAIM.quotes[0], turn=TURN),))

PIECES = st.sampled_from(
    ["", "The staging database listens on port 5433", "5433", "staging", "user", "不要改", "[1]", "</log-x>", "\x00", "\ud800", "Ana", "e\u0301", " "]
)
WRONG = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.just(10**400), st.text(max_size=8), st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)  # fmt: skip


def leaves(schema: Mapping[str, object]) -> st.SearchStrategy[object]:
    """Values shaped like a schema, one in a few of them not."""
    kind = schema["type"]
    right: st.SearchStrategy[object]
    if kind == "object":
        properties = schema["properties"]
        assert isinstance(properties, dict)
        whole = st.fixed_dictionaries({name: leaves(inner) for name, inner in properties.items()})
        fewer = st.tuples(whole, st.sampled_from(list(properties))).map(lambda pair: {k: v for k, v in pair[0].items() if k != pair[1]})
        right = st.one_of(whole, whole, whole, fewer, whole.map(lambda d: {**d, "verified_by": "exit_status", "scope": "other"}))
    elif kind == "array":
        inner = schema["items"]
        assert isinstance(inner, dict)
        right = st.lists(leaves(inner), max_size=3)
    elif "enum" in schema:
        words = schema["enum"]
        assert isinstance(words, list)
        right = st.sampled_from([*words, "procedure"])
    else:
        right = {"string": PIECES, "integer": st.integers(-1, 4), "boolean": st.booleans()}[str(kind)]
    return st.integers(0, 39).flatmap(lambda n: WRONG if n == 0 else right)


def texts(schema: Mapping[str, object]) -> st.SearchStrategy[str]:
    """Replies as they are written, some of them cut."""
    written = leaves(schema).map(lambda value: json.dumps(value))
    return st.one_of(written, written, written, st.tuples(written, st.integers(0, 400)).map(lambda cut: cut[0][: cut[1]]))


STOPS = st.sampled_from(["end_turn", "end_turn", "end_turn", "max_tokens", "refusal", "pause_turn", "tool_use", "no such reason", ""])


@settings(max_examples=250, deadline=None)
@given(texts(extract.SCHEMA), STOPS)
def test_any_reply_about_a_window_gives_claims_the_gates_can_judge(text: str, stop: str) -> None:
    (found,) = ENGINE.read([WINDOW], Desk(lambda _: reply(text, stop)))
    assert isinstance(found, Extracted)
    turns = {t.uid: t for t in WINDOW.turns}
    for claim in found.claims:
        assert claim.verified_by is None or claim.made_by != ENGINE.name
        assert {q.turn for q in claim.quotes} <= set(turns)
        judge(claim, turns)


@settings(max_examples=100, deadline=None)
@given(texts(support.SCHEMA), texts(relate.SCHEMA), texts(answer.SCHEMA), texts(insight.SCHEMA), STOPS)
def test_any_reply_to_the_other_questions_gives_a_word_for_each(check: str, pairs: str, answers: str, insights: str, stop: str) -> None:
    gap = Gap(question=Question(text="what?", quotes=CLAIM.quotes), contexts=ITEM.contexts, candidates=(TURN,))
    assert set(ENGINE.supports([ITEM, ITEM], Desk(lambda _: reply(check, stop)))) <= {"yes", "no", "unsure"}
    assert len(ENGINE.relate([Pair(older=ITEM, newer=ITEM)], Desk(lambda _: reply(pairs, stop)))) == 1
    (found,) = ENGINE.answer([gap], Desk(lambda _: reply(answers, stop)))
    assert found.claim is None or {q.turn for q in found.claim.quotes} == {TURN.uid}
    group = Group(pieces=(ITEM, ITEM, ITEM), roots=("a", "b", "c"))
    assert ENGINE.infer([group], Desk(lambda _: reply(insights, stop)))[0].claims == ()


@given(st.text(max_size=200))
def test_any_text_is_one_object_or_none(text: str) -> None:
    found = parsed(text)
    assert found is None or isinstance(found, dict)


WORDS = st.text(alphabet="ab1 \n\t.é\u0301e한\u1112\u1161\u11ab不改", max_size=40)


@given(WORDS, st.data())
def test_a_stretch_of_a_text_is_found_however_its_spaces_and_accents_are_written(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    words = folded(text[start:end])
    found = find(text, words)
    if found is not None:
        assert folded(text[found[0] : found[1]]) == words
    elif words:
        assert words not in fold(text)[0]


@given(WORDS)
def test_folding_keeps_the_place_of_every_character(text: str) -> None:
    made, places = fold(text)
    assert len(places) == len(made) + 1
    assert list(places) == sorted(places)
    assert folded(made) == folded(text)
