"""What passes by itself leaves recall, the brief and the pages when nobody has spoken of it for thirty days, and is kept with its dates."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from pipelines.recall.search import search
from pipelines.run.publish import publish_revision
from pipelines.run.runner import drive
from pipelines.run.wiki import folder_of
from tests.dreaming import SCOPE, Desk, lines_with
from tests.integration.test_schedule import Deaf
from tests.writing import START, ClaudeLog
from worker.bell import silent
from worker.scheduler import tick

STATUS, PORT = "importer is blocked", "importer is 7001"


def found(desk: Desk, words: str) -> bool:
    with desk.store() as store:
        return any(STATUS in hit.text for hit in search(store, SCOPE, words, limit=20, now=desk.now) if hit.uid and hit.session is None)


def test_a_status_nobody_spoke_of_for_thirty_days_is_over_without_an_engine(desk: Desk) -> None:
    desk.now = START + timedelta(days=1)
    ClaudeLog("one").user("The status of the importer is blocked.").user("The port of the importer is 7001.").save(desk.logs)
    desk.dream()
    (line,) = lines_with({"MEMORY.md": desk.brief()}, STATUS)[:1]
    assert "Until" not in line, "nobody said until when"
    assert found(desk, "importer status")

    desk.now = START + timedelta(days=29, hours=23)
    with desk.store() as store:
        assert tick(store, desk.now, params={}, ring=silent).expired == ()
    desk.now = START + timedelta(days=30)
    assert not found(desk, "importer status"), "recall goes by the reader's clock"
    with desk.store() as store:
        parts = replace(desk.parts(store), engine=Deaf())
        assert tick(store, desk.now, params={}, ring=silent).expired == (SCOPE,)
        (expiry,) = (d for d in store.dreams(SCOPE) if d.cause == "expiry")
        assert drive(parts, SCOPE, expiry.uid).dream.state == "completed"
        publish_revision(parts, folder_of(desk.request()), SCOPE)
    live = {"MEMORY.md": desk.brief(), **desk.pages()}
    assert lines_with(live, PORT)
    assert not lines_with(live, STATUS)
    (kept,) = lines_with({n: t for n, t in desk.tree().items() if n.startswith("archive/")}, "Expired")
    assert "Expired on 1 Apr 2026: The status of the importer is blocked. (since 2 Mar 2026)" in kept
    assert "nothing was heard of it for 30 days" in kept


def test_a_status_that_is_heard_again_stays_and_one_that_is_over_comes_back(desk: Desk) -> None:
    desk.now = START + timedelta(days=40)
    ClaudeLog("one").user("The status of the importer is blocked.").save(desk.logs)
    desk.dream()
    assert not lines_with({"MEMORY.md": desk.brief()}, STATUS), "old logs tell no present status"
    ClaudeLog("two", at=START + timedelta(days=20)).user("The status of the importer is blocked.").save(desk.logs)
    desk.dream()
    assert lines_with({"MEMORY.md": desk.brief()}, STATUS)
