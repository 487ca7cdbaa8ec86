"""A history an importer gave one time: nothing is dated by it, and the page says that the time is unknown."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

from pipelines.model import Status
from tests.dreaming import SCOPE, Desk, lines_with
from tests.writing import conversation

STAMP = datetime(2026, 3, 31, 12, 7, 31, tzinfo=UTC)
HISTORY = (
    ("Ana", "The code freeze lasts until tomorrow."), ("assistant", "Noted."), ("Ana", "We keep audit logs for 30 days."), ("assistant", "Noted."),
    ("Ana", "The staging server is called heron."), ("assistant", "Noted."),
)  # fmt: skip


def chat(desk: Desk, *, step: timedelta) -> None:
    rows = [{"session": "old-chat", "speaker": who, "time": (STAMP + n * step).isoformat(), "text": text} for n, (who, text) in enumerate(HISTORY)]
    (desk.logs / "chat.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_tomorrow_of_an_imported_history_is_no_day_and_its_lines_say_that_their_time_is_unknown(desk: Desk) -> None:
    chat(desk, step=timedelta(0))
    desk.dream()
    assert lines_with(desk.pages(), "The code freeze lasts until tomorrow.")
    assert not lines_with(desk.pages(), "2026-04-01")
    footnotes = lines_with(desk.pages(), "]:", "old-chat")
    assert footnotes
    assert all("time unknown" in line for line in footnotes)
    assert not lines_with(desk.tree(), "31 Mar"), "it is no work of that day either"


def test_the_same_history_with_times_of_its_own_is_dated(desk: Desk) -> None:
    chat(desk, step=timedelta(seconds=40))
    desk.dream()
    assert lines_with(desk.pages(), "tomorrow (2026-04-01)")
    assert not lines_with(desk.pages(), "time unknown")
    assert lines_with(desk.tree(), "31 Mar")


def test_an_imported_history_overrules_no_session_that_tells_its_time(desk: Desk) -> None:
    for step, expected in ((timedelta(0), Status.DISPUTED), (timedelta(seconds=40), Status.SUPERSEDED)):
        with_times = Desk(desk.root / str(step.seconds), desk.redactor)
        earlier = conversation("standup", [("Ana", "We keep audit logs for 90 days.")], at=STAMP - timedelta(days=60))
        (with_times.logs / "standup.jsonl").write_text(earlier, encoding="utf-8")
        chat(with_times, step=step)
        with_times.dream()
        with with_times.store() as store:
            (old,) = [h.version for h in store.heads(SCOPE) if h.version.statement == "We keep audit logs for 90 days."]
        assert old.status is expected
