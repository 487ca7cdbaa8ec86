"""What one session leaves a draft and a second, independent one confirms: through intake, engine, gates and beliefs of real dreams."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from pipelines.model import Kind, Status, Version
from tests.dreaming import SCOPE, Desk, all_but_footnotes, lines_with
from tests.writing import START, ClaudeLog

TASK = "Where is the parser? Have a look first."
LATER = START + timedelta(days=3)
LAST = START + timedelta(days=9)


def beliefs(desk: Desk) -> list[Version]:
    with desk.store() as store:
        return [h.version for h in store.heads(SCOPE)]


def statuses(desk: Desk, words: str) -> list[Status]:
    return [v.status for v in beliefs(desk) if words in v.statement]


def session(name: str, *said: str, at: datetime = START) -> ClaudeLog:
    log = ClaudeLog(name, at=at)
    log.user(TASK).assistant("It is in `src/parser`.")
    for text in said:
        log.user(text).assistant("Understood.")
    return log


SAME = [
    ("Answer in English, please.", "please answer in English", Kind.PREFERENCE),
    ("Keep your answers short.", "Keep your answers short please.", Kind.PREFERENCE),
    ("Use tabs for indentation, not spaces.", "use tabs for indentation, not spaces", Kind.RULE),
    ("Don't squash commits.", "please don't squash commits", Kind.RULE),
    ("用要点回答。", "请用要点回答", Kind.PREFERENCE),
]


@pytest.mark.parametrize(("first", "again", "kind"), SAME)
def test_a_rule_or_preference_said_in_two_sessions_is_confirmed(desk: Desk, first: str, again: str, kind: Kind) -> None:
    session("one", first).save(desk.logs)
    desk.dream()
    (draft,) = (v for v in beliefs(desk) if v.kind is kind)
    assert (draft.status, draft.missed, draft.roots) == (Status.DRAFT, "said_once", 1)
    session("two", again, at=LATER).save(desk.logs)
    desk.dream()
    (standing,) = (v for v in beliefs(desk) if v.kind is kind)
    assert (standing.status, standing.missed, standing.roots) == (Status.CONFIRMED, "", 2)
    assert standing.statement in desk.brief()


def same_file_twice(desk: Desk) -> None:
    log = session("one", "Don't squash commits.")
    log.save(desk.logs)
    log.save(desk.logs / "copy")


def resumed(desk: Desk) -> None:
    """The next session's file opens with the records of the one it goes on from."""
    log = session("one", "Don't squash commits.")
    log.save(desk.logs)
    more = ClaudeLog("two", at=LATER, records=[{**r, "sessionId": ClaudeLog("two").uuid} for r in log.records])
    more.user("Go on.").assistant("Gladly.").save(desk.logs)


def quoted_later(desk: Desk) -> None:
    session("one", "Don't squash commits.").save(desk.logs)
    session("two", "Last week I wrote:\n\n> Don't squash commits.\n\nWhat did I mean?", at=LATER).save(desk.logs)


def echoed_by_the_agent(desk: Desk) -> None:
    session("one", "Don't squash commits.").save(desk.logs)
    session("two", at=LATER).assistant("Don't squash commits.").save(desk.logs)


def said_twice_in_one(desk: Desk) -> None:
    session("one", "Don't squash commits.", "I said: don't squash commits.").save(desk.logs)


@pytest.mark.parametrize("logs", [same_file_twice, resumed, quoted_later, echoed_by_the_agent, said_twice_in_one])
def test_copies_resumes_quotes_and_echoes_are_no_second_session(desk: Desk, logs: Callable[[Desk], None]) -> None:
    logs(desk)
    desk.dream()
    assert set(statuses(desk, "squash")) == {Status.DRAFT}
    assert lines_with(all_but_footnotes(desk.pages()), "squash") == []


def test_what_points_at_the_moment_is_not_confirmed_by_being_said_again(desk: Desk) -> None:
    for number, at in enumerate((START, LATER)):
        session(f"s{number}", "use that one instead of this", at=at).save(desk.logs)
    desk.dream()
    assert Status.CONFIRMED not in {v.status for v in beliefs(desk)}


def test_a_preference_said_twice_gives_way_to_another_said_twice_later(desk: Desk) -> None:
    words = ("I prefer tabs over spaces.", "I prefer tabs over spaces.", "I prefer spaces over tabs.", "I prefer spaces over tabs.")
    for number, text in enumerate(words):
        session(f"s{number}", text, at=START + timedelta(days=2 * number)).save(desk.logs)
    desk.dream()
    assert {v.statement: v.status for v in beliefs(desk)} == {words[0]: Status.SUPERSEDED, words[2]: Status.CONFIRMED}


def test_another_wish_said_once_leaves_a_preference_said_twice(desk: Desk) -> None:
    words = ("I prefer tabs over spaces.", "I prefer tabs over spaces.", "I prefer spaces over tabs.")
    for number, text in enumerate(words):
        session(f"s{number}", text, at=START + timedelta(days=2 * number)).save(desk.logs)
    desk.dream()
    assert {v.statement: v.status for v in beliefs(desk)} == {words[0]: Status.CONFIRMED, words[2]: Status.DRAFT}


def test_a_fact_that_tools_state_in_two_sessions_is_confirmed(desk: Desk) -> None:
    ClaudeLog("one").user(TASK).bash("depotctl whereis", "The depot is north of the canal.").save(desk.logs)
    desk.dream()
    assert statuses(desk, "north of the canal") == [Status.DRAFT]
    ClaudeLog("two", at=LATER).user(TASK).bash("depotctl whereis", "The depot is north of the canal.").save(desk.logs)
    desk.dream()
    assert statuses(desk, "north of the canal") == [Status.CONFIRMED]


def test_a_command_that_worked_in_two_sessions_is_confirmed(desk: Desk) -> None:
    def ran(name: str, at: datetime) -> None:
        ClaudeLog(name, at=at).user(TASK).bash("./tools/seed --tenant demo", "Seeded tenant demo: 12 rows inserted successfully.").save(desk.logs)

    ran("one", START)
    desk.dream()
    assert statuses(desk, "./tools/seed") == [Status.DRAFT]
    ran("two", LATER)
    desk.dream()
    assert statuses(desk, "./tools/seed") == [Status.CONFIRMED]


def test_words_that_wait_as_a_draft_do_not_wait_as_a_question_too(desk: Desk) -> None:
    ClaudeLog("one").user("Always run that script before a release.").assistant("Noted. Shall I call it now?").save(desk.logs)
    desk.dream()
    told = (desk.wiki / "inbox.md").read_text(encoding="utf-8")
    assert [line.partition(": `dreamd")[0].partition(" (")[0] for line in told.split("\n") if line.startswith("- ")] == [
        "- Always run that script before a release.",
        "- Shall I call it now?",
    ]
