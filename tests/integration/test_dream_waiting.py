"""What a session left open is told to the next one."""

from __future__ import annotations

import json

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


def test_a_plan_nobody_said_yes_to_is_called_a_plan_in_the_brief_the_queue_and_the_work_log(desk: Desk) -> None:
    log = ClaudeLog("plan").user("please speed the import up").assistant("I read the code.")
    block = {"type": "tool_use", "id": "p1", "name": "ExitPlanMode", "input": {"plan": "# Plan: Stream the import\n\n1. read rows one by one"}}
    log.records.append(
        json.loads(json.dumps(log.records[-1])) | {"uuid": "u-plan", "message": {"id": "m", "role": "assistant", "type": "message", "content": [block]}}
    )
    log.save(desk.logs)
    desk.dream()
    told = "Plan shown, no yes or no to it yet: Stream the import"
    assert f"- {told} → [inbox](inbox.md)" in desk.brief().splitlines()
    assert f"- {told}: `dreamd why n-" in desk.tree()["inbox.md"]
    assert '"Stream the import"' in desk.tree()["recent.md"]
    assert "Asked and not answered" not in desk.brief() + desk.tree()["recent.md"]
