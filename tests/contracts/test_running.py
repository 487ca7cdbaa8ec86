"""A dream comes to the same end whatever runs its units and wherever its store lies; what goes wrong with one unit is no trouble of the others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipelines.errors import Permanent, Refused, Transient
from pipelines.ports import Extracted, Window
from pipelines.run import work as work_module
from pipelines.run.parts import Parts
from pipelines.run.report import report_from
from pipelines.run.units import plan as plan_module
from pipelines.run.work import run_job
from pipelines.store import Job, owner_of
from tests.contracts.running_kinds import EVERY, Failing, Running, running  # noqa: F401
from tests.dreaming import SCOPE, Desk, differences
from tests.redacting import shared_redactor
from tests.writing import ClaudeLog, memory

RULES = (
    "Always use pnpm in the web folder.",
    "Never push to main.",
    "Always run migrations with `make migrate`.",
    "Always write tests first.",
    "Never use tabs.",
)
POISON = "Always use npm in the api folder."
"""A session the engine of a test fails on."""


def write(desk: Desk) -> None:
    """Six sessions, one of them the one a test has an engine fail on, and a note that one of them corrects."""
    for number, said in enumerate((*RULES, POISON)):
        ClaudeLog(f"session {number}").later(days=number).user(said).assistant("Noted.").save(desk.logs)
    ClaudeLog("port").later(days=9).user("no, the staging database listens on port 5433, not 5432").save(desk.logs)
    desk.note("ports.md", memory("ports", "The staging database listens on port 5432.", modified="2026-02-20T10:00:00Z"))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> dict[str, str]:
    """The pages of one dream over the desk, by the command."""
    desk = Desk(tmp_path_factory.mktemp("undisturbed"), shared_redactor(request))
    write(desk)
    desk.dream()
    return desk.tree()


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_module, "BACK_OFF_S", 0.0)


@pytest.mark.parametrize("running", EVERY, indirect=True)
def test_the_same_bytes(running: Running, undisturbed: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    monkeypatch.setattr(plan_module, "SESSIONS_MAX", 2)
    write(running.desk)
    done = running.dream()
    assert (done.state, done.applied_rev) == ("completed", 1)
    assert differences(undisturbed, running.pages()) == []


@pytest.mark.parametrize("running", ["threads-sqlite", "threads-postgresql"], indirect=True)
def test_the_same_bytes_by_several_threads(running: Running, undisturbed: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    monkeypatch.setattr(plan_module, "SESSIONS_MAX", 1)
    write(running.desk)
    assert running.dream().state == "completed"
    assert differences(undisturbed, running.pages()) == []


@pytest.mark.parametrize("running", EVERY, indirect=True)
def test_a_session_that_poisons_its_unit_is_found_and_parked_and_the_dream_goes_on(running: Running, undisturbed: dict[str, str]) -> None:  # noqa: F811
    write(running.desk)
    engine = Failing(POISON, lambda: Permanent("no answer fits this session"))
    done = running.dream(engine)
    assert done.state == "completed"
    report = report_from(done.summary or {})
    (left,) = report.refused
    assert left.path.startswith("session ")
    assert left.why == "no answer fits this session"
    rules = running.pages()["how-we-work.md"]
    assert ("Always use pnpm" in rules, "npm in the api" in rules) == (True, False)
    again = running.dream()
    assert report_from(again.summary or {}).refused == ()
    assert differences(undisturbed, running.pages()) == [], "the next dream reads what was parked"


@pytest.mark.parametrize("running", EVERY, indirect=True)
def test_what_may_pass_is_tried_again(running: Running, undisturbed: dict[str, str]) -> None:  # noqa: F811
    write(running.desk)
    engine = Failing(POISON, lambda: Transient("the engine is busy"), times=2)
    assert running.dream(engine).state == "completed"
    assert max(engine.asked.values()) == 3
    assert differences(undisturbed, running.pages()) == []


def test_what_does_not_pass_is_parked_in_the_end(running: Running) -> None:  # noqa: F811
    write(running.desk)
    done = running.dream(Failing(POISON, lambda: Transient("the engine is busy"), sessions_a_unit=1))
    with running.desk.store() as store:
        ((stage, unit, code, why),) = store.parked(done)
    assert (done.state, stage, unit.split()[0], code, why) == ("completed", "extract", "session", "Transient", "the engine is busy")


def test_what_a_person_has_to_mend_is_not_tried_again(running: Running) -> None:  # noqa: F811
    write(running.desk)
    engine = Failing(POISON, lambda: Refused("the key of the engine is not valid"))
    assert running.dream(engine).state == "completed"
    assert max(engine.asked.values()) == 1


def test_an_error_nobody_expected_parks_the_one_session_it_came_from(running: Running) -> None:  # noqa: F811
    write(running.desk)
    done = running.dream(Failing(POISON, lambda: RecursionError("too deep")))
    with running.desk.store() as store:
        ((_, unit, code, _),) = store.parked(done)
    assert (done.state, unit.split()[0], code) == ("completed", "session", "RecursionError")


@pytest.mark.parametrize("running", EVERY, indirect=True)
def test_a_stage_that_cannot_be_done_fails_the_dream_and_nothing_is_believed(
    running: Running,  # noqa: F811
    undisturbed: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write(running.desk)

    def broken(_: object) -> object:
        raise ZeroDivisionError("a bug")

    with monkeypatch.context() as patch:
        patch.setitem(work_module.HANDLERS, "resolve", broken)  # type: ignore[arg-type]
        done = running.dream()
    assert (done.state, done.code, done.applied_rev) == ("failed", "ZeroDivisionError", None)
    assert running.pages() == {}
    assert running.dream().state == "completed"
    assert differences(undisturbed, running.pages()) == [], "what the failed dream read is not forgotten"


# --- one unit at a time ------------------------------------------------------------------------------------------------------------------


def claimed(parts: Parts, *, deadline_ms: int = 60_000, owner: int = 0) -> Job:
    job = parts.store.claim(owner_of(parts.holder, owner), ttl_ms=60_000, deadline_ms=deadline_ms)
    assert job is not None
    return job


def up_to(parts: Parts, stage: str) -> Job:
    """Work until a unit of a stage is claimed."""
    while (job := claimed(parts)).stage != stage:
        assert run_job(parts, job).outcome == "done"
    return job


@pytest.mark.parametrize("stage", ["plan", "extract", "resolve", "analyse", "apply", "render"])
def test_a_unit_that_is_not_ours_any_more_writes_nothing(running: Running, stage: str, undisturbed: dict[str, str]) -> None:  # noqa: F811
    write(running.desk)
    with running.parts() as parts:
        uid = running.ask(parts)
        job = up_to(parts, stage)
        parts.store.give_back(job)
        other = claimed(parts, owner=1)  # another thread has it now
        before = footprint(parts)
        assert run_job(parts, job).outcome == "lost"
        assert footprint(parts) == before
        assert run_job(parts, other).outcome == "done"
        running.runner(parts, uid)
    assert differences(undisturbed, running.pages()) == []


def footprint(parts: Parts) -> tuple[object, ...]:
    """What a unit might have changed."""
    store = parts.store
    ((dream, *_),) = (store.dreams(SCOPE),)
    return (
        store.dream_state(SCOPE, dream.uid), store.all_claims(SCOPE), store.dirty(SCOPE), store.planned(dream), store.heads(SCOPE), store.findings(SCOPE),
        store.pages(SCOPE), store.revisions(SCOPE),
    )  # fmt: skip


def test_a_process_that_is_asked_to_end_gives_its_unit_back_and_it_counts_as_nothing(running: Running, undisturbed: dict[str, str]) -> None:  # noqa: F811
    write(running.desk)
    with running.parts() as parts:
        uid = running.ask(parts)
        for _ in range(5):
            ran = run_job(parts, up_to(parts, "extract"), stop=lambda: True)
            assert (ran.outcome, len(ran.ring)) == ("given_back", 1)
        job = up_to(parts, "extract")
        assert (job.claims, job.failures) == (1, 0)
        assert run_job(parts, job).outcome == "done"
        running.runner(parts, uid)
    assert differences(undisturbed, running.pages()) == []


def test_a_unit_stops_at_its_deadline_and_is_tried_again(running: Running) -> None:  # noqa: F811
    write(running.desk)

    class Slow:
        """An engine that takes longer than a unit may, by the store's clock."""

        name = "local/1"

        def extract(self, window: Window) -> Extracted:
            parts.store.ticks = lambda: 2_000_000_000_000
            return Extracted()

    with running.parts(Slow()) as parts:
        parts.store.ticks = lambda: 1_000_000_000_000
        running.ask(parts)
        ran = run_job(parts, up_to(parts, "extract"))
        assert (ran.outcome, type(ran.error).__name__) == ("retried", "DeadlinePassed")
        assert parts.store.all_claims(SCOPE) == ()


def test_a_unit_whose_worker_died_is_parted_before_it_is_tried_again(running: Running, undisturbed: dict[str, str]) -> None:  # noqa: F811
    write(running.desk)
    with running.parts() as parts:
        uid = running.ask(parts)
        up_to(replace(parts, holder=f"{parts.holder.split(':')[0]}:{2**30}:1"), "extract")  # and its process is no more
        again = claimed(parts)
        assert (again.stage, again.claims) == ("extract", 2)
        ran = run_job(parts, again)
        assert (ran.outcome, len(ran.ring)) == ("split", 2)
        running.runner(parts, uid)
    assert differences(undisturbed, running.pages()) == []


def test_what_moved_before_apply_is_planned_again(running: Running, undisturbed: dict[str, str]) -> None:  # noqa: F811
    write(running.desk)
    waits = running.dream(dry_run=True)
    assert waits.state == "planned"
    with running.parts() as parts:
        uid = running.ask(parts)
        job = up_to(parts, "apply")
        parts.store.apply(waits, max_share=1.0)  # a person has looked at it meanwhile
        assert run_job(parts, job).outcome == "replanned"
        running.runner(parts, uid)
        assert (parts.store.dream(SCOPE, uid).state, parts.store.dream(SCOPE, uid).replans) == ("completed", 1)
    assert differences(undisturbed, running.pages()) == []
