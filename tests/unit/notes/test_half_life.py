"""Incidents and the status of things pass when nobody speaks of them; the days are counted by hand from the first of January 2026, nine o'clock UTC."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from pipelines.model import Kind, Ruling, Status, Version, Witnessed
from pipelines.notes.beliefs import believe
from pipelines.notes.half_life import is_by_half_life, passes
from tests.unit.notes.heard import day, heard, ruling

SCOPE = "acme"


def only(*claims: Witnessed, rulings: Sequence[Ruling] = ()) -> Version:
    (version,) = believe(SCOPE, claims, rulings, skew_s=300.0, intake_at=day(400))
    return version


def incident(at: float | None, session: str, **more: object) -> Witnessed:
    return heard(None, at=at, session=session, kind=Kind.INCIDENT, subject="import", attribute="crash", statement="The import ran out of memory.", **more)  # type: ignore[arg-type]


def test_an_incident_is_over_thirty_days_after_it_was_last_heard_of() -> None:
    once = only(incident(0, "s1"))
    assert once.valid_until == datetime(2026, 1, 31, 9, 0, tzinfo=UTC)
    again = only(incident(0, "s1"), incident(20, "s2"))
    assert again.valid_until == datetime(2026, 2, 20, 9, 0, tzinfo=UTC)
    assert again.status is Status.CONFIRMED
    assert is_by_half_life(again)


def test_its_own_words_about_its_end_go_before_its_age() -> None:
    version = only(incident(0, "s1", valid_until=day(90)))
    assert version.valid_until == day(90)
    assert not is_by_half_life(version)


def test_an_incident_of_no_known_time_does_not_pass() -> None:
    assert only(incident(None, "s1")).valid_until is None


def test_a_person_who_approves_it_has_spoken_of_it() -> None:
    claim = incident(0, "s1", missed="only_once")
    note = only(claim).note
    assert only(claim, rulings=[ruling("approve", note, at=10)]).valid_until == datetime(2026, 2, 10, 9, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("kind", "subject", "attribute", "expected"),
    [
        (Kind.FACT, "importer", "status", True),
        (Kind.FACT, "部署", "状态", True),
        (Kind.FACT, "importer", "port", False),
        (Kind.FACT, "user", "status", False),
        (Kind.FACT, "user relationship", "status", False),
        (Kind.FACT, "Ana marital", "status", False),
        (Kind.FACT, "project", "status", False),  # nobody knows of what
        (Kind.RULE, "importer", "status", False),
        (Kind.DECISION, "importer", "status", False),
        (Kind.HOLD, "importer", "status", False),
        (Kind.INCIDENT, "user", "anything", True),
    ],
)
def test_only_incidents_and_the_status_of_things_pass(kind: Kind, subject: str, attribute: str, expected: bool) -> None:
    assert passes(kind, subject, attribute) is expected


@pytest.mark.parametrize("kind", [Kind.RULE, Kind.PREFERENCE, Kind.DECISION, Kind.HOLD, Kind.FACT, Kind.GOAL, Kind.PLAN])
def test_what_lasts_never_passes(kind: Kind) -> None:
    assert only(heard("30", kind=kind, mark=True)).valid_until is None
