"""A small run of `tests.benchmarks.users`: what a person told once of themselves outlasts what the work repeats."""

from __future__ import annotations

from pathlib import Path

from tests.benchmarks.users import live
from tests.dreaming import Desk


def test_what_was_told_once_of_oneself_is_in_every_brief_though_the_work_repeats_itself(tmp_path: Path, desk: Desk) -> None:
    kept = live(tmp_path / "user", desk.redactor, 3, sessions=9, cap=4, every=4)
    assert (kept.allergy, kept.drink, kept.airline, kept.always) == (True, True, True, True)
    assert kept.work == 1, "the cap holds what does not last"
