"""What a terminal is shown of words nobody here wrote."""

import pytest

from worker.cli.output import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31mred", "ared"),
        ("two\nlines", "two lines"),
        ("abc\u202edef", "abc\ufffddef"),
        ("数据库 C++ é", "数据库 C++ é"),
        ("\x9b2J", ""),
    ],
)
def test_nothing_moves_the_cursor_or_turns_the_direction_round(text: str, shown: str) -> None:
    assert visible(text) == shown
