import pytest

from pipelines.gates import quote_gate
from pipelines.model import Outcome, Quote

from .build import by_uid, claim, turn


def verdict(text: str, start: int, end: int, words: str) -> tuple[Outcome, str]:
    said = turn(text)
    made = claim("x", said)
    moved = Quote(turn="t1", start=start, end=end, text=words)
    found = quote_gate(type(made)(kind=made.kind, subject="s", attribute="a", statement="x", quotes=(moved,)), by_uid(said))
    return found.outcome, found.why


def test_a_verbatim_quote_passes() -> None:
    assert verdict("no, the port is 5433", 4, 20, "the port is 5433") == (Outcome.PASS, "")


def test_white_space_and_unicode_composition_are_folded_and_nothing_else() -> None:
    assert verdict("the\n  café", 0, 10, "the café")[0] is Outcome.PASS
    assert verdict("cafe\u0301 is open", 0, 5, "café")[0] is Outcome.PASS
    assert verdict("The port", 0, 8, "the port") == (Outcome.REJECT, "not_verbatim")
    assert verdict("port ５４３３", 0, 9, "port 5433") == (Outcome.REJECT, "not_verbatim")
    assert verdict("“port”", 0, 6, '"port"') == (Outcome.REJECT, "not_verbatim")


def test_right_words_at_the_wrong_place_are_refused() -> None:
    assert verdict("port 5433 port 5433", 1, 10, "port 5433") == (Outcome.REJECT, "not_verbatim")


@pytest.mark.parametrize(("start", "end"), [(-1, 4), (0, 99), (4, 4), (5, 2)])
def test_offsets_outside_the_turn_are_refused(start: int, end: int) -> None:
    assert verdict("port", start, end, "port") == (Outcome.REJECT, "offsets_outside_turn")


def test_a_quote_of_an_unknown_turn_is_refused() -> None:
    assert quote_gate(claim("x", turn("port")), {}).why == "turn_unknown"


@pytest.mark.parametrize(
    ("text", "words"), [("port 5433", "543"), ("it costs 5.75", "it costs 5"), ("it costs 1,000", "000"), ("supports it", "ports it"), ("cafe\u0301", "cafe")]
)
def test_a_quote_may_not_cut_through_a_word_or_number(text: str, words: str) -> None:
    start = text.index(words)
    assert verdict(text, start, start + len(words), words) == (Outcome.REJECT, "cuts_a_word")


def test_chinese_has_no_gaps_to_cut_at() -> None:
    assert verdict("数据库端口是5432。", 3, 10, "端口是5432")[0] is Outcome.PASS
