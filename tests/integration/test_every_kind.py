"""What is stated outright reaches a page through every gate, kind by kind: a gate that stops a whole kind is seen here."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dreaming import Desk
from tests.writing import ClaudeLog

SAMPLE = Path(__file__).resolve().parents[2] / "deploy" / "sample"


def told(desk: Desk, part: str) -> list[str]:
    """The lines of one part of the brief, without where they lead."""
    _, _, after = desk.brief().partition(f"\n## {part}\n")
    return [line.removeprefix("- ").partition(" →")[0] for line in after.partition("\n## ")[0].strip().splitlines()]


def test_the_sample_teaches_the_commands_that_worked_with_what_made_them_work(desk: Desk) -> None:
    desk.dream(SAMPLE / "sessions")
    assert told(desk, "Commands that work") == [
        "`HARBOR_ENV=test pytest -q`; `pytest -q` failed: KeyError: 'HARBOR_ENV'. Worked on 2 Mar 2026 and 9 Mar 2026.",
        "`pnpm run build`; `npm run build` failed: npm error This project is configured to use pnpm. Run pnpm instead of npm. Worked on 12 Mar 2026.",
        "`DATABASE_URL=postgresql://localhost:5433/harbor make migrate`; `make migrate` failed: error: DATABASE_URL is not set. Worked on 2 Mar 2026.",
    ]


@pytest.mark.parametrize(
    ("words", "part", "line"),
    [
        ("From now on always use pnpm, never npm.", "Rules", "From now on always use pnpm, never npm."),
        ("在我确认之前不要部署到生产环境。", "Rules", "在我确认之前不要部署到生产环境。"),
        ("To run the tests, use `pnpm test`.", "Commands that work", "To run the tests, use `pnpm test`."),
        ("My goal is to run a marathon in October.", "Waiting", "My goal is to run a marathon in October."),
        ("我们决定用 PostgreSQL。", "Facts and decisions", "我们决定用 PostgreSQL。"),
        ("The staging database listens on port 5433.", "Facts and decisions", "The staging database listens on port 5433."),
        ("I'm allergic to walnuts.", "Facts and decisions", "I'm allergic to walnuts."),
        ("Remember that Ana reviews all migrations.", "Facts and decisions", "Ana reviews all migrations."),
        ("请记住：我们的数据库在新加坡", "Facts and decisions", "我们的数据库在新加坡"),
    ],
)
def test_what_a_person_states_outright_is_told_to_the_next_session(desk: Desk, words: str, part: str, line: str) -> None:
    ClaudeLog("said").user(words).assistant("Understood.").save(desk.logs)
    desk.dream()
    assert line in told(desk, part)


def test_a_later_rule_on_the_language_of_a_thing_takes_the_place_of_the_earlier_one(desk: Desk) -> None:
    ClaudeLog("before").user("Always write commit messages in English.").assistant("Understood.").save(desk.logs)
    ClaudeLog("after").later(days=3).user("From now on write commit messages in Chinese.").assistant("Understood.").save(desk.logs)
    desk.dream()
    assert told(desk, "Rules") == ["From now on write commit messages in Chinese."]
