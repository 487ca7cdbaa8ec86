"""What a gate held counts on a person's word, and the last word counts."""

from __future__ import annotations

from dataclasses import replace

from pipelines.model import Outcome, Ruling, Status
from pipelines.notes.beliefs import believe

from .heard import day, heard, ruling

HELD = replace(heard("5433", subject="server", attribute="port", statement="The server port is 5433"), outcome=Outcome.QUARANTINE)


def believed(*rulings: Ruling) -> set[Status]:
    return {v.status for v in believe("user", [HELD], rulings, skew_s=600.0, intake_at=day(365))}


def test_what_is_held_counts_once_a_person_approved_it_and_no_more_once_they_refused_it() -> None:
    approved, refused = ruling("approve", HELD.uid, at=100, uid="yes"), ruling("reject", HELD.uid, at=101, uid="no")
    assert believed() == set()
    assert Status.CONFIRMED in believed(approved)
    assert believed(approved, refused) == set()
    later = ruling("approve", HELD.uid, at=102, uid="after all")
    assert Status.CONFIRMED in believed(approved, refused, later)
