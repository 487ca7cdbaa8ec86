"""What a session left open is told to the next one."""

from __future__ import annotations

from tests.dreaming import Desk
from tests.writing import ClaudeLog

QUESTION = "Shall I move the nightly import to the new queue as well?"


def test_what_the_newest_session_asked_last_waits_and_what_an_older_one_asked_does_not(desk: Desk) -> None:
    ClaudeLog("old").user("please tidy the import script").assistant("Done. Should the old flags go too?").save(desk.logs)
    ClaudeLog("new").later(days=3).user("please speed the import up").assistant(f"It takes 4 s now. {QUESTION}").save(desk.logs)
    desk.dream()
    assert f"- Asked and not answered: {QUESTION} → [inbox](inbox.md)" in desk.brief()
    assert "old flags" not in desk.brief()
    ClaudeLog("newer").later(days=4).user("the import is fine as it is").assistant("Good.").save(desk.logs)
    desk.dream()
    assert "Asked and not answered" not in desk.brief()
