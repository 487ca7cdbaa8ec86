import pytest

from pipelines.text.sentences import Span, sentence_at, sentences


def cut(text: str) -> list[str]:
    return [span.of(text) for span in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello there. The port is 5432! Really? yes", ["Hello there.", "The port is 5432!", "Really?", "yes"]),
        ("The file is a.b.c in v1.2.3. Next", ["The file is a.b.c in v1.2.3.", "Next"]),
        ("Use pnpm, e.g. in CI. Not npm.", ["Use pnpm, e.g. in CI.", "Not npm."]),
        ("See https://x.org/a?b=c!d for it. End", ["See https://x.org/a?b=c!d for it.", "End"]),
        ("Run `make. Now` first. Then stop", ["Run `make. Now` first.", "Then stop"]),
        ("Mr. Smith met J. Doe. They left", ["Mr. Smith met J. Doe.", "They left"]),
        ("I said no. Then go.", ["I said no.", "Then go."]),
        ("No. 5 is alive", ["No. 5 is alive"]),
        ("数据库端口是5432。不对！“好的。”走吧？", ["数据库端口是5432。", "不对！", "“好的。”", "走吧？"]),
        ("端口改了.现在是5433", ["端口改了.", "现在是5433"]),
        ('He said "done." Then left.', ['He said "done."', "Then left."]),
        ("one\r\ntwo\u2028three", ["one", "two", "three"]),
        ("wait... what?!", ["wait...", "what?!"]),
        ("", []),
        (" \n\t ", []),
    ],
)
def test_sentences_end_where_a_reader_would_end_them(text: str, expected: list[str]) -> None:
    assert cut(text) == expected


def test_bullets_numbers_and_quote_marks_belong_to_no_sentence() -> None:
    assert cut("- one. two\n1. three\n  * [x] four\n> five\n## Six\n1.2 is a number\n3、七") == [
        "one.",
        "two",
        "three",
        "four",
        "five",
        "Six",
        "1.2 is a number",
        "七",
    ]


def test_a_line_of_a_code_fence_is_one_sentence() -> None:
    assert cut("```py\na = 1. b\nc\n```\nafter. ok") == ["a = 1. b", "c", "after.", "ok"]


def test_the_sentences_a_quote_touches_are_found() -> None:
    text = "First one. The port is 5433. Last."
    start = text.index("5433")
    span = sentence_at(text, start, start + 4)
    assert span is not None
    assert span.of(text) == "The port is 5433."
    assert sentence_at("  ", 0, 1) is None
    assert sentence_at(text, 6, 15) == Span(0, 28)
