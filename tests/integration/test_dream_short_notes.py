"""The terse lines agents jot down, against what people and results say later: corrected, upheld or left alone, never guessed at."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from pipelines.model import Verdict
from tests.dreaming import Desk
from tests.writing import START, ClaudeLog, memory

WRITTEN = "2026-03-01T09:00:00Z"


def verdict(desk: Desk, line: str, *said: str) -> Verdict:
    """What becomes of a one-line note when these are typed a day later."""
    desk.note("stack.md", memory("stack", line, modified=WRITTEN))
    log = ClaudeLog("later", at=START + timedelta(days=1)).user("Look around first.").assistant("I did.")
    for text in said:
        log.user(text).assistant("Understood.")
    log.save(desk.logs)
    desk.dream()
    (finding,) = (f for text, (_, f) in desk.verdicts().items() if line.endswith(text))
    return finding.verdict


CHANGED = [
    ("Uses yarn", "we use pnpm now"),
    ("Package manager: yarn", "We use pnpm now, not yarn."),
    ("DB port 6001", "The database listens on port 6002 now."),
    ("Port: 6001", "The port is 6002 now, not 6001."),
    ("# Setup\n\n## Database\n\n- Port: 6001", "The database listens on port 6002 now."),
    ("Gateway runs on 7001", "The gateway listens on port 7002 now."),
    ("Backups at 02:00 UTC", "Backups run at 03:00 UTC now."),
    ("Deploy: make deploy", "We deploy with `make ship` now."),
]


@pytest.mark.parametrize(("line", "said"), CHANGED)
def test_a_short_note_that_a_person_changed_is_superseded(desk: Desk, line: str, said: str) -> None:
    assert verdict(desk, line, said) in {Verdict.SUPERSEDED, Verdict.CORRECTED}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("DB port 6001", "The database listens on port 6001."),
        ("Gateway runs on 7001", "The gateway is on port 7001."),
        ("Backups at 02:00 UTC", "The backups run at 02:00 UTC."),
        ("Deploy: make deploy", "We deploy with `make deploy`."),
    ],
)
def test_a_short_note_that_a_person_repeats_is_upheld(desk: Desk, line: str, said: str) -> None:
    assert verdict(desk, line, said) is Verdict.UPHELD


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("Port: 6001", "The port is 6002 now."),
        ("# Setup\n\n## Cache\n\n- Port: 6001", "The database listens on port 6002 now."),
        ("Uses yarn", "The docs site uses pnpm now."),
        ("Uses yarn", "We use Redis now."),
        ("Uses yarn", "Could we use pnpm now?"),
        ("DB port 6001", "The staging database listens on port 6002."),
        ("DB port 6001", "The API listens on port 6002 now."),
        ("Backups at 02:00 UTC", "The backup failed at 03:00 UTC."),
        ("Deploy: make deploy", "Deploy with `make ship`."),
        ("Deploy: make deploy", "We deploy the docs with `make docs` now."),
        ("Deploy: make deploy", "If it breaks, we deploy with `make ship` now."),
    ],
)
def test_a_short_note_that_nothing_decides_is_left_alone(desk: Desk, line: str, said: str) -> None:
    assert verdict(desk, line, said) in {Verdict.UNCHECKED, Verdict.UNSUPPORTED}


def test_a_note_is_over_by_its_own_words_at_the_first_dream_after_them_though_nothing_else_is_new(desk: Desk) -> None:
    line = "No deploys to production until 10 March 2026."
    desk.note("freeze.md", memory("freeze", f"- {line}\n- The relay sleeps at night.", modified=WRITTEN))
    ClaudeLog("later", at=START).user("Look around first.").assistant("I did.").save(desk.logs)
    page = desk.wiki / "freeze.md"
    desk.now = datetime(2026, 3, 10, 23, 0, tzinfo=UTC)
    desk.dream()
    assert [row.partition(" [^")[0] for row in page.read_text(encoding="utf-8").split("\n") if line in row] == [f"- {line}"]
    desk.now = datetime(2026, 3, 11, 0, 0, tzinfo=UTC)
    desk.dream()
    assert [row.partition(" [^")[0] for row in page.read_text(encoding="utf-8").split("\n") if line in row] == [f"- Superseded: {line}"]
    assert "- The relay sleeps at night. [^" in page.read_text(encoding="utf-8")
    assert line not in (desk.wiki / "MEMORY.md").read_text(encoding="utf-8")


def test_what_one_of_several_sentences_says_ends_none_of_the_others(desk: Desk) -> None:
    line = "Ask Ana before a deploy. No deploys until 10 March 2026."
    assert verdict(desk, f"- {line}") is Verdict.UNCHECKED
