from __future__ import annotations

import pytest

from pipelines.engines.local.procedures import stated_command
from pipelines.model import Claim, Kind
from tests.unit.engines.talk import Talk, said


def procedures(talk: Talk) -> list[Claim]:
    return [c for c in talk.claims() if c.kind is Kind.PROCEDURE and not c.negated]


def failures(talk: Talk) -> list[Claim]:
    return [c for c in talk.claims() if c.kind is Kind.PROCEDURE and c.negated]


def test_a_command_that_works_where_its_forerunner_failed_for_a_named_cause_stands_alone() -> None:
    talk = Talk().user("run the tests")
    talk.run("pytest -q", "tests/conftest.py:12: in <module>\nE   KeyError: 'HARBOR_ENV'", exit=1)
    talk.run("HARBOR_ENV=test pytest -q", "42 passed in 3.18s")
    (claim,) = procedures(talk)
    assert claim.value == "HARBOR_ENV=test pytest -q"
    assert (claim.doubts, claim.old_value) == ((), "pytest -q")
    assert claim.verified_by == "exit_status"
    assert claim.reason == "KeyError: 'HARBOR_ENV'"
    assert {q.text for q in claim.quotes} >= {"HARBOR_ENV=test pytest -q", "42 passed in 3.18s", "pytest -q", "KeyError: 'HARBOR_ENV'"}


def test_the_error_may_name_the_program_to_use_instead() -> None:
    talk = Talk().run("cd web && npm run build", "This project is configured to use pnpm.", exit=1).run("cd web && pnpm run build", "built in 2.41s")
    (claim,) = procedures(talk)
    assert (claim.subject, claim.value, claim.old_value) == ("pnpm run build", "pnpm run build", "npm run build")


def test_a_variable_that_lets_the_program_start_is_found_by_the_reason_it_gave() -> None:
    talk = Talk().run("yarn --version", "This project uses npm because package.json says so", exit=1)
    talk.run("COREPACK_STRICT=0 yarn build 2>&1 | tail -3", "Compiled successfully in 4s")
    (claim,) = procedures(talk)
    assert (claim.value, claim.old_value) == ("COREPACK_STRICT=0 yarn build", "yarn --version")


def test_an_error_that_does_not_name_the_difference_makes_no_pair() -> None:
    talk = Talk().run("make deploy", "connection reset by peer", exit=1).run("make deploy VERBOSE=1", "Successfully deployed")
    (claim,) = procedures(talk)
    assert (claim.old_value, claim.reason) == ("make deploy", None), "it took the place of one that failed, nobody knows why"


def test_a_command_the_session_leaves_failing_is_told_with_the_line_that_says_so() -> None:
    (claim,) = failures(Talk().run("make restore", "reading Makefile\nmake: *** No rule to make target 'restore'.  Stop.", exit=2))
    assert (claim.subject, claim.value, claim.verified_by) == ("make restore", "make restore", "exit_status")
    assert claim.statement == "`make restore` failed: make: *** No rule to make target 'restore'.  Stop."
    assert claim.reason == "make: *** No rule to make target 'restore'.  Stop."


@pytest.mark.parametrize(
    "talk",
    [
        Talk().run("make restore", "connection reset", exit=1).run("make restore", "restored 4 tables"),
        Talk().run("pytest -q", "3 failed, 40 passed in 3.1s", exit=1),
        Talk().run("npm run build", "src/a.ts(3,1): error TS2345: no", exit=2),
        Talk().run("cat nothing.txt", "cat: nothing.txt: No such file or directory", exit=1),
    ],
    ids=["worked again", "failing tests", "findings", "nothing worth telling"],
)
def test_what_says_nothing_of_the_command_itself_is_no_failure_of_it(talk: Talk) -> None:
    assert failures(talk) == []


def test_steps_between_that_handle_the_named_cause_belong_to_the_procedure() -> None:
    talk = Talk().run("make restore", "error: TARGET is missing, log in to staging first", exit=2)
    talk.run("just enter staging", "you are in").run("ls", "a").run("make restore TARGET=staging", "restored 4 tables")
    (claim,) = [c for c in procedures(talk) if c.old_value]
    assert claim.value == "make restore TARGET=staging"
    assert claim.statement.startswith("`just enter staging`, then `make restore TARGET=staging`; `make restore` failed: ")
    assert "you are in" in {q.text for q in claim.quotes}


def test_a_single_success_waits_for_a_second_session() -> None:
    (claim,) = procedures(Talk().run("mix test", "14 tests, 0 failures"))
    assert (claim.subject, claim.value, claim.old_value, claim.verified_by) == ("mix test", "mix test", None, "exit_status")


@pytest.mark.parametrize(
    "command",
    [
        "ls -la", "cat a.txt", "cd web", "git status", "git push", "grep x y", "echo hi", "rm a.js", "pnpm --version", "npm install lodash", "python -c 'print(1)'",
        "node -e 'x'", "docker ps", "npm ls", "pytest tests/test_a.py::test_b", "mix test test/a_test.exs", "python /tmp/x.py",
    ],
)  # fmt: skip
def test_what_needs_no_telling_is_no_procedure(command: str) -> None:
    assert procedures(Talk().run(command, "fine\n3 passed")) == []


@pytest.mark.parametrize(
    ("command", "output", "exit", "result"),
    [
        ("mix test | tail -5", "14 tests, 2 failures", 0, {}),
        ("mix test 2>&1 | tail -5", "....", 0, {}),
        ("make build || true", "oops", 0, {}),
        ("make build; true", "oops", 0, {}),
        ("npm run dev &", "listening", 0, {}),
        ("npm start", "Command timed out after 2m 0.0s", None, {"timed_out": True}),
        ("npm run build", "Building", None, {"interrupted": True}),
        ("npm run build", "The user doesn't want to proceed", None, {"refused": True}),
        ("mix test", "Command running in background with ID: b7", 0, {}),
        ("make build", "", 0, {}),
        ("make build", "ok", None, {}),
        ("pytest", "3 failed, 4 passed", 0, {}),
    ],
)
def test_what_is_not_shown_to_have_worked_is_never_verified(command: str, output: str, exit: int | None, result: dict[str, bool]) -> None:
    assert procedures(Talk().run(command, output, exit=exit, **result)) == []


def test_the_outputs_own_summary_shows_success_through_a_pipe() -> None:
    (claim,) = procedures(Talk().run("mix credo --strict 2>&1 | tail -5", "831 mods/funs, found no issues."))
    assert claim.value == "mix credo --strict"


def test_a_later_failure_of_the_same_command_takes_it_back() -> None:
    assert procedures(Talk().run("make deploy", "Successfully deployed").run("make deploy", "error: locked", exit=1)) == []


def test_every_quote_stands_in_its_turn() -> None:
    talk = (
        Talk()
        .run("make migrate", "error: DATABASE_URL is not set", exit=2)
        .run("DATABASE_URL=postgres://localhost/h make migrate 2>&1", "Applied 3 migrations.")
    )
    turns = {t.uid: t for t in talk.turns}
    (claim,) = procedures(talk)
    assert all(turns[q.turn].text[q.start : q.end] == q.text for q in claim.quotes)
    assert claim.value is not None
    assert claim.value.endswith("make migrate")


def test_commands_of_a_subagent_are_not_this_sessions() -> None:
    talk = Talk().run("mix test", "3 tests, 0 failures")
    talk.turns = [type(t)(**{**{f: getattr(t, f) for f in t.__slots__}, "sidechain": True}) for t in talk.turns]
    assert procedures(talk) == []


@pytest.mark.parametrize(
    ("sentence", "command"),
    [
        ("To restore a backup, run `pay restore --to staging`.", "pay restore --to staging"),
        ("We deploy with `make deploy`.", "make deploy"),
        ("The command to open a console is `bin/rails console`.", "bin/rails console"),
        ("`pnpm dev:api` starts", None),
        ("`pnpm run dev` starts the web client", "pnpm run dev"),
        ("run `make test` and tell me what fails", None),
        ("To fix it, use `retries`.", None),
    ],
)
def test_a_person_may_tell_how_something_is_done(sentence: str, command: str | None) -> None:
    found = stated_command(sentence)
    assert (found.text if found else None) == command


def test_a_command_a_person_tells_is_a_procedure_in_their_words() -> None:
    (claim,) = said("To restore a backup, run `pay restore --to staging`.")
    assert (claim.kind, claim.subject, claim.value, claim.verified_by) == (Kind.PROCEDURE, "pay restore", "pay restore --to staging", None)
    assert claim.statement == "To restore a backup, run `pay restore --to staging`."
