"""A time that lies after the reading of its log is no time: it wins nothing, dates nothing, and refreshes nothing."""

from __future__ import annotations

from pipelines.model import Status, Version, Witnessed
from pipelines.notes.beliefs import believe
from pipelines.notes.moment import is_ahead
from tests.unit.notes.heard import day, heard

SCOPE = "acme"
FAR = 26_663.0  # the first of January 2099


def versions(*claims: Witnessed) -> dict[str | None, Version]:
    return {v.value: v for v in believe(SCOPE, claims, skew_s=300.0, intake_at=day(40))}


def test_a_value_of_the_far_future_is_no_newer_than_one_of_today() -> None:
    stands = versions(heard("30", at=1, session="now"), heard("90", at=FAR, session="wild"))
    assert {v: s.status for v, s in stands.items()} == {"30": Status.DISPUTED, "90": Status.DISPUTED}
    assert (stands["30"].newest_evidence, stands["90"].newest_evidence) == (day(1), None)
    assert stands["90"].valid_from is None


def test_a_witness_of_the_far_future_makes_nothing_fresher() -> None:
    (only,) = versions(heard("30", at=1, session="now"), heard("30", at=FAR, session="wild")).values()
    assert (only.oldest_evidence, only.newest_evidence) == (day(1), day(1))


def test_a_change_inside_a_session_of_the_far_future_is_a_change_at_no_known_time() -> None:
    stands = versions(heard("30", at=FAR, session="wild"), heard("90", at=FAR + 0.01, session="wild", ordinal=1))
    assert {v: s.status for v, s in stands.items()} == {"30": Status.SUPERSEDED, "90": Status.CONFIRMED}
    assert stands["30"].valid_until is None


def test_no_clock_and_no_zone_is_a_day_ahead() -> None:
    assert not is_ahead(day(1), day(0))
    assert is_ahead(day(1.01), day(0))
    assert not is_ahead(None, day(0))
    assert not is_ahead(day(9), None)
