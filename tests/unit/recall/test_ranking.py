"""What search adds to the words' own weight: neighbours, and the days a query names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from pipelines.recall.search import Found, search

NOW = datetime(2026, 3, 12, 9, 0, tzinfo=UTC)  # a Thursday


@dataclass(frozen=True, kw_only=True)
class Line:
    """A turn of the session "s" with the score its words have."""

    ordinal: int
    score: float
    at: datetime | None = None
    speaker: str | None = None
    session: str | None = "s"
    origin: str | None = "user"
    line: int | None = 1
    source: str | None = "log"
    text: str = ""
    call: bool = False
    quoted: tuple[tuple[int, int], ...] = ()

    @property
    def uid(self) -> str:
        return f"t{self.ordinal}"


class Lines:
    """An index that finds every line with a score, whatever the words."""

    def __init__(self, *lines: Line) -> None:
        self.lines = lines

    def search_turns(self, scope: str, tokens: Sequence[str], *, limit: int, **_: object) -> Sequence[Found]:
        return [line for line in self.lines if line.score]

    def search_notes(self, scope: str, tokens: Sequence[str], *, now: datetime, limit: int, **_: object) -> Sequence[Found]:
        return []

    def turns_at(self, scope: str, places: Iterable[tuple[str, int]], **_: object) -> Sequence[Found]:
        wanted = {ordinal for _, ordinal in places}
        return [line for line in self.lines if line.ordinal in wanted]


def found(query: str, *lines: Line) -> list[str]:
    return [hit.uid for hit in search(Lines(*lines), "local", query, limit=10, now=NOW)]


def test_a_turn_without_the_words_is_found_beside_one_that_has_them() -> None:
    assert found("port", Line(ordinal=1, score=8), Line(ordinal=2, score=0), Line(ordinal=9, score=3)) == ["t1", "t2", "t9"]


def test_a_turn_between_two_good_ones_does_not_stand_above_them() -> None:
    assert found("port", Line(ordinal=1, score=9), Line(ordinal=2, score=4), Line(ordinal=3, score=8))[0] == "t1"


def test_a_turn_of_the_day_a_query_names_comes_before_one_of_another_day() -> None:
    saturday, sunday = (datetime(2026, 3, day, 18, 0, tzinfo=UTC) for day in (7, 8))
    lines = Line(ordinal=1, score=8, at=sunday), Line(ordinal=5, score=7, at=saturday), Line(ordinal=9, score=7.5)
    assert found("who came last Saturday", *lines) == ["t5", "t1", "t9"]
    assert found("昨天谁来了", *lines) == ["t1", "t9", "t5"]


def test_a_day_ends_where_the_next_begins() -> None:
    last = Line(ordinal=1, score=7, at=datetime(2026, 3, 7, 23, 59, 59, tzinfo=UTC))
    next_day = Line(ordinal=5, score=8, at=datetime(2026, 3, 8, tzinfo=UTC))
    assert found("who came on 7 March 2026", last, next_day) == ["t1", "t5"]
