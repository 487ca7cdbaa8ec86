"""Control sequences leave a text whole."""

from __future__ import annotations

import pytest

from pipelines.gates.unveil import plainly
from pipelines.text.controls import without_controls
from pipelines.wiki.inline import clean
from worker.cli.output import visible

SEQUENCES = (
    "\x1b[31m", "\x1b[0m", "\x1b[1;31;40m", "\x1b[2K", "\x1b[?25l", "\x1b[38:2::1:2:3m", "\x9b31m", "\x1b]0;title\x07", "\x1b]8;;https://example.org\x1b\\", "\x1bPq#0\x1b\\", "\x1b(B",
    "\x1b7", "\x1bc", "\x1b_hidden\x1b\\", "\x9d0;t\x9c",
)  # fmt: skip


@pytest.mark.parametrize("sequence", SEQUENCES)
@pytest.mark.parametrize("shown", [without_controls, clean, visible, plainly])
def test_a_sequence_is_taken_out_whole_everywhere_text_is_shown_or_judged(sequence: str, shown: object) -> None:
    assert callable(shown)
    assert shown(f"The port {sequence}is {sequence}5433.") == "The port is 5433."


@pytest.mark.parametrize("text", ["[31m is written by hand", "a[0] = b[1]m", "plain", "端口是 5433", "two\nlines\tand a tab"])
def test_text_without_an_escape_is_as_it_was(text: str) -> None:
    assert without_controls(text) == text


@pytest.mark.parametrize("cut", ["end\x1b", "end\x1b[", "end\x1b[31", "end\x1b]0;title"])
def test_a_sequence_that_is_cut_off_goes_too(cut: str) -> None:
    assert without_controls(cut) == "end"


def test_a_string_that_is_never_closed_takes_no_later_line_with_it() -> None:
    assert without_controls("\x1b]0;title\nThe port is 5433.") == "\nThe port is 5433."


@pytest.mark.parametrize("text", ["he said \x9d and went on", "\x90 stood for an umlaut", "\x9bwords"])
def test_half_a_quotation_mark_in_the_wrong_encoding_takes_no_words_with_it(text: str) -> None:
    assert without_controls(text) == "".join(ch for ch in text if ch.isprintable())
