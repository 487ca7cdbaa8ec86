"""A log that names no zone: its days are counted in UTC, and wherever a day depends on that, it is said. Days are counted by hand on a calendar."""

from __future__ import annotations

import json

import pytest

from pipelines.run.why import why
from tests.dreaming import SCOPE, Desk, lines_with
from worker.cli.reading import print_chain


def talk(desk: Desk, time: str) -> None:
    words = ("The code freeze lasts until tomorrow.", "The cache TTL is 10 minutes.")
    rows = [{"session": "talk", "speaker": "Ana", "time": time, "text": text} for text in words]
    (desk.logs / "talk.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")


def test_a_day_counted_without_a_zone_says_so_in_its_footnote(desk: Desk) -> None:
    talk(desk, "2026-03-31 23:30:00")  # in Shanghai it is the first of April already, and "tomorrow" the second
    desk.dream()
    (line,) = lines_with(desk.pages(), "^1]:", "until tomorrow")
    assert line.endswith("zone unknown, taken as UTC")
    assert lines_with(desk.pages(), "tomorrow (2026-04-01)")
    (plain,) = lines_with(desk.pages(), "]:", "cache TTL")
    assert "zone unknown" not in plain, "nothing of this one depends on the zone"


def test_a_day_counted_in_a_stated_zone_says_nothing_more(desk: Desk) -> None:
    talk(desk, "2026-03-31T23:30:00+08:00")
    desk.dream()
    assert lines_with(desk.pages(), "tomorrow (2026-04-01)")
    assert not lines_with(desk.pages(), "zone unknown")


@pytest.mark.parametrize(
    ("time", "told"), [("2026-03-31 23:30:00", "2026-03-31 23:30 (zone unknown, taken as UTC), "), ("2026-03-31T23:30:00+08:00", "2026-03-31 15:30, ")]
)
def test_why_says_that_the_zone_of_a_line_is_unknown(desk: Desk, capsys: pytest.CaptureFixture[str], time: str, told: str) -> None:
    talk(desk, time)
    desk.dream()
    with desk.store() as store:
        for chain in why(store, SCOPE, "about.md"):
            print_chain(chain)
    assert told in capsys.readouterr().out
