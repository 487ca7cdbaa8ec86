"""Text of shapes nobody types: it costs no more than other text of its length, and nothing breaks on it."""

from __future__ import annotations

import time

import pytest

from pipelines.engines.local.shell import parts
from pipelines.logs.origins import origin_of_result, parts_of_message, parts_of_result
from pipelines.logs.pasted import quoted_spans
from pipelines.model import Origin
from pipelines.text.sentences import sentences
from pipelines.wiki.lines import carried_text
from tests.dreaming import Desk
from tests.writing import ClaudeLog

SECONDS = 3.0
"""A hundred times what the text takes here, a tenth of what it took when the work grew with its square."""
LONG = 150_000


@pytest.mark.parametrize("motif", [")", "\n", "\n ", " ", "\t", "-", "a.", "> ", "```\n", "<env ", "<system-reminder ", "<system-reminder>", "no. ", "vs. "])
def test_reading_a_message_takes_time_in_line_with_its_length(motif: str) -> None:
    text = motif * (LONG // len(motif)) + "x"
    began = time.process_time()
    quoted_spans(text)
    parts_of_message(text)
    parts_of_result(text, Origin.TOOL)
    sentences(text)
    assert time.process_time() - began < SECONDS


@pytest.mark.parametrize("motif", ["(", "\n", "|", "&a", ";", "$(", "\n  ", "cat ", "curl "])
def test_reading_a_command_takes_time_in_line_with_its_length(motif: str) -> None:
    command = motif * (LONG // len(motif)) + "x"
    began = time.process_time()
    origin_of_result("Bash", {"command": command})
    assert time.process_time() - began < SECONDS


def test_a_paragraph_of_thousands_of_lines_is_carried_in_time() -> None:
    began = time.process_time()
    carried_text("a *b*\nc\n" * 8000, lambda _: None)
    assert time.process_time() - began < SECONDS


@pytest.mark.parametrize("opened", ["$(", "(", '"$(', "$(a "])
def test_a_command_of_nested_brackets_is_no_command(opened: str) -> None:
    assert parts("make check " + opened * 900) == ()


def test_brackets_beside_one_another_are_not_nested() -> None:
    assert len(parts(" && ".join(f"(echo $(date) {n})" for n in range(60)))) == 60


def test_a_log_of_such_shapes_is_dreamt_over(desk: Desk) -> None:
    log = ClaudeLog("shapes").user("The staging database listens on port 5433.")
    for text in ("$(" * 900, "(" * 900, " " * 1500 + "x", "-" * 1500, "\u2028" * 900):
        log.user(text).bash(f"make check && echo {text}", f"ok\n{text}").assistant(text)
    log.save(desk.logs)
    desk.note("shapes.md", "- " + "[" * 900 + "\n- " + "> " * 200 + "x\n\n" + "-" * 1500 + "x\n")
    began = time.process_time()
    assert desk.dream().report.status == "completed"
    assert time.process_time() - began < 4 * SECONDS
    assert "5433" in "".join(desk.pages().values())
