"""What a session left open is told to the next one."""

from __future__ import annotations

from tests.dreaming import Desk
from tests.writing import ClaudeLog

QUESTION = "Shall I move the nightly import to the new queue as well?"


def test_what_sessions_asked_last_waits_newest_first_until_a_later_one_speaks_of_it(desk: Desk) -> None:
    ClaudeLog("old").user("please tidy the import script").assistant("Done. Should the old flags go too?").save(desk.logs)
    ClaudeLog("new").later(days=3).user("please speed the import up").assistant(f"It takes 4 s now. {QUESTION}").save(desk.logs)
    desk.dream()
    waits = [line for line in desk.brief().splitlines() if line.startswith("- Asked and not answered")]
    assert waits == [f"- Asked and not answered: {QUESTION} → [inbox](inbox.md)", "- Asked and not answered: Should the old flags go too? → [inbox](inbox.md)"]
    ClaudeLog("newer").later(days=4).user("leave the nightly import on its queue as it is, the old flags can go").assistant("Good.").save(desk.logs)
    desk.dream()
    assert "Asked and not answered" not in desk.brief()
