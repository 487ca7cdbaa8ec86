"""Text tools on any text: offsets hold, nothing is lost, nothing crashes."""

import re
from datetime import UTC, date, datetime

from hypothesis import given
from hypothesis import strategies as st

from pipelines.text.mood import clauses, completion, mood_at, mood_of, negated, standing_mark
from pipelines.text.sentences import sentences
from pipelines.text.statement import without_words
from pipelines.text.times import resolve_dates
from pipelines.text.tokens import tokenize, tokens_of_query
from pipelines.text.values import typed_values, value_keys
from pipelines.text.words import content_words, fold_width, raw_words

PIECES = [
    "port ",
    "5432",
    "C++",
    "a_b.c",
    "数据库",
    "端口",
    "。",
    ". ",
    "!",
    "\n",
    "- ",
    "`x. y`",
    "```\n",
    "é",
    "😀",
    "\u200b",
    "Ａ５",
    "ポート",
    "#12",
    "'s",
    "e.g. ",
    "> ",
    "3.5",
    "https://x.y/z ",
]
TEXT = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=25).map("".join)


@given(TEXT)
def test_sentences_are_ordered_disjoint_trimmed_and_lose_no_letter(text: str) -> None:
    at = 0
    covered = ""
    for span in sentences(text):
        assert at <= span.start < span.end <= len(text)
        assert span.of(text) == span.of(text).strip()
        covered += span.of(text)
        at = span.end
    lost = [ch for ch in text if ch.isalpha() and ch not in "xX" and ch not in covered]
    assert not lost or "```" in text or "~~~" in text


@given(TEXT)
def test_words_stand_where_they_say_they_stand(text: str) -> None:
    at = 0
    for word in raw_words(text):
        assert word.start >= at
        assert text[word.start : word.end] == word.text
        at = word.start


@given(TEXT)
def test_a_text_finds_itself(text: str) -> None:
    assert set(tokens_of_query(text)) <= set(tokenize(text))
    assert content_words(text) == content_words(text)


NEAR = st.lists(st.sampled_from(["a", "A", "b", "s", "'s", "’s", " ", "é", "É", "İ", "ß", "端口", "1", "."]), max_size=12).map("".join)


@given(NEAR, NEAR.filter(bool))
def test_words_are_taken_out_where_a_pattern_of_them_would_find_them(text: str, words: str) -> None:
    edge = r"(?<![A-Za-z0-9]){}(?:['’]?s)?(?![A-Za-z0-9])" if words.isascii() else "{}"
    assert without_words(text, words) == re.sub(edge.format(re.escape(words)), " ", text, flags=re.IGNORECASE)


@given(TEXT)
def test_folding_width_keeps_the_length(text: str) -> None:
    assert len(fold_width(text)) == len(text)


@given(TEXT)
def test_values_are_ordered_disjoint_and_inside_the_text(text: str) -> None:
    at = 0
    for value in typed_values(text):
        assert at <= value.start < value.end <= len(text)
        assert value.canonical
        at = value.end


@given(st.integers(10, 99999), st.sampled_from(["the port is {}", "端口是{}。", "ポートは{}です", "listens on {}", "把它改成{}", "{}端口"]))
def test_every_number_is_seen_whatever_script_stands_beside_it(number: int, frame: str) -> None:
    assert ("number", str(number)) in value_keys(frame.format(number))


@given(st.dates(min_value=date(1950, 1, 1), max_value=date(2090, 12, 31)))
def test_every_spelling_of_a_full_date_is_one_value(day: date) -> None:
    spellings = [
        f"{day:%Y-%m-%d}",
        f"{day.day} {day:%B} {day.year}",
        f"{day:%b} {day.day}, {day.year}",
        f"{day.year}年{day.month}月{day.day}日",
        f"{day.day}.{day.month}.{day.year}",
    ]
    assert {frozenset(value_keys(f"on {s}")) for s in spellings} == {frozenset({("date", f"{day:%Y-%m-%d}")})}


@given(TEXT, st.integers(0, 60), st.integers(0, 60))
def test_mood_and_denial_answer_for_any_text(text: str, start: int, end: int) -> None:
    assert mood_of(text)
    assert mood_at(text, min(start, end), max(start, end))
    assert isinstance(negated(text), bool)
    assert isinstance(completion(text) and standing_mark(text), bool)
    assert all(0 <= span.start < span.end <= len(text) for span in clauses(text))


@given(
    st.datetimes(min_value=datetime(1, 1, 1), max_value=datetime(9999, 12, 31)),
    st.sampled_from(["last Friday", "in 9999 years", "300 years ago", "next month", "上周五", "March 31", "29 February", "this year", "今年"]),
)
def test_any_moment_resolves_or_gives_nothing(moment: datetime, text: str) -> None:
    for mention in resolve_dates(text, moment.replace(tzinfo=UTC), "Asia/Shanghai"):
        assert mention.begin < mention.until
