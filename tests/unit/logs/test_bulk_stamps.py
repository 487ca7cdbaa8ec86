"""Times an importer wrote: a person cannot have heard several answers in one instant, so such a time dates nothing."""

from datetime import UTC, datetime, timedelta

import pytest

from pipelines.logs.order import order_session, timed
from pipelines.model import Basis, Origin, Place, Role, Turn

STAMP = datetime(2026, 3, 4, 12, 7, 31, tzinfo=UTC)
HOUR = timedelta(hours=1)
VOICES = {
    "u": (Role.USER, Origin.USER, None), "a": (Role.ASSISTANT, Origin.ASSISTANT, None), "t": (Role.TOOL, Origin.TOOL, None),
    "h": (Role.USER, Origin.HARNESS, None), "A": (Role.USER, Origin.USER, "Ana"), "B": (Role.USER, Origin.USER, "Ben"),
}  # fmt: skip


def session(voices: str, times: list[datetime | None] | datetime) -> list[Turn]:
    given = times if isinstance(times, list) else [times] * len(voices)
    turns = []
    for i, (voice, at) in enumerate(zip(voices, given, strict=True)):
        role, origin, speaker = VOICES[voice]
        place = Place(line=i + 1, offset=i, length=1)
        turns.append(Turn(uid=f"u{i}", snap="", session="s", ordinal=i, role=role, origin=origin, text="t", place=place, at=at, speaker=speaker))
    return turns


def bases(turns: list[Turn]) -> list[Basis]:
    return [key.basis for key in order_session(turns)]


@pytest.mark.parametrize("voices", ["uauau", "uauaua", "uatauhau", "ABABAB", "uuauuau"])
def test_a_session_in_which_a_person_answers_and_answers_in_one_instant_has_no_time(voices: str) -> None:
    turns = session(voices, STAMP)
    assert {(k.known, k.at, k.basis) for k in order_session(turns)} == {(False, None, Basis.UNKNOWN)}
    assert {t.at for t in timed(turns)} == {None}


@pytest.mark.parametrize(
    ("voices", "why"),
    [
        ("uaua", "four turns are too few to tell"), ("utttttttta", "results of one flush"), ("uaaaaaaaa", "one answer in many blocks"),
        ("uhuhuhuh", "what the program adds to a prompt"), ("AAAAAAA", "one person's list"), ("uaatttattau", "a prompt that waited for the answer"),
    ],
)  # fmt: skip
def test_what_can_be_written_in_one_instant_keeps_its_time(voices: str, why: str) -> None:
    turns = session(voices, STAMP)
    assert set(bases(turns)) == {Basis.STATED}, why
    assert timed(turns) == tuple(turns)


@pytest.mark.parametrize("at", [STAMP.replace(second=0), STAMP.replace(hour=0, minute=0, second=0)])
def test_a_session_dated_to_the_minute_or_the_day_keeps_its_date(at: datetime) -> None:
    assert set(bases(session("uauauaua", at))) == {Basis.STATED}


def test_history_imported_before_a_session_that_goes_on_is_undated_and_comes_first() -> None:
    later = [STAMP + n * HOUR for n in range(1, 4)]
    turns = session("uauauauau", [*[STAMP] * 6, *later])
    keys = order_session(turns)
    assert [k.basis for k in keys] == [Basis.UNKNOWN] * 6 + [Basis.STATED] * 3
    assert sorted(keys, key=lambda k: k.sort) == list(keys)
    assert [t.at for t in timed(turns)] == [*[None] * 6, *later]


def test_history_imported_into_the_middle_stands_behind_the_turn_before_it_and_is_no_order_for_others() -> None:
    turns = session("uauauauau", [STAMP - HOUR, STAMP - HOUR / 2, *[STAMP] * 6, STAMP + HOUR])
    keys = order_session(turns)
    assert [k.basis for k in keys] == [Basis.STATED] * 2 + [Basis.UNKNOWN] * 6 + [Basis.STATED]
    assert {k.at for k in keys[2:8]} == {STAMP - HOUR / 2}
    assert sorted(keys, key=lambda k: k.sort) == list(keys)


def test_the_order_of_the_argument_does_not_matter() -> None:
    turns = session("uauauauau", [*[STAMP] * 6, STAMP + HOUR, None, STAMP + 2 * HOUR])
    assert {k.uid: k for k in order_session(turns[::-1])} == {k.uid: k for k in order_session(turns)}
    assert {t.uid: t for t in timed(turns[::-1])} == {t.uid: t for t in timed(turns)}
