from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pipelines.model import Kind, Origin, Relation, Ruling, Standing, Status, Version, Witnessed
from pipelines.notes.beliefs import aliases, believe
from pipelines.notes.identity import identity_of
from pipelines.notes.recheck import was_believed
from pipelines.notes.versions_of import LOWER_STANDING

from .heard import day, heard, ruling

HOUR = 1 / 24
MINUTE = HOUR / 60
ASSISTANT = Origin.ASSISTANT
CHECK = "exit_status"


def beliefs(*claims: Witnessed, rulings: Sequence[Ruling] = (), intake_at: datetime | None = None) -> tuple[Version, ...]:
    return believe("user", claims, rulings, skew_s=600.0, intake_at=intake_at or day(365))


def states(versions: Sequence[Version]) -> dict[str | None, Status]:
    """Value → status; for notes with one version a value."""
    return {v.value: v.status for v in versions}


def one(versions: Sequence[Version], value: str | None, status: Status | None = None) -> Version:
    (found,) = [v for v in versions if v.value == value and status in (None, v.status)]
    return found


# --- standing before time ----------------------------------------------------------------------------------------------------------------


def test_an_inferred_later_value_stands_in_history_under_a_verified_one() -> None:
    found = beliefs(heard("30", origin=Origin.TOOL, verified_by=CHECK), heard("90", at=20, session="s2", origin=ASSISTANT))
    assert states(found) == {"30": Status.CONFIRMED, "90": Status.SUPERSEDED}
    low = one(found, "90")
    assert low.reason == LOWER_STANDING
    assert low.valid_from == day(20)
    assert low.ended_by == one(found, "30").claims[0]


def test_what_no_gate_let_through_is_no_history_of_what_outweighs_it() -> None:
    denied = heard("90", at=20, session="s2", origin=ASSISTANT, missed="not_supported")
    low = one(beliefs(heard("30", verified_by=CHECK), denied), "90")
    assert (low.status, low.reason, low.missed, was_believed(low)) == (Status.SUPERSEDED, LOWER_STANDING, "not_supported", False)
    again = heard("90", at=30, session="s3", origin=Origin.EXTERNAL)
    assert was_believed(one(beliefs(heard("30", verified_by=CHECK), denied, again), "90"))


def test_a_further_verified_value_adds_evidence_and_no_version() -> None:
    first, again = heard("30", verified_by=CHECK), heard("30", at=40, session="s2", verified_by=CHECK)
    before, after = beliefs(first), beliefs(first, again)
    assert [v.slot for v in before] == [v.slot for v in after]
    assert after[0].claims == (first.uid, again.uid)
    assert (after[0].oldest_evidence, after[0].newest_evidence, after[0].valid_from) == (day(0), day(40), day(0))
    assert after[0].roots == 2


def test_a_later_verified_value_replaces_a_verified_one() -> None:
    newer = heard("45", at=40, session="s2", verified_by=CHECK, reason="the auditors asked for it")
    found = beliefs(heard("30", verified_by=CHECK), newer)
    assert states(found) == {"30": Status.SUPERSEDED, "45": Status.CONFIRMED}
    old = one(found, "30")
    assert (old.valid_until, old.ended_by, old.reason) == (day(40), newer.uid, "the auditors asked for it")


def test_two_inferences_leave_a_draft_of_the_later() -> None:
    found = beliefs(heard("30", origin=ASSISTANT), heard("90", at=3, session="s2", origin=ASSISTANT))
    assert states(found) == {"30": Status.SUPERSEDED, "90": Status.DRAFT}
    assert one(found, "90").missed == "only_the_assistant_says_so"


def test_a_verified_value_beats_an_inferred_one_that_came_later() -> None:
    found = beliefs(heard("90", at=5, session="s2", origin=ASSISTANT), heard("30", at=1, verified_by=CHECK))
    assert states(found) == {"30": Status.CONFIRMED, "90": Status.SUPERSEDED}


def test_a_verified_value_ends_an_inferred_one_that_came_before() -> None:
    found = beliefs(heard("90", origin=ASSISTANT), heard("30", at=9, session="s2", verified_by=CHECK))
    old = one(found, "90")
    assert (old.status, old.valid_from, old.valid_until, old.reason) == (Status.SUPERSEDED, day(0), day(9), None)


def test_what_the_assistant_echoes_adds_no_witness() -> None:
    found = beliefs(heard("30"), heard("30", at=2, session="s2", origin=ASSISTANT))
    assert [(v.status, v.roots, len(v.claims)) for v in found] == [(Status.CONFIRMED, 1, 2)]


def test_a_doubtful_word_of_the_user_waits_as_a_draft_beside_what_stands() -> None:
    found = beliefs(heard("30"), heard("45", at=9, session="s2", doubts=("dangling_reference",)))
    assert states(found) == {"30": Status.CONFIRMED, "45": Status.DRAFT}
    assert one(found, "45").missed == "dangling_reference"


def test_an_unmarked_order_inside_a_task_does_not_overturn_a_standing_rule() -> None:
    rule = {"subject": "git", "attribute": "squash commit", "kind": Kind.RULE}
    always = heard(None, statement="Always squash commits.", mark=True, **rule)  # type: ignore[arg-type]
    never = heard(None, statement="Don't squash commits.", negated=True, at=9, session="s2", **rule)  # type: ignore[arg-type]
    found = beliefs(always, never)
    assert {v.statement: (v.status, v.missed) for v in found} == {
        "Always squash commits.": (Status.CONFIRMED, ""),
        "Don't squash commits.": (Status.DRAFT, "said_once"),
    }
    again = heard(None, statement="Don't squash commits.", negated=True, at=11, session="s3", **rule)  # type: ignore[arg-type]
    assert {v.statement: v.status for v in beliefs(always, never, again)} == {
        "Always squash commits.": Status.SUPERSEDED,
        "Don't squash commits.": Status.CONFIRMED,
    }


# --- order and doubt ---------------------------------------------------------------------------------------------------------------------


def test_values_ninety_seconds_apart_in_two_sessions_are_disputed() -> None:
    found = beliefs(heard("30"), heard("45", at=1.5 * MINUTE, session="s2"))
    assert states(found) == {"30": Status.DISPUTED, "45": Status.DISPUTED}


def test_values_two_hours_apart_in_two_sessions_are_an_update() -> None:
    assert states(beliefs(heard("30"), heard("45", at=2 * HOUR, session="s2"))) == {"30": Status.SUPERSEDED, "45": Status.CONFIRMED}


def test_values_one_second_apart_in_one_session_are_an_update() -> None:
    assert states(beliefs(heard("30"), heard("45", at=MINUTE / 60, ordinal=1))) == {"30": Status.SUPERSEDED, "45": Status.CONFIRMED}


def test_two_values_in_one_turn_are_no_order() -> None:
    assert states(beliefs(heard("30"), heard("45"))) == {"30": Status.DISPUTED, "45": Status.DISPUTED}


def test_a_session_without_times_is_ordered_by_position_and_not_against_others() -> None:
    assert states(beliefs(heard("30", at=None), heard("45", at=None, ordinal=3))) == {"30": Status.SUPERSEDED, "45": Status.CONFIRMED}
    assert states(beliefs(heard("30", at=None), heard("45", at=5, session="s2"))) == {"30": Status.DISPUTED, "45": Status.DISPUTED}


def test_a_time_in_the_future_wins_nothing() -> None:
    found = beliefs(heard("30"), heard("45", at=9000, session="s2"), intake_at=day(10))
    assert states(found) == {"30": Status.DISPUTED, "45": Status.DISPUTED}


def test_two_speakers_are_disputed_until_one_comes_round() -> None:
    ana, lee = heard("Platform", speaker="Ana"), heard("Payments", at=3, session="s2", speaker="Lee")
    assert states(beliefs(ana, lee)) == {"Platform": Status.DISPUTED, "Payments": Status.DISPUTED}
    settled = beliefs(ana, lee, heard("Platform", at=6, session="s3", speaker="Lee"))
    assert states(settled) == {"Platform": Status.CONFIRMED, "Payments": Status.SUPERSEDED}


def test_one_speaker_of_two_withdrawing_does_not_end_a_side() -> None:
    claims = [heard("A", speaker="Lee"), heard("A", at=1, session="s2", speaker="Kim"), heard("B", at=2, session="s3", speaker="Lee")]
    assert states(beliefs(*claims)) == {"A": Status.DISPUTED, "B": Status.DISPUTED}


def test_a_verified_check_overrules_another_speaker() -> None:
    found = beliefs(heard("30", speaker="Ana"), heard("45", at=3, session="s2", origin=Origin.TOOL, verified_by=CHECK))
    assert states(found) == {"30": Status.SUPERSEDED, "45": Status.CONFIRMED}


def test_two_outside_pages_do_not_overrule_each_other() -> None:
    pages = [heard(v, at=t, session=s, origin=Origin.EXTERNAL) for v, t, s in (("A", 0, "s1"), ("A", 1, "s2"), ("B", 5, "s3"), ("B", 6, "s4"))]
    assert states(beliefs(*pages)) == {"A": Status.DISPUTED, "B": Status.DISPUTED}


def test_late_evidence_between_two_versions_opens_its_own_interval() -> None:
    chain = [heard("30", at=0, session="s1"), heard("60", at=31, session="s2"), heard("90", at=59, session="s3"), heard("30", at=80, session="s4")]
    found = beliefs(*reversed(chain))
    assert {(v.value, v.valid_from, v.valid_until, v.status) for v in found} == {
        ("30", day(0), day(31), Status.SUPERSEDED),
        ("60", day(31), day(59), Status.SUPERSEDED),
        ("90", day(59), day(80), Status.SUPERSEDED),
        ("30", day(80), None, Status.CONFIRMED),
    }
    assert len({v.slot for v in found}) == 4
    assert len({v.note for v in found}) == 1


def test_an_older_event_that_arrives_late_overturns_nothing() -> None:
    found = beliefs(heard("45", at=40, session="s2"), heard("30", at=2, session="s9"))
    assert one(found, "45").status is Status.CONFIRMED


# --- sets, negation, named old values ----------------------------------------------------------------------------------------------------


def test_members_of_a_set_do_not_conflict() -> None:
    likes = {"subject": "user", "attribute": "likes", "cardinality": "set", "kind": Kind.FACT}
    found = beliefs(heard("tea", **likes), heard("coffee", at=5, session="s2", **likes))  # type: ignore[arg-type]
    assert states(found) == {"tea": Status.CONFIRMED, "coffee": Status.CONFIRMED}
    assert len({v.note for v in found}) == 2


def test_no_longer_ends_a_member_of_a_set() -> None:
    likes = {"subject": "user", "attribute": "likes", "cardinality": "set"}
    gone = heard("coffee", at=5, session="s2", negated=True, statement="I no longer like coffee", **likes)  # type: ignore[arg-type]
    found = beliefs(heard("coffee", statement="I like coffee", **likes), gone)  # type: ignore[arg-type]
    assert {v.statement: v.status for v in found} == {"I like coffee": Status.SUPERSEDED, "I no longer like coffee": Status.CONFIRMED}
    assert next(v for v in found if v.status is Status.SUPERSEDED).valid_until == day(5)


def test_the_value_a_claim_names_as_over_is_ended_in_another_note() -> None:
    uses = {"subject": "project", "attribute": "use", "cardinality": "set"}
    npm = heard("npm", statement="We use npm", **uses)  # type: ignore[arg-type]
    pnpm = heard("pnpm", at=4, session="s2", old_value="npm", statement="Use pnpm instead of npm", reason="disk space", **uses)  # type: ignore[arg-type]
    found = beliefs(npm, pnpm)
    assert states(found) == {"npm": Status.SUPERSEDED, "pnpm": Status.CONFIRMED}
    assert (one(found, "npm").ended_by, one(found, "npm").reason) == (pnpm.uid, "disk space")


def test_an_old_value_only_the_change_names_stands_in_history() -> None:
    change = heard("9090", subject="API", attribute="port", old_value="8080", statement="We moved the API from port 8080 to 9090", reason="a clash")
    found = beliefs(change)
    assert states(found) == {"9090": Status.CONFIRMED, "8080": Status.SUPERSEDED}
    old = one(found, "8080")
    assert (old.valid_from, old.valid_until, old.reason, old.claims) == (None, day(0), "a clash", (change.uid,))


def test_a_named_old_value_is_an_order_where_the_clock_gives_none() -> None:
    plain = heard("8080", at=None, session="s1", subject="API", attribute="port")
    change = heard("9090", at=None, session="s0", subject="API", attribute="port", old_value="8080")
    assert states(beliefs(plain, change)) == {"8080": Status.SUPERSEDED, "9090": Status.CONFIRMED}


def test_the_old_value_said_again_clearly_later_comes_back() -> None:
    change = heard("9090", at=1, subject="API", attribute="port", old_value="8080")
    back = heard("8080", at=9, session="s2", subject="API", attribute="port")
    found = beliefs(change, back)
    assert one(found, "8080").status is Status.CONFIRMED
    assert one(found, "9090").status is Status.SUPERSEDED


def test_a_value_that_says_more_is_no_dispute() -> None:
    claims = [heard("Postgres", attribute="database", subject="billing"), heard("Postgres 15", at=9, session="s2", attribute="database", subject="billing")]
    assert states(beliefs(*claims)) == {"Postgres": Status.SUPERSEDED, "Postgres 15": Status.CONFIRMED}
    assert Status.DISPUTED not in states(beliefs(claims[0], heard("Postgres 15", at=None, session="s2", attribute="database", subject="billing"))).values()


def test_staging_and_production_are_two_notes() -> None:
    found = beliefs(
        heard("5432", attribute="port", subject="db", qualifier="staging"), heard("5433", at=9, session="s2", attribute="port", subject="db", qualifier="prod")
    )
    assert states(found) == {"5432": Status.CONFIRMED, "5433": Status.CONFIRMED}
    assert len({v.note for v in found}) == 2


def test_a_merge_keeps_the_oldest_and_the_newest_times_of_evidence() -> None:
    rule = {"subject": "answers", "kind": Kind.RULE, "mark": True}
    found = beliefs(
        heard(None, attribute="keep answer short", statement="Keep answers short.", at=1, **rule),  # type: ignore[arg-type]
        heard(None, attribute="keep reply brief", statement="Please keep your replies brief.", at=9, session="s2", **rule),  # type: ignore[arg-type]
    )
    assert [(v.oldest_evidence, v.newest_evidence, v.roots) for v in found] == [(day(1), day(9), 2)]


def test_a_recorded_verdict_joins_notes_but_never_across_a_number() -> None:
    a, b = (
        heard(None, attribute="x", subject="cache", statement="Sessions are warmed at night"),
        heard(None, attribute="y", subject="cache", at=5, session="s2", statement="Caches get filled overnight"),
    )
    pair = {(min(a.uid, b.uid), max(a.uid, b.uid)): Relation.SAME}
    assert len({v.note for v in believe("user", [a, b], skew_s=600, intake_at=None)}) == 2
    assert len({v.note for v in believe("user", [a, b], skew_s=600, intake_at=None, relations=pair)}) == 1
    c = heard(None, attribute="z", subject="cache", at=6, session="s3", statement="Caches get filled at 23:00")
    pair = {(min(a.uid, c.uid), max(a.uid, c.uid)): Relation.SAME}
    assert len({v.note for v in believe("user", [a, c], skew_s=600, intake_at=None, relations=pair)}) == 2


# --- rulings -----------------------------------------------------------------------------------------------------------------------------


def uid_of(claim: Witnessed) -> str:
    return identity_of("user", claim.claim).uid


def test_a_rejected_draft_is_not_learnt_again_from_the_same_lines_or_an_echo() -> None:
    draft = heard("90", origin=ASSISTANT)
    no = ruling("reject", uid_of(draft), at=10)
    echo = heard("90", at=20, session="s3", origin=ASSISTANT)
    assert [v.status for v in beliefs(draft, echo, rulings=[no])] == [Status.RETRACTED]
    assert states(beliefs(draft, echo, heard("90", at=30, session="s4"), rulings=[no]))["90"] in {Status.CONFIRMED, Status.RETRACTED}
    assert Status.CONFIRMED in {v.status for v in beliefs(draft, heard("90", at=30, session="s4"), rulings=[no])}


def test_a_retracted_note_says_why_and_a_lift_brings_it_back() -> None:
    claim = heard("30")
    no = ruling("retract", uid_of(claim), body="never was")
    (gone,) = beliefs(claim, rulings=[no])
    assert (gone.status, gone.reason, gone.ended_by) == (Status.RETRACTED, "never was", "r1")
    assert [v.status for v in beliefs(claim, rulings=[no, ruling("lift", "r1", uid="r2", at=101)])] == [Status.CONFIRMED]


def test_a_ban_on_a_claim_is_as_if_it_had_not_been_read() -> None:
    first, second = heard("30"), heard("45", at=40, session="s2")
    assert beliefs(first, second, rulings=[ruling("ban", second.uid)]) == beliefs(first)


def test_an_approved_draft_is_confirmed_until_the_person_says_otherwise() -> None:
    draft = heard("90", origin=ASSISTANT)
    yes = ruling("approve", uid_of(draft), at=10)
    (found,) = beliefs(draft, rulings=[yes])
    assert (found.status, found.verified_by, found.claims, found.statement) == (Status.CONFIRMED, "person", (draft.uid, "r1"), draft.claim.statement)
    assert one(beliefs(draft, heard("45", at=20, session="s2"), rulings=[yes]), "45").status is Status.CONFIRMED
    assert one(beliefs(draft, heard("45", at=20, session="s2", origin=ASSISTANT), rulings=[yes]), "90").status is Status.CONFIRMED


def test_keeping_one_side_settles_a_dispute() -> None:
    ana, lee = heard("Platform", speaker="Ana"), heard("Payments", at=3, session="s2", speaker="Lee")
    side = one(beliefs(ana, lee), "Platform").slot
    found = beliefs(ana, lee, rulings=[ruling("keep", uid_of(ana), side)])
    assert states(found) == {"Platform": Status.CONFIRMED, "Payments": Status.SUPERSEDED}


def test_an_edit_by_a_person_replaces_the_words_and_one_by_an_unknown_hand_waits() -> None:
    claim = heard("30", statement="The retention is 30 days", attribute="retention", subject="logs")
    edit = ruling("edit", uid_of(claim), body="The retention of logs is 60 days")
    found = beliefs(claim, rulings=[edit])
    assert {v.statement: v.status for v in found} == {"The retention is 30 days": Status.SUPERSEDED, "The retention of logs is 60 days": Status.CONFIRMED}
    unknown = ruling("edit", uid_of(claim), body="The retention of logs is 60 days", hand="file")
    assert {v.statement: (v.status, v.missed) for v in beliefs(claim, rulings=[unknown])} == {
        "The retention is 30 days": (Status.CONFIRMED, ""),
        "The retention of logs is 60 days": (Status.DRAFT, "file_edit"),
    }


def test_a_merge_can_be_undone_and_the_anchor_stays_known() -> None:
    a = heard(None, attribute="x", subject="cache", statement="Sessions are warmed at night")
    b = heard(None, attribute="y", subject="cache", at=5, session="s2", statement="Caches get filled overnight")
    c = heard(None, attribute="z", subject="cache", at=6, session="s3", statement="Night jobs warm the cache")
    merges = [ruling("merge", uid_of(a), uid_of(b), uid="m1"), ruling("merge", uid_of(b), uid_of(c), uid="m2")]
    assert {v.note for v in beliefs(a, b, c, rulings=merges)} == {uid_of(a)}
    assert aliases("user", [a, b, c], merges) == {uid_of(a): uid_of(a), uid_of(b): uid_of(a), uid_of(c): uid_of(a)}
    split = [*merges, ruling("unmerge", uid_of(b), uid_of(c), uid="u1", at=101)]
    assert {v.note for v in beliefs(a, b, c, rulings=split)} == {uid_of(a), uid_of(c)}


def test_rejected_and_quarantined_claims_count_for_nothing() -> None:
    from dataclasses import replace

    from pipelines.model import Outcome

    claim = heard("30")
    assert beliefs(replace(claim, outcome=Outcome.REJECT)) == ()
    assert beliefs(replace(claim, outcome=Outcome.QUARANTINE)) == ()


def test_the_end_a_claim_itself_gives_is_kept() -> None:
    assert [v.valid_until for v in beliefs(heard("30", valid_until=day(50)))] == [day(50)]


# --- words said once ---------------------------------------------------------------------------------------------------------------------


def wish(value: str, at: float, *, mark: bool = False) -> Witnessed:
    missed, doubts = ("", ()) if mark else ("said_once", ("said_once",))
    return heard(value, at=at, session=f"s{at}", kind=Kind.PREFERENCE, mark=mark, missed=missed, doubts=doubts)


def test_words_of_two_sessions_weigh_as_much_as_marked_ones() -> None:
    assert states(beliefs(wish("tabs", 1, mark=True), wish("spaces", 5), wish("spaces", 9))) == {"tabs": Status.SUPERSEDED, "spaces": Status.CONFIRMED}
    assert states(beliefs(wish("tabs", 1), wish("tabs", 2), wish("spaces", 5, mark=True))) == {"tabs": Status.SUPERSEDED, "spaces": Status.CONFIRMED}
    assert states(beliefs(wish("tabs", 1), wish("tabs", 2), wish("spaces", 5))) == {"tabs": Status.CONFIRMED, "spaces": Status.DRAFT}


def test_what_two_sessions_said_stands_as_the_persons_own_words() -> None:
    (version,) = beliefs(wish("tabs", 1), wish("tabs", 2))
    assert (version.standing, version.roots, version.missed) == (Standing.VERIFIED, 2, "")
