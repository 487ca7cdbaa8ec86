"""A dream whose engine asks a model: what it adds, what it may not, what it costs, and what a budget leaves for the next dream."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipelines.engines.claude.client import Provider
from pipelines.errors import Paused, Unreachable
from pipelines.model import Ruling
from pipelines.ports import Ask
from pipelines.run import work
from pipelines.run.questions import ANSWER
from pipelines.run.rebuild import rebuild_from_logs
from pipelines.run.runner import DreamWaits, drive
from pipelines.run.units import plan
from pipelines.store.work import FAILURES_MAX
from tests.dreaming import NOW, SCOPE, differences, lines_with
from tests.oracle.gold import all_sessions, save
from tests.oracle.oracle import Oracle
from tests.oracle.server import serving
from tests.redacting import shared_redactor
from tests.scripted import COST, Model, ModelDesk, asking, nothing_asked
from tests.unit.engines.claude_asking import numbers
from tests.writing import ClaudeLog

MONDAYS = "we all agreed that Mondays are for maintenance"
READS = {
    "Mondays are for maintenance": {"kind": "decision", "says": "Mondays are for maintenance."},
    "Lee has the last word on invoices": {"kind": "decision", "says": "Lee has the last word on invoices."},
    "nobody touches the ledger on Fridays": {"kind": "decision", "says": "Nobody touches the ledger on Fridays.", "negated": True},
}


@pytest.fixture
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> ModelDesk:
    made = ModelDesk(tmp_path / "desk", shared_redactor(request), messages=Model(reads=READS))
    ClaudeLog("one").user(f"ok so, {MONDAYS}, nothing else").user("The staging database listens on port 5433.").save(made.logs)
    ClaudeLog("two").later(days=1).user("by the way Lee has the last word on invoices as ever").save(made.logs)
    return made


def model(desk: ModelDesk) -> Model:
    assert isinstance(desk.messages, Model)
    return desk.messages


def stated(desk: ModelDesk, *words: str) -> list[str]:
    return [line for line in lines_with(desk.pages(), *words) if "[^" in line and "/[^" not in line]


def test_what_a_model_reads_stands_on_a_page_beside_what_rules_read(desk: ModelDesk) -> None:
    done = desk.dream(**asking())
    assert done.errors == ()
    assert stated(desk, "Mondays are for maintenance")
    assert stated(desk, "Lee has the last word on invoices")
    assert stated(desk, "5433")
    assert model(desk).stages() == {"extract": 2, "check": 1}
    assert done.report.asked == {"cost_uusd": 3 * COST, "over_budget": 0, "recorded": 0, "sent": 3}
    assert done.report.engine.startswith("claude/2+")


def test_a_second_dream_asks_nothing(desk: ModelDesk) -> None:
    desk.dream(**asking())
    with nothing_asked(model(desk)):
        assert desk.dream(**asking()).report.status == "completed"


def test_a_statement_its_words_do_not_carry_is_a_draft_and_says_so(desk: ModelDesk) -> None:
    desk.messages = Model(reads=READS, denies=frozenset({"Mondays are for maintenance."}), unsure=frozenset({"Lee has the last word on invoices."}))
    desk.dream(**asking())
    assert not stated(desk, "Mondays are for maintenance")
    assert not stated(desk, "Lee has the last word")
    with desk.store() as store:
        missed = {h.version.statement: (h.version.status.value, h.version.missed) for h in store.heads(SCOPE)}
    assert missed["Mondays are for maintenance."] == ("draft", "not_supported")
    assert missed["Lee has the last word on invoices."] == ("draft", "support_unsure")


def test_only_claims_of_the_model_that_gates_would_believe_are_checked(desk: ModelDesk) -> None:
    lies = {**READS, "Mondays are for maintenance": {"kind": "decision", "says": "Tuesdays are for maintenance in 2027."}}
    desk.messages = Model(reads=lies)
    desk.dream(**asking())
    (check,) = [a for a in model(desk).asked if a.stage == "check"]
    assert "invoices" in str(check.body["messages"])
    assert "Tuesdays" not in str(check.body["messages"])
    assert "5433" not in str(check.body["messages"])
    assert not lines_with(desk.tree(), "Tuesdays")


@pytest.mark.parametrize(("denied", "status"), [(frozenset[str](), "needs_recheck"), (frozenset({"The user lives in Bergamo."}), "confirmed")])
def test_a_value_said_in_passing_has_the_one_that_stands_looked_at_again_when_a_second_look_agrees(
    desk: ModelDesk, denied: frozenset[str], status: str
) -> None:
    aside = {"kind": "fact", "about": "user", "what": "home", "value": "Bergamo", "says": "The user lives in Bergamo.", "sure": "implied"}
    desk.messages = Model(reads={"the new flat in Bergamo": aside}, denies=denied)
    ClaudeLog("three").user("I live in Brno.").save(desk.logs)
    ClaudeLog("four").later(days=9).user("sorry, still unpacking boxes in the new flat in Bergamo").save(desk.logs)
    desk.dream(**asking())
    with desk.store() as store:
        versions = {h.version.statement: h.version for h in store.heads(SCOPE)}
    assert versions["I live in Brno."].status.value == status
    assert ("Brno" in desk.brief(), "Bergamo" in desk.brief()) == (status == "confirmed", False)


WORDED = "The nightly import often fails because the disk of staging fills up."
SAID = "the nightly import keeps breaking whenever staging's disk runs full"


@pytest.mark.parametrize(("denied", "status", "missed"), [(frozenset[str](), "confirmed", ""), (frozenset({WORDED}), "draft", "words_not_in_quote")])
def test_a_free_wording_is_believed_for_what_it_is_when_the_check_finds_that_it_says_the_same(
    desk: ModelDesk, denied: frozenset[str], status: str, missed: str
) -> None:
    desk.messages = Model(reads={SAID: {"kind": "fact", "about": "nightly import", "what": "failures", "says": WORDED}}, denies=denied)
    ClaudeLog("three").user(SAID).save(desk.logs)
    desk.dream(**asking())
    with desk.store() as store:
        (version,) = [h.version for h in store.heads(SCOPE) if h.version.statement == WORDED]
    assert (version.status.value, version.missed, version.standing.name) == (status, missed, "INFERRED")
    assert [("in a model's words, checked" in line) for line in stated(desk, WORDED)] == ([True] if status == "confirmed" else [])


def test_a_free_wording_overturns_nothing_that_was_said_in_a_persons_own_words(desk: ModelDesk) -> None:
    settled = "The user's new home is a bright flat in Porto where they settled in quickly."
    heard = "we took a bright flat in Porto, that's home now, and we're already settled in"
    moved = {"kind": "fact", "about": "user", "what": "home", "value": "Porto", "says": settled}
    desk.messages = Model(reads={heard: moved})
    ClaudeLog("three").user("I live in Brno.").save(desk.logs)
    ClaudeLog("four").later(days=9).user(heard).save(desk.logs)
    desk.dream(**asking())
    with desk.store() as store:
        versions = {h.version.statement: h.version for h in store.heads(SCOPE)}
    assert versions["I live in Brno."].status.value == "needs_recheck"
    assert settled not in versions or versions[settled].status.value != "confirmed"
    assert ("Brno" in desk.brief(), "Porto" in desk.brief()) == (False, False)


def ten_sessions(desk: ModelDesk) -> None:
    for n in range(10):
        ClaudeLog(f"more-{n}").later(days=n + 2).user(f"remark {n}: the archive of room {n} is kept by Mira {n}, they told me so").save(desk.logs)


def test_a_budget_that_is_reached_leaves_whole_sessions_to_the_next_dream_and_nothing_is_asked_twice(desk: ModelDesk) -> None:
    ten_sessions(desk)
    desk.messages = Model(reads=READS, cost=9_000)
    first = desk.dream(**asking(budget_uusd=48_000))
    with desk.store() as store:
        spent = store.budget("dream", first.report.dream)
    assert spent.spent_uusd == len(model(desk).asked) * 9_000 <= 48_000
    assert first.report.status == "completed"
    assert first.report.unread["budget"] == 12 - len(model(desk).asked)  # one window each; nothing is left for the check
    assert first.report.claims > 0
    (report,) = (desk.wiki / "journal").glob("*.md")
    assert f"{sum(first.report.unread.values())} sessions are left to the next dream" in report.read_text(encoding="utf-8")
    second = desk.dream(**asking())
    assert second.report.unread == {}
    assert len(set(model(desk).digests())) == len(model(desk).digests())
    fresh = ModelDesk(desk.root / "fresh", desk.redactor, messages=Model(reads=READS))
    for log in desk.logs.iterdir():
        fresh.logs.joinpath(log.name).write_bytes(log.read_bytes())
    fresh.dream(**asking())
    assert differences(fresh.tree(), desk.tree()) == []


def test_without_a_budget_nothing_is_asked_and_the_report_says_so(desk: ModelDesk) -> None:
    done = desk.dream(**asking(budget_uusd=None))
    assert model(desk).asked == []
    assert done.report.unread == {"budget": 2}


def test_what_the_rules_read_is_kept_when_a_budget_or_the_model_is_not_there_and_the_models_part_follows(desk: ModelDesk) -> None:
    ClaudeLog("ruled").user("From now on always run the tests with pytest -x.").save(desk.logs)
    poor = desk.dream(**asking(budget_uusd=None))
    assert poor.report.unread == {"budget": 3}
    assert "pytest -x" in desk.tree()["MEMORY.md"]
    rich = desk.dream(**asking())
    assert rich.report.unread == {}
    fresh = ModelDesk(desk.root / "fresh", desk.redactor, messages=Model(reads=READS))
    for log in desk.logs.iterdir():
        fresh.logs.joinpath(log.name).write_bytes(log.read_bytes())
    fresh.dream(**asking())
    assert differences(fresh.tree(), desk.tree()) == []


def test_a_dry_run_that_is_applied_later_makes_no_second_call(desk: ModelDesk) -> None:
    planned = desk.dream(**asking(dry_run=True))
    assert planned.report.status == "planned"
    asked = model(desk).digests()
    with nothing_asked(model(desk)):
        desk.apply(planned.report.dream)
    assert stated(desk, "Mondays are for maintenance")
    other = ModelDesk(desk.root / "other", desk.redactor, messages=Model(reads=READS))
    for log in desk.logs.iterdir():
        other.logs.joinpath(log.name).write_bytes(log.read_bytes())
    other.dream(**asking())
    assert model(other).digests() == asked
    assert differences(other.tree(), desk.tree()) == []


@pytest.mark.parametrize("threads", [4, 16])
def test_the_requests_are_the_same_for_any_number_of_workers(desk: ModelDesk, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ten_sessions(desk)
    monkeypatch.setattr(plan, "SESSIONS_MAX", 3)
    desk.dream(**asking())
    other = ModelDesk(desk.root / "other", desk.redactor, messages=Model(reads=READS))
    for log in desk.logs.iterdir():
        other.logs.joinpath(log.name).write_bytes(log.read_bytes())
    other.units = threads
    other.dream(**asking())
    assert model(other).digests() == model(desk).digests()
    assert differences(other.tree(), desk.tree()) == []


def test_one_process_dreams_with_either_engine_and_each_reads_for_itself(desk: ModelDesk) -> None:
    local = desk.dream()
    assert local.report.engine.startswith("local/")
    assert model(desk).asked == []
    assert not stated(desk, "Mondays are for maintenance")
    desk.dream(**asking())
    assert stated(desk, "Mondays are for maintenance")


def test_a_stretch_no_model_answers_for_is_named_and_the_rest_is_read(desk: ModelDesk) -> None:
    def garble(ask: Ask) -> str | None:
        return "no" if ask.stage == "extract" and any("Mondays" in turn for turn in numbers(ask).values()) else None

    desk.messages = Model(reads=READS, before=garble)
    done = desk.dream(**asking())
    assert stated(desk, "Lee has the last word on invoices")
    assert stated(desk, "5433")
    assert done.report.left == {"unusable": 1}
    (report,) = (desk.wiki / "journal").glob("*.md")
    assert "1 turn was not read" in report.read_text(encoding="utf-8")


# --- what is asked beyond the sessions ---------------------------------------------------------------------------------------------------------


RELEASES = {
    "releases leave the harbor on Thursdays": {"kind": "decision", "says": "Releases leave the harbor on Thursdays."},
    "releases of the harbor now leave on Tuesdays": {"kind": "decision", "says": "Releases of the harbor now leave on Tuesdays."},
}


def said_in_turn(desk: ModelDesk, *lines: str) -> None:
    for n, line in enumerate(lines):
        ClaudeLog(f"said-{n}").later(days=10 + n).user(f"well, {line}, that much is sure").save(desk.logs)


def standing(desk: ModelDesk) -> dict[str, str]:
    with desk.store() as store:
        return {h.version.statement: h.version.status.value for h in store.heads(SCOPE)}


@pytest.mark.parametrize(("word", "status"), [("update", "superseded"), ("contradiction", "superseded"), ("other", "confirmed")])
def test_a_pair_that_rules_leave_open_is_related_by_the_model_and_decided_by_event_order(desk: ModelDesk, word: str, status: str) -> None:
    desk.messages = Model(reads=RELEASES, relates={("Thursdays", "Tuesdays"): word})
    said_in_turn(desk, *RELEASES)
    desk.dream(**asking())
    told = standing(desk)
    assert told["Releases of the harbor now leave on Tuesdays."] == "confirmed"
    assert told["Releases leave the harbor on Thursdays."] == status
    assert model(desk).stages()["relate"] == 1


def test_near_duplicates_the_model_calls_the_same_are_one_note_in_any_order_of_sessions(desk: ModelDesk) -> None:
    lines = ("always use the conventional commit convention for commit messages", "always write commit messages in the conventional commit convention")
    same = {("always use", "always write"): "same"}
    desk.messages = Model(relates=same)
    for n, line in enumerate(lines):
        ClaudeLog(f"rule-{n}").later(days=10 + n).user(line).save(desk.logs)
    desk.dream(**asking())
    with desk.store() as store:
        (about,) = [h.version for h in store.heads(SCOPE) if "conventional commit" in h.version.statement]
    assert about.roots == 2
    assert "always use" in about.statement.casefold()
    other = ModelDesk(desk.root / "other", desk.redactor, messages=Model(relates=same))
    for log in sorted(desk.logs.iterdir(), reverse=True):
        other.logs.joinpath(log.name).write_bytes(log.read_bytes())
        other.dream(**asking())
    assert differences(other.tree(), desk.tree()) == []


def test_a_merge_that_differs_in_a_number_is_refused_whatever_the_model_says(desk: ModelDesk) -> None:
    reads = {
        "the harbor crane lifts 40 tons": {"kind": "decision", "says": "The harbor crane lifts 40 tons."},
        "the big harbor crane lifts 60 tons": {"kind": "decision", "says": "The big harbor crane lifts 60 tons."},
    }
    desk.messages = Model(reads=reads, relates={("crane", "crane"): "same"})
    said_in_turn(desk, *reads)
    desk.dream(**asking())
    assert {s: t for s, t in standing(desk).items() if "crane" in s} == {given["says"]: "confirmed" for given in reads.values()}


def test_a_verdict_is_kept_and_counts_for_the_local_engine_too(desk: ModelDesk) -> None:
    desk.messages = Model(reads=RELEASES, relates={("Thursdays", "Tuesdays"): "update"})
    said_in_turn(desk, *RELEASES)
    desk.dream(**asking())
    with nothing_asked(model(desk)):
        ClaudeLog("later").later(days=30).user("The staging database listens on port 5434.").save(desk.logs)
        desk.dream()
    assert standing(desk)["Releases leave the harbor on Thursdays."] == "superseded"


def test_a_question_is_answered_by_a_line_of_another_session_and_is_open_no_more(desk: ModelDesk) -> None:
    desk.messages = Model(
        asks={"ask the harbor master first": "Who is the harbor master?"},
        answers={"Who is the harbor master?": ("the harbor master is Nadia Brandt", {"kind": "fact", "about": "harbor master", "what": "name", "value": "Nadia Brandt"})},
    )  # fmt: skip
    ClaudeLog("asks").later(days=3).user("before you book anything ask the harbor master first").save(desk.logs)
    desk.dream(**asking())
    assert lines_with(desk.tree(), "Who is the harbor master?")
    ClaudeLog("tells").later(days=5).user("fyi the harbor master is Nadia Brandt since spring").save(desk.logs)
    desk.dream(**asking())
    assert stated(desk, "Nadia Brandt")
    assert not lines_with(desk.tree(), "Who is the harbor master?")
    with nothing_asked(model(desk)):
        desk.dream(**asking())


def test_an_answer_that_stands_in_no_line_is_none(desk: ModelDesk) -> None:
    desk.messages = Model(
        asks={"ask the harbor master first": "Who is the harbor master?"},
        answers={"Who is the harbor master?": ("the harbor master", {"says": "The harbor master is Olga Petrova.", "about": "harbor master", "value": "Olga Petrova"})},
    )  # fmt: skip
    ClaudeLog("asks").later(days=3).user("before you book anything ask the harbor master first").save(desk.logs)
    ClaudeLog("tells").later(days=5).user("the harbor master was on the phone again").save(desk.logs)
    desk.dream(**asking())
    assert not lines_with(desk.tree(), "Olga")
    assert lines_with(desk.tree(), "Who is the harbor master?")


@pytest.mark.parametrize("says", ["The harbor master is on the phone all day with Lagos.", "The harbor master was on the phone again."])
def test_an_answer_nobody_believes_leaves_the_question_open(desk: ModelDesk, says: str) -> None:
    desk.messages = Model(
        asks={"ask the harbor master first": "Who is the harbor master?"}, denies=frozenset({says}),
        answers={"Who is the harbor master?": ("the harbor master was on the phone again", {"says": says, "about": "harbor master"})},
    )  # fmt: skip
    ClaudeLog("asks").later(days=3).user("before you book anything ask the harbor master first").save(desk.logs)
    ClaudeLog("tells").later(days=5).user("the harbor master was on the phone again").save(desk.logs)
    desk.dream(**asking())
    assert lines_with(desk.tree(), "Who is the harbor master?")
    with nothing_asked(model(desk)):
        desk.dream(**asking())


NIGHTS = ("the night train to Oslo was late", "the night boat to Oslo was late", "the night bus to Oslo was late")
SAYS = "The night train, the night boat and the night bus to Oslo was late."


def an_insight(desk: ModelDesk) -> None:
    reads = {night: {"kind": "incident", "says": f"T{night[1:]}."} for night in NIGHTS}
    desk.messages = Model(reads=reads, concludes={NIGHTS: SAYS})
    said_in_turn(desk, *NIGHTS)
    desk.dream(**asking())


def test_what_three_pieces_of_two_sessions_show_together_is_an_insight(desk: ModelDesk) -> None:
    an_insight(desk)
    assert standing(desk)[SAYS] == "confirmed"
    assert stated(desk, SAYS, "*inferred*")
    with desk.store() as store:
        (insight,) = [h.version for h in store.heads(SCOPE) if h.version.statement == SAYS]
    assert (insight.kind.value, insight.standing.name, insight.roots) == ("insight", "INFERRED", 3)


FULL = (
    "the nightly import stopped because the disk of staging was full",
    "old releases are kept on staging, all of them",
    "the staging disk was full again, which broke the release",
)
SHOWS = "Jobs on staging keep failing because its disk is full, where old releases are kept."


@pytest.mark.parametrize(("denied", "status"), [(frozenset[str](), "confirmed"), (frozenset({SHOWS}), "draft")])
def test_an_insight_in_words_of_its_own_stands_as_inferred_where_the_check_agrees(desk: ModelDesk, denied: frozenset[str], status: str) -> None:
    reads = {words: {"kind": "fact", "about": "staging", "what": words[:20], "says": f"{words[0].upper()}{words[1:]}."} for words in FULL}
    desk.messages = Model(reads=reads, concludes={FULL: SHOWS}, denies=denied)
    said_in_turn(desk, *FULL)
    desk.dream(**asking())
    assert standing(desk)[SHOWS] == status
    assert bool(stated(desk, SHOWS, "*inferred*")) == (status == "confirmed")


def test_an_insight_is_to_be_checked_again_when_a_piece_of_it_falls(desk: ModelDesk) -> None:
    an_insight(desk)
    with desk.store() as store:
        (piece,) = [h.version for h in store.heads(SCOPE) if h.version.statement == "The night boat to Oslo was late."]
        store.add_ruling(SCOPE, Ruling(uid="r1", verb="retract", target=piece.note, at=NOW))
        store.mark_dirty(SCOPE, piece.claims, "ruling")
    ClaudeLog("later").later(days=40).user("The staging database listens on port 5434.").save(desk.logs)
    desk.dream(**asking())
    assert standing(desk)[SAYS] == "needs_recheck"
    assert not stated(desk, "the night boat and the night bus")


def test_of_planted_questions_nearly_all_get_the_right_line_of_another_session_and_none_without_an_answer_gets_one(desk: ModelDesk) -> None:
    right, made = 0, 0
    for scope in ("harbor", "lagoon"):
        sessions = [s for s in all_sessions() if s.scope == scope]
        gaps = [gap for s in sessions for gap in s.gaps]
        with serving(Oracle(sessions)) as service, closing(Provider(base_url=service.base_url, key="k", local=True)) as provider:
            other = ModelDesk(desk.root / scope, desk.redactor, messages=provider, now=datetime(2027, 1, 1, tzinfo=UTC))
            save(sessions, other.logs)
            other.dream(**asking())
        with other.store() as store:
            answers = store.claims(SCOPE, {uid for r in store.readings_named(SCOPE, ANSWER) for uid in r.claims}).values()
        made += len(answers)
        right += sum(any(gap.answer in q.text for claim in answers for q in claim.quotes) for gap in gaps if gap.answer)
    assert right >= 16
    assert made <= 20
    assert made == right


def test_beliefs_folded_anew_from_what_is_recorded_are_those_that_stand(desk: ModelDesk) -> None:
    desk.messages = Model(reads=RELEASES, relates={("Thursdays", "Tuesdays"): "update"})
    said_in_turn(desk, *RELEASES)
    desk.dream(**asking())
    with desk.store() as store, nothing_asked(model(desk)):
        request = desk.request(**asking())
        assert rebuild_from_logs(desk.parts(store).serving(request.params), request) == []


def test_rebuilding_derives_a_models_claims_again_from_its_recorded_answers(desk: ModelDesk) -> None:
    desk.messages = Model(reads={SAID: {"kind": "fact", "about": "nightly import", "what": "failures", "says": WORDED}, **READS}, denies=frozenset({WORDED}))
    ClaudeLog("three").user(SAID).save(desk.logs)
    desk.dream(**asking())
    with desk.store() as store, nothing_asked(model(desk)):
        request = desk.request(**asking())
        parts = desk.parts(store).serving(request.params)
        assert rebuild_from_logs(parts, request) == []
        (reading,) = [r for r in store.readings_named(SCOPE, parts.engine.name) if any(c.statement == WORDED for c in store.claims(SCOPE, r.claims).values())]
        invented = [replace(g, claim=replace(g.claim, statement="The nightly import is fine.")) for g in store.claims_of(SCOPE, reading.claims)]
        store.save_reading(SCOPE, reading.session, engine=reading.engine, digest=reading.digest, claims=invented)
        assert rebuild_from_logs(parts, request) == []  # what stands is what the answers say, whatever the reading holds


# --- a provider that cannot be had -------------------------------------------------------------------------------------------------------------


def test_a_bill_that_is_not_paid_pauses_all_calls_and_the_dream_waits(desk: ModelDesk) -> None:
    def unpaid(_: Ask) -> str:
        raise Paused("402", why="billing", for_s=900)

    desk.messages = Model(before=unpaid)
    with pytest.raises(DreamWaits, match="bill"):
        desk.dream(**asking())
    with desk.store() as store:
        assert store.calls_paused() is not None
        store.resume_calls()
        store.ticks = lambda: 2_000_000_000_000 + int(time.time() * 1000)
        (waits,) = store.dreams(SCOPE)
        assert waits.state == "waiting"
        desk.messages = Model(reads=READS)
        drive(desk.parts(store), SCOPE, waits.uid)
        assert store.dream(SCOPE, waits.uid).state == "completed"


def test_a_dream_goes_on_with_what_is_certain_where_nobody_answers_what_certain_matching_left_open(desk: ModelDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(ask: Ask) -> str | None:
        if ask.stage in {"relate", "answer", "insight"}:
            raise Unreachable("nobody there", accepted=False)
        return None

    monkeypatch.setattr(work, "BACK_OFF_S", 0.001)
    desk.messages = Model(reads=RELEASES, before=gone)
    said_in_turn(desk, *RELEASES)
    done = desk.dream(**asking())
    assert done.report.status == "completed"
    assert len(done.errors) == FAILURES_MAX - 1
    assert {standing(desk)[given["says"]] for given in RELEASES.values()} == {"confirmed"}
