"""What makes a note fall without ending it, and what gives it back."""

from __future__ import annotations

from pipelines.model import Kind, Origin, Standing, Status, Version, Witnessed
from pipelines.notes.beliefs import believe
from pipelines.notes.recheck import FAILED, MAY_HAVE_CHANGED

from .heard import day, heard, ruling

CHECK = "exit_status"


def run(command: str, *, at: float, session: str, ordinal: int = 0, failing: str = "", after: str | None = None) -> Witnessed:
    """A run of a command that worked, or of which the log shows the line that says why not; `after`: the command it was tried in place of."""
    return heard(
        command, at=at, session=session, ordinal=ordinal, subject="make restore", attribute="command", kind=Kind.PROCEDURE, origin=Origin.TOOL, verified_by=CHECK,
        cardinality="set", negated=bool(failing), reason=failing or None, old_value=after,
        statement=f"`{command}` failed: {failing}" if failing else f"`{command}`",
    )  # fmt: skip


def beliefs(*claims: Witnessed, decided: tuple[object, ...] = ()) -> tuple[Version, ...]:
    found = believe("user", claims, decided, skew_s=600.0, intake_at=day(365))  # type: ignore[arg-type]
    assert found == believe("user", claims[::-1], decided, skew_s=600.0, intake_at=day(365)), "arrival order decides nothing"  # type: ignore[arg-type]
    return found


def states(found: tuple[Version, ...]) -> dict[str | None, tuple[Status, str]]:
    return {v.value: (v.status, v.missed) for v in found if not v.slot.endswith(".mends")}


WORKS = (run("make restore", at=0, session="s1"), run("make restore", at=1, session="s2"))
FAILS = run("make restore", at=2, session="s3", failing="No rule to make target")


def test_a_procedure_falls_as_soon_as_a_later_session_shows_it_failing_and_names_the_line() -> None:
    (found,) = beliefs(*WORKS, FAILS)
    assert (found.status, found.missed, found.reason, found.ended_by) == (Status.NEEDS_RECHECK, FAILED, "No rule to make target", FAILS.uid)
    assert found.newest_evidence == day(1), "a failure is no evidence for it"


def test_a_failure_that_came_before_the_last_success_says_nothing() -> None:
    (found,) = beliefs(WORKS[0], run("make restore", at=0.5, session="s4", failing="disk full"), WORKS[1])
    assert (found.status, found.missed) == (Status.CONFIRMED, "")


def test_a_procedure_that_works_again_is_given_back() -> None:
    (found,) = beliefs(*WORKS, FAILS, run("make restore", at=3, session="s5"))
    assert (found.status, found.missed, found.reason) == (Status.CONFIRMED, "", None)


def test_a_person_who_says_that_it_still_holds_gives_it_back() -> None:
    (fallen,) = beliefs(*WORKS, FAILS)
    (found,) = beliefs(*WORKS, FAILS, decided=(ruling("keep", fallen.note, at=5),))
    assert found.status is Status.CONFIRMED


def test_a_failure_of_a_command_nobody_knows_is_no_note() -> None:
    assert beliefs(FAILS) == ()


def test_the_changed_command_that_worked_in_the_failing_session_takes_its_place() -> None:
    repair = run("make restore-db", at=2.01, session="s3", ordinal=4, after="make restore")
    found = beliefs(*WORKS, FAILS, repair)
    assert states(found) == {"make restore": (Status.SUPERSEDED, ""), "make restore-db": (Status.CONFIRMED, "")}
    (was,) = [v for v in found if v.slot.endswith(".mends")]
    new = next(v for v in found if v.value == "make restore-db")
    assert (was.note, was.value, was.status, was.reason) == (new.note, "make restore", Status.SUPERSEDED, "No rule to make target")
    assert next(v for v in found if v.value == "make restore" and v is not was).reason == "No rule to make target"


def test_a_changed_command_takes_no_place_of_one_that_was_never_known_to_work() -> None:
    repair = run("make restore-db", at=2.01, session="s3", ordinal=4, after="make restore")
    assert states(beliefs(FAILS, repair)) == {"make restore-db": (Status.DRAFT, "worked_in_one_session")}


# --- a newer value that is not proven ----------------------------------------------------------------------------------------------------

PORT = heard("5432", subject="db", attribute="port")


def hint(at: float, session: str = "s2", **given: object) -> Witnessed:
    return heard("6000", subject="db", attribute="port", at=at, session=session, doubts=("hedged",), **given)  # type: ignore[arg-type]


def test_a_newer_value_in_the_persons_own_unproven_words_has_the_old_one_checked_again() -> None:
    found = beliefs(PORT, hint(3))
    old = next(v for v in found if v.value == "5432")
    assert (old.status, old.missed, old.reason) == (Status.NEEDS_RECHECK, MAY_HAVE_CHANGED, "db port is 6000")
    assert (old.valid_until, old.newest_evidence) == (None, day(0))


def test_what_was_confirmed_anew_since_the_hint_stands() -> None:
    found = beliefs(PORT, hint(3), heard("5432", subject="db", attribute="port", at=5, session="s3"))
    assert states(found)["5432"] == (Status.CONFIRMED, "")


def test_words_of_others_an_older_value_and_a_set_are_no_hint() -> None:
    for claim in (hint(3, origin=Origin.ASSISTANT), hint(3, origin=Origin.EXTERNAL, standing=Standing.EXTERNAL), hint(-3)):
        assert states(beliefs(PORT, claim))["5432"] == (Status.CONFIRMED, ""), claim.origin
    tea = heard("tea", subject="user", attribute="likes", cardinality="set")
    coffee = heard("coffee", subject="user", attribute="likes", cardinality="set", at=3, session="s2", doubts=("hedged",))
    assert states(beliefs(tea, coffee))["tea"] == (Status.CONFIRMED, "")


# --- history ------------------------------------------------------------------------------------------------------------------------------


def test_a_draft_that_ended_says_that_it_was_never_believed() -> None:
    once = heard("8080", subject="api", attribute="port", origin=Origin.TOOL, doubts=("hedged",))
    said = heard("9090", subject="api", attribute="port", at=2, session="s2")
    assert states(beliefs(once, said)) == {"8080": (Status.SUPERSEDED, "hedged"), "9090": (Status.CONFIRMED, "")}


def test_a_fact_that_was_believed_ends_without_such_a_mark() -> None:
    said = heard("9090", subject="api", attribute="port", at=2, session="s2")
    assert states(beliefs(heard("8080", subject="api", attribute="port"), said))["8080"] == (Status.SUPERSEDED, "")


def test_a_retired_fact_that_becomes_true_again_comes_back_as_a_version_of_its_own() -> None:
    first, second, third = (heard(v, subject="api", attribute="port", at=n, session=f"s{n}") for n, v in enumerate(("8080", "9090", "8080")))
    found = sorted((v.valid_from, v.value, v.status, v.valid_until) for v in beliefs(first, second, third))
    assert found == [
        (day(0), "8080", Status.SUPERSEDED, day(1)), (day(1), "9090", Status.SUPERSEDED, day(2)), (day(2), "8080", Status.CONFIRMED, None),
    ]  # fmt: skip
