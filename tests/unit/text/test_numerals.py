import pytest

from pipelines.text.numerals import chinese_number, english_number, folded_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("三十", 30),
        ("十五", 15),
        ("二十一", 21),
        ("一百零五", 105),
        ("两百五", 250),
        ("一千三", 1300),
        ("三万", 30000),
        ("一万三千", 13000),
        ("二〇二六", 2026),
        ("1.5万", 15000),
        ("42", 42),
        ("零", 0),
    ],
)
def test_chinese_numerals_are_read(text: str, number: int) -> None:
    assert chinese_number(text) == number


@pytest.mark.parametrize("text", ["", "端口", "三个", "abc"])
def test_other_text_is_no_chinese_numeral(text: str) -> None:
    assert chinese_number(text) is None


@pytest.mark.parametrize(("text", "number"), [("seven", 7), ("Twenty-five", 25), ("forty two", 42), ("a", 1), ("zero", 0), ("port", None)])
def test_english_number_words_are_read(text: str, number: int | None) -> None:
    assert english_number(text) == number


def test_separators_and_trailing_zeros_fold() -> None:
    assert folded_number("1,000") == "1000"
    assert folded_number("25.0") == "25"
    assert folded_number("1.5", 1000) == "1500"
    assert folded_number("abc") is None
