"""Forgetting over whole dreams: what goes, what stays, what is not learnt again, and what a crash leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from pipelines.errors import Conflict, LeaseLost
from pipelines.logs.intake import intake
from pipelines.model import Ruling
from pipelines.ports import IntakeBatch
from pipelines.run import Parts
from pipelines.run.archived import listed
from pipelines.run.forgetting import Forgot, clean_leftovers, forget
from pipelines.run.ruling import rule
from pipelines.run.verify import verify
from pipelines.run.work import run_job
from pipelines.store import Delivery, Store, open_store, owner_of
from pipelines.store.blobs import DatabaseArchive
from pipelines.store.reach import Choice
from pipelines.store.values import Receipt
from tests.auditing import files_with, tables_with
from tests.dreaming import NOW, SCOPE, Desk, differences, lines_with
from tests.redacting import shared_redactor
from tests.writing import ClaudeLog, conversation, memory

WORD = "zanzibarquux"
"""Stands in no other text of these tests, nor anywhere else."""


@dataclass
class ServerDesk(Desk):
    """A desk whose store and archive are a database."""

    @contextmanager
    def store(self) -> Iterator[Store]:
        with open_store(self.url, now=lambda: self.now) as opened:
            yield opened

    def parts(self, store: Store) -> Parts:
        return replace(super().parts(store), archive=DatabaseArchive(store, SCOPE))


@pytest.fixture(params=["sqlite", "postgres"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Desk:
    """A desk over a store of each kind."""
    if request.param == "sqlite":
        return Desk(tmp_path / "desk", shared_redactor(request))
    return ServerDesk(tmp_path / "desk", shared_redactor(request), url=request.getfixturevalue("database_url"))


def forgotten(desk: Desk, look: bool = False, **chosen: object) -> Forgot:
    with desk.store() as store:
        return forget(desk.parts(store), desk.request(), Choice(**chosen), hand="test", look=look)  # type: ignore[arg-type]


def audit(desk: Desk, word: str = WORD) -> list[str]:
    """Where a word stands: tables, then files of the data folder and the wiki."""
    with desk.store() as store:
        tables = tables_with(store, word)
    return tables + files_with([desk.data, desk.wiki], word)


def day(name: str, days: int) -> ClaudeLog:
    return ClaudeLog(name).later(days=days)


def three_values(desk: Desk, but: str = "") -> dict[str, ClaudeLog]:
    """A value that changes twice, and in each session something of its own."""
    logs = {
        "first": day("first", 0).user("The retry limit is 30.").user("Always run the linter before pushing."),
        "second": day("second", 5).user("The retry limit is 90 now.").user(f"The staging host is called {WORD}."),
        "third": day("third", 9).user("The retry limit is 60 now.").user("The API listens on port 8080."),
    }
    for name, log in logs.items():
        if name != but:
            log.save(desk.logs)
    return logs


def test_bytes_that_were_archived_by_an_intake_that_was_killed_then_go_with_what_they_say(either: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    log = day("one", 0).user(f"The staging host is called {WORD}.").user("The API listens on port 8080.")
    log.save(either.logs)
    either.dream()
    log.later(days=1).user(f"The staging host {WORD}\nhas port 5433.").save(either.logs)
    other = day("other", 2).user("The queue listens on port 5672.").save(either.logs)
    with monkeypatch.context() as dying:
        dying.setattr(Store, "commit_batches", dead)
        with pytest.raises(LeaseLost):
            either.dream()
        with pytest.raises(LeaseLost):
            either.dream(other)
    with either.store() as store:
        held = archived(either.parts(store))
    forgotten(either, subject=WORD)
    with either.store() as store:
        left = archived(either.parts(store))
    assert sum(WORD in said for said in held) == 2
    assert not any(WORD in said for said in left)
    assert any("5672" in said for said in left), "what nobody asked to forget stays"


def dead(store: Store, scope: str, batches: Sequence[IntakeBatch]) -> tuple[Receipt, ...]:
    raise LeaseLost("killed")


def archived(parts: Parts) -> list[str]:
    """Everything in the archive."""
    return [parts.archive.get(address).decode() for address in listed(parts)]


# --- what is left ------------------------------------------------------------------------------------------------------------------------


def test_the_wiki_after_forgetting_a_session_in_the_middle_is_that_of_a_dream_without_it(either: Desk, desks: Callable[[], Desk]) -> None:
    logs = three_values(either)
    either.dream()
    assert lines_with(either.tree(), "90")
    forgotten(either, sessions=frozenset({logs["second"].uuid}))
    without = desks()
    three_values(without, but="second")
    without.dream()
    assert differences(either.tree(), without.tree()) == []
    assert audit(either) == []
    with either.store() as store:  # what it takes to know the log again when it grows
        assert set(tables_with(store, logs["second"].uuid[:8])) <= {"files.path", "sources.carry"}


def test_a_note_with_other_evidence_survives_on_it(desk: Desk) -> None:
    one, two = day("one", 0).user("The staging database listens on port 5433."), day("two", 1).user("The staging database listens on port 5433.")
    for log in (one, two):
        log.save(desk.logs)
    desk.dream()
    forgotten(desk, sessions=frozenset({one.uuid}))
    assert lines_with(desk.pages(), "5433", two.uuid[:8])
    assert not lines_with(desk.pages(), one.uuid[:8])


def test_two_sessions_in_one_log_forgetting_one_leaves_the_citations_of_the_other(desk: Desk) -> None:
    one, two = day("one", 0).user(f"The staging host is called {WORD}."), day("two", 1).user("The API listens on port 8080.")
    desk.logs.joinpath("both.jsonl").write_text(one.text() + two.text(), encoding="utf-8")
    desk.dream()
    forgotten(desk, sessions=frozenset({one.uuid}))
    with desk.store() as store:
        checked = verify(store, SCOPE, desk.parts(store).archive)
    assert (checked.citations, checked.failed) == (1, ())
    assert audit(desk) == []


def test_the_name_of_a_session_is_no_word_of_it(desk: Desk) -> None:
    for name, text in (
        ("port", f"The staging host is called {WORD}."),
        ("session-1", "The mail host is called gromwell."),
        ("session-10", "The API listens on port 8080."),
    ):
        desk.logs.joinpath(f"{name}.jsonl").write_text(conversation(name, [("user", text)]), encoding="utf-8")
    desk.dream()
    kept = lines_with(desk.pages(), "8080")
    assert kept
    with desk.store() as store:
        named = {info.title: info.uid for info in store.sessions(SCOPE)}
    forgotten(desk, sessions=frozenset({named["port"]}))
    forgotten(desk, sessions=frozenset({named["session-1"]}))
    assert [line.split("[^")[0] for line in lines_with(desk.pages(), "8080")] == [line.split("[^")[0] for line in kept]
    assert audit(desk) == audit(desk, "gromwell") == []


def test_what_others_said_stays_when_their_notes_happen_to_have_a_forgotten_word(desk: Desk) -> None:
    """An engine calls the work as a whole "project", and tells "tomorrow" by its date: neither is a word of the session that says it elsewhere."""
    day("mine", 0).user("Always run the linter before pushing.").user("The launch is tomorrow.").user("Never touch the billing folder.").save(desk.logs)
    day("ibis", 4).user("Project Ibis ships on Friday. From now on use uv for Project Ibis.").user("The audit was on 2026-03-03.").save(desk.logs)
    desk.dream()
    before = [line.split("[^")[0] for line in lines_with(desk.pages(), "linter") + lines_with(desk.pages(), "launch")]
    assert len(before) == 2
    with desk.store() as store:
        retracted = next(h.version.note for h in store.heads(SCOPE) if "billing" in h.version.statement)
        rule(store, SCOPE, "retract", retracted, at=NOW, hand="ana")
    desk.dream()
    assert not lines_with(desk.pages(), "billing")
    done = forgotten(desk, sessions=frozenset({day("ibis", 4).uuid}))
    assert done.left == ()
    assert [line.split("[^")[0] for line in lines_with(desk.pages(), "linter") + lines_with(desk.pages(), "launch")] == before
    assert not lines_with(desk.pages(), "billing")
    desk.dream()
    assert not lines_with(desk.pages(), "billing")
    assert audit(desk, "ibis") == []


def test_everything_before_a_day_goes_and_the_rest_stays(desk: Desk) -> None:
    logs = three_values(desk)
    desk.dream()
    forgotten(desk, before=logs["third"].at.replace(hour=0, minute=0))
    assert lines_with(desk.pages(), "60")
    assert not lines_with(desk.pages(), "linter")
    assert audit(desk) == []


def test_a_scope_that_is_forgotten_holds_nothing_and_shows_nothing(desk: Desk) -> None:
    logs = three_values(desk)
    desk.dream()
    forgotten(desk, everything=True)
    assert audit(desk) == []
    assert audit(desk, "linter") == []
    assert lines_with(desk.tree(), "port") == []
    desk.dream()
    assert audit(desk, "linter") == []
    assert logs


def test_a_scope_whose_wiki_lies_elsewhere_is_forgotten_and_this_wiki_stays(desk: Desk) -> None:
    logs = three_values(desk)
    desk.dream()
    stood = desk.tree()
    with desk.store() as store:
        parts, other = desk.parts(store), replace(desk.request(), scope="acme/web")
        intake([str(desk.logs)], store=store, scope="acme/web", archive=parts.archive, redactor=parts.redactor, now=NOW)
        done = forget(parts, other, Choice(sessions=frozenset({logs["second"].uuid})), hand="test")
        assert (done.left, store.leftovers("acme/web")) == ((), (("wiki", ""),))
        assert [s.uid for s in store.sessions("acme/web")] == sorted((logs["first"].uuid, logs["third"].uuid))
        assert verify(store, SCOPE, parts.archive).failed == ()
    assert desk.tree() == stood


# --- words planted everywhere --------------------------------------------------------------------------------------------------------------


def planted(desk: Desk) -> None:
    """A word as turn, command output, title, slug and alias of a note file, bad span, own words, ruling's reason, answer of a model, letter, delivery."""
    log = day("planted", 0).user(f"The staging host is called {WORD}.").user(f"Always ask {WORD} before a deploy.")
    log.bash(f"ping {WORD}", f"{WORD} is alive").assistant(f"I wrote down {WORD}.")
    log.write("/home/ana/harbor/memory/hosts.md", f"- The backup host is {WORD} as well.\n")
    text = log.text().replace("is alive", f"is alive {WORD}")
    desk.logs.joinpath("planted.jsonl").write_text(text + f'{{"type": "user", "torn {WORD}\n', encoding="utf-8")
    day("other", 1).user("The API listens on port 8080.").save(desk.logs)
    desk.note(f"{WORD}-hosts.md", memory(WORD.title(), f"- The staging host is called {WORD}.\n- The API listens on port 8080.\n"))
    desk.dream()
    with desk.store() as store:
        note = next(h.version.note for h in store.heads(SCOPE) if WORD in h.version.statement)
        store.add_ruling(SCOPE, Ruling(uid="r1", verb="keep", target=note, body=f"because of {WORD}", hand="ana", at=NOW))
        store.keep_letter("submit", "no JSON", f"a message about {WORD}")
        store.record_delivery(SCOPE, Delivery(session=log.uuid, door="hook", target="brief", rev=1, versions=(note,), at=NOW))
    page = next(p for p in desk.wiki.glob("*.md") if WORD in p.read_text(encoding="utf-8") and "yours below" in p.read_text(encoding="utf-8"))
    page.write_text(page.read_text(encoding="utf-8").replace("touches it -->\n", f"touches it -->\n\nAsk Pat.\nMind {WORD}.\n", 1), encoding="utf-8")
    desk.dream()


def test_a_phrase_planted_everywhere_is_nowhere_afterwards_and_is_not_learnt_again(either: Desk) -> None:
    planted(either)
    before = {place.split(".")[0] for place in audit(either)}
    assert {"turns", "online_notes", "own_words", "pages", "page_versions", "claims", "quotes", "note_versions", "rulings", "letters", "findings"} <= before
    assert any(WORD in name for name in files_with([either.wiki], WORD))
    desk_notes = either.notes.joinpath(f"{WORD}-hosts.md").read_text(encoding="utf-8")
    done = forgotten(either, subject=WORD)
    assert audit(either) == []
    assert done.left == ()
    assert lines_with(either.pages(), "Ask Pat.")
    assert lines_with(either.pages(), "8080")
    either.dream()
    assert audit(either) == []
    old = either.logs / "planted.jsonl"
    either.logs.joinpath("moved.jsonl").write_text(
        old.read_text(encoding="utf-8") + day("planted", 3).user(f"Mind {WORD} and port 99.").text(), encoding="utf-8"
    )
    old.unlink()
    day("anew", 7).user(f"The mail host is called {WORD}.").save(either.logs)
    either.dream()
    assert [place for place in audit(either) if not place.startswith("files.path")] == []
    assert either.notes.joinpath(f"{WORD}-hosts.md").read_text(encoding="utf-8") == desk_notes


def test_a_log_that_grows_after_its_session_was_forgotten_stays_unlearnt_until_that_is_lifted(desk: Desk, desks: Callable[[], Desk]) -> None:
    logs = three_values(desk)
    desk.dream()
    done = forgotten(desk, sessions=frozenset({logs["second"].uuid}))
    logs["second"].user(f"The mail host is called {WORD}.").save(desk.logs)
    desk.dream()
    assert audit(desk) == []
    with desk.store() as store:
        assert store.lift(SCOPE, done.uid, "test") > 0
        assert [r.lifted for r in store.receipts(SCOPE)] == [True]
    desk.dream()
    assert lines_with(desk.pages(), WORD, "mail")
    never = desks()
    three_values(never)
    logs["second"].save(never.logs)
    never.dream()
    assert differences(desk.tree(), never.tree()) == []
    with desk.store() as store:
        assert verify(store, SCOPE, desk.parts(store).archive).failed == ()


# --- looks, crashes, and what is in flight -----------------------------------------------------------------------------------------------------


def test_a_look_tells_what_a_forget_takes_and_changes_nothing(desk: Desk) -> None:
    logs = three_values(desk)
    desk.dream()
    before, words = desk.tree(), audit(desk)
    look = forgotten(desk, look=True, sessions=frozenset({logs["second"].uuid}))
    assert (desk.tree(), audit(desk)) == (before, words)
    assert look.counts["turns"] == 2
    assert look.uid == ""
    assert forgotten(desk, sessions=frozenset({logs["second"].uuid})).counts == look.counts


class Killed(BaseException):
    """Stands for the process ending here."""


@pytest.mark.parametrize("at", ["deleted", "forgotten"])
def test_killed_inside_the_door_is_shut_and_nothing_is_gone(desk: Desk, at: str) -> None:
    logs = three_values(desk)
    desk.dream()
    before, words = desk.tree(), audit(desk)

    def step(name: str) -> None:
        if name == at:
            raise Killed

    desk.step = step
    with pytest.raises(Killed):
        forgotten(desk, sessions=frozenset({logs["second"].uuid}))
    assert (desk.tree(), audit(desk)) == (before, words)  # the store opens: no row in `grants`


def test_killed_after_the_commit_the_next_dream_cleans_the_files(desk: Desk) -> None:
    logs = three_values(desk)
    desk.dream()

    def step(name: str) -> None:
        if name == "forget_committed":
            raise Killed

    desk.step = step
    with pytest.raises(Killed):
        forgotten(desk, sessions=frozenset({logs["second"].uuid}))
    desk.step = lambda _: None
    desk.dream()
    assert audit(desk) == []
    with desk.store() as store:
        assert clean_leftovers(desk.parts(store), desk.request()) == ()
        assert store.leftovers(SCOPE) == ()


@pytest.mark.parametrize("stage", ["extract", "apply", "render"])
def test_what_a_unit_found_before_a_forget_is_not_stored_after_it(desk: Desk, stage: str) -> None:
    logs = three_values(desk)
    with desk.store() as store:
        parts = desk.parts(store)
        intake([str(desk.logs)], store=store, scope=SCOPE, archive=parts.archive, redactor=parts.redactor, now=NOW)
        asked = store.request(SCOPE, request_id="r", params=desk.request().params.as_json(), cause="test")
        assert asked.dream is not None
        while True:
            job = store.claim(owner_of(parts.holder, 0), ttl_ms=60_000, deadline_ms=60_000, scope=SCOPE)
            assert job is not None
            if job.stage == stage:
                break
            assert run_job(parts, job).outcome == "done"

        def step(name: str) -> None:
            if name == f"ready:{stage}":
                forgotten(desk, sessions=frozenset({logs["second"].uuid}))

        late = run_job(replace(parts, step=step), job)
        assert late.outcome == "lost"
        assert isinstance(late.error, LeaseLost)
    assert audit(desk) == []


def test_a_batch_read_before_a_forget_is_refused_after_it(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    logs = three_values(desk)
    desk.dream()
    logs["second"].user(f"The mail host is called {WORD}.").save(desk.logs)
    refused: list[Conflict] = []
    with desk.store() as store:
        parts = desk.parts(store)
        plain = store.commit_batches

        def late(scope: str, batches: object) -> object:
            if not refused:
                forgotten(desk, sessions=frozenset({logs["second"].uuid}))
            try:
                return plain(scope, batches)  # type: ignore[arg-type]
            except Conflict as error:
                refused.append(error)
                raise

        monkeypatch.setattr(store, "commit_batches", late)
        intake([str(desk.logs)], store=store, scope=SCOPE, archive=parts.archive, redactor=parts.redactor, now=NOW)
    assert refused
    with desk.store() as store:
        assert tables_with(store, WORD) == []
