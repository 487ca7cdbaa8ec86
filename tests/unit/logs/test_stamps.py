from datetime import UTC, datetime

import pytest

from pipelines.logs.stamps import UNKNOWN, Stamp, stamp


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc,arg-type]


@pytest.mark.parametrize(
    ("given", "at", "zone"),
    [
        ("2026-03-02T09:00:00.000Z", utc(2026, 3, 2, 9), "UTC"),
        ("2026-03-02T09:00:00.123456789Z", utc(2026, 3, 2, 9, 0, 0, 123456), "UTC"),
        ("2026-03-02T09:00:00+02:00", utc(2026, 3, 2, 7), "+02:00"),
        ("2026-03-02T09:00:00-0530", utc(2026, 3, 2, 14, 30), "-05:30"),
        ("2026-03-02 09:00:00", utc(2026, 3, 2, 9), UNKNOWN),
        ("2026-03-02", utc(2026, 3, 2), UNKNOWN),
        (1772442000, utc(2026, 3, 2, 9), "UTC"),
        (1772442000000, utc(2026, 3, 2, 9), "UTC"),
        ("1772442000", utc(2026, 3, 2, 9), "UTC"),
        ("2026/03/02 (Mon) 18:10", utc(2026, 3, 2, 18, 10), UNKNOWN),
        ("2026年03月02日 周一 08:38", utc(2026, 3, 2, 8, 38), UNKNOWN),
        ("2026年3月2日下午3:05", utc(2026, 3, 2, 15, 5), UNKNOWN),
        ("7:55 pm on 2 March, 2026", utc(2026, 3, 2, 19, 55), UNKNOWN),
        ("12:48 am on 2 March, 2026", utc(2026, 3, 2, 0, 48), UNKNOWN),
        ("2 March 2026", utc(2026, 3, 2), UNKNOWN),
        ("Mar 2, 2026", utc(2026, 3, 2), UNKNOWN),
        ("March 2nd, 2026 at 7:05 PM", utc(2026, 3, 2, 19, 5), UNKNOWN),
    ],
)
def test_times_are_read_in_the_styles_logs_state_them(given: object, at: datetime, zone: str) -> None:
    assert stamp(given) == Stamp(at, zone)


@pytest.mark.parametrize("given", [None, "", "soon", "yesterday", True, 7, 0, [], "2026-13-40", "31 Foo 2026", "30 February 2026", "9999-12-31T23:59:59-14:00"])
def test_what_states_no_time_gives_none_and_never_raises(given: object) -> None:
    assert stamp(given) == Stamp(None, None)
