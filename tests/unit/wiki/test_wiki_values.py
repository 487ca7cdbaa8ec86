"""What of a sentence is in bold: the value alone."""

from __future__ import annotations

import pytest

from pipelines.wiki.inline import plain, strong_value, write


@pytest.mark.parametrize(
    ("sentence", "value", "shown"),
    [
        ("CI runs on Node 22 now, we upgraded last week.", "Node 22 now, we upgraded", "CI runs on **Node 22** now, we upgraded last week."),
        ("The port is 9090 now.", "9090 now", "The port is **9090** now."),
        ("It ships with Redis, Postgres and nginx.", "Redis, Postgres and nginx", "It ships with **Redis, Postgres and nginx**."),
        ("The port is 9090.", "9090", "The port is **9090**."),
    ],
)
def test_the_value_alone_is_bold_without_what_is_said_of_it(sentence: str, value: str, shown: str) -> None:
    assert write(strong_value(plain(sentence), value)) == shown
