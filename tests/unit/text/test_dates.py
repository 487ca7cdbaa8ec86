import pytest

from pipelines.text.dates import written_dates


@pytest.mark.parametrize(
    ("text", "kind", "canonical"),
    [
        ("11月3日", "date", "--11-03"),
        ("四月十四日", "date", "--04-14"),
        ("March 2026", "date", "2026-03"),
        ("early May", "date", "--05-start"),
        ("Q3 2026", "date", "2026-Q3"),
        ("3/11/2026", "date", "2026~3/11"),
        ("in 2019", "date", "2019"),
        ("9 p.m.", "time", "21:00"),
        ("12 am", "time", "00:00"),
        ("晚上八点一刻", "time", "20:15"),
        ("donnerstags", "weekday", "4"),
        ("月曜日", "weekday", "1"),
        ("Wed", "weekday", "3"),
        ("the day before yesterday", "relative", "d-2"),
        ("三天前", "relative", "ago-3d"),
        ("two weeks ago", "relative", "ago-2w"),
        ("in 3 months", "relative", "ahead-3m"),
        ("上周五", "relative", "w-1-5"),
        ("last Friday", "relative", "last-5"),
        ("下个月", "relative", "m+1"),
        ("去年", "relative", "y-1"),
    ],
)
def test_dates_are_read_as_written(text: str, kind: str, canonical: str) -> None:
    assert [(w.kind, w.canonical) for w in written_dates(text)] == [(kind, canonical)]


@pytest.mark.parametrize(
    "text", ["I may", "march on", "10:8080", "v1.2.3", "3个月内", "三点建议", "一点", "port 2024", "前端", "28/13", "the sun sat", "99:99"]
)
def test_what_only_looks_like_a_date_is_none(text: str) -> None:
    assert written_dates(text) == []


@pytest.mark.parametrize(
    ("text", "canonical"), [("ship the today build", "d+0"), ("the yesterday log", "d-1"), ("The tomorrow list", "d+1"), ("the tonight job", "d+0")]
)
def test_an_article_before_a_day_changes_nothing(text: str, canonical: str) -> None:
    assert [w.canonical for w in written_dates(text)] == [canonical]


def test_the_preposition_is_no_part_of_the_date() -> None:
    text = "since March 2026, by May"
    assert [text[w.start : w.end] for w in written_dates(text)] == ["March 2026", "May"]
