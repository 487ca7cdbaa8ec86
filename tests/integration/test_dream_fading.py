"""What falls to be checked again in the dream that hears of it, where it is shown, and what gives it back."""

from __future__ import annotations

from datetime import timedelta

from pipelines.run.resolving import lineage_of, resolve_dirty
from tests.dreaming import NOW, SCOPE, Desk
from tests.writing import START, ClaudeLog


def session(name: str, *, days: float) -> ClaudeLog:
    return ClaudeLog(name, at=START + timedelta(days=days))


def told(desk: Desk, words: str) -> dict[str, str]:
    """The files that hold these words, by name."""
    found = {p.relative_to(desk.wiki).as_posix(): p.read_text() for p in desk.wiki.rglob("*.md")}
    return {
        name: next(row for row in text.splitlines() if words in row)
        for name, text in found.items()
        if words in text and not name.startswith(("journal/", "recent", ".dreamd/"))
    }


RESTORE = "make restore"


def test_a_command_that_fails_in_a_later_session_falls_and_the_one_that_worked_then_takes_its_place(desk: Desk) -> None:
    for n in (1, 2):
        session(f"works-{n}", days=n).user("Restore the data.").bash(RESTORE, "restored 4 tables").save(desk.logs)
    desk.dream()
    assert "worked on 3 Mar 2026 and 4 Mar 2026." in told(desk, RESTORE)["MEMORY.md"]

    failing = session("fails", days=3).user("Restore the data.").bash(RESTORE, "make: *** No rule to make target 'restore'.  Stop.", exit_code=2)
    failing.save(desk.logs)
    desk.dream()
    files = told(desk, f"`{RESTORE}`")
    assert "MEMORY.md" not in files
    assert "needs recheck, it failed on 5 Mar 2026: make: \\*\\*\\* No rule to make target 'restore'. Stop." in files["commands.md"]

    failing.bash("make restore DB=staging", "restored 4 tables").save(desk.logs)
    desk.dream()
    assert "`make restore DB=staging`" in told(desk, "make restore DB=staging")["MEMORY.md"]
    history = (desk.wiki / "commands.md").read_text().partition("## History")[2]
    assert "Until 5 Mar 2026: `make restore`. Reason: make: \\*\\*\\* No rule to make target 'restore'. Stop." in history


def test_a_draft_that_was_never_believed_stands_in_no_history(desk: Desk) -> None:
    session("once", days=1).user("Where is it?").bash("./status", "The API listens on port 8080.").save(desk.logs)
    session("said", days=2).user("The API listens on port 9090.").save(desk.logs)
    desk.dream()
    with desk.store() as store:
        assert "8080" in {h.version.value for h in store.heads(SCOPE)}, "it was a draft, and is over"
    assert "9090" in told(desk, "9090")["MEMORY.md"]
    assert told(desk, "8080").keys() <= {"inbox.md"}, "a command that worked once waits, with the line that shows it"


LIMIT = "The export limit is 50 rows"


def test_a_newer_version_that_was_seen_has_what_is_bound_to_the_old_one_checked_again_in_the_same_dream(desk: Desk) -> None:
    session("bound", days=1).user("In app 1.3 the export limit is 50 rows.").save(desk.logs)
    desk.dream()
    assert "MEMORY.md" in told(desk, "limit is 50 rows")

    session("newer", days=2).user("What do we run?").bash("app --version", "app 1.4.0").save(desk.logs)
    desk.dream()
    files = told(desk, "50 rows")
    assert "MEMORY.md" not in files
    assert "inbox.md" in files
    (page,) = files.keys() - {"inbox.md"}
    assert "needs recheck, a newer version was seen on 4 Mar 2026: app 1.4" in files[page]

    session("again", days=3).user("In app 1.4 the export limit is 50 rows.").save(desk.logs)
    desk.dream()
    files = told(desk, "50 rows")
    assert "MEMORY.md" in files
    assert "needs recheck" not in files[page]


def test_a_hold_and_a_goal_leave_when_a_later_session_says_they_are_over(desk: Desk) -> None:
    session("opens", days=1).user("Don't deploy until I say so.").user("Our goal is to migrate billing to Postgres.").save(desk.logs)
    desk.dream()
    assert "MEMORY.md" in told(desk, "until I say so")
    assert "MEMORY.md" in told(desk, "migrate billing")

    session("closes", days=2).user("You can deploy now.").user("The billing migration is done.").save(desk.logs)
    desk.dream()
    assert {name.partition("/")[0] for name in told(desk, "until I say so")} == {"archive"}
    (line,) = (row for name, row in told(desk, "migrate billing").items() if name.startswith("archive/"))
    assert "Superseded on 4 Mar 2026: Our goal is to migrate billing to Postgres." in line
    assert "Reason: The billing migration is done." in line


def test_a_rule_leaves_when_a_later_session_takes_it_back_in_whatever_order_they_are_read(desk: Desk) -> None:
    session("later", days=2).user("Actually forget what I said about squash merging, that was wrong.").save(desk.logs)
    desk.dream()
    session("earlier", days=1).user("Always squash merge PRs.").user("Never push to main.").save(desk.logs)
    desk.dream()
    assert {name.partition("/")[0] for name in told(desk, "squash merge")} == {"archive"}
    assert "MEMORY.md" in told(desk, "push to main")

    session("new", days=3).user("Always rebase feature branches.").save(desk.logs)
    desk.dream()
    assert "MEMORY.md" in told(desk, "rebase feature")
    session("last", days=4).user("Forget what I said about rebasing feature branches.").save(desk.logs)
    desk.dream()
    (line,) = told(desk, "rebase feature").values()
    assert "Reason: Forget what I said about rebasing feature branches." in line


def test_a_new_goal_has_no_other_one_decided_again_for_a_word_they_share(desk: Desk) -> None:
    goals = ("Our goal is to migrate billing to Postgres.", "Our goal is to halve the migration time of the importer.")
    for n, goal in enumerate(goals):
        session(f"goal-{n}", days=n).user(goal).save(desk.logs)
    session("other", days=3).user("The search is done.").save(desk.logs)
    desk.dream()
    with desk.store() as store:
        new = next(g.claim.uid for g in store.all_claims(SCOPE) if g.claim.statement == goals[1])
        done = resolve_dirty(store, SCOPE, frozenset({new}), lineage_of(store, SCOPE), skew_s=600.0, intake_at=NOW)
    assert {w.claim.statement for w in done.claims} == {goals[1]}
