"""What the last test run of a session said of itself: the summary line of its output, as the runner printed it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pipelines.engines.local.runs import FAILED_COUNT, Ended, Run, program_of, worth_telling

SUMMARY_MAX = 120
COMMAND_MAX = 80
_TESTS = re.compile(r"\b(?:test|tests|pytest|vitest|jest|mocha|rspec|phpunit|ctest|tox|nox|unittest|playwright|cypress|nextest)\b")
_NO_RUNNER = frozenset(
    {"grep", "rg", "cat", "ls", "cd", "git", "echo", "find", "sed", "head", "tail", "wc", "mkdir", "rm", "cp", "mv", "touch", "gh", "test", "tree"}
)
_SUMMARY = re.compile(
    r"^.*(?:\b\d+ (?:tests?|specs?|examples?|doctests?)\b[^\n]*\b\d+ (?:failures?|failed|passed)"  # mix, rspec, swift
    r"|\bTests?:?\s+(?:\d+ (?:failed|passed|skipped|todo|total)\b[ ,|]*)+"  # jest, vitest
    r"|\b\d+ (?:passed|failed|passing|failing|errors?)\b(?=[^\n]*(?:\bin \d|\b\d+(?:\.\d+)?m?s\b|=|\(\d|$))"  # pytest, mocha, playwright
    r"|\btest result: (?:ok|FAILED)"  # cargo
    r"|\bOK \(\d+ tests?|\bRan \d+ tests?\b"  # phpunit, unittest
    r"|\b\d+% tests passed).*$",  # ctest
    re.MULTILINE,
)
_MARKUP = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


@dataclass(frozen=True, slots=True, kw_only=True)
class LastTest:
    """The last test run: its command, the line that sums it up without a terminal's colours ("" when it prints none), and whether it failed."""

    command: str
    summary: str
    failed: bool


def last_test(runs: Sequence[Run]) -> LastTest | None:
    """The last test run that says how it went; None when the log shows none."""
    for run in reversed(runs):
        if not _TESTS.search(run.command) or program_of(run.part.words) in _NO_RUNNER:
            continue
        summary = _summary(run.result.text)
        if summary or (run.ended is not Ended.UNKNOWN and worth_telling(run.part)):
            return LastTest(command=run.command[:COMMAND_MAX], summary=summary, failed=run.ended is Ended.FAILED or bool(FAILED_COUNT.search(summary)))
    return None


def _summary(output: str) -> str:
    """The last line of an output that sums up tests."""
    found = [line.group() for line in _SUMMARY.finditer(_MARKUP.sub("", output))]
    return " ".join(found[-1].strip("= \t\r").split())[:SUMMARY_MAX] if found else ""
