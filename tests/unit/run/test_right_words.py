"""What a wrong line should say is the statement, without what led it in."""

from __future__ import annotations

import pytest

from pipelines.model import Finding, Quote, Verdict
from pipelines.run.carried import rights_of


@pytest.mark.parametrize(
    ("words", "right"),
    [
        ("No, the default log level is warn, not debug.", "The default log level is warn, not debug."),
        ("不对，端口是 9090。", "端口是 9090。"),
        ("No tests run on Fridays.", "No tests run on Fridays."),
    ],
)
def test_the_no_that_led_a_statement_in_is_no_part_of_it(words: str, right: str) -> None:
    quote = Quote(turn="t1", start=0, end=len(words), text=words)
    finding = Finding(note="n1", verdict=Verdict.CORRECTED, why="x", quotes=(quote,), corrected=words)
    assert rights_of(finding, {}) == (right,)
