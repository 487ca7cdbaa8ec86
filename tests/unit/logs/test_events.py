from datetime import UTC, datetime

import pytest

from pipelines.logs.events import EventsReader
from pipelines.model import Origin, Role
from tests.unit.logs.log_records import read


def row(topic: object = "retention-days", value: object = "30", status: object = "verified", **more: object) -> dict[str, object]:
    return {"topic": topic, "value": value, "status": status, "observed_at": "2026-03-02T09:00:00Z", "source": "watcher", **more}


def test_a_row_is_a_turn_whose_text_holds_topic_and_value_verbatim() -> None:
    (turn,) = read(EventsReader(), row("map.centre (north)", "east of the cave")).turns
    assert turn.text == "map.centre (north) = east of the cave\nstatus: verified\nsource: watcher"
    assert turn.event is not None
    assert (turn.event.topic, turn.event.value, turn.event.status, turn.event.producer) == ("map.centre (north)", "east of the cave", "verified", "watcher")
    assert (turn.at, turn.zone, turn.speaker) == (datetime(2026, 3, 2, 9, tzinfo=UTC), "UTC", "watcher")


@pytest.mark.parametrize(("value", "written"), [(30, "30"), (True, "true"), (["a", "b"], '["a", "b"]'), ({"面": 1}, '{"面": 1}'), (1.10, "1.1")])
def test_a_value_that_is_no_text_stands_as_its_json(value: object, written: str) -> None:
    (turn,) = read(EventsReader(), row(value=value)).turns
    assert turn.event is not None
    assert turn.event.value == written
    assert f"retention-days = {written}\n" in turn.text


@pytest.mark.parametrize(
    ("status", "role", "origin"),
    [
        ("verified", Role.TOOL, Origin.TOOL),
        ("Observed", Role.TOOL, Origin.TOOL),
        ("inferred", Role.ASSISTANT, Origin.ASSISTANT),
        ("guess", Role.ASSISTANT, Origin.ASSISTANT),
        (None, Role.ASSISTANT, Origin.ASSISTANT),
        ("user", Role.ASSISTANT, Origin.ASSISTANT),
    ],
)
def test_only_a_row_that_was_looked_at_is_a_tools_word_and_none_is_the_users(status: object, role: Role, origin: Origin) -> None:
    (turn,) = read(EventsReader(), row(status=status)).turns
    assert (turn.role, turn.origin) == (role, origin)


def test_the_same_row_in_another_file_is_the_same_turn_and_a_later_look_is_not() -> None:
    (one,) = read(EventsReader(), row()).turns
    _, copied = read(EventsReader(), row("first", "1"), row()).turns
    _, later = read(EventsReader(), row(), row(observed_at="2026-03-03T09:00:00Z")).turns
    assert one.uid == copied.uid != later.uid


def test_rows_without_topic_or_value_are_bad_and_the_rest_goes_on() -> None:
    result = read(EventsReader(), row(topic=""), row(value=None), row(topic=3), row())
    assert [b.reason for b in result.bad] == ["event_without_topic_or_value"] * 3
    assert [t.ordinal for t in result.turns] == [0]


def test_a_row_without_a_time_has_none() -> None:
    (turn,) = read(EventsReader(), row(observed_at=None)).turns
    assert (turn.at, turn.zone) == (None, None)


def test_the_format_is_known_by_topic_and_value_with_status_or_time() -> None:
    reader = EventsReader()
    assert reader.sniff([row()], "x")
    assert not reader.sniff([{"topic": "a", "value": "b"}, 3, {"type": "user"}], "x")
